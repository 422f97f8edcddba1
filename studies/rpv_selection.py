"""Prioritizing positive feature values (da Silva, Plastino, Freitas, 2020): Tables 2 to 10, Figure 4 and Table B.1.

Design (section 5.2): ten-fold cross-validation; naive Bayes and 1-NN over the features that each method selects; AUCPR,
AUROC and the geometric mean of sensitivity and specificity; Friedman's test, then Holm's of RPV against each other.
"""

import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from ramify_studies.figures import bars_by_dataset
from ramify_studies.shared import SomeCells, findings_under
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from ramify.compare import compare, friedman, holm
from ramify.compare.result_table import average_ranks
from ramify.datasets import Dataset
from ramify.datasets.readers.arff import read_arff
from ramify.datasets.readers.edges import read_edges
from ramify.metrics import geometric_mean
from ramify.plots import critical_difference
from ramify.selection import LazyNeighbors, cross_validated_selection
from ramify.selection.binary_features import column_hierarchy, presence
from ramify.selection.methods import selecting_classifier
from ramify.study import Study
from ramify.study.cells import Cell
from ramify.study.study_files import available, data_files, data_folder

FILES = data_files("rpv_selection")
QUICK = ("CE-CC", "DM-CC", "MM-MF", "Cities")

BASELINES = ("none", "negative", "positive", "rpv-ig", "rpv-r", "rpv")
TRADITIONAL = ("cfs", "relieff", "rpv")
HIERARCHICAL = ("gtd", "tsel", "shsel", "hip", "mr", "rpv")
METHODS = (*BASELINES, "cfs", "relieff", "gtd", "tsel", "shsel", "hip", "mr", "hip-mr")
CLASSIFIERS = {"bayes": "naive Bayes", "neighbors": "1-NN"}
MEASURES = {"auprc": "AUCPR", "auroc": "AUROC", "gm": "GM"}
# AUCPR agrees with the printed values as the mean over folds, AUROC and GM with all predictions pooled.
PRINTED_AS = {"auprc": "auprc_folds", "auroc": "auroc", "gm": "gm"}
ONCE = ("terms", "data")
TERM_SETS = ("CE-BP", "DM-BP", "MM-BP", "SC-BP")
# Rows of AUROC in Tables 3 and 8 that are another row times a constant, to rounding: whose they are, of what they are
# copies, and in which columns. In the last two one column of five is not copied.
SCALED = (
    ("bayes", "Tweets T", "DM-CC", BASELINES),
    ("neighbors", "Tweets T", "DM-CC", BASELINES),
    ("bayes", "Tweets C", "SC-BP", BASELINES),
    ("neighbors", "Tweets C", "SC-BP", BASELINES),
    ("bayes", "Tweets C", "SC-BP", HIERARCHICAL[:-1]),
    ("neighbors", "NY Daily", "SC-CC", HIERARCHICAL[:-1]),
    ("neighbors", "Tweets T", "MM-CC", ("gtd", "shsel", "hip", "mr")),
    ("neighbors", "Tweets C", "Tweets T", ("gtd", "tsel", "shsel", "hip")),
)
# Tables of the paper: baselines, traditional and hierarchical methods. Two blocks of Tables 5 and 6 are exchanged.
PLACES = {
    ("auprc", "bayes"): ("2", "5", "7"), ("auprc", "neighbors"): ("2", "5, third block", "7"),
    ("auroc", "bayes"): ("3", "5", "8"), ("auroc", "neighbors"): ("3", "6", "8"),
    ("gm", "bayes"): ("4", "6, first block", "9"), ("gm", "neighbors"): ("4", "6", "9"),
}  # fmt: skip
PAPER_SETS = {
    "CE-BP": (991, 1707, 657, "34.40 / 65.60", 4.50), "CE-CC": (178, 277, 484, "36.36 / 63.64", 6.49),
    "CE-MF": (263, 331, 504, "37.70 / 62.30", 5.07), "DM-BP": (800, 1355, 132, "71.97 / 28.03", 8.32),
    "DM-CC": (89, 130, 122, "70.49 / 29.51", 12.02), "DM-MF": (146, 182, 126, "70.63 / 29.37", 7.72),
    "MM-BP": (1333, 2406, 109, "68.81 / 31.78", 10.65), "MM-CC": (143, 214, 107, "68.22 / 31.78", 16.41),
    "MM-MF": (240, 289, 106, "67.92 / 32.08", 9.73), "SC-BP": (844, 1511, 331, "13.29 / 86.71", 5.35),
    "SC-CC": (145, 230, 331, "13.29 / 86.71", 9.04), "SC-MF": (221, 277, 331, "13.29 / 86.71", 5.73),
    "Tweets T": (4082, 36019, 1179, "55.64 / 44.36", 1.14), "NY Daily": (5145, 44152, 1016, "57.09 / 42.91", 1.21),
    "Cities": (727, 7051, 212, "18.40 / 50.00 / 31.60", 3.31),
}  # fmt: skip
"""Table 1: features, edges, rows, percentages of the classes and of positive values; the sets at hand."""
NAMED_TERMS = ("GO:0033554", "GO:0006950", "GO:0006412")
OTHERS = ("3-NN", "5-NN", "7-NN", "C4.5", "SVM", "RF")


