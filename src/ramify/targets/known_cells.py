"""The cells of y: which are missing, and whether the others are 0 and 1."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from ramify.features.categories import is_missing


def holds_only_0_and_1(values: np.ndarray) -> bool:
    """Whether the values are numbers, and none is other than 0 and 1."""
    if values.dtype.kind not in "biuf":
        return False
    return bool(((values == 0) | (values == 1)).all())


def missing_cells(values: np.ndarray) -> np.ndarray:
    """Where cells hold NaN, None or another missing value."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype != object:
        return np.zeros(values.shape, dtype=bool)
    missing = np.array([is_missing(value) for value in values.ravel().tolist()], dtype=bool)
    return missing.reshape(values.shape)


def as_numbers(values: np.ndarray) -> np.ndarray:
    """Cells of objects as floats with NaN where one is missing, if all others are numbers; infinity is refused."""
    if values.dtype == object:
        missing = missing_cells(values)
        if missing.any() and all(map(_is_number, values[~missing].tolist())):
            values = np.where(missing, np.nan, values).astype(np.float64)
    _refuse_infinity(values)
    return values


def known_part(values: np.ndarray) -> np.ndarray:
    """The cells that are not missing, in one row."""
    known = values[~missing_cells(values)]
    return known.astype(np.float64) if known.dtype == object and all(map(_is_number, known.tolist())) else known


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, Real))


def refuse_unknown(row: int) -> None:
    """Refuse a target that is known in part, with the first row that has an unknown cell."""
    raise ValueError(
        f"Input y contains NaN (first in row {row}), but a complete target is needed here. Label sets, hierarchies and "
        "several numbers with unknown cells are taken by forests, boosted trees, Relief and chains, targets side by "
        "side by MixedForest; remove those rows or fill the cells in."
    )


def refuse_missing(values: np.ndarray) -> np.ndarray:
    """Return the values, or refuse them with the first row that has none."""
    missing = missing_cells(values)
    if missing.any():
        refuse_unknown(int(np.argwhere(missing)[0][0]))
    _refuse_infinity(values)
    return values


def _refuse_infinity(values: np.ndarray) -> None:
    if values.dtype.kind == "f" and np.isinf(values).any():
        row = int(np.argwhere(np.isinf(values))[0][0])
        raise ValueError(
            f"Input y contains infinity (first in row {row}); labels are 0 and 1, classes any finite value."
        )
