"""Values of nominal features, compared by value whatever file or frame held them, and the codes that stand for them.

One canonical form decides what is the same value: a number is its exact decimal text (1.0 is "1", integers of any size
are exact), true and false are 1 and 0, a text that spells one of these is that number, and any other text is itself.

Of columns with many values the rare ones are one value, `OTHER`, which also stands for values that fit did not see.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from scipy import sparse

from ramify.features.frames import LARGEST_EXACT

MAX_CATEGORIES = 4096
"""Largest number of values of a nominal feature that the kernels take."""

OTHER = "(other)"
"""The value that stands for rare and unseen ones; always the last of its column."""

_FEW = 40
"""Columns with at most so many values keep all of them."""

_NUMERAL = re.compile(r"-?(?:0|[1-9][0-9]{0,308})(?:\.[0-9]{1,400})?(?:[eE][+-]?[0-9]{1,4})?")
_TRUTH = {"true": "1", "false": "0"}


def canonical_value(value: Any) -> str:
    """The one text that stands for a value, however it was written.

    Examples
    --------
    >>> from ramify.features.categories import canonical_value
    >>> [canonical_value(value) for value in (1, 1.0, "1.0", True, "true", "007", 2**60 + 1)]
    ['1', '1', '1', '1', '1', '007', '1152921504606846977']
    """
    if isinstance(value, str):
        if value.lower() in _TRUTH:
            return _TRUTH[value.lower()]
        if not _NUMERAL.fullmatch(value):
            return value
        value = int(value) if value.lstrip("-").isdigit() else float(value)
    if isinstance(value, (bool, np.bool_, int, np.integer)):
        return str(int(value))
    number = float(value)
    return str(int(number)) if number.is_integer() else repr(number)


def values_of(column: Any, name: str) -> np.ndarray:
    """Distinct values of a nominal column in their canonical order; numbers as numbers, anything else as text.

    Zero comes first, so that absent cells of a sparse column stay absent, then the numbers, then the texts.
    Integers too large to be told apart as doubles are text.
    """
    if column.dtype.kind in "iub":
        distinct = np.unique(column)
        if (
            column.dtype.kind == "b"
            or not distinct.size
            or max(abs(int(distinct[0])), int(distinct[-1])) <= LARGEST_EXACT
        ):
            return _numbers_in_order(distinct.astype(np.float64))
        return _texts_in_order({str(value) for value in distinct.tolist()})
    if column.dtype.kind == "f":
        return _numbers_in_order(np.unique(column[~np.isnan(column)].astype(np.float64)))
    present = [value for value in column.tolist() if not is_missing(value)]
    others = [value for value in present if not isinstance(value, str)]
    unusual = {type(value).__name__ for value in others if not isinstance(value, _NUMBERS)}
    if unusual:
        shown = ", ".join(sorted(unusual))
        raise TypeError(f"Feature {name} is nominal; its values must be strings or numbers. Got {shown}.")
    if len(others) == len(present):
        if all(isinstance(value, (float, np.floating)) or abs(int(value)) <= LARGEST_EXACT for value in others):
            return _numbers_in_order(np.unique(np.array(others, dtype=np.float64)))
        return _texts_in_order({canonical_value(value) for value in others})
    texts = {value for value in present if isinstance(value, str)}
    _refuse_both(texts, others, name)
    return _texts_in_order(texts | {shown_value(value) for value in others})


def with_other(column: Any, values: np.ndarray, n_rows: int) -> np.ndarray:
    """The values that stay apart: all of up to 40, else the 4,095 most frequent that occur twice, and `OTHER`.

    Parameters
    ----------
    column : array
        Cells, of which those equal to 0 may be fewer than the rows that hold it: one stands for all that are absent.
    values : array
        What `values_of` gives for them.
    n_rows : int
        Number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.features.categories import values_of, with_other
    >>> names = np.array(["Ada", "Ben", *(f"guest {k}" for k in range(60)), "Ada", "Ben", "Ben"], dtype=object)
    >>> with_other(names, values_of(names, "name"), len(names)).tolist()
    ['Ada', 'Ben', '(other)']
    """
    if len(values) <= _FEW:
        return values
    codes = codes_of(column, values)
    counts = np.bincount(codes[~np.isnan(codes)].astype(np.intp), minlength=len(values))
    if n_rows > len(column):
        counts[int(codes_of(np.zeros(1), values)[0])] += n_rows - len(column)
    return frequent_values(values, counts)


def frequent_values(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The same from how often each value occurs.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.features.categories import frequent_values
    >>> frequent_values(np.array(["a", "b"], dtype=object), np.array([7, 1])).tolist()
    ['a', 'b']
    """
    if len(values) <= _FEW:
        return values
    stays = counts > 1
    if stays.sum() > MAX_CATEGORIES - (not stays.all()):
        stays[np.argsort(-counts, kind="stable")[MAX_CATEGORIES - 1 :]] = False
    if stays.all():
        return values
    kept = [shown_value(value) for value in values[stays].tolist()]
    return np.array([*(value for value in kept if value != OTHER), OTHER], dtype=object)


