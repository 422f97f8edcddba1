"""LabelRankingForest beside scikit-learn's RandomForestRegressor on the rank columns: CPU seconds and tau.

    python benchmarks/bench_label_ranking.py [--data FOLDER] [--trees 100] [--sets fried pendigits]

Single thread, the same split of the rows (two thirds to train), the same number of trees and of features per node. The
regressor predicts one number per label, and labels are ranked by it.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import train_test_split

from ramify.datasets import read_rankings
from ramify.ensemble import LabelRankingForest
from ramify.metrics import kendall_tau
from ramify.targets.rankings import rank_labels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("RAMIFY_DATA", "../shared/data"))
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--sets", nargs="+", default=["fried", "pendigits"])
    arguments = parser.parse_args()
    for name in arguments.sets:
        compare(name, find(Path(arguments.data) / "labelranking" / "kebi", name), arguments.trees)


def find(folder: Path, name: str) -> Path:
    files = sorted(folder.glob(f"{name}.csv*"))
    if not files:
        raise SystemExit(f"There is no {name}.csv in {folder}. Name the data folder with --data.")
    return files[0]


def compare(name: str, file: Path, n_trees: int) -> None:
    data = read_rankings(file)
    X_train, X_test, y_train, y_test = train_test_split(data.X, data.y, test_size=1 / 3, random_state=0)
    print(f"{name}: {len(X_train)} rows to train, {data.n_features} features, {data.n_labels} labels, {n_trees} trees")
    regressor = RandomForestRegressor(n_trees, max_features="sqrt", n_jobs=1, random_state=0)
    baseline = measure("RandomForestRegressor", regressor, X_train, y_train, X_test, y_test)
    for options in (
        {"criterion": "kendall", "gamma": 1.0},
        {"criterion": "spearman", "gamma": 1.0},
        {"criterion": "kendall", "gamma": 0.98},
        {"criterion": "entropy"},
        {"criterion": "mallows"},
    ):
        forest = LabelRankingForest(n_trees, n_jobs=1, random_state=0, **options)
        title = " ".join(str(value) for value in options.values())
        measure(f"LabelRankingForest {title}", forest, X_train, y_train, X_test, y_test, baseline)
    print()


def measure(
    title: str,
    model: RandomForestRegressor | LabelRankingForest,
    X_train: np.ndarray,
    y_train: np.ndarray,
    X_test: np.ndarray,
    y_test: np.ndarray,
    baseline: tuple[float, float] | None = None,
) -> tuple[float, float]:
    start = time.process_time()
    model.fit(X_train, y_train)
    fit_seconds = time.process_time() - start
    start = time.process_time()
    predicted = model.predict(X_test)
    predict_seconds = time.process_time() - start
    tau = kendall_tau(y_test, rank_labels(predicted))
    line = f"  {title:<34} fit {fit_seconds:7.2f} s   predict {predict_seconds:6.2f} s   tau {tau:.4f}"
    if baseline is not None:
        line += f"   {baseline[0] / fit_seconds:5.2f} times as fast, tau {tau - baseline[1]:+.4f}"
    print(line, flush=True)
    return fit_seconds, tau


if __name__ == "__main__":
    main()
