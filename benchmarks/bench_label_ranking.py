"""LabelRankingForest beside scikit-learn's RandomForestRegressor on the rank columns: CPU seconds and tau.

    python benchmarks/bench_label_ranking.py [--data FOLDER] [--trees 100] [--sets fried pendigits]

Single thread, the same split of the rows (two thirds to train), the same number of trees and of features per node, mean
over seeds. The regressor predicts one number per label, and labels are ranked by it. Trees of the first two forests are
grown as far as the regressor's (gamma = 1, leaves of one row); the others stop as in the paper.
"""

import argparse
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

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
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sets", nargs="+", default=["fried", "pendigits"])
    arguments = parser.parse_args()
    for name in arguments.sets:
        compare(name, find(Path(arguments.data) / "labelranking" / "kebi", name), arguments.trees, arguments.seeds)


def find(folder: Path, name: str) -> Path:
    files = sorted(folder.glob(f"{name}.csv*"))
    if not files:
        raise SystemExit(f"There is no {name}.csv in {folder}. Name the data folder with --data.")
    return files[0]


def compare(name: str, file: Path, n_trees: int, n_seeds: int) -> None:
    data = read_rankings(file)
    X_train, X_test, y_train, y_test = train_test_split(data.X, data.y, test_size=1 / 3, random_state=0)
    print(f"{name}: {len(X_train)} rows to train, {data.n_features} features, {data.n_labels} labels, {n_trees} trees")
    folds = (X_train, y_train, X_test, y_test)
    regressor = partial(RandomForestRegressor, n_trees, max_features="sqrt", n_jobs=1)
    baseline = measure("RandomForestRegressor", regressor, n_seeds, folds)
    for options in (
        {"criterion": "kendall", "gamma": 1.0, "min_samples_leaf": 1},
        {"criterion": "spearman", "gamma": 1.0, "min_samples_leaf": 1},
        {"criterion": "kendall", "gamma": 0.98},
        {"criterion": "entropy"},
        {"criterion": "mallows"},
    ):
        forest = partial(LabelRankingForest, n_trees, n_jobs=1, **options)
        title = " ".join(str(value) for value in options.values())
        measure(f"LabelRankingForest {title}", forest, n_seeds, folds, baseline)
    print()


def measure(
    title: str,
    model: Callable[..., Any],
    n_seeds: int,
    folds: tuple[np.ndarray, ...],
    baseline: tuple[float, float] | None = None,
) -> tuple[float, float]:
    X_train, y_train, X_test, y_test = folds
    fit_seconds, predict_seconds, taus = [], [], []
    for seed in range(n_seeds):
        start = time.process_time()
        fitted = model(random_state=seed).fit(X_train, y_train)
        fit_seconds.append(time.process_time() - start)
        start = time.process_time()
        predicted = fitted.predict(X_test)
        predict_seconds.append(time.process_time() - start)
        taus.append(kendall_tau(y_test, rank_labels(predicted)))
    seconds, tau = float(np.mean(fit_seconds)), float(np.mean(taus))
    line = f"  {title:<36} fit {seconds:6.2f} s   predict {np.mean(predict_seconds):5.2f} s   tau {tau:.4f}"
    if baseline is not None:
        line += f"   {baseline[0] / seconds:5.2f} times as fast, tau {tau - baseline[1]:+.4f}"
    print(line, flush=True)
    return seconds, tau


if __name__ == "__main__":
    main()
