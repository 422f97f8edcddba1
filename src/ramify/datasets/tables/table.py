"""Table: named columns of numbers or text, whatever file or frame they came from."""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from ramify.datasets.tables.text_column import TextColumn

MISSING = ("", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "<NA>")
"""Cells that hold nothing."""

_BLANK_SIGNS = frozenset({"-", "--", "---", "–", "—", ".", "..", "...", "*"})
"""Cells that hold nothing where others hold a letter or a digit."""

_SAYS_SOMETHING = re.compile(r"[^\W_]")

LARGEST_EXACT = 2.0**53


@dataclass(frozen=True)
class Table:
    """Columns by position: an array of numbers (NaN where missing), a `TextColumn`, or a list of tuples of text."""

    names: list[str]
    columns: list[Any]
    paths: list[Path] = field(default_factory=list)
    file_of: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    nominal: frozenset[int] = frozenset()
    """Columns that the file or frame itself calls nominal."""
    dates: frozenset[int] = frozenset()
    """Columns that it calls dates: their text is ISO 8601."""
    notes: tuple[str, ...] = ()
    """What was found rather than said, a sentence each."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0]) if self.columns else len(self.file_of)

    def rows(self, index: np.ndarray) -> Table:
        """The chosen rows."""
        columns = [
            column.rows(index)
            if isinstance(column, TextColumn)
            else column[index]
            if isinstance(column, np.ndarray)
            else [column[k] for k in index.tolist()]
            for column in self.columns
        ]
        return replace(self, columns=columns, file_of=self.file_of[index])


def table_of_frame(frame: Any, missing: Collection[str] = MISSING, paths: Sequence[Path] = ()) -> Table:
    """The columns of a frame: of pandas, of any kind that narwhals knows, or of the Arrow PyCapsule interface."""
    if not isinstance(frame, pd.DataFrame):
        known = nw.from_native(frame, eager_only=True, pass_through=True)
        frame = (nw.from_arrow(frame, backend="pyarrow") if known is frame else known).to_pandas()
    names, columns, nominal, dates, notes = [], [], set(), set(), []
    absent = frozenset(missing)
    for j, (name, series) in enumerate(frame.items()):
        if isinstance(series.dtype, pd.CategoricalDtype):
            nominal.add(j)
        if series.dtype.kind == "M":
            dates.add(j)
        names.append(str(name).strip())
        columns.append(column_of_series(series, absent))
        if n_infinite := _n_infinite(series):
            notes.append(f"{name}: {n_infinite} infinite cells count as missing.")
    return Table(
        names,
        columns,
        list(paths),
        np.zeros(len(frame), dtype=np.int64),
        frozenset(nominal),
        frozenset(dates),
        tuple(notes),
    )


def _n_infinite(series: pd.Series) -> int:
    if series.dtype.kind != "f":
        return 0
    numbers = series.to_numpy(float, na_value=np.nan)
    ends = np.fmin.reduce(numbers, initial=0.0), np.fmax.reduce(numbers, initial=0.0)
    return int(np.isinf(numbers).sum()) if np.isinf(ends).any() else 0


def column_of_series(series: pd.Series, missing: frozenset[str]) -> Any:
    """A column of pandas as numbers where they survive that, else as text."""
    kind = series.dtype.kind
    if isinstance(series.dtype, pd.CategoricalDtype):
        values = [cell_text(value) for value in series.cat.categories]
        return _text_column(values, np.asarray(series.cat.codes, dtype=np.int64), missing)
    if kind == "m":
        return np.asarray(series.dt.total_seconds(), dtype=float)
    if kind == "M":
        return _text_of_dates(series)
    if kind == "b" or kind in "iuf":
        return _numbers_of(series, missing)
    if isinstance(series.dtype, pd.StringDtype):
        codes, values = pd.factorize(series)
        return _text_column(values.tolist(), codes, missing)
    return _column_of_objects(series, missing)


def _numbers_of(series: pd.Series, missing: frozenset[str]) -> Any:
    """Numbers as doubles; whole numbers beyond 2^53 are names and stay text."""
    numbers = series.to_numpy(dtype=float, na_value=np.nan)
    largest = max(np.fmax.reduce(numbers, initial=0.0), -np.fmin.reduce(numbers, initial=0.0))
    if series.dtype.kind in "iu" and largest >= LARGEST_EXACT:
        return _column_of_objects(series.astype(object), missing)
    return np.where(np.isinf(numbers), np.nan, numbers) if np.isinf(largest) else numbers


def _text_of_dates(series: pd.Series) -> TextColumn:
    codes, values = pd.factorize(series)
    return TextColumn.of_codes([cell_text(value.to_pydatetime()) for value in pd.DatetimeIndex(values)], codes)


def _column_of_objects(series: pd.Series, missing: frozenset[str]) -> Any:
    """Text, Python objects or lists of text."""
    cells = series.to_numpy(dtype=object, na_value=None)
    first = next((cell for cell in cells if cell is not None), None)
    if isinstance(first, (list, tuple, set, frozenset, np.ndarray)):
        return [None if cell is None else tuple(str(part).strip() for part in cell) for cell in cells]
    codes, values = pd.factorize(cells)
    if len(values) and all(isinstance(value, (bool, np.bool_)) for value in values):
        return np.append(np.array([float(value) for value in values]), np.nan)[codes]
    if len(values) and all(is_number(value) for value in values):
        numbers = np.array([float(value) for value in values])
        if (np.abs(numbers) < LARGEST_EXACT).all():
            return np.append(numbers, np.nan)[codes]
    return _text_column([cell_text(value) for value in values], codes, missing)


def _text_column(values: Sequence[str], codes: np.ndarray, missing: frozenset[str]) -> Any:
    """Text by codes; values that say the same are one, words for missing are none; true and false are 1 and 0."""
    code_of: dict[str, int] = {}
    stripped = [value.strip() for value in values]
    if not _BLANK_SIGNS.isdisjoint(stripped) and any(_SAYS_SOMETHING.search(value) for value in stripped):
        missing |= _BLANK_SIGNS
    new = [-1 if value in missing else code_of.setdefault(value, len(code_of)) for value in stripped]
    codes = np.array([*new, -1], dtype=np.int64)[codes]
    if code_of and {value.lower() for value in code_of} <= {"true", "false"}:
        return np.array([*(float(value.lower() == "true") for value in code_of), np.nan])[codes]
    used = np.unique(codes[codes >= 0])
    if len(used) < len(code_of):  # categories that no row has
        position = np.full(len(code_of) + 1, -1)
        position[used] = np.arange(len(used))
        kept = list(code_of)
        return TextColumn.of_codes([kept[k] for k in used], position[codes])
    return TextColumn.of_codes(list(code_of), codes)


def is_number(value: Any) -> bool:
    """Whether a Python object is a number, and no truth value."""
    return isinstance(value, (int, float, np.number, Decimal)) and not isinstance(value, (bool, np.bool_))


def cell_text(value: Any) -> str:
    """A cell as text; dates as in ISO 8601, whole numbers without a point."""
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(sep=" ")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (float, np.floating)) and float(value).is_integer() and abs(float(value)) < LARGEST_EXACT:
        return str(int(value))
    return str(value)


def below_one_another(parts: Sequence[Any]) -> Any:
    """Columns of several files as one: text where one of them is text."""
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    if any(isinstance(part, list) for part in parts):
        return [cell for part in parts for cell in part]
    return TextColumn.joined([as_text(part) for part in parts])


def as_text(column: Any) -> TextColumn:
    """A column of numbers as the text that people would write."""
    if isinstance(column, TextColumn):
        return column
    if isinstance(column, np.ndarray):
        codes, values = pd.factorize(column)
        return TextColumn.of_codes(number_texts(values), codes)
    return TextColumn.of(None if cell is None else "|".join(cell) for cell in column)


def number_texts(values: np.ndarray) -> list[str]:
    """Numbers with all their digits, whole ones without a point."""
    if len(values) and np.abs(values).max() < LARGEST_EXACT and (values == np.floor(values)).all():
        return list(map(str, values.astype(np.int64).tolist()))
    return [str(int(v)) if v.is_integer() and abs(v) < LARGEST_EXACT else repr(v) for v in values.tolist()]


def missing_cells(column: Any) -> np.ndarray:
    """Which cells of a column hold nothing."""
    if isinstance(column, TextColumn):
        return column.is_missing
    return (
        np.isnan(column) if isinstance(column, np.ndarray) else np.array([cell is None for cell in column], dtype=bool)
    )


def joined(tables: Iterable[Table]) -> Table:
    """Tables with the same columns as one, in their order."""
    parts = list(tables)
    if len(parts) == 1:
        return parts[0]
    columns = [below_one_another(of_column) for of_column in zip(*(part.columns for part in parts), strict=True)]
    return replace(
        parts[0],
        columns=columns,
        paths=[path for part in parts for path in part.paths],
        file_of=np.repeat(np.arange(len(parts)), [part.n_rows for part in parts]),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
    )
