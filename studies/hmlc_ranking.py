"""Feature ranking for HMLC with tree ensembles (Petkovic, Dzeroski, Kocev, 2020): the five questions of section 3.1.

Design (sections 3.3-3.5): rankings from the training part; quality is the pooled AUPRC of 10 nearest neighbours on the
test part, weighted by the ranking; Symbolic, Genie3 and Random Forest scores from Bagging, Random Forests and Extra
Trees of 10 to 250 trees; HMLC-Relief with K = 15 over 1 to 100 % of the rows; values rounded to three digits;
Friedman and Nemenyi, Wilcoxon with Benjamini-Hochberg.
"""

from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from ramify_studies.figures import quality_by_size
from ramify_studies.shared import SomeCells, findings_under, markdown

from ramify.compare import compare, friedman, nemenyi, wilcoxon
from ramify.compare.result_table import average_ranks
from ramify.datasets import Dataset, make_hierarchical
from ramify.datasets.readers.arff import read_arff
from ramify.ensemble import BoostedClassifier, ForestClassifier
from ramify.metrics import auprc
from ramify.plots import critical_difference
from ramify.ranking import ReliefRanker, forest_ranking, fuji, knn_quality, nested_rankings
from ramify.ranking.relief import relief_path
from ramify.study import Study
from ramify.study.study_files import available, data_files, data_folder

FILES = data_files("hmlc_ranking")
# Of the paper's 30 sets these are not at hand.
ABSENT = (
    "exprindiv-ara, hom-ara, interpro-ara, scop-ara, seq-ara, struc-ara (FUN and GO), hom-yeast-FUN, icpr2010, "
    "reuters, wipo, yeast-GO"
)
# Training and test rows, features, shape of the hierarchy, labels, largest depth and mean depth of the leaves: ours /
# Table 1. The yeast sets are an older edition.
EDITIONS = {
    "cellcycle_FUN": ("2476+1281 / 2482+1284", "77 / 77", "tree / tree", "499 / 751", "6 / 4", "3.70 / 4"),
    "church_FUN": ("2474+1281 / 2480+1284", "27 / 27", "tree / tree", "499 / 751", "6 / 4", "3.70 / 4"),
    "derisi_FUN": ("2450+1275 / 2455+1278", "63 / 63", "tree / tree", "499 / 751", "6 / 4", "3.70 / 4"),
    "eisen_FUN": ("1587+837 / 1588+837", "79 / 79", "tree / tree", "461 / 751", "6 / 4", "3.68 / 4"),
    "expr_FUN": ("2488+1291 / 2494+1294", "551 / 552", "tree / tree", "499 / 751", "6 / 4", "3.70 / 4"),
    "gasch1_FUN": ("2480+1284 / 2486+1287", "173 / 173", "tree / tree", "499 / 751", "6 / 4", "3.70 / 4"),
    "pheno_FUN": ("1009+582 / 1010+582", "69 / 69", "tree / tree", "455 / 751", "6 / 4", "3.67 / 4"),
    "seq_FUN": ("2580+1339 / 2590+1342", "478 / 478", "tree / tree", "499 / 751", "6 / 4", "3.70 / 4"),
    "spo_FUN": ("2437+1266 / 2442+1269", "80 / 80", "tree / tree", "499 / 751", "6 / 4", "3.70 / 4"),
    "struc_FUN": ("2525+1313 / 2535+1316", "19628 / 19628", "tree / tree", "499 / 751", "6 / 4", "3.70 / 4"),
    "Diatoms": ("2065+1054 / 726+372", "371 / 200", "tree / tree", "398 / 81", "3 / 2", "2.01 / 2"),
    "Enron_corr": ("988+660 / 988+660", "1001 / 1001", "tree / tree", "56 / 67", "3 / 3", "2.25 / 2.2"),
    "ImCLEF07A": ("10000+1006 / 10000+1006", "80 / 80", "tree / tree", "96 / 152", "3 / 3", "3 / 3"),
    "ImCLEF07D": ("10000+1006 / not in Table 1", "80", "tree", "46", "3", "3"),
}
# Beside the paper's sets: the Gene Ontology over the same genes, and generated 0/1 features, wide and sparse as those
# of the paper's sets that are not at hand.
ONTOLOGY = tuple(name for name in FILES if name.endswith("_GO"))
SPARSE = {
    f"sparse {n_features:,}{called}": {"n_features": n_features, "extra_parents": extra}
    for n_features in (10_000, 30_000, 100_000)
    for called, extra in (("", 0.0), (", DAG", 0.3))
}
FIGURE_5 = ("spo_FUN", "ImCLEF07D", "church_FUN", "Enron_corr")
QUICK = ("church_FUN", "eisen_FUN", "pheno_FUN", "Enron_corr")

