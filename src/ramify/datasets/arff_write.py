"""Writer of ARFF files, so that a data set can go to Weka, Mulan, MEKA or CLUS and come back unchanged."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, BinaryIO, Literal
from xml.sax.saxutils import quoteattr

import numpy as np
from scipy import sparse

from ramify.datasets.dataset import Dataset
from ramify.datasets.readers.order_notation import order_of_ranks
from ramify.datasets.readers.raw_files import PathLike
from ramify.hierarchy import Hierarchy
from ramify.parameters import check_option
from ramify.writing import whole_file

_SPECIAL = frozenset(" \t\r\n\v\f,{}%'\"\\@")
_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r"})
_NOT_XML = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


def write_arff(
    data: Dataset,
    path: PathLike,
    *,
    relation: str = "ramify",
    index_base: Literal[0, 1] = 0,
    labels: PathLike | None = None,
) -> None:
    """Write a data set as an ARFF file.

    Parameters
    ----------
    data : Dataset
        What to write. A sparse `X` gives sparse rows, a dense one dense rows; weights are written as instance weights,
        identifiers as a first string attribute, the target last.
    path : path
        File to write; the endings .gz, .bz2 and .xz compress. An existing file is replaced only when the new one is
        complete.
    relation : str, default="ramify"
        Name of the relation.
    index_base : {0, 1}, default=0
        Number of the first column in sparse rows: 0 for Weka and Mulan, 1 for CLUS.
    labels : path, optional
        Also write the labels as Mulan's XML.

    Notes
    -----
    A hierarchy whose names are paths `a/b` is written as paths, any other as edges from an artificial `root`, and rows
    hold their most specific labels, as CLUS does. Unknown labels and numbers are written as ?. Read back with
    `read_arff` the data set is the same.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> import numpy as np
    >>> from ramify.datasets import Dataset, write_arff
    >>> from ramify.datasets.readers.arff import read_arff
    >>> data = Dataset(np.array([[1.5], [2.0]]), y=np.array([0, 1]), target="classes", label_names=("no", "yes"))
    >>> file = Path(mkdtemp()) / "small.arff"
    >>> write_arff(data, file)
    >>> read_arff(file).X.tolist()
    [[1.5], [2.0]]
    """
    check_option("write_arff", "index_base", index_base, (0, 1))
    columns = _columns(data)
    lines = _lines(data, columns, relation, index_base)
    xml = None if labels is None else _label_xml(data).encode()
    _write(Path(path), (line.encode() for line in lines))
    if labels is not None and xml is not None:
        _write(Path(labels), iter([xml]))


def _columns(data: Dataset) -> list[tuple[str, str]]:
    """Name and declared type of every column."""
    if data.targets:
        raise ValueError(
            "ARFF files say nothing of targets of different kinds. Write one of them, or a table: data.to_frame() "
            "holds the features and data.y the targets."
        )
    columns = [] if data.ids is None else [(data.id_name or "id", "string")]
    for name, values in zip(data.feature_names, data.categories, strict=True):
        columns.append((name, "numeric" if values is None else _domain(values)))
    kind = data.target_type
    if data.target == "hierarchy":
        columns.append(("class", "hierarchical " + _hierarchy_entries(_known(data.hierarchy))))
    elif kind.ranks_labels:
        columns.append(("ranking", "RANKING " + _domain(data.label_names)))
    elif kind.has_one_label:
        columns.append(("class", _domain(data.label_names)))
    elif data.target is not None:
        columns.extend((name, "{0,1}" if kind.has_sets else "numeric") for name in data.label_names)
    return columns


def _known(hierarchy: Hierarchy | None) -> Hierarchy:
    if hierarchy is None:
        raise ValueError("The target is 'hierarchy' and the data set has no hierarchy. Give it one.")
    return hierarchy


def _domain(values: tuple[str, ...]) -> str:
    return "{" + ",".join(_quoted(value) for value in values) + "}"


def _quoted(text: str) -> str:
    if text and text != "?" and _SPECIAL.isdisjoint(text):
        return text
    return "'" + text.translate(_ESCAPES) + "'"


def _hierarchy_entries(hierarchy: Hierarchy) -> str:
    for name in hierarchy.names:
        if not _SPECIAL.isdisjoint(name):
            raise ValueError(f"The label {name!r} holds a blank or one of , @ {{ }} % ' \" \\, which CLUS cannot read.")
    is_paths = all(
        parents == ((name.rpartition("/")[0],) if "/" in name else ()) for name, parents in hierarchy.parents.items()
    )
    if is_paths:
        return ",".join(hierarchy.names)
    for name in hierarchy.names:
        if "/" in name or name == "root":
            raise ValueError(f"The label {name!r} cannot stand in an edge parent/child of CLUS; rename it.")
    return ",".join(f"{parent}/{name}" for name in hierarchy.names for parent in hierarchy.parents[name] or ("root",))


def _lines(data: Dataset, columns: list[tuple[str, str]], relation: str, index_base: int) -> Iterator[str]:
    yield f"@relation {_quoted(relation)}\n\n"
    for name, kind in columns:
        yield f"@attribute {_quoted(name)} {kind}\n"
    yield "\n@data\n"
    is_sparse = sparse.issparse(data.X)
    first = 0 if data.ids is None else 1
    for row, (features, target) in enumerate(zip(_feature_cells(data), _target_cells(data), strict=True)):
        cells = {} if data.ids is None else {0: _quoted(str(data.ids[row]))}
        cells |= {first + j: cell for j, cell in features.items()}
        cells |= {first + data.n_features + j: cell for j, cell in target.items()}
        if is_sparse:
            line = "{" + ",".join(f"{j + index_base} {cell}" for j, cell in cells.items()) + "}"
        else:
            line = ",".join(cells.values())
        weight = "" if data.sample_weight is None else ",{" + number_text(data.sample_weight[row]) + "}"
        yield line + weight + "\n"


def _feature_cells(data: Dataset) -> Iterator[dict[int, str]]:
    """Per row the text of each cell by position; of a sparse matrix only those that are not zero."""
    texts = [None if values is None else [_quoted(value) for value in values] for values in data.categories]

    def text(j: int, value: float) -> str:
        values = texts[j]
        return _number_cell(j, value) if values is None or np.isnan(value) else values[int(value)]

    return _cells(data.X, text, zeros=not sparse.issparse(data.X))


def _cells(matrix: Any, text: Callable[[int, float], str], *, zeros: bool) -> Iterator[dict[int, str]]:
    """Per row the text of each cell by position, or only of those that are not zero."""
    is_sparse = sparse.issparse(matrix)
    by_row = sparse.csr_array(matrix).sorted_indices() if is_sparse else matrix
    for row in range(matrix.shape[0]):
        if not is_sparse or zeros:
            values = by_row[[row]].toarray()[0] if is_sparse else np.asarray(by_row[row], dtype=float)
            cells: Iterable[tuple[int, float]] = enumerate(np.atleast_1d(values).tolist())
        else:
            stored = slice(by_row.indptr[row], by_row.indptr[row + 1])
            cells = zip(by_row.indices[stored].tolist(), by_row.data[stored].tolist(), strict=True)
        yield {j: text(j, value) for j, value in cells if zeros or value != 0}


def _number_cell(_: int, value: float) -> str:
    return "?" if np.isnan(value) else number_text(value)


def number_text(value: float) -> str:
    """The shortest text that reads back as the same double."""
    text = repr(float(value))
    return text.removesuffix(".0")


def _target_cells(data: Dataset) -> Iterator[dict[int, str]]:
    """Per row the text of the target's cells by position; labels and numbers of sparse rows where they are not zero."""
    if data.target is None:
        return ({} for _ in range(data.n_samples))
    if data.target == "hierarchy":
        return _path_cells(data, _known(data.hierarchy))
    if data.target_type.has_one_label:
        names = [_quoted(name) for name in data.label_names]
        return ({0: names[int(code)]} for code in data.y)
    if data.target_type.ranks_labels:
        for name in data.label_names:
            if not {">", "="}.isdisjoint(name):
                raise ValueError(f"The label {name!r} holds > or =, which separate the labels of an order; rename it.")
        return ({0: _quoted(order_of_ranks(ranks, data.label_names))} for ranks in np.asarray(data.y, dtype=float))
    return _cells(data.y, _number_cell, zeros=not sparse.issparse(data.X))


