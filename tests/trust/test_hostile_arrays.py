"""Row R10: hostile arrays x every public estimator give the right result, or an error that names the column.

The forests have further tests in `tests/ensemble/test_hostile_arrays.py`.
"""

import re
import warnings
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from tests.ensemble.test_hostile_arrays import BASE, CLASSES, NUMBERS, SETS, N, bad_features, unusual_features

from ramify import Hierarchy, chains, ensemble, ranking, selection
from ramify.models.values import PUBLIC_MODULES

RANKS = np.argsort(np.argsort(-np.column_stack([NUMBERS, NUMBERS.sum(axis=1)]), axis=1), axis=1) + 1.0
MIXED = np.column_stack([NUMBERS[:, :1].astype(object), SETS[:, :1], np.where(SETS[:, 1:2], "yes", "no")])
TERMS = Hierarchy.from_edges([("a", "b"), ("a", "c")])
BINARY = np.column_stack([(BASE > 0)[:, 1:].any(axis=1), BASE[:, 1] > 0, BASE[:, 2] > 0]).astype(float)


def forest():
    return ensemble.ForestClassifier(3, random_state=0)


def lazy():
    return selection.LazySelector(TERMS, close=True)


def chain(kind, **parameters):
    return lambda: kind(forest(), **parameters)


ESTIMATORS = {
    "ForestClassifier": (lambda: ensemble.ForestClassifier(3, random_state=0), SETS),
    "ForestClassifier of a hierarchy": (
        lambda: ensemble.ForestClassifier(3, hierarchy=Hierarchy.from_paths(["l", "l/m"]), random_state=0),
        SETS,
    ),
    "BoostedClassifier": (lambda: ensemble.BoostedClassifier(3, random_state=0), SETS),
    "BoostedClassifier of classes": (lambda: ensemble.BoostedClassifier(3, random_state=0), CLASSES),
    "BoostedRegressor": (lambda: ensemble.BoostedRegressor(3, random_state=0), NUMBERS),
    "NeighborsClassifier": (lambda: ensemble.NeighborsClassifier(3, forest=forest(), random_state=0), SETS),
    "KernelClassifier": (lambda: ensemble.KernelClassifier(random_state=0), SETS),
    "KernelRegressor": (lambda: ensemble.KernelRegressor(random_state=0), NUMBERS),
    "NetworkClassifier": (lambda: ensemble.NetworkClassifier(2, n_units=8, n_epochs=3, random_state=0), SETS),
    "Portfolio": (lambda: ensemble.Portfolio({"forest": forest()}, cv=2, random_state=0), SETS),
    "Calibrated": (lambda: ensemble.Calibrated(forest()), SETS),
    "ConformalSets": (lambda: ensemble.ConformalSets(forest(), alpha=0.6, calibrate="oob"), SETS),
    "ForestRegressor": (lambda: ensemble.ForestRegressor(3, random_state=0), NUMBERS),
    "LabelRankingForest": (lambda: ensemble.LabelRankingForest(3, random_state=0), RANKS),
    "MixedForest": (lambda: ensemble.MixedForest(3, random_state=0), MIXED),
    "ForestRanker": (lambda: ranking.ForestRanker(forest()), SETS),
    "ForestRanker by permutation": (lambda: ranking.ForestRanker(forest(), scores="permutation"), SETS),
    "ForestRanker out of bag": (lambda: ranking.ForestRanker(forest(), scores="genie3_oob"), CLASSES),
    "ReliefRanker of sets": (lambda: ranking.ReliefRanker(3, random_state=0), SETS),
    "ReliefRanker of classes": (lambda: ranking.ReliefRanker(3, random_state=0), CLASSES),
    "ReliefRanker of numbers": (lambda: ranking.ReliefRanker(3, random_state=0), NUMBERS),
    "SelectTop": (lambda: selection.SelectTop(ranking.ForestRanker(forest()), n_features=1), SETS),
    "MLkNN": (lambda: chains.MLkNN(3), SETS),
    "R2Screening": (lambda: chains.R2Screening(50), SETS),
    "BinaryRelevance": (chain(chains.BinaryRelevance, random_state=0), SETS),
    "ClassifierChain": (chain(chains.ClassifierChain, random_state=0), SETS),
    "EnsembleOfChains": (chain(chains.EnsembleOfChains, n_chains=2, random_state=0), SETS),
    "LClassifierChains": (chain(chains.LClassifierChains, random_state=0), SETS),
    "LabelPowerset": (chain(chains.LabelPowerset, random_state=0), SETS),
    "PairwiseLabels": (chain(chains.PairwiseLabels, random_state=0), SETS),
    "RAkEL": (chain(chains.RAkEL, labelset_size=2, random_state=0), SETS),
    "CFSSelector": (selection.CFSSelector, CLASSES),
    "HierarchicalSelector": (lambda: selection.HierarchicalSelector(TERMS, close=True), CLASSES),
    "LazySelector": (lazy, CLASSES),
    "LazyNaiveBayes": (lambda: selection.LazyNaiveBayes(lazy()), CLASSES),
    "LazyNeighbors": (lambda: selection.LazyNeighbors(lazy()), CLASSES),
}

