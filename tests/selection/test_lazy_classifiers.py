import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline

from ramify.datasets import make_feature_hierarchy
from ramify.selection import HierarchicalSelector, LazyNaiveBayes, LazyNeighbors, LazySelector


def slow_naive_bayes(X, y, row, mask):
    classes = np.unique(y)
    joint = []
    for c in classes:
        members = X[y == c]
        p = (len(members) + 1) / (len(y) + len(classes))
        for f in np.flatnonzero(mask):
            p *= (np.sum(members[:, f] == row[f]) + 1) / (len(members) + 2)
        joint.append(p)
    return np.array(joint) / sum(joint)


def slow_neighbors(X, y, row, mask, k):
    classes = np.unique(y)
    if not mask.any():
        return np.array([np.mean(y == c) for c in classes])
    distances = [sum(x[f] != row[f] for f in np.flatnonzero(mask)) for x in X]
    limit = sorted(distances)[k - 1]
    near = y[np.array(distances) <= limit]
    votes = np.array([np.sum(near == c) + 1 / len(y) for c in classes])
    return votes / votes.sum()


@pytest.mark.parametrize("method", ["rpv", "hip", "mr", "negative"])
def test_classifiers_equal_their_slow_references(random_problem, method):
    for seed in range(6):
        hierarchy, X, y = random_problem(seed)
        train, test = slice(0, 20), slice(20, 30)
        selector = LazySelector(hierarchy, method=method)
        masks = selector.fit(X[train], y[train]).selection_mask(X[test]).toarray()
        bayes = LazyNaiveBayes(selector).fit(X[train], y[train]).predict_proba(X[test])
        for k in (1, 3):
            near = LazyNeighbors(selector, n_neighbors=k).fit(X[train], y[train]).predict_proba(X[test])
            for i, (row, mask) in enumerate(zip(X[test], masks, strict=True)):
                np.testing.assert_allclose(near[i], slow_neighbors(X[train], y[train], row, mask, k))
                np.testing.assert_allclose(bayes[i], slow_naive_bayes(X[train], y[train], row, mask))


def test_without_a_selector_all_features_count(random_problem):
    _, X, y = random_problem(4)
    everything = np.ones(X.shape[1], dtype=bool)
    bayes, near = LazyNaiveBayes().fit(X, y), LazyNeighbors().fit(X, y)
    for row in X[:5]:
        np.testing.assert_allclose(bayes.predict_proba(row[None])[0], slow_naive_bayes(X, y, row, everything))
        np.testing.assert_allclose(near.predict_proba(row[None])[0], slow_neighbors(X, y, row, everything, 1))
    flat = np.repeat([0, 1], len(X) // 2)
    reference = BernoulliNB(alpha=1.0).fit(X, flat).predict_proba(X)
    np.testing.assert_allclose(LazyNaiveBayes().fit(X, flat).predict_proba(X), reference)


def test_empty_selections_predict_the_prior(random_problem):
    hierarchy, X, _ = random_problem(2)
    y = np.array(["no"] * 20 + ["yes"] * 10)
    nothing = np.zeros((1, X.shape[1]), dtype=int)
    selector = LazySelector(hierarchy)
    np.testing.assert_allclose(LazyNaiveBayes(selector).fit(X, y).predict_proba(nothing), [[21 / 32, 11 / 32]])
    np.testing.assert_allclose(LazyNeighbors(selector).fit(X, y).predict_proba(nothing), [[2 / 3, 1 / 3]])
    assert LazyNaiveBayes(selector).fit(X, y).predict(nothing).tolist() == ["no"]


def test_no_column_at_all_predicts_the_prior():
    y = np.array([0, 0, 0, 1])
    nothing = np.zeros((4, 0))
    np.testing.assert_allclose(LazyNaiveBayes().fit(nothing, y).predict_proba(nothing)[0], [4 / 6, 2 / 6])
    np.testing.assert_allclose(LazyNeighbors().fit(nothing, y).predict_proba(nothing)[0], [3 / 4, 1 / 4])


def test_probabilities_sum_to_one_for_sparse_rows(random_problem):
    hierarchy, X, y = random_problem(3)
    for classifier in (LazyNaiveBayes(LazySelector(hierarchy)), LazyNeighbors(LazySelector(hierarchy, method="mr"))):
        found = classifier.fit(sparse.csr_array(X), y).predict_proba(sparse.csc_array(X))
        np.testing.assert_allclose(found.sum(axis=1), 1.0)
        np.testing.assert_allclose(found, classifier.fit(X, y).predict_proba(X))


def test_test_rows_never_reach_the_selector(random_problem):
    hierarchy, X, y = random_problem(5)
    fitted = LazyNaiveBayes(LazySelector(hierarchy)).fit(X[:20], y[:20])
    alone = np.concatenate([fitted.predict_proba(row[None]) for row in X[20:]])
    np.testing.assert_allclose(fitted.predict_proba(X[20:]), alone)


def test_cross_validation_grid_search_and_pipelines_work(random_problem):
    hierarchy, X, y = random_problem(6)
    classifier = LazyNaiveBayes(LazySelector(hierarchy))
    assert cross_val_score(classifier, X, y, cv=3).shape == (3,)
    search = GridSearchCV(classifier, {"selector__method": ["rpv", "hip"]}, cv=3).fit(X, y)
    assert search.best_params_["selector__method"] in {"rpv", "hip"}
    pipeline = make_pipeline(HierarchicalSelector(hierarchy, method="gtd"), LazyNeighbors(n_neighbors=3))
    assert cross_val_score(pipeline, X, y, cv=3).shape == (3,)


def test_closing_selectors_close_the_rows_they_predict(random_problem):
    hierarchy, X, y = random_problem(7)
    broken = X.copy()
    broken[:, hierarchy.index(hierarchy.roots[0])] = 0
    repaired = LazyNaiveBayes(LazySelector(hierarchy, close=True)).fit(broken, y).predict_proba(broken)
    closed = hierarchy.close(broken)
    np.testing.assert_allclose(repaired, LazyNaiveBayes(LazySelector(hierarchy)).fit(closed, y).predict_proba(closed))


def test_bad_input_is_refused_in_words(random_problem):
    hierarchy, X, y = random_problem(1)
    with pytest.raises(ValueError, match="'n_neighbors' parameter of LazyNeighbors must be an int >= 1. Got 0"):
        LazyNeighbors(n_neighbors=0).fit(X, y)
    with pytest.raises(ValueError, match="n_neighbors is 31 and there are 30 training rows"):
        LazyNeighbors(n_neighbors=31).fit(X, y)
    with pytest.raises(ValueError, match="LazyNaiveBayes takes one class per row"):
        LazyNaiveBayes(LazySelector(hierarchy)).fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="must be binary"):
        LazyNaiveBayes().fit(X * 2, y)


