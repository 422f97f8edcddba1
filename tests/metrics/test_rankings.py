"""Measures of rankings equal scipy row by row and brute force on ties and partial orders."""

import itertools

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from ramify.metrics.label_rankings import kendall_tau, spearman_footrule, spearman_rho, top_k_overlap


def random_rankings(seed, n_rows=30, n_labels=6, ties=True):
    generator = np.random.default_rng(seed)
    values = generator.integers(0, 4, (n_rows, n_labels)) if ties else generator.random((n_rows, n_labels))
    return np.vstack([np.unique(row, return_inverse=True)[1] + 1.0 for row in values])


@pytest.mark.parametrize("ties", [False, True])
def test_tau_and_rho_equal_scipy(ties):
    true, pred = random_rankings(0, ties=ties), random_rankings(1, ties=ties)
    tau = [kendalltau(*rows).statistic for rows in zip(true, pred, strict=True)]
    rho = [spearmanr(*rows).statistic for rows in zip(true, pred, strict=True)]
    np.testing.assert_allclose(kendall_tau(true, pred, average=None), tau, atol=1e-12)
    np.testing.assert_allclose(spearman_rho(true, pred, average=None), rho, atol=1e-12)
    assert kendall_tau(true, pred) == pytest.approx(np.mean(tau))


def test_unranked_labels_are_not_compared():
    true, pred = random_rankings(2), random_rankings(3)
    holes = np.random.default_rng(4).random(true.shape) < 0.3
    partial = np.where(holes, np.nan, true)
    for row, value in enumerate(kendall_tau(partial, pred, average=None)):
        kept = ~holes[row]
        expected = kendalltau(true[row, kept], pred[row, kept]).statistic if kept.sum() > 1 else np.nan
        if np.isnan(expected) and len(set(true[row, kept])) > 1:
            expected = 0.0
        np.testing.assert_allclose(value, expected, atol=1e-12)


def test_tau_a_counts_pairs_by_brute_force():
    true, pred = random_rankings(5), random_rankings(6)
    for row, value in enumerate(kendall_tau(true, pred, variant="a", average=None)):
        pairs = list(itertools.combinations(range(6), 2))
        signs = [np.sign(true[row, a] - true[row, b]) * np.sign(pred[row, a] - pred[row, b]) for a, b in pairs]
        assert value == pytest.approx(sum(signs) / len(pairs))


def test_a_prediction_without_order_scores_zero_and_a_truth_without_order_is_left_out():
    assert kendall_tau([[1, 2, 3]], [[1, 1, 1]]) == 0
    assert spearman_rho([[1, 2, 3]], [[1, 1, 1]]) == 0
    assert kendall_tau([[1, 2, 3], [1, 1, 1]], [[1, 2, 3], [1, 2, 3]]) == 1
    assert np.isnan(kendall_tau([[1, 1, 1]], [[1, 2, 3]]))


def test_footrule_of_the_reversed_ranking_is_the_largest():
    order = np.arange(1.0, 6.0)
    permutations = np.array(list(itertools.permutations(order)))
    true = np.tile(order, (len(permutations), 1))
    plain = spearman_footrule(true, permutations, normalize=False, average=None)
    np.testing.assert_allclose(plain, np.abs(true - permutations).sum(axis=1))
    assert spearman_footrule([order], [order[::-1]]) == 1 == plain.max() / 12


def test_top_k_counts_common_labels_and_shares_tied_places():
    true, pred = random_rankings(7, ties=False), random_rankings(8, ties=False)
    expected = [len(set(np.argsort(a)[:2]) & set(np.argsort(b)[:2])) / 2 for a, b in zip(true, pred, strict=True)]
    np.testing.assert_allclose(top_k_overlap(true, pred, k=2, average=None), expected)
    assert top_k_overlap([[1, 2, 3]], [[1, 1, 2]], k=1) == 0.5
    assert np.isnan(top_k_overlap([[1, 2, np.nan]], [[1, 2, 3]], k=3))


@pytest.mark.parametrize("measure", [kendall_tau, spearman_rho, spearman_footrule, top_k_overlap])
def test_bad_input_is_refused(measure):
    with pytest.raises(ValueError, match="Row 1 of y_true is no ranking"):
        measure([[1, 2], [1, 3]], [[1, 2], [1, 2]])
    with pytest.raises(ValueError, match="y_true has 1 rows and y_pred 2"):
        measure([[1, 2]], [[1, 2], [1, 2]])
    with pytest.raises(ValueError, match="'average' parameter"):
        measure([[1, 2]], [[1, 2]], average="macro")


def test_bad_options_are_refused():
    with pytest.raises(ValueError, match="'variant' parameter of kendall_tau"):
        kendall_tau([[1, 2]], [[1, 2]], variant="c")
    with pytest.raises(ValueError, match="'k' parameter of top_k_overlap must be an int >= 1"):
        top_k_overlap([[1, 2]], [[1, 2]], k=0)
