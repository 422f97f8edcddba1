"""LabelRankingForest beside scikit-learn's RandomForestRegressor on the rank columns: CPU seconds and tau.

    python benchmarks/bench_label_ranking.py [--data FOLDER] [--trees 100] [--sets fried pendigits]
    python benchmarks/bench_label_ranking.py --folds 5 [--markdown docs/benchmarks/label_ranking.md]

Single thread, the same split of the rows (two thirds to train), the same number of trees and of features per node, mean
over seeds, the models in turn. The regressor predicts one number per label, and labels are ranked by it. Trees of the
first two forests are grown as far as the regressor's (gamma = 1, leaves of one row); the others stop as in the paper.

With `--folds`, forests are compared by cross-validation over all sets of the folder instead, as far as they are there:
how trees should stop, and whether a regression forest on the ranks does better.
"""

import argparse
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import KFold, train_test_split

from ramify.compare import compare as compare_over_sets
from ramify.compare import wilcoxon
from ramify.datasets.readers.label_rankings import read_rankings
from ramify.ensemble import LabelRankingForest
from ramify.metrics import kendall_tau
from ramify.targets.rankings import rank_labels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("RAMIFY_DATA", "../shared/data"))
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--folds", type=int, default=0)
    parser.add_argument("--markdown", type=Path)
    arguments = parser.parse_args()
    if arguments.folds:
        cross_validate(Path(arguments.data), arguments.sets, arguments.trees, arguments.folds, arguments.markdown)
        return
    for name in arguments.sets or ["fried", "pendigits"]:
        compare(name, find(Path(arguments.data) / "labelranking" / "kebi", name), arguments.trees, arguments.seeds)


def find(folder: Path, name: str) -> Path:
    files = sorted(folder.glob(f"{name}.csv*"))
    if not files:
        raise SystemExit(f"There is no {name}.csv in {folder}. Name the data folder with --data.")
    return files[0]


def compare(name: str, file: Path, n_trees: int, n_seeds: int) -> None:
    data = read_rankings(file)
    X_train, X_test, y_train, y_test = train_test_split(data.X, data.y, test_size=1 / 3, random_state=0)
    print(
        f"{name}: {len(X_train)} rows to train, {len(X_test)} to test, {data.n_features} features, "
        f"{data.n_labels} labels, {n_trees} trees, load before the run {os.getloadavg()[0]:.1f}"
    )
    models: dict[str, Callable[..., Any]] = {
        "RandomForestRegressor": partial(RandomForestRegressor, n_trees, max_features="sqrt", n_jobs=1)
    }
    for options in (
        {"criterion": "kendall", "gamma": 1.0, "min_samples_leaf": 1},
        {"criterion": "spearman", "gamma": 1.0, "min_samples_leaf": 1},
        {"criterion": "kendall", "gamma": 0.98},
        {"criterion": "entropy"},
        {"criterion": "mallows"},
    ):
        title = " ".join(str(value) for value in options.values())
        models[f"LabelRankingForest {title}"] = partial(LabelRankingForest, n_trees, n_jobs=1, **options)
    measured: dict[str, list[list[float]]] = {title: [] for title in models}
    for seed in range(n_seeds):
        for title, model in models.items():
            measured[title].append(measure(model(random_state=seed), X_train, y_train, X_test, y_test))
    means = {title: np.mean(values, axis=0) for title, values in measured.items()}
    baseline = means["RandomForestRegressor"]
    for title, (fit_seconds, predict_seconds, tau) in means.items():
        line = f"  {title:<36} fit {fit_seconds:6.2f} s   predict {predict_seconds:6.3f} s   tau {tau:.4f}"
        if title != "RandomForestRegressor":
            line += (
                f"   fit {baseline[0] / fit_seconds:5.2f}, predict {baseline[1] / predict_seconds:5.2f} times as fast"
            )
            line += f", tau {tau - baseline[2]:+.4f}"
        print(line)
    print(flush=True)


def measure(model: Any, X_train: Any, y_train: Any, X_test: Any, y_test: Any) -> list[float]:
    """CPU seconds of fit and of predict (the best of three), and tau."""
    start = time.process_time()
    fitted = model.fit(X_train, y_train)
    fit_seconds = time.process_time() - start
    predict_seconds = []
    for _ in range(3):
        start = time.process_time()
        predicted = fitted.predict(X_test)
        predict_seconds.append(time.process_time() - start)
    return [fit_seconds, min(predict_seconds), kendall_tau(y_test, rank_labels(predicted))]


