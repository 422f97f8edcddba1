"""Data sets as frames with names, as scikit-learn's functions take them."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.model_selection import GridSearchCV, cross_validate

from ramify import ForestClassifier
from ramify.chains import LClassifierChains
from ramify.datasets import Dataset, make_hierarchical, make_label_ranking, make_multilabel


def test_label_sets_keep_their_values_and_names():
    data = make_multilabel(60, n_labels=3, random_state=0)
    X, y = data.frames()
    assert tuple(y.columns) == data.label_names
    np.testing.assert_array_equal(y.to_numpy(), data.y.toarray())
    pd.testing.assert_frame_equal(X, data.to_frame())


def test_a_fit_to_frames_is_that_of_the_arrays_with_names():
    data = make_hierarchical(80, depth=2, random_state=0)
    X, y = data.frames()
    forest = ForestClassifier(10, hierarchy=data.hierarchy, random_state=0)
    expected = forest.fit(data.X, data.y).predict_proba(data.X)
    assert tuple(forest.fit(X, y).label_names_) == data.label_names
    np.testing.assert_array_equal(forest.predict_proba(X), expected)


def test_scikit_learn_splits_and_searches():
    X, y = make_multilabel(60, n_labels=3, random_state=0).frames()
    scores = cross_validate(ForestClassifier(5, random_state=0), X, y, cv=3, scoring="f1_micro")["test_score"]
    assert np.isfinite(scores).all()
    found = GridSearchCV(ForestClassifier(5, random_state=0), {"min_samples_leaf": [1, 20]}, cv=3).fit(X, y)
    assert list(found.best_estimator_.label_names_) == list(y.columns)


def test_importances_of_chains_have_the_names_of_labels():
    X, y = make_multilabel(60, n_labels=3, random_state=0).frames()
    birds = y.set_axis(["owl", "wren", "tit"], axis=1)
    frame = LClassifierChains(ForestClassifier(3), random_state=0).fit(X, birds).importance_frame()
    assert list(frame.index) == ["owl", "wren", "tit"]
    assert list(frame.columns) == [*X.columns, "owl", "wren", "tit"]


def test_classes_are_named():
    _, y = Dataset(np.eye(3), y=np.array([0, 1, 1]), target="classes", label_names=("no", "yes")).frames()
    assert y.tolist() == ["no", "yes", "yes"]


def test_ranks_and_numbers_are_frames():
    data = make_label_ranking(30, random_state=0)
    pd.testing.assert_frame_equal(data.frames()[1], pd.DataFrame(data.y, columns=list(data.label_names)))
    numbers = Dataset(np.eye(2), y=np.array([0.5, 2.0]), target="numbers", label_names=("price",))
    assert numbers.frames()[1].to_dict("list") == {"price": [0.5, 2.0]}


def test_very_many_labels_stay_sparse():
    y = sparse.csr_array((100, 600_000), dtype=np.uint8)
    names = tuple(map(str, range(600_000)))
    assert sparse.issparse(Dataset(np.eye(100), y=y, target="labels", label_names=names).frames()[1])


def test_features_alone_are_pointed_to():
    with pytest.raises(ValueError, match="no target; `to_frame"):
        Dataset(np.eye(2)).frames()
