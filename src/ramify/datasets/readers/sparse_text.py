"""Reader of the sparse text of the extreme-classification repository: a line of sizes, then labels and features."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy import sparse

from ramify.datasets.dataset import Dataset
from ramify.datasets.readers.arff import part_rows
from ramify.datasets.readers.raw_files import FileError, PathLike, file_paths, read_text, sha256_of, shown
from ramify.datasets.tables.text_layout import head_of

_SIZES = re.compile(r"([0-9]{1,9}) ([0-9]{1,9}) ([0-9]{1,9})")
_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?"
_ROW = re.compile(rf"(?P<labels>[0-9]{{1,9}}(?:,[0-9]{{1,9}})*)?(?P<cells>(?:(?:^|[ \t]+)[0-9]{{1,9}}:{_NUMBER})*)\s*")


def read_sparse_text(files: PathLike | Sequence[PathLike]) -> Dataset:
    r"""Read sparse rows of labels and features, as the extreme-classification repository writes them.

    Parameters
    ----------
    files : path or sequence of paths
        One file, or the files of one set with the same numbers of features and labels. The first line holds the
        numbers of rows, features and labels; each other line a row: its labels by number (`3,17`, or nothing), then
        its features that are not zero (`12:0.5`). Numbers count from 0.

    Returns
    -------
    Dataset
        Sparse features `x0`, `x1`, ... and label sets whose names are the labels' numbers.

    References
    ----------
    K. Bhatia, K. Dahiya, H. Jain, P. Kar, A. Mittal, Y. Prabhu, M. Varma. The extreme classification repository:
    multi-label datasets and code, 2016.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from ramify.datasets.readers.sparse_text import read_sparse_text
    >>> file = Path(mkdtemp()) / "pages.txt"
    >>> _ = file.write_text("2 4 3\n0,2 1:0.5 3:2\n 0:1\n")
    >>> data = read_sparse_text(file)
    >>> data.X.toarray().tolist(), data.y.toarray().tolist()
    ([[0.0, 0.5, 0.0, 2.0], [1.0, 0.0, 0.0, 0.0]], [[1, 0, 1], [0, 0, 0]])
    """
    paths = file_paths(files)
    parts = [_read_one(path) for path in paths]
    for path, (X, Y) in zip(paths, parts, strict=True):
        if (X.shape[1], Y.shape[1]) != (parts[0][0].shape[1], parts[0][1].shape[1]):
            raise FileError(
                path,
                f"the numbers of features and labels differ from those of {paths[0]}",
                line=1,
                advice="Use one set.",
            )
    Y = sparse.csr_array(sparse.vstack([part for _, part in parts]))
    return Dataset(
        X=sparse.csc_array(sparse.vstack([part for part, _ in parts])),
        y=Y,
        target="labels",
        label_names=tuple(map(str, range(Y.shape[1]))),
        parts=part_rows(paths, [part.shape[0] for part, _ in parts]),
        source=", ".join(map(str, paths)),
        sha256=sha256_of(paths),
    )


def holds_sparse_text(path: PathLike) -> bool:
    """Whether a file begins with three sizes and a row of `feature:value` cells."""
    lines = head_of(path).splitlines()[:2]
    if len(lines) < 2 or not _SIZES.fullmatch(lines[0].decode("ascii", "replace").strip()):
        return False
    return b":" in lines[1] and b";" not in lines[1]


def _read_one(path: Path) -> tuple[sparse.csr_array, sparse.csr_array]:
    lines = read_text(path).split("\n")
    sizes = _SIZES.fullmatch(lines[0].strip())
    if sizes is None:
        advice = "Write the numbers of rows, features and labels, as in '6000 50000 3993'."
        raise FileError(path, f"the first line {shown(lines[0])} holds no three sizes", line=1, advice=advice)
    n_rows, n_features, n_labels = map(int, sizes.groups())
    rows = lines[1:-1] if lines[-1] == "" else lines[1:]
    if len(rows) != n_rows:
        fault = f"the first line promises {n_rows} rows and {len(rows)} follow"
        raise FileError(path, fault, line=1, advice="Correct the first line.")
    labels, cells = [], []
    for number, row in enumerate(rows, start=2):
        found = _ROW.fullmatch(row)
        if found is None:
            advice = "Write labels, then features: '3,17 12:0.5 40:1'; a row without labels begins with a blank."
            raise FileError(path, f"{shown(row)} is no row of labels and features", line=number, advice=advice)
        labels.append((found["labels"] or "").replace(",", " ").split())
        cells.append(found["cells"].replace(":", " ").split())
    Y = _matrix(path, labels, [np.ones(len(row)) for row in labels], n_labels, "label")
    values = [np.array(row[1::2], dtype=float) for row in cells]
    X = _matrix(path, [row[::2] for row in cells], values, n_features, "feature")
    return X, Y.astype(np.int8)


def _matrix(path: Path, indices: list[list[str]], values: list[np.ndarray], width: int, what: str) -> sparse.csr_array:
    """A CSR matrix of cells given by row; numbers must be in range and no cell may be given twice."""
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in indices])]).astype(np.int64)
    flat = np.array([number for row in indices for number in row], dtype=np.int64)
    data = np.concatenate(values) if values else np.empty(0)
    bad = np.flatnonzero((flat >= width) | ~np.isfinite(data))
    if len(bad):
        line = int(np.searchsorted(indptr, bad[0], side="right")) + 1
        fault = f"{what} {flat[bad[0]]} is outside 0 to {width - 1}, or its value is no number"
        raise FileError(path, fault, line=line, advice="Numbers count from 0; correct the first line or the row.")
    rows = np.repeat(np.arange(len(indices)), np.diff(indptr))
    order = np.lexsort((flat, rows))
    twice = np.flatnonzero((np.diff(flat[order]) == 0) & (np.diff(rows[order]) == 0))
    if len(twice):
        line = int(rows[order][twice[0]]) + 2
        raise FileError(path, f"{what} {flat[order][twice[0]]} is given twice", line=line, advice="Give it once.")
    return sparse.csr_array((data[order], flat[order], indptr), shape=(len(indices), width))