SIZES = (10, 25, 50, 75, 100, 150, 250)
SHARES = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0)
ENSEMBLES = {
    "Bagging": {"max_features": None},
    "Random Forests": {"max_features": "sqrt"},
    "Extra Trees": {"max_features": "sqrt", "splitter": "random", "bootstrap": False},
    "Extra Trees, all": {"max_features": None, "splitter": "random", "bootstrap": False},
}
WITH_BAGS = ("Bagging", "Random Forests")  # the Random Forest score needs out-of-bag rows
SCORES = {"symbolic": "Symbolic", "genie3": "Genie3", "permutation": "Random Forest"}
DIGITS = 3
# Section 4.2: weighted kNN against unweighted, significant after Benjamini-Hochberg.
PAPER_RELEVANT = {
    ("symbolic", "Random Forests"),
    ("genie3", "Random Forests"),
    ("symbolic", "Bagging"),
    ("genie3", "Extra Trees"),
    ("genie3", "Bagging"),
}
PAPER_BEST = {"symbolic": "Random Forests", "genie3": "Random Forests", "permutation": "Bagging"}
PAPER_RELIEF_P = {"symbolic": 4.86e-5, "genie3": 1.74e-4, "permutation": 1.59e-3}
PAPER_SCORE_RANKS = {"symbolic": 1.55, "permutation": 2.42}


def study(data: str | Path | None = None, folder: str | Path = "results/hmlc_ranking", quick: bool = False) -> Study:
    found, missing = available(data_folder(data), FILES)
    generated = dict(list(SPARSE.items())[:1]) if quick else SPARSE
    sizes = SIZES[:2] if quick else SIZES
    return SomeCells(
        lambda cell: (cell.method == "Ten trees") == (cell.dataset in (*ONTOLOGY, *SPARSE)),
        {
            **{
                name: partial(load, tuple(map(str, files)))
                for name, files in found.items()
                if not quick or name in QUICK
            },
            **{name: partial(wide_and_sparse, **design) for name, design in generated.items()},
        },
        {
            **{name: partial(ensemble, name=name, sizes=sizes) for name in ENSEMBLES},
            "Boosted": partial(boosted, sizes=sizes),
            "Relief": partial(relief, shares=SHARES),
            "Agreement": agreement,
            "Errors": errors,
            "Ten trees": ten_trees,
        },
        splits="parts",
        folder=folder,
        missing=missing,
        # AUPRC of nearest neighbours; distances and efficiency of rankings are neither good nor bad.
        gains=[
            "unweighted",
            *(f"{score} {size}" for score in SCORES for size in sizes),
            *(f"m {share:g}" for share in SHARES),
            *(f"{score}, {name}" for score, name in combinations_at(10)),
        ],
    )


def load(files: tuple[str, ...]) -> Dataset:
    data = read_arff(list(files))
    if set(data.parts) == {"train", "test"} or "valid" in data.parts:
        return data
    # Enron's first file is named "trainvalid".
    names = {name: ("test" if "test" in name.lower() else "train") for name in data.parts}
    return Dataset(**{**vars(data), "parts": {names[name]: rows for name, rows in data.parts.items()}})


