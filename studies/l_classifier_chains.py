"""L-classifier chains: Figure 3.2, Tables 3.1, 5.2-5.4 and 6.3-6.5, and the pipeline of chapter 7 of the thesis.

Real data (emotions, scene, yeast): 30 random splits of 75/25, forests of 200 trees. Simulations: 32 designs, 30 runs,
forests of 50 trees. The credit bureau's data are not public; chapter 7 runs on generated data of its shape, smaller.
Votes become label sets by the threshold of section 3.3.1, chosen on the test predictions; rows without a predicted
label do not count in precision, as in the thesis. Runs are taken in turn, so a stopped study covers all data sets.
"""

from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import ShuffleSplit

from ramify.chains import (
    BinaryRelevance,
    ClassifierChain,
    EnsembleOfChains,
    LClassifierChains,
    R2Screening,
    global_importance,
    screening_sweep,
    stratified_parts,
)
from ramify.chains.chain_order import OrderErrors
from ramify.compare import average_ranks, friedman, holm, rank_methods
from ramify.datasets import Dataset, make_multilabel, read_mulan
from ramify.ensemble import ForestClassifier
from ramify.features import Features
from ramify.metrics import auroc, label_set_measures
from ramify.study import Study, available, data_folder
from ramify.study.cells import Cell

MEASURES = ["HL", "CL", "PR", "RE", "F2", "AC"]
FOUR = ["BR", "CC", "LCC", "ECC"]
ONE_CHAIN = {"CC cor": "correlation", "CC rfimp": "importance", "CC relieff": "relief", "CC occ": "oob",
             "CC cancor": "canonical"}  # fmt: skip
TABLE_3_1 = pd.DataFrame(
    [[.182, .313, .758, .619, .681, .541], [.181, .322, .746, .642, .690, .559], [.182, .324, .743, .642, .689, .560],
     [.182, .320, .743, .641, .688, .558], [.182, .329, .735, .650, .690, .562], [.183, .330, .730, .646, .686, .561],
     [.181, .334, .738, .650, .691, .565]],
    index=["BR", "CC", *ONE_CHAIN], columns=MEASURES,
)  # fmt: skip
TABLE_5_2 = {"BR": 3.222, "CC": 2.556, "LCC": 1.583, "ECC": 2.639}
BEST_IS_LABEL = {"emotions": 4, "scene": 3, "yeast": 13}
DESIGNS = {
    f"SIM{number:02d}": {"n_samples": n, "n_features": p, "n_labels": l, "correlation": rho, "signal": t}
    for number, (n, p, l, rho, t) in enumerate(product((200, 1000), (50, 100), (5, 20), (0.1, 0.8), (0.5, 5.0)), 1)
}
TABLE_6_3 = dict(
    zip(
        DESIGNS,
        [.800, .880, .640, .760, .940, .895, .670, .575, .980, 1.000, .620, .860, .910, .942, .582, .588,
         .920, .940, .720, .900, .820, .830, .565, .700, .790, .950, .720, .920, .928, .890, .640, .655],
        strict=True,
    )
)  # fmt: skip
TABLE_6_5 = pd.DataFrame(
    [[2.70, 2.97, 1.85, 2.48], [2.26, 2.98, 1.85, 2.91]], index=["rho = 0.1", "rho = 0.8"], columns=FOUR
)
CREDIT_DENSITIES = [.232, .453, .144, .157, .238, .109, .066, .110, .003, .004, .021, .026, .005, .007,
                    .003]  # fmt: skip
TABLE_7_5 = pd.DataFrame(
    [[.0861, .2441, .7156, .3489, .4691, .3291], [.0867, .2575, .6893, .3651, .4774, .3460],
     [.0944, .2737, .5925, .4809, .5309, .4175], [.0962, .2627, .5840, .4944, .5355, .4164]],
    index=FOUR, columns=MEASURES,
)  # fmt: skip


class ChainStudy(Study):
    """Only the cells of the thesis's designs, run by run: not every method belongs to every data set."""

    n_runs: dict[tuple[str, str], int]

    def cells(self) -> list[Cell]:
        """The cells, all data sets of one run before the next run."""
        wanted = [cell for cell in super().cells() if cell.split < self.n_runs.get((cell.dataset, cell.method), 0)]
        return sorted(wanted, key=lambda cell: cell.split)


