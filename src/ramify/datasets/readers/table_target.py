"""Target columns of a table: classes, label sets, paths, numbers or rankings, by columns or by notation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from ramify.datasets.dataset import Target
from ramify.datasets.readers.arff_target import NEGATIVE_AND_POSITIVE, TargetColumns, with_unknown_rows
from ramify.datasets.readers.delimited import Table, are_plain_numbers, column_values, is_plain_number, stray_error
from ramify.datasets.readers.label_rankings import natural_key
from ramify.datasets.readers.mixed_target import side_by_side
from ramify.datasets.readers.order_notation import OrderError, labels_of_order, ranks_of_order
from ramify.datasets.readers.raw_files import shown
from ramify.datasets.text_column import TextColumn
from ramify.features.number_notation import are_measured, strays
from ramify.hierarchy import Hierarchy
from ramify.targets import NumberTarget, target_type


@dataclass(frozen=True)
class TargetChoice:
    """What the target columns mean."""

    kind: Target | None
    label_separator: str
    path_separator: str
    several: bool = False
    """Whether one column is what is left of several."""
    unknown: str | None = None
    """What target cells hold where nothing is known."""
    groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Positions of the columns that each name of the caller stands for."""
    kinds: Mapping[str, Any] = field(default_factory=dict)
    """Of targets of different kinds, what each is, where another file has told."""


def read_table_target(
    table: Table, choice: TargetChoice, targets: list[int], *, may_lack: bool = False
) -> TargetColumns:
    """Interpret the chosen columns; with `may_lack`, a target that some rows have not is no target."""
    if not targets:
        return TargetColumns(None, None, ())
    names = tuple(table.names[j] for j in targets)
    table, unknown = _without_unknown(table, targets, choice.unknown)
    empty_is_a_set = choice.kind is not None and target_type(choice.kind).has_sets and not choice.several
    if may_lack and not empty_is_a_set:
        n_empty = int(np.logical_and.reduce([_is_missing(table.columns[j]) for j in targets]).sum())
        if n_empty and (n_empty == table.n_rows or len(targets) == 1):
            told = f"The target is empty in {n_empty} of {table.n_rows} rows, so that nothing is measured."
            return TargetColumns(None, None, (), notes=(told,))
    kinds = _kinds_of_groups(table, choice)
    if kinds:
        return _mixed(table, choice, kinds, unknown)
    if len(targets) > 1 or choice.several:
        return _several_columns(table, targets, names, choice)
    kind = choice.kind or _kind_of(table, targets[0], choice)
    found = _OF_ONE_COLUMN[kind](table, targets[0], choice)
    if unknown.any() and found.kind is not None and target_type(found.kind).has_sets:
        found = replace(found, y=with_unknown_rows(found.y, unknown))
    return found if choice.kind else replace(found, notes=_told_numbers(names[0], found))


def _kinds_of_groups(table: Table, choice: TargetChoice) -> dict[str, tuple[Target, tuple[int, ...]]]:
    """Targets of different kinds, each with its kind and columns; empty where all are one target."""
    if choice.kind is not None and not target_type(choice.kind).parts_differ:
        return {}
    found: dict[str, tuple[Target, tuple[int, ...]]] = {}
    words = _with_words_as_labels(table, [j for positions in choice.groups.values() for j in positions])[0]
    for name, positions in choice.groups.items():
        numeric = all(_holds_numbers(words.columns[j]) for j in positions)
        if len(positions) > 1 and numeric:
            values = np.column_stack([np.asarray(words.columns[j], dtype=float) for j in positions])
            is_set = (np.isin(values, (0, 1)) | np.isnan(values)).all()
            found[name] = ("labels" if is_set else "numbers", positions)
        else:  # a column of text is a target by itself
            found |= {table.names[j]: (_kind_of(table, j, choice), (j,)) for j in positions}
    found = {name: (choice.kinds.get(name, kind), positions) for name, (kind, positions) in found.items()}
    if choice.kind is not None:
        return found
    together = all(_holds_numbers(table.columns[j]) for _, positions in found.values() for j in positions)
    kinds = {kind for kind, _ in found.values()}
    are_words = all(
        kind == "classes" and all(_holds_numbers(words.columns[j]) for j in positions)
        for kind, positions in found.values()
    )
    return {} if len(found) < 2 or are_words or (together and len(kinds) == 1) else found


