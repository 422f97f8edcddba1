"""Reader of ARFF files: Weka's, Mulan's, MEKA's and those of CLUS with hierarchical attributes.

It is our own because liac-arff needs exponential time for some headers, and scipy's reader has neither sparse rows nor
hierarchical attributes and drops surplus cells.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import sparse

from ramify.datasets.dataset import Dataset
from ramify.datasets.readers.arff_header import Attribute, Header, read_header
from ramify.datasets.readers.arff_rows import Rows, joined, read_rows
from ramify.datasets.readers.arff_target import HierarchyType, TargetColumns, hierarchy_labels, read_target
from ramify.datasets.readers.mixed_target import side_by_side
from ramify.datasets.readers.raw_files import (
    FileError,
    PathLike,
    advice_for_name,
    check_encoding,
    file_paths,
    plain_name,
    sha256_of,
    shown,
)
from ramify.features.frames import name_fits
from ramify.parameters import check_option

ColumnChoice = str | int | Sequence[str | int]

_LARGE = 16 << 20
_PART_WORDS = {
    "train": ("train", "trainvalid", "training", "trn"),
    "valid": ("valid", "validation", "val", "dev"),
    "test": ("test", "testing", "tst"),
}


def read_arff(
    files: PathLike | Sequence[PathLike],
    *,
    target: ColumnChoice | None = None,
    identifier: str | int | None = "auto",
    ignore: ColumnChoice = (),
    positive: str | None = None,
    hierarchy_type: HierarchyType = "auto",
    index_base: Literal[0, 1] | None = None,
    storage: Literal["auto", "dense", "sparse"] = "auto",
    encoding: str = "utf-8",
    as_labels: bool = False,
) -> Dataset:
    r"""Read ARFF files: dense or sparse rows, CLUS hierarchies, several targets.

    Parameters
    ----------
    files : path or sequence of paths
        One file, or the train, valid and test files of one set, which must declare the same attributes. Files may be
        compressed (.gz, .bz2, .xz, .zip).
    target : str, int or sequence of them, optional
        Names, in which `*` stands for anything, or positions (from 0) of the target columns. By default the last
        hierarchical attribute, else the ranking attribute, else the labels that `NAME: -C n` as the relation's name
        says (MEKA), else the last column. Several two-valued nominals are a label set; several numeric columns are
        several numbers.
    identifier : str, int or None, default="auto"
        The column that names the rows and is no feature. "auto" takes the only string column, or a nominal feature
        that has another value in every row of a file (20 rows or more); None takes none.
    ignore : str, int or sequence of them
        Columns to leave out.
    positive : str, optional
        Which value of two-valued label columns means that a row has the label. Known without asking for {0,1},
        {false,true}, {no,yes} and {n,y}, in any order.
    hierarchy_type : {"auto", "tree", "dag"}, default="auto"
        Whether hierarchical attributes list paths of a tree or (parent/child) edges of a DAG. "auto" takes edges where
        every entry has exactly one `/` and some start with `root/`.
    index_base : {0, 1}, optional
        Number of the first column in sparse rows: 0 for Weka and Mulan, 1 for CLUS. By default found from the rows.
    storage : {"auto", "dense", "sparse"}, default="auto"
        Form of `X`. "auto" gives CSC where at most a quarter of the cells is non-zero and either the rows are written
        sparse or the dense array would exceed 16 MiB.
    encoding : str, default="utf-8"
        Encoding of the text; any that extends ASCII.
    as_labels : bool, default=False
        Whether a target of one two-valued column is a label set too.

    Returns
    -------
    Dataset
        Nominal features hold codes into `categories`, in declared order, and an absent nominal of a sparse row is the
        first value. Label sets with a hierarchy are closed under ancestors; the artificial node `root` is left out.
        A hierarchical attribute that is not a target becomes one {0,1} feature per label. Instance weights are kept in
        `sample_weight`. `parts` holds the rows of each file.

    Raises
    ------
    FileError
        With file, line, column and what to do.

    References
    ----------
    C. Vens, J. Struyf, L. Schietgat, S. Dzeroski, H. Blockeel. Decision trees for hierarchical multi-label
    classification. Machine Learning 73, 185-214, 2008.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from ramify.datasets.readers.arff import read_arff
    >>> file = Path(mkdtemp()) / "animals.arff"
    >>> _ = file.write_text("@relation animals\n@attribute legs numeric\n"
    ...     "@attribute class hierarchical bird,bird/owl,fish\n@data\n2,bird/owl\n0,fish\n")
    >>> data = read_arff(file)
    >>> data.y.toarray()
    array([[1, 1, 0],
           [0, 0, 1]], dtype=int8)
    """
    check_option("read_arff", "hierarchy_type", hierarchy_type, ("auto", "tree", "dag"))
    check_option("read_arff", "index_base", index_base, (None, 0, 1))
    check_option("read_arff", "storage", storage, ("auto", "dense", "sparse"))
    check_encoding(encoding)
    paths = file_paths(files)
    headers: list[Header] = []
    parts: list[Rows] = []
    for path in paths:
        header, pieces = read_header(path, encoding)
        if headers:
            _check_same(paths[0], headers[0], path, header)
        headers.append(header)
        parts.append(read_rows(path, header, pieces, index_base=index_base, encoding=encoding))
    part_sizes = [len(part.lines) for part in parts]
    rows = joined(parts)
    attributes = headers[0].attributes
    roles = _roles(paths[0], headers[0], rows, target, identifier, ignore)
    found = _mixed_target(rows, attributes, roles.target, target, hierarchy_type, positive) or read_target(
        rows, attributes, roles.target, hierarchy_type, positive, as_labels=as_labels
    )
    X, names, categories = _features(rows, attributes, roles.features, hierarchy_type, storage)
    return Dataset(
        X=X,
        y=found.y,
        target=found.kind,
        feature_names=names,
        categories=categories,
        label_names=found.label_names,
        targets=found.targets,
        hierarchy=found.hierarchy,
        sample_weight=rows.weights,
        ids=None if roles.identifier is None else _identifiers(rows, attributes, roles.identifier),
        id_name="" if roles.identifier is None else attributes[roles.identifier].name,
        parts=part_rows(paths, part_sizes),
        notes=found.notes,
        source=", ".join(str(path) for path in paths),
        sha256=sha256_of(paths),
    )


def _check_same(first_path: Path, first: Header, path: Path, header: Header) -> None:
    """Files of one set must declare the same columns; only the relation's name may differ."""
    advice = f"Files read together must declare the same attributes in the same order as {first_path}."
    for expected, attribute in zip(first.attributes, header.attributes, strict=False):
        if (expected.name, expected.kind) != (attribute.name, attribute.kind):
            fault = (
                f"attribute {shown(attribute.name)} ({attribute.kind}) stands where the other file has "
                f"{shown(expected.name)} ({expected.kind})"
            )
            raise FileError(path, fault, line=attribute.line, advice=advice)
        if expected.values != attribute.values:
            fault = f"the values of attribute {shown(attribute.name)} differ from those in the other file"
            raise FileError(path, fault, line=attribute.line, advice=advice)
    if len(first.attributes) != len(header.attributes):
        fault = f"{len(header.attributes)} attributes are declared and {len(first.attributes)} in the other file"
        raise FileError(path, fault, line=header.n_lines, advice=advice)


