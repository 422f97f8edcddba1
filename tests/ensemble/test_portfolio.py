"""Portfolio: who is chosen is who predicts held-out rows best together, for every kind of target."""

import time

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import ramify
from ramify.datasets import make_hierarchical, make_multilabel
from ramify.ensemble import (
    BoostedClassifier,
    BoostedRegressor,
    ForestClassifier,
    ForestRegressor,
    KernelClassifier,
    LabelRankingForest,
    NetworkClassifier,
    Portfolio,
    portfolio,
)
from ramify.metrics import average_precision_score

NESTED = make_hierarchical(150, random_state=0)
SETS = make_multilabel(150, n_labels=4, random_state=0)


def for_labels(**options):
    return {
        "forest": ForestClassifier(15, random_state=0, **options),
        "extra": ForestClassifier(15, splitter="random", bootstrap=False, random_state=0, **options),
        "boosted": BoostedClassifier(40, early_stopping=None, random_state=0, **options),
    }


def for_numbers():
    return {
        "forest": ForestRegressor(15, random_state=0),
        "boosted": BoostedRegressor(40, early_stopping=None, random_state=0),
    }


def greedy(predictions, truth):
    """Caruana's selection with replacement, written plainly: the best mean on the way, three steps beyond it."""
    added, best, n_best = [], -np.inf, 0
    while len(added) < n_best + 3:
        scores = {
            name: average_precision_score(
                truth, np.mean([*(predictions[c] for c in added), part], axis=0), average="micro"
            )
            for name, part in predictions.items()
        }
        name = max(scores, key=scores.get)
        added.append(name)
        if scores[name] > best:
            best, n_best = scores[name], len(added)
    return added[:n_best], best


def test_the_choice_equals_greedy_selection_written_plainly():
    rows = np.arange(150)
    folds = [(rows[rows % 3 != k], rows[rows % 3 == k]) for k in range(3)]
    model = Portfolio(for_labels(), cv=folds).fit(SETS.X, SETS.y)
    predictions = {}
    for train, test in folds:
        for name, member in for_labels().items():
            fitted = clone(member).fit(SETS.X[train], SETS.y[train])
            versions = {name: fitted}
            if name == "boosted":
                versions = {f"boosted, {k} rounds": fitted.first(k) for k in (10, 20, 40)}
            for title, version in versions.items():
                predictions.setdefault(title, []).append(version.predict_proba(SETS.X[test]).astype(np.float32))
    predictions = {name: np.concatenate(parts) for name, parts in predictions.items()}
    truth = SETS.y.toarray()[np.concatenate([test for _, test in folds])]
    chosen, best = greedy(predictions, truth)
    assert model.weights_ == {name: chosen.count(name) / len(chosen) for name in dict.fromkeys(chosen)}
    assert model.score_ == pytest.approx(best)
    assert model.scores_ == pytest.approx(
        {n: average_precision_score(truth, part, average="micro") for n, part in predictions.items()}
    )


def test_the_prediction_is_the_weighted_mean_of_members_fitted_to_all_rows():
    model = Portfolio(for_labels(), random_state=0).fit(SETS.X, SETS.y)
    expected = 0
    for name, weight in model.weights_.items():
        kind, _, rounds = name.removesuffix(" rounds").partition(", ")
        member = for_labels()[kind]
        if rounds:
            member.set_params(n_estimators=int(rounds))
        expected = expected + weight * member.fit(SETS.X, SETS.y).predict_proba(SETS.X)
    np.testing.assert_allclose(model.predict_proba(SETS.X), expected, atol=1e-12)
    np.testing.assert_array_equal(model.predict(SETS.X).toarray(), expected > 0.5)


def smooth_members():
    return {
        "kernel": KernelClassifier(random_state=0),
        "networks": NetworkClassifier(1, n_units=20, n_epochs=8, early_stopping=None, random_state=0),
        "forest": ForestClassifier(15, random_state=0),
    }


