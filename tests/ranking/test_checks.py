"""scikit-learn's estimator checks over the rankers and SelectTop."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from ramify.ensemble import ForestClassifier, ForestRegressor
from ramify.ranking import ForestRanker, ReliefRanker
from ramify.selection import SelectTop

RANKERS = [
    ReliefRanker(3, random_state=0),
    ForestRanker(ForestClassifier(5), random_state=0),
    ForestRanker(ForestRegressor(5), scores="symbolic", random_state=0),
    ForestRanker(ForestClassifier(5), scores=["permutation", "genie3_oob"], random_state=0),
    SelectTop(ReliefRanker(3), n_features=2),
]


@parametrize_with_checks(RANKERS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)