@dataclass(frozen=True)
class _Roles:
    """Which columns are what, as positions."""

    target: list[int]
    features: list[int]
    identifier: int | None


def _roles(
    path: Path,
    header: Header,
    rows: Rows,
    target: ColumnChoice | None,
    identifier: str | int | None,
    ignore: ColumnChoice,
) -> _Roles:
    attributes = header.attributes
    ignored = set(_positions(path, attributes, ignore, "ignore"))
    if target is None:
        targets = _default_target(header, ignored)
    else:
        targets = _positions(path, attributes, target, "target")
    taken = ignored.union(targets)
    free = [j for j in range(len(attributes)) if j not in taken]
    if identifier == "auto" and not any(a.name == "auto" for a in attributes):
        name_column = _found_identifier(attributes, rows, free)
    elif identifier is None:
        name_column = None
    else:
        name_column = _positions(path, attributes, identifier, "identifier")[0]
    features = [j for j in free if j != name_column]
    for j in features:
        if attributes[j].kind in {"string", "date", "ranking"}:
            raise FileError(
                path,
                f"attribute {shown(attributes[j].name)} is a {attributes[j].kind} and cannot be a feature",
                line=attributes[j].line,
                advice=f"Pass ignore=[{attributes[j].name!r}] or identifier={attributes[j].name!r}.",
            )
    return _Roles(targets, features, name_column)


