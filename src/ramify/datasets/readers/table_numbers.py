"""Columns of a table that hold numbers as people write them, turned into numbers; what is unclear is asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ramify.datasets.column_roles import ColumnRoles
from ramify.datasets.readers.delimited import Table, are_plain_numbers, column_values
from ramify.datasets.readers.raw_files import shown
from ramify.datasets.text_column import TextColumn
from ramify.features.number_notation import decimal_signs, may_be_thousands, written_numbers


def unclear_points(table: Table, decimal: str | None) -> set[int]:
    """Columns of plain numbers whose points may stand between thousands: they have to be read as text.

    That is asked of files that separate cells by semicolons, as is done where commas are decimal, or if `decimal` says
    that they are.
    """
    if not _may_have_decimal_commas(table, decimal):
        return set()
    return {j for j, column in enumerate(table.columns) if isinstance(column, np.ndarray) and _in_thousandths(column)}


def _may_have_decimal_commas(table: Table, decimal: str | None) -> bool:
    return decimal == "," or (decimal is None and any(layout.separator == ";" for layout in table.layouts))


def _in_thousandths(values: np.ndarray) -> bool:
    known = np.abs(values[~np.isnan(values)])
    if not len(known) or not (known != np.floor(known)).any():
        return False
    scaled = known * 1000
    return bool(((known >= 1) | (known == 0)).all() and (known < 1000).all() and np.allclose(scaled, np.round(scaled)))


def with_written_numbers(
    table: Table, positions: list[int], targets: list[int], decimal: str | None, known: ColumnRoles | None
) -> tuple[Table, dict[int, str]]:
    """The table with numbers in place of the text of numbers, and the decimal sign of each such column.

    Parameters
    ----------
    table : Table
        Text and numbers.
    positions : list of int
        Columns to look at.
    targets : list of int
        Those of them that are the target: plain numbers stay text, since they may be classes.
    decimal : str, optional
        The decimal sign, "." or ",". By default told by the columns; where they do not, it is asked for.
    known : ColumnRoles, optional
        What was found in another file.
    """
    present = {j: table.columns[j].values for j in positions if isinstance(table.columns[j], TextColumn)}
    points_are_clear = known is None and not _may_have_decimal_commas(table, decimal)
    columns: list[Any] = list(table.columns)
    signs = {}
    for j, cells in present.items():
        is_clear = are_plain_numbers(cells) and (points_are_clear or not may_be_thousands(cells))
        signs[j] = "" if is_clear else decimal_signs(cells)
        if is_clear and j not in targets:
            columns[j], _ = column_values(table, j, nominal=False)
    chosen = {j: sign for j, sign in signs.items() if len(sign) == 1}
    unclear = {j: sign for j, sign in signs.items() if len(sign) == 2}
    if unclear and decimal is None and known is None:
        decimal = _decimal_of_others([columns[j] for j in positions], chosen, present)
    for j in unclear:
        name = table.names[j]
        sign = decimal if known is None or decimal is not None else known.decimal.get(name, ".")
        if sign is None:
            cell = next(value for value in present[j] if not value.isdigit())
            row = table.columns[j].row_of(cell)
            one, other = (written_numbers([cell], way)[0] for way in ".,")
            raise table.error(
                row,
                j,
                f"{shown(cell)} in column {shown(name)} may be {one:g} or {other:g}",
                "Say which sign is decimal: decimal='.' or decimal=',' (--decimal).",
            )
        chosen[j] = sign
    for j, sign in chosen.items():
        columns[j] = table.columns[j].taken(written_numbers(present[j], sign))
    notes = _told(table, chosen, present)
    return replace(table, columns=columns, notes=(*table.notes, *notes)), chosen


def _decimal_of_others(columns: list[Any], chosen: dict[int, str], present: dict[int, list[str]]) -> str | None:
    """The decimal sign that the other columns have, if they agree."""
    signs = {sign for j, sign in chosen.items() if any("," in cell or "." in cell for cell in present[j])}
    for column in columns:
        if isinstance(column, np.ndarray) and (column[~np.isnan(column)] % 1 != 0).any():
            signs.add(".")
    return signs.pop() if len(signs) == 1 else None


def _told(table: Table, chosen: dict[int, str], present: dict[int, list[str]]) -> list[str]:
    lines = []
    for sign, words in ((",", "with decimal commas"), (".", "with decimal points")):
        found = [j for j in chosen if chosen[j] == sign and (sign == "," or not are_plain_numbers(present[j]))]
        if not found:
            continue
        example = max(present[found[0]], key=len)
        listed = ", ".join(table.names[j] for j in found[:4]) + (f" and {len(found) - 4} more" if found[4:] else "")
        lines.append(f"{listed} {'holds' if len(found) == 1 else 'hold'} numbers {words}, as in {example!r}.")
    return lines
