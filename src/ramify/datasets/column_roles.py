"""Roles of columns: which name the rows, are dates, constant or copies of the target, and so are no features."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from ramify.datasets.dataset import Target
from ramify.datasets.text_column import TextColumn
from ramify.features.number_notation import are_mostly_numbers

FEWEST_ROWS = 20
"""In fewer rows, values differ or agree by chance."""
_DISTINCT = 0.95
_SAMPLE = 200
_NUMBER_WORDS = {"id", "ids", "uid", "uuid", "guid", "key", "nr", "no", "num", "number", "idx", "pk"}
_AMOUNT_WORDS = {"of", "per", "count", "total", "amount"}
_NAMED = "account case client customer employee gene invoice item loan order passenger patient person policy record row"
_NAMED += " sample session student subject ticket transaction user visit"
_JOINED = {f"{noun}{word}" for noun in _NAMED.split() for word in ("id", "no", "nr", "number")}
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@dataclass(frozen=True)
class ColumnRoles:
    """Which columns of a table are what, by name, so that another file is read the same way.

    Attributes
    ----------
    target : tuple of str
        Columns of the target.
    kind : str, optional
        Kind of the target.
    groups, kinds : dict
        Of targets of different kinds, the name of the target that each column belongs to, and the kind of each target.
    identifier : str, optional
        Column that names the rows.
    features : tuple of str
        Columns that features were made of.
    nominal : tuple of str
        Those of them that are nominal.
    dates : dict
        Those that are dates, with their format as `strptime` writes it.
    date_numbers : str, optional
        What dates became: "parts" or "days".
    decimal : dict
        Columns of numbers that are not written plainly, with their decimal sign.
    """

    target: tuple[str, ...] = ()
    kind: Target | None = None
    groups: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    identifier: str | None = None
    features: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()
    dates: Mapping[str, str] = field(default_factory=dict)
    date_numbers: str | None = None
    decimal: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The roles as plain values, as a model keeps them."""
        return asdict(self)

    @classmethod
    def from_dict(cls, roles: Mapping[str, Any]) -> ColumnRoles:
        """The roles that a model kept, or a refusal in words."""
        for name, value in roles.items():
            if name in {"target", "features", "nominal"}:
                right = isinstance(value, (list, tuple)) and all(isinstance(part, str) for part in value)
            elif name in {"dates", "decimal", "groups", "kinds"}:
                right = isinstance(value, Mapping) and all(isinstance(part, str) for kv in value.items() for part in kv)
            else:
                right = name in {"kind", "identifier", "date_numbers"} and isinstance(value, (str, type(None)))
            if not right:
                raise ValueError(f"Roles hold {name}={value!r:.60}. Give the roles of a data set or a model.")
        plain: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in roles.items()}
        return cls(**plain)


@dataclass(frozen=True)
class FoundRoles:
    """Columns that are no features, by position, and why."""

    identifier: int | None
    left_out: dict[int, str]
    notes: list[str]


def found_roles(
    names: Sequence[str],
    columns: Mapping[int, Any],
    n_rows: int,
    dates: Mapping[int, str],
    y: Any,
    target_cells: Any,
    *,
    named: bool,
) -> FoundRoles:
    """Look for columns that are no features.

    Parameters
    ----------
    names : sequence of str
        Of all columns of the table.
    columns : dict of position to column
        The columns that may be features: text or numbers (NaN where missing).
    n_rows : int
        Number of rows.
    dates : dict of position to str
        Columns of dates, each with one of its cells.
    y : ndarray, CSR or None
        The target.
    target_cells : TextColumn or None
        The very text of a target in one column.
    named : bool
        Whether a column is already said to name the rows, so that none is looked for.
    """
    reasons: dict[str, dict[int, str]] = {"identifier": {}, "date": {}, "constant": {}, "copy": {}}
    for j, example in dates.items():
        reasons["date"][j] = f"dates such as {example}"
    if n_rows >= FEWEST_ROWS:
        copies = TargetCopies(y)
        for j, column in columns.items():
            if j in dates or not isinstance(column, (np.ndarray, TextColumn)):
                continue
            if (constant := _constant(column)) is not None:
                reasons["constant"][j] = constant
            elif copies.holds(column) or _are_the_same(column, target_cells):
                reasons["copy"][j] = "a copy of the target"
            elif (share := _distinct_share(names[j], column, is_first=j == 0)) is not None:
                what = "text" if isinstance(column, TextColumn) else "whole numbers"
                reasons["identifier"][j] = f"{what} with another value in {share}"
    identifier = None if named else _best_identifier(names, columns, reasons["identifier"])
    notes = []
    if identifier is not None:
        why = reasons["identifier"].pop(identifier)
        notes.append(f"{names[identifier]} names the rows: {why}.")
    advice = {"date": "; dates='parts' or dates='days' (--dates) makes numbers of them"}
    for kind, found in reasons.items():
        notes += _told(names, found, advice.get(kind, ""))
    return FoundRoles(identifier, {j: why for found in reasons.values() for j, why in found.items()}, notes)


def _told(names: Sequence[str], found: Mapping[int, str], advice: str) -> list[str]:
    """A sentence for each column, or one for the columns of which the same is to be said, where they are many."""
    by_reason: dict[str, list[str]] = {}
    for j, why in found.items():
        by_reason.setdefault(why if len(found) > 4 else f"{j}: {why}", []).append(names[j])
    lines = []
    for why, columns in by_reason.items():
        reason = why if len(found) > 4 else why.partition(": ")[2]
        listed = ", ".join(columns[:4]) + (f" and {len(columns) - 4} more" if len(columns) > 4 else "")
        lines.append(f"{listed} {'is' if len(columns) == 1 else 'are'} left out: {reason}{advice}.")
    return lines


