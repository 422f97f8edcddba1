"""Ensembles of chains: orders, votes, thresholds, and the importance matrix of L-classifier chains."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from ramify.chains import EnsembleOfChains, LClassifierChains
from ramify.chains.chain import chain_probabilities
from ramify.chains.links import raw_importances
from ramify.datasets import make_multilabel


def dense(data):
    return np.asarray(data.y.toarray())


def test_chain_i_ends_in_label_i_and_sees_all_others(small, few_trees):
    chains = LClassifierChains(few_trees, threshold=0.5, random_state=0).fit(small.X, small.y)
    np.testing.assert_array_equal(chains.orders_[:, -1], np.arange(4))
    for order, links in zip(chains.orders_, chains.estimators_, strict=True):
        assert sorted(order) == [0, 1, 2, 3]
        assert links[-1].n_features_in_ == 8 + 3


def test_importance_matrix_equals_the_listing(small, few_trees):
    chains = LClassifierChains(few_trees, threshold=0.5, random_state=0).fit(small.X, small.y)
    expected = np.zeros((4, 8 + 4))
    for last, (order, links) in enumerate(zip(chains.orders_, chains.estimators_, strict=True)):
        for place, (label, link) in enumerate(zip(order, links, strict=True)):
            importance = np.mean(
                [t.tree_.compute_feature_importances(normalize=False) for t in link.estimators_], axis=0
            )
            expected[label, :8] += importance[:8]
            if place == 3:
                assert label == last
                expected[label, 8 + order[:3]] = importance[8:]
    expected[:, :8] /= 4
    np.testing.assert_allclose(chains.importances_, expected)


def test_the_diagonal_of_the_label_part_is_empty(small, few_trees):
    chains = LClassifierChains(few_trees, threshold=0.5, random_state=0).fit(small.X, small.y)
    assert (np.diagonal(chains.importances_[:, 8:]) == 0).all()
    assert (chains.importances_[:, 8:][~np.eye(4, dtype=bool)] > 0).all()


def test_label_columns_are_right_for_ten_and_more_labels():
    random = np.random.RandomState(0)
    Y = random.randint(0, 2, (150, 12))
    Y[:, 11] = Y[:, 2]
    forest = RandomForestClassifier(10, max_features=None)
    chains = LClassifierChains(forest, threshold=0.5, random_state=0).fit(random.rand(150, 3), Y)
    labels = chains.importances_[:, 3:]
    assert labels[2].argmax() == 11
    assert labels[11].argmax() == 2


def test_copied_labels_explain_each_other_and_independent_ones_do_not():
    random = np.random.RandomState(1)
    X = random.standard_normal((300, 4))
    copied = np.repeat(random.randint(0, 2, (300, 1)), 3, axis=1)
    independent = (X[:, :3] > 0).astype(int)
    forest = RandomForestClassifier(30, max_features=None)
    assert (LClassifierChains(forest, threshold=0.5, random_state=0).fit(X, copied).label_share_ > 0.99).all()
    assert (LClassifierChains(forest, threshold=0.5, random_state=0).fit(X, independent).label_share_ < 0.01).all()


def test_votes_and_batch_threshold_follow_the_listing(small, few_trees):
    Y = dense(small)
    chains = LClassifierChains(few_trees, combine="votes", threshold="batch", random_state=0).fit(small.X[:80], Y[:80])
    votes = np.zeros((40, 4), dtype=int)
    for order, links in zip(chains.orders_, chains.estimators_, strict=True):
        votes += chain_probabilities(order, links, small.X[80:]) >= 0.5
    np.testing.assert_array_equal(chains.predict_proba(small.X[80:]), votes / 4)
    cardinality = Y[:80].sum(axis=1).mean()
    distance = [abs((votes >= t).sum(axis=1).mean() - cardinality) for t in range(1, 5)]
    np.testing.assert_array_equal(chains.predict(small.X[80:]), votes >= 1 + int(np.argmin(distance)))
    assert chains.threshold_ is None


def test_a_prediction_does_not_depend_on_the_other_rows(small, tree):
    ensemble = EnsembleOfChains(tree, combine="votes", random_state=0).fit(small.X, small.y)
    together = ensemble.predict(small.X[:20]).toarray()
    alone = np.vstack([ensemble.predict(small.X[i : i + 1]).toarray() for i in range(20)])
    np.testing.assert_array_equal(together, alone)
    assert ensemble.threshold_ in {0.25, 0.5, 0.75, 1.0}


def test_each_chain_of_an_ensemble_sees_its_share_of_the_rows(small, tree):
    ensemble = EnsembleOfChains(tree, n_chains=6, max_samples=0.67, threshold=0.5, random_state=0)
    ensemble.fit(small.X, small.y)
    assert ensemble.orders_.shape == (6, 4)
    assert {link.tree_.n_node_samples[0] for links in ensemble.estimators_ for link in links} == {int(120 * 0.67)}


def test_without_kept_forests_the_answers_are_the_same(small, few_trees):
    Y = dense(small)
    kept = LClassifierChains(few_trees, threshold="batch", random_state=0).fit(small.X[:80], Y[:80])
    dropped = LClassifierChains(few_trees, keep_forests=False, threshold="batch", random_state=0)
    predicted = dropped.fit_and_predict(small.X[:80], Y[:80], small.X[80:])
    np.testing.assert_array_equal(predicted, kept.predict(small.X[80:]))
    np.testing.assert_array_equal(dropped.votes_, kept.predict_proba(small.X[80:]))
    np.testing.assert_array_equal(dropped.importances_, kept.importances_)
    assert dropped.estimators_ == []
    with pytest.raises(ValueError, match="fitted with keep_forests=False and cannot predict other rows"):
        dropped.predict(small.X)


def test_chains_combine_by_mean_probabilities(small, few_trees):
    chains = LClassifierChains(few_trees, threshold=0.5, random_state=0).fit(small.X, small.y)
    expected = np.mean(
        [chain_probabilities(o, links, small.X) for o, links in zip(chains.orders_, chains.estimators_, strict=True)],
        axis=0,
    )
    np.testing.assert_allclose(chains.predict_proba(small.X), expected)


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_jobs_do_not_change_anything(small, few_trees, n_jobs):
    serial = LClassifierChains(few_trees, threshold=0.5, random_state=0).fit(small.X, small.y)
    parallel = LClassifierChains(few_trees, threshold=0.5, random_state=0, n_jobs=n_jobs).fit(small.X, small.y)
    np.testing.assert_array_equal(parallel.importances_, serial.importances_)
    np.testing.assert_array_equal(parallel.predict_proba(small.X), serial.predict_proba(small.X))


def test_learners_without_trees_give_what_they_have(small):
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier

    Y = dense(small)
    linear = LogisticRegression().fit(small.X, Y[:, 0])
    np.testing.assert_array_equal(raw_importances(linear, 8), np.abs(linear.coef_[0]))
    assert np.isnan(raw_importances(KNeighborsClassifier().fit(small.X, Y[:, 0]), 8)).all()


def test_planted_features_are_found():
    first = make_multilabel(200, n_features=50, n_labels=5, correlation=0.1, signal=5.0, random_state=0)
    total = np.zeros((5, 55))
    for seed in range(2):
        data = make_multilabel(200, truth=first.truth, correlation=0.1, signal=5.0, random_state=seed)
        forest = RandomForestClassifier(20)
        total += LClassifierChains(forest, threshold=0.5, random_state=seed).fit(data.X, data.y).importances_
    hits = sum(first.truth[np.argsort(-row[:50])[:10], label].sum() for label, row in enumerate(total))
    assert hits / (0.2 * 50 * 5) >= 0.575


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"threshold": "half"}, "'threshold' parameter of LClassifierChains must be one of 'f1', 'cardinality'"),
        ({"threshold": 1.5}, "'threshold' parameter of LClassifierChains must be a number in"),
        ({"threshold": [0.5, 0.5]}, "of LClassifierChains must be one number from 0 to 1, or one per label"),
        ({"combine": "sum"}, "'combine' parameter of LClassifierChains must be one of 'votes', 'mean'"),
        ({"keep_forests": "no"}, "'keep_forests' parameter of LClassifierChains must be a bool"),
    ],
)
def test_bad_parameters_are_refused_by_name(small, tree, bad, message):
    with pytest.raises(ValueError, match=message):
        LClassifierChains(tree, **bad).fit(small.X, small.y)


def test_a_base_that_is_no_classifier_is_refused(small):
    with pytest.raises(TypeError, match="'estimator' parameter of EnsembleOfChains must be a classifier"):
        EnsembleOfChains("forest").fit(small.X, small.y)


def test_ranking_holds_the_feature_part_of_the_matrix(small, few_trees):
    chains = LClassifierChains(few_trees, threshold=0.5, random_state=0).fit(small.X, small.y)
    np.testing.assert_allclose(chains.ranking_.scores, chains.importances_[:, :8].mean(axis=0))
    np.testing.assert_allclose(chains.ranking_.per_label.toarray(), chains.importances_[:, :8].T)
    assert len(chains.scores_) == 8


def test_progress_goes_to_standard_error_only_when_asked(small, few_trees, capsys):
    quiet = LClassifierChains(few_trees, threshold=0.5, random_state=0).fit(small.X, small.y)
    assert capsys.readouterr() == ("", "")
    told = LClassifierChains(few_trees, threshold=0.5, random_state=0, verbose=1).fit(small.X, small.y)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Fitting: 4 of 4" in shown.err
    np.testing.assert_array_equal(told.importances_, quiet.importances_)


def test_two_classes_have_one_row_of_importances(small, few_trees):
    kind = np.where(small.X[:, 0] > 1, "high", "low")
    chains = LClassifierChains(few_trees, random_state=0).fit(small.X, kind)
    frame = chains.importance_frame()
    assert list(frame.index) == ["low"]
    assert frame.iloc[0].idxmax() == "x0"
    assert chains.ranking_.label_names == ("low",)


def test_a_second_fit_forgets_the_votes_of_the_first():
    data = make_multilabel(40, n_features=4, n_labels=2, random_state=0)
    chains = LClassifierChains(RandomForestClassifier(3), threshold=0.5, random_state=0)
    chains.fit_and_predict(data.X, data.y, data.X[:5])
    assert chains.votes_.shape == (5, 2)
    assert not hasattr(chains.fit(data.X, data.y), "votes_")
