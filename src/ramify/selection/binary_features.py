"""Binary feature columns that form a hierarchy: checking, matching by name, violations and closure."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from ramify.hierarchy import Hierarchy
from ramify.selection.feature_graph import FeatureGraph, pattern
from ramify.selection.relevance import check_binary


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
    checked = check_binary(validate_data(estimator, X, reset=reset, accept_sparse=["csr", "csc"], dtype="numeric"))
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
    found = violations(X, graph)
    if found and not quiet:
        child, parent, n_rows = found[0]
        warnings.warn(
            f"{sum(n for _, _, n in found)} cells on {len(found)} edges break the feature hierarchy; {n_rows} rows "
            f"have {child!r} and lack its parent {parent!r}. Pass close=True to add the missing ancestors.",
            UserWarning,
            stacklevel=3,
        )
    return found


def constant_roots(X: sparse.csr_array, graph: FeatureGraph) -> np.ndarray:
    """Mask of the roots with descendants that are present in every row: they tell nothing."""
    n_present = np.bincount(X.indices, minlength=X.shape[1])
    is_root = (np.diff(graph.ancestors.indptr) == 0) & (np.diff(graph.descendants.indptr) > 0)
    return is_root & (n_present == X.shape[0])


def close_features(X: sparse.csr_array, ancestors: sparse.csr_array) -> sparse.csr_array:
    """Make every ancestor of a present feature present."""
    present = X.astype(np.int32)
    return pattern(present + present @ ancestors.astype(np.int32))
