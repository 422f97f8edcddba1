"""Data sets whose target stands in a file of its own: annotations, gene sets, pairs, a table of labels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from ramify.datasets.dataset import Dataset
from ramify.datasets.readers.attached_hierarchy import terms_of, with_labels_ordered
from ramify.datasets.readers.gaf import ASPECTS, gaf_lines
from ramify.datasets.readers.raw_files import FileError, PathLike, plain_name, read_text, sha256_of, shown
from ramify.datasets.tables.delimited import delimited_table
from ramify.datasets.tables.excel import excel_table
from ramify.datasets.tables.parquet import parquet_table
from ramify.datasets.tables.table import MISSING, Table, as_text
from ramify.datasets.tables.table_dataset import KINDS, TableChoice, listed, table_dataset
from ramify.datasets.tables.text_column import TextColumn
from ramify.datasets.term_names import meant_terms
from ramify.features.frames import take_rows
from ramify.hierarchy import Hierarchy
from ramify.parameters import check_integer, check_option
from ramify.targets import target_type

_NO_DATA = "ND"
"""Evidence code of an annotation which says that nothing is known."""
_QUALIFIER, _TERM, _EVIDENCE, _ASPECT, _SYNONYMS = 3, 4, 6, 8, 10


@dataclass(frozen=True)
class LabelChoice:
    """What the caller says of a target in a file of its own; `ramify.datasets.read` documents it."""

    target: Any = None
    kind: Any = None
    label_separator: str | None = None
    path_separator: str | None = None
    nested: bool | None = None
    missing_target: str = "leave out"
    unknown: str | float | None = None
    aspect: str | None = None
    evidence: Collection[str] = ()
    min_rows: int = 10
    keep_rows: bool = False
    """Whether rows without labels stay, with an unknown target, as they do where a model predicts them."""
    hierarchy: Hierarchy | PathLike | None = None

    def __post_init__(self) -> None:
        check_option("read", "kind", self.kind, (None, *KINDS))
        check_option("read", "aspect", self.aspect, (None, *ASPECTS))
        check_option("read", "missing_target", self.missing_target, ("leave out", "empty", "error"))
        check_integer("read", "min_rows", self.min_rows, low=1)


OF_THE_TARGET = frozenset(signature(LabelChoice).parameters) - {"target", "keep_rows", "hierarchy"}
"""Parameters of `read` that are of the file of annotations where there is one."""


class _Labels(NamedTuple):
    """Rows of a file of labels: their names, the best ones first, and either pairs with labels or a target."""

    names: Sequence[Mapping[str, int]]
    labels_of: list[set[str]]
    note: str


@dataclass
class _Names:
    """Which row of a file of labels a name means: by identifier, else symbol, else synonym, else in other case."""

    ways: Sequence[Mapping[str, int]]
    folded: Sequence[Mapping[str, int]] = field(init=False)

    def __post_init__(self) -> None:
        self.folded = [_unambiguous((name.casefold(), row) for name, row in way.items()) for way in self.ways]

    def rows(self, names: Iterable[Any]) -> np.ndarray:
        """The row of each name, -1 where there is none."""
        return np.array([self._row(str(name).strip()) for name in names], dtype=np.int64)

    def _row(self, name: str) -> int:
        for ways, key in ((self.ways, name), (self.folded, name.casefold())):
            for way in ways:
                if key in way:
                    return way[key]
        return -1


def with_labels_of(read_rows: Callable[[str | None], Dataset], file: PathLike, choice: LabelChoice) -> Dataset:
    """The data with the target that another file gives their rows.

    Parameters
    ----------
    read_rows : callable
        Reads the data without a target, with the column that names the rows; None: with the one that is found.
    file : path
        GAF annotations, gene sets (GMT), or a table with the names of rows.
    choice : LabelChoice
        What is said of the target.
    """
    path = Path(file)
    ending = plain_name(path).lower().rpartition(".")[2]
    if ending in ("gaf", "gmt"):
        if choice.target is not None:
            raise FileError(path, "annotations have no target column", advice="Leave out the target.")
        found = _gaf_labels(path, choice) if ending == "gaf" else _gene_sets(path)
        names = _Names(found.names)
        data, _ = _named_rows(read_rows, [names], path)
        rows = names.rows(_ids(data))
        labelled = _with_label_sets(data, rows, found.labels_of, choice, path)
        extra = [found.note] if found.note else []
    else:
        table = _label_table(path)
        data, column = _named_rows(read_rows, [_Names([_first_rows(cells)]) for cells in table.columns], path)
        if table.names[column] in set(map(str, _ids(data))):
            table = _without_header(table)
        rows = _Names([_first_rows(table.columns[column])]).rows(_ids(data))
        labelled = _with_table_target(data, rows, table, column, choice, path)
        extra = []
    return _finished(data, labelled, rows, extra, choice, path)


class _Labelled(NamedTuple):
    """The matched rows with their target, and which rows of the data they are."""

    data: Dataset
    matched: np.ndarray
    notes: list[str]


# ------------------------------------------------------------------------------------------------------ which rows


def _ids(data: Dataset) -> Sequence[Any]:
    return () if data.ids is None else data.ids.tolist()


def _candidates(data: Dataset) -> list[str]:
    """Columns that may name the rows: the first, and those of text."""
    if data.inspection is None:
        return []
    first, *others = data.inspection.columns or (None,)
    named = [column.name for column in others if column.kind in ("identifier", "text", "nominal")]
    return [name for name in ([] if first is None else [first.name, *named]) if name != data.id_name]


def _named_rows(read_rows: Callable[[str | None], Dataset], ways: Sequence[_Names], path: Path) -> tuple[Dataset, int]:
    """The data, by a column that a file of labels names rows by, and which of its ways of naming fits most rows.

    The column that is found to name the rows is left for another only where it names less than half of them here.
    """
    first = best = read_rows(None)
    n_best, way = 0, 0
    for column in (None, *_candidates(first)):
        data = first if column is None else read_rows(column)
        best = data if best.ids is None else best
        for k, names in enumerate(ways):
            if (n_found := int((names.rows(_ids(data)) >= 0).sum())) > n_best:
                best, n_best, way = data, n_found, k
        if 2 * n_best >= data.n_samples:
            break
    if not n_best:
        raise FileError(path, _no_match(best, list(ways[0].ways[0])[:2]), advice=_ADVICE)
    return best, way


_ADVICE = "Name the column that names the rows: identifier='...' (--id)."


def _no_match(data: Dataset, names: Sequence[str]) -> str:
    own = [str(name) for name in _ids(data)[:2]]
    here = f"rows are named {', '.join(map(shown, own))}" if own else "the rows have no names"
    return f"no row of the data is named here: in the data {here}, here {', '.join(map(shown, names))}"


def _unambiguous(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Names that mean one row alone."""
    rows: dict[str, set[int]] = defaultdict(set)
    for name, row in pairs:
        rows[name].add(row)
    return {name: next(iter(found)) for name, found in rows.items() if len(found) == 1}


