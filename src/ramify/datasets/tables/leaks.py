"""Columns that say the target in other words: copies, rescalings, and all but copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ramify.datasets.tables.text_column import TextColumn

_AGREEMENT = 0.999
_LIKELY = 0.9
"""Less than this in some of the rows, and the others need not be looked at."""
_SAMPLE = 200


class Leaks:
    """Tells which columns copy a target.

    Parameters
    ----------
    y : ndarray, CSR or None
        The target.
    cells : TextColumn, ndarray or None
        The cells of a target in one column.
    """

    def __init__(self, y: Any, cells: Any = None) -> None:
        self._cells = cells
        self._numbers: list[np.ndarray] = []
        self._classes: np.ndarray | None = None
        self._labels: set[bytes] = set()
        if y is None or hasattr(y, "columns"):
            return
        if sparse.issparse(y) or (y.ndim == 2 and np.isin(y[~np.isnan(y)], (0, 1)).all()):
            by_label = sparse.csc_array(y == 1)
            for label in range(by_label.shape[1]):
                rows = np.sort(by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]])
                if 0 < len(rows) < by_label.shape[0]:
                    self._labels.add(rows.astype(np.int64).tobytes())
        elif y.dtype.kind in "iu":
            self._classes = y
        else:
            self._numbers = list(np.asarray(y, dtype=float).reshape(len(y), -1).T)

    def of(self, column: Any) -> str:
        """Why a column is no feature, or nothing."""
        if _are_the_same(column, self._cells):
            return "a copy of the target"
        codes = column.codes if isinstance(column, TextColumn) else column
        if self._labels:
            return "a copy of a label" if self._holds_label(codes) else ""
        if self._classes is not None:
            return _renamed(codes, self._classes)
        return self._rescaled(column) if isinstance(column, np.ndarray) else ""

    def _holds_label(self, codes: np.ndarray) -> bool:
        if len(np.unique(codes[:_SAMPLE])) > 2 or len(values := np.unique(codes)) != 2:
            return False
        return any(np.flatnonzero(codes == value).astype(np.int64).tobytes() in self._labels for value in values)

    def _rescaled(self, column: np.ndarray) -> str:
        for y in self._numbers:
            some = slice(None, None, max(1, len(y) // (50 * _SAMPLE)))
            if _squared_correlation(column[some], y[some]) < _LIKELY:
                continue
            known = ~(np.isnan(column) | np.isnan(y))
            x, z = column[known], y[known]
            if known.sum() < max(_SAMPLE // 10, 0.5 * len(y)):
                continue
            if np.array_equal(x, z):
                return "a copy of the target"
            r2 = _squared_correlation(x, z)
            if r2 > _AGREEMENT:
                return f"all but a copy of the target (R2 {r2:.4f})"
        return ""


def _squared_correlation(x: np.ndarray, z: np.ndarray) -> float:
    known = ~(np.isnan(x) | np.isnan(z))
    x, z = x[known], z[known]
    return 0.0 if len(x) < 2 or x.std() == 0 or z.std() == 0 else float(np.corrcoef(x, z)[0, 1] ** 2)


def _are_the_same(column: Any, other: Any) -> bool:
    if isinstance(column, np.ndarray) and isinstance(other, np.ndarray):
        head = slice(0, _SAMPLE)
        return np.array_equal(column[head], other[head], equal_nan=True) and np.array_equal(
            column, other, equal_nan=True
        )
    if not (isinstance(column, TextColumn) and isinstance(other, TextColumn)):
        return False
    return set(column.values) == set(other.values) and list(column) == list(other)


def _renamed(codes: np.ndarray, classes: np.ndarray) -> str:
    """Whether values and classes go together one to one, but for a row in a thousand."""
    head = codes[: 10 * _SAMPLE]
    head = head[head >= 0] if codes.dtype.kind in "iu" else head[~np.isnan(head)]
    if len(pd.unique(head)) > int(classes.max(initial=0)) + 1:
        return ""
    known = (codes >= 0) & (classes >= 0) if codes.dtype.kind in "iu" else ~np.isnan(codes) & (classes >= 0)
    if known.sum() < max(_SAMPLE // 10, 0.5 * len(classes)):
        return ""
    value_of, values = pd.factorize(codes[known])
    class_of, own = pd.factorize(classes[known])
    if not 1 < len(own) < known.sum() / 2 or len(values) != len(own):
        return ""
    pairs = np.zeros((len(values), len(own)), dtype=np.int64)
    np.add.at(pairs, (value_of, class_of), 1)
    agreement = pairs.max(axis=1).sum() / known.sum()
    if agreement == 1:
        return "a copy of the target"
    return f"all but a copy of the target ({100 * agreement:.1f} % of the rows)" if agreement > _AGREEMENT else ""
