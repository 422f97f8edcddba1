import numpy as np
import pytest

from ramify.metrics import accuracy_score, f1_score, geometric_mean, recall_score


def rates(truth, predicted):
    """Sensitivity and specificity, from the definition."""
    return predicted[truth].mean(), (~predicted[~truth]).mean()


def test_pooled_over_all_cells():
    rng = np.random.default_rng(0)
    truth, predicted = rng.random((40, 6)) < 0.4, rng.random((40, 6)) < 0.4
    assert geometric_mean(truth, predicted) == pytest.approx(np.sqrt(np.prod(rates(truth, predicted))))


def test_a_label_without_positive_rows_is_left_out_and_counted():
    rng = np.random.default_rng(0)
    truth, predicted = rng.random((40, 3)) < 0.4, rng.random((40, 3)) < 0.4
    truth[:, 2] = False
    per_label = geometric_mean(truth, predicted, average=None)
    assert np.isnan(per_label[2])
    mean = geometric_mean(truth, predicted, average="macro")
    assert (mean, mean.n_left_out) == (pytest.approx(per_label[:2].mean()), 1)


def test_positive_class_is_given_by_name():
    true, predicted = ["yes", "no", "yes", "no"], ["yes", "yes", "no", "no"]
    assert geometric_mean(true, predicted, pos_label="yes") == 0.5
    assert recall_score(true, predicted, pos_label="yes") == 0.5


def test_three_classes_are_taken_one_against_the_rest():
    true, predicted = np.array(["a", "a", "b", "c"]), np.array(["a", "b", "b", "c"])
    expected = [np.sqrt(np.prod(rates(true == name, predicted == name))) for name in "abc"]
    np.testing.assert_allclose(geometric_mean(true, predicted, average=None), expected)
    assert geometric_mean(true, predicted, average="weighted") == pytest.approx(np.average(expected, weights=[2, 1, 1]))
    assert accuracy_score(true, predicted) == 0.75


def test_a_mean_over_rows_is_not_for_classes():
    with pytest.raises(ValueError, match=r"A mean over rows is for label sets. For classes pass average='macro'"):
        f1_score(["a", "b", "c"], ["a", "b", "b"])


def test_classes_of_mixed_types_are_refused():
    with pytest.raises(TypeError, match="The classes must be of one type"):
        accuracy_score(np.array(["a", 1], dtype=object), np.array(["a", 1], dtype=object))
