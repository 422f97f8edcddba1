"""Forests and boosted trees on targets that are known in part."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state

from ramify import Hierarchy, load, save
from ramify.datasets import make_hierarchical
from ramify.ensemble import (
    BoostedClassifier,
    BoostedRegressor,
    Calibrated,
    ConformalSets,
    ForestClassifier,
    ForestRegressor,
    NeighborsClassifier,
    Portfolio,
)
from ramify.metrics import auprc, average_precision_score
from ramify.ranking import forest_ranking
from ramify.targets import encode_labels

DAG = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "ab"), ("b", "ab"), ("ab", "c"), ("b", "d")])


def hierarchical(hierarchy=DAG, n=120, hidden=0.5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    lowest = X[:, :1] + 0.7 * rng.normal(size=(n, len(hierarchy))) > 0.8
    Y = hierarchy.close(sparse.csr_array(lowest.astype(int))).toarray().astype(float)
    return X, Y, np.where(rng.random(Y.shape) < hidden, np.nan, Y)


@pytest.mark.parametrize("sample_weight", [None, "integers"])
@pytest.mark.parametrize("hidden", [0.2, 0.5, 0.9])
def test_no_label_is_more_probable_than_one_above_it(hidden, sample_weight):
    X, _, Y = hierarchical(hidden=hidden)
    weights = None if sample_weight is None else np.random.default_rng(1).integers(1, 4, len(X))
    forest = ForestClassifier(20, hierarchy=DAG, oob_score=True, random_state=0).fit(X, Y, weights)
    below, above = DAG.ancestor_matrix.nonzero()
    out_of_bag = forest.oob_prediction_[~np.isnan(forest.oob_prediction_).any(axis=1)]
    assert len(out_of_bag) > 40
    for probability in (forest.predict_proba(X), out_of_bag, forest.predict_proba(X[::-1] * 3)):
        assert (probability[:, below] <= probability[:, above]).all()
    assert (forest.prior_[below] <= forest.prior_[above] + 1e-12).all()


def test_hiding_nothing_changes_no_bit():
    X, Y, _ = hierarchical()
    complete = ForestClassifier(10, hierarchy=DAG, random_state=0).fit(X, Y.astype(int))
    as_floats = ForestClassifier(10, hierarchy=DAG, random_state=0).fit(X, Y)
    assert not hasattr(as_floats, "known_share_")
    for name, array in complete.trees_.arrays().items():
        np.testing.assert_array_equal(as_floats.trees_.arrays()[name], array)


def test_hiding_one_cell_of_many_changes_little():
    X, Y, _ = hierarchical(n=300)
    hidden = Y.copy()
    hidden[7, -1] = np.nan
    complete, partly = (ForestClassifier(30, random_state=0).fit(X, y).predict_proba(X) for y in (Y, hidden))
    assert 0 < np.abs(complete - partly).mean() < 0.02


@pytest.mark.parametrize("made", [ForestClassifier, BoostedClassifier])
def test_whole_rows_hidden_equal_rows_dropped(made):
    X, Y, _ = hierarchical()
    rows = np.arange(len(X)) % 4 != 1
    hidden = np.where(rows[:, None], Y, np.nan)
    fitted = [made(8, hierarchy=DAG, random_state=0) for _ in range(2)]
    np.testing.assert_array_equal(
        fitted[0].fit(X, hidden).predict_proba(X), fitted[1].fit(X[rows], Y[rows]).predict_proba(X)
    )


def test_out_of_bag_rows_of_which_nothing_is_known_are_nan():
    X, Y, _ = hierarchical()
    hidden = Y.copy()
    hidden[[3, 8]] = np.nan
    forest = ForestClassifier(30, hierarchy=DAG, oob_score=True, random_state=0).fit(X, hidden)
    assert np.flatnonzero(np.isnan(forest.oob_prediction_).any(axis=1)).tolist() == [3, 8]
    known = ~np.isnan(hidden).any(axis=1)
    np.testing.assert_allclose(forest.oob_score_, auprc(Y[known], forest.oob_prediction_[known]))


def test_out_of_bag_score_and_share_known_are_of_known_cells():
    X, _, Y = hierarchical(hidden=0.4)
    forest = ForestClassifier(30, oob_score=True, random_state=0).fit(X, Y)
    known = ~np.isnan(Y)
    np.testing.assert_allclose(forest.known_share_, known.mean(axis=0))
    np.testing.assert_allclose(forest.prior_, np.nanmean(Y, axis=0))
    np.testing.assert_allclose(forest.oob_score_, auprc(Y[known], forest.oob_prediction_[known]))


def best_by_trial(scores, has, quality):
    candidates = np.unique(scores)
    return max(quality(scores >= cut, has) for cut in candidates)


@pytest.mark.parametrize("rule", ["f1", "cardinality", "density", {"fp": 1, "fn": 4}])
def test_thresholds_are_chosen_on_known_cells(rule):
    X, _, Y = hierarchical(hidden=0.4, n=200)
    forest = ForestClassifier(30, threshold=rule, oob_score=True, random_state=0).fit(X, Y)
    limits, known = np.broadcast_to(forest.threshold_, Y.shape[1]), ~np.isnan(Y)
    predicted = forest.oob_prediction_ > limits
    if rule == "cardinality":
        np.testing.assert_allclose(predicted[known].sum(), Y[known].sum(), atol=3)
        return
    for label in range(Y.shape[1]):
        seen = known[:, label]
        has, chosen, scores = Y[seen, label] == 1, predicted[seen, label], forest.oob_prediction_[seen, label]
        if rule == "density":
            np.testing.assert_allclose(chosen.sum(), has.sum(), atol=3)
        elif rule == "f1":

            def f1(sets, has):
                return 2 * (sets & has).sum() / (sets.sum() + has.sum())

            np.testing.assert_allclose(f1(chosen, has), best_by_trial(scores, has, f1))
        else:

            def gain(sets, has):
                return -(sets & ~has).sum() - 4 * (~sets & has).sum()

            assert gain(chosen, has) >= best_by_trial(scores, has, gain)


def test_numbers_out_of_bag_are_scored_where_known():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    Y = np.column_stack([X[:, 0], 5 + 2 * X[:, 1]]) + 0.1 * rng.normal(size=(150, 2))
    hidden = np.where(rng.random(Y.shape) < 0.3, np.nan, Y)
    forest = ForestRegressor(50, max_features=None, oob_score=True, random_state=0).fit(X, hidden)
    assert forest.oob_score_ > 0.8
    assert not np.isnan(forest.predict(X)).any()
    np.testing.assert_allclose(forest.prior_, np.nanmean(hidden, axis=0))
    assert BoostedRegressor(50, random_state=0).fit(X, hidden).predict(X).shape == Y.shape


def test_unknown_labels_pull_boosted_trees_nowhere():
    """A label known in one half only is learnt from that half; the other would pull it to its own values."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0]).astype(float)
    hidden = Y.copy()
    hidden[200:, 1] = np.nan
    as_negative = np.nan_to_num(hidden)
    partly, negative = (
        BoostedClassifier(60, random_state=0).fit(X, y).predict_proba(X)[200:, 1] for y in (hidden, as_negative)
    )
    assert ((partly > 0.5) == Y[200:, 1]).mean() > 0.95
    assert ((negative > 0.5) == Y[200:, 1]).mean() < 0.75


