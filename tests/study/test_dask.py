"""The same study on a real two-process Dask cluster: same numbers, also when a worker is killed in the middle."""

import os
import signal
import sys
import threading
import time

import pandas as pd
import pytest

from ramify.study.backends import ClusterError
from tests.study import toy_study
from tests.study.test_study import numbers

distributed = pytest.importorskip("distributed", reason="the extra ramify[dask] is not installed")

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(sys.platform == "win32", reason="kills processes by signal"),
]


@pytest.fixture
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    ) as running:
        yield running


def worker_pids(client) -> list[int]:
    return list(client.run(os.getpid).values())


def test_a_cluster_changes_no_bit_even_when_a_worker_is_killed(tmp_path, cluster, scorecard):
    whole = numbers(toy_study.study(folder=tmp_path / "local").run())
    with distributed.Client(cluster) as client:
        calm = toy_study.study(folder=tmp_path / "calm").run(dask=client)
        pd.testing.assert_frame_equal(numbers(calm), whole, check_exact=True)

        client.run(lambda: os.environ.update(TOY_SLEEP="0.02"))
        victim = worker_pids(client)[0]
        killed = threading.Event()

        def kill(n_done, n_cells):
            if n_done >= 20 and not killed.is_set():
                os.kill(victim, signal.SIGKILL)
                killed.set()

        disturbed = toy_study.study(folder=tmp_path / "killed").run(dask=client, progress=kill)
        assert killed.is_set()
        pd.testing.assert_frame_equal(numbers(disturbed), whole, check_exact=True)
    scorecard("R24", "study with 1 of 2 workers killed: bit-identical")


def test_a_cluster_that_is_gone_is_a_typed_error_and_the_study_resumes(tmp_path, scorecard):
    whole = numbers(toy_study.study(folder=tmp_path / "local").run())
    study = toy_study.study(folder=tmp_path / "study")
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    )
    client = distributed.Client(cluster)

    def lose(n_done, n_cells):
        if n_done == 5:
            threading.Thread(target=cluster.close).start()
            time.sleep(1)

    started = time.monotonic()
    with pytest.raises(ClusterError, match="to go on"):
        study.run(dask=client, progress=lose)
    waited = time.monotonic() - started
    client.close()
    pd.testing.assert_frame_equal(numbers(study.run()), whole, check_exact=True)
    scorecard("R24", f"cluster gone: typed error after {waited:.0f} s, resumed without it")


def test_no_scheduler_is_a_typed_error(tmp_path, monkeypatch):
    monkeypatch.setattr("ramify.study.backends.CONNECT_SECONDS", 1)
    with pytest.raises(ClusterError, match="No Dask scheduler answers at tcp://127.0.0.1:9"):
        toy_study.study(folder=tmp_path).run(dask="tcp://127.0.0.1:9")
