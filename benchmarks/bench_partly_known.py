"""Labels hidden on purpose: what a forest learns from the rest, and what that costs.

    python benchmarks/bench_partly_known.py [--data FOLDER] [--sets emotions ...] [--trees 50] [--seeds 3]
    python benchmarks/bench_partly_known.py --unlabelled [--sets emotions ...] [--trees 20] [--seeds 2]
    python benchmarks/bench_partly_known.py --page

Labels of the training part are hidden, 10 to 90 % of them: cells at random, whole rows, or rare labels more often than
frequent ones. The measure is the pooled AUPRC on the complete test part, of

- unknown: `ForestClassifier` on the labels as they are, unknown ones as NaN;
- negative: the same with unknown taken for "has not";
- dropped: the same on the rows of which all labels are known, where there are any;
- per label: one forest per label on the rows of which it is known (`BinaryRelevance`; cells hidden at random in sets of
  at most 20 labels).

With --unlabelled, whole rows are hidden and semi-supervised trees (`supervision`: 0.5, or "auto", chosen out of bag)
are compared with supervised ones, which leave those rows out.

All forests have the same number of trees and one thread. Each set adds its rows to docs/benchmarks/partly_known.csv,
from which the page is written: a set can be run alone.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.stats import wilcoxon

from ramify.chains import BinaryRelevance
from ramify.datasets import Dataset, read
from ramify.ensemble import ForestClassifier
from ramify.metrics import auprc
from ramify.targets import encode_labels

FOLDER = Path(__file__).parent.parent / "docs" / "benchmarks"
SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
PATTERNS = ("cells", "rows", "rare")
METHODS = ("unknown", "negative", "dropped", "per label")
UNLABELLED = {"supervised": 1.0, "half": 0.5, "auto": "auto"}
FEW_LABELLED = (0.7, 0.9, 0.97)
SETS = {
    "emotions": ("multilabel/emotions-train.arff.gz", "multilabel/emotions-test.arff"),
    "scene": ("multilabel/scene-train.arff.gz", "multilabel/scene-test.arff.gz"),
    "yeast": ("multilabel/yeast-train.arff.gz", "multilabel/yeast-test.arff.gz"),
    "enron": ("multilabel/enron-train.arff.gz", "multilabel/enron-test.arff.gz"),
    "pheno_FUN": ("hmc/fun/pheno_FUN.train.arff", "hmc/fun/pheno_FUN.test.arff"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("RAMIFY_DATA", "../shared/data"))
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--trees", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--unlabelled", action="store_true", help="semi-supervised against supervised trees")
    parser.add_argument("--page", action="store_true", help="write the page from the results there are")
    arguments = parser.parse_args()
    for name in () if arguments.page else arguments.sets:
        compared = unlabelled if arguments.unlabelled else results_of
        keep(compared(name, Path(arguments.data), arguments.trees, arguments.seeds))
    write_page()


def results_of(name: str, folder: Path, n_trees: int, n_seeds: int) -> pd.DataFrame:
    data = read([folder / file for file in SETS[name]])
    train, test = data.part("train"), data.part("test")
    Y = complete(train)
    rows = []
    for pattern in PATTERNS:
        for share in SHARES:
            for seed in range(n_seeds):
                hidden = hide(Y, pattern, share, seed)
                for method in METHODS if pattern == "cells" else METHODS[:3]:
                    reached, cpu, n_entries = fitted(method, train, hidden, test, n_trees, seed)
                    rows.append((name, pattern, share, seed, method, reached, cpu, n_entries))
            print(name, pattern, share, flush=True)
    for seed in range(n_seeds):
        reached, cpu, n_entries = fitted("unknown", train, Y, test, n_trees, seed)
        rows.append((name, "nothing", 0.0, seed, "unknown", reached, cpu, n_entries))
    columns = ["set", "pattern", "share", "seed", "method", "auprc", "cpu", "entries"]
    return pd.DataFrame(rows, columns=columns)


def unlabelled(name: str, folder: Path, n_trees: int, n_seeds: int) -> pd.DataFrame:
    """Semi-supervised against supervised trees with whole rows hidden."""
    data = read([folder / file for file in SETS[name]])
    train, test = data.part("train"), data.part("test")
    Y = complete(train)
    rows = []
    for share in FEW_LABELLED:
        for seed in range(n_seeds):
            hidden = hide(Y, "rows", share, seed)
            for method, supervision in UNLABELLED.items():
                forest = ForestClassifier(
                    n_trees, hierarchy=train.hierarchy, supervision=supervision, n_jobs=1, random_state=seed,
                    categorical_features=train.categorical_features,
                )  # fmt: skip
                started = time.process_time()
                forest.fit(train.X, hidden)
                cpu = time.process_time() - started
                reached = float(auprc(complete(test), forest.predict_proba(test.X)))
                rows.append((name, "unlabelled", share, seed, method, reached, cpu, forest.supervision_))
        print(name, "unlabelled", share, flush=True)
    return pd.DataFrame(rows, columns=["set", "pattern", "share", "seed", "method", "auprc", "cpu", "entries"])


def complete(data: Dataset) -> np.ndarray:
    Y = sparse.csr_array(data.y).astype(int)
    return (Y if data.hierarchy is None else data.hierarchy.close(Y)).toarray().astype(float)


def hide(Y: np.ndarray, pattern: str, share: float, seed: int) -> np.ndarray:
    """The label sets with NaN for hidden cells; a cell of each label stays."""
    rng = np.random.default_rng([seed, round(100 * share)])
    if pattern == "rows":
        hidden = np.repeat(rng.random(len(Y))[:, None] < share, Y.shape[1], axis=1)
    else:
        chance = np.full(Y.shape[1], share)
        if pattern == "rare":  # from twice the share for the rarest label to none for the most frequent
            place = Y.sum(axis=0).argsort(kind="stable").argsort(kind="stable") / max(1, Y.shape[1] - 1)
            chance = np.minimum(0.95, 2 * share * (1 - place))
        hidden = rng.random(Y.shape) < chance
    for label in np.flatnonzero(hidden.all(axis=0)):
        hidden[rng.integers(len(Y)), label] = False
    return np.where(hidden, np.nan, Y)


def fitted(
    method: str, train: Dataset, Y: np.ndarray, test: Dataset, n_trees: int, seed: int
) -> tuple[float, float, int]:
    """Pooled AUPRC on the test part, CPU seconds of fitting and stored entries: labels had and unknown."""
    X, y, hierarchy = train.X, Y, train.hierarchy
    if method == "negative":
        y = np.nan_to_num(Y)
        y = y if hierarchy is None else hierarchy.close(sparse.csr_array(y.astype(int))).toarray().astype(float)
    if method == "dropped":
        rows = np.flatnonzero(~np.isnan(Y).any(axis=1))
        X, y = X[rows], Y[rows]
        if len(rows) < 5:
            return np.nan, np.nan, 0
    forest = ForestClassifier(
        n_trees, hierarchy=hierarchy, n_jobs=1, random_state=seed, categorical_features=train.categorical_features
    )
    if method == "per label":
        if Y.shape[1] > 20:
            return np.nan, np.nan, 0
        target = encode_labels(Y, hierarchy=hierarchy, partly_known=True)
        y, forest = target.cells().toarray(), BinaryRelevance(forest.set_params(hierarchy=None), random_state=seed)
    started = time.process_time()
    forest.fit(X, y)
    cpu = time.process_time() - started
    target = encode_labels(y, hierarchy=hierarchy, partly_known=True, nowhere_known=True)
    n_entries = target.Y.nnz + (0 if target.unknown is None else target.unknown.nnz)
    return float(auprc(complete(test), forest.predict_proba(test.X))), cpu, n_entries


def keep(found: pd.DataFrame) -> None:
    path = FOLDER / "partly_known.csv"
    if path.exists():
        before = pd.read_csv(path)
        replaced = before["set"].isin(found["set"]) & ~(
            (before["pattern"] == "unlabelled") ^ (found["pattern"].iloc[0] == "unlabelled")
        )
        found = pd.concat([before[~replaced], found])
    found.to_csv(path, index=False, float_format="%.6g")


def write_page() -> None:
    found = pd.read_csv(FOLDER / "partly_known.csv")
    beside = found[found["pattern"] == "unlabelled"]
    found = found[found["pattern"] != "unlabelled"]
    n_draws = found.groupby("set")["seed"].nunique()
    draws = ", ".join(f"{n_draws[name]} of {name}" for name in SETS if name in n_draws)
    lines = [
        "# Partly known labels",
        "",
        "Labels of the training part are hidden; the measure is the pooled AUPRC on the complete test part, the mean",
        f"of the draws of what is hidden ({draws}).",
        "`benchmarks/bench_partly_known.py` wrote this page and says what is compared.",
        "A dash: no rows are left, or one forest per label was not tried.",
        "",
    ]
    titles = {"cells": "Cells hidden at random", "rows": "Whole rows hidden", "rare": "Rare labels hidden more often"}
    for pattern in PATTERNS:
        lines += [f"## {titles[pattern]}", "", *_table(found, pattern), ""]
        if pattern == "cells":
            lines += ["### Over all sets", "", *_tests(found, pattern), ""]
    lines += ["## Unlabelled rows", "", *_unlabelled(beside), ""]
    lines += ["## Cost", "", *_cost(found), ""]
    (FOLDER / "partly_known.md").write_text("\n".join(lines))


def _table(found: pd.DataFrame, pattern: str) -> list[str]:
    part = found[found["pattern"] == pattern]
    means = part.groupby(["set", "share", "method"])["auprc"].mean()
    nothing = found[found["pattern"] == "nothing"].groupby("set")["auprc"].mean()
    lines = ["| set | hidden | " + " | ".join(METHODS) + " | nothing hidden |", "|" + "---|" * (len(METHODS) + 3)]
    for name in [name for name in SETS if name in set(part["set"])]:
        for share in SHARES:
            cells = [means.get((name, share, method), np.nan) for method in METHODS]
            best = np.nanmax(cells)
            shown = ["-" if np.isnan(c) else f"**{c:.3f}**" if c >= best - 5e-4 else f"{c:.3f}" for c in cells]
            lines.append(f"| {name} | {share:.0%} | " + " | ".join(shown) + f" | {nothing[name]:.3f} |")
    return lines


def _tests(found: pd.DataFrame, pattern: str) -> list[str]:
    part = found[found["pattern"] == pattern].pivot_table(
        index=["share", "set", "seed"], columns="method", values="auprc", dropna=False
    )
    lines = [
        "Unknown against each other way: mean difference, and the two-sided p of Wilcoxon's signed ranks over sets and",
        "draws (not independent within a set, so that p is rather too small).",
        "",
        "| hidden | " + " | ".join(METHODS[1:]) + " |",
        "|" + "---|" * len(METHODS),
    ]
    for share in SHARES:
        cells = []
        for method in METHODS[1:]:
            pairs = part.loc[share][["unknown", method]].dropna()
            apart = pairs["unknown"] - pairs[method]
            if len(apart) < 6:
                cells.append("-" if not len(apart) else f"{apart.mean():+.3f} ({len(apart)} pairs)")
            else:
                cells.append(f"{apart.mean():+.3f} (p = {wilcoxon(apart).pvalue:.2g}, {len(apart)} pairs)")
        lines.append(f"| {share:.0%} | " + " | ".join(cells) + " |")
    return lines


def _unlabelled(found: pd.DataFrame) -> list[str]:
    lines = [
        "Whole rows are hidden. Supervised trees leave them out; semi-supervised ones grow on them too, with half of",
        "the impurity of the features (`supervision=0.5`) or with the share that is best out of bag (auto; the mean of",
        f"the shares chosen is beside it, 1 is supervised). Mean of {found['seed'].nunique()} draws, pooled AUPRC on",
        "the complete test part; CPU seconds of fitting on one thread.",
        "",
        "| set | hidden | supervised | 0.5 | auto | share chosen | CPU s | CPU s, 0.5 | CPU s, auto |",
        "|" + "---|" * 9,
    ]
    means = found.groupby(["set", "share", "method"])[["auprc", "cpu", "entries"]].mean()
    for name in [name for name in SETS if name in set(found["set"])]:
        for share in FEW_LABELLED:
            own = means.loc[name, share]
            best = own["auprc"].max()
            shown = [f"**{v:.3f}**" if v >= best - 5e-4 else f"{v:.3f}" for v in own.loc[list(UNLABELLED), "auprc"]]
            cpu = [f"{v:.2f}" for v in own.loc[list(UNLABELLED), "cpu"]]
            chosen = f"{own.loc['auto', 'entries']:.2f}"
            lines.append(f"| {name} | {share:.0%} | " + " | ".join([*shown, chosen, *cpu]) + " |")
    pairs = found.pivot_table(index=["set", "share", "seed"], columns="method", values="auprc")
    for method in ("half", "auto"):
        apart = pairs[method] - pairs["supervised"]
        p = wilcoxon(apart).pvalue if (apart != 0).sum() > 5 else np.nan
        said = "not tested" if np.isnan(p) else f"p = {p:.2g}"
        title = "0.5" if method == "half" else "auto"
        lines += ["", f"{title} against supervised: {apart.mean():+.3f} ({said}, {len(apart)} pairs)."]
    return lines


def _cost(found: pd.DataFrame) -> list[str]:
    lines = [
        "CPU seconds of fitting on one thread, per stored entry (labels that rows have and unknown ones), cells hidden",
        "at random, beside those with nothing hidden.",
        "",
        "| set | hidden | entries | CPU s | entries, complete | CPU s, complete | CPU per entry, times complete |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in [name for name in SETS if name in set(found["set"])]:
        own = found[(found["set"] == name) & (found["method"] == "unknown")]
        whole = own[own["pattern"] == "nothing"]
        for share in SHARES:
            part = own[(own["pattern"] == "cells") & (own["share"] == share)]
            ratio = part["cpu"].mean() / part["entries"].mean() / (whole["cpu"].mean() / whole["entries"].mean())
            lines.append(
                f"| {name} | {share:.0%} | {part['entries'].mean():,.0f} | {part['cpu'].mean():.2f} | "
                f"{whole['entries'].mean():,.0f} | {whole['cpu'].mean():.2f} | {ratio:.2f} |"
            )
    return lines


if __name__ == "__main__":
    main()
