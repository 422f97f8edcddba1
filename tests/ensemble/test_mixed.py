"""Several targets side by side in one forest."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_random_state, estimator_checks
from tests.ensemble.reference_tree import Problem, ReferenceTree
from tests.ensemble.test_label_ranking_checks import CHECKS_WITHOUT_Y

import ramify
from ramify import ForestClassifier, ForestRegressor, Hierarchy, MixedForest
from ramify.ensemble import export_tree
from ramify.metrics import auprc, r2_score
from ramify.ranking import ForestRanker, forest_ranking

TREE = Hierarchy.from_paths(["f", "f/g", "h"])
TARGETS = {"p_*": "labels", "function": TREE}
WHOLE = {"bootstrap": False, "max_features": None}


def planted(n=300, seed=0, noise=0.2):
    """Every target has a feature of its own; features 5 to 7 drive nothing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    shaken = X + noise * rng.normal(size=X.shape)
    y = pd.DataFrame(
        {
            "price": 3 * shaken[:, 0] + 10,
            "p_a": (shaken[:, 1] > 0).astype(int),
            "colour": np.where(shaken[:, 2] > 0.3, "red", np.where(shaken[:, 2] < -0.6, "blue", "green")),
            "p_b": (shaken[:, 1] > 0.7).astype(int),
            "f/g": (shaken[:, 3] > 0).astype(int),
            "h": (shaken[:, 4] > 0).astype(int),
        }
    )
    return X, y


def hidden(y, share, seed=0):
    """The frame with a share of its cells missing."""
    mask = np.random.default_rng(seed).random(y.shape) < share
    return y.astype(object).mask(mask, None)


def vectors(y, weight=None):
    """From the definition: one-hot classes, 0/1 labels closed under ancestors, standardised numbers; and weights."""
    weight = np.ones(len(y)) if weight is None else weight
    blocks, weights = [], []

    def add(block, own):
        known = ~np.isnan(block)
        total = (known * weight[:, None]).sum(axis=0)
        mean = (np.nan_to_num(block) * known * weight[:, None]).sum(axis=0) / total
        variance = (np.nan_to_num(block - mean) ** 2 * known * weight[:, None]).sum(axis=0) / total
        blocks.append(block)
        weights.append(own / (own @ variance))

    price = y["price"].to_numpy(dtype=float)
    known = ~np.isnan(price)
    mean = np.average(price[known], weights=weight[known])
    add(((price - mean) / np.sqrt(np.average((price[known] - mean) ** 2, weights=weight[known])))[:, None], np.ones(1))
    add(y[["p_a", "p_b"]].to_numpy(dtype=float), np.ones(2))
    colour = y["colour"].to_numpy(dtype=object)
    one_hot = np.array(
        [[float(c == k) if isinstance(c, str) else np.nan for k in ("blue", "green", "red")] for c in colour]
    )
    add(one_hot, np.ones(3))
    below = y["f/g"].to_numpy(dtype=float)
    add(np.column_stack([below, below, y["h"].to_numpy(dtype=float)]), TREE.weights)
    return np.hstack(blocks), np.concatenate(weights)


@pytest.mark.parametrize("share", [0.0, 0.4])
@pytest.mark.parametrize("weighted", [False, True])
def test_trees_equal_those_grown_slowly_from_the_definition(share, weighted):
    X, y = planted(80)
    X[::7, 0] = np.nan
    nominal = np.arange(80) % 4
    X[:, 5] = nominal
    given = hidden(y, share) if share else y
    given.iloc[0] = y.iloc[0]
    rows = given.notna().any(axis=1).to_numpy()
    weight = np.random.default_rng(1).choice([0.5, 1.0, 2.5], 80) if weighted else None
    forest = MixedForest(3, targets=TARGETS, categorical_features=[5], max_features=3, random_state=0)
    forest.fit(X, given, sample_weight=weight)
    kept = None if weight is None else weight[rows]
    Y, weights = vectors(given[rows], kept)
    assert (forest.trees_.n_outputs, len(forest.label_names_)) == (9, 9)
    np.testing.assert_allclose(forest.output_weights(), weights, rtol=1e-12)
    problem = Problem(X[rows], Y, weights, np.where(np.arange(8) == 5, 4, 0), numbers=True, max_features=3)
    problem.sample_weight, problem.min_category_rows = kept, 10
    seed = int(check_random_state(0).randint(np.iinfo(np.int32).max))
    arrays = forest.trees_.arrays()
    for tree in range(3):
        expected = ReferenceTree(problem, seed, tree).nodes
        own = slice(*arrays["tree_nodes"][tree : tree + 2])
        assert arrays["feature"][own].tolist() == expected.feature
        assert arrays["child"][own].tolist() == expected.child
        np.testing.assert_array_equal(arrays["threshold"][own], expected.threshold)
        leaves = slice(*arrays["tree_leaves"][tree : tree + 2])
        np.testing.assert_allclose(arrays["leaf_values"][leaves], expected.values, rtol=1e-9, atol=1e-12)


