"""Features as numbers: what every estimator that compares feature values makes of X, at fit and afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

_DENSE_CELLS = 1 << 24
"""Distances are taken of dense columns up to so many cells, of sparse ones beyond."""


@dataclass(frozen=True)
class Features:
    """A table of features in the form the kernels take.

    Attributes
    ----------
    values : ndarray or CSC array of shape (n_samples, n_features), float32 or float64
        Numbers; a nominal column holds the codes 0, 1, ... of its values. NaN is missing. CSC where X was sparse.
    n_categories : int32 array of shape (n_features,)
        Number of values of a nominal feature, 0 for a numeric one.
    """

    values: Any
    n_categories: np.ndarray

    @property
    def is_sparse(self) -> bool:
        """Whether the values are stored sparse."""
        return bool(sparse.issparse(self.values))


def learn_features(
    estimator: Any, X: Any, categorical_features: Any = "from_dtype", *, max_categories: int | None = None
) -> Features:
    """Check X at fit, learn the values of nominal features, and encode.

    Sets `n_features_in_`, `feature_names_in_` (where X has names) and `categories_` (per feature, the array of its
    values or None) on the estimator.

    Parameters
    ----------
    estimator : estimator
        Named in messages, and where attributes are set.
    X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
        Features; NaN (None in nominal columns) is missing, infinity is refused.
    categorical_features : "from_dtype", None, or mask, indices or names
        Which features are nominal. "from_dtype": columns of a frame with a category, string, object or enum dtype.
    max_categories : int, optional
        A nominal feature with more values is refused.
    """
    _refuse_other_shapes(estimator, X)
    validate_data(estimator, X, skip_check_array=True)
    mask = _nominal_mask(estimator, X, categorical_features)
    if not mask.any():
        estimator.categories_ = [None] * estimator.n_features_in_
        return _numeric(estimator, X)
    columns = _columns(X)
    estimator.categories_ = [
        _values_of(columns[j], _name(estimator, j)) if mask[j] else None for j in range(estimator.n_features_in_)
    ]
    if sparse.issparse(X):  # absent cells stay absent: zero, where it occurs, has code 0
        estimator.categories_ = [None if values is None else _zero_first(values) for values in estimator.categories_]
    _refuse_many_categories(estimator, max_categories)
    return _encoded(estimator, X, columns)


def columns_of(function: str) -> BaseEstimator:
    """What `learn_features` takes in place of an estimator from a function, which messages then name.

    Examples
    --------
    >>> from ramify.features import columns_of
    >>> type(columns_of("knn_quality")).__name__
    'knn_quality'
    """
    estimator: BaseEstimator = type(function, (BaseEstimator,), {})()
    return estimator


def apply_features(estimator: Any, X: Any) -> Features:
    """Check X after fit (same columns as at fit) and encode; a nominal value not seen at fit counts as missing."""
    _refuse_other_shapes(estimator, X)
    validate_data(estimator, X, reset=False, skip_check_array=True)
    if all(values is None for values in estimator.categories_):
        return _numeric(estimator, X)
    return _encoded(estimator, X, _columns(X))


def finite_features(estimator: Any, X: Any, *, reset: bool = True, allow_missing: bool = False, **options: Any) -> Any:
    """Check X for an estimator that takes numbers only; text, a date, a missing or infinite value is refused by column.

    Parameters
    ----------
    estimator : estimator
        Named in messages, and where `n_features_in_` and `feature_names_in_` are set if `reset`.
    X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
        Features.
    reset : bool, default=True
        Whether this is a fit.
    allow_missing : bool, default=False
        Let NaN pass.
    **options
        Further parameters of scikit-learn's `validate_data`.
    """
    _refuse_dates(estimator, X)
    with _naming_text(estimator, X):
        checked = validate_data(estimator, X, reset=reset, ensure_all_finite=False, **options)
        kind = checked.dtype
        if kind.kind == "O" or not kind.isnative or (kind.kind == "f" and kind.itemsize not in (4, 8)):
            checked = checked.astype(np.float64)  # objects: a frame of categories without a value
    if not allow_missing:
        refuse_missing(estimator, checked)
    if checked.dtype.kind == "f":
        _refuse_infinity(estimator, sparse.csc_array(checked) if sparse.issparse(checked) else checked)
    return checked


def refuse_missing(estimator: Any, values: Any) -> None:
    """Refuse NaN by its column, for an estimator that does not take missing values."""
    stored = sparse.csc_array(values) if sparse.issparse(values) else values
    cells = stored.data if sparse.issparse(stored) else stored
    with np.errstate(over="ignore", invalid="ignore"):
        if cells.dtype.kind != "f" or np.isfinite(np.sum(cells, dtype=np.float64)) or not np.isnan(cells).any():
            return
    if sparse.issparse(stored):
        column = int(np.searchsorted(stored.indptr, np.flatnonzero(np.isnan(cells))[0], side="right")) - 1
    else:
        column = int(np.flatnonzero(np.isnan(cells).any(axis=0))[0])
    raise ValueError(
        f"Input X contains NaN in feature {_name(estimator, column)} (column {column}); "
        f"{type(estimator).__name__} does not take missing values. Fill them in, as sklearn.impute does."
    )


def refuse_extremes(estimator: Any, values: Any) -> None:
    """Refuse numbers whose squares overflow, or all vanish, by column, for an estimator that measures distances."""
    largest = abs(values).max(axis=0)
    sizes = np.nan_to_num(np.asarray(largest.todense() if sparse.issparse(largest) else largest, dtype=np.float64))
    sizes = sizes.ravel()
    if not sizes.size or 1e-150 < sizes.max() < 1e150 or sizes.max() == 0:
        return
    column = int(sizes.argmax())
    raise ValueError(
        f"The largest number of feature {_name(estimator, column)} (column {column}) has the size "
        f"{sizes[column]:.3g}; the squares and distances of such numbers cannot be told from "
        f"{'infinity' if sizes[column] > 1 else 'zero'}. Scale the features, as sklearn.preprocessing does."
    )


def distance_columns(estimator: Any, features: Features) -> Any:
    """Columns whose Euclidean distances compare rows, for an estimator that asks neighbours.

    Numbers stay as they are; missing ones, and those too large or small to be squared, are refused by column. A nominal
    feature becomes a column per value, so that two values lie 1 apart; one that was not seen at fit, or is missing,
    has no column and is equally far from all.
    """
    is_nominal = features.n_categories > 0
    if not is_nominal.any():
        refuse_missing(estimator, features.values)
        refuse_extremes(estimator, features.values)
        return features.values
    numbers = _without_codes(features)
    refuse_missing(estimator, numbers)
    refuse_extremes(estimator, numbers)
    indicators = [_indicators(features, j) for j in np.flatnonzero(is_nominal).tolist()]
    numeric = features.values[:, ~is_nominal]
    n_columns = numeric.shape[1] + int(features.n_categories.sum())
    if features.is_sparse or numeric.shape[0] * n_columns > _DENSE_CELLS:
        return sparse.csr_array(sparse.hstack([sparse.csr_array(numeric), *indicators]))
    return np.hstack([numeric, *(each.toarray() for each in indicators)])


def _indicators(features: Features, column: int) -> sparse.csr_array:
    """One column per value of a nominal feature; different values lie 1 apart."""
    codes = features.values[:, [column]]
    codes = (codes.toarray() if features.is_sparse else codes).ravel()
    rows = np.flatnonzero(~np.isnan(codes))
    entries = (np.full(len(rows), np.sqrt(0.5)), (rows, codes[rows].astype(np.intp)))
    return sparse.csr_array(entries, shape=(len(codes), int(features.n_categories[column])))


def _without_codes(features: Features) -> Any:
    """The values with zeros in the nominal columns, whose codes are no quantities."""
    numbers = features.values.copy()
    for j in np.flatnonzero(features.n_categories).tolist():
        if features.is_sparse:
            numbers.data[numbers.indptr[j] : numbers.indptr[j + 1]] = 0
        else:
            numbers[:, j] = 0
    return numbers


def stored_like(reference: Any, values: Any) -> Any:
    """`values` sparse by rows or dense, as `reference` is."""
    if sparse.issparse(reference):
        return sparse.csr_array(values)
    return values.toarray() if sparse.issparse(values) else values


def feature_names(estimator: Any) -> tuple[str, ...]:
    """Names of the features of a fitted estimator: those of the frame it saw, or x0, x1, ..."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return tuple(f"x{j}" for j in range(estimator.n_features_in_))
    return tuple(str(name) for name in names)