def _first_rows(cells: Any) -> dict[str, int]:
    row_of: dict[str, int] = {}
    for row, cell in enumerate(as_text(cells)):
        if cell is not None:
            row_of.setdefault(cell, row)
    return row_of


def _without_header(table: Table) -> Table:
    """The table with its names as its first row."""
    columns = [TextColumn.of([name, *as_text(cells)]) for name, cells in zip(table.names, table.columns, strict=True)]
    names = [f"column {k}" for k in range(1, len(columns) + 1)]
    return replace(table, names=names, columns=columns, file_of=np.zeros(len(columns[0]), dtype=np.int64))


# --------------------------------------------------------------------------------------------------- files of labels


def _gaf_labels(path: Path, choice: LabelChoice) -> _Labels:
    """Terms of the objects of a GAF file, those with NOT and those that are not asked for left out."""
    wanted = frozenset(listed(choice.evidence))
    row_of: dict[str, int] = {}
    symbols: list[tuple[str, int]] = []
    synonyms: list[tuple[str, int]] = []
    labels_of: list[set[str]] = []
    n_negated = 0
    for _, cells in gaf_lines(path):
        row = row_of.setdefault(cells[1], len(row_of))
        if row == len(labels_of):
            labels_of.append(set())
        symbols.append((cells[2], row))
        synonyms.append((f"{cells[0]}:{cells[1]}", row))
        synonyms += [(name.strip(), row) for name in cells[_SYNONYMS].split("|") if name.strip()]
        if choice.aspect is not None and cells[_ASPECT] != choice.aspect:
            continue
        if cells[_EVIDENCE] not in wanted if wanted else cells[_EVIDENCE] == _NO_DATA:
            continue
        if "NOT" in cells[_QUALIFIER].split("|"):
            n_negated += 1
            continue
        labels_of[row].add(cells[_TERM])
    if not any(labels_of):
        raise FileError(path, "no annotation is left", advice="Check `aspect` and `evidence` (--aspect, --evidence).")
    note = f"{n_negated} annotations with NOT are left out." if n_negated else ""
    return _Labels((row_of, _unambiguous(symbols), _unambiguous(synonyms)), labels_of, note)


