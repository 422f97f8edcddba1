"""Features whose names are paths: their hierarchy, and columns for its inner nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from scipy import sparse

from ramify.datasets.dataset import Dataset
from ramify.hierarchy import Hierarchy

Branches = Literal["sum", "mean", "max"]
BRANCHES: tuple[Branches, ...] = ("sum", "mean", "max")

_SIGNS = (";", "|", " > ", ">", "::")
"""What separates the steps of a name. Points and slashes stand in names such as `mg/dl` and are none."""
_FEWEST = 4


def path_separator(names: Sequence[str]) -> str | None:
    """The sign at which most names fall into steps, where a node above leaves has two of them on average.

    Examples
    --------
    >>> from ramify.datasets.feature_paths import path_separator
    >>> path_separator(["age", "meta|diet|fibre", "meta|diet|fat", "meta|sleep|hours", "meta|sleep|naps"])
    '|'
    >>> path_separator(["age", "height", "glucose|fasting"]) is None
    True
    """
    for sign in _SIGNS:
        paths = [tuple(name.split(sign)) for name in names if sign in name]
        if len(paths) < _FEWEST or 2 * len(paths) < len(names) or not all(all(path) for path in paths):
            continue
        inner = {path[:depth] for path in paths for depth in range(1, len(path))}
        leaves = {path for path in paths if path not in inner}
        if 2 * len({path[:-1] for path in leaves}) <= len(leaves):
            return sign
    return None


def with_feature_paths(data: Dataset) -> Dataset:
    """The data with the hierarchy that the names of features tell, and a note; unchanged where they tell none."""
    sign = path_separator(data.feature_names)
    if sign is None:
        return data
    paths = [name for name in data.feature_names if sign in name]
    known = set(data.feature_names)
    tree = Hierarchy.from_paths(dict.fromkeys(paths), separator=sign)
    n_inner = sum(name not in known for name in tree.names)
    note = (
        f"The names of {len(paths)} features are paths, with steps separated by {sign!r}: they form a feature hierarchy"
        f" with {n_inner} inner nodes, which add_branches='sum' (--add-branches sum) adds as features."
    )
    return replace(data, feature_hierarchy=tree, notes=(*data.notes, note))


def with_branches(data: Dataset, how: Branches) -> Dataset:
    """The data with a feature for each inner node of the feature hierarchy: of the numeric features right below it.

    A feature that lies below another one is counted by that one alone.
    """
    tree = data.feature_hierarchy
    if tree is None:
        raise ValueError(
            "add_branches (--add-branches) needs a feature hierarchy: name its file, or features by paths such as a|b."
        )
    position = {name: j for j, name in reversed(list(enumerate(data.feature_names)))}
    members: dict[str, list[int]] = {}
    for name in tree.names:
        below = [] if name in position else sorted(_below(tree, name, position))
        if numeric := [j for j in below if data.categories[j] is None]:
            members[name] = numeric
    columns = [_joined(data.X, own, how) for own in members.values()]
    if sparse.issparse(data.X):
        X = sparse.csc_array(sparse.hstack([data.X, *(sparse.csc_array(c[:, None]) for c in columns)], format="csc"))
    else:
        X = np.column_stack([np.asarray(data.X), *columns])
    note = f"{len(members)} inner nodes of the feature hierarchy are features: the {how} of those below them."
    return replace(
        data,
        X=X,
        feature_names=(*data.feature_names, *members),
        categories=(*data.categories, *(None for _ in members)),
        notes=(*data.notes, note),
    )


def _below(tree: Hierarchy, name: str, position: dict[str, int]) -> set[int]:
    """The features below a node that lie below no other feature which lies there."""
    found: set[int] = set()
    seen = {name}
    waiting = list(tree.children[name])
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if node in position:
            found.add(position[node])
        else:
            waiting += tree.children[node]
    return found


def _joined(X: Any, own: list[int], how: Branches) -> np.ndarray:
    """Sum, mean or maximum of some columns over the cells that are known; missing where none is."""
    values = X[:, own].toarray() if sparse.issparse(X) else np.asarray(X)[:, own]
    unknown = np.isnan(values)
    if how == "max":
        joined = np.where(unknown, -np.inf, values).max(axis=1)
    else:
        joined = np.where(unknown, 0.0, values).sum(axis=1)
        joined = joined / np.maximum(1, (~unknown).sum(axis=1)) if how == "mean" else joined
    return np.where(unknown.all(axis=1), np.nan, joined)