def _mixed_target(
    rows: Rows,
    attributes: tuple[Attribute, ...],
    columns: list[int],
    target: ColumnChoice | None,
    hierarchy_type: HierarchyType,
    positive: str | None,
) -> TargetColumns | None:
    """Columns of different kinds as targets side by side; None where all are of one kind."""
    kinds = {attributes[j].kind for j in columns}
    if target is None or len(kinds) < 2 or not kinds <= {"nominal", "number", "hierarchical"}:
        return None
    groups: dict[str, list[int]] = {}
    taken: set[int] = set()
    for wish in [target] if isinstance(target, (str, int, np.integer)) else target:
        own = [j for j in _positions(Path(rows.paths[0]), attributes, [wish], "target") if j not in taken]
        taken.update(own)
        if own:
            groups[wish if isinstance(wish, str) else attributes[own[0]].name] = own
    found = {}
    for name, own in groups.items():
        alike = len({attributes[j].kind for j in own}) == 1 and attributes[own[0]].kind != "hierarchical"
        for title, columns in [(name, own)] if alike else [(attributes[j].name, [j]) for j in own]:
            part = read_target(rows, attributes, columns, hierarchy_type, positive, as_labels=False, partly_known=True)
            found[title] = part
    return side_by_side(found)


def _positions(path: Path, attributes: tuple[Attribute, ...], choice: ColumnChoice, parameter: str) -> list[int]:
    """Columns given by names or positions, as positions."""
    chosen = [choice] if isinstance(choice, (str, int, np.integer)) else list(choice)
    position_of = {attribute.name: position for position, attribute in enumerate(attributes)}
    positions: list[int] = []
    for column in chosen:
        if not isinstance(column, str):
            if not -len(attributes) <= column < len(attributes):
                raise ValueError(f"{parameter}={column} is outside the {len(attributes)} attributes of {path}.")
            positions.append(int(column) % len(attributes))
        elif column in position_of:
            positions.append(position_of[column])
        elif fitting := [position for name, position in position_of.items() if name_fits(name, column)]:
            positions += fitting
        else:
            advice = advice_for_name(column.replace("*", ""), list(position_of))
            fault = "fits no" if "*" in column else "is no"
            raise ValueError(f"{parameter}={column!r} {fault} attribute of {path}. {advice}")
    return list(dict.fromkeys(positions))


def _default_target(header: Header, ignored: set[int]) -> list[int]:
    """The hierarchical attribute, else the ranking, else what MEKA says in the relation's name, else the last one."""
    free = [j for j in range(len(header.attributes)) if j not in ignored]
    for kind in ("hierarchical", "ranking"):
        of_kind = [j for j in free if header.attributes[j].kind == kind]
        if of_kind:
            return of_kind[-1:]
    meka = re.search(r"(?:^|\s)-C\s+(-?[0-9]{1,9})(?![0-9])", header.relation.partition(":")[2])
    if meka and 0 < abs(int(meka.group(1))) < len(header.attributes):
        n_labels = int(meka.group(1))
        labels = list(range(len(header.attributes)))[:n_labels] if n_labels > 0 else free[n_labels:]
        if all(header.attributes[j].kind == "nominal" for j in labels):
            return labels
    return free[-1:]


