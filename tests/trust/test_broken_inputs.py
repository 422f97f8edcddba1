"""What only seems to hold rows, labels or numbers is refused in words, by every estimator and measure there is."""

import datetime
import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from tests.metamorphic import cases
from tests.trust.test_any_order import data, is_refused_in_words

from ramify import Hierarchy, metrics

ROWS = 60


def broken_matrices():
    """Sparse matrices whose places lie outside of themselves; scipy itself would write there."""
    good = (np.arange(ROWS * 3).reshape(ROWS, 3) % 2).astype(float)
    for make in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array, sparse.bsr_array):
        for wrong in (-1, 10**6):
            matrix = make(good)
            if matrix.format == "coo":
                matrix.row[0] = wrong
            else:
                matrix.indices[0] = wrong
            yield f"{make.__name__} of place {wrong}", matrix
    for make in (sparse.csr_array, sparse.csc_array):
        matrix = make(good)
        matrix.indptr[1] = 10**6
        yield f"{make.__name__} of a wrong end", matrix


BROKEN = dict(broken_matrices())
DAYS = pd.date_range("2024", periods=ROWS)
TARGETS = {
    "lists of several lengths": [["a", "b"], ["a"]] * (ROWS // 2),
    "sets": [{"a", "b"}, {"a"}] * (ROWS // 2),
    "complex": np.arange(ROWS) * 1j,
    "nothing": None,
}
DATES = {
    "dates": DAYS,
    "dates with a zone": DAYS.tz_localize("Europe/Ljubljana"),
    "days": [day.date() for day in DAYS],
    "durations": [datetime.timedelta(day) for day in range(ROWS)],
}


@pytest.mark.parametrize("name", cases.CASES)
def test_every_estimator_refuses_what_is_broken(name):
    case = cases.CASES[name]
    X, y = data(case, 0)
    tried = [(matrix, y) for matrix in BROKEN.values()]
    tried += [(X, target) for target in (*BROKEN.values(), *TARGETS.values())]
    tried += [(X, target) for target in DATES.values() if case.target == "numbers"]
    faults = []
    for rows, target in tried:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                case.make().fit(rows, target)
                faults.append(f"taken: {type(rows).__name__} {type(target).__name__} {str(target)[:60]}")
            except (ValueError, TypeError) as error:
                if not is_refused_in_words(error):
                    faults.append(f"{type(error).__name__}: {error}")
    assert not faults, "; ".join(dict.fromkeys(faults))


MEASURES = [name for name in metrics.__all__ if len(inspect.signature(getattr(metrics, name)).parameters) > 1]
OF_SETS = [name for name in MEASURES if "hierarchy" in inspect.signature(getattr(metrics, name)).parameters]
OF_SETS.remove("measure_table")  # asks the measures


@pytest.mark.parametrize("name", OF_SETS)
@pytest.mark.parametrize("wrong", [*BROKEN, "numbers", *TARGETS])
def test_every_measure_of_label_sets_refuses_what_is_broken(name, wrong):
    sets = (np.arange(ROWS * 3).reshape(ROWS, 3) % 2).astype(float)
    truth = (BROKEN | TARGETS | {"numbers": sets * 2})[wrong]
    given = {"hierarchy": Hierarchy.from_paths(["a", "b", "c"])}
    with pytest.raises((ValueError, TypeError)) as refused:
        getattr(metrics, name)(truth, sets, **given)
    assert is_refused_in_words(refused.value)


@pytest.mark.parametrize("wrong", [[1], [None], [("a", "b", "c")], [("a", None)], pd.DataFrame([["a", "b"]])])
@pytest.mark.parametrize("make", [Hierarchy.from_edges, Hierarchy.from_paths])
def test_a_hierarchy_of_no_names_is_refused(make, wrong):
    with pytest.raises((ValueError, TypeError)) as refused:
        make(wrong)
    assert is_refused_in_words(refused.value)


def test_scores_and_bins_refuse_label_sets_of_other_numbers():
    X, y = data(cases.CASES["ForestClassifier of labels"], 0)
    fitted = cases.CASES["ForestClassifier of labels"].make().fit(X, y)
    for wrong in (2 * y, sparse.csr_array(2 * y)):
        with pytest.raises(ValueError, match="0 and 1"):
            fitted.score(X, wrong)
        with pytest.raises(ValueError, match="0 and 1"):
            metrics.reliability_bins(wrong, y)