def study(data: str | Path | None = None, folder: str | Path = "results/rpv_selection", quick: bool = False) -> Study:
    found, missing = available(data_folder(data), FILES)
    chosen = {name: files for name, files in found.items() if not quick or name in QUICK}
    return SomeCells(
        is_wanted,
        {name: partial(load, name, tuple(map(str, files))) for name, files in chosen.items()},
        {
            **{
                f"{classifier}: {method}": partial(selected, method=method, classifier=classifier)
                for method in METHODS
                for classifier in CLASSIFIERS
            },
            **{f"other: {name}": partial(without_selection, name=name) for name in OTHERS},
            "terms": most_selected,
            "data": described,
        },
        splits=WholeData(1 if quick else 3),
        folder=folder,
        missing=missing,
        gains=["gm"],
        losses=["fit_seconds", "predict_seconds"],
    )


class WholeData:
    """One cell is a whole ten-fold cross-validation, as its predictions are pooled; repeats take other folds."""

    def __init__(self, n_repeats: int) -> None:
        self.n_repeats = n_repeats

    def get_n_splits(self) -> int:
        """Number of repeats."""
        return self.n_repeats

    def split(self, X: np.ndarray, y: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:  # noqa: ARG002
        """All rows, for the method to cut into folds."""
        everything = np.arange(len(X))
        return ((everything, everything) for _ in range(self.n_repeats))

    def __repr__(self) -> str:
        return f"WholeData({self.n_repeats})"


def is_wanted(cell: Cell) -> bool:
    """Whether a method belongs to a data set: terms are listed once, for biological processes (section 5.3.6)."""
    return cell.method not in ONCE or (not cell.split and (cell.method == "data" or cell.dataset in TERM_SETS))


def load(name: str, files: tuple[str, ...]) -> Dataset:
    """Binary features in the order of their is_a hierarchy; the positive class is the last."""
    data = read_arff(files[0])
    edges = read_edges(files[1], names=data.feature_names)
    y = 1 - data.y if name == "Tweets T" else data.y  # the paper's positive class is the file's label 0
    return Dataset(
        presence(data),
        y=np.asarray(y),
        target="classes",
        feature_names=data.feature_names,
        feature_hierarchy=column_hierarchy(edges, data.feature_names),
        sha256=data.sha256,
    )


def selected(data: Dataset, _: Dataset, seed: int, *, method: str, classifier: str) -> dict[str, float]:
    """Ten-fold cross-validation of a classifier over the features that a method selects."""
    name, _, relevance = method.partition("-") if method.startswith("rpv") else (method, "", "")
    model = selecting_classifier(name, data.feature_hierarchy, relevance=relevance or None, classifier=classifier)
    return measured(model, data, seed)


def without_selection(data: Dataset, _: Dataset, seed: int, *, name: str) -> dict[str, float]:
    """Ten-fold cross-validation of another classifier over all features (Table B.1)."""
    models: dict[str, BaseEstimator] = {
        **{f"{k}-NN": LazyNeighbors(n_neighbors=k) for k in (3, 5, 7)},
        "C4.5": DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, ccp_alpha=0.005, random_state=seed),
        "RF": RandomForestClassifier(100, random_state=seed),
        "SVM": GridSearchCV(
            SVC(),
            {"C": [2.0**p for p in range(-5, 16, 4)], "gamma": [2.0**p for p in range(-15, 4, 4)]},
            cv=3,
        ),
    }
    folds = StratifiedKFold(10, shuffle=True, random_state=seed % 2**31)
    predicted = cross_val_predict(models[name], data.X.astype(float), data.y, cv=folds)
    members, chosen = (np.eye(data.y.max() + 1)[codes] for codes in (data.y, predicted))
    if members.shape[1] == 2:
        return {"gm": float(geometric_mean(members[:, 1], chosen[:, 1]))}
    return {"gm": float(geometric_mean(members, chosen, average="weighted"))}


