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


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interrupt_stops_a_fit_within_a_second_and_leaves_the_model(n_jobs):
    code = (
        "import signal, sys, threading, time, numpy as np\n"
        "from ramify.ensemble import ForestClassifier\n"
        "rng = np.random.default_rng(0)\n"
        "small, large = rng.normal(size=(50, 5)), rng.normal(size=(20000, 60))\n"
        f"forest = ForestClassifier(5, n_jobs={n_jobs}, random_state=0).fit(small, small[:, :2] > 0)\n"
        "before = forest.predict_proba(small).tobytes()\n"
        "def interrupt():\n"
        "    time.sleep(1.0)\n"
        "    global sent\n"
        "    sent = time.monotonic()\n"
        "    signal.raise_signal(signal.SIGINT)\n"
        "threading.Thread(target=interrupt).start()\n"
        "try:\n"
        "    forest.set_params(n_estimators=5000).fit(large, rng.random((20000, 30)) > 0.5)\n"
        "    print('finished')\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped', time.monotonic() - sent)\n"
        "print(forest.predict_proba(small).tobytes() == before)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    word, seconds, usable = result.stdout.split()
    assert (word, usable) == ("stopped", "True")
    assert float(seconds) < 30  # a watchdog; a machine that is not busy stops within a tenth of a second


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
