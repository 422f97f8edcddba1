"""ForestClassifier beside scikit-learn's forests: CPU seconds as ratios, pooled AUPRC, memory.

    python benchmarks/bench_forest.py [--data FOLDER] [--sets NAME ...] [--repeats 5] [--large] [--write FILE]

One thread, the same rows (train and validation parts; AUPRC on the test part), the same number of trees and `sqrt`
features per node. Runs are interleaved and the median is printed, because other work on the machine slows both sides.
scikit-learn needs minutes for trees with hundreds of labels, so it grows the few trees of the column "trees"
and its CPU time is scaled to as many as Ramify grows; `--sklearn-trees 100` runs them all.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import ramify
from ramify.datasets import read
from ramify.ensemble import ForestClassifier
from ramify.metrics import auprc
from ramify.ranking import forest_ranking


@dataclass(frozen=True)
class Case:
    """A data set: trees that scikit-learn grows, the ratio to reach, AUPRC of scikit-learn and CLUS (100 trees)."""

    folder: str
    classifier_trees: int
    regressor_trees: int
    goal: tuple[str, float]
    auprc_sklearn: float | None
    auprc_clus: float | None


CASES = {
    "cellcycle_FUN": Case("fun", 3, 5, ("classifier", 60), 0.226, 0.234),
    "seq_FUN": Case("fun", 2, 4, ("classifier", 60), 0.292, 0.289),
    "Diatoms": Case("others", 3, 5, ("classifier", 80), 0.655, 0.641),
    "ImCLEF07A": Case("others", 8, 12, ("classifier", 15), 0.887, 0.834),
    "Enron_corr": Case("others", 50, 100, ("regressor", 4), 0.747, 0.748),
    "cellcycle_GO": Case("go", 1, 2, ("classifier", 200), None, None),
    "seq_GO": Case("go", 1, 1, ("classifier", 200), None, None),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("RAMIFY_DATA", "../shared/data"))
    parser.add_argument("--sets", nargs="*", default=list(CASES))
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--sklearn-trees", type=int, default=None)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--large", action="store_true", help="also a million rows, 100,000 labels, 75,000 features")
    parser.add_argument("--write", type=Path, default=None, help="write what is printed to this file, too")
    arguments = parser.parse_args()
    printed = io.StringIO()
    with contextlib.redirect_stdout(_Both(sys.stdout, printed)):
        print("# Forests: CPU time, quality and memory\n")
        print(__doc__.split("\n\n", 2)[2])
        print(
            f"Ramify {ramify.__version__}, scikit-learn {sklearn.__version__}, Python {platform.python_version()}, "
            f"{os.cpu_count()} cores, load before the run {os.getloadavg()[0]:.1f}.\n"
        )
        if arguments.sets:
            compare_sets(Path(arguments.data), arguments)
            one_label(Path(arguments.data), arguments.repeats)
        if arguments.large:
            large_cases()
    if arguments.write is not None:
        arguments.write.parent.mkdir(parents=True, exist_ok=True)
        arguments.write.write_text(printed.getvalue())


class _Both:
    """Writes to the terminal and keeps a copy."""

    def __init__(self, *streams: Any) -> None:
        self.streams = streams

    def write(self, text: str) -> None:
        for stream in self.streams:
            stream.write(text)

    def flush(self) -> None:
        for stream in self.streams:
            stream.flush()


def cpu_seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    before = time.process_time()
    result = work()
    return time.process_time() - before, result


@dataclass(frozen=True)
class Parts:
    """Rows to learn from and rows to test on, as both libraries take them."""

    X: np.ndarray
    y: sparse.csr_array
    X_test: np.ndarray
    y_test: sparse.csr_array
    hierarchy: Any
    nominal: Any


def load(folder: Path, name: str) -> Parts:
    files = sorted((folder / "hmc" / CASES[name].folder).glob(f"{name}[._]*"))
    if not files:
        raise SystemExit(f"There is no {name} in {folder}. Name the data folder with --data.")
    data = read(files)
    train = [data.part(part) for part in data.parts if part != "test"]
    test = data.part("test")
    return Parts(
        np.concatenate([part.X for part in train]),
        sparse.csr_array(sparse.vstack([sparse.csr_array(part.y) for part in train])),
        test.X,
        sparse.csr_array(test.y),
        data.hierarchy,
        data.categorical_features,
    )


def compare_sets(folder: Path, arguments: argparse.Namespace) -> None:
    sets = {name: load(folder, name) for name in arguments.sets}
    print(f"## CPU seconds for {arguments.trees} trees, median of {arguments.repeats}\n")
    print("| data | labels | Ramify | RandomForestClassifier (trees) | ratio ", end="")
    print("| RandomForestRegressor (trees) | ratio | goal | per-label scores | two threads |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, parts in sets.items():
        print(compare_set(name, parts, arguments), flush=True)
    print(
        "\nPer-label scores: CPU time of the features x labels matrix as a share of growing. Two threads: elapsed time"
    )
    print("of one thread over that of two, which only a machine without other work can show in full.\n")
    print("## Pooled AUPRC and size of the model\n")
    print(f"| data | Ramify, mean of {arguments.seeds} seeds | scikit-learn | with hierarchy weights | CLUS | model |")
    print("|---|---|---|---|---|---|")
    for name, parts in sets.items():
        print(compare_quality(name, parts, arguments), flush=True)
    print("\nThe columns scikit-learn (RandomForestClassifier) and CLUS were measured once with 100 trees.\n")


def compare_set(name: str, parts: Parts, arguments: argparse.Namespace) -> str:
    case = CASES[name]
    dense = parts.y.toarray()
    trees = {"classifier": case.classifier_trees, "regressor": case.regressor_trees}
    if arguments.sklearn_trees is not None:
        trees = dict.fromkeys(trees, arguments.sklearn_trees)
    kinds = {"classifier": RandomForestClassifier, "regressor": RandomForestRegressor}
    times: dict[str, list[float]] = {"ramify": [], "classifier": [], "regressor": [], "per label": [], "threads": []}
    for repeat in range(arguments.repeats):
        forest = ForestClassifier(arguments.trees, n_jobs=1, random_state=repeat, categorical_features=parts.nominal)
        started = time.perf_counter()
        seconds, forest = cpu_seconds(lambda forest=forest: forest.fit(parts.X, parts.y))
        elapsed = time.perf_counter() - started
        times["ramify"].append(seconds)
        per_label, _ = cpu_seconds(lambda forest=forest: forest_ranking(forest, "genie3").per_label)
        times["per label"].append(per_label / seconds)
        started = time.perf_counter()
        forest.set_params(n_jobs=2).fit(parts.X, parts.y)
        times["threads"].append(elapsed / (time.perf_counter() - started))
        for kind, estimator in kinds.items():
            model = estimator(trees[kind], max_features="sqrt", n_jobs=1, random_state=repeat)
            seconds, _ = cpu_seconds(lambda model=model: model.fit(parts.X, dense))
            times[kind].append(seconds * arguments.trees / trees[kind])
    median = {key: statistics.median(values) for key, values in times.items()}
    ratio = {kind: median[kind] / median["ramify"] for kind in kinds}
    kind, goal = case.goal
    return (
        f"| {name} | {dense.shape[1]} | {median['ramify']:.2f} "
        f"| {median['classifier']:.1f} ({trees['classifier']}) | {ratio['classifier']:.0f} "
        f"| {median['regressor']:.1f} ({trees['regressor']}) | {ratio['regressor']:.1f} "
        f"| {goal:g} x {kind}: {'met' if ratio[kind] >= goal else 'not met'} "
        f"| {100 * median['per label']:.0f} % | {median['threads']:.2f} |"
    )


def compare_quality(name: str, parts: Parts, arguments: argparse.Namespace) -> str:
    case = CASES[name]
    values: dict[bool, list[float]] = {False: [], True: []}
    n_bytes = 0
    for weighted, found in values.items():
        for seed in range(arguments.seeds):
            forest = ForestClassifier(
                arguments.trees,
                hierarchy=parts.hierarchy if weighted else None,
                categorical_features=parts.nominal,
                random_state=seed,
            ).fit(parts.X, parts.y)
            found.append(float(auprc(parts.y_test, forest.predict_proba(parts.X_test))))
            n_bytes = forest.trees_.n_bytes
    known = ["-" if value is None else f"{value:.3f}" for value in (case.auprc_sklearn, case.auprc_clus)]
    return (
        f"| {name} | {statistics.mean(values[False]):.4f} | {known[0]} | {statistics.mean(values[True]):.4f} "
        f"| {known[1]} | {n_bytes / 1e6:.0f} MB |"
    )


def one_label(folder: Path, repeats: int) -> None:
    file = folder / "multilabel" / "emotions.arff.gz"
    data = read([file, file.with_name("emotions.xml")])
    y = np.asarray(sparse.csr_array(data.y)[:, [0]].todense()).ravel()
    times: dict[str, list[float]] = {"Ramify": [], "scikit-learn": []}
    for repeat in range(repeats):
        for name, estimator in (("Ramify", ForestClassifier), ("scikit-learn", RandomForestClassifier)):
            model = estimator(200, n_jobs=1, random_state=repeat)

            def fit(model: Any = model) -> Any:
                return model.fit(data.X, y).feature_importances_

            times[name].append(cpu_seconds(fit)[0])
    seconds = {name: statistics.median(values) for name, values in times.items()}
    print("## One label\n")
    print(
        f"200 trees with importances for one label of emotions: Ramify {seconds['Ramify']:.3f} CPU seconds, "
        f"scikit-learn {seconds['scikit-learn']:.3f}, {seconds['scikit-learn'] / seconds['Ramify']:.1f} times as many. "
        "ranger needed 0.24 where scikit-learn needed 0.76.\n"
    )


def large_cases() -> None:
    print("## Large data\n")
    print("| case | Ramify | RandomForestClassifier | ratio | peak memory so far |")
    print("|---|---|---|---|---|")
    for name, case in (
        ("75,000 sparse features, 20,000 rows, 10 trees", sparse_features),
        ("100,000 labels (scikit-learn scaled from 2,000), 2,000 rows, 1 tree of depth 4", many_labels),
        ("100,000 labels, 20,000 rows, sparse", many_sparse_labels),
        ("1,000,000 x 1,000 float32, 255 bins, 2 trees of depth 8", many_rows),
    ):
        ours, theirs = case()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        other = "-" if theirs is None else f"{theirs:.1f} s"
        ratio = "-" if theirs is None else f"{theirs / ours:.1f}"
        print(f"| {name} | {ours:.1f} s | {other} | {ratio} | {peak:.2f} GiB |", flush=True)
    print()


def sparse_features() -> tuple[float, float | None]:
    rng = np.random.default_rng(0)
    X = sparse.random_array((20_000, 75_000), density=0.001, format="csc", rng=rng, dtype=np.float64)
    X.data[:] = 1.0
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    y = (X[:, :2000].sum(axis=1) + rng.normal(size=20_000) > 2).astype(int)
    ours, _ = cpu_seconds(lambda: ForestClassifier(10, n_jobs=1, random_state=0).fit(X, y))
    theirs, _ = cpu_seconds(lambda: RandomForestClassifier(10, n_jobs=1, random_state=0).fit(X, y))
    return ours, theirs


def random_labels(n_rows: int, n_labels: int) -> tuple[np.ndarray, sparse.csr_array]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 20))
    y = sparse.random_array((n_rows, n_labels), density=10 / n_labels, format="csr", rng=rng)
    y.data[:] = 1.0
    return X, y


def many_labels() -> tuple[float, float | None]:
    X, y = random_labels(2_000, 100_000)
    ours, _ = cpu_seconds(lambda: ForestClassifier(1, max_depth=4, n_jobs=1, random_state=0).fit(X, y))
    few = y[:, :2_000].toarray()
    theirs, _ = cpu_seconds(lambda: RandomForestClassifier(1, max_depth=4, n_jobs=1, random_state=0).fit(X, few))
    return ours, theirs * 50  # per label, since all 100,000 need more memory than most machines have


def many_sparse_labels() -> tuple[float, float | None]:
    X, y = random_labels(20_000, 100_000)
    ours, _ = cpu_seconds(lambda: ForestClassifier(1, max_depth=4, n_jobs=1, random_state=0).fit(X, y))
    return ours, None


def many_rows() -> tuple[float, float | None]:
    rng = np.random.default_rng(0)
    X = rng.random((1_000_000, 1_000), dtype=np.float32)
    y = (X[:, 0] + X[:, 1] > 1).astype(int)
    options = {"max_depth": 8, "n_jobs": 1, "random_state": 0}
    ours, _ = cpu_seconds(lambda: ForestClassifier(2, max_bins=255, **options).fit(X, y))
    theirs, _ = cpu_seconds(lambda: RandomForestClassifier(2, **options).fit(X, y))
    return ours, theirs


if __name__ == "__main__":
    main()
