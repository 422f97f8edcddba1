"""The kernels' array boundary: whatever reaches the bindings, the answer is a result or an error, never a signal."""

import os
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from ramify import _core

N_CALLS = 2_000


def base_calls() -> dict:
    """One valid call of each kernel that takes arrays, as positional and keyword arguments."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    X[::9, 1] = np.nan
    X[:, 3] = rng.integers(0, 3, 40)
    n_categories = np.array([0, 0, 0, 3, 0], dtype=np.int32)
    columns = sparse.csc_array(rng.random((40, 5)) * (rng.random((40, 5)) < 0.3))
    rows = sparse.csr_array(columns)
    Y = sparse.csr_array(rng.integers(0, 2, (40, 4)))
    indptr, indices = Y.indptr.astype(np.int64), Y.indices.astype(np.int32)
    weights = np.ones(4)
    table = _core.code_dense(X, n_categories=n_categories, max_bins=0, n_threads=1)
    growth = {
        "rows": np.arange(30, dtype=np.int64),
        "sample_weight": np.ones(40),
        "seed": 1,
        "first_tree": 0,
        "n_trees": 2,
        "max_features": 2,
        "bootstrap": True,
        "random_splits": False,
        "max_depth": -1,
        "min_samples_split": 2,
        "min_samples_leaf": 1,
        "min_impurity_decrease": 0.0,
        "min_weight_fraction_leaf": 0.0,
        "n_threads": 1,
        "progress": None,
    }
    forest = _core.grow_labels(table, indptr, indices, weights, **growth)
    dense = _core.dense_rows(X)
    return {
        "code_dense": ((X,), {"n_categories": n_categories, "max_bins": 0, "n_threads": 1}),
        "code_sparse": (
            (columns.data, columns.indices, columns.indptr),
            {"n_rows": 40, "n_categories": n_categories, "max_bins": 0, "n_threads": 1},
        ),
        "grow_labels": ((table, indptr, indices, weights), growth),
        "grow_numbers": ((table, np.ascontiguousarray(X[:, :2]), np.ones(2)), growth),
        "dense_rows": ((X,), {}),
        "csr_rows": ((rows.data, rows.indices, rows.indptr), {"n_features": 5}),
        "predict": ((forest, dense), {"first_row": 0, "last_row": 40, "n_threads": 1}),
        "apply": ((forest, dense), {"n_threads": 1}),
        "contributions": ((forest, dense), {"output": 1, "n_threads": 1}),
        "genie3_per_output": ((forest,), {"output_weights": weights, "n_threads": 1}),
        "forest_from_arrays": ((), {"outcome": "labels", "n_outputs": 4, "arrays": forest.arrays()}),
    }


def mutate(value, rng):
    """Something else in the place of an argument: another shape, type, layout or extreme values."""
    if isinstance(value, dict):
        name = sorted(value)[rng.integers(len(value))]
        return {**value, name: mutate(value[name], rng)}
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return int(rng.choice([-(2**31), -1, 0, 1, 2, 3, 41]))
    if isinstance(value, float):
        return float(rng.choice([-1.0, np.nan, np.inf, 1e308]))
    if not isinstance(value, np.ndarray):
        return value
    with np.errstate(all="ignore"):
        return _mutated_array(value.copy(), rng)


def _mutated_array(changed, rng):
    kind = rng.integers(8)
    if kind == 0:
        return changed[: rng.integers(len(changed) + 1)]
    if kind == 1:
        return changed.astype(rng.choice(["f4", "f8", "i4", "i8", "u1", "O"]))
    if kind == 2:
        return np.concatenate([changed, changed])
    if kind == 3:
        return changed[::-1]
    if kind == 4:
        return changed.reshape(-1) if changed.ndim > 1 else changed[:, None]
    if changed.size:
        at = rng.integers(changed.size, size=rng.integers(1, 4))
        extreme = [np.nan, np.inf, -1e308, 1e308, -1, 7] if changed.dtype.kind == "f" else [-(2**31), -1, 2**31 - 1, 99]
        if changed.dtype.kind == "u":
            extreme = [0, 2, np.iinfo(changed.dtype).max]
        changed.reshape(-1)[at] = rng.choice(np.array(extreme, dtype=changed.dtype), size=len(at))
    return changed


def call_mutants(first: int, last: int) -> list[str]:
    """Call kernels with mutated arguments; the foreign errors that came back."""
    calls = base_calls()
    names = sorted(calls)
    foreign = []
    for seed in range(first, last):
        rng = np.random.default_rng(seed)
        name = names[seed % len(names)]
        positional, keywords = calls[name]
        arguments = list(positional)
        options = dict(keywords)
        for _ in range(rng.integers(1, 3)):
            place = rng.integers(len(arguments) + len(options))
            if place < len(arguments):
                arguments[place] = mutate(arguments[place], rng)
            else:
                key = sorted(options)[place - len(arguments)]
                options[key] = mutate(options[key], rng)
        try:
            getattr(_core, name)(*arguments, **options)
        except (ValueError, TypeError, OverflowError, MemoryError):
            pass
        except BaseException:
            foreign.append(f"{name}, seed {seed}: {traceback.format_exc(limit=1)}")
    return foreign


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the calls run in a forked process")
def test_hostile_arrays_never_kill_the_process(tmp_path, scorecard):
    step = 250
    for first in range(0, N_CALLS, step):
        log = Path(tmp_path) / f"{first}.txt"
        child = os.fork()
        if child == 0:
            try:
                log.write_text("\n".join(call_mutants(first, first + step)), encoding="utf-8")
            finally:
                sys.stdout.flush()
                os._exit(0 if log.exists() else 1)
        _, status = os.waitpid(child, 0)
        assert not os.WIFSIGNALED(status), f"signal {os.WTERMSIG(status)} among the seeds {first} to {first + step}"
        assert os.WEXITSTATUS(status) == 0
        assert log.read_text(encoding="utf-8") == ""
    scorecard("R9", f"{N_CALLS:,} calls of the kernels with hostile arrays: 0 crashes, 0 foreign errors")