def _numeric(estimator: Any, X: Any) -> Features:
    _refuse_dates(estimator, X)
    with _naming_text(estimator, X):
        values = check_array(
            X,
            accept_sparse=("csc", "csr"),
            accept_large_sparse=True,
            dtype=(np.float64, np.float32),
            ensure_all_finite=False,
            estimator=estimator,
            input_name="X",
        )
    if sparse.issparse(values):
        values = _canonical(sparse.csc_array(values))
    if not (values.data if sparse.issparse(values) else values).flags.aligned:
        values = values.copy()  # the kernels read whole numbers of memory, which must not start amid a word
    _refuse_infinity(estimator, values)
    return Features(values, np.zeros(values.shape[1], dtype=np.int32))


def _encoded(estimator: Any, X: Any, columns: list[Any]) -> Features:
    """Nominal columns replaced by codes, the others checked as numbers."""
    n_categories = np.array([0 if values is None else len(values) for values in estimator.categories_], dtype=np.int32)
    if sparse.issparse(X):
        values = _canonical(sparse.csc_array(X, dtype=np.float64, copy=True))
        for j in np.flatnonzero(n_categories).tolist():
            stored = slice(values.indptr[j], values.indptr[j + 1])
            values.data[stored] = _codes(values.data[stored], estimator.categories_[j])
        values = _canonical(_with_coded_zeros(values, estimator.categories_))
        _refuse_infinity(estimator, values)
        return Features(values, n_categories)
    n_samples = len(columns[0]) if columns else 0
    numeric = np.empty((n_samples, len(columns)), dtype=np.float64, order="F")
    for j, column in enumerate(columns):
        if n_categories[j]:
            numeric[:, j] = _codes(column, estimator.categories_[j])
        else:
            numeric[:, j] = _as_numbers(column, _name(estimator, j))
    checked = check_array(numeric, dtype=np.float64, ensure_all_finite=False, estimator=estimator, input_name="X")
    _refuse_infinity(estimator, checked)
    return Features(checked, n_categories)


