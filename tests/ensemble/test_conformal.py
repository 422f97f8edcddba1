"""Row R38: sets keep their promise on rows held back; measured out of bag; closed, stated and refused in words."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

import ramify
from ramify.datasets import make_hierarchical, make_label_ranking, make_multilabel
from ramify.ensemble import ConformalSets, ForestClassifier, ForestRegressor, LabelRankingForest

DATA = make_hierarchical(700, n_features=14, random_state=0)
SETS = make_multilabel(700, n_features=12, n_labels=6, random_state=1)
RANKED = make_label_ranking(700, n_features=6, random_state=0)
NUMBERS = np.asarray(SETS.X)[:, :2] * [1, 50] + np.random.RandomState(0).standard_t(3, size=(700, 2)) * [1, 10]


TWO_DIMENSIONS = "a set has a column per class and an interval two ends; the check wants one number per row"


def dense(Y):
    return Y.toarray() if sparse.issparse(Y) else np.asarray(Y)


ALIKE = "its promise is about rows that count alike: other weights than zero and one other are refused"


def missed_labels(truth, sets):
    truth, sets = dense(truth), dense(sets)
    return ((truth * (1 - sets)).sum(axis=1) / np.maximum(truth.sum(axis=1), 1)).mean()


@parametrize_with_checks(
    [
        ConformalSets(ForestClassifier(15, random_state=0), alpha=0.3, random_state=0),
        ConformalSets(ForestRegressor(15, random_state=0), alpha=0.2, calibrate="oob", random_state=0),
    ],
    expected_failed_checks=lambda _: {
        "check_estimator_sparse_array": TWO_DIMENSIONS,
        "check_estimator_sparse_matrix": TWO_DIMENSIONS,
        "check_sample_weights_not_overwritten": ALIKE,
        "check_sample_weight_equivalence_on_dense_data": ALIKE,
        "check_sample_weight_equivalence_on_sparse_data": ALIKE,
    },
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


CASES = {
    "hierarchy": (ForestClassifier(12, hierarchy=DATA.hierarchy, random_state=0), DATA.X, DATA.y, missed_labels),
    "labels": (ForestClassifier(12, random_state=0), SETS.X, SETS.y, missed_labels),
    "classes": (
        ForestClassifier(12, random_state=0),
        SETS.X,
        dense(SETS.y)[:, :2] @ [1, 2],
        lambda y, sets: (1 - sets[np.arange(len(y)), y]).mean(),
    ),
    "numbers": (
        ForestRegressor(12, random_state=0),
        SETS.X,
        NUMBERS,
        lambda y, ends: ((y < ends[:, :, 0]) | (y > ends[:, :, 1])).mean(),
    ),
    "rankings": (
        LabelRankingForest(12, random_state=0),
        RANKED.X,
        np.asarray(RANKED.y),
        lambda y, sets: ((y[:, :, None] < y[:, None, :]) & (sets == 0)).sum() / (y[:, :, None] < y[:, None, :]).sum(),
    ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_promise_is_kept_on_unseen_rows(case, alpha, scorecard):
    forest, X, y, missed = CASES[case]
    shares = []
    for seed in range(12):
        order = np.random.RandomState(seed).permutation(700)
        train, test = order[:300], order[300:]
        model = ConformalSets(forest, alpha=alpha, random_state=seed).fit(X[train], y[train])
        shares.append(missed(y[test], model.predict(X[test])))
    scorecard("R38", f"sets of {case}: {100 * np.mean(shares):.1f} % missed, {100 * alpha:g} % promised")
    # the promise is about the mean over draws of the rows; its standard error over twelve of them
    assert np.mean(shares) <= alpha + 2 * np.std(shares) / np.sqrt(len(shares) - 1)
    assert np.mean(shares) > alpha / 4


@pytest.mark.parametrize("case", CASES)
def test_out_of_bag_is_measured(case):
    forest, X, y, missed = CASES[case]
    model = ConformalSets(forest, alpha=0.1, calibrate="oob").fit(X[:500], y[:500])
    assert model.guarantee_.startswith("Measured, not proven:")
    assert model.risk_ <= 0.1
    assert missed(y[500:], model.predict(X[500:])) < 0.16


def test_threshold_is_the_largest_that_keeps_the_promise():
    forest = ForestClassifier(12, hierarchy=DATA.hierarchy, random_state=0)
    model = ConformalSets(forest, alpha=0.1, random_state=3).fit(DATA.X, DATA.y)
    order = np.random.RandomState(3).permutation(700)
    held, inside = np.sort(order[:175]), np.sort(order[175:])
    fitted = ForestClassifier(12, hierarchy=DATA.hierarchy, random_state=0).fit(DATA.X[inside], DATA.y[inside])
    scores = (12 * fitted.predict_proba(DATA.X[held]) + fitted.prior_) / 13
    truth = dense(DATA.y[held])

    def calibrated(threshold):
        return (175 * missed_labels(truth, (scores >= threshold).astype(int)) + 1) / 176

    allowed = [value for value in np.unique(scores[truth > 0]) if calibrated(value) <= 0.1]
    assert model.threshold_ == max(allowed)
    assert model.n_calibrated_ == 175


def test_sets_of_a_hierarchy_are_closed():
    forest = ForestClassifier(12, hierarchy=DATA.hierarchy, random_state=0)
    sets = ConformalSets(forest, alpha=0.05, random_state=0).fit(DATA.X, DATA.y).predict(DATA.X)
    assert sparse.issparse(sets)
    np.testing.assert_array_equal(dense(DATA.hierarchy.close(sets)), dense(sets))


def test_smaller_alpha_gives_larger_sets():
    sizes = [
        dense(
            ConformalSets(ForestClassifier(12, random_state=0), alpha=a, random_state=0)
            .fit(SETS.X, SETS.y)
            .predict(SETS.X)
        ).sum()
        for a in (0.3, 0.1, 0.03)
    ]
    assert sizes[0] < sizes[1] < sizes[2]


def test_guarantee_says_what_is_proven():
    model = ConformalSets(ForestClassifier(5, random_state=0), alpha=0.2, random_state=0).fit(SETS.X, SETS.y)
    assert model.guarantee_ == (
        "Proven for rows like the 175 held back: sets miss at most 20 % of a row's true labels on average, "
        "rows without a label (21 %) missing none."
    )


def sparse_sets(n_rows, seed):
    """Label sets of a small hierarchy, of which half of the rows have none; rare labels are hard."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n_rows, 6))
    top = X[:, 0] + 0.5 * random.standard_normal(n_rows) > 0
    middle = top & (X[:, 1] + random.standard_normal(n_rows) > 0)
    low = middle & (X[:, 2] + 2 * random.standard_normal(n_rows) > 2.2)
    return X, np.column_stack([top, middle, low]).astype(int)


