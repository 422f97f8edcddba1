"""Locks on cells, so that several runs on one folder never do the same cell at the same time.

A lock is on one byte of a file, taken from the operating system. It vanishes with the process that holds it,
however that process ends, so nothing is ever left "running" and nothing has to be unlocked by hand.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
from pathlib import Path
from typing import Self

from ramify.study.store import StudyError, unusable

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

FILE_NAME = "cells.lock"
_HELD_BY_ANOTHER = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
# Closing a file gives back all locks of the process on it, so the locks of one process on one folder share a file.
_HELD: set[tuple[str, int]] = set()
_FILES: dict[str, tuple[int, int]] = {}  # by path: the open file and how many locks use it
_HELD_LOCK = threading.Lock()


class CellLocks:
    """Locks of this process on cells of the study in a folder, for the time of a `with` block."""

    def __init__(self, folder: Path) -> None:
        self._path = str((folder / FILE_NAME).resolve())

    def __enter__(self) -> Self:
        with _HELD_LOCK:
            try:
                file, n_users = _FILES.get(self._path) or (os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644), 0)
            except OSError as error:
                raise unusable(self._path, error.strerror) from None
            _FILES[self._path] = file, n_users + 1
            self._file = file
        return self

    def __exit__(self, *_: object) -> None:
        with _HELD_LOCK:
            file, n_users = _FILES.pop(self._path)
            if n_users > 1:
                _FILES[self._path] = file, n_users - 1
            else:
                os.close(file)

    def take(self, key: str) -> bool:
        """Lock a cell; False where another run, or another thread of this one, holds it."""
        place = _place(key)
        with _HELD_LOCK:
            if (self._path, place) in _HELD or not self._locked(place):
                return False
            _HELD.add((self._path, place))
            return True

    def _locked(self, place: int) -> bool:
        try:
            return _lock(self._file, place)
        except OSError as error:
            raise StudyError(
                f"{self._path} cannot be locked ({error.strerror}): the file system of this folder has no file locks, "
                "which keep two runs from doing the same work. Take a folder on a local disk (--folder), copy "
                "results.sqlite there, and run the study again; it goes on where it was."
            ) from None

    def release(self, key: str) -> None:
        """Give a lock back."""
        place = _place(key)
        with _HELD_LOCK:
            if (self._path, place) in _HELD:
                _unlock(self._file, place)
                _HELD.discard((self._path, place))


def _place(key: str) -> int:
    """The byte that stands for a cell, from the first 60 bits of its key."""
    return int(key[:15], 16)


def _lock(file: int, place: int) -> bool:
    """Lock a byte; False where another process holds it, an OSError where the file system cannot lock."""
    try:
        if sys.platform == "win32":
            os.lseek(file, place, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place, os.SEEK_SET)
    except OSError as error:
        if error.errno in _HELD_BY_ANOTHER:
            return False
        raise
    return True


def _unlock(file: int, place: int) -> None:
    if sys.platform == "win32":
        os.lseek(file, place, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)
    else:
        fcntl.lockf(file, fcntl.LOCK_UN, 1, place, os.SEEK_SET)
