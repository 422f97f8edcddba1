"""Every estimator with what it is given and what it gives, and small data sets drawn by Hypothesis."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import has_fit_parameter

from ramify import Hierarchy, chains, ensemble, ranking, selection
from ramify.models.values import PUBLIC_MODULES

N_ROWS, N_FEATURES, N_LABELS = 24, 5, 3
NAMES = [f"f{j}" for j in range(N_FEATURES)]
LABELS = Hierarchy.from_paths(["a/b", "c"])
LABELS_ABOVE = [LABELS.index(name) if name != "a/b" else LABELS.index("a") for name in LABELS.names]
"""An unknown parent and a known child would contradict each other in half of the draws."""
TERMS = Hierarchy(NAMES, np.array([[0, 1], [0, 2], [2, 3]]))
FOREST = ensemble.ForestClassifier(3, random_state=0)


@dataclass(frozen=True)
class Case:
    """An estimator: how it is made, the target it takes and which features."""

    make: Callable[[], Any]
    target: str
    features: str = "nominal"
    repeats: bool = False
    """Whether weight two is promised to be a repeated row."""
    alike: bool = False
    """Whether all weights but zero must be the same."""

    @property
    def takes_weights(self) -> bool:
        return has_fit_parameter(self.make(), "sample_weight")


def forest(of: type, **parameters: Any) -> Callable[[], Any]:
    return lambda: of(3, random_state=0, **parameters)


WHOLE = {"bootstrap": False, "max_features": None}


def made(of: type, **parameters: Any) -> Callable[[], Any]:
    return lambda: of(ensemble.ForestClassifier(3, random_state=0, **WHOLE), random_state=0, **parameters)


CASES = {
    "ForestClassifier of classes": Case(forest(ensemble.ForestClassifier, oob_score=True), "classes"),
    "ForestClassifier of labels": Case(forest(ensemble.ForestClassifier), "labels"),
    "ForestClassifier of a hierarchy": Case(
        forest(ensemble.ForestClassifier, hierarchy=LABELS, oob_score=True), "hierarchy"
    ),
    "ForestClassifier without bootstrap": Case(forest(ensemble.ForestClassifier, **WHOLE), "labels", repeats=True),
    "ForestClassifier of random splits": Case(
        forest(ensemble.ForestClassifier, splitter="random", bootstrap=False), "labels"
    ),
    "ForestClassifier of bins": Case(forest(ensemble.ForestClassifier, max_bins=3), "labels"),
    "ForestRegressor": Case(forest(ensemble.ForestRegressor, oob_score=True), "numbers"),
    "ForestRegressor without bootstrap": Case(forest(ensemble.ForestRegressor, **WHOLE), "numbers", repeats=True),
    "BoostedClassifier": Case(forest(ensemble.BoostedClassifier, min_samples_leaf=2, early_stopping=None), "labels"),
    "BoostedRegressor": Case(forest(ensemble.BoostedRegressor, min_samples_leaf=2, early_stopping=None), "numbers"),
    "NeighborsClassifier": Case(lambda: ensemble.NeighborsClassifier(3, forest=FOREST, random_state=0), "labels"),
    "KernelClassifier": Case(lambda: ensemble.KernelClassifier(random_state=0), "labels"),
    "KernelClassifier of an unknown hierarchy": Case(
        lambda: ensemble.KernelClassifier(hierarchy=LABELS, random_state=0), "unknown hierarchy"
    ),
    "KernelRegressor": Case(lambda: ensemble.KernelRegressor(random_state=0), "unknown numbers"),
    "NetworkClassifier": Case(
        lambda: ensemble.NetworkClassifier(2, n_units=8, n_epochs=3, random_state=0), "unknown labels"
    ),
    "Portfolio": Case(lambda: ensemble.Portfolio({"forest": FOREST}, cv=2, random_state=0), "labels", "numbers"),
    "Calibrated": Case(lambda: ensemble.Calibrated(FOREST), "labels", "numbers"),
    "ConformalSets": Case(
        lambda: ensemble.ConformalSets(FOREST, alpha=0.3, random_state=0), "labels", "numbers", alike=True
    ),
    "LabelRankingForest": Case(forest(ensemble.LabelRankingForest), "rankings"),
    "MixedForest": Case(forest(ensemble.MixedForest, oob_score=True), "mixed"),
    "MixedForest without bootstrap": Case(forest(ensemble.MixedForest, **WHOLE), "mixed", repeats=True),
    **{
        f"{made.__name__} of unknown {target}": Case(forest(made, **options), f"unknown {target}")
        for made, options in (
            (ensemble.ForestClassifier, {"oob_score": True}),
            (ensemble.ForestRegressor, {"oob_score": True}),
            (ensemble.BoostedClassifier, {"min_samples_leaf": 2, "early_stopping": None}),
            (ensemble.BoostedRegressor, {"min_samples_leaf": 2, "early_stopping": None}),
        )
        for target in ("numbers" if "Regressor" in made.__name__ else "labels",)
    },
    "ForestClassifier of an unknown hierarchy": Case(
        forest(ensemble.ForestClassifier, hierarchy=LABELS, oob_score=True), "unknown hierarchy"
    ),
    "MixedForest of unknown cells": Case(forest(ensemble.MixedForest, oob_score=True), "unknown mixed"),
    "ForestRanker": Case(
        lambda: ranking.ForestRanker(FOREST, scores=["genie3", "symbolic", "permutation", "genie3_oob"]),
        "labels",
    ),
    "ReliefRanker of classes": Case(lambda: ranking.ReliefRanker(3, random_state=0), "classes"),
    "ReliefRanker of labels": Case(lambda: ranking.ReliefRanker(3, random_state=0, per_label=True), "labels"),
    "ReliefRanker of a hierarchy": Case(lambda: ranking.ReliefRanker(3, hierarchy=LABELS), "hierarchy"),
    "ReliefRanker of numbers": Case(lambda: ranking.ReliefRanker(3, random_state=0), "numbers"),
    "SelectTop": Case(lambda: selection.SelectTop(ranking.ForestRanker(FOREST), n_features=2), "labels"),
    "CFSSelector": Case(selection.CFSSelector, "classes", "terms"),
    "HierarchicalSelector": Case(lambda: selection.HierarchicalSelector(TERMS), "classes", "terms"),
    "LazySelector": Case(lambda: selection.LazySelector(TERMS), "classes", "terms"),
    "LazyNaiveBayes": Case(lambda: selection.LazyNaiveBayes(selection.LazySelector(TERMS)), "classes", "terms"),
    "LazyNeighbors": Case(lambda: selection.LazyNeighbors(selection.LazySelector(TERMS)), "classes", "terms"),
    "BinaryRelevance": Case(lambda: chains.BinaryRelevance(FOREST, random_state=0), "labels"),
    "ClassifierChain": Case(lambda: chains.ClassifierChain(FOREST, order=[2, 0, 1], random_state=0), "labels"),
    "EnsembleOfChains": Case(lambda: chains.EnsembleOfChains(FOREST, n_chains=2, random_state=0), "labels"),
    "LClassifierChains": Case(lambda: chains.LClassifierChains(FOREST, random_state=0), "labels"),
    "LabelPowerset": Case(lambda: chains.LabelPowerset(FOREST, random_state=0), "labels"),
    "PairwiseLabels": Case(lambda: chains.PairwiseLabels(FOREST, random_state=0), "labels"),
    "RAkEL": Case(lambda: chains.RAkEL(FOREST, random_state=0), "labels"),
    **{
        f"{name} without bootstrap": Case(made(getattr(chains, name), **options), "labels", repeats=True)
        for name, options in (
            ("BinaryRelevance", {}),
            ("ClassifierChain", {"order": [2, 0, 1]}),
            ("LClassifierChains", {"threshold": 0.5}),
            ("LabelPowerset", {}),
            ("PairwiseLabels", {}),
            ("RAkEL", {}),
        )
    },
    "MLkNN": Case(lambda: chains.MLkNN(n_neighbors=3), "labels", "numbers"),
    "R2Screening": Case(lambda: chains.R2Screening(), "labels", "numbers"),
}


def public_estimators() -> set[str]:
    """Names of all estimators that Ramify makes public."""
    found = set()
    for module in map(import_module, PUBLIC_MODULES):
        for name in module.__all__:
            made = getattr(module, name)
            if isinstance(made, type) and issubclass(made, BaseEstimator):
                found.add(name)
    return found


@dataclass(frozen=True)
class Data:
    """Features as exact numbers, which of them are nominal, and every kind of target."""

    X: np.ndarray
    nominal: list[int]
    targets: dict[str, Any]


NUMBERS = st.sampled_from([0.0, 0.0, 1.0, -1.0, 0.5, 2.0, 3.25, 7.0])
CODES = st.sampled_from([0.0, 1.0, 2.0, 10.0])


@st.composite
def data_sets(draw, features: str) -> Data:
    """Rows with few distinct values, so that zeros, ties and shared categories are common."""
    if features == "terms":
        X = draw(arrays(float, (N_ROWS, N_FEATURES), elements=st.sampled_from([0.0, 1.0])))
        nominal = []
    else:
        X = draw(arrays(float, (N_ROWS, N_FEATURES), elements=NUMBERS))
        X = X + np.arange(N_ROWS)[:, None] % 4 * np.array([0, 1, 0, 0, 0])  # no feature may vanish
        nominal = [2, 3] if features == "nominal" else []
        for j in nominal:
            X[:, j] = draw(arrays(float, N_ROWS, elements=CODES))
    rows = np.arange(N_ROWS)
    noise = draw(arrays(int, (N_ROWS, N_LABELS), elements=st.integers(0, 1)))
    Y = noise.copy()
    Y[:2], Y[2:4] = 0, 1  # every label occurs and is missing
    numbers = X[:, :2] + noise[:, :2] * 0.25
    numbers[0] += 1.0
    order = np.argsort(np.argsort(noise + rows[:, None] % 3 * np.array([0.1, 0.2, -0.3]), axis=1), axis=1) + 1.0
    closed = LABELS.close(Y)
    targets = {
        "classes": np.array(["no", "yes", "other"])[(Y[:, 0] + rows % 2)],
        "labels": Y,
        "hierarchy": np.asarray(closed.toarray() if sparse.issparse(closed) else closed),
        "numbers": numbers,
        "rankings": order,
    }
    targets["mixed"] = np.column_stack([numbers[:, 0].astype(object), targets["classes"].astype(object), Y[:, 1]])
    hidden = draw(arrays(bool, (N_ROWS, N_LABELS)))
    hidden[:6] = False  # every label is known somewhere
    hidden[:, 0] = False  # something is known of every row, so that all take part
    targets["unknown labels"] = np.where(hidden, np.nan, Y)
    targets["unknown numbers"] = np.where(hidden[:, :2], np.nan, numbers)
    targets["unknown hierarchy"] = np.where(hidden | hidden[:, LABELS_ABOVE], np.nan, targets["hierarchy"])
    targets["unknown mixed"] = np.where(hidden, None, targets["mixed"])
    return Data(X, nominal, targets)


def results(fitted: Any, X: Any) -> dict[str, np.ndarray]:
    """Everything that a fitted estimator says of rows, as arrays."""
    found: dict[str, Any] = {}
    for name in ("predict", "predict_proba", "predict_outputs", "transform", "selection_mask", "apply"):
        if hasattr(fitted, name):
            found[name] = getattr(fitted, name)(X)
    for name in ("oob_prediction_", "oob_score_", "prior_", "scores_", "scores_per_label_", "feature_importances_"):
        if getattr(fitted, name, None) is not None:
            found[name] = getattr(fitted, name)
    if hasattr(fitted, "get_support"):
        found["support"] = fitted.get_support()
        found.pop("transform", None)  # its values are those of X
    if hasattr(fitted, "rankings_"):
        found |= {f"{name} per label": one.per_label for name, one in fitted.rankings_.items()}
    return {name: plain(value) for name, value in found.items() if value is not None}


def plain(value: Any) -> np.ndarray:
    if isinstance(value, dict):
        return np.hstack([plain(one) for one in value.values()])
    if isinstance(value, list):
        return np.array([plain(one) for one in value])
    return np.asarray(value.toarray() if sparse.issparse(value) else value)


def assert_same(found: dict[str, np.ndarray], expected: dict[str, np.ndarray], message: str) -> None:
    assert found.keys() == expected.keys(), message
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=f"{message}: {name}")
