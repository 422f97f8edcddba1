"""Files that are complete under their name or not there at all, and names in them that no spreadsheet executes."""

from __future__ import annotations

import io
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO

# A spreadsheet takes a cell that starts with one of these for a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "'")


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a binary file that takes the place of `path` when it is complete; what was there before stays until then.

    A link stays a link, to the new content. What is no regular file (a pipe, `/dev/null`) is written to as it is.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ramify.writing import whole_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder) / "numbers.txt") as file:
    ...         _ = file.write(b"1 2 3")
    ...     (Path(folder) / "numbers.txt").read_text()
    '1 2 3'
    """
    if _is_stream(path):
        with path.open("wb") as file:
            yield file
        return
    path = Path(os.path.realpath(path))
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


@contextmanager
def whole_text(path: Path) -> Iterator[TextIO]:
    """The same for UTF-8 text whose ends of lines are written as they are.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ramify.writing import whole_text
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_text(Path(folder) / "words.txt") as file:
    ...         _ = file.write("one two")
    ...     (Path(folder) / "words.txt").read_bytes()
    b'one two'
    """
    with whole_file(path) as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8", newline="")
        yield text
        text.flush()
        text.detach()


def neutralised(name: str) -> str:
    """A name that no spreadsheet takes for a formula.

    Examples
    --------
    >>> from ramify.writing import neutralised
    >>> neutralised("=1+1"), neutralised("age")
    ("'=1+1", 'age')
    """
    return "'" + name if name.startswith(_FORMULA_STARTS) else name


def _is_stream(path: Path) -> bool:
    """Whether there is something that takes bytes and keeps none, so that nothing may take its place."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _sync_folder(folder: Path) -> None:
    """Make the new name survive a power failure, where the system allows it."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
