"""Binary feature columns that form a hierarchy: checking, matching by name, violations and closure."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from ramify.datasets import Dataset
from ramify.features import finite_features
from ramify.hierarchy import Hierarchy
from ramify.selection.feature_graph import FeatureGraph, feature_graph, pattern
from ramify.selection.relevance import check_binary

_PRESENT = frozenset({"1", "true", "yes", "y", "t"})
_ABSENT = frozenset({"0", "false", "no", "n", "f"})


def read_features(
    estimator: BaseEstimator, X: Any, hierarchy: Hierarchy, *, reset: bool
) -> tuple[sparse.csr_array, tuple[str, ...]]:
    """Binary features as a boolean CSR, with the name of each column.

    A frame names its columns; an array must have one column per name of the hierarchy, in its order.
    """
    if not isinstance(hierarchy, Hierarchy):
        raise TypeError(
            f"The 'feature_hierarchy' parameter of {type(estimator).__name__} must be a ramify.Hierarchy. "
            f"Got {type(hierarchy).__name__} instead."
        )
    checked = check_binary(finite_features(estimator, X, reset=reset, accept_sparse=["csr", "csc"], dtype="numeric"))
    named = getattr(estimator, "feature_names_in_", None)
    if named is None and checked.shape[1] != len(hierarchy.names):
        raise ValueError(
            f"X has {checked.shape[1]} columns without names and the feature hierarchy has {len(hierarchy.names)} "
            "terms, so they cannot be matched. Pass a frame with the terms as column names, or "
            "hierarchy.subset(names) with one name per column."
        )
    return pattern(sparse.csr_array(checked)), tuple(hierarchy.names if named is None else named)


def violations(X: sparse.csr_array, graph: FeatureGraph) -> tuple[tuple[str, str, int], ...]:
    """Edges that rows break: child, parent and the number of rows with the child and without the parent, most first."""
    edges = sparse.coo_array(graph.parents)
    by_feature = sparse.csc_array(X, dtype=np.int32)
    with_child = np.diff(by_feature.indptr)[edges.row]
    with_both = np.asarray(by_feature[:, edges.row].multiply(by_feature[:, edges.col]).sum(axis=0)).ravel()
    broken = with_child - with_both
    order = np.argsort(-broken, kind="stable")[: int((broken > 0).sum())]
    return tuple((graph.names[edges.row[e]], graph.names[edges.col[e]], int(broken[e])) for e in order)


def report_violations(X: sparse.csr_array, graph: FeatureGraph, *, quiet: bool) -> tuple[tuple[str, str, int], ...]:
    """`violations` of training rows, with a warning unless `quiet`."""
    broken = violations(X, graph)
    if broken and not quiet:
        child, parent, n_rows = broken[0]
        warnings.warn(
            f"{sum(n for _, _, n in broken)} cells on {len(broken)} edges break the feature hierarchy; {n_rows} rows "
            f"have {child!r} and lack its parent {parent!r}. Pass close=True to add the missing ancestors.",
            UserWarning,
            stacklevel=3,
        )
    return broken


def constant_roots(X: sparse.csr_array, graph: FeatureGraph) -> np.ndarray:
    """Mask of the roots with descendants that are present in every row: they tell nothing."""
    n_present = np.bincount(X.indices, minlength=X.shape[1])
    is_root = (np.diff(graph.ancestors.indptr) == 0) & (np.diff(graph.descendants.indptr) > 0)
    return is_root & (n_present == X.shape[0])


def close_features(X: sparse.csr_array, ancestors: sparse.csr_array) -> sparse.csr_array:
    """Make every ancestor of a present feature present."""
    present = X.astype(np.int32)
    return pattern(present + present @ ancestors.astype(np.int32))


def presence(data: Dataset) -> sparse.csr_array:
    """Features of a data set as 0/1, whatever its nominal columns call present and absent.

    Parameters
    ----------
    data : Dataset
        Numeric 0/1 columns, or nominal ones of the values 0/1, false/true or no/yes in any order.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.datasets import Dataset
    >>> from ramify.selection.binary_features import presence
    >>> presence(Dataset(np.array([[0.0, 1.0], [1.0, 1.0]]))).toarray().tolist()
    [[False, True], [True, True]]
    """
    X = sparse.csr_array(data.X, dtype=np.float64, copy=True)
    flipped = np.zeros(data.n_features, dtype=bool)
    for column, values in enumerate(data.categories):
        if values is None:
            continue
        words = [str(value).strip().lower() for value in values]
        if len(words) > 2 or not set(words) <= _PRESENT | _ABSENT:
            raise ValueError(
                f"Feature {data.feature_names[column]!r} takes the values {', '.join(map(str, values[:5]))}; features "
                "that form a hierarchy must be binary, 0 (absent) or 1 (present)."
            )
        flipped[column] = words[0] in _PRESENT
    if flipped.any():
        columns = np.flatnonzero(flipped)
        starts = np.arange(data.n_samples + 1) * len(columns)
        ones = (np.ones(starts[-1]), np.tile(columns, data.n_samples), starts)
        X = abs(sparse.csr_array(ones, shape=X.shape) - X)
    return pattern(check_binary(X, data.feature_names))


def column_hierarchy(hierarchy: Hierarchy, names: Sequence[str]) -> Hierarchy:
    """The hierarchy of the columns `names`, in their order; columns it does not hold stand alone.

    Estimators match an array's columns to `hierarchy.names` by position, and this is the hierarchy to give them.

    Examples
    --------
    >>> from ramify.hierarchy import Hierarchy
    >>> from ramify.selection.binary_features import column_hierarchy
    >>> order = Hierarchy.from_edges([("animal", "cat"), ("animal", "dog")])
    >>> column_hierarchy(order, ["dog", "size", "animal"]).parents["dog"]
    ('animal',)
    """
    graph = feature_graph(hierarchy, names)
    parents = sparse.coo_array(graph.parents)
    return Hierarchy(graph.names, np.column_stack([parents.col, parents.row]))
