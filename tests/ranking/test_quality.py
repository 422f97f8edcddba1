import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from tests.ranking.relief_reference import difference

from ramify.datasets import make_hierarchical, make_label_ranking
from ramify.ensemble import ForestClassifier, LabelRankingForest
from ramify.metrics import auprc
from ramify.ranking import FeatureRanking, ForestRanker, ReliefRanker, addition_curve, knn_quality


def ranking(scores):
    return FeatureRanking([f"x{j}" for j in range(len(scores))], scores)


def slow_knn(X, Y, X_test, weights, nominal, k):
    predicted = []
    n_values = [len(np.unique(c[~np.isnan(c)])) for c in X.T]
    for row in X_test:
        distance = np.zeros(len(X))
        for i, other in enumerate(X):
            for f, weight in enumerate(weights):
                d = difference(X[:, f], row[f], other[f], nominal=nominal[f], n_values=n_values[f])
                distance[i] += weight * d**2
        nearest = np.lexsort((np.arange(len(X)), np.sqrt(distance)))[:k]
        predicted.append(Y[nearest].mean(axis=0))
    return np.array(predicted)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_knn_quality_equals_its_definition(is_sparse):
    random = np.random.RandomState(0)
    X = random.randint(0, 4, size=(60, 6)).astype(float)
    X[:, 0] = random.standard_normal(60)
    X[random.random_sample(X.shape) < 0.1] = np.nan
    Y = random.randint(0, 2, size=(60, 4))
    nominal = np.array([False, False, False, True, True, False])
    weights = np.array([0.5, 0.1, 0.0, 0.3, 0.2, -0.4])
    given = sparse.csr_array(X) if is_sparse else X
    found = knn_quality(
        ranking(weights), given[:40], Y[:40], given[40:], Y[40:], n_neighbors=5, categorical_features=nominal
    )
    for value, own in ((found.weighted, np.maximum(0, weights)), (found.unweighted, np.ones(6))):
        expected = auprc(Y[40:], slow_knn(X[:40], Y[:40], X[40:], own, nominal, 5))
        assert value == pytest.approx(expected, abs=1e-12)


def test_scale_of_the_scores_does_not_matter():
    data = make_hierarchical(120, random_state=0)
    parts = (data.X[:80], data.y[:80], data.X[80:], data.y[80:])
    scores = np.random.RandomState(0).random_sample(60)
    assert knn_quality(ranking(scores), *parts) == knn_quality(ranking(scores * 2.0**-30), *parts)


def test_several_rankings_are_measured_together():
    data = make_hierarchical(120, random_state=0)
    parts = (data.X[:80], data.y[:80], data.X[80:], data.y[80:])
    rankings = [ranking(np.random.RandomState(seed).random_sample(60)) for seed in range(3)]
    together = knn_quality(rankings, *parts, hierarchy=data.hierarchy)
    assert together == [knn_quality(one, *parts, hierarchy=data.hierarchy) for one in rankings]


def test_a_ranking_without_positive_scores_counts_as_unweighted():
    data = make_hierarchical(80, random_state=0)
    found = knn_quality(ranking(np.full(60, -1.0)), data.X[:50], data.y[:50], data.X[50:], data.y[50:])
    assert found.weighted == found.unweighted


def test_true_scores_beat_none():
    data = make_hierarchical(400, depth=2, random_state=0)
    true = ranking(data.truth.any(axis=1).astype(float))
    found = knn_quality(true, data.X[:300], data.y[:300], data.X[300:], data.y[300:])
    assert found.weighted > found.unweighted + 0.1


@pytest.mark.parametrize("kind", ["classes", "numbers", "several numbers", "rankings"])
def test_knn_quality_for_every_kind_of_target(kind):
    random = np.random.RandomState(0)
    X = random.standard_normal((200, 6))
    target = "auto"
    if kind == "classes":
        y = np.where(X[:, 0] > 0, "yes", "no")
    elif kind == "rankings":
        y, target = np.argsort(np.argsort(-(X[:, :1] * [1, -1, 0]), axis=1), axis=1) + 1, "rankings"
    else:
        y = X[:, 0] if kind == "numbers" else X[:, [0, 0]] + 0.1
    true = ranking([1.0, 0, 0, 0, 0, 0])
    found = knn_quality(true, X[:150], y[:150], X[150:], y[150:], target=target)
    assert found.weighted > found.unweighted
    assert found.weighted > 0.9


def test_knn_quality_refuses_a_ranking_for_other_features():
    data = make_hierarchical(60, random_state=0)
    parts = (data.X[:40], data.y[:40], data.X[40:], data.y[40:])
    with pytest.raises(ValueError, match="of 3 features and the data have 60"):
        knn_quality(ranking([1, 2, 3]), *parts)
    with pytest.raises(ValueError, match=r"'n_neighbors' parameter of knn_quality must be an int in \[1, 40\]"):
        knn_quality(ranking(np.ones(60)), *parts, n_neighbors=41)
    with pytest.raises(ValueError, match="'target' parameter of knn_quality"):
        knn_quality(ranking(np.ones(60)), *parts, target="sets")


