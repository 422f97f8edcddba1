"""The target of a table: what its columns hold, how that is written, and the vectors that it becomes."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from ramify.datasets.dataset import Target
from ramify.datasets.readers.arff_target import NEGATIVE_AND_POSITIVE, TargetColumns, with_unknown_rows
from ramify.datasets.readers.mixed_target import side_by_side
from ramify.datasets.readers.order_notation import OrderError, labels_of_order, natural_key, ranks_of_order
from ramify.datasets.readers.raw_files import shown
from ramify.datasets.tables.notations import ENOUGH, learn_clock, learn_numbers
from ramify.datasets.tables.table import Table, as_text, missing_cells
from ramify.datasets.tables.text_column import TextColumn
from ramify.hierarchy import Hierarchy
from ramify.targets import target_type

_NEGATIVE = {"", "0", "no", "n", "false", "f", "off", "not selected", "not checked", "unchecked", "unselected"}
_LABEL_SEPARATORS = ("|", ";", ",")
_PATH_SEPARATORS = (">", "::", "/", "\\", "|", ".")
_WRITTEN_LIST = re.compile(r"\s*[\[{(](.*)[\]})]\s*", re.DOTALL)
_DEEPEST = 200
_MOST_RANKED = 40
_FEWEST_BARS = 8
"""Bars usually separate labels: so many different cells must speak for paths."""


class UnreadableTarget(ValueError):
    """A column does not hold what it is said to hold."""


@dataclass(frozen=True)
class TargetNotation:
    """How a target is written, so that another file is read and predictions are written the same way.

    Attributes
    ----------
    kind : str, optional
        Kind of the target.
    columns : tuple of str
        The columns that hold it.
    label_separator, path_separator : str
        What separates labels of a set and steps of a path.
    nested : bool
        Whether the columns are the levels of a hierarchy, the highest first.
    words : mapping of str to (str, str)
        Of label columns, what they hold where a row has not, and where it has the label.
    decimal : str
        The decimal sign of numbers.
    parts : mapping of str to TargetNotation
        Of targets of different kinds, each by its name.
    """

    kind: Target | None = None
    columns: tuple[str, ...] = ()
    label_separator: str = "|"
    path_separator: str = ""
    nested: bool = False
    words: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    decimal: str = "."
    parts: Mapping[str, TargetNotation] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The notation as plain values."""
        plain = {**vars(self), "columns": list(self.columns), "words": {k: list(v) for k, v in self.words.items()}}
        return {**plain, "parts": {name: part.to_dict() for name, part in self.parts.items()}}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> TargetNotation:
        """The notation that a model kept, or a refusal in words."""
        try:
            given = dict(plain)
            given["columns"] = tuple(map(str, given.get("columns", ())))
            given["words"] = {str(k): (str(v[0]), str(v[1])) for k, v in dict(given.get("words", {})).items()}
            given["parts"] = {str(k): cls.from_dict(v) for k, v in dict(given.get("parts", {})).items()}
            made = cls(**given)
        except (TypeError, ValueError, IndexError, KeyError, AttributeError):
            made = None
        names = ("label_separator", "path_separator", "decimal")
        if made is None or not all(isinstance(getattr(made, name), str) for name in names):
            raise ValueError(f"A target is written as {plain!r:.80}. Give the inspection of a data set or a model.")
        return made


@dataclass(frozen=True)
class ReadTarget:
    """A target, how it is written, and the rows that have it."""

    columns: TargetColumns
    notation: TargetNotation
    rows: np.ndarray | None = None
    """The rows that are kept; None where that is all of them."""


