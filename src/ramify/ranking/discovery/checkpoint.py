"""Finished pieces of work in a folder, from which a run that was stopped goes on."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Callable, Iterable
from importlib.metadata import version
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from ramify import _core
from ramify.writing import whole_file

_BROKEN = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError)


class Checkpoint:
    """Pieces of work, each in a file that is named after all that the piece depends on.

    A piece of other data, of other parameters or of another program has another name and is never found; one that is
    damaged is done again.

    Parameters
    ----------
    folder : path
        Where the files are; made if it is not there.
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(fspath(folder))
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"A checkpoint is a folder, and {str(self.folder)!r} is a file. Name another folder.")
        self.folder.mkdir(parents=True, exist_ok=True)
        self._facts = _program()

    def of(self, *facts: Any) -> Checkpoint:
        """The same folder, for pieces that depend on these arrays, numbers and words too."""
        narrower = object.__new__(Checkpoint)
        narrower.folder = self.folder
        narrower._facts = _digest([self._facts, *facts])
        return narrower

    def piece(self, name: str, work: Callable[[], dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
        """What `work` gives, from its file if it was done before."""
        key = _digest([self._facts, name])
        path = self.folder / f"{key}.npz"
        found = _read(path, key)
        if found is None:
            found = work()
            kept: dict[str, Any] = {**found, "key": np.array(key), "digest": np.array(_digest_of(found))}
            with whole_file(path) as file:
                np.savez(file, **kept)
        return found


def _read(path: Path, key: str) -> dict[str, np.ndarray] | None:
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            found = {name: file[name] for name in file.files}
    except _BROKEN:
        return None
    whole = str(found.pop("key", "")) == key
    return found if whole and str(found.pop("digest", "")) == _digest_of(found) else None


def _digest_of(arrays: dict[str, np.ndarray]) -> str:
    return _digest([fact for name in sorted(arrays) for fact in (name, arrays[name])])


def _digest(facts: Iterable[Any]) -> str:
    """A hash of arrays, and of anything else by its representation."""
    found = hashlib.sha256()
    for fact in facts:
        if isinstance(fact, np.ndarray):
            found.update(f"{fact.dtype} {fact.shape} ".encode())
            found.update(np.ascontiguousarray(fact).data.cast("B") if fact.size else b"")
        else:
            text = repr(fact).encode()
            found.update(f"{len(text)} ".encode() + text)
    return found.hexdigest()


def _program() -> str:
    """A hash of the code that makes the pieces, and of what it computes with."""
    sources = [Path(_core.__file__), *sorted(Path(__file__).parent.rglob("*.py"))]
    libraries = [(name, version(name)) for name in ("numpy", "scipy", "scikit-learn")]
    return _digest([libraries, *(hashlib.sha256(source.read_bytes()).hexdigest() for source in sources)])