def wide_and_sparse(*, n_features: int, extra_parents: float) -> Dataset:
    """600 rows for training and 300 for testing, one feature of a hundred present; each label is driven by 40."""
    data = make_hierarchical(
        900, n_features=n_features, density=0.01, n_drivers=40, extra_parents=extra_parents, random_state=0
    )
    return replace(data, parts={"train": np.arange(600), "test": np.arange(600, 900)})


def forest_of(train: Dataset, name: str, n_trees: int, seed: int) -> ForestClassifier:
    nominal = train.categorical_features
    return ForestClassifier(
        n_trees,
        hierarchy=train.hierarchy,
        categorical_features=nominal,
        min_category_rows=1,
        random_state=seed,
        **ENSEMBLES[name],
    ).fit(train.X, train.y)


def qualities(rankings: dict, train: Dataset, test: Dataset) -> dict[str, float]:
    """AUPRC of nearest neighbours weighted by each ranking, and unweighted."""
    found = knn_quality(
        list(rankings.values()),
        train.X,
        train.y,
        test.X,
        test.y,
        hierarchy=train.hierarchy,
        categorical_features=train.categorical_features,
    )
    weighted = {name: value.weighted for name, value in zip(rankings, found, strict=True)}
    return {**weighted, "unweighted": found[0].unweighted}


def ensemble(train: Dataset, test: Dataset, seed: int, *, name: str, sizes: tuple[int, ...]) -> dict[str, float]:
    """All scores of all sizes of one ensemble, from one forest."""
    forest = forest_of(train, name, max(sizes), seed)
    scores = [score for score in SCORES if forest.bootstrap or score != "permutation"]
    nested = nested_rankings(forest, sizes, scores, train.X, train.y, per_label=False)
    rankings = {f"{score} {size}": found[score] for size, found in zip(sizes, nested, strict=True) for score in scores}
    return qualities(rankings, train, test)


def boosted(train: Dataset, test: Dataset, seed: int, *, sizes: tuple[int, ...]) -> dict[str, float]:
    """Gains of boosted trees, the paper's future work, after as many rounds as the ensembles have trees."""
    nominal = train.categorical_features
    model = BoostedClassifier(
        max(sizes),
        hierarchy=train.hierarchy,
        categorical_features=nominal,
        min_category_rows=1,
        early_stopping=None,
        random_state=seed,
    ).fit(train.X, train.y)
    rankings = nested_rankings(model, sizes, "genie3", per_label=False)
    return qualities({f"genie3 {size}": one for size, one in zip(sizes, rankings, strict=True)}, train, test)


def relief(train: Dataset, test: Dataset, seed: int, *, shares: tuple[float, ...]) -> dict[str, float]:
    path = relief_path(
        train.X,
        train.y,
        n_neighbors=[15],
        n_iterations=shares,
        hierarchy=train.hierarchy,
        categorical_features=train.categorical_features,
        random_state=seed,
    )
    return qualities({f"m {share:g}": ranking for share, ranking in zip(shares, path, strict=True)}, train, test)


def agreement(train: Dataset, test: Dataset, seed: int) -> dict[str, float]:  # noqa: ARG001
    """FUJI distances between the scores (each from the paper's ensemble for it, 10 trees), and their efficiency."""
    forests = {name: forest_of(train, name, 10, seed) for name in set(PAPER_BEST.values())}
    rankings = {
        score: forest_ranking(forests[name], score, train.X, train.y, per_label=False)
        for score, name in PAPER_BEST.items()
    }
    nominal = train.categorical_features
    ranker = ReliefRanker(15, n_iterations=0.01, hierarchy=train.hierarchy, categorical_features=nominal)
    rankings["relief"] = ranker.set_params(random_state=seed).fit(train.X, train.y).ranking_
    apart = {f"fuji {a} {b}": 1 - fuji(rankings[a], rankings[b]).area for a, b in combinations(rankings, 2)}
    return {**apart, **{f"efficiency {name}": float((ranking.scores > 0).mean()) for name, ranking in rankings.items()}}


