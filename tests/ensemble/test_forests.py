import copy
import itertools
import pickle

import joblib
import numpy as np
import pandas as pd
import polars
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from ramify.datasets import make_hierarchical, make_multilabel
from ramify.ensemble import ForestClassifier, ForestRegressor, growing
from ramify.metrics import auprc, r2_score


def forest_bits(forest):
    return {name: array.tobytes() for name, array in forest.trees_.arrays().items()}


@pytest.fixture(scope="module")
def hierarchical():
    return make_hierarchical(150, random_state=0)


@pytest.fixture(scope="module")
def fitted(hierarchical):
    forest = ForestClassifier(20, hierarchy=hierarchical.hierarchy, oob_score=True, random_state=0)
    return forest.fit(hierarchical.X, hierarchical.y)


def test_planted_features_lead_the_importances():
    data = make_hierarchical(600, random_state=1)
    forest = ForestClassifier(100, hierarchy=data.hierarchy, random_state=0).fit(data.X, data.y)
    truth = data.truth.toarray() if sparse.issparse(data.truth) else np.asarray(data.truth)
    planted = truth.any(axis=1)
    importances = forest.feature_importances_
    assert importances[planted].mean() > 2 * importances[~planted].mean()
    assert importances.sum() == pytest.approx(1.0)


def test_columns_follow_the_hierarchy_and_y_is_closed(hierarchical, fitted):
    specific = hierarchical.hierarchy.most_specific(hierarchical.y)
    names = list(hierarchical.hierarchy.names)
    shuffled = pd.DataFrame(specific.toarray(), columns=names)[names[::-1]]
    by_name = ForestClassifier(20, hierarchy=hierarchical.hierarchy, random_state=0).fit(hierarchical.X, shuffled)
    assert by_name.label_names_ == hierarchical.hierarchy.names
    assert forest_bits(by_name) == forest_bits(fitted)


def test_prior_is_the_label_frequency(hierarchical, fitted):
    np.testing.assert_allclose(fitted.prior_, hierarchical.y.mean(axis=0))


def test_weighted_prior_is_the_weighted_frequency():
    forest = ForestClassifier(3).fit([[0.0], [1.0], [2.0]], ["a", "b", "b"], sample_weight=[2.0, 1.0, 1.0])
    np.testing.assert_allclose(forest.prior_, [0.5, 0.5])


@pytest.mark.parametrize("n_jobs", [2, 4, -1])
def test_threads_do_not_change_a_bit(hierarchical, fitted, n_jobs):
    forest = ForestClassifier(20, hierarchy=hierarchical.hierarchy, oob_score=True, random_state=0, n_jobs=n_jobs)
    forest.fit(hierarchical.X, hierarchical.y)
    assert forest_bits(forest) == forest_bits(fitted)
    assert forest.oob_prediction_.tobytes() == fitted.oob_prediction_.tobytes()
    assert forest.predict_proba(hierarchical.X).tobytes() == fitted.predict_proba(hierarchical.X).tobytes()


def test_first_trees_equal_a_smaller_forest(hierarchical, fitted):
    small = ForestClassifier(7, hierarchy=hierarchical.hierarchy, random_state=0).fit(hierarchical.X, hierarchical.y)
    first = fitted.first(7)
    assert forest_bits(first) == forest_bits(small)
    assert first.n_estimators == 7
    assert not hasattr(first, "oob_score_")
    assert fitted.trees_.n_trees == 20
    with pytest.raises(ValueError, match=r"'k' parameter of ForestClassifier.first must be an int in \[1, 20\]"):
        fitted.first(21)


def test_out_of_bag_predictions_are_means_of_unseen_trees(hierarchical, fitted):
    seen = np.isnan(fitted.oob_prediction_).any(axis=1)
    assert not seen.all()
    truth = hierarchical.y.toarray()[~seen]
    assert fitted.oob_score_ == pytest.approx(auprc(truth, fitted.oob_prediction_[~seen]))
    inside = auprc(hierarchical.y, fitted.predict_proba(hierarchical.X))
    assert auprc(hierarchical.y, np.tile(fitted.prior_, (150, 1))) < fitted.oob_score_ < inside


def test_out_of_bag_scores_of_classes_and_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    classes = ForestClassifier(50, oob_score=True, random_state=0).fit(X, X[:, 0] > 0)
    assert 0.9 < classes.oob_score_ < 1
    numbers = ForestRegressor(50, max_features=None, oob_score=True, random_state=0).fit(X, X[:, :2] * [1, 100])
    assert 0.8 < numbers.oob_score_ < 1
    assert numbers.oob_score_ == pytest.approx(r2_score(X[:, :2] * [1, 100], numbers.oob_prediction_))


def test_refitting_without_out_of_bag_forgets_the_old_one(hierarchical):
    forest = ForestClassifier(5, oob_score=True).fit(hierarchical.X, hierarchical.y)
    forest.set_params(oob_score=False).fit(hierarchical.X, hierarchical.y)
    assert not hasattr(forest, "oob_score_")


