"""What follows from the labels that are known: ancestors of those a row has, descendants of those it has not."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ramify.hierarchy import Hierarchy

_CELLS_AT_ONCE = 1 << 23
_HAS, _UNKNOWN = 1, 2


def close_partly_known(
    Y: sparse.csr_array, unknown: sparse.csr_array, hierarchy: Hierarchy, without_column: np.ndarray | None = None
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Close label sets under a hierarchy where some labels are unknown.

    Parameters
    ----------
    Y : CSR of shape (n_samples, n_labels), int8
        1 where a row has the label.
    unknown : CSR of the same shape, bool
        True where it is not known; a cell of neither says that the row has not the label.
    hierarchy : Hierarchy
        Hierarchy of the labels.
    without_column : int array, optional
        Labels of which y says nothing: a row has them if it has a descendant, and they are unknown where none is known
        and one is unknown.

    Returns
    -------
    Y, unknown : CSR

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from ramify import Hierarchy
    >>> from ramify.targets.closure import close_partly_known
    >>> tree = Hierarchy.from_paths(["a", "a/b", "c"])
    >>> Y = sparse.csr_array([[0, 1, 0], [0, 0, 0]])
    >>> unknown = sparse.csr_array([[True, False, True], [False, True, False]])
    >>> [part.toarray().astype(int).tolist() for part in close_partly_known(Y, unknown, tree)]
    [[[1, 1, 0], [0, 0, 0]], [[0, 0, 1], [0, 0, 0]]]
    """
    implied = np.zeros(len(hierarchy), dtype=bool)
    if without_column is not None:
        implied[without_column] = True
    step = max(1, _CELLS_AT_ONCE // max(1, len(hierarchy)))
    blocks = [
        _closed_block(Y[start : start + step], unknown[start : start + step], hierarchy, implied, start)
        for start in range(0, Y.shape[0], step)
    ]
    closed = sparse.csr_array(sparse.vstack([has for has, _ in blocks]), dtype=np.int8)
    return closed, sparse.csr_array(sparse.vstack([open_ for _, open_ in blocks]), dtype=bool)


def closed_cells(
    cells: sparse.csr_array, hierarchy: Hierarchy, without_column: np.ndarray | None = None
) -> sparse.csr_array:
    """Label sets with NaN for unknown labels, closed; without any, 0/1 closed under ancestors."""
    if cells.data.dtype.kind != "f" or not np.isnan(cells.data).any():
        return sparse.csr_array(hierarchy.close(cells))
    has, unknown = cells.copy(), cells.copy()
    has.data, unknown.data = np.nan_to_num(cells.data), np.isnan(cells.data)
    closed, still_unknown = close_partly_known(has.astype(np.int8), unknown.astype(bool), hierarchy, without_column)
    open_ = still_unknown.astype(np.float64)
    open_.data[:] = np.nan
    return sparse.csr_array(closed.astype(np.float64) + open_)


def with_all_ancestors(present: np.ndarray, hierarchy: Hierarchy) -> np.ndarray:
    """Those labels of each row whose ancestors the row has, too."""
    by_label = np.array(present.T, order="C")
    parents = hierarchy.parent_matrix
    for label in hierarchy.topological_order.tolist():
        for parent in parents.indices[parents.indptr[label] : parents.indptr[label + 1]].tolist():
            by_label[label] &= by_label[parent]
    return np.ascontiguousarray(by_label.T)


def _closed_block(
    Y: sparse.csr_array, unknown: sparse.csr_array, hierarchy: Hierarchy, implied: np.ndarray, first_row: int
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """The same for some rows, label by label."""
    cells = np.array(Y.toarray().T, dtype=np.int8, order="C")
    cells[unknown.toarray().T] = _UNKNOWN
    parents = hierarchy.parent_matrix
    order = hierarchy.topological_order.tolist()
    for label in reversed(order):
        for parent in parents.indices[parents.indptr[label] : parents.indptr[label + 1]].tolist():
            has = cells[label] == _HAS
            if implied[parent]:
                cells[parent][(cells[label] == _UNKNOWN) & (cells[parent] == 0)] = _UNKNOWN
            elif (wrong := has & (cells[parent] == 0)).any():
                _refuse_contradiction(hierarchy, label, parent, first_row + int(np.flatnonzero(wrong)[0]))
            cells[parent][has] = _HAS
    for label in order:
        for parent in parents.indices[parents.indptr[label] : parents.indptr[label + 1]].tolist():
            cells[label][cells[parent] == 0] = 0
    return sparse.csr_array((cells == _HAS).T.astype(np.int8)), sparse.csr_array((cells == _UNKNOWN).T)


def _refuse_contradiction(hierarchy: Hierarchy, label: int, parent: int, row: int) -> None:
    below, above = hierarchy.names[label], hierarchy.names[parent]
    raise ValueError(
        f"Row {row} of y has the label {below!r} but not {above!r}, which is above it. Where y has unknown cells, 0 "
        f"says that a row has not the label: give {above!r} as 1 or NaN in this row, or {below!r} as 0."
    )
