"""What is refused in X, by the name of its column."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from ramify.features.categories import is_missing, shown_value
from ramify.features.frames import columns_of_table, frame_names, merged_numbers, refuse_broken, text_columns
from ramify.features.number_notation import are_measured, strays

_UNSEEN_SHARE = 0.2
"""Up to this share of a column's cells may hold values that fit did not see before a warning says so."""

_DATES = ("datetime", "timedelta", "<m8", ">m8", "duration", "date", "time")
_NO_DOUBLES = ("int128", "uint128", "list", "array", "struct", "|v")
"""Beginnings of the names of dtypes whose cells are no doubles."""

_MOST_TOLD = 3
"""Columns that a warning describes."""


def refuse_other_shapes(estimator: Any, X: Any) -> None:
    """Anything but rows and columns, in scikit-learn's words, and masked cells."""
    refuse_broken("X", X)
    if len(X.shape if hasattr(X, "shape") else np.asarray(X).shape) != 2:
        check_array(X, dtype=None, ensure_all_finite=False, estimator=estimator, input_name="X")


def refuse_repeated_names(estimator: Any, X: Any) -> None:
    """Refuse a frame in which two columns have the same name."""
    names = frame_names(X) if hasattr(X, "iloc") else None
    if names is None or len(set(names)) == len(names):
        return
    first = next(name for name in names if names.count(name) > 1)
    places = [str(column) for column, name in enumerate(names) if name == first]
    raise ValueError(
        f"Columns {', '.join(places[:-1])} and {places[-1]} of X are all named {first!r}; "
        f"{type(estimator).__name__} knows features by name. Rename them, or leave out all but one."
    )


def refuse_dates(estimator: Any, X: Any) -> None:
    """Dates would become numbers silently, a missing date the smallest of them, and other cells are no numbers."""
    dtypes = list(X.dtypes) if hasattr(X, "dtypes") else [getattr(X, "dtype", None)]
    for column, dtype in enumerate(dtypes):
        kind, where = str(dtype).lower(), f"Feature {shown_name(estimator, column)} (column {column}) holds"
        if kind.startswith(_DATES):
            raise ValueError(
                f"{where} dates or durations (dtype {dtype}); give it as a number, such as days since a date, "
                "or as ramify.read(frame).to_frame() does."
            )
        if kind.startswith(_NO_DOUBLES):
            raise ValueError(f"{where} cells of dtype {dtype}; give one number of at most 64 bits per cell.")


@contextmanager
def naming_text(estimator: Any, X: Any) -> Iterator[None]:
    """Where numbers were expected and text was found, say in which column."""
    try:
        yield
    except (ValueError, TypeError):
        if sparse.issparse(X) or np.ndim(X) != 2:
            raise
        for column, cells in enumerate(columns_of_table(X)):
            for cell in cells.tolist() if cells.dtype == object else ():
                if isinstance(cell, (str, bytes)) and not _is_number(cell):
                    shown = repr(cell if len(cell) <= 30 else cell[:30])
                    raise ValueError(
                        f"Feature {shown_name(estimator, column)} (column {column}) holds {shown}, but must be "
                        f"numeric: {type(estimator).__name__} could not convert string to float. Encode nominal "
                        "features, or use an estimator that takes them in a frame of category dtype."
                    ) from None
                if not isinstance(cell, (Real, Decimal, str, bytes)) and not is_missing(cell):
                    raise TypeError(
                        f"Feature {shown_name(estimator, column)} (column {column}) holds {str(cell)[:30]!r}: the "
                        f"argument must be a string or a number, not a {type(cell).__name__}."
                    ) from None
        raise


def _may_merge(cells: np.ndarray) -> bool:
    """Whether an array holds what may be different numbers that are the same double."""
    return cells.dtype.kind == "O" or (cells.dtype.kind in "iu" and cells.size > 0) or cells.dtype.itemsize > 8


