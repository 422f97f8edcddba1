"""From a table to a data set: inspected once, or read by the inspection of another table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ramify.datasets.dataset import Dataset, Target
from ramify.datasets.readers.arff import part_rows, stored
from ramify.datasets.readers.raw_files import FileError, advice_for_name, sha256_of, shown
from ramify.datasets.tables import notations
from ramify.datasets.tables.inspection import (
    FEWEST_ROWS,
    Column,
    ColumnWishes,
    Inspection,
    inspected_features,
    n_values,
)
from ramify.datasets.tables.leaks import Leaks
from ramify.datasets.tables.notations import Made, Numbers, are_codes, learn_numbers
from ramify.datasets.tables.oddities import oddities, rare_classes, spellings, without_totals
from ramify.datasets.tables.table import Table, as_text, missing_cells, number_texts
from ramify.datasets.tables.target_columns import ReadTarget, TargetNotation, UnreadableTarget, read_target
from ramify.datasets.tables.text_column import TextColumn
from ramify.features.frames import name_fits
from ramify.parameters import check_option
from ramify.targets import target_type

Names = str | Sequence[str]

KINDS = ("classes", "labels", "hierarchy", "numbers", "rankings", "mixed")
_BLOCK = 8192
_LOOKED_AT = 200


@dataclass(frozen=True)
class TableChoice:
    """What the caller says of a table; `ramify.datasets.read` documents it."""

    target: Names | None = None
    kind: Target | None = None
    identifier: str | None = "auto"
    weight: str | None = None
    groups: str | None = None
    ignore: Names = ()
    keep: Names = ()
    categorical: Collection[str] = ()
    roles: Any = "auto"
    dates: Any = None
    decimal: str | None = None
    label_separator: str | None = None
    path_separator: str | None = None
    nested: bool | None = None
    missing_target: str = "leave out"
    storage: str = "auto"
    unknown: str | float | None = None
    strict: bool = False

    def __post_init__(self) -> None:
        check_option("read", "kind", self.kind, (None, *KINDS))
        check_option("read", "decimal", self.decimal, (None, ".", ","))
        check_option("read", "storage", self.storage, ("auto", "dense", "sparse"))
        check_option("read", "missing_target", self.missing_target, ("leave out", "empty", "error"))
        if not isinstance(self.roles, (Mapping, Inspection)):
            check_option("read", "roles", self.roles, ("auto", None))
        for word in listed(self.dates or ()):
            check_option("read", "dates", word, ("parts", "days", "dmy", "mdy"))

    @property
    def known(self) -> Inspection | None:
        """The inspection of another table, by which this one is read."""
        if isinstance(self.roles, Mapping):
            return Inspection.from_dict(self.roles)
        return self.roles if isinstance(self.roles, Inspection) else None

    def wishes(self, names: Sequence[str]) -> ColumnWishes:
        """What is said of features."""
        words = listed(self.dates or ())
        return ColumnWishes(
            nominal=frozenset(names[j] for j in _named(names, self.categorical)),
            keep=frozenset(names[j] for j in _named(names, self.keep)),
            decimal=self.decimal,
            date_order=next((word for word in words if word in ("dmy", "mdy")), None),
            date_parts=next((word for word in words if word in ("parts", "days")), None),
            find_roles=self.roles == "auto",
            find_identifier=self.roles == "auto" and self.identifier == "auto",
        )

    def target_notation(self) -> TargetNotation:
        """What is said of the target's notation; what is empty is found."""
        return TargetNotation(
            kind=self.kind,
            label_separator=self.label_separator or "|",
            path_separator=self.path_separator or "",
            nested=bool(self.nested),
            decimal=self.decimal or ".",
        )


def listed(names: Any) -> list[str]:
    """Names as a list, whether one or several were given."""
    return [names] if isinstance(names, str) else list(names)


def _named(names: Sequence[str], wishes: Names | Collection[str]) -> set[int]:
    """Positions of the columns with the wished names; a wish that is a name means that column alone."""
    known = set(names)
    return {
        j
        for wish in listed(wishes)
        for j, name in enumerate(names)
        if (name == wish if wish in known else name_fits(name, wish))
    }


def exact_text(choice: TableChoice, names: Sequence[str]) -> set[int]:
    """Columns of which the very text is needed: identifiers, nominals, and the target."""
    known = choice.known
    wanted = set(listed(choice.categorical)) | ({choice.identifier} if choice.identifier else set())
    if known is not None:
        wanted |= {c.name for c in known.columns if isinstance(c.notation, notations.Categories)}
        wanted |= {*known.target.columns, *known.names("identifier")}
        wanted |= {
            c.name for c in known.columns if isinstance(c.notation, notations.Numbers) and c.notation.decimal == ","
        }
    positions = _named(names, wanted)
    if choice.target is not None:
        return positions | _named(names, choice.target)
    return positions | ({len(names) - 1} if known is None else set())


