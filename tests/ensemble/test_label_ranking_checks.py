"""Label rankers keep scikit-learn's contract.

Its fitting checks pass classes or numbers as y, which are no rankings, so only the checks that need no y run here; the
others are replaced by properties on random rankings with ties and unranked labels.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_checks

from ramify.datasets import make_label_ranking
from ramify.ensemble import LabelRankingForest
from ramify.ensemble.label_ranking import CRITERIA
from ramify.targets.rankings import check_rankings

RANKERS = [LabelRankingForest(3)]
CHECKS_WITHOUT_Y = [
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_valid_tag_types",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
    "check_mixin_order",
]


@pytest.mark.parametrize("check", CHECKS_WITHOUT_Y)
@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_ranker_passes_the_check(ranker, check):
    getattr(estimator_checks, check)(type(ranker).__name__, clone(ranker))


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
class TestEveryRanker:
    def test_needs_y_and_fit(self, ranker):
        with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
            clone(ranker).fit([[0.0], [1.0]], None)
        with pytest.raises(NotFittedError):
            clone(ranker).predict([[0.0]])

    def test_leaves_its_input_as_it_was_and_can_be_fitted_again(self, ranker):
        data = make_label_ranking(60, n_labels=4, ties=0.2, unranked=0.2, random_state=0)
        X, y = data.X.copy(), data.y.copy()
        X.flags.writeable = y.flags.writeable = False
        model = clone(ranker)
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        first = model.fit(X, y).predict(X)
        np.testing.assert_array_equal(X, data.X)
        np.testing.assert_array_equal(first, model.fit(X, y).predict(X))

    def test_other_features_are_refused(self, ranker):
        data = make_label_ranking(40, random_state=0)
        model = clone(ranker).fit(data.X, data.y)
        with pytest.raises(ValueError, match="features"):
            model.predict(data.X[:, :3])


rankings = st.builds(
    make_label_ranking,
    st.integers(4, 40),
    n_features=st.just(3),
    n_informative=st.integers(1, 3),
    n_labels=st.integers(2, 6),
    noise=st.sampled_from([0.0, 0.5]),
    ties=st.sampled_from([0.0, 0.3, 1.0]),
    unranked=st.sampled_from([0.0, 0.4]),
    random_state=st.integers(0, 10**6),
)


@settings(max_examples=40, deadline=None)
@given(data=rankings, criterion=st.sampled_from(CRITERIA), splitter=st.sampled_from(["best", "random"]))
def test_predictions_are_rankings_and_preferences_are_probabilities(data, criterion, splitter):
    forest = LabelRankingForest(3, criterion=criterion, splitter=splitter, random_state=0).fit(data.X, data.y)
    check_rankings(forest.predict(data.X))
    preferences = forest.predict_preferences(data.X)
    assert ((preferences >= 0) & (preferences <= 1)).all()
    np.testing.assert_allclose(forest.pair_importances_.sum(axis=1) >= 0, True)


@settings(max_examples=40, deadline=None)
@given(data=rankings, criterion=st.sampled_from(CRITERIA), seed=st.integers(0, 100))
def test_row_order_does_not_matter(data, criterion, seed):
    order = np.random.default_rng(seed).permutation(data.n_samples)
    tree = LabelRankingForest(1, criterion=criterion, bootstrap=False, max_features=None, max_depth=1, random_state=0)
    plain = clone(tree).fit(data.X, data.y).predict_preferences(data.X)
    shuffled = clone(tree).fit(data.X[order], data.y[order]).predict_preferences(data.X)
    np.testing.assert_allclose(plain, shuffled, atol=1e-12)