CHAIN = ramify.Hierarchy.from_paths(["a", "a/b", "a/b/c"])


@pytest.mark.parametrize("over", ["labelled", "depth", "frequency"])
def test_promise_is_kept_where_it_is_made(over):
    hierarchy = CHAIN if over == "depth" else None
    lines = []
    for seed in range(12):
        X, Y = sparse_sets(800, seed)
        forest = ForestClassifier(20, hierarchy=hierarchy, random_state=seed)
        model = ConformalSets(forest, alpha=0.2, over=over, random_state=seed).fit(X[:500], Y[:500])
        assert ConformalSets(forest, alpha=0.2, random_state=seed).fit(X[:500], Y[:500]).risk_ <= 0.2
        found = model.coverage(X[500:], Y[500:], by="frequency" if over == "labelled" else over)["missed"]
        lines.append(found[:2] if over == "labelled" else found)
    mean, error = np.mean(lines, axis=0), np.std(lines, axis=0) / np.sqrt(len(lines))
    assert (mean <= 0.2 + 2 * error).all()


def test_rows_without_labels_make_the_plain_promise_easier():
    X, Y = sparse_sets(1600, 0)
    missed = {}
    for over in ("rows", "labelled"):
        model = ConformalSets(ForestClassifier(20, random_state=0), alpha=0.2, over=over, random_state=0)
        missed[over] = model.fit(X[:800], Y[:800]).coverage(X[800:], Y[800:]).loc["rows with a label", "missed"]
    assert missed["labelled"] < missed["rows"]
    assert "over rows with a label" in model.guarantee_


def test_sets_with_thresholds_by_depth_are_closed():
    X, Y = sparse_sets(800, 1)
    sets = ConformalSets(ForestClassifier(20, hierarchy=CHAIN, random_state=0), over="depth", random_state=0)
    found = sets.fit(X, Y).predict(X)
    np.testing.assert_array_equal(CHAIN.close(found), found)
    assert sets.threshold_.shape == (3,)


