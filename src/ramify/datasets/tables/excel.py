"""Excel files as tables, by openpyxl."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from ramify.datasets.readers.raw_files import FileError, shown
from ramify.datasets.tables.table import Table, joined, table_of_frame

_SAFE_SIZE = 64 << 20
_LARGEST_RATIO = 100
_ERRORS = ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A", "#GETTING_DATA")
"""What Excel shows where a formula gives no value."""


def excel_table(paths: list[Path], sheet: str | None, missing: Collection[str]) -> Table:
    """One sheet of each file; the first row that is not empty names the columns."""
    try:
        import openpyxl  # noqa: F401
    except ImportError:
        raise ImportError("Excel files need openpyxl. Install it with: pip install ramify[excel]") from None
    parts = []
    for path in paths:
        names, rows = _sheet_rows(path, sheet)
        frame = pd.DataFrame(rows, columns=range(len(names)), dtype=object)
        parts.append(replace(table_of_frame(frame, {*missing, *_ERRORS}, [path]), names=names))
        if parts[-1].names != parts[0].names:
            raise FileError(path, f"the columns differ from those of {paths[0]}", advice="Use files of one set.")
    return joined(parts)


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
    top = next((k for k, cells in enumerate(rows[:20]) if 2 * sum(cell is not None for cell in cells) > width), 0)
    header = [*rows[top], *[None] * (width - len(rows[top]))]
    names = ["" if name is None else str(name).strip() for name in header]
    return names, [[*cells, *[None] * (width - len(cells))] for cells in rows[top + 1 :]]


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
