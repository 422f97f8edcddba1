"""Shapley values beside the shap package, and what thresholds, calibration and conformal sets do on unseen rows.

    python benchmarks/bench_explain.py [--data FOLDER] [--sets NAME ...] [--trees 30] [--draws 5]
        [--drawn NAME ...] [--keep FILE] [--write FILE]

CPU seconds of one thread. shap explains scikit-learn's multi-output forest on the same rows; its trees are as large,
and time is divided by rows and trees. All other tables learn from the train and validation parts and measure on the
test part. MAPIE controls the recall of a forest that does not know the hierarchy, on the same rows held back; it takes
labels whose probability is above one of 0, 0.01, ..., 0.99, so never those of probability 0, and where that is not
enough it warns that the risk cannot be controlled and returns what it has.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import f1_score

import ramify
from ramify.datasets import make_hierarchical, read
from ramify.ensemble import Calibrated, ConformalSets, ForestClassifier
from ramify.metrics import calibration_error, reliability_bins

FOLDERS = {"Diatoms": "others", "Enron_corr": "others", "ImCLEF07A": "others"}
SETS = ["cellcycle", "church", "derisi", "eisen", "expr", "gasch1", "seq", "spo"]
NAMES = [f"{name}_FUN" for name in SETS] + ["Diatoms", "Enron_corr"]
DRAWN = ["cellcycle_FUN", "Diatoms", "Enron_corr", "generated 0", "generated 1"]
LEVELS = (0.05, 0.1, 0.2)
CALIBRATED_ON = ("split", "oob")


class Parts(NamedTuple):
    """Rows to learn from and rows to measure on."""

    X: Any
    y: sparse.csr_array
    X_test: Any
    y_test: sparse.csr_array
    hierarchy: Any
    categorical: Any


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("RAMIFY_DATA", "../shared/data"), type=Path)
    parser.add_argument("--sets", nargs="*", default=NAMES)
    parser.add_argument("--trees", type=int, default=30)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--drawn", nargs="*", default=DRAWN, help="data sets whose parts are drawn anew")
    parser.add_argument("--keep", type=Path, default=None, help="keep what is measured, to go on where it was stopped")
    parser.add_argument("--write", type=Path, default=None, help="write what is printed to this file, too")
    arguments = parser.parse_args()
    printed = io.StringIO()
    with contextlib.redirect_stdout(_Both(sys.stdout, printed)):
        print("# Explained and promised predictions\n")
        print(__doc__.split("\n\n", 2)[2])
        print(
            f"Ramify {ramify.__version__}, Python {platform.python_version()}, {os.cpu_count()} cores, "
            f"load before the run {os.getloadavg()[0]:.1f}. Forests have {arguments.trees} trees unless told.\n"
        )
        kept = Kept(arguments.keep, f"{arguments.trees} trees, {arguments.draws} draws")
        print(kept.of("shap", lambda: compare_shap(load(arguments.data, "cellcycle_FUN"))))
        print(kept.of("explain", lambda: explain_predicted(load(arguments.data, "cellcycle_GO"))))
        parts = {name: load(arguments.data, name) for name in arguments.sets}
        for seed in (0, 1):
            parts[f"generated {seed}"] = generated(seed)
        promises(parts, arguments.trees, kept)
        drawn = {name: of for name, of in parts.items() if name in arguments.drawn}
        promises_over_draws(drawn, arguments.trees, arguments.draws, kept)
        decisions(parts, arguments.trees, kept)
    if arguments.write is not None:
        arguments.write.write_text(printed.getvalue(), encoding="utf-8")


def load(folder: Path, name: str) -> Parts:
    room = FOLDERS.get(name, name.rsplit("_", 1)[-1].lower())
    files = sorted((folder / "hmc" / room).glob(f"{name}[._]*"))
    if not files:
        raise SystemExit(f"There is no {name} in {folder}. Name the data folder with --data.")
    data = read(files)
    train = [data.part(part) for part in data.parts if part != "test"]
    test = data.part("test")
    return Parts(
        np.concatenate([part.X for part in train]),
        sparse.csr_array(sparse.vstack([sparse.csr_array(part.y) for part in train])),
        test.X,
        sparse.csr_array(test.y),
        data.hierarchy,
        data.categorical_features,
    )


def generated(seed: int) -> Parts:
    data = make_hierarchical(2000, n_features=30, random_state=seed)
    return Parts(data.X[:1000], data.y[:1000], data.X[1000:], data.y[1000:], data.hierarchy, None)


def forest_of(parts: Parts, n_trees: int, **parameters: Any) -> ForestClassifier:
    settings = {"hierarchy": parts.hierarchy, "categorical_features": parts.categorical, **parameters}
    return ForestClassifier(n_trees, random_state=0, n_jobs=1, **settings)


def cpu_seconds(work: Any) -> tuple[float, Any]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


class Kept:
    """What has been measured, by name, in a file that grows as measuring goes on; without one, in memory."""

    def __init__(self, file: Path | None, settings: str) -> None:
        self.file, self.settings = file, settings
        self.values: dict[str, Any] = {}
        if file is not None and file.exists():
            self.values = json.loads(file.read_text(encoding="utf-8"))

    def of(self, name: str, measure: Callable[[], Any]) -> Any:
        """What was measured, or what `measure` measures now."""
        key = f"{self.settings}: {name}"
        if key not in self.values:
            self.values[key] = measure()
            if self.file is not None:
                self.file.write_text(json.dumps(self.values, indent=1), encoding="utf-8")
        return self.values[key]


def compare_shap(parts: Parts) -> str:
    title = "## CPU time beside shap.TreeExplainer\n\n"
    try:
        import shap
    except ImportError:
        return title + "The shap package is not installed.\n"
    X, T = np.nan_to_num(np.asarray(parts.X, dtype=float)), np.nan_to_num(np.asarray(parts.X_test, dtype=float))
    theirs = RandomForestRegressor(2, max_features="sqrt", random_state=0, n_jobs=1).fit(X, parts.y.toarray())
    explainer = shap.TreeExplainer(theirs, feature_perturbation="tree_path_dependent")
    ours = ForestClassifier(100, hierarchy=parts.hierarchy, random_state=0, n_jobs=1).fit(X, parts.y)
    nodes = ours.trees_.arrays()["tree_nodes"]
    n_theirs = np.mean([tree.tree_.node_count for tree in theirs.estimators_])
    explainer.shap_values(T[:1], check_additivity=False)
    ratios = []
    for repeat in range(3):
        rows = T[64 * repeat : 64 * repeat + 64]
        slow = cpu_seconds(lambda rows=rows: explainer.shap_values(rows[:8], check_additivity=False))[0] / (8 * 2)
        fast = cpu_seconds(lambda rows=rows: ours.shap_values(rows))[0] / (64 * 100)
        ratios.append((slow / fast, slow, fast))
    ratio, slow, fast = sorted(ratios)[1]
    return (
        f"{title}cellcycle_FUN, {parts.y.shape[1]} labels, all of them, per row and tree (median of three): shap "
        f"{1e3 * slow:.2f} ms on trees of {n_theirs:.0f} nodes, Ramify {1e3 * fast:.3f} ms on trees of "
        f"{np.diff(nodes).mean():.0f}: **{ratio:.0f} times less**.\n"
    )


def explain_predicted(parts: Parts) -> str:
    forest = forest_of(parts, 100).fit(parts.X, parts.y)
    seconds, explanation = cpu_seconds(lambda: forest.shap_values(parts.X_test, labels="predicted", top=5))
    size = explanation.values.data.nbytes + explanation.values.indices.nbytes + explanation.values.indptr.nbytes
    whole = parts.X_test.shape[0] * parts.X_test.shape[1] * parts.y.shape[1] * 8
    return (
        "## Top features of every predicted label\n\n"
        f"cellcycle_GO, {parts.y.shape[1]} labels, 100 trees, {parts.X_test.shape[0]} test rows, five features of each "
        f"of the {explanation.values.shape[0]} labels above one half: **{seconds:.0f} CPU seconds** of one thread, "
        f"{size / 1e6:.1f} MB (all values would take {whole / 1e9:.1f} GB).\n"
    )


def promises(sets: dict[str, Parts], n_trees: int, kept: Kept) -> None:
    print("## Share of true labels missed, and labels per set\n")
    print("Missed share in percent / mean size of a set, on the published test part, beside one half as threshold.\n")
    heads = [f"{kind} {100 * level:g} %" for level in LEVELS for kind in ("split", "out of bag", "MAPIE, flat")]
    print("| data | labels per row | one half | " + " | ".join(heads) + " |")
    print("|" + "---|" * (len(heads) + 3))
    for name, parts in sets.items():
        measured = kept.of(f"promises {name}", lambda parts=parts: _promises(parts, n_trees))
        print("| " + " | ".join([name, *measured["cells"]]) + " |", flush=True)
    print()


def _promises(parts: Parts, n_trees: int) -> dict[str, Any]:
    """Cells of the table, and the shares that `ConformalSets` missed."""
    half = forest_of(parts, n_trees).fit(parts.X, parts.y).predict(parts.X_test)
    cells = [f"{parts.y_test.sum() / parts.y_test.shape[0]:.1f}", _cell(parts.y_test, half)]
    flat, shares = _flat(parts, n_trees), []
    for place, level in enumerate(LEVELS):
        for calibrate in CALIBRATED_ON:
            found = _sets(parts, n_trees, level, calibrate, 0)
            shares.append(missed(parts.y_test, found))
            cells.append(_cell(parts.y_test, found))
        cells.append(flat[place])
    return {"cells": cells, "shares": shares}


def promises_over_draws(sets: dict[str, Parts], n_trees: int, n_draws: int, kept: Kept) -> None:
    print("## The same over draws of the parts\n")
    print(
        "A promise is about the mean over draws of rows that are alike, not about one test part. Here learnt and test "
        f"rows are pooled and drawn anew {n_draws} times in the same sizes: mean share missed in percent, with its "
        "standard error. The last columns say how many standard deviations of one draw the published test part lies "
        "above that mean (far beyond 3 its rows are not like those learnt from, and the promise does not cover them), "
        "and the labels per row of both parts.\n"
    )
    heads = [f"{kind} {100 * level:g} %" for level in LEVELS for kind in ("split", "out of bag")]
    print("| data | " + " | ".join(heads) + " | published, split / out of bag 20 % | labels per row, learnt / test |")
    print("|" + "---|" * (len(heads) + 3))
    for name, parts in sets.items():
        measured = kept.of(f"draws {name}", lambda parts=parts: _over_draws(parts, n_trees, n_draws))
        shares, published = np.array(measured), np.array(kept.of(f"promises {name}", dict)["shares"])
        mean, deviation = shares.mean(axis=0), shares.std(axis=0, ddof=1)
        cells = [
            f"{100 * value:.1f} ± {100 * error:.1f}"
            for value, error in zip(mean, deviation / np.sqrt(n_draws), strict=True)
        ]
        above = (published - mean) / deviation
        cells.append(f"{above[-2]:+.1f} / {above[-1]:+.1f}")
        cells.append(" / ".join(f"{y.sum() / y.shape[0]:.2f}" for y in (parts.y, parts.y_test)))
        print("| " + " | ".join([name, *cells]) + " |", flush=True)
    print()


def _over_draws(parts: Parts, n_trees: int, n_draws: int) -> list[list[float]]:
    shares = []
    for draw in range(n_draws):
        drawn = redrawn(parts, draw)
        of_draw = []
        for level in LEVELS:
            for calibrate in CALIBRATED_ON:
                of_draw.append(missed(drawn.y_test, _sets(drawn, n_trees, level, calibrate, draw)))
        shares.append(of_draw)
    return shares


def redrawn(parts: Parts, seed: int) -> Parts:
    """The same rows in other parts of the same sizes."""
    X, y = np.concatenate([parts.X, parts.X_test]), sparse.csr_array(sparse.vstack([parts.y, parts.y_test]))
    order, n_learnt = np.random.RandomState(seed).permutation(X.shape[0]), parts.X.shape[0]
    learnt, test = order[:n_learnt], order[n_learnt:]
    return parts._replace(X=X[learnt], y=y[learnt], X_test=X[test], y_test=y[test])


def _sets(parts: Parts, n_trees: int, level: float, calibrate: str, seed: int) -> sparse.csr_array:
    model = ConformalSets(forest_of(parts, n_trees), alpha=level, calibrate=calibrate, random_state=seed)
    return model.fit(parts.X, parts.y).predict(parts.X_test)


def _flat(parts: Parts, n_trees: int) -> list[str]:
    """Recall controlled by MAPIE at each level for a forest without hierarchy, a quarter of the rows held back."""
    try:
        from mapie.risk_control import MultiLabelClassificationController
    except ImportError:
        return ["not installed"] * len(LEVELS)
    order = np.random.RandomState(0).permutation(parts.X.shape[0])
    n_held = int(np.ceil(0.25 * len(order)))
    held, inside = np.sort(order[:n_held]), np.sort(order[n_held:])
    held = held[np.diff(parts.y.indptr)[held] > 0]  # MAPIE refuses rows without labels
    forest = forest_of(parts, n_trees, hierarchy=None).fit(parts.X[inside], parts.y[inside])
    controller = MultiLabelClassificationController(
        forest.predict_proba, risk="recall", method="crc", target_level=[1 - level for level in LEVELS]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        controller.calibrate(parts.X[held], parts.y[held].toarray().astype(int))
        sets = controller.predict(parts.X_test)
    return [_cell(parts.y_test, sparse.csr_array(sets[:, :, place].astype(int))) for place in range(len(LEVELS))]


def missed(truth: sparse.csr_array, sets: sparse.csr_array) -> float:
    """Mean share of a row's true labels that its set lacks."""
    counts = np.asarray(truth.sum(axis=1)).ravel()
    found = np.asarray(truth.multiply(sets).sum(axis=1)).ravel()
    return float(np.where(counts > 0, 1 - found / np.maximum(counts, 1), 0.0).mean())


