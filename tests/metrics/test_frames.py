"""Tables of labels with names are matched by them, and their type of columns makes no difference."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ramify import Hierarchy, metrics

HIERARCHY = Hierarchy.from_paths(["a/b", "a/c", "d/e"])
NAMES = list(HIERARCHY.names)
SETS = (
    "hamming_loss",
    "accuracy_score",
    "precision_score",
    "recall_score",
    "f1_score",
    "jaccard_score",
    "geometric_mean",
)
HIERARCHICAL = ("hierarchical_precision", "hierarchical_recall", "hierarchical_f")
SCORES = ("auprc", "average_precision_score", "roc_auc_score")
TYPES = (
    "bool",
    "int8",
    "float64",
    "Int64",
    "boolean",
    "int64[pyarrow]",
    "bool[pyarrow]",
    "category",
    "polars",
    "mix",
)


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    truth = HIERARCHY.close(rng.integers(0, 2, (40, 5)))
    truth = np.asarray(truth.todense() if hasattr(truth, "todense") else truth)
    predicted = np.where(rng.random(truth.shape) < 0.8, truth, 1 - truth)
    return truth, predicted, rng.random(truth.shape).round(2) + truth


def frame(values, order=range(5), of="int64"):
    table = pd.DataFrame(values, columns=NAMES).iloc[:, list(order)]
    if of == "polars":
        return pl.DataFrame({name: table[name].to_numpy() for name in table})
    if of == "mix":
        kinds = ["bool", "int8", "boolean", "Int64", "bool[pyarrow]"]
        return table.astype(dict(zip(NAMES, kinds, strict=True)))
    return table.astype("int64").astype(of)


@pytest.mark.parametrize("name", [*SETS, *HIERARCHICAL])
@pytest.mark.parametrize("of", TYPES)
def test_label_sets_of_any_type_in_any_order_measure_the_same(tables, name, of):
    truth, predicted, _ = tables
    measure = getattr(metrics, name)
    options = {"hierarchy": HIERARCHY} if name in HIERARCHICAL else {}
    expected = measure(truth, predicted, **options)
    shuffled = frame(predicted, [3, 1, 0, 4, 2], of)
    assert measure(frame(truth, of=of), shuffled, **options) == expected
    if options:  # the hierarchy has names too
        assert measure(frame(truth, [4, 3, 2, 1, 0], of), predicted, **options) == expected
    assert measure(truth, frame(predicted, of=of), **options) == expected


@pytest.mark.parametrize("name", [*SCORES, "fmax", "smin"])
def test_scores_follow_the_names_of_the_labels(tables, name):
    truth, _, scores = tables
    measure = getattr(metrics, name)
    expected = measure(truth, scores, hierarchy=HIERARCHY)
    shuffled = pd.DataFrame(scores, columns=NAMES)[NAMES[::-1]]
    assert measure(frame(truth), shuffled, hierarchy=HIERARCHY) == expected
    assert measure(truth, shuffled, hierarchy=HIERARCHY) == expected
    assert measure(frame(truth, [2, 0, 1, 4, 3]), shuffled) == measure(truth, scores)
    assert measure(frame(truth), pd.DataFrame(scores)) == measure(truth, scores)  # numbered columns have no names


def test_the_table_of_measures_follows_the_names(tables):
    truth, _, scores = tables
    options = {"target": "hierarchy", "prior": truth.mean(axis=0), "hierarchy": HIERARCHY}
    expected = metrics.measure_table(truth, scores, **options)
    shuffled = pd.DataFrame(scores, columns=NAMES)[NAMES[::-1]]
    pd.testing.assert_frame_equal(metrics.measure_table(frame(truth, [4, 2, 0, 1, 3]), shuffled, **options), expected)


@pytest.mark.parametrize(
    "name", ["root_mean_squared_error", "rrmse", "r2_score", "kendall_tau", "spearman_rho", "spearman_footrule"]
)
def test_numbers_and_rankings_follow_the_names(name):
    rng = np.random.default_rng(0)
    true, predicted = (np.argsort(rng.random((20, 5)), axis=1) + 1.0 for _ in range(2))
    measure = getattr(metrics, name)
    shuffled = pd.DataFrame(predicted, columns=NAMES)[NAMES[::-1]]
    expected = pytest.approx(measure(true, predicted), rel=1e-14)
    assert measure(pd.DataFrame(true, columns=NAMES), shuffled) == expected
    assert measure(pd.DataFrame(true, columns=NAMES).astype("Float64"), shuffled.astype("double[pyarrow]")) == expected


def test_other_names_are_refused(tables):
    truth, predicted, scores = tables
    other = pd.DataFrame(predicted, columns=[*NAMES[:4], "z"])
    with pytest.raises(ValueError, match="y_true and y_pred must have the same names, each once; they differ in 'd/e'"):
        metrics.hamming_loss(frame(truth), other)
    with pytest.raises(ValueError, match="y_pred must be labels of the hierarchy, each once; the label 'z' is not in"):
        metrics.hamming_loss(frame(truth), other, hierarchy=HIERARCHY)
    with pytest.raises(ValueError, match="y_score must be labels of the hierarchy, each once; 1 of its labels have no"):
        metrics.auprc(truth, pd.DataFrame(scores, columns=NAMES)[NAMES[1:]], hierarchy=HIERARCHY)