def read_target(
    table: Table, groups: Mapping[str, Sequence[int]], asked: TargetNotation, *, missing: str = "leave out"
) -> ReadTarget:
    """Find out what the target columns hold and read them.

    Parameters
    ----------
    table : Table
        All columns.
    groups : mapping of str to sequence of int
        The positions of the target's columns, by the words in which the caller named them.
    asked : TargetNotation
        What is known of the notation; what is empty is found.
    missing : {"leave out", "empty", "error", "keep"}
        What to do with rows without a target: leave them out, take an empty set of labels, refuse them, or keep them as
        unknown.
    """
    positions = [j for group in groups.values() for j in group]
    if not positions:
        return ReadTarget(TargetColumns(None, None, ()), TargetNotation())
    names = tuple(table.names[j] for j in positions)
    if len(positions) == 1 and not asked.parts:
        kind, asked = _notation_of_column(table.columns[positions[0]], asked)
        found, notation = _ONE_COLUMN[kind](table, positions[0], replace(asked, kind=kind, columns=names))
    else:
        found, notation = _several(table, groups, replace(asked, columns=names))
    return _without_missing(found, notation, table, positions, missing)


def _without_missing(
    found: TargetColumns, notation: TargetNotation, table: Table, positions: Sequence[int], missing: str
) -> ReadTarget:
    """Rows that have no target are left out and counted."""
    if missing == "keep":
        is_empty = missing_cells(table.columns[positions[0]])
        if _holds_sets(notation) and len(positions) == 1 and is_empty.any():
            found = replace(found, y=with_unknown_rows(found.y, is_empty))
        if len(is_empty) and all(missing_cells(table.columns[j]).all() for j in positions):
            note = f"The target is empty in {len(is_empty)} of {len(is_empty)} rows, so that nothing is measured."
            return ReadTarget(TargetColumns(None, None, (), notes=(note,)), notation)
        return ReadTarget(found, notation)
    unknown = _rows_without(found)
    if missing == "empty" and not _holds_sets(notation):
        raise UnreadableTarget(
            f"missing_target='empty' is for label sets; {table.names[positions[0]]} holds {notation.kind}."
        )
    if missing != "empty" and _holds_sets(notation) and len(positions) == 1:
        unknown |= missing_cells(table.columns[positions[0]])
    n_unknown = int(np.count_nonzero(unknown))
    if not n_unknown:
        return ReadTarget(found, notation)
    listed = ", ".join(table.names[j] for j in positions[:3]) + (" and more" if len(positions) > 3 else "")
    if missing == "error":
        first = int(np.argmax(unknown)) + 1
        raise UnreadableTarget(f"{n_unknown} rows have no value in {listed}, the first is row {first}. Fill them in.")
    if n_unknown == len(unknown):
        why = " ".join((f"No row has a value in the target {listed}.", *found.notes))
        raise UnreadableTarget(f"{why} Name another target.")
    rows = np.flatnonzero(~unknown)
    y = found.y.iloc[rows].reset_index(drop=True) if hasattr(found.y, "iloc") else found.y[rows]
    told = f"{n_unknown} of {len(unknown)} rows have no value in {listed} and are left out."
    return ReadTarget(replace(found, y=y, notes=(*found.notes, told)), notation, rows)


def _holds_sets(notation: TargetNotation) -> bool:
    return notation.kind is not None and target_type(notation.kind).has_sets


def _rows_without(found: TargetColumns) -> np.ndarray:
    """Rows of which nothing is known."""
    y = found.y
    if hasattr(y, "isna"):
        return np.asarray(y.isna().to_numpy().all(axis=1))
    if sparse.issparse(y):
        return np.zeros(y.shape[0], dtype=bool)
    if y.dtype.kind in "iu":
        return np.asarray(y < 0) if found.kind == "classes" else np.zeros(len(y), dtype=bool)
    unknown = np.isnan(y)
    return unknown if y.ndim == 1 else np.asarray(unknown.all(axis=1))


# ---------------------------------------------------------------------------------------------------- one column


