"""Target columns of a table: classes, label sets, paths, numbers or rankings, by columns or by notation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ramify.datasets.dataset import Target
from ramify.datasets.readers.arff_target import TargetColumns
from ramify.datasets.readers.delimited import Table, column_values, is_plain_number
from ramify.datasets.readers.label_rankings import natural_key
from ramify.datasets.readers.order_notation import OrderError, labels_of_order, ranks_of_order
from ramify.datasets.readers.raw_files import FileError, shown
from ramify.hierarchy import Hierarchy


@dataclass(frozen=True)
class TargetChoice:
    """Which columns are the target and what they mean."""

    columns: Sequence[str] | str | None
    prefix: str | None
    kind: Target | None
    label_separator: str
    path_separator: str


def read_table_target(table: Table, choice: TargetChoice, targets: list[int]) -> TargetColumns:
    """Interpret the chosen columns."""
    if not targets:
        return TargetColumns(None, None, ())
    names = tuple(table.names[j] for j in targets)
    if len(targets) > 1:
        return _several_columns(table, targets, names, choice.kind)
    cells = table.columns[targets[0]]
    kind = choice.kind or _kind_of(cells, choice)
    if kind == "numbers":
        return TargetColumns("numbers", _target_numbers(table, targets)[:, 0], names)
    if kind == "rankings":
        return _orders(table, targets[0])
    if kind == "classes":
        texts = text_cells(table, targets[0])
        found = set(texts)
        are_numbers = all(is_plain_number(text) for text in found)
        classes = tuple(sorted(found, key=float if are_numbers else natural_key))
        code = {value: k for k, value in enumerate(classes)}
        return TargetColumns("classes", np.array([code[text] for text in texts], dtype=np.int64), classes)
    return _label_sets(table, targets[0], kind, choice)


def _kind_of(cells: Any, choice: TargetChoice) -> Target:
    """What one target column holds, by its notation."""
    if isinstance(cells, np.ndarray):
        return "numbers"
    present = [cell for cell in cells if cell is not None]
    if any(isinstance(cell, tuple) for cell in present):
        labels = [label for cell in present for label in cell]
        return "hierarchy" if any(choice.path_separator in label for label in labels) else "labels"
    if any(">" in cell for cell in present):
        return "rankings"
    if any(choice.label_separator in cell for cell in present):
        return "hierarchy" if any(choice.path_separator in cell for cell in present) else "labels"
    table = Table(["target"], [present], [Path()], np.zeros(len(present), dtype=np.int64), None)
    try:
        return "numbers" if present and column_values(table, 0, nominal=False)[1] is None else "classes"
    except FileError:
        return "classes"


def _target_numbers(table: Table, targets: list[int]) -> np.ndarray:
    columns = []
    for j in targets:
        values, categories = column_values(table, j, nominal=False)
        if categories is not None:
            row = next(k for k, cell in enumerate(table.columns[j]) if cell is not None)
            raise table.error(
                row,
                j,
                f"{shown(table.columns[j][row])} in target column {shown(table.names[j])} is not a number",
                "Choose numeric columns, or say what the target is with kind=....",
            )
        columns.append(values)
    return np.column_stack(columns)


def _several_columns(table: Table, targets: list[int], names: tuple[str, ...], kind: Target | None) -> TargetColumns:
    if kind in {"classes", "hierarchy"}:
        raise ValueError(f"kind={kind!r} takes one target column. Got {len(targets)}: {', '.join(names[:6])}.")
    values = _target_numbers(table, targets)
    is_binary = bool(np.isin(values, (0, 1)).all()) and len(values) > 0
    if kind == "labels" or (kind is None and is_binary):
        if not is_binary:
            row = int(np.argmin(np.isin(values, (0, 1)).all(axis=1)))
            raise table.error(row, targets[0], "a label column holds something else than 0 and 1", "Write 0 or 1.")
        return TargetColumns("labels", sparse.csr_array(values.astype(np.int8)), names)
    if kind == "rankings":
        bad = np.flatnonzero(((values < 1) | (values > len(names))).any(axis=1))
        if len(bad):
            raise table.error(int(bad[0]), targets[0], f"a rank is outside 1 to {len(names)}", "1 is the best label.")
    return TargetColumns(kind or "numbers", values, names)


def _orders(table: Table, position: int) -> TargetColumns:
    texts = text_cells(table, position)
    labels = tuple(sorted({label for text in texts for label in labels_of_order(text)}, key=natural_key))
    column_of = {label: k for k, label in enumerate(labels)}
    y = np.full((table.n_rows, len(labels)), np.nan)
    for row, text in enumerate(texts):
        try:
            y[row] = ranks_of_order(text, column_of)
        except OrderError as error:
            raise table.error(row, position, f"in the order {shown(text)} {error}", "Write it as a>b=c>d.") from None
    return TargetColumns("rankings", y, labels)


def _label_sets(table: Table, at: int, kind: Target, choice: TargetChoice) -> TargetColumns:
    """Sets of labels or of paths; an empty cell is the empty set."""
    cells = table.columns[at]
    if isinstance(cells, np.ndarray):
        cells = text_cells(table, at)
    sets = []
    for row, cell in enumerate(cells):
        parts = cell if isinstance(cell, tuple) else () if not cell else cell.split(choice.label_separator)
        labels = [part.strip() for part in parts]
        if not all(labels):
            raise table.error(row, at, f"a label of {shown(str(cell))} is empty", "Write a|b.")
        sets.append(labels)
    found = sorted({label for labels in sets for label in labels}, key=natural_key)
    if kind == "labels":
        position = {label: k for k, label in enumerate(found)}
        indices = [sorted({position[label] for label in labels}) for labels in sets]
        indptr = np.concatenate([[0], np.cumsum([len(row) for row in indices])]).astype(np.int64)
        flat = np.array([k for row in indices for k in row], dtype=np.int64)
        shape = (len(sets), len(found))
        y = sparse.csr_array((np.ones(len(flat), dtype=np.int8), flat, indptr), shape=shape)
        return TargetColumns("labels", y, tuple(found))
    for row, labels in enumerate(sets):
        for label in labels:
            steps = label.split(choice.path_separator)
            if not all(steps) or len(steps) > 200:
                raise table.error(row, at, f"{shown(label)} is no path of at most 200 steps", "Write a/b|a/c.")
    hierarchy = Hierarchy.from_paths(found, separator=choice.path_separator)
    return TargetColumns("hierarchy", hierarchy.encode(sets), hierarchy.names, hierarchy)


def text_cells(table: Table, position: int) -> list[str]:
    """The cells of a column as text; none may be missing."""
    cells = table.columns[position]
    if isinstance(cells, np.ndarray):
        cells = [None if np.isnan(value) else f"{value:.17g}" for value in cells.tolist()]
    for row, cell in enumerate(cells):
        if not isinstance(cell, str):
            raise table.error(row, position, f"{shown(table.names[position])} is missing", "Fill it in.")
    return cells
