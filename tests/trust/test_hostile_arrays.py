"""Row R10 beyond the forests: every other estimator gives a result, or an error that names what is wrong."""

import re
import warnings

import numpy as np
import pytest
from tests.ensemble.test_hostile_arrays import BAD_FEATURES, CLASSES, GOOD_FEATURES, NUMBERS, SETS

from ramify import chains, ensemble, ranking, selection

RANKS = np.argsort(np.argsort(-np.column_stack([NUMBERS, NUMBERS.sum(axis=1)]), axis=1), axis=1) + 1.0


def forest():
    return ensemble.ForestClassifier(3, random_state=0)


ESTIMATORS = {
    "LabelRankingForest": (lambda: ensemble.LabelRankingForest(3, random_state=0), RANKS),
    "NeighborsLabelRanker": (lambda: ensemble.NeighborsLabelRanker(3), RANKS),
    "ForestRanker": (lambda: ranking.ForestRanker(forest()), SETS),
    "ForestRanker by permutation": (lambda: ranking.ForestRanker(forest(), scores="permutation"), SETS),
    "ForestRanker out of bag": (lambda: ranking.ForestRanker(forest(), scores="genie3_oob"), CLASSES),
    "ReliefRanker of sets": (lambda: ranking.ReliefRanker(3, random_state=0), SETS),
    "ReliefRanker of classes": (lambda: ranking.ReliefRanker(3, random_state=0), CLASSES),
    "ReliefRanker of numbers": (lambda: ranking.ReliefRanker(3, random_state=0), NUMBERS),
    "CFSSelector": (selection.CFSSelector, CLASSES),
    "MLkNN": (lambda: chains.MLkNN(3), SETS),
    "BinaryRelevance": (lambda: chains.BinaryRelevance(forest()), SETS),
    "ClassifierChain": (lambda: chains.ClassifierChain(forest()), SETS),
    "LClassifierChains": (lambda: chains.LClassifierChains(forest()), SETS),
    "LabelPowerset": (lambda: chains.LabelPowerset(forest()), SETS),
    "PairwiseLabels": (lambda: chains.PairwiseLabels(forest()), SETS),
}

TAKE_NUMBERS_ONLY = {"NeighborsLabelRanker", "CFSSelector", "MLkNN"}
"""Estimators that may refuse missing values, text and (CFS) what is not binary, by column."""

REFUSALS = re.compile(r"column \d|Column \d|string to float|Input contains NaN")


@pytest.mark.parametrize("name", GOOD_FEATURES)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_unusual_features_give_a_finite_result_or_are_refused_by_column(estimator, name):
    make, y = ESTIMATORS[estimator]
    X = GOOD_FEATURES[name]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="No features were selected")
        try:
            fitted = make().fit(X, y)
        except ValueError as error:
            if estimator not in TAKE_NUMBERS_ONLY or not REFUSALS.search(str(error)):
                raise
            return
        for method in ("predict_proba", "predict", "transform"):
            if hasattr(fitted, method):
                assert getattr(fitted, method)(X).shape[0] == 24
    if hasattr(fitted, "scores_"):
        assert np.isfinite(fitted.scores_).all()


@pytest.mark.parametrize("name", [name for name in BAD_FEATURES if name != "million categories"])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_bad_features_are_refused(estimator, name):
    make, y = ESTIMATORS[estimator]
    X, words = BAD_FEATURES[name]
    with pytest.raises((ValueError, TypeError), match=f"{words}|Column 0|holds dates"):
        make().fit(X, y)