def described(data: Dataset, _: Dataset, __: int) -> dict[str, float]:
    """What Table 1 says of a data set: sizes, edges between features, shares of the classes and of positive values."""
    counts = np.bincount(data.y)[::-1] / data.n_samples
    return {
        "features": data.n_features,
        "edges": len(data.feature_hierarchy.edges),
        "rows": data.n_samples,
        **{f"class {number}": share for number, share in enumerate(counts, 1)},
        "positive values": float(np.mean(data.X != 0)),
    }


def most_selected(data: Dataset, _: Dataset, seed: int) -> dict[str, float]:
    """The 15 terms that RPV selects in most rows, each left for testing once, with its share of them."""
    model = selecting_classifier("rpv", data.feature_hierarchy)
    ranking = cross_validated_selection(
        model, data.X, data.y, names=data.feature_names, random_state=seed % 2**31
    ).ranking.top(15)
    return dict(zip(ranking.names, map(float, ranking.scores), strict=True))


def measured(model: BaseEstimator, data: Dataset, seed: int) -> dict[str, float]:
    with warnings.catch_warnings():
        # Tweets T breaks its hierarchy in 15 cells, and ReliefF may select nothing in a fold; both are as published.
        warnings.filterwarnings("ignore", message=".*break the feature hierarchy.*")
        warnings.filterwarnings("ignore", message="No features were selected")
        result = cross_validated_selection(model, data.X, data.y, random_state=seed % 2**31)
    return {**result.measures(), "fit_seconds": result.fit_seconds, "predict_seconds": result.predict_seconds}


def printed() -> pd.DataFrame:
    """What the paper prints, in percent: rows (measure, classifier, data set), columns methods."""
    table = pd.read_csv(Path(__file__).with_name("rpv_selection_printed.csv"), keep_default_na=True)
    table["classifier"] = table["classifier"].fillna("")
    return table.set_index(["measure", "classifier", "dataset"]).sort_index()


TITLES = {
    "sets": "Table 1: the data sets, ours [paper]",
    "agreement": "Mean difference from the paper, ours minus printed (mean absolute), in points",
    "differences": "The same, all predictions together and as means over folds",
    "ranks": "Average ranks and wins, ours [from the printed values]",
    "holm": "Friedman's test and Holm's p of RPV against each other, one-sided, ours [from the printed values]",
    "shares": "Selected features in percent [Table 10]",
    "times": "CPU time as a ratio to RPV's, mean over data sets (Figure 4)",
    "terms": "The 15 terms that RPV selects most often, with the percentage of genes (section 5.3.6)",
    "others": "GM of other classifiers without selection [Table B.1]",
}


