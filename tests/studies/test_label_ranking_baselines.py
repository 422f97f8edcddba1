"""What forests of label rankings are measured against does what its papers say."""

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.model_selection import cross_val_score
from studies.label_ranking_baselines import AverageLabelRanker, NeighborsLabelRanker

from ramify.datasets import make_label_ranking


@pytest.fixture(scope="module")
def data():
    return make_label_ranking(300, n_labels=4, random_state=0)


def test_the_average_ranker_predicts_table_4_2():
    model = AverageLabelRanker().fit([[0], [0]], [[1, 3, 2, 4], [2, 1, 4, 3]])
    np.testing.assert_array_equal(model.predict([[1], [2]]), [[1, 2, 3, 4]] * 2)


def test_neighbours_are_averaged_as_by_hand(data):
    model = NeighborsLabelRanker(5).fit(data.X, data.y)
    query = np.random.default_rng(1).uniform(-1, 1, (20, data.n_features))
    for row, ranking in zip(query, model.predict(query), strict=True):
        neighbours = data.y[np.argsort(((data.X - row) ** 2).sum(axis=1))[:5]]
        np.testing.assert_array_equal(ranking, rankdata(neighbours.sum(axis=0)))


def test_neighbours_beat_the_constant_ranking(data):
    constant = cross_val_score(AverageLabelRanker(), data.X, data.y, cv=3).mean()
    assert cross_val_score(NeighborsLabelRanker(), data.X, data.y, cv=3).mean() > constant + 0.05


@pytest.mark.parametrize(
    "model", [AverageLabelRanker(), NeighborsLabelRanker()], ids=lambda model: type(model).__name__
)
def test_ties_and_unranked_labels_are_learnt_from(model, data):
    partial = make_label_ranking(300, n_labels=4, ties=0.2, unranked=0.3, random_state=0)
    fitted = model.fit(partial.X, partial.y)
    assert np.isfinite(fitted.predict(data.X)).all()
    assert fitted.score(data.X, data.y) > 0
