import itertools

import numpy as np
import pytest
from scipy import sparse

from ramify.hierarchy import Hierarchy
from ramify.metrics import auprc, fmax, hierarchical_f, hierarchical_precision, hierarchical_recall, measure_table, smin
from ramify.metrics.hierarchical import label_information

DIAMOND = Hierarchy.from_edges([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("c", "e")])


@pytest.fixture(params=range(4))
def annotated(request):
    rng = np.random.default_rng(request.param)
    truth = (rng.random((25, 5)) < 0.25).astype(int)
    truth[0] = 0
    scores = np.round(rng.random((25, 5)), 2)
    scores[rng.random(scores.shape) < 0.3] = 0
    return truth, scores


def closed_sets(Y):
    sets = []
    for row in np.asarray(Y):
        named = {DIAMOND.names[j] for j in np.flatnonzero(row)}
        sets.append(named | set(itertools.chain.from_iterable(DIAMOND.ancestors(name) for name in named)))
    return sets


def test_precision_recall_and_f_equal_kiritchenkos_sums(annotated):
    truth, scores = annotated
    predicted = (scores > 0.5).astype(int)
    true, guess = closed_sets(truth), closed_sets(predicted)
    both = sum(len(t & p) for t, p in zip(true, guess, strict=True))
    hp, hr = both / sum(map(len, guess)), both / sum(map(len, true))
    assert hierarchical_precision(truth, predicted, hierarchy=DIAMOND) == pytest.approx(hp)
    assert hierarchical_recall(truth, predicted, hierarchy=DIAMOND) == pytest.approx(hr)
    assert hierarchical_f(truth, predicted, hierarchy=DIAMOND) == pytest.approx(2 * hp * hr / (hp + hr))


def test_fmax_and_smin_raise_scores_to_those_of_the_descendants_as_cafa_does(annotated):
    truth, scores = annotated
    names = list(DIAMOND.names)
    raised = scores.copy()
    for name in names:
        below = [names.index(name), *(names.index(other) for other in DIAMOND.descendants(name))]
        raised[:, names.index(name)] = scores[:, below].max(axis=1)
    assert (raised != scores).any()
    closed = DIAMOND.close(truth)
    information = label_information(truth, hierarchy=DIAMOND)
    before = scores.copy()
    assert fmax(truth, scores, hierarchy=DIAMOND) == fmax(closed, raised)
    assert smin(truth, scores, hierarchy=DIAMOND) == smin(closed, raised, information=information)
    assert fmax(truth, sparse.csr_array(scores), hierarchy=DIAMOND) == fmax(closed, raised)
    np.testing.assert_array_equal(scores, before)


def test_fmax_equals_the_definition(annotated):
    truth, scores = annotated
    best = 0.0
    annotated_rows = truth[truth.any(axis=1)], scores[truth.any(axis=1)]
    for threshold in np.arange(1, 101) / 100:
        precisions, recalls = [], []
        for true, score in zip(*annotated_rows, strict=True):
            guess = score >= threshold
            recalls.append((guess & (true == 1)).sum() / true.sum())
            if guess.any():
                precisions.append((guess & (true == 1)).sum() / guess.sum())
        if precisions and np.mean(precisions) + np.mean(recalls) > 0:
            p, r = np.mean(precisions), np.mean(recalls)
            best = max(best, 2 * p * r / (p + r))
    score = fmax(truth, scores)
    assert score == pytest.approx(best)
    assert score.n_left_out == (~truth.any(axis=1)).sum()
    assert fmax(sparse.csr_array(truth), sparse.csr_array(scores)) == score


def test_smin_equals_the_definition(annotated):
    truth, scores = annotated
    bits = np.array([0.0, 1.5, 0.25, 3.0, 2.0])
    best = min(
        np.hypot(
            np.mean([bits[(t == 1) & (s < threshold)].sum() for t, s in zip(truth, scores, strict=True)]),
            np.mean([bits[(t == 0) & (s >= threshold)].sum() for t, s in zip(truth, scores, strict=True)]),
        )
        for threshold in np.arange(1, 101) / 100
    )
    assert smin(truth, scores, information=bits) == pytest.approx(best)
    assert smin(sparse.csr_array(truth), sparse.csr_array(scores), information=bits) == pytest.approx(best)


def test_information_is_the_surprise_given_all_parents():
    sets = DIAMOND.encode([["a"], ["b"], ["c"], ["b", "c"], ["d"], ["d"], ["b", "c"], ["b", "c"]])
    bits = dict(zip(DIAMOND.names, label_information(sets, hierarchy=DIAMOND), strict=True))
    assert bits["a"] == 0
    assert bits["b"] == pytest.approx(-np.log2(6 / 8))
    assert bits["d"] == pytest.approx(-np.log2(2 / 5))
    assert bits["e"] == pytest.approx(-np.log2(1 / 7))


def test_hierarchy_closes_the_truth_before_auprc(annotated):
    truth, scores = annotated
    closed = DIAMOND.close(truth)
    assert auprc(truth, scores, hierarchy=DIAMOND) == auprc(closed, scores)


def test_table_of_a_hierarchy_shows_the_prior_and_leaves_out_universal_labels():
    rng = np.random.default_rng(0)
    truth = np.asarray(DIAMOND.close((rng.random((60, 5)) < 0.3) | np.eye(5, dtype=bool)[0]))
    scores = np.clip(truth * 0.5 + rng.random(truth.shape) * 0.5, 0, 1)
    table = measure_table(truth, scores, target="hierarchy", prior=truth.mean(axis=0), hierarchy=DIAMOND)
    assert {"Fmax", "Smin", "hierarchical F", "AUPRC, pooled, without universal labels"} <= set(table.index)
    assert table.loc["AUPRC, pooled", "model"] > table.loc["AUPRC, pooled", "prior"]
    assert table.loc["AUROC, mean of labels", "prior"] == 0.5
    assert table.loc["AUPRC, pooled, without universal labels", "left_out"] == 1
    assert table.loc["Fmax", "model"] == fmax(truth, scores, hierarchy=DIAMOND)
    without = fmax(truth, scores, hierarchy=DIAMOND, exclude_universal=True)
    assert table.loc["Fmax, without universal labels", ["model", "left_out"]].tolist() == [without, without.n_left_out]


def test_bad_information_is_refused():
    with pytest.raises(ValueError, match="one finite number >= 0 per label"):
        smin([[1, 0]], [[0.5, 0.5]], information=[1.0])


def test_bad_thresholds_are_refused():
    with pytest.raises(ValueError, match="'thresholds' parameter must hold finite numbers > 0"):
        fmax([[1, 0]], [[0.5, 0.5]], thresholds=[0.0])


def test_smin_of_perfect_predictions_is_zero_and_not_what_rounding_leaves():
    rng = np.random.default_rng(0)
    truth = (rng.random((300, 40)) < 0.3).astype(int)
    assert smin(truth, truth * rng.uniform(0.5, 1.0, truth.shape)) == 0.0
