"""Row R33: whatever is saved loads and gives the same bits, whatever features, labels and classes are called."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ramify
from ramify import Hierarchy
from ramify.ensemble import ForestClassifier
from tests.metamorphic import cases
from tests.metamorphic.test_forms import FEW

ODD = st.one_of(
    st.text(max_size=4),
    st.sampled_from(["", " ", "a" * 3000, "\x00", "\n", "a\x00b", "é", "☃", "0", "nan", "None", "=1+1", "'"]),
)


def odd_names(number):
    return st.lists(ODD, min_size=number, max_size=number, unique=True)


def saved_and_loaded(estimator, path):
    ramify.save(estimator, path)
    return ramify.load(path)


@pytest.mark.parametrize("name", cases.CASES)
def test_whatever_is_saved_loads_and_gives_the_same_bits(name, tmp_path):
    case = cases.CASES[name]

    def check(data, features, labels, classes, width):
        X = pd.DataFrame(data.X, columns=cases.NAMES if case.features == "terms" else features)
        y = data.targets[case.target]
        if case.target == "classes":
            names = np.array(classes) if len(set(np.array(classes).tolist())) == 3 else np.array(["no", "yes", "other"])
            y = names.astype(f"<U{max(1, names.dtype.itemsize // 4 + width)}")[np.unique(y, return_inverse=True)[1]]
        elif "hierarchy" not in case.target:
            y = pd.DataFrame(y, columns=labels[: y.shape[1]])
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="No features were selected")
            warnings.filterwarnings("ignore", message=".*cells on .* edges break the feature hierarchy")
            fitted = case.make().fit(X, y)
            loaded = saved_and_loaded(fitted, tmp_path / "model.ramify")
            found, expected = cases.results(loaded, X), cases.results(fitted, X)
        cases.assert_same(found, expected, "loaded")
        assert {name: value.dtype for name, value in found.items()} == {n: v.dtype for n, v in expected.items()}
        assert getattr(loaded, "label_names_", None) == getattr(fitted, "label_names_", None)

    features = "terms" if case.features == "terms" else "numbers"
    drawn = given(
        cases.data_sets(features), odd_names(cases.N_FEATURES), odd_names(3), odd_names(3), st.sampled_from([0, 7])
    )
    FEW(drawn(check))()


@pytest.mark.parametrize("values", [["a", "b"], [0, 1], [True, False], [1.0, 2.0], [-3, 7]])
def test_classes_of_every_type_come_back(values, tmp_path):
    X = np.arange(8.0)[:, None]
    classes = np.array(values * 4)
    loaded = saved_and_loaded(ForestClassifier(3, random_state=0).fit(X, classes), tmp_path / "model.ramify")
    assert loaded.predict(X).dtype == classes.dtype
    np.testing.assert_array_equal(loaded.classes_, np.unique(classes))


def test_classes_narrower_than_their_array_come_back(tmp_path):
    X, classes = np.arange(8.0)[:, None], np.array(["no", "yes", "undecided"])[[0, 1] * 4]
    assert classes.dtype == "<U9"
    loaded = saved_and_loaded(ForestClassifier(3, random_state=0).fit(X, classes), tmp_path / "model.ramify")
    assert loaded.predict(X).dtype == "<U9"


def test_a_hierarchy_of_odd_labels_comes_back(tmp_path):
    names = ["\x01", "a\nb", "☃" * 500, "\ud800"]
    order = Hierarchy(names, np.array([[0, 1], [0, 2], [2, 3]]))
    X, y = np.arange(8.0)[:, None], np.array([[1, 1, 0, 0], [1, 0, 1, 1]] * 4)
    fitted = ForestClassifier(3, hierarchy=order, random_state=0).fit(X, y)
    loaded = saved_and_loaded(fitted, tmp_path / "model.ramify")
    assert loaded.hierarchy == order
    np.testing.assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))
