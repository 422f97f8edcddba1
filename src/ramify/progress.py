"""The progress bar of everything that takes long."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

_BETWEEN_LINES = 0.5
"""Seconds, where progress is lines: in files of a batch system, and for programs that show it."""


@contextmanager
def progress_bar(
    n_steps: int, verbose: int, description: str = "Growing trees"
) -> Iterator[Callable[[int], None] | None]:
    """A function that shows how many of `n_steps` are done; None if not `verbose`.

    In a terminal or a notebook it is a bar with an estimate of the rest, elsewhere lines such as "Growing trees: 40 of
    100".
    """
    if verbose <= 0:
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    if not console.is_terminal and not console.is_jupyter:
        yield _lines(console, n_steps, description)
        console.print(f"{description}: {n_steps} of {n_steps}", markup=False, highlight=False, soft_wrap=True)
        return
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(description, total=n_steps)
        yield lambda n_done: bar.update(task, completed=n_done)
        bar.update(task, completed=n_steps)


def _lines(console: Console, n_steps: int, description: str) -> Callable[[int], None]:
    """Print a line at most every so often."""
    last = 0.0

    def show(n_done: int) -> None:
        nonlocal last
        if time.monotonic() - last >= _BETWEEN_LINES and n_done < n_steps:
            last = time.monotonic()
            console.print(f"{description}: {n_done} of {n_steps}", markup=False, highlight=False, soft_wrap=True)

    return show
