"""Units of claims: features, and groups of features that the data cannot tell apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform
from threadpoolctl import threadpool_limits

from ramify.parameters import worker_count
from ramify.ranking.discovery.checkpoint import Checkpoint
from ramify.ranking.discovery.predictors import Predictors
from ramify.ranking.discovery.redraw import (
    ColumnModel,
    column_model,
    draw_column,
    draw_group,
    shuffled_rows,
    unit_residual,
)
from ramify.ranking.groups import standardised_ranks

_NEAR = 0.1
"""Largest mean distance 1 - |Spearman| within a group."""

_DETERMINED = 0.9
_MOST_MEMBERS = 10
_WORTH_PROCESSES = 15_000
"""Models times rows from which on processes start: much of the work is Python's, of which threads do one at a time."""

_AT_ONCE = 1000
"""So many features are compared with all others at a time."""


@dataclass(frozen=True)
class Unit:
    """One or more features that are redrawn and claimed together.

    Attributes
    ----------
    features : tuple of int
        Positions of the features, ascending.
    models : tuple of ColumnModel
        What the other features say about each; empty where columns are drawn given nothing.
    doubt : str
        Why no claim can be made of it; empty if one can.
    """

    features: tuple[int, ...]
    models: tuple[ColumnModel, ...] = ()
    doubt: str = ""

    def draw(self, predictors: Predictors, n_draws: int, seed: int) -> np.ndarray:
        """Redrawn columns: draws x features x rows."""
        random = np.random.default_rng([seed, 1, self.features[0]])
        features = list(self.features)
        drawn = []
        for _ in range(n_draws):
            if not self.models:
                columns = shuffled_rows(predictors.values[:, features], random)
            elif len(features) == 1:
                columns = draw_column(self.models[0], random)[:, None]
            else:
                columns = draw_group(predictors.values[:, features], list(self.models), random)
            drawn.append(columns.T)
        return np.array(drawn)

    def residual(self, n_rows: int) -> np.ndarray:
        """What the others leave unexplained: zeros where columns are drawn given nothing."""
        return unit_residual(list(self.models)) if self.models else np.zeros(n_rows)


def correlated_features(predictors: Predictors) -> list[tuple[int, ...]]:
    """Groups of numeric features by average linkage of 1 - |Spearman|; every feature is in one.

    A group that average linkage makes at a distance is connected by pairs that are at most as far apart, so that only
    connected features are compared all with all: any number of features fits into memory.
    """
    n_features = predictors.n_features
    numeric = np.flatnonzero(predictors.n_categories == 0)
    found = {(feature,) for feature in range(n_features) if predictors.n_categories[feature]}
    ranked = standardised_ranks(predictors.values[:, numeric]).astype(np.float32)
    links = [_near_pairs(ranked, first) for first in range(0, len(numeric), _AT_ONCE)]
    pairs = np.concatenate([np.empty((0, 2), dtype=np.int64), *links])
    graph = sparse.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(numeric), len(numeric)))
    component = connected_components(graph, directed=False)[1] if len(numeric) else np.empty(0, dtype=np.int64)
    order = np.argsort(component, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(component[order])) + 1):
        if len(members) < 2:
            found |= {(int(numeric[member]),) for member in members}
            continue
        own = ranked[:, members].astype(np.float64)
        apart = np.clip(1 - np.abs(own.T @ own), 0, None)
        np.fill_diagonal(apart, 0)
        group = fcluster(linkage(squareform(apart, checks=False), "average"), _NEAR, "distance")
        found |= {tuple(np.sort(numeric[members[group == number]]).tolist()) for number in np.unique(group)}
    return sorted(found)


def _near_pairs(ranked: np.ndarray, first: int) -> np.ndarray:
    """Pairs of columns, the first of them from a block, that a group may hold side by side."""
    near = np.argwhere(np.abs(ranked[:, first : first + _AT_ONCE].T @ ranked) >= 1 - _NEAR - 1e-5)
    near[:, 0] += first
    return near[near[:, 0] < near[:, 1]]


