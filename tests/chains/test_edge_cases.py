"""Every label-set classifier on awkward data: the same promises for all of them."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from ramify.chains import (
    BinaryRelevance,
    ClassifierChain,
    EnsembleOfChains,
    LabelPowerset,
    LClassifierChains,
    MLkNN,
    PairwiseLabels,
    RAkEL,
)
from ramify.ensemble import ForestClassifier

TREE = DecisionTreeClassifier(max_depth=4, random_state=0)
ALL = [
    BinaryRelevance(TREE, random_state=0),
    BinaryRelevance(TREE, threshold="density", random_state=0),
    LabelPowerset(TREE, random_state=0),
    LabelPowerset(TREE, threshold="cardinality", random_state=0),
    PairwiseLabels(TREE, random_state=0),
    PairwiseLabels(TREE, threshold="top", random_state=0),
    ClassifierChain(TREE, random_state=0),
    ClassifierChain(TREE, order="correlation", threshold="batch", random_state=0),
    EnsembleOfChains(TREE, random_state=0),
    LClassifierChains(TREE, random_state=0),
    RAkEL(TREE, random_state=0),
    MLkNN(n_neighbors=3),
]
every_classifier = pytest.mark.parametrize("classifier", ALL, ids=repr)


def rows(n=60, n_features=3, seed=0):
    return np.random.RandomState(seed).standard_normal((n, n_features))


@every_classifier
def test_a_label_that_all_or_no_row_has(classifier):
    X = rows()
    Y = np.column_stack([X[:, 0] > 0, np.ones(60), np.zeros(60)]).astype(int)
    probabilities = classifier.fit(X, Y).predict_proba(X)
    assert np.isfinite(probabilities).all()
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    if not isinstance(classifier, PairwiseLabels) or classifier.threshold == "calibrated":
        predicted = classifier.predict(X)
        assert (predicted[:, 1] == 1).all()
        assert (predicted[:, 2] == 0).all()


@every_classifier
def test_rows_without_labels(classifier):
    X = rows()
    Y = np.column_stack([X[:, 0] > 1, X[:, 1] > 1]).astype(int)
    assert (Y.sum(axis=1) == 0).any()
    predicted = classifier.fit(X, Y).predict(X)
    assert set(np.unique(predicted)) <= {0, 1}


@every_classifier
def test_no_labels_at_all(classifier):
    X = rows()
    assert classifier.fit(X, np.zeros((60, 3), dtype=int)).predict(X).sum() == 0


@every_classifier
def test_a_single_label(classifier):
    X = rows()
    Y = (X[:, :1] > 0).astype(int)
    classifier.fit(X, Y)
    assert classifier.predict(X).shape == (60, 1)
    if not isinstance(classifier, PairwiseLabels) or classifier.threshold == "calibrated":
        assert (classifier.predict(X) == Y).mean() > 0.9


@every_classifier
def test_a_single_feature(classifier):
    X = rows(n_features=1)
    Y = np.column_stack([X[:, 0] > 0, X[:, 0] > 1]).astype(int)
    assert classifier.fit(X, Y).predict(X).shape == (60, 2)


@every_classifier
def test_values_never_seen_in_training(classifier):
    X = rows()
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0]).astype(int)
    far = np.array([[1e9, -1e9, 0.0]])
    assert np.isfinite(classifier.fit(X, Y).predict_proba(far)).all()


@every_classifier
def test_dense_sparse_and_frame_targets_give_the_same(classifier):
    X = rows()
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0.5, X[:, 2] > 1]).astype(int)
    expected = classifier.fit(X, Y).predict(X)
    assert expected.dtype == Y.dtype
    given_sparse = classifier.fit(X, sparse.csr_array(Y)).predict(X)
    assert sparse.issparse(given_sparse)
    np.testing.assert_array_equal(given_sparse.toarray(), expected)
    named = classifier.fit(pd.DataFrame(X, columns=list("xyz")), pd.DataFrame(Y, columns=list("abc")))
    assert named.label_names_ == ("a", "b", "c")
    assert list(named.feature_names_in_) == ["x", "y", "z"]
    np.testing.assert_array_equal(named.predict(pd.DataFrame(X, columns=list("xyz"))), expected)


@every_classifier
def test_classes_in_one_dimension(classifier):
    X = rows(n=90)
    y = np.array(["low", "middle", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    classifier.fit(X, y)
    assert (classifier.predict(X) == y).mean() > 0.6
    np.testing.assert_allclose(classifier.predict_proba(X).sum(axis=1), 1)


@every_classifier
def test_same_seed_same_answer(classifier):
    X = rows()
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0]).astype(int)
    first = classifier.fit(X, Y).predict_proba(X)
    np.testing.assert_array_equal(classifier.fit(X, Y).predict_proba(X), first)


@every_classifier
def test_labels_that_are_not_0_or_1_are_refused(classifier):
    with pytest.raises(ValueError, match="Label sets must be a 0/1 matrix"):
        classifier.fit(rows(), np.tile([0, 2], (60, 1)))


@every_classifier
def test_unknown_labels_are_used_or_refused_by_name(classifier):
    X = rows()
    Y = (X[:, :2] > 0).astype(float)
    Y[3, 1] = np.nan
    takes = isinstance(classifier, (BinaryRelevance, ClassifierChain, EnsembleOfChains, LClassifierChains, MLkNN))
    if takes and getattr(classifier, "order", None) != "correlation":
        assert np.isfinite(classifier.fit(X, Y).predict_proba(X)).all()
    else:
        with pytest.raises(ValueError, match=r"takes complete targets, .* first in row 3|from complete label sets"):
            classifier.fit(X, Y)


@every_classifier
def test_other_columns_after_fit_are_refused(classifier):
    X = rows()
    classifier.fit(X, (X > 0).astype(int))
    with pytest.raises(ValueError, match="features"):
        classifier.predict(X[:, :2])


def test_classes_of_a_categorical_series():
    X = np.arange(12.0)[:, None]
    y = pd.Series(["a", "b", "c"] * 4, dtype="category")
    predicted = ClassifierChain(DecisionTreeClassifier(), random_state=0).fit(X, y).predict(X)
    assert predicted.tolist() == y.tolist()


@pytest.mark.parametrize("classifier", [BinaryRelevance, LabelPowerset, PairwiseLabels, RAkEL])
def test_forests_of_every_method_split_nominal_features_by_their_values(classifier):
    # One cut tells odd from even values only if the values are a set and not a scale.
    value = np.repeat(np.arange(6), 10)
    frame = pd.DataFrame({"kind": pd.Categorical([f"v{number}" for number in value])})
    labels = np.column_stack([value % 2, 1 - value % 2])
    forest = ForestClassifier(5, max_depth=1, random_state=0)
    predicted = classifier(forest, random_state=0).fit(frame, labels).predict(frame)
    np.testing.assert_array_equal(predicted, labels)
    named = ForestClassifier(5, max_depth=1, categorical_features=["kind"], random_state=0)
    np.testing.assert_array_equal(classifier(named, random_state=0).fit(frame, labels).predict(frame), labels)


def nominal_frame():
    # The label goes with one value in the middle of the scale: a single cut or a slope cannot tell it.
    value = np.repeat(np.arange(5), 12)
    frame = pd.DataFrame({"size": np.tile([0.0, 0.1], 30), "kind": pd.Categorical([f"v{number}" for number in value])})
    return frame, np.column_stack([value == 2, value != 2]).astype(int)


TOLD = []


class TakesNominal(DecisionTreeClassifier):
    """A foreign classifier with a parameter for nominal features, as histogram gradient boosting has."""

    def __init__(self, categorical_features="from_dtype", random_state=None):
        super().__init__(random_state=random_state)
        self.categorical_features = categorical_features

    def fit(self, X, y):
        TOLD.append(self.categorical_features)
        return super().fit(X, y)


@pytest.mark.parametrize("classifier", [BinaryRelevance, ClassifierChain, EnsembleOfChains, LClassifierChains,
                                        LabelPowerset, PairwiseLabels, RAkEL])  # fmt: skip
def test_codes_of_nominal_features_are_never_quantities_for_a_foreign_learner(classifier):
    frame, labels = nominal_frame()
    with pytest.raises(ValueError, match=r"'kind' \(column 1\) is nominal, but LogisticRegression takes numbers"):
        classifier(LogisticRegression()).fit(frame, labels)
    TOLD.clear()
    classifier(TakesNominal(), random_state=0).fit(frame, labels)
    assert TOLD
    assert all(told == [1] for told in TOLD)


def test_a_pipeline_may_encode_nominal_features_by_itself():
    frame, labels = nominal_frame()
    encode = ColumnTransformer([("kind", OneHotEncoder(), [1])], remainder="passthrough")
    model = BinaryRelevance(make_pipeline(encode, LogisticRegression(C=100.0))).fit(frame, labels)
    np.testing.assert_array_equal(model.predict(frame), labels)


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_neighbours_compare_nominal_values_by_being_equal(sparse_rows):
    values = np.array([0, 1, 2, 3] * 10)
    labels = np.column_stack([values == 0, values == 3]).astype(int)
    # By code, 0 lies nearest to 1; as values, 1 is as far from 0 as from 3 and only the number decides.
    number = np.tile([0.0, 0.5, 0.3, 0.1], 10)
    X = np.column_stack([number, values]).astype(float)
    model = MLkNN(n_neighbors=9, categorical_features=[1]).fit(sparse.csr_array(X) if sparse_rows else X, labels)
    encoded = np.column_stack([number, (values[:, None] == np.arange(4)) * np.sqrt(0.5)])
    by_hand = MLkNN(n_neighbors=9).fit(encoded, labels)
    np.testing.assert_allclose(model.predict_proba(X), by_hand.predict_proba(encoded))
    frame = pd.DataFrame({"number": number, "kind": pd.Categorical([f"v{value}" for value in values])})
    named = MLkNN(n_neighbors=9).fit(frame, labels)
    np.testing.assert_allclose(named.predict_proba(frame), by_hand.predict_proba(encoded))
    unseen = pd.DataFrame({"number": [0.0], "kind": ["new"]})
    nearest = by_hand.predict_proba(np.array([[0.0, 0, 0, 0, 0]]))
    with pytest.warns(UserWarning, match="has not seen: 'new'"):
        np.testing.assert_allclose(named.predict_proba(unseen), nearest)
