"""Feature ranking for HMLC with tree ensembles (Petkovic, Dzeroski, Kocev, 2020): the five questions of section 3.1.

Design (sections 3.3-3.5): rankings from the training part; quality is the pooled AUPRC of 10 nearest neighbours on the
test part, weighted by the ranking; Symbolic, Genie3 and Random Forest scores from Bagging, Random Forests and Extra
Trees of 10 to 250 trees; HMLC-Relief with K = 15 over 1 to 100 % of the rows; values rounded to three digits;
Friedman and Nemenyi, Wilcoxon with Benjamini-Hochberg.
"""

from functools import partial
from itertools import combinations
from pathlib import Path

import pandas as pd

from ramify.compare import average_ranks, friedman, nemenyi, wilcoxon_bh
from ramify.datasets import Dataset, read_arff
from ramify.ensemble import ForestClassifier
from ramify.ranking import (
    ReliefRanker,
    efficiency,
    forest_ranking,
    fuji,
    knn_quality,
    nested_rankings,
    relief_path,
)
from ramify.study import Study, available, data_folder

YEAST = ("cellcycle", "church", "derisi", "eisen", "expr", "gasch1", "pheno", "seq", "spo")
PARTS = ("train", "valid", "test")
FILES = {
    **{f"{name}_FUN": [f"hmc/fun/{name}_FUN.{part}.arff" for part in PARTS] for name in YEAST},
    "Diatoms": ["hmc/others/Diatoms_train.arff", "hmc/others/Diatoms_test.arff"],
    "Enron_corr": ["hmc/others/Enron_corr_trainvalid.arff", "hmc/others/Enron_corr_test.arff"],
    "ImCLEF07A": ["hmc/others/ImCLEF07A_Train.arff", "hmc/others/ImCLEF07A_Test.arff"],
    "ImCLEF07D": ["hmc/others/ImCLEF07D_Train.arff", "hmc/others/ImCLEF07D_Test.arff"],
    "struc_FUN": [f"hmc/fun/struc_FUN.{part}.arff" for part in PARTS],  # the widest, so the last
}
# Of the paper's 30 sets these are not at hand.
ABSENT = (
    "exprindiv-ara, hom-ara, interpro-ara, scop-ara, seq-ara, struc-ara (FUN and GO), hom-yeast-FUN, icpr2010, "
    "reuters, wipo, yeast-GO"
)
QUICK = ("church_FUN", "eisen_FUN", "pheno_FUN", "Enron_corr")

SIZES = (10, 25, 50, 75, 100, 150, 250)
SHARES = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0)
ENSEMBLES = {
    "Bagging": {"max_features": None},
    "Random Forests": {"max_features": "sqrt"},
    "Extra Trees": {"max_features": "sqrt", "splitter": "random", "bootstrap": False},
    "Extra Trees, all": {"max_features": None, "splitter": "random", "bootstrap": False},
}
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
    chosen = {name: files for name, files in found.items() if not quick or name in QUICK}
    sizes = SIZES[:2] if quick else SIZES
    return Study(
        {name: partial(load, tuple(map(str, files))) for name, files in chosen.items()},
        {
            **{name: partial(ensemble, name=name, sizes=sizes) for name in ENSEMBLES},
            "Relief": partial(relief, shares=SHARES),
            "Agreement": agreement,
        },
        splits="parts",
        folder=folder,
        missing=missing,
        # AUPRC of nearest neighbours; distances and efficiency of rankings are neither good nor bad.
        gains=[
            "unweighted",
            *(f"{score} {size}" for score in SCORES for size in sizes),
            *(f"m {share:g}" for share in SHARES),
        ],
    )


def load(files: tuple[str, ...]) -> Dataset:
    data = read_arff(list(files))
    if set(data.parts) == {"train", "test"} or "valid" in data.parts:
        return data
    # Enron's first file is named "trainvalid".
    names = {name: ("test" if "test" in name.lower() else "train") for name in data.parts}
    return Dataset(**{**vars(data), "parts": {names[name]: rows for name, rows in data.parts.items()}})


