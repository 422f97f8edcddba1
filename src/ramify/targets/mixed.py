"""Several targets side by side: numbers and classes in the columns of one frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ramify import _core
from ramify.hierarchy import Hierarchy
from ramify.targets.cells import refuse_missing
from ramify.targets.distances import PairDistance, mean_distance
from ramify.targets.labels import encode_labels
from ramify.targets.numbers import encode_numbers
from ramify.targets.target import Target, check_n_samples


@dataclass(frozen=True, kw_only=True, eq=False)
class MixedTarget(Target):
    """Several targets side by side, each scaled to unit variance.

    `parts` holds one target per column.
    """

    kind: ClassVar[str] = "mixed"

    @property
    def n_samples(self) -> int:
        """Number of examples."""
        return self.parts[0].n_samples

    def kernel_rows(self) -> _core.NumberRows:
        """The vectors of all parts side by side."""
        return _core.NumberRows(_side_by_side(self.parts), np.ascontiguousarray(self.weights))

    def distance(self, metric: str = "euclidean", *, bound: str | None = "observed") -> PairDistance:
        """Mean distance over the parts."""
        return mean_distance([part.distance(metric, bound=bound) for part in self.parts])


def encode_mixed(
    y: Any, *, value_hierarchies: Mapping[str, Hierarchy] | None = None, n_samples: int | None = None
) -> MixedTarget:
    """Check a frame of numbers and classes and encode each column by itself.

    Parameters
    ----------
    y : frame, or array of objects, of shape (n_samples, n_columns)
        Columns of numbers are numbers, all others classes.
    value_hierarchies : mapping of str to Hierarchy, optional
        By name, columns of classes whose values are nodes of a hierarchy.
    n_samples : int, optional
        Number of rows that y must have.

    Examples
    --------
    >>> import pandas as pd
    >>> from ramify.targets import encode
    >>> target = encode(pd.DataFrame({"weight": [1.0, 3.0], "kind": ["fish", "bird"]}), kind="mixed")
    >>> [part.kind for part in target.parts], target.distance()([0], [1]).tolist()
    (['numbers', 'classes'], [1.0])
    """
    columns = columns_of_mixed(y)
    names = tuple(str(name) for name in getattr(y, "columns", range(len(columns))))
    check_n_samples(len(columns[0]), n_samples)
    known = value_hierarchies or {}
    parts = tuple(_part(name, column, known.get(name)) for name, column in zip(names, columns, strict=True))
    weights = np.concatenate([part.weights / _variance(part) for part in parts])
    return MixedTarget(parts=parts, names=names, weights=weights)


def columns_of_mixed(y: Any) -> list[np.ndarray]:
    """Columns of a frame, or of an array of objects, each with the type of its values."""
    if hasattr(y, "iloc"):
        return [_frame_column(y.iloc[:, j]) for j in range(y.shape[1])]
    if hasattr(y, "get_columns"):
        return [series.to_numpy() for series in y.get_columns()]
    array = np.asarray(y, dtype=object)
    if array.ndim != 2:
        raise ValueError("A mixed target has one column per target. Got one column; leave 'mixed' out.")
    return [_inferred(array[:, j]) for j in range(array.shape[1])]


def is_nominal(column: np.ndarray) -> bool:
    """Whether the values of a column are no numbers."""
    return column.dtype.kind not in "fiu"


def check_nodes(name: str, values: list[Any], hierarchy: Hierarchy) -> list[str]:
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


def _part(name: str, column: np.ndarray, hierarchy: Hierarchy | None) -> Target:
    if not is_nominal(column):
        if hierarchy is not None:
            raise ValueError(f"Column {name!r} has a hierarchy in 'value_hierarchies', but its values are numbers.")
        return encode_numbers(column)
    refuse_missing(column)
    if hierarchy is None:
        return encode_labels(column.astype(str))
    nodes = check_nodes(name, column.tolist(), hierarchy)
    return encode_labels(hierarchy.encode([[node] for node in nodes]), hierarchy=hierarchy)


def _side_by_side(parts: tuple[Target, ...]) -> np.ndarray:
    return np.ascontiguousarray(np.hstack([_dense(part) for part in parts]))


def _dense(part: Target) -> np.ndarray:
    """Vectors of a part, numbers standardised."""
    rows = part.Y  # type: ignore[attr-defined]
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)


def _variance(part: Target) -> float:
    """Weighted variance of a part, 1 where it is constant."""
    return float(_dense(part).var(axis=0) @ part.weights) or 1.0


def _frame_column(series: Any) -> np.ndarray:
    return np.asarray(series.to_numpy() if series.dtype.kind in "fiu" else series.to_numpy(dtype=object))


def _inferred(column: np.ndarray) -> np.ndarray:
    """A column of an object array as numbers where all its values are."""
    if all(isinstance(value, (int, float, np.number)) and not isinstance(value, bool) for value in column):
        return column.astype(np.float64)
    return column
