"""Delimited text (CSV, TSV) as a table of cells that knows where each row came from."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ramify import _core
from ramify.datasets.readers.raw_files import (
    FileError,
    PathLike,
    column_of_cell,
    decoded,
    read_bytes,
    shown,
    without_bom,
)
from ramify.datasets.readers.text_layout import TextLayout, text_layout
from ramify.datasets.text_column import TextColumn
from ramify.features.categories import canonical_value
from ramify.features.number_notation import strays

MISSING = ("", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL")

_NEAR_THE_TOP = 20
_ABOVE = "If the columns' names stand in this line, remove the lines above it."

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NUMBER_CHARACTERS = frozenset("0123456789+-.eE")
_PADDED = re.compile(r"(?:^|,)[+-]?0[0-9]")
_BLANKS = " \t\r\n\v\f"  # as of the core; other spaces are cells
_EXACT = 2.0**53
_PLAIN_ENCODINGS = {"utf-8", "ascii", "iso8859-1", "cp1252"}


@dataclass(frozen=True)
class Table:
    """Named columns: a `TextColumn`, a list of tuples of text, or an array of numbers (NaN where missing)."""

    names: list[str]
    columns: list[Any]
    paths: list[Path]
    file_of: np.ndarray
    lines: np.ndarray | None
    layouts: tuple[TextLayout, ...] = ()
    nominal: frozenset[int] = frozenset()
    """Positions of the columns that the file itself calls nominal."""
    notes: tuple[str, ...] = ()
    """What was found rather than said, a sentence each."""

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
        column = _column_of(path, line, position, self.layouts[self.file_of[row]])
        return FileError(path, fault, line=line, column=column, advice=advice)


def _column_of(path: PathLike, line: int, position: int, layout: TextLayout) -> int | None:
    """Where a cell begins in its line; lines of UTF-16 are not told apart by their bytes."""
    if layout.is_wide:
        return None
    return column_of_cell(path, line, position, layout.separator, layout.encoding, quotes='"')


def _read_text_file(path: PathLike, separator: str | None, encoding: str | None) -> tuple[bytes, TextLayout]:
    """The content of a file, without byte-order mark and never UTF-16, and how it is written."""
    raw = read_bytes(path)
    layout = text_layout(path, raw, separator, encoding)
    if layout.is_wide:
        return decoded(path, raw, layout.encoding).removeprefix("\ufeff").encode("utf-8", "surrogatepass"), layout
    return without_bom(path, raw), layout


def _encoding_of_content(layout: TextLayout) -> str:
    """The encoding of what `_read_text_file` returns."""
    return "utf-8" if layout.is_wide else layout.encoding


def read_records(
    path: PathLike, *, separator: str | None, encoding: str | None = "utf-8", quotes: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """Rows of cells with the line each ends on. Blank lines are skipped, quotes must be closed."""
    content, layout = _read_text_file(path, separator, encoding)
    yield from _cut_records(path, decoded(path, content, _encoding_of_content(layout)), layout.separator, quotes=quotes)


def read_layout_records(
    path: PathLike, separator: str | None, encoding: str | None
) -> tuple[list[tuple[int, list[str]]], TextLayout]:
    """Rows of cells as of `read_records`, and how the file is written."""
    content, layout = _read_text_file(path, separator, encoding)
    text = decoded(path, content, _encoding_of_content(layout))
    return list(_cut_records(path, text, layout.separator)), layout


def _cut_records(path: PathLike, text: str, separator: str, *, quotes: bool = True) -> Iterator[tuple[int, list[str]]]:
    """The rows of cells of a text; its path is for messages."""
    line = ""

    def lines() -> Iterator[str]:
        nonlocal line
        for piece in io.StringIO(text, newline=""):
            line = piece
            yield piece

    reader = csv.reader(
        lines(),
        delimiter=separator,
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
        if not record or (len(record) == 1 and not line.strip(_BLANKS)):  # a quoted blank is a cell
            continue
        yield reader.line_num, record


def without_trailing_cell(records: list[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    """Drop the empty last cell that a separator at the end of every line leaves."""
    if records and all(len(cells) > 1 and cells[-1] == "" for _, cells in records):
        return [(line, cells[:-1]) for line, cells in records]
    return records


def check_width(
    path: PathLike, records: list[tuple[int, list[str]]], width: int, what: str, layout: TextLayout
) -> None:
    """Refuse rows that are shorter or longer than the first."""
    for line, cells in records:
        if len(cells) != width:
            raise FileError(
                path,
                f"the row has {len(cells)} cells and {what} has {width}",
                line=line,
                column=_column_of(path, line, width, layout),
                advice="Leave a cell empty where a value is missing, and quote cells that hold the separator."
                + (f" {_ABOVE}" if width < len(cells) and line < _NEAR_THE_TOP else ""),
            )


def read_table(
    paths: Sequence[Path],
    *,
    separator: str | None,
    encoding: str | None,
    missing: Collection[str],
    as_text: Callable[[list[str]], set[int]],
) -> Table:
    """Files with one header line each, which must be the same, as one table.

    Columns whose cells are all numbers are arrays, except those whose positions `as_text` returns for the names.
    """
    parts = [_read_part(path, separator, encoding, missing, as_text) for path in paths]
    names = parts[0].names
    for path, part in zip(paths, parts, strict=True):
        if part.names != names:
            raise FileError(
                path,
                f"the header differs from that of {paths[0]}",
                line=1,
                column=1,
                advice="Files read together must have the same columns in the same order.",
            )
    text = {j for part in parts for j, column in enumerate(part.columns) if not isinstance(column, np.ndarray)}
    if any(isinstance(part.columns[j], np.ndarray) for part in parts for j in text):
        parts = [_read_part(path, separator, encoding, missing, lambda _: text) for path in paths]
    columns = [
        TextColumn.joined(of_column) if j in text else _below_one_another(of_column)
        for j, of_column in enumerate(zip(*(part.columns for part in parts), strict=True))
    ]
    return Table(
        names,
        columns,
        list(paths),
        np.repeat(np.arange(len(paths)), [part.n_rows for part in parts]),
        np.concatenate([part.lines for part in parts]),
        tuple(part.layouts[0] for part in parts),
        notes=tuple(dict.fromkeys(told for part in parts for told in part.layouts[0].notes)),
    )


def _below_one_another(parts: Sequence[np.ndarray]) -> np.ndarray:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _read_part(
    path: Path,
    separator: str | None,
    encoding: str | None,
    missing: Collection[str],
    as_text: Callable[[list[str]], set[int]],
) -> Table:
    """One file. The core reads regular ones; the others are read, or refused with the place, cell by cell."""
    content, layout = _read_text_file(path, separator, encoding)
    table = _read_regular(path, content, layout, missing, as_text)
    if table is not None:
        return table
    text = decoded(path, content, _encoding_of_content(layout))
    records = without_trailing_cell(list(_cut_records(path, text, layout.separator)))
    if not records:
        raise FileError(path, "the file is empty", line=1, advice="Write a line with the names of the columns.")
    names = [name.strip() for name in records[0][1]]
    check_width(path, records[1:], len(names), "the header", layout)
    rows = [cells for _, cells in records[1:]]
    lines = np.array([line for line, _ in records[1:]], dtype=np.int64)
    return table_of_rows(names, rows, [path], np.zeros(len(rows), dtype=np.int64), lines, missing, (layout,))


def _read_regular(
    path: Path,
    content: bytes,
    layout: TextLayout,
    missing: Collection[str],
    as_text: Callable[[list[str]], set[int]],
) -> Table | None:
    """A file by the core, or None where rows differ in width, quotes stray or bytes need a closer look."""
    encoding, separator = _encoding_of_content(layout), layout.separator
    is_plain = codecs.lookup(encoding).name in _PLAIN_ENCODINGS
    if not (is_plain and content.isascii()):
        decoded(path, content, encoding)
    if not is_plain or len(separator.encode()) != 1 or separator in '"\r\n':
        return None
    if b"\x00" in content or (b"\r" in content and content.count(b"\r") != content.count(b"\r\n")):
        return None
    header, start = _header_line(content)
    if not header or b'"' in header:
        return None
    names = [name.strip() for name in header.decode(encoding).split(separator)]
    keep_text = as_text(names) | ({len(names) - 1} if len(names) > 1 and not names[-1] else set())
    is_text = np.zeros(len(names), dtype=np.uint8)
    is_text[sorted(keep_text)] = 1
    words = [word.encode(encoding) for word in missing]
    found = _core.delimited_columns(
        np.frombuffer(content, dtype=np.uint8)[start:],
        separator=ord(separator),
        as_text=is_text,
        missing_text=np.frombuffer(b"".join(words), dtype=np.uint8),
        missing_offsets=np.concatenate([[0], np.cumsum([len(word) for word in words])]).astype(np.int64),
    )
    if not found["is_regular"]:
        return None
    columns = _regular_columns(content, start, found, encoding, frozenset(missing))
    if len(names) > 1 and not names[-1] and not columns[-1].values:
        names, columns = names[:-1], columns[:-1]
    lines = found["lines"] + content[:start].count(b"\n") + 1
    return Table(names, columns, [path], np.zeros(len(lines), dtype=np.int64), lines, (layout,))


def _header_line(content: bytes) -> tuple[bytes, int]:
    """The first line that is not blank, and where the next one begins."""
    start = 0
    while start < len(content):
        end = content.find(b"\n", start)
        end = len(content) if end < 0 else end
        if content[start:end].strip():
            return content[start:end], min(end + 1, len(content))
        start = end + 1
    return b"", len(content)


def _regular_columns(
    content: bytes, first: int, found: dict[str, Any], encoding: str, missing: frozenset[str]
) -> list[Any]:
    """Columns of numbers and of text; spans count from the first byte below the header."""
    columns: list[Any] = list(found["numbers"])
    for position in np.flatnonzero(found["is_text"]).tolist():
        codes, *spans = found["texts"][position]
        code_of: dict[str, int] = {}
        known = []
        for start, end, is_quoted in zip(*(part.tolist() for part in spans), strict=True):
            value = content[first + start : first + end].decode(encoding).strip()
            if is_quoted:
                value = value.replace('""', '"')
            known.append(-1 if value in missing else code_of.setdefault(value, len(code_of)))
        columns[position] = TextColumn(list(code_of), np.array(known, dtype=np.int64)[codes])
    return columns


def table_of_rows(
    names: list[str],
    rows: list[list[str]],
    paths: list[Path],
    file_of: np.ndarray,
    lines: np.ndarray | None,
    missing: Collection[str],
    layouts: tuple[TextLayout, ...] = (),
) -> Table:
    """Rows of text as columns; cells are stripped of blanks, those in `missing` become None."""
    absent = frozenset(missing)
    columns: list[Any] = []
    for cells in zip(*rows, strict=True) if rows else ((),) * len(names):
        stripped = (cell.strip() for cell in cells)
        columns.append(TextColumn.of(None if cell in absent else cell for cell in stripped))
    return Table(names, columns, paths, file_of, lines, layouts)


def column_values(table: Table, position: int, *, nominal: bool) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """A column as numbers, or as codes into its sorted values.

    A column is numeric if every cell is a number. Zero-padded codes (`007`) and integers beyond 2^53 are not taken for
    numbers, since that would change them.
    """
    cells = table.columns[position]
    if isinstance(cells, np.ndarray):
        if not nominal:
            return cells, None
        cells = TextColumn.of(None if np.isnan(value) else canonical_value(value) for value in cells.tolist())
    if not isinstance(cells, TextColumn):
        row = next((row for row, cell in enumerate(cells) if cell is not None), 0)
        raise table.error(
            row, position, f"column {shown(table.names[position])} holds a list", "Name it as the target."
        )
    if not nominal:
        numbers = _numbers(cells.values)
        if numbers is not None:
            return cells.taken(numbers), None
        _refuse_mixture(table, position, cells)
    categories = tuple(sorted(cells.values))
    code = {value: float(k) for k, value in enumerate(categories)}
    return cells.taken([code[value] for value in cells.values]), categories


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


def _refuse_mixture(table: Table, position: int, cells: TextColumn) -> None:
    """Numbers and text in one column are more often a slip than a nominal, so the caller has to say it."""
    other = strays(cells.values) or [value for value in cells.values if not is_plain_number(value)]
    if other and len(other) < len(cells.values):
        raise stray_error(table, position, other, f"categorical=[{table.names[position]!r}] (--nominal)")


def stray_error(table: Table, position: int, other: list[str], option: str) -> FileError:
    """What to say of a column of numbers that holds something else; the option takes it for text."""
    cells = table.columns[position]
    row = min(map(cells.row_of, other)) if len(other) < 100 else cells.row_of(other[0])
    return table.error(
        row,
        position,
        f"{shown(cells[row])} stands in column {shown(table.names[position])}, which holds numbers",
        f"Correct the cell, leave it empty if it is missing, or say {option}."
        + (f" {_ABOVE}" if row == 0 and len(other) == 1 else ""),
    )


def are_plain_numbers(present: list[str]) -> bool:
    """Whether all cells are numbers that lose nothing when read as such."""
    return bool(present) and _numbers(present) is not None


def is_plain_number(text: str) -> bool:
    """Whether a cell is a number that loses nothing when read as one."""
    return _NUMBER.fullmatch(text) is not None and _numbers([text]) is not None