def test_sparse_probabilities_are_those_above_the_threshold(hierarchical, fitted):
    dense = fitted.predict_proba(hierarchical.X)
    for threshold in (0.0, 0.2, 1.0):
        chosen = fitted.predict_proba(hierarchical.X, at_least=threshold)
        assert sparse.issparse(chosen)
        np.testing.assert_array_equal(chosen.toarray(), np.where(dense >= threshold, dense, 0.0))
    with pytest.raises(ValueError, match=r"'at_least' parameter of ForestClassifier.predict_proba .* \[0, 1\]"):
        fitted.predict_proba(hierarchical.X, at_least=2)


def test_predicted_labels_are_those_above_one_half(hierarchical, fitted):
    expected = fitted.predict_proba(hierarchical.X) > 0.5
    np.testing.assert_array_equal(fitted.predict(hierarchical.X).toarray(), expected)


def test_leaves_hold_the_rows_that_reach_them():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), rng.integers(0, 2, 50)
    forest = ForestClassifier(1, bootstrap=False, max_depth=3, random_state=0).fit(X, y)
    leaves = forest.apply(X)
    assert leaves.shape == (50, 1)
    arrays, probabilities = forest.trees_.arrays(), forest.predict_proba(X)
    for leaf in np.unique(leaves):
        here = leaves[:, 0] == leaf
        assert arrays["feature"][leaf] == -1
        assert arrays["weight"][leaf] == here.sum()
        np.testing.assert_allclose(
            probabilities[here], np.bincount(y[here], minlength=2) / here.sum() + np.zeros((here.sum(), 2))
        )


@pytest.mark.parametrize("make", [pd.DataFrame, polars.DataFrame], ids=["pandas", "polars"])
def test_nominal_columns_split_on_subsets_of_their_values(make):
    rng = np.random.default_rng(0)
    values = rng.choice(list("abcdef"), 200)
    Y = np.column_stack([np.isin(values, ["b", "d"]), np.isin(values, ["a", "f"])]).astype(int)
    frame = make({"letter": values})
    if make is pd.DataFrame:
        frame["letter"] = frame["letter"].astype("category")
    else:
        frame = frame.with_columns(polars.col("letter").cast(polars.Categorical))
    forest = ForestClassifier(1, bootstrap=False, max_depth=2, random_state=0).fit(frame, Y)
    np.testing.assert_array_equal(forest.predict(frame), Y)
    assert forest.categories_[0].tolist() == list("abcdef")


def test_unseen_and_missing_categories_follow_the_missing_side():
    frame = pd.DataFrame({"letter": pd.Categorical(["a"] * 6 + ["b"] * 3)})
    forest = ForestClassifier(1, bootstrap=False, random_state=0).fit(frame, ["x"] * 6 + ["y"] * 3)
    unseen = pd.DataFrame({"letter": pd.Categorical(["z", None, "b"])})
    with pytest.warns(UserWarning, match="'letter' .* 1 of 2 cells .*'z'"):
        assert forest.predict(unseen).tolist() == ["x", "x", "y"]


def test_missing_values_go_where_they_gain_more():
    X = np.array([[np.nan], [np.nan], [1.0], [2.0], [3.0], [4.0]])
    forest = ForestClassifier(1, bootstrap=False, random_state=0).fit(X, [1, 1, 0, 0, 1, 1])
    np.testing.assert_array_equal(forest.predict(X), [1, 1, 0, 0, 1, 1])


def test_class_weight_is_a_sample_weight_by_class():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.choice(["a", "b"], 80, p=[0.8, 0.2])
    by_class = ForestClassifier(5, class_weight={"a": 1.0, "b": 3.0}, random_state=0).fit(X, y)
    by_row = ForestClassifier(5, random_state=0).fit(X, y, sample_weight=np.where(y == "b", 3.0, 1.0))
    assert forest_bits(by_class) == forest_bits(by_row)
    balanced = ForestClassifier(5, class_weight="balanced", random_state=0).fit(X, y)
    np.testing.assert_allclose(balanced.prior_, [0.5, 0.5])


@pytest.mark.parametrize("splitter", ["best", "random"])
@pytest.mark.parametrize("with_missing", [False, True])
def test_no_leaf_is_lighter_than_the_share_asked_for(splitter, with_missing):
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(200, 3)), rng.integers(0, 2, (200, 2)), rng.exponential(size=200)
    if with_missing:
        X[rng.random(X.shape) < 0.3] = np.nan
    frame = pd.DataFrame(X).assign(letter=pd.Categorical(rng.choice(list("abcde"), 200))).rename(columns=str)
    for estimator in (ForestClassifier, ForestRegressor):
        forest = estimator(10, splitter=splitter, min_weight_fraction_leaf=0.05, random_state=0)
        arrays = forest.fit(frame, y, sample_weight=weights).trees_.arrays()
        starts = arrays["tree_nodes"].tolist()
        for start, stop in itertools.pairwise(starts):
            weight, is_leaf = arrays["weight"][start:stop], arrays["feature"][start:stop] < 0
            assert is_leaf.sum() > 3
            assert weight[is_leaf].min() >= 0.05 * weight[0] * (1 - 1e-12)