def _holds_numbers(cells: Any) -> bool:
    return isinstance(cells, np.ndarray) or (isinstance(cells, TextColumn) and are_plain_numbers(cells.values))


def _mixed(
    table: Table,
    choice: TargetChoice,
    kinds: Mapping[str, tuple[Target, tuple[int, ...]]],
    unknown: np.ndarray,
) -> TargetColumns:
    """Each target by itself; an empty cell is unknown."""
    found = {}
    for name, (kind, positions) in kinds.items():
        if target_type(kind).has_one_label:
            found[name] = _partly_known_classes(table, positions[0])
        else:
            part = replace(choice, kind=kind, groups={}, several=len(positions) > 1, unknown=None)
            read = read_table_target(table, part, list(positions))
            if len(positions) == 1 and unknown.any() and target_type(kind).has_sets:
                empty = _is_missing(table.columns[positions[0]])
                read = replace(read, y=with_unknown_rows(read.y, unknown & empty))
            found[name] = read
    return side_by_side(found)


def _partly_known_classes(table: Table, position: int) -> TargetColumns:
    cells = table.columns[position]
    texts = TextColumn.of(_number_texts(cells)) if isinstance(cells, np.ndarray) else cells
    classes = tuple(sorted(texts.values, key=natural_key))
    code = {value: k for k, value in enumerate(classes)}
    codes = texts.taken([code[value] for value in texts.values], -1).astype(np.int64)
    return TargetColumns("classes", codes, classes)


def _without_unknown(table: Table, targets: list[int], unknown: str | None) -> tuple[Table, np.ndarray]:
    """The table with empty cells where target columns hold the word for unknown, and the rows in which one does."""
    rows = np.zeros(table.n_rows, dtype=bool)
    if unknown is None:
        return table, rows
    columns = list(table.columns)
    for j in targets:
        cells = columns[j]
        if isinstance(cells, np.ndarray):
            here = cells == float(unknown) if is_plain_number(unknown) else np.zeros(len(cells), dtype=bool)
            columns[j] = np.where(here, np.nan, cells)
        else:
            here = np.array([isinstance(cell, str) and cell.strip() == unknown for cell in cells], dtype=bool)
            known = [None if is_unknown else cell for cell, is_unknown in zip(cells, here, strict=True)]
            columns[j] = TextColumn.of(known) if isinstance(cells, TextColumn) else known
        rows |= here
    return replace(table, columns=columns), rows


def may_be_numbers(kind: Target | None) -> bool:
    """Whether a target column may hold numbers, as far as the caller says."""
    return kind is None or target_type(kind) is NumberTarget or target_type(kind).parts_differ


def _is_missing(cells: Any) -> np.ndarray:
    if isinstance(cells, TextColumn):
        return cells.is_missing
    return np.isnan(cells) if isinstance(cells, np.ndarray) else np.array([cell is None for cell in cells], dtype=bool)


def _told_numbers(name: str, found: TargetColumns) -> tuple[str, ...]:
    """A word where few whole numbers may be the codes of classes."""
    if found.kind is None or target_type(found.kind) is not NumberTarget:
        return found.notes
    values = found.y[~np.isnan(found.y)]
    distinct = np.unique(values)
    if len(values) < 2 * len(distinct) or len(distinct) > 10 or (distinct != np.floor(distinct)).any():
        return found.notes
    told = f"The target {name} holds {len(distinct)} whole numbers and is taken as a number; "
    return (told + "kind='classes' (--kind classes) makes classes of them.",)


def holds_ordinary_text(cells: TextColumn, label_separator: str) -> bool:
    """Whether cells are neither sets nor orders nor numbers."""
    values = cells.values
    return not are_plain_numbers(values) and not any(">" in value or label_separator in value for value in values)