def _notation_of_column(cells: Any, asked: TargetNotation) -> tuple[Target, TargetNotation]:
    """What a column holds, as the caller says or as its cells tell."""
    if isinstance(cells, list):
        steps = asked.path_separator or "/"
        is_path = any(steps in label for cell in cells if cell is not None for label in cell)
        kind = asked.kind or ("hierarchy" if is_path else "labels")
        return kind, replace(asked, path_separator=steps if kind == "hierarchy" else "")
    if asked.kind is not None and not target_type(asked.kind).has_sets:
        return asked.kind, asked
    if isinstance(cells, np.ndarray):
        if asked.kind is not None:
            return asked.kind, replace(asked, path_separator=asked.path_separator or "/")
        known = cells[~np.isnan(cells)]
        return ("classes" if np.isin(known, (0, 1)).all() else "numbers"), asked
    values = cells.values
    counts = np.bincount(cells.codes[cells.codes >= 0], minlength=len(values))
    if asked.kind is None and not asked.path_separator:
        numbers = learn_numbers(cells)
        if numbers is not None and not numbers.words:
            known = numbers.values(cells)
            return ("classes" if set(known[~np.isnan(known)]) <= {0.0, 1.0} else "numbers"), asked
        if learn_clock(cells) is not None:
            return "numbers", asked
        if _are_orders(values):
            return "rankings", asked
    if asked.kind != "labels":
        found = _paths(values, counts, asked)
        if found is not None:
            return "hierarchy", found
    if asked.kind == "hierarchy":
        return "hierarchy", replace(asked, path_separator=asked.path_separator or "/")
    sign = _label_separator(values, counts, said=asked.kind == "labels")
    if asked.kind == "labels" or sign is not None:
        return "labels", replace(asked, label_separator=sign or asked.label_separator, path_separator="")
    return "classes", asked


def _are_orders(values: Sequence[str]) -> bool:
    """Whether cells order the same few labels: a>b>c in one row, c>a>b in another."""
    if not values or not any(">" in value for value in values):
        return False
    orders = [labels_of_order(value) for value in values]
    labels = {label for order in orders for label in order}
    if "" in labels or len(labels) > _MOST_RANKED or any(len(set(order)) < len(order) for order in orders):
        return False
    if any("=" in value for value in values):
        return True
    places: dict[str, set[int]] = {}
    for order in orders:
        for place, label in enumerate(order):
            places.setdefault(label, set()).add(place)
    moving = sum(len(found) > 1 for found in places.values())
    full = np.mean([len(order) for order in orders]) >= 0.6 * len(labels)
    return bool(full) and (2 * moving > len(labels) or len(values) == 1)


def _paths(values: Sequence[str], counts: np.ndarray, asked: TargetNotation) -> TargetNotation | None:
    """The separators by which the cells are paths of one hierarchy, or None."""
    for steps in (asked.path_separator.strip() or " ",) if asked.path_separator else _PATH_SEPARATORS:
        if not any(steps in value for value in values):
            continue
        signs = [sign for sign in (asked.label_separator, *_LABEL_SEPARATORS) if sign != steps]
        for sign in [*dict.fromkeys(sign for sign in signs if any(sign in value for value in values)), ""]:
            sets = [[part.split(steps) for part in (value.split(sign) if sign else [value])] for value in values]
            paths = [([step.strip() for step in path], count) for of_cell, count in zip(sets, counts, strict=True)
                     for path in of_cell]  # fmt: skip
            if asked.path_separator or _is_hierarchy(paths, steps):
                usual = asked.label_separator if asked.label_separator != steps else ";"
                written = f" {steps} " if all(f" {steps} " in v for v in values if steps in v) else steps
                return replace(asked, path_separator=written, label_separator=sign or usual)
    return None


def _is_hierarchy(paths: Sequence[tuple[list[str], int]], separator: str) -> bool:
    """Whether paths share parents as those of one hierarchy do."""
    distinct = {tuple(path) for path, _ in paths}
    if not all(all(path) and len(path) <= _DEEPEST for path in distinct):
        return False
    weight = sum(count for _, count in paths)
    deep = sum(count for path, count in paths if len(path) > 1)
    tops = {path[0] for path in distinct}
    if len(distinct) < (_FEWEST_BARS if separator == "|" else 3) or len(tops) >= len(distinct) or 4 * deep < weight:
        return False
    if len(tops) > 0.7 * len(distinct) or any(len(step) > 80 for path in distinct for step in path):
        return False
    if all(
        re.fullmatch(r"[\w-]{1,6}", step) and (step.isdigit() or len(step) <= 3) for path in distinct for step in path
    ):
        return separator != "|"  # codes such as 01.03.01, of which a part means nothing by itself
    parents: dict[str, Counter[tuple[str, int]]] = {}
    for path, count in paths:
        for place, step in enumerate(path):
            parents.setdefault(step, Counter())[path[place - 1] if place else "", place] += count
    total = sum(found.total() for found in parents.values())
    return sum(max(found.values()) for found in parents.values()) >= 0.9 * total


