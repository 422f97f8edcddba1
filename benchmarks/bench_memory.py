"""Tables that are prepared in bounded memory: seconds and peak memory of preparing them and growing on them, by rows.

    python benchmarks/bench_memory.py [--rows 100000 1000000 10000000] [--features 50] [--threads 16] [--memory 2G]

Batches of pseudorandom numbers with one label are made as they are read, so no more of the table is ever in memory than
`--memory` lets. Each step runs in a process of its own, whose peak includes Python and the mapped pages of the file.
Boosted trees do 100 rounds and forests grow 16 trees of full depth; both predict the prepared table. CPU seconds are
those of all threads of the fit.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import ramify
from ramify.ensemble import BoostedClassifier, ForestClassifier

STEPS = ("prepare", "boosted trees", "forest")
BATCH = 200_000


def batches(n_rows: int, n_features: int) -> Iterator[pd.DataFrame]:
    """The rows, the same ones whenever they are asked for."""
    for first in range(0, n_rows, BATCH):
        random = np.random.default_rng([7, first])
        n = min(BATCH, n_rows - first)
        X = random.standard_normal((n, n_features), dtype=np.float32)
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(n_features)])
        frame["label"] = np.where(X[:, 0] + X[:, 1] * X[:, 2] + random.standard_normal(n) > 0, "yes", "no")
        yield frame


def step(name: str, path: Path, n_rows: int, n_features: int, n_threads: int, memory: str) -> dict[str, float]:
    """Seconds of one step, and the most memory that this process had."""
    started, cpu = time.perf_counter(), time.process_time()
    if name == "prepare":
        ramify.prepare(lambda: batches(n_rows, n_features), path, target="label", memory=memory, n_jobs=n_threads)
        fitted, cpu = time.perf_counter(), time.process_time() - cpu
    else:
        data = ramify.read(path)
        started, cpu = time.perf_counter(), time.process_time()
        boosted = BoostedClassifier(100, early_stopping=None, random_state=0, n_jobs=n_threads)
        model = boosted if name == "boosted trees" else ForestClassifier(16, random_state=0, n_jobs=n_threads)
        model.fit(data.X, data.classes)
        fitted, cpu = time.perf_counter(), time.process_time() - cpu
        model.predict(data.X)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {"fit": fitted - started, "cpu": cpu, "predict": time.perf_counter() - fitted, "peak": peak}


def main() -> None:
    """Print the table, row by row as it is measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--memory", default="2G")
    parser.add_argument("--step", nargs=2, help="for internal use: a step and its file")
    options = parser.parse_args()
    size = (options.features, options.threads, options.memory)
    if options.step:
        name, path = options.step
        print(json.dumps(step(name, Path(path), options.rows[0], *size)))
        return
    print(f"{options.features} features, {options.threads} threads, --memory {options.memory}\n")
    columns = ("rows", "file, MB", "step", "seconds", "CPU seconds", "predict, s", "peak memory, GB")
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for n_rows in options.rows:
            path = Path(folder) / f"{n_rows}.ramify"
            for name in STEPS:
                given = ["--rows", n_rows, "--features", size[0], "--threads", size[1], "--memory", size[2]]
                command = [sys.executable, __file__, *map(str, given), "--step", name, str(path)]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                found = json.loads(done.stdout.splitlines()[-1])
                cells = f"{found['fit']:.1f} | {found['cpu']:.1f} | {found['predict']:.1f} | {found['peak']:.2f}"
                print(f"| {n_rows:,} | {path.stat().st_size / 1e6:.0f} | {name} | {cells} |", flush=True)
            path.unlink()


if __name__ == "__main__":
    main()
