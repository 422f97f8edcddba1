"""Precision at k, against its definition row by row."""

import math
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from ramify import Hierarchy
from ramify.metrics import label_propensities, larger_is_better, one_error, precision_at
from ramify.metrics.measures import takes


def reference(truth, scores, k, propensity=None):
    """Row by row from the paper: hits weigh one over the propensity, over the best that any k labels could reach."""
    gained, reachable = 0.0, 0.0
    for labels, values in zip(truth, scores, strict=True):
        order = sorted((j for j in range(len(labels)) if not np.isnan(labels[j])), key=lambda j: (-values[j], j))
        worth = [1.0 if propensity is None else 1 / propensity[j] for j in range(len(labels))]
        gained += sum(worth[j] for j in order[:k] if labels[j] == 1)
        reachable += sum(sorted((worth[j] for j in order if labels[j] == 1), reverse=True)[:k])
    return gained / (len(truth) * k) if propensity is None else gained / reachable


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    truth = (rng.random((40, 9)) < 0.3).astype(int)
    scores = np.round(rng.random((40, 9)) * truth.clip(0.5), 1)  # ties and zeros
    scores[rng.random(scores.shape) < 0.4] = 0.0
    return truth, scores


@pytest.mark.parametrize("k", [1, 3, 9])
@pytest.mark.parametrize("scored", [False, True])
def test_equals_the_definition_in_every_format(data, k, scored):
    truth, scores = data
    propensity = label_propensities(truth) if scored else None
    expected = reference(truth, scores, k, propensity)
    for y, s in [
        (truth, scores),
        (sparse.csr_array(truth), sparse.csc_array(scores)),
        (truth, sparse.csr_array(scores)),
    ]:
        assert precision_at(y, s, k=k, propensity=propensity) == pytest.approx(expected, rel=1e-12)
    names = [f"l{j}" for j in range(9)]
    shuffled = pd.DataFrame(scores, columns=names)[names[::-1]]
    assert precision_at(pd.DataFrame(truth, columns=names), shuffled, k=k, propensity=propensity) == pytest.approx(
        expected, rel=1e-12
    )


def test_negative_scores_of_a_sparse_matrix_come_behind_what_it_does_not_store(data):
    truth, scores = data
    shifted = np.where(scores > 0, scores - 0.4, 0.0)
    for k in (2, 8):
        assert precision_at(truth, sparse.csr_array(shifted), k=k) == pytest.approx(reference(truth, shifted, k))


def test_unknown_cells_are_left_out(data):
    truth, scores = data
    partly = truth.astype(float)
    partly[::3, ::2] = np.nan
    for k in (1, 2, 4):
        found = precision_at(partly, scores, k=k)
        assert found == pytest.approx(reference(partly, scores, k))
        assert found.n_unknown == np.isnan(partly).sum()


def test_a_hierarchy_closes_the_truth():
    tree = Hierarchy.from_paths(["a/b", "c"])
    assert precision_at([[0, 1, 0]], [[0.9, 0.8, 0.1]], k=2, hierarchy=tree) == 1.0
    assert precision_at([[0, 1, 0]], [[0.9, 0.8, 0.1]], k=2) == 0.5


def test_propensities_follow_the_paper():
    counts, n_rows = [1, 5, 40], 50
    y = np.array([[int(row < count) for count in counts] for row in range(n_rows)])
    constant = (math.log(n_rows) - 1) * (1.5 + 1) ** 0.55
    expected = [1 / (1 + constant * math.exp(-0.55 * math.log(count + 1.5))) for count in counts]
    np.testing.assert_allclose(label_propensities(y), expected, rtol=1e-12)
    np.testing.assert_allclose(label_propensities(sparse.csr_array(y), a=0.0, b=0.0), 1 / math.log(n_rows))


def test_perfect_scores_reach_one_by_propensity(data):
    truth, _ = data
    worth = 1 / label_propensities(truth)
    assert precision_at(truth, truth * worth, k=3, propensity=1 / worth) == pytest.approx(1.0)
    assert precision_at(truth, -truth * worth, k=3, propensity=1 / worth) < 0.5


def test_it_knows_its_direction_and_what_it_takes():
    three = partial(precision_at, k=3)
    assert larger_is_better(three)
    assert takes(three) == "scores"


def test_bad_input_is_refused_in_words(data):
    truth, scores = data
    for k in (0, 10, 2.5):
        with pytest.raises(ValueError, match=r"'k' parameter of precision_at must be an int in \[1, 9\]"):
            precision_at(truth, scores, k=k)
    for wrong in (np.ones(8), np.zeros(9), np.full(9, 2.0), np.full(9, np.nan)):
        with pytest.raises(ValueError, match=r"'propensity' parameter .* in \(0, 1\] for each of the 9 labels"):
            precision_at(truth, scores, propensity=wrong)
    with pytest.raises(ValueError, match="at least 3 rows"):
        label_propensities(truth[:2])


def test_rows_without_labels_cannot_be_weighted():
    assert np.isnan(precision_at(np.zeros((3, 2), int), np.ones((3, 2)), propensity=[0.5, 0.5]))
    assert precision_at(np.zeros((3, 2), int), np.ones((3, 2))) == 0.0


def test_one_error_is_the_share_of_rows_whose_first_label_is_wrong():
    rng = np.random.default_rng(0)
    truth, scores = rng.random((50, 4)) < 0.4, rng.random((50, 4))
    expected = np.mean([not row[np.argmax(given)] for row, given in zip(truth, scores, strict=True)])
    assert one_error(truth, scores) == pytest.approx(expected)
    assert one_error(sparse.csr_array(truth), sparse.csr_array(scores)) == pytest.approx(expected)
