import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator

from ramify.features import apply_features, feature_names, learn_features


class Learner(BaseEstimator):
    pass


@pytest.mark.parametrize("as_frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_text_columns_of_a_frame_are_nominal_and_unseen_values_are_missing(as_frame):
    learner = Learner()
    features = learn_features(learner, as_frame({"size": [1.0, 2.0, 3.0], "colour": ["red", None, "blue"]}))
    np.testing.assert_array_equal(features.values, [[1, 1], [2, np.nan], [3, 0]])
    assert features.n_categories.tolist() == [0, 2]
    later = apply_features(learner, as_frame({"size": [4.0, 5.0], "colour": ["green", "red"]}))
    np.testing.assert_array_equal(later.values, [[4, np.nan], [5, 1]])
    assert feature_names(learner) == ("size", "colour")


def test_a_category_dtype_is_nominal_even_when_its_values_are_numbers():
    learner = Learner()
    features = learn_features(learner, pd.DataFrame({"a": pd.Categorical([10, 2, 10]), "b": [True, False, True]}))
    np.testing.assert_array_equal(features.values, [[1, 1], [0, 0], [1, 1]])
    assert features.n_categories.tolist() == [2, 0]


@pytest.mark.parametrize("chosen", [[False, True], [1], [-1], np.array([1])])
def test_nominal_features_can_be_given_by_mask_or_index(chosen):
    features = learn_features(Learner(), np.array([[5.0, 7], [6, 9], [5, np.nan]]), chosen)
    np.testing.assert_array_equal(features.values, [[5, 0], [6, 1], [5, np.nan]])


def test_nominal_features_can_be_given_by_name():
    frame = pd.DataFrame({"a": [3, 1], "b": [3, 1]})
    assert learn_features(Learner(), frame, ["b"]).n_categories.tolist() == [0, 2]


@pytest.mark.parametrize("fit_sparse", [False, True])
@pytest.mark.parametrize("apply_sparse", [False, True])
def test_nominal_zeros_are_the_same_value_sparse_or_dense(fit_sparse, apply_sparse):
    seen = np.array([[0, 1, -1.0], [-3, 2, 0], [4, 1, 0], [0, 2, 5]])  # negatives, and a column without zeros
    new = np.array([[0, 0, -1.0], [-3, 2, 5], [9, 1, 0], [4, 0, 2]])
    learner = Learner()
    learn_features(learner, sparse.csr_array(seen) if fit_sparse else seen, [0, 1, 2])
    features = apply_features(learner, sparse.csr_array(new) if apply_sparse else new)
    codes = features.values.toarray() if features.is_sparse else features.values
    for column in range(3):
        known = np.isin(new[:, column], seen[:, column])
        assert np.isnan(codes[~known, column]).all()
        values = learner.categories_[column][codes[known, column].astype(int)]
        np.testing.assert_array_equal(values, new[known, column])


def test_sparse_stays_sparse_and_zeros_keep_code_zero():
    X = sparse.csr_array(np.array([[0, 5.0], [2, 0], [0, 7]]))
    features = learn_features(Learner(), X, [1])
    assert features.is_sparse
    np.testing.assert_array_equal(features.values.toarray(), [[0, 1], [2, 0], [0, 2]])


def test_float32_is_not_copied_to_double():
    X = np.ones((4, 2), dtype=np.float32)
    assert learn_features(Learner(), X).values is X


@pytest.mark.parametrize(
    ("X", "chosen", "words"),
    [
        (np.array([[1, 2], [3, np.inf]]), None, "infinity in feature 'x1'"),
        (sparse.csr_array(np.array([[0.0, 0, -np.inf]])), None, "infinity in feature 'x2'"),
        (pd.DataFrame({"a": [1.0, np.inf]}), None, "infinity in feature 'a'"),
        (pd.DataFrame({"a": ["x", "y"], "b": ["1", "u"]}), ["a"], "Feature 'b' is numeric, but could not convert"),
        (np.ones((2, 2)), [True], "mask of 1 entries for 2 features"),
        (np.ones((2, 2)), [2], r"must be in 0..1. Got \[2\]"),
        (pd.DataFrame({"a": [1, 2]}), ["z"], "names 'z', which is not a column"),
        (np.ones((2, 2)), "auto", "must be 'from_dtype', None, a mask, indices or names. Got 'auto'"),
    ],
)
def test_bad_input_names_the_column(X, chosen, words):
    with pytest.raises(ValueError, match=words):
        learn_features(Learner(), X, chosen)


def test_a_nominal_column_of_lists_is_refused():
    with pytest.raises(TypeError, match="Feature 'a' is nominal; its values must be strings or numbers. Got list"):
        learn_features(Learner(), pd.DataFrame({"a": [[1], [2]]}))


def test_numbers_that_start_amid_a_word_are_moved():
    buffer = np.zeros(6 * 8 + 1, dtype=np.uint8)
    unaligned = buffer[1:].view(np.float64).reshape(3, 2)
    assert not unaligned.flags.aligned
    assert learn_features(Learner(), unaligned).values.flags.aligned
    shifted = sparse.csc_array(np.ones((3, 2)))
    shifted.data = buffer[1:].view(np.float64)
    shifted.data[:] = 1.0
    assert learn_features(Learner(), shifted).values.data.flags.aligned
