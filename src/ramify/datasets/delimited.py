"""Delimited text (CSV, TSV) as a table of cells that knows where each row came from."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ramify.datasets.files import FileError, PathLike, column_of_cell, plain_name, read_text, shown

MISSING = ("", "?", "NA", "NaN", "nan", "null")

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NUMBER_CHARACTERS = frozenset("0123456789+-.eE")
_PADDED = re.compile(r"(?:^|,)[+-]?0[0-9]")
_EXACT = 2.0**53


@dataclass(frozen=True)
class Table:
    """Named columns of cells: text (None where missing), tuples of text, or an array of numbers (NaN where missing)."""

    names: list[str]
    columns: list[Any]
    paths: list[Path]
    file_of: np.ndarray
    lines: np.ndarray | None
    separator: str | None = None
    encoding: str = "utf-8"

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.file_of)

    def error(self, row: int, position: int, fault: str, advice: str) -> FileError:
        """An error that names the file, the line and the column of a cell (the row, where the file has no lines)."""
        path = self.paths[self.file_of[row]]
        if self.lines is None:
            first = int(np.argmax(self.file_of == self.file_of[row]))
            return FileError(path, f"in row {row - first + 1} {fault}", advice=advice)
        line = int(self.lines[row])
        separator = self.separator or separator_of(path)
        column = column_of_cell(path, line, position, separator, self.encoding, quotes='"')
        return FileError(path, fault, line=line, column=column, advice=advice)


def separator_of(path: PathLike) -> str:
    """Tab for .tsv and .tab files, comma for all others."""
    return "\t" if plain_name(path).lower().endswith((".tsv", ".tab")) else ","


def read_records(
    path: PathLike, *, separator: str | None = None, encoding: str = "utf-8", quotes: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """Rows of cells with the line each ends on. Blank lines are skipped, quotes must be closed."""
    text = read_text(path, encoding)
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator or separator_of(path),
        quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
        strict=True,
    )
    while True:
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise FileError(
                path,
                f"the row cannot be cut into cells ({error})",
                line=max(reader.line_num, 1),
                advice='Put cells with separators between quotes "..." and write a quote inside as "".',
            ) from None
        if not record or (len(record) == 1 and not record[0].strip()):
            continue
        yield reader.line_num, record


def without_trailing_cell(records: list[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    """Drop the empty last cell that a separator at the end of every line leaves."""
    if records and all(len(cells) > 1 and cells[-1] == "" for _, cells in records):
        return [(line, cells[:-1]) for line, cells in records]
    return records


def check_width(
    path: PathLike, records: list[tuple[int, list[str]]], width: int, what: str, separator: str | None, encoding: str
) -> None:
    """Refuse rows that are shorter or longer than the first."""
    for line, cells in records:
        if len(cells) != width:
            raise FileError(
                path,
                f"the row has {len(cells)} cells and {what} has {width}",
                line=line,
                column=column_of_cell(path, line, width, separator or separator_of(path), encoding, quotes='"'),
                advice="Leave a cell empty where a value is missing, and quote cells that hold the separator.",
            )


def read_table(paths: Sequence[Path], *, separator: str | None, encoding: str, missing: Collection[str]) -> Table:
    """Files with one header line each, which must be the same, as one table."""
    names: list[str] = []
    rows: list[list[str]] = []
    lines: list[int] = []
    file_of: list[int] = []
    for number, path in enumerate(paths):
        records = without_trailing_cell(list(read_records(path, separator=separator, encoding=encoding)))
        if not records:
            raise FileError(path, "the file is empty", line=1, advice="Write a line with the names of the columns.")
        header = [name.strip() for name in records[0][1]]
        check_width(path, records[1:], len(header), "the header", separator, encoding)
        if number == 0:
            names = header
        elif header != names:
            raise FileError(
                path,
                f"the header differs from that of {paths[0]}",
                line=records[0][0],
                advice="Files read together must have the same columns in the same order.",
            )
        rows.extend(cells for _, cells in records[1:])
        lines.extend(line for line, _ in records[1:])
        file_of.extend([number] * (len(records) - 1))
    table = table_of_rows(names, rows, list(paths), np.array(file_of, dtype=np.int64), np.array(lines), missing)
    return replace(table, separator=separator, encoding=encoding)


def table_of_rows(
    names: list[str],
    rows: list[list[str]],
    paths: list[Path],
    file_of: np.ndarray,
    lines: np.ndarray | None,
    missing: Collection[str],
) -> Table:
    """Rows of text as columns; cells are stripped of blanks, those in `missing` become None."""
    absent = frozenset(missing)
    columns: list[Any] = []
    for cells in zip(*rows, strict=True) if rows else ((),) * len(names):
        stripped = [cell.strip() for cell in cells]
        columns.append([None if cell in absent else cell for cell in stripped])
    return Table(names, columns, paths, file_of, lines)


def column_values(table: Table, position: int, *, nominal: bool) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """A column as numbers, or as codes into its sorted values.

    A column is numeric if every cell is a number. Zero-padded codes (`007`) and integers beyond 2^53 are not taken for
    numbers, since that would change them.
    """
    cells = table.columns[position]
    if isinstance(cells, np.ndarray):
        if not nominal:
            return cells, None
        cells = [None if np.isnan(value) else f"{value:.17g}" for value in cells.tolist()]
    for row, cell in enumerate(cells):
        if isinstance(cell, tuple):
            raise table.error(
                row, position, f"column {shown(table.names[position])} holds a list", "Name it as the target."
            )
        if cell is not None:
            break
    present = [cell for cell in cells if cell is not None]
    if not nominal:
        numbers = _numbers(present)
        if numbers is not None:
            values = np.full(len(cells), np.nan)
            values[np.array([cell is not None for cell in cells], dtype=bool)] = numbers
            return values, None
        _refuse_mixture(table, position, cells)
    categories = tuple(sorted(set(present)))
    code = {value: k for k, value in enumerate(categories)}
    return np.array([np.nan if cell is None else code[cell] for cell in cells], dtype=float), categories


def _numbers(present: list[str]) -> np.ndarray | None:
    """The cells as numbers if all are numbers that survive the conversion, else None."""
    if not _NUMBER_CHARACTERS.issuperset("".join(present)) or _PADDED.search(",".join(present)):
        return None
    try:
        numbers = np.fromiter(map(float, present), dtype=float, count=len(present))
    except ValueError:
        return None
    large = np.flatnonzero(np.abs(numbers) >= _EXACT)
    if any(np.isinf(numbers[k]) or present[k].lstrip("+-").isdigit() for k in large.tolist()):
        return None
    return numbers


def _refuse_mixture(table: Table, position: int, cells: list[str | None]) -> None:
    """Numbers and text in one column are more often a slip than a nominal, so the caller has to say it."""
    is_number = {cell: is_plain_number(cell) for cell in set(cells) if cell is not None}
    if not any(is_number.values()):
        return
    for row, cell in enumerate(cells):
        if cell is not None and not is_number[cell]:
            name = table.names[position]
            raise table.error(
                row,
                position,
                f"{shown(cell)} stands in column {shown(name)}, which holds numbers",
                f"Correct the cell, leave it empty if it is missing, or pass categorical=[{name!r}].",
            )


def is_plain_number(text: str) -> bool:
    """Whether a cell is a number that loses nothing when read as one."""
    return _NUMBER.fullmatch(text) is not None and _numbers([text]) is not None