TAKE_BINARY_ONLY = {"CFSSelector", "HierarchicalSelector", "LazySelector", "LazyNaiveBayes", "LazyNeighbors"}
TAKE_NUMBERS_ONLY = {"MLkNN"}
"""Estimators that may refuse by column: what is not binary; missing values, text, numbers too large for distances."""

SAME = [
    "longdouble",
    "big-endian",
    "strided",
    "reversed",
    "fortran",
    "read-only",
    "unaligned",
    "object of numbers",
    "list",
    "memory map like",
    "csr",
    "csc",
    "coo",
    "lil",
    "unsorted csc",
    "pandas",
    "pandas nullable",
]
"""Other forms of the plain array: the result must be the plain one's."""

SCALED = ("tiny", "huge")
SCALE_MATTERS = {"MLkNN", *TAKE_BINARY_ONLY}
BY_COLUMN = r"\bcolumn \d"


def base_of(estimator):
    return BINARY if estimator in TAKE_BINARY_ONLY else BASE


def refused(error, words):
    assert re.search(words, str(error), flags=re.IGNORECASE), error


def fitted(estimator, X, y=None):
    make, known = ESTIMATORS[estimator]
    return make().fit(X, known if y is None else y)


def results(model, X):
    """Everything that a fitted estimator says of rows, as arrays."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="No features were selected")
        found = {
            method: getattr(model, method)(X)
            for method in ("predict_proba", "predict", "selection_mask", "predict_preferences")
            if hasattr(model, method)
        }
        if hasattr(model, "transform"):
            assert model.transform(X).shape[0] == N
    for name in ("scores_", "r2_", "feature_importances_", "ranking_scores_"):
        if hasattr(model, name):
            found[name] = getattr(model, name)
    if hasattr(model, "get_support"):
        found["support"] = model.get_support()
    assert found
    return {name: plain(value) for name, value in found.items()}


def plain(value):
    if isinstance(value, dict):
        return np.hstack(list(value.values()))
    return value.toarray() if sparse.issparse(value) else np.asarray(value)


def assert_sound(estimator, model, X):
    for name, values in results(model, X).items():
        if values.dtype.kind == "f":
            assert np.isfinite(values).all(), (estimator, name)
        if name.startswith("predict"):
            assert len(values) == N


def test_every_public_estimator_is_among_them():
    made = {type(make()).__name__ for make, _ in ESTIMATORS.values()}
    public = {
        name
        for module in map(import_module, PUBLIC_MODULES)
        for name in module.__all__
        if isinstance(getattr(module, name), type) and issubclass(getattr(module, name), BaseEstimator)
    }
    assert made == public


@pytest.mark.parametrize("name", unusual_features(BASE))
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_unusual_features_give_the_right_result_or_are_refused_by_column(estimator, name):
    base = base_of(estimator)
    X = unusual_features(base)[name]
    try:
        model = fitted(estimator, X)
    except ValueError as error:
        if name in SAME or estimator not in TAKE_NUMBERS_ONLY | TAKE_BINARY_ONLY:
            raise
        if estimator in TAKE_BINARY_ONLY and "cannot be matched" in str(error):
            return  # another number of columns than the feature hierarchy has terms
        refused(error, BY_COLUMN)
        return
    assert_sound(estimator, model, X)
    if name in SAME or (name in SCALED and estimator not in SCALE_MATTERS):
        expected = results(fitted(estimator, base), base)
        for part, values in results(model, X).items():
            if values.dtype.kind in "fc":
                np.testing.assert_allclose(values, expected[part], rtol=1e-9, atol=1e-12, err_msg=part)
            else:
                np.testing.assert_array_equal(values, expected[part], err_msg=part)


@pytest.mark.parametrize("name", bad_features(BASE))
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_bad_features_are_refused(estimator, name):
    X, words = bad_features(base_of(estimator))[name]
    with pytest.raises((ValueError, TypeError), match=f"(?i){words}|X has 23 rows and y has 24"):
        fitted(estimator, X)


@pytest.mark.parametrize("estimator", [name for name in ESTIMATORS if hasattr(ESTIMATORS[name][0](), "predict")])
def test_new_rows_are_predicted_or_refused_by_column(estimator):
    base = base_of(estimator)
    model = fitted(estimator, base)
    for name, X in unusual_features(base).items():
        if np.shape(X) != base.shape or (isinstance(X, pd.DataFrame) and name != "pandas"):
            continue
        try:
            assert_sound(estimator, model, X)
        except ValueError as error:
            if name in SAME or estimator not in TAKE_NUMBERS_ONLY | TAKE_BINARY_ONLY:
                raise
            refused(error, BY_COLUMN)
    for name, (X, words) in bad_features(base).items():
        if name in ("infinity", "minus infinity", "sparse infinity", "text", "complex", "no rows"):
            with pytest.raises((ValueError, TypeError), match=f"(?i){words}"):
                model.predict(X)


CATEGORIES, ROWS = 10**6, 10_000  # neighbours compare every pair of rows


@pytest.fixture(scope="module")
def million():
    """A column that may hold a million values, as texts, with another one in every row."""
    values = pd.array(np.char.add("v", np.arange(CATEGORIES).astype("U7")), dtype="str")
    return pd.DataFrame({"a": pd.Categorical.from_codes(np.arange(0, CATEGORIES, CATEGORIES // ROWS), values)})


ONE_OF_EACH_CLASS = {type(make()): name for name, (make, _) in reversed(ESTIMATORS.items())}.values()


@pytest.mark.parametrize("estimator", ONE_OF_EACH_CLASS)
def test_a_million_categories_are_learnt_or_refused_by_column(estimator, million):
    make, y = ESTIMATORS[estimator]
    target = np.resize(y, (ROWS, *np.shape(y)[1:]))
    try:
        model = make().fit(million, target)
    except ValueError as error:
        refused(error, r"feature 'a' \(column 0\)|cannot be matched")
        return
    if hasattr(model, "ranking_"):
        assert np.isfinite(model.ranking_.scores).all()


ONE_ROW = r"sample|rows|neighbours|more than one class|at least|Relief|2 classes|one class"


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_one_row_is_learnt_or_refused_in_words(estimator):
    base = base_of(estimator)
    try:
        model = fitted(estimator, base[:1], ESTIMATORS[estimator][1][:1])
    except ValueError as error:
        refused(error, ONE_ROW)
        return
    if hasattr(model, "predict"):
        assert len(model.predict(base)) == N


TAKE_UNKNOWN = {
    "ForestClassifier", "ForestRegressor", "MixedForest", "Calibrated", "Portfolio", "BoostedClassifier",
    "BoostedRegressor", "ForestRanker", "ForestRanker by permutation", "ReliefRanker of sets",
    "ReliefRanker of numbers", "SelectTop", "BinaryRelevance", "ClassifierChain", "EnsembleOfChains",
    "LClassifierChains", "MLkNN", "NeighborsClassifier", "ConformalSets",
    "KernelClassifier", "KernelRegressor", "NetworkClassifier",
}  # fmt: skip
"""Those that learn from rows whose labels or numbers are unknown (NaN); all others refuse them in words."""


@pytest.mark.parametrize("kind", ["one class", "no label", "every label", "missing", "one row less", "text", "none"])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_hostile_targets_are_learnt_or_refused_in_words(estimator, kind):
    y = ESTIMATORS[estimator][1]
    numeric = y.dtype.kind in "fi"
    given = {
        "one class": np.repeat(y[:1], N, axis=0),
        "no label": np.zeros(y.shape) if numeric else None,
        "every label": np.ones(y.shape) if numeric else None,
        "missing": np.where(np.arange(N).reshape(-1, *[1] * (y.ndim - 1)) == 2, np.nan, y) if numeric else None,
        "one row less": y[:-1],
        "text": np.full(y.shape, "x", dtype=object) if y.ndim == 2 else None,
        "none": None,
    }[kind]
    if given is None and kind != "none":
        return
    base = base_of(estimator)
    make, _ = ESTIMATORS[estimator]
    takes_unknown = y is RANKS or (y.ndim == 2 and estimator in TAKE_UNKNOWN)
    must_fail = kind in ("one row less", "none") or (kind == "missing" and not takes_unknown)
    try:
        model = make().fit(base, given)
    except (ValueError, TypeError) as error:
        refused(error, r"\by\b|target|label|class|rank|rows|samples|could not convert")
        return
    assert not must_fail
    assert_sound(estimator, model, base)
