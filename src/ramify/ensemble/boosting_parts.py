"""Boosted trees over rows on the workers of a Dask cluster: each part does the rounds, and all sum their histograms.

Every worker does the same rounds on its rows. Where numbers of all parts are needed, a part stops; Dask adds what the
parts hold, two by two, and each goes on with the sum. Sums of whole numbers do not depend on their order, so every part
finds the same trees: those of all rows on one machine.
"""

from __future__ import annotations

import threading
import uuid
import warnings
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np

from ramify import _core
from ramify.ensemble import pickling  # noqa: F401
from ramify.features.coded_table import Bounds, CodedTable
from ramify.features.parted_table import PartedTable

_ATTEMPTS = 3
_PATIENCE = 30.0
"""Seconds without any worker after which the cluster is taken for lost."""

_FORGOTTEN = 3600.0
"""Seconds that a part waits for the others before it ends."""

_DONE = "done"


class ClusterError(ConnectionError):
    """The cluster was lost before the model was there."""


class _WorkerLostError(Exception):
    """A worker is gone, with the rounds that it did."""


def boost_parts(
    table: PartedTable,
    rows: Any,
    growth: _core.Growth,
    boosting: _core.Boosting,
    weights: np.ndarray | None,
    progress: Callable[[int], None] | None,
) -> Any:
    """What `_core.boost` gives for all rows together.

    Parameters
    ----------
    table : PartedTable
        Features on the workers.
    rows : LabelRows or NumberRows
        The target of all rows.
    growth, boosting
        As of `_core.boost`.
    weights : float64 array or None
        A weight per row.
    progress : callable or None
        Told how many rounds are done.
    """
    ends = np.cumsum(table.sizes).tolist()
    parts = [
        _Part(first, _between(rows, first, last), None if weights is None else weights[first:last])
        for first, last in zip([0, *ends[:-1]], ends, strict=True)
    ]
    for attempt in range(1, _ATTEMPTS + 1):
        rounds = _Rounds(table, uuid.uuid4().hex, progress)
        try:
            return rounds.run(parts, growth, boosting)
        except ClusterError:
            raise
        except OSError as error:  # a time-out or a connection that broke, outside of what is waited for
            raise ClusterError(f"The Dask cluster was lost ({error}). Start workers and fit again.") from None
        except _WorkerLostError as lost:
            if attempt == _ATTEMPTS:
                raise ClusterError(f"{lost} This happened {_ATTEMPTS} times, so the fit was given up.") from None
            warnings.warn(f"{lost} The rounds begin anew on the workers that are left.", RuntimeWarning, stacklevel=2)
        finally:
            rounds.end()


def _between(rows: Any, first: int, last: int) -> Any:
    """Some rows of a target."""
    if isinstance(rows, _core.NumberRows):
        return _core.NumberRows(np.ascontiguousarray(rows.values[first:last]), rows.weights)
    own: dict[str, Any] = {"weights": rows.weights}
    for prefix in ("", "unknown_"):
        offsets = getattr(rows, f"{prefix}indptr")
        if offsets is not None:
            own[f"{prefix}indptr"] = offsets[first : last + 1] - offsets[first]
            own[f"{prefix}indices"] = getattr(rows, f"{prefix}indices")[offsets[first] : offsets[last]].copy()
    return _core.LabelRows(**own)


@dataclass(frozen=True)
class _Part:
    """Target and weights of some rows, and the number of the first of them."""

    first_row: int
    target: Any
    weights: np.ndarray | None