def _label_separator(values: Sequence[str], counts: np.ndarray, *, said: bool) -> str | None:
    """What separates the labels of sets: their parts recur in several cells."""
    if all(re.fullmatch(r"[-+0-9., ]*", value) for value in values):
        return None
    for sign in _LABEL_SEPARATORS:
        sets = [_parts_of_set(value, sign) for value in values]
        several = [(parts, count) for parts, count in zip(sets, counts.tolist(), strict=True) if len(parts) > 1]
        if not several:
            continue
        if said or sign == "|":
            return sign
        known = [parts for parts, _ in several if all(parts) and len(set(parts)) == len(parts)]
        if len(known) < 2 or len(known) < ENOUGH * len(several):
            continue
        cells_with = Counter(part for parts in sets for part in set(parts))
        occurrences = Counter({part: 0 for part in cells_with})
        for parts, count in several:
            for part in parts:
                occurrences[part] += count
        recurring = sum(n for part, n in occurrences.items() if cells_with[part] > 1)
        if recurring >= 0.75 * occurrences.total() and len(cells_with) <= len(values):
            return sign
    return None


def _read_numbers(table: Table, j: int, asked: TargetNotation) -> tuple[TargetColumns, TargetNotation]:
    cells, name = table.columns[j], table.names[j]
    notes: list[str] = []
    if isinstance(cells, np.ndarray):
        values, decimal = cells, "."
    else:
        texts = as_text(cells)
        notation = learn_numbers(texts, asked.decimal if asked.decimal != "." else None)
        if notation is None and (clock := learn_clock(texts)) is not None:
            notes.append(f"The times in {name}, such as {shown(texts.values[0])}, are taken as hours.")
            return TargetColumns("numbers", clock.values(texts), (name,), notes=tuple(notes)), asked
        if notation is None:
            raise UnreadableTarget(
                f"The target {name} holds {shown(as_text(cells).values[0])}, which is no number. Name another target, "
                "or say kind='classes' (--kind classes)."
            )
        values, decimal = notation.values(as_text(cells)), notation.decimal
        lost = ~missing_cells(cells) & np.isnan(values)
        if lost.any():
            first = as_text(cells)[int(np.argmax(lost))]
            notes.append(f"{int(lost.sum())} cells of the target {name} are no numbers, such as {shown(first)}.")
    return TargetColumns("numbers", values, (name,), notes=(*notes, *_few_numbers(name, values))), replace(
        asked, decimal=decimal
    )


def _few_numbers(name: str, values: np.ndarray) -> list[str]:
    """A word where few whole numbers may be the codes of classes."""
    known = values[~np.isnan(values)]
    distinct = np.unique(known)
    if len(known) < 2 * len(distinct) or len(distinct) > 10 or (distinct != np.floor(distinct)).any():
        return []
    told = f"The target {name} has {len(distinct)} different whole numbers and is taken as a number"
    return [f"{told}; kind='classes' (--kind classes) takes them as classes."]


def _read_classes(table: Table, j: int, asked: TargetNotation) -> tuple[TargetColumns, TargetNotation]:
    texts = as_text(table.columns[j])
    are_numbers = learn_numbers(texts) is not None and all(
        re.fullmatch(r"[-+]?[\d.]+", value) for value in texts.values
    )
    classes = tuple(sorted(texts.values, key=float if are_numbers else natural_key))
    code = {value: k for k, value in enumerate(classes)}
    codes = texts.taken([code[value] for value in texts.values], -1).astype(np.int64)
    return TargetColumns("classes", codes, classes), asked


