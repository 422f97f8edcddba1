import numpy as np
import pytest

from ramify.analysis.explained import explained_rows
from ramify.datasets import make_hierarchical
from ramify.ensemble import ForestClassifier


@pytest.fixture(scope="module")
def fitted():
    data = make_hierarchical(400, n_features=30, depth=2, width=3, random_state=0)
    learnt, rest = data.rows(np.arange(300)), data.rows(np.arange(300, 400))
    forest = ForestClassifier(30, hierarchy=data.hierarchy, oob_score=True, random_state=0)
    return forest.fit(learnt.X, learnt.y), learnt, rest


def test_reasons_are_the_planted_features(fitted):
    forest, _, rest = fitted
    rows = explained_rows(forest, rest)
    assert len(rows) == 3
    reasons = [(o.label, o.reasons[0].feature) for row in rows for o in row.outcomes]
    planted = [rest.truth[int(f[1:]), rest.hierarchy.index(label)] for label, f in reasons]
    assert np.mean(planted) > 0.8


def test_the_best_predicted_row_comes_first(fitted):
    forest, _, rest = fitted
    first = explained_rows(forest, rest)[0]
    assert all(outcome.correct for outcome in first.outcomes)
    assert sum(abs(reason.effect) for reason in first.outcomes[0].reasons) > 0.1
