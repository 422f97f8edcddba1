"""Groups of features that carry the same information, beside single ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import rankdata

from ramify.features import columns_of, learn_features
from ramify.features.frames import column_names
from ramify.hierarchy import Hierarchy
from ramify.parameters import check_integer, check_real
from ramify.ranking.feature_ranking import FeatureRanking

if TYPE_CHECKING:
    import pandas as pd

_MOST_FEATURES = 20_000


def correlation_groups(X: Any, *, threshold: float = 0.9) -> dict[str, np.ndarray]:
    """Groups of features any two of which are rank-correlated.

    Parameters
    ----------
    X : array, CSR, CSC or frame of shape (n_samples, n_features)
        Features; missing values count as the feature's median rank, nominal ones by their codes.
    threshold : float, default=0.9
        Smallest absolute Spearman correlation of two features of a group.

    Returns
    -------
    dict of str to ndarray
        Positions of the features of each group, named by its first one; a feature is in one group.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.ranking import correlation_groups
    >>> x = np.arange(10.0)
    >>> correlation_groups(np.column_stack([x, -x, x % 3]))
    {'x0': array([0, 1]), 'x2': array([2])}
    """
    check_real("correlation_groups", "threshold", threshold, low=0, high=1, open_low=True)
    values = learn_features(columns_of("correlation_groups"), X, "from_dtype").values
    names = column_names(X)
    if len(names) > _MOST_FEATURES:
        raise ValueError(
            f"correlation_groups compares all pairs of features; {len(names)} are too many. Take the top of a ranking "
            f"first, at most {_MOST_FEATURES}."
        )
    if len(names) == 1:
        return {names[0]: np.array([0])}
    dense = values.toarray() if sparse.issparse(values) else np.asarray(values, dtype=np.float64)
    apart = 1 - np.abs(rank_correlations(dense))
    np.fill_diagonal(apart, 0)
    group = fcluster(linkage(squareform(apart, checks=False), "complete"), 1 - threshold + 1e-12, "distance")
    members = [np.flatnonzero(group == number) for number in np.unique(group)]
    return {names[own[0]]: own for own in sorted(members, key=lambda own: own[0])}


def subtree_groups(names: Sequence[str], feature_hierarchy: Hierarchy, *, depth: int = 2) -> dict[str, np.ndarray]:
    """Groups of features that lie below the same term of a feature hierarchy.

    Parameters
    ----------
    names : sequence of str
        Names of the features.
    feature_hierarchy : Hierarchy
        Hierarchy of the features; features that it does not know are in no group.
    depth : int, default=2
        Longest path from a root to the terms that head the groups, counted in terms; roots have depth 1.

    Returns
    -------
    dict of str to ndarray
        Positions of the features of each group, named by its head. In a DAG a feature may be in several groups.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.ranking import subtree_groups
    >>> terms = Hierarchy.from_paths(["a/b/c", "a/d"])
    >>> subtree_groups(["a/b", "a/b/c", "a/d"], terms)
    {'a/b': array([0, 1]), 'a/d': array([2])}
    """
    check_integer("subtree_groups", "depth", depth, low=1)
    heads = [
        name for name, own in zip(feature_hierarchy.names, _levels(feature_hierarchy), strict=True) if own == depth
    ]
    positions: dict[str, list[int]] = {}
    for position, name in enumerate(names):
        positions.setdefault(name, []).append(position)
    groups = {}
    for head in heads:
        below = (head, *feature_hierarchy.descendants(head))
        own = sorted(position for name in below for position in positions.get(name, ()))
        if own:
            groups[head] = np.array(own, dtype=np.int64)
    return groups


def group_frame(ranking: FeatureRanking, groups: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Ranks of groups beside the ranks of their best features.

    Features that carry the same information share their importance, so each of them alone may look unimportant.

    Parameters
    ----------
    ranking : FeatureRanking
        The ranking of the single features.
    groups : mapping of str to positions
        From `correlation_groups` or `subtree_groups`.

    Returns
    -------
    DataFrame
        One row per group, best first: group, rank, score (sum of the positive scores), number of features, best feature
        and its rank.

    Examples
    --------
    >>> from ramify.ranking import FeatureRanking
    >>> from ramify.ranking.groups import group_frame
    >>> ranking = FeatureRanking(["a", "a2", "b"], [2, 2, 3])
    >>> group_frame(ranking, {"a, a2": [0, 1], "b": [2]})["group"].tolist()
    ['a, a2', 'b']
    """
    import pandas as pd

    positive = np.maximum(0.0, ranking.scores)
    scores = np.array([positive[own].sum() for own in groups.values()])
    best = [own[np.argmin(ranking.ranks[own])] for own in groups.values()]
    frame = pd.DataFrame(
        {
            "group": list(groups),
            "rank": rankdata(-scores, method="min").astype(int) if len(groups) else [],
            "score": scores,
            "n_features": [len(own) for own in groups.values()],
            "best_feature": [ranking.names[j] for j in best],
            "best_rank": [int(ranking.ranks[j]) for j in best],
        }
    )
    return frame.sort_values(["rank", "best_rank"], kind="stable", ignore_index=True)


def rank_correlations(values: np.ndarray) -> np.ndarray:
    """Spearman correlations of all columns; a missing value counts as the median rank."""
    unit = standardised_ranks(values)
    return np.clip(unit.T @ unit, -1, 1)


def standardised_ranks(values: np.ndarray) -> np.ndarray:
    """Ranks of each column, of mean 0 and length 1 (0 if constant); a missing value counts as the median rank."""
    ranks = np.empty_like(values)
    for j, column in enumerate(values.T):
        known = ~np.isnan(column)
        ranks[known, j] = rankdata(column[known])
        ranks[~known, j] = np.median(ranks[known, j]) if known.any() else 0.0
    centred = ranks - ranks.mean(axis=0)
    length = np.sqrt((centred**2).sum(axis=0))
    return np.divide(centred, length, out=np.zeros_like(centred), where=length > 0)


def _levels(hierarchy: Hierarchy) -> np.ndarray:
    """Longest path from a root to each node, counted in nodes."""
    level = np.ones(len(hierarchy), dtype=np.int64)
    for node in hierarchy.topological_order.tolist():
        for parent in hierarchy.parents[hierarchy.names[node]]:
            level[node] = max(level[node], level[hierarchy.index(parent)] + 1)
    return level
