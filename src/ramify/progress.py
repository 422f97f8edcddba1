"""The progress bar of everything that takes long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(
    n_steps: int, verbose: int, description: str = "Growing trees"
) -> Iterator[Callable[[int], None] | None]:
    """A function that shows how many of `n_steps` are done, with an estimate of the rest; None if not `verbose`."""
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
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(description, total=n_steps)
        yield lambda n_done: bar.update(task, completed=n_done)
        bar.update(task, completed=n_steps)