@dataclass
class _Rounds:
    """One attempt at all rounds."""

    table: PartedTable
    name: str
    progress: Callable[[int], None] | None

    def run(self, given: list[_Part], growth: _core.Growth, boosting: _core.Boosting) -> Any:
        client, table = self.table.client, self.table
        held = client.scatter(given, hash=False)
        self._waited(client.submit(_count, *table.parts, *held, pure=False))  # what was lost is there again
        places = self._places()
        n_threads = {place: n for place, n in client.nthreads().items()}
        share = {place: max(1, n_threads.get(place, 1) // places.count(place)) for place in places}
        asked = [
            self._submit(place, _begin, (self.name, k), part, own, table.bounds, growth, boosting, share[place])
            for k, (place, part, own) in enumerate(zip(places, table.parts, held, strict=True))
        ]
        self._addresses = set(places)
        while True:
            total = self._joined(asked)
            operation, result, n_rounds = self._waited(client.submit(_operation, total, pure=False))
            if self.progress is not None:
                self.progress(n_rounds)
            if operation == _DONE:
                return result
            asked = [self._submit(place, _go_on, (self.name, k), total) for k, place in enumerate(places)]

    def end(self) -> None:
        """Let parts that still wait end."""
        with suppress(Exception):
            self.table.client.run(_forget, self.name, on_error="ignore")

    def _places(self) -> list[str]:
        """The worker that holds each part."""
        held = self.table.client.who_has(self.table.parts)
        places = [next(iter(held[part.key]), None) for part in self.table.parts]
        if None in places:
            raise _WorkerLostError("A Dask worker was lost before the rounds began.")
        return [str(place) for place in places]

    def _submit(self, place: str, function: Callable[..., Any], *given: Any) -> Any:
        return self.table.client.submit(function, *given, workers=[place], allow_other_workers=False, pure=False)

    def _joined(self, parts: list[Any]) -> Any:
        """Two by two."""
        while len(parts) > 1:
            pairs = [parts[k : k + 2] for k in range(0, len(parts), 2)]
            parts = [
                self.table.client.submit(_join, *pair, pure=False) if len(pair) == 2 else pair[0] for pair in pairs
            ]
        return parts[0]

    _addresses: Any = frozenset()

    def _waited(self, future: Any) -> Any:
        """A result, as long as the workers that it needs are there."""
        from distributed import KilledWorker

        client, lonely = self.table.client, 0.0
        while True:
            try:
                return future.result(timeout=1.0)
            except TimeoutError:
                pass
            except (KilledWorker, CancelledError, _UnknownPartError) as error:
                if client.status != "running":
                    raise ClusterError("The Dask cluster was lost. Fit again.") from None
                raise _WorkerLostError(f"A Dask worker was lost ({type(error).__name__}).") from None
            if client.status != "running":
                raise ClusterError("The Dask cluster was lost. Fit again.")
            there = set(client.nthreads())
            gone = sorted(self._addresses - there)
            if gone:
                raise _WorkerLostError(f"The Dask worker at {', '.join(gone)} was lost.")
            lonely = 0.0 if there else lonely + 1.0
            if lonely > _PATIENCE:
                raise ClusterError(f"There was no Dask worker for {_PATIENCE:g} seconds. Start one and fit again.")


# What follows runs on the workers.


class _UnknownPartError(Exception):
    """The rounds of a part are not on this worker."""


class _Running:
    """The rounds of one part, in a thread that stops where numbers of all parts are needed."""

    def __init__(self, work: Callable[..., Any]) -> None:
        self._given: SimpleQueue[np.ndarray | None] = SimpleQueue()
        self._asked: SimpleQueue[tuple[str, Any, int]] = SimpleQueue()
        self._n_rounds = 0
        threading.Thread(target=self._run, args=(work,), daemon=True).start()

    def _run(self, work: Callable[..., Any]) -> None:
        try:
            self._asked.put((_DONE, work(self._together, self._note), self._n_rounds))
        except BaseException as error:
            self._asked.put(("failed", error, self._n_rounds))

    def _together(self, operation: str, numbers: np.ndarray) -> None:
        self._asked.put((operation, numbers.copy(), self._n_rounds))
        try:
            joined = self._given.get(timeout=_FORGOTTEN)
        except Empty:
            joined = None
        if joined is None:
            raise _UnknownPartError("The other parts are gone.")
        numbers[:] = joined

    def _note(self, n_rounds: int) -> None:
        self._n_rounds = n_rounds

    def go_on(self, joined: np.ndarray) -> None:
        self._given.put(joined)

    def stop(self) -> None:
        self._given.put(None)

    def next(self) -> tuple[str, Any, int]:
        """What this part asks to be put together, or its result."""
        operation, content, n_rounds = self._asked.get()
        if operation == "failed":
            raise content
        return operation, content, n_rounds


_running: dict[tuple[str, int], _Running] = {}


def _count(*parts: Any) -> int:
    return len(parts)


def _begin(
    key: tuple[str, int],
    coded: CodedTable,
    part: _Part,
    bounds: Bounds,
    growth: _core.Growth,
    boosting: _core.Boosting,
    n_threads: int,
) -> tuple[str, Any, int]:
    """Start the rounds of a part."""
    table = CodedTable(coded.cuts, coded.codes, bounds).table

    def work(together: Callable[[str, np.ndarray], None], note: Callable[[int], None]) -> Any:
        result = _core.boost(
            table,
            part.target,
            growth,
            boosting,
            sample_weight=part.weights,
            first_row=part.first_row,
            together=together,
            n_threads=n_threads,
            progress=note,
        )
        return result if key[1] == 0 else None

    _running[key] = _Running(work)
    return _next(key)


def _go_on(key: tuple[str, int], total: tuple[str, Any, int]) -> tuple[str, Any, int]:
    """Go on with the numbers of all parts."""
    if key not in _running:
        raise _UnknownPartError("The rounds of this part are not here: the worker was started again.")
    _running[key].go_on(total[1])
    return _next(key)


def _next(key: tuple[str, int]) -> tuple[str, Any, int]:
    asked = _running[key].next()
    if asked[0] == _DONE:
        del _running[key]
    return asked


def _join(first: tuple[str, Any, int], second: tuple[str, Any, int]) -> tuple[str, Any, int]:
    operation, one, n_rounds = first
    other = second[1]
    if operation == _DONE:
        return operation, one if other is None else other, n_rounds
    return operation, np.maximum(one, other) if operation == "largest" else one + other, n_rounds


def _operation(total: tuple[str, Any, int]) -> tuple[str, Any, int]:
    """What was put together; the numbers stay where they are."""
    return total if total[0] == _DONE else (total[0], None, total[2])


def _forget(name: str) -> None:
    for key in [key for key in _running if key[0] == name]:
        _running.pop(key).stop()
