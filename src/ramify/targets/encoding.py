"""What y is, decided once: the kind of a target and the type that encodes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ramify.features.frames import as_array, refuse_broken
from ramify.hierarchy import Hierarchy
from ramify.targets.known_cells import as_numbers, holds_only_0_and_1, known_part, refuse_missing
from ramify.targets.labels import ClassTarget, HierarchyTarget, LabelTarget, encode_labels
from ramify.targets.mixed import MixedTarget, columns_of_mixed, encode_mixed, is_nominal
from ramify.targets.numbers import NumberTarget, encode_numbers, refuse_dates
from ramify.targets.ranking_target import RankingTarget, encode_rankings
from ramify.targets.target import Target

TARGETS: dict[str, type[Target]] = {
    "classes": ClassTarget,
    "labels": LabelTarget,
    "hierarchy": HierarchyTarget,
    "numbers": NumberTarget,
    "rankings": RankingTarget,
    "mixed": MixedTarget,
}
"""The type of each kind of target."""

KINDS = ("auto", *TARGETS)
"""What a caller may say that y is; label sets with a hierarchy are hierarchical whatever is said."""

MEASURED_KINDS = tuple(kind for kind, made in TARGETS.items() if made.measure)
"""Kinds whose predictions can be measured."""


def encode(
    y: Any,
    *,
    kind: str = "auto",
    hierarchy: Hierarchy | None = None,
    value_hierarchies: Mapping[str, Hierarchy] | None = None,
    weights: Any = None,
    sample_weight: np.ndarray | None = None,
    n_samples: int | None = None,
    partly_known: bool = False,
) -> Target:
    """Check a target and encode it as what it is.

    Parameters
    ----------
    y : array, CSR or frame
        The target.
    kind : {"auto", "classes", "labels", "hierarchy", "numbers", "rankings", "mixed"}, default="auto"
        What y is. "auto" decides: with a hierarchy, or sparse, y is label sets; one column with fractions is numbers,
        any other classes; several columns of 0 and 1 are label sets, of other numbers numbers. (A matrix of a single
        0/1 column is a label set of one label.) Rankings and mixed targets must be named.
    hierarchy : Hierarchy, optional
        Hierarchy of the labels.
    value_hierarchies : mapping of str to Hierarchy, optional
        For mixed targets, by name: columns whose values are nodes of a hierarchy.
    weights : array of shape (n_outputs,), optional
        Weights of the labels or numbers in the impurity.
    sample_weight : array of shape (n_samples,), optional
        Weights of the rows, by which numbers are standardised.
    n_samples : int, optional
        Number of rows that y must have.
    partly_known : bool, default=False
        Whether label sets and several numbers may hold NaN, which is unknown; else it is refused.

    Returns
    -------
    ClassTarget, LabelTarget, NumberTarget, RankingTarget or MixedTarget

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.targets import encode
    >>> [encode(y).kind for y in (["a", "b"], [0.5, 1], np.eye(2), np.array([[1, 2], [3, 4]]))]
    ['classes', 'numbers', 'labels', 'numbers']
    """
    if kind not in KINDS:
        raise ValueError(f"The kind of a target must be one of {', '.join(map(repr, KINDS))}. Got {kind!r} instead.")
    refuse_broken("y", y)
    if kind == "auto":
        kind = kind_of(y, hierarchy)
    if kind == "hierarchy" and hierarchy is None:
        raise ValueError("Hierarchical label sets need their hierarchy. Pass it, or say 'labels'.")
    if hierarchy is not None and not target_type(kind).has_sets:
        raise ValueError(f"A hierarchy orders label sets, but 'target' is {kind!r}. Leave one of them out.")
    if kind == "mixed":
        return encode_mixed(y, value_hierarchies=value_hierarchies, sample_weight=sample_weight, n_samples=n_samples)
    if kind == "numbers":
        return encode_numbers(
            y, target_weight=weights, sample_weight=sample_weight, n_samples=n_samples, partly_known=partly_known
        )
    if kind == "rankings":
        return encode_rankings(y, n_samples=n_samples)
    target = encode_labels(y, hierarchy=hierarchy, label_weight=weights, n_samples=n_samples, partly_known=partly_known)
    if kind != "classes" and not target.has_sets:
        raise ValueError("Label sets are a 0/1 matrix with one column per label. Got one column of classes.")
    if kind == "classes" and target.has_sets:
        raise ValueError("Classes are one value per row. Got a matrix; say 'labels' or 'mixed'.")
    return target


def kind_of(y: Any, hierarchy: Any = None) -> str:
    """What y is, by its values; as `encode` decides for "auto".

    Parameters
    ----------
    y : array, CSR or frame
        The target.
    hierarchy : Hierarchy, optional
        Hierarchy of the labels.

    Returns
    -------
    {"classes", "labels", "numbers"}

    Examples
    --------
    >>> from ramify.targets import kind_of
    >>> kind_of([1, 2, 3]), kind_of([1.5, 2, 3]), kind_of([[1, 2], [3, 4]])
    ('classes', 'numbers', 'numbers')
    """
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    if hierarchy is not None or sparse.issparse(y):
        return "labels"
    array = as_array(y)
    refuse_dates(array)
    if array.ndim == 2 and array.shape[1] > 1:
        array = as_numbers(array)
        if array.dtype.kind not in "biuf" and any(is_nominal(column) for column in columns_of_mixed(y)):
            raise ValueError(
                "y has several columns and not all hold numbers. Say that it is 'mixed' to take them side by side, as "
                "MixedForest and ReliefRanker(target='mixed') do, or fit one estimator per column."
            )
        return "labels" if holds_only_0_and_1(known_part(array)) else "numbers"
    if array.ndim == 2 and holds_only_0_and_1(known_part(array)):
        return "labels"
    refuse_missing(array)
    return "numbers" if array.dtype.kind == "f" and (array != np.round(array)).any() else "classes"


def target_type(kind: str | None) -> type[Target]:
    """The type of a kind of target, which answers what is asked of the kind alone.

    Examples
    --------
    >>> from ramify.targets import target_type
    >>> target_type("hierarchy").has_sets, target_type("numbers").forest
    (True, 'ForestRegressor')
    """
    if kind not in TARGETS:
        raise ValueError(f"There is no kind of target {kind!r}; kinds are {', '.join(TARGETS)}.")
    return TARGETS[kind]
