"""L-classifier chains beside the same chains built from scikit-learn's RandomForestClassifier: CPU seconds.

    python benchmarks/bench_chains.py [--data FOLDER] [--sets emotions yeast] [--trees 200] [--chains 2] [--no-credit]
                                      [--rows 65000] [--credit-trees 1] > docs/benchmarks/bench_chains.txt

One thread each, all rows, the same orders. Both sides fit every link and take its importances; Ramify also finds the
threshold out of bag. On the scikit-learn side only the first `--chains` are fitted and their time is scaled up.
Then the size of a credit bureau's data, exact and with 255 bins: 15 labels over 214 generated features without keeping
the forests, with the peak of memory.
"""

import argparse
import os
import resource
import time
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from ramify.chains import LClassifierChains
from ramify.datasets import make_multilabel
from ramify.datasets.readers.mulan import read_mulan
from ramify.ensemble import ForestClassifier


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("RAMIFY_DATA", "../shared/data"))
    parser.add_argument("--sets", nargs="+", default=["emotions", "yeast"])
    parser.add_argument("--trees", type=int, default=200)
    parser.add_argument("--chains", type=int, default=2, help="chains of the scikit-learn side")
    parser.add_argument("--no-credit", action="store_true")
    parser.add_argument("--rows", type=int, default=65_000)
    parser.add_argument("--credit-trees", type=int, default=1)
    arguments = parser.parse_args()
    print(f"CPU seconds; {os.cpu_count()} processors, load before the run {os.getloadavg()[0]:.1f}\n")
    for name in arguments.sets:
        compare(name, Path(arguments.data) / "multilabel", arguments.trees, arguments.chains)
    if not arguments.no_credit:
        for max_bins in (255, None):
            credit(arguments.rows, arguments.credit_trees, max_bins)


def compare(name: str, folder: Path, n_trees: int, n_chains: int) -> None:
    data = read_mulan(folder / f"{name}.arff.gz", labels=folder / f"{name}.xml")
    X, Y = np.asarray(data.X, dtype=np.float64), data.y.toarray()
    n_labels = Y.shape[1]
    started = time.process_time()
    chains = LClassifierChains(ForestClassifier(n_trees, n_jobs=1), random_state=0, n_jobs=1).fit(X, Y)
    ours = time.process_time() - started
    used = chains.orders_[:n_chains]
    started = time.process_time()
    importances = np.array([scikit_learn_chain(X, Y, order, n_trees) for order in used])
    theirs = (time.process_time() - started) * n_labels / len(used)
    scaled = "" if len(used) == n_labels else f" (scaled from {len(used)} chains)"
    print(f"{name}: {len(X)} rows, {X.shape[1]} features, {n_labels} labels, {n_trees} trees per link")
    print(f"  LClassifierChains       {ours:8.2f} CPU s")
    print(f"  RandomForestClassifier  {theirs:8.2f} CPU s{scaled}: {theirs / ours:.1f} times as much")
    ending = [int(order[-1]) for order in used]
    agreement = np.mean(
        [np.corrcoef(importances[i], chains.importances_[l, : X.shape[1]])[0, 1] for i, l in enumerate(ending)]
    )
    print(f"  correlation of the features' importances, chain by chain: {agreement:.3f}")


def scikit_learn_chain(X: np.ndarray, Y: np.ndarray, order: np.ndarray, n_trees: int) -> np.ndarray:
    """Fit one chain; importances of the features for its last label."""
    grown = X
    for place, label in enumerate(order):
        forest = RandomForestClassifier(n_trees, n_jobs=1, random_state=place).fit(grown, Y[:, label])
        importances = np.mean([tree.tree_.compute_feature_importances(normalize=False) for tree in forest], axis=0)
        grown = np.column_stack([grown, Y[:, label]])
    return importances[: X.shape[1]]


def credit(n_rows: int, n_trees: int, max_bins: int | None) -> None:
    densities = [.232, .453, .144, .157, .238, .109, .066, .110, .003, .004, .021, .026, .005, .007, .003]  # fmt: skip
    data = make_multilabel(n_rows, n_features=214, n_labels=15, density=densities, correlation=0.15, signal=0.4,
                           relevance=0.1, random_state=0)  # fmt: skip
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    forest = ForestClassifier(n_trees, max_bins=max_bins)
    started, cpu_started = time.perf_counter(), time.process_time()
    chains = LClassifierChains(forest, keep_forests=False, random_state=0, n_jobs=-1).fit(data.X, data.y)
    wall, cpu = time.perf_counter() - started, time.process_time() - cpu_started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    n_grown = 15 * 15 * n_trees
    coded = "exact" if max_bins is None else f"{max_bins} bins"
    print(f"{n_rows} rows, 214 features, 15 labels, {n_trees} trees per link, {n_grown} trees in all, {coded}")
    print(f"  {cpu:.0f} CPU s, {wall:.0f} s; 200 trees per link would take {cpu * 200 / n_trees / 3600:.1f} CPU hours")
    print(f"  peak of memory {peak:.0f} MiB, of which {before:.0f} MiB were the data and the process before fitting")
    print(f"  threshold {chains.threshold_:.3f}, mean share of importance from labels {chains.label_share_.mean():.3f}")


if __name__ == "__main__":
    main()