def errors(train: Dataset, test: Dataset, seed: int) -> dict[str, float]:
    """The Random Forest score by other errors than 1 - AUPRC, which Eq. 3 leaves open (Bagging, 10 trees)."""
    forest = forest_of(train, "Bagging", 10, seed)
    rankings = {
        error: forest_ranking(forest, "permutation", train.X, train.y, per_label=False, error=error)
        for error in ("auprc", "brier", "hamming")
    }
    return {f"by {name}": value for name, value in qualities(rankings, train, test).items()}


def ten_trees(train: Dataset, test: Dataset, seed: int) -> dict[str, float]:
    """Quality of the paper's eight rankings of 10 trees and of Relief from 1 % of the rows.

    Beside it the share of features with a positive score and, where it is known what drives the labels, how well the
    ranking finds that (area under the precision-recall curve).
    """
    rankings = {}
    for name in ("Bagging", "Random Forests", "Extra Trees"):
        forest = forest_of(train, name, 10, seed)
        for score in [score for score, ensemble in combinations_at(10) if ensemble == name]:
            rankings[f"{score}, {name}"] = forest_ranking(forest, score, train.X, train.y, per_label=False)
    ranker = ReliefRanker(15, n_iterations=0.01, hierarchy=train.hierarchy, random_state=seed)
    ranker.set_params(categorical_features=train.categorical_features)
    rankings["relief"] = ranker.fit(train.X, train.y).ranking_
    found = qualities(rankings, train, test)
    for name, ranking in rankings.items():
        found[f"efficiency {name}"] = float((ranking.scores > 0).mean())
        if train.truth is not None:
            drives = np.asarray(train.truth).any(axis=1).astype(int)
            found[f"planted {name}"] = float(auprc(drives[:, None], ranking.scores[:, None]))
    return found


TITLES = {
    "sets": "Data sets: ours / Table 1 of the paper",
    "quality": "Quality with 10 trees, and unweighted",
    "saturation": "1. After how many trees does quality saturate?",
    "relevance": "2. Are the rankings relevant?",
    "relief": "3. Do the scores outperform HMLC-Relief?",
    "ensembles": "4. Which ensemble for which score?",
    "scores": "5. Which score is best?",
    "choices": "Which score is best, by other ensembles, errors and sets",
    "errors": "The Random Forest score by three errors (Bagging, 10 trees)",
    "boosted": "Gains of boosted trees beside Genie3 of the ensembles, by the number of trees",
    "extra trees": "Extra Trees with the square root of the features, less all of them",
    "order": "On how many sets the Random Forest score lies between the two others (10 trees)",
    "efficiency": "Share of features with a positive score",
    "similarity": "Mean distance 1 - FUJI",
    "ontology": "The Gene Ontology's six sets: quality with 10 trees",
    "sparse": "Generated wide and sparse sets: quality with 10 trees",
    "sparse scores": "Generated wide and sparse sets: the scores themselves",
    "times": "CPU seconds of all rankings of a data set, their quality included",
}


def findings(study: Study) -> str:
    """The five questions, ours beside the paper's answer."""
    note = f"Of the paper's 30 data sets not at hand: {ABSENT}."
    return findings_under(
        study, "Feature ranking for hierarchical multi-label classification", tables(study), TITLES, [note]
    )


def finished(study: Study) -> pd.DataFrame:
    """The cells, by data set and method."""
    values = study.results()
    return values[values["status"] == "done"].set_index(["dataset", "method"]).sort_index()


def tables(study: Study) -> dict[str, str]:
    """The tables of the study's page; those that the results are too few for are left out."""
    values = finished(study)
    made = {
        "sets": data_sets(list(values.index.unique("dataset"))),
        "quality": markdown(quality_table(values).map("{:.3f}".format)),
        "saturation": saturation(values),
        "relevance": relevance(values),
        "relief": against_relief(values),
        "ensembles": ensembles(values),
        "scores": scores(values),
        "choices": choices(values),
        "errors": by_error(values),
        "boosted": beside_boosted(values),
        "extra trees": extra_trees(values),
        "order": order(values),
        "efficiency": efficiencies(values),
        "similarity": similarity(values),
        "ontology": qualities_beyond(values, ONTOLOGY),
        "sparse": qualities_beyond(values, tuple(SPARSE)),
        "sparse scores": sparse_scores(values),
        "times": times(values),
    }
    return {name: table for name, table in made.items() if table}


