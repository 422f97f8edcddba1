"""Where the cells of a study run: on this machine through joblib, or on a Dask cluster."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from joblib import Parallel, delayed

from ramify.study.store import Outcome

Task = tuple[Any, ...]
CONNECT_SECONDS = 15


class ClusterError(ConnectionError):
    """The cluster is gone; what was finished is safe, and the study can be resumed."""


def run_local(function: Callable[..., Outcome], tasks: Iterable[Task], *, n_jobs: int) -> Iterator[Outcome]:
    """Outcomes as they come; tasks are taken only as workers become free, so that other runs find some too."""
    if n_jobs == 1:
        for task in tasks:
            yield function(*task)
        return
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="n_jobs", batch_size=1)
    yield from parallel(delayed(_until_orphaned)(os.getpid(), function, *task) for task in tasks)


_watched: set[int] = set()


def _until_orphaned(parent: int, function: Callable[..., Outcome], *task: Any) -> Outcome:
    """Run a task in a worker process that ends as soon as the process that started it is gone."""
    if os.getppid() == parent and parent not in _watched:
        _watched.add(parent)
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    return function(*task)


def _end_with(parent: int) -> None:
    # Where the operating system gives an orphan no other parent (Windows), a worker finishes its cell first.
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


@contextmanager
def dask_client(address: Any) -> Iterator[Any]:
    """A client for the address of a scheduler, or the client that was given."""
    try:
        from distributed import Client
    except ImportError:
        raise ImportError("Running on a Dask cluster needs the extra: pip install 'ramify[dask]'.") from None
    if not isinstance(address, str):
        yield address
        return
    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise ClusterError(
            f"No Dask scheduler answers at {address} ({error}); start one, or leave --dask out."
        ) from None
    with client:
        yield client


def run_dask(
    function: Callable[..., Outcome], tasks: Iterable[Task], *, client: Any, patience: float = 30.0
) -> Iterator[Outcome]:
    """Outcomes as they come from the cluster; a cell whose worker died runs again on another one.

    Tasks are handed out as workers become free. When no worker is left for `patience` seconds, or the scheduler is
    gone, a `ClusterError` says so.
    """
    waiting = iter(tasks)
    running: set[Any] = set()
    try:
        n_ahead = 2 * _n_threads(client, patience)
        while True:
            while len(running) < n_ahead and (task := next(waiting, None)) is not None:
                running.add(client.submit(function, *task, pure=False, retries=5))
            if not running:
                return
            for future in _finished(running, client, patience):
                running.discard(future)
                yield future.result()
    except ClusterError:
        raise
    except Exception as error:
        if client.status == "running" and not isinstance(error, OSError):
            raise
        raise ClusterError(f"The Dask cluster was lost ({error}). Run the study again to go on.") from None
    finally:
        with suppress(Exception):
            client.cancel(list(running))


def _finished(running: set[Any], client: Any, patience: float) -> list[Any]:
    """At least one finished future; give up when there has been no worker for `patience` seconds."""
    from distributed import wait

    lonely_since: float | None = None
    while True:
        done: list[Any] = []
        with suppress(TimeoutError):
            done = list(wait(running, timeout=0.5, return_when="FIRST_COMPLETED").done)
        lost = [future for future in done if future.status in ("cancelled", "lost")]
        if client.status != "running" or lost:
            raise ClusterError("The Dask cluster was lost. Run the study again to go on.")
        if done:
            return done
        lonely_since = None if client.nthreads() else lonely_since or time.monotonic()
        if lonely_since is not None and time.monotonic() - lonely_since > patience:
            raise ClusterError(f"No Dask worker for {patience:g} seconds. Start one and run the study again to go on.")


def _n_threads(client: Any, patience: float) -> int:
    """Number of threads of the workers, waiting a while for the first one."""
    try:
        client.wait_for_workers(1, timeout=patience)
    except TimeoutError:
        raise ClusterError(f"No Dask worker for {patience:g} seconds. Start one and run the study again.") from None
    return max(1, sum(client.nthreads().values()))