def _cell(truth: sparse.csr_array, sets: sparse.csr_array) -> str:
    return f"{100 * missed(truth, sets):.1f} / {sets.sum() / sets.shape[0]:.0f}"


def decisions(sets: dict[str, Parts], n_trees: int, kept: Kept) -> None:
    print("## Calibration error and F1\n")
    print(
        "Expected calibration error over ten bins, all labels pooled, in percent; F1 on unseen rows in percent (labels "
        "that the test part has), at one half and with thresholds chosen out of bag.\n"
    )
    print(
        "| data | error before | isotonic | sigmoid | macro F1 at one half | threshold='f1' | micro F1 at one half | "
        "threshold='f1' | threshold='cardinality' |"
    )
    print("|" + "---|" * 9)
    for name, parts in sets.items():
        cells = kept.of(f"decisions {name}", lambda parts=parts: _decisions(parts, n_trees))
        print("| " + " | ".join([name, *cells]) + " |", flush=True)
    print()


def _decisions(parts: Parts, n_trees: int) -> list[str]:
    truth = parts.y_test.toarray()
    used = truth.any(axis=0)
    forest = forest_of(parts, n_trees).fit(parts.X, parts.y)
    errors = [calibration_error(reliability_bins(truth, forest.predict_proba(parts.X_test)))]
    for method in ("isotonic", "sigmoid"):
        model = Calibrated(forest_of(parts, n_trees), method=method).fit(parts.X, parts.y)
        errors.append(calibration_error(reliability_bins(truth, model.predict_proba(parts.X_test))))
    predicted = {"half": forest.predict(parts.X_test)}
    for rule in ("f1", "cardinality"):
        predicted[rule] = forest_of(parts, n_trees, threshold=rule).fit(parts.X, parts.y).predict(parts.X_test)

    def f1(rule: str, average: str) -> str:
        found = predicted[rule].toarray()[:, used]
        return f"{100 * f1_score(truth[:, used], found, average=average, zero_division=0):.1f}"

    cells = [*(f"{100 * error:.2f}" for error in errors), f1("half", "macro"), f1("f1", "macro")]
    return [*cells, f1("half", "micro"), f1("f1", "micro"), f1("cardinality", "micro")]


class _Both(io.TextIOBase):
    """Writes to two places at once."""

    def __init__(self, *places: Any) -> None:
        self.places = places

    def write(self, text: str) -> int:
        for place in self.places:
            place.write(text)
        return len(text)

    def flush(self) -> None:
        for place in self.places:
            place.flush()


if __name__ == "__main__":
    main()
