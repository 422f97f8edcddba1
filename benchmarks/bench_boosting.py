"""Boosted trees over threads and beside LightGBM: wall and CPU seconds of fits and predictions, and their ratios.

    python benchmarks/bench_boosting.py [--threads 1,2] [--rows 100000] [--repeats 3] [--data FOLDER]

One label on half of the rows, 30 labels on all of them, 50 features each, 100 rounds with the default settings of both
libraries; LightGBM fits the labels one by one, and the first `--peer-labels` of them stand for all. With `--data`, the
folder that holds `hmc/`, also cellcycle_FUN with its 499 labels. Libraries and thread counts take turns, so that other
work on the machine slows all of them; each number is the smallest of the repeats. The last column says whether every
thread count gave the same bits.
"""

from __future__ import annotations

import argparse
import hashlib
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np

import ramify
from ramify.ensemble import BoostedClassifier

N_LABELS = 30
ROUNDS = 100


def seconds(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Wall and CPU seconds of a call, and what it gives."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - wall, time.process_time() - cpu, result


def digest(model: BoostedClassifier) -> str:
    """The bits of a model."""
    arrays = model.trees_.arrays()
    return hashlib.sha256(b"".join(np.ascontiguousarray(arrays[key]).tobytes() for key in sorted(arrays))).hexdigest()


def jobs(n_rows: int, data: Path | None, n_peer_labels: int) -> dict[str, Callable[[int], tuple[float, float, str]]]:
    """Fits and predictions by name; each takes a number of threads."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 50), dtype=np.float32)
    labels = np.stack([X[:, j] + X[:, j + 1] > 1.2 for j in range(N_LABELS)], axis=1).astype(int)
    half = n_rows // 2
    one = (X[:half, 0] + X[:half, 1] * X[:half, 2] + rng.standard_normal(half) > 0).astype(int)
    models: dict[str, BoostedClassifier] = {}

    def fitted(name: str, X: Any, y: Any, **options: Any) -> Callable[[int], tuple[float, float, str]]:
        def fit(n_jobs: int) -> tuple[float, float, str]:
            model = BoostedClassifier(ROUNDS, early_stopping=None, random_state=0, n_jobs=n_jobs, **options)
            wall, cpu, models[name] = seconds(lambda: model.fit(X, y))
            return wall, cpu, digest(models[name])

        return fit

    def peer(n_jobs: int, y: np.ndarray, X: np.ndarray, times: float) -> tuple[float, float, str]:
        def fit() -> None:
            for column in y.T:
                lightgbm.LGBMClassifier(n_estimators=ROUNDS, n_jobs=n_jobs, verbose=-1).fit(X, column)

        wall, cpu, _ = seconds(fit)
        return times * wall, times * cpu, ""

    def predicted(n_jobs: int) -> tuple[float, float, str]:
        model = models["30 labels"].set_params(n_jobs=n_jobs)
        wall, cpu, result = seconds(lambda: model.predict_proba(X))
        return wall, cpu, hashlib.sha256(result.tobytes()).hexdigest()

    found = {
        "one label": fitted("one label", X[:half], one[:, None]),
        "one label, LightGBM": lambda n_jobs: peer(n_jobs, one[:, None], X[:half], 1),
        "30 labels": fitted("30 labels", X, labels),
        "30 labels, LightGBM one by one": lambda n_jobs: peer(
            n_jobs, labels[:, :n_peer_labels], X, N_LABELS / n_peer_labels
        ),
        "30 labels, predict_proba": predicted,
    }
    if data is not None:
        genes = ramify.read(data / "hmc/fun/cellcycle_FUN.train.arff.gz")
        found["cellcycle_FUN"] = fitted("cellcycle_FUN", genes.X, genes.y, hierarchy=genes.hierarchy)
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peer-labels", type=int, default=3)
    parser.add_argument("--data", type=Path)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    threads = [int(t) for t in options.threads.split(",")]
    found = jobs(options.rows, options.data, options.peer_labels)
    found["one label"](1)  # what is imported late
    walls = {(name, t): np.inf for name in found for t in threads}
    cpus, bits = dict(walls), {name: set() for name in found}
    for _ in range(options.repeats):
        for name, job in found.items():
            for t in threads:
                wall, cpu, digested = job(t)
                walls[name, t], cpus[name, t] = min(wall, walls[name, t]), min(cpu, cpus[name, t])
                bits[name].add(digested)
    print(
        f"Ramify {ramify.__version__}, LightGBM {lightgbm.__version__}, {options.rows} rows, threads {options.threads}"
    )
    print("| | " + " | ".join(f"{t} threads, wall (CPU)" for t in threads) + " | speed-up | same bits |")
    print("|---|" + "---|" * (len(threads) + 2))
    for name in found:
        cells = " | ".join(f"{walls[name, t]:.2f} ({cpus[name, t]:.2f})" for t in threads)
        same = "" if "LightGBM" in name else "yes" if len(bits[name]) == 1 else "NO"
        print(f"| {name} | {cells} | {walls[name, threads[0]] / walls[name, threads[-1]]:.1f} | {same} |")
    pairs = [("one label, LightGBM", "one label"), ("30 labels, LightGBM one by one", "30 labels")]
    for peer_name, own in pairs:
        for t in threads:
            ratio, of_cpu = walls[peer_name, t] / walls[own, t], cpus[peer_name, t] / cpus[own, t]
            print(f"{own}, {t} threads: LightGBM / Ramify {ratio:.2f} (CPU {of_cpu:.2f})")


if __name__ == "__main__":
    main()