def test_every_target_is_predicted_and_told_apart():
    X, y = planted()
    forest = MixedForest(60, targets=TARGETS, oob_score=True, random_state=0).fit(X[:200], y[:200])
    assert forest.target_names_ == ("price", "p_*", "colour", "function")
    assert forest.target_kinds_ == {"price": "numbers", "p_*": "labels", "colour": "classes", "function": "hierarchy"}
    assert forest.label_names_ == (
        "price", "p_a", "p_b", "colour=blue", "colour=green", "colour=red", "f", "f/g", "h",
    )  # fmt: skip
    predicted = forest.predict(X[200:])
    assert list(predicted) == list(y)
    assert [predicted[name].dtype.kind for name in predicted] == ["f", "i", "O", "i", "i", "i"]
    assert (predicted["colour"] == y["colour"][200:].to_numpy()).mean() > 0.8
    probabilities = forest.predict_proba(X[200:])
    assert {name: array.shape for name, array in probabilities.items()} == {
        "p_*": (100, 2), "colour": (100, 3), "function": (100, 3),
    }  # fmt: skip
    np.testing.assert_allclose(probabilities["colour"].sum(axis=1), 1.0)
    assert (probabilities["function"][:, 1] <= probabilities["function"][:, 0]).all()
    np.testing.assert_array_equal(predicted["h"], probabilities["function"][:, 2] > 0.5)
    scores = forest.target_scores(X[200:], y[200:])
    np.testing.assert_allclose(scores["price"], r2_score(y["price"][200:], predicted["price"]))
    np.testing.assert_allclose(scores["p_*"], auprc(y[["p_a", "p_b"]][200:], probabilities["p_*"]))
    assert min(scores.values()) > 0.6
    np.testing.assert_allclose(forest.score(X[200:], y[200:]), np.mean(list(scores.values())))
    for name, score in scores.items():
        assert abs(forest.oob_scores_[name] - score) < 0.12
    np.testing.assert_allclose(forest.oob_score_, np.mean(list(forest.oob_scores_.values())))
    np.testing.assert_allclose(forest.prior_[:3], [y["price"][:200].mean(), *y[["p_a", "p_b"]][:200].mean()])


@pytest.mark.parametrize("score", ["genie3", "genie3_oob", "permutation"])
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_the_planted_feature_of_each_target_is_found(score, share):
    X, y = planted(400)
    ranker = ForestRanker(MixedForest(60, targets=TARGETS, random_state=0), scores=score)
    ranking = ranker.fit(X, hidden(y, share) if share else y).ranking_
    assert ranking.label_names == ("price", "p_*", "colour", "function")
    assert [ranking.for_label(name).order[0] for name in ("price", "p_*", "colour")] == [0, 1, 2]
    assert set(ranking.for_label("function").order[:2]) == {3, 4}
    assert set(ranking.order[:5]) == {0, 1, 2, 3, 4}
    if score != "permutation":  # gains per target sum to the gain
        np.testing.assert_allclose(ranking.per_label.sum(axis=1), ranking.scores, rtol=1e-9 if not share else 0.5)


