import itertools

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import normalized_mutual_info_score

from ramify.selection import CFSSelector


def uncertainty(a, b):
    """Symmetrical uncertainty: twice the shared information over the sum of the entropies."""
    if len(set(a)) == 1 or len(set(b)) == 1:
        return 0.0
    return normalized_mutual_info_score(a, b)


def merit(X, y, subset):
    k = len(subset)
    with_class = sum(uncertainty(X[:, f], y) for f in subset)
    pairs = sum(uncertainty(X[:, a], X[:, b]) for a, b in itertools.combinations(subset, 2))
    return with_class / np.sqrt(k + 2 * pairs)


def planted(seed, n_rows=120):
    """Two independent causes, a copy of each, noise."""
    random = np.random.default_rng(seed)
    a, b = random.integers(0, 2, n_rows), random.integers(0, 2, n_rows)
    noise = random.integers(0, 2, (n_rows, 4))
    flip = random.random(n_rows) < 0.05
    y = np.where(flip, 1 - (a & b), a & b)
    return np.column_stack([a, a, b, b, noise]), y


@pytest.mark.parametrize("seed", range(5))
def test_search_finds_the_subset_of_highest_merit_on_small_problems(seed):
    X, y = planted(seed)
    X = X[:, [0, 2, 4, 5, 6]]
    best = max(
        (subset for k in range(1, 6) for subset in itertools.combinations(range(5), k)),
        key=lambda subset: merit(X, y, subset),
    )
    selector = CFSSelector(locally_predictive=False).fit(X, y)
    assert tuple(np.flatnonzero(selector.get_support())) == best
    assert selector.merit_ == pytest.approx(merit(X, y, best))


def test_copies_are_left_out():
    X, y = planted(0)
    chosen = np.flatnonzero(CFSSelector(locally_predictive=False).fit(X, y).get_support())
    assert chosen.tolist() == [0, 2]


def test_locally_predictive_features_are_those_no_chosen_one_stands_for():
    X, y = planted(1)
    plain = CFSSelector(locally_predictive=False).fit(X, y)
    grown = CFSSelector().fit(X, y)
    assert set(np.flatnonzero(plain.get_support())) <= set(np.flatnonzero(grown.get_support()))
    for f in set(np.flatnonzero(grown.get_support())) - set(np.flatnonzero(plain.get_support())):
        assert all(uncertainty(X[:, f], X[:, g]) <= plain.scores_[f] for g in np.flatnonzero(plain.get_support()))


def test_scores_are_symmetrical_uncertainties():
    X, y = planted(2)
    np.testing.assert_allclose(CFSSelector().fit(X, y).scores_, [uncertainty(x, y) for x in X.T], atol=1e-9)


def test_sparse_and_dense_agree_and_constants_are_left_out():
    X, y = planted(3)
    X = np.column_stack([X, np.ones(len(X), dtype=int), np.zeros(len(X), dtype=int)])
    dense = CFSSelector().fit(X, y).get_support()
    np.testing.assert_array_equal(CFSSelector().fit(sparse.csr_array(X), y).get_support(), dense)
    assert not dense[-2:].any()


def test_bad_input_is_refused_in_words():
    X, y = planted(0)
    with pytest.raises(ValueError, match="'n_stale' parameter of CFSSelector must be an int >= 1"):
        CFSSelector(0).fit(X, y)
    with pytest.raises(ValueError, match="CFSSelector takes one class per row"):
        CFSSelector().fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="must be binary"):
        CFSSelector().fit(X * 3, y)