def codes_of(column: Any, values: np.ndarray) -> np.ndarray:
    """Position in `values` of each entry, found by value, or that of `OTHER`; NaN for missing and unknown entries."""
    codes = _known_codes(column, values)
    if len(values) and isinstance(values[-1], str) and values[-1] == OTHER:
        unknown = np.flatnonzero(np.isnan(codes))
        present = [not is_missing(cell) for cell in column[unknown].tolist()]
        codes[unknown[present]] = len(values) - 1
    return codes


def _known_codes(column: Any, values: np.ndarray) -> np.ndarray:
    kind = column.dtype.kind
    if values.dtype.kind == "f" and kind in "fiub" and _as_doubles_exact(column):
        return _positions_of_numbers(column.astype(np.float64), values)
    if kind in "fiub":
        distinct, place = np.unique(column, return_inverse=True)
        return _known_codes(np.array(distinct.tolist(), dtype=object), values)[place.reshape(len(column))]
    texts = values.tolist() if values.dtype.kind != "f" else []
    position_of = {text: float(position) for position, text in enumerate(texts)}
    canonical = _canonical_positions(values)
    cells = column.tolist()
    codes = np.array([position_of.get(cell, -1.0) if isinstance(cell, str) else -1.0 for cell in cells], dtype=float)
    others: dict[tuple[type, Any], float] = {}
    for row in np.flatnonzero(codes < 0).tolist():
        cell = cells[row]
        if not isinstance(cell, (str, *_NUMBERS)) or is_missing(cell):
            codes[row] = np.nan
            continue
        if (type(cell), cell) not in others:
            others[type(cell), cell] = canonical.get(canonical_value(cell), np.nan)
        codes[row] = others[type(cell), cell]
    return codes


def unseen_values(column: Any, codes: np.ndarray) -> list[str]:
    """Entries of a column that are there but have no code, each as it is shown to people."""
    rows = np.flatnonzero(np.isnan(codes))
    return [shown_value(cell) for cell in column[rows].tolist() if not is_missing(cell)]


def with_coded_zeros(codes: sparse.csc_array, categories: list[Any]) -> sparse.csc_array:
    """Absent cells as the code of zero where that is not 0, as missing where fit has not seen a zero."""
    n_rows = codes.shape[0]
    full = np.diff(codes.indptr) == n_rows
    nominal = [(j, values) for j, values in enumerate(categories) if not (full[j] or _starts_with_zero(values))]
    code_of_zero = {j: float(codes_of(np.zeros(1), values)[0]) for j, values in nominal}
    code_of_zero = {j: code for j, code in code_of_zero.items() if code != 0}
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


def _starts_with_zero(values: Any) -> bool:
    """Whether a column is numeric, or nominal with 0 as its first value, whose code is 0."""
    return values is None or (len(values) > 0 and values[0] == 0)


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
        or (isinstance(value, (float, np.floating)) and bool(np.isnan(value)))
        or type(value).__name__ in ("NAType", "NaTType")
    )


_NUMBERS = (bool, np.bool_, int, np.integer, float, np.floating)


def shown_value(value: Any) -> str:
    """A value as the text that categories hold and people read."""
    return str(value) if isinstance(value, (str, bool, np.bool_)) else canonical_value(value)


def _numbers_in_order(distinct: np.ndarray) -> np.ndarray:
    """Sorted numbers with zero, where it occurs, in front."""
    is_zero = distinct == 0
    return np.concatenate([np.abs(distinct[is_zero]), distinct[~is_zero]])


def _texts_in_order(texts: set[str]) -> np.ndarray:
    """Texts in the order that the numbers they spell have, the others after them."""

    def place(text: str) -> tuple[bool, bool, Any, str]:
        canonical = canonical_value(text)
        if not _NUMERAL.fullmatch(canonical):
            return True, False, 0, text
        number = int(canonical) if canonical.lstrip("-").isdigit() else float(canonical)
        return False, number != 0, number, text

    return np.array(sorted(texts, key=place), dtype=object)


def _as_doubles_exact(column: Any) -> bool:
    """Whether numbers are told apart as doubles."""
    if column.dtype.kind in "fb" or column.dtype.itemsize < 8 or not column.size:
        return True
    return max(abs(int(column.min())), abs(int(column.max()))) <= LARGEST_EXACT


def _positions_of_numbers(numbers: np.ndarray, values: np.ndarray) -> np.ndarray:
    if not len(values):
        return np.full(len(numbers), np.nan)
    order = np.argsort(values)
    position = order[np.minimum(np.searchsorted(values, numbers, sorter=order), len(values) - 1)]
    return np.where(values[position] == numbers, position, np.nan)


def _canonical_positions(values: np.ndarray) -> dict[str, float]:
    """Position of each canonical form; none where two values share it, which only their own text tells apart."""
    positions: dict[str, float] = {}
    shared = set()
    for position, value in enumerate(values.tolist()):
        canonical = canonical_value(value)
        if canonical in positions:
            shared.add(canonical)
        positions[canonical] = float(position)
    return {canonical: position for canonical, position in positions.items() if canonical not in shared}


def _refuse_both(texts: set[str], others: list[Any], name: str) -> None:
    spelled = {canonical_value(text): text for text in texts}
    for value in others:
        text = spelled.get(canonical_value(value))
        if text is not None:
            raise ValueError(
                f"Nominal feature {name} holds both the number {shown_value(value)} and the text {text!r}, one "
                "value written in two ways. Give all values of the column as text, or all as numbers."
            )