def modelled_units(
    predictors: Predictors,
    groups: list[tuple[int, ...]],
    wanted: list[tuple[int, ...]],
    *,
    merge: bool,
    seed: int,
    n_jobs: int | None,
    done: Callable[[int], None] | None,
    checkpoint: Checkpoint | None = None,
) -> list[Unit]:
    """Learn how to redraw groups; those that others determine merge with the nearest.

    Parameters
    ----------
    predictors : Predictors
        The features.
    groups : list of tuple of int
        All units. They may share features where they do not merge.
    wanted : list of tuple of int
        Those that need a model.
    merge : bool
        Whether units may merge.
    seed : int
        Of the forests.
    n_jobs : int or None
        Models that are learnt at a time; the result is the same for any number.
    done : callable or None
        Told how many units are done.
    checkpoint : Checkpoint or None
        Where models are kept, of these features.
    """
    unit_of = {feature: group for group in groups for feature in group}
    finished: dict[tuple[int, ...], Unit] = {}
    waiting = list(wanted)
    predictors.prepare()
    n_done = 0
    while waiting:
        of_group = [(feature, group) for group in waiting for feature in _modelled_of(group, predictors)]
        n_workers = worker_count(n_jobs)
        shared = None if n_workers > 2 and len(of_group) * predictors.n_rows >= _WORTH_PROCESSES else "sharedmem"
        parallel = Parallel(n_jobs=n_workers, require=shared, return_as="generator")
        learnt = parallel(delayed(_model)(predictors, *which, seed, checkpoint) for which in of_group)
        merged: list[tuple[int, ...]] = []
        for group in waiting:
            models = tuple(next(learnt) for _ in _modelled_of(group, predictors))
            if merge and unit_of[group[0]] != group:  # has merged since
                continue
            n_done += 1
            if done is not None:
                done(min(n_done, len(wanted)))
            unit, partner = _unit_or_partner(group, models, unit_of, merge)
            if unit is not None:
                finished[group] = unit
                continue
            union = tuple(sorted({*group, *partner}))
            for member in union:
                finished.pop(unit_of[member], None)
                unit_of[member] = union
            merged.append(union)
        waiting = [group for group in merged if unit_of[group[0]] == group]
    # Units that share features go by size: kernels take units side by side that share none.
    return [finished[group] for group in sorted(finished, key=None if merge else lambda group: (len(group), group))]


def _model(
    predictors: Predictors, feature: int, group: tuple[int, ...], seed: int, checkpoint: Checkpoint | None
) -> ColumnModel:
    """A model of a feature given those outside of its group, on one thread."""

    def learnt() -> ColumnModel:
        with threadpool_limits(limits=1, user_api="blas"):
            return column_model(predictors, feature, set(group), seed=seed + feature)

    if checkpoint is None:
        return learnt()
    return ColumnModel.from_arrays(checkpoint.piece(f"{feature} without {group}", lambda: learnt().arrays()))


def _modelled_of(group: tuple[int, ...], predictors: Predictors) -> tuple[int, ...]:
    """The features of a group, none where it holds all there are and is drawn given nothing."""
    return group if len(group) < predictors.n_features else ()


def _unit_or_partner(
    group: tuple[int, ...], models: tuple[ColumnModel, ...], unit_of: dict[int, tuple[int, ...]], merge: bool
) -> tuple[Unit | None, tuple[int, ...]]:
    """A unit, or the group that it has to merge with because other features determine it."""
    strongest = max(models, key=lambda model: model.explained, default=None)
    if strongest is None or strongest.explained < _DETERMINED:
        return Unit(group, models), ()
    if not merge and min(model.explained for model in models) < _DETERMINED:
        return Unit(group, models), ()
    partner = unit_of.get(strongest.partner, ())
    if not merge or strongest.partner < 0 or len({*group, *partner}) > _MOST_MEMBERS:
        share = f"{100 * strongest.explained:.0f} %"
        return Unit(group, models, f"not separable: other features explain {share} of it"), ()
    return None, partner
