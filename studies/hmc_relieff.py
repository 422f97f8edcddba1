"""ReliefF for hierarchical multi-label classification (Slavkov et al., 2014): addition curves over m and K.

Design (section 4): HMC-ReliefF rankings from 1 to 25 % of the rows and 5 to 50 neighbours; forests of 100 trees that
look at 10 % of the features per node, learnt from the top features; pooled AUPRC by ten-fold cross-validation; against
the mean of 50 random rankings. Section 5 asks for a controlled setting: hierarchies of known drivers, balanced or not,
wide or deep, densely or sparsely populated.
"""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from ramify.datasets import Dataset, make_hierarchical, read_arff
from ramify.ensemble import ForestClassifier
from ramify.metrics import auprc
from ramify.ranking import relief_path
from ramify.study import Study, available, data_folder

FILES = {
    # In place of the paper's Yeast-GO, SCOP-GO and SCOP-FUN, which are not at hand.
    "pheno_GO": ["hmc/go/pheno_GO.train.arff"],
    "eisen_GO": ["hmc/go/eisen_GO.train.arff"],
    "Diatoms": ["hmc/others/Diatoms_train.arff"],
    "ImCLEF07A": ["hmc/others/ImCLEF07A_Train.arff"],
    "ImCLEF07D": ["hmc/others/ImCLEF07D_Train.arff"],
}
CONTROLLED = {
    "balanced": {"depth": 3, "width": 2},
    "unbalanced": {"depth": 4, "width": 2, "balance": 0.3},
    "wide": {"depth": 2, "width": 4},
    "deep": {"depth": 5, "width": 1, "label_probability": 0.8},
    "sparse labels": {"depth": 3, "width": 2, "label_probability": 0.25},
    "sparse features": {"depth": 3, "width": 2, "density": 0.1},
}
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
    return Study(
        {name: load_data for name, load_data in datasets.items() if not quick or name in QUICK},
        {
            "HMC-ReliefF": partial(by_relief, bound=None, **grid, **common),
            "HMLC-Relief": partial(by_relief, bound="observed", **grid, **common),
            "random": partial(by_chance, n_random=3 if quick else 50, **common),
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


def findings(study: Study) -> str:
    """Areas under the curves against chance, and how they change with m and K."""
    values = study.results()
    values = (
        values[values["status"] == "done"]
        .drop(columns=["split"])
        .groupby(["dataset", "method"])
        .mean(numeric_only=True)
    )
    parts = ["# ReliefF for hierarchical multi-label classification", ""]
    if study.missing:
        parts += [f"Not found, and left out: {', '.join(study.missing)}.", ""]
    parts += [
        "Paper (4.2): the curves lie above those of random rankings most of the time; m and K matter little, but for "
        "SCOP-FUN. SCOP-GO, SCOP-FUN and Yeast-GO are not at hand.",
        "",
    ]
    for method in ("HMC-ReliefF", "HMLC-Relief"):
        parts += [f"## {method}: area under the addition curve", "", markdown(areas(values, method)), ""]
    parts += ["## Controlled setting: does the ranking find the planted drivers?", "", markdown(truths(values)), ""]
    parts += ["## Curves of the best setting beside the random mean", "", markdown(best_curves(values)), ""]
    return "\n".join(parts)


def grid_of(values: pd.DataFrame, method: str, ending: str) -> pd.DataFrame:
    own = values.xs(method, level="method")
    return own[[name for name in own if name.startswith("m ") and name.endswith(ending)]].dropna(how="all")


def areas(values: pd.DataFrame, method: str) -> pd.DataFrame:
    frame = grid_of(values, method, " area")
    chance = values.xs("random", level="method")
    shown = pd.DataFrame(
        {
            "mean over m and K": frame.mean(axis=1),
            "lowest": frame.min(axis=1),
            "highest": frame.max(axis=1),
            "best setting": frame.idxmax(axis=1).str.removesuffix(" area"),
            "random mean": chance["random area"].reindex(frame.index),
            "random 97.5 %": chance["random high"].reindex(frame.index),
        }
    )
    above = frame.gt(shown["random mean"], axis=0).mean(axis=1)
    shown["settings above random"] = [f"{share:.0%}" for share in above]
    return shown.round(4)


def truths(values: pd.DataFrame) -> pd.DataFrame:
    """AUPRC of the planted drivers, the mean over m and K."""
    columns = {}
    for method in ("HMC-ReliefF", "HMLC-Relief"):
        frame = grid_of(values, method, " truth")
        columns[f"{method}, mean"] = frame.mean(axis=1)
        columns[f"{method}, best"] = frame.max(axis=1)
    return pd.DataFrame(columns).round(3)


def best_curves(values: pd.DataFrame) -> pd.DataFrame:
    rows = {}
    for dataset in values.index.unique("dataset"):
        own = values.xs(dataset, level="dataset")
        best = str(own.loc["HMC-ReliefF"].filter(like=" area").filter(like="m ").astype(float).idxmax())
        prefix = best.removesuffix(" area")
        rows[f"{dataset}, {prefix}"] = own.loc["HMC-ReliefF"].filter(like=f"{prefix} @").astype(float).tolist()
        rows[f"{dataset}, random"] = own.loc["random"].filter(like="random @").astype(float).tolist()
    return pd.DataFrame.from_dict(rows, orient="index").round(3).fillna("")


def markdown(frame: pd.DataFrame) -> str:
    """A frame as a Markdown table."""
    header = [str(frame.index.name or ""), *map(str, frame.columns)]
    rows = [[str(index), *map(str, row)] for index, row in zip(frame.index, frame.to_numpy(), strict=True)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, ["---"] * len(header), *rows])
