"""Forests of one label as rows grow: CPU seconds of Ramify, exact and binned, of scikit-learn and of XGBoost's forest.

    python benchmarks/bench_rows.py [--rows 10000 100000 1000000] [--features 50] [--trees 2] [--write FILE]

One thread, trees of full depth, `sqrt` features per node, the same generated numbers of which ten drive the label. The
libraries take turns on each size, so that other work on the machine slows all of them. XGBoost bins into 255 as Ramify
with `max_bins=255` does, and draws 63 of 100 rows where the others draw with replacement. Its trees of full
depth without regularisation predict less well than the others', so its times are of such trees, not of
how it is best used.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
import xgboost
from sklearn.ensemble import RandomForestClassifier

import ramify
from ramify.ensemble import ForestClassifier


def forests(n_features: int, n_trees: int) -> dict[str, Callable[[], Any]]:
    """An unfitted forest of each library."""
    return {
        "Ramify": lambda: ForestClassifier(n_trees, n_jobs=1, random_state=0),
        "Ramify, 255 bins": lambda: ForestClassifier(n_trees, max_bins=255, n_jobs=1, random_state=0),
        "scikit-learn": lambda: RandomForestClassifier(n_trees, n_jobs=1, random_state=0),
        "XGBoost, 255 bins": lambda: xgboost.XGBRFClassifier(
            n_estimators=n_trees,
            tree_method="hist",
            max_bin=255,
            max_depth=0,
            min_child_weight=0,
            reg_lambda=0,
            subsample=0.632,
            colsample_bynode=np.sqrt(n_features) / n_features,
            n_jobs=1,
            random_state=0,
        ),
    }


def table(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of which ten drive the label."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    score = X[:, :10].sum(axis=1) + X[:, 0] * X[:, 1] + 2 * rng.normal(size=n_rows)
    return X, (score > 1).astype(int)


def accuracy(forest: Any, X: np.ndarray, y: np.ndarray) -> float:
    return float((forest.predict(X) == y).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 30_000, 100_000, 300_000, 1_000_000])
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--trees", type=int, default=2)
    parser.add_argument("--write", type=Path, default=None, help="write the page to this file, too")
    arguments = parser.parse_args()
    names = list(forests(arguments.features, arguments.trees))
    lines = [
        "# Forests as rows grow\n",
        str(__doc__).split("\n\n", 2)[2],
        f"Ramify {ramify.__version__}, scikit-learn {sklearn.__version__}, XGBoost {xgboost.__version__}, Python "
        f"{platform.python_version()}, {os.cpu_count()} cores, load before the run {os.getloadavg()[0]:.1f}.\n",
        f"## CPU seconds for {arguments.trees} trees over {arguments.features} features\n",
        "In parentheses: accuracy on 10,000 new rows.\n",
        "| rows | " + " | ".join(names) + " | scikit-learn / Ramify | XGBoost / Ramify, bins |",
        "|---" * (len(names) + 3) + "|",
    ]
    X_new, y_new = table(10_000 + max(arguments.rows), arguments.features)
    X_new, y_new = X_new[-10_000:], y_new[-10_000:]
    for n_rows in arguments.rows:
        X, y = table(n_rows, arguments.features)
        seconds, cells = {}, []
        for name, forest in forests(arguments.features, arguments.trees).items():
            start = time.process_time()
            fitted = forest().fit(X, y)
            seconds[name] = time.process_time() - start
            cells.append(f"{seconds[name]:.2f} ({accuracy(fitted, X_new, y_new):.3f})")
        ratios = [
            seconds["scikit-learn"] / seconds["Ramify"],
            seconds["XGBoost, 255 bins"] / seconds["Ramify, 255 bins"],
        ]
        lines.append(f"| {n_rows:,} | " + " | ".join(cells) + " | " + " | ".join(f"{r:.1f}" for r in ratios) + " |")
        print(lines[-1], flush=True)
        if arguments.write is not None:
            arguments.write.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