def figures(study: Study) -> dict[str, Figure]:
    """Figure 5 for the sets of which all sizes were run, and the ranks of Figures 2, 3 and 4."""
    values = finished(study)
    drawn: dict[str, Figure | None] = {}
    for name in FIGURE_5:
        own = values.xs(name, level="dataset") if name in values.index.unique("dataset") else values.iloc[:0]
        sizes = sizes_of(own)
        if len(sizes) < 2:
            continue
        by_ensemble = {
            called: [own.loc[called, f"symbolic {size}"] for size in sizes]
            for called in own.index
            if called in ENSEMBLES
        }
        by_score = {SCORES[score]: [own.loc["Random Forests", f"{score} {size}"] for size in sizes] for score in SCORES}
        for part, lines in (("a", by_ensemble), ("b", by_score)):
            frame = pd.DataFrame(lines, index=sizes)
            drawn[f"{name}-{part}"] = quality_by_size(
                frame, baseline=float(own.loc["Bagging", "unweighted"]), title=name
            )
    trees = {f"{size} trees": measured(values, "Bagging", f"genie3 {size}") for size in SIZES}
    shares = {f"{share:.0%} of the rows": measured(values, "Relief", f"m {share:g}") for share in SHARES}
    drawn |= {"ranks-trees": ranks_diagram(trees), "ranks-rows": ranks_diagram(shares)}
    for score in ("symbolic", "genie3"):
        names = [name for s, name in combinations_at(10) if s == score]
        drawn[f"ranks-{score}"] = ranks_diagram({name: measured(values, name, f"{score} 10") for name in names})
    drawn["ranks-scores"] = ranks_diagram(score_table(values, PAPER_BEST).rename(columns=SCORES))
    return {name: figure for name, figure in drawn.items() if figure is not None}


def ranks_diagram(columns: pd.DataFrame | dict[str, pd.Series]) -> Figure | None:
    table = pd.DataFrame(columns).dropna()
    return critical_difference(compare(table, digits=DIGITS)) if len(table) >= 5 else None


def measured(values: pd.DataFrame, method: str, measure: str) -> pd.Series:
    """A measure of one method, by data set; empty where it was not run."""
    if measure not in values or method not in values.index.unique("method"):
        return pd.Series(dtype=float)
    return values.xs(method, level="method")[measure].astype(float)


def score_table(values: pd.DataFrame, ensembles: dict[str, str]) -> pd.DataFrame:
    """AUPRC by data set and score, each score from 10 trees of its ensemble."""
    return pd.DataFrame({score: measured(values, name, f"{score} 10") for score, name in ensembles.items()})


def sizes_of(values: pd.DataFrame) -> list[int]:
    """Numbers of trees that every row with a forest has."""
    forests = values.dropna(how="all", axis="columns")
    return sorted(int(name.split()[1]) for name in forests if name.startswith("genie3 "))


def data_sets(names: list[str]) -> str:
    """Rows of training and test, features and the hierarchy, ours beside Table 1."""
    rows = [[name, *EDITIONS[name]] for name in EDITIONS if name in names]
    columns = ["data set", "rows (training + test)", "features", "shape", "labels", "depth", "mean depth of leaves"]
    return markdown(pd.DataFrame(rows, columns=columns).set_index("data set"))


def times(values: pd.DataFrame) -> str:
    """CPU seconds per data set and method, where they were kept."""
    frame = values["cpu_seconds"].unstack()
    frame = frame[[name for name in [*ENSEMBLES, "Boosted", "Relief"] if name in frame]].dropna(how="all")
    return markdown(frame.round(1).astype(object).where(frame.notna(), "-")) if len(frame) else ""


