"""Forms of the importance matrix."""

import numpy as np
import pytest

from ramify.chains import ClassifierChain, EnsembleOfChains
from ramify.chains.chain import chain_importances
from ramify.chains.importance import global_importance, importance_frame, importance_index
from ramify.datasets import make_multilabel
from ramify.ensemble import ForestClassifier
from ramify.ranking import forest_ranking

RAW = np.array([[0.2, 0.1, 0.0, 0.4], [0.05, 0.02, 0.1, 0.0]])


def test_index_by_label_and_by_matrix():
    np.testing.assert_allclose(importance_index(RAW), [[50, 25, 0, 100], [50, 20, 100, 0]])
    np.testing.assert_allclose(importance_index(RAW, relative_to="matrix"), [[50, 25, 0, 100], [12.5, 5, 25, 0]])


def test_a_label_without_any_importance_stays_zero():
    np.testing.assert_array_equal(importance_index(np.zeros((2, 4))), 0)


def test_global_mean_divides_by_all_labels():
    np.testing.assert_allclose(global_importance(RAW, index=False), [0.125, 0.06, 0.05, 0.2])
    np.testing.assert_allclose(global_importance(RAW), [62.5, 30, 25, 100])


def test_frame_has_names():
    frame = importance_frame(RAW, feature_names=["age", "sum"], label_names=["card", "loan"])
    assert list(frame.columns) == ["age", "sum", "card", "loan"]
    assert list(frame.index) == ["card", "loan"]


def test_too_few_columns_are_refused():
    with pytest.raises(ValueError, match="at least as many columns as rows"):
        importance_frame(np.ones((3, 2)))


def test_a_chain_has_importances_of_earlier_labels_only():
    data = make_multilabel(150, n_features=6, n_labels=4, correlation=0.6, random_state=0)
    chain = ClassifierChain(ForestClassifier(5), order=[2, 0, 3, 1], random_state=0).fit(data.X, data.y)
    frame = chain.importance_frame()
    assert frame.shape == (4, 10)
    of_labels = frame.to_numpy()[:, 6:]
    for place, label in enumerate([2, 0, 3, 1]):
        link = chain.estimators_[place]
        raw = forest_ranking(link).scores
        raw = raw / raw.sum()
        earlier = [2, 0, 3, 1][:place]
        row = frame.to_numpy()[label]
        np.testing.assert_allclose(row[:6] / row.sum(), raw[:6])
        np.testing.assert_allclose(of_labels[label, earlier] / row.sum(), raw[6:])
        later = np.setdiff1d(np.arange(4), earlier)
        assert not of_labels[label, later].any()


def test_an_ensemble_averages_labels_over_the_chains_in_which_they_come_before():
    data = make_multilabel(150, n_features=6, n_labels=4, correlation=0.6, random_state=0)
    ensemble = EnsembleOfChains(ForestClassifier(5), n_chains=3, random_state=0).fit(data.X, data.y)
    frame = ensemble.importance_frame().to_numpy()
    by_chain = [
        chain_importances(order, links, 6) for order, links in zip(ensemble.orders_, ensemble.estimators_, strict=True)
    ]
    np.testing.assert_allclose(frame[:, :6], np.mean(by_chain, axis=0)[:, :6])
    for label in range(4):
        for other in range(4):
            seen = [
                matrix[label, 6 + other]
                for order, matrix in zip(ensemble.orders_.tolist(), by_chain, strict=True)
                if order.index(other) < order.index(label)
            ]
            assert frame[label, 6 + other] == pytest.approx(np.mean(seen) if seen else 0.0)
