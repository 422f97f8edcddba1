"""A column of text as its values, each once, and a code per row: a million rows may have few values to look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np


class TextColumn(Sequence[str | None]):
    """Cells of text, None where missing.

    Parameters
    ----------
    values : list of str
        Each value that occurs, once.
    codes : int array
        Position of each cell's value; -1 where it is missing.

    Examples
    --------
    >>> from ramify.datasets.tables.text_column import TextColumn
    >>> column = TextColumn.of(["a", None, "b", "a"])
    >>> column.values, column.codes.tolist(), list(column)
    (['a', 'b'], [0, -1, 1, 0], ['a', None, 'b', 'a'])
    """

    def __init__(self, values: list[str], codes: np.ndarray) -> None:
        self.values = values
        self.codes = codes

    @classmethod
    def of(cls, cells: Iterable[str | None]) -> TextColumn:
        """The column of some cells."""
        code_of: dict[str, int] = {}
        codes = [-1 if cell is None else code_of.setdefault(cell, len(code_of)) for cell in cells]
        return cls(list(code_of), np.array(codes, dtype=np.int64))

    @classmethod
    def of_codes(cls, values: Sequence[str], codes: np.ndarray) -> TextColumn:
        """The column with these codes into values of which each stands once."""
        return cls(list(values), np.asarray(codes, dtype=np.int64))

    def rows(self, index: np.ndarray) -> TextColumn:
        """The chosen cells, and of the values those that stand in them."""
        codes = self.codes[index]
        used = np.unique(codes[codes >= 0])
        position = np.full(len(self.values) + 1, -1, dtype=np.int64)
        position[used] = np.arange(len(used))
        return TextColumn([self.values[k] for k in used], position[codes])

    @classmethod
    def joined(cls, parts: Sequence[TextColumn]) -> TextColumn:
        """Columns one below the other."""
        if len(parts) == 1:
            return parts[0]
        code_of: dict[str, int] = {}
        codes = []
        for part in parts:
            new = [code_of.setdefault(value, len(code_of)) for value in part.values]
            codes.append(np.array([*new, -1], dtype=np.int64)[part.codes])
        return cls(list(code_of), np.concatenate(codes))

    @property
    def is_missing(self) -> np.ndarray:
        """Which cells are missing."""
        return self.codes < 0

    def taken(self, by_value: Sequence[Any] | np.ndarray, missing: Any = np.nan) -> np.ndarray:
        """An array with what belongs to each cell's value."""
        return np.append(np.asarray(by_value), missing)[self.codes]

    def row_of(self, value: str) -> int:
        """The first row that has a value."""
        return int(np.argmax(self.codes == self.values.index(value)))

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[str | None]:
        return map([*self.values, None].__getitem__, self.codes.tolist())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return list(TextColumn(self.values, self.codes[index]))
        code = int(self.codes[index])
        return None if code < 0 else self.values[code]
