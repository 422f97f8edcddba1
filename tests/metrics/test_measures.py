"""Every measure knows which way it points and what it takes."""

import inspect
from functools import partial

import numpy as np
import pytest
import sklearn.metrics
from sklearn.metrics import get_scorer, get_scorer_names

from ramify import Hierarchy, metrics
from ramify.metrics import larger_is_better, measure
from ramify.metrics.measures import takes

NO_MEASURES = {
    "Score", "cafa_measures", "calibration_error", "label_information", "label_propensities",
    "larger_is_better", "measure", "measure_table", "part_score", "reliability_bins", "takes", "target_score",
}  # fmt: skip
MEASURES = {name: getattr(metrics, name) for name in metrics.__all__ if name not in NO_MEASURES}
PAIR = Hierarchy.from_edges([("a", "b"), ("b", "c")])


@pytest.mark.parametrize("name", MEASURES)
def test_a_perfect_prediction_is_not_worse_than_a_wrong_one_in_the_stated_direction(name):
    """The truth itself against its opposite: the direction is tried, not only stated."""
    function = MEASURES[name]
    kind = takes(function)
    if kind == "numbers":
        truth, opposite = np.array([[1.0], [2.0], [4.0]]), np.array([[4.0], [2.0], [1.0]])
    elif kind == "rankings":
        truth, opposite = np.array([[1.0, 2, 3], [3.0, 2, 1]]), np.array([[3.0, 2, 1], [1.0, 2, 3]])
    else:
        truth = np.array([[1, 1, 1], [1, 1, 0], [1, 0, 0], [0, 0, 0]])
        opposite = 1 - truth
    options = {"hierarchy": PAIR} if name.startswith("hierarchical_") else {}
    best, worst = float(function(truth, truth, **options)), float(function(truth, opposite, **options))
    assert best > worst if larger_is_better(function) else best < worst


@pytest.mark.parametrize("name", MEASURES)
def test_what_a_measure_takes_is_what_its_parameters_are_called(name):
    scores = "y_score" in inspect.signature(MEASURES[name]).parameters
    assert (takes(MEASURES[name]) == "scores") is scores


@pytest.mark.parametrize("name", MEASURES)
def test_fixed_arguments_change_nothing(name):
    fixed = partial(partial(MEASURES[name], average="micro"), exclude_universal=True)
    assert larger_is_better(fixed) is larger_is_better(MEASURES[name])
    assert takes(fixed) == takes(MEASURES[name])


SKLEARN = {
    name: getattr(sklearn.metrics, name)
    for name in sklearn.metrics.__all__
    if name.endswith(("_loss", "_error", "_deviance", "_score", "_corrcoef"))
}


@pytest.mark.parametrize("name", [n for n in get_scorer_names() if n.startswith("neg_")])
def test_what_scikit_learn_negates_for_its_scorers_is_a_loss(name):
    odd = {
        "neg_negative_likelihood_ratio": "",
        "neg_max_error": "max_error",
        "neg_brier_score": "brier_score_loss",
    }
    function = SKLEARN.get(odd.get(name, name.removeprefix("neg_")))
    assert function is None or larger_is_better(function) is False


@pytest.mark.parametrize("name", [n for n in get_scorer_names() if not n.startswith("neg_")])
def test_what_scikit_learn_does_not_negate_is_a_gain(name):
    function = SKLEARN.get(f"{name}_score") or SKLEARN.get(name)
    assert function is None or larger_is_better(function) is True


def test_many_measures_of_scikit_learn_are_known():
    assert len(SKLEARN) > 40
    assert all(larger_is_better(function) is not None for function in SKLEARN.values())
    taken = {name for name, function in SKLEARN.items() if takes(function) == "scores"}
    assert {"roc_auc_score", "log_loss", "brier_score_loss", "coverage_error", "label_ranking_loss"} <= taken
    assert not {"accuracy_score", "hamming_loss", "zero_one_loss", "mean_squared_error"} & taken
    assert takes(sklearn.metrics.hinge_loss) == "decisions"


def test_scorers_of_scikit_learn_point_up_by_convention():
    assert larger_is_better(get_scorer("neg_log_loss")) is True
    assert takes(get_scorer("accuracy")) == "estimator"


def test_what_is_not_known_is_not_guessed():
    assert larger_is_better(lambda y_true, y_pred: 0.0) is None
    assert larger_is_better(sklearn.metrics.confusion_matrix) is None
    assert larger_is_better(len) is None


def test_own_functions_are_marked():
    @measure(larger_is_better=False, takes="scores")
    def cost(truth, given):
        return 0.0

    assert larger_is_better(partial(cost, given=1)) is False
    assert takes(cost) == "scores"
