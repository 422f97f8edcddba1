"""Rows that repeat an earlier one of a table: a test on some of them is no test of what was learnt from others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ramify.datasets.column_roles import FEWEST_ROWS
from ramify.datasets.readers.delimited import Table
from ramify.datasets.text_column import TextColumn

_FEWEST = 0.05
"""Share of the rows that is told: fewer hardly change a result."""
_MOST = 100_000
"""Rows that are compared cell by cell, of those that share a measured number with another."""


def copied_rows(table: Table, features: Sequence[int], targets: Sequence[int], *, has_classes: bool) -> Iterator[str]:
    """Sentences on rows that repeat an earlier one in all features, measured numbers included: hardly by chance.

    Parameters
    ----------
    table : Table
        All cells.
    features : sequence of int
        Columns that are taken as features.
    targets : sequence of int
        Columns that are the target.
    has_classes : bool
        Whether the target is one class per row, which may be meant as one of several labels.
    """
    measured = next((table.columns[j] for j in features if _is_measured(table.columns[j])), None)
    if measured is None:
        return
    rows = np.flatnonzero(pd.Series(measured).duplicated(keep=False))
    rows = rows[np.argsort(measured[rows], kind="stable")][:_MOST]
    alike = pd.DataFrame({j: _keys(table.columns[j])[rows] for j in features})
    of_target = pd.DataFrame({j: _keys(table.columns[j])[rows] for j in targets})
    copies = pd.concat([alike, of_target], axis="columns").duplicated().to_numpy()
    others = alike.duplicated().to_numpy() & ~copies
    n_compared = table.n_rows if len(rows) < _MOST else _MOST
    for which, then in (
        (
            copies,
            "and the target, such as {}. Remove copies: results measured on some and learnt from others are too good.",
        ),
        (
            others & has_classes,
            "with another target, such as {}. If that is one thing with several labels, write it once, with | between "
            "its labels.",
        ),
    ):
        if which.any() and which.sum() >= _FEWEST * n_compared:
            row = rows[which].min()
            where = f"row {row + 1}" if table.lines is None else f"line {int(table.lines[row])}"
            least = "" if len(rows) < _MOST else "At least "
            number = f"{least}{which.sum()} of {table.n_rows}"
            yield f"{number} rows repeat an earlier row in all features {then.format(where)}"


def _is_measured(cells: Any) -> bool:
    """Whether a column holds many numbers with fractions."""
    if not isinstance(cells, np.ndarray):
        return False
    numbers = cells[~np.isnan(cells)]
    return bool((numbers != np.floor(numbers)).any()) and pd.Series(numbers).nunique() >= FEWEST_ROWS


def _keys(cells: Any) -> np.ndarray:
    """What tells the cells of a column apart."""
    if isinstance(cells, np.ndarray):
        return cells
    return (cells if isinstance(cells, TextColumn) else TextColumn.of(map(repr, cells))).codes