def _gene_sets(path: Path) -> _Labels:
    """Sets of a GMT file: name, description, members."""
    row_of: dict[str, int] = {}
    labels_of: list[set[str]] = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        name, *rest = line.rstrip("\t ").split("\t")
        if len(rest) < 1 or not name.strip():
            fault = "a line of gene sets has a name, a description and members, separated by tabs"
            raise FileError(path, fault, line=number, advice="Write one set per line.")
        for member in filter(None, (cell.strip() for cell in rest[1:])):
            row = row_of.setdefault(member, len(row_of))
            if row == len(labels_of):
                labels_of.append(set())
            labels_of[row].add(name.strip())
    if not labels_of:
        raise FileError(path, "there is no gene set with a member", line=1, advice="Write one set per line.")
    return _Labels((row_of,), labels_of, "")


def _label_table(path: Path) -> Table:
    """A table with names of rows and labels, all its cells as they are written."""
    ending = plain_name(path).lower().rpartition(".")[2]
    if ending in ("xlsx", "xlsm"):
        table = excel_table([path], None, MISSING)
    elif ending in ("parquet", "pq"):
        table = parquet_table([path], lambda _: set())
    else:
        table = delimited_table(
            [path], separator=None, encoding=None, missing=MISSING, as_text=lambda names: set(range(len(names)))
        )
    if len(table.names) < 2:
        advice = "Give it a column of names and one of labels, or name a .gaf or .gmt file."
        raise FileError(path, "this has one column", advice=advice)
    return table


# ---------------------------------------------------------------------------------------------------- joined targets


def _with_label_sets(
    data: Dataset, rows: np.ndarray, labels_of: Sequence[set[str]], choice: LabelChoice, path: Path
) -> _Labelled:
    """The matched rows with label sets, closed under the hierarchy."""
    index = np.flatnonzero(rows >= 0)
    own = [labels_of[row] for row in rows[index].tolist()]
    names = sorted(set().union(*own))
    terms = None if choice.hierarchy is None else terms_of(choice.hierarchy)
    notes: list[str] = []
    if terms is not None:
        meant = meant_terms(names, terms.order.names, terms.titles, terms.current)
        lost = [name for name in names if name not in meant]
        if lost and len(lost) == len(names):
            fault = f"none of its {len(names)} labels is in {terms.source}; the first is {shown(lost[0])}"
            raise FileError(path, fault, advice="Name the hierarchy of these labels.")
        if lost:
            notes.append(f"{len(lost)} labels of {path.name} are not in {terms.source} ({lost[0]}, ...) and left out.")
        names = [name for name in names if name in meant]
    column_of = {name: column for column, name in enumerate(names)}
    cells = [[column_of[name] for name in labels if name in column_of] for labels in own]
    indptr = np.cumsum([0, *map(len, cells)])
    y = sparse.csr_array(
        (np.ones(indptr[-1]), np.array([c for row in cells for c in row], dtype=np.int64), indptr),
        shape=(len(index), len(names)),
    )
    labelled = replace(data.rows(index), y=y, target="labels", label_names=tuple(names), hierarchy=None, targets={})
    return _Labelled(labelled if terms is None else with_labels_ordered(labelled, terms), index, notes)


def _with_table_target(
    data: Dataset, rows: np.ndarray, table: Table, column: int, choice: LabelChoice, path: Path
) -> _Labelled:
    """The matched rows with the target of a table; a table of two columns may name a row several times."""
    name = table.names[column]
    others = [other for other in table.names if other != name] if choice.target is None else listed(choice.target)
    names = list(as_text(table.columns[column]))
    repeated = len({cell for cell in names if cell is not None}) < sum(cell is not None for cell in names)
    own_kind = (choice.kind is None or target_type(choice.kind).has_sets) and choice.path_separator is None
    if len(others) == 1 and others[0] in table.names and own_kind and (repeated or choice.hierarchy is not None):
        labels_of = _pairs(names, as_text(table.columns[table.names.index(others[0])]), choice)
        return _with_label_sets(data, rows, [labels_of[cell] for cell in names], choice, path)
    if repeated:
        fault = f"{shown(name)} names some rows several times, beside {len(others)} other columns"
        raise FileError(path, fault, advice="Name one target (--target), or write a line per row.")
    if choice.hierarchy is not None and choice.kind is None:
        choice = replace(choice, kind="labels")
    used = np.unique(rows[rows >= 0])
    kept = replace(table.rows(used), paths=[])
    of_table = OF_THE_TARGET & signature(TableChoice).parameters.keys()
    said = {name: getattr(choice, name) for name in of_table}
    labels = table_dataset(kept, TableChoice(target=others, identifier=name, roles=None, **said))
    position = {cell: k for k, cell in enumerate(_ids(labels))}
    at = np.array([position.get(names[row], -1) if row >= 0 else -1 for row in rows.tolist()], dtype=np.int64)
    index = np.flatnonzero(at >= 0)
    labelled = replace(
        data.rows(index),
        y=take_rows(labels.y, at[index]),
        target=labels.target,
        label_names=labels.label_names,
        targets=labels.targets,
        hierarchy=labels.hierarchy,
    )
    labelled = labelled if choice.hierarchy is None else with_labels_ordered(labelled, choice.hierarchy)
    return _Labelled(labelled, index, list(labels.notes))


