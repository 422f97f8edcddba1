"""Rows that repeat an earlier one: a test on some of them is no test of what was learnt from others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ramify.datasets.dataset import Dataset
from ramify.datasets.tables.inspection import FEWEST_ROWS

_HEAD = 1000
_FEWEST = 0.05
"""Share of the rows that is told: fewer hardly change a result."""


def copied_rows(data: Dataset) -> Iterator[str]:
    """Sentences on rows that repeat an earlier one in all features, measured numbers included: hardly by chance."""
    if data.y is None or data.storage != "dense":
        return
    measured = next(filter(_is_measured, _numeric_columns(data)), None)
    if measured is None:
        return
    rows, groups = _sharing(np.arange(data.n_samples), np.zeros(data.n_samples, dtype=np.int64), measured)
    for j in range(data.n_features):
        if len(rows) < _FEWEST * data.n_samples:  # mostly they are few after a column or two
            return
        rows, groups = _sharing(rows, groups, data.X[rows, j])
    alike = pd.DataFrame({"features": groups})
    again = alike.duplicated().to_numpy()
    copies = pd.concat([alike, _target_keys(data, rows)], axis="columns").duplicated().to_numpy()
    others = again & ~copies & (data.target == "classes")
    for which, then in (
        (copies, "and the target, such as row {}. Remove copies: results measured on some and learnt from others are "
                 "too good."),
        (others, "with another target, such as row {}. If that is one thing with several labels, write it once, with | "
                 "between its labels."),
    ):  # fmt: skip
        if which.any() and which.sum() >= _FEWEST * data.n_samples:
            first = int(rows[which].min()) + 1
            yield f"{which.sum()} of {data.n_samples} rows repeat an earlier row in all features {then.format(first)}"


def _sharing(rows: np.ndarray, groups: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows that share a value with another of their group, missing ones included, and their new groups."""
    codes = pd.factorize(values)[0] + 1
    if not groups.any():
        together = codes
    else:
        together = pd.factorize(groups * (codes.max(initial=0) + 1) + codes)[0]
    shared = np.bincount(together)[together] > 1
    return rows[shared], together[shared]


def _numeric_columns(data: Dataset) -> Iterator[np.ndarray]:
    return (np.asarray(data.X[:, j], dtype=np.float64) for j in np.flatnonzero(~data.categorical_features))


def _is_measured(values: np.ndarray) -> bool:
    """Whether a column holds many numbers with fractions."""
    known = values[~np.isnan(values)]
    return bool((known != np.floor(known)).any()) and (
        len(pd.unique(known[:_HEAD])) >= FEWEST_ROWS or len(pd.unique(known)) >= FEWEST_ROWS
    )


def _target_keys(data: Dataset, rows: np.ndarray) -> pd.DataFrame:
    """What tells the targets of these rows apart, in columns of its own."""
    y: Any = data.y
    if sparse.issparse(y):
        chosen = sparse.csr_array(y)[rows]
        ends = zip(chosen.indptr[:-1], chosen.indptr[1:], strict=True)
        return pd.DataFrame({"y": [(chosen.indices[a:b].tobytes(), chosen.data[a:b].tobytes()) for a, b in ends]})
    chosen = y.iloc[rows].reset_index(drop=True) if isinstance(y, pd.DataFrame) else pd.DataFrame(np.asarray(y)[rows])
    return chosen.add_prefix("y ")
