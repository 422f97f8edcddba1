"""ReliefF for hierarchical multi-label classification (Slavkov et al., 2014): addition curves over m and K.

Design (section 4): HMC-ReliefF rankings from 1 to 25 % of the rows and 5 to 50 neighbours; forests of 100 trees that
look at 10 % of the features per node, learnt from the top features; pooled AUPRC by ten-fold cross-validation; against
the mean of 50 random rankings. Section 5 asks for a controlled setting: hierarchies of known drivers, balanced or not,
wide or deep, densely or sparsely populated.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from ramify_studies.shared import SomeCells, findings_under, markdown
from scipy.stats import wilcoxon

from ramify.datasets import Dataset, make_hierarchical
from ramify.datasets.readers.arff import read_arff
from ramify.ensemble import ForestClassifier
from ramify.metrics import auprc
from ramify.plots import addition_curves
from ramify.ranking import ReliefRanker
from ramify.ranking.relief import relief_path
from ramify.study import Study
from ramify.study.study_files import available, data_files, data_folder

# In place of the paper's Yeast-GO, SCOP-GO and SCOP-FUN, pheno_GO and eisen_GO: those are not at hand.
FILES = data_files("hmc_relieff")
CONTROLLED = {
    "balanced": {"depth": 3, "width": 2},
    "unbalanced": {"depth": 4, "width": 2, "balance": 0.3},
    "wide": {"depth": 2, "width": 4},
    "deep": {"depth": 5, "width": 1, "label_probability": 0.8},
    "sparse labels": {"depth": 3, "width": 2, "label_probability": 0.25},
    "sparse features": {"depth": 3, "width": 2, "density": 0.1},
}
# Rows, discrete + continuous features, labels, depth (of top labels: 1), labels and leaf labels per example: ours /
# Table 1. Ours are the training parts alone.
EDITIONS = {
    "Diatoms": ("2065 / 1098", "0+371 / 0+200", "398 / 107", "3 / 2", "1.95 / 1.98", "0.94 / 0.98"),
    "ImCLEF07A": ("10000 / 10006", "0+80 / 0+80", "96 / 96", "3 / 3", "3 / 3", "1 / 1"),
    "ImCLEF07D": ("10000 / 10006", "0+80 / 0+80", "46 / 46", "3 / 3", "3 / 3", "1 / 1"),
    "pheno_GO": ("653 / not in the paper", "69+0", "3127", "12", "34.9", "3.54"),
    "eisen_GO": ("1055 / not in the paper", "0+79", "3573", "11.1", "37.9", "3.75"),
}
N_FEATURES = {"Diatoms": 371, "ImCLEF07A": 80, "ImCLEF07D": 80, "pheno_GO": 69, "eisen_GO": 79}
MIXED = "half binary"
RAMPS = {"no ramp": None, "ramp 5 to 10 %": (0.05, 0.10), "ramp 10 to 30 %": (0.1, 0.3)}
QUICK = ("pheno_GO", "balanced", "sparse features")
SHARES = (0.01, 0.05, 0.1, 0.2, 0.25)
NEIGHBOURS = (5, 10, 25, 50)


def study(data: str | Path | None = None, folder: str | Path = "results/hmc_relieff", quick: bool = False) -> Study:
    found, missing = available(data_folder(data), FILES)
    datasets = {
        **{name: partial(controlled, name) for name in CONTROLLED},
        **{name: partial(load, str(files[0])) for name, files in found.items()},
    }
    grid = {"shares": (0.05, 0.25), "neighbours": (5, 25)} if quick else {"shares": SHARES, "neighbours": NEIGHBOURS}
    common = {"n_trees": 10 if quick else 100, "n_sizes": 5 if quick else 8}
    return SomeCells(
        lambda cell: (cell.method == "ramp") == (cell.dataset == MIXED),  # the ramp is for features of both kinds
        {**{name: load_data for name, load_data in datasets.items() if not quick or name in QUICK}, MIXED: half_binary},
        {
            "HMC-ReliefF": partial(by_relief, bound=None, **grid, **common),
            "HMLC-Relief": partial(by_relief, bound="observed", **grid, **common),
            "random": partial(by_chance, n_random=3 if quick else 50, **common),
            "ramp": by_ramp,
        },
        splits=2 if quick else 10,
        folder=folder,
        missing=missing,
        gains=measure_names(**grid, n_sizes=common["n_sizes"]),
    )


def measure_names(shares: tuple[float, ...], neighbours: tuple[int, ...], n_sizes: int) -> list[str]:
    """All that is measured is an AUPRC or an area under its curve."""
    rankings = ["random", *(f"m {share:g} K {k}" for share in shares for k in neighbours)]
    kinds = ["area", "truth", "high", *(f"@ {number}" for number in range(n_sizes))]
    return [f"{ranking} {kind}" for ranking in rankings for kind in kinds]


def load(file: str) -> Dataset:
    return read_arff(file)


def controlled(name: str) -> Dataset:
    return make_hierarchical(500, n_features=60, random_state=0, **CONTROLLED[name])


def half_binary() -> Dataset:
    """The balanced set with every second feature cut at its median."""
    data = controlled("balanced")
    X = np.array(data.X, dtype=np.float64)
    X[:, ::2] = X[:, ::2] > np.median(X[:, ::2], axis=0)
    return replace(data, X=X)


def by_ramp(train: Dataset, test: Dataset, seed: int) -> dict[str, float]:  # noqa: ARG001
    """Mean rank of numeric and of binary drivers, the features ranked without a ramp and with two of them."""
    drives, numeric = np.asarray(train.truth).any(axis=1), np.arange(train.n_features) % 2 == 1
    found = {}
    for name, ramp in RAMPS.items():
        ranker = ReliefRanker(10, ramp=ramp, hierarchy=train.hierarchy, random_state=seed).fit(train.X, train.y)
        ranks = np.asarray(ranker.ranking_.ranks)
        found[f"numeric, {name}"] = float(ranks[drives & numeric].mean())
        found[f"binary, {name}"] = float(ranks[drives & ~numeric].mean())
        found[f"AUPRC, {name}"] = float(auprc(drives.astype(int)[:, None], ranker.ranking_.scores[:, None]))
    return found


def sizes_of(n_features: int, n_sizes: int) -> list[int]:
    """Numbers of features, evenly spread on a logarithmic scale."""
    return np.unique(np.geomspace(1, n_features, n_sizes).round().astype(int)).tolist()


def curves(
    orders: list[np.ndarray], train: Dataset, test: Dataset, seed: int, n_trees: int, n_sizes: int
) -> list[list[float]]:
    """AUPRC of forests over the first features of each order; a set of features that several share is learnt once."""
    known: dict[tuple[int, ...], float] = {}

    def quality(chosen: np.ndarray) -> float:
        forest = ForestClassifier(
            n_trees,
            hierarchy=train.hierarchy,
            max_features=-(-len(chosen) // 10),
            categorical_features=train.categorical_features[chosen],
            min_category_rows=1,
            random_state=seed,
        ).fit(train.X[:, chosen], train.y)
        return float(auprc(test.y, forest.predict_proba(test.X[:, chosen])))

    def once(chosen: np.ndarray) -> float:
        key = tuple(chosen.tolist())
        if key not in known:
            known[key] = quality(chosen)
        return known[key]

    sizes = sizes_of(train.n_features, n_sizes)
    return [[once(np.sort(order[:size])) for size in sizes] for order in orders]


def named(values: list[float], n_features: int, n_sizes: int, prefix: str) -> dict[str, float]:
    """The curve and its area, the number of features on a logarithmic scale."""
    sizes = sizes_of(n_features, n_sizes)
    area = float(np.trapezoid(values, np.log(sizes)) / np.log(sizes[-1]))
    points = {f"{prefix} @ {number}": value for number, value in enumerate(values)}
    return {f"{prefix} area": area, **points}


def by_relief(
    train: Dataset,
    test: Dataset,
    seed: int,
    *,
    bound: str | None,
    shares: tuple[float, ...],
    neighbours: tuple[int, ...],
    n_trees: int,
    n_sizes: int,
) -> dict[str, float]:
    """Curves for all m and K, from rankings of one pass over the training fold."""
    path = relief_path(
        train.X,
        train.y,
        n_neighbors=neighbours,
        n_iterations=shares,
        bound=bound,
        ramp=True,
        hierarchy=train.hierarchy,
        categorical_features=train.categorical_features,
        random_state=seed,
    )
    measures: dict[str, float] = {}
    found = curves([ranking.order for ranking in path], train, test, seed, n_trees, n_sizes)
    settings = [(share, k) for share in shares for k in neighbours]
    for (share, k), ranking, values in zip(settings, path, found, strict=True):
        measures |= named(values, train.n_features, n_sizes, f"m {share:g} K {k}")
        if train.truth is not None:
            drives = np.asarray(train.truth).any(axis=1)
            measures[f"m {share:g} K {k} truth"] = float(auprc(drives.astype(int)[:, None], ranking.scores[:, None]))
    return measures


def by_chance(
    train: Dataset, test: Dataset, seed: int, *, n_random: int, n_trees: int, n_sizes: int
) -> dict[str, float]:
    """The mean curve of random rankings, and the 97.5 % quantile of their areas."""
    random = np.random.RandomState(seed)
    orders = [random.permutation(train.n_features) for _ in range(n_random)]
    found = curves(orders, train, test, seed, n_trees, n_sizes)
    areas = [named(values, train.n_features, n_sizes, "random")["random area"] for values in found]
    mean = named(np.mean(found, axis=0).tolist(), train.n_features, n_sizes, "random")
    return {**mean, "random high": float(np.quantile(areas, 0.975))}


TITLES = {
    "sets": "Data sets: ours / Table 1 of the paper",
    "HMC-ReliefF": "HMC-ReliefF: area under the addition curve",
    "HMLC-Relief": "HMLC-Relief: area under the addition curve",
    "truth": "Controlled setting: does the ranking find the planted drivers?",
    "curves": "Curves of the best setting beside the random mean",
    "ramp": "Mean rank of the drivers among 60 features, half of them cut to binary ones",
    "m and K": "Mean area of HMC-ReliefF by m (over K) and by K (over m)",
}


def findings(study: Study) -> str:
    """Areas under the curves against chance, and how they change with m and K."""
    note = (
        "Paper (4.2): the curves lie above those of random rankings most of the time; m and K matter little, but for "
        "SCOP-FUN. SCOP-GO, SCOP-FUN and Yeast-GO are not at hand."
    )
    return findings_under(study, "ReliefF for hierarchical multi-label classification", tables(study), TITLES, [note])


def summary(results: pd.DataFrame) -> pd.DataFrame:
    """What the page needs of the cells: a row per data set and method, means over the folds that were run.

    The cells of the ramp stay as they are.
    """
    if "lowest" in results:
        return results
    done = results[results["status"] == "done"] if "status" in results else results
    tried = done[done["method"] == "ramp"].dropna(axis="columns", how="all")
    rows = []
    for (dataset, method), cells in done[done["method"] != "ramp"].groupby(["dataset", "method"], sort=False):
        means = cells.mean(numeric_only=True)
        row = {"dataset": dataset, "method": method, "split": np.nan, "folds": cells["split"].nunique()}
        row["cpu_seconds"] = cells["cpu_seconds"].sum()
        points = means.filter(like=" @ ").dropna()
        if method == "random":
            chosen = "random"
            row |= {"mean": means["random area"], "high": means["random high"]}
        else:
            areas = means.filter(regex="^m .* area$").dropna()
            chosen = str(areas.idxmax()).removesuffix(" area")
            row |= {"lowest": areas.min(), "mean": areas.mean(), "highest": areas.max()}
            row |= {"best m": float(chosen.split()[1]), "best K": float(chosen.split()[3])}
            for share in SHARES:
                row[f"by m {share:g}"] = areas.filter(regex=f"^m {share:g} ").mean()
            for k in NEIGHBOURS:
                row[f"by K {k}"] = areas.filter(regex=f" K {k} ").mean()
            truth = means.filter(regex=" truth$").dropna()
            if len(truth):
                row |= {"truth mean": truth.mean(), "truth best": truth.max()}
            random = done[(done["dataset"] == dataset) & (done["method"] == "random")]
            if len(random):
                row["above"] = float((areas > random["random area"].mean()).mean())
        row |= {f"@ {name.split(' @ ')[1]}": value for name, value in points.items() if name.startswith(f"{chosen} @")}
        rows.append(row)
    return pd.concat([pd.DataFrame(rows), tried], ignore_index=True)


def tables(study: Study) -> dict[str, str]:
    """The tables of the study's page."""
    results = study.results()
    values = summary(results[results["method"] != "ramp"]).set_index(["dataset", "method"])
    names = [name for name in [*EDITIONS, *CONTROLLED] if name in values.index.unique("dataset")]
    made = {"sets": data_sets(names)}
    for method in ("HMC-ReliefF", "HMLC-Relief"):
        made[method] = areas(values, names, method)
    made |= {"truth": truths(values), "curves": best_curves(values, names), "m and K": by_setting(values, names)}
    return {**made, "ramp": ramps(results)} if "ramp" in set(results["method"]) else made


