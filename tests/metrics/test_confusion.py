import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, multilabel_confusion_matrix

from ramify.metrics import (
    confusion,
    false_negative_rate,
    false_positive_rate,
    geometric_mean,
    true_negative_rate,
    true_positive_rate,
)


@pytest.fixture
def sets():
    rng = np.random.default_rng(0)
    truth, predicted = (rng.random((40, 6)) < 0.4).astype(int), (rng.random((40, 6)) < 0.4).astype(int)
    truth[:, 5] = 0
    return truth, predicted


def test_confusion_equals_scikit_learns(sets):
    np.testing.assert_array_equal(confusion(*sets), multilabel_confusion_matrix(*sets))
    pooled = confusion_matrix(sets[0].ravel(), sets[1].ravel())
    np.testing.assert_array_equal(confusion(*sets, average="micro"), pooled)


def test_rates_follow_from_the_counts(sets):
    (tn, fp), (fn, tp) = confusion(*sets, average="micro")
    assert true_positive_rate(*sets) == tp / (tp + fn)
    assert true_negative_rate(*sets) == tn / (tn + fp)
    assert false_positive_rate(*sets) == fp / (tn + fp)
    assert false_negative_rate(*sets) == fn / (tp + fn)
    assert geometric_mean(*sets) == pytest.approx(np.sqrt(tp / (tp + fn) * tn / (tn + fp)))


def test_label_without_positives_is_left_out_and_counted(sets):
    per_label = true_positive_rate(*sets, average=None)
    assert np.isnan(per_label[5])
    mean = true_positive_rate(*sets, average="macro")
    assert (mean, mean.n_left_out) == (pytest.approx(per_label[:5].mean()), 1)


def test_positive_class_is_given_by_name():
    true, predicted = ["yes", "no", "yes", "no"], ["yes", "yes", "no", "no"]
    assert confusion(true, predicted, pos_label="yes", average="micro").tolist() == [[1, 1], [1, 1]]
    assert geometric_mean(true, predicted, pos_label="yes") == 0.5


def test_three_classes_are_taken_one_against_the_rest():
    true, predicted = np.array(["a", "a", "b", "c"]), np.array(["a", "b", "b", "c"])
    expected = []
    for name in "abc":
        t, p = true == name, predicted == name
        expected.append(np.sqrt((t & p).sum() / t.sum() * (~t & ~p).sum() / (~t).sum()))
    np.testing.assert_allclose(geometric_mean(true, predicted, average=None), expected)
    assert geometric_mean(true, predicted, average="weighted") == pytest.approx(np.average(expected, weights=[2, 1, 1]))
