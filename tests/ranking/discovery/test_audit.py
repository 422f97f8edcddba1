"""audit: what is planted is what is counted."""

import numpy as np
import pytest

from ramify.ensemble import ForestClassifier, ForestRegressor
from ramify.ranking import audit
from ramify.ranking.discovery import auditing
from ramify.ranking.discovery.result import Claim, Discoveries


def table(n_rows=300, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n_rows, 12))
    Y = (random.random((n_rows, 3)) < 1 / (1 + np.exp(-2 * X[:, :3]))).astype(int)
    return X, Y


def test_drivers_are_found_and_decoys_are_not():
    result = audit(ForestClassifier(60, min_samples_leaf=3), *table(400), n_rounds=1, random_state=0)
    assert result.power >= 0.6
    assert result.false_share <= 0.2
    assert result.n_with_claims <= 1
    assert "1 rounds" in result.sentences[0]
    assert "on average" in result.sentences[0]


def test_claims_are_counted_by_what_was_planted(monkeypatch):
    asked = []

    def claims(estimator, X, y, **options):
        asked.append((X, y))
        if X.shape[1] == 12:  # the rows of y in another order
            return Discoveries((claim("x1", "y1"),))
        drivers = [f"x{np.argmax([abs(np.corrcoef(X[:, j], y[:, k])[0, 1]) for j in range(12)])}" for k in range(5)]
        return Discoveries(
            (
                claim(drivers[0], "y0"),
                claim(drivers[0], ""),
                claim(drivers[1], "y0"),
                claim("x12", "y0"),
                claim("g", "y2"),
            ),
            groups={"g": (drivers[2], "x14")},
        )

    def claim(feature, branch):
        return Claim(feature, branch, None, None, None, 0.0, 0.0, 1, None)

    monkeypatch.setattr(auditing, "discoveries", claims)
    result = audit(ForestClassifier(20), *table(2000), n_rounds=2, random_state=0)
    assert result.n_claims == 10
    assert result.false_share == pytest.approx(2 / 5)
    assert result.power == pytest.approx(2 / 5)
    assert result.false_claims == {"location": 2, "spread": 0, "cut": 0, "product": 0, "near copy": 0, "own": 2}
    assert result.n_with_claims == 2
    X, y = table(2000)
    shuffled = [given for columns, given in asked if columns.shape[1] == 12]
    assert all(not np.array_equal(given, y) and (given.sum(axis=0) == y.sum(axis=0)).all() for given in shuffled)
    assert all((columns[:, :12] == X).all() for columns, _ in asked)


def test_whole_groups_change_places_and_any_target_is_taken():
    X, Y = table()
    group = np.repeat(np.arange(100), 3)
    result = audit(ForestRegressor(20), X, Y[:, :1] + X[:, :1], n_rounds=1, row_groups=group, random_state=0)
    assert result == audit(
        ForestRegressor(20), X, Y[:, :1] + X[:, :1], n_rounds=1, row_groups=group + 7, random_state=0, n_jobs=2
    )


def test_bad_questions_are_refused():
    X, Y = table()
    with pytest.raises(ValueError, match="'n_rounds' parameter of audit must be an int >= 1"):
        audit(None, X, Y, n_rounds=0)
    with pytest.raises(ValueError, match="there are fewer than two"):
        audit(ForestClassifier(5), (X > 0).astype(float), Y)
