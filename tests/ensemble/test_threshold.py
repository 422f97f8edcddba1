"""Thresholds: given or chosen out of bag, kept in files, closed under ancestors; label weights by frequency."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold

import ramify
from ramify import ForestClassifier, chains, ensemble
from ramify.chains import BinaryRelevance
from ramify.datasets import make_hierarchical, make_multilabel
from ramify.ensemble import BoostedClassifier, Calibrated, ForestRegressor, Portfolio
from ramify.ensemble.calibrated import at_most_parents
from ramify.ensemble.threshold import cost_thresholds, f1_thresholds
from ramify.metrics import label_propensities


@pytest.fixture(scope="module")
def data():
    return make_hierarchical(300, n_features=14, random_state=0)


def slow_best(scores, truth, quality):
    """Try every threshold; the largest of the best."""
    tried = np.unique(np.append(scores, 2.0))
    values = [quality(truth, scores >= threshold) for threshold in tried]
    return max(values)


@pytest.mark.parametrize("seed", range(5))
def test_f1_thresholds_are_the_best_of_all(seed):
    random = np.random.RandomState(seed)
    scores, truth = random.randint(0, 8, size=(30, 4)) / 8, (random.rand(30, 4) < 0.4).astype(int)
    found = f1_thresholds(scores, truth)
    for label, threshold in enumerate(found):
        best = slow_best(scores[:, label], truth[:, label], lambda y, p: f1_score(y, p, zero_division=0))
        assert f1_score(truth[:, label], scores[:, label] >= threshold) == pytest.approx(best)


@pytest.mark.parametrize("costs", [(1.0, 5.0), (3.0, 1.0), (1.0, 1.0)])
def test_cost_thresholds_are_the_cheapest_of_all(costs):
    random = np.random.RandomState(1)
    scores, truth = random.randint(0, 8, size=(30, 4)) / 8, (random.rand(30, 4) < 0.3).astype(int)
    fp, fn = costs

    def gain(y, predicted):
        return -fp * (predicted & (y == 0)).sum() - fn * (~predicted & (y == 1)).sum()

    found = cost_thresholds(scores, sparse.csr_array(truth), false_positive=fp, false_negative=fn)
    for label, threshold in enumerate(found):
        best = slow_best(scores[:, label], truth[:, label], gain)
        assert gain(truth[:, label], scores[:, label] >= threshold) == pytest.approx(best)


def test_weights_count_as_repeated_rows():
    random = np.random.RandomState(2)
    scores, truth, weights = random.rand(20, 3), (random.rand(20, 3) < 0.4).astype(int), random.randint(0, 3, size=20)
    repeated = np.repeat(np.arange(20), weights)
    for choose in (f1_thresholds, lambda *a, **k: cost_thresholds(*a, false_positive=1, false_negative=2, **k)):
        weighted = choose(scores, truth, sample_weight=weights.astype(float))
        expected = choose(scores[repeated], truth[repeated])
        np.testing.assert_array_equal((scores >= weighted)[weights > 0], (scores >= expected)[weights > 0])


def test_default_is_one_half(data):
    forest = ForestClassifier(10, hierarchy=data.hierarchy, random_state=0).fit(data.X, data.y)
    assert forest.threshold_ == 0.5
    np.testing.assert_array_equal(forest.predict(data.X).toarray(), forest.predict_proba(data.X) > 0.5)


def test_one_threshold_per_label_keeps_ancestors(data):
    limits = np.linspace(0.9, 0.1, len(data.hierarchy))
    forest = ForestClassifier(10, hierarchy=data.hierarchy, threshold=limits, random_state=0).fit(data.X, data.y)
    predicted, expected = forest.predict(data.X).toarray(), forest.predict_proba(data.X) > limits
    names = data.hierarchy.names
    for label, name in enumerate(names):
        above = [names.index(ancestor) for ancestor in data.hierarchy.ancestors(name)]
        np.testing.assert_array_equal(predicted[:, label], expected[:, label] & expected[:, above].all(axis=1))
    assert (predicted != expected).any()


@pytest.mark.parametrize("rule", ["f1", "cardinality", "density", {"fp": 1, "fn": 4}])
def test_chosen_thresholds_are_those_of_the_out_of_bag_predictions(data, rule):
    forest = ForestClassifier(30, hierarchy=data.hierarchy, threshold=rule, oob_score=True, random_state=0)
    forest.fit(data.X, data.y)
    plain = ForestClassifier(30, hierarchy=data.hierarchy, threshold=rule, random_state=0).fit(data.X, data.y)
    np.testing.assert_array_equal(plain.threshold_, forest.threshold_)
    assert not hasattr(plain, "oob_prediction_")
    seen = np.isfinite(forest.oob_prediction_).all(axis=1)
    scores, truth = forest.oob_prediction_[seen], sparse.csr_array(data.y).toarray()[seen]
    predicted = scores > forest.threshold_
    if rule == "f1":
        np.testing.assert_array_equal(predicted, scores >= f1_thresholds(scores, truth))
    elif rule == "cardinality":
        assert abs(predicted.sum() - truth.sum()) <= np.abs((scores > 0.5).sum() - truth.sum())
    elif rule == "density":
        assert np.abs(predicted.mean(axis=0) - truth.mean(axis=0)).max() < 0.05
    else:
        assert predicted.sum() > (scores > 0.5).sum()


def test_f1_out_of_bag_beats_one_half_on_unseen_rows():
    data = make_multilabel(900, n_features=20, n_labels=8, random_state=1)
    X, Y = np.asarray(data.X), sparse.csr_array(data.y).toarray()
    chosen = ForestClassifier(60, threshold="f1", random_state=0).fit(X[:450], Y[:450])
    half = ForestClassifier(60, random_state=0).fit(X[:450], Y[:450])
    measured = [
        f1_score(Y[450:], forest.predict(X[450:]), average="macro", zero_division=0) for forest in (chosen, half)
    ]
    assert measured[0] > measured[1]


def test_thresholds_survive_a_file_and_a_second_fit(data, tmp_path):
    forest = ForestClassifier(20, hierarchy=data.hierarchy, threshold="f1", random_state=0).fit(data.X, data.y)
    ramify.save(forest, tmp_path / "forest.ramify")
    loaded = ramify.load(tmp_path / "forest.ramify")
    np.testing.assert_array_equal(loaded.threshold_, forest.threshold_)
    np.testing.assert_array_equal(loaded.predict(data.X).toarray(), forest.predict(data.X).toarray())
    again = forest.set_params(threshold=0.3).fit(data.X, data.y)
    assert again.threshold_ == 0.3


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_threads_do_not_change_thresholds(data, n_jobs):
    serial = ForestClassifier(20, threshold="f1", random_state=0).fit(data.X, data.y)
    threaded = ForestClassifier(20, threshold="f1", random_state=0, n_jobs=n_jobs).fit(data.X, data.y)
    np.testing.assert_array_equal(serial.threshold_, threaded.threshold_)


def test_chains_choose_by_the_same_rules():
    data = make_multilabel(150, n_features=8, n_labels=3, random_state=0)
    forest = ForestClassifier(10, random_state=0)
    for rule in ("f1", {"fp": 1, "fn": 3}):
        model = BinaryRelevance(forest, threshold=rule, random_state=0).fit(data.X, data.y)
        assert model.threshold_.shape == (3,)
        assert model.predict(data.X).shape == (150, 3)


@pytest.mark.parametrize(
    ("parameters", "y", "words"),
    [
        ({"threshold": 1.5}, np.eye(3), r"'threshold' parameter of ForestClassifier must be a number in \[0, 1\]"),
        ({"threshold": "best"}, np.eye(3), "'threshold' parameter of ForestClassifier must be .* or one of 'f1'"),
        ({"threshold": [0.5, 0.5]}, np.eye(3), r"one per label \(3\)"),
        ({"threshold": {"fp": 1}}, np.eye(3), "'fn': cost of a false negative"),
        ({"threshold": {"fp": 1, "fn": -1}}, np.eye(3), "'threshold' parameter .* must be a number"),
        ({"threshold": "f1", "bootstrap": False}, np.eye(3), "needs bootstrap=True"),
        ({"threshold": 0.4}, [0, 1, 1], "is for label sets, but y holds classes"),
        ({"label_weight": "even"}, np.eye(3), "'label_weight' parameter of ForestClassifier must be one of 'balanced'"),
        ({"label_weight": "balanced"}, [0, 1, 1], "is for label sets, but y holds classes"),
    ],
)
def test_bad_value_is_refused(parameters, y, words):
    with pytest.raises(ValueError, match=words):
        ForestClassifier(5, **parameters).fit([[0.0], [1.0], [2.0]], y)


def rows_held_back(data, model):
    """Rows that the log-odds before the first round do not count."""
    Y = sparse.csr_array(data.y).toarray()
    base = clone(model).fit(data.X, Y).base_
    unseen = []
    for row in range(len(Y)):
        changed = Y.copy()
        changed[row] = 1 - Y[row]
        if np.array_equal(clone(model).fit(data.X, changed).base_, base):
            unseen.append(row)
    return unseen


def test_boosted_trees_choose_on_the_rows_held_back():
    data = make_multilabel(60, n_features=4, n_labels=3, random_state=0)
    settings = {"early_stopping": 0.2, "patience": 10, "max_samples": 1.0, "min_samples_leaf": 2, "random_state": 0}
    unseen = rows_held_back(data, BoostedClassifier(1, **settings))
    assert len(unseen) == 12
    model = BoostedClassifier(10, threshold="f1", **settings).fit(data.X, data.y)
    scores, truth = model.predict_proba(data.X)[unseen], sparse.csr_array(data.y).toarray()[unseen]
    np.testing.assert_array_equal(scores > model.threshold_, scores >= f1_thresholds(scores, truth))
    sparse_rows = clone(model).fit(sparse.csr_array(data.X), data.y)
    np.testing.assert_array_equal(sparse_rows.threshold_, model.threshold_)


def test_calibrated_forests_choose_on_calibrated_out_of_bag_probabilities(data):
    forest = ForestClassifier(20, hierarchy=data.hierarchy, oob_score=True, random_state=0)
    model = Calibrated(forest, method="sigmoid", threshold="f1").fit(data.X, data.y)
    raw = forest.fit(data.X, data.y).oob_prediction_
    seen = np.isfinite(raw).all(axis=1)
    scores = at_most_parents(expit(raw[seen] * model.slopes_ + model.intercepts_), data.hierarchy)
    expected = f1_thresholds(scores, sparse.csr_array(data.y).toarray()[seen])
    np.testing.assert_array_equal(scores > model.threshold_, scores >= expected)


def test_portfolios_choose_on_the_held_out_rows():
    data = make_multilabel(120, n_features=6, n_labels=4, random_state=0)
    folds = list(KFold(3).split(data.X))
    forest = ForestClassifier(15, random_state=0)
    model = Portfolio({"forest": forest}, threshold="f1", cv=folds).fit(data.X, data.y)
    Y = sparse.csr_array(data.y).toarray()
    scores = [clone(forest).fit(data.X[train], Y[train]).predict_proba(data.X[test]) for train, test in folds]
    expected = f1_thresholds(np.concatenate(scores).astype(np.float32), Y)
    np.testing.assert_allclose(model.threshold_, expected, atol=1e-12)


MODELS = {
    "boosted": lambda **given: BoostedClassifier(10, random_state=0, **given),
    "calibrated": lambda **given: Calibrated(ForestClassifier(15, random_state=0), **given),
    "portfolio": lambda **given: Portfolio({"forest": ForestClassifier(15, random_state=0)}, cv=2, **given),
}


@pytest.mark.parametrize("name", MODELS)
def test_thresholds_of_every_kind_in_other_models(name, tmp_path):
    data = make_multilabel(150, n_features=8, n_labels=3, random_state=0)
    X, Y = np.asarray(data.X), sparse.csr_array(data.y).toarray()
    half = MODELS[name]().fit(X, Y)
    probabilities = half.predict_proba(X)
    assert half.threshold_ == 0.5
    np.testing.assert_array_equal(half.predict(X), probabilities > 0.5)
    limits = [0.1, 0.5, 0.8]
    np.testing.assert_array_equal(MODELS[name](threshold=limits).fit(X, Y).predict(X), probabilities > limits)
    dear, cheap = (MODELS[name](threshold={"fp": 1, "fn": cost}).fit(X, Y) for cost in (10, 0.1))
    assert dear.predict(X).sum() > cheap.predict(X).sum()
    ramify.save(dear, tmp_path / "model.ramify")
    loaded = ramify.load(tmp_path / "model.ramify")
    np.testing.assert_array_equal(loaded.threshold_, dear.threshold_)
    np.testing.assert_array_equal(loaded.predict(X), dear.predict(X))
    with pytest.raises(ValueError, match=r"one per label \(3\)"):
        MODELS[name](threshold=[0.5, 0.5]).fit(X, Y)
    with pytest.raises(ValueError, match="must be .* or one of 'f1'"):
        MODELS[name](threshold="best").fit(X, Y)
    with pytest.raises(ValueError, match="is for label sets, but y holds classes"):
        MODELS[name](threshold=0.3).fit(X, Y[:, 0])


@pytest.mark.parametrize("name", MODELS)
def test_labels_come_with_their_ancestors_in_other_models(data, name):
    limits = np.linspace(0.9, 0.05, len(data.hierarchy.names))
    model = MODELS[name](threshold=limits)
    (model if "hierarchy" in model.get_params() else model.estimator).set_params(hierarchy=data.hierarchy)
    predicted = model.fit(data.X, data.y).predict(data.X)
    np.testing.assert_array_equal(data.hierarchy.close(predicted).toarray(), predicted.toarray())
    assert (predicted.toarray() != (model.predict_proba(data.X) > limits)).any()


def test_boosted_trees_without_rows_held_back_refuse_to_choose():
    with pytest.raises(ValueError, match="needs early_stopping"):
        BoostedClassifier(5, threshold="f1", early_stopping=None).fit([[0.0], [1.0], [2.0]], np.eye(3))


def test_a_portfolio_of_numbers_has_no_threshold():
    X, y = np.random.RandomState(0).rand(40, 3), np.random.RandomState(1).rand(40)
    members = {"forest": ForestRegressor(5, random_state=0)}
    assert not hasattr(Portfolio(members, cv=2).fit(X, y), "threshold_")
    with pytest.raises(ValueError, match="is for label sets, but y holds numbers"):
        Portfolio(members, cv=2, threshold=0.2).fit(X, y)


def test_every_classifier_of_label_sets_takes_a_threshold():
    found = [getattr(module, name) for module in (ensemble, chains) for name in module.__all__]
    several = {"MixedForest"}  # has a dict of probabilities, by target
    models = [one for one in found if hasattr(one, "predict_proba") and one.__name__ not in several]
    assert len(models) >= 11
    assert [model.__name__ for model in models if "threshold" not in model().get_params()] == []


@pytest.mark.parametrize("model", [ForestClassifier, BoostedClassifier])
def test_balanced_label_weights_are_one_over_the_frequency(model):
    data = make_multilabel(200, n_features=8, n_labels=4, random_state=0)
    Y = sparse.csr_array(data.y).toarray()
    balanced = model(8, label_weight="balanced", random_state=0).fit(data.X, Y)
    given = model(8, label_weight=1 / Y.mean(axis=0), random_state=0).fit(data.X, Y)
    np.testing.assert_array_equal(balanced.predict_proba(data.X), given.predict_proba(data.X))
    np.testing.assert_allclose(balanced.output_weights(), 1 / Y.mean(axis=0))
    never = np.column_stack([Y, np.zeros(len(Y), dtype=int)])
    frame = pd.DataFrame(never, columns=list("abcde"))
    assert model(3, label_weight="balanced", random_state=0).fit(data.X, frame).output_weights()[-1] == 0


@pytest.mark.parametrize("model", [ForestClassifier, BoostedClassifier])
def test_propensity_weights_are_one_over_the_propensity(model, tmp_path):
    data = make_multilabel(200, n_features=8, n_labels=4, random_state=0)
    Y = sparse.csr_array(data.y).toarray()
    lifted = model(8, label_weight="propensity", random_state=0).fit(data.X, Y)
    worth = 1 / label_propensities(Y)
    given = model(8, label_weight=worth, random_state=0).fit(data.X, Y)
    np.testing.assert_array_equal(lifted.predict_proba(data.X), given.predict_proba(data.X))
    np.testing.assert_array_equal(lifted.output_weights(), worth)
    ramify.save(lifted, tmp_path / "model.ramify")
    np.testing.assert_array_equal(ramify.load(tmp_path / "model.ramify").output_weights(), worth)
    weights = np.r_[np.ones(150), np.zeros(50)]  # rows of weight zero are as good as none
    weighted = model(8, label_weight="propensity", random_state=0).fit(data.X, Y, sample_weight=weights)
    np.testing.assert_array_equal(weighted.output_weights(), 1 / label_propensities(Y[:150]))
    lifted.set_params(label_weight=None).fit(data.X, Y)
    np.testing.assert_array_equal(lifted.output_weights(), np.ones(4))
