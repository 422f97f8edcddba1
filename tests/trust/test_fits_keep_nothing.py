"""What a fit leaves behind is its own: the caller's arrays, and an earlier fit, have no part in it."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from tests.trust.test_estimators_inside_estimators import BASES, TARGETS, X, quickly

from ramify.ensemble import ForestClassifier

TAKEN = {"LabelRank": "rankings", "RankingForest": "rankings", "LabelRanker": "rankings", "Regressor": "numbers"}


def target_of(name):
    return next((kind for part, kind in TAKEN.items() if part in name), "sets")


PREDICTING = [name for name, base in BASES.items() if hasattr(base, "predict")]


@pytest.mark.parametrize("name", PREDICTING)
def test_arrays_changed_after_the_fit_change_no_prediction(name):
    new = X[:9].copy()
    for kind in dict.fromkeys([target_of(name), "classes"]):
        model, rows, y = clone(quickly(BASES[name])), X.copy(), np.array(TARGETS[kind])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model.fit(rows, y)
            except (ValueError, TypeError):
                continue
        before = np.asarray(model.predict(new))
        rows[:] = rows[::-1].copy()
        y[:] = y[::-1].copy()
        np.testing.assert_array_equal(np.asarray(model.predict(new)), before)


def test_a_warm_start_refuses_features_of_another_meaning():
    frame = pd.DataFrame({"a": [0.0, 1, 2, 3], "b": [3.0, 1, 0, 2], "c": pd.Categorical(list("xyxy"))})
    y = [0, 0, 1, 1]

    def begun():
        return ForestClassifier(2, warm_start=True, random_state=0).fit(frame, y).set_params(n_estimators=4)

    whole = ForestClassifier(4, random_state=0).fit(frame, y)
    np.testing.assert_array_equal(begun().fit(frame, y).predict_proba(frame), whole.predict_proba(frame))
    with pytest.raises(ValueError, match="other names or another order"):
        begun().fit(frame[["b", "a", "c"]], y)
    with pytest.raises(ValueError, match="'c' has others"):
        begun().fit(frame.assign(c=pd.Categorical(list("uvuv"))), y)