def test_models_of_partly_known_targets_are_saved(tmp_path):
    X, _, Y = hierarchical()
    forest = ForestClassifier(5, hierarchy=DAG, random_state=0).fit(X, Y)
    save(forest, tmp_path / "forest.ramify")
    again = load(tmp_path / "forest.ramify")
    np.testing.assert_array_equal(again.predict_proba(X), forest.predict_proba(X))
    np.testing.assert_array_equal(again.known_share_, forest.known_share_)


def slow_neighbours(model, X, Y, X_new, n_neighbors):
    """The mean of the nearest rows that know a label, and its share among all rows where none does."""
    place = lambda rows: np.clip((rows - X.mean(axis=0)) / X.std(axis=0), -4, 4)  # noqa: E731
    found = []
    for row in place(X_new):
        squares = ((place(X) - row) ** 2 * forest_ranking(model.forest_, per_label=False).scores).sum(axis=1)
        near = np.argsort(squares)[:n_neighbors]
        share = np.exp(-model.sharpness_ * squares[near] / squares[near].mean())[:, None] * ~np.isnan(Y[near])
        total = share.sum(axis=0)
        means = (share * np.nan_to_num(Y[near])).sum(axis=0) / np.where(total > 0, total, 1)
        found.append(np.where(total > 0, means, np.nanmean(Y, axis=0)))
    return np.array(found)