def test_labels_of_weight_zero_do_not_decide_splits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0]).astype(int)
    forest = ForestClassifier(20, label_weight=[1.0, 0.0], max_depth=1, max_features=None, random_state=0).fit(X, Y)
    assert forest.feature_importances_[0] == 1.0


def test_target_weight_decides_splits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    forest = ForestRegressor(20, target_weight=[0.0, 1.0], max_depth=1, max_features=None, random_state=0).fit(X, X)
    assert forest.feature_importances_[1] == 1.0


def test_scales_of_targets_do_not_matter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = X[:, :2] + rng.normal(size=(100, 2))
    plain, scaled = (ForestRegressor(10, random_state=0).fit(X, y * scale) for scale in (1.0, [2.0**20, 2.0**-20]))
    np.testing.assert_array_equal(scaled.predict(X), plain.predict(X) * [2.0**20, 2.0**-20])


@pytest.mark.parametrize(("forest", "y"), [(ForestClassifier, [1]), (ForestRegressor, [1.0])])
def test_without_any_row_out_of_bag_the_score_is_not_a_number(forest, y):
    fitted = forest(1, oob_score=True, random_state=0).fit([[0.0]], y)
    assert np.isnan(fitted.oob_score_)
    assert np.isnan(fitted.oob_prediction_).all()


def test_contributions_of_numbers_are_in_their_units():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = pd.DataFrame({"small": X[:, 0], "large": 1000 + 500 * X[:, 1]})
    forest = ForestRegressor(20, random_state=0).fit(X, y)
    contributions, base = forest.contributions(X, "large")
    np.testing.assert_allclose(base + contributions.sum(axis=1), forest.predict(X)[:, 1])
    assert abs(base - 1000) < 100
    assert np.abs(contributions[:, 1]).mean() > np.abs(contributions[:, 2]).mean()


def test_contributions_name_an_unknown_label(fitted, hierarchical):
    with pytest.raises(ValueError, match="There is no label 'nonsense'; label_names_ lists the"):
        fitted.contributions(hierarchical.X, "nonsense")


def test_extra_trees_and_bins_give_useful_forests(hierarchical):
    for options in ({"splitter": "random", "bootstrap": False}, {"max_bins": 8}, {"max_features": None}):
        forest = ForestClassifier(30, hierarchy=hierarchical.hierarchy, random_state=0, **options)
        forest.fit(hierarchical.X[:100], hierarchical.y[:100])
        truth, prior = hierarchical.y[100:], np.tile(forest.prior_, (50, 1))
        assert auprc(truth, forest.predict_proba(hierarchical.X[100:])) > auprc(truth, prior)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))], ids=["copy", "pickle"])
def test_copies_and_pickles_predict_the_same_bits(hierarchical, fitted, duplicate):
    again = duplicate(fitted)
    assert forest_bits(again) == forest_bits(fitted)
    assert again.predict_proba(hierarchical.X).tobytes() == fitted.predict_proba(hierarchical.X).tobytes()


def test_broken_pickle_is_refused_by_the_validator(fitted):
    content = pickle.dumps(fitted.trees_)
    child = fitted.trees_.arrays()["child"]
    broken = child.copy()
    broken[0] = 0
    assert content.count(child.tobytes()) == 1
    with pytest.raises(ValueError, match="child"):
        pickle.loads(content.replace(child.tobytes(), broken.tobytes()))


def test_unfitted_forest_says_so():
    for use in (
        lambda f: f.predict([[0.0]]),
        lambda f: f.feature_importances_,
        lambda f: f.classes_,
        lambda f: f.first(1),
    ):
        with pytest.raises(NotFittedError):
            use(ForestClassifier())


def test_progress_is_shown_on_standard_error(capsys):
    ForestClassifier(3, verbose=1, random_state=0).fit([[0.0], [1.0]], [0, 1])
    shown = capsys.readouterr()
    assert "Growing trees: 3 of 3" in shown.err
    assert shown.out == ""


def test_blocks_of_trees_on_a_backend_give_the_same_forest(hierarchical, fitted, monkeypatch):
    distributed = pytest.importorskip("distributed")
    scatter, cut, sent, blocks = distributed.Client.scatter, growing._blocks, [], []
    monkeypatch.setattr(
        distributed.Client, "scatter", lambda self, data, **options: sent.append(data) or scatter(self, data, **options)
    )
    monkeypatch.setattr(growing, "_blocks", lambda *given: blocks.extend(cut(*given)) or blocks)
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        forest = ForestClassifier(20, hierarchy=hierarchical.hierarchy, random_state=0, n_jobs=3)
        forest.fit(hierarchical.X, hierarchical.y)
    assert forest_bits(forest) == forest_bits(fitted)
    assert (len(blocks), len(sent)) == (2, 1)  # the data are sent once, not with every block


def test_multilabel_data_of_the_generator_is_learnt():
    data = make_multilabel(300, random_state=0)
    forest = ForestClassifier(50, random_state=0).fit(data.X[:200], data.y[:200])
    truth, prior = data.y[200:], np.tile(forest.prior_, (100, 1))
    assert auprc(truth, forest.predict_proba(data.X[200:])) > auprc(truth, prior) + 0.05