def ignored_positions(choice: TableChoice, names: Sequence[str]) -> set[int]:
    """Columns that need not be read at all."""
    return _named(names, choice.ignore) - _named(names, [n for n in listed(choice.target or ()) if n in names])


def table_dataset(table: Table, choice: TableChoice) -> Dataset:
    """A table as a data set."""
    table = _with_own_names(_without_second_names(table))
    known = choice.known
    try:
        return _inspected(table, choice) if known is None else _read_as(table, choice, known)
    except UnreadableTarget as error:
        if not table.paths:
            raise
        raise FileError(table.paths[0], str(error).rstrip(".")) from None


def _inspected(table: Table, choice: TableChoice) -> Dataset:
    """A table of which nothing is known but what the caller says."""
    if choice.roles == "auto":
        table = without_totals(table)
    named = [name for name in listed(choice.target or ()) if name in table.names]
    ignored = [j for j in _positions(table, choice.ignore, "ignore") if table.names[j] not in named]
    _positions(table, choice.keep, "keep")
    _positions(table, choice.categorical, "categorical")
    taken = _taken(table, choice)
    groups = _target_groups(table, choice, {*ignored, *taken.values()})
    if choice.target is None and choice.roles == "auto":
        for last in groups.values():
            _refuse_unlikely(table, last[0], choice.wishes(table.names))
    target = _read_target(table, groups, choice, choice.target_notation(), missing=choice.missing_target)
    n_rows = table.n_rows
    if target.rows is not None:
        table = table.rows(target.rows)
    positions = [j for group in groups.values() for j in group]
    free = [j for j in range(len(table.names)) if j not in {*ignored, *taken.values(), *positions}]
    cells = table.columns[positions[0]] if len(positions) == 1 else None
    declared = {table.names[j]: "nominal" for j in table.nominal} | {table.names[j]: "date" for j in table.dates}
    columns = inspected_features(
        [table.names[j] for j in free],
        [table.columns[j] for j in free],
        choice.wishes(table.names),
        Leaks(target.columns.y, cells),
        declared,
    )
    records = {table.names[j]: column for j, column in zip(free, columns, strict=True)}
    records |= {table.names[j]: _told(table, j, "left out", "ignore") for j in ignored}
    records |= {table.names[j]: _told(table, j, role, role) for role, j in taken.items()}
    records |= {table.names[j]: _told(table, j, "target", target.notation.kind or "") for j in positions}
    inspection = Inspection(tuple(records[name] for name in table.names), target.notation, n_rows)
    notes = [*table.notes, *target.columns.notes, *(inspection.notes() if n_rows else ())]
    if choice.roles == "auto":
        notes += _oddities(table, inspection, target, positions)
    if choice.strict and (told := [note for note in notes if note]):
        raise ValueError("strict=True (--strict) takes nothing that is not said. " + " ".join(told))
    return _dataset(table, inspection, target, choice, notes)


def _read_as(table: Table, choice: TableChoice, known: Inspection) -> Dataset:
    """A table read as another was: columns that it had not are left out, and no row is."""
    present = {name: j for j, name in enumerate(table.names)}
    names = [name for name in known.target.columns if name in present]
    names = names if choice.target is None else [table.names[j] for j in sorted(_named(table.names, choice.target))]
    whole = set(names) == set(known.target.columns)
    if known.target.parts and choice.target is None:
        parts = {
            n: replace(p, columns=tuple(c for c in p.columns if c in present)) for n, p in known.target.parts.items()
        }
        parts = {name: part for name, part in parts.items() if part.columns}
        groups = {name: [present[column] for column in part.columns] for name, part in parts.items()}
    else:
        groups = {"": [present[name] for name in names]} if names else {}
    notation = known.target if whole else replace(choice.target_notation(), kind=known.target.kind or choice.kind)
    if groups and known.target.parts and choice.target is None:
        notation = replace(known.target, parts=parts)
    target = _read_target(table, groups, choice, notation, missing="keep")
    kept = [column for column in known.columns if column.role in ("feature", "identifier") and column.name in present]
    identifier = choice.identifier if choice.identifier in present else None
    if identifier is not None:
        kept = [column for column in kept if column.role == "feature" and column.name != identifier]
        kept.append(Column(identifier, "identifier", "identifier"))
    records = [*kept, *(_told(table, present[name], "target", notation.kind or "") for name in names)]
    given = _taken(table, replace(choice, identifier=None))
    records += [_told(table, j, role, role) for role, j in given.items()]
    inspection = Inspection(tuple(records), known.target if not whole else target.notation, table.n_rows)
    lost = _unreadable(table, inspection)
    return _dataset(table, inspection, target, choice, [*table.notes, *target.columns.notes, *lost])


