"""Label sets as the chains see them: one 0/1 matrix and what is needed to answer in the form of the question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ramify.hierarchy import Hierarchy
from ramify.targets import encode_labels, refuse_partly_known


@dataclass(frozen=True)
class LabelSets:
    """A target of classifiers of label sets.

    Attributes
    ----------
    matrix : ndarray of shape (n_samples, n_labels)
        1 where the row has the label. Classes have one column each, two classes one column in all. Where labels are
        unknown it holds floats, NaN for those; else small integers.
    names : tuple of str
        Names of the labels, or of the classes.
    classes : ndarray or None
        The classes of a one-dimensional target; None for label sets.
    was_sparse : bool
        Whether the label sets came as a sparse matrix.
    dtype : str
        Type of the given label sets.
    known_rows : ndarray or None
        Rows of which some label is known; None where those are all rows.
    """

    matrix: NDArray[Any]
    names: tuple[str, ...]
    classes: NDArray[Any] | None
    was_sparse: bool
    dtype: str
    known_rows: NDArray[np.intp] | None = None

    def rows_with_target(self) -> NDArray[np.intp] | None:
        """Rows of which some label is known; None where those are all rows."""
        return self.known_rows


def read_label_sets(
    y: ArrayLike, n_samples: int | None = None, *, hierarchy: Hierarchy | None = None, refusing: Any = None
) -> LabelSets:
    """Check a target and give its 0/1 matrix, closed under a hierarchy; `refusing` is who takes no unknown labels."""
    target = encode_labels(y, hierarchy=hierarchy, n_samples=n_samples, partly_known=True)
    if refusing is not None:
        refuse_partly_known(refusing, target)
    matrix = target.cells().toarray()
    if target.unknown is None:
        matrix = matrix.astype(np.uint8)
    if target.classes is not None and len(target.classes) <= 2:
        matrix = matrix[:, -1:] * np.uint8(len(target.classes) - 1)
    given = getattr(y, "dtype", None)  # pandas has dtypes that NumPy does not know
    dtype = given if isinstance(given, np.dtype) else np.asarray(y).dtype
    return LabelSets(
        matrix=matrix,
        names=target.names,
        classes=target.classes,
        was_sparse=target.was_sparse,
        dtype=dtype.str if dtype.kind in "biuf" else target.Y.dtype.str,
        known_rows=target.rows_with_target(),
    )


def known_means(labels: NDArray[Any], weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Share of rows with each label, of those of which it is known."""
    if labels.dtype.kind != "f":
        return np.asarray(np.average(labels, axis=0, weights=weights))
    known = ~np.isnan(labels) * (1.0 if weights is None else weights[:, None])
    total = known.sum(axis=0)
    return np.where(total > 0, (known * np.nan_to_num(labels)).sum(axis=0) / np.where(total > 0, total, 1.0), 0.0)


def class_probabilities(scores: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """Scores per class, or of the second of two classes, as probabilities that sum to one."""
    if n_classes == 1:
        return np.ones((len(scores), 1))
    if n_classes == 2:
        return np.column_stack([1.0 - scores[:, 0], scores[:, 0]])
    total = scores.sum(axis=1, keepdims=True)
    return np.where(total > 0, scores / np.where(total > 0, total, 1.0), 1.0 / n_classes)