def findings(study: Study) -> str:
    """What was found beside what the paper printed."""
    return findings_under(study, "Hierarchical feature selection", tables(study), TITLES)


def tables(study: Study) -> dict[str, str]:
    """The tables of the study's page."""
    made = {
        "sets": data_sets(study),
        "agreement": differences(study, pooled_too=False),
        "differences": differences(study, pooled_too=True),
        "ranks": ranks(study),
        "holm": tests(study),
        "shares": shares(study),
        "times": times(study),
        "terms": frequent_terms(study),
        "others": other_classifiers(study),
        **accuracy_tables(study),
    }
    return {name: table for name, table in made.items() if table}


def figures(study: Study) -> dict[str, Figure]:
    """Shares of features (Table 10), and mean ranks by AUCPR with naive Bayes (Tables 2 and 7)."""
    drawn = {
        "shares": bars_by_dataset(
            of(study, "share", "bayes", ("rpv", "cfs", "shsel", "hip", "mr")), measure="selected, %"
        )
    }
    for name, methods in (("baselines", BASELINES), ("hierarchical", HIERARCHICAL)):
        table = of(study, PRINTED_AS["auprc"], "bayes", methods).dropna()
        if len(table) >= 5:
            drawn[f"ranks-{name}"] = critical_difference(compare(table))
    return drawn


def compared() -> pd.DataFrame:
    """`printed` without rows that are scaled copies, and without GTD and TSEL of Table 7, which repeat Table 2."""
    table = printed()
    for classifier, name, _, methods in SCALED:
        table.loc[("auroc", classifier, name), list(methods)] = np.nan
    table.loc[("auprc", "bayes"), ["gtd", "tsel"]] = np.nan
    return table


def of(study: Study, measure: str, classifier: str, methods: tuple[str, ...]) -> pd.DataFrame:
    """Our table of one measure in percent."""
    table = 100 * study.table(measure)
    wanted = {f"{classifier}: {method}": method for method in methods}
    return table[[name for name in wanted if name in table.columns]].rename(columns=wanted)


def data_sets(study: Study) -> str:
    """Sizes, edges, classes and positive values, each beside Table 1's; classes and values in percent."""
    results = study.results()
    found = results[results["method"] == "data"].set_index("dataset")
    sizes = ["features", "edges", "rows"]
    lines = [header(["data set", *sizes, "classes, %", "positive values, %"])]
    for name in [name for name in PAPER_SETS if name in found.index]:
        own, paper = found.loc[name], PAPER_SETS[name]
        classes = " / ".join(f"{100 * share:.2f}" for share in own.filter(like="class ").dropna())
        counts = [f"{own[size]:.0f} [{printed}]" for size, printed in zip(sizes, paper, strict=False)]
        lines.append(
            row([name, *counts, f"{classes} [{paper[3]}]", f"{100 * own['positive values']:.2f} [{paper[4]:.2f}]"])
        )
    return "\n".join(lines) if len(found) else ""


def accuracy_tables(study: Study) -> dict[str, str]:
    """AUCPR, AUROC and GM: all predictions together / mean over folds [paper]."""
    paper = compared()
    made = {}
    for measure, title in MEASURES.items():
        for classifier, called in CLASSIFIERS.items():
            folds = of(study, f"{measure}_folds", classifier, METHODS)
            pooled = of(study, measure, classifier, METHODS)
            lines = [header(["data set", *folds.columns])]
            for name in folds.index:
                key = (measure, classifier, name)
                cells = [
                    f"{pooled.loc[name, m]:.1f} / {folds.loc[name, m]:.1f} {shown(paper, key, m)}"
                    for m in folds.columns
                ]
                lines.append(row([name, *cells]))
            made[f"{title}, {called}"] = "\n".join(lines)
    return made


