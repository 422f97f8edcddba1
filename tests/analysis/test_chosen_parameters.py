"""Parameters that are chosen by name: read, checked against the estimators, and passed to what takes them."""

import numpy as np
import pytest

from ramify.analysis import analyse, fit_model, select_features
from ramify.analysis.chosen_parameters import parsed, set_parameters, with_hierarchy_parameters
from ramify.chains import ClassifierChain
from ramify.cli.main import main
from ramify.datasets import (
    make_feature_hierarchy,
    make_hierarchical,
    make_label_ranking,
    make_multilabel,
    write_arff,
)
from ramify.ensemble import ForestClassifier
from ramify.ranking import ForestRanker, ReliefRanker


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("0.5", 0.5), ("none", None), ("True", True), ("0.05,0.1", (0.05, 0.1)), ("hamming", "hamming"),
     ("[1, 2]", [1, 2]), ("'3'", "3"), ("a=b", "a=b"), ("__import__('os')", "__import__('os')")],
)  # fmt: skip
def test_values_are_read_as_what_they_look_like(text, value):
    assert parsed([f"name={text}"]) == {"name": value}


@pytest.mark.parametrize(
    ("settings", "message"),
    [(["x"], "'x' is no setting"), (["=3"], "is no setting"), (["x="], "is no setting"), (["x=1", "x=2"], "set twice")],
)
def test_what_is_no_setting_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        parsed(settings)


def test_a_parameter_of_an_inner_estimator_is_found_and_the_outer_one_comes_first():
    chain = ClassifierChain(ForestClassifier())
    set_parameters([chain], {"max_features": 0.5, "order": "correlation", "threshold": 0.3})
    assert (chain.estimator.max_features, chain.order, chain.threshold) == (0.5, "correlation", 0.3)
    assert chain.estimator.threshold == ForestClassifier().threshold


def test_every_estimator_that_has_the_parameter_gets_it():
    rankers = [ReliefRanker(), ForestRanker(ForestClassifier())]
    set_parameters(rankers, {"distance": "hamming", "error": "brier"})
    assert (rankers[0].distance, rankers[1].error) == ("hamming", "brier")


def test_an_unknown_name_lists_what_there_is_and_explains_the_nearest():
    with pytest.raises(ValueError, match="There is no parameter 'distanc'") as refused:
        set_parameters([ReliefRanker()], {"distanc": "hamming"})
    told = str(refused.value)
    assert 'Did you mean \'distance\'? (distance : {"euclidean", "hamming"' in told
    assert "ReliefRanker takes bound, distance, n_iterations, n_neighbors, per_label, ramp, sigma." in told


@pytest.mark.parametrize("name", ["random_state", "hierarchy", "n_jobs", "scores"])
def test_what_data_or_other_options_decide_is_refused(name):
    with pytest.raises(ValueError, match="decided by the data, or by an option of its own"):
        set_parameters([ReliefRanker(), ForestRanker(ForestClassifier())], {name: 3})


def test_weights_of_the_hierarchy_are_set():
    data, others = with_hierarchy_parameters(make_hierarchical(50, random_state=0), {"w0": 0.5, "sigma": 1})
    assert (data.hierarchy.w0, others) == (0.5, {"sigma": 1})
    with pytest.raises(ValueError, match="the labels have none"):
        with_hierarchy_parameters(make_multilabel(50, random_state=0), {"w0": 0.5})


def test_rankings_follow_the_chosen_parameters():
    data = make_hierarchical(120, depth=2, n_features=12, random_state=0)
    options = {"methods": ["relief", "permutation"], "n_estimators": 10, "fdr": None}
    plain = analyse(data, **options)
    chosen = {"distance": "hamming", "bound": None, "error": "brier", "max_features": None, "w0": 0.3}
    found = analyse(data, **options, parameters=chosen)
    expected = ReliefRanker(15, hierarchy=data.hierarchy.__class__(data.hierarchy.names, data.hierarchy.edges, w0=0.3),
                            distance="hamming", bound=None, random_state=0)  # fmt: skip
    np.testing.assert_allclose(found.rankings["relief"].scores, expected.fit(data.X, data.y).scores_)
    assert not np.allclose(found.rankings["permutation"].scores, plain.rankings["permutation"].scores)
    assert found.facts["Set"] == "distance=hamming, bound=None, error=brier, max_features=None, w0=0.3"
    assert "relief and permutation 0." in found.facts["FUJI"]
    assert found.facts["Efficiency"].startswith("share of the features with a positive score: relief ")


def test_wrong_values_are_refused_in_the_estimators_words():
    data = make_hierarchical(60, depth=2, n_features=12, random_state=0)
    with pytest.raises(ValueError, match="'distance' parameter of ReliefRanker must be one of"):
        analyse(data, methods=["relief"], fdr=None, parameters={"distance": "manhattan"})


def test_models_follow_the_chosen_parameters():
    labels = make_multilabel(80, n_features=12, n_labels=3, random_state=0)
    chain = fit_model(labels, method="cc", n_estimators=5, n_folds=0, parameters={"order": "correlation"}).model
    assert chain.order == "correlation"
    rankings = make_label_ranking(60, random_state=0)
    told = {"criterion": "entropy", "max_features": 1.0}
    forest = fit_model(rankings, method="random-forest", n_estimators=5, parameters=told).model
    assert (forest.criterion, forest.max_features) == ("entropy", 1.0)


def test_selection_follows_the_chosen_parameters():
    data = make_feature_hierarchy(60, random_state=0)
    found = select_features(data, data.feature_hierarchy, method="shsel", cv=2, parameters={"threshold": 0.5})
    assert found.selector.threshold == 0.5


def test_the_command_line_takes_them(tmp_path, capsys):
    write_arff(make_hierarchical(120, depth=2, n_features=12, random_state=0), tmp_path / "genes.arff")
    rank = ["rank", str(tmp_path / "genes.arff"), "--method", "relief", "--fdr", "none", "--json"]
    told = []
    for settings in ([], ["--set", "distance=hamming", "--set", "w0=0.5"]):
        with pytest.raises(SystemExit) as stop:
            main([*rank, *settings])
        assert stop.value.code == 0
        told.append(capsys.readouterr().out)
    assert told[0] != told[1]
    assert '"Set": "distance=hamming, w0=0.5"' in told[1]
    with pytest.raises(SystemExit):
        main([*rank, "--set", "distanc=hamming"])
    assert "Did you mean 'distance'?" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*rank, "--set", "distance"])
    assert "'distance' is no setting. Write name=value" in capsys.readouterr().err
