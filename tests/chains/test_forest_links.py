"""Chains over Ramify's forest: same trees as fitting from scratch, out-of-bag thresholds, saved and loaded."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import ramify
from ramify.chains import (
    BinaryRelevance,
    ClassifierChain,
    EnsembleOfChains,
    LabelPowerset,
    LClassifierChains,
    MLkNN,
    PairwiseLabels,
    R2Screening,
    RAkEL,
)
from ramify.chains.chain_order import out_of_bag_accuracy
from ramify.ensemble import ForestClassifier
from ramify.ensemble.threshold import cardinality_threshold
from ramify.features import Features
from ramify.ranking import forest_ranking

FOREST = ForestClassifier(15)


def dense(data):
    return np.asarray(data.y.toarray())


def test_the_default_is_a_forest_of_200_trees(small):
    model = BinaryRelevance(random_state=0).fit(small.X, small.y)
    assert all(isinstance(link, ForestClassifier) and link.trees_.n_trees == 200 for link in model.estimators_)


def test_links_equal_forests_fitted_from_scratch(small):
    Y = dense(small)
    chain = ClassifierChain(FOREST, order=[2, 0, 3, 1], random_state=0).fit(small.X, Y)
    grown = small.X
    for label, link in zip(chain.order_, chain.estimators_, strict=True):
        scratch = ForestClassifier(15, random_state=link.random_state).fit(grown, Y[:, [label]])
        np.testing.assert_array_equal(link.predict_proba(grown), scratch.predict_proba(grown))
        np.testing.assert_array_equal(forest_ranking(link).scores, forest_ranking(scratch).scores)
        grown = np.column_stack([grown, Y[:, label]])


def test_the_number_of_sampled_features_counts_earlier_labels():
    random = np.random.RandomState(0)
    X, Y = random.rand(80, 8), random.randint(0, 2, (80, 2))
    chain = ClassifierChain(FOREST, random_state=0).fit(X, Y)
    last = chain.estimators_[-1]
    grown = np.column_stack([X, Y[:, 0]])
    scratch = ForestClassifier(15, max_features=3, random_state=last.random_state).fit(grown, Y[:, [1]])
    np.testing.assert_array_equal(last.predict_proba(grown), scratch.predict_proba(grown))


def test_importances_are_raw_gini_decreases(small):
    chains = LClassifierChains(FOREST, threshold=0.5, random_state=0).fit(small.X, small.y)
    density = dense(small).mean(axis=0)
    for label, links in enumerate(chains.estimators_):
        from ramify import _core

        total = _core.genie3(links[-1].trees_).sum()
        assert total == pytest.approx(density[label] * (1 - density[label]), rel=0.15)


def test_threshold_from_out_of_bag_votes_equals_the_slow_way(small):
    Y = dense(small)
    chains = LClassifierChains(FOREST, combine="votes", random_state=0).fit(small.X, Y)
    votes = np.zeros(Y.shape)
    for order, links in zip(chains.orders_, chains.estimators_, strict=True):
        for place, (label, link) in enumerate(zip(order, links, strict=True)):
            grown = np.column_stack([small.X, Y[:, order[:place]]])
            scratch = ForestClassifier(15, oob_score=True, random_state=link.random_state)
            oob = scratch.fit(grown, Y[:, [label]]).oob_prediction_[:, 0]
            votes[:, label] += np.where(np.isnan(oob), np.nanmean(oob), oob) >= 0.5
    expected = cardinality_threshold(votes / 4, Y.sum(axis=1).mean(), candidates=np.arange(1, 5) / 4)
    assert chains.threshold_ == expected


def test_forests_without_bags_choose_the_threshold_by_cross_validation(small):
    forest = ForestClassifier(5, bootstrap=False)
    chains = EnsembleOfChains(forest, combine="votes", random_state=0).fit(small.X, small.y)
    assert chains.threshold_ in {0.25, 0.5, 0.75, 1.0}


def test_threads_do_not_change_a_bit(small):
    serial = LClassifierChains(FOREST, random_state=0, n_jobs=1).fit(small.X, small.y)
    threaded = LClassifierChains(FOREST, random_state=0, n_jobs=3).fit(small.X, small.y)
    np.testing.assert_array_equal(threaded.importances_, serial.importances_)
    np.testing.assert_array_equal(threaded.predict_proba(small.X), serial.predict_proba(small.X))
    assert threaded.threshold_ == serial.threshold_


def test_sparse_features_equal_dense_ones(small):
    X = np.where(small.X > 1, small.X, 0.0)
    plain = LClassifierChains(FOREST, random_state=0).fit(X, small.y)
    compressed = LClassifierChains(FOREST, random_state=0).fit(sparse.csr_array(X), small.y)
    np.testing.assert_allclose(compressed.importances_, plain.importances_)
    np.testing.assert_array_equal(compressed.predict_proba(sparse.csr_array(X)), plain.predict_proba(X))


def test_missing_and_nominal_features_reach_the_forest(small):
    frame = pd.DataFrame(small.X.copy())
    frame.columns = [f"f{j}" for j in range(8)]
    frame.loc[::7, "f0"] = np.nan
    first = dense(small)[:, 0]
    random = np.random.RandomState(0)
    frame["colour"] = pd.Categorical(np.where(first == 1, random.choice(["red", "blue"], 120), "green"))
    chains = LClassifierChains(FOREST, random_state=0).fit(frame, small.y)
    assert chains.importance_frame().iloc[0].idxmax() == "colour"
    unseen = frame.head(3).copy()
    unseen["colour"] = pd.Categorical(["black", "black", "red"])
    with pytest.warns(UserWarning, match="'colour' .* 2 of 3 cells that LClassifierChains has not seen: 'black'"):
        assert np.isfinite(chains.predict_proba(unseen)).all()
    with pytest.warns(UserWarning, match="'colour' .* 2 of 2 cells that LClassifierChains has not seen: 'black'"):
        assert np.isfinite(chains.predict_proba(unseen.head(2))).all()


def test_out_of_bag_accuracy_tells_an_easy_label_from_noise():
    random = np.random.RandomState(5)
    X = random.standard_normal((200, 3))
    Y = np.column_stack([random.randint(0, 2, 200), X[:, 0] > 0]).astype(np.uint8)
    noise, easy = out_of_bag_accuracy(Features(X, np.zeros(3, dtype=np.int32)), Y, seed=0)
    assert easy > 0.9
    assert noise < 0.65


def test_order_by_out_of_bag_accuracy_starts_with_the_easiest_label():
    random = np.random.RandomState(6)
    X = random.standard_normal((150, 3))
    Y = np.column_stack([random.randint(0, 2, 150), X[:, 0] > 0])
    assert ClassifierChain(FOREST, order="oob", random_state=0).fit(X, Y).order_[0] == 1


@pytest.mark.parametrize(
    "model",
    [
        BinaryRelevance(FOREST, random_state=0),
        BinaryRelevance(FOREST, threshold="density", random_state=0),
        LabelPowerset(FOREST, random_state=0),
        PairwiseLabels(FOREST, random_state=0),
        ClassifierChain(FOREST, order="correlation", random_state=0),
        EnsembleOfChains(FOREST, random_state=0),
        LClassifierChains(FOREST, random_state=0),
        LClassifierChains(FOREST, keep_forests=False, random_state=0),
        RAkEL(FOREST, random_state=0),
        MLkNN(n_neighbors=4),
    ],
    ids=repr,
)
def test_saved_models_answer_the_same(small, model, tmp_path):
    constant = np.column_stack([dense(small), np.ones(120, dtype=int), np.zeros(120, dtype=int)])
    model.fit(small.X, constant)
    ramify.save(model, tmp_path / "model.ramify")
    loaded = ramify.load(tmp_path / "model.ramify")
    assert loaded.label_names_ == model.label_names_
    if getattr(model, "keep_forests", True):
        np.testing.assert_array_equal(loaded.predict_proba(small.X), model.predict_proba(small.X))
        np.testing.assert_array_equal(loaded.predict(small.X), model.predict(small.X))
    if hasattr(model, "importances_"):
        np.testing.assert_array_equal(loaded.importances_, model.importances_)


def test_a_saved_screening_selects_the_same(small, tmp_path):
    screening = R2Screening(50).fit(small.X, small.y)
    ramify.save(screening, tmp_path / "screening.ramify")
    np.testing.assert_array_equal(ramify.load(tmp_path / "screening.ramify").get_support(), screening.get_support())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda model: model.orders_.__setitem__((0, 0), model.orders_[0, 1]), "an order must hold each label once"),
        (lambda model: model.estimators_[1].pop(), "a chain must have a link per label"),
        (lambda model: model.estimators_[0].reverse(), "a link must be a fitted classifier over the features"),
        (lambda model: setattr(model, "importances_", model.importances_[1:]), "importances_ must be numbers of shape"),
        (lambda model: setattr(model, "threshold_", "half"), "threshold_ must be None or of type float"),
        (lambda model: setattr(model, "n_outputs_", 9), "orders_ must be whole numbers below n_labels"),
        (lambda model: setattr(model, "_label_dtype", "O"), "_label_dtype must be one of"),
    ],
)
def test_a_broken_model_is_neither_saved_nor_loaded(small, refused_by_files, change, message):
    model = LClassifierChains(ForestClassifier(2), random_state=0).fit(small.X, small.y)
    change(model)
    refused_by_files(model, message)
