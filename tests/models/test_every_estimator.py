"""Row R16: every public estimator comes back from a file as it was saved, or is refused with advice."""

from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from tests.models.test_roundtrip import assert_same

import ramify
from ramify import chains, ensemble, ranking, selection
from ramify.datasets import make_feature_hierarchy, make_hierarchical, make_label_ranking, make_multilabel
from ramify.models.values import PUBLIC_MODULES

LABELS = make_multilabel(60, random_state=0)
NESTED = make_hierarchical(60, random_state=0)
RANKED = make_label_ranking(60, random_state=0)
TERMS = make_feature_hierarchy(60, random_state=0)
MIXED = pd.DataFrame({"size": LABELS.X[:, 0], "kind": np.where(LABELS.X[:, 1] > 0, "a", "b")})
FOREST = ensemble.ForestClassifier(5, random_state=0)


def lazy_selector():
    return selection.LazySelector(TERMS.feature_hierarchy)


def chain(name):
    return lambda: getattr(chains, name)(FOREST).fit(LABELS.X, LABELS.y)


FITTED = {
    "ForestClassifier": lambda: ensemble.ForestClassifier(5, hierarchy=NESTED.hierarchy).fit(NESTED.X, NESTED.y),
    "ForestRegressor": lambda: ensemble.ForestRegressor(5).fit(LABELS.X, LABELS.X[:, :2]),
    "BoostedClassifier": lambda: ensemble.BoostedClassifier(5, hierarchy=NESTED.hierarchy).fit(NESTED.X, NESTED.y),
    "BoostedRegressor": lambda: ensemble.BoostedRegressor(5).fit(LABELS.X, LABELS.X[:, :2]),
    "NeighborsClassifier": lambda: ensemble.NeighborsClassifier(5, forest=FOREST).fit(LABELS.X, LABELS.y),
    "KernelClassifier": lambda: ensemble.KernelClassifier(hierarchy=NESTED.hierarchy).fit(NESTED.X, NESTED.y),
    "KernelRegressor": lambda: ensemble.KernelRegressor().fit(LABELS.X, LABELS.X[:, :2]),
    "NetworkClassifier": lambda: ensemble.NetworkClassifier(2, n_units=8, n_epochs=3).fit(LABELS.X, LABELS.y),
    "Portfolio": lambda: ensemble.Portfolio({"forest": FOREST}, cv=2).fit(LABELS.X, LABELS.y),
    "Calibrated": lambda: ensemble.Calibrated(FOREST).fit(LABELS.X, LABELS.y),
    "ConformalSets": lambda: ensemble.ConformalSets(FOREST, alpha=0.3, random_state=0).fit(LABELS.X, LABELS.y),
    "ConformalSets, a threshold per label": lambda: ensemble.ConformalSets(
        FOREST, alpha=0.3, over="frequency", random_state=0
    ).fit(LABELS.X, LABELS.y),
    "LabelRankingForest": lambda: ensemble.LabelRankingForest(5, oob_score=True).fit(RANKED.X, RANKED.y),
    "MixedForest": lambda: ensemble.MixedForest(5, oob_score=True).fit(LABELS.X, MIXED),
    "ForestRanker": lambda: ranking.ForestRanker(FOREST).fit(LABELS.X, LABELS.y),
    "ReliefRanker": lambda: ranking.ReliefRanker(5, hierarchy=NESTED.hierarchy).fit(NESTED.X, NESTED.y),
    "CFSSelector": lambda: selection.CFSSelector().fit(TERMS.X, TERMS.y),
    "HierarchicalSelector": lambda: selection.HierarchicalSelector(TERMS.feature_hierarchy).fit(TERMS.X, TERMS.y),
    "LazySelector": lambda: lazy_selector().fit(TERMS.X, TERMS.y),
    "LazyNaiveBayes": lambda: selection.LazyNaiveBayes(lazy_selector()).fit(TERMS.X, TERMS.y),
    "LazyNeighbors": lambda: selection.LazyNeighbors(lazy_selector()).fit(TERMS.X, TERMS.y),
    "SelectTop": lambda: selection.SelectTop(ranking.ForestRanker(FOREST), n_features=3).fit(LABELS.X, LABELS.y),
    "BinaryRelevance": chain("BinaryRelevance"),
    "ClassifierChain": chain("ClassifierChain"),
    "EnsembleOfChains": chain("EnsembleOfChains"),
    "LClassifierChains": chain("LClassifierChains"),
    "LabelPowerset": chain("LabelPowerset"),
    "PairwiseLabels": chain("PairwiseLabels"),
    "RAkEL": chain("RAkEL"),
    "MLkNN": lambda: chains.MLkNN().fit(LABELS.X, LABELS.y),
    "R2Screening": lambda: chains.R2Screening().fit(LABELS.X, LABELS.y),
}

HOLD_FOREIGN_PARTS = {
    "a chain over a foreign classifier": lambda: chains.BinaryRelevance(LogisticRegression()).fit(LABELS.X, LABELS.y),
}


def public_estimators():
    for module in map(import_module, PUBLIC_MODULES):
        for name in module.__all__:
            made = getattr(module, name)
            if isinstance(made, type) and issubclass(made, BaseEstimator):
                yield name


@pytest.mark.parametrize("name", sorted(set(public_estimators()) - set(HOLD_FOREIGN_PARTS)))
def test_estimator_comes_back_as_it_was_saved(name, tmp_path):
    np.random.seed(0)  # noqa: NPY002
    estimator = FITTED[name]()
    ramify.save(estimator, tmp_path / "model.ramify")
    loaded = ramify.load(tmp_path / "model.ramify")
    assert_same(loaded, estimator)


@pytest.mark.parametrize("name", HOLD_FOREIGN_PARTS)
def test_estimator_with_foreign_parts_is_refused_with_advice(name, tmp_path):
    with pytest.raises(TypeError, match="made of Ramify's own parts only; use pickle, joblib or skops"):
        ramify.save(HOLD_FOREIGN_PARTS[name](), tmp_path / "model.ramify")
    assert not list(tmp_path.iterdir())
