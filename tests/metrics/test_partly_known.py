"""Cells whose truth is unknown are left out of every measure, and counted."""

import numpy as np
import pytest
from scipy import sparse

from ramify import Hierarchy, metrics
from ramify.metrics.hierarchical import label_information

NAN = np.nan
RNG = np.random.default_rng(0)
TRUTH = (RNG.random((40, 5)) < 0.4).astype(float)
HIDDEN = RNG.random(TRUTH.shape) < 0.3
PARTLY = np.where(HIDDEN, NAN, TRUTH)
SCORES = np.clip(TRUTH * 0.3 + RNG.random(TRUTH.shape), 0, 1).round(2)
SETS = (SCORES > 0.5).astype(int)
KNOWN = ~HIDDEN


@pytest.mark.parametrize("name", ["auprc", "average_precision_score", "roc_auc_score"])
@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
def test_pooled_and_mean_areas_are_those_of_known_cells(name, stored):
    measure = getattr(metrics, name)
    pooled = measure(stored(PARTLY), SCORES, average="micro")
    assert pooled.n_unknown == HIDDEN.sum()
    np.testing.assert_allclose(pooled, measure(TRUTH[KNOWN], SCORES[KNOWN]))
    expected = [measure(TRUTH[KNOWN[:, j], j], SCORES[KNOWN[:, j], j]) for j in range(5)]
    np.testing.assert_allclose(measure(stored(PARTLY), SCORES, average=None), expected)


@pytest.mark.parametrize("name", ["precision_score", "recall_score", "f1_score", "jaccard_score"])
def test_set_measures_see_known_cells_only(name):
    measure = getattr(metrics, name)
    pooled = measure(PARTLY, SETS, average="micro")
    np.testing.assert_allclose(pooled, measure(TRUTH[KNOWN], SETS[KNOWN], average="micro"))
    assert pooled.n_unknown == HIDDEN.sum()
    none = np.zeros((1, 2), dtype=int)  # labels that a row neither has nor gets change nothing
    rows = [
        measure(np.hstack([TRUTH[[i]][:, KNOWN[i]], none]), np.hstack([SETS[[i]][:, KNOWN[i]], none]))
        for i in np.flatnonzero(KNOWN.any(axis=1))
    ]
    np.testing.assert_allclose(measure(PARTLY, SETS), np.mean(rows))


def test_hamming_counts_and_rates_are_of_known_cells():
    np.testing.assert_allclose(metrics.hamming_loss(PARTLY, SETS), np.mean(TRUTH[KNOWN] != SETS[KNOWN]))
    np.testing.assert_allclose(metrics.geometric_mean(PARTLY, SETS), metrics.geometric_mean(TRUTH[KNOWN], SETS[KNOWN]))
    right = ((TRUTH == SETS) | HIDDEN).all(axis=1)[KNOWN.any(axis=1)]
    np.testing.assert_allclose(metrics.accuracy_score(PARTLY, SETS), right.mean())


def test_hierarchical_measures_know_what_follows_from_the_hierarchy():
    tree = Hierarchy.from_paths(["a", "a/b", "c"])
    partly = np.array([[NAN, 1, 0], [0, NAN, 1], [1, NAN, 0], [0, 0, 1.0]])
    complete = np.array([[1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 0, 1]])
    scores = np.array([[0.9, 0.8, 0.1], [0.6, 0.2, 0.7], [0.8, 0.0, 0.3], [0.2, 0.1, 0.9]])
    pooled = metrics.auprc(partly, scores, hierarchy=tree)
    assert pooled.n_unknown == 1  # a/b of the third row; the others follow
    np.testing.assert_allclose(pooled, metrics.auprc(np.delete(complete, 7), np.delete(scores, 7)))
    # nothing is predicted in the unknown cell, so that CAFA's measures do not see it either
    assert metrics.fmax(partly, scores, hierarchy=tree) == metrics.fmax(complete, scores, hierarchy=tree)
    bits = label_information(partly, hierarchy=tree)
    np.testing.assert_allclose(bits, [1.0, 0.0, 1.0])
    assert metrics.smin(partly, scores, hierarchy=tree).n_unknown == 1
    assert metrics.smin(partly, scores, hierarchy=tree, exclude_universal=True) >= 0


@pytest.mark.parametrize("name", ["root_mean_squared_error", "rrmse", "r2_score"])
def test_measures_of_numbers_leave_unknown_ones_out(name):
    measure = getattr(metrics, name)
    truth, predicted = RNG.normal(size=(30, 3)), RNG.normal(size=(30, 3))
    partly = np.where(RNG.random(truth.shape) < 0.4, NAN, truth)
    known = ~np.isnan(partly)
    expected = [measure(truth[known[:, j], j], predicted[known[:, j], j]) for j in range(3)]
    np.testing.assert_allclose(measure(partly, predicted, average=None), expected)
    assert measure(partly, predicted).n_unknown == (~known).sum()


def test_unknown_predictions_are_refused():
    with pytest.raises(ValueError, match="y_score must be finite"):
        metrics.auprc(TRUTH, PARTLY)
    with pytest.raises(ValueError, match="y_pred must hold only 0 and 1"):
        metrics.hamming_loss(TRUTH, PARTLY)
    with pytest.raises(ValueError, match="y_true must be finite"):
        metrics.r2_score([1.0, NAN], [1.0, 2.0])
