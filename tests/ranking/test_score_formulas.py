"""Every score of forests equals its formula, for every kind of target and of features."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from tests.ranking import forest_reference as reference

from ramify.datasets import make_hierarchical, make_label_ranking, make_multilabel
from ramify.ensemble import ForestClassifier, ForestRegressor, LabelRankingForest
from ramify.ranking import forest_ranking
from ramify.targets.rankings import pair_signs

N_ROWS = 90


def hierarchical(extra_parents=0.0, changed=False, is_sparse=False, weighted=False):
    made = make_hierarchical(
        N_ROWS,
        n_features=12,
        depth=2,
        extra_parents=extra_parents,
        density=0.3 if is_sparse else None,
        missing=0.1 if changed else 0.0,
        random_state=2,
    )
    X, nominal = with_categories(made.X) if changed else (made.X, None)
    forest = partial(ForestClassifier, hierarchy=made.hierarchy, categorical_features=nominal)
    Y = made.y.toarray().astype(float)
    return forest, X, made.y, (Y, made.hierarchy.weights, "auprc"), weights() if weighted else None


def many_columns():
    """Enough columns of two values, and of few other values than zero, for the table to know them by row."""
    made = make_hierarchical(N_ROWS, n_features=80, depth=2, density=0.3, random_state=2)
    random = np.random.RandomState(7)
    counts = sparse.csc_array(random.randint(1, 4, (N_ROWS, 80)) * (random.random_sample((N_ROWS, 80)) < 0.1) * 1.0)
    Y = made.y.toarray().astype(float)
    forest = partial(ForestClassifier, hierarchy=made.hierarchy)
    return forest, sparse.hstack([made.X, counts], format="csc"), made.y, (Y, made.hierarchy.weights, "auprc"), None


def label_sets():
    made = make_multilabel(N_ROWS, n_features=12, n_labels=5, random_state=3)
    Y = np.asarray(made.y.todense() if sparse.issparse(made.y) else made.y, dtype=float)
    return ForestClassifier, made.X, Y, (Y, np.ones(Y.shape[1]), "auprc"), None


def classes(changed=False, weighted=False):
    X = np.random.RandomState(4).standard_normal((N_ROWS, 8))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] + 0.5 * X[:, 2] > 0)
    X, nominal = with_categories(X, missing=0.1) if changed else (X, None)
    forest = partial(ForestClassifier, categorical_features=nominal)
    return forest, X, y, (np.eye(3)[y], np.ones(3), "misclassification"), weights() if weighted else None


def numbers(n_targets=1, changed=False):
    random = np.random.RandomState(5)
    X = random.standard_normal((N_ROWS, 8))
    Y = X[:, :n_targets] * 10.0 ** np.arange(n_targets) + X[:, 2:3] + 0.1 * random.standard_normal((N_ROWS, n_targets))
    X, nominal = with_categories(X, missing=0.1) if changed else (X, None)
    target_weight = np.arange(1.0, n_targets + 1)
    forest = partial(ForestRegressor, categorical_features=nominal, target_weight=target_weight)
    standardised = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    return forest, X, Y, (standardised, target_weight, "squared"), None


def rankings(changed=False):
    made = make_label_ranking(N_ROWS, n_features=8, n_labels=4, noise=0.1, random_state=6)
    X, nominal = with_categories(made.X, missing=0.1) if changed else (made.X, None)
    forest = partial(LabelRankingForest, categorical_features=nominal)
    ranks = np.asarray(made.y, dtype=float)
    signs = pair_signs(ranks).astype(float)
    return forest, X, made.y, (signs, np.full(signs.shape[1], 1 / signs.shape[1]), "tau", ranks), None


def with_categories(X, missing=0.0):
    """Every third column nominal, and some cells missing."""
    X = np.array(X)
    X[:, ::3] = np.round(X[:, ::3])
    X[np.random.RandomState(0).random_sample(X.shape) < missing] = np.nan
    return X, np.arange(0, X.shape[1], 3)


def weights():
    return np.random.RandomState(1).choice([0.0, 0.5, 1.0, 2.0], size=N_ROWS)


CASES = {
    "tree": hierarchical,
    "DAG": partial(hierarchical, extra_parents=0.6),
    "tree, nominal and missing": partial(hierarchical, changed=True),
    "DAG, nominal and missing": partial(hierarchical, extra_parents=0.6, changed=True),
    "DAG, sparse": partial(hierarchical, extra_parents=0.6, is_sparse=True),
    "tree, many columns known by row": many_columns,
    "tree, weighted rows": partial(hierarchical, weighted=True),
    "label sets": label_sets,
    "classes": classes,
    "classes, nominal and missing": partial(classes, changed=True),
    "classes, weighted rows": partial(classes, weighted=True),
    "number": numbers,
    "numbers, nominal and missing": partial(numbers, n_targets=2, changed=True),
    "rankings": rankings,
    "rankings, nominal and missing": partial(rankings, changed=True),
}
ENSEMBLES = {
    "bagging": {"max_features": None},
    "random forests": {"max_features": "sqrt"},
    "extra trees": {"splitter": "random", "bootstrap": False},
    "oblique forests": {"oblique": 3},
    "oblique extra trees": {"splitter": "random", "bootstrap": False, "oblique": 2},
}


def coded(forest, X):
    """Features as the forest sees them: dense, nominal columns as codes."""
    X = np.array(X.toarray() if sparse.issparse(X) else X, dtype=float)
    for j, values in enumerate(forest.categories_ if forest.categories_ is not None else ()):
        if values is not None:
            known = ~np.isnan(X[:, j])
            X[known, j] = [values.tolist().index(value) for value in X[known, j].tolist()]
    return X


def grown(case, options):
    make, X, y, target, sample_weight = CASES[case]()
    forest = make(3, min_samples_leaf=2, random_state=0, **options).fit(X, y, sample_weight)
    data = reference.Data(coded(forest, X), *target, sample_weight=sample_weight)
    return forest, X, y, data


def per_output(ranking, data):
    """Scores per label; of rankings those of the pairs, which come after the labels."""
    return ranking.per_label.toarray()[:, 0 if data.ranks is None else data.ranks.shape[1] :]


@pytest.mark.parametrize("ensemble", ENSEMBLES)
@pytest.mark.parametrize("case", CASES)
def test_genie3_and_symbolic_equal_the_formulas(case, ensemble):
    forest, _, _, data = grown(case, ENSEMBLES[ensemble])
    found = forest_ranking(forest, ["symbolic", "genie3"])
    expected = reference.genie3(forest, data)
    np.testing.assert_allclose(found["symbolic"].scores, reference.symbolic(forest, data), atol=1e-12)
    np.testing.assert_allclose(per_output(found["genie3"], data), expected, atol=1e-12)
    np.testing.assert_allclose(found["genie3"].scores, expected.sum(axis=1), atol=1e-12)


@pytest.mark.parametrize("ensemble", ["bagging", "random forests", "oblique forests"])
@pytest.mark.parametrize("case", CASES)
def test_out_of_bag_genie3_equals_the_formula(case, ensemble):
    forest, X, y, data = grown(case, ENSEMBLES[ensemble])
    found = forest_ranking(forest, "genie3_oob", X, y, sample_weight=data.sample_weight)
    expected = reference.genie3_oob(forest, data)
    np.testing.assert_allclose(per_output(found, data), expected, atol=1e-12)
    np.testing.assert_allclose(found.scores, expected.sum(axis=1), atol=1e-12)


@pytest.mark.parametrize("ensemble", ["bagging", "random forests", "oblique forests"])
@pytest.mark.parametrize("case", CASES)
def test_permutation_equals_the_formula(case, ensemble):
    forest, X, y, data = grown(case, ENSEMBLES[ensemble])
    found = forest_ranking(forest, "permutation", X, y, sample_weight=data.sample_weight)
    scores, brier = reference.permutation(forest, data)
    assert np.any(scores)
    np.testing.assert_allclose(found.scores, scores, atol=1e-12)
    assert np.any(brier)
    np.testing.assert_allclose(per_output(found, data), brier, atol=1e-12)


@pytest.mark.parametrize("error", ["brier", "hamming"])
@pytest.mark.parametrize("case", ["DAG, nominal and missing", "tree, weighted rows", "label sets", "classes"])
def test_permutation_by_another_error_equals_the_formula(case, error):
    forest, X, y, data = grown(case, ENSEMBLES["random forests"])
    options = {"sample_weight": data.sample_weight, "error": error}
    if (case, error) == ("classes", "hamming"):
        with pytest.raises(
            ValueError, match="of classes knows no error 'hamming': classes take 'misclassification' or"
        ):
            forest_ranking(forest, "permutation", X, y, **options)
        return
    found = forest_ranking(forest, "permutation", X, y, **options)
    scores, brier = reference.permutation(forest, replace(data, error=error))
    assert np.any(scores)
    np.testing.assert_allclose(found.scores, scores, atol=1e-12)
    np.testing.assert_allclose(per_output(found, data), brier, atol=1e-12)


def test_an_error_that_nothing_measures_is_refused():
    forest, X, y, _ = grown("number", ENSEMBLES["bagging"])
    with pytest.raises(ValueError, match="numbers have one error only; leave it out"):
        forest_ranking(forest, "permutation", X, y, error="brier")
    with pytest.raises(ValueError, match="what the score 'permutation' measures; it is not among"):
        forest_ranking(forest, "genie3", X, y, error="brier")
    with pytest.raises(ValueError, match="'error' parameter of forest_ranking must be one of 'auprc', 'brier'"):
        forest_ranking(forest, "permutation", X, y, error="f1")
