"""The largest score among a label and its descendants, level by level, with the label that it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from ramify.hierarchy import Hierarchy

_LOWEST = np.iinfo(np.int64).min
_MAGNITUDE = np.int32(0x7FFFFFFF)


@dataclass(frozen=True)
class LabelMaximum:
    """Maximum over descendants; the cost is that of the edges, not of all pairs.

    Attributes
    ----------
    levels : tuple of (parents, children, starts, parent_of_child)
        Edges by the height of the parent, from the leaves up: distinct parents, the children of each in a row, where
        each row starts, and the parent of each child.
    """

    levels: tuple[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], ...]

    @classmethod
    def of(cls, hierarchy: Hierarchy) -> Self:
        """The levels of a hierarchy."""
        matrix = hierarchy.parent_matrix
        height = np.zeros(len(hierarchy), dtype=np.int64)
        for label in hierarchy.topological_order[::-1].tolist():
            above = matrix.indices[matrix.indptr[label] : matrix.indptr[label + 1]]
            height[above] = np.maximum(height[above], height[label] + 1)
        children = np.repeat(np.arange(len(hierarchy)), np.diff(matrix.indptr))
        parents = matrix.indices.astype(np.int64)
        order = np.lexsort((children, parents))
        children, parents = children[order], parents[order]
        levels = []
        for level in range(1, int(height.max(initial=0)) + 1):
            own = height[parents] == level
            distinct, starts = np.unique(parents[own], return_index=True)
            levels.append((distinct, children[own], starts, parents[own]))
        return cls(tuple(levels))

    def of_scores(self, scores: np.ndarray) -> np.ndarray:
        """Largest score among each label and its descendants: arrays of shape (n_labels, n_rows)."""
        largest = scores.copy()
        for parents, children, starts, _ in self.levels:
            below = np.maximum.reduceat(largest[children], starts, axis=0)
            largest[parents] = np.maximum(largest[parents], below)
        return largest

    def within_labels(self, scores: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same among the descendants that a row has, for a label that it has, and the labels they come from.

        Of a label that a row has not, it has no descendant. So a score counts for a parent only if parent and child
        are alike in the row, and one pass serves both halves of the loss.

        Parameters
        ----------
        scores : float32 array of shape (n_labels, n_rows)
            Scores.
        labels : int8 array of the same shape
            Whether a row has a label, closed under ancestors.

        Returns
        -------
        largest : float32 array of the same shape
            Largest scores.
        sources : int64 array of the same shape
            Positions of the labels with these scores; of equal scores the last label.
        """
        ordered = scores.view(np.int32).astype(np.int64)  # bits of numbers above 0 are ordered as the numbers are
        ordered ^= (ordered >> 31) & _MAGNITUDE
        keys = (ordered << 32) | np.arange(len(scores))[:, None]
        for parents, children, starts, above in self.levels:
            below = keys[children]
            below[labels[children] != labels[above]] = _LOWEST
            keys[parents] = np.maximum(keys[parents], np.maximum.reduceat(below, starts, axis=0))
        bits = (keys >> 32).astype(np.int32)
        bits ^= (bits >> 31) & _MAGNITUDE
        return bits.view(np.float32), keys & 0xFFFFFFFF