def _read_orders(table: Table, j: int, asked: TargetNotation) -> tuple[TargetColumns, TargetNotation]:
    texts = as_text(table.columns[j])
    labels = tuple(sorted({label for text in texts.values for label in labels_of_order(text)}, key=natural_key))
    column_of = {label: k for k, label in enumerate(labels)}
    ranks = np.full((len(texts.values) + 1, len(labels)), np.nan)
    notes = []
    for k, text in enumerate(texts.values):
        try:
            ranks[k] = ranks_of_order(text, column_of)
        except OrderError as error:
            notes.append(f"In the order {shown(text)} {error}; its rows are left out. Write it as a>b=c>d.")
    return TargetColumns("rankings", ranks[texts.codes], labels, notes=tuple(notes[:3])), asked


def _read_sets(table: Table, j: int, asked: TargetNotation) -> tuple[TargetColumns, TargetNotation]:
    sets, codes = _sets_of(table.columns[j], asked)
    found = sorted({label for labels in sets for label in labels}, key=natural_key)
    position = {label: k for k, label in enumerate(found)}
    y = _zero_one([[position[label] for label in labels] for labels in sets], len(found))[codes]
    told: tuple[str, ...] = ()
    if asked.label_separator != "|" and any(len(labels) > 1 for labels in sets):
        told = (
            f"{table.names[j]} holds label sets separated by {shown(asked.label_separator)}: {len(found)} labels; "
            "kind='classes' (--kind classes) takes each cell as one class.",
        )
    return TargetColumns("labels", y, tuple(found), notes=told), asked


def _read_paths(table: Table, j: int, asked: TargetNotation) -> tuple[TargetColumns, TargetNotation]:
    sets, codes = _sets_of(table.columns[j], asked)
    sign = asked.path_separator.strip() or " "
    steps = [[tuple(step.strip() for step in path.split(sign)) for path in paths] for paths in sets]
    told = (
        f"{table.names[j]} holds paths of a hierarchy, with steps separated by {shown(sign)}; "
        "kind='classes' (--kind classes) takes each as one class.",
    )
    return _path_target(steps, codes, told), asked


def _path_target(sets: Sequence[Sequence[tuple[str, ...]]], codes: np.ndarray, notes: tuple[str, ...]) -> TargetColumns:
    """Label sets of a tree from the paths of each distinct cell; names of steps are joined by a slash."""
    wrong = next((path for paths in sets for path in paths if not all(path) or len(path) > _DEEPEST), None)
    if wrong is not None:
        raise UnreadableTarget(
            f"{shown('/'.join(wrong))} is no path of at most {_DEEPEST} steps. Write a/b, or a/b|a/c."
        )
    sign = " > " if any("/" in step for paths in sets for path in paths for step in path) else "/"
    named = [[sign.join(path) for path in paths] for paths in sets]
    found = sorted({label for labels in named for label in labels}, key=natural_key)
    hierarchy = Hierarchy.from_paths(found, separator=sign)
    y = sparse.csr_array(hierarchy.encode(named))[codes]
    return TargetColumns("hierarchy", y, hierarchy.names, hierarchy, notes=notes)


def _sets_of(cells: Any, asked: TargetNotation) -> tuple[list[list[str]], np.ndarray]:
    """The parts of each distinct cell, the last for missing ones, and which of them each row has."""
    if isinstance(cells, list):
        distinct = {cell: k for k, cell in enumerate(dict.fromkeys(cell for cell in cells if cell is not None))}
        codes = np.array([-1 if cell is None else distinct[cell] for cell in cells], dtype=np.int64)
        parts = [list(dict.fromkeys(filter(None, cell))) for cell in distinct]
    else:
        texts = as_text(cells)
        codes = texts.codes
        split = (_parts_of_set(value, asked.label_separator) for value in texts.values)
        parts = [list(dict.fromkeys(filter(None, of_cell))) for of_cell in split]
    return [*parts, []], np.where(codes < 0, len(parts), codes)


