"""Cost of rankings, side by side in one run, in CPU seconds of one thread.

    python benchmarks/bench_ranking.py [--data FOLDER] [--trees 50] [--no-quality]

1. Genie3, Symbolic and the features x labels matrix as a share of growing the forest: at most 10 % (20 % on GO).
2. The Random Forest score as a multiple of growing: at most 3 (CLUS: 61 CPU seconds for 10 trees on cellcycle_FUN, 247
   for 50), and with its scores per label.
3. Relief over all rows of ImCLEF07A; against skrebate's ReliefF on one label of 2,400 of its rows: at least 50 times
   less CPU; on struc_FUN with 19,628 sparse features, with the peak memory beside that of a dense matrix.
4. Quality: weighted against unweighted nearest neighbours on the real hierarchical sets, for every score and ensemble.
"""

import argparse
import os
import resource
import time
from pathlib import Path

import numpy as np
from scipy import sparse

from ramify.datasets import Dataset
from ramify.datasets.readers.arff import read_arff
from ramify.ensemble import ForestClassifier
from ramify.ranking import ReliefRanker, forest_ranking, knn_quality

ENSEMBLES = {
    "Bagging": {"max_features": None},
    "Random Forests": {},
    "Extra Trees": {"splitter": "random", "bootstrap": False},
}
SETS = {
    "cellcycle_FUN": "fun",
    "church_FUN": "fun",
    "derisi_FUN": "fun",
    "eisen_FUN": "fun",
    "gasch1_FUN": "fun",
    "pheno_FUN": "fun",
    "seq_FUN": "fun",
    "expr_FUN": "fun",
    "Diatoms": "others",
    "Enron_corr": "others",
    "ImCLEF07A": "others",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("RAMIFY_DATA", "../shared/data"))
    parser.add_argument("--trees", type=int, default=50)
    parser.add_argument("--no-quality", action="store_true")
    arguments = parser.parse_args()
    folder = Path(arguments.data) / "hmc"
    if not folder.is_dir():
        raise SystemExit(f"There is no data in {folder}; name the folder with --data.")
    processors, load = os.cpu_count(), os.getloadavg()[0]
    print(
        f"CPU seconds of one thread; {processors} processors, load {load:.1f} at the start (this run alone makes 1)\n"
    )
    scores_beside_growing(folder, arguments.trees)
    relief(folder)
    if not arguments.no_quality:
        quality(folder)


def read(folder: Path, name: str, *, parts: tuple[str, ...] = ("train", "valid", "trainvalid")) -> Dataset:
    """One part, or several joined."""
    endings = [f"{name}{mark}{part}.arff".lower() for part in parts for mark in "._"]
    return read_arff([file for file in sorted(folder.glob("*/*")) if file.name.lower().startswith(tuple(endings))])


