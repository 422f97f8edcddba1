"""Label ranking trees and forests on the KEBI sets: Tables 4.4-4.8 and Figures 4.1 and 4.2 of the paper.

C. R. de Sa, C. Soares, A. Knobbe, P. Cortez: Label Ranking Forests, Expert Systems, 2016. Ten-fold cross-validation,
Kendall's tau; gamma = 0.98, forests of 100 trees with sqrt(m) features per node. Beyond the paper: forests of label
ranking trees (its future work), a forest without the gamma stop, and the baselines.
"""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from ramify_studies.figures import bars_by_dataset
from ramify_studies.label_ranking_baselines import AverageLabelRanker, NeighborsLabelRanker
from ramify_studies.shared import SomeCells, findings_under, markdown
from sklearn.base import clone

from ramify.compare import compare, dunn, friedman
from ramify.compare.result_table import average_ranks, wins
from ramify.datasets import Dataset
from ramify.datasets.readers.label_rankings import read_rankings
from ramify.ensemble import LabelRankingForest
from ramify.metrics import kendall_tau
from ramify.plots import critical_difference
from ramify.study import Study
from ramify.study.study_files import available, data_files, data_folder

PAPER_TAU = pd.DataFrame(
    {
        "RT": [.883, .111, .182, .458, .746, .797, .871, .794, .963, .871, .929, .897, .817, .833, .905, .334],
        "ERT": [.889, .182, .291, .437, .757, .774, .854, .704, .853, .838, .901, .859, .787, .598, .906, .337],
        "LRT": [.882, .117, .324, .447, .760, .890, .883, .797, .947, .935, .949, .895, .827, .794, .882, .343],
        "LRF-RT": [.912, .212, .185, .469, .605, .887, .874, .780, .973, None, .930, .892, .850, .844, .932, .460],
        "LRF-ERT": [.906, .211, .294, .471, .721, .841, .849, .699, .933, None, .917, .869, .849, .701, .925, .429],
    },
    index=["authorship", "bodyfat", "calhousing", "cpu", "elevators", "fried", "glass", "housing", "iris", "pendigits",
           "segment", "stock", "vehicle", "vowel", "wine", "wisconsin"],
)  # fmt: skip
"""Mean accuracy of Tables 4.4 and 4.6; the forests leave out pendigits."""

PAPER_DEPTH = pd.DataFrame(
    {
        "RT": [8.0, 11.9, 1.0, 17.2, 18.9, 20.2, 8.2, 12.9, 4.3, 14.0, 12.0, 10.8, 11.0, 12.5, 4.0, 10.0],
        "ERT": [4.0, 2.7, 11.6, 6.1, 7.9, 13.2, 3.0, 3.4, 2.0, 5.9, 5.0, 5.0, 4.1, 3.6, 2.0, 2.3],
        "LRF-RT": [8.3, 10.6, 1.0, 13.9, 10.0, 15.5, 6.0, 10.9, 4.9, None, 10.8, 9.9, 10.0, 11.5, 4.3, 8.8],
        "LRF-ERT": [7.7, 5.3, 8.3, 7.8, 9.5, 14.5, 2.7, 3.7, 2.3, None, 5.2, 5.5, 9.4, 4.9, 2.8, 3.7],
    },
    index=PAPER_TAU.index,
)
"""Mean depth of the trees in Tables 4.4 and 4.6; the label ranking trees' are not printed."""

PAPER_DUNN = {
    ("RT", "ERT"): (0.22, 0.23), ("RT", "LRT"): (0.37, 0.34), ("ERT", "LRT"): (0.13, 0.13),
    ("RT", "LRF-RT"): (None, 0.31), ("RT", "LRF-ERT"): (None, 0.44), ("ERT", "LRF-RT"): (None, 0.11),
    ("ERT", "LRF-ERT"): (None, 0.28), ("LRT", "LRF-RT"): (None, 0.46), ("LRT", "LRF-ERT"): (None, 0.29),
    ("LRF-RT", "LRF-ERT"): (None, 0.25),
}  # fmt: skip
"""Tables 4.5 (three trees) and 4.7 (all five)."""

PAPER_WINS = pd.DataFrame(
    [[0, 9, 6, 3, 7, 25], [6, 0, 3, 2, 4, 15], [9, 12, 0, 7, 9, 37], [12, 13, 8, 0, 13, 46], [8, 11, 6, 2, 0, 27]],
    index=PAPER_TAU.columns, columns=[*PAPER_TAU.columns, "total"],
)  # fmt: skip
"""Table 4.8, over the 15 sets with forests."""