def test_networks_are_tried_after_several_epochs_and_fitted_with_those_chosen():
    model = Portfolio({"networks": smooth_members()["networks"]}, random_state=0).fit(SETS.X, SETS.y)
    assert set(model.scores_) == {f"networks, {k} epochs" for k in (2, 4, 8)}
    for name, member in model.members_.items():
        n_epochs = int(name.split()[1])
        alone = smooth_members()["networks"].set_params(n_epochs=n_epochs).fit(SETS.X, SETS.y)
        np.testing.assert_array_equal(member.predict_proba(SETS.X), alone.predict_proba(SETS.X))


def test_what_a_member_added_is_what_is_lost_without_it():
    model = Portfolio(smooth_members(), cv=2, random_state=0).fit(SETS.X, SETS.y)
    assert model.added_.keys() == model.weights_.keys()
    assert len(model.added_) > 1
    name = next(iter(model.weights_))
    single = Portfolio({"forest": for_labels()["forest"]}, cv=2, random_state=0).fit(SETS.X, SETS.y)
    assert single.added_ == {"forest": single.score_}
    others = {other: weight for other, weight in model.weights_.items() if other != name}
    if len(others) == 1:
        assert model.added_[name] == pytest.approx(model.score_ - model.scores_[next(iter(others))])


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_members_side_by_side_give_the_same_bits(n_jobs):
    members = {**smooth_members(), "boosted": BoostedClassifier(20, early_stopping=None, random_state=0)}
    one = Portfolio(members, random_state=0).fit(SETS.X, SETS.y)
    many = Portfolio(members, random_state=0, n_jobs=n_jobs).fit(SETS.X, SETS.y)
    assert many.weights_ == one.weights_
    assert many.scores_ == one.scores_
    np.testing.assert_array_equal(many.predict_proba(SETS.X), one.predict_proba(SETS.X))
    assert {member.n_jobs for member in many.members_.values()} == {n_jobs}


def test_it_is_as_good_on_held_out_rows_as_its_best_member():
    model = Portfolio(for_labels(), random_state=0).fit(SETS.X, SETS.y)
    assert model.score_ >= max(model.scores_.values())


def test_a_useless_member_is_not_chosen():
    shallow = ForestClassifier(1, max_depth=1, random_state=0)
    model = Portfolio({"stump": shallow, **for_labels()}, random_state=0).fit(SETS.X, SETS.y)
    assert "stump" not in model.members_
    assert model.scores_["stump"] < max(model.scores_.values())


def test_a_copy_of_a_member_adds_nothing_and_neither_does_rounding():
    forest = for_labels()["forest"]
    model = Portfolio({"first": forest, "copy": clone(forest)}, random_state=0).fit(SETS.X, SETS.y)
    assert model.weights_ == {"first": 1.0}


def test_a_hierarchy_is_kept():
    model = Portfolio(for_labels(), hierarchy=NESTED.hierarchy, random_state=0).fit(NESTED.X, NESTED.y)
    probabilities = model.predict_proba(NESTED.X)
    parents, children = NESTED.hierarchy.edges[:, 0], NESTED.hierarchy.edges[:, 1]
    assert (probabilities[:, parents] >= probabilities[:, children]).all()
    assert model.target_kind_ == "hierarchy"
    assert model.label_names_ == NESTED.hierarchy.names


def test_classes_keep_their_values_also_where_a_fold_lacks_one():
    y = np.where(SETS.X[:, 0] > 0, "high", "low").astype(object)
    y[0] = "rare"
    model = Portfolio(for_labels(), random_state=0).fit(SETS.X, y)
    assert model.classes_.tolist() == ["high", "low", "rare"]
    assert (model.predict(SETS.X) == y).mean() > 0.9
    np.testing.assert_allclose(model.predict_proba(SETS.X).sum(axis=1), 1)


@pytest.mark.parametrize("n_targets", [1, 2])
def test_numbers_are_predicted_in_their_units(n_targets):
    y = SETS.X[:, :n_targets] * 50 + 7
    y = y[:, 0] if n_targets == 1 else y
    model = Portfolio(for_numbers(), random_state=0).fit(SETS.X, y)
    assert model.predict(SETS.X).shape == y.shape
    assert np.corrcoef(np.ravel(model.predict(SETS.X)), np.ravel(y))[0, 1] > 0.8
    assert not hasattr(model, "predict_proba")
    assert model.target_kind_ == "numbers"