def forest_of(train: Dataset, name: str, n_trees: int, seed: int) -> ForestClassifier:
    nominal = train.categorical_features
    return ForestClassifier(
        n_trees, hierarchy=train.hierarchy, categorical_features=nominal, random_state=seed, **ENSEMBLES[name]
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
    return {**apart, **{f"efficiency {name}": efficiency(ranking) for name, ranking in rankings.items()}}


def findings(study: Study) -> str:
    """The five questions, ours beside the paper's answer."""
    values = study.results()
    values = values[values["status"] == "done"].set_index(["dataset", "method"])
    parts = ["# Feature ranking for hierarchical multi-label classification", ""]
    parts += [f"Data sets: {', '.join(values.index.unique('dataset'))}. Of the paper's 30 not at hand: {ABSENT}.", ""]
    if study.missing:
        parts += [f"Not found, and left out: {', '.join(study.missing)}.", ""]
    sizes = sorted({int(name.split()[1]) for name in values if name.startswith("genie3 ")})
    parts += ["## Quality with 10 trees, and unweighted", "", markdown(quality_table(values).round(4)), ""]
    parts += ["## 1. After how many trees does quality saturate?", "", saturation(values, sizes), ""]
    parts += ["## 2. Are the rankings relevant?", "", relevance(values), ""]
    parts += ["## 3. Do the scores outperform HMLC-Relief?", "", against_relief(values), ""]
    parts += ["## 4. Which ensemble for which score?", "", ensembles(values), ""]
    parts += ["## 5. Which score is best?", "", scores(values), ""]
    parts += ["## Extra Trees with all features and with their square root", "", extra_trees(values), ""]
    parts += ["## Efficiency and similarity", "", similarity(values), ""]
    return "\n".join(parts)


def measured(values: pd.DataFrame, method: str, measure: str) -> pd.Series:
    return values.xs(method, level="method")[measure].astype(float)


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


def saturation(values: pd.DataFrame, sizes: list[int]) -> str:
    lines = ["Paper: no differences between sizes (all p > 0.05), so 10 trees suffice; for Relief p = 0.96 over m.", ""]
    for score, name in combinations_at(10):
        frame = pd.DataFrame({str(size): measured(values, name, f"{score} {size}") for size in sizes})
        lines.append(f"- {SCORES[score]}, {name}, sizes {sizes}: {tested(frame)}; means {means(frame)}")
    frame = pd.DataFrame({f"{share:g}": measured(values, "Relief", f"m {share:g}") for share in SHARES})
    lines.append(f"- Relief, shares {list(SHARES)}: {tested(frame)}; means {means(frame)}")
    return "\n".join(lines)


def means(frame: pd.DataFrame) -> str:
    return ", ".join(f"{value:.4f}" for value in frame.mean())


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
    result = wilcoxon_bh(table, control=control, digits=DIGITS)
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
    lines = [
        "Paper: no differences for Symbolic (p = 0.106) and Genie3 (0.705); Bagging for Random Forest (0.030).",
        "",
    ]
    for score in SCORES:
        names = [name for s, name in combinations_at(10) if s == score]
        frame = pd.DataFrame({name: measured(values, name, f"{score} 10") for name in names})
        test = tested(frame)
        if len(names) == 2:
            found = pairwise(frame, names[0]).get(names[1], ("-", ""))
            test = f"Wilcoxon p = {found[0]}"
        ranks = average_ranks(frame.dropna(), digits=DIGITS)
        shown = ", ".join(f"{name} {rank:.2f}" for name, rank in ranks.items())
        lines.append(f"- {SCORES[score]}: {test}; average ranks {shown}")
    return "\n".join(lines)


def scores(values: pd.DataFrame) -> str:
    frame = pd.DataFrame({s: measured(values, name, f"{s} 10") for s, name in PAPER_BEST.items()}).dropna()
    ranks = average_ranks(frame, digits=DIGITS)
    lines = [
        f"{tested(frame)} (paper: p = 0.00233). Average ranks: "
        + ", ".join(f"{SCORES[s]} {rank:.2f}" for s, rank in ranks.items())
        + " (paper: Symbolic 1.55, Random Forest 2.42).",
    ]
    if len(frame) >= 3:
        lines += ["", "Nemenyi:", "", markdown(nemenyi(frame, digits=DIGITS).round(3))]
    return "\n".join(lines)


def extra_trees(values: pd.DataFrame) -> str:
    lines = ["Paper (3.5): the square root wins where features are binary, elsewhere no difference.", ""]
    for score in ("symbolic", "genie3"):
        frame = pd.DataFrame(
            {"sqrt": measured(values, "Extra Trees", f"{score} 10"),
             "all": measured(values, "Extra Trees, all", f"{score} 10")}
        ).dropna()  # fmt: skip
        found = pairwise(frame, "sqrt").get("all", ("-", ""))
        gain = (frame["sqrt"] - frame["all"]).round(4)
        shown = ", ".join(f"{name} {value:+.4f}" for name, value in gain.items())
        lines.append(f"- {SCORES[score]}: Wilcoxon p = {found[0]}; square root less all: {shown}")
    return "\n".join(lines)


def similarity(values: pd.DataFrame) -> str:
    own = values.xs("Agreement", level="method")
    shares = own[[name for name in own if name.startswith("efficiency ")]].astype(float)
    apart = own[[name for name in own if name.startswith("fuji ")]].astype(float).mean()
    lines = [
        "Share of features with a positive score (paper: Random Forest and Relief leave out more than the others):",
        "",
        markdown(shares.rename(columns=lambda name: name.removeprefix("efficiency ")).round(3)),
        "",
        "Mean distance 1 - FUJI (paper: Symbolic and Genie3 are nearest, Relief is farthest from all):",
        "",
    ]
    lines += [f"- {name.removeprefix('fuji ')}: {value:.3f}" for name, value in apart.sort_values().items()]
    return "\n".join(lines)


def markdown(frame: pd.DataFrame) -> str:
    """A frame as a Markdown table."""
    header = [str(frame.index.name or ""), *map(str, frame.columns)]
    rows = [[str(index), *map(str, row)] for index, row in zip(frame.index, frame.to_numpy(), strict=True)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, ["---"] * len(header), *rows])
