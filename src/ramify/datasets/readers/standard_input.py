"""Standard input as a file: kept on disk while it is read, and called by its name in messages."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ramify.datasets.readers.raw_files import FileError, PathLike

if TYPE_CHECKING:
    from ramify.datasets.dataset import Dataset

STANDARD_INPUT = "-"
_NAME = "standard input"
_PIECE = 1 << 20


@contextmanager
def with_standard_input(files: PathLike | Sequence[PathLike]) -> Iterator[Any]:
    """The files with one on disk in place of "-", for as long as the context lasts."""
    given = [files] if isinstance(files, (str, os.PathLike)) else files
    if not isinstance(given, Sequence) or STANDARD_INPUT not in given:
        yield files
        return
    if list(given).count(STANDARD_INPUT) > 1:
        raise ValueError("Standard input ('-') can be read once. Name it once.")
    with TemporaryDirectory() as folder:
        path = _kept(Path(folder))
        try:
            yield [path if file == STANDARD_INPUT else file for file in given]
        except FileError as error:
            if error.path != os.fspath(path):
                raise
            raise FileError(_NAME, error.fault, line=error.line, column=error.column, advice=error.advice) from None
        except ValueError as error:
            raise ValueError(str(error).replace(os.fspath(path), _NAME)) from None


def named_source(data: Dataset, files: PathLike | Sequence[PathLike]) -> Dataset:
    """The data with a source that names standard input, where it was read."""
    given = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    if STANDARD_INPUT not in given:
        return data
    return replace(data, source=", ".join(_NAME if file == STANDARD_INPUT else os.fspath(file) for file in given))


def _kept(folder: Path) -> Path:
    """All of standard input in a file whose ending says what it holds."""
    path = folder / "input"
    with path.open("wb") as file:
        while piece := sys.stdin.buffer.read(_PIECE):
            file.write(piece)
    return path.rename(path.with_suffix(_ending(path)))


def _ending(path: Path) -> str:
    """The ending that the first bytes call for; text is a table unless it begins as ARFF does."""
    with path.open("rb") as file:
        start = file.read(1 << 16)
    if start.startswith(b"PAR1"):
        return ".parquet"
    if start.startswith(b"PK\x03\x04") and (b"xl/" in start or b"[Content_Types].xml" in start):
        return ".xlsx"
    for line in start.removeprefix(b"\xef\xbb\xbf").splitlines():
        if line.strip() and not line.lstrip().startswith(b"%"):
            return ".arff" if line.lstrip().lower().startswith(b"@relation") else ".csv"
    return ".csv"
