"""The folder of a session: files that were given, one folder per run, and what the page has chosen."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from ramify.writing import whole_file

PREFIX = "ramify-app-"
_LOCK, _CHOICES = "in-use", "choices.json"
_BLOCK = 1 << 20
_LONGEST_NAME = 150


class NotGiven(ValueError):
    """A file that the page sent did not arrive whole, or may not be taken."""


class Session:
    """A private folder, removed when the server stops unless it was named.

    Parameters
    ----------
    keep : path, optional
        A folder of the user's own: it stays, and a later session goes on with what is in it.
    """

    def __init__(self, keep: str | os.PathLike[str] | None = None) -> None:
        _remove_abandoned()
        self.is_kept = keep is not None
        self.folder = Path(tempfile.mkdtemp(prefix=PREFIX)) if keep is None else Path(keep).resolve()
        self.data, self.runs = self.folder / "data", self.folder / "runs"
        for folder in (self.data, self.runs):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock = _locked(self.folder / _LOCK)
        if self._lock is None:
            raise ValueError(f"Another 'ramify app' uses the folder {keep}. Stop it, or name another with --keep.")

    def close(self) -> None:
        """Remove the folder, or let another session have it."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None
        if not self.is_kept:
            shutil.rmtree(self.folder, ignore_errors=True)

    # ------------------------------------------------------------------------------------------------ files

    def files(self) -> list[dict[str, Any]]:
        """Name and size of the files that were given, by name."""
        there = (path for path in self.data.iterdir() if path.is_file() and not path.name.startswith("."))
        return [{"name": path.name, "size": path.stat().st_size} for path in sorted(there)]

    def file(self, name: str) -> Path:
        """The file of this name; names are looked up among those that are there, never joined to a path."""
        return listed_file(self.data, name)

    def take(self, path: str | os.PathLike[str]) -> str:
        """Copy a file of this machine, with the XML file of labels that belongs to it; return its name."""
        from ramify.datasets.readers.mulan import label_file_of

        source = Path(path)
        if not source.is_file():
            raise ValueError(f"There is no file {source}. Check the spelling.")
        beside = label_file_of(source) if ".arff" in source.name.lower() else None
        for each in (source, *([] if beside is None else [beside])):
            with each.open("rb") as file, whole_file(self.data / allowed_name(each.name)) as copy:
                shutil.copyfileobj(file, copy, _BLOCK)
        return source.name

    def receive(self, name: str, read: Callable[[int], bytes], size: int) -> None:
        """Write what arrives from the page; the name holds it only when all of it is there."""
        path = self.data / allowed_name(name)
        with whole_file(path) as file:
            missing = size
            while missing:
                block = read(min(_BLOCK, missing))
                if not block:
                    raise NotGiven(f"{path.name} did not arrive whole. Send it again.")
                file.write(block)
                missing -= len(block)

    def drop(self, name: str) -> None:
        """Remove a file that was given; runs have their own link to it."""
        self.file(name).unlink()

    # ---------------------------------------------------------------------------------------------- choices

    @property
    def choices(self) -> dict[str, Any]:
        """What was chosen in the page, so that a reload or another tab goes on."""
        return read_json(self.folder / _CHOICES)

    @choices.setter
    def choices(self, given: dict[str, Any]) -> None:
        write_json(self.folder / _CHOICES, given)


def allowed_name(name: str) -> str:
    """The name of a file within a folder, or a refusal."""
    bad = any(not c.isprintable() or c in '/\\:*?"<>|' for c in name)
    if bad or name[:1] in {"", ".", "-", " "} or len(name.encode("utf-8", "replace")) > _LONGEST_NAME:
        raise NotGiven(f"A file cannot be called {name!r:.60}. Rename it: letters, digits, dots and dashes.")
    return name


def listed_file(folder: Path, name: str) -> Path:
    """The plain file of a folder that has exactly this name."""
    for path in folder.iterdir():
        if path.name == name and path.is_file() and not path.is_symlink():
            return path
    raise FileNotFoundError(f"There is no file {name!r:.80}.")


def linked(file: Path, folder: Path) -> None:
    """The same file in another folder, without its bytes where the system can."""
    try:
        os.link(file, folder / file.name)
    except OSError:
        shutil.copyfile(file, folder / file.name)


def read_json(path: Path) -> dict[str, Any]:
    """What a file holds; nothing where there is none or it is damaged."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Replace a file by what is complete."""
    with whole_file(path) as file:
        file.write(json.dumps(content, ensure_ascii=False).encode("utf-8", "replace"))


@contextmanager
def opened(keep: str | os.PathLike[str] | None = None) -> Iterator[Session]:
    """A session that is closed at the end."""
    session = Session(keep)
    try:
        yield session
    finally:
        session.close()


def _remove_abandoned() -> None:
    """Remove the folders of servers that were killed: nobody holds their lock."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            lock = folder / _LOCK
            is_own = not hasattr(os, "getuid") or folder.lstat().st_uid == os.getuid()
            if folder.is_dir() and not folder.is_symlink() and is_own and lock.is_file():
                held = _locked(lock)
                if held is not None:
                    shutil.rmtree(folder, ignore_errors=True)
                    held.close()


def _locked(path: Path) -> IO[str] | None:
    """The file, locked until it is closed; None where another process has it. Without such locks, the file."""
    file = path.open("a")
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        if os.name == "nt":  # an open file is not removed there, so abandoned folders are told apart by that
            return file
    except OSError:
        file.close()
        return None
    return file