def _kind_of(table: Table, position: int, choice: TargetChoice) -> Target:
    """What one target column holds, by its notation; 0 and 1 are two classes."""
    cells = table.columns[position]
    if isinstance(cells, np.ndarray):
        known = cells[~np.isnan(cells)]
        return "classes" if len(known) and np.isin(known, (0, 1)).all() else "numbers"
    if not isinstance(cells, TextColumn):
        labels = [label for cell in cells if cell is not None for label in cell]
        return "hierarchy" if any(choice.path_separator in label for label in labels) else "labels"
    values = cells.values
    if any(">" in value for value in values):
        return "rankings"
    if any(choice.label_separator in value for value in values):
        return "hierarchy" if any(choice.path_separator in value for value in values) else "labels"
    other = strays(values)
    if other and are_measured(values):
        raise stray_error(table, position, other, "kind='classes' (--kind classes)")
    return "numbers" if are_plain_numbers(values) and not {"0", "1", "0.0", "1.0"}.issuperset(values) else "classes"


def _target_numbers(table: Table, targets: list[int]) -> np.ndarray:
    columns = []
    for j in targets:
        values, categories = column_values(table, j, nominal=False)
        if categories is not None:
            row = int(np.argmin(_is_missing(table.columns[j])))
            raise table.error(
                row,
                j,
                f"{shown(table.columns[j][row])} in target column {shown(table.names[j])} is not a number",
                "Choose numeric columns, or say what the target is with kind=... (--kind).",
            )
        columns.append(values)
    return np.column_stack(columns)


def _several_columns(table: Table, targets: list[int], names: tuple[str, ...], choice: TargetChoice) -> TargetColumns:
    kind = choice.kind
    if kind is not None and kind not in _OF_SEVERAL_COLUMNS:
        raise ValueError(f"kind={kind!r} takes one target column. Got {len(targets)}: {', '.join(names[:6])}.")
    notes: tuple[str, ...] = ()
    if kind is None or target_type(kind).has_sets:
        table, notes = _with_words_as_labels(table, targets)
    values = _target_numbers(table, targets)
    if kind is None:
        is_missing = np.isnan(values)
        is_binary = bool((np.isin(values, (0, 1)) | is_missing).all()) and not is_missing.all()
        kind = "labels" if is_binary else "numbers"
        if is_binary and is_missing.any() and choice.unknown is None:
            row, column = (int(k) for k in np.argwhere(is_missing)[0])
            raise table.error(
                row,
                targets[column],
                f"the label {shown(names[column])} is empty",
                "Write 0 or 1, or say kind='labels' (--kind) if empty cells are unknown, or unknown=... (--unknown).",
            )
    y = _OF_SEVERAL_COLUMNS[kind](table, targets, names, values)
    n_unknown = int(np.isnan(values).sum())
    if n_unknown and target_type(kind).has_sets:
        notes += (f"{n_unknown} empty label cells are unknown: neither a label nor none.",)
    return TargetColumns(kind, y, names, notes=notes)


def _label_columns(table: Table, targets: list[int], names: tuple[str, ...], values: np.ndarray) -> Any:
    """A 0/1 CSR matrix, or a dense one with NaN where labels are unknown."""
    is_unknown = np.isnan(values)
    bad = np.argwhere(~(np.isin(values, (0, 1)) | is_unknown))
    if len(bad):
        row, column = (int(k) for k in bad[0])
        raise table.error(
            row,
            targets[column],
            f"the label {shown(names[column])} holds something else than 0 and 1",
            "Write 0 or 1, or leave the cell empty if it is unknown.",
        )
    return values if is_unknown.any() else sparse.csr_array(values.astype(np.int8))


def _rank_columns(table: Table, targets: list[int], names: tuple[str, ...], values: np.ndarray) -> np.ndarray:
    bad = np.flatnonzero(((values < 1) | (values > len(names))).any(axis=1))
    if len(bad):
        raise table.error(int(bad[0]), targets[0], f"a rank is outside 1 to {len(names)}", "1 is the best label.")
    return values


def _with_words_as_labels(table: Table, targets: list[int]) -> tuple[Table, tuple[str, ...]]:
    """The table with 0 and 1 in place of no and yes, or false and true, in the target columns."""
    columns = list(table.columns)
    words: dict[str, None] = {}
    for j in targets:
        if not isinstance(columns[j], TextColumn):
            continue
        found = {value.lower() for value in columns[j].values}
        pair = next((pair for pair in NEGATIVE_AND_POSITIVE if found and found.issubset(pair)), None)
        if pair is not None and pair != ("0", "1"):
            columns[j] = columns[j].taken([float(value.lower() == pair[1]) for value in columns[j].values])
            words[f"{pair[1]} means that a row has the label, {pair[0]} that it has not."] = None
    return replace(table, columns=columns), tuple(words)


