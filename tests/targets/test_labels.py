import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from ramify import Hierarchy
from ramify.targets import encode_labels, encode_numbers

TREE = Hierarchy.from_paths(["a/b", "a/c", "d"])


def test_classes_become_one_hot_rows():
    target = encode_labels(np.array([3, 1, 3]))
    assert target.kind == "classes"
    assert target.names == ("1", "3")
    assert target.Y.toarray().tolist() == [[0, 1], [1, 0], [0, 1]]


@pytest.mark.parametrize("convert", [np.array, sparse.csr_array, sparse.csc_matrix, pd.DataFrame, list])
def test_label_sets_keep_their_columns(convert):
    y = [[1, 0, 1], [0, 0, 0]]
    target = encode_labels(convert(np.array(y)) if convert is not list else y)
    assert target.kind == "labels"
    assert target.Y.toarray().tolist() == y


def test_a_hierarchy_closes_label_sets_and_gives_its_weights():
    target = encode_labels(np.array([[0, 1, 0, 0]]), hierarchy=TREE)
    assert target.Y.toarray().tolist() == [[1, 1, 0, 0]]
    assert target.weights.tolist() == [1, 0.75, 0.75, 1]


def test_frames_are_matched_to_the_hierarchy_by_name():
    y = pd.DataFrame({"d": [1, 0], "a/c": [0, 1]})
    assert encode_labels(y, hierarchy=TREE).Y.toarray().tolist() == [[0, 0, 0, 1], [1, 0, 1, 0]]


def test_label_weights_multiply():
    assert encode_labels(np.eye(4), hierarchy=TREE, label_weight=[1, 2, 0, 1]).weights.tolist() == [1, 1.5, 0, 1]


@pytest.mark.parametrize(
    ("y", "options", "words"),
    [
        (None, {}, "requires y to be passed"),
        (np.array([[0, 2], [1, 0]]), {}, "0/1 matrix with one column per label"),
        (np.array([[0, np.nan], [1, 0]]), {}, r"Input y contains NaN \(first in row 0\)"),
        (np.array([0, np.nan]), {}, "contains NaN"),
        (np.eye(3), {"hierarchy": TREE}, "y has 3 columns and the hierarchy 4 nodes"),
        (pd.DataFrame({"zz": [1]}), {"hierarchy": TREE}, "'zz' of y is not in the hierarchy"),
        (np.eye(4), {"label_weight": [1, 2]}, "one entry per label"),
        (np.eye(2), {"label_weight": [1, -2]}, ">= 0"),
        (np.eye(2), {"n_samples": 3}, "inconsistent numbers of samples"),
        (np.array([0.5, 1.5, 0.1]), {}, "Unknown label type"),
    ],
)
def test_bad_targets_are_refused_in_clear_words(y, options, words):
    with pytest.raises(ValueError, match=words):
        encode_labels(y, **options)


def test_numbers_are_standardised_with_weights():
    target = encode_numbers(np.array([[1.0, 5], [3, 5], [9, 5]]), sample_weight=np.array([1, 1, 0]))
    np.testing.assert_allclose(target.Y[:2, 0], [-1, 1])
    np.testing.assert_array_equal(target.Y[:, 1], 0)
    np.testing.assert_allclose(target.Y * target.scale + target.mean, [[1, 5], [3, 5], [9, 5]])


def test_numbers_refuse_bad_weights():
    with pytest.raises(ValueError, match="target_weight must have one entry per target"):
        encode_numbers([1.0, 2.0], target_weight=[1, 2])


def test_sparse_label_sets_are_judged_by_the_sum_of_repeated_cells_and_left_as_they_are():
    twice = sparse.csr_array((np.ones(2), np.zeros(2, dtype=int), np.array([0, 2, 2])), shape=(2, 2))
    with pytest.raises(ValueError, match="Label sets must be a 0/1 matrix"):
        encode_labels(twice)
    assert twice.nnz == 2
    cancelled = sparse.csr_array((np.array([1.0, 0.0]), np.zeros(2, dtype=int), np.array([0, 2, 2])), shape=(2, 2))
    assert encode_labels(cancelled).Y.toarray().tolist() == [[1, 0], [0, 0]]


@pytest.mark.parametrize("metric", ["hamming", "euclidean"])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_distances_of_label_sets_are_divided_by_the_largest_one(metric, n_threads):
    """Shares of the weight of the labels that one of two rows has, by every pair of rows."""
    rng = np.random.default_rng(0)
    Y = (rng.random((60, 9)) < rng.uniform(0.1, 0.9, (60, 1))).astype(float)
    target = encode_labels(Y, label_weight=rng.uniform(size=9))
    apart = np.abs(Y[:, None] - Y[None]) @ target.weights
    apart = apart if metric == "hamming" else np.sqrt(apart)
    first, second = np.divmod(np.arange(60 * 60), 60)
    found = target.distance(metric, n_threads=n_threads)(first, second)
    np.testing.assert_allclose(found, (apart / apart.max()).ravel(), rtol=1e-12)
