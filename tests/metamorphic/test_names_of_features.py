"""Row R44: columns of X are matched by name, or refused, at every entry of every estimator, whatever the names are."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tests.metamorphic import cases
from tests.metamorphic.test_names import planted
from tests.metamorphic.test_saving import saved_and_loaded

ENTRIES = ("predict", "predict_proba", "predict_outputs", "transform", "selection_mask", "apply", "score", "explain")
KNOWN = [name for name, case in cases.CASES.items() if "unknown" not in case.target and case.target != "hierarchy"]
NAMES = {
    "texts": list(cases.NAMES),
    "numbers": [10, 3, 7, 8, 9],
    "numbers of places": [0, 1, 2, 3, 4],
    "fractions": [0.5, 1.5, 2.5, 3.5, 4.5],
    "pairs": [("a", 1), ("a", 2), ("b", 1), ("b", 2), ("c", 1)],
}


def framed(X, names):
    return pd.DataFrame(X).set_axis(pd.Index(names[: X.shape[1]], tupleize_cols=False), axis=1)


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("name", KNOWN)
def test_columns_in_another_order_are_matched_or_refused(name, names, tmp_path):
    case, (X, targets) = cases.CASES[name], planted()
    y, rows = targets[case.target], X[["size", "age"]].to_numpy()
    if case.features == "terms":
        rows = np.repeat(rows > 0, 3, axis=1)[:, : cases.N_FEATURES].astype(float)
    given = framed(rows, NAMES[names])
    wrong = {
        "another order": given[given.columns[::-1]],
        "one is missing": given.drop(columns=given.columns[-1]),
        "one is another": given.set_axis(pd.Index([*given.columns[:-1], "new" if names == "texts" else 99]), axis=1),
    }
    if names == "texts":
        wrong["another order in polars"] = pl.from_pandas(given[given.columns[::-1]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = case.make().fit(given, y)
        for model in (fitted, saved_and_loaded(fitted, tmp_path / "model.ramify")):
            for entry in filter(lambda entry: hasattr(model, entry), ENTRIES):
                if (entry, name) == ("explain", "HierarchicalSelector"):
                    continue  # says the same of every row
                options = (y,) if entry == "score" else ()
                part = slice(1) if entry == "explain" else slice(None)
                for content in wrong.values():
                    if names == "numbers of places" and content is wrong["one is another"]:
                        continue  # a frame whose columns are only numbered has no names
                    with pytest.raises((ValueError, KeyError, TypeError)):
                        getattr(model, entry)(content[part], *options)
                if entry != "explain":
                    getattr(model, entry)(given, *options)


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("names", [["a", "a"], [1, 1], [("a", 1), ("a", 1)]])
def test_columns_of_the_same_name_are_refused(name, names):
    case, (X, targets) = cases.CASES[name], planted()
    twice = framed((X[["size", "age"]].to_numpy() > 0).astype(float), names)
    with pytest.raises(ValueError, match="are all named"):
        case.make().fit(twice, targets[case.target])