def figures(study: Study) -> dict[str, Figure]:
    """Addition (FFA) curves of the best setting beside the mean of random rankings (Figures 2 and 3)."""
    results = study.results()
    values = summary(results[results["method"] != "ramp"]).set_index(["dataset", "method"])
    drawn = {}
    for name in values.index.unique("dataset"):
        own = values.xs(name, level="dataset")
        points = [column for column in own if column.startswith("@ ")]
        if own.loc[["HMC-ReliefF", "random"], points].isna().any(axis=None):
            continue
        sizes = sizes_of(N_FEATURES.get(name, 60), len(points))
        row = own.loc["HMC-ReliefF"]
        curve = {f"HMC-ReliefF, m {row['best m']:.0%}, K {row['best K']:.0f}": (sizes, row[points].tolist())}
        random = (sizes, own.loc["random", points].tolist(), None, None)
        figure = addition_curves(curve, random=random)
        figure.axes[0].set_title(name, fontsize=10)
        drawn[name.replace(" ", "-")] = figure
    return drawn


def data_sets(names: list[str]) -> str:
    """Rows, features and the hierarchy, ours beside Table 1."""
    rows = [[name, *EDITIONS[name]] for name in names if name in EDITIONS]
    features, per_example = "features (discrete + continuous)", ["labels per example", "leaf labels per example"]
    columns = ["data set", "rows", features, "labels", "depth", *per_example]
    return markdown(pd.DataFrame(rows, columns=columns).set_index("data set"))