def test_one_target_alone_is_its_own_forest():
    X, y = planted()
    numbers = MixedForest(10, random_state=0).fit(X, y[["price"]])
    alone = ForestRegressor(10, random_state=0).fit(X, y["price"])
    np.testing.assert_array_equal(numbers.predict(X)["price"], alone.predict(X))
    np.testing.assert_array_equal(numbers.feature_importances_, alone.feature_importances_)
    for part, targets in ((y[["colour"]], "from_dtype"), (y[["p_a", "p_b"]], {"p_*": "labels"})):
        mixed = MixedForest(5, targets=targets, random_state=0, **WHOLE).fit(X, part)
        truth = part.get("colour", part)
        forest = ForestClassifier(5, random_state=0, **WHOLE).fit(X, truth)
        np.testing.assert_allclose(mixed.predict_outputs(X), forest.predict_proba(X), atol=1e-12)
        for one in (mixed, forest):  # further down, cuts of the same gain are told apart by rounding
            one.set_params(max_depth=2).fit(X, part if one is mixed else truth)
        np.testing.assert_allclose(mixed.feature_importances_, forest.feature_importances_, rtol=1e-9)


def test_a_target_weighs_what_it_is_given():
    X, y = planted()
    work = {"random_state": 0, "max_depth": 2, **WHOLE}
    only = MixedForest(3, target_weight={"colour": 0.0}, **work).fit(X, y[["price", "colour"]])
    alone = MixedForest(3, **work).fit(X, y[["price"]])
    np.testing.assert_array_equal(only.predict(X)["price"], alone.predict(X)["price"])
    even = MixedForest(3, **work).fit(X, y[["price", "colour"]])
    assert set(np.flatnonzero(only.feature_importances_)) == {0}
    assert 2 in np.flatnonzero(even.feature_importances_)


def test_targets_in_other_units_are_the_same_targets():
    X, y = planted()
    scaled = y.assign(price=1000 * y["price"] - 7, colour=y["colour"].str.upper())
    plain, other = (MixedForest(10, targets=TARGETS, random_state=0).fit(X, frame) for frame in (y, scaled))
    np.testing.assert_allclose(1000 * plain.predict(X)["price"] - 7, other.predict(X)["price"])
    np.testing.assert_allclose(plain.predict_proba(X)["colour"], other.predict_proba(X)["colour"], atol=1e-9)


@pytest.mark.parametrize("form", ["polars", "category", "object array", "columns in another order", "nullable"])
def test_other_forms_of_y_are_the_same_targets(form):
    X, y = planted()
    y = y.assign(flag=y["p_a"] == 1)
    targets = {"p_*": "labels", "function": TREE}
    if form == "polars":
        other = pytest.importorskip("polars").from_pandas(y)
    elif form == "category":
        other = y.assign(colour=y["colour"].astype("category"))
    elif form == "object array":
        names = {name: str(j) for j, name in enumerate(y)}
        y = y[["price", "colour", "flag"]]
        other, targets = y.to_numpy(dtype=object), "from_dtype"
        assert len(names) == 7
    elif form == "nullable":
        other = y.convert_dtypes()
    else:
        other = y[["flag", "h", "p_b", "colour", "f/g", "price", "p_a"]]
        y, other = y[["price", "colour", "p_a", "p_b", "f/g", "h"]], other.drop(columns="flag")
        other = other[["price", "colour", "p_a", "f/g", "p_b", "h"]]  # the parts begin in the same order
    plain, given = (MixedForest(8, targets=targets, random_state=0).fit(X, form) for form in (y, other))
    np.testing.assert_array_equal(plain.predict_outputs(X), given.predict_outputs(X))
    if form == "object array":
        assert list(given.predict(X)) == ["0", "1", "2"]
        assert given.predict(X)["2"].dtype == bool


def test_unknown_cells_take_no_part_and_rows_without_any_are_left_out():
    X, y = planted()
    partly = hidden(y, 0.3)
    partly.iloc[5] = None
    forest = MixedForest(40, targets=TARGETS, oob_score=True, random_state=0).fit(X, partly)
    rows = partly.notna().any(axis=1).to_numpy()
    dropped = MixedForest(40, targets=TARGETS, oob_score=True, random_state=0).fit(X[rows], partly[rows])
    np.testing.assert_array_equal(forest.predict_outputs(X), dropped.predict_outputs(X))
    assert np.isnan(forest.oob_prediction_[5]).all()
    known = partly[rows]["price"].notna().mean()
    np.testing.assert_allclose(forest.known_share_[0], known)
    assert min(forest.target_scores(X, y).values()) > 0.8
    assert forest.target_scores(X, partly).keys() == set(forest.target_names_)
    assert not forest.predict(X).isna().any().any()