SETTINGS = {
    "published": (LabelRankingForest, {"gamma": 0.98, "min_samples_leaf": 2}),
    "leaves of 2": (LabelRankingForest, {"gamma": 1.0, "min_samples_leaf": 2}),
    "leaves of 1": (LabelRankingForest, {"gamma": 1.0, "min_samples_leaf": 1}),
    "spearman": (LabelRankingForest, {"criterion": "spearman", "gamma": 1.0, "min_samples_leaf": 1}),
    "all features": (LabelRankingForest, {"gamma": 1.0, "min_samples_leaf": 1, "max_features": None}),
    "regression": (RandomForestRegressor, {"max_features": "sqrt"}),
    "regression, all features": (RandomForestRegressor, {"max_features": 1.0}),
}
"""What is cross-validated; regression is scikit-learn's, on the columns of ranks."""

PAGE = """# How far should ranking trees grow?

Kendall's tau-b by cross-validation with {n_folds} shuffled folds and {n_trees} trees, the same folds for all, on the 16
sets of the study of label ranking and four of yeast expression (spo, heat, dtt, diau); the best of each
row is bold.

- *published*: `LabelRankingForest(gamma=0.98, min_samples_leaf=2)`, as in the paper;
- *leaves of 2* and *leaves of 1*: every gain is taken (`gamma=1.0`), leaves of at least two rows or one; *spearman* is
  the latter with that criterion, *all features* with `max_features=None`;
- *regression*: scikit-learn's `RandomForestRegressor` on the columns of ranks, whose predictions are ranked, with
  `"sqrt"` features per node as above, and with all of them, its default.

{table}

{sentence}

Pairs by Wilcoxon's signed-rank test, corrected by Benjamini and Hochberg:

{pairs}

By `python benchmarks/bench_label_ranking.py --folds {n_folds} --markdown FILE`.
"""


def cross_validate(folder: Path, names: list[str] | None, n_trees: int, n_folds: int, page: Path | None) -> None:
    files = {file.name.split(".")[0]: file for file in sorted((folder / "labelranking").glob("[kr]e*/*.csv*"))}
    if not files:
        raise SystemExit(f"There are no rankings in {folder}. Name the data folder with --data.")
    rows = {}
    for name in sorted(names or files, key=lambda name: files[name].stat().st_size):
        data = read_rankings(files[name])
        taus: dict[str, list[float]] = {title: [] for title in SETTINGS}
        for train, test in KFold(n_folds, shuffle=True, random_state=0).split(data.X):
            for title, (model, options) in SETTINGS.items():
                fitted = model(n_trees, random_state=0, n_jobs=1, **options).fit(data.X[train], data.y[train])
                taus[title].append(kendall_tau(data.y[test], rank_labels(fitted.predict(data.X[test]))))
        rows[name] = {title: float(np.mean(values)) for title, values in taus.items()}
        print(f"{name:<12}", "  ".join(f"{title} {value:.4f}" for title, value in rows[name].items()), flush=True)
    table = pd.DataFrame(rows).T.sort_index()
    found = compare_over_sets(table)
    print(found.to_frame(), found.sentence, sep="\n")
    if page is not None:
        text = PAGE.format(
            n_folds=n_folds,
            n_trees=n_trees,
            table=markdown(with_summary(table, found.ranks)),
            sentence=found.sentence,
            pairs=markdown(pairs(table)),
        )
        page.write_text(text, encoding="utf-8")


def with_summary(table: pd.DataFrame, ranks: pd.Series) -> pd.DataFrame:
    """Values as text, the best of each row bold, with means and average ranks below."""
    shown = table.map("{:.3f}".format)
    for name, row in shown.iterrows():
        shown.loc[name] = [f"**{value}**" if value == row.max() else value for value in row]
    shown.loc["mean"] = table.mean().map("{:.3f}".format)
    shown.loc["average rank"] = ranks[table.columns].map("{:.2f}".format)
    return shown


def pairs(table: pd.DataFrame) -> pd.DataFrame:
    """Each pair: how much better the first is on average, on how many sets, and what the test says."""
    rows = []
    for test in wilcoxon(table, correction="bh").itertuples():
        difference = table[test.first] - table[test.second]
        won = f"{int((difference > 0).sum())} of {len(table)}"
        rows.append([f"{test.first} - {test.second}", f"{difference.mean():+.4f}", won, f"{test.adjusted:.4f}"])
    return pd.DataFrame(rows, columns=["pair", "mean difference", "sets won", "p"]).set_index("pair")


def markdown(frame: pd.DataFrame) -> str:
    lines = [["", *frame.columns], ["---"] * (1 + frame.shape[1]), *([name, *row] for name, row in frame.iterrows())]
    return "\n".join("| " + " | ".join(map(str, cells)) + " |" for cells in lines)


if __name__ == "__main__":
    main()