def areas(values: pd.DataFrame, names: list[str], method: str) -> str:
    """Lowest, mean and highest area over the settings, and random rankings' beside them."""
    frame = values.xs(method, level="method").reindex(names).dropna(how="all")
    chance = values.xs("random", level="method").reindex(frame.index)
    shown = frame[["lowest", "mean", "highest"]].map("{:.3f}".format)
    shown.insert(0, "folds", frame["folds"].map("{:.0f}".format))
    shown["random mean"] = chance["mean"].map("{:.3f}".format)
    shown["random 97.5 %"] = chance["high"].map("{:.3f}".format)
    shown["settings above"] = frame["above"].map("{:.0%}".format)
    return markdown(shown.rename_axis(method))


def truths(values: pd.DataFrame) -> str:
    """AUPRC of the planted drivers, the mean over m and K."""
    columns = {}
    for method in ("HMC-ReliefF", "HMLC-Relief"):
        frame = values.xs(method, level="method").reindex(list(CONTROLLED))
        columns[f"{method}, mean"], columns[f"{method}, best"] = frame["truth mean"], frame["truth best"]
    return markdown(pd.DataFrame(columns).dropna(how="all").map("{:.2f}".format))


def ramps(results: pd.DataFrame) -> str:
    """Means over the folds, and whether numeric drivers stand behind binary ones in them."""
    folds = results[results["method"] == "ramp"]
    rows = []
    for name in RAMPS:
        numeric, binary = folds[f"numeric, {name}"], folds[f"binary, {name}"]
        behind = f"{(numeric > binary).sum()} of {len(folds)}"
        test = f"{wilcoxon(numeric, binary).pvalue:.3f}"
        means = [f"{numeric.mean():.1f}", f"{binary.mean():.1f}", behind, test, f"{folds[f'AUPRC, {name}'].mean():.2f}"]
        rows.append([name, *means])
    columns = ["", "mean rank of numeric drivers", "of binary drivers", "numeric behind in folds", "Wilcoxon p"]
    return markdown(pd.DataFrame(rows, columns=[*columns, "AUPRC of the drivers"]).set_index(""))