def test_weighted_neighbours_are_those_that_know_the_label():
    X, _, Y = hierarchical(hidden=0.7)
    Y = Y[:, :3]
    rows = ~np.isnan(Y).all(axis=1)
    model = NeighborsClassifier(4, forest=ForestClassifier(10), random_state=0).fit(X[rows][:70], Y[rows][:70])
    expected = slow_neighbours(model, X[rows][:70], Y[rows][:70], X, 4)
    assert (expected == np.nanmean(Y[rows][:70], axis=0)).any()  # some row has no neighbour that knows
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-9)


@pytest.mark.parametrize("threshold", [0.5, "f1", "cardinality"])
def test_weighted_neighbours_of_a_hierarchy(threshold, tmp_path):
    X, Y, partly = hierarchical(hidden=0.4)
    made = NeighborsClassifier(10, hierarchy=DAG, forest=ForestClassifier(10), threshold=threshold, random_state=0)
    model = made.fit(X, partly)
    below, above = DAG.ancestor_matrix.nonzero()
    probability = model.predict_proba(X)
    assert (probability[:, below] <= probability[:, above]).all()
    assert auprc(Y, probability) > 0.5
    save(model, tmp_path / "model.ramify")
    np.testing.assert_array_equal(load(tmp_path / "model.ramify").predict_proba(X), probability)
    rows = np.arange(len(X)) % 4 != 1
    hidden = made.fit(X, np.where(rows[:, None], Y, np.nan)).predict_proba(X)
    np.testing.assert_array_equal(made.fit(X[rows], Y[rows]).predict_proba(X), hidden)


def missed_of(true, sets):
    """Mean share of what is true that sets lack; a row of which nothing is true lacks nothing."""
    return ((true & (sets == 0)).sum(axis=1) / np.maximum(true.sum(axis=1), 1)).mean()


