"""Every type that a column of numbers may have, over every public estimator: the same result, or refused in words."""

import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from tests.metamorphic import cases
from tests.metamorphic.test_names import planted
from tests.trust.test_any_order import is_refused_in_words

KNOWN = {name: case for name, case in cases.CASES.items() if "unknown" not in case.target}
ROWS = np.array(planted()[0][["size", "age"]].rank(), dtype=int)  # 1, 2, ..., 60: every type but bool holds them
ROWS[:, 0] %= 2
TERMS = np.repeat(ROWS % 2, 3, axis=1)[:, : cases.N_FEATURES]
ARROW = [getattr(pa, name)() for name in (*(f"{sign}int{n}" for sign in ("", "u") for n in (8, 16, 32, 64)), "bool_")]
ARROW += [pa.float16(), pa.float32(), pa.float64(), pa.decimal128(20, 3), pa.decimal256(50, 3), pa.null(), pa.date32()]
ARROW += [pa.timestamp("s"), pa.duration("s"), pa.list_(pa.int64()), pa.binary(), pa.string()]
PANDAS = [
    "Int8",
    "UInt16",
    "Int64",
    "UInt64",
    "Float32",
    "Float64",
    "boolean",
    "Sparse[float]",
    "Sparse[int]",
    "object",
]
PANDAS += ["string", "category", "datetime64[ns]", "timedelta64[ns]", "complex128", "period[D]", "longdouble"]


def polars_types():
    for name in dir(pl.datatypes):
        made = getattr(pl.datatypes, name)
        if isinstance(made, type) and issubclass(made, pl.DataType):
            yield name, made


def forms():
    """A way to hold a matrix of whole numbers for every type that arrays, sparse matrices and frames know."""
    for code in np.typecodes["All"]:
        yield f"array of {code}", lambda X, code=code: X.astype(code)
        if code in "?bhilqBHILQfdg":
            yield f"sparse of {code}", lambda X, code=code: sparse.csc_array(X.astype(code))
    for made in (Decimal, Fraction, int, float, np.int8, np.longdouble, str, complex, lambda cell: [cell]):
        cells = np.frompyfunc(lambda cell, made=made: made(int(cell)), 1, 1)
        yield f"objects of {getattr(made, '__name__', made)}", lambda X, cells=cells: cells(X)
    for dtype in PANDAS:
        yield f"pandas {dtype}", lambda X, dtype=dtype: frame(X).astype(dtype)
    for arrow in ARROW:
        yield f"arrow {arrow}", lambda X, arrow=arrow: frame(X).astype(pd.ArrowDtype(arrow))
    for name, dtype in polars_types():
        yield (
            f"polars {name}",
            lambda X, dtype=dtype: pl.DataFrame(
                {f"f{j}": pl.Series(column.tolist(), strict=False).cast(dtype) for j, column in enumerate(X.T)}
            ),
        )


def frame(X):
    return pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])


FORMS = dict(forms())


def held(form, X):
    """The matrix in that form, or None where the type cannot hold it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return FORMS[form](X)
        except Exception:
            return None


def as_exact_numbers(X):
    """The values as numbers if all are, else None."""
    try:
        dense = X.toarray() if sparse.issparse(X) else np.asarray(X)
        if dense.dtype.kind in "US" or any(isinstance(cell, (str, bytes)) for cell in dense.ravel().tolist()[:1]):
            return None
        return dense.astype(np.float64)
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        return None


@pytest.mark.parametrize("name", KNOWN)
def test_every_type_of_numbers_gives_the_same_result(name):
    case = KNOWN[name]
    given, y = TERMS if case.features == "terms" else ROWS, planted()[1][case.target]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = cases.results(case.make().fit(given.astype(float), y), given.astype(float))
        n_same, faults = 0, []
        for form in FORMS:
            X = held(form, given)
            if X is None:
                continue
            try:
                found = cases.results(case.make().fit(X, y), X)
            except Exception as error:
                if not is_refused_in_words(error):
                    faults.append(f"{form}: {type(error).__name__}: {error}")
                continue
            values = as_exact_numbers(X)
            if values is not None and np.array_equal(values, given) and not is_nominal(X):
                n_same += 1
                if any(differ(found[part], value) for part, value in expected.items()):
                    faults.append(f"{form}: another result")
    assert not faults, "; ".join(faults)
    assert n_same > 20


def differ(found, expected):
    if expected.dtype.kind == "f":
        return not np.array_equal(found, expected, equal_nan=True)
    return [str(cell) for cell in found.ravel().tolist()] != [str(cell) for cell in expected.ravel().tolist()]


def is_nominal(X):
    """Whether a frame says that its columns are names."""
    return hasattr(X, "columns") and any(
        str(dtype).lower().startswith(("object", "str", "cat", "enum", "dict")) for dtype in X.dtypes
    )