FORESTS = {"LRF-RT": "RT", "LRF-ERT": "ERT", "LRF-LRT": "LRT"}
FILES = data_files("label_ranking")
REAL = ("spo", "heat", "dtt", "diau")  # microarrays of yeast, named in section 4.1 and not among the paper's results
PAPER_SETS = {
    "authorship": (841, 4, 70, 2), "bodyfat": (252, 7, 7, 94), "calhousing": (20640, 4, 4, 0.1),
    "cpu": (8192, 5, 6, 1), "elevators": (16599, 9, 9, 1), "fried": (40769, 5, 9, 0.3), "glass": (214, 6, 9, 14),
    "housing": (506, 6, 6, 22), "iris": (150, 3, 4, 3), "pendigits": (10992, 10, 16, 19),
    "segment": (2310, 7, 18, 6), "stock": (950, 5, 5, 5), "vehicle": (846, 4, 18, 2), "vowel": (528, 11, 10, 56),
    "wine": (178, 3, 13, 3), "wisconsin": (194, 16, 16, 100),
}  # fmt: skip
"""Table 4.3: rows, labels, features, and distinct rankings in percent of the rows."""

QUICK_SETS = ["glass", "iris", "wine"]


def study(data: Path | None, folder: Path, quick: bool = False) -> Study:
    """The design of section 4.4."""
    sets = QUICK_SETS if quick else [*PAPER_TAU.index, *REAL]
    files, missing = available(data_folder(data), {name: FILES[name] for name in sets})
    smallest_first = sorted(files, key=lambda name: files[name][0].stat().st_size)
    n_trees = 10 if quick else 100
    tree = {"n_estimators": 1, "bootstrap": False, "max_features": None, "min_category_rows": 1}
    forest = {"n_estimators": n_trees, "max_features": "sqrt", "min_category_rows": 1}
    # Said here so that the study does not follow the package's defaults: gamma is the paper's, leaves of 2 and 1 rows
    # are not in it but give its printed depths.
    rt = {"criterion": "kendall", "gamma": 0.98, "min_samples_leaf": 2}
    ert = {"criterion": "entropy", "min_samples_leaf": 1}
    lrt = {"criterion": "mallows", "min_samples_leaf": 2}
    methods = {
        "RT": LabelRankingForest(**tree, **rt),
        "ERT": LabelRankingForest(**tree, **ert),
        "LRT": LabelRankingForest(**tree, **lrt),
        "LRF-RT": LabelRankingForest(**forest, **rt),
        "LRF-ERT": LabelRankingForest(**forest, **ert),
        "LRF-LRT": LabelRankingForest(**forest, **lrt),
        "LRF-RT, full": LabelRankingForest(**forest, **{**rt, "gamma": 1.0}),
        "neighbours": NeighborsLabelRanker(10),
        "average": AverageLabelRanker(),
    }
    return SomeCells(
        lambda cell: cell.method != "data" or not cell.split,
        {name: partial(read_rankings, files[name][0]) for name in smallest_first},
        {**{name: partial(tau_and_depth, estimator) for name, estimator in methods.items()}, "data": described},
        splits=3 if quick else 10,
        folder=folder,
        missing=missing,
        gains=["tau"],
    )


def described(train: Dataset, test: Dataset, _: int) -> dict[str, float]:
    """What Table 4.3 says of a data set."""
    rankings = np.vstack([np.asarray(part.y) for part in (train, test)])
    return {
        "rows": len(rankings),
        "labels": rankings.shape[1],
        "features": train.n_features,
        "distinct": 100 * len(np.unique(rankings, axis=0)) / len(rankings),
    }


def tau_and_depth(estimator: LabelRankingForest, train: Dataset, test: Dataset, seed: int) -> dict[str, float]:
    """Mean tau on the test rows and mean depth of the trees."""
    estimator = clone(estimator)
    if isinstance(estimator, LabelRankingForest):
        estimator.set_params(random_state=seed)
    estimator.fit(train.X, train.y)
    values = {"tau": kendall_tau(test.y, estimator.predict(test.X))}
    if isinstance(estimator, LabelRankingForest):
        values["depth"] = float(np.mean(depths(estimator)))
    return values


def depths(forest: LabelRankingForest) -> list[int]:
    """Edges from the root of each tree to its deepest leaf."""
    arrays = forest.trees_.arrays()
    result = []
    for start, stop in zip(arrays["tree_nodes"][:-1], arrays["tree_nodes"][1:], strict=True):
        feature, child = arrays["feature"][start:stop], arrays["child"][start:stop]
        level, depth = np.array([0]), 0
        while len(inner := level[feature[level] >= 0]):
            level = np.concatenate([child[inner], child[inner] + 1])
            depth += 1
        result.append(depth)
    return result


