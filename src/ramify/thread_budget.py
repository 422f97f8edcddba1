"""Threads that tasks side by side share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition


class ThreadBudget:
    """So many threads in all: a task takes as many as it uses, and waits until they are free.

    Examples
    --------
    >>> from ramify.thread_budget import ThreadBudget
    >>> budget = ThreadBudget(2)
    >>> with budget.taken(2):
    ...     budget.n_free
    0
    """

    def __init__(self, n_threads: int) -> None:
        self.n_free = n_threads
        self._changed = Condition()

    @contextmanager
    def taken(self, n_threads: int) -> Iterator[None]:
        """Take threads, at most as many as there are in all, for a while."""
        with self._changed:
            self._changed.wait_for(lambda: self.n_free >= n_threads)
            self.n_free -= n_threads
        try:
            yield
        finally:
            with self._changed:
                self.n_free += n_threads
                self._changed.notify_all()
