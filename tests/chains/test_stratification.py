"""Stratified folds of label sets, and label-set statistics."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, cross_val_score

from ramify.chains import BinaryRelevance, IterativeStratification
from ramify.chains.stratification import stratified_parts
from ramify.datasets import make_multilabel


def test_every_row_is_tested_once(small):
    tested = np.concatenate([test for _, test in IterativeStratification(3, random_state=0).split(small.X, small.y)])
    assert sorted(tested) == list(range(120))


def test_rare_labels_are_in_every_fold():
    Y = make_multilabel(300, n_labels=6, density=[0.02, 0.02, 0.1, 0.3, 0.5, 0.9], random_state=0).y.toarray()
    total = Y.sum(axis=0)
    parts = stratified_parts(Y, [0.2] * 5, random_state=0)
    for part in range(5):
        assert (np.abs(Y[parts == part].sum(axis=0) - total / 5) <= 2).all()


def test_spread_of_labels_is_smaller_than_in_plain_folds():
    Y = make_multilabel(400, n_labels=8, density=0.05, random_state=1).y.toarray()
    X = np.zeros((400, 1))

    def spread(splitter):
        return np.std([Y[test].sum(axis=0) for _, test in splitter.split(X, Y)], axis=0).mean()

    plain = spread(KFold(5, shuffle=True, random_state=0))
    assert spread(IterativeStratification(5, random_state=0)) < plain / 2


def test_parts_have_the_asked_sizes():
    Y = make_multilabel(1000, n_labels=5, random_state=2).y
    sizes = np.bincount(stratified_parts(Y, [0.5, 0.25, 0.25], random_state=0))
    np.testing.assert_allclose(sizes, [500, 250, 250], atol=5)


def test_same_seed_same_folds(small):
    first, second = (stratified_parts(small.y, [0.5, 0.5], random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_works_as_cv_of_scikit_learn(small, tree):
    scores = cross_val_score(BinaryRelevance(tree), small.X, small.y.toarray(), cv=IterativeStratification(3))
    assert scores.shape == (3,)


def test_splitting_without_labels_is_refused(small):
    with pytest.raises(ValueError, match="needs the label sets"):
        next(IterativeStratification().split(small.X))


@pytest.mark.parametrize("shares", [[0.5, 0.6], [1.5, -0.5], []])
def test_shares_that_do_not_sum_to_one_are_refused(small, shares):
    with pytest.raises(ValueError, match="'shares' of stratified_parts must be positive and sum to 1"):
        stratified_parts(small.y, shares)
