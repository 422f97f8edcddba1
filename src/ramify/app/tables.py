"""Tables that a run wrote, a piece at a time for the page, or whole as a sheet of Excel."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from ramify.writing import write_table

_STRIDE = 256
MOST_ROWS, MOST_COLUMNS = 500, 200


@dataclass(frozen=True)
class _Index:
    """Where every so many records of a file begin, and how many there are."""

    n_rows: int = 0
    header: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)


def table_slice(path: Path, *, row: int, n_rows: int, column: int, n_columns: int) -> dict[str, Any]:
    """Some rows and columns of a CSV file, with its size.

    Parameters
    ----------
    path : path
        A CSV file whose first line names the columns.
    row, n_rows, column, n_columns : int
        Which part, counted from 0 below the names.
    """
    status = path.stat()
    index = _index(path, status.st_mtime_ns, status.st_size)
    first, last = max(column, 0), max(column, 0) + min(max(n_columns, 0), MOST_COLUMNS)
    wanted = islice(_records(path, index, max(row, 0)), min(max(n_rows, 0), MOST_ROWS))
    return {
        "n_rows": index.n_rows,
        "n_columns": len(index.header),
        "columns": index.header[first:last],
        "rows": [cells[first:last] for cells in wanted],
    }


def write_sheet(path: Path, sheet: Path) -> None:
    """Write a CSV file as a sheet of Excel, numbers as numbers."""
    with path.open(encoding="utf-8", newline="") as file:
        write_table(sheet, ([_value(cell) for cell in line] for line in csv.reader(file)))


def _records(path: Path, index: _Index, row: int) -> Iterator[list[str]]:
    if row >= index.n_rows:
        return
    with path.open("rb") as file:
        file.seek(index.starts[row // _STRIDE])
        lines = (line.decode("utf-8", "replace") for line in file)
        yield from islice(csv.reader(lines), row % _STRIDE, None)


@lru_cache(maxsize=8)
def _index(path: Path, changed: int, size: int) -> _Index:  # noqa: ARG001
    """Find where records begin: a line ends one unless a quote is open."""
    starts: list[int] = []
    header: list[str] = []
    n_records, place, is_open, begun = 0, 0, False, 0
    with path.open("rb") as file:
        for line in file:
            if not is_open:
                begun = place
            is_open ^= line.count(b'"') % 2 == 1
            place += len(line)
            if is_open:
                continue
            if n_records == 0:
                file_header = _text(path, begun, place)
                header = next(csv.reader([file_header]), [])
            elif (n_records - 1) % _STRIDE == 0:
                starts.append(begun)
            n_records += 1
    return _Index(max(n_records - 1, 0), header, starts)


def _text(path: Path, first: int, last: int) -> str:
    with path.open("rb") as file:
        file.seek(first)
        return file.read(last - first).decode("utf-8", "replace")


def _value(cell: str) -> Any:
    """The number that a cell holds, or its text without the sign that keeps spreadsheets from running it."""
    try:
        number = float(cell)
    except ValueError:
        return cell[1:] if cell.startswith("'") else cell or None
    return int(cell) if cell.lstrip("-").isdigit() and len(cell) < 16 else number