def _read_target(
    table: Table, groups: Mapping[str, Sequence[int]], choice: TableChoice, notation: TargetNotation, *, missing: str
) -> ReadTarget:
    """The target, with a word for unknown taken as an empty cell."""
    if choice.unknown is not None:
        columns = list(table.columns)
        for j in (j for group in groups.values() for j in group):
            columns[j] = _without(columns[j], str(choice.unknown))
        table = replace(table, columns=columns)
    return read_target(table, groups, notation, missing=missing)


def _without(cells: Any, word: str) -> Any:
    """Cells with nothing where they hold a word."""
    if isinstance(cells, list):
        return [None if cell == (word,) else cell for cell in cells]
    if isinstance(cells, TextColumn):
        return TextColumn.of(None if cell == word else cell for cell in cells)
    try:
        return np.where(cells == float(word), np.nan, cells)
    except ValueError:
        return cells


def _unreadable(table: Table, inspection: Inspection) -> list[str]:
    """Notes on cells that are not written as those that the notation was learnt from."""
    notes = []
    for column in inspection.columns:
        cells = table.columns[table.names.index(column.name)]
        if not isinstance(column.notation, notations.Numbers) or not isinstance(cells, TextColumn):
            continue
        values, words = column.notation.values(cells), set(column.notation.words)
        lost = [k for k in np.flatnonzero(np.isnan(values) & ~cells.is_missing).tolist() if cells[k] not in words]
        if lost:
            notes.append(
                f"{column.name}: {len(lost)} cells such as {shown(cells[lost[0]])} are no numbers and count as missing."
            )
    return notes


def _dataset(
    table: Table, inspection: Inspection, target: ReadTarget, choice: TableChoice, notes: Sequence[str]
) -> Dataset:
    position = {name: j for j, name in enumerate(table.names)}
    features: list[Made] = []
    for column in inspection.columns:
        if column.role == "feature" and column.notation is not None:
            features += column_features(column, table.columns[position[column.name]])
    features = _with_other_names(features)
    found = target.columns
    identifier = next(iter(inspection.names("identifier")), None)
    weight = next(iter(inspection.names("weight")), None)
    groups = next(iter(inspection.names("groups")), None)
    sizes = np.bincount(table.file_of, minlength=len(table.paths)).tolist()
    return Dataset(
        X=stored(_matrix([values for _, values, _ in features], table.n_rows), choice.storage, prefer_sparse=False),
        y=found.y,
        target=found.kind,
        feature_names=tuple(name for name, _, _ in features),
        categories=tuple(categories for _, _, categories in features),
        label_names=found.label_names,
        targets=found.targets,
        hierarchy=found.hierarchy,
        sample_weight=None if weight is None else _weights(table, position[weight]),
        row_groups=None if groups is None else _row_groups(table, position[groups]),
        ids=None if identifier is None else _identifiers(table.columns[position[identifier]]),
        id_name=identifier or "",
        parts=part_rows(table.paths, sizes) if table.paths else {},
        notes=tuple(notes),
        inspection=inspection,
        source=", ".join(map(str, table.paths)),
        sha256=sha256_of(table.paths) if table.paths else "",
    )


def column_features(column: Column, cells: Any) -> list[Made]:
    """What a column becomes; numbers of a file that parsed them need no notation."""
    if isinstance(cells, np.ndarray) and isinstance(column.notation, notations.Numbers):
        extra = [(f"{column.name}: {word}", np.zeros(len(cells)), None) for word in column.notation.words]
        if len(column.notation.units) > 1:
            return column.notation.features(column.name, as_text(cells))
        return [(column.name, cells, None), *extra]
    return column.notation.features(column.name, as_text(cells))  # type: ignore[union-attr]


def _with_other_names(features: list[Made]) -> list[Made]:
    """Features made of columns get another name where a column has theirs."""
    seen: set[str] = set()
    named = []
    for name, values, categories in features:
        while name in seen:
            name += "'"
        seen.add(name)
        named.append((name, values, categories))
    return named