def differences(study: Study, *, pooled_too: bool) -> str:
    """Mean and mean absolute difference from the printed values that are no copies of others."""
    paper = compared()
    lines = [header(["measure", "classifier", "evaluation", *METHODS[:-1]])]
    for measure, title in MEASURES.items():
        for classifier, called in CLASSIFIERS.items():
            for ending, evaluation in (("_folds", "mean over folds"), ("", "pooled")):
                if not pooled_too and PRINTED_AS[measure] != measure + ending:
                    continue
                ours = of(study, measure + ending, classifier, METHODS[:-1])
                gap = ours - paper.loc[(measure, classifier)].reindex(index=ours.index, columns=ours.columns)
                cells = [
                    f"{gap[m].mean():+.1f} ({gap[m].abs().mean():.1f})" if gap[m].notna().any() else "-" for m in gap
                ]
                lines.append(row([title, called, evaluation, *cells]))
    return "\n".join(lines)


def comparisons(study: Study) -> Iterator[tuple[list[str], tuple[str, ...], pd.DataFrame, pd.DataFrame]]:
    """The 18 comparisons of Tables 2 to 9: table, measure and classifier; methods; our values and the printed ones.

    Of the printed values the methods and data sets are left out that have copies of others.
    """
    paper = compared()
    for (measure, classifier), places in PLACES.items():
        for place, methods in zip(places, (BASELINES, TRADITIONAL, HIERARCHICAL), strict=True):
            ours = of(study, PRINTED_AS[measure], classifier, methods).dropna()
            theirs = paper.loc[(measure, classifier)][list(methods)].dropna(axis="columns", how="all").dropna()
            yield [place, MEASURES[measure], CLASSIFIERS[classifier]], methods, ours, theirs


def ranks(study: Study) -> str:
    """Average ranks and numbers of wins (a shared win is shared), as in the last lines of Tables 2 to 9."""
    lines = [header(["Table", "measure", "classifier", "average ranks", "wins"])]
    for place, methods, ours, theirs in comparisons(study):
        mine = average_ranks(ours).sort_values()
        ranked = beside(mine, average_ranks(theirs), "{:.1f}")
        wins = beside(victories(ours)[list(methods)], victories(theirs), "{:g}")
        lines.append(row([*place, ranked, wins]))
    return "\n".join(lines)


def beside(ours: pd.Series, printed: pd.Series, form: str) -> str:
    """Our values, each with the one from the printed values in brackets, or a dash."""
    return ", ".join(
        f"{m} {form.format(value)} [{form.format(printed[m]) if m in printed.index else '-'}]"
        for m, value in ours.items()
    )


def victories(table: pd.DataFrame) -> pd.Series:
    """On how many data sets each method is best, to the first decimal; equals share."""
    best = table.round(1).eq(table.round(1).max(axis=1), axis=0)
    return best.div(best.sum(axis=1), axis=0).sum().round(1)


def tests(study: Study) -> str:
    """Friedman and Holm (RPV against each other, one-sided), as in Tables 2 to 9 and A.1; bold: below 5 %."""
    lines = [header(["Table", "measure", "classifier", "Friedman", "Holm's p"])]
    for place, methods, ours, theirs in comparisons(study):
        test, of_paper = friedman(ours), friedman(theirs)
        mine, printed_p = (
            holm(table, control="rpv", alternative="less").set_index("second")["adjusted"].map(bold)
            for table in (ours, theirs)
        )
        statistic = f"{test.statistic:.1f} (p = {test.p_value:.2g}) [{of_paper.statistic:.1f}]"
        lines.append(row([*place, statistic, beside(mine[[m for m in methods if m != "rpv"]], printed_p, "{}")]))
    return "\n".join(lines)


def bold(p_value: float) -> str:
    return f"**{p_value:.3f}**" if p_value < 0.05 else f"{p_value:.3f}"


