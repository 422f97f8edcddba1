"""L-classifier chains: Figure 3.2, Tables 3.1, 5.2-5.4 and 6.3-6.5, and the pipeline of chapter 7 of the thesis.

Real data (emotions, scene, yeast): 30 random splits of 75/25, forests of 200 trees. Simulations: 32 designs, 30 runs,
forests of 50 trees. The credit bureau's data are not public; chapter 7 runs on generated data of its shape, smaller.
Votes become label sets by the threshold of section 3.3.1, chosen on the test predictions; rows without a predicted
label do not count in precision, as in the thesis. Runs are taken in turn, so a stopped study covers all data sets.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from ramify_studies.chain_figures import (
    global_importance_bars,
    importance_densities,
    label_counts,
    label_densities,
    label_predictions,
    measures_by_method,
    order_losses,
    r2_histogram,
    roc_curves,
    screening_curves,
)
from ramify_studies.chain_tables import (
    friedman_of_ranks,
    label_set_measures,
    label_statistics,
    screening_sweep,
    top_predictors,
)
from ramify_studies.shared import SomeCells, findings_under, markdown
from scipy import sparse
from sklearn.model_selection import ShuffleSplit

from ramify.chains import BinaryRelevance, ClassifierChain, EnsembleOfChains, LClassifierChains, R2Screening
from ramify.chains.chain_order import OrderErrors
from ramify.chains.importance import global_importance, importance_index
from ramify.chains.stratification import stratified_parts
from ramify.compare import compare, holm
from ramify.compare.result_table import average_ranks, rank_methods
from ramify.datasets import Dataset, make_multilabel
from ramify.datasets.readers.mulan import read_mulan
from ramify.ensemble import ForestClassifier
from ramify.ensemble.threshold import cardinality_threshold
from ramify.features import Features
from ramify.metrics import roc_auc_score
from ramify.plots import critical_difference, importance_heatmap
from ramify.plots.style import COLOURS
from ramify.study import Study
from ramify.study.cells import Cell
from ramify.study.study_files import available, data_files, data_folder

MEASURES = ["HL", "CL", "PR", "RE", "F2", "AC"]
FOUR = ["BR", "CC", "LCC", "ECC"]
P_VALUE = "Friedman's p"
ONE_CHAIN = {"CC cor": "correlation", "CC rfimp": "importance", "CC relieff": "relief", "CC occ": "oob",
             "CC cancor": "canonical"}  # fmt: skip
ONCE = ("all orders", "importances", "screening", "chapter 7", "data")
BEST_IS_LABEL = {"emotions": 4, "scene": 3, "yeast": 13}
DESIGNS = {
    f"SIM{number:02d}": {"n_samples": n, "n_features": p, "n_labels": l, "correlation": rho, "signal": t}
    for number, (n, p, l, rho, t) in enumerate(product((200, 1000), (50, 100), (5, 20), (0.1, 0.8), (0.5, 5.0)), 1)
}
# The thesis describes labels of which any two are correlated alike; its results point to an autoregressive order.
AUTOREGRESSIVE = {name: f"{name} AR" for name, design in DESIGNS.items() if design["correlation"] == 0.8}
SIMULATED = DESIGNS | {
    other: {**DESIGNS[name], "dependence": "autoregressive"} for name, other in AUTOREGRESSIVE.items()
}
# Designs that Figures 6.2 to 6.6 and 6.7 to 6.11 put beside each other; strongly correlated labels autoregressive.
PAIRS = {
    "correlation": ("SIM25", "SIM27", "SIM27 AR"),
    "rows": ("SIM01", "SIM17"),
    "features": ("SIM23 AR", "SIM31 AR"),
    "labels": ("SIM19 AR", "SIM23 AR"),
    "signal": ("SIM13", "SIM14"),
}
HEATMAPS = ("SIM29", "SIM31", "SIM31 AR", "SIM11 AR", "SIM27 AR", "SIM08 AR", "SIM16 AR", "SIM19 AR", "SIM20 AR")
# Accounts that are opened together: a client with the first has the second with this probability at least.
TOGETHER = ((8, 1, 0.6), (1, 2, 0.5), (14, 13, 0.5), (10, 6, 0.6), (5, 3, 0.3), (3, 4, 0.4))
ROC_LABELS = (2, 3)  # of Figure 7.5
QUANTILES = ("min", "Q1", "Q2", "mean", "Q3", "max")


def printed(table: str) -> pd.DataFrame:
    """A table of the thesis: numbers, but for times and for the predictors of Tables 7.8 and 7.9."""
    values = pd.read_csv(Path(__file__).with_name("l_classifier_chains_printed.csv"))
    rows = values[values["table"] == table]
    wide = rows.pivot(index="row", columns="column", values="value")
    wide = wide.loc[rows["row"].unique(), rows["column"].unique()].rename_axis(index=None, columns=None)
    return wide if table in {"7.5", "7.8", "7.9"} else wide.astype(float)


class RunByRun(SomeCells):
    """A study that takes all data sets of one run before the next run."""

    def cells(self) -> list[Cell]:
        """The cells that are wanted, run by run."""
        return sorted(super().cells(), key=lambda cell: cell.split)


def study(data: Path | None, folder: Path, quick: bool = False) -> Study:
    """The designs of sections 3.1, 3.2, 5.3, 6.4 and 7.3."""
    names = ["emotions"] if quick else ["emotions", "scene", "yeast"]
    published = data_files("l_classifier_chains")
    files, missing = available(data_folder(data), {name: published[name] for name in names})
    designs = ["SIM01", "SIM02", "SIM03", "SIM04", "SIM03 AR", "SIM04 AR"] if quick else list(SIMULATED)
    credit_rows, credit_features = (400, 60) if quick else (2000, 564)
    datasets: dict[str, Any] = {name: partial(read_mulan, file[:-1], labels=file[-1]) for name, file in files.items()}
    datasets |= {name: partial(simulated, name, seed=number) for number, name in enumerate(designs)}
    datasets["credit"] = partial(credit, credit_rows, credit_features)
    trees, few = (10, 5) if quick else (200, 50)
    methods = {name: partial(on_real_data, name, trees, few) for name in [*FOUR, *ONE_CHAIN]}
    methods |= {"all orders": partial(all_orders, trees), "VI_prop": partial(planted_found, few, 2 if quick else 30)}
    methods |= {"screening": partial(swept, few), "data": counted}
    methods["importances"] = partial(importances, (trees, few), 2 if quick else 30)
    methods["chapter 7"] = partial(described, few)
    n_runs = 2 if quick else 30
    n_of = {(name, method): n_runs for name in [*names, *designs] for method in FOUR}
    n_of |= {("emotions", method): n_runs for method in ONE_CHAIN}
    n_of |= {(name, "VI_prop"): n_draws(name) for name in designs}
    n_of |= {("emotions", "all orders"): 1}
    n_of |= {(name, "data"): 1 for name in names}
    n_of |= {(name, "importances"): 1 for name in [*names, *HEATMAPS] if name in (*names, *designs)}
    n_of |= {("credit", method): 1 for method in [*FOUR, "screening", "chapter 7"]}
    return RunByRun(
        lambda cell: cell.split < n_of.get((cell.dataset, cell.method), 0),
        datasets,
        methods,
        splits=ShuffleSplit(n_runs, test_size=0.25, random_state=0),
        folder=folder,
        missing=missing,
        losses=["HL"],
        gains=[name for name in MEASURES if name != "HL"],
    )


def simulated(name: str, seed: int) -> Dataset:
    """A design with its planted matrix; every run generates rows of its own from it."""
    return replace(make_multilabel(**SIMULATED[name], random_state=seed), source=name)


def credit(n_rows: int, n_features: int) -> Dataset:
    """Rows of the shape of chapter 7: 15 labels with the densities of Table 7.7, few of many features relevant.

    Accounts go together (`TOGETHER`), every eighth feature is nominal, its levels numbered as in the thesis, and 3 % of
    the cells are missing.
    """
    data = make_multilabel(n_rows, n_features=n_features, n_labels=15, density=list(printed("7.7")["density"]),
                           correlation=0.15, signal=0.4, relevance=0.02, random_state=7)  # fmt: skip
    random = np.random.RandomState(7)
    labels = data.y.toarray().astype(bool)
    for first, second, share in TOGETHER:
        joining = labels[:, first - 1] & ~labels[:, second - 1] & (random.random_sample(n_rows) < share)
        leaving = np.flatnonzero(labels[:, second - 1] & ~labels[:, first - 1])
        n_moved = min(int(joining.sum()), len(leaving))  # so that the label stays as frequent as it was
        labels[random.permutation(np.flatnonzero(joining))[:n_moved], second - 1] = True
        labels[random.permutation(leaving)[:n_moved], second - 1] = False
    X = np.array(data.X, dtype=np.float64)
    for column in range(0, n_features, 8):
        levels = np.quantile(X[:, column], [0.2, 0.4, 0.6, 0.8])
        X[:, column] = random.permutation(5)[np.searchsorted(levels, X[:, column])]
    X[random.random_sample(X.shape) < 0.03] = np.nan
    return replace(data, X=X, y=sparse.csr_array(labels.astype(np.int8)), source="credit")


def learner(method: str, n_trees: int, seed: int) -> Any:
    """The four classifiers of chapters 5 to 7 and the one-chain orders of chapter 3."""
    forest = ForestClassifier(n_trees, min_category_rows=1, n_jobs=1)
    made = {
        "BR": BinaryRelevance(forest),
        "CC": ClassifierChain(forest),
        "ECC": EnsembleOfChains(forest, combine="votes", threshold="batch"),
        "LCC": LClassifierChains(forest, combine="votes", threshold="batch"),
    }
    model = ClassifierChain(forest, order=ONE_CHAIN[method], n_jobs=1) if method in ONE_CHAIN else made[method]
    return model.set_params(random_state=seed)


def on_real_data(method: str, n_trees: int, n_few: int, train: Dataset, test: Dataset, seed: int) -> dict[str, float]:
    """Measures of one classifier on one split, on fresh rows of a design, or on the screened credit data."""
    if train.source in SIMULATED:
        n_trees = n_few
        fresh = {**SIMULATED[train.source], "truth": train.truth}
        train = make_multilabel(**fresh, random_state=seed)
        test = make_multilabel(**{**fresh, "n_samples": 1000}, random_state=seed + 1)
    elif train.source == "credit":
        return on_credit(method, n_few, train, test, seed)
    model = learner(method, n_trees, seed).fit(train.X, train.y)
    values = measured(test, model.predict(test.X))
    if method == "LCC":
        values["best is a label"] = float((model.importances_.argmax(axis=1) >= train.n_features).sum())
        values["label share"] = float(model.label_share_.mean())
    return values


def measured(test: Dataset, predicted: Any) -> dict[str, float]:
    """The six measures of section 2.5."""
    measures = label_set_measures(test.y, predicted, empty="skip")
    return {name: float(measures[name]) for name in MEASURES}


def all_orders(n_trees: int, train: Dataset, test: Dataset, seed: int) -> dict[str, float]:
    """Hamming loss of a chain in every order (Figure 3.2)."""
    from itertools import permutations

    X = np.vstack([train.X, test.X]).astype(np.float64)
    Y = np.vstack([train.y.toarray(), test.y.toarray()]).astype(np.uint8)
    rows = np.arange(len(X))
    table = OrderErrors(ForestClassifier(n_trees, n_jobs=1), Features(X, np.zeros(X.shape[1], dtype=np.int32)), Y,
                        rows[: train.n_samples], rows[train.n_samples :], seed)  # fmt: skip
    cells = test.n_samples * Y.shape[1]
    losses = np.array([table.errors(order) / cells for order in permutations(range(Y.shape[1]))])
    names = ("lowest", "median", "highest", "of the order 1 to L")
    values = (losses.min(), np.median(losses), losses.max(), losses[0])
    found, counts = np.unique(losses.round(6), return_counts=True)
    return {
        **{f"HL {name}": float(value) for name, value in zip(names, values, strict=True)},
        **{f"orders at {loss}": float(count) for loss, count in zip(found, counts, strict=True)},
    }


def counted(train: Dataset, test: Dataset, seed: int) -> dict[str, float]:  # noqa: ARG001
    """What Table 5.1 says of a data set."""
    known = label_statistics(sparse.vstack([train.y, test.y]))
    sizes = {"N": train.n_samples + test.n_samples, "L": known.n_labels, "P": train.n_features}
    return {**sizes, "LCard": known.cardinality, "LDens": known.density, "Distinct": known.n_distinct}


def importances(trees: tuple[int, int], n_runs: int, train: Dataset, test: Dataset, seed: int) -> dict[str, float]:  # noqa: ARG001
    """The importance index of LCC (Figures 5.2 to 5.9 and 6.7 to 6.11): of one fit, or of all runs of a design."""
    if train.source in SIMULATED:
        matrix = summed_importances(train.source, np.asarray(train.truth), trees[1], n_runs, seed)
    else:
        matrix = learner("LCC", trees[0], seed).set_params(keep_forests=False).fit(train.X, train.y).importances_
    return named(matrix, [*train.feature_names, *train.label_names], train.label_names)


def named(
    matrix: np.ndarray, predictors: Sequence[str], labels: Sequence[str], relative_to: str = "label", digits: int = 1
) -> dict[str, float]:
    """Importances as index of 100, a value per label and predictor."""
    frame = pd.DataFrame(matrix, index=labels, columns=predictors)
    index = importance_index(frame, relative_to=relative_to).round(digits)
    return {f"{label} <- {name}": float(index.loc[label, name]) for label in labels for name in predictors}


def summed_importances(design: str, truth: np.ndarray, n_trees: int, n_runs: int, seed: int) -> np.ndarray:
    """Importances of LCC added up over runs with rows of their own from one planted matrix."""
    n_features, n_labels = truth.shape
    total = np.zeros((n_labels, n_features + n_labels))
    for run in range(n_runs):
        rows = make_multilabel(**SIMULATED[design], truth=truth, random_state=seed + run)
        model = learner("LCC", n_trees, seed + run).set_params(keep_forests=False)
        total += model.fit(rows.X, rows.y).importances_
    return total


def n_draws(name: str) -> int:
    """Planted matrices that VI_prop is taken over: one where 20 labels reach the ceiling whatever the draw."""
    design = SIMULATED[name]
    below_ceiling = design["correlation"] == 0.8 and (design["signal"] == 0.5 or "dependence" in design)
    return 5 if design["n_labels"] == 5 or below_ceiling else 1


def planted_found(n_trees: int, n_runs: int, train: Dataset, test: Dataset, seed: int) -> dict[str, float]:  # noqa: ARG001
    """VI_prop: share of planted features among the first fifth, by importances averaged over the runs.

    Every split draws a planted matrix of its own. A label that fewer features than a fifth are planted for cannot reach
    1: the ceiling says how much all labels together could. Beside it, how many labels the heatmaps of section 6.5.2
    show dark in a row: those with an index of 50 or more of 100.
    """
    truth = np.asarray(make_multilabel(**SIMULATED[train.source], random_state=seed).truth)
    n_features, n_labels = truth.shape
    total = summed_importances(train.source, truth, n_trees, n_runs, seed)
    n_top = n_features // 5
    first = np.argsort(-total[:, :n_features], axis=1, kind="stable")[:, :n_top]
    hits = sum(truth[top, label].sum() for label, top in enumerate(first))
    dark = total[:, n_features:] >= 0.5 * total.max(axis=1, keepdims=True)
    possible = np.minimum(truth.astype(bool).sum(axis=0), n_top).sum()
    return {
        "VI_prop": float(hits / (n_top * n_labels)),
        "ceiling": float(possible / (n_top * n_labels)),
        "dark labels": float(dark.sum(axis=1).mean()),
    }


def swept(n_trees: int, train: Dataset, test: Dataset, seed: int) -> dict[str, float]:  # noqa: ARG001
    """Measures of binary relevance on validation rows for eight cuts by R2 (Table 7.4, Figure 7.4)."""
    part = stratified_parts(train.y, [2 / 3, 1 / 3], random_state=seed)
    fit, valid = train.rows(np.flatnonzero(part == 0)), train.rows(np.flatnonzero(part == 1))
    table = screening_sweep(fit, valid, learner("BR", n_trees, seed), empty="skip")
    values = {}
    for row in table.to_dict(orient="records"):
        cut = f"{row['percentile']:g} %"
        values[f"features at {cut}"] = row["n_features"]
        values |= {f"{name} at {cut}": row[name] for name in MEASURES}
    return values


def on_credit(method: str, n_trees: int, train: Dataset, test: Dataset, seed: int) -> dict[str, float]:
    """One classifier over the 15 % of the features with the highest R2 (Tables 7.5 and 7.7 to 7.9)."""
    screening = R2Screening(85).fit(train.X, train.y)
    X, X_test = screening.transform(train.X), screening.transform(test.X)
    kept = screening.get_support(indices=True)
    model = learner(method, n_trees, seed)
    if method != "LCC":
        return measured(test, model.fit(X, train.y).predict(X_test))
    predicted = model.set_params(keep_forests=False).fit_and_predict(X, train.y, X_test)
    top = np.argsort(-global_importance(model.importances_).to_numpy()[: len(kept)])[: max(1, len(kept) // 10)]
    areas = np.asarray(roc_auc_score(test.y, model.votes_, average=None), dtype=np.float64)
    return measured(test, predicted) | {
        "AUC": float(np.nanmean(areas)),
        "label share": float(model.label_share_.mean()),
        "best is a label": float((model.importances_.argmax(axis=1) >= len(kept)).sum()),
        "top tenth planted": float(train.truth[kept[top]].any(axis=1).mean()),
    }


def described(n_trees: int, train: Dataset, test: Dataset, seed: int) -> dict[str, float]:
    """The data of chapter 7 (Tables 7.1 to 7.3), and LCC on them label by label (Tables 7.7 to 7.9)."""
    part = stratified_parts(train.y, [2 / 3, 1 / 3], random_state=seed)
    known = label_statistics(train.y)
    screening = R2Screening(85).fit(train.X, train.y)
    sizes = (part == 0).sum(), (part == 1).sum(), test.n_samples, known.n_labels, train.n_features
    values = (*sizes, known.cardinality, known.density, known.n_distinct)
    found = {name: float(value) for name, value in zip(printed("7.1"), values, strict=True)}
    for name, all_of in (("accounts", np.asarray(train.y.sum(axis=1)).ravel()), ("R2", screening.r2_)):
        low, first, second, third, high = np.quantile(all_of, [0, 0.25, 0.5, 0.75, 1])
        summary = (low, first, second, all_of.mean(), third, high)
        found |= {f"{name} {which}": float(value) for which, value in zip(QUANTILES, summary, strict=True)}
    model = learner("LCC", n_trees, seed).set_params(keep_forests=False)
    kept = [f"X{column}" for column in screening.get_support(indices=True)]
    predicted = model.fit_and_predict(screening.transform(train.X), train.y, screening.transform(test.X))
    wrong = np.asarray(abs(test.y.astype(int) - predicted.astype(int)).mean(axis=0)).ravel()
    areas = np.asarray(roc_auc_score(test.y, model.votes_, average=None), dtype=np.float64)
    for label, (density, loss, area) in enumerate(zip(known.label_densities, wrong, areas, strict=True), 1):
        found |= {f"density {label}": float(density), f"HL {label}": float(loss), f"AUC {label}": float(area)}
    names = [f"label{label}" for label in range(1, known.n_labels + 1)]
    matrix = pd.DataFrame(model.importances_, index=names, columns=[*kept, *names])
    found |= named(model.importances_, [*kept, *names], names, relative_to="matrix", digits=4)
    found["threshold"] = float(cardinality_threshold(model.votes_, known.cardinality))
    owned = test.y.toarray()
    several = (owned.sum(axis=1) >= 2) & (np.asarray(predicted.sum(axis=1)).ravel() >= 2)
    shown = np.flatnonzero(several)[:4]  # clients of Figure 7.8
    for (client, label), has in np.ndenumerate(owned):
        if label + 1 in ROC_LABELS or client in shown:
            found[f"label {label + 1} of client {client}"] = float(has)
            found[f"votes {label + 1} of client {client}"] = float(model.votes_[client, label])
    for row in top_predictors(matrix, matrix.shape[1] // 10, per_label=False).itertuples():
        found[f"of all {row.predictor}"] = float(row.index)
    for row in top_predictors(matrix, 5).itertuples():
        found[f"of {row.label} {row.predictor}"] = float(row.index)
    return found


TITLES = {
    "3.1": "Table 3.1: emotions, mean (standard deviation), ours / the thesis's",
    "5.1": "Table 5.1: the data, ours / the thesis's",
    "chapter 5": "Chapter 5: four classifiers",
    "5.2": "Table 5.2: mean ranks over blocks of data set and measure",
    "5.4": "Tables 5.3 and 5.4: LCC against each other, one-sided, ours / the thesis's",
    "6.3": "Table 6.3: planted features found, of those that could be",
    "6.3 AR": "Table 6.3 and section 6.5.2, by labels as described and by autoregressive ones",
    "6.7": "Figures 5.3, 5.6, 5.9 and 6.7 to 6.11 in numbers",
    "6.4": "Table 6.4: mean ranks over designs",
    "6.5": "Table 6.5: mean ranks over designs and measures, ours / the thesis's",
    "7.4": "Chapter 7 on generated data: screening (Table 7.4, Figure 7.4)",
    "7.5": "Four classifiers on generated data (Table 7.5)",
    "7.5 thesis": "The thesis, on the bureau's data",
    "7.1": "Table 7.1: the data, ours / the thesis's",
    "7.2": "Tables 7.2 and 7.3: accounts per client and R2 of the features, ours / the thesis's",
    "7.7": "Table 7.7: LCC label by label, ours / the thesis's",
    "7.8": "Table 7.8: the tenth of the predictors that matter most over all labels, with their index",
    "7.9": "Table 7.9: the first five predictors of each label, with their index",
}


def findings(study: Study) -> str:
    """What was found beside what the thesis printed."""
    done = finished(study)
    runs = done.groupby("dataset", sort=False)["split"].nunique()
    note = f"Runs finished: {', '.join(f'{name} {count}' for name, count in runs.items())}."
    text = findings_under(study, "L-classifier chains", tables(study), TITLES, [note])
    return "\n".join([text, figure_3_2(done), beyond_tables(done)])


def finished(study: Study) -> pd.DataFrame:
    results = study.results()
    return results[results["status"] == "done"]


def tables(study: Study) -> dict[str, str]:
    """The tables of the study's page; those that the results are too few for are left out."""
    done = finished(study)
    chapter = {name: table for name in BEST_IS_LABEL if len(table := means(done, name, FOUR)) == len(FOUR)}
    made = {
        "3.1": table_3_1(done),
        "5.1": data_sets(done),
        "chapter 5": chapter_5(chapter),
        **ranks_5(chapter),
        "6.3": table_6_3(done),
        "6.3 AR": table_6_3_ar(done),
        "6.7": heatmaps_in_numbers(done),
        **ranks_6(done),
        **chapter_7(done),
        **chapter_7_tables(done),
    }
    return {name: table for name, table in made.items() if table}