def _pairs(names: Sequence[str | None], labels: TextColumn, choice: LabelChoice) -> dict[str | None, set[str]]:
    """Labels by the name of a row, over all lines that name it; a cell may hold several."""
    found: dict[str | None, set[str]] = defaultdict(set)
    separator = choice.label_separator or "|"
    for name, cell in zip(names, labels, strict=True):
        found[name] |= set() if cell is None else {part.strip() for part in cell.split(separator) if part.strip()}
    return found


def _finished(
    data: Dataset, labelled: _Labelled, rows: np.ndarray, notes: list[str], choice: LabelChoice, path: Path
) -> Dataset:
    """Labels of few rows left out, rows without labels too, and the note that counts both."""
    found, index, more = labelled
    is_sets = found.target_type.has_sets
    n_labels, n_rare = found.n_labels, 0
    if is_sets and not choice.keep_rows:
        kept = np.flatnonzero(found.label_counts >= choice.min_rows)
        n_rare = n_labels - len(kept)
        if not len(kept):
            fault = f"none of its {n_labels} labels is one of {choice.min_rows} rows of the data"
            raise FileError(path, fault, advice="Lower min_rows (--min-rows).")
        names = tuple(found.label_names[k] for k in kept.tolist())
        hierarchy = None if found.hierarchy is None else found.hierarchy.subset(names)
        y = sparse.csr_array(sparse.csc_array(found.y)[:, kept])
        found = replace(found, y=y, label_names=names, hierarchy=hierarchy)
    has_label = np.diff(sparse.csr_array(found.y).indptr) > 0 if is_sets else np.ones(len(index), dtype=bool)
    n_matched, n_with = int((rows >= 0).sum()), int(has_label.sum())
    said = f"{n_matched} of {data.n_samples} rows are named in {path.name}"
    if n_with < n_matched:
        said += f", {n_with} of them with a label that is kept"
    lost = data.n_samples - n_with
    if lost and choice.missing_target == "error" and not choice.keep_rows:
        raise FileError(
            path, f"{lost} rows of the data have no label here", advice="Leave them out (--missing-target)."
        )
    what = ""
    if choice.keep_rows:
        found = _with_all_rows(data, found.rows(np.flatnonzero(has_label)), index[has_label])
    elif choice.missing_target == "empty" and is_sets:
        found = _with_all_rows(data, found, index, known=True)
        what = f"; the other {lost} have none of the labels" if lost else ""
    else:
        parts = _parts_of(data, index[has_label])
        found = replace(found.rows(np.flatnonzero(has_label)), parts=parts)
        what = f"; the other {lost} are left out" if lost else ""
    said += what + "."
    if n_rare:
        said += f" {n_rare} of {n_labels} labels are left out: fewer than {choice.min_rows} rows have them (min_rows)."
    source = f"{data.source}, {path}" if data.source else str(path)
    files = [Path(name) for name in data.source.split(", ")] if data.source else []
    own_hash = sha256_of([*files, path]) if all(name.is_file() for name in files) else sha256_of([path])
    return replace(found, notes=(*found.notes, *more, *notes, said), source=source, sha256=own_hash)


def _parts_of(data: Dataset, index: np.ndarray) -> dict[str, np.ndarray]:
    """The parts of the data in a choice of its rows."""
    position = np.full(data.n_samples, -1, dtype=np.int64)
    position[index] = np.arange(len(index))
    return {name: position[rows][position[rows] >= 0] for name, rows in data.parts.items()}


def _with_all_rows(data: Dataset, found: Dataset, index: np.ndarray, *, known: bool = False) -> Dataset:
    """All rows of the data, those that were not matched with an unknown target, or with no label where it is known."""
    n_rows = data.n_samples
    y: Any = found.y
    position = np.full(n_rows, len(index), dtype=np.int64)
    position[index] = np.arange(len(index))
    if sparse.issparse(y):
        last = sparse.csr_array(np.full((1, y.shape[1]), 0.0 if known else np.nan))
        y = sparse.csr_array(sparse.vstack([sparse.csr_array(y, dtype=float), last]))[position]
    elif isinstance(y, pd.DataFrame):
        y = y.reset_index(drop=True).reindex(np.where(position < len(index), position, -1)).reset_index(drop=True)
    else:
        filler = np.full((1, *y.shape[1:]), -1 if y.dtype.kind in "iu" else np.nan, dtype=y.dtype)
        y = np.concatenate([y, filler])[position]
    kept = ("target", "label_names", "targets", "hierarchy", "titles", "notes")
    return replace(data, y=y, **{name: getattr(found, name) for name in kept})
