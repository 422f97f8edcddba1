"""Rows R1 and R2: scikit-learn's checks of estimators, those it does not run by itself, and refused parameters."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import (
    check_classifiers_multilabel_output_format_predict,
    check_dataframe_column_names_consistency,
    parametrize_with_checks,
)

from ramify.chains import BinaryRelevance, MLkNN
from ramify.datasets import make_multilabel
from ramify.ensemble import ForestClassifier, ForestRegressor
from ramify.metrics import auprc

BOOTSTRAP = "a row of weight 2 and a repeated row are drawn differently by a bootstrap"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": BOOTSTRAP,
    "check_sample_weight_equivalence_on_sparse_data": BOOTSTRAP,
}


@parametrize_with_checks([ForestClassifier(20), ForestRegressor(20)], expected_failed_checks=lambda estimator: EXPECTED)
def test_scikit_learn_checks_with_bootstrap(estimator, check):
    check(estimator)


@parametrize_with_checks(
    [
        ForestClassifier(20, bootstrap=False),
        ForestRegressor(20, bootstrap=False),
        ForestClassifier(20, splitter="random", bootstrap=False),
        ForestRegressor(20, max_features=None, bootstrap=False),
    ]
)
@pytest.mark.hostile
def test_scikit_learn_checks_without_bootstrap(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", [ForestClassifier(5), ForestRegressor(5)])
def test_column_names_are_kept_and_compared(estimator):
    check_dataframe_column_names_consistency(type(estimator).__name__, estimator)


def test_predicted_label_sets_have_the_format_of_scikit_learn():
    check_classifiers_multilabel_output_format_predict("ForestClassifier", ForestClassifier(5))


BAD_PARAMETERS = [
    ("n_estimators", 0, "an int >= 1"),
    ("n_estimators", 2.0, "an int >= 1"),
    ("splitter", "worst", "one of 'best', 'random'"),
    ("oblique", -1, "an int >= 0"),
    ("oblique", "two", "an int >= 0"),
    ("bootstrap", "yes", "a bool"),
    ("bootstrap", 1, "a bool"),
    ("max_features", 0, "an int >= 1"),
    ("max_features", 1.5, r"a number in \(0"),
    ("max_features", "third", "one of 'sqrt', 'log2', None"),
    ("max_depth", 0, "an int >= 1"),
    ("max_depth", 2.5, "an int >= 1"),
    ("min_samples_split", 1, "an int >= 2"),
    ("min_samples_split", 1.5, r"a number in \(0"),
    ("min_samples_split", None, r"a number in \(0"),
    ("min_samples_leaf", 0, "an int >= 1"),
    ("min_samples_leaf", -0.5, r"a number in \(0"),
    ("min_weight_fraction_leaf", 0.6, r"a number in \[0, 0.5\]"),
    ("min_impurity_decrease", -1.0, "a number >= 0"),
    ("min_impurity_decrease", float("nan"), "a number >= 0"),
    ("max_bins", 1, r"an int in \[2, 65535\]"),
    ("categorical_features", "all", "'from_dtype', None, a mask, indices or names"),
    ("min_category_rows", 0, "an int >= 1"),
    ("min_category_rows", 0.1, "an int >= 1"),
    ("oob_score", "yes", "a bool"),
    ("n_jobs", "two", "an int other than 0"),
    ("n_jobs", 0, "an int other than 0"),
    ("verbose", -1, "an int >= 0"),
]


@pytest.mark.parametrize("estimator", [ForestClassifier(5), ForestRegressor(5)], ids=["classifier", "regressor"])
@pytest.mark.parametrize(("name", "value", "words"), BAD_PARAMETERS)
def test_bad_parameter_is_refused_by_name(estimator, name, value, words):
    forest = clone(estimator).set_params(**{name: value})
    with pytest.raises(ValueError, match=rf"'{name}' parameter of Forest.* must be .*{words}.*Got .* instead"):
        forest.fit([[0.0], [1.0], [2.0]], [0, 1, 1])


@pytest.mark.parametrize("estimator", [ForestClassifier(5), ForestRegressor(5)], ids=["classifier", "regressor"])
def test_every_parameter_is_in_the_table_of_bad_ones_or_tested_below(estimator):
    listed = {name for name, *_ in BAD_PARAMETERS}
    elsewhere = {
        "random_state",
        "hierarchy",
        "label_weight",
        "class_weight",
        "target_weight",
        "threshold",
        "warm_start",
        "backing",
    }
    assert set(estimator.get_params()) <= listed | elsewhere


@pytest.mark.parametrize(
    ("parameters", "y", "words"),
    [
        ({"random_state": "seed"}, [0, 1, 1], "'seed' cannot be used to seed"),
        ({"hierarchy": ["a"]}, np.eye(3), "hierarchy must be a ramify.Hierarchy"),
        ({"label_weight": [1.0]}, np.eye(3), r"one entry per label \(3\)"),
        ({"label_weight": [1.0, -1.0, 0.0]}, np.eye(3), "finite numbers >= 0"),
        ({"class_weight": "even"}, [0, 1, 1], "'class_weight' parameter of ForestClassifier must be one of 'balanced'"),
        ({"class_weight": "balanced"}, np.eye(3), "is for classes, but y holds label sets. Use label_weight"),
        ({"oob_score": True, "bootstrap": False}, [0, 1, 1], "oob_score=True needs bootstrap=True"),
    ],
)
def test_bad_value_is_refused_with_the_next_step(parameters, y, words):
    with pytest.raises((ValueError, TypeError), match=words):
        ForestClassifier(5, **parameters).fit([[0.0], [1.0], [2.0]], y)


def test_bad_target_weight_is_refused():
    with pytest.raises(ValueError, match=r"one entry per target \(1\)"):
        ForestRegressor(5, target_weight=[1.0, 2.0]).fit([[0.0], [1.0]], [0.0, 1.0])


def test_pipelines_grids_and_cross_validation_take_label_sets():
    data = make_multilabel(120, random_state=0)
    Y = data.y.toarray()
    pipeline = make_pipeline(StandardScaler(), ForestClassifier(10, random_state=0))
    scores = cross_val_score(pipeline, data.X, Y, scoring=lambda m, X, y: auprc(y, m.predict_proba(X)), cv=3)
    assert (scores > Y.mean()).all()
    search = GridSearchCV(pipeline, {"forestclassifier__max_depth": [1, None]}, cv=2, scoring="average_precision")
    assert search.fit(data.X, Y).predict(data.X).shape == Y.shape


@pytest.mark.parametrize("n_labels", [1, 2, 3])
@pytest.mark.parametrize("estimator", [ForestClassifier(5), BinaryRelevance(ForestClassifier(5)), MLkNN(3)])
def test_cross_validated_probabilities_of_label_sets_are_one_matrix(estimator, n_labels):
    data = make_multilabel(40, n_labels=3, random_state=0)
    y = data.y.toarray()[:, :n_labels]
    assert cross_val_predict(estimator, data.X, y, cv=2, method="predict_proba").shape == (40, n_labels)
    assert np.isfinite(cross_val_score(estimator, data.X, y, cv=2, scoring="average_precision")).all()
    np.testing.assert_array_equal(clone(estimator).fit(data.X, y).classes_, [[0, 1]] * n_labels)


def test_sparse_label_sets_in_give_sparse_label_sets_out():
    data = make_multilabel(60, random_state=0)
    dense = ForestClassifier(10, random_state=0).fit(data.X, data.y.toarray())
    forest = ForestClassifier(10, random_state=0).fit(data.X, sparse.csr_array(data.y))
    predicted = forest.predict(data.X)
    assert sparse.issparse(predicted)
    np.testing.assert_array_equal(predicted.toarray(), dense.predict(data.X))


def test_names_of_the_features_and_labels_are_kept():
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [1.0, 0.0, 1.0]})
    labels = pd.DataFrame({"x": [0, 1, 0], "y": [1, 1, 0]})
    forest = ForestClassifier(3, random_state=0).fit(frame, labels)
    assert forest.feature_names_in_.tolist() == ["a", "b"]
    assert forest.label_names_ == ("x", "y")


@pytest.mark.parametrize("scale", [1e-200, 1e160, 1e307])
@pytest.mark.parametrize("forest", [ForestClassifier(3), ForestRegressor(3)])
def test_weights_too_extreme_to_compute_with_are_refused(forest, scale):
    X, y = np.arange(20.0).reshape(-1, 1), np.arange(20) % 2
    with pytest.raises(ValueError, match=r"from sample_weight sum to .* only their ratios matter"):
        forest.fit(X, y, sample_weight=np.full(20, scale))


def test_class_weights_too_extreme_to_compute_with_are_refused():
    X, y = np.arange(20.0).reshape(-1, 1), np.arange(20) % 2
    with pytest.raises(ValueError, match="from class_weight sum to"):
        ForestClassifier(3, class_weight={0: 1e307, 1: 1.0}).fit(X, y)
