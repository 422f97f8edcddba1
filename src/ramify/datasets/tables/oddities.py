"""What looks like a slip in a table and is no fault: told, so that people can mend the file or go on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ramify.datasets.readers.raw_files import shown
from ramify.datasets.tables.inspection import FEWEST_ROWS, names_rows
from ramify.datasets.tables.table import Table, missing_cells
from ramify.datasets.tables.text_column import TextColumn

_SUMS = {"total", "totals", "grand total", "subtotal", "sum", "summe", "gesamt", "average", "mean", "somme", "suma"}
_SEVERAL = 0.02
"""A column that is called an identifier and has other values in this share of the rows was perhaps meant to be one."""
_NINES = {10.0**n - 1 for n in range(2, 10)}
"""What people write where nothing is known, with either sign."""


def oddities(table: Table, features: Sequence[int], nominal: Iterable[int]) -> Iterator[str]:
    """Sentences on columns that may not be what they seem, and on a last row that may sum up the others.

    Parameters
    ----------
    table : Table
        All cells.
    features : sequence of int
        Columns that are taken as features.
    nominal : iterable of int
        Those of them whose values are names.
    """
    for j in nominal:
        yield from spellings(table.names[j], table.columns[j])
    if table.n_rows < FEWEST_ROWS:
        return
    for j in features:
        if names_rows(table.names[j]) and _n_values(table.columns[j]) >= max(FEWEST_ROWS, _SEVERAL * table.n_rows):
            name = table.names[j]
            yield (
                f"{name} is used as a feature although its name is that of an identifier: values repeat. "
                f"ignore={name!r} (--ignore) leaves it out, groups={name!r} (--groups) keeps its rows together."
            )
        yield from _nines(table.names[j], table.columns[j])
    if word := _word_for_total(table):
        yield f"The last row is called {shown(word)}. Remove it if it sums up the others."


def spellings(name: str, cells: object) -> Iterator[str]:
    """A sentence where values differ in nothing but case."""
    if not isinstance(cells, TextColumn):
        return
    alike: dict[str, list[str]] = {}
    for value in cells.values:
        alike.setdefault(" ".join(value.split()).casefold(), []).append(value)
    several = [values for values in alike.values() if len(values) > 1]
    if several:
        listed = ", ".join(map(shown, sorted(several[0])))
        more = f", and {len(several) - 1} more such" if len(several) > 1 else ""
        yield f"{name} holds values that differ in nothing but case or blanks, taken as different: {listed}{more}."


def rare_classes(name: str, n_rows: int, y: np.ndarray, classes: Sequence[str]) -> Iterator[str]:
    """A sentence on the classes that one row has, or on the only class."""
    counts = np.bincount(y[y >= 0], minlength=len(classes))
    if n_rows and len(classes) == 1:
        yield f"All {n_rows} rows are of the class {shown(classes[0])} of {name}: there is nothing to tell apart."
    rare = np.flatnonzero(counts == 1)
    if n_rows < FEWEST_ROWS or not len(rare):
        return
    what = f"The class {shown(classes[rare[0]])} of {name} has one row"
    if len(rare) > 1:
        what = f"{len(rare)} classes of {name} have one row each, such as {shown(classes[rare[0]])}"
    yield f"{what}: too few to learn from or to measure."


def _nines(name: str, values: object) -> Iterator[str]:
    """A sentence where -999 or the like stands in several rows, farther from all other values than these are apart."""
    if not isinstance(values, np.ndarray):
        return
    for end, sign in ((np.fmin.reduce(values), -1), (np.fmax.reduce(values), 1)):
        if abs(end) not in _NINES or (n_cells := np.count_nonzero(values == end)) < 2:
            continue
        others = values[(values != end) & ~np.isnan(values)]
        if len(others) >= FEWEST_ROWS and sign * end - (sign * others).max() > np.ptp(others) > 0:
            span = f"{others.min():g} to {others.max():g}"
            yield (
                f"{name} holds {end:.0f} in {n_cells} rows, far from all other values ({span}): taken as a number. "
                "Leave these cells empty if nothing is known there."
            )


def without_totals(table: Table) -> Table:
    """The table without last rows that are called a total and sum up the others, or leave most cells empty."""
    while table.n_rows > FEWEST_ROWS and (word := _word_for_total(table)) and _sums_up(table):
        note = f"The last row is called {shown(word)}, sums up the others and is left out."
        table = replace(table.rows(np.arange(table.n_rows - 1)), notes=(*table.notes, note))
    return table


def _word_for_total(table: Table) -> str:
    for cells in table.columns:
        last = cells[table.n_rows - 1] if isinstance(cells, TextColumn) else None
        if last is not None and last.strip(" :").casefold() in _SUMS and (cells.codes == cells.codes[-1]).sum() == 1:
            return str(last)
    return ""


def _sums_up(table: Table) -> bool:
    usual = [
        missing for column in table.columns if 2 * np.count_nonzero(missing := missing_cells(column)) < len(missing)
    ]
    if 2 * sum(bool(missing[-1]) for missing in usual) >= len(usual):
        return True
    for column in table.columns:
        if isinstance(column, np.ndarray) and not np.isnan(column[-1]) and column[-1] != 0:
            above = column[:-1]
            if np.isclose(column[-1], (np.nansum(above), np.nanmean(above)), rtol=1e-3).any():
                return True
    return False


def _n_values(cells: object) -> int:
    if isinstance(cells, TextColumn):
        return len(cells.values)
    if isinstance(cells, np.ndarray) and (cells == np.floor(cells)).all():
        return len(np.unique(cells))
    return 0
