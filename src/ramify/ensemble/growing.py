"""From checked features and encoded targets to trees: here or, block by block, on the workers of a joblib backend."""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import BACKENDS, get_active_backend
from scipy import sparse

from ramify import _core
from ramify.ensemble import pickling  # noqa: F401
from ramify.features import Features
from ramify.progress import progress_bar

_LOCAL_BACKENDS = ("loky", "multiprocessing", "threading", "sequential")


@dataclass(frozen=True)
class Growth:
    """How trees are grown, in the words of the kernels."""

    seed: int
    n_trees: int
    max_features: int
    bootstrap: bool = True
    random_splits: bool = False
    max_depth: int = -1
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_impurity_decrease: float = 0.0
    min_weight_fraction_leaf: float = 0.0
    first_tree: int = 0


MAX_CATEGORIES = 4096
"""Largest number of values of a nominal feature that the kernels take."""


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
    options: dict[str, Any] = {
        "n_categories": features.n_categories,
        "max_bins": max_bins or 0,
        "n_threads": effective_n_jobs(n_jobs),
    }
    values = features.values
    if features.is_sparse:
        return _core.code_sparse(values.data, values.indices, values.indptr, n_rows=values.shape[0], **options)
    return _core.code_dense(values, **options)


def feature_rows(features: Features) -> _core.FeatureRows:
    """Rows to send through trees."""
    values = features.values
    if not features.is_sparse:
        return _core.dense_rows(values)
    rows = sparse.csr_array(values)
    return _core.csr_rows(rows.data, rows.indices, rows.indptr, n_features=rows.shape[1])


def label_arrays(Y: sparse.csr_array, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Label sets and label weights as `grow_labels` takes them."""
    Y.sort_indices()
    return Y.indptr.astype(np.int64), Y.indices.astype(np.int32), np.ascontiguousarray(weights, dtype=np.float64)


def grow(
    kernel: str,
    features: Features | _core.FeatureTable,
    target: tuple[Any, ...],
    growth: Growth,
    *,
    max_bins: int | None = None,
    rows: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    **options: Any,
) -> _core.Forest:
    """Grow trees; the bits do not depend on where or on how many threads.

    Parameters
    ----------
    kernel : str
        Name of the kernel: "grow_labels", "grow_numbers", ...
    features : Features or FeatureTable
        What to split on. Features are coded here; where a joblib backend that is not local is active, its workers code
        them and grow blocks of trees.
    target : tuple of arrays
        The kernel's target arguments.
    growth : Growth
        How trees are grown.
    max_bins : int or None, default=None
        As in `feature_table`.
    rows : int64 array or None, default=None
        Only these rows take part; None takes all.
    sample_weight : float64 array or None, default=None
        One weight per row.
    n_jobs : int or None, default=None
        Threads here, or jobs of the backend.
    verbose : int, default=0
        Show a progress bar if positive.
    **options
        Further keyword arguments of the kernel.
    """
    work: dict[str, Any] = {"rows": rows, "sample_weight": sample_weight, **options}
    if isinstance(features, Features) and _is_remote(get_active_backend()[0]):
        blocks = _blocks(growth, effective_n_jobs(n_jobs))
        parts = Parallel(n_jobs=n_jobs, verbose=verbose)(
            delayed(_grow_block)(kernel, features, target, block, max_bins, work) for block in blocks
        )
        return _core.concatenate(list(parts))
    n_threads = effective_n_jobs(n_jobs)
    table = feature_table(features, max_bins=max_bins, n_jobs=n_jobs) if isinstance(features, Features) else features
    with progress_bar(growth.n_trees, verbose) as progress:
        return getattr(_core, kernel)(table, *target, **asdict(growth), **work, n_threads=n_threads, progress=progress)


def _is_remote(backend: Any) -> bool:
    local = tuple(BACKENDS[name] for name in _LOCAL_BACKENDS if name in BACKENDS)
    return not isinstance(backend, local)


def _blocks(growth: Growth, n_workers: int) -> list[Growth]:
    n_blocks = min(growth.n_trees, max(1, n_workers))
    edges = np.linspace(0, growth.n_trees, n_blocks + 1).astype(int).tolist()
    return [
        replace(growth, first_tree=growth.first_tree + start, n_trees=stop - start)
        for start, stop in itertools.pairwise(edges)
    ]


def _grow_block(
    kernel: str, features: Features, target: tuple[Any, ...], block: Growth, max_bins: int | None, work: dict[str, Any]
) -> _core.Forest:
    table = feature_table(features, max_bins=max_bins)
    return getattr(_core, kernel)(table, *target, **asdict(block), **work, n_threads=1, progress=None)