def _found_identifier(attributes: tuple[Attribute, ...], rows: Rows, free: list[int]) -> int | None:
    """The only string column, or the first nominal one that repeats no value within a file, in at least 20 rows."""
    strings = [j for j in free if attributes[j].kind == "string"]
    if len(strings) == 1:
        return strings[0]
    n_rows = len(rows.lines)
    for j in free:
        if attributes[j].kind == "nominal" and len(attributes[j].values) >= n_rows >= 20:
            in_file = np.column_stack([rows.file_of, column_of(rows.table, j)])
            if not np.isnan(in_file).any() and len(np.unique(in_file, axis=0)) == n_rows:
                return j
    return None


def column_of(table: Any, j: int) -> np.ndarray:
    """One column of a dense or CSC table as a dense array."""
    return table[:, [j]].toarray().ravel() if sparse.issparse(table) else np.array(table[:, j])


def _identifiers(rows: Rows, attributes: tuple[Attribute, ...], column: int) -> np.ndarray:
    attribute = attributes[column]
    if column in rows.texts:
        texts = rows.texts[column]
    elif attribute.kind == "nominal":
        codes = column_of(rows.table, column)
        texts = [None if np.isnan(code) else attribute.values[int(code)] for code in codes]
    else:
        numbers = column_of(rows.table, column)
        return numbers.astype(np.int64) if np.all(numbers == np.floor(numbers)) else numbers
    for row, text in enumerate(texts):
        if text is None:
            raise rows.error(row, column, f"the identifier {shown(attribute.name)} is missing", "Name the row.")
    return np.array(texts, dtype=object)


def _features(
    rows: Rows, attributes: tuple[Attribute, ...], columns: list[int], hierarchy_type: HierarchyType, storage: str
) -> tuple[Any, tuple[str, ...], tuple[tuple[str, ...] | None, ...]]:
    """The feature matrix with names and categories; a hierarchical feature becomes one {0,1} column per label."""
    is_contiguous = columns == list(range(columns[0], columns[-1] + 1)) if columns else False
    X = rows.table[:, columns[0] : columns[-1] + 1] if is_contiguous else rows.table[:, columns]
    names = [attributes[j].name for j in columns]
    categories: list[tuple[str, ...] | None] = [attributes[j].values or None for j in columns]
    for j in reversed([j for j in columns if attributes[j].kind == "hierarchical"]):
        at = columns.index(j)
        hierarchy, Y = hierarchy_labels(rows, attributes[j], j, hierarchy_type)
        X = sparse.hstack(
            [sparse.csc_array(X[:, :at]), Y.astype(float), sparse.csc_array(X[:, at + 1 :])], format="csc"
        )
        names[at : at + 1] = [f"{attributes[j].name}={label}" for label in hierarchy.names]
        categories[at : at + 1] = [("0", "1")] * len(hierarchy)
    return stored(X, storage, prefer_sparse=rows.has_sparse_rows), tuple(names), tuple(categories)


def stored(X: Any, storage: str, *, prefer_sparse: bool) -> Any:
    """X dense or CSC, as asked or as is smaller; no format warning about many non-zeros is needed later."""
    n_cells = X.shape[0] * X.shape[1]
    n_nonzero = X.nnz if sparse.issparse(X) else np.count_nonzero(X)
    is_sparse = 4 * n_nonzero <= n_cells and (prefer_sparse or 8 * n_cells > _LARGE)
    if storage == "sparse" or (storage == "auto" and is_sparse):
        return sparse.csc_array(X)
    return X.toarray() if sparse.issparse(X) else np.ascontiguousarray(X)


def part_rows(paths: Sequence[Path], sizes: Sequence[int]) -> dict[str, np.ndarray]:
    """Rows of each file of a set, under the part's name if the file names tell it; empty for a single file."""
    if len(paths) == 1:
        return {}
    names = [_part_name(path) for path in paths]
    if len(set(names)) < len(names):
        names = [plain_name(path) for path in paths]
    if len(set(names)) < len(names):
        names = [f"part{number}" for number in range(len(paths))]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return {name: np.arange(starts[k], starts[k + 1]) for k, name in enumerate(names)}


def _part_name(path: Path) -> str:
    words = re.split(r"[._\- ]", plain_name(path).lower())
    for name, forms in _PART_WORDS.items():
        if any(word in forms for word in words):
            return name
    return plain_name(path)
