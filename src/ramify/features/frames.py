"""Rows and columns of X and y, whatever holds them: arrays, sparse matrices, pandas and polars frames."""

from __future__ import annotations

import re
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

LARGEST_EXACT = 1 << 53
"""Integers up to this size are told apart as doubles."""


def take_rows(X: Any, rows: np.ndarray) -> Any:
    """The given rows of X or y."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if sparse.issparse(X):
        refuse_broken("X", X)
        return sparse.csr_array(X)[rows]
    return X[rows] if hasattr(X, "shape") else np.asarray(X)[rows]


def take_columns(X: Any, columns: np.ndarray) -> Any:
    """The given columns of X."""
    if hasattr(X, "iloc"):
        return X.iloc[:, columns]
    if hasattr(X, "get_columns"):
        return X[:, [int(j) for j in columns]]
    if sparse.issparse(X):
        return sparse.csc_array(X)[:, columns]
    return np.asarray(X)[:, columns]


def weighing_rows(X: Any, y: Any, sample_weight: Any) -> np.ndarray | None:
    """Rows whose weight is not zero, which is to say all rows that there are; None where no weight is zero.

    What is wrong with the weights is left to whoever checks them.
    """
    weights = np.asarray(0.0 if sample_weight is None else sample_weight)
    if weights.dtype.kind not in "biuf" or weights.ndim != 1 or weights.all() or not weights.any():
        return None
    for held in (X, y):
        shape = held.shape if hasattr(held, "shape") else np.asarray(held).shape
        if shape[:1] != weights.shape:
            return None
    return np.flatnonzero(weights)


def weighing_data(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Features, target and weights of the rows whose weight is not zero."""
    rows = weighing_rows(X, y, sample_weight)
    if rows is None:
        return X, y, sample_weight
    return take_rows(X, rows), take_rows(y, rows), np.asarray(sample_weight)[rows]


def column_names(X: Any) -> tuple[str, ...]:
    """Names of the columns of a frame, x0, x1, ... of an array."""
    names = getattr(X, "columns", None)
    n_columns = X.shape[1] if hasattr(X, "shape") else np.asarray(X).shape[1]
    return tuple(f"x{j}" for j in range(n_columns)) if names is None else tuple(map(str, names))


def frame_names(y: Any) -> tuple[str, ...] | None:
    """Names of the columns of a frame; None of an array, and of a frame whose columns are only numbered."""
    names = getattr(y, "column_names", getattr(y, "columns", None))
    if names is None:
        return None
    names = list(names)
    return None if names == list(range(len(names))) else tuple(map(str, names))


def name_fits(name: str, wish: str) -> bool:
    """Whether a column has the name that is wished for, in which `*` stands for anything."""
    if name == wish or "*" not in wish:
        return name == wish
    return re.fullmatch(".*".join(map(re.escape, wish.split("*"))), name, flags=re.DOTALL) is not None


def as_array(y: Any) -> np.ndarray:
    """The cells of an array or frame as one array; numbers and truth values are numbers whatever column held them.

    Columns of nullable, arrow and category dtypes and of different types become one array of numbers where all of them
    hold numbers, with NaN for missing cells.

    Examples
    --------
    >>> import pandas as pd
    >>> from ramify.features.frames import as_array
    >>> as_array(pd.DataFrame({"a": pd.array([1, 0], dtype="Int64"), "b": pd.array([True, False], dtype="boolean")}))
    array([[1, 1],
           [0, 0]])
    """
    refuse_broken("y", y)
    if y is None:
        raise ValueError("This requires y to be passed, but the target y is None.")
    try:
        array = np.asarray(y)
    except ValueError:
        raise ValueError(_SETS) from None
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: y must hold real numbers, classes or labels.")
    if array.dtype != object:
        return array
    if array.ndim == 1 and len(array) and isinstance(array[0], (set, frozenset)):
        raise ValueError(_SETS)
    if hasattr(y, "get_columns"):
        columns = [series.to_numpy() for series in y.get_columns()]
    elif hasattr(y, "iloc"):
        columns = [_plain_column(y.iloc[:, j]) for j in range(y.shape[1])] if y.ndim == 2 else [_plain_column(y)]
    else:
        return array
    if not columns or not all(column.dtype.kind in "biuf" for column in columns):
        return array
    return columns[0] if array.ndim == 1 else np.column_stack(columns)


_SETS = (
    "y must hold one value per row, or a 0/1 matrix with one column per label. Got rows of several values instead; "
    "sklearn.preprocessing.MultiLabelBinarizer turns label sets into such a matrix."
)


def refuse_broken(name: str, values: Any) -> None:
    """Refuse what does not hold the cells that it seems to: a masked array, a sparse matrix of places outside itself.

    Examples
    --------
    >>> from scipy import sparse
    >>> from ramify.features.frames import refuse_broken
    >>> matrix = sparse.csr_array([[1, 0], [0, 1]])
    >>> matrix.indices[0] = 7
    >>> refuse_broken("X", matrix)
    Traceback (most recent call last):
    ...
    ValueError: X is a broken sparse matrix: some places lie outside of it. Build it from rows, columns and values.
    """
    if sparse.issparse(values) and not _lies_in_itself(values):
        raise ValueError(
            f"{name} is a broken sparse matrix: some places lie outside of it. Build it from rows, columns and values."
        )
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(
            f"{name} is a masked array with masked cells. Write what is missing as NaN: "
            f"np.ma.filled({name}.astype(float), np.nan)."
        )