def _nominal_mask(estimator: Any, X: Any, categorical_features: Any) -> np.ndarray:
    n_features = estimator.n_features_in_
    mask = np.zeros(n_features, dtype=bool)
    if categorical_features is None:
        return mask
    if isinstance(categorical_features, str):
        if categorical_features != "from_dtype":
            raise ValueError(
                f"The 'categorical_features' parameter of {type(estimator).__name__} must be 'from_dtype', None, "
                f"a mask, indices or names. Got {categorical_features!r} instead."
            )
        return _mask_from_dtypes(X, mask)
    chosen = np.asarray(categorical_features)
    if chosen.dtype == bool:
        if chosen.shape != (n_features,):
            raise ValueError(f"categorical_features is a mask of {chosen.size} entries for {n_features} features.")
        return chosen.copy()
    if chosen.dtype.kind in "iu":
        if chosen.size and (chosen.min() < -n_features or chosen.max() >= n_features):
            raise ValueError(f"categorical_features must be in 0..{n_features - 1}. Got {chosen.tolist()}.")
        mask[chosen] = True
        return mask
    if chosen.size == 0:
        return mask
    names = list(getattr(estimator, "feature_names_in_", []))
    for name in chosen.tolist():
        if name not in names:
            raise ValueError(f"categorical_features names {name!r}, which is not a column of X.")
        mask[names.index(name)] = True
    return mask