def _path_cells(data: Dataset, hierarchy: Hierarchy) -> Iterator[dict[int, str]]:
    """Most specific labels of each row; ? where none of its labels is known."""
    labels = sparse.csr_array(data.y, copy=True)
    unknown = np.isnan(labels.data) if labels.data.dtype.kind == "f" else np.zeros(len(labels.data), dtype=bool)
    n_unknown = np.bincount(
        np.repeat(np.arange(data.n_samples), np.diff(labels.indptr))[unknown], minlength=data.n_samples
    )
    partly = np.flatnonzero((n_unknown > 0) & (n_unknown < data.n_labels))
    if len(partly):
        raise ValueError(
            f"Row {partly[0]} knows some of its labels and others not, which a hierarchical attribute cannot hold. "
            "Write them as columns: dataclasses.replace(data, target='labels', hierarchy=None)."
        )
    labels.data = np.where(unknown, 0, labels.data).astype(np.int8)
    labels.eliminate_zeros()
    for row, names in enumerate(hierarchy.decode(hierarchy.most_specific(labels))):
        yield {0: "?" if n_unknown[row] else "@".join(names) or "''"}


def _label_xml(data: Dataset) -> str:
    """Labels as Mulan's XML, nested where they form a tree."""
    hierarchy = data.hierarchy or Hierarchy(data.label_names)
    if not hierarchy.is_tree:
        raise ValueError("Mulan's XML nests labels and cannot hold a DAG. Leave out labels=....")
    for label in hierarchy.names:
        if _NOT_XML.search(label):
            raise ValueError(f"The label {label!r} holds a control character, which XML cannot hold; rename it.")
    pieces = ['<?xml version="1.0" encoding="utf-8"?>\n<labels xmlns="http://mulan.sourceforge.net/labels">\n']
    waiting: list[str | None] = list(reversed(hierarchy.roots))
    while waiting:
        name = waiting.pop()
        if name is None:
            pieces.append("</label>\n")
            continue
        pieces.append(f"<label name={quoteattr(name)}>")
        waiting.append(None)
        waiting.extend(reversed(hierarchy.children[name]))
    pieces.append("</labels>\n")
    return "".join(pieces)


def _write(path: Path, pieces: Iterator[bytes]) -> None:
    """Write beside the file and put it in its place when it is complete."""
    with whole_file(path) as raw, _compressing(raw, path.suffix) as stream:
        stream.writelines(pieces)


def _compressing(raw: BinaryIO, suffix: str) -> Any:
    """The stream itself or one that compresses into it; the same data give the same bytes."""
    if suffix == ".gz":
        return gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="")
    if suffix == ".bz2":
        return bz2.BZ2File(raw, mode="wb")
    if suffix == ".xz":
        return lzma.LZMAFile(raw, mode="wb")
    return nullcontext(raw)