def study(data: Path | None, folder: Path, quick: bool = False) -> Study:
    """The designs of sections 3.1, 3.2, 5.3, 6.4 and 7.3."""
    names = ["emotions"] if quick else ["emotions", "scene", "yeast"]
    parts = {"emotions": ["emotions.arff"], "scene": ["scene-train.arff", "scene-test.arff"], "yeast": ["yeast.arff"]}
    wanted = {name: [f"multilabel/{file}" for file in (*parts[name], f"{name}.xml")] for name in names}
    files, missing = available(data_folder(data), wanted)
    designs = ["SIM01", "SIM02", "SIM03", "SIM04"] if quick else list(DESIGNS)
    credit_rows, credit_features = (400, 60) if quick else (8000, 564)
    datasets: dict[str, Any] = {name: partial(read_mulan, file[:-1], labels=file[-1]) for name, file in files.items()}
    datasets |= {name: partial(simulated, name, seed=number) for number, name in enumerate(designs)}
    datasets["credit"] = partial(credit, credit_rows, credit_features)
    trees, few = (10, 5) if quick else (200, 50)
    methods = {name: partial(on_real_data, name, trees, few) for name in [*FOUR, *ONE_CHAIN]}
    methods |= {"all orders": partial(all_orders, few), "VI_prop": partial(planted_found, few, 2 if quick else 30)}
    methods["screening"] = partial(sweep, few)
    n_runs = 2 if quick else 30
    result = ChainStudy(
        datasets,
        methods,
        splits=ShuffleSplit(n_runs, test_size=0.25, random_state=0),
        folder=folder,
        missing=missing,
        losses=["HL"],
        gains=[name for name in MEASURES if name != "HL"],
    )
    result.n_runs = {(name, method): n_runs for name in [*files, *designs] for method in FOUR}
    result.n_runs |= {("emotions", method): n_runs for method in ONE_CHAIN}
    result.n_runs |= {(name, "VI_prop"): 1 for name in designs} | {("emotions", "all orders"): 1}
    result.n_runs |= {("credit", method): 1 for method in [*FOUR, "screening"]}
    return result


def simulated(name: str, seed: int) -> Dataset:
    """A design with its planted matrix; every run generates rows of its own from it."""
    return replace(make_multilabel(**DESIGNS[name], random_state=seed), source=name)


def credit(n_rows: int, n_features: int) -> Dataset:
    """Rows of the shape of chapter 7: 15 labels with the densities of Table 7.7, few of many features relevant."""
    data = make_multilabel(n_rows, n_features=n_features, n_labels=15, density=CREDIT_DENSITIES, correlation=0.15,
                           signal=0.4, relevance=0.02, random_state=7)  # fmt: skip
    return replace(data, source="credit")


def learner(method: str, n_trees: int, seed: int) -> Any:
    """The four classifiers of chapters 5 to 7 and the one-chain orders of chapter 3."""
    forest = ForestClassifier(n_trees, n_jobs=1)
    made = {
        "BR": BinaryRelevance(forest),
        "CC": ClassifierChain(forest),
        "ECC": EnsembleOfChains(forest, threshold="batch"),
        "LCC": LClassifierChains(forest, threshold="batch"),
    }
    model = ClassifierChain(forest, order=ONE_CHAIN[method], n_jobs=1) if method in ONE_CHAIN else made[method]
    return model.set_params(random_state=seed)


def on_real_data(method: str, n_trees: int, n_few: int, train: Dataset, test: Dataset, seed: int) -> dict[str, float]:
    """Measures of one classifier on one split, on fresh rows of a design, or on the screened credit data."""
    if train.source in DESIGNS:
        n_trees = n_few
        fresh = {**DESIGNS[train.source], "truth": train.truth}
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
    return {f"HL {name}": float(value) for name, value in zip(names, values, strict=True)}


def planted_found(n_trees: int, n_runs: int, train: Dataset, test: Dataset, seed: int) -> dict[str, float]:  # noqa: ARG001
    """VI_prop: share of planted features among the first fifth, by importances averaged over the runs."""
    n_features, n_labels = train.truth.shape
    total = np.zeros((n_labels, n_features))
    for run in range(n_runs):
        rows = make_multilabel(**DESIGNS[train.source], truth=train.truth, random_state=seed + run)
        model = learner("LCC", n_trees, seed + run).set_params(keep_forests=False)
        total += model.fit(rows.X, rows.y).importances_[:, :n_features]
    n_top = n_features // 5
    hits = sum(train.truth[np.argsort(-row, kind="stable")[:n_top], label].sum() for label, row in enumerate(total))
    return {"VI_prop": float(hits / (n_top * n_labels))}


