"""Inspection: what each column of a table is, what was decided about it, why, and what would change that."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from ramify.datasets.readers.raw_files import shown
from ramify.datasets.tables import notations
from ramify.datasets.tables.leaks import Leaks
from ramify.datasets.tables.notations import Categories, Notation, Numbers
from ramify.datasets.tables.table import as_text, missing_cells
from ramify.datasets.tables.target_columns import TargetNotation
from ramify.datasets.tables.text_column import TextColumn

Role = Literal["feature", "target", "identifier", "weight", "groups", "left out"]

FEWEST_ROWS = 20
"""In fewer rows, values differ or agree by chance."""
_DISTINCT = 0.95
_SAMPLE = 200
_COUNTED = 100_000
_UNNAMED = re.compile(r"(?:unnamed: ?|column )\d+|row[ _.]?names?|index", re.IGNORECASE)
"""What columns of row numbers are called where nobody named them."""
_NUMBER_WORDS = {"id", "ids", "uid", "uuid", "guid", "key", "nr", "no", "num", "number", "idx", "pk"}
_AMOUNT_WORDS = {"of", "per", "count", "total", "amount"}
_NAMED = "account case client customer employee gene invoice item loan order passenger patient person policy record row"
_NAMED += " sample session student subject ticket transaction user visit"
_JOINED = {f"{noun}{word}" for noun in _NAMED.split() for word in ("id", "no", "nr", "number")}
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@dataclass(frozen=True)
class Column:
    """What one column is.

    Attributes
    ----------
    name : str
        Its name.
    role : {"feature", "target", "identifier", "weight", "groups", "left out"}
        What it is used for.
    kind : str
        What its cells are: "number", "date", "time", "nominal", "text", or of a target its kind.
    n_values : int
        How many different values it has; of numbers, in the first 100,000 rows.
    missing : float
        Share of the cells that hold nothing.
    decision : str
        What is done with it.
    why : str
        Why.
    option : str
        What changes the decision, in Python and on the command line.
    notation : Notation, optional
        How its cells are written.
    """

    name: str
    role: Role
    kind: str
    n_values: int = 0
    missing: float = 0.0
    decision: str = ""
    why: str = ""
    option: str = ""
    notation: Notation | None = None


@dataclass(frozen=True, repr=False)
class Inspection:
    """One record per column of a table, and how its target is written.

    Attributes
    ----------
    columns : tuple of Column
        In the order of the table.
    target : TargetNotation
        How the target is written.
    n_rows : int
        Rows of the table, those without a target included.

    Examples
    --------
    >>> import pandas as pd
    >>> import ramify
    >>> frame = pd.DataFrame({"price": ["$1,200", "$950", "$80"], "sold": ["5/10/18", "6/11/18", "7/12/19"],
    ...                       "kind": ["lamp", "sofa", "lamp"]})
    >>> found = ramify.inspect(frame, target="kind")
    >>> [(column.name, column.role, column.kind) for column in found.columns]
    [('price', 'feature', 'number'), ('sold', 'feature', 'date'), ('kind', 'target', 'classes')]
    """

    columns: tuple[Column, ...]
    target: TargetNotation = field(default_factory=TargetNotation)
    n_rows: int = 0

    def names(self, role: Role) -> tuple[str, ...]:
        """The columns of a role."""
        return tuple(column.name for column in self.columns if column.role == role)

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(f"There is no column {name!r}. There are {', '.join(c.name for c in self.columns[:8])}.")

    @property
    def left_out(self) -> dict[str, str]:
        """Columns that are no features, and why."""
        return {column.name: column.why or column.decision for column in self.columns if column.role == "left out"}

    def to_frame(self) -> pd.DataFrame:
        """A row per column."""
        fields = ("name", "role", "kind", "n_values", "missing", "decision", "why", "option")
        return pd.DataFrame(
            [{name: getattr(column, name) for name in fields} for column in self.columns], columns=fields
        )

    def to_dict(self) -> dict[str, Any]:
        """What another table is read by, as plain values: models keep it."""
        columns = [
            {
                "name": column.name,
                "role": column.role,
                "kind": column.kind,
                "notation": None if column.notation is None else notations.notation_to_dict(column.notation),
            }
            for column in self.columns
            if column.role != "left out"
        ]
        return {"columns": columns, "target": self.target.to_dict(), "n_rows": self.n_rows}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Inspection:
        """The inspection that a model kept, or a refusal in words."""
        wrong = ValueError(f"An inspection holds {plain!r:.80}. Give that of a data set or a model.")
        if not isinstance(plain, Mapping) or set(plain) != {"columns", "target", "n_rows"}:
            raise wrong
        if not isinstance(plain["n_rows"], int) or not isinstance(plain["columns"], (list, tuple)):
            raise wrong
        columns = []
        for given in plain["columns"]:
            names = {"name", "role", "kind", "notation"}
            if not isinstance(given, Mapping) or set(given) != names or given["role"] not in get_args(Role):
                raise wrong
            if not all(isinstance(given[name], str) for name in ("name", "kind")):
                raise wrong
            kept = None if given["notation"] is None else notations.notation_from_dict(given["notation"])
            columns.append(Column(given["name"], given["role"], given["kind"], notation=kept))
        return cls(tuple(columns), TargetNotation.from_dict(plain["target"]), plain["n_rows"])

    def notes(self) -> list[str]:
        """What people should know of the columns, a sentence for all columns of which the same is to be said."""
        said: dict[tuple[str, str], list[Column]] = {}
        for column in self.columns:
            if column.why and column.role in ("left out", "identifier", "feature"):
                said.setdefault((column.role, _about(column)), []).append(column)
        return [_sentence(role, columns) for (role, _), columns in said.items()]

    def __repr__(self) -> str:
        counts = {role: len(self.names(role)) for role in ("feature", "target", "identifier", "left out")}
        parts = ", ".join(f"{n} {role}" for role, n in counts.items() if n)
        return f"Inspection({self.n_rows} rows, {len(self.columns)} columns: {parts})"

    def _repr_html_(self) -> str:
        from ramify.notebook import html_table

        rows = [
            (
                c.name,
                c.role,
                c.kind,
                f"{c.n_values:,}",
                f"{100 * c.missing:.0f} %" if c.missing else "",
                c.decision,
                c.why,
            )
            for c in self.columns
        ]
        return html_table(repr(self), ["column", "role", "kind", "values", "missing", "decision", "why"], rows)


def _about(column: Column) -> str:
    """What columns share of which one sentence speaks."""
    if column.kind == "text":
        return column.kind
    return re.sub(r"\(.*?\)|'[^']*'|\d[\d.,]*", "", column.why)


def _sentence(role: str, columns: Sequence[Column]) -> str:
    first = columns[0]
    shown_names = ", ".join(column.name for column in columns[:4])
    listed = shown_names + (f" and {len(columns) - 4} more" if len(columns) > 4 else "")
    if role == "identifier":
        return f"Using {shown(first.name)} as the row identifier ({first.why})."
    option = f" {first.option}." if first.option else ""
    if first.kind == "text":
        return f"Text of many values, used by its frequent words: {listed}. --ignore leaves a column out."
    if role == "left out":
        return f"Left out: {listed} ({first.why}).{option}"
    return f"{listed}: {first.decision} ({first.why}).{option}"


# ------------------------------------------------------------------------------------------ deciding on a column


@dataclass(frozen=True)
class ColumnWishes:
    """What the caller says of features.

    Attributes
    ----------
    nominal, keep : set of str
        Columns that are nominal, and columns that are features whatever they seem to be.
    decimal : str, optional
        The decimal sign.
    date_order, date_parts : str, optional
        Which of day and month comes first, and what dates become.
    find_roles : bool
        Whether identifiers, constants and copies of the target are looked for.
    find_identifier : bool
        Whether one column may name the rows.
    """

    nominal: frozenset[str] = frozenset()
    keep: frozenset[str] = frozenset()
    decimal: str | None = None
    date_order: str | None = None
    date_parts: str | None = None
    find_roles: bool = True
    find_identifier: bool = True


def inspected_features(
    names: Sequence[str],
    columns: Sequence[Any],
    wishes: ColumnWishes,
    leaks: Leaks,
    declared: Mapping[str, str],
) -> list[Column]:
    """A record for each column that may be a feature.

    Parameters
    ----------
    names, columns : sequences
        The columns.
    wishes : ColumnWishes
        What the caller says.
    leaks : Leaks
        Who knows copies of the target.
    declared : mapping of str to {"nominal", "date"}
        What the file or frame itself says of a column.
    """
    found = [
        _inspected(name, column, wishes, leaks, declared.get(name, ""), is_first=j == 0)
        for j, (name, column) in enumerate(zip(names, columns, strict=True))
    ]
    if wishes.find_identifier:
        found = _with_identifier(found)
    return found


def _inspected(name: str, cells: Any, wishes: ColumnWishes, leaks: Leaks, declared: str, *, is_first: bool) -> Column:
    cells = as_text(cells) if isinstance(cells, list) else cells
    is_missing = missing_cells(cells)
    values = n_values(cells)
    record = Column(name, "feature", "number", values, float(is_missing.mean()) if len(is_missing) else 0.0)
    leave = replace(record, role="left out", decision="left out", option=f"keep={name!r} (--keep) uses it")
    n_known = len(is_missing) - int(np.count_nonzero(is_missing))
    enough = wishes.find_roles and len(is_missing) >= FEWEST_ROWS and name not in wishes.keep
    if is_missing.all():
        return replace(leave, kind="empty", why="empty in every row", option="")
    if enough and values == 1 and not is_missing.any() and _is_constant(cells):
        return replace(leave, kind="constant", why=f"{_first(cells)} in every row")
    if enough and (told := leaks.of(cells)):
        return replace(leave, kind="copy of the target", why=told)
    if name in wishes.nominal or declared == "nominal":
        return replace(record, kind="nominal", decision="used as nominal", notation=Categories())
    if isinstance(cells, np.ndarray):
        return _inspected_numbers(record, leave, cells, wishes, enough=enough, is_first=is_first)
    may_name = enough and n_known >= FEWEST_ROWS
    return _inspected_text(record, leave, cells, wishes, declared, enough=may_name, is_first=is_first)


def _inspected_numbers(
    record: Column, leave: Column, cells: np.ndarray, wishes: ColumnWishes, *, enough: bool, is_first: bool
) -> Column:
    if enough and _may_number_rows(record.name, cells, is_first=is_first):
        counted = replace(record, n_values=len(pd.unique(cells)))
        if counted.n_values >= _DISTINCT * len(cells):
            return replace(leave, kind="identifier", n_values=counted.n_values, why=_unique(counted, len(cells)))
    if np.fmin.reduce(cells) >= 16_000_101 and np.fmax.reduce(cells) <= 21_991_231 and record.n_values > 1:
        dates = notations.learn_dates(as_text(cells), wishes.date_order, wishes.date_parts)
        if dates is not None:
            return _dated(record, as_text(cells), dates, wishes)
    return replace(record, decision="used as a number", notation=Numbers())


def _inspected_text(
    record: Column,
    leave: Column,
    cells: TextColumn,
    wishes: ColumnWishes,
    declared: str,
    *,
    enough: bool,
    is_first: bool,
) -> Column:
    n_known = len(cells) - int(np.count_nonzero(cells.is_missing))
    dates = notations.learn_dates(cells, wishes.date_order, wishes.date_parts)
    if dates is not None and (dates.compact or declared == "date"):
        return _dated(record, cells, dates, wishes)
    numbers = notations.learn_numbers(cells, wishes.decimal)
    if numbers is not None and not (numbers.ending and dates is not None):
        if (
            enough
            and record.n_values >= _DISTINCT * len(cells)
            and (names_rows(record.name) or _may_number_rows(record.name, numbers.values(cells), is_first=is_first))
        ):
            return replace(leave, kind="identifier", why=_unique(record, n_known))
        return _numbered(record, cells, numbers, wishes)
    if (clock := notations.learn_clock(cells)) is not None:
        return replace(record, kind="time", decision="used as hours", why=f"times such as {shown(cells.values[0])}",
                       notation=clock)  # fmt: skip
    if dates is not None:
        return _dated(record, cells, dates, wishes)
    if not names_rows(record.name) and (parts := notations.learn_parts(cells)) is not None:
        several = f"used as {len(parts.between) - 1} numbers"
        why = f"several numbers in a cell, as in {shown(cells.values[0])}"
        decision = f"{several} and as nominal" if parts.values else several
        return replace(record, kind="several numbers", decision=decision, why=why, notation=parts)
    if enough and record.n_values >= _DISTINCT * n_known and _may_name_rows(record, cells):
        return replace(leave, kind="identifier", why=_unique(record, n_known))
    categories = notations.learn_categories(cells)
    if enough and not categories.words and record.n_values >= _DISTINCT * n_known:
        return replace(leave, kind="identifier", why=_unique(record, n_known))
    if not categories.words:
        why = "" if record.n_values <= notations.MANY else f"{record.n_values:,} different texts"
        return replace(record, kind="nominal", decision="used as nominal", why=why, notation=categories)
    words = f"{len(categories.words)} of its words"
    decision = f"used as nominal and by {words}" if categories.values else f"used by {words}"
    why = f"text with {record.n_values:,} different values"
    option = f"ignore={record.name!r} (--ignore) leaves it out"
    return replace(record, kind="text", decision=decision, why=why, option=option, notation=categories)


def _numbered(record: Column, cells: TextColumn, numbers: Numbers, wishes: ColumnWishes) -> Column:
    """Text that holds numbers, with what may be wrong about that."""
    lost = [value for value in cells.values if value not in numbers.words and numbers.read(value) is None]
    reasons, option = [], ""
    if numbers.decimal == ",":
        commas = [value for value in cells.values if "," in value]
        points = [value for value in cells.values if "." in value]
        what = "decimal commas" if commas else "points between thousands"
        reasons.append(f"{what}, as in {shown((commas or points)[0])}")
    elif wishes.decimal is None and notations.comma_is_unclear(cells.values):
        reasons.append(f"{shown(next(v for v in cells.values if ',' in v))} is read with commas between thousands")
        option = "decimal=',' (--decimal) reads them as decimal signs"
    if numbers.units:
        units = ", ".join(shown(unit.replace("|", " ").strip() or "none") for unit in numbers.units)
        scales = notations.scales_of(numbers.units)
        if len({scales.get(unit, unit) for unit in numbers.units}) > 1:
            reasons.append(f"units converted: {units}" if scales else f"in several units: {units}")
    if numbers.brackets:
        reasons.append("numbers in brackets are negative")
    if numbers.words:
        reasons.append(f"the words {', '.join(map(shown, numbers.words))} are features of their own")
    if lost:
        n_lost = int(cells.taken(np.isin(cells.values, lost), missing=False).sum())
        reasons.append(f"{n_lost} cells such as {shown(lost[0])} are no numbers and count as missing")
        option = f"categorical={record.name!r} (--nominal) takes all values as names"
    return replace(record, decision="used as a number", why="; ".join(reasons), option=option, notation=numbers)


def _dated(record: Column, cells: TextColumn, dates: notations.Dates, wishes: ColumnWishes) -> Column:
    why = f"dates such as {shown(cells.values[0])}"
    option = f"ignore={record.name!r} (--ignore) leaves it out"
    if wishes.date_order is None and not dates.compact and notations.order_is_unclear(cells.values):
        why += ", read as month and day"
        option = "dates='dmy' (--dates dmy) reads the day first"
    if notations.has_short_years(cells.values):
        why += ", with years of two digits"
    return replace(
        record, kind="date", decision=f"used as {', '.join(dates.parts)}", why=why, option=option, notation=dates
    )


def _first(cells: Any) -> str:
    return shown(cells.values[0]) if isinstance(cells, TextColumn) else f"{cells[0]:g}"


def _is_constant(cells: Any) -> bool:
    return isinstance(cells, TextColumn) or bool(cells.min() == cells.max())


def n_values(cells: Any) -> int:
    """How many different values a column has; of numbers, in the first rows."""
    if isinstance(cells, TextColumn):
        return len(cells.values)
    head = cells[:_COUNTED]
    return len(pd.unique(head[~np.isnan(head)]))


def _unique(record: Column, n_known: int) -> str:
    return (
        "every value is unique"
        if record.n_values == n_known
        else f"{100 * record.n_values // n_known} % of the values are unique"
    )


def _may_number_rows(name: str, values: np.ndarray, *, is_first: bool) -> bool:
    """Whether numbers are whole and, by name or by value, count or name something rather than measure it."""
    head = values[:_SAMPLE]
    if not (head == np.floor(head)).all() or len(np.unique(head)) < _DISTINCT * len(head) - 5:
        return False
    span = values.max() - values.min() + 1
    if not span >= _DISTINCT * len(values) or not (values == np.floor(values)).all():
        return False
    is_dense, in_order = span < 1.5 * len(values), bool((np.diff(values) > 0).all())
    return names_rows(name) or (is_dense and in_order) or (is_first and (is_dense or in_order))


def _may_name_rows(record: Column, cells: TextColumn) -> bool:
    """Whether different texts are names or codes rather than sentences."""
    sentences = sum(" " in value.strip() for value in cells.values[:_SAMPLE])
    return names_rows(record.name) or 2 * sentences <= len(cells.values[:_SAMPLE])


def names_rows(name: str) -> bool:
    """Whether a column's name says that it names rows: an id, a key or a number of something."""
    words = [word.lower() for word in _WORD.findall(name)]
    if not words or not _AMOUNT_WORDS.isdisjoint(words):
        return False
    joined = "".join(words)
    if _UNNAMED.fullmatch(name):
        return True
    return words[-1] in _NUMBER_WORDS or words[0] in {"id", "uuid"} or joined in _JOINED or joined.endswith("nummer")


def _with_identifier(columns: Iterable[Column]) -> list[Column]:
    """The first column that is called an identifier, else the first one, of those that are nowhere empty."""
    found = list(columns)
    whole = [j for j, column in enumerate(found) if column.kind == "identifier" and column.missing == 0]
    best = min(whole, key=lambda j: (not names_rows(found[j].name), j), default=None)
    if best is not None:
        chosen = found[best]
        found[best] = replace(
            chosen, role="identifier", decision="row identifier", option="identifier=None (--id none) takes none"
        )
    return found
