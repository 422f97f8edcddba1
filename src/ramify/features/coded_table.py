"""CodedTable: features as one-byte codes of their bins, in memory or in a file that is mapped to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ramify import _core
from ramify.parameters import worker_count

MAX_BINS = 255
"""Bins of a numeric feature, so that they and a code for missing take a byte."""


@dataclass(frozen=True, eq=False)
class Cuts:
    """How the values of each feature become codes.

    Attributes
    ----------
    names : tuple of str
        Names of the features.
    categories : tuple
        Per feature None, or the values of a nominal one; positions are the codes.
    edges : tuple of float64 arrays
        Per numeric feature, the largest value of each bin but the last; empty for a nominal one.
    """

    names: tuple[str, ...]
    categories: tuple[np.ndarray | None, ...]
    edges: tuple[np.ndarray, ...]

    @cached_property
    def n_categories(self) -> np.ndarray:
        """Number of values of each nominal feature, 0 for numeric ones."""
        return np.array([0 if values is None else len(values) for values in self.categories], dtype=np.int32)

    @cached_property
    def n_codes(self) -> np.ndarray:
        """Number of codes of each feature; it is also the code of missing cells."""
        return np.array([n or len(edges) + 1 for n, edges in zip(self.n_categories, self.edges, strict=True)])

    @property
    def dtypes(self) -> list[np.dtype]:
        """The types that hold the codes."""
        return [np.dtype(np.uint8 if n < 256 else np.uint16) for n in self.n_codes]

    def no_bounds(self) -> Bounds:
        """Bounds of bins that no value has been seen of."""
        sizes = [0 if k else n for k, n in zip(self.n_categories, self.n_codes, strict=True)]
        return Bounds([np.full(n, np.inf) for n in sizes], [np.full(n, -np.inf) for n in sizes])

    def code(self, values: np.ndarray, bounds: Bounds, n_threads: int = 1) -> np.ndarray:
        """Codes of rows, as uint16 of shape (n_features, n_rows); the bounds are widened.

        Parameters
        ----------
        values : float64 array of shape (n_rows, n_features)
            Numbers, and positions of nominal values; NaN is missing.
        bounds : Bounds
            Of the rows so far.
        n_threads : int, default=1
            Threads.
        """
        return np.asarray(
            _core.code_rows(
                values,
                edges=list(self.edges),
                n_categories=self.n_categories,
                lower=bounds.lower,
                upper=bounds.upper,
                n_threads=n_threads,
            )
        )


@dataclass(frozen=True, eq=False)
class Bounds:
    """Smallest and largest value of each bin of each numeric feature, endless where there was none."""

    lower: list[np.ndarray]
    upper: list[np.ndarray]

    def widen(self, other: Bounds) -> None:
        """Take in the bounds of other rows."""
        for own, others in zip(self.lower, other.lower, strict=True):
            np.minimum(own, others, out=own)
        for own, others in zip(self.upper, other.upper, strict=True):
            np.maximum(own, others, out=own)


class CodedTable:
    """Features as codes. Trees grow on them without a copy; a part of the rows is a copy, a byte per cell.

    Parameters
    ----------
    cuts : Cuts
        Names, bins and nominal values.
    codes : sequence of uint8 or uint16 arrays of shape (n_rows,)
        Per feature.
    bounds : Bounds
        Values of the bins.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.features.coded_table import CodedTable, Cuts
    >>> cuts = Cuts(("size",), (None,), (np.array([2.5]),))
    >>> bounds = cuts.no_bounds()
    >>> codes = cuts.code(np.array([[1.0], [9.0], [np.nan]]), bounds)
    >>> codes.tolist()
    [[0, 1, 2]]
    >>> CodedTable(cuts, codes.astype(np.uint8), bounds).shape
    (3, 1)
    """

    def __init__(self, cuts: Cuts, codes: Sequence[np.ndarray], bounds: Bounds) -> None:
        self.cuts = cuts
        self.codes = list(codes)
        self.bounds = bounds

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        return (len(self.codes[0]) if self.codes else 0), len(self.codes)

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the features."""
        return self.cuts.names

    def __getitem__(self, rows: np.ndarray) -> CodedTable:
        """The chosen rows; their codes are copied."""
        return CodedTable(self.cuts, [np.ascontiguousarray(column[rows]) for column in self.codes], self.bounds)

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise TypeError(
            "A prepared table holds codes of bins and not the values. Forests, boosted trees and their rankings take "
            "it; for other methods read the file that it was made of."
        )

    def __repr__(self) -> str:
        n_rows, n_features = self.shape
        return f"CodedTable({n_rows} rows, {n_features} features)"

    @cached_property
    def table(self) -> _core.FeatureTable:
        """The codes as the kernels take them; nothing is copied."""
        return _core.FeatureTable.of_codes(
            self.codes,
            n_rows=self.shape[0],
            edges=list(self.cuts.edges),
            n_categories=self.cuts.n_categories,
            lower=self.bounds.lower,
            upper=self.bounds.upper,
            n_threads=worker_count(-1),
        )

    def __getstate__(self) -> dict[str, Any]:
        return {"cuts": self.cuts, "codes": self.codes, "bounds": self.bounds}

    def straddled(self, feature: np.ndarray, threshold: np.ndarray) -> str | None:
        """The name of a feature one of whose bins has values on both sides of a threshold, so that codes do not tell.

        Parameters
        ----------
        feature : int array
            Features that are compared with a threshold.
        threshold : float array
            The thresholds; values up to it go to one side.
        """
        for j in np.unique(feature).tolist():
            if self.cuts.categories[j] is not None:
                continue
            lower, upper = self.bounds.lower[j], self.bounds.upper[j]
            held = lower <= upper
            at = threshold[feature == j][:, None]
            if ((lower[held] <= at) & (at < upper[held])).any():
                return self.cuts.names[j]
        return None
