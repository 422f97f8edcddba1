import numpy as np
import pytest

from ramify.datasets import make_feature_hierarchy
from ramify.selection import LazyNaiveBayes, LazySelector
from ramify.selection.relevance import r_relevance


def test_rows_are_closed_and_the_hierarchy_is_a_dag():
    data = make_feature_hierarchy(200, n_features=300, random_state=0)
    assert len(data.feature_hierarchy.violations(data.X)) == 0
    assert not data.feature_hierarchy.is_tree
    assert make_feature_hierarchy(50, extra_parents=0, random_state=0).feature_hierarchy.is_tree
    assert data.feature_names == data.feature_hierarchy.names


def test_planted_terms_are_the_relevant_ones():
    data = make_feature_hierarchy(2000, n_features=200, strength=0.5, random_state=1)
    drivers = np.flatnonzero(data.truth.any(axis=1))
    relevance = r_relevance(data.X, data.y)
    assert set(drivers) <= set(np.argsort(-relevance)[:20])
    order = data.feature_hierarchy
    above = [order.index(name) for driver in drivers for name in order.ancestors(data.feature_names[driver])]
    assert relevance[drivers].min() > np.median(relevance[above])


def test_strength_makes_the_class_predictable():
    weak, strong = (make_feature_hierarchy(400, strength=s, random_state=2) for s in (0.0, 0.6))
    scores = []
    for data in (weak, strong):
        train, test = data.rows(np.arange(200)), data.rows(np.arange(200, 400))
        model = LazyNaiveBayes(LazySelector(data.feature_hierarchy)).fit(train.X, train.y)
        scores.append(model.score(test.X, test.y))
    assert scores[0] < 0.6 < 0.85 < scores[1]


def test_the_seed_decides_everything():
    first, second, other = (make_feature_hierarchy(60, random_state=seed) for seed in (3, 3, 4))
    assert first.feature_hierarchy == second.feature_hierarchy
    np.testing.assert_array_equal(first.X.toarray(), second.X.toarray())
    np.testing.assert_array_equal(first.y, second.y)
    assert first.X.shape != other.X.shape or (first.X != other.X).nnz > 0


def test_drivers_are_not_related_to_each_other():
    data = make_feature_hierarchy(50, n_classes=3, n_drivers=3, random_state=5)
    drivers = {data.feature_names[i] for i in np.flatnonzero(data.truth.any(axis=1))}
    assert len(drivers) == 9
    assert not any(drivers & set(data.feature_hierarchy.ancestors(name)) for name in drivers)


def test_bad_parameters_are_refused_by_name():
    for bad in ({"n_samples": 0}, {"n_features": 5}, {"strength": 2.0}, {"n_classes": 1}, {"n_annotations": 0}):
        with pytest.raises(ValueError, match=f"'{next(iter(bad))}' parameter of make_feature_hierarchy"):
            make_feature_hierarchy(**{"n_samples": 10, **bad})
