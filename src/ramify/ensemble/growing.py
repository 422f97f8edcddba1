"""From checked features and encoded targets to trees: here or, block by block, on the workers of a joblib backend."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from joblib import Parallel, delayed
from joblib.parallel import BACKENDS, get_active_backend
from scipy import sparse

from ramify import _core
from ramify.ensemble import pickling  # noqa: F401
from ramify.features import Features
from ramify.features.coded_table import CodedTable
from ramify.parameters import worker_count
from ramify.progress import progress_bar
from ramify.targets.target import KernelRows

_LOCAL_BACKENDS = ("loky", "multiprocessing", "threading", "sequential")


@runtime_checkable
class TableForest(Protocol):
    """A forest that learns single labels on features that were coded once for all of them."""

    bootstrap: bool
    max_bins: int | None
    n_jobs: int | None

    def learn_label(
        self, table: _core.FeatureTable, categories: list[Any], has: np.ndarray, weights: np.ndarray | None
    ) -> Any:
        """Grow on coded features, of which some have the given nominal values, for one label of 0 and 1."""


def feature_table(features: Features, *, max_bins: int | None = None, n_jobs: int | None = None) -> _core.FeatureTable:
    """Code features by rank, once for every forest that is grown on them.

    Parameters
    ----------
    features : Features
        What `learn_features` returns.
    max_bins : int or None, default=None
        Bins per numeric feature; None keeps every distinct value.
    n_jobs : int or None, default=None
        Threads, as joblib counts them.
    """
    if isinstance(features.values, CodedTable):
        return _checked_bins(features.values, max_bins)
    options: dict[str, Any] = {
        "n_categories": features.n_categories,
        "max_bins": max_bins or 0,
        "n_threads": worker_count(n_jobs),
    }
    values = features.values
    if features.is_sparse:
        return _core.FeatureTable(values.data, values.indices, values.indptr, n_rows=values.shape[0], **options)
    return _core.FeatureTable(values, **options)


def _checked_bins(coded: CodedTable, max_bins: int | None) -> _core.FeatureTable:
    """The codes as they are, if they are no finer than they may be."""
    finest = max((len(edges) + 1 for edges in coded.cuts.edges), default=0)
    if max_bins is not None and finest > max_bins:
        raise ValueError(
            f"max_bins={max_bins}, but the prepared table has features of {finest} bins, which cannot be changed. "
            "Leave max_bins as it is."
        )
    return coded.table


def feature_rows(features: Features) -> _core.FeatureRows:
    """Rows to send through trees."""
    values = features.values
    if isinstance(values, CodedTable):
        return _core.FeatureRows(values.table)
    if not features.is_sparse:
        return _core.FeatureRows(values)
    rows = sparse.csr_array(values)
    return _core.FeatureRows(rows.data, rows.indices, rows.indptr, n_features=rows.shape[1])


def grow(
    features: Features | _core.FeatureTable,
    target: KernelRows,
    growth: _core.Growth,
    *,
    max_bins: int | None = None,
    sample_weight: np.ndarray | None = None,
    row_groups: np.ndarray | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> _core.Forest:
    """Grow trees; the bits do not depend on where or on how many threads.

    Parameters
    ----------
    features : Features or FeatureTable
        What to split on. Features are coded here; where a joblib backend that is not local is active, its workers code
        them and grow blocks of trees.
    target : LabelRows, NumberRows or RankingRows
        What trees are grown for.
    growth : Growth
        How trees are grown.
    max_bins : int or None, default=None
        As in `feature_table`.
    sample_weight : float64 array or None, default=None
        One weight per row.
    row_groups : int64 array or None, default=None
        A number per row; rows of the same enter bags together.
    n_jobs : int or None, default=None
        Threads here, or jobs of the backend.
    verbose : int, default=0
        Show a progress bar if positive.
    """
    work: dict[str, Any] = {"sample_weight": sample_weight, "row_groups": row_groups}
    backend = get_active_backend()[0]
    if isinstance(features, Features) and _is_remote(backend):
        blocks = _blocks(growth, worker_count(n_jobs))
        data = _sent_once(backend, _Data(features, target, max_bins, work))
        parts = Parallel(n_jobs=worker_count(n_jobs), verbose=verbose)(
            delayed(_grow_block)(data, block) for block in blocks
        )
        return _core.Forest.concatenate(list(parts))
    n_threads = worker_count(n_jobs)
    table = feature_table(features, max_bins=max_bins, n_jobs=n_jobs) if isinstance(features, Features) else features
    with progress_bar(growth.n_trees, verbose) as progress:
        return _core.grow(table, target, growth, **work, n_threads=n_threads, progress=progress)


def _is_remote(backend: Any) -> bool:
    local = tuple(BACKENDS[name] for name in _LOCAL_BACKENDS if name in BACKENDS)
    return not isinstance(backend, local)


def _blocks(growth: _core.Growth, n_workers: int) -> list[_core.Growth]:
    n_blocks = min(growth.n_trees, max(1, n_workers))
    edges = np.linspace(0, growth.n_trees, n_blocks + 1).astype(int).tolist()
    return [growth.part(start, stop) for start, stop in itertools.pairwise(edges)]


@dataclass(frozen=True)
class _Data:
    """What every block of trees is grown on."""

    features: Features
    target: KernelRows
    max_bins: int | None
    work: dict[str, Any]


def _sent_once(backend: Any, data: _Data) -> Any:
    """The data, or where the backend has a Dask client, what its workers know it by: they pass it on by themselves."""
    client = getattr(backend, "client", None)
    return data if client is None else client.scatter([data], hash=False)[0]


def _grow_block(data: _Data, block: _core.Growth) -> _core.Forest:
    table = feature_table(data.features, max_bins=data.max_bins)
    return _core.grow(table, data.target, block, **data.work, n_threads=1, progress=None)
