"""Labels hidden on purpose: what a forest learns from the rest, and what that costs.

    python benchmarks/bench_partly_known.py [--data FOLDER] [--sets emotions ...] [--trees 50] [--seeds 3]
    python benchmarks/bench_partly_known.py --annotations [--sets eisen_GO ...] [--trees 20] [--seeds 2]
    python benchmarks/bench_partly_known.py --page

Labels of the training part are hidden, 10 to 90 % of them: cells at random, whole rows, or rare labels more often than
frequent ones. The measure is the pooled AUPRC on the complete test part, of

- unknown: `ForestClassifier` on the labels as they are, unknown ones as NaN;
- negative: the same with unknown taken for "has not";
- dropped: the same on the rows of which all labels are known, where there are any;
- per label: one forest per label on the rows of which it is known (`BinaryRelevance`; cells hidden at random in sets of
  at most 20 labels).

With --annotations, absent labels of the Gene Ontology are taken for what they are, "not annotated", in several ways,
with the annotations that there are, and with some of the most specific ones of each training row taken away: a share of
10 to 100 % of them stays, another one in each row. The measures are the pooled AUPRC and the mean AUPRC of the labels
on the complete test part, both without labels that all rows have, of

- negative: a label that is absent is a label that the row has not;
- rows: the same with rows weighted by their completeness, n / (n + median of n) with n the labels of the row;
- absent: absent labels alone weighted so. A label has no weight in a row, so each of five forests takes the absent
  labels of another draw of rows for unknown, each row with the probability that is missing to 1;
- true share: the same with the share of its annotations that stays, which nobody knows of real rows;
- next: absent labels directly below those that the row has are unknown.

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
N_DRAWS = 5
ANNOTATED = ("negative", "rows", "absent", "true share", "next")
GO_SETS = ("cellcycle_GO", "eisen_GO", "spo_GO")
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
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--trees", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--annotations", action="store_true", help="what absent labels of the Gene Ontology are taken for"
    )
    parser.add_argument("--page", action="store_true", help="write the page from the results there are")
    arguments = parser.parse_args()
    compared = annotated if arguments.annotations else results_of
    names = arguments.sets or (GO_SETS if arguments.annotations else SETS)
    for name in () if arguments.page else names:
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


def annotated(name: str, folder: Path, n_trees: int, n_seeds: int) -> pd.DataFrame:
    """Absent labels of the Gene Ontology taken for what they are, in several ways."""
    data = read([folder / "hmc" / "go" / f"{name}.{part}.arff.gz" for part in ("train", "test")])
    train, test, truth = data.part("train"), data.part("test"), complete(data.part("test"))
    rows = []
    for hidden in (False, True):
        for seed in range(n_seeds):
            Y, kept = thinned(train, seed) if hidden else (complete(train), None)
            for method in ANNOTATED:
                if method == "true share" and kept is None:
                    continue
                started = time.process_time()
                predicted = by_annotations(method, train, Y, kept, test, n_trees, seed)
                cpu = time.process_time() - started
                pooled, mean = (
                    float(auprc(truth, predicted, average=how, exclude_universal=True)) for how in ("micro", "macro")
                )
                share = 0.0 if kept is None else 1 - kept.mean()
                rows.append((name, "annotations", share, seed, method, pooled, cpu, np.count_nonzero(Y == 1), mean))
            print(name, "annotations", "some hidden" if hidden else "all", seed, flush=True)
    columns = ["set", "pattern", "share", "seed", "method", "auprc", "cpu", "entries", "per_label"]
    return pd.DataFrame(rows, columns=columns)


def thinned(train: Dataset, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Label sets without some of the most specific labels, and the share of those that stays in each row."""
    rng = np.random.default_rng([seed, 19])
    Y = sparse.csr_array(complete(train))
    inner = (Y @ sparse.csr_array(train.hierarchy.parent_matrix)) > 0
    specific = Y.toarray() * ~inner.toarray()
    n_specific = specific.sum(axis=1)
    order = np.where(specific > 0, rng.random(specific.shape), 2).argsort(axis=1).argsort(axis=1)
    n_kept = np.maximum(np.round(rng.uniform(0.1, 1, len(specific)) * n_specific), 1)
    stay = sparse.csr_array(((specific > 0) & (order < n_kept[:, None])).astype(int))
    return train.hierarchy.close(stay).toarray().astype(float), np.minimum(n_kept / np.maximum(n_specific, 1), 1)