def test_the_same_bits_for_any_number_of_threads():
    X, y = planted()
    fitted = [
        MixedForest(12, targets=TARGETS, oob_score=True, random_state=0, n_jobs=jobs).fit(X, y) for jobs in (1, 3)
    ]
    np.testing.assert_array_equal(fitted[0].oob_prediction_, fitted[1].oob_prediction_)
    np.testing.assert_array_equal(fitted[0].predict_outputs(X), fitted[1].predict_outputs(X))


def test_first_trees_sparse_features_and_files(tmp_path):
    X, y = planted()
    X[np.abs(X) < 0.5] = 0.0
    forest = MixedForest(9, targets=TARGETS, oob_score=True, random_state=0).fit(X, y)
    small = MixedForest(4, targets=TARGETS, random_state=0).fit(X, y)
    np.testing.assert_array_equal(forest.first(4).predict_outputs(X), small.predict_outputs(X))
    assert not hasattr(forest.first(4), "oob_scores_")
    compressed = MixedForest(9, targets=TARGETS, random_state=0).fit(sparse.csc_array(X), y)
    np.testing.assert_array_equal(compressed.predict_outputs(X), forest.predict_outputs(X))
    ramify.save(forest, tmp_path / "mixed.ramify")
    loaded = ramify.load(tmp_path / "mixed.ramify")
    assert loaded.predict(X).equals(forest.predict(X))
    assert loaded.oob_scores_ == forest.oob_scores_
    pd.testing.assert_series_equal(
        forest_ranking(loaded).to_frame()["score"], forest_ranking(forest).to_frame()["score"]
    )


def test_contributions_and_shapley_values_add_up_to_the_prediction():
    X, y = planted()
    forest = MixedForest(10, targets=TARGETS, random_state=0).fit(X, y)
    for label in ("price", "colour=red", "p_b"):
        values, base = forest.contributions(X[:20], label)
        output = forest.predict_outputs(X[:20])[:, forest.label_names_.index(label)]
        np.testing.assert_allclose(values.sum(axis=1) + base, output, atol=1e-9)
        explained = forest.shap_values(X[:20], labels=label)
        np.testing.assert_allclose(explained.values.sum(axis=1) + explained.base_values, output, atol=1e-9)


def test_what_is_predicted_is_explained():
    X, y = planted()
    forest = MixedForest(10, targets=TARGETS, random_state=0).fit(X, y)
    explained = forest.shap_values(X[:30], labels="predicted")
    outputs, predicted = forest.predict_outputs(X[:30]), forest.predict(X[:30])
    names = np.array(forest.label_names_)
    for row in range(30):
        own = names[explained.labels[explained.rows == row]].tolist()
        assert [f"colour={predicted['colour'][row]}"] == [name for name in own if name.startswith("colour")]
        assert ("p_a" in own) == (predicted["p_a"][row] == 1)
        assert "price" in own
    np.testing.assert_allclose(explained.predictions, outputs[explained.rows, explained.labels], atol=1e-9)


def test_predictions_keep_the_index_of_the_rows():
    X, y = planted()
    frame = pd.DataFrame(X, index=[f"r{i}" for i in range(len(X))]).rename(columns=str)
    forest = MixedForest(3, random_state=0).fit(frame, y[["price", "colour"]])
    assert forest.predict(frame[:2]).index.tolist() == ["r0", "r1"]


FRAME = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": ["x", "y", "x", "y"], "c": [0, 1, 1, 0], "d": [1, 0, 1, 0]})


