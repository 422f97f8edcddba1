"""What Relief makes of y: the codes of classes, or a distance of any other kind of target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import type_of_target

from ramify.hierarchy import Hierarchy
from ramify.targets import encode_labels
from ramify.targets.distances import (
    class_distance,
    label_set_distance,
    mean_distance,
    node_distance,
    number_distance,
    ranking_distance,
)
from ramify.targets.labels import refuse_missing
from ramify.targets.numbers import finite_numbers
from ramify.targets.rankings import check_rankings, pair_signs, ranking_names

KINDS = ("auto", "classes", "labels", "numbers", "rankings", "mixed")


@dataclass(frozen=True)
class ReliefTarget:
    """A target as Relief needs it.

    Attributes
    ----------
    kind : str
        What y is.
    n_samples : int
        Number of rows.
    distance : callable
        Distances of pairs of rows, in [0, 1].
    codes : ndarray, optional
        The class of each row, where y is classes; then ReliefF is used instead of the distance.
    Y : CSR, optional
        The label sets, where y is label sets; for rankings 1, 0 or one half (open) per pair of labels.
    label_names : tuple of str
        Names of the labels.
    column_names : tuple of str
        Names of the columns of a mixed target.
    """

    kind: str
    n_samples: int
    distance: Callable[[np.ndarray, np.ndarray], np.ndarray]
    codes: np.ndarray | None = None
    Y: sparse.csr_array | None = None
    label_names: tuple[str, ...] = ()
    column_names: tuple[str, ...] = ()

    @property
    def varies(self) -> np.ndarray:
        """Whether a label, or the preference of a pair, is not the same in all rows."""
        lowest, highest = (extreme(axis=0).toarray().ravel() for extreme in (self.Y.min, self.Y.max))  # type: ignore[union-attr]
        varies: np.ndarray = lowest < highest
        return varies

    @property
    def is_constant(self) -> bool:
        """Whether all rows have the same target."""
        rows = np.arange(1, self.n_samples)
        return not self.distance(np.zeros_like(rows), rows).any()


def encode_target(ranker: Any, y: Any, n_samples: int) -> ReliefTarget:
    """Check y and encode it as `ranker.target` says."""
    if y is None:
        raise ValueError(f"{type(ranker).__name__} requires y to be passed, but the target y is None.")
    kind = ranker.target if ranker.target != "auto" else _kind_of(y, ranker.hierarchy)
    if ranker.hierarchy is not None and kind != "labels":
        raise ValueError(f"A hierarchy orders label sets, but 'target' is {kind!r}. Leave one of them out.")
    if kind in {"classes", "labels"}:
        return _label_target(ranker, y, kind, n_samples)
    if kind == "mixed":
        columns = _columns(y)
        _check_length(len(columns[0]), n_samples)
        column_names = tuple(str(name) for name in getattr(y, "columns", range(len(columns))))
        named = zip(column_names, columns, strict=True)
        distance = mean_distance([_column_distance(ranker, name, column) for name, column in named])
        return ReliefTarget(kind, n_samples, distance, column_names=column_names)
    if kind == "rankings":
        ranks = check_rankings(y)
        _check_length(len(ranks), n_samples)
        preferences = sparse.csr_array((pair_signs(ranks) + 1) / 2)
        names = tuple(ranking_names(y, ranks.shape[1]))
        return ReliefTarget(kind, n_samples, ranking_distance(ranks), Y=preferences, label_names=names)
    values = finite_numbers(y)
    _check_length(len(values), n_samples)
    return ReliefTarget(kind, n_samples, number_distance(values))


def _kind_of(y: Any, hierarchy: Any) -> str:
    if hierarchy is not None or sparse.issparse(y):
        return "labels"
    if hasattr(y, "columns") and len(y.columns) > 1 and any(_is_nominal(column) for column in _columns(y)):
        return "mixed"
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] > 1:
        if array.dtype.kind in "OUS":
            return "mixed"
        return "labels" if np.isin(array, (0, 1)).all() else "numbers"
    refuse_missing(array)
    return "numbers" if type_of_target(array, input_name="y").startswith("continuous") else "classes"


def _label_target(ranker: Any, y: Any, kind: str, n_samples: int) -> ReliefTarget:
    target = encode_labels(y, hierarchy=ranker.hierarchy, n_samples=n_samples)
    if target.kind == "classes":
        if kind == "labels":
            raise ValueError("Label sets are a 0/1 matrix with one column per label. Got one column of classes.")
        if target.Y.shape[1] < 2:
            raise ValueError("Relief needs examples of at least two classes. y has one class.")
        codes = target.Y.indices.astype(np.int32)
        return ReliefTarget("classes", n_samples, class_distance(codes), codes=codes)
    if kind == "classes":
        raise ValueError("Classes are one value per row. Got a matrix; use target='labels' or 'mixed'.")
    weights = target.weights
    if ranker.bound is None and ranker.hierarchy is not None:
        weights = weights * ranker.hierarchy.w0
    distance = label_set_distance(
        target.Y, weights, distance=ranker.distance, bound=ranker.bound, hierarchy=ranker.hierarchy
    )
    Y = sparse.csr_array(target.Y, dtype=np.float64)
    return ReliefTarget(target.kind, n_samples, distance, Y=Y, label_names=target.names)


def _columns(y: Any) -> list[np.ndarray]:
    if hasattr(y, "iloc"):
        return [_frame_column(y.iloc[:, j]) for j in range(y.shape[1])]
    if hasattr(y, "get_columns"):
        return [series.to_numpy() for series in y.get_columns()]
    array = np.asarray(y, dtype=object)
    return [_inferred(array[:, j]) for j in range(array.shape[1])]


def _frame_column(series: Any) -> np.ndarray:
    return np.asarray(series.to_numpy() if series.dtype.kind in "fiu" else series.to_numpy(dtype=object))


def _inferred(column: np.ndarray) -> np.ndarray:
    """A column of an object array as numbers where all its values are."""
    if all(isinstance(value, (int, float, np.number)) and not isinstance(value, bool) for value in column):
        return column.astype(np.float64)
    return column


def _is_nominal(column: np.ndarray) -> bool:
    return column.dtype.kind not in "fiu"


def check_nodes(name: str, values: Sequence[Any], hierarchy: Hierarchy) -> list[str]:
    """The values of a nominal column as names of nodes."""
    if not isinstance(hierarchy, Hierarchy):
        raise TypeError(
            "The 'value_hierarchies' parameter of ReliefRanker must map names of columns to hierarchies. "
            f"Got {type(hierarchy).__name__} for {name!r}."
        )
    nodes = [str(value) for value in values]
    for node in nodes:
        if node not in hierarchy:
            raise ValueError(
                f"Column {name!r} has the value {node!r}, which is not a node of its hierarchy in 'value_hierarchies'."
            )
    return nodes


def _column_distance(ranker: Any, name: str, column: np.ndarray) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    hierarchy = (ranker.value_hierarchies or {}).get(name)
    if hierarchy is not None and not _is_nominal(column):
        raise ValueError(f"Column {name!r} has a hierarchy in 'value_hierarchies', but its values are numbers.")
    if _is_nominal(column):
        refuse_missing(column)
        if hierarchy is not None:
            nodes = check_nodes(name, column.tolist(), hierarchy)
            return node_distance(nodes, hierarchy, distance=ranker.distance, bound=ranker.bound)[0]
        return class_distance(np.unique(column.astype(str), return_inverse=True)[1])
    return number_distance(finite_numbers(column))


def _check_length(n_targets: int, n_samples: int) -> None:
    if n_targets != n_samples:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[n_samples, n_targets]}")
