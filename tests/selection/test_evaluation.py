import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.pipeline import make_pipeline

from ramify.datasets import make_feature_hierarchy
from ramify.selection import (
    HierarchicalSelector,
    LazyNaiveBayes,
    LazyNeighbors,
    LazySelector,
    cross_validated_selection,
)


@pytest.fixture(scope="module")
def data():
    return make_feature_hierarchy(150, n_features=60, strength=0.4, random_state=0)


def test_measures_are_of_all_folds_together_and_of_their_means(data):
    result = cross_validated_selection(LazyNaiveBayes(LazySelector(data.feature_hierarchy)), data.X, data.y)
    found = result.measures()
    assert found["auroc"] == pytest.approx(roc_auc_score(data.y, result.probabilities[:, 1]))
    assert found["auprc"] == pytest.approx(average_precision_score(data.y, result.probabilities[:, 1]))
    by_fold = [
        average_precision_score(data.y[result.folds == fold], result.probabilities[result.folds == fold, 1])
        for fold in range(10)
    ]
    assert found["auprc_folds"] == pytest.approx(np.mean(by_fold))
    predicted = result.probabilities.argmax(axis=1)
    sensitivity, specificity = np.mean(predicted[data.y == 1] == 1), np.mean(predicted[data.y == 0] == 0)
    assert found["gm"] == pytest.approx(np.sqrt(sensitivity * specificity))
    with pytest.raises(ValueError, match="There is no class 'old'; the data has 0, 1"):
        result.measures(positive="old")
    prior = result.by_prior().measures()
    assert (prior["auroc"], prior["gm"]) == (0.5, 0.0)
    assert prior["auprc"] == pytest.approx(np.mean(data.y))
    other = result.measures(positive=0)
    assert other["auprc"] == pytest.approx(average_precision_score(1 - data.y, result.probabilities[:, 0]))
    assert found["share"] == pytest.approx(result.ranking.scores.mean())


def test_shares_are_those_of_the_test_rows(data):
    hierarchy = data.feature_hierarchy
    everything = cross_validated_selection(LazyNaiveBayes(), data.X, data.y)
    assert everything.share == 1.0
    present = cross_validated_selection(LazyNeighbors(LazySelector(hierarchy, method="positive")), data.X, data.y)
    dense = data.X.toarray()
    assert present.share == pytest.approx((dense.mean() * 60 - 1) / 60)
    eager = make_pipeline(HierarchicalSelector(hierarchy, method="gtd"), LazyNaiveBayes())
    assert 0 < cross_validated_selection(eager, data.X, data.y).share < 1


def test_three_classes_are_averaged_by_their_frequency():
    data = make_feature_hierarchy(150, n_features=60, n_classes=3, strength=0.5, random_state=1)
    result = cross_validated_selection(LazyNaiveBayes(LazySelector(data.feature_hierarchy)), data.X, data.y)
    apart = [roc_auc_score(data.y == c, result.probabilities[:, c]) for c in range(3)]
    assert result.measures()["auroc"] == pytest.approx(np.average(apart, weights=np.bincount(data.y)))


def test_frames_and_arrays_agree(data):
    frame = pd.DataFrame(data.X.toarray(), columns=list(data.feature_names))
    classifier = LazyNaiveBayes(LazySelector(data.feature_hierarchy))
    first = cross_validated_selection(classifier, frame, data.y, n_splits=3)
    second = cross_validated_selection(classifier, data.X, data.y, n_splits=3, names=data.feature_names)
    np.testing.assert_array_equal(first.probabilities, second.probabilities)
    assert first.ranking == second.ranking


def test_names_may_be_an_array():
    data = make_feature_hierarchy(60, n_features=20, random_state=0)
    result = cross_validated_selection(LazyNaiveBayes(), data.X, data.y, names=np.array(data.feature_names), n_splits=2)
    assert result.ranking.names == data.feature_names
