"""What looks like a slip in a table and is no fault: told, so that people can mend the file or go on."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ramify.datasets.column_roles import FEWEST_ROWS, names_rows
from ramify.datasets.readers.delimited import Table
from ramify.datasets.readers.raw_files import shown
from ramify.datasets.text_column import TextColumn

_MEASURED = re.compile(r"[-+]?[0-9][0-9.,]*\s?(?P<unit>[KM]|[a-z°µ%][A-Za-z/²³]{0,7}|[A-Z][A-Za-z/²³]{1,7})")
_SUMS = {"total", "totals", "grand total", "subtotal", "sum", "summe", "gesamt", "average", "mean", "somme", "suma"}
_SEVERAL = 0.3
"""A column that is called an identifier and has other values in this share of the rows was perhaps meant to be one."""
_NINES = {10.0**n - 1 for n in range(2, 10)}
"""What people write where nothing is known, with either sign."""


def with_own_names(table: Table) -> Table:
    """The table with a name of its own for every column: those without one are numbered, and those that share one."""
    counts = Counter(table.names)
    if counts[""] == 0 and len(counts) == len(table.names):
        return table
    names, notes, seen = [], [], Counter[str]()
    for position, name in enumerate(table.names, start=1):
        seen[name] += 1
        own = f"column {position}" if not name else name if counts[name] == 1 else f"{name}.{seen[name]}"
        while own != name and own in counts:
            own += "_"
        names.append(own)
    for name, number in counts.items():
        called = [own for own, old in zip(names, table.names, strict=True) if old == name]
        listed = ", ".join(map(shown, called[:3])) + (", ..." if len(called) > 3 else "")
        if not name:
            notes.append(f"{_columns(number)} without a name: called {listed}.")
        elif number > 1:
            notes.append(f"{_columns(number)} named {shown(name)}: called {listed}.")
    return replace(table, names=names, notes=(*table.notes, *notes))


def _columns(number: int) -> str:
    return "One column is" if number == 1 else f"{number} columns are"


def oddities(table: Table, features: Sequence[int], nominal: Iterable[int], left_out: Iterable[int]) -> Iterator[str]:
    """Sentences on columns that may not be what they seem, and on a last row that may sum up the others.

    Parameters
    ----------
    table : Table
        All cells.
    features : sequence of int
        Columns that are taken as features.
    nominal : iterable of int
        Those of them whose values are names.
    left_out : iterable of int
        Columns that are no features.
    """
    for j in nominal:
        yield from spellings(table.names[j], table.columns[j])
    for j, what in [*((j, "taken as names") for j in nominal), *((j, "left out") for j in left_out)]:
        yield from _units(table.names[j], table.columns[j], what)
    if table.n_rows < FEWEST_ROWS:
        return
    for j in features:
        if names_rows(table.names[j]) and _n_values(table.columns[j]) >= max(FEWEST_ROWS, _SEVERAL * table.n_rows):
            yield (
                f"{table.names[j]} is taken as a feature: by its name it names the rows, but its values occur more "
                f"than once. Leave it out with ignore=[{table.names[j]!r}] (--ignore) if it says nothing of them."
            )
        yield from _nines(table.names[j], table.columns[j])
    yield from _sums(table)


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


def rare_classes(table: Table, position: int, y: np.ndarray, classes: Sequence[str]) -> Iterator[str]:
    """A sentence on the classes that one row has."""
    counts = np.bincount(y[y >= 0], minlength=len(classes))
    rare = np.flatnonzero(counts == 1)
    if table.n_rows < FEWEST_ROWS or not len(rare):
        return
    row = int(np.argmax(y == rare[0]))
    where = f"row {row + 1}" if table.lines is None else f"line {int(table.lines[row])}"
    what = f"The class {shown(classes[rare[0]])} of {table.names[position]} has one row, {where}"
    if len(rare) > 1:
        what = f"{len(rare)} classes of {table.names[position]} have one row each, such as {shown(classes[rare[0]])}"
    yield f"{what}: too few to learn from or to measure."


def _units(name: str, cells: object, what: str) -> Iterator[str]:
    if not isinstance(cells, TextColumn) or len(cells.values) < 3:
        return
    units: Counter[str] = Counter()
    for value in cells.values:
        found = _MEASURED.fullmatch(value)
        if found is None:
            return
        units[found["unit"]] += 1
    if len(units) <= 3:
        beside = f"{name} holds numbers with text beside them, as {shown(cells.values[0])}, and is {what}"
        yield f"{beside}. Write plain numbers to use them."


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


def _sums(table: Table) -> Iterator[str]:
    for cells in table.columns:
        last = cells[table.n_rows - 1] if isinstance(cells, TextColumn) else None
        if last is not None and last.strip(" :").casefold() in _SUMS and (cells.codes == cells.codes[-1]).sum() == 1:
            where = "" if table.lines is None else f", line {int(table.lines[-1])},"
            yield f"The last row{where} is called {shown(last)}. Remove it if it sums up the others."
            return


def _n_values(cells: object) -> int:
    if isinstance(cells, TextColumn):
        return len(cells.values)
    if isinstance(cells, np.ndarray) and (cells == np.floor(cells)).all():
        return len(np.unique(cells))
    return 0


def label_separator(cells: object, *, said: bool) -> str | None:
    """What separates the labels of sets that are written with another sign than a bar, or None.

    Parameters
    ----------
    cells : TextColumn or other column
        The target.
    said : bool
        Whether the caller says that it holds sets; otherwise the labels must recur in several sets.
    """
    if not isinstance(cells, TextColumn) or any("|" in value for value in cells.values):
        return None
    if all(re.fullmatch(r"[-+0-9.,; ]*", value) for value in cells.values):
        return None
    for sign in (";", ","):
        sets = [[part.strip() for part in value.split(sign)] for value in cells.values]
        several = [parts for parts in sets if len(parts) > 1]
        if not several or not all(all(parts) and len(set(parts)) == len(parts) for parts in several):
            continue
        counts = Counter(part for parts in sets for part in parts)
        recur = all(counts[part] > 1 for parts in several for part in parts)
        if (said and sign == ";") or (recur and len(several) > 1 and len(counts) <= len(sets)):
            return sign
    return None