TITLES = {
    "sets": "Table 4.3: the data sets, ours / the paper's",
    "tau": "Tables 4.4 and 4.6: tau, ours / the paper's (difference)",
    "averages": "Averages over the sets at hand",
    "depth": "Depth of the trees, ours / the paper's (difference); Figure 4.1",
    "average depth": "Average depths, and the entropy trees' as a share of the others'",
    "gains": "Figure 4.2: what a forest adds to its tree",
    "friedman": "Friedman's test",
    "dunn": "Tables 4.5 and 4.7: Dunn's one-sided p, ours / from the printed values / as printed",
    "wins": "Table 4.8: on how many sets the row beats the column, ours / the paper's",
    "beyond": "Beyond the paper",
    "ranks": "Average ranks of all methods",
    "real": "Yeast's microarrays, beside the paper: tau",
}


def findings(study: Study) -> str:
    """What was found beside what the paper printed."""
    return findings_under(study, "Label ranking trees and forests", tables(study), TITLES)


def tables(study: Study) -> dict[str, str]:
    """The tables of the study's page."""
    all_tau, depth = study.table("tau").sort_index(), study.table("depth").sort_index()
    tau, depth = of_paper(all_tau), of_paper(depth)
    others = tau[[name for name in tau if name not in (*PAPER_TAU, "data")]]
    return {
        "sets": data_sets(study),
        "tau": beside(tau, PAPER_TAU, 3),
        "averages": averages(tau),
        "depth": beside(depth, PAPER_DEPTH, 1),
        "average depth": average_depths(depth),
        "gains": gains(tau),
        "friedman": friedman_tests(tau),
        "dunn": dunn_tests(tau),
        "wins": victories(tau),
        "beyond": markdown(others.map("{:.3f}".format)),
        "ranks": markdown(average_ranks(tau.dropna()).sort_values().map("{:.2f}".format).to_frame("average rank")),
        "real": markdown(all_tau.loc[[name for name in REAL if name in all_tau.index]].map("{:.3f}".format)),
    }


def figures(study: Study) -> dict[str, Figure]:
    """Figures 4.1 and 4.2, and the ranks of all methods."""
    tau, depth = (of_paper(study.table(measure).sort_index()) for measure in ("tau", "depth"))
    gained = {f"{forest} less {tree}": tau[forest] - tau[tree] for forest, tree in FORESTS.items()}
    return {
        "depth": bars_by_dataset(depth[["RT", "ERT"]], measure="depth of the tree"),
        "gains": bars_by_dataset(pd.DataFrame(gained), measure="gain in tau"),
        "ranks": critical_difference(compare(tau.dropna())),
    }