def _parts_of_set(value: str, separator: str) -> list[str]:
    """The labels of a cell, without the brackets and quotes of a written list: ["Drama", "War"]."""
    if (written := _WRITTEN_LIST.fullmatch(value)) is not None:
        return [part.strip().strip("\"'") for part in written[1].split(separator)]
    return [part.strip() for part in value.split(separator)]


def _zero_one(sets: Sequence[Sequence[int]], n_labels: int) -> sparse.csr_array:
    indices = [sorted(of_row) for of_row in sets]
    indptr = np.concatenate([[0], np.cumsum([len(of_row) for of_row in indices])]).astype(np.int64)
    flat = np.array([k for of_row in indices for k in of_row], dtype=np.int64)
    return sparse.csr_array((np.ones(len(flat), dtype=np.int8), flat, indptr), shape=(len(sets), n_labels))


_ONE_COLUMN: dict[str, Callable[[Table, int, TargetNotation], tuple[TargetColumns, TargetNotation]]] = {
    "classes": _read_classes,
    "labels": _read_sets,
    "hierarchy": _read_paths,
    "numbers": _read_numbers,
    "rankings": _read_orders,
}


# ------------------------------------------------------------------------------------------------ several columns


def _several(
    table: Table, groups: Mapping[str, Sequence[int]], asked: TargetNotation
) -> tuple[TargetColumns, TargetNotation]:
    positions = [j for group in groups.values() for j in group]
    names = tuple(table.names[j] for j in positions)
    if asked.parts:
        return _mixed(table, groups, asked)
    if asked.kind not in (None, "labels", "numbers", "rankings", "hierarchy", "mixed"):
        raise UnreadableTarget(
            f"kind={asked.kind!r} takes one target column. Got {len(names)}: {', '.join(names[:6])}."
        )
    if asked.kind == "mixed":
        return _mixed(table, groups, asked)
    ticks = {} if asked.kind in ("numbers", "rankings") else _tick_words(table, positions, asked.words)
    if len(ticks) == len(positions):
        return _read_ticks(table, positions, replace(asked, kind="labels", words=ticks))
    if asked.kind == "labels":
        lost = next(j for j in positions if table.names[j] not in ticks)
        example = shown(as_text(table.columns[lost]).values[0])
        raise UnreadableTarget(
            f"The label {table.names[lost]} holds {example}. Write 0 or 1, and nothing where it is unknown."
        )
    numbers = [_as_numbers(table.columns[j]) for j in positions]
    if asked.kind in ("numbers", "rankings") or (asked.kind is None and all(v is not None for v in numbers)):
        if any(v is None for v in numbers):
            lost = positions[next(k for k, v in enumerate(numbers) if v is None)]
            raise UnreadableTarget(
                f"The target column {table.names[lost]} holds {shown(as_text(table.columns[lost]).values[0])}, which "
                "is no number. Choose columns of numbers, or say what the target is with kind=... (--kind)."
            )
        return _read_number_columns(names, np.column_stack([v for v in numbers if v is not None]), asked)
    levels = None if asked.kind is not None and not asked.nested else _levels(table, positions)
    if levels is not None or asked.kind == "hierarchy" or asked.nested:
        return _read_levels(table, levels or positions, asked)
    return _mixed(table, groups, asked)


def _as_numbers(cells: Any) -> np.ndarray | None:
    if isinstance(cells, np.ndarray):
        return cells
    if isinstance(cells, TextColumn) and not cells.values:
        return np.full(len(cells), np.nan)
    notation = learn_numbers(cells) if isinstance(cells, TextColumn) else None
    return None if notation is None or notation.words else notation.values(cells)


def _tick_words(
    table: Table, positions: Sequence[int], known: Mapping[str, tuple[str, str]]
) -> dict[str, tuple[str, str]]:
    """What each column of labels holds where a row has not, and where it has the label; "" is an empty cell."""
    words = {}
    for j in positions:
        cells, name = table.columns[j], table.names[j]
        if name in known:
            words[name] = known[name]
        elif not isinstance(cells, list) and (pair := _pair_of(as_text(cells).values)) is not None:
            words[name] = pair
    return words


