import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from ramify.datasets import make_hierarchical
from ramify.ensemble import ForestClassifier
from ramify.ranking import ForestRanker, ReliefRanker
from ramify.selection import SelectTop


def test_keeps_the_best_features_of_the_ranking():
    data = make_hierarchical(150, random_state=0)
    selector = SelectTop(ReliefRanker(hierarchy=data.hierarchy), n_features=6).fit(data.X, data.y)
    assert set(np.flatnonzero(selector.get_support())) == set(selector.ranking_.order[:6])
    np.testing.assert_array_equal(selector.transform(data.X), data.X[:, selector.get_support()])


def test_works_in_a_pipeline_with_names():
    data = make_hierarchical(150, depth=1, n_features=10, random_state=0)
    X, y = data.to_frame(), data.y.toarray()[:, 0]
    ranker = ForestRanker(ForestClassifier(20, random_state=0))
    pipeline = make_pipeline(SelectTop(ranker, n_features=2), LogisticRegression()).set_output(transform="pandas")
    assert pipeline.fit(X, y).score(X, y) > 0.8
    assert len(pipeline[0].get_feature_names_out()) == 2


def test_sparse_stays_sparse():
    data = make_hierarchical(100, density=0.2, random_state=0)
    assert SelectTop(n_features=5).fit_transform(data.X, data.y).format in {"csr", "csc"}


def test_auto_finds_about_as_many_as_matter():
    data = make_hierarchical(250, depth=1, width=3, n_features=24, noise=0.0, random_state=0)
    selector = SelectTop(ReliefRanker(), n_features="auto", cv=3, random_state=0).fit(data.X, data.y)
    assert 2 <= selector.n_features_ <= 8
    assert selector.n_features_ == selector.curve_.best_size


def test_threshold_drops_features_without_merit():
    data = make_hierarchical(200, depth=1, n_features=20, random_state=0)
    selector = SelectTop(ReliefRanker(), n_features=20, threshold=0.0).fit(data.X, data.y)
    assert selector.n_features_ == (selector.ranking_.scores > 0).sum()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_features": 0}, "'n_features' parameter of SelectTop must be an int >= 1"),
        ({"n_features": "some"}, "'n_features' parameter of SelectTop must be one of 'auto'"),
        ({"threshold": "high"}, "'threshold' parameter of SelectTop"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    data = make_hierarchical(40, random_state=0)
    with pytest.raises(ValueError, match=message):
        SelectTop(**parameters).fit(data.X, data.y)


def test_a_forest_is_no_ranker():
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(TypeError, match=r"Got ForestClassifier; a forest ranks as ForestRanker\(ForestClassifier"):
        SelectTop(ForestClassifier(2)).fit(X, X[:, 0] > 0)


def test_a_second_fit_forgets_the_curve_of_the_first():
    data = make_hierarchical(60, depth=1, n_features=4, random_state=0)
    selector = SelectTop(n_features="auto", cv=2, random_state=0).fit(data.X, data.y)
    assert selector.curve_.best_size == selector.n_features_
    assert not hasattr(selector.set_params(n_features=2).fit(data.X, data.y), "curve_")


@pytest.mark.parametrize("ranker", [ReliefRanker(categorical_features=[1]),
                                    ForestRanker(ForestClassifier(5, categorical_features=[1]))])  # fmt: skip
def test_auto_takes_the_features_for_nominal_that_the_ranker_takes(ranker, monkeypatch):
    told = []
    fit = ForestClassifier.fit
    monkeypatch.setattr(
        ForestClassifier,
        "fit",
        lambda self, X, y, sample_weight=None: (told.append(self.categorical_features), fit(self, X, y))[1],
    )
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=40), np.tile(np.arange(4.0), 10)])
    SelectTop(ranker, n_features="auto", cv=2, random_state=0).fit(X, X[:, 1] % 2 == 0)
    of_curves = [np.asarray(mask) for mask in told if np.asarray(mask).dtype == bool]
    assert [mask.sum() for mask in of_curves if len(mask) == 2] == [1, 1]  # one of both features, in each fold
