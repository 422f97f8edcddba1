"""Forests in blocks of trees on a Dask cluster: what is sent, how long it takes, what workers hold.

    python benchmarks/bench_cluster.py [--rows 20000] [--features 100] [--trees 20] [--write FILE]

Two workers of one thread each are started on this machine and the same forest is grown here, on the cluster, and on the
cluster with the data in every block, in turn. Data are pseudorandom numbers with one label that depends on three of
them. Times are wall-clock seconds of the whole fit, so they depend on what else the machine does; bytes do not. The
forests are checked to be the same bit for bit.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pickle
import platform
import time
from pathlib import Path
from typing import Any

import distributed
import joblib
import numpy as np

import ramify
from ramify.ensemble import ForestClassifier, growing

WORKERS = (1, 2, 8, 64)
PAPER_TREES = 128
NETWORK = 1.25e9  # bytes a second: 10 Gbit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--write", type=Path, default=None)
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(arguments.rows, arguments.features)).astype(np.float32)
    y = ((X[:, :3].sum(axis=1) + rng.normal(size=arguments.rows)) > 0).astype(int)
    lines = measured(X, y, arguments.trees, arguments.repeats)
    text = "\n".join(["# Beyond one machine\n", __doc__.split("\n\n", 2)[2], *lines]) + "\n"
    print(text)
    if arguments.write is not None:
        arguments.write.write_text(text, encoding="utf-8")


def measured(X: np.ndarray, y: np.ndarray, n_trees: int, n_repeats: int) -> list[str]:
    load = os.getloadavg()[0]
    forest = ForestClassifier(n_trees, random_state=0, n_jobs=-1)
    seconds: dict[str, list[float]] = {"here, one thread": [], "cluster, sent once": [], "cluster, in every block": []}
    sizes: dict[str, list[int]] = {name: [] for name in seconds}
    cpu: list[float] = []
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        expected = forest.set_params(n_jobs=1).fit(X, y).predict_proba(X[:500])
        for _ in range(n_repeats):
            for name in seconds:
                with sending(name, sizes[name]):
                    start, cpu_start = time.perf_counter(), time.process_time()
                    grown = forest.set_params(n_jobs=1 if name.startswith("here") else -1).fit(X, y)
                    seconds[name].append(time.perf_counter() - start)
                if name.startswith("here"):
                    cpu.append(time.process_time() - cpu_start)
                if not np.array_equal(grown.predict_proba(X[:500]), expected):
                    raise SystemExit(f"{name}: another forest")
        memory = max(worker["metrics"]["memory"] for worker in client.scheduler_info()["workers"].values())
    one = max(sizes["cluster, sent once"])
    lines = [
        f"Ramify {ramify.__version__}, Python {platform.python_version()}, Dask {distributed.__version__}, "
        f"{os.cpu_count()} cores, load before the run {load:.1f}. {X.shape[0]:,} x {X.shape[1]}, {n_trees} trees, "
        f"median of {n_repeats}.\n",
        "| | seconds | MB sent by the client |",
        "|---|---|---|",
        *(
            f"| {name} | {np.median(times):.2f} | {np.median(sizes[name]) / 1e6 if sizes[name] else 0:.1f} |"
            for name, times in seconds.items()
        ),
        f"\nA worker held at most {memory / 1e6:.0f} MB, Python and its packages included.\n",
        "## On paper\n",
        f"The data of this run are {one / 1e6:.1f} MB as sent: 4 bytes per number and the target. In every block the "
        "client sends them once per worker; sent once, workers pass them on to each other. A worker holds them, their "
        "codes (1, 2 or 4 bytes per number) and its own trees. What follows is arithmetic, not measured:\n",
        "| rows x 100 features | workers | client sends, in every block | sent once | a worker holds at least "
        f"| sending, 10 Gbit | growing {PAPER_TREES} trees |",
        "|---|---|---|---|---|---|---|",
    ]
    a_tree = float(np.median(cpu)) / n_trees / (X.shape[1] ** 0.5 * X.shape[0] * np.log(X.shape[0]))
    for n_rows in (10**6, 10**8):
        size = one / X.shape[0] / X.shape[1] * 100 * n_rows
        held = size + 100 * n_rows * 4
        for n_workers in WORKERS:
            lines.append(
                f"| {n_rows:,} | {n_workers} | {n_workers * size / 1e9:.1f} GB | {size / 1e9:.1f} GB | "
                f"{held / 1e9:.1f} GB | {shown(size / NETWORK * (1 + np.log2(n_workers)))} | "
                f"{shown(a_tree * 10 * n_rows * np.log(n_rows) * PAPER_TREES / n_workers)} |"
            )
    lines.append(
        "\nSending takes one pass of the data to the first worker and one more each time the workers that have them "
        f"double. Growing starts from the {np.median(cpu) / n_trees:.2f} CPU seconds that a tree of this run took on "
        "one thread, coding included, and follows rows x log(rows) x the root of the features; beyond the caches it is "
        "slower than that. Trees are cut into as many blocks as there are threads in the cluster, so growing takes the "
        "time of one block; with more workers than trees it no longer falls. At 10^8 rows a worker must hold the whole "
        "table: this spreads trees, not rows."
    )
    return lines


def shown(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 90:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


@contextlib.contextmanager
def sending(name: str, sizes: list[int]) -> Any:
    """Grow on the cluster, sending the data once or with every block, and note how many bytes the client pickles."""
    if name.startswith("here"):
        yield
        return
    sent = growing._sent_once

    def once(backend: Any, data: Any) -> Any:
        sizes.append(len(pickle.dumps(data)))
        return sent(backend, data)

    def every_time(backend: Any, data: Any) -> Any:
        n_blocks = sum(backend.client.nthreads().values())
        sizes.append(n_blocks * len(pickle.dumps(data)))
        return data

    growing._sent_once = once if name.endswith("once") else every_time
    try:
        with joblib.parallel_config(backend="dask"):
            yield
    finally:
        growing._sent_once = sent


if __name__ == "__main__":
    main()
