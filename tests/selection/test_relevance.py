import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import mutual_info_score

from ramify import Hierarchy
from ramify.selection.relevance import (
    gain_ratio,
    information_gain,
    lazy_r,
    lift,
    r_relevance,
)

# Figure 2: columns A, B, C, D.
FIGURE_2 = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 1, 1]])
FIGURE_2_CLASSES = np.array(["C1", "C2", "C2"])


def slow_probability(X, y, feature, value, label, smoothing, n_classes):
    rows = [i for i in range(len(y)) if X[i, feature] == value]
    with_label = [i for i in rows if y[i] == label]
    return (len(with_label) + smoothing) / (len(rows) + smoothing * n_classes)


def test_figure_2_by_equation_2():
    np.testing.assert_allclose(lazy_r(FIGURE_2, FIGURE_2_CLASSES, smoothing=0), [0.0, 0.5, 0.5, 0.5])


@pytest.mark.parametrize("seed", range(6))
def test_measures_equal_their_equations(random_problem, seed):
    _, X, y = random_problem(seed)
    classes = np.unique(y)
    k = len(classes)
    for feature in range(X.shape[1]):
        present = [slow_probability(X, y, feature, 1, c, 1, k) for c in classes]
        absent = [slow_probability(X, y, feature, 0, c, 1, k) for c in classes]
        r = sum((a - b) ** 2 for a, b in zip(present, absent, strict=True))
        assert r_relevance(X, y)[feature] == pytest.approx(r, abs=1e-12)
        assert lazy_r(X, y)[feature] == pytest.approx(sum((a - 1 / k) ** 2 for a in present), abs=1e-12)
        assert lazy_r(X, y, value=0)[feature] == pytest.approx(sum((b - 1 / k) ** 2 for b in absent), abs=1e-12)
        gain = mutual_info_score(X[:, feature], y) / np.log(2)
        assert information_gain(X, y)[feature] == pytest.approx(gain, abs=1e-9)


def test_a_feature_never_present_has_no_lazy_relevance():
    for y in ([0, 1, 1, 0], [0, 1, 2, 2]):
        assert lazy_r([[0, 1], [0, 1], [0, 0], [0, 0]], y)[0] == 0.0


def test_label_sets_sum_the_measure_over_labels(random_problem):
    _, X, _ = random_problem(3)
    Y = np.random.default_rng(0).integers(0, 2, size=(len(X), 4))
    for measure in (r_relevance, lazy_r, information_gain, gain_ratio):
        apart = sum(measure(X, Y[:, label]) for label in range(4))
        np.testing.assert_allclose(measure(X, Y), apart, atol=1e-12)
        np.testing.assert_allclose(measure(sparse.csr_array(X), sparse.csr_array(Y)), apart, atol=1e-12)


def test_hierarchical_labels_are_closed_first():
    labels = Hierarchy.from_edges([("top", "low")])
    X = np.array([[1, 0], [0, 1], [0, 0], [1, 1]])
    open_rows, closed_rows = np.array([[0, 1], [0, 0], [1, 0], [0, 1]]), np.array([[1, 1], [0, 0], [1, 0], [1, 1]])
    np.testing.assert_allclose(lazy_r(X, open_rows, hierarchy=labels), lazy_r(X, closed_rows))


def test_lift_of_the_positive_class_and_of_several():
    X = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    np.testing.assert_allclose(lift(X, [1, 1, 0, 0]), [2.0, 0.0])
    np.testing.assert_allclose(lift(X, [1, 1, 0, 2]), [2.0, 2.0])


def test_gain_ratio_divides_by_the_entropy_of_the_feature():
    X = np.array([[1], [0], [0], [0]])
    assert gain_ratio(X, [1, 0, 0, 0])[0] == pytest.approx(1.0)


def test_bad_input_is_refused_in_words():
    with pytest.raises(ValueError, match="Column 1 of X holds 2; features that form a hierarchy must be binary"):
        lazy_r([[0, 2], [1, 0]], [0, 1])
    with pytest.raises(ValueError, match="Column 0 of X holds 3"):
        lazy_r(sparse.csr_array([[3.0, 1.0], [1.0, 0.0]]), [0, 1])
    with pytest.raises(ValueError, match="bin a numeric target"):
        lazy_r([[0], [1]], [0.5, 1.5])
    with pytest.raises(ValueError, match="X has 2 rows and y has 3"):
        lazy_r([[0], [1]], [0, 1, 0])
    with pytest.raises(ValueError, match="'value' parameter of lazy_r must be 0 or 1"):
        lazy_r([[0], [1]], [0, 1], value=2)
    with pytest.raises(ValueError, match="0/1 matrix with one column per label"):
        lazy_r([[0], [1]], [[0, 2], [1, 0]])