def test_the_sheet_of_a_row_adds_up_to_the_predicted_odds():
    data = make_feature_hierarchy(120, strength=0.6, random_state=0)
    for selector in (None, LazySelector(data.feature_hierarchy), LazySelector(data.feature_hierarchy, method="hip")):
        model = LazyNaiveBayes(selector).fit(data.X, data.y)
        row = data.X[[3]]
        sheet = model.explain(row)
        chances = np.sort(model.predict_proba(row)[0])
        assert sheet["log_odds"].sum() == pytest.approx(np.log(chances[-1] / chances[-2]))
        shown = sheet["log_odds"].abs().to_numpy()[1:]
        assert (np.diff(shown) <= 0).all()
        back = model.explain(row, of=model.classes_[1], against=model.classes_[0])
        forth = model.explain(row, of=model.classes_[0], against=model.classes_[1])
        assert back["log_odds"].sum() == pytest.approx(-forth["log_odds"].sum())
    named = LazyNaiveBayes(LazySelector(data.feature_hierarchy, method="positive")).fit(data.X, data.y)
    called = dict.fromkeys(data.feature_hierarchy.names, "growth")
    assert set(named.explain(data.X[[3]], names=called)["feature"]) == {"(prior)", "growth"}
    with pytest.raises(ValueError, match="There is no class 'none'; the classes are"):
        named.explain(data.X[[3]], of="none")
    with pytest.raises(ValueError, match="explain takes one row. Got 2"):
        named.explain(data.X[:2])


@pytest.mark.parametrize("explains", [LazySelector, lambda order: LazyNaiveBayes(LazySelector(order))])
def test_a_row_is_explained_in_every_form_that_indexing_gives(explains):
    data = make_feature_hierarchy(40, random_state=0)
    frame = pd.DataFrame(data.X.toarray(), columns=list(data.feature_names))
    model = explains(data.feature_hierarchy).fit(frame, data.y)
    expected = model.explain(frame.iloc[[3]])
    for row in (frame.iloc[3], pl.from_pandas(frame)[3]):
        pd.testing.assert_frame_equal(model.explain(row), expected)
    X = sparse.csr_array(data.X)
    model.fit(X, data.y)
    for row in (X[3], X[3].tocoo(), X[[3]], sparse.csr_matrix(X)[3], X.toarray()[3], X.toarray()[3].tolist()):
        pd.testing.assert_frame_equal(model.explain(row), expected)