@pytest.mark.parametrize("calibrate", ["split", "oob"])
def test_normalised_intervals_follow_the_spread(calibrate, tmp_path):
    missed = {"constant": [], "normalised": []}
    for seed in range(6):
        random = np.random.default_rng(seed)
        X = random.uniform(-2, 2, (900, 3))
        wide = X[:, 0] > 0
        y = X[:, 1] + np.where(wide, 2.0, 0.2) * random.standard_normal(900)
        for width in missed:
            model = ConformalSets(
                ForestRegressor(30, max_features=None, random_state=seed),
                width=width,
                calibrate=calibrate,
                random_state=seed,
            ).fit(X[:600], y[:600])
            ends = model.predict(X[600:])
            out = (y[600:] < ends[:, 0]) | (y[600:] > ends[:, 1])
            missed[width].append([out[wide[600:]].mean(), out[~wide[600:]].mean(), out.mean()])
    constant, normalised = (np.mean(missed[width], axis=0) for width in ("constant", "normalised"))
    assert constant[0] - constant[1] > 0.15
    assert normalised[0] - normalised[1] < 0.6 * (constant[0] - constant[1])
    assert normalised[2] < 0.12
    ramify.save(model, tmp_path / "sets.ramify")
    np.testing.assert_array_equal(ramify.load(tmp_path / "sets.ramify").predict(X), model.predict(X))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("calibrate", ["split", "oob"])
def test_same_bits_from_files_threads_and_a_second_fit(case, calibrate, tmp_path):
    forest, X, y, _ = CASES[case]
    model = ConformalSets(forest, calibrate=calibrate, random_state=0).fit(X, y)
    expected = dense(model.predict(X))
    ramify.save(model, tmp_path / "sets.ramify")
    loaded = ramify.load(tmp_path / "sets.ramify")
    assert loaded.guarantee_ == model.guarantee_
    np.testing.assert_array_equal(dense(loaded.predict(X)), expected)
    threaded = ConformalSets(ramify_clone(forest, n_jobs=2), calibrate=calibrate, random_state=0).fit(X, y)
    np.testing.assert_array_equal(dense(threaded.predict(X)), expected)
    np.testing.assert_array_equal(dense(model.fit(X, y).predict(X)), expected)


def ramify_clone(forest, **parameters):
    return type(forest)(**{**forest.get_params(), **parameters})


def test_frames_and_one_number():
    frame = pd.DataFrame(np.asarray(SETS.X), columns=[f"f{j}" for j in range(12)])
    y = pd.Series(NUMBERS[:, 0], name="yield")
    model = ConformalSets(ForestRegressor(5, random_state=0), random_state=0).fit(frame, y)
    ends = model.predict(frame)
    assert ends.shape == (700, 2)
    assert (ends[:, 0] < ends[:, 1]).all()
    assert list(model.feature_names_in_) == list(frame)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (ConformalSets(ForestClassifier(3), alpha=0.0), "'alpha' parameter of ConformalSets must be a number in"),
        (ConformalSets(ForestClassifier(3), alpha=1), "'alpha' parameter of ConformalSets must be a number in"),
        (ConformalSets(ForestClassifier(3), calibrate="cv"), "'calibrate' parameter of ConformalSets must be one of"),
        (ConformalSets(LinearRegression()), "must be a ForestClassifier, a ForestRegressor or a LabelRankingForest"),
        (ConformalSets(ForestClassifier(3, bootstrap=False), calibrate="oob"), "needs a forest with bootstrap=True"),
        (ConformalSets(ForestClassifier(3), over="leaf"), "'over' parameter of ConformalSets must be one of"),
        (ConformalSets(ForestClassifier(3), over="depth"), "over='depth' needs a hierarchy"),
        (ConformalSets(ForestRegressor(3), over="labelled"), "over='labelled' is for label sets"),
        (ConformalSets(ForestClassifier(3), width="normalised"), "width='normalised' is for numbers"),
        (ConformalSets(ForestClassifier(3), alpha=0.05), "can be promised from 19 rows on .* but there are 5"),
    ],
)
def test_bad_request_is_refused(model, words):
    with pytest.raises((ValueError, TypeError), match=words):
        model.fit(np.arange(20.0)[:, None], np.eye(2, dtype=int)[np.arange(20) % 2])


def test_classes_that_only_held_back_rows_have_count_as_missed():
    y = np.concatenate([np.zeros(50, dtype=int), np.arange(1, 31)])
    with pytest.raises(ValueError, match="have classes that no other row has"):
        ConformalSets(ForestClassifier(3, random_state=0), alpha=0.2, random_state=0).fit(y[:, None] * 1.0, y)
