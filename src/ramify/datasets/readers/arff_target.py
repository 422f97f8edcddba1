"""Target columns of an ARFF file: a class, label sets, a hierarchy of labels, numbers or a ranking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from scipy import sparse

from ramify.datasets.dataset import Target
from ramify.datasets.readers.arff_header import Attribute
from ramify.datasets.readers.arff_rows import Rows
from ramify.datasets.readers.order_notation import OrderError, ranks_of_order
from ramify.datasets.readers.raw_files import FileError, shown
from ramify.hierarchy import Hierarchy

HierarchyType = Literal["auto", "tree", "dag"]

_ROOT = "root"
_DEEPEST = 200
NEGATIVE_AND_POSITIVE = {("0", "1"), ("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t"), ("-1", "1")}


@dataclass(frozen=True)
class TargetColumns:
    """The target as a `Dataset` holds it."""

    kind: Target | None
    y: Any
    label_names: tuple[str, ...]
    hierarchy: Hierarchy | None = None
    notes: tuple[str, ...] = ()
    """What was found rather than said, a sentence each."""
    targets: Mapping[str, Any] = field(default_factory=dict)
    """Of targets side by side, what their columns are, as `MixedForest` takes it."""


def read_target(
    rows: Rows,
    attributes: tuple[Attribute, ...],
    columns: list[int],
    hierarchy_type: HierarchyType,
    positive: str | None,
    *,
    as_labels: bool,
    partly_known: bool = False,
) -> TargetColumns:
    """Interpret the chosen columns; with `partly_known` a missing class is -1 and not refused."""
    if not columns:
        return TargetColumns(None, None, ())
    chosen = [attributes[j] for j in columns]
    kinds = {attribute.kind for attribute in chosen}
    if len(kinds) > 1:
        listed = ", ".join(f"{shown(a.name)} ({a.kind})" for a in chosen[:6])
        raise FileError(
            rows.paths[0],
            f"the target columns are of different kinds: {listed}",
            line=chosen[0].line,
            advice="Choose columns of one kind with target=..., and read the file once per kind.",
        )
    kind = chosen[0].kind
    if kind in {"string", "date"}:
        raise FileError(
            rows.paths[0],
            f"attribute {shown(chosen[0].name)} is a {kind} and cannot be a target",
            line=chosen[0].line,
            advice="Declare its values as a domain {a,b,...}, or choose other columns with target=....",
        )
    if len(chosen) > 1 and kind in {"hierarchical", "ranking"}:
        raise FileError(
            rows.paths[0],
            f"there are {len(chosen)} {kind} target columns",
            line=chosen[1].line,
            advice="Choose one with target=....",
        )
    if kind == "hierarchical":
        hierarchy, Y = hierarchy_labels(rows, chosen[0], columns[0], hierarchy_type)
        return TargetColumns("hierarchy", Y, hierarchy.names, hierarchy)
    if kind == "ranking":
        return _ranking(rows, chosen[0], columns[0])
    values = rows.table[:, columns]
    names = tuple(attribute.name for attribute in chosen)
    if kind == "nominal" and (len(columns) > 1 or as_labels):
        return TargetColumns("labels", label_matrix(rows, chosen, values, positive), names)
    if sparse.issparse(values):
        values = values.toarray()
    if kind == "number":
        return TargetColumns("numbers", values[:, 0] if len(columns) == 1 else values, names)
    if partly_known:
        values = np.nan_to_num(values, nan=-1.0)
    return _classes(rows, chosen[0], columns[0], values[:, 0])


def _classes(rows: Rows, attribute: Attribute, column: int, codes: np.ndarray) -> TargetColumns:
    missing = np.flatnonzero(np.isnan(codes))
    if len(missing):
        raise rows.error(
            int(missing[0]),
            column,
            f"the class {shown(attribute.name)} is missing",
            "Remove the row or fill in its class.",
        )
    return TargetColumns("classes", codes.astype(np.int64), attribute.values)


def label_matrix(rows: Rows, chosen: list[Attribute], values: Any, positive: str | None) -> Any:
    """Two-valued nominals as a 0/1 CSR matrix, or a dense one with NaN where labels are missing."""
    codes = np.array([_positive_code(rows, attribute, positive) for attribute in chosen])
    if sparse.issparse(values):
        if (codes == 1).all() and not np.isnan(values.data).any():  # absent cells are labels that a row has not
            return sparse.csr_array(values).astype(np.int8)
        values = values.toarray()
    missing = np.isnan(values)
    if missing.any():
        return np.where(missing, np.nan, values == codes)
    return sparse.csr_array((values == codes).astype(np.int8))


def _positive_code(rows: Rows, attribute: Attribute, positive: str | None) -> int:
    """Which value means that a row has the label."""
    values = attribute.values
    if len(values) == 2 and positive in values:
        return values.index(positive)
    lower = tuple(value.lower() for value in values)
    if len(values) == 2 and lower in NEGATIVE_AND_POSITIVE:
        return 1
    if len(values) == 2 and lower[::-1] in NEGATIVE_AND_POSITIVE:
        return 0
    if len(values) == 1 and lower[0] in {"0", "1"}:
        return 0 if lower[0] == "1" else 1
    listed = ", ".join(values[:6]) + (", ..." if len(values) > 6 else "")
    raise FileError(
        rows.paths[0],
        f"attribute {shown(attribute.name)} with the values {listed} is no label column of two known values",
        line=attribute.line,
        advice="Pass positive=VALUE to say which value means that a row has the label.",
    )


def _ranking(rows: Rows, attribute: Attribute, column: int) -> TargetColumns:
    position = {label: k for k, label in enumerate(attribute.values)}
    y = np.full((len(rows.lines), len(position)), np.nan)
    for row, text in enumerate(rows.texts[column]):
        try:
            y[row] = ranks_of_order(text or "", position)
        except OrderError as error:
            raise rows.error(
                row, column, f"in the ranking {shown(text or '')} {error}", "Write it as a>b=c>d."
            ) from None
    return TargetColumns("rankings", y, attribute.values)


def hierarchy_labels(
    rows: Rows, attribute: Attribute, column: int, hierarchy_type: HierarchyType
) -> tuple[Hierarchy, sparse.csr_array]:
    """The hierarchy that an attribute declares and its label sets, closed under ancestors."""
    hierarchy = _hierarchy(rows, attribute, hierarchy_type)
    position = {name: k for k, name in enumerate(hierarchy.names)}
    indices: list[int] = []
    indptr = [0]
    unknown = np.array([text is None for text in rows.texts[column]], dtype=bool)
    for row, text in enumerate(rows.texts[column]):
        for label in text.split("@") if text else ():
            name = label.strip()
            if name in position:
                indices.append(position[name])
            elif name != _ROOT:
                raise rows.error(
                    row,
                    column,
                    f"{shown(name)} is not in the hierarchy of {shown(attribute.name)}",
                    f"Declare it in line {attribute.line}, or separate labels by @.",
                )
        indptr.append(len(indices))
    shape = (len(rows.lines), len(hierarchy))
    labels = sparse.csr_array((np.ones(len(indices), dtype=np.int8), indices, indptr), shape=shape)
    labels.sum_duplicates()
    labels.data[:] = 1
    return hierarchy, with_unknown_rows(hierarchy.close(labels), unknown)


def with_unknown_rows(y: sparse.csr_array, unknown: np.ndarray) -> sparse.csr_array:
    """Label sets with a stored NaN for every label of some rows."""
    if not unknown.any():
        return y
    rows = np.flatnonzero(unknown)
    columns = np.arange(y.shape[1])
    nan = (np.full(len(rows) * len(columns), np.nan), (np.repeat(rows, len(columns)), np.tile(columns, len(rows))))
    return sparse.csr_array(y.astype(np.float64) + sparse.csr_array(nan, shape=y.shape))


def _hierarchy(rows: Rows, attribute: Attribute, hierarchy_type: HierarchyType) -> Hierarchy:
    """A tree of paths or a DAG of edges; the artificial node `root` is no label."""
    entries = attribute.values
    is_dag = hierarchy_type == "dag"
    if hierarchy_type == "auto":
        is_dag = all(entry.count("/") == 1 for entry in entries) and any(e.startswith(_ROOT + "/") for e in entries)
    try:
        if not is_dag:
            deepest = max(entries, key=lambda entry: entry.count("/"))
            if deepest.count("/") >= _DEEPEST:
                raise ValueError(f"a path has {deepest.count('/') + 1} levels, more than {_DEEPEST}")
            return Hierarchy.from_paths(entries)
        edges = [tuple(entry.split("/")) for entry in entries]
        if any(len(edge) != 2 for edge in edges):
            raise ValueError("every entry of a DAG must be one edge parent/child")
        nodes = dict.fromkeys(name for edge in edges for name in edge if name != _ROOT)
        return Hierarchy.from_edges([(a, b) for a, b in edges if a != _ROOT], nodes=nodes)
    except ValueError as error:
        raise FileError(
            rows.paths[0],
            f"the hierarchy of {shown(attribute.name)} cannot be built: {str(error).rstrip('.')}",
            line=attribute.line,
            advice="Pass hierarchy_type='tree' for paths a/b/c or hierarchy_type='dag' for edges parent/child.",
        ) from None
