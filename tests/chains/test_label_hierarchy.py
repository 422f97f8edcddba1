"""Binary relevance and label powersets whose labels form a hierarchy."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import ramify
from ramify.chains import BinaryRelevance, LabelPowerset
from ramify.chains.links import link_probability
from ramify.datasets import make_hierarchical
from ramify.ensemble import ForestClassifier


@pytest.fixture(scope="module")
def data():
    return make_hierarchical(200, n_features=12, depth=2, width=2, random_state=0)


def cut_down(scores, hierarchy):
    """The smallest score of a label and all its ancestors."""
    found = scores.copy()
    for column, name in enumerate(hierarchy.names):
        above = [hierarchy.index(other) for other in hierarchy.ancestors(name)]
        found[:, column] = scores[:, [column, *above]].min(axis=1)
    return found


def test_scores_of_binary_relevance_are_cut_down_to_those_above(data):
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    model = BinaryRelevance(tree, hierarchy=data.hierarchy, random_state=0).fit(data.X, data.y)
    alone = np.column_stack([link_probability(link, data.X) for link in model.estimators_])
    expected = cut_down(alone, data.hierarchy)
    assert (alone > expected).any()
    np.testing.assert_array_equal(model.predict_proba(data.X), expected)
    np.testing.assert_array_equal(model.predict(data.X).toarray(), expected >= 0.5)


@pytest.mark.parametrize("make", [BinaryRelevance, LabelPowerset])
@pytest.mark.parametrize("threshold", [0.3, "cardinality", "density", "f1"])
def test_predicted_label_sets_are_closed(data, make, threshold):
    model = make(ForestClassifier(10), hierarchy=data.hierarchy, threshold=threshold, random_state=0)
    sets = model.fit(data.X, data.y).predict(data.X)
    assert len(data.hierarchy.violations(sets)) == 0
    scores = model.predict_proba(data.X)
    np.testing.assert_allclose(scores, cut_down(scores, data.hierarchy), atol=1e-12)


@pytest.mark.parametrize("make", [BinaryRelevance, LabelPowerset])
def test_what_is_given_need_not_be_closed(data, make):
    """Only the most specific labels, as a frame in another order and without the labels that nothing is below."""
    specific = pd.DataFrame(data.hierarchy.most_specific(data.y).toarray(), columns=list(data.hierarchy.names))
    whole = make(ForestClassifier(10), hierarchy=data.hierarchy, random_state=0).fit(data.X, data.y)
    again = make(ForestClassifier(10), hierarchy=data.hierarchy, random_state=0).fit(data.X, specific.iloc[:, ::-1])
    np.testing.assert_array_equal(whole.predict_proba(data.X), again.predict_proba(data.X))
    assert whole.label_names_ == again.label_names_ == data.hierarchy.names


def test_the_classes_of_a_powerset_are_closed_label_sets(data):
    specific = data.hierarchy.most_specific(data.y)
    model = LabelPowerset(ForestClassifier(10), hierarchy=data.hierarchy, random_state=0).fit(data.X, specific)
    np.testing.assert_array_equal(model.label_sets_, np.unique(data.y.toarray(), axis=0))
    assert len(data.hierarchy.violations(model.predict(data.X))) == 0


@pytest.mark.parametrize("make", [BinaryRelevance, LabelPowerset])
def test_saved_and_loaded_they_are_the_same(data, make, tmp_path):
    model = make(ForestClassifier(10), hierarchy=data.hierarchy, random_state=0).fit(data.X, data.y)
    ramify.save(model, tmp_path / "model.ramify")
    again = ramify.load(tmp_path / "model.ramify")
    np.testing.assert_array_equal(again.predict_proba(data.X), model.predict_proba(data.X))
    assert again.hierarchy.names == data.hierarchy.names


def test_a_hierarchy_of_other_labels_is_refused(data):
    with pytest.raises(ValueError, match="columns and the hierarchy"):
        BinaryRelevance(hierarchy=data.hierarchy).fit(data.X, data.y[:, :-1])
    with pytest.raises(TypeError, match=r"hierarchy must be a ramify.Hierarchy"):
        LabelPowerset(hierarchy={"a": "b"}).fit(data.X, data.y)
