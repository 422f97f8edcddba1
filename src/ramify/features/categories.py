"""Values of nominal features and the codes that stand for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def values_of(column: Any, name: str) -> np.ndarray:
    """Distinct values of a nominal column, sorted; numbers as numbers, anything else as text."""
    if column.dtype.kind in "fiub":
        values = column.astype(np.float64)
        return np.unique(values[~np.isnan(values)])
    present = [value for value in column.tolist() if not is_missing(value)]
    if all(isinstance(value, (int, float, np.number)) and not isinstance(value, bool) for value in present):
        return np.unique(np.array(present, dtype=np.float64))
    kinds = {type(value) for value in present}
    if not kinds <= {str, bool, int, float, np.str_, np.bool_}:
        unusual = sorted(kind.__name__ for kind in kinds - {str, bool, int, float})
        raise TypeError(f"Feature {name} is nominal; its values must be strings or numbers. Got {', '.join(unusual)}.")
    return np.array(sorted({str(value) for value in present}), dtype=object)


def zero_first(values: np.ndarray) -> np.ndarray:
    """The values with zero, where it occurs, in front."""
    is_zero = values == 0
    return np.concatenate([values[is_zero], values[~is_zero]])


def with_coded_zeros(codes: sparse.csc_array, categories: list[Any]) -> sparse.csc_array:
    """Absent cells as the code of zero where that is not 0, as missing where fit has not seen a zero."""
    n_rows = codes.shape[0]
    full = np.diff(codes.indptr) == n_rows
    nominal = [(j, values) for j, values in enumerate(categories) if values is not None and not full[j]]
    code_of_zero = {j: float(codes_of(np.zeros(1), values)[0]) for j, values in nominal if not (values[:1] == 0).all()}
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


def codes_of(column: Any, values: np.ndarray) -> np.ndarray:
    """Position of each entry in `values`; NaN for missing and for values that are not there."""
    if values.dtype.kind == "f":
        numbers = (
            np.array(
                [np.nan if is_missing(value) or isinstance(value, str) else value for value in column.tolist()],
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
        [np.nan if is_missing(value) else position_of.get(str(value), np.nan) for value in column.tolist()],
        dtype=np.float64,
    )


def as_numbers(column: Any, name: str) -> np.ndarray:
    """A numeric column, None as NaN; text is refused by its name."""
    if column.dtype == object:
        column = np.array([np.nan if value is None else value for value in column.tolist()], dtype=object)
    try:
        return column.astype(np.float64)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"Feature {name} is numeric, but {error}. Declare it in categorical_features, or make it numeric."
        ) from None


def is_missing(value: Any) -> bool:
    """Whether a cell stands for no value: None, NaN, or a missing marker of pandas."""
    return (
        value is None
        or (isinstance(value, (float, np.floating)) and np.isnan(value))
        or type(value).__name__
        in (
            "NAType",
            "NaTType",
        )
    )
