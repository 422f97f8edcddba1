import itertools
import pickle

import numpy as np
import pytest
import sklearn.metrics
from scipy import sparse

from ramify.metrics import auprc, average_precision_score, roc_auc_score


def davis_goadrich(truth, scores):
    """The paper's own words: interpolated points for each whole number of true positives, then trapezoids."""
    points = [(0, 0)]
    for threshold in sorted(set(scores), reverse=True):
        chosen = scores >= threshold
        points.append((int(truth[chosen].sum()), int((1 - truth[chosen]).sum())))
    n_positives = int(truth.sum())
    area = 0.0
    for (tp, fp), (next_tp, next_fp) in itertools.pairwise(points):
        previous = tp / (tp + fp) if tp + fp else next_tp / (next_tp + next_fp)
        for x in range(1, next_tp - tp + 1):
            precision = (tp + x) / (tp + x + fp + (next_fp - fp) / (next_tp - tp) * x)
            area += (previous + precision) / 2 / n_positives
            previous = precision
    return area


@pytest.fixture(params=range(6))
def labelled(request):
    rng = np.random.default_rng(request.param)
    n_rows, n_labels = rng.integers(2, 40), rng.integers(1, 9)
    truth = (rng.random((n_rows, n_labels)) < rng.random(n_labels)).astype(int)
    truth[0, 0] = 1
    scores = np.round(rng.random((n_rows, n_labels)), request.param % 3 + 1)
    scores[rng.random(scores.shape) < 0.4] = 0
    return truth, scores


def test_pooled_auprc_equals_the_papers_interpolation(labelled):
    truth, scores = labelled
    assert auprc(truth, scores) == pytest.approx(davis_goadrich(truth.ravel(), scores.ravel()), abs=1e-12)


def test_auprc_per_label_equals_the_papers_interpolation(labelled):
    truth, scores = labelled
    values = auprc(truth, scores, average=None)
    for j, value in enumerate(values):
        if truth[:, j].any():
            assert value == pytest.approx(davis_goadrich(truth[:, j], scores[:, j]), abs=1e-12)
        else:
            assert np.isnan(value)


def test_macro_and_weighted_average_the_labels_with_positives_and_count_the_others(labelled):
    truth, scores = labelled
    per_label = auprc(truth, scores, average=None)
    defined = truth.any(axis=0)
    macro, weighted = (auprc(truth, scores, average=average) for average in ("macro", "weighted"))
    assert macro == pytest.approx(per_label[defined].mean())
    assert weighted == pytest.approx(np.average(per_label[defined], weights=truth.sum(axis=0)[defined]))
    assert macro.n_left_out == weighted.n_left_out == (~defined).sum()


def test_average_precision_and_auroc_equal_scikit_learns(labelled):
    truth, scores = labelled
    for ours in (average_precision_score, roc_auc_score):
        theirs = getattr(sklearn.metrics, ours.__name__)
        assert ours(truth, scores, average="micro") == pytest.approx(theirs(truth.ravel(), scores.ravel()))
        assert theirs(truth[:, 0], scores[:, 0]) == pytest.approx(ours(truth[:, 0], scores[:, 0]), nan_ok=True)
    both = truth.any(axis=0) & ~truth.all(axis=0)
    if both.sum() > 1:
        expected = sklearn.metrics.roc_auc_score(truth[:, both], scores[:, both])
        assert roc_auc_score(truth, scores) == pytest.approx(expected)
    per_label = roc_auc_score(truth, scores, average=None)
    for j, value in enumerate(per_label):
        if 0 < truth[:, j].sum() < len(truth):
            assert value == pytest.approx(sklearn.metrics.roc_auc_score(truth[:, j], scores[:, j]))
        else:
            assert np.isnan(value)


@pytest.mark.parametrize("measure", [auprc, average_precision_score, roc_auc_score])
@pytest.mark.parametrize("average", ["micro", "macro", "weighted", None])
def test_sparse_scores_and_sets_give_the_same_value(labelled, measure, average):
    truth, scores = labelled
    scores = scores - 0.2 * (scores > 0.7) - 1.5 * (scores > 0.9)
    dense = measure(truth, scores, average=average)
    for form in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        np.testing.assert_array_equal(measure(form(truth), form(scores), average=average), dense)


def test_scores_of_a_constant_give_the_share_of_positives():
    truth = np.array([[1, 0, 0, 1], [0, 0, 1, 0]])
    assert auprc(truth, np.full(truth.shape, 0.3)) == pytest.approx(3 / 8)
    assert roc_auc_score(truth, np.full(truth.shape, 0.3)) == 0.5


def test_universal_labels_can_be_left_out():
    truth = np.array([[1, 1, 0], [1, 0, 1], [1, 0, 0]])
    scores = np.array([[1.0, 0.2, 0.1], [1.0, 0.3, 0.9], [1.0, 0.1, 0.4]])
    without = auprc(truth, scores, exclude_universal=True)
    assert without == auprc(truth[:, 1:], scores[:, 1:])
    assert without.n_left_out == 1
    assert auprc(truth, scores, exclude_universal=True, average=None).shape == (2,)


def test_nothing_to_measure_is_nan():
    assert np.isnan(auprc(np.zeros((3, 2)), np.zeros((3, 2))))
    assert np.isnan(roc_auc_score(np.ones((3, 2)), np.zeros((3, 2))))
    assert auprc(np.zeros((3, 2)), np.zeros((3, 2)), average="macro").n_left_out == 2


def test_a_score_is_a_float_that_survives_pickling():
    score = auprc([[1, 0], [0, 0]], [[0.9, 0.2], [0.1, 0.3]], average="macro")
    copy = pickle.loads(pickle.dumps(score))
    assert (copy, copy.n_left_out) == (1.0, 1)
    assert isinstance(score, float)


@pytest.mark.parametrize(
    ("truth", "scores", "words"),
    [
        ([[0, 2]], [[0.1, 0.2]], "y_true must hold only 0 and 1. Got 2 in column 1"),
        ([[0, 1]], [[0.1, np.nan]], "y_score must be finite. Got NaN or infinity in column 1"),
        ([[0, 1]], [[0.1]], r"same shape, one column per label. Got \(1, 2\) and \(1, 1\)"),
        (np.zeros((0, 2)), np.zeros((0, 2)), "at least one row"),
        ([["a", "b"]], [[0.1, 0.2]], "Got text or mixed values"),
        (np.zeros((1, 2, 2)), np.zeros((1, 2, 2)), "one or two dimensions. Got 3"),
    ],
)
def test_bad_input_is_named(truth, scores, words):
    with pytest.raises(ValueError, match=words):
        auprc(truth, scores)


def test_bad_sparse_input_is_named():
    with pytest.raises(ValueError, match="Got 3 in column 1"):
        auprc(sparse.csr_array([[0, 3]]), [[0.1, 0.2]])
    with pytest.raises(ValueError, match="column 1"):
        auprc([[0, 1]], sparse.csr_array([[0, np.inf]]))


def test_unknown_average_is_refused_by_name():
    with pytest.raises(ValueError, match=r"'average' parameter must be one of 'micro'.*Got 'mean'"):
        auprc([[0, 1]], [[0.1, 0.2]], average="mean")
