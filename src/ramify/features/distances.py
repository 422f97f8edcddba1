"""Distances of rows by their features, numeric, nominal, missing or sparse: what Relief and weighted kNN share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ramify import _core
from ramify.features.checks import refuse_extremes, refuse_missing
from ramify.features.encoding import Features

_DENSE_CELLS = 1 << 22
"""Distances are taken of dense columns up to so many cells, of sparse ones beyond."""


@dataclass(frozen=True)
class FeatureSpace:
    """Rows and how their feature values differ (Eq. 5 of the HMLC paper).

    A numeric difference is divided by the feature's range, a nominal one is 0 or 1. Missing values: `1 - 1/|V|` for a
    nominal feature; for a numeric one `max(t, 1 - t)`, with t the known value's place in the range, 1 if none is known.

    Attributes
    ----------
    values : ndarray or CSC array of shape (n_samples, n_features), float64
        The rows.
    differences : _core.Differences
        Scale of each feature, ramp, and how differences are summed.
    """

    values: Any
    differences: Any

    @classmethod
    def of(
        cls,
        features: Features,
        *,
        n_values: np.ndarray | None = None,
        ramp: tuple[float, float] | None = None,
        weights: np.ndarray | None = None,
        tables: Mapping[int, np.ndarray] | None = None,
    ) -> FeatureSpace:
        """Learn the ranges of the features.

        Parameters
        ----------
        features : Features
            The rows.
        n_values : ndarray, optional
            Number of values that each nominal feature can have, where it is more than were seen.
        ramp : pair of float, optional
            Shares of the range up to which numbers count as equal, and from which on as different.
        weights : ndarray, optional
            Distances are `sqrt(sum of weight * difference^2)`; by default they are sums of differences.
        tables : mapping of int to ndarray, optional
            By nominal feature, the differences of its values, where they are not just 0 and 1.
        """
        values, low, high = _within_half_range(_as_double(dense_if_small(features.values)))
        seen = features.n_categories.astype(np.float64)
        differences = _core.Differences(
            nominal=features.n_categories > 0,
            low=low,
            range=high - low,
            n_values=np.maximum(1.0, seen if n_values is None else np.maximum(seen, n_values)),
            equal_below=0.0 if ramp is None else float(ramp[0]),
            different_above=0.0 if ramp is None else float(ramp[1]),
            squared=weights is not None,
            weights=np.empty(0) if weights is None else np.ascontiguousarray(weights, dtype=np.float64),
        )
        for feature, table in (tables or {}).items():
            differences.set_table(feature, np.ascontiguousarray(table, dtype=np.float64))
        return cls(values, differences)

    def nearest(
        self,
        queries: Any,
        *,
        own_rows: np.ndarray,
        n_neighbors: int,
        groups: np.ndarray | None = None,
        n_threads: int = 1,
        progress: Callable[[int], None] | None = None,
    ) -> np.ndarray:
        """Nearest rows of each query, nearest first, ties by row: (n_queries, n_groups, n_neighbors), -1 = none.

        Parameters
        ----------
        queries : ndarray or sparse array of shape (n_queries, n_features)
            Rows of the same features.
        own_rows : int64 array of shape (n_queries,)
            The row that a query is itself, which is no neighbour of it; -1 if none.
        n_neighbors : int
            How many per group.
        groups : int32 array of shape (n_samples,), optional
            Group of each row; neighbours are found in each group.
        n_threads : int
            Threads.
        progress : callable, optional
            Told from time to time how many queries are done.
        """
        n_samples = self.values.shape[0]
        groups = np.zeros(n_samples, dtype=np.int32) if groups is None else groups.astype(np.int32)
        common = {
            "differences": self.differences,
            "own_rows": np.ascontiguousarray(own_rows, dtype=np.int64),
            "groups": groups,
            "n_groups": int(groups.max()) + 1,
            "n_neighbors": n_neighbors,
            "n_threads": n_threads,
            "progress": progress,
        }
        if sparse.issparse(self.values):
            return _core.nearest(self._by_row_and_column, _by_row(queries), **common)
        dense = queries.toarray() if sparse.issparse(queries) else queries
        return _core.nearest(self.values, np.ascontiguousarray(dense, dtype=np.float64), **common)

    def rows(self, positions: np.ndarray) -> Any:
        """Some of the rows, as queries."""
        return self._by_row[positions] if sparse.issparse(self.values) else self.values[positions]

    @cached_property
    def _by_row(self) -> sparse.csr_array:
        return sparse.csr_array(self.values).sorted_indices()

    @cached_property
    def _by_row_and_column(self) -> Any:
        by_row, by_column = self._by_row, sparse.csc_array(self.values).sorted_indices()
        return _core.SparseMatrix(
            row_values=by_row.data,
            row_features=by_row.indices.astype(np.int32, copy=False),
            row_offsets=by_row.indptr.astype(np.int64),
            column_values=by_column.data,
            column_rows=by_column.indices.astype(np.int32, copy=False),
            column_offsets=by_column.indptr.astype(np.int64),
        )

    def difference_sums(
        self, first: np.ndarray, second: np.ndarray, coefficients: sparse.csr_array, *, n_threads: int = 1
    ) -> np.ndarray:
        """Sum over pairs of rows of coefficient * difference, per feature and column of coefficients.

        Parameters
        ----------
        first, second : int64 arrays of shape (n_pairs,)
            The rows of each pair.
        coefficients : CSR array of shape (n_pairs, n_columns)
            Coefficients of each pair.
        n_threads : int
            Threads.

        Returns
        -------
        ndarray of shape (n_features, n_columns)
        """
        common = {
            "differences": self.differences,
            "first": np.ascontiguousarray(first, dtype=np.int64),
            "second": np.ascontiguousarray(second, dtype=np.int64),
            "offsets": coefficients.indptr.astype(np.int64),
            "columns": coefficients.indices.astype(np.int32),
            "coefficients": coefficients.data.astype(np.float64),
            "n_columns": coefficients.shape[1],
            "n_threads": n_threads,
        }
        if sparse.issparse(self.values):
            return _core.difference_sums(self._by_row_and_column, **common)
        return _core.difference_sums(self.values, **common)


def dense_if_small(values: Any) -> Any:
    """A small sparse matrix as an array: sums in another order would break ties of distances in another way."""
    small = values.shape[0] * values.shape[1] <= _DENSE_CELLS
    return values.toarray() if sparse.issparse(values) and small else values


def _as_double(values: Any) -> Any:
    if sparse.issparse(values):
        return sparse.csc_array(values, dtype=np.float64)
    return np.ascontiguousarray(values, dtype=np.float64)


def _extremes(values: Any) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest known value of each feature, 0 where all are missing."""
    n_samples, n_features = values.shape
    if not sparse.issparse(values):
        known = ~np.isnan(values)
        low = np.min(values, axis=0, initial=np.inf, where=known)
        high = np.max(values, axis=0, initial=-np.inf, where=known)
    else:
        low, high = np.full(n_features, np.inf), np.full(n_features, -np.inf)
        stored = np.diff(values.indptr) > 0
        if stored.any():
            known = ~np.isnan(values.data)
            starts = values.indptr[:-1][stored]
            low[stored] = np.minimum.reduceat(np.where(known, values.data, np.inf), starts)
            high[stored] = np.maximum.reduceat(np.where(known, values.data, -np.inf), starts)
        has_zero = np.diff(values.indptr) < n_samples
        low[has_zero] = np.minimum(low[has_zero], 0)
        high[has_zero] = np.maximum(high[has_zero], 0)
    none = low > high
    return np.where(none, 0.0, low), np.where(none, 0.0, high)