def best_curves(values: pd.DataFrame, names: list[str]) -> str:
    """Curves of the best setting beside the random mean."""
    points = [column for column in values if column.startswith("@ ")]
    rows = {}
    for name in names:
        own = values.xs(name, level="dataset")
        if own.loc[["HMC-ReliefF", "random"], points].isna().any(axis=None):
            continue
        best = own.loc["HMC-ReliefF"]
        rows[f"{name}, m {best['best m']:.0%}, K {best['best K']:.0f}"] = best[points]
        rows[f"{name}, random"] = own.loc["random", points]
    frame = pd.DataFrame.from_dict(rows, orient="index").astype(float).map("{:.3f}".format)
    frame.columns = [*(f"{number}." for number in range(1, len(points))), "all"]
    return markdown(frame)


def by_setting(values: pd.DataFrame, names: list[str]) -> str:
    """Mean areas for each m and each K."""
    columns = [*(f"by m {share:g}" for share in SHARES), *(f"by K {k}" for k in NEIGHBOURS)]
    frame = values.xs("HMC-ReliefF", level="method").reindex(names)[columns].dropna(how="all").map("{:.3f}".format)
    frame.columns = [*(f"m {share:.0%}" for share in SHARES), *(f"K {k}" for k in NEIGHBOURS)]
    return markdown(frame.rename_axis(None))
