"""Claims and null p-values on generated data; the whole grid is in benchmarks/bench_discoveries.py."""

import numpy as np
import pytest
from scipy import stats

from ramify.ensemble import ForestClassifier
from ramify.features import Features
from ramify.hierarchy import Hierarchy
from ramify.ranking import discoveries
from ramify.ranking.discovery.survey import Question, survey

TREE = Hierarchy.from_paths(["a", "a/x", "b"])


def chained(n_rows, n_features, seed):
    """Neighbours correlate by 0.7; x0 drives a (and so a/x), x4 drives b."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n_rows, n_features))
    for j in range(1, n_features):
        X[:, j] = 0.7 * X[:, j - 1] + np.sqrt(0.51) * X[:, j]
    a = random.random(n_rows) < 1 / (1 + np.exp(-2 * X[:, 0]))
    b = random.random(n_rows) < 1 / (1 + np.exp(-2 * X[:, 4]))
    return X, np.column_stack([a, a & (random.random(n_rows) < 0.5), b]).astype(int)


TRUE = {("x0", ""), ("x0", "a"), ("x0", "a/x"), ("x4", ""), ("x4", "b")}


def false_shares(n_runs, n_rows, n_features, n_trees):
    shares, found = [], 0
    for seed in range(n_runs):
        X, Y = chained(n_rows, n_features, seed)
        forest = ForestClassifier(n_trees, hierarchy=TREE, min_samples_leaf=3)
        claims = {(c.feature, c.branch) for c in discoveries(forest, X, Y, fdr=0.2, random_state=seed).claims}
        shares.append(len(claims - TRUE) / max(1, len(claims)))
        found += len(claims & TRUE)
    return np.array(shares), found / (n_runs * len(TRUE))


def test_false_claims_stay_within_the_rate_beside_companions():
    shares, power = false_shares(4, 300, 10, 60)
    assert shares.mean() <= 0.2 + 2 * max(shares.std(ddof=1) / 2, 0.1)
    assert power >= 0.6


def test_null_p_values_of_zeros_and_ones_spread_as_they_should():
    spreads = []
    for seed in range(6):
        random = np.random.default_rng(seed)
        X = (random.random((400, 40)) < 0.1).astype(float)
        Y = (random.random((400, 12)) < 0.3).astype(int)
        question = Question(ForestClassifier(100, min_samples_leaf=3), "nothing", True, 5, seed, 1, 0)
        found = survey(question, Features(X, np.zeros(40, dtype=np.int32)), Y, None, None)
        spreads.append(stats.norm.isf(found.p_values[found.p_values < 1]).std())
    assert 0.95 <= np.mean(spreads) <= 1.09


@pytest.mark.slow
def test_false_claims_stay_within_the_rate_over_many_runs():
    shares, power = false_shares(40, 500, 30, 200)
    assert shares.mean() <= 0.2 + 2 * shares.std(ddof=1) / np.sqrt(len(shares))
    assert power >= 0.8


def test_a_partner_whose_spread_follows_a_driver_is_not_claimed():
    n_false = n_found = 0
    for seed in range(3):
        random = np.random.default_rng(seed)
        X = random.standard_normal((500, 12))
        X[:, 1] *= np.exp(0.7 * X[:, 0])
        X[:, 5] *= np.exp(0.7 * X[:, 4])
        Y = (random.random((500, 3)) < 1 / (1 + np.exp(-2 * X[:, [0, 4, 8]]))).astype(int)
        found = discoveries(ForestClassifier(60, min_samples_leaf=3), X, Y, fdr=0.2, random_state=seed)
        n_false += len({claim.feature for claim in found.claims} - {"x0", "x4", "x8"})
        n_found += len({claim.feature for claim in found.claims} & {"x0", "x4", "x8"})
    assert n_false <= 1
    assert n_found >= 8
