"""Selection for labels that are known in part: each counts the rows of which it is known."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from ramify import Hierarchy
from ramify.selection import HierarchicalSelector, LazySelector
from ramify.selection.relevance import (
    gain_ratio,
    information_gain,
    lazy_r,
    lift,
    r_relevance,
)


def hidden_labels(n_rows, n_labels=3, share=0.3, seed=0):
    rng = np.random.default_rng(seed)
    Y = rng.integers(0, 2, size=(n_rows, n_labels)).astype(float)
    return np.where(rng.random(Y.shape) < share, np.nan, Y)


def state(selector):
    """What a fit has left, but for arrays that hold others."""
    kept = {name: value for name, value in vars(selector).items() if name.endswith("_") or name == "_support"}
    kept.pop("graph_", None)
    ranking = kept.pop("ranking_", None)
    return {**kept, "frequencies": None if ranking is None else ranking.scores}


def assert_same(first, second):
    assert first.keys() == second.keys()
    for name, value in first.items():
        np.testing.assert_array_equal(value, second[name], err_msg=name)


def each_selector(order, **options):
    return [
        *(HierarchicalSelector(order, method=method, **options) for method in ("shsel", "gtd", "tsel")),
        HierarchicalSelector(order, relevance="r", **options),
        *(LazySelector(order, relevance=relevance, **options) for relevance in ("lazy_r", "r", "ig")),
        LazySelector(order, method="mr", **options),
    ]


@pytest.mark.parametrize("seed", range(4))
def test_a_label_is_measured_on_the_rows_of_which_it_is_known(random_problem, seed):
    _, X, _ = random_problem(seed)
    Y = hidden_labels(len(X), seed=seed)

    def apart(measure, label, **options):
        known = ~np.isnan(Y[:, label])
        return measure(X[known], Y[known, label].astype(int), **options)

    for measure in (r_relevance, lazy_r, information_gain, gain_ratio):
        np.testing.assert_allclose(measure(X, Y), sum(apart(measure, k) for k in range(3)), atol=1e-12)
    np.testing.assert_allclose(lazy_r(X, Y, value=0), sum(apart(lazy_r, k, value=0) for k in range(3)), atol=1e-12)
    np.testing.assert_allclose(lift(X, Y), np.max([apart(lift, k) for k in range(3)], axis=0), atol=1e-12)


@pytest.mark.parametrize("number", range(8))
def test_rows_of_which_nothing_is_known_are_as_if_not_there(random_problem, number):
    order, X, _ = random_problem(5)
    known = np.arange(len(X)) % 3 > 0
    for Y in (hidden_labels(len(X), n_labels=1, share=0), hidden_labels(len(X), share=0.2)):
        Y[~known] = np.nan
        selector = each_selector(order)[number]
        with_them = state(selector.fit(X, Y))
        known &= ~np.isnan(Y).all(axis=1)
        assert_same(state(selector.fit(X[known], Y[known])), with_them)


@pytest.mark.parametrize("number", range(8))
def test_hiding_nothing_changes_no_bit(random_problem, number):
    order, X, _ = random_problem(6)
    Y = hidden_labels(len(X), share=0)
    selector = each_selector(order)[number]
    assert_same(state(selector.fit(X, Y.astype(int))), state(selector.fit(X, Y)))


def test_one_label_of_which_rows_are_unknown_selects_as_its_classes_do(random_problem):
    order, X, _ = random_problem(8)
    y = hidden_labels(len(X), n_labels=1, seed=8)
    known = ~np.isnan(y[:, 0])
    for relevance in ("lazy_r", "r", "ig"):
        partly = LazySelector(order, relevance=relevance).fit(X, y)
        alone = LazySelector(order, relevance=relevance).fit(X[known], y[known, 0].astype(int))
        np.testing.assert_allclose(partly.relevance_, alone.relevance_, atol=1e-12)


@pytest.mark.parametrize("form", ["sparse", "nullable", "polars", "objects"])
def test_unknown_labels_in_any_form(random_problem, form):
    order, X, _ = random_problem(5)
    Y = hidden_labels(len(X))
    names = ["a", "b", "c"]
    frame = pd.DataFrame(Y, columns=names)
    if form == "sparse":
        entries = np.nonzero(Y)  # NaN is not 0, so it is stored
        given = sparse.csr_array((Y[entries], entries), shape=Y.shape)
    elif form == "polars":
        given = pytest.importorskip("polars").from_pandas(frame.astype("Int64"))
    else:
        given = frame.astype("Int64") if form == "nullable" else np.where(np.isnan(Y), None, Y.astype(object))
    for selector in (HierarchicalSelector(order), LazySelector(order)):
        assert_same(state(selector.fit(X, given)), state(selector.fit(X, Y)))


def test_what_follows_from_a_hierarchy_of_labels_is_known(random_problem):
    order, X, _ = random_problem(5)
    labels = Hierarchy.from_edges([("top", "low")])
    Y = np.array([[np.nan, 1.0], [0.0, np.nan], [1.0, np.nan]])[np.arange(len(X)) % 3]
    closed = np.array([[1.0, 1.0], [0.0, 0.0], [1.0, np.nan]])[np.arange(len(X)) % 3]
    np.testing.assert_array_equal(lazy_r(X, Y, hierarchy=labels), lazy_r(X, closed))
    selector = HierarchicalSelector(order, hierarchy=labels)
    np.testing.assert_array_equal(selector.fit(X, Y).scores_, HierarchicalSelector(order).fit(X, closed).scores_)


def test_a_column_of_classes_and_a_label_known_nowhere_are_refused(random_problem):
    order, X, _ = random_problem(5)
    Y = hidden_labels(len(X))
    Y[:, 1] = np.nan
    with pytest.raises(ValueError, match="'y1' is known of no row"):
        LazySelector(order).fit(X, Y)
    with pytest.raises(ValueError, match="contains NaN"):
        LazySelector(order).fit(X, Y[:, 0])