def _pair_of(values: Sequence[str]) -> tuple[str, str] | None:
    """The negative and the positive word, if that is all that a column holds."""
    lower = {value.lower(): value for value in values}
    if len(lower) != len(values) or not values:
        return None
    if len(values) == 1:
        (only,) = lower
        if only in _NEGATIVE:
            return lower[only], next((yes for no, yes in NEGATIVE_AND_POSITIVE if no == only), "1")
        is_positive = only in {yes for _, yes in NEGATIVE_AND_POSITIVE}
        return ("", lower[only]) if is_positive or not re.fullmatch(r"[-+\d.,]+", only) else None
    for no, yes in NEGATIVE_AND_POSITIVE:
        if set(lower) == {no, yes}:
            return lower[no], lower[yes]
    negative = [word for word in lower if word in _NEGATIVE]
    if len(values) == 2 and len(negative) == 1:
        positive = next(word for word in lower if word not in _NEGATIVE)
        return None if re.fullmatch(r"[-+\d.,]+", positive) else (lower[negative[0]], lower[positive])
    return None


def _read_ticks(table: Table, positions: Sequence[int], asked: TargetNotation) -> tuple[TargetColumns, TargetNotation]:
    """Label columns: an empty cell is no label where only ticks are written, and unknown beside a word for no."""
    columns, n_unknown, strays = [], 0, 0
    for j in positions:
        texts = as_text(table.columns[j])
        negative, positive = asked.words[table.names[j]]
        meaning = {negative.lower(): 0.0, positive.lower(): 1.0}
        empty = 0.0 if negative == "" else np.nan
        values = texts.taken([meaning.get(value.lower(), np.nan) for value in texts.values], empty)
        columns.append(values)
        n_unknown += int(np.isnan(values).sum())
        strays += len({value for value in texts.values if value.lower() not in meaning})
    values = np.column_stack(columns)
    notes = []
    pairs = list(dict.fromkeys(asked.words.values()))
    if pairs != [("0", "1")]:
        negative, positive = pairs[0]
        one_each = f"{len(positions)} labels: each column's own text means that a row has the label"
        told = f"{positive} means that a row has the label, {negative or 'an empty cell'} that it has not"
        notes.append((told if len(pairs) == 1 else one_each) + ".")
    if n_unknown:
        notes.append(f"{n_unknown} empty label cells are unknown: neither a label nor none.")
    y = values if np.isnan(values).any() else sparse.csr_array(values.astype(np.int8))
    return TargetColumns("labels", y, asked.columns, notes=tuple(notes)), asked


def _read_number_columns(
    names: tuple[str, ...], values: np.ndarray, asked: TargetNotation
) -> tuple[TargetColumns, TargetNotation]:
    """Several numbers; where each row holds 1 to k, a ranking of the columns."""
    ordered = np.sort(values, axis=1)
    are_ranks = values.shape[1] > 2 and bool((ordered == np.arange(1, values.shape[1] + 1)).all())
    kind: Target = asked.kind or ("rankings" if are_ranks else "numbers")
    if target_type(kind).ranks_labels:
        wrong = np.flatnonzero(((values < 1) | (values > len(names))).any(axis=1))
        if len(wrong):
            raise UnreadableTarget(
                f"In row {int(wrong[0]) + 1} a rank is outside 1 to {len(names)}; 1 is the best label."
            )
        if (row := _without_best(values)) is not None:
            ranks = ", ".join(f"{value:g}" for value in values[row])
            raise UnreadableTarget(f"In row {row + 1} the ranks {ranks} have no best label. The best label has rank 1.")
        note = f"Each row ranks the {len(names)} target columns, 1 is the best; kind='numbers' (--kind) takes numbers."
        return TargetColumns(kind, values, names, notes=() if asked.kind else (note,)), replace(asked, kind=kind)
    return TargetColumns(kind, values, names), replace(asked, kind=kind)