@pytest.mark.parametrize("case", ["labels", "hierarchy", "numbers"])
@pytest.mark.parametrize("alpha", [0.1, 0.25])
def test_sets_keep_their_promise_about_what_is_known(case, alpha, scorecard):
    """And about all of it, where it is chance what is known: without a hierarchy."""
    X, Y, _ = hierarchical(n=900)
    order = DAG if case == "hierarchy" else None
    if case == "numbers":
        Y = X[:, :3] * [1, 5, 20] + np.random.default_rng(1).standard_t(3, size=(900, 3))
    of_known, of_all = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        partly = np.where(rng.random(Y.shape) < 0.4, np.nan, Y)
        rows = rng.permutation(900)
        train, test = rows[:300], rows[300:]
        made = ForestRegressor(12, random_state=0) if case == "numbers" else ForestClassifier(12, random_state=0)
        forest = made if order is None else made.set_params(hierarchy=order)
        model = ConformalSets(forest, alpha=alpha, random_state=seed).fit(X[train], partly[train])
        found = model.predict(X[test])
        if case == "numbers":
            inside = (Y[test] >= found[:, :, 0]) & (Y[test] <= found[:, :, 1])
            known = ~np.isnan(partly[test])
            of_known.append(missed_of(known[known.any(axis=1)], inside[known.any(axis=1)]))
            of_all.append(1 - inside.mean())
            assert "of the known numbers" in model.guarantee_
        else:
            closed = encode_labels(partly[test], hierarchy=order, partly_known=True).cells().toarray()
            tells = (closed == 1).any(axis=1) | ~np.isnan(closed).any(axis=1)
            of_known.append(missed_of(closed[tells] == 1, found[tells]))
            of_all.append(missed_of(Y[test][tells] == 1, found[tells]))
            assert "of a row's known true labels" in model.guarantee_
    scorecard("R38", f"{case} known in part: {100 * np.mean(of_known):.1f} % missed, {100 * alpha:g} % promised")
    for missed in (of_known,) if case == "hierarchy" else (of_known, of_all):
        assert np.mean(missed) <= alpha + 2 * np.std(missed) / np.sqrt(len(missed) - 1)
        assert np.mean(missed) > alpha / 4


@pytest.mark.parametrize("calibrate", ["split", "oob"])
@pytest.mark.parametrize("case", ["labels", "numbers"])
def test_sets_leave_out_rows_of_which_nothing_is_known(calibrate, case):
    X, Y, _ = hierarchical(n=160)
    Y, made = (Y, ForestClassifier) if case == "labels" else (X[:, :2] + 1, ForestRegressor)
    rows = np.arange(len(X)) % 4 != 1
    models = [ConformalSets(made(20, random_state=0), calibrate=calibrate, random_state=0) for _ in range(2)]
    hidden = models[0].fit(X, np.where(rows[:, None], Y, np.nan))
    dropped = models[1].fit(X[rows], Y[rows])
    np.testing.assert_array_equal(hidden.predict(X), dropped.predict(X))
    assert (hidden.risk_, hidden.n_calibrated_) == (dropped.risk_, dropped.n_calibrated_)


def test_rows_whose_true_labels_may_be_hidden_are_not_calibrated_on():
    """They would count as rows that miss nothing."""
    X, _, partly = hierarchical(n=200, hidden=0.5)
    model = ConformalSets(ForestClassifier(20, random_state=0), alpha=0.2, random_state=3).fit(X, partly)
    labelled = np.flatnonzero(~np.isnan(partly).all(axis=1))
    held = labelled[np.random.RandomState(3).permutation(len(labelled))[: int(np.ceil(len(labelled) / 4))]]
    tells = (partly[held] == 1).any(axis=1) | ~np.isnan(partly[held]).any(axis=1)
    assert model.n_calibrated_ == tells.sum() < len(held)
    held = np.sort(held[tells])
    np.testing.assert_allclose(model.risk_, missed_of(partly[held] == 1, model.predict(X[held])))


def test_a_number_that_no_held_back_row_knows_is_refused_by_name():
    X, _, _ = hierarchical(n=60)
    y = np.column_stack([X[:, 0], np.where(np.arange(60) == 7, X[:, 1], np.nan)])
    with pytest.raises(ValueError, match="'y1' is known of (none of the 15 rows to calibrate on|no row)"):
        ConformalSets(ForestRegressor(5, random_state=0), alpha=0.2, random_state=0).fit(X, y)


def test_labels_are_calibrated_on_the_rows_of_which_they_are_known():
    X, _, Y = hierarchical(n=200, hidden=0.4)
    forest = ForestClassifier(60, oob_score=True, random_state=0).fit(X, Y)
    model = Calibrated(ForestClassifier(60, random_state=0), method="isotonic").fit(X, Y)
    raw, found = forest.predict_proba(X), model.predict_proba(X)
    for label in range(Y.shape[1]):
        known = ~np.isnan(Y[:, label])
        slow = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
        slow.fit(forest.oob_prediction_[known, label], Y[known, label])
        np.testing.assert_allclose(found[:, label], slow.predict(raw[:, label]), atol=1e-12)


