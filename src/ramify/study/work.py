"""One run over the cells of a study, beside other runs on the same folder."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping

from ramify.study.backends import Task
from ramify.study.cells import Cell
from ramify.study.locks import CellLocks
from ramify.study.store import Outcome, Store

Progress = Callable[[int, int], None]
logger = logging.getLogger("ramify.study")


class Work:
    """The cells of a study, claimed, run and written until all are finished.

    `content` tells what a data set holds, `task` what a cell is run with.
    """

    def __init__(
        self,
        cells: list[Cell],
        store: Store,
        locks: CellLocks,
        content: Callable[[str], str],
        task: Callable[[Cell], Task],
        *,
        retry: bool,
        progress: Progress | None,
    ) -> None:
        self.store = store
        self.content = content
        self.task = task
        self.cells = cells
        self.locks = locks
        self.retry = retry
        self.progress = progress
        self._taken: set[str] = set()
        self._retried: set[str] = set()
        self._n_finished = 0

    def do(self, backend: Callable[[Iterator[Task]], Iterator[Outcome]]) -> None:
        """Run claimed cells until all are finished; wait for those that another run holds."""
        waiting = self.cells
        try:
            while waiting:
                self._n_finished = len(self.cells) - len(waiting)
                for outcome in backend(self._claimed(waiting)):
                    self.store.write(outcome)
                    _log(outcome)
                    self._release(outcome.key)
                    self._n_finished += 1
                    if self.progress is not None:
                        self.progress(self._n_finished, len(self.cells))
                statuses = self.store.statuses()
                waiting = [cell for cell in waiting if not self._is_finished(self._key(cell), statuses)]
                if waiting:
                    time.sleep(0.2)
        finally:
            for key in list(self._taken):
                self._release(key)
        if self.progress is not None:
            self.progress(len(self.cells), len(self.cells))

    def _claimed(self, cells: list[Cell]) -> Iterator[Task]:
        """Tasks of the cells that nobody else runs or has finished, claimed one by one as workers become free."""
        for cell in cells:
            key = self._key(cell)
            if self._is_finished(key, {key: self.store.status(key)}):
                self._n_finished += 1
                continue
            if not self.locks.take(key):
                continue
            self._taken.add(key)
            if self._is_finished(key, {key: self.store.status(key)}):
                self._release(key)
                self._n_finished += 1
                continue
            if self.retry:
                self.store.forget([key])
                self._retried.add(key)
            yield self.task(cell)

    def _key(self, cell: Cell) -> str:
        return cell.key(self.content(cell.dataset))

    def _is_finished(self, key: str, statuses: Mapping[str, str | None]) -> bool:
        status = statuses.get(key)
        again = self.retry and status == "failed" and key not in self._retried
        return status is not None and not again

    def _release(self, key: str) -> None:
        self.locks.release(key)
        self._taken.discard(key)


def _log(outcome: Outcome) -> None:
    place = "{dataset} / {method} / split {split}".format_map(outcome.record)
    logger.info("%s: %s in %.1f s", place, outcome.record["status"], outcome.record["seconds"])