def _matrix(columns: list[np.ndarray], n_rows: int) -> np.ndarray:
    """Columns side by side, a block of rows at a time, which is several times faster than a column at a time."""
    X = np.empty((n_rows, len(columns)))
    for start in range(0, n_rows if columns else 0, _BLOCK):
        rows = slice(start, start + _BLOCK)
        X[rows] = np.array([column[rows] for column in columns]).T
    return X


def _identifiers(cells: Any) -> np.ndarray:
    if isinstance(cells, np.ndarray) and len(cells) and not np.isnan(cells).any():
        return np.array(number_texts(cells), dtype=object)
    return np.array(["" if text is None else text for text in as_text(cells)], dtype=object)


def _weights(table: Table, position: int) -> np.ndarray:
    cells = table.columns[position]
    notation = None if isinstance(cells, np.ndarray) else notations.learn_numbers(as_text(cells))
    values = cells if notation is None else notation.values(as_text(cells))
    wrong = np.flatnonzero(~(values >= 0)) if isinstance(values, np.ndarray) else np.arange(1)
    if len(wrong):
        raise UnreadableTarget(
            f"The weight {shown(table.names[position])} is no non-negative number in row {int(wrong[0]) + 1}. "
            "Give every row a weight."
        )
    return np.asarray(values)


def _row_groups(table: Table, position: int) -> np.ndarray:
    """The group of each row by number; a row without one is a group of its own."""
    codes = as_text(table.columns[position]).codes
    alone = codes < 0
    return np.where(alone, codes.max(initial=-1) + np.cumsum(alone), codes)


def _told(table: Table, j: int, role: Any, kind: str) -> Column:
    """The record of a column of which the caller said what it is."""
    cells = table.columns[j]
    missing = missing_cells(cells)
    n_different = n_values(as_text(cells) if isinstance(cells, list) else cells)
    decision = {
        "left out": "left out, as asked",
        "target": "predicted",
        "weight": "weights the rows",
        "groups": "keeps rows together",
    }
    share = float(missing.mean()) if len(missing) else 0.0
    return Column(table.names[j], role, kind, n_different, share, decision.get(role, "row identifier"))


def _oddities(table: Table, inspection: Inspection, target: ReadTarget, positions: Sequence[int]) -> list[str]:
    """What looks like a slip and is none for sure."""
    nominal = [
        table.names.index(column.name)
        for column in inspection.columns
        if column.role == "feature" and column.kind == "nominal"
    ]
    features = [table.names.index(name) for name in inspection.names("feature")]
    notes = [*oddities(table, features, nominal)]
    kind = target.columns.kind
    if len(positions) == 1 and kind is not None and target_type(kind).has_one_label:
        notes += spellings(table.names[positions[0]], table.columns[positions[0]])
        notes += rare_classes(table.names[positions[0]], table.n_rows, target.columns.y, target.columns.label_names)
    if "weight" in (words := {name.lower(): name for name in inspection.names("feature")}):
        notes.append(
            f"{words['weight']} is taken as a feature; weight={words['weight']!r} (--weight) weights rows by it."
        )
    return notes


# -------------------------------------------------------------------------------------------------- names of columns


def _without_second_names(table: Table) -> Table:
    """The table without first rows that hold no data but a second line of names, as exports of surveys do."""
    while table.n_rows >= FEWEST_ROWS and _holds_names(table):
        second = [as_text(column)[0] or "" for column in table.columns]
        names, above = [], ""
        are_names = all(second) and not all(table.names) and len(set(second)) == len(second)
        for j, (name, below) in enumerate(zip(table.names, second, strict=True)):
            above = name or above
            in_group = not name or (j + 1 < len(second) and not table.names[j + 1] and bool(second[j + 1]))
            names.append(below if are_names else f"{above}: {below}" if in_group and below else name)
        listed = ", ".join(map(shown, [text for text in second if text][:2]))
        note = f"The first row holds a second line of names ({listed}, ...) and is no row of the data."
        table = replace(table.rows(np.arange(1, table.n_rows)), names=names, notes=(*table.notes, note))
        table = replace(table, columns=[_numbers_again(column) for column in table.columns])
    return table


def _holds_names(table: Table) -> bool:
    """Whether the first row holds no number, but words in columns which hold only numbers or dates below."""
    n_misfits = 0
    for column in table.columns:
        if isinstance(column, list) or (isinstance(column, np.ndarray) and not np.isnan(column[0])):
            return False
        if isinstance(column, np.ndarray) or column[0] is None:
            continue
        if Numbers().read(column[0]) is not None:
            return False
        below = column.rows(np.arange(1, min(table.n_rows, _LOOKED_AT)))
        if len(below.values) > 1 and column[0] not in below.values:
            numbers = learn_numbers(below)
            n_misfits += numbers is not None and not numbers.words and numbers.read(column[0]) is None
    return n_misfits >= 2


