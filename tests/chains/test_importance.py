"""Forms of the importance matrix."""

import numpy as np
import pytest

from ramify.chains import global_importance, importance_frame, importance_index, top_predictors

RAW = np.array([[0.2, 0.1, 0.0, 0.4], [0.05, 0.02, 0.1, 0.0]])


def test_index_by_label_and_by_matrix():
    np.testing.assert_allclose(importance_index(RAW), [[50, 25, 0, 100], [50, 20, 100, 0]])
    np.testing.assert_allclose(importance_index(RAW, relative_to="matrix"), [[50, 25, 0, 100], [12.5, 5, 25, 0]])


def test_a_label_without_any_importance_stays_zero():
    np.testing.assert_array_equal(importance_index(np.zeros((2, 4))), 0)


def test_global_mean_divides_by_all_labels():
    np.testing.assert_allclose(global_importance(RAW, index=False), [0.125, 0.06, 0.05, 0.2])
    np.testing.assert_allclose(global_importance(RAW), [62.5, 30, 25, 100])


def test_top_predictors_per_label():
    top = top_predictors(RAW, n=2)
    assert top["label"].tolist() == ["label0", "label0", "label1", "label1"]
    assert top["predictor"].tolist() == ["label1", "x0", "label0", "x0"]
    assert top["is_label"].tolist() == [True, False, True, False]
    np.testing.assert_allclose(top["index"], [100, 50, 100, 50])


def test_a_label_is_never_its_own_predictor():
    assert len(top_predictors(np.zeros((2, 4)), n=10)) == 2 * 3


def test_top_predictors_overall():
    top = top_predictors(RAW, n=3, per_label=False)
    assert top["predictor"].tolist() == ["label1", "x0", "x1"]
    assert top["rank"].tolist() == [1, 2, 3]


def test_frame_has_names():
    frame = importance_frame(RAW, feature_names=["age", "sum"], label_names=["card", "loan"])
    assert list(frame.columns) == ["age", "sum", "card", "loan"]
    assert list(frame.index) == ["card", "loan"]


def test_too_few_columns_are_refused():
    with pytest.raises(ValueError, match="at least as many columns as rows"):
        importance_frame(np.ones((3, 2)))