def of_paper(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the paper's own sets."""
    return table.loc[[name for name in table.index if name in PAPER_TAU.index]].dropna(how="all")


def data_sets(study: Study) -> str:
    """Rows, labels, features and distinct rankings, ours / the paper's."""
    results = study.results()
    found = results[results["method"] == "data"].set_index("dataset").sort_index()
    if found.empty:
        return ""
    forms = {"rows": ".0f", "labels": ".0f", "features": ".0f", "distinct": ".2f"}
    rows = {
        name: [
            f"{found.loc[name, column]:{form}} / {paper}"
            for (column, form), paper in zip(forms.items(), PAPER_SETS.get(name, ["-"] * 4), strict=True)
        ]
        for name in found.index
    }
    columns = ["rows", "labels", "features", "distinct rankings, %"]
    return markdown(pd.DataFrame.from_dict(rows, orient="index", columns=columns))


def average_depths(depth: pd.DataFrame) -> str:
    """Depths over the sets with all of the paper's trees, and what the paper says of their ratios (section 4.4.3)."""
    both = depth.index.intersection(PAPER_DEPTH.dropna().index)
    sources = {"ours": depth.loc[both, list(PAPER_DEPTH)], "paper": PAPER_DEPTH.loc[both].astype(float)}
    rows = {}
    for source, table in sources.items():
        mean = table.mean()
        ratios = mean["ERT"] / mean["RT"], mean["LRF-ERT"] / mean["LRF-RT"]
        rows[source] = [*mean.map("{:.1f}".format), *(f"{ratio:.0%}" for ratio in ratios)]
    columns = [*PAPER_DEPTH, "ERT of RT", "LRF-ERT of LRF-RT"]
    return markdown(pd.DataFrame.from_dict(rows, orient="index", columns=columns))


def beside(ours: pd.DataFrame, paper: pd.DataFrame, digits: int) -> str:
    """Ours / the paper's and the difference, set by set."""
    names = [name for name in paper if name in ours]
    frame = pd.DataFrame("", index=ours.index, columns=names)
    for dataset in ours.index:
        for name in names:
            mine, printed = ours.loc[dataset, name], paper.loc[dataset, name]
            known = pd.notna(printed)
            frame.loc[dataset, name] = (
                f"{mine:.{digits}f} / {printed:.{digits}f} ({mine - printed:+.{digits}f})"
                if known
                else f"{mine:.{digits}f} / -"
            )
    return markdown(frame)


def averages(tau: pd.DataFrame) -> str:
    """Averages over the sets for which the paper prints a value."""
    rows = []
    for name in PAPER_TAU:
        both = pd.DataFrame({"ours": tau[name], "paper": PAPER_TAU[name]}).dropna().astype(float)
        mine, printed = both.mean()
        verdict = "within 0.03" if abs(mine - printed) <= 0.03 else "better" if mine > printed else "worse"
        rows.append([name, len(both), f"{mine:.3f}", f"{printed:.3f}", f"{mine - printed:+.3f}", verdict])
    return markdown(
        pd.DataFrame(rows, columns=["method", "sets", "ours", "paper", "difference", ""]).set_index("method")
    )


def gains(tau: pd.DataFrame) -> str:
    """Forest minus tree, ours and printed."""
    frame = pd.DataFrame(index=tau.index)
    for forest, tree in FORESTS.items():
        frame[forest] = (tau[forest] - tau[tree]).map("{:+.3f}".format)
        if forest in PAPER_TAU:
            printed = (PAPER_TAU[forest] - PAPER_TAU[tree]).reindex(tau.index)
            frame[f"{forest}, paper"] = [f"{value:+.3f}" if pd.notna(value) else "-" for value in printed]
    better = ", ".join(f"{forest} on {int((tau[forest] > tau[tree]).sum())}" for forest, tree in FORESTS.items())
    return f"{markdown(frame)}\n\nOf {len(tau)} sets the forest is better than its tree: {better}."


def friedman_tests(tau: pd.DataFrame) -> str:
    """Friedman's test for ours and for the printed values."""
    rows = []
    for title, names in (("trees", ["RT", "ERT", "LRT"]), ("trees and forests", list(PAPER_TAU))):
        for source, table in (("printed", PAPER_TAU[names].dropna()), ("ours", tau[names].dropna())):
            if len(table) < 3:
                rows.append([f"{title}, {source}", len(table), "too few sets", ""])
                continue
            test = friedman(table.astype(float))
            rows.append([f"{title}, {source}", len(table), f"{test.statistic:.2f}", f"{test.p_value:.4f}"])
    return markdown(pd.DataFrame(rows, columns=["", "sets", "chi-square", "p"]).set_index(""))


def dunn_tests(tau: pd.DataFrame) -> str:
    """Dunn's one-sided p-values as in the paper: unpaired, so that the trees keep pendigits, which the forests lack."""
    rows = []
    for place, names in enumerate((["RT", "ERT", "LRT"], list(PAPER_TAU))):
        tables = [table[names].astype(float) for table in (tau, PAPER_TAU)]
        values = [dunn(table, alternative="one-sided") if table.count().min() >= 3 else None for table in tables]
        for (a, b), given in PAPER_DUNN.items():
            if a in names and b in names:
                shown = ["-" if table is None else f"{table.loc[a, b]:.2f}" for table in values]
                rows.append([f"{a}, {b}", ("4.5", "4.7")[place], *shown, f"{given[place]:.2f}"])
    return markdown(
        pd.DataFrame(rows, columns=["", "table", "ours", "from the printed values", "printed"]).set_index("")
    )


def victories(tau: pd.DataFrame) -> str:
    """Wins of the paper's five methods over the sets for which it prints all of them."""
    both = PAPER_TAU.dropna().index.intersection(tau.index)
    counts = wins(tau.loc[both, list(PAPER_TAU)].dropna())
    counts["total"] = counts.sum(axis=1)
    shown = counts.astype(str) + " / " + PAPER_WINS.loc[counts.index, counts.columns].astype(str)
    for name in counts.index:
        shown.loc[name, name] = ""
    return markdown(shown)
