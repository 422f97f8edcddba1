"""Two builds of Ramify beside each other: CPU seconds of forests, rankings and predictions, as ratios.

    python benchmarks/bench_builds.py BEFORE AFTER [--cases NAME ...] [--repeats 7] [--write FILE]

BEFORE and AFTER are folders that hold a built package `ramify`, such as the `src` of two checkouts after `./dev build`.
Every run is a process of its own with one thread, so that neither build sees the other's memory; the builds take turns,
and the medians are compared, because other work on the machine slows both. Data are generated, the same for both.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def table(n_rows: int, n_features: int, n_labels: int) -> tuple[Any, Any]:
    """Numbers of which a few drive each label."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    drivers = rng.integers(0, n_features, size=(n_labels, 3))
    scores = np.stack([X[:, chosen].sum(axis=1) for chosen in drivers], axis=1)
    return X, (scores + rng.normal(size=scores.shape) > 1.5).astype(int)


def grown(estimator: str, **parameters: Any) -> Callable[[Any, Any], Any]:
    def work(X: Any, y: Any) -> Any:
        import ramify

        return getattr(ramify, estimator)(random_state=0, n_jobs=1, **parameters).fit(X, y)

    return work


def ranked(score: str) -> Callable[[Any, Any], Any]:
    def work(X: Any, y: Any) -> Any:
        from ramify.ranking import ForestRanker

        forest = grown_forest(20)
        return ForestRanker(forest, scores=[score]).fit(X, y)

    return work


def grown_forest(n_estimators: int) -> Any:
    from ramify import ForestClassifier

    return ForestClassifier(n_estimators, random_state=0, n_jobs=1)


def relief(X: Any, y: Any) -> Any:
    from ramify.ranking import ReliefRanker

    return ReliefRanker(15, n_jobs=1).fit(X, y)


def predicted(X: Any, y: Any) -> Any:
    forest = grown_forest(10).fit(X[:500], y[:500])
    return [forest.predict_proba(X) for _ in range(10)]


def nominal(X: Any) -> Any:
    """Ten values per column."""
    return np.floor(np.clip(X * 2 + 5, 0, 9))


LABELS, BINARY = table(2000, 40, 60), table(4000, 30, 1)
CASES: dict[str, Callable[[], Any]] = {
    "forest of 60 labels": lambda: grown("ForestClassifier", n_estimators=30)(*LABELS),
    "forest of one label": lambda: grown("ForestClassifier", n_estimators=60)(BINARY[0], BINARY[1]),
    "forest of classes": lambda: grown("ForestClassifier", n_estimators=60)(BINARY[0], BINARY[1][:, 0]),
    "forest of 20 numbers": lambda: grown("ForestRegressor", n_estimators=20)(LABELS[0], LABELS[0][:, :20] ** 2),
    "extra trees of 60 labels": lambda: grown("ForestClassifier", n_estimators=30, splitter="random", bootstrap=False)(
        *LABELS
    ),
    "forest of label rankings": lambda: grown("LabelRankingForest", n_estimators=10, gamma=0.98, min_samples_leaf=2)(
        LABELS[0], np.argsort(np.argsort(LABELS[0][:, :5], axis=1), axis=1) + 1.0
    ),
    "forest over nominal features": lambda: grown(
        "ForestClassifier", n_estimators=20, categorical_features=np.arange(40)
    )(nominal(LABELS[0]), LABELS[1]),
    "Genie3 ranking": lambda: ranked("genie3")(*LABELS),
    "Random Forest ranking": lambda: ranked("permutation")(LABELS[0], LABELS[1][:, :10]),
    "Relief": lambda: relief(*LABELS),
    "predictions of 60 labels": lambda: predicted(*LABELS),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs=2, type=Path, metavar="FOLDER", help="the build before, the build after")
    parser.add_argument("--cases", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--write", type=Path, default=None, help="write the page to this file, too")
    parser.add_argument("--one", choices=list(CASES), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one is not None:
        print(_cpu_seconds(CASES[arguments.one]))
        return
    before, after = arguments.builds
    lines = [
        "# Two builds beside each other\n",
        str(__doc__).split("\n\n", 2)[2],
        f"Before: {_named(before)}. After: {_named(after)}. Python {platform.python_version()}, {os.cpu_count()} "
        f"cores, load before the run {os.getloadavg()[0]:.1f}; medians of {arguments.repeats}.\n",
        "| case | before, CPU s | after, CPU s | after / before |",
        "|---|---|---|---|",
    ]
    for case in arguments.cases:
        seconds: tuple[list[float], list[float]] = ([], [])
        for repeat in range(arguments.repeats):
            for side in (0, 1) if repeat % 2 == 0 else (1, 0):
                seconds[side].append(_in_process(arguments.builds[side], case))
        old, new = (statistics.median(side) for side in seconds)
        lines.append(f"| {case} | {old:.2f} | {new:.2f} | {new / old:.2f} |")
        print(lines[-1], flush=True)
    page = "\n".join(lines) + "\n"
    print(page)
    if arguments.write is not None:
        arguments.write.write_text(page, encoding="utf-8")


def _cpu_seconds(case: Callable[[], Any]) -> float:
    import ramify  # noqa: F401  (its imports are not measured)
    import ramify.ranking  # noqa: F401

    start = time.process_time()
    case()
    return time.process_time() - start


def _in_process(build: Path, case: str) -> float:
    environment = {**os.environ, "PYTHONPATH": str(build.resolve()), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, __file__, str(build), str(build), "--one", case]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return float(done.stdout)


def _named(build: Path) -> str:
    """The commit of a checkout; the name of the folder where there is none."""
    command = ["git", "-C", str(build), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else build.resolve().name


if __name__ == "__main__":
    main()