def sweep(n_trees: int, train: Dataset, test: Dataset, seed: int) -> dict[str, float]:  # noqa: ARG001
    """Measures of binary relevance on validation rows for eight cuts by R2 (Table 7.4, Figure 7.4)."""
    part = stratified_parts(train.y, [2 / 3, 1 / 3], random_state=seed)
    fit, valid = train.rows(np.flatnonzero(part == 0)), train.rows(np.flatnonzero(part == 1))
    table = screening_sweep(fit.X, fit.y, valid.X, valid.y, estimator=learner("BR", n_trees, seed), empty="skip")
    values = {}
    for row in table.to_dict(orient="records"):
        cut = f"{row['percentile']:g} %"
        values[f"features at {cut}"] = row["n_features"]
        values |= {f"{name} at {cut}": row[name] for name in ("HL", "F2", "AC")}
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
    areas = np.asarray(auroc(test.y, model.votes_, average=None), dtype=np.float64)
    return measured(test, predicted) | {
        "AUC": float(np.nanmean(areas)),
        "label share": float(model.label_share_.mean()),
        "best is a label": float((model.importances_.argmax(axis=1) >= len(kept)).sum()),
        "top tenth planted": float(train.truth[kept[top]].any(axis=1).mean()),
    }


def findings(study: Study) -> str:
    """What was found beside what the thesis printed."""
    results = study.results()
    done = results[results["status"] == "done"]
    runs = done.groupby("dataset", sort=False)["split"].nunique()
    parts = ["# L-classifier chains", ""]
    if study.missing:
        parts += [f"Not found, and left out: {', '.join(study.missing)}.", ""]
    parts += [f"Runs finished: {', '.join(f'{name} {count}' for name, count in runs.items())}.", ""]
    sections = (figure_3_2, table_3_1, chapter_5, table_6_3, table_6_5, chapter_7)
    return "\n".join([*parts, *(section(done) for section in sections)])


def means(done: pd.DataFrame, dataset: str, methods: list[str]) -> pd.DataFrame:
    """Mean measures of the methods on one data set, over the runs that all of them finished."""
    chosen = done[(done["dataset"] == dataset) & done["method"].isin(methods)]
    n_methods = chosen.groupby("split")["method"].transform("nunique")
    chosen = chosen[n_methods == len(methods)]
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
    """Binary relevance, the chain, and five orders."""
    ours = means(done, "emotions", list(TABLE_3_1.index))
    if ours.empty:
        return ""
    difference = ours - TABLE_3_1.loc[ours.index]
    allowed = pd.Series({name: 0.01 if name == "HL" else 0.025 for name in MEASURES})
    n_within = int((difference.abs() <= allowed).sum().sum())
    verdict = f"{n_within} of {difference.size} means lie within 0.01 (HL) and 0.025 (others) of the thesis's."
    return f"## Table 3.1: emotions, ours / the thesis's\n\n{beside(ours, TABLE_3_1)}\n\n{verdict}\n"


def chapter_5(done: pd.DataFrame) -> str:
    """The four classifiers on real data, their ranks, and what predicts labels best."""
    tables = {name: means(done, name, FOUR) for name in BEST_IS_LABEL}
    tables = {name: table for name, table in tables.items() if len(table) == len(FOUR)}
    if not tables:
        return ""
    lines = ["## Chapter 5: four classifiers", ""]
    for name, table in tables.items():
        lines += [f"{name}:", "", markdown(table.round(3)), ""]
        ahead = table.loc[["LCC", "ECC"]].min() > table.loc[["BR", "CC"]].max()
        better = [measure for measure in ("RE", "F2", "AC") if ahead[measure]]
        best = done[(done["dataset"] == name) & (done["method"] == "LCC")]["best is a label"].mean()
        lines += [
            f"LCC and ECC above BR and CC in: {', '.join(better) or 'none'} (thesis: RE, F2, AC). Another label is the "
            f"best predictor of {best:.1f} of the labels (thesis: {BEST_IS_LABEL[name]}).", "",
        ]  # fmt: skip
    blocks = signed(pd.concat([table.T for table in tables.values()], ignore_index=True), len(tables))
    ranks = average_ranks(blocks)
    shown = pd.DataFrame({"ours": ranks.round(3), "thesis": pd.Series(TABLE_5_2)}).T
    lines += [f"Table 5.2, mean ranks over {len(blocks)} blocks:", "", markdown(shown), ""]
    if len(blocks) >= 6:
        test = friedman(blocks)
        post = holm(blocks, control="LCC", alternative="less").round(4)
        lines += [f"Friedman chi-square {test.statistic:.2f}, p = {test.p_value:.5f} (thesis: 14.95, 0.00186). Tables "
                  "5.3 and 5.4, one-sided, LCC against the others:", "", markdown(post), ""]  # fmt: skip
    return "\n".join(lines)


def signed(blocks: pd.DataFrame, n_tables: int) -> pd.DataFrame:
    """Blocks in which larger is better: Hamming losses change sign. Rounded as printed, so that ties are ties."""
    sign = np.where(np.tile(np.array(MEASURES) == "HL", n_tables), -1.0, 1.0)
    return blocks.round(3).mul(sign, axis=0)


