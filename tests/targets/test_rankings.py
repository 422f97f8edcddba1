"""Rankings as vectors: checks name the row, vectors give the correlations, averages give Table 4.2."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau, spearmanr

from ramify.targets.rankings import (
    average_ranking,
    break_ties,
    check_rankings,
    label_pairs,
    mean_preferences,
    pair_names,
    pair_signs,
    rank_labels,
    rank_vectors,
    ranking_names,
    sign_vectors,
)


@pytest.fixture
def tied_rankings():
    return np.random.default_rng(0).integers(1, 5, size=(40, 6))


def dense_ranks(values):
    return np.vstack([np.unique(row, return_inverse=True)[1] + 1.0 for row in values])


@pytest.mark.parametrize("tied", [[1, 2, 2, 3], [1, 2, 2, 4], [1, 3, 3, 4], [1, 2.5, 2.5, 4]])
def test_every_notation_of_ties_is_understood(tied):
    np.testing.assert_array_equal(check_rankings([tied]), [[1, 2.5, 2.5, 4]])


def test_unranked_labels_stay_unranked_and_may_leave_gaps():
    np.testing.assert_array_equal(check_rankings([[1, np.nan, 3], [2, 1, np.nan]]), [[1, np.nan, 2], [2, 1, np.nan]])


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([[1, 2, 3], [1, 2, 4]], r"Row 1 of y is no ranking of 3 labels: \[1, 2, 4\]"),
        ([[0, 1, 2]], "Row 0 of y is no ranking"),
        ([[1, 2, 3], [1, 2, np.inf]], "Row 1 of y is no ranking"),
        ([[1, 2, 3], [1, 7, np.nan]], "Row 1 of y is no ranking"),
        ([[1, 2, 3], [-1, 1, 2]], "Row 1 of y is no ranking"),
        ([["1", "2"], ["a>b", "1"]], "Row 1 of y holds 'a>b', which is not a rank"),
        (["a>b>c", "b>c>a"], "Row 0 of y holds 'a>b>c'"),
        ([[1, 2, 3], [1, 2]], "Row 1 of y ranks 2 labels, row 0 ranks 3"),
        ([[1], [1]], "ranks a single label"),
        ([1, 2, 3], "must be a matrix of ranks"),
        (np.empty((0, 3)), "has no rows"),
        ([[np.nan, np.nan]], "ranks no label in any row"),
    ],
)
def test_a_bad_ranking_is_refused_by_its_row(bad, message):
    with pytest.raises(ValueError, match=message):
        check_rankings(bad)


def test_another_number_of_labels_is_refused():
    with pytest.raises(ValueError, match=r"ranks 3 labels .* but 4 labels are known"):
        check_rankings([[1, 2, 3]], n_labels=4)


def test_a_frame_gives_names_and_ranks():
    frame = pd.DataFrame({"a": [1, 2], "b": [2, 1]})
    np.testing.assert_array_equal(check_rankings(frame), [[1, 2], [2, 1]])
    assert ranking_names(frame, 2) == ["a", "b"]
    assert ranking_names([[1, 2]], 2) == ["L1", "L2"]
    assert pair_names(["a", "b", "c"]) == ["a>b", "a>c", "b>c"]


def test_inner_products_of_sign_vectors_are_tau_b(tied_rankings):
    vectors = sign_vectors(check_rankings(dense_ranks(tied_rankings)))
    for i, j in [(0, 1), (2, 3), (4, 5), (6, 7)]:
        expected = kendalltau(tied_rankings[i], tied_rankings[j]).statistic
        assert vectors[i] @ vectors[j] == pytest.approx(expected, abs=1e-12)


def test_inner_products_of_rank_vectors_are_rho(tied_rankings):
    vectors = rank_vectors(check_rankings(dense_ranks(tied_rankings)))
    for i, j in [(0, 1), (2, 3), (4, 5), (6, 7)]:
        expected = spearmanr(tied_rankings[i], tied_rankings[j]).statistic
        assert vectors[i] @ vectors[j] == pytest.approx(expected, abs=1e-12)


def test_average_ranking_of_table_4_2():
    rankings = np.array([[1.0, 3, 2, 4], [2, 1, 4, 3]])
    average = average_ranking(mean_preferences(rankings), 4)
    np.testing.assert_allclose(average, [1.5, 2, 3, 3.5])
    np.testing.assert_array_equal(rank_labels(average), [1, 2, 3, 4])


def test_average_ranking_is_the_mean_of_tied_ranks(tied_rankings):
    ranks = check_rankings(dense_ranks(tied_rankings))
    np.testing.assert_allclose(average_ranking(mean_preferences(ranks), 6), ranks.mean(axis=0))


def test_a_pair_is_averaged_over_the_rows_that_compare_it():
    ranks = check_rankings([[1, 2, np.nan], [1, np.nan, 2], [1, 2, 3]])
    np.testing.assert_allclose(mean_preferences(ranks), [1, 1, 1])
    np.testing.assert_allclose(mean_preferences(ranks[:1]), [1, 0, 0])


def test_ties_are_kept_or_broken_by_label_order():
    np.testing.assert_array_equal(rank_labels(np.array([2.0, 1.0, 2.0 + 1e-13])), [2.5, 1, 2.5])
    np.testing.assert_array_equal(break_ties(np.array([[2.5, 1, 2.5]])), [[2, 1, 3]])


def test_signs_follow_the_order_of_pairs():
    first, second = label_pairs(4)
    ranks = np.array([[2.0, 1, 4, 3]])
    np.testing.assert_array_equal(pair_signs(ranks)[0], np.sign(ranks[0, second] - ranks[0, first]))