def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads():
    members = {"boosted": BoostedClassifier(10, random_state=0), "forest": ForestClassifier(5, random_state=0)}
    one, other = (
        Portfolio(
            {name: clone(member).set_params(n_jobs=jobs) for name, member in members.items()}, random_state=3
        ).fit(SETS.X, SETS.y)
        for jobs in (1, 2)
    )
    assert one.weights_ == other.weights_
    np.testing.assert_array_equal(one.predict_proba(SETS.X), other.predict_proba(SETS.X))


def test_formats_give_the_same_bits():
    members = {"boosted": BoostedClassifier(10, random_state=0), "forest": ForestClassifier(5, random_state=0)}
    X, Y = np.round(SETS.X), SETS.y.toarray()
    expected = Portfolio(members, random_state=0).fit(X, Y).predict_proba(X)
    for form in (sparse.csr_array, pd.DataFrame, lambda x: x.tolist()):
        np.testing.assert_array_equal(
            Portfolio(members, random_state=0).fit(form(X), Y).predict_proba(form(X)), expected
        )


def test_rows_without_weight_are_as_if_deleted():
    weights = np.where(np.arange(150) % 5 == 0, 0.0, 1.5)
    kept = weights > 0
    members = {"boosted": BoostedClassifier(10, random_state=0), "forest": ForestClassifier(5, random_state=0)}
    weighted = Portfolio(members, random_state=0).fit(SETS.X, SETS.y, weights)
    deleted = Portfolio(members, random_state=0).fit(SETS.X[kept], SETS.y[kept], weights[kept])
    assert weighted.scores_ == deleted.scores_
    np.testing.assert_array_equal(weighted.predict_proba(SETS.X), deleted.predict_proba(SETS.X))


def test_nominal_values_that_a_fold_lacks_are_known_to_its_members():
    names = pd.Series([f"value {i}" for i in range(60)], dtype="category")
    frame = pd.DataFrame({"name": names, "size": SETS.X[:60, 0]})
    members = {"boosted": BoostedClassifier(5, random_state=0), "forest": ForestClassifier(5, random_state=0)}
    model = Portfolio(members, random_state=0).fit(frame, SETS.y[:60])
    assert model.predict_proba(frame).shape == (60, 4)


def test_without_time_one_member_is_tried_and_the_rest_named(monkeypatch):
    ticks = iter(range(0, 100_000, 100))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(ticks)))
    model = Portfolio(for_labels(), minutes=0.01, random_state=0).fit(SETS.X, SETS.y)
    assert list(model.members_) == ["forest"]
    assert model.left_out_ == ("extra", "boosted")


def test_auto_has_trees_and_kernels_and_for_labels_neighbours_and_networks():
    model = Portfolio(cv=2, random_state=0).fit(SETS.X[:60], SETS.y[:60])
    trees = {"random forest", "extra trees", "oblique extra trees", "boosted trees"}
    members = {*trees, "weighted neighbours", "kernel", "networks"}
    assert {name.partition(",")[0] for name in model.scores_} == members
    assert model.left_out_ == ()


def test_auto_has_networks_only_for_label_sets_and_where_they_take_minutes(monkeypatch):
    few = {"forest": ForestClassifier(3, random_state=0), "networks": NetworkClassifier(1, n_units=5, n_epochs=2)}
    few["networks"].set_params(early_stopping=None)
    monkeypatch.setattr(Portfolio, "_members_to_try", lambda *_: {name: clone(member) for name, member in few.items()})
    assert "networks, 2 epochs" in Portfolio(cv=2).fit(SETS.X, SETS.y).scores_
    assert list(Portfolio(cv=2).fit(SETS.X, SETS.X[:, 0] > 0).scores_) == ["forest"]
    monkeypatch.setattr(portfolio, "_NETWORK_CELLS", 150 * (50 + 4 + 1000) - 1)
    assert list(Portfolio(cv=2).fit(SETS.X, SETS.y).scores_) == ["forest"]