def table_6_3(done: pd.DataFrame) -> str:
    """Share of planted features found."""
    found = done[done["method"] == "VI_prop"].set_index("dataset")["VI_prop"] if "VI_prop" in done else pd.Series()
    if found.empty:
        return ""
    frame = pd.DataFrame([DESIGNS[name] for name in found.index], index=found.index)
    frame["VI_prop"], frame["thesis"] = found.round(3), [TABLE_6_3[name] for name in found.index]
    by = frame.groupby(["correlation", "signal"])[["VI_prop", "thesis"]].mean().round(3).reset_index()
    low, high = min(TABLE_6_3.values()), max(TABLE_6_3.values())
    n_inside = int(frame["VI_prop"].between(low, high).sum())
    verdict = f"{n_inside} of {len(frame)} lie within the thesis's range of {low} to {high}."
    title = "## Table 6.3: planted features found"
    summary = f"{verdict} Means by correlation and signal:"
    return "\n\n".join([title, markdown(frame), summary, markdown(by.set_index("correlation"))]) + "\n"


def table_6_5(done: pd.DataFrame) -> str:
    """Mean ranks over designs and measures, for low and high correlation."""
    lines = ["## Tables 6.4 and 6.5: mean ranks over designs", ""]
    rows = {}
    for rho in (0.1, 0.8):
        tables = [means(done, name, FOUR) for name, design in DESIGNS.items() if design["correlation"] == rho]
        tables = [table for table in tables if len(table) == len(FOUR)]
        if len(tables) < 2:
            continue
        ranks = []
        for measure in MEASURES:
            block = pd.DataFrame([table[measure] for table in tables]).reset_index(drop=True).round(3)
            place = rank_methods(block, larger_is_better=measure != "HL")
            ranks.append(place.mean())
            if len(block) >= 6:
                test = friedman(block)
                shown = ", ".join(f"{name} {rank:.2f}" for name, rank in place.mean().items())
                lines += [f"- {measure}, rho = {rho}: {shown}; Friedman {test.statistic:.2f}, p = {test.p_value:.4f}"]
        rows[f"rho = {rho}"] = pd.DataFrame(ranks).mean()
    if not rows:
        return ""
    ours = pd.DataFrame(rows).T[FOUR]
    return "\n".join([*lines, "", "Table 6.5, ours / the thesis's:", "", beside(ours, TABLE_6_5, digits=2), ""])


def chapter_7(done: pd.DataFrame) -> str:
    """Screening, four classifiers and importances on generated data of the credit bureau's shape."""
    ours = means(done, "credit", FOUR)
    swept = done[(done["dataset"] == "credit") & (done["method"] == "screening")]
    if ours.empty or swept.empty:
        return ""
    values = swept.iloc[0].filter(like=" at ").dropna()
    cuts = list(dict.fromkeys(name.split(" at ")[1] for name in values.index))
    names = list(dict.fromkeys(name.split(" at ")[0] for name in values.index))
    table = pd.DataFrame([[values[f"{name} at {cut}"] for cut in cuts] for name in names], index=names, columns=cuts)
    seconds = done[done["dataset"] == "credit"].set_index("method")["cpu_seconds"]
    ranks = rank_methods(signed(ours.T.reset_index(drop=True), 1)).mean()
    extra = done[(done["dataset"] == "credit") & (done["method"] == "LCC")].iloc[0]
    full = ours.round(4).assign(**{"CPU s": seconds.reindex(FOUR).round(1), "rank": ranks.round(2)})
    return "\n".join([
        "## Chapter 7 on generated data", "", "Screening (Table 7.4, Figure 7.4):", "", markdown(table.round(4)), "",
        "Four classifiers (Table 7.5):", "", markdown(full), "", "The thesis, on the bureau's data:", "",
        markdown(TABLE_7_5), "",
        f"LCC: mean AUC {extra['AUC']:.3f}; another label predicts {extra['best is a label']:.0f} of 15 best; "
        f"labels have {extra['label share']:.2f} of the importance; of the first tenth of the features, "
        f"{extra['top tenth planted']:.2f} are planted ones.", "",
    ])  # fmt: skip


def beside(ours: pd.DataFrame, thesis: pd.DataFrame, digits: int = 3) -> str:
    """Ours / the thesis's, cell by cell."""
    shown = pd.DataFrame("", index=ours.index, columns=ours.columns)
    for row, column in product(ours.index, ours.columns):
        shown.loc[row, column] = f"{ours.loc[row, column]:.{digits}f} / {thesis.loc[row, column]:.{digits}f}"
    return markdown(shown)


def markdown(frame: pd.DataFrame) -> str:
    """A frame as a Markdown table."""
    header = [str(frame.index.name or ""), *map(str, frame.columns)]
    rows = [[str(value) for value in row] for row in frame.itertuples()]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, ["---"] * len(header), *rows])