def by_annotations(
    method: str, train: Dataset, Y: np.ndarray, kept: np.ndarray | None, test: Dataset, n_trees: int, seed: int
) -> np.ndarray:
    n_labels = Y.sum(axis=1)
    completeness = kept if method == "true share" else n_labels / (n_labels + np.median(n_labels))

    def predicted(y: np.ndarray, weights: np.ndarray | None = None, k: int = 0, n_trees: int = n_trees) -> np.ndarray:
        forest = ForestClassifier(
            n_trees, hierarchy=train.hierarchy, n_jobs=1, random_state=1000 * k + seed,
            categorical_features=train.categorical_features,
        )  # fmt: skip
        return forest.fit(train.X, y, weights).predict_proba(test.X)

    if method == "negative":
        return predicted(Y)
    if method == "rows":
        return predicted(Y, completeness)
    if method == "next":
        above = sparse.csr_array(train.hierarchy.parent_matrix)
        n_above = np.asarray(above.sum(axis=1)).ravel()
        below = (sparse.csr_array(Y) @ above.T).toarray() >= n_above
        return predicted(np.where((Y == 0) & below & (n_above > 0), np.nan, Y))
    rng = np.random.default_rng([seed, 7])
    draws = []
    for k in range(N_DRAWS):
        doubted = rng.random(len(Y)) > completeness
        draws.append(predicted(np.where(doubted[:, None] & (Y == 0), np.nan, Y), None, k, n_trees // N_DRAWS))
    return np.mean(draws, axis=0)


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
        replaced = before["set"].isin(found["set"]) & (_section(before) == _section(found).iloc[0])
        found = pd.concat([before[~replaced], found])
    found.to_csv(path, index=False, float_format="%.6g")


def _section(found: pd.DataFrame) -> pd.Series:
    return found["pattern"].where(found["pattern"] == "annotations", "hidden")


def write_page() -> None:
    found = pd.read_csv(FOLDER / "partly_known.csv")
    of_genes, found = (found[_section(found) == name] for name in ("annotations", "hidden"))
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
    lines += ["## Absent means not annotated", "", *_annotations(of_genes), ""]
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


def _annotations(found: pd.DataFrame) -> list[str]:
    hidden = found["share"] > 0
    lines = [
        "Gene Ontology sets, where an absent label is one that nobody annotated. It is taken for a negative; rows, or",
        "absent labels alone, weigh by how completely the row is annotated (estimated by its number of labels, or,",
        "where annotations were taken away on purpose, by the true share that was left); or absent labels directly",
        f"below those of the row are unknown. Mean of {found['seed'].nunique()} draws on the complete test part,",
        "without labels that all rows have.",
        "",
    ]
    for measure, title in (("auprc", "Pooled AUPRC"), ("per_label", "Mean AUPRC of the labels")):
        lines += [f"### {title}", "", "| set | taken away | " + " | ".join(ANNOTATED) + " |", "|" + "---|" * 7]
        means = found.groupby(["set", hidden, "method"])[measure].mean()
        away = found[hidden].groupby("set")["share"].mean()
        for name in [name for name in GO_SETS if name in set(found["set"])]:
            for some in (False, True):
                cells = [means.get((name, some, method), np.nan) for method in ANNOTATED]
                best = np.nanmax(cells)
                shown = ["-" if np.isnan(c) else f"**{c:.3f}**" if c >= best - 5e-4 else f"{c:.3f}" for c in cells]
                lines.append(f"| {name} | {f'{away[name]:.0%}' if some else 'nothing'} | " + " | ".join(shown) + " |")
        lines += [""]
    return lines[:-1]


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