def _is_number(text: str | bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def refuse_merged(estimator: Any, X: Any) -> None:
    """Refuse, by column, different numbers that are the same double: long integers, decimals, long doubles.

    For a table that was checked: another form of X is refused in scikit-learn's words.
    """
    if not hasattr(X, "dtypes"):
        X = sparse.csc_array(X) if sparse.issparse(X) else np.asarray(X)
        if not _may_merge(X.data if sparse.issparse(X) else X):
            return
    nominal = getattr(estimator, "categories_", None)
    for column, cells in enumerate(columns_of_table(X)):
        if nominal is not None and nominal[column] is not None:
            continue  # values are told apart as they are
        merged = merged_numbers(cells)
        if merged is not None:
            raise ValueError(
                f"Feature {shown_name(estimator, column)} (column {column}) holds {merged}, which are one double of 64 "
                "bits. Subtract what all have in common, or, if they are names, make the column text."
            )


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
        f"Input X contains NaN in feature {shown_name(estimator, column)} (column {column}); "
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
        f"The largest number of feature {shown_name(estimator, column)} (column {column}) has the size "
        f"{sizes[column]:.3g}; the squares and distances of such numbers cannot be told from "
        f"{'infinity' if sizes[column] > 1 else 'zero'}. Scale the features, as sklearn.preprocessing does."
    )


def warn_of_numbers(estimator: Any, X: Any) -> None:
    """Warn where text of a frame, or objects, are numbers: by their dtype they are nominal, each number a name."""
    for column in np.flatnonzero(text_columns(X, estimator.n_features_in_)).tolist():
        values = [shown_value(value) for value in estimator.categories_[column].tolist()]
        if are_measured(values):
            example = min(set(values).difference(strays(values)))
            warnings.warn(
                f"Feature {shown_name(estimator, column)} (column {column}) holds numbers as {list(X.dtypes)[column]}, "
                f"such as {example!r}, and is taken as nominal, of {len(values)} values. Make it numeric, as "
                "pandas.to_numeric and read(decimal=',') do, or of dtype category if its numbers are names.",
                UserWarning,
                stacklevel=2,
            )


_UNSEEN_ALLOWED: ContextVar[bool] = ContextVar("unseen values are allowed", default=False)


@contextmanager
def unseen_values_allowed() -> Iterator[None]:
    """Let values that fit did not see count as missing, where an estimator was fitted to some of the rows only.

    Parts of an estimator that are fitted to some of its rows, and folds of a cross-validation, have not seen all values
    that the rows beside them hold; nobody needs to hear of that.
    """
    token = _UNSEEN_ALLOWED.set(True)
    try:
        yield
    finally:
        _UNSEEN_ALLOWED.reset(token)


def warn_of_unseen(estimator: Any, unseen: Mapping[int, tuple[list[str], int]]) -> None:
    """Warn once where many cells of nominal columns hold values that fit did not see and that count as missing.

    Parameters
    ----------
    estimator : estimator
        Named in the message.
    unseen : mapping
        By column those values and the number of cells that are not missing.
    """
    if _UNSEEN_ALLOWED.get():
        return
    told = [_unseen(estimator, j, values, n) for j, (values, n) in unseen.items() if len(values) > _UNSEEN_SHARE * n]
    if told:
        more = f" So do {len(told) - _MOST_TOLD} more features." if len(told) > _MOST_TOLD else ""
        warnings.warn(
            f"{' '.join(told[:_MOST_TOLD])}{more} Values not seen at fit count as missing.", UserWarning, stacklevel=2
        )


def _unseen(estimator: Any, column: int, unseen: list[str], n_known: int) -> str:
    """Which values of a column are new, and what it held at fit."""
    values = ", ".join(repr(value) for value in dict.fromkeys(unseen[:1000]))
    learnt = ", ".join(repr(shown_value(value)) for value in estimator.categories_[column][:4].tolist())
    shown = values if len(values) <= 100 else f"{values[:100]}..."
    return (
        f"Nominal feature {shown_name(estimator, column)} (column {column}) holds values in {len(unseen)} of {n_known} "
        f"cells that {type(estimator).__name__} has not seen: {shown}; "
        f"at fit it held {learnt}{', ...' if len(estimator.categories_[column]) > 4 else ''}."
    )


def refuse_infinity(estimator: Any, values: Any) -> None:
    """Refuse an infinite number by its column."""
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
        f"Input X contains infinity in feature {shown_name(estimator, column)} (column {column}); "
        "replace it by a number or by NaN, which counts as missing."
    )


def shown_name(estimator: Any, column: int) -> str:
    """A column's name in messages."""
    names = getattr(estimator, "feature_names_in_", None)
    return repr(f"x{column}" if names is None else str(names[column]))