def shares(study: Study) -> str:
    paper = printed().loc[("share", "")]
    ours = of(study, "share", "bayes", METHODS)
    lines = [header(["data set", *ours.columns])]
    for name in ours.index:
        cells = [f"{ours.loc[name, m]:.1f} {bracket(paper, name, m)}" for m in ours.columns]
        lines.append(row([name, *cells]))
    theirs = paper.reindex(index=ours.index, columns=ours.columns)
    means = [
        f"{ours[m].mean():.1f}" + (f" [{theirs[m].mean():.1f}]" if theirs[m].notna().all() else "")
        for m in ours.columns
    ]
    return "\n".join([*lines, row(["mean of these sets", *means])])


def times(study: Study) -> str:
    """Figure 4: mean over data sets of the ratio of a method's CPU time to RPV's."""
    if "fit_seconds" not in study.measure_names():
        return ""
    lines = [header(["", *of(study, "fit_seconds", "bayes", METHODS).columns])]
    for classifier, called in CLASSIFIERS.items():
        for measure, title in (("fit_seconds", "training"), ("predict_seconds", "testing")):
            table = of(study, measure, classifier, METHODS).dropna()
            ratio = table.div(table["rpv"], axis=0).mean()
            lines.append(row([f"{title}, {called}", *(f"{value:.2f}" for value in ratio)]))
    return "\n".join(lines)


def frequent_terms(study: Study) -> str:
    """Section 5.3.6: the terms that RPV selects most often, a column per organism; bold: those that the paper names."""
    results = study.results()
    found = results[results["method"] == "terms"].set_index("dataset")
    columns = {
        name: found.loc[name]
        .filter(like="GO:")
        .dropna()
        .astype(float)
        .sort_index()
        .sort_values(ascending=False, kind="stable")
        for name in TERM_SETS
        if name in found.index
    }
    if not columns:
        return ""
    called = pd.read_csv(Path(__file__).with_name("rpv_selection_terms.csv"), index_col="term")["name"]
    lines = [header(["", *columns])]
    for place in range(max(map(len, columns.values()))):
        lines.append(row([place + 1, *(term_cell(share, place, called) for share in columns.values())]))
    return "\n".join(lines)


def term_cell(share: pd.Series, place: int, called: pd.Series) -> str:
    """The term at a place with its name and share of rows."""
    if place >= len(share):
        return ""
    term = str(share.index[place])
    text = f"{called[term]} ({term})" if term in called.index else term
    return f"{f'**{text}**' if term in NAMED_TERMS else text}, {share.iloc[place]:.0%}"


def other_classifiers(study: Study) -> str:
    paper = printed()
    table = 100 * study.table("gm")
    known = [name for name in OTHERS if f"other: {name}" in table]
    columns = {"bayes: none": "none", "neighbors: none": "none", **{f"other: {name}": name for name in known}}
    lines = [header(["data set", "naive Bayes", "1-NN", *known])]
    for name in table.index:
        cells = []
        for column, method in columns.items():
            key = ("gm", column.partition(":")[0], name)
            ours = "-" if pd.isna(table.loc[name, column]) else f"{table.loc[name, column]:.1f}"
            cells.append(f"{ours} {shown(paper, key, method)}")
        lines.append(row([name, *cells]))
    ranked = average_ranks(table[list(columns)].dropna())
    return "\n".join([*lines, row(["average rank", *(f"{ranked[column]:.1f}" for column in columns)])])


def shown(paper: pd.DataFrame, key: tuple[str, str, str], method: str) -> str:
    return bracket(paper.loc[key[:2]], key[2], method) if key in paper.index else "[-]"


def bracket(paper: pd.DataFrame, name: str, method: str) -> str:
    if method not in paper.columns or pd.isna(paper.loc[name, method]):
        return "[-]"
    return f"[{paper.loc[name, method]:.1f}]"


def header(cells: list[str]) -> str:
    return row(cells) + "\n" + row(["---"] * len(cells))


def row(cells: list[Any]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"