@pytest.mark.parametrize("method", ["isotonic", "sigmoid"])
def test_a_calibrated_forest_leaves_out_rows_of_which_nothing_is_known(method):
    X, Y, _ = hierarchical()
    rows = np.arange(len(X)) % 4 != 1
    hidden = np.where(rows[:, None], Y, np.nan)
    forest = ForestClassifier(30, hierarchy=DAG, oob_score=True, random_state=0)
    partly = Calibrated(forest, method=method, threshold="f1").fit(X, hidden)
    dropped = Calibrated(forest, method=method, threshold="f1").fit(X[rows], Y[rows])
    np.testing.assert_array_equal(partly.predict(X), dropped.predict(X))
    np.testing.assert_array_equal(partly.oob_prediction_[rows], dropped.oob_prediction_)
    assert np.isnan(partly.oob_prediction_[~rows]).all()


def test_a_portfolio_chooses_by_known_cells():
    X, Y, partly = hierarchical(n=150, hidden=0.3)
    members = {
        "shallow": ForestClassifier(10, max_depth=1, random_state=0),
        "deep": ForestClassifier(10, random_state=0),
    }
    model = Portfolio(members, hierarchy=DAG, cv=2, random_state=0).fit(X, partly)
    assert auprc(Y, model.predict_proba(X)) > 0.5
    folds = KFold(2, shuffle=True, random_state=int(check_random_state(0).randint(np.iinfo(np.int32).max)))
    held, truth = [], []
    closed = encode_labels(partly, hierarchy=DAG, partly_known=True).cells()
    for train, test in folds.split(X):
        deep = ForestClassifier(10, hierarchy=DAG, random_state=0).fit(X[train], partly[train])
        held.append(deep.predict_proba(X[test]).astype(np.float32))
        truth.append(closed[test].toarray())
    expected = average_precision_score(np.vstack(truth), np.vstack(held), average="micro", exclude_universal=True)
    np.testing.assert_allclose(model.scores_["deep"], float(expected), rtol=1e-6)


def test_a_portfolio_weighs_neighbours_that_know():
    X, Y, partly = hierarchical(n=60, hidden=0.2)
    model = Portfolio({"near": NeighborsClassifier(3, random_state=0)}, cv=2, random_state=0).fit(X, partly)
    assert auprc(Y, model.predict_proba(X)) > 0.5
    model = Portfolio(cv=2, minutes=0.0001, random_state=0).fit(X, partly)
    assert "weighted neighbours" in {*model.scores_, *model.left_out_}


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_do_not_change_a_bit(n_jobs):
    X, _, Y = hierarchical()
    serial, threaded = (ForestClassifier(6, random_state=0, n_jobs=n).fit(X, Y).trees_.arrays() for n in (1, n_jobs))
    for name, array in serial.items():
        np.testing.assert_array_equal(threaded[name], array)


def test_planted_structure_is_found_through_hidden_labels():
    """Unknown as unknown is better than unknown as negative, and not much worse than all known."""
    data = make_hierarchical(600, depth=2, random_state=0)
    Y = data.hierarchy.close(sparse.csr_array(data.y)).toarray().astype(float)
    rng = np.random.default_rng(0)
    train = np.arange(600) < 400
    hidden = np.where(rng.random(Y.shape) < 0.5, np.nan, Y)

    def reached(y):
        forest = ForestClassifier(60, hierarchy=data.hierarchy, random_state=0).fit(data.X[train], y[train])
        return auprc(Y[~train], forest.predict_proba(data.X[~train]))

    complete, partly = reached(Y), reached(hidden)
    negative = np.nan_to_num(hidden)
    assert partly > reached(data.hierarchy.close(negative.astype(int)).astype(float)) + 0.02
    assert partly > complete - 0.1