def _numbers_again(column: Any) -> Any:
    """Text that was a column of numbers but for its first cell."""
    if isinstance(column, TextColumn) and not are_codes(column.values):
        numbers = pd.to_numeric(pd.Series(column.values, dtype=object), errors="coerce").to_numpy(dtype=float)
        if len(numbers) and np.isfinite(numbers).all():
            return column.taken(numbers)
    return column


def _with_own_names(table: Table) -> Table:
    """A name of its own for every column: those without one are numbered, and those that share one."""
    counts = Counter(table.names)
    empty = {j for j, name in enumerate(table.names) if not name and bool(missing_cells(table.columns[j]).all())}
    if empty and table.n_rows:
        kept = [j for j in range(len(table.names)) if j not in empty]
        moved = {old: new for new, old in enumerate(kept)}
        table = replace(
            table,
            names=[table.names[j] for j in kept],
            columns=[table.columns[j] for j in kept],
            nominal=frozenset(moved[j] for j in table.nominal if j in moved),
            dates=frozenset(moved[j] for j in table.dates if j in moved),
        )
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
        told = ", ".join(map(shown, called[:3])) + (", ..." if len(called) > 3 else "")
        columns = "One column is" if number == 1 else f"{number} columns are"
        if not name:
            notes.append(f"{columns} without a name: called {told}.")
        elif number > 1:
            notes.append(f"{columns} named {shown(name)}: called {told}.")
    return replace(table, names=names, notes=(*table.notes, *notes))


def _positions(table: Table, wishes: Names | Collection[str], parameter: str) -> list[int]:
    """Columns with the wished names; a wish that no column fits is an error."""
    found: list[int] = []
    for wish in listed(wishes):
        fitting = sorted(_named(table.names, [wish]))
        if not fitting:
            raise _no_column(table, wish, parameter)
        found += fitting
    return list(dict.fromkeys(found))


def _no_column(table: Table, wish: str, parameter: str) -> ValueError:
    source = ", ".join(map(str, table.paths)) or "the frame"
    fault = f"{parameter}={wish!r} {'fits' if '*' in wish else 'is'} no column of {source}"
    return ValueError(f"{fault}. {advice_for_name(wish, table.names)}")


def _taken(table: Table, choice: TableChoice) -> dict[str, int]:
    """The columns that the caller names as identifier, weight and groups of rows."""
    taken = {}
    for role, wish in (
        ("identifier", choice.identifier),
        ("weight", choice.weight),
        ("groups", choice.groups),
    ):
        if wish is not None and (role, wish) != ("identifier", "auto"):
            taken[role] = _positions(table, [wish], role)[0]
    return taken


def _target_groups(table: Table, choice: TableChoice, excluded: set[int]) -> dict[str, list[int]]:
    """The target's columns by the words that name them; by default the last column."""
    if choice.target is None:
        free = [j for j in range(len(table.names)) if j not in excluded]
        return {table.names[free[-1]]: free[-1:]} if free else {}
    groups: dict[str, list[int]] = {}
    used: set[int] = set()
    for wish in listed(choice.target):
        left = excluded if wish not in table.names else set()
        positions = [j for j in _positions(table, [wish], "target") if j not in used | left]
        used.update(positions)
        if positions:
            groups[wish] = positions
    if listed(choice.target) and not groups:
        raise ValueError("All target columns are to be left out. Keep one of them.")
    return groups


def _refuse_unlikely(table: Table, position: int, wishes: ColumnWishes) -> None:
    """Refuse a target that nobody named where the last column is hardly one."""
    name, cells = table.names[position], table.columns[position]
    if isinstance(cells, list) or not table.n_rows:
        return
    (found,) = inspected_features([name], [cells], wishes, Leaks(None), {})
    holds = {
        "date": "holds dates",
        "text": "holds free text",
        "identifier": "identifies the rows",
        "empty": "is empty in every row",
    }.get(found.kind)
    is_free = found.kind == "text" and found.n_values >= 0.5 * table.n_rows
    if holds is not None and (found.role != "feature" or found.kind == "date" or is_free):
        raise UnreadableTarget(
            f"No target is named, and the last column, {name!r}, {holds} and is hardly the target. "
            "Name the target: target='...' (--target)."
        )
