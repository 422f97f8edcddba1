"""Whole groups of rows are on one side of every fold: what only tells the group apart then predicts nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import KFold

from ramify.analysis import compare_methods, fit_model
from ramify.chains import IterativeStratification
from ramify.datasets import Dataset
from ramify.ensemble import ForestClassifier, Portfolio
from ramify.ranking import ForestRanker, addition_curve
from ramify.study.splits import folds_of, split_dataset

KINDS = ("classes", "labels", "numbers")


@pytest.fixture
def visits():
    """40 patients with five visits each: features tell the patient, and y is a coin of the patient."""
    random = np.random.default_rng(0)
    patient = np.repeat(np.arange(40), 5)
    X = random.standard_normal((40, 4))[patient] + 0.01 * random.standard_normal((200, 4))
    return X, random.integers(0, 2, 40)[patient], patient


def dataset(visits, kind="classes"):
    X, y, patient = visits
    target = {"classes": y, "labels": np.column_stack([y, 1 - y, patient % 3 == 0]), "numbers": y + 0.5}[kind]
    if kind == "labels":
        target = target.astype(int)
    names = ("a", "b", "c") if kind == "labels" else ()
    return replace(Dataset(X, target, kind, label_names=names), row_groups=patient)


def test_portfolio_judges_by_other_groups(visits):
    X, y, patient = visits
    members = {"forest": ForestClassifier(10, random_state=0)}
    alone = Portfolio(members, random_state=0).fit(X, y)
    together = Portfolio(members, random_state=0).fit(X, y, row_groups=patient)
    assert alone.score_ > 0.9
    assert together.score_ < 0.7
    with pytest.raises(ValueError, match="divides groups"):
        Portfolio(members, cv=list(KFold(4).split(X[::-1])) + [(np.r_[0:4], np.r_[4:9])]).fit(X, y, row_groups=patient)
    with pytest.raises(ValueError, match="as many groups as folds"):
        Portfolio(members, cv=50).fit(X, y, row_groups=patient)


def test_curve_judges_by_other_groups(visits):
    X, y, patient = visits
    options = {"estimator": ForestClassifier(10, random_state=0), "cv": 4, "n_random": 0, "random_state": 0}
    ranker = ForestRanker(ForestClassifier(10, random_state=0))
    assert addition_curve(ranker, X, y, **options).values[-1] > 0.95
    assert addition_curve(ranker, X, y, row_groups=patient, **options).values[-1] < 0.75
    with pytest.raises(ValueError, match="divides groups"):
        addition_curve(ranker, X, y, row_groups=patient, **(options | {"cv": KFold(7)}))


def test_compared_methods_are_judged_by_other_groups(visits):
    found = compare_methods(dataset(visits), ["random-forest", "extra-trees"], n_folds=4, n_estimators=10)
    table = next(iter(found.comparisons.values())).table
    assert table["random-forest"].mean() < 0.75
    assert "groups of rows kept together" in found.facts["Folds"]


def test_a_fitted_model_is_cross_validated_by_other_groups(visits):
    results = fit_model(dataset(visits), method="extra-trees", n_estimators=10, n_folds=4).results
    assert results.measures.loc["accuracy", "model"] < 0.75


@pytest.mark.parametrize("kind", KINDS)
def test_no_fold_of_a_study_divides_a_group(visits, kind):
    data = dataset(visits, kind)
    for number in range(4):
        learnt, unseen = split_dataset(data, 4, number, seed=3)
        assert not set(learnt.row_groups) & set(unseen.row_groups)
    with pytest.raises(ValueError, match="divides groups"):
        split_dataset(data, KFold(7), 0, seed=3)
    tested = [test for _, test in folds_of(data, 4, 0).split(data.X, data.y, data.row_groups)]
    assert sorted(np.concatenate(tested)) == list(range(200))


def test_groups_are_stratified_by_labels():
    random = np.random.default_rng(1)
    groups = np.repeat(np.arange(120), random.integers(1, 6, 120))
    Y = (random.random((120, 6)) < [0.03, 0.05, 0.1, 0.2, 0.4, 0.6])[groups].astype(int)
    shares = []
    for train, test in IterativeStratification(4, random_state=0).split(Y, Y, groups):
        assert not set(groups[train]) & set(groups[test])
        shares.append(Y[test].sum(axis=0) / Y.sum(axis=0))
    spread = np.std(shares, axis=0)
    by_chance = np.mean(
        [
            np.std([np.isin(groups, part) @ Y / Y.sum(axis=0) for part in np.array_split(order, 4)], axis=0)
            for order in (random.permutation(120) for _ in range(20))
        ],
        axis=0,
    )
    assert (spread < by_chance).all()
