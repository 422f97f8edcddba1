"""Excel files as a table of cells, by openpyxl."""

from __future__ import annotations

import datetime
import io
import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from ramify.datasets.readers.delimited import Table
from ramify.datasets.readers.raw_files import FileError, shown
from ramify.datasets.text_column import TextColumn

_SAFE_SIZE = 64 << 20
_LARGEST_RATIO = 100
_LARGEST_EXACT = 2**53


def excel_table(paths: list[Path], sheet: str | None, missing: Collection[str]) -> Table:
    """Columns of numbers or text of one sheet of each file."""
    try:
        import openpyxl  # noqa: F401
    except ImportError:
        raise ImportError("read_excel needs openpyxl. Install it with: pip install ramify[excel]") from None
    absent = frozenset(missing)
    parts = [_sheet_rows(path, sheet) for path in paths]
    names = parts[0][0]
    for path, (other, _) in zip(paths, parts, strict=True):
        if other != names:
            raise FileError(path, f"the columns differ from those of {paths[0]}", advice="Use files of one set.")
    columns = [
        _column(path, names[j], [cells[j] for _, rows in parts for cells in rows], absent)
        for path in paths[:1]
        for j in range(len(names))
    ]
    sizes = [len(rows) for _, rows in parts]
    return Table(names, columns, paths, np.repeat(np.arange(len(paths)), sizes), None)


def _sheet_rows(path: Path, sheet: str | None) -> tuple[list[str], list[list[Any]]]:
    """Names of the columns and the rows below them, without empty ones."""
    import openpyxl

    try:
        _refuse_bomb(path)
        book = openpyxl.load_workbook(io.BytesIO(path.read_bytes()), read_only=True, data_only=True)
        found = {name: _filled_rows(book[name]) for name in book.sheetnames if hasattr(book[name], "iter_rows")}
        book.close()
    except FileError:
        raise
    except (zipfile.BadZipFile, OSError, ValueError, KeyError, TypeError, AttributeError, SyntaxError) as error:
        fault = f"this is no readable Excel file ({shown(str(error))})"
        raise FileError(path, fault, advice="Save it again as .xlsx, or as .csv.") from None
    filled = [name for name, rows in found.items() if rows]
    if sheet is not None and sheet not in found:
        listed = ", ".join(map(shown, found))
        raise FileError(path, f"there is no sheet {shown(sheet)}", advice=f"It has {listed}.")
    if sheet is None and len(filled) > 1:
        listed = ", ".join(map(shown, filled))
        advice = f"Say which: sheet={filled[0]!r} (--sheet)."
        raise FileError(path, f"there are {len(filled)} sheets with cells: {listed}", advice=advice)
    rows = found[sheet] if sheet is not None else found[filled[0]] if filled else []
    if not rows:
        raise FileError(path, "the sheet is empty", advice="Write a row with the names of the columns.")
    width = max(len(cells) for cells in rows)
    header = [*rows[0], *[None] * (width - len(rows[0]))]
    for j, name in enumerate(header):
        if name is None:
            raise FileError(
                path,
                f"column {_letters(j)} has no name in the first row that is not empty",
                advice="Let the table begin with the names of its columns; remove titles above it.",
            )
    return [str(name).strip() for name in header], [[*cells, *[None] * (width - len(cells))] for cells in rows[1:]]


def _refuse_bomb(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > _SAFE_SIZE and unpacked > _LARGEST_RATIO * path.stat().st_size:
        raise FileError(
            path,
            f"{path.stat().st_size} bytes unpack to {unpacked >> 20} MiB, which looks like a bomb",
            advice="If you trust the file, save it as .csv and read that.",
        )


def _filled_rows(sheet: Any) -> list[list[Any]]:
    rows = []
    for cells in sheet.iter_rows(values_only=True):
        known = list(cells)
        while known and known[-1] is None:
            known.pop()
        if known:
            rows.append(known)
    return rows


def _letters(position: int) -> str:
    """The name that Excel gives a column: A, B, ..., Z, AA."""
    letters = ""
    position += 1
    while position:
        position, rest = divmod(position - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def _column(path: Path, name: str, cells: list[Any], missing: frozenset[str]) -> Any:
    """Numbers where all cells are numbers, else text."""
    known = [None if isinstance(cell, str) and cell.strip() in missing else cell for cell in cells]
    for row, cell in enumerate(known):
        if isinstance(cell, str) and cell.startswith("#") and cell.rstrip("!?").isupper() and cell[-1] in "!?":
            raise FileError(
                path, f"in row {row + 1} column {shown(name)} holds the error {cell}", advice="Correct the formula."
            )
        if isinstance(cell, int) and abs(cell) >= _LARGEST_EXACT:
            known[row] = str(cell)
    if all(cell is None or isinstance(cell, (bool, int, float)) for cell in known):
        return np.array([np.nan if cell is None else float(cell) for cell in known], dtype=float)
    return TextColumn.of(None if cell is None else _text(cell) for cell in known)


def _text(cell: Any) -> str:
    if isinstance(cell, datetime.datetime):
        return cell.date().isoformat() if cell.time() == datetime.time() else cell.isoformat(sep=" ")
    if isinstance(cell, bool):
        return "1" if cell else "0"
    if isinstance(cell, float):
        return f"{cell:.17g}"
    return cell.isoformat() if isinstance(cell, (datetime.date, datetime.time)) else str(cell).strip()
