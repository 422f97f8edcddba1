"""A target as vectors over rows, and the branches that take the largest of what their outputs score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ramify.ranking.discovery.control import depths
from ramify.ranking.discovery.outcome import Outcome

_SPARSE = 0.05


@dataclass(frozen=True)
class TargetVectors:
    """Outputs x rows, each row of mean 0 (or what differs from that by a constant) and scaled to n - 1."""

    rows: Any
    effective: np.ndarray
    """Number of rows that make up the variance of each output: about those with a rare label."""

    @property
    def n_stored(self) -> int:
        """Numbers that are stored."""
        return int(self.rows.nnz) if sparse.issparse(self.rows) else int(self.rows.size)

    def project(self, columns: np.ndarray) -> np.ndarray:
        """Outputs x the trailing shape of `columns`, whose first axis is rows."""
        found = self.rows @ np.ascontiguousarray(columns.reshape(len(columns), -1))
        return np.asarray(found).reshape(self.rows.shape[0], *columns.shape[1:])

    def project_ordered(self, columns: np.ndarray, orders: np.ndarray) -> np.ndarray:
        """Outputs x orders x the trailing shape of `columns`: with the outputs in each of the orders."""
        n_outputs, n_rows = self.rows.shape
        if sparse.issparse(self.rows):
            starts = self.rows.indptr[:-1][None] + self.rows.nnz * np.arange(len(orders))[:, None]
            ends = np.append(starts.ravel(), self.rows.nnz * len(orders))
            parts = (np.tile(self.rows.data, len(orders)), orders[:, self.rows.indices].ravel(), ends)
            ordered = sparse.csr_array(parts, shape=(n_outputs * len(orders), n_rows))
            found = np.asarray(ordered @ columns.reshape(n_rows, -1))
            return found.reshape(len(orders), n_outputs, *columns.shape[1:]).swapaxes(0, 1)
        found = self.rows[:, orders].reshape(-1, n_rows) @ columns.reshape(n_rows, -1)
        return found.reshape(n_outputs, len(orders), *columns.shape[1:])


def target_vectors(truth: np.ndarray, row_weights: np.ndarray | None) -> TargetVectors:
    """The vectors of rows x outputs; where an output is not known, its vector is 0."""
    n_rows = len(truth)
    known = ~np.isnan(truth)
    w = known if row_weights is None else row_weights[:, None] * known
    values = np.where(known, truth, 0.0)
    vectors = w * (values - (w * values).sum(axis=0) / w.sum(axis=0))
    squares = (vectors**2).sum(axis=0)
    effective = squares**2 / (vectors**4).sum(axis=0)
    scale = np.sqrt((n_rows - 1) / squares)
    if row_weights is None and known.all() and np.count_nonzero(values) < _SPARSE * values.size:
        vectors = values  # without their mean, which columns of mean 0 do not see, most are 0
        return TargetVectors(sparse.csr_array((vectors * scale).T.astype(np.float32)), effective)
    return TargetVectors(np.ascontiguousarray((vectors * scale).T, dtype=np.float32), effective)


@dataclass(frozen=True)
class BranchMaxima:
    """The largest score of each branch from those of its outputs and of the branches below it, deepest first."""

    steps: list[tuple[np.ndarray, np.ndarray, np.ndarray]]
    n_branches: int

    @classmethod
    def of(cls, outcome: Outcome) -> BranchMaxima:
        """The branches of an outcome."""
        members, n_outputs, n_branches = outcome.members, outcome.members.shape[1], len(outcome.parents)
        below: list[list[int]] = [[] for _ in range(n_branches)]
        for branch, above in enumerate(outcome.parents):
            for parent in above:
                below[parent].append(branch)
        height = np.zeros(n_branches, dtype=np.int64)
        for branch in np.argsort(-depths(outcome.parents), kind="stable").tolist():
            for parent in outcome.parents[branch]:
                height[parent] = max(height[parent], height[branch] + 1)
        sources = []
        for branch in range(n_branches):
            own = set(members.indices[members.indptr[branch] : members.indptr[branch + 1]].tolist())
            for child in below[branch]:
                own -= set(members.indices[members.indptr[child] : members.indptr[child + 1]].tolist())
            sources.append(sorted(own) + [n_outputs + child for child in below[branch]])
        steps = []
        for level in range(int(height.max()) + 1):
            branches = np.flatnonzero(height == level)
            lengths = [len(sources[branch]) for branch in branches]
            index = np.array([source for branch in branches for source in sources[branch]], dtype=np.int64)
            steps.append((branches, index, np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)))
        return cls(steps, n_branches)

    def largest(self, scores: np.ndarray) -> np.ndarray:
        """Branches x draws from outputs x draws."""
        n_outputs = len(scores)
        found = np.empty((n_outputs + self.n_branches, scores.shape[1]), dtype=np.float32)
        found[:n_outputs] = scores
        for branches, index, starts in self.steps:
            found[n_outputs + branches] = np.maximum.reduceat(found[index], starts, axis=0)
        return found[n_outputs:]