def _without_best(ranks: np.ndarray) -> int | None:
    """The first row that ranks every label and none best; ties written as averages start above 1 if the best tie."""
    best = np.min(ranks, axis=1, initial=np.inf, where=~np.isnan(ranks))
    n_best = (ranks == best[:, None]).sum(axis=1)
    wrong = ~np.isnan(ranks).any(axis=1) & (best != 1) & (best != (n_best + 1) / 2) & (best != n_best)
    return int(np.argmax(wrong)) if wrong.any() else None


def _levels(table: Table, positions: Sequence[int]) -> list[int] | None:
    """The columns as levels of a hierarchy, the highest first, if each value has one parent; else None."""
    texts = {j: table.columns[j] for j in positions}
    if not all(isinstance(column, TextColumn) and len(column.values) > 1 for column in texts.values()):
        return None
    determined = {
        (child, parent): _determined_share(texts[child], texts[parent])
        for child in positions
        for parent in positions
        if child != parent
    }
    below = {j: sum(determined[j, other] >= ENOUGH for other in positions if other != j) for j in positions}
    ordered = sorted(positions, key=lambda j: (below[j], len(texts[j].values)))
    pairs = list(itertools.pairwise(ordered))
    nested = all(determined[child, parent] >= ENOUGH > determined[parent, child] for parent, child in pairs)
    return ordered if nested else None


def _determined_share(child: TextColumn, parent: TextColumn) -> float:
    """In which share of the rows the parent is that which the child's value mostly has."""
    known = (parent.codes >= 0) & (child.codes >= 0)
    if known.sum() < 2 * len(child.values):
        return 0.0
    counts = np.zeros((len(child.values), len(parent.values)), dtype=np.int64)
    np.add.at(counts, (child.codes[known], parent.codes[known]), 1)
    return float(counts.max(axis=1).sum() / known.sum())


def _read_levels(table: Table, levels: Sequence[int], asked: TargetNotation) -> tuple[TargetColumns, TargetNotation]:
    """Nested columns as paths; an empty cell ends a path."""
    texts = [as_text(table.columns[j]) for j in levels]
    names = tuple(table.names[j] for j in levels)
    rows = np.column_stack([column.codes for column in texts])
    rows[np.cumsum(rows < 0, axis=1) > 0] = -1
    distinct, codes = np.unique(rows, axis=0, return_inverse=True)
    paths = [
        [tuple(column.values[k] for column, k in zip(texts, row, strict=True) if k >= 0)] for row in distinct.tolist()
    ]
    told = f"Each value of {names[-1]} has one parent: {' > '.join(names)} are taken as a hierarchy"
    note = f"{told}; kind='mixed' (--kind mixed) takes them side by side."
    target = _path_target([[path for path in of_row if path] for of_row in paths], codes.reshape(-1), (note,))
    return target, replace(asked, kind="hierarchy", columns=names, nested=True)


def _mixed(
    table: Table, groups: Mapping[str, Sequence[int]], asked: TargetNotation
) -> tuple[TargetColumns, TargetNotation]:
    """Targets of different kinds side by side; an empty cell is unknown."""
    found, parts = {}, {}
    for name, positions in _own_groups(table, groups, asked).items():
        known = asked.parts.get(name, TargetNotation())
        read = read_target(table, {name: positions}, known, missing="keep")
        found[name], parts[name] = read.columns, read.notation
    kinds = {part.kind for part in parts.values()}
    if asked.kind is None and kinds == {"numbers"}:
        return _read_number_columns(asked.columns, np.column_stack([c.y for c in found.values()]), asked)
    return side_by_side(found), replace(asked, kind="mixed", parts=parts)


def _own_groups(table: Table, groups: Mapping[str, Sequence[int]], asked: TargetNotation) -> dict[str, Sequence[int]]:
    """Columns named together are one target if they are labels or numbers, else each is one."""
    own: dict[str, Sequence[int]] = {}
    for name, positions in groups.items():
        together = name in asked.parts or len(positions) == 1
        if not together:
            n_ticks = len(_tick_words(table, positions, {}))
            together = n_ticks == len(positions) or all(_as_numbers(table.columns[j]) is not None for j in positions)
        own |= {name: positions} if together else {table.names[j]: [j] for j in positions}
    return own