def _mask_from_dtypes(X: Any, mask: np.ndarray) -> np.ndarray:
    if not hasattr(X, "dtypes"):
        return mask
    nominal = ("category", "categorical", "enum", "object", "str", "string", "large_string", "utf8")
    for j, dtype in enumerate(list(X.dtypes)):
        mask[j] = str(dtype).lower().split("(")[0].split("[")[0] in nominal
    return mask


def _columns(X: Any) -> list[Any]:
    """The columns of X one by one: of a frame as arrays, of a sparse matrix as the values that are stored."""
    if sparse.issparse(X):
        matrix = _canonical(sparse.csc_array(X))
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


def _polars_column(series: Any) -> np.ndarray:
    if (series.dtype.is_integer() or series.dtype.is_float()) and series.null_count() == 0:
        return np.asarray(series.to_numpy())
    return np.array(series.to_list(), dtype=object)


def _values_of(column: Any, name: str) -> np.ndarray:
    """Distinct values of a nominal column, sorted; numbers as numbers, anything else as text."""
    if column.dtype.kind in "fiub":
        values = column.astype(np.float64)
        return np.unique(values[~np.isnan(values)])
    present = [value for value in column.tolist() if not _is_missing(value)]
    if all(isinstance(value, (int, float, np.number)) and not isinstance(value, bool) for value in present):
        return np.unique(np.array(present, dtype=np.float64))
    kinds = {type(value) for value in present}
    if not kinds <= {str, bool, int, float, np.str_, np.bool_}:
        unusual = sorted(kind.__name__ for kind in kinds - {str, bool, int, float})
        raise TypeError(f"Feature {name} is nominal; its values must be strings or numbers. Got {', '.join(unusual)}.")
    return np.array(sorted({str(value) for value in present}), dtype=object)


def _zero_first(values: np.ndarray) -> np.ndarray:
    is_zero = values == 0
    return np.concatenate([values[is_zero], values[~is_zero]])


def _with_coded_zeros(codes: sparse.csc_array, categories: list[Any]) -> sparse.csc_array:
    """Absent cells as the code of zero where that is not 0, as missing where fit has not seen a zero."""
    n_rows = codes.shape[0]
    full = np.diff(codes.indptr) == n_rows
    nominal = [(j, values) for j, values in enumerate(categories) if values is not None and not full[j]]
    code_of_zero = {j: float(_codes(np.zeros(1), values)[0]) for j, values in nominal if not (values[:1] == 0).all()}
    if not code_of_zero:
        return codes
    rows, columns, filled = [], [], []
    for j, code in code_of_zero.items():
        absent = np.setdiff1d(np.arange(n_rows), codes.indices[codes.indptr[j] : codes.indptr[j + 1]])
        rows.append(absent)
        columns.append(np.full(len(absent), j))
        filled.append(np.full(len(absent), code))
    cells = (np.concatenate(filled), (np.concatenate(rows), np.concatenate(columns)))
    return sparse.csc_array(codes + sparse.csc_array(cells, shape=codes.shape))


def _codes(column: Any, values: np.ndarray) -> np.ndarray:
    """Position of each entry in `values`; NaN for missing and for values that are not there."""
    if values.dtype.kind == "f":
        numbers = (
            np.array(
                [np.nan if _is_missing(value) or isinstance(value, str) else value for value in column.tolist()],
                dtype=np.float64,
            )
            if column.dtype == object
            else column.astype(np.float64)
        )
        if not len(values):
            return np.full(len(numbers), np.nan)
        order = np.argsort(values)
        position = order[np.minimum(np.searchsorted(values, numbers, sorter=order), len(values) - 1)]
        return np.where(values[position] == numbers, position, np.nan)
    position_of = {value: float(position) for position, value in enumerate(values.tolist())}
    return np.array(
        [np.nan if _is_missing(value) else position_of.get(str(value), np.nan) for value in column.tolist()],
        dtype=np.float64,
    )