def qualities_beyond(values: pd.DataFrame, names: tuple[str, ...]) -> str:
    """Quality of the rankings of ten trees on sets beside the paper's, and their average ranks."""
    columns = ["unweighted", *(f"{score}, {name}" for score, name in combinations_at(10)), "relief"]
    frame = pd.DataFrame({name: measured(values, "Ten trees", name) for name in columns}).reindex(names).dropna()
    if frame.empty:
        return ""
    shown = frame.map("{:.3f}".format)
    shown.loc["average rank"] = average_ranks(frame, digits=DIGITS).map("{:.2f}".format)
    return markdown(shown)


def sparse_scores(values: pd.DataFrame) -> str:
    """Shares of features with a positive score, and how well the features that drive labels are found."""
    rankings = [*(f"{score}, {name}" for score, name in PAPER_BEST.items()), "permutation, Random Forests", "relief"]
    columns = {
        f"{name}: {what}": measured(values, "Ten trees", f"{kind} {name}")
        for name in rankings
        for what, kind in (("positive", "efficiency"), ("drivers", "planted"))
    }
    frame = pd.DataFrame(columns).reindex(tuple(SPARSE)).dropna()
    return markdown(frame.map("{:.3f}".format)) if len(frame) else ""


def combinations_at(size: int) -> dict[tuple[str, str], str]:
    """The paper's eight pairs of score and ensemble."""
    pairs = [(score, name) for score in SCORES for name in ("Bagging", "Random Forests", "Extra Trees")]
    return {(s, e): f"{s} {size}" for s, e in pairs if not (s == "permutation" and e == "Extra Trees")}


def quality_table(values: pd.DataFrame) -> pd.DataFrame:
    frame = pd.DataFrame({"unweighted": measured(values, "Bagging", "unweighted")})
    for (score, name), measure in combinations_at(10).items():
        frame[f"{score}, {name}"] = measured(values, name, measure)
    frame["relief, 1 %"] = measured(values, "Relief", "m 0.01")
    frame["relief, all"] = measured(values, "Relief", "m 1")
    return frame


def tested(frame: pd.DataFrame) -> str:
    table = frame.dropna()
    if len(table) < 3:
        return f"{len(table)} data sets are too few for a test"
    result = friedman(table, digits=DIGITS)
    return f"Friedman p = {result.p_value:.3g} over {len(table)} sets"


def saturation(values: pd.DataFrame) -> str:
    """Friedman's test over sizes, for the sets of which all sizes were run; in the paper all p are above 0.05."""
    rows = []
    for score, name in combinations_at(10):
        frame = pd.DataFrame({size: measured(values, name, f"{score} {size}") for size in SIZES}).dropna()
        if len(frame):
            rows.append(
                [SCORES[score], name, tested(frame), f"{frame[SIZES[0]].mean():.4f}", f"{frame[SIZES[-1]].mean():.4f}"]
            )
    frame = pd.DataFrame({share: measured(values, "Relief", f"m {share:g}") for share in SHARES}).dropna()
    if len(frame):
        rows.append(
            ["Relief", "1 to 100 % of the rows", tested(frame), f"{frame[0.01].mean():.4f}", f"{frame[1.0].mean():.4f}"]
        )
    columns = ["score", "ensemble", "Friedman", f"{SIZES[0]} trees", f"{SIZES[-1]} trees"]
    return markdown(pd.DataFrame(rows, columns=columns).set_index("score")) if rows else ""


def relevance(values: pd.DataFrame) -> str:
    frame = pd.DataFrame({"unweighted": measured(values, "Bagging", "unweighted")})
    for (score, name), measure in combinations_at(10).items():
        frame[f"{score}, {name}"] = measured(values, name, measure)
    rows = []
    tests = pairwise(frame, "unweighted")
    for score, name in combinations_at(10):
        column = f"{score}, {name}"
        gain = frame[column] - frame["unweighted"]
        ours = tests.get(column, ("-", "-"))
        rows.append([column, f"{gain.mean():+.4f}", f"{int((gain > 0).sum())} of {len(gain)}", *ours,
                     "significant" if (score, name) in PAPER_RELEVANT else "not significant"])  # fmt: skip
    columns = ["ranking", "mean gain", "better on", "Wilcoxon p", "after BH", "paper"]
    return markdown(pd.DataFrame(rows, columns=columns).set_index("ranking"))


