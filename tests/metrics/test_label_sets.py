import numpy as np
import pytest
import sklearn.metrics
from scipy import sparse

from ramify.metrics import accuracy_score, f1_score, hamming_loss, jaccard_score, precision_score, recall_score

TRUE = [1, 1, 0, 1, 0]


def thesis_measures(truth, predicted, empty):
    """Section 2.5, row by row."""
    values = {name: [] for name in ("PR", "RE", "F1", "AC")}
    for true, guess in zip(truth, predicted, strict=True):
        t, p = set(np.flatnonzero(true)), set(np.flatnonzero(guess))
        for name, numerator, denominator in (
            ("PR", len(t & p), len(p)),
            ("RE", len(t & p), len(t)),
            ("F1", 2 * len(t & p), len(t) + len(p)),
            ("AC", len(t & p), len(t | p)),
        ):
            if denominator:
                values[name].append(numerator / denominator)
            elif empty == "zero":
                values[name].append(float(not t and not p))
    result = {name: np.mean(rows) for name, rows in values.items()}
    result["HL"] = np.mean(truth != predicted)
    result["CL"] = np.mean((truth == predicted).all(axis=1))
    return result


def measured(truth, predicted, empty):
    by_row = {"PR": precision_score, "RE": recall_score, "F1": f1_score, "AC": jaccard_score}
    values = {name: measure(truth, predicted, empty=empty) for name, measure in by_row.items()}
    return values | {"HL": hamming_loss(truth, predicted), "CL": accuracy_score(truth, predicted)}


@pytest.fixture(params=range(4))
def sets(request):
    rng = np.random.default_rng(request.param)
    truth, predicted = (rng.random((30, 5)) < 0.3).astype(int), (rng.random((30, 5)) < 0.25).astype(int)
    truth[:3], predicted[2:5] = 0, 0
    predicted[6:10] = truth[6:10]
    return truth, predicted


@pytest.mark.parametrize("empty", ["zero", "skip"])
def test_measures_equal_the_thesis(sets, empty):
    truth, predicted = sets
    expected = thesis_measures(truth, predicted, empty)
    assert measured(truth, predicted, empty) == pytest.approx(expected)
    sparse_sets = sparse.csr_array(truth), sparse.csc_matrix(predicted)
    assert measured(*sparse_sets, empty) == pytest.approx(expected)


def test_skipped_rows_are_counted():
    score = precision_score([[1, 0], [1, 0], [0, 0]], [[1, 0], [0, 0], [0, 0]], empty="skip")
    assert (score, score.n_left_out) == (1.0, 2)
    assert precision_score([[1, 0], [1, 0], [0, 0]], [[1, 0], [0, 0], [0, 0]]) == pytest.approx(2 / 3)


@pytest.mark.parametrize("average", ["micro", "macro", "weighted", None])
@pytest.mark.parametrize("ours", [precision_score, recall_score, f1_score, jaccard_score])
def test_averages_over_labels_equal_scikit_learns(sets, ours, average):
    truth, predicted = sets
    theirs = getattr(sklearn.metrics, ours.__name__)
    np.testing.assert_allclose(ours(truth, predicted, average=average), theirs(truth, predicted, average=average))


def test_hamming_per_label_and_pooled(sets):
    truth, predicted = sets
    np.testing.assert_allclose(hamming_loss(truth, predicted, average=None), (truth != predicted).mean(axis=0))
    assert hamming_loss(truth, predicted) == pytest.approx(sklearn.metrics.hamming_loss(truth, predicted))


def test_universal_labels_can_be_left_out():
    truth, predicted = np.array([[1, 1], [1, 0]]), np.array([[0, 1], [1, 0]])
    assert accuracy_score(truth, predicted) == 0.5
    assert accuracy_score(truth, predicted, exclude_universal=True) == 1.0
    assert hamming_loss(truth, predicted, exclude_universal=True).n_left_out == 1


def test_labels_never_predicted_are_left_out_of_mean_precision():
    score = precision_score([[1, 1], [1, 0]], [[1, 0], [1, 0]], average="macro")
    assert (score, score.n_left_out) == (1.0, 1)


def test_unknown_treatment_of_empty_sets_is_refused():
    with pytest.raises(ValueError, match=r"'empty' parameter must be 'zero' or 'skip'. Got 'nan'"):
        recall_score([[1]], [[1]], empty="nan")


def test_the_users_sparse_matrices_are_left_as_they_are():
    unsorted = sparse.csc_array((np.ones(3), np.array([2, 0, 1]), np.array([0, 2, 3])), shape=(3, 2))
    for part in (unsorted.data, unsorted.indices, unsorted.indptr):
        part.flags.writeable = False
    assert hamming_loss(unsorted, unsorted) == 0
    assert unsorted.indices.tolist() == [2, 0, 1]
