"""Estimators compared over the folds of one data set: folds, the corrected test, its error rate, the verdict."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import RepeatedStratifiedKFold, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from ramify import ForestClassifier
from ramify.compare import corrected_t, methods
from ramify.datasets import make_hierarchical, make_multilabel


@pytest.fixture
def classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    return X, np.array(["no", "yes"])[(X[:, 0] + 0.3 * rng.normal(size=120) > 0).astype(int)]


def test_the_corrected_test_is_nadeaus_and_bengios():
    rng = np.random.default_rng(0)
    differences, ratio = rng.normal(0.1, 0.2, 10), 0.25
    test = corrected_t(differences, ratio=ratio)
    slow = differences.mean() / np.sqrt((1 / 10 + ratio) * np.sum((differences - differences.mean()) ** 2) / 9)
    assert test.statistic == pytest.approx(slow)
    assert test.p_value == pytest.approx(2 * (1 - stats.t.cdf(abs(slow), 9)))
    plain = stats.ttest_1samp(differences, 0)
    assert corrected_t(differences, ratio=1e-12).p_value == pytest.approx(plain.pvalue)
    assert (test.low, test.high) == pytest.approx((test.mean - (test.high - test.mean), test.high))
    assert stats.t.cdf(slow * test.high / test.mean, 9) - stats.t.cdf(slow, 9) <= 1


def test_the_interval_holds_zero_exactly_where_the_test_does_not_reject():
    rng = np.random.default_rng(1)
    for _ in range(50):
        test = corrected_t(rng.normal(0.1, 0.2, 8), ratio=0.1, level=0.9)
        assert (test.low <= 0 <= test.high) == (test.p_value >= 0.1)


def test_equal_folds_are_no_difference_and_a_constant_one_is():
    assert corrected_t([0, 0, 0], ratio=0.5).p_value == 1.0
    assert corrected_t([0.1, 0.1, 0.1], ratio=0.5).p_value == 0.0


def false_claims(n_runs, n_repeats):
    """How often two trees that differ by their seed alone are told apart, by the corrected and the plain test."""
    corrected = plain = 0
    for seed in range(n_runs):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(80, 6))
        y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
        trees = {str(s): DecisionTreeClassifier(max_features=1, random_state=s + 2 * seed) for s in range(2)}
        found = methods(X, y, trees, cv=5, n_repeats=n_repeats, random_state=seed)
        corrected += found.pairs["p_value"][0] <= 0.05
        plain += stats.ttest_1samp(found.folds["0"] - found.folds["1"], 0).pvalue <= 0.05
    return corrected / n_runs, plain / n_runs


@pytest.mark.hostile
def test_equal_methods_are_seldom_told_apart_however_often_the_folds_are_repeated():
    corrected, plain = false_claims(60, n_repeats=4)
    assert corrected <= 0.1
    assert plain > corrected


@pytest.mark.slow
def test_the_error_rate_is_at_most_the_level():
    corrected, _ = false_claims(1000, n_repeats=10)
    assert corrected <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1000)


def test_the_better_method_is_found_and_the_verdict_says_so(classes):
    estimators = {"guess": DummyClassifier(), "mine": make_pipeline(StandardScaler(), LogisticRegression())}
    found = methods(*classes, estimators, cv=5)
    row = found.pairs.iloc[0]
    assert (row["first"], row["second"], row["verdict"]) == ("mine", "guess", "mine is better")
    assert row["low"] > 0
    assert row["effect"] > 1
    assert found.verdict.startswith("By accuracy_score, mine is better than guess (mine: mean 0.")
    assert list(found.to_frame().index) == ["mine", "guess"]
    assert "mine" in found._repr_html_()


def test_what_cannot_be_told_apart_is_said_so(classes):
    found = methods(*classes, {"a": LogisticRegression(), "b": LogisticRegression(C=0.9)}, cv=5)
    assert found.pairs["verdict"].tolist() == ["cannot be told apart"]
    assert "cannot be told apart from" in found.verdict


@pytest.mark.parametrize("measure", ["neg_log_loss", "log_loss", "roc_auc_score", "f1_macro", "brier_score_loss"])
def test_measures_are_named_as_scikit_learn_does_and_point_their_way(classes, measure):
    X, y = classes
    y = (y == "yes").astype(int)
    found = methods(X, y, {"guess": DummyClassifier(strategy="uniform"), "bayes": GaussianNB()}, measure=measure, cv=4)
    assert found.pairs["first"][0] == "bayes"
    assert found.measure == measure


def test_rows_of_a_group_stay_together_in_every_repetition():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(20), 6)
    X = np.column_stack([groups + 0.01 * rng.normal(size=120), rng.normal(size=120)])
    y = rng.permutation(20)[groups] % 2  # nothing but the group tells the class
    tree = {"tree": DecisionTreeClassifier(), "guess": DummyClassifier()}
    apart = methods(X, y, tree, cv=5)
    together = methods(X, y, tree, cv=5, n_repeats=3, row_groups=groups)
    assert apart.folds["tree"].mean() > 0.95
    assert together.folds["tree"].mean() < 0.8
    assert len(together.folds) == 15
    numbers = methods(X, y.astype(float) + X[:, 1], {"r": Ridge(), "m": DummyRegressor()}, row_groups=groups, cv=4)
    assert (len(numbers.folds), numbers.measure) == (4, "r2_score")


def test_splitters_are_taken_and_those_that_divide_groups_refused(classes):
    X, y = classes
    two = {"a": DummyClassifier(), "b": GaussianNB()}
    splitter = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    assert len(methods(X, y, two, cv=splitter).folds) == 6
    with pytest.raises(ValueError, match="ShuffleSplit divides groups of rows; take GroupKFold or a number of folds"):
        methods(X, y, two, cv=ShuffleSplit(3, random_state=0), row_groups=np.arange(120) // 3)


def test_label_sets_and_hierarchies_of_frames_and_sparse_matrices():
    data = make_multilabel(80, n_labels=4, random_state=0)
    few = {"one": ForestClassifier(1), "ten": ForestClassifier(10)}
    expected = methods(data.X, data.y, few, cv=3)
    assert expected.measure == "auprc"
    dense = methods(pd.DataFrame(data.X), pd.DataFrame(data.y.toarray()), few, cv=3)
    np.testing.assert_allclose(dense.folds, expected.folds)
    tree = make_hierarchical(80, depth=2, random_state=0)
    forests = {n: ForestClassifier(k, hierarchy=tree.hierarchy) for n, k in (("one", 1), ("ten", 10))}
    assert len(methods(sparse.csr_array(tree.X), tree.y, forests, cv=3, n_jobs=2).folds) == 3


def test_processes_and_a_second_call_change_nothing(classes):
    two = {"a": DecisionTreeClassifier(max_features=1), "b": GaussianNB()}
    first = methods(*classes, two, cv=3)
    pd.testing.assert_frame_equal(methods(*classes, two, cv=3, n_jobs=2).folds, first.folds)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"estimators": {"a": GaussianNB()}}, ValueError, "a dict of at least two estimators"),
        ({"estimators": {"a": GaussianNB(), "b": 1}}, TypeError, "'b' must be an estimator of scikit-learn's kind"),
        ({"measure": lambda y, p: 0.0}, ValueError, "Nothing says whether larger values"),
        ({"measure": "nonsense"}, ValueError, "There is no measure 'nonsense'"),
        ({"row_groups": [1, 2]}, ValueError, r"one group per row \(120\). Got shape \(2,\)"),
        ({"cv": 1}, ValueError, "'cv' parameter of methods must be an int >= 2"),
    ],
)
def test_bad_input_is_refused_in_words(classes, change, error, words):
    given = {"estimators": {"a": GaussianNB(), "b": DummyClassifier()}} | change
    with pytest.raises(error, match=words):
        methods(*classes, **given)


def test_a_test_needs_two_finite_folds():
    with pytest.raises(ValueError, match="finite differences of at least two folds"):
        corrected_t([0.1], ratio=0.1)