def pairwise(frame: pd.DataFrame, control: str) -> dict[str, tuple[str, str]]:
    """Wilcoxon's p and the decision after Benjamini-Hochberg, per other column."""
    table = frame.dropna()
    if len(table) < 3:
        return {}
    result = wilcoxon(table, control=control, correction="bh", digits=DIGITS)
    return {
        (row.second if row.first == control else row.first): (
            f"{row.p_value:.3g}",
            "significant" if row.significant else "not significant",
        )
        for row in result.itertuples()
    }


def against_relief(values: pd.DataFrame) -> str:
    frame = pd.DataFrame({"relief": measured(values, "Relief", "m 0.01")})
    for score, name in PAPER_BEST.items():
        frame[score] = measured(values, name, f"{score} 10")
    tests = pairwise(frame, "relief")
    rows = [
        [SCORES[score], f"{(frame[score] - frame['relief']).mean():+.4f}", int((frame[score] > frame["relief"]).sum()),
         *tests.get(score, ("-", "-")), f"{PAPER_RELIEF_P[score]:.3g}"]
        for score in PAPER_BEST
    ]  # fmt: skip
    columns = ["score", "mean gain over Relief (1 %)", "better on", "Wilcoxon p", "after BH", "paper's p"]
    return markdown(pd.DataFrame(rows, columns=columns).set_index("score"))


def ensembles(values: pd.DataFrame) -> str:
    """Average ranks of the ensembles for one score; in brackets the paper's p."""
    rows = []
    for score, paper in {"symbolic": 0.106, "genie3": 0.705, "permutation": 0.030}.items():
        names = [name for s, name in combinations_at(10) if s == score]
        frame = pd.DataFrame({name: measured(values, name, f"{score} 10") for name in names}).dropna()
        test = tested(frame)
        if len(names) == 2:
            found = pairwise(frame, names[0]).get(names[1], ("-", ""))
            test = f"Wilcoxon p = {found[0]}"
        ranks = average_ranks(frame, digits=DIGITS)
        rows.append([SCORES[score], ", ".join(f"{name} {rank:.2f}" for name, rank in ranks.items()), test, paper])
    return markdown(pd.DataFrame(rows, columns=["score", "average ranks", "test", "paper's p"]).set_index("score"))


def scores(values: pd.DataFrame) -> str:
    frame = score_table(values, PAPER_BEST).dropna()
    ranks = average_ranks(frame, digits=DIGITS)
    lines = [
        f"{tested(frame)} (paper: p = 0.00233). Average ranks: "
        + ", ".join(f"{SCORES[s]} {rank:.2f}" for s, rank in ranks.items())
        + " (paper: Symbolic 1.55, Random Forest 2.42).",
    ]
    if len(frame) >= 3:
        lines += ["", "Nemenyi:", "", markdown(nemenyi(frame, digits=DIGITS).round(3))]
    return "\n".join(lines)


def choices(values: pd.DataFrame) -> str:
    """Average ranks of the scores by other ensembles, by other errors of the Random Forest score, on other sets."""
    ours = score_table(values, PAPER_BEST)
    compared = {
        "as in the paper": ours,
        **{f"all from {name}": score_table(values, dict.fromkeys(SCORES, name)) for name in WITH_BAGS},
        **{
            f"as in the paper, error {error}": ours.assign(permutation=measured(values, "Errors", f"by {error}"))
            for error in ("brier", "hamming")
        },
        "as in the paper, sets of Table 1": ours.drop("ImCLEF07D", errors="ignore"),
    }
    rows = []
    for name, frame in compared.items():
        table = frame.dropna()
        if len(table) >= 3:
            ranks = average_ranks(table, digits=DIGITS).map("{:.2f}".format)
            rows.append([name, len(table), *ranks, f"{friedman(table, digits=DIGITS).p_value:.3f}"])
    columns = ["", "sets", *SCORES.values(), "Friedman p"]
    return markdown(pd.DataFrame(rows, columns=columns).set_index("")) if rows else ""


