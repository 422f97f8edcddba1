"""Whatever estimator is given to whatever estimator: it works, or is refused in words."""

import traceback
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestClassifier

import ramify.chains
import ramify.ensemble
import ramify.ranking
import ramify.selection
from ramify.datasets import make_label_ranking

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 4))
SETS = (X[:, :3] + RANDOM.normal(size=(60, 3)) > 0).astype(int)
TARGETS = {
    "sets": SETS,
    "classes": SETS[:, 0] + SETS[:, 1],
    "numbers": X[:, 0] + RANDOM.normal(size=60),
    "rankings": make_label_ranking(60, n_features=5, random_state=0).y,
}
QUICK = {"n_estimators": 3, "n_chains": 2, "n_sets": 2, "n_neighbors": 3, "n_jobs": 1, "random_state": 0, "max_iter": 5}
HOLDERS = ("estimator", "forest", "members", "ranker", "classifier")


def discovered():
    """Every public estimator, by name."""
    found = {}
    for package in (ramify.ensemble, ramify.chains, ramify.ranking, ramify.selection):
        for name in package.__all__:
            made = getattr(package, name)
            if isinstance(made, type) and issubclass(made, BaseEstimator):
                found[name] = made
    return found


ESTIMATORS = discovered()


def quick(made):
    """The estimator as it is made without arguments, if it can be, with few trees and neighbours."""
    try:
        estimator = made()
    except TypeError:
        return None
    known = estimator.get_params(deep=False)
    return estimator.set_params(**{name: value for name, value in QUICK.items() if name in known})


BASES = {name: base for name, made in ESTIMATORS.items() if (base := quick(made)) is not None}
OWNERS = {
    name: (owner, parameter)
    for name, owner in BASES.items()
    for parameter in HOLDERS
    if parameter in owner.get_params(deep=False)
}


def quickly(base):
    """The base where a default of it would be slow."""
    parameters = base.get_params(deep=False)
    if "members" in parameters:
        from ramify.ensemble import ForestClassifier

        return clone(base).set_params(members={"one": ForestClassifier(3, random_state=0)}, cv=2)
    if "estimator" in parameters and parameters["estimator"] is None and "calibrate" not in parameters:
        from ramify.ensemble import ForestClassifier

        return clone(base).set_params(estimator=ForestClassifier(3, random_state=0))
    return base


def is_refused_in_words(error):
    """Whether somebody raised it on purpose, not Python or NumPy where something broke."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    return (where.line or "").startswith("raise ")


@pytest.mark.parametrize("inner", BASES)
@pytest.mark.parametrize("outer", OWNERS)
def test_an_estimator_works_inside_another_or_is_refused_in_words(outer, inner):
    owner, parameter = OWNERS[outer]
    base = quickly(BASES[inner])
    given = {"one": base} if parameter == "members" else base
    for y in TARGETS.values():
        model = clone(owner).set_params(**{parameter: given})
        known = model.get_params(deep=False)
        model.set_params(**{name: value for name, value in {"cv": 2, "alpha": 0.3}.items() if name in known})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model.fit(X, y)
                if hasattr(model, "predict"):
                    assert len(model.predict(X[:7])) == 7
            except (ValueError, TypeError) as refused:
                if not is_refused_in_words(refused):
                    raise


@pytest.mark.parametrize("made", [ramify.ensemble.ForestClassifier, RandomForestClassifier])
def test_classes_weigh_in_chains_as_they_do_alone(made):
    """The first label of a chain is learnt from the features alone."""
    random = np.random.default_rng(1)
    rows = random.normal(size=(400, 3))
    rare = (random.random(400) < np.where(rows[:, 0] > 1, 0.25, 0.03)).astype(int)
    labels = np.column_stack([rare, rows[:, 1] > 0]).astype(int)
    means = {}
    for weight in (None, "balanced", {0: 1, 1: 5}):
        base = made(100, min_samples_leaf=20, max_features=None, class_weight=weight, random_state=0)
        alone = base.fit(rows, rare).predict_proba(rows)[:, 1].mean()
        chain = ramify.chains.ClassifierChain(base, order=[0, 1]).fit(rows, labels)
        means[str(weight)] = chain.predict_proba(rows)[:, 0].mean()
        assert means[str(weight)] == pytest.approx(alone, abs=0.03)
    assert min(means["balanced"], means["{0: 1, 1: 5}"]) > 2 * means["None"]