def _number(table: Table, position: int, _: TargetChoice) -> TargetColumns:
    return TargetColumns("numbers", _target_numbers(table, [position])[:, 0], (table.names[position],))


def _classes(table: Table, position: int, _: TargetChoice) -> TargetColumns:
    texts = _whole_text(table, position)
    are_numbers = all(is_plain_number(text) for text in texts.values)
    classes = tuple(sorted(texts.values, key=float if are_numbers else natural_key))
    code = {value: k for k, value in enumerate(classes)}
    return TargetColumns("classes", texts.taken([code[value] for value in texts.values], -1).astype(np.int64), classes)


def _orders(table: Table, position: int, _: TargetChoice) -> TargetColumns:
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


def _label_sets(table: Table, at: int, choice: TargetChoice) -> TargetColumns:
    sets = _sets(table, at, choice)
    found = sorted({label for labels in sets for label in labels}, key=natural_key)
    position = {label: k for k, label in enumerate(found)}
    indices = [sorted({position[label] for label in labels}) for labels in sets]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in indices])]).astype(np.int64)
    flat = np.array([k for row in indices for k in row], dtype=np.int64)
    shape = (len(sets), len(found))
    y = sparse.csr_array((np.ones(len(flat), dtype=np.int8), flat, indptr), shape=shape)
    return TargetColumns("labels", y, tuple(found))


def _path_sets(table: Table, at: int, choice: TargetChoice) -> TargetColumns:
    sets = _sets(table, at, choice)
    for row, labels in enumerate(sets):
        for label in labels:
            steps = label.split(choice.path_separator)
            if not all(steps) or len(steps) > 200:
                raise table.error(row, at, f"{shown(label)} is no path of at most 200 steps", "Write a/b|a/c.")
    found = sorted({label for labels in sets for label in labels}, key=natural_key)
    hierarchy = Hierarchy.from_paths(found, separator=choice.path_separator)
    return TargetColumns("hierarchy", hierarchy.encode(sets), hierarchy.names, hierarchy)


def _sets(table: Table, at: int, choice: TargetChoice) -> list[list[str]]:
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
    return sets


_OF_ONE_COLUMN: dict[str, Callable[[Table, int, TargetChoice], TargetColumns]] = {
    "classes": _classes,
    "labels": _label_sets,
    "hierarchy": _path_sets,
    "numbers": _number,
    "rankings": _orders,
}
_OF_SEVERAL_COLUMNS: dict[str, Callable[[Table, list[int], tuple[str, ...], np.ndarray], Any]] = {
    "labels": _label_columns,
    "numbers": lambda _table, _targets, _names, values: values,
    "rankings": _rank_columns,
}


def text_cells(table: Table, position: int) -> list[str]:
    """The cells of a column as text; none may be missing."""
    cells = table.columns[position]
    if isinstance(cells, np.ndarray) and not np.isnan(cells).any():
        return _number_texts(cells)  # type: ignore[return-value]
    return list(_whole_text(table, position))  # type: ignore[arg-type]


def _number_texts(values: np.ndarray) -> list[str | None]:
    """Numbers as they are written, None where missing."""
    if len(values) and (np.abs(values) < 2.0**53).all() and (values == np.floor(values)).all():
        return list(map(str, values.astype(np.int64).tolist()))
    return [None if np.isnan(value) else f"{value:.17g}" for value in values.tolist()]


def _whole_text(table: Table, position: int) -> TextColumn:
    """A column as text; no cell may be missing."""
    cells = table.columns[position]
    if isinstance(cells, np.ndarray):
        cells = TextColumn.of(_number_texts(cells))
    if not isinstance(cells, TextColumn) or cells.is_missing.any():
        row = int(np.argmax(_is_missing(cells))) if isinstance(cells, TextColumn) else 0
        raise table.error(
            row, position, f"{shown(table.names[position])} is missing", "Fill it in, or leave out the row."
        )
    return cells