def by_error(values: pd.DataFrame) -> str:
    """Quality of the Random Forest score by the error that it is the growth of, beside Symbolic's."""
    columns = {name: measured(values, "Errors", f"by {name}") for name in ("auprc", "brier", "hamming")}
    frame = pd.DataFrame(columns).dropna()
    if frame.empty:
        return ""
    frame["symbolic, Random Forests"] = measured(values, "Random Forests", "symbolic 10").reindex(frame.index)
    ranks = average_ranks(frame.dropna(), digits=DIGITS)
    shown = frame.map("{:.3f}".format)
    shown.loc["average rank"] = ranks.map("{:.2f}".format)
    return markdown(shown)


def beside_boosted(values: pd.DataFrame) -> str:
    """Average ranks of the three ensembles and of boosted trees, for the sets that have all of them."""
    rows = []
    for size in SIZES:
        names = ("Boosted", "Bagging", "Random Forests", "Extra Trees")
        frame = pd.DataFrame({name: measured(values, name, f"genie3 {size}") for name in names}).dropna()
        if len(frame):
            ranks = average_ranks(frame, digits=DIGITS)
            means = [f"{frame[name].mean():.4f} ({ranks[name]:.2f})" for name in names]
            rows.append([str(size), *means, tested(frame)])
    columns = ["trees", *(f"{name}: mean (rank)" for name in ("Boosted", "Bagging", "Random Forests", "Extra Trees"))]
    return markdown(pd.DataFrame(rows, columns=[*columns, "test"]).set_index("trees")) if rows else ""


def extra_trees(values: pd.DataFrame) -> str:
    """Square root of the features less all of them; in the paper the former wins where features are binary."""
    rows = []
    for score in ("symbolic", "genie3"):
        frame = pd.DataFrame(
            {"sqrt": measured(values, "Extra Trees", f"{score} 10"),
             "all": measured(values, "Extra Trees, all", f"{score} 10")}
        ).dropna()  # fmt: skip
        if len(frame) == 0:
            continue
        found = pairwise(frame, "sqrt").get("all", ("-", ""))
        gain = frame["sqrt"] - frame["all"]
        rows.append([SCORES[score], f"{gain.mean():+.4f}", f"{int((gain > 0).sum())} of {len(gain)}", found[0]])
    columns = ["score", "mean difference", "square root better on", "Wilcoxon p"]
    return markdown(pd.DataFrame(rows, columns=columns).set_index("score")) if rows else ""


def order(values: pd.DataFrame) -> str:
    """Section 4.5: where the Random Forest score lies between Symbolic and Genie3; in the paper on 4 of 30 sets."""
    rows = []
    for name in WITH_BAGS:
        frame = score_table(values, dict.fromkeys(SCORES, name)).dropna()
        others = frame[["symbolic", "genie3"]]
        inside = (frame["permutation"] > others.min(axis=1)) & (frame["permutation"] < others.max(axis=1))
        rows.append([name, f"{inside.sum()} of {len(frame)}", ", ".join(frame.index[inside]) or "-"])
    columns = ["ensemble", "Random Forest score in between", "on"]
    return markdown(pd.DataFrame(rows, columns=columns).set_index("ensemble"))


def efficiencies(values: pd.DataFrame) -> str:
    """Shares of positive scores; in the paper Random Forest and Relief leave out more features than the others."""
    shares = {score: measured(values, "Agreement", f"efficiency {score}") for score in [*SCORES, "relief"]}
    frame = pd.DataFrame(shares).dropna().round(3)
    return markdown(frame) if len(frame) else ""


def similarity(values: pd.DataFrame) -> str:
    """Figure 6: in the paper Symbolic and Genie3 are nearest, and Relief is farthest from all."""
    pairs = {
        f"{a}, {b}": measured(values, "Agreement", f"fuji {a} {b}") for a, b in combinations([*SCORES, "relief"], 2)
    }
    means = pd.DataFrame(pairs).dropna(how="all").mean().dropna().sort_values()
    return markdown(means.map("{:.3f}".format).to_frame("1 - FUJI")) if len(means) else ""
