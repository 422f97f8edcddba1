"""Files that are complete under their name or not there at all, tables, and names that no spreadsheet executes."""

from __future__ import annotations

import csv
import glob
import io
import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TextIO

# A spreadsheet takes a cell that starts with one of these for a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "'")

TABLES = (".csv", ".tsv", ".txt", ".xlsx", "")
"""Endings of files that `write_table` writes; without one it is CSV."""

_SHEET_ROWS, _SHEET_COLUMNS = 1_048_576, 16_384


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a binary file that takes the place of `path` when it is complete; what was there before stays until then.

    A link stays a link, to the new content, and the new file has the mode of the old one. What is no regular file (a
    pipe, `/dev/null`) is written to as it is.

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
    _remove_abandoned(path)
    descriptor, is_named = _new_file(temporary)
    try:
        _keep_mode(descriptor, path)
        with _still_locked(descriptor), os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if not is_named:
                # The (unused) descriptor of a folder makes Python follow the link, as it should by default.
                os.link(f"/proc/self/fd/{file.fileno()}", temporary, src_dir_fd=file.fileno(), follow_symlinks=True)
            file.close()
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


def write_table(path: Path, lines: Iterable[Sequence[Any]]) -> None:
    """Write lines of cells as the file's name says: `.xlsx` as a sheet of Excel, `.tsv` with tabs, else with commas.

    Texts are neutralised, None and NaN are empty cells, and numbers keep all digits.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ramify.writing import write_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(Path(folder) / "some.tsv", [["name", "score"], ["=1+1", 0.5], ["b", float("nan")]])
    ...     [line.split() for line in (Path(folder) / "some.tsv").read_text().splitlines()]
    [['name', 'score'], ["'=1+1", '0.5'], ['b']]
    """
    cells = ([_cell(cell) for cell in line] for line in lines)
    if path.suffix.lower() == ".xlsx":
        _write_sheet(path, cells)
        return
    with whole_text(path) as file:
        separator = "\t" if path.suffix.lower() == ".tsv" else ","
        csv.writer(file, lineterminator="\n", delimiter=separator).writerows(cells)


def _cell(cell: Any) -> Any:
    if isinstance(cell, str):
        return neutralised(cell)
    return None if cell is None or cell != cell else cell.item() if hasattr(cell, "item") else cell


def _write_sheet(path: Path, lines: Iterable[list[Any]]) -> None:
    try:
        from openpyxl import Workbook
        from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
    except ImportError:
        raise ImportError("Excel files need openpyxl. Install it with: pip install ramify[excel]") from None
    book = Workbook(write_only=True)
    sheet = book.create_sheet("table")
    for number, line in enumerate(lines, start=1):
        if number > _SHEET_ROWS or len(line) > _SHEET_COLUMNS:
            raise ValueError(
                f"{path}: a sheet of Excel holds {_SHEET_ROWS:,} rows of {_SHEET_COLUMNS:,} columns, and this table is "
                "larger. Write .csv instead."
            )
        sheet.append([ILLEGAL_CHARACTERS_RE.sub("?", cell) if isinstance(cell, str) else cell for cell in line])
    with whole_file(path) as file:
        book.save(file)


def _new_file(temporary: Path) -> tuple[int, bool]:
    """A file to write to and whether it has its name yet: one without a name is gone if the process is killed."""
    if hasattr(os, "O_TMPFILE") and Path("/proc/self/fd").exists():
        with suppress(OSError):  # not every file system has them
            descriptor = os.open(temporary.parent, os.O_WRONLY | os.O_TMPFILE, 0o666)
            _lock(descriptor)
            return descriptor, False
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        descriptor = os.open(temporary, flags, 0o666)
        if not _lock(descriptor, wait=True) or os.fstat(descriptor).st_nlink:
            return descriptor, True
        os.close(descriptor)  # another writer took it for abandoned before it was locked


def _remove_abandoned(path: Path) -> None:
    """Remove what writers of the same file left behind when they were killed: nobody holds its lock any more."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.{'[0-9a-f]' * 16}.tmp"):
        with suppress(OSError):
            descriptor = os.open(left, os.O_WRONLY)
            try:
                if _lock(descriptor):
                    left.unlink()
            finally:
                os.close(descriptor)


@contextmanager
def _still_locked(descriptor: int) -> Iterator[None]:
    """Keep the lock of a file that is closed meanwhile, until it has its final name; Windows renames no open file."""
    if os.name == "nt":
        yield
        return
    kept = os.dup(descriptor)
    try:
        yield
    finally:
        os.close(kept)


def _lock(descriptor: int, *, wait: bool = False) -> bool:
    """Lock a file until it is closed; False where another process has it or the system has no such locks."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except (ImportError, OSError):
        return False
    return True


def _keep_mode(descriptor: int, path: Path) -> None:
    """Let nobody read or write the new content who could not the old one."""
    with suppress(OSError):
        if hasattr(os, "fchmod"):
            os.fchmod(descriptor, stat.S_IMODE(path.stat().st_mode))


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
