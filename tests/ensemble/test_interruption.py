"""Row R13: fork, spawn, threads and Ctrl-C during fit; no hang, a prompt stop, a model that still works."""

import multiprocessing
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from ramify.ensemble import ForestClassifier

X = np.random.default_rng(0).normal(size=(200, 5))
Y = (X[:, :3] > 0).astype(int)


def probabilities(seed):
    return ForestClassifier(20, n_jobs=2, random_state=seed).fit(X, Y).predict_proba(X).tobytes()


LONG_FITS = {
    "ForestClassifier on 1 thread": "ramify.ForestClassifier(5000, n_jobs=1).fit(X, X[:, :30] > 0)",
    "ForestClassifier": "forest.set_params(n_estimators=5000, n_jobs=2).fit(X, X[:, :30] > 0)",
    "ForestClassifier of random cuts": "ramify.ForestClassifier(9000, splitter='random', n_jobs=2).fit(X, X > 0)",
    "ForestRegressor": "ramify.ForestRegressor(5000, n_jobs=2).fit(X, X[:, :5])",
    "BoostedClassifier": "ramify.ensemble.BoostedClassifier(5000, n_jobs=2).fit(X, X > 0)",
    "LabelRankingForest": "ramify.LabelRankingForest(5000, n_jobs=2).fit(X, X[:, :6].argsort().argsort() + 1)",
    "ReliefRanker": "ramify.ReliefRanker(n_jobs=2).fit(X, X[:, :5] > 0)",
    "permutation": "ramify.ForestRanker(ramify.ForestClassifier(40, n_jobs=2), scores='permutation')"
    ".fit(wide, wide[:, :3] > 0)",
    "discoveries": "ramify.ranking.discoveries(None, X, X[:, :30] > 0, n_jobs=2)",
    "LClassifierChains": "LClassifierChains(ramify.ForestClassifier(500, n_jobs=2)).fit(X, X[:, :9] > 0)",
}
"""Fits that take minutes, on 20,000 rows of 60 features or 1,000 of 9,000; one is of a forest fitted before."""

INTERRUPTED = """
import signal, sys, threading, time, numpy as np, ramify
from ramify.chains import LClassifierChains
signal.signal(signal.SIGINT, signal.default_int_handler)  # a process started in the background ignores it
rng = np.random.default_rng(0)
small, X, wide = rng.normal(size=(50, 5)), rng.normal(size=(20000, 60)), rng.normal(size=(1000, 9000))
forest = ramify.ForestClassifier(5, random_state=0).fit(small, small[:, :2] > 0)
before = forest.predict_proba(small).tobytes()
def interrupt():
    global sent
    time.sleep(0.7)
    sent = time.monotonic()
    signal.raise_signal(signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    {fit}
    print('finished')
except KeyboardInterrupt:
    print('stopped', time.monotonic() - sent)
print(forest.predict_proba(small).tobytes() == before)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize("name", LONG_FITS)
def test_interrupt_stops_a_fit_and_the_process_goes_on(name, scorecard):
    code = INTERRUPTED.format(fit=LONG_FITS[name])
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    word, seconds, usable = result.stdout.split()
    assert (word, usable) == ("stopped", "True")
    assert float(seconds) < 30  # a watchdog: speeds are measured, not asserted
    scorecard("R13", f"{name} interrupted in {float(seconds):.2f} s")


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_give_the_same_forest(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    expected = probabilities(0)
    code = (
        "import multiprocessing, sys, warnings\n"
        "warnings.simplefilter('ignore')\n"
        "from concurrent.futures import ProcessPoolExecutor\n"
        "from tests.ensemble.test_interruption import probabilities\n"
        "if __name__ == '__main__':\n"
        "    probabilities(1)\n"
        f"    context = multiprocessing.get_context({method!r})\n"
        "    with ProcessPoolExecutor(1, mp_context=context) as pool:\n"
        "        bits = list(pool.map(probabilities, [0, 0]))\n"
        "    print(len(set(bits)), bits[0].hex()[:64])\n"
    )
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, cwd=root)
    assert result.stdout.split() == ["1", expected.hex()[:64]]


def test_threads_can_fit_at_the_same_time():
    expected = [probabilities(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(probabilities, range(4))) == expected


def test_no_thread_outlives_a_call():
    before = threading.active_count()
    probabilities(0)
    assert threading.active_count() == before