def cpu(work):
    """CPU seconds and result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def scores_beside_growing(folder: Path, n_trees: int) -> None:
    print(f"{n_trees} trees of a random forest: CPU seconds, and each score as a multiple of growing")
    print(
        f"{'set':<16}{'growing':>9}{'genie3+symbolic+labels':>24}{'genie3_oob':>12}"
        f"{'permutation':>13}{'and per label':>16}"
    )
    for name in ("cellcycle_FUN", "seq_FUN", "Diatoms", "Enron_corr", "ImCLEF07A", "cellcycle_GO"):
        data = read(folder, name, parts=("train", "trainvalid"))
        forest = ForestClassifier(n_trees, hierarchy=data.hierarchy, n_jobs=1, random_state=0)
        growing, _ = cpu(lambda forest=forest, data=data: forest.fit(data.X, data.y))
        cheap, _ = cpu(lambda forest=forest: forest_ranking(forest, ["genie3", "symbolic"]))
        out_of_bag, _ = cpu(lambda f=forest, d=data: forest_ranking(f, "genie3_oob", d.X, d.y))
        permuted, _ = cpu(lambda f=forest, d=data: forest_ranking(f, "permutation", d.X, d.y, per_label=False))
        both, _ = cpu(lambda f=forest, d=data: forest_ranking(f, "permutation", d.X, d.y))
        print(
            f"{name:<16}{growing:>9.2f}{cheap / growing:>24.3f}{out_of_bag / growing:>12.2f}"
            f"{permuted / growing:>13.2f}{both / growing:>16.2f}",
            flush=True,
        )


def relief(folder: Path) -> None:
    data = read(folder, "ImCLEF07A", parts=("train",))
    seconds, _ = cpu(lambda: ReliefRanker(15, hierarchy=data.hierarchy, n_jobs=1).fit(data.X, data.y))
    print(f"\nRelief, K = 15, all rows: ImCLEF07A ({data.n_samples} x {data.n_features}) {seconds:.2f} CPU seconds")
    for name in ("cellcycle_FUN", "seq_FUN"):
        other = read(folder, name, parts=("train",))
        seconds, _ = cpu(lambda d=other: ReliefRanker(15, hierarchy=d.hierarchy, n_jobs=1).fit(d.X, d.y))
        print(f"  {name} ({other.n_samples} x {other.n_features}) {seconds:.3f} CPU seconds")
    against_skrebate(data)
    sparse_relief(folder)


def against_skrebate(data: Dataset) -> None:
    try:
        from skrebate import ReliefF
    except ImportError:
        print("skrebate is not installed; ReliefF is not compared.")
        return
    X = np.asarray(data.X[:2400], dtype=np.float64)
    y = np.asarray(data.y[:2400, [int(np.argmax(data.y[:2400].sum(axis=0) % 2400))]].todense()).ravel().astype(int)
    # skrebate takes features of up to 10 values, which all of these are, for categories unless told otherwise.
    for kind, threshold, nominal in (("numbers", 0, None), ("categories", 10, np.ones(X.shape[1], dtype=bool))):
        theirs, fitted = cpu(
            lambda t=threshold: ReliefF(
                n_neighbors=15, n_features_to_select=5, categorical_threshold=t, n_jobs=1
            ).fit(X, y)
        )  # fmt: skip
        ranker = ReliefRanker(15, categorical_features=nominal, n_jobs=1)
        ours = min(cpu(lambda r=ranker: r.fit(X, y))[0] for _ in range(3))
        correlation = np.corrcoef(ranker.scores_, fitted.feature_importances_)[0, 1]
        print(
            f"  one label of {X.shape[0]} x {X.shape[1]} {kind}: skrebate {theirs:.2f}, Ramify {ours:.3f} CPU seconds, "
            f"{theirs / ours:.0f} times less; correlation of the scores {correlation:.6f} (ties apart)"
        )


def sparse_relief(folder: Path) -> None:
    data = read(folder, "struc_FUN", parts=("train",))
    # In every feature "no" is the most frequent value; as the absent one it costs nothing.
    X = data.X if sparse.issparse(data.X) else sparse.csc_array(np.not_equal(data.X, np.median(data.X, axis=0)))
    X = sparse.csc_array(X, dtype=np.float64)
    dense = np.prod(X.shape) * 8 / 2**20
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    nominal = np.ones(X.shape[1], dtype=bool)
    ranker = ReliefRanker(15, hierarchy=data.hierarchy, categorical_features=nominal, n_jobs=1)
    seconds, _ = cpu(lambda: ranker.fit(X, data.y))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"  struc_FUN ({X.shape[0]} x {X.shape[1]}, {X.nnz / np.prod(X.shape):.1%} non-zero): {seconds:.2f} CPU s, "
        f"the peak grew by {after - before:.0f} MiB; the matrix would be {dense:.0f} MiB dense"
    )


def quality(folder: Path) -> None:
    """Table of AUPRC by nearest neighbours, rankings from 10 trees and Relief with 1 % and all rows."""
    print("\nAUPRC of 10 nearest neighbours, unweighted and weighted by rankings from 10 trees (the paper's size)")
    columns = [(score, name) for name in ENSEMBLES for score in ("symbolic", "genie3", "permutation")]
    columns = [(s, e) for s, e in columns if not (s == "permutation" and e == "Extra Trees")]
    print(
        "set".ljust(15)
        + "none".rjust(8)
        + "".join(f"{s[:5]}:{short(e)}".rjust(10) for s, e in columns)
        + "relief".rjust(9)
    )
    gains = {column: [] for column in [*columns, "relief"]}
    for name in SETS:
        train = read(folder, name)
        test = read(folder, name, parts=("test",))
        rankings = []
        for ensemble, options in ENSEMBLES.items():
            forest = ForestClassifier(
                10,
                hierarchy=train.hierarchy,
                categorical_features=train.categorical_features,
                random_state=0,
                **options,
            ).fit(train.X, train.y)
            scores = [s for s, e in columns if e == ensemble]
            rankings += list(forest_ranking(forest, scores, train.X, train.y).values())
        relief_ranker = ReliefRanker(15, hierarchy=train.hierarchy, categorical_features=train.categorical_features)
        rankings.append(relief_ranker.fit(train.X, train.y).ranking_)
        found = knn_quality(
            rankings,
            train.X,
            train.y,
            test.X,
            test.y,
            hierarchy=train.hierarchy,
            categorical_features=train.categorical_features,
        )
        line = name.ljust(15) + f"{found[0].unweighted:8.4f}"
        for column, value in zip([*columns, "relief"], found, strict=True):
            gains[column].append(value.weighted - value.unweighted)
            line += f"{value.weighted:{9 if column == 'relief' else 10}.4f}"
        print(line, flush=True)
    print("better than unweighted on".ljust(23) + "".join(f"{np.mean(np.array(gains[c]) > 0):10.0%}" for c in columns)
          + f"{np.mean(np.array(gains['relief']) > 0):9.0%}")  # fmt: skip
    print(
        "mean gain".ljust(23)
        + "".join(f"{np.mean(gains[c]):10.4f}" for c in columns)
        + f"{np.mean(gains['relief']):9.4f}"
    )


def short(ensemble: str) -> str:
    return "".join(word[0] for word in ensemble.split())


if __name__ == "__main__":
    main()
