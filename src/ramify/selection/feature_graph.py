"""The feature hierarchy as the selection methods walk it: columns, strict ancestors, direct parents and levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ramify.hierarchy import Hierarchy


class Step(NamedTuple):
    """Features whose neighbours are all done: `neighbors[starts[i]:starts[i + 1]]` belong to `features[i]`."""

    features: np.ndarray
    starts: np.ndarray
    neighbors: np.ndarray


@dataclass(frozen=True, eq=False)
class FeatureGraph:
    """Columns of a feature matrix ordered by a hierarchy.

    Parameters
    ----------
    names : tuple of str
        One name per column.
    ancestors : CSR of bool, shape (n_features, n_features)
        Row f marks the strict ancestors of f among the columns.
    unknown : tuple of str
        Columns the hierarchy does not hold; they stand alone.
    """

    names: tuple[str, ...]
    ancestors: sparse.csr_array
    unknown: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.ancestors.shape != (len(self.names), len(self.names)):
            raise ValueError(f"{len(self.names)} names do not fit ancestors of the shape {self.ancestors.shape}")

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.names)

    @cached_property
    def descendants(self) -> sparse.csr_array:
        """Row f marks the strict descendants of f."""
        return sparse.csr_array(self.ancestors.T)

    @cached_property
    def parents(self) -> sparse.csr_array:
        """Row f marks the ancestors of f that no other ancestor of f stands below."""
        ancestors = self.ancestors.astype(np.int32)
        return pattern(ancestors - ancestors.multiply(pattern(ancestors @ ancestors)))

    @cached_property
    def children(self) -> sparse.csr_array:
        """Row f marks the features directly below f."""
        return sparse.csr_array(self.parents.T)

    @cached_property
    def level(self) -> np.ndarray:
        """Length of the longest path from a root to each feature."""
        level = np.zeros(self.n_features, dtype=np.intp)
        waiting = np.diff(self.parents.indptr)
        ready = np.flatnonzero(waiting == 0)
        depth = 0
        while len(ready):
            level[ready] = depth
            _, below = _neighbors(self.children, ready)
            finished = np.bincount(below, minlength=self.n_features)
            waiting = waiting - finished
            ready = np.flatnonzero((waiting == 0) & (finished > 0))
            depth += 1
        return level

    @cached_property
    def downward(self) -> tuple[Step, ...]:
        """Steps from the roots down, with each feature's parents as neighbours."""
        return tuple(self._steps(self.parents, self._by_level[1:]))

    @cached_property
    def upward(self) -> tuple[Step, ...]:
        """Steps from the deepest features up, with each feature's children as neighbours."""
        return tuple(self._steps(self.children, self._by_level[::-1]))

    @cached_property
    def _by_level(self) -> list[np.ndarray]:
        order = np.argsort(self.level, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.level))[:-1])

    @staticmethod
    def _steps(relation: sparse.csr_array, groups: Sequence[np.ndarray]) -> list[Step]:
        steps = []
        for group in groups:
            features = group[np.diff(relation.indptr)[group] > 0]
            if len(features):
                starts, neighbors = _neighbors(relation, features)
                steps.append(Step(features, starts, neighbors))
        return steps

    def keep(self, columns: np.ndarray) -> FeatureGraph:
        """The graph of some columns; ancestry through a dropped column remains."""
        if len(columns) == self.n_features:
            return self
        names = tuple(self.names[column] for column in columns)
        ancestors = pattern(self.ancestors[columns][:, columns])
        kept = set(names)
        return FeatureGraph(names, ancestors, tuple(name for name in self.unknown if name in kept))


def feature_graph(hierarchy: Hierarchy, names: Sequence[str]) -> FeatureGraph:
    """Order the columns `names` by `hierarchy`.

    Terms of the hierarchy that are no column are passed through: a column's ancestors beyond them remain its ancestors.
    Columns that the hierarchy does not hold stand alone and are listed in `unknown`.
    """
    names = tuple(str(name) for name in names)
    twice = _first_repeated(names)
    if twice is not None:
        raise ValueError(f"Two feature columns are named {twice!r}; a feature hierarchy needs distinct names.")
    position = {name: i for i, name in enumerate(hierarchy.names)}
    columns = np.array([position.get(name, -1) for name in names], dtype=np.intp)
    known = np.flatnonzero(columns >= 0)
    if not len(known):
        raise ValueError(
            f"None of the {len(names)} features (first: {_quoted(names)}) is in the feature hierarchy of "
            f"{len(hierarchy.names)} terms (first: {_quoted(hierarchy.names)}). Is it the hierarchy of other features?"
        )
    among = sparse.coo_array(hierarchy.ancestor_matrix[columns[known]][:, columns[known]])
    below, above = known[among.row], known[among.col]
    ancestors = sparse.csr_array((np.ones(among.nnz, dtype=bool), (below, above)), shape=(len(names), len(names)))
    unknown = tuple(name for name, column in zip(names, columns, strict=True) if column < 0)
    return FeatureGraph(names, ancestors, unknown)


def _neighbors(relation: sparse.csr_array, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Column indices of the given rows, joined, and where each row's begin."""
    part = relation[rows]
    return part.indptr[:-1].astype(np.intp), part.indices.astype(np.intp)


def pattern(matrix: sparse.sparray) -> sparse.csr_array:
    """Boolean CSR of the non-zeros, sorted."""
    matrix = sparse.csr_array(matrix).copy()
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return sparse.csr_array((np.ones(matrix.nnz, dtype=bool), matrix.indices, matrix.indptr), shape=matrix.shape)


def _first_repeated(names: Sequence[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names[:3])