def figures(study: Study) -> dict[str, Figure]:
    """The figures of the study's page; those that the results are too few for are left out."""
    done = finished(study)
    drawn: dict[str, Figure] = {}
    orders = done[done["method"] == "all orders"].filter(like="orders at ").dropna(axis="columns")
    if len(orders):
        losses = [float(name.removeprefix("orders at ")) for name in orders]
        drawn["orders"] = order_losses(np.repeat(losses, orders.iloc[0].astype(int)))
    for name in BEST_IS_LABEL:
        runs = runs_of(done, [name])
        if runs.groupby("method").size().reindex(FOUR, fill_value=0).min() >= 5:
            drawn[f"runs-{name}"] = titled(measures_by_method(runs[["method", *MEASURES]]), name)
    for name, matrix in index_matrices(done, "importances").items():
        drawn[f"heatmap-{name.replace(' ', '-')}"] = titled(heatmap(matrix), name)
        if name in BEST_IS_LABEL:
            drawn[f"densities-{name}"] = titled(importance_densities(matrix), name)
    chapter = {name: table for name in BEST_IS_LABEL if len(table := means(done, name, FOUR)) == len(FOUR)}
    if len(chapter) == 3:
        drawn["ranks"] = critical_difference(compare(blocks_of(chapter)))
    return drawn | chapter_6_figures(done) | chapter_7_figures(study, done)