def _as_numbers(column: Any, name: str) -> np.ndarray:
    if column.dtype == object:
        column = np.array([np.nan if value is None else value for value in column.tolist()], dtype=object)
    try:
        return column.astype(np.float64)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"Feature {name} is numeric, but {error}. Declare it in categorical_features, or make it numeric."
        ) from None


def _is_missing(value: Any) -> bool:
    return (
        value is None
        or (isinstance(value, (float, np.floating)) and np.isnan(value))
        or type(value).__name__
        in (
            "NAType",
            "NaTType",
        )
    )


def _refuse_other_shapes(estimator: Any, X: Any) -> None:
    """Anything but rows and columns, in scikit-learn's words."""
    if len(X.shape if hasattr(X, "shape") else np.asarray(X).shape) != 2:
        check_array(X, dtype=None, ensure_all_finite=False, estimator=estimator, input_name="X")


def _refuse_dates(estimator: Any, X: Any) -> None:
    """Dates would become numbers silently, and a missing date the smallest of them."""
    dtypes = list(X.dtypes) if hasattr(X, "dtypes") else [getattr(X, "dtype", None)]
    for column, dtype in enumerate(dtypes):
        if str(dtype).lower().startswith(("datetime", "timedelta", "<m8", ">m8", "duration", "date")):
            raise ValueError(
                f"Feature {_name(estimator, column)} (column {column}) holds dates or durations (dtype {dtype}); "
                "give it as a number, such as days since a date."
            )


@contextmanager
def _naming_text(estimator: Any, X: Any) -> Iterator[None]:
    """Where numbers were expected and text was found, say in which column."""
    try:
        yield
    except ValueError:
        if sparse.issparse(X) or np.ndim(X) != 2:
            raise
        for column, cells in enumerate(_columns(X)):
            for cell in cells.tolist() if cells.dtype == object else ():
                if isinstance(cell, (str, bytes)) and not _is_number(cell):
                    shown = repr(cell if len(cell) <= 30 else cell[:30])
                    raise ValueError(
                        f"Feature {_name(estimator, column)} (column {column}) holds {shown}, but must be numeric: "
                        f"{type(estimator).__name__} could not convert string to float. Encode nominal features, or "
                        "use an estimator that takes them in a frame of category dtype."
                    ) from None
        raise


def _is_number(text: str | bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _refuse_many_categories(estimator: Any, max_categories: int | None) -> None:
    for column, values in enumerate(estimator.categories_):
        if max_categories is not None and values is not None and len(values) > max_categories:
            raise ValueError(
                f"Nominal feature {_name(estimator, column)} (column {column}) has {len(values)} categories, at most "
                f"{max_categories} are possible; merge rare ones or pass it as numeric."
            )


def _refuse_infinity(estimator: Any, values: Any) -> None:
    stored = values.data if sparse.issparse(values) else values
    with np.errstate(over="ignore", invalid="ignore"):
        if stored.size == 0 or np.isfinite(np.sum(stored, dtype=np.float64)):
            return
    infinite = np.isinf(stored)
    if not infinite.any():
        return
    if sparse.issparse(values):
        column = int(np.searchsorted(values.indptr, np.flatnonzero(infinite)[0], side="right")) - 1
    else:
        column = int(np.flatnonzero(infinite.any(axis=0))[0])
    raise ValueError(
        f"Input X contains infinity in feature {_name(estimator, column)} (column {column}); "
        "replace it by a number or by NaN, which counts as missing."
    )


def _canonical(matrix: sparse.csc_array) -> sparse.csc_array:
    """Sorted, without duplicates or stored zeros; a copy only where something had to change."""
    if not matrix.has_canonical_format or (matrix.data == 0).any():
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    return matrix


def _name(estimator: Any, column: int) -> str:
    names = getattr(estimator, "feature_names_in_", None)
    return repr(f"x{column}" if names is None else str(names[column]))