def _lies_in_itself(matrix: Any) -> bool:
    """Whether a sparse matrix says of no value that it lies outside; scipy would read and write there."""
    try:
        if matrix.format in {"csr", "csc", "bsr"}:  # a new one of the same arrays, for the check may change it
            parts = (matrix.data, matrix.indices, matrix.indptr)
            type(matrix)(parts, shape=matrix.shape).check_format(full_check=True)
        elif matrix.format == "coo":
            for size, places in zip(matrix.shape, (matrix.row, matrix.col), strict=True):
                if len(places) != len(matrix.data) or (len(places) and not 0 <= places.min() <= places.max() < size):
                    return False
    except (ValueError, IndexError, TypeError):
        return False
    return True


def merged_numbers(cells: np.ndarray) -> str | None:
    """Two different numbers of a column that are the same double, as text; None where doubles tell all apart.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.features.frames import merged_numbers
    >>> merged_numbers(np.array([2**60, 2**60 + 1, 7]))
    '1152921504606846976 and 1152921504606846977'
    """
    kind, size, given = cells.dtype.kind, cells.dtype.itemsize, cells.ravel()
    if kind in "iu" and size == 8 and cells.size and max(-int(cells.min()), int(cells.max())) > LARGEST_EXACT:
        numbers = given.tolist()
    elif kind == "f" and size > 8:
        numbers = list(given)
    elif kind == "O":
        numbers = [cell for cell in given.tolist() if isinstance(cell, (Real, Decimal))]
    else:
        return None
    if all(isinstance(number, (float, bool)) for number in numbers):
        return None
    as_double: dict[float, Any] = {}
    for number in dict.fromkeys(number for number in numbers if number == number):
        try:
            double = float(number)
        except OverflowError:
            return None  # refused as infinite
        if double in as_double:
            return f"{as_double[double]!s} and {number!s}"
        as_double[double] = number
    return None


def n_rows(X: Any) -> int:
    """Number of rows."""
    shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
    if not shape:
        raise ValueError("Expected 2D array, got scalar array instead. Give a row of features for each example.")
    return int(shape[0])


def with_shadows(X: Any, order: np.ndarray) -> Any:
    """X beside a copy of itself whose rows are in another order: the same values, without relation to y."""
    if sparse.issparse(X):
        rows = sparse.csr_array(X)
        return sparse.csc_array(sparse.hstack([rows, rows[order]]))
    if hasattr(X, "iloc"):
        import pandas as pd

        shadow = X.iloc[order].set_axis(X.index, axis=0).add_prefix("shadow of ")
        return pd.concat([X, shadow], axis=1)
    if hasattr(X, "get_columns"):
        shadow = X[order.tolist()]
        return X.hstack([series.alias(f"shadow of {series.name}") for series in shadow.get_columns()])
    array = np.asarray(X)
    return np.hstack([array, array[order]])


def nominal_columns(X: Any, n_features: int) -> np.ndarray:
    """Which columns are nominal by their dtype: categories and text of a frame, none of an array."""
    return text_columns(X, n_features) | _of_dtypes(X, n_features, "category", "categorical", "enum", "dictionary")


def text_columns(X: Any, n_features: int) -> np.ndarray:
    """Which columns of a frame hold text, or objects that may be, without being said to be categories."""
    return _of_dtypes(X, n_features, "object", "str", "string", "large_string", "utf8")


def _of_dtypes(X: Any, n_features: int, *names: str) -> np.ndarray:
    mask = np.zeros(n_features, dtype=bool)
    for j, dtype in enumerate(list(X.dtypes) if hasattr(X, "dtypes") else ()):
        mask[j] = re.split(r"[(\[<]", str(dtype).lower())[0] in names
    return mask


def columns_of_table(X: Any) -> list[Any]:
    """The columns of X one by one: of a frame as arrays, of a sparse matrix as the values that are stored."""
    if sparse.issparse(X):
        matrix = canonical(sparse.csc_array(X))
        n_rows = matrix.shape[0]
        return [
            np.append(stored, 0) if len(stored) < n_rows else stored
            for stored in np.split(matrix.data, matrix.indptr[1:-1])
        ]
    if hasattr(X, "iloc"):
        return [_pandas_column(X.iloc[:, j]) for j in range(X.shape[1])]
    if hasattr(X, "get_columns"):
        return [_polars_column(series) for series in X.get_columns()]
    array = np.asarray(X)
    if array.dtype.kind in "US":
        array = array.astype(object)
    return [array[:, j] for j in range(array.shape[1])]


def _pandas_column(series: Any) -> np.ndarray:
    """Numbers as they are; what may be missing in another way than NaN, or is no number, as objects."""
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "iuf":
        return np.asarray(series)
    return np.asarray(series.to_numpy(dtype=object, na_value=None))


def _plain_column(series: Any) -> np.ndarray:
    """Numbers and truth values as an array of numbers, NaN where one is missing; anything else as objects."""
    if series.isna().any() and getattr(series.dtype, "kind", "O") in "biuf":
        return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.asarray(series)


def _polars_column(series: Any) -> np.ndarray:
    if (series.dtype.is_integer() or series.dtype.is_float()) and series.null_count() == 0:
        return np.asarray(series.to_numpy())
    return np.array(series.to_list(), dtype=object)


def canonical(matrix: sparse.csc_array) -> sparse.csc_array:
    """Sorted, without duplicates or stored zeros; a copy only where something had to change."""
    if not matrix.has_canonical_format or (matrix.data == 0).any():
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    return matrix


def stored_like(reference: Any, values: Any) -> Any:
    """`values` sparse by rows or dense, as `reference` is."""
    if sparse.issparse(reference):
        return sparse.csr_array(values)
    return values.toarray() if sparse.issparse(values) else values