@pytest.mark.hostile
def test_auto_adds_features_up_only_where_most_are_numbers():
    numbers = {f"x{j}": SETS.X[:60, j] for j in range(2)}
    frame = pd.DataFrame({**numbers, **{f"c{j}": pd.Categorical(SETS.X[:60, j] > 0) for j in range(2)}})
    names = set(Portfolio(cv=2, random_state=0).fit(frame, SETS.y[:60]).scores_)
    assert "extra trees" in names
    assert "oblique extra trees" not in names


def test_saved_portfolio_comes_back(tmp_path):
    model = Portfolio(for_labels(), hierarchy=NESTED.hierarchy, random_state=0).fit(NESTED.X, NESTED.y)
    ramify.save(model, tmp_path / "model.ramify")
    loaded = ramify.load(tmp_path / "model.ramify")
    np.testing.assert_array_equal(loaded.predict_proba(NESTED.X), model.predict_proba(NESTED.X))
    assert loaded.weights_ == model.weights_


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda m: m.weights_.update(forest=9.0), "sum to 1|a weight each"),
        (lambda m: setattr(m, "members_", {}), "members_ must be models that a Portfolio takes"),
        (lambda m: setattr(m, "label_names_", ("a",)), "prior_ must be numbers of shape"),
        (lambda m: setattr(m, "n_features_in_", 3), "categories_ must be values of nominal features"),
        (lambda m: setattr(m, "n_outputs_", 3), "must all be for the same features and labels"),
    ],
)
def test_damaged_portfolio_is_neither_saved_nor_loaded(damage, words, refused_by_files):
    model = Portfolio({"forest": ForestClassifier(3)}, random_state=0).fit(SETS.X, SETS.y)
    damage(model)
    refused_by_files(model, words)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"members": "best"}, "'members' parameter of Portfolio must be 'auto' or a dict"),
        ({"members": {}}, "'members' parameter of Portfolio must be 'auto' or a dict"),
        ({"members": {"ranks": LabelRankingForest()}}, "Got LabelRankingForest as 'ranks'"),
        ({"members": {"a": ForestClassifier(), "b": ForestRegressor()}}, "all be for labels or all for numbers"),
        ({"cv": 1}, "'cv' parameter of Portfolio must be an int >= 2"),
        ({"cv": "all"}, "'cv' parameter of Portfolio must be an int >= 2 or pairs"),
        ({"cv": [([0, 1], [1, 2])]}, "without a row in both parts"),
        ({"cv": [([0, 1], [999])]}, "positions from 0 to 149"),
        ({"cv": []}, "holds no pair"),
        ({"minutes": 0}, "'minutes' parameter of Portfolio must be a number > 0"),
        ({"n_jobs": 0}, "'n_jobs' parameter of Portfolio"),
        ({"verbose": -1}, "'verbose' parameter of Portfolio"),
    ],
)
def test_bad_parameters_are_refused(parameters, words):
    with pytest.raises((ValueError, TypeError), match=words):
        Portfolio(**{"members": for_labels(), **parameters}).fit(SETS.X, SETS.y)


def test_fewer_rows_than_folds_are_refused():
    with pytest.raises(ValueError, match="at least as many rows as folds"):
        Portfolio(for_labels()).fit(SETS.X[:2], SETS.y[:2])


def test_a_failed_fit_leaves_the_old_model():
    model = Portfolio({"forest": ForestClassifier(3, random_state=0)}, random_state=0).fit(SETS.X, SETS.y)
    before = model.predict_proba(SETS.X)
    with pytest.raises(ValueError, match="inconsistent"):
        model.fit(SETS.X, SETS.y[:-1])
    np.testing.assert_array_equal(model.predict_proba(SETS.X), before)


SMALL = {"forest": ForestClassifier(3, random_state=0), "boosted": BoostedClassifier(60, random_state=0)}


FOLDS = "folds and bags draw a repeated row differently from a row of weight 2"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": FOLDS,
    "check_sample_weight_equivalence_on_sparse_data": FOLDS,
}


@parametrize_with_checks([Portfolio(SMALL, cv=2)], expected_failed_checks=lambda _: EXPECTED)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
