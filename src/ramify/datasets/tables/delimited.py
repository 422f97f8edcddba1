"""Delimited text (CSV, TSV): whole tables by pandas, or records one by one."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import re
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from ramify.datasets.readers.raw_files import (
    FileError,
    PathLike,
    column_of_cell,
    decoded,
    read_bytes,
    shown,
    without_bom,
)
from ramify.datasets.tables.table import LARGEST_EXACT, MISSING, Table, column_of_series, joined, table_of_frame
from ramify.datasets.tables.text_layout import TextLayout, text_layout

_NEAR_THE_TOP = 20
_ABOVE = "If the columns' names stand in this line, remove the lines above it."
_BLANKS = " \t\r\n\v\f"
_LONE_RETURN = re.compile(rb"\r(?!\n)")
_PADDING = 8
_IS_DIGIT, _SEPARATES, _PADS = (
    np.isin(np.arange(256), np.frombuffer(signs, dtype=np.uint8)) for signs in (b"0123456789", b',;|\t"\n', b" +-")
)
_PADDED = r"[+-]?0[0-9]"
_SENTENCE = re.compile(rb"[A-Za-z]{2,}.*[\s:]|[\s:].*[A-Za-z]{2,}")
_PIECE = 1 << 19
_HEAD = 100
_EXACT = {} if int(pd.__version__.split(".")[0]) > 2 else {"float_precision": "round_trip"}
"""From pandas 3 on decimals are exact by default."""


class _Header(NamedTuple):
    """Names of columns, the byte at which the lines below them begin, and what is to be told."""

    names: list[str]
    start: int
    note: str


def read_records(
    path: PathLike, *, separator: str | None, encoding: str | None = "utf-8", quotes: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """Rows of cells with the line each ends on. Blank lines are skipped, quotes must be closed."""
    content, layout = read_text(path, separator, encoding)
    yield from cut_records(path, decoded(path, content, _encoding_of_content(layout)), layout.separator, quotes=quotes)


def read_text(path: PathLike, separator: str | None, encoding: str | None) -> tuple[bytes, TextLayout]:
    """The content of a file, without byte-order mark and never UTF-16, and how it is written."""
    raw = read_bytes(path)
    layout = text_layout(path, raw, separator, encoding)
    if layout.is_wide:
        raw = decoded(path, raw, layout.encoding).removeprefix("\ufeff").encode("utf-8", "surrogatepass")
    content = without_bom(path, raw)
    if b"\r" in content and 0 < content.count(b"\r") - content.count(b"\r\n") < content.count(b"\n"):
        content = _LONE_RETURN.sub(b" ", content)  # within cells, where lines end otherwise
    return content, layout


def _encoding_of_content(layout: TextLayout) -> str:
    """The encoding of what `read_text` returns."""
    return "utf-8" if layout.is_wide else layout.encoding


def cut_records(path: PathLike, text: str, separator: str, *, quotes: bool = True) -> Iterator[tuple[int, list[str]]]:
    """The rows of cells of a text; its path is for messages."""
    line = ""

    def lines() -> Iterator[str]:
        nonlocal line
        for piece in io.StringIO(text, newline=""):
            line = piece
            yield piece

    reader = csv.reader(
        lines(), delimiter=separator, quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE, strict=True
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


def check_width(path: PathLike, line: int, n_cells: int, width: int, what: str, layout: TextLayout) -> None:
    """Refuse a row that is shorter or longer than the first."""
    if n_cells == width:
        return
    column = (
        None if layout.is_wide else column_of_cell(path, line, width, layout.separator, layout.encoding, quotes='"')
    )
    raise FileError(
        path,
        f"the row has {n_cells} cells and {what} has {width}",
        line=line,
        column=column,
        advice="Leave a cell empty where a value is missing, and quote cells that hold the separator."
        + (f" {_ABOVE}" if width < n_cells and line < _NEAR_THE_TOP else ""),
    )


def delimited_table(
    paths: Sequence[Path],
    *,
    separator: str | None = None,
    encoding: str | None = None,
    missing: Collection[str] = MISSING,
    as_text: Callable[[list[str]], set[int]] = lambda names: set(),  # noqa: ARG005
) -> Table:
    """Files with one header line each, which must be the same, as one table.

    Parameters
    ----------
    paths : sequence of paths
        The files of one set.
    separator, encoding : str, optional
        As of `text_layout`.
    missing : collection of str
        Cells that hold nothing.
    as_text : callable
        From the columns' names, the positions of those of which the very text is needed.
    """
    parts = [_file_table(path, separator, encoding, missing, as_text) for path in paths]
    for path, part in zip(paths, parts, strict=True):
        if part.names != parts[0].names:
            raise FileError(
                path,
                f"the header differs from that of {paths[0]}",
                line=1,
                column=1,
                advice="Files read together must have the same columns in the same order.",
            )
    mixed = {
        j
        for j, columns in enumerate(zip(*(part.columns for part in parts), strict=True))
        if 0 < sum(isinstance(column, np.ndarray) for column in columns) < len(columns)
    }
    if mixed:  # numbers in one file and text in another
        parts = [
            _file_table(path, separator, encoding, missing, lambda names: as_text(names) | mixed) for path in paths
        ]
    return joined(parts)


def _file_table(
    path: Path,
    separator: str | None,
    encoding: str | None,
    missing: Collection[str],
    as_text: Callable[[list[str]], set[int]],
) -> Table:
    content, layout = read_text(path, separator, encoding)
    text_encoding = _encoding_of_content(layout)
    if not content.isascii():
        decoded(path, content, text_encoding)
    if (at := content.find(b"\x00")) >= 0:
        line = content.count(b"\n", 0, at) + 1
        raise FileError(path, "the file holds a zero byte, which no text does", line=line, advice="Save it again.")
    names, start, above = _header(path, content, layout, text_encoding)
    content, below = _without_lines_below(content, names, layout, text_encoding)
    width = len(names)
    if width > 1 and not names[-1]:
        names = names[:-1] if _trailing_cells_are_empty(content, layout) else names

    def parsed(text: set[int], chosen: set[int] | None = None) -> pd.DataFrame:
        rows = io.BytesIO(content)
        rows.seek(start)  # pandas counts a name of several lines as one line to skip
        return pd.read_csv(
            rows,
            sep=layout.separator,
            encoding=text_encoding,
            header=None,
            names=list(range(width)),
            index_col=False,
            dtype={j: str for j in text},
            keep_default_na=False,
            na_values=sorted(missing),
            usecols=None if chosen is None else sorted(chosen),
            skipinitialspace=True,
            low_memory=False,
            **_EXACT,
        )

    wanted = as_text(names)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # cells would be lost
            frame = parsed(wanted)
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        _refuse_other_widths(path, content, width, layout, text_encoding)
        fault = f"the rows cannot be cut into cells ({str(error).rpartition('error: ')[2].strip()})"
        advice = 'Put cells with separators between quotes "..." and write a quote inside as "".'
        raise FileError(path, fault, line=1, advice=advice) from None
    _check_widths(path, content, start, width, len(frame), layout, text_encoding)
    large, whole = _whole_columns(frame)
    may_be_padded = whole if layout.separator not in ",;|\t" or _has_padded_numbers(content) else set()
    if text := (large | may_be_padded) - wanted:
        exact = parsed(text, text)
        text = {j for j in text if j in large or exact[j].str.match(_PADDED).any()}
        for j in text:
            frame[j] = exact[j]
    table = table_of_frame(frame.iloc[:, : len(names)].set_axis(names, axis=1), missing, [path])
    columns = list(table.columns)
    for j in (wanted | text) & set(range(len(names))):
        columns[j] = column_of_series(frame[j], frozenset(missing))
    return replace(table, columns=columns, notes=(*layout.notes, *filter(None, (above, below)), *table.notes))


def _whole_columns(frame: pd.DataFrame) -> tuple[set[int], set[int]]:
    """Columns of whole numbers: those beyond 2^53, which say less than their text, and all of them."""
    large, whole = set(), set()
    for j, series in frame.items():
        if series.dtype.kind in "iu" or (series.dtype.kind == "f" and _are_whole(series.to_numpy())):
            numbers = series.to_numpy()
            whole.add(j)
            if max(np.fmax.reduce(numbers, initial=0), -np.fmin.reduce(numbers, initial=0)) >= LARGEST_EXACT:
                large.add(j)
    return large, whole


def _are_whole(numbers: np.ndarray) -> bool:
    head = numbers[:200]
    return all(bool(((part == np.floor(part)) | np.isnan(part)).all()) for part in (head, numbers))


def _header(path: Path, content: bytes, layout: TextLayout, encoding: str) -> _Header:
    """The names, where the lines below them begin, and what is to be told of lines above."""
    text = io.StringIO(content[: 1 << 22].decode(encoding, errors="ignore"), newline="").read()
    records = list(itertools.islice(cut_records(path, text, layout.separator), 1))
    if not records:
        raise FileError(path, "the file is empty", line=1, advice="Write a line with the names of the columns.")
    line, names = records[0]
    with contextlib.suppress(FileError):  # a fault further down is told by whoever reads that far
        records = list(itertools.islice(cut_records(path, text, layout.separator), _HEAD))
    width = Counter(len(cells) for _, cells in records[1:]).most_common(1)[0][0] if len(records) > 2 else len(names)
    above = next((k for k, (_, cells) in enumerate(records[:_NEAR_THE_TOP]) if not _is_title(cells, width)), 0)
    told = ""
    if above and len(records[above][1]) == width and not any(map(_holds_number, records[above][1])):
        told = f"The first {'line' if above == 1 else f'{above} lines'} above the names of the columns ("
        told += f"{shown(names[0])}{', ...' if above > 1 else ''}) {'is' if above == 1 else 'are'} left out."
        line, names = records[above]
    elif len(names) == width - 1 and all(len(cells) == width for _, cells in records[1:]):
        names = ["", *names]  # as R writes tables whose rows have names
    start = -1
    for _ in range(line):
        start = content.find(b"\n", start + 1)
        if start < 0:
            return _Header([name.strip() for name in names], len(content), told)
    return _Header([name.strip() for name in names], start + 1, told)


def _is_title(cells: Sequence[str], width: int) -> bool:
    """Whether a line of other text than names stands above a table of so many columns."""
    n_filled = sum(bool(cell.strip()) for cell in cells)
    return len(cells) <= width / 2 or (width > 2 and n_filled <= 1)


def _holds_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def _without_lines_below(content: bytes, names: Sequence[str], layout: TextLayout, encoding: str) -> tuple[bytes, str]:
    """The content without sentences below the table, and what is to be told of them."""
    if len(names) < 2 or layout.separator in ' "':
        return content, ""
    separator, end, first = layout.separator.encode(encoding), len(content), b""
    while end and content[end - 1] in b" \t\r\n":
        end -= 1
    for _ in range(_NEAR_THE_TOP):
        start = content.rfind(b"\n", 0, end) + 1
        line = content[start:end].strip()
        if separator in line or b'"' in line or not _SENTENCE.search(line):
            break
        first, end = line, start
        while end and content[end - 1] in b" \t\r\n":
            end -= 1
    if not first or end < 1:
        return content, ""
    told = f"The lines below the table ({shown(first.decode(encoding, errors='replace'))}, ...) are left out."
    return content[:end] + b"\n", told


def _trailing_cells_are_empty(content: bytes, layout: TextLayout) -> bool:
    """Whether every line ends with a separator, which leaves an empty last cell."""
    sign = re.escape(layout.separator.encode())
    return re.search(rb"[^\s" + sign + rb"][^\n" + sign + rb"]*(?=\r?\n|\Z)", content) is None or all(
        line.rstrip(b"\r").endswith(layout.separator.encode()) for line in content.split(b"\n") if line.strip()
    )


def _check_widths(
    path: Path, content: bytes, start: int, width: int, n_rows: int, layout: TextLayout, encoding: str
) -> None:
    """Refuse rows shorter than the header, which pandas fills; it refuses longer ones itself."""
    separator = layout.separator.encode(encoding)
    if len(separator) == 1 and _n_separators(content, start, separator) == (width - 1) * n_rows:
        return
    _refuse_other_widths(path, content, width, layout, encoding)


def _refuse_other_widths(path: Path, content: bytes, width: int, layout: TextLayout, encoding: str) -> None:
    above = True
    for line, cells in cut_records(path, decoded(path, content, encoding), layout.separator):
        above = above and len(cells) != width
        check_width(path, line, len(cells), width, "the header", layout)


def _n_separators(content: bytes, start: int, separator: bytes) -> int:
    """How many separators stand outside quotes."""
    cells = np.frombuffer(content, dtype=np.uint8)[start:]
    pieces = (cells[first : first + _PIECE] for first in range(0, len(cells), _PIECE))
    n_all = sum(int(np.count_nonzero(piece == separator[0])) for piece in pieces)
    if b'"' not in content:
        return n_all
    return n_all - sum(piece.count(separator) for piece in content[start:].split(b'"')[1::2])


def _has_padded_numbers(content: bytes) -> bool:
    """Whether a cell begins with a zero and another digit, behind blanks and a sign perhaps."""
    cells = np.frombuffer(content, dtype=np.uint8)
    for first in range(0, len(cells), _PIECE):
        piece = cells[max(0, first - _PADDING) : first + _PIECE + 1]
        zeros = np.flatnonzero(piece[:-1] == ord("0"))
        at = zeros[_IS_DIGIT[piece[zeros + 1]]] - 1
        while (at := at[at >= 0]).size:
            if _SEPARATES[piece[at]].any():
                return True
            at = at[_PADS[piece[at]]] - 1
    return False
