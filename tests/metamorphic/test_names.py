"""Text with another value in every row, such as a name, neither stops an estimator nor changes what it learns."""

import numpy as np
import pandas as pd
import pytest

from ramify.ensemble import BoostedRegressor, ForestClassifier, ForestRegressor
from ramify.ranking import ForestRanker, ReliefRanker
from tests.metamorphic import cases
from tests.metamorphic.test_saving import saved_and_loaded

N_ROWS = 60


def planted(seed=0):
    """Two numbers and a nominal feature, and every kind of target that they drive."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"size": rng.normal(size=N_ROWS), "age": rng.normal(size=N_ROWS)})
    X["town"] = rng.choice(["Bled", "Kranj", "Celje"], N_ROWS)
    score = X[["size", "age"]].to_numpy() @ rng.normal(size=(2, 3)) + 0.5 * rng.normal(size=(N_ROWS, 3))
    Y = (score > 0).astype(int)
    closed = cases.LABELS.close(Y)
    targets = {
        "classes": np.where(Y[:, 0] == 1, "yes", "no"),
        "labels": Y,
        "hierarchy": np.asarray(closed.toarray() if hasattr(closed, "toarray") else closed),
        "numbers": score[:, :2],
        "rankings": np.argsort(np.argsort(score, axis=1), axis=1) + 1.0,
    }
    targets["mixed"] = np.column_stack([score[:, 0].astype(object), targets["classes"].astype(object), Y[:, 1]])
    return X, targets


def named(X, names):
    return X.assign(name=[f"customer {name}" for name in names])


COMPLETE = [n for n, case in cases.CASES.items() if case.features == "nominal" and "unknown" not in case.target]


@pytest.mark.parametrize("name", COMPLETE)
def test_names_of_rows_change_nothing(name, tmp_path):
    case = cases.CASES[name]
    X, targets = planted()
    rng = np.random.default_rng(1)
    fitted = case.make().fit(named(X, range(N_ROWS)), targets[case.target])
    other = case.make().fit(named(X, rng.permutation(N_ROWS)), targets[case.target])
    met = named(X, range(1000, 1000 + N_ROWS))
    expected = cases.results(fitted, met)
    cases.assert_same(cases.results(other, met), expected, "other names")
    cases.assert_same(cases.results(saved_and_loaded(fitted, tmp_path / "model.ramify"), met), expected, "loaded")


@pytest.mark.parametrize("model", [ForestRegressor(100, random_state=0), BoostedRegressor(random_state=0)])
def test_text_of_thousands_of_values_costs_no_accuracy(model):
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(3000, 5)), columns=list("abcde"))
    y = X["a"] + np.sin(2 * X["b"]) + X["c"] * X["d"] + rng.normal(size=3000)
    noise = X.assign(
        customer=[f"customer {k}" for k in range(3000)], street=[f"street {k}" for k in rng.integers(0, 1500, 3000)]
    )
    alone = model.fit(X[:2000], y[:2000]).score(X[2000:], y[2000:])
    beside = model.fit(noise[:2000], y[:2000]).score(noise[2000:], y[2000:])
    assert alone > 0.4
    assert beside > alone - 0.03


def test_names_lead_no_ranking():
    rng = np.random.default_rng(4)
    n = 5000  # more than trees take of the values of a feature
    X = pd.DataFrame({"size": rng.normal(size=n), "name": [f"customer {k}" for k in range(n)]})
    y = np.where(X["size"] + rng.normal(size=n) > 0, "yes", "no")
    forest = ForestClassifier(5, max_depth=6, random_state=0)
    for ranker in (ForestRanker(forest), ReliefRanker(5, n_iterations=100, random_state=0)):
        scores = dict(zip(["size", "name"], ranker.fit(X, y).scores_, strict=True))
        assert scores["size"] > scores["name"] == 0