def _within_half_range(values: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """The values and their extremes; where a range would overflow, at a scale on which it does not."""
    low, high = _extremes(values)
    with np.errstate(over="ignore"):
        overflows = ~np.isfinite(high - low)
    if not overflows.any():
        return values, low, high
    factor = np.where(overflows, 0.25, 1.0)
    scaled = sparse.csc_array(values @ sparse.diags_array(factor)) if sparse.issparse(values) else values * factor
    return scaled, low * factor, high * factor


def _by_row(matrix: Any) -> Any:
    """Rows alone, as queries need them."""
    by_row = sparse.csr_array(matrix, dtype=np.float64)
    by_row.sort_indices()
    return _core.SparseMatrix(
        row_values=by_row.data,
        row_features=by_row.indices.astype(np.int32, copy=False),
        row_offsets=by_row.indptr.astype(np.int64),
        column_values=np.empty(0),
        column_rows=np.empty(0, dtype=np.int32),
        column_offsets=np.zeros(by_row.shape[1] + 1, dtype=np.int64),
    )


def distance_columns(estimator: Any, features: Features) -> Any:
    """Columns whose Euclidean distances compare rows, for an estimator that asks neighbours.

    Numbers stay as they are; missing ones, and those too large or small to be squared, are refused by column. A nominal
    feature becomes a column per value, so that two values lie 1 apart; one that was not seen at fit, or is missing,
    has no column and is equally far from all.
    """
    is_nominal = features.n_categories > 0
    if not is_nominal.any():
        refuse_missing(estimator, features.values)
        refuse_extremes(estimator, features.values)
        return dense_if_small(features.values)
    numbers = _without_codes(features)
    refuse_missing(estimator, numbers)
    refuse_extremes(estimator, numbers)
    indicators = [_indicators(features, j) for j in np.flatnonzero(is_nominal).tolist()]
    numeric = features.values[:, ~is_nominal]
    n_columns = numeric.shape[1] + int(features.n_categories.sum())
    joined = sparse.csr_array(sparse.hstack([sparse.csr_array(numeric), *indicators]))
    if features.is_sparse:
        return dense_if_small(joined)
    return joined if numeric.shape[0] * n_columns > _DENSE_CELLS else joined.toarray()


def _indicators(features: Features, column: int) -> sparse.csr_array:
    """One column per value of a nominal feature; different values lie 1 apart."""
    codes = features.values[:, [column]]
    codes = (codes.toarray() if features.is_sparse else codes).ravel()
    rows = np.flatnonzero(~np.isnan(codes))
    entries = (np.full(len(rows), np.sqrt(0.5)), (rows, codes[rows].astype(np.intp)))
    return sparse.csr_array(entries, shape=(len(codes), int(features.n_categories[column])))


def _without_codes(features: Features) -> Any:
    """The values with zeros in the nominal columns, whose codes are no quantities."""
    numbers = features.values.copy()
    for j in np.flatnonzero(features.n_categories).tolist():
        if features.is_sparse:
            numbers.data[numbers.indptr[j] : numbers.indptr[j + 1]] = 0
        else:
            numbers[:, j] = 0
    return numbers