@pytest.mark.parametrize(
    ("y", "parameters", "words"),
    [
        (None, {}, "requires y to be passed"),
        (FRAME["a"], {}, "one column per target"),
        (sparse.csr_array(np.eye(4)), {}, "one column per target, dense"),
        (FRAME.iloc[:3], {}, "inconsistent numbers of samples"),
        (FRAME.iloc[:, :0], {}, "0 columns"),
        (FRAME.set_axis(["a", "b", "a", "d"], axis=1), {}, "several columns 'a'. Give each a name of its own"),
        (FRAME, {"targets": "auto"}, "'targets' parameter must be 'from_dtype' or a mapping"),
        (FRAME, {"targets": {"e": "classes"}}, "'targets' names 'e', which fits no column of y. Its columns are 'a'"),
        (FRAME, {"targets": {"e*": "labels"}}, "fits no column"),
        (FRAME, {"targets": {"a": "rankings"}}, "must say of 'a' that it is 'numbers', 'classes' or 'labels'"),
        (FRAME, {"targets": {"a": 3}}, "list its columns. Got 3 instead"),
        (FRAME, {"targets": {"s": ["c", "e"]}}, "gives 's' the column 'e', which y has not"),
        (FRAME, {"targets": {"s": []}}, "must say of 's'"),
        (FRAME, {"targets": {"s": ["c", "d"], "d": "classes"}}, "gives the column 'd' to 's' and to 'd'"),
        (FRAME, {"targets": {"a": ["c", "d"]}}, "calls a label set 'a', which is the name of another column"),
        (FRAME, {"targets": {"f": TREE}}, "No column of y is a node of the hierarchy of 'f'"),
        (FRAME, {"targets": {"b": "numbers"}}, "Target 'b': the column 'b' holds 'x', which is no number"),
        (FRAME, {"targets": {"b": "labels"}}, "Target 'b': the column 'b' holds 'x'"),
        (FRAME, {"targets": {"a": "labels"}}, "columns of 0 and 1, but 'a' holds 2 in row 1"),
        (FRAME.assign(a=[0.5, 1.5, 2.5, 3.5]), {"targets": {"a": "classes"}}, "Target 'a': Unknown label type"),
        (FRAME.assign(a=np.nan), {}, "Target 'a': The target 'a' is known of no row"),
        (FRAME.assign(b=None), {}, "Target 'b': The target 'b' is known of no row"),
        (FRAME.assign(a=[1.0, np.inf, 2.0, 3.0]), {}, "contains infinity"),
        (FRAME, {"target_weight": {"e": 1.0}}, "target_weight names 'e', which is no target"),
        (FRAME, {"target_weight": {"a": -1.0}}, "finite numbers >= 0. Got -1.0 for 'a'"),
        (FRAME, {"target_weight": [1.0]}, "a mapping from names of targets"),
    ],
)
def test_targets_are_refused_in_words(y, parameters, words):
    with pytest.raises(ValueError, match=words):
        MixedForest(3, **parameters).fit(np.arange(8.0).reshape(4, 2), y)


def test_a_failed_fit_leaves_the_forest_as_it_was():
    X, y = planted(50)
    forest = MixedForest(3, random_state=0).fit(X, y[["price", "colour"]])
    before = forest.predict(X)
    with pytest.raises(ValueError, match="known of no row"):
        forest.fit(X, y[["price", "colour"]].assign(price=np.nan))
    assert forest.predict(X).equals(before)


def test_truth_without_a_column_is_refused():
    X, y = planted(50)
    forest = MixedForest(3, random_state=0).fit(X, y[["price", "colour"]])
    with pytest.raises(ValueError, match="y has no column 'colour', which the model predicts"):
        forest.score(X, y[["price"]])


@pytest.mark.parametrize("check", CHECKS_WITHOUT_Y)
def test_forest_passes_the_checks_of_scikit_learn_that_need_no_y(check):
    getattr(estimator_checks, check)("MixedForest", clone(MixedForest(3)))


def test_a_tree_is_written_in_the_units_of_the_targets():
    X, y = planted()
    forest = MixedForest(2, max_depth=1, random_state=0, **WHOLE).fit(X, y[["price", "colour"]])
    text = export_tree(forest)
    first = forest.first(1).predict_outputs(X)
    assert f"price {first[:, 0].max():.4g}" in text
    assert f"colour=red {first[:, 3].max():.4g}" in text