def titled(figure: Figure, name: str) -> Figure:
    figure.suptitle(name, fontsize=11)
    return figure


def runs_of(done: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """The runs of the four classifiers on some data sets, in the order of the thesis."""
    runs = done[done["dataset"].isin(names) & done["method"].isin(FOUR)]
    return runs.sort_values(["dataset", "method"], key=lambda column: column.map([*names, *FOUR].index), kind="stable")


def index_matrices(done: pd.DataFrame, method: str) -> dict[str, pd.DataFrame]:
    """Importances that a method kept, labels x predictors, by data set."""
    made = {}
    for name, row in done[done["method"] == method].set_index("dataset").filter(like=" <- ").iterrows():
        pairs = row.dropna().astype(float)
        pairs.index = pd.MultiIndex.from_tuples([pair.split(" <- ") for pair in pairs.index])
        labels, predictors = (dict.fromkeys(pairs.index.get_level_values(level)) for level in (0, 1))
        features = [predictor for predictor in predictors if predictor not in labels]
        made[str(name)] = pairs.unstack().loc[list(labels), [*features, *labels]]
    return made


def heatmap(matrix: pd.DataFrame, relative_to: str = "label") -> Figure:
    """Importances as colours, its cells as one picture: thousands of them would weigh a megabyte."""
    figure = importance_heatmap(matrix, relative_to=relative_to)
    for mesh in figure.findobj(QuadMesh):
        mesh.set_rasterized(True)
    return figure


def chapter_6_figures(done: pd.DataFrame) -> dict[str, Figure]:
    """LCC over all designs (Figure 6.1), and the four classifiers on pairs of designs (6.2 to 6.6)."""
    drawn = {}
    lcc = done[(done["method"] == "LCC") & done["dataset"].isin(SIMULATED)]
    if lcc["dataset"].nunique() == len(SIMULATED):
        drawn["designs"] = by_design(lcc)
    for parameter, names in PAIRS.items():
        runs = runs_of(done, list(names))
        if runs["dataset"].nunique() == len(names):
            pair = runs[["dataset", "method", *MEASURES]]
            drawn[f"designs-{parameter}"] = measures_by_method(pair, group="dataset", share_y=True)
    return drawn


def by_design(lcc: pd.DataFrame) -> Figure:
    """Boxes of each measure for every design, those of one correlation and signal beside each other."""
    figure = Figure(figsize=(10, 11), layout="constrained")
    order = sorted(SIMULATED, key=lambda name: ("dependence" in SIMULATED[name], *settings(name)))
    groups = list(dict.fromkeys(settings(name) for name in order))
    look: dict[str, Any] = {"widths": 0.7, "patch_artist": True, "showfliers": False}
    for axes, measure in zip(figure.subplots(len(MEASURES), sharex=True), MEASURES, strict=True):
        runs = [lcc.loc[lcc["dataset"] == name, measure] for name in order]
        boxes = axes.boxplot(runs, medianprops={"color": "black"}, **look)["boxes"]
        for box, name in zip(boxes, order, strict=True):
            box.set(facecolor=COLOURS[groups.index(settings(name))], alpha=0.55)
        axes.set(ylabel=measure, ylim=(-0.04, 1.04))
        axes.grid(axis="y", linewidth=0.4)
    axes.set_xticks(range(1, len(order) + 1), [name.removeprefix("SIM") for name in order], rotation=90, fontsize=7)
    names = [f"rho = {rho}, t = {signal}" for rho, signal in groups]
    first = [boxes[[settings(name) for name in order].index(group)] for group in groups]
    figure.legend(first, names, loc="outside upper center", ncols=len(groups), frameon=False)
    return figure


def settings(name: str) -> tuple[float, float]:
    """Correlation and signal of a design, the columns of Figure 6.1."""
    return SIMULATED[name]["correlation"], SIMULATED[name]["signal"]


def chapter_7_figures(study: Study, done: pd.DataFrame) -> dict[str, Figure]:
    """The stand-in (Figures 7.1 to 7.3), its screening (7.4), and LCC on it (7.5 to 7.8)."""
    drawn: dict[str, Figure] = {}
    cuts = sweep_table(done)
    if cuts is not None:
        drawn["screening"] = screening_curves(cuts)
    row = done[(done["dataset"] == "credit") & (done["method"] == "chapter 7")]
    if row.empty or row.filter(like=" of client ").empty:
        return drawn
    data = study.datasets["credit"]()
    matrix, screening = index_matrices(done, "chapter 7")["credit"], R2Screening(85).fit(data.X, data.y)
    statistics = label_statistics(pd.DataFrame(data.y.toarray(), columns=matrix.index))
    kept = row.iloc[0].filter(like=" of client ").dropna().astype(float)
    has, votes = (clients(kept, start, len(matrix)) for start in ("label", "votes"))
    columns, shown = [label - 1 for label in ROC_LABELS], np.flatnonzero(~np.isnan(votes).any(axis=1))
    return drawn | {
        "accounts": label_counts(statistics),
        "account-densities": label_densities(statistics),
        "r2": r2_histogram(screening.r2_, cut=screening.cut_),
        "roc": roc_curves(has[:, columns], votes[:, columns], names=[f"label {label}" for label in ROC_LABELS]),
        "heatmap-credit-matrix": titled(heatmap(matrix, relative_to="matrix"), "relative to the largest importance"),
        "heatmap-credit-label": titled(heatmap(matrix), "relative to the largest of each label"),
        "global-credit": global_importance_bars(matrix),
        "clients": label_predictions(has, votes, shown, threshold=row["threshold"].item(), names=list(matrix.index)),
    }


def clients(kept: pd.Series, start: str, n_labels: int) -> np.ndarray:
    """Labels or votes of the test clients, NaN where only `ROC_LABELS` were kept."""
    own = kept[kept.index.str.startswith(start)]
    places = own.index.str.extract(r"(\d+) of client (\d+)").astype(int)
    values = np.full((places[1].max() + 1, n_labels), np.nan)
    values[places[1], places[0] - 1] = own.to_numpy()
    return values


def means(done: pd.DataFrame, dataset: str, methods: list[str]) -> pd.DataFrame:
    """Mean measures of the methods on one data set, over the runs that all of them finished."""
    chosen = done[(done["dataset"] == dataset) & done["method"].isin(methods)]
    chosen = chosen[chosen.groupby("split")["method"].transform("nunique") == len(methods)]
    return chosen.groupby("method", sort=False)[MEASURES].mean().reindex(methods).dropna()


def figure_3_2(done: pd.DataFrame) -> str:
    """Hamming loss over all orders."""
    row = done[done["method"] == "all orders"]
    if row.empty:
        return ""
    values = row.filter(like="HL ").iloc[0].dropna()
    shown = ", ".join(f"{name[3:]} {value:.3f}" for name, value in values.items())
    return f"## Figure 3.2: Hamming loss over all orders (emotions)\n\n{shown}. The order matters, as in the figure.\n"


def table_3_1(done: pd.DataFrame) -> str:
    """Binary relevance, the chain, and five orders; standard deviations where single runs are there."""
    thesis, thesis_spread = printed("3.1"), printed("3.1 sd")
    ours = means(done, "emotions", list(thesis.index))
    if ours.empty:
        return ""
    spread = done[done["dataset"] == "emotions"].groupby("method")[MEASURES].std()
    shown = pd.DataFrame("", index=ours.index, columns=MEASURES)
    for method, measure in product(ours.index, MEASURES):
        own = spread.loc[method, measure]
        mine = f"{ours.loc[method, measure]:.3f}" + ("" if pd.isna(own) else f" ({own:.3f})")
        theirs = f"{thesis.loc[method, measure]:.3f} ({thesis_spread.loc[method, measure]:.3f})"
        shown.loc[method, measure] = f"{mine} / {theirs}"
    difference = (ours - thesis.loc[ours.index]).round(3)
    allowed = pd.Series({name: 0.01 if name == "HL" else 0.025 for name in MEASURES})
    n_within = int((difference.abs() <= allowed).sum().sum())
    verdict = f"{n_within} of {difference.size} means lie within 0.01 (HL) and 0.025 (others) of the thesis's."
    return f"{markdown(shown)}\n\n{verdict}"


def data_sets(done: pd.DataFrame) -> str:
    """Sizes and label statistics, ours / the thesis's."""
    found = done[done["method"] == "data"].set_index("dataset")
    printed_values = printed("5.1")
    forms = {"N": ".0f", "L": ".0f", "P": ".0f", "LCard": ".2f", "LDens": ".2f", "Distinct": ".0f"}
    rows = {
        name: [f"{found.loc[name, of]:{form}} / {printed_values.loc[name, of]:{form}}" for of, form in forms.items()]
        for name in printed_values.index
        if name in found.index
    }
    return markdown(pd.DataFrame.from_dict(rows, orient="index", columns=list(forms))) if rows else ""


def chapter_5(chapter: dict[str, pd.DataFrame]) -> str:
    """The four classifiers on real data."""
    if not chapter:
        return ""
    whole = pd.concat({name: table.map("{:.3f}".format) for name, table in chapter.items()}).reset_index()
    whole.columns = ["data set", "method", *MEASURES]
    return markdown(whole.set_index("data set"))


def blocks_of(chapter: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """A block per data set and measure."""
    return signed(pd.concat([table.T for table in chapter.values()], ignore_index=True), len(chapter))


def ranks_5(chapter: dict[str, pd.DataFrame]) -> dict[str, str]:
    """Mean ranks over the blocks, Friedman's test and what follows it."""
    if not chapter:
        return {}
    blocks = blocks_of(chapter)
    shown = pd.DataFrame({"ours": average_ranks(blocks), "thesis": printed("5.2").loc["mean rank"]}).T.map(
        "{:.2f}".format
    )
    made = {"5.2": markdown(shown)}
    if len(blocks) >= 6:
        statistic, p_value = friedman_of_ranks(average_ranks(blocks), len(blocks))
        made["5.2"] += (
            f"\n\nFriedman's chi-square over {len(blocks)} blocks is {statistic:.2f}, p = {p_value:.5f} "
            "(thesis: 14.95, 0.00186)."
        )
        found = holm(blocks, control="LCC", alternative="less").set_index("second")
        by_bonferroni = found["p_value"] <= 0.05 / len(found)
        rows = [
            [f"LCC, {name}", f"{found.loc[name, 'z']:.3f} / {z:.3f}", f"{found.loc[name, 'p_value']:.4f} / {p:.4f}",
             yes(by_bonferroni[name]) + " / yes", yes(found.loc[name, "significant"]) + " / yes"]
            for name, z, p in printed("5.3").itertuples()
        ]  # fmt: skip
        columns = ["", "z", "p", "significant, Bonferroni-Dunn (5.3)", "significant, Holm (5.4)"]
        made["5.4"] = markdown(pd.DataFrame(rows, columns=columns).set_index(""))
    return made


def yes(held: bool) -> str:
    return "yes" if held else "no"


def signed(blocks: pd.DataFrame, n_tables: int) -> pd.DataFrame:
    """Blocks in which larger is better: Hamming losses change sign. Rounded as printed, so that ties are ties."""
    sign = np.where(np.tile(np.array(MEASURES) == "HL", n_tables), -1.0, 1.0)
    return blocks.round(3).mul(sign, axis=0)


def table_6_3(done: pd.DataFrame) -> str:
    """Share of planted features found, its ceiling, and how much of that was found; over several planted matrices."""
    if "VI_prop" not in done:
        return ""
    rows, thesis = [], printed("6.3")["VI_prop"]
    for name, design in DESIGNS.items():
        found = planted(done, name)
        reached = mean_or_dash(found["VI_prop"] / found["ceiling"], 3)
        rows.append([name, *design.values(), len(found), *of_matrices(found), reached, f"{thesis[name]:.3f}"])
    columns = ["design", "rows", "features", "labels", "correlation", "signal", "matrices", "VI_prop", "range",
               "ceiling", "of the ceiling", "thesis"]  # fmt: skip
    return markdown(pd.DataFrame(rows, columns=columns).set_index("design"))


def table_6_3_ar(done: pd.DataFrame) -> str:
    """The same for both dependences of strongly correlated labels, and how many labels each heatmap shows dark."""
    names = [name for name in AUTOREGRESSIVE if "VI_prop" in done and len(planted(done, AUTOREGRESSIVE[name]))]
    if not names:
        return ""
    rows, far, thesis = [], [], printed("6.3")["VI_prop"]
    for name in names:
        both = [planted(done, which) for which in (name, AUTOREGRESSIVE[name])]
        dark = [mean_or_dash(found["dark labels"], 1) for found in both]
        sizes = [DESIGNS[name][size] for size in ("n_samples", "n_features", "n_labels", "signal")]
        rows.append([name, *sizes, f"{thesis[name]:.3f}", mean_or_dash(both[0]["VI_prop"], 3), len(both[1]),
                     *of_matrices(both[1]), *dark])  # fmt: skip
        far.append([abs(found["VI_prop"].mean() - thesis[name]) for found in both])
    columns = ["design", "rows", "features", "labels", "signal", "thesis", "VI_prop, as described", "matrices, AR",
               "VI_prop, AR", "range, AR", "ceiling, AR", "dark labels, as described", "dark labels, AR"]  # fmt: skip
    many = [distances for name, distances in zip(names, far, strict=True) if DESIGNS[name]["n_labels"] == 20]
    said = [f"{', '.join(f'{value:.3f}' for value in np.mean(part, axis=0))} over {len(part)} designs {which}"
            for part, which in ((far, "in all"), (many, "of 20 labels")) if part]  # fmt: skip
    table = markdown(pd.DataFrame(rows, columns=columns).set_index("design"))
    return f"{table}\n\nMean distance from the thesis's VI_prop, as described and AR: {'; '.join(said)}."


def heatmaps_in_numbers(done: pd.DataFrame) -> str:
    """How many predictors are dark in a row of the heatmaps (an index of 50 or more), and how many pale (below 10)."""
    rows = []
    for name, matrix in index_matrices(done, "importances").items():
        n_features = matrix.shape[1] - matrix.shape[0]
        features, labels = matrix.to_numpy()[:, :n_features], matrix.to_numpy()[:, n_features:]
        dark = [f"{(part >= 50).sum(axis=1).mean():.1f}" for part in (features, labels)]
        rows.append([name, n_features, len(matrix), *dark, f"{(features < 10).mean():.2f}"])
    columns = ["data", "features", "labels", "dark features", "dark labels", "share of features that are pale"]
    return markdown(pd.DataFrame(rows, columns=columns).set_index("data")) if rows else ""


def planted(done: pd.DataFrame, name: str) -> pd.DataFrame:
    """The planted matrices of one design."""
    return done[(done["method"] == "VI_prop") & (done["dataset"] == name)]


def of_matrices(found: pd.DataFrame) -> list[str]:
    """Mean and range of VI_prop over the planted matrices, mean of the ceiling."""
    share = found["VI_prop"]
    spread = f"{share.min():.2f} to {share.max():.2f}" if len(found) > 1 else ""
    return [mean_or_dash(share, 3), spread, mean_or_dash(found["ceiling"], 3)]


def mean_or_dash(values: pd.Series, digits: int) -> str:
    return "-" if values.isna().all() else f"{values.mean():.{digits}f}"


def ranks_6(done: pd.DataFrame) -> dict[str, str]:
    """Mean ranks over designs, for low and high correlation."""
    groups = {f"rho = {rho}": [name for name in DESIGNS if DESIGNS[name]["correlation"] == rho] for rho in (0.1, 0.8)}
    groups["rho = 0.8, AR"] = list(AUTOREGRESSIVE.values())
    lines, rows, parts = [], {}, {}
    for group, names in groups.items():
        runs = {name: table for name in names if len(table := means(done, name, FOUR)) == 4}
        if len(runs) < 2:
            continue
        ranks = []
        for measure in MEASURES:
            block = pd.DataFrame({name: table[measure] for name, table in runs.items()}).T.round(3)
            place = rank_methods(block, larger_is_better=measure != "HL")
            ranks.append(place)
            test = friedman_of_ranks(place.mean(), len(block)) if len(block) >= 6 else None
            thesis = printed("6.4").loc[f"{measure}, rho = {SIMULATED[names[0]]['correlation']}"]
            shown = [f"{place.mean()[name]:.2f} / {thesis[name]:.2f}" for name in FOUR]
            p_value = "-" if test is None else f"{test[1]:.2g} / {thesis[P_VALUE]:.2g}"
            lines.append([f"{measure}, {group}", *shown, p_value])
        mean_ranks = pd.concat(ranks).groupby(level=0).mean()
        rows[group] = mean_ranks.mean()
        n_labels = mean_ranks.index.map(lambda name: SIMULATED[name]["n_labels"])
        parts |= {f"{group}, {n} labels": part.mean() for n, part in mean_ranks.groupby(n_labels)}
    if not rows:
        return {}
    ours = pd.DataFrame(rows).T[FOUR]
    thesis_ranks = printed("6.5").loc[[group.removesuffix(", AR") for group in ours.index]].set_axis(ours.index)
    counts = done[done["method"] == "LCC"].groupby("dataset")["split"].nunique()
    said = []
    for which, names in (("as described", DESIGNS), ("AR", AUTOREGRESSIVE.values())):
        found = [counts[name] for name in names if name in counts]
        if found:
            said.append(f"{len(found)} designs {which} with {span(found)} runs")
    return {
        "6.4": markdown(pd.DataFrame(lines, columns=["", *FOUR, P_VALUE]).set_index("")),
        "6.5": f"{beside(ours, thesis_ranks, digits=2)}\n\n{'; '.join(said)}. By number of labels:\n\n"
        + markdown(pd.DataFrame(parts).T[FOUR].map("{:.2f}".format)),
    }


def span(numbers: list[int]) -> str:
    return f"{min(numbers)}" if min(numbers) == max(numbers) else f"{min(numbers)} to {max(numbers)}"


def sweep_table(done: pd.DataFrame) -> pd.DataFrame | None:
    """Measures for each cut of the screening."""
    swept = done[(done["dataset"] == "credit") & (done["method"] == "screening")]
    if swept.empty:
        return None
    values = swept.iloc[0].filter(like=" at ").dropna()
    cuts = sorted({float(name.split(" at ")[1].removesuffix(" %")) for name in values.index})
    names = ["features", *(name for name in MEASURES if f"{name} at {cuts[0]:g} %" in values)]
    frame = pd.DataFrame([[values[f"{name} at {cut:g} %"] for name in names] for cut in cuts], columns=names)
    return frame.astype(float).rename(columns={"features": "n_features"}).assign(percentile=cuts)


def chapter_7(done: pd.DataFrame) -> dict[str, str]:
    """Screening and four classifiers on generated data of the credit bureau's shape."""
    ours, cuts = means(done, "credit", FOUR), sweep_table(done)
    if ours.empty or cuts is None:
        return {}
    table = cuts.set_index(cuts["percentile"].map("{:g} %".format)).drop(columns="percentile").T
    shown = table.map("{:.4f}".format)
    shown.loc["n_features"] = table.loc["n_features"].map("{:.0f}".format)
    seconds = done[done["dataset"] == "credit"].set_index("method")["cpu_seconds"]
    ranks = rank_methods(signed(ours.T.reset_index(drop=True), 1)).mean()
    full = ours.map("{:.4f}".format)
    full["CPU s"], full["rank"] = seconds.reindex(FOUR).map("{:.1f}".format), ranks.map("{:.2f}".format)
    return {
        "7.4": markdown(shown.rename_axis(None)),
        "7.5": markdown(full),
        "7.5 thesis": markdown(printed("7.5")),
    }


def chapter_7_tables(done: pd.DataFrame) -> dict[str, str]:
    """Tables 7.1 to 7.3 and 7.7 to 7.9 beside the thesis's, whose data are others."""
    row = done[(done["dataset"] == "credit") & (done["method"] == "chapter 7")]
    if row.empty:
        return {}
    values = row.iloc[0].drop(["dataset", "method", "split"]).dropna()
    thesis = printed("7.1").loc["thesis"]
    digits = {name: 2 if name.startswith("label ") else 0 for name in thesis.index}
    shown = {name: f"{values[name]:.{digits[name]}f} / {thesis[name]:.{digits[name]}f}" for name in thesis.index}
    described = ("accounts", "R2")
    quantiles = pd.DataFrame({which: {name: values[f"{name} {which}"] for name in described} for which in QUANTILES})
    of_label = [
        [name, f"{values[f'density {n}']:.3f} / {row['density']:.3f}", f"{values[f'HL {n}']:.3f} / {row['HL']:.3f}",
         *(f"{known(values, f'AUC {n}', scale)} / {scale(row['AUC']):.3f}" for scale in (float, gini))]
        for n, (name, row) in enumerate(printed("7.7").iterrows(), 1)
    ]  # fmt: skip
    first = [[name, indexed(values, f"of {name.replace(' ', '')} "), thesis]
             for name, thesis in printed("7.9")["predictors"].items()]  # fmt: skip
    return {
        "7.1": markdown(pd.DataFrame(shown, index=["ours / thesis"])),
        "7.2": beside(quantiles, printed("7.2")),
        "7.7": markdown(pd.DataFrame(of_label, columns=["", "density", "HL", "AUC", "Gini"]).set_index("")),
        "7.8": markdown(pd.DataFrame([["ours", indexed(values, "of all ")], ["thesis", printed("7.8").iat[0, 0]]],
                                     columns=["", "predictors"]).set_index("")),
        "7.9": markdown(pd.DataFrame(first, columns=["", "ours", "thesis"]).set_index("")),
    }  # fmt: skip


def gini(area: float) -> float:
    return 2 * area - 1


def known(values: pd.Series, name: str, scale: Callable[[float], float]) -> str:
    """A measure, or a dash where no test row has the label."""
    return f"{scale(values[name]):.3f}" if name in values else "-"


def indexed(values: pd.Series, start: str) -> str:
    """Predictors with their index, the most important first."""
    own = {name.removeprefix(start): float(value) for name, value in values.items() if str(name).startswith(start)}
    return ", ".join(f"{name} {own[name]:.3g}" for name in sorted(own, key=lambda name: -own[name]))


def beyond_tables(done: pd.DataFrame) -> str:
    """What the tables do not hold: which labels predict labels."""
    lines = []
    for name, thesis in BEST_IS_LABEL.items():
        own = done[(done["dataset"] == name) & (done["method"] == "LCC")]
        if len(own):
            best = own["best is a label"].mean()
            lines.append(f"{name}: another label is the best predictor of {best:.1f} of the labels (thesis: {thesis}).")
    extra = done[(done["dataset"] == "credit") & (done["method"] == "LCC")]
    if len(extra) and "AUC" in extra:
        row = extra.iloc[0]
        lines.append(
            f"Generated credit data, LCC: mean AUC {row['AUC']:.3f}; another label predicts "
            f"{row['best is a label']:.0f} of 15 best; labels have {row['label share']:.2f} of the importance; of the "
            f"first tenth of the features {row['top tenth planted']:.2f} are planted ones."
        )
    return "\n\n".join(lines) + "\n"


def beside(ours: pd.DataFrame, thesis: pd.DataFrame, digits: int = 3) -> str:
    """Ours / the thesis's, cell by cell."""
    shown = pd.DataFrame("", index=ours.index, columns=ours.columns)
    for row, column in product(ours.index, ours.columns):
        shown.loc[row, column] = f"{ours.loc[row, column]:.{digits}f} / {thesis.loc[row, column]:.{digits}f}"
    return markdown(shown)
