"""Columns of y are matched by name wherever an estimator is scored, or refused."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ramify.ensemble import ForestClassifier, ForestRegressor
from tests.metamorphic import cases
from tests.metamorphic.test_names import planted

SCORED = [
    name
    for name, case in cases.CASES.items()
    if hasattr(case.make(), "score") and case.target != "classes" and "unknown" not in case.target
]
ALL_KNOWN = {"hierarchy": cases.LABELS.names}


def rows_and_target(case):
    X, targets = planted()
    y = pd.DataFrame(targets[case.target]).infer_objects()
    y.columns = list(ALL_KNOWN.get(case.target, [f"target {j}" for j in range(y.shape[1])]))
    return (X.drop(columns="town") if case.features != "nominal" else X), y


def test_all_estimators_that_score_several_columns_are_tried():
    assert len(SCORED) >= 20


@pytest.mark.parametrize("name", SCORED)
@pytest.mark.filterwarnings("ignore")
def test_columns_of_y_are_matched_by_name(name):
    X, y = rows_and_target(cases.CASES[name])
    fitted = cases.CASES[name].make().fit(X, y)
    expected = fitted.score(X, y)
    turned = y[list(y.columns[::-1])]
    assert fitted.score(X, turned) == pytest.approx(expected, abs=1e-12)
    assert fitted.score(X, pl.from_pandas(turned)) == pytest.approx(expected, abs=1e-12)
    with pytest.raises(ValueError, match="column"):
        fitted.score(X, y.rename(columns={y.columns[0]: "other"}))


@pytest.mark.parametrize("names", [["y0", "y1", "y2"], [0, 1, 2], ["2", "0", "1"]])
@pytest.mark.parametrize("make", [ForestClassifier, ForestRegressor])
def test_names_like_those_of_unnamed_columns_are_matched_too(make, names):
    X, targets = planted()
    y = pd.DataFrame(targets["labels"], columns=names)
    fitted = make(10, random_state=0).fit(X, y)
    assert fitted.score(X, y[[names[1], names[2], names[0]]]) == pytest.approx(fitted.score(X, y), abs=1e-12)


def test_names_are_not_asked_for_after_a_fit_without_them():
    X, targets = planted()
    fitted = ForestClassifier(10, random_state=0).fit(X, targets["labels"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        named = fitted.score(X, pd.DataFrame(targets["labels"], columns=list("uvw")))
    assert named == fitted.score(X, targets["labels"])
    assert np.isfinite(named)
