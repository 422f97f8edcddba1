import re
from dataclasses import replace

import numpy as np
import pytest

from ramify.analysis import analyse, fit_model
from ramify.analysis.methods import RANKING_METHODS
from ramify.datasets import make_hierarchical, make_label_ranking, make_multilabel


@pytest.fixture(scope="module")
def data():
    made = make_hierarchical(200, depth=2, n_features=16, noise=0.0, random_state=0)
    return replace(made, parts={"train": np.arange(140), "test": np.arange(140, 200)})


def test_planted_drivers_come_first_and_the_test_part_is_left_out(data):
    results = analyse(data, methods=["genie3", "relief"], n_estimators=20, explain=True)
    assert results.dataset.n_samples == 140
    assert list(results.rankings) == ["genie3", "relief"]
    planted = data.truth.sum(axis=1) > 0
    assert planted[results.rankings["genie3"].order[:3]].all()
    assert results.label_quality.shape == (data.n_labels,)
    assert results.explained_on == "The model has not seen these rows."
    claims = results.claims_of("1")
    assert claims
    assert all(planted[feature] and claim.branch == "1" for feature, claim in claims.items())
    assert {claim.feature for claim in results.discoveries.claims} <= set(data.feature_names)


def test_threads_do_not_change_results(data):
    one, two = (analyse(data, n_estimators=10, quality={"cv": 2, "n_random": 1}, n_jobs=n) for n in (1, 2))
    assert one.discoveries == two.discoveries
    np.testing.assert_array_equal(one.curves["genie3_oob"].values, two.curves["genie3_oob"].values)
    assert one.knn_quality == two.knn_quality
    assert one.rankings["genie3_oob"] == two.rankings["genie3_oob"]


def test_quality_is_above_chance(data):
    results = analyse(data, n_estimators=20, fdr=None, quality={"cv": 2, "n_random": 3})
    assert results.discoveries is None
    assert results.curves["genie3_oob"].area > results.random_curve.area
    assert results.knn_quality["genie3_oob"] > results.knn_baseline
    assert results.quality_name == "pooled AUPRC"


def test_where_nothing_can_be_claimed_the_reason_is_told(data):
    few = analyse(make_multilabel(80, n_labels=3, random_state=0), n_estimators=5)
    assert few.discoveries is None
    assert "at least 100 rows" in few.no_claims
    assert "Claims" not in few.facts
    assert few.associations is not None
    trees = analyse(data, ensemble="extra-trees", n_estimators=5)
    assert "out-of-bag" in trees.no_claims
    assert list(trees.rankings) == ["genie3"]
    assert trees.associations is not None


@pytest.mark.parametrize("method", RANKING_METHODS)
def test_records_say_who_has_scores_per_label(method):
    data = make_multilabel(80, n_labels=3, random_state=0)
    ranking = analyse(data, methods=[method], n_estimators=5, fdr=None).rankings[method]
    assert (ranking.per_label is not None) == RANKING_METHODS[method].per_label


@pytest.mark.parametrize("method", [name for name, one in RANKING_METHODS.items() if one.needs_out_of_bag])
def test_methods_that_need_out_of_bag_rows_refuse_extra_trees(data, method):
    with pytest.raises(ValueError, match=f"The method {method} is measured on out-of-bag rows, which extra-trees has"):
        analyse(data, methods=[method], ensemble="extra-trees")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"methods": "genie3"}, "must be a list of methods. Got 'genie3'"),
        ({"methods": []}, "must be a list of methods"),
        ({"methods": ["primrose"]}, "'methods' parameter of analyse must be"),
        ({"fdr": 0.0}, "'fdr' parameter of analyse must be"),
        ({"given": "some"}, "'given' parameter of analyse must be"),
        ({"methods": ["relief"], "n_neighbors": 140}, "140 neighbours are more than the other 139 rows"),
        ({"quality": {"cv": 141}}, "141 folds are more than the 140 rows"),
    ],
)
def test_refuses_what_makes_no_sense(data, options, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        analyse(data, **options)


def test_no_target_is_refused(data):
    with pytest.raises(ValueError, match="has no target to rank for"):
        analyse(replace(data, y=None))


def test_scores_per_label_are_missed_with_the_way_out():
    results = analyse(make_label_ranking(60, random_state=0), methods=["symbolic"], n_estimators=5, fdr=None)
    with pytest.raises(ValueError, match=r"These methods give no scores per label for this target; genie3_oob, .* do"):
        _ = results.label_ranking


def test_a_notebook_shows_rankings_and_measures(data):
    assert "Top features by genie3" in analyse(data, n_estimators=5, fdr=None)._repr_html_()
    assert "Measured on 60 test rows" in fit_model(data, n_estimators=5).results._repr_html_()


def test_a_model_is_measured_on_the_test_part_and_knows_its_names(data):
    fitted = fit_model(data, n_estimators=20, explain=True)
    assert fitted.results.measured_on == "Measured on 60 test rows"
    assert fitted.results.measures.iloc[0]["model"] > fitted.results.measures.iloc[0]["prior"]
    assert list(fitted.model.feature_names_in_) == list(data.feature_names)
    assert list(fitted.results.rankings) == ["genie3_oob"]
    assert not hasattr(fit_model(data.part("train"), n_estimators=20).model, "oob_prediction_")
