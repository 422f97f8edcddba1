"""Scores of forests: planted features, every kind of target, invariances and bad input."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import average_precision_score

from ramify.datasets import make_hierarchical, make_label_ranking, make_multilabel
from ramify.ensemble import ForestClassifier, ForestRegressor, LabelRankingForest
from ramify.ranking import ForestRanker, forest_ranking, nested_rankings

ENSEMBLES = {
    "bagging": {"max_features": None},
    "random forests": {"max_features": "sqrt"},
    "extra trees": {"splitter": "random", "bootstrap": False},
}


def test_permutation_touches_only_features_that_the_trees_use():
    data = make_hierarchical(100, n_features=30, random_state=0)
    forest = ForestClassifier(3, max_depth=2, random_state=0).fit(data.X, data.y)
    used = forest_ranking(forest, "symbolic").scores > 0
    ranking = forest_ranking(forest, "permutation", data.X, data.y)
    assert not ranking.scores[~used].any()
    assert not ranking.per_label[np.flatnonzero(~used)].nnz


@pytest.mark.parametrize(
    ("ensemble", "score"),
    [
        (ensemble, score)
        for ensemble in ENSEMBLES
        for score in ("genie3", "symbolic", "permutation", "genie3_oob")
        if ensemble != "extra trees" or score in {"genie3", "symbolic"}
    ],
)
def test_planted_features_come_first(ensemble, score):
    data = make_hierarchical(800, depth=2, n_features=30, noise=0.0, random_state=0)
    forest = ForestClassifier(60, hierarchy=data.hierarchy, random_state=0, **ENSEMBLES[ensemble])
    ranking = ForestRanker(forest, scores=score).fit(data.X, data.y).ranking_
    assert average_precision_score(data.truth.any(axis=1), ranking.scores) > 0.95
    if ranking.per_label is None:
        return
    for label in range(data.n_labels):
        scores = ranking.per_label[:, [label]].toarray()[:, 0]
        assert average_precision_score(data.truth[:, label], scores) > 0.95


@pytest.mark.parametrize("score", ["genie3", "symbolic", "permutation", "genie3_oob"])
@pytest.mark.parametrize("kind", ["classes", "one number", "several numbers", "rankings", "sparse"])
def test_every_kind_of_target(kind, score):
    random = np.random.RandomState(0)
    X = random.standard_normal((200, 8))
    forest = ForestRegressor(30, random_state=0)
    if kind == "classes":
        y, forest = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0), ForestClassifier(30, random_state=0)
    elif kind == "one number":
        y = X[:, 0] + X[:, 1]
    elif kind == "several numbers":
        y = X[:, :2] * [1.0, 100.0]
    elif kind == "rankings":
        made = make_label_ranking(200, n_features=8, random_state=0)
        X, y, forest = made.X, made.y, LabelRankingForest(30, random_state=0)
    else:
        made = make_hierarchical(300, density=0.2, n_features=30, random_state=0)
        X, y, forest = made.X, made.y, ForestClassifier(30, hierarchy=made.hierarchy, random_state=0)
    ranker = ForestRanker(forest, scores=score).fit(X, y)
    assert np.isfinite(ranker.scores_).all()
    assert ranker.scores_.any()
    if kind in {"classes", "one number", "several numbers"}:
        assert set(ranker.ranking_.order[:2]) == {0, 1}
    if kind == "several numbers" and score.startswith("genie3"):
        assert ranker.ranking_.for_label("y1").order[0] == 1
    if score in {"genie3", "genie3_oob"}:
        np.testing.assert_allclose(ranker.scores_per_label_.sum(axis=1), ranker.scores_, atol=1e-9)


def test_out_of_bag_genie3_does_not_favour_features_with_many_values():
    random = np.random.RandomState(0)
    many, few = random.standard_normal((500, 5)), random.randint(0, 2, size=(500, 5)).astype(float)
    X, y = np.hstack([many, few]), random.randint(0, 2, size=500)
    forest = ForestClassifier(100, random_state=0).fit(X, y)
    biased = forest_ranking(forest, "genie3")
    honest = forest_ranking(forest, "genie3_oob", X, y)
    assert biased.scores[:5].min() > 2 * biased.scores[5:].max()
    assert np.abs(honest.scores).max() < 0.1 * biased.scores[:5].min()


@pytest.mark.parametrize("score", ["genie3", "symbolic", "permutation", "genie3_oob"])
def test_nested_sizes_are_those_of_the_first_trees(score):
    data = make_multilabel(120, n_features=20, random_state=0)
    forest = ForestClassifier(20, random_state=0).fit(data.X, data.y)
    sizes = [5, 20, 12]
    for size, ranking in zip(sizes, nested_rankings(forest, sizes, score, data.X, data.y), strict=True):
        alone = forest_ranking(forest.first(size), score, data.X, data.y)
        np.testing.assert_allclose(ranking.scores, alone.scores, atol=1e-13)
        assert ranking.origin["n_estimators"] == size
        if ranking.per_label is not None:
            np.testing.assert_allclose(ranking.per_label.toarray(), alone.per_label.toarray(), atol=1e-13)


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_do_not_change_a_bit(n_jobs):
    data = make_hierarchical(150, missing=0.1, random_state=0)
    scores = ["genie3", "symbolic", "permutation", "genie3_oob"]
    rankings = [
        ForestRanker(ForestClassifier(12, hierarchy=data.hierarchy, random_state=0), scores=scores, n_jobs=jobs)
        .fit(data.X, data.y)
        .rankings_
        for jobs in (1, n_jobs)
    ]
    for score in scores:
        np.testing.assert_array_equal(rankings[0][score].scores, rankings[1][score].scores)
        if rankings[0][score].per_label is not None:
            assert (rankings[0][score].per_label != rankings[1][score].per_label).nnz == 0


def test_branches_sum_to_the_whole_over_the_top_labels():
    data = make_hierarchical(200, random_state=0)
    ranking = ForestRanker(ForestClassifier(20, hierarchy=data.hierarchy, random_state=0)).fit(data.X, data.y).ranking_
    branches = sum(ranking.for_label(top).scores for top in data.hierarchy.roots)
    np.testing.assert_allclose(branches, ranking.scores, atol=1e-12)


def test_per_label_scores_are_sparse_where_labels_are_many():
    data = make_hierarchical(200, depth=5, width=2, n_features=200, random_state=0)
    forest = ForestClassifier(5, hierarchy=data.hierarchy, max_depth=3, random_state=0)
    per_label = ForestRanker(forest).fit(data.X, data.y).scores_per_label_
    assert sparse.issparse(per_label)
    assert per_label.nnz < 0.3 * np.prod(per_label.shape)


def test_a_continuous_target_gets_a_regressor_by_default():
    X = np.random.RandomState(0).standard_normal((60, 3))
    assert isinstance(ForestRanker(random_state=0).fit(X, X[:, 0]).estimator_, ForestRegressor)
    assert isinstance(ForestRanker(random_state=0).fit(X, X[:, 0] > 0).estimator_, ForestClassifier)


def test_bad_input_is_refused():
    data = make_multilabel(40, n_features=5, random_state=0)
    forest = ForestClassifier(3, random_state=0).fit(data.X, data.y)
    with pytest.raises(ValueError, match="'scores' parameter of ForestRanker must be one of 'genie3', 'symbolic'"):
        ForestRanker(scores="gini").fit(data.X, data.y)
    with pytest.raises(ValueError, match="'scores' parameter of forest_ranking"):
        forest_ranking(forest, ["genie3", 3])
    with pytest.raises(ValueError, match="At least one score"):
        forest_ranking(forest, [])
    with pytest.raises(TypeError, match="'estimator' parameter of ForestRanker must be a ForestClassifier"):
        ForestRanker("forest").fit(data.X, data.y)
    with pytest.raises(ValueError, match="needs X and y"):
        forest_ranking(forest, "permutation")
    with pytest.raises(ValueError, match=r"'sizes' parameter of nested_rankings must be an int in \[1, 3\]"):
        nested_rankings(forest, [4])


@pytest.mark.parametrize("score", ["permutation", "genie3_oob"])
def test_extra_trees_have_no_out_of_bag_score(score):
    data = make_multilabel(40, n_features=5, random_state=0)
    forest = ForestClassifier(3, splitter="random", bootstrap=False)
    with pytest.raises(ValueError, match="out-of-bag examples, and a forest with bootstrap=False"):
        ForestRanker(forest, scores=score).fit(data.X, data.y)


def test_a_second_fit_forgets_the_names_of_the_first():
    frame = pd.DataFrame({"one": [0.0, 1.0, 2.0, 3.0], "two": [1.0, 0.0, 1.0, 0.0]})
    ranker = ForestRanker(ForestClassifier(3, random_state=0)).fit(frame, [0, 0, 1, 1])
    ranker.fit(frame.to_numpy(), [0, 0, 1, 1])
    assert not hasattr(ranker, "feature_names_in_")
    assert ranker.ranking_.names == ("x0", "x1")