def _constant(column: Any) -> str | None:
    """What all rows have, in words, or None."""
    if isinstance(column, TextColumn):
        if len(column.values) > 1 or (column.values and column.is_missing.any()):
            return None
        return f"{column.values[0][:40]!r} in every row" if column.values else "empty in every row"
    if np.isnan(column[0]):
        return "empty in every row" if np.isnan(column).all() else None
    return f"{column[0]:g} in every row" if (column == column[0]).all() else None


def _distinct_share(name: str, column: Any, *, is_first: bool) -> str | None:
    """In which share of the rows an identifier has another value, or None if the column is none."""
    if isinstance(column, TextColumn):
        n_distinct = len(column.values)
        if n_distinct >= _DISTINCT * len(column) and not names_rows(name) and are_mostly_numbers(column.values):
            return None  # numbers with a slip among them are asked about, not left out
    elif _may_number_rows(name, column, is_first=is_first):
        n_distinct = len(np.unique(column[~np.isnan(column)]))
    else:
        return None
    if n_distinct < _DISTINCT * len(column):
        return None
    return "every row" if n_distinct == len(column) else f"{int(100 * n_distinct / len(column))} % of the rows"


def _are_the_same(column: Any, other: Any) -> bool:
    """Whether two columns of text have the same cells."""
    if not (isinstance(column, TextColumn) and isinstance(other, TextColumn)):
        return False
    return set(column.values) == set(other.values) and list(column) == list(other)


def _may_number_rows(name: str, values: np.ndarray, *, is_first: bool) -> bool:
    """Whether numbers are whole and, by name or by value, count or name something rather than measure it."""
    head = values[:_SAMPLE]
    if not (head == np.floor(head)).all() or len(np.unique(head)) < _DISTINCT * len(head) - 5:
        return False
    span = values.max() - values.min() + 1
    if not span >= _DISTINCT * len(values) or not (values == np.floor(values)).all():
        return False
    return names_rows(name) or span < 1.5 * len(values) or bool(is_first and (np.diff(values) > 0).all())


def names_rows(name: str) -> bool:
    """Whether a column's name says that it names rows: an id, a key or a number of something."""
    words = [word.lower() for word in _WORD.findall(name)]
    if not words or not _AMOUNT_WORDS.isdisjoint(words):
        return False
    joined = "".join(words)
    return words[-1] in _NUMBER_WORDS or words[0] in {"id", "uuid"} or joined in _JOINED or joined.endswith("nummer")


def _best_identifier(names: Sequence[str], columns: Mapping[int, Any], found: Mapping[int, str]) -> int | None:
    """The first column that is called an identifier, else the first one, of those that are nowhere empty."""

    def is_whole(column: Any) -> bool:
        return not (column.is_missing if isinstance(column, TextColumn) else np.isnan(column)).any()

    whole = [j for j in found if is_whole(columns[j])]
    return min(whole, key=lambda j: (not names_rows(names[j]), j), default=None)


class TargetCopies:
    """Whether a column says the same as the target, or as one of its labels, in other words."""

    def __init__(self, y: Any) -> None:
        self._columns: list[np.ndarray] = []
        self._labels: set[bytes] = set()
        if y is None:
            return
        if sparse.issparse(y) or (y.ndim == 2 and np.isin(y[~np.isnan(y)], (0, 1)).all()):
            by_label = sparse.csc_array(y == 1)
            n_rows = by_label.shape[0]
            for label in range(by_label.shape[1]):
                rows = np.sort(by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]])
                if 0 < len(rows) < n_rows:
                    self._labels.add(rows.astype(np.int64).tobytes())
        else:
            self._columns = list(np.asarray(y, dtype=float).reshape(len(y), -1).T)
            self._are_classes = np.asarray(y).dtype.kind in "iu"

    def holds(self, column: Any) -> bool:
        """Whether the column is a copy."""
        if not self._labels and not self._columns:
            return False
        codes = column.codes if isinstance(column, TextColumn) else column
        if np.isnan(codes).any() or (isinstance(column, TextColumn) and column.is_missing.any()):
            return False
        if self._labels:
            return _n_values(codes) == 2 and any(
                np.flatnonzero(codes == value).astype(np.int64).tobytes() in self._labels for value in np.unique(codes)
            )
        if self._are_classes:
            return _is_renamed(codes, self._columns[0])
        return isinstance(column, np.ndarray) and any(np.array_equal(column, y) for y in self._columns)


def _n_values(codes: np.ndarray) -> int:
    """How many values there are, counted to the end only where the first rows have few."""
    n_first = len(np.unique(codes[:_SAMPLE]))
    return n_first if n_first > 2 else len(np.unique(codes))


def _is_renamed(codes: np.ndarray, classes: np.ndarray) -> bool:
    """Whether values and classes, of which some have several rows, go together one to one."""
    n_classes = 0
    for rows in (slice(_SAMPLE), slice(None)):
        pairs = np.unique(np.column_stack([codes[rows], classes[rows]]), axis=0)
        n_classes = len(np.unique(pairs[:, 1]))
        if not len(pairs) == len(np.unique(pairs[:, 0])) == n_classes:
            return False
    return 1 < n_classes < len(classes)