@pytest.fixture(scope="module")
def small():
    return make_hierarchical(150, depth=1, n_features=9, noise=0.0, random_state=0)


def test_forward_is_above_random_and_reverse_below(small):
    common = {"cv": 3, "n_random": 8, "random_state": 0, "hierarchy": small.hierarchy}
    estimator = ForestClassifier(20, random_state=0)
    ranker = ReliefRanker(hierarchy=small.hierarchy)
    forward = addition_curve(ranker, small.X, small.y, estimator=estimator, **common)
    backward = addition_curve(ranker, small.X, small.y, estimator=estimator, reverse=True, **common)
    assert forward.area > forward.random_area > backward.area
    assert forward.sizes.tolist() == [1, 2, 4, 8, 9]
    assert forward.values[1] > forward.random_high[1]
    assert forward.values[-1] == pytest.approx(backward.values[-1], abs=0.03)
    assert forward.fold_values.shape == (3, 5)
    np.testing.assert_allclose(forward.fold_values.mean(axis=0), forward.values)
    assert forward.best_size == 2


def test_the_ranking_sees_only_the_training_fold(small):
    seen = []

    class Spy(ReliefRanker):
        def fit(self, X, y):
            seen.append(len(X))
            return super().fit(X, y)

    addition_curve(Spy(5), small.X, small.y, estimator=ForestClassifier(2), cv=3, n_random=0, random_state=0)
    assert seen == [100, 100, 100]


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [("all", list(range(1, 10))), ("quadratic", [1, 4, 9]), ("exponential", [1, 2, 4, 8, 9]), ([3, 1], [1, 3])],
)
def test_grids_of_sizes(small, sizes, expected):
    curve = addition_curve(
        ReliefRanker(3), small.X, small.y, estimator=ForestClassifier(1), sizes=sizes, cv=2, n_random=0
    )
    assert curve.sizes.tolist() == expected
    assert curve.random_mean is None


def test_default_model_looks_at_a_tenth_of_the_features(small):
    fitted = []

    def scoring(model, X, y):
        fitted.append((X.shape[1], model.max_features, model.n_estimators))
        return 0.0

    wide = np.hstack([small.X, small.X + 1, small.X + 2])
    addition_curve(ReliefRanker(3), wide, small.y, sizes=[1, 10, 27], scoring=scoring, cv=2, n_random=0)
    assert fitted[:3] == [(1, 1, 100), (10, 1, 100), (27, 3, 100)]


def test_any_estimator_and_any_target():
    random = np.random.RandomState(0)
    X = random.standard_normal((90, 4))
    y = np.where(X[:, 2] > 0, "a", "b")
    curve = addition_curve(ReliefRanker(5), X, y, estimator=LogisticRegression(), cv=3, n_random=3, random_state=0)
    assert curve.values[0] > 0.95
    assert addition_curve(ReliefRanker(5), X, X[:, 1], cv=3, n_random=0).measure == "R2"
    made = make_label_ranking(80, n_features=6, random_state=0)
    ranker = ForestRanker(LabelRankingForest(5, random_state=0))
    curve = addition_curve(ranker, made.X, made.y, estimator=LabelRankingForest(5), cv=2, n_random=0)
    assert curve.measure == "Kendall's tau"


def test_addition_curve_refuses_bad_input(small):
    with pytest.raises(ValueError, match="'sizes' parameter of addition_curve must be one of 'all'"):
        addition_curve(ReliefRanker(), small.X, small.y, sizes="linear")
    with pytest.raises(ValueError, match=r"'sizes' parameter of addition_curve must be an int in \[1, 9\]"):
        addition_curve(ReliefRanker(), small.X, small.y, sizes=[10])
    with pytest.raises(ValueError, match="'n_random' parameter"):
        addition_curve(ReliefRanker(), small.X, small.y, n_random=-1)
    with pytest.raises(ValueError, match="'cv' parameter"):
        addition_curve(ReliefRanker(), small.X, small.y, cv=1)


def n_nominal(fitted, X, y):
    return float(sum(values is not None for values in fitted.categories_))


@pytest.mark.parametrize("nominal", ["from_dtype", ["kind"], [1], [False, True], None])
def test_curves_take_nominal_features_as_every_estimator_does(nominal):
    value = np.tile(np.arange(6), 10)
    kind = pd.Categorical([f"v{number}" for number in value]) if isinstance(nominal, str) else value
    frame = pd.DataFrame({"noise": np.random.default_rng(0).normal(size=60), "kind": kind})
    ranker = ForestRanker(ForestClassifier(5, categorical_features=nominal))
    options = {"cv": 2, "n_random": 1, "sizes": [2], "random_state": 0, "scoring": n_nominal}
    curve = addition_curve(ranker, frame, value % 2, categorical_features=nominal, **options)
    assert curve.values.tolist() == curve.random_mean.tolist() == [0.0 if nominal is None else 1.0]
    with pytest.raises(ValueError, match="names 'colour', which is not a column of X"):
        addition_curve(ranker, frame, value % 2, categorical_features=["colour"], **options)
