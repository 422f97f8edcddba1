"""Every measure gives one value for one content, whatever holds it: one dimension, a column, sparse, a frame, NaN."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from ramify import Hierarchy, metrics
from ramify.metrics import calibration_error, reliability_bins
from ramify.metrics.measures import takes

NAN = np.nan


def names(n_labels):
    return [f"label{j}" for j in range(n_labels)]


def nullable(values):
    return pd.DataFrame(values, columns=names(values.shape[1])).astype("Float64")


FORMS = {
    "matrix": np.asarray,
    "list": lambda values: values.tolist(),
    "in column order": np.asfortranarray,
    "objects": lambda values: values.astype(object),
    "None for NaN": lambda values: np.where(np.isnan(values), None, values.astype(object)),
    "csr": sparse.csr_array,
    "csc matrix": sparse.csc_matrix,
    "coo": sparse.coo_array,
    "pandas": lambda values: pd.DataFrame(values, columns=names(values.shape[1])),
    "nullable": nullable,
    "polars": lambda values: pl.DataFrame(dict(zip(names(values.shape[1]), values.T, strict=True)), nan_to_null=True),
}
ONE_LABEL = {
    "one dimension": np.ravel,
    "list of one dimension": lambda values: values.ravel().tolist(),
    "series": lambda values: pd.Series(values.ravel()),
    "series of objects": lambda values: pd.Series(np.where(np.isnan(values), None, values.astype(object)).ravel()),
}
DENSE = ("numbers", "rankings")


def calibration(y_true, y_score):
    return calibration_error(reliability_bins(y_true, y_score))


MEASURES = {
    name: getattr(metrics, name)
    for name in metrics.__all__
    if hasattr(getattr(metrics, name), "larger_is_better") and takes(getattr(metrics, name)) not in DENSE
}
SCORED = {name for name, function in MEASURES.items() if takes(function) == "scores"} | {"calibration"}
MEASURES["calibration"] = calibration
OF_SETS = ("precision_score", "recall_score", "f1_score", "jaccard_score", "geometric_mean")


def of(name, n_labels):
    """The measure, with the hierarchy that it asks for: labels that stand side by side."""
    if name.startswith("hierarchical_"):
        return partial(MEASURES[name], hierarchy=Hierarchy.from_edges([], nodes=names(n_labels)))
    return MEASURES[name]


@st.composite
def tables(draw, n_labels=None):
    seed = draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(2, 12)), n_labels or int(rng.integers(1, 4))
    truth = (rng.random(shape) < 0.5).astype(float)
    truth[rng.random(shape) < draw(st.sampled_from([0.0, 0.3]))] = NAN
    return truth, (rng.random(shape) < 0.5).astype(float), rng.integers(0, 11, shape) / 10


@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=8, deadline=None)
@given(data=tables())
def test_the_form_of_a_table_changes_nothing(name, data):
    truth, sets, scores = data
    other, measure = (scores if name in SCORED else sets), of(name, truth.shape[1])
    expected = measure(truth, other)
    forms = FORMS | (ONE_LABEL if truth.shape[1] == 1 else {})
    for form, made in forms.items():
        np.testing.assert_allclose(measure(made(truth), other), expected, err_msg=form)
        np.testing.assert_allclose(measure(truth, made(other)), expected, err_msg=form)
        np.testing.assert_allclose(measure(made(truth), made(other)), expected, err_msg=form)


@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=8, deadline=None)
@given(data=tables(n_labels=1))
def test_unknown_rows_of_one_label_count_for_nothing(name, data):
    truth, sets, scores = data
    other, measure, known = (scores if name in SCORED else sets), of(name, 1), ~np.isnan(truth.ravel())
    if known.any():
        for form in (np.ravel, np.asarray, sparse.csr_array, nullable):
            np.testing.assert_allclose(measure(form(truth), other), measure(truth[known], other[known]))


@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=8, deadline=None)
@given(data=tables())
def test_rows_of_which_nothing_is_known_count_for_nothing(name, data):
    truth, sets, scores = data
    other, measure = (scores if name in SCORED else sets), of(name, truth.shape[1])
    known = ~np.isnan(truth).all(axis=1)
    if known.any():
        np.testing.assert_allclose(measure(truth, other), measure(truth[known], other[known]))


@pytest.mark.parametrize("name", [*OF_SETS, "accuracy_score"])
@pytest.mark.parametrize("positive", ["yes", 7, True])
@settings(max_examples=8, deadline=None)
@given(data=tables(n_labels=1))
def test_classes_measure_as_the_labels_that_they_are(name, positive, data):
    truth, sets, _ = (part.ravel() for part in data)
    negative = {"yes": "no", 7: 3, True: False}[positive]
    missing = np.isnan(truth)
    classes = np.where(truth == 1, positive, negative).astype(object)
    classes[missing] = None
    predicted = np.where(sets == 1, positive, negative)
    measure = MEASURES[name]
    options = {} if name == "accuracy_score" else {"pos_label": positive}
    expected = measure(truth, sets)
    for form in (np.asarray, pd.Series, lambda y: np.reshape(y, (-1, 1)), lambda y: pd.DataFrame({"y": y})):
        np.testing.assert_allclose(measure(form(classes), form(predicted), **options), expected)
