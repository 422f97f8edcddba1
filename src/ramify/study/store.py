"""The SQLite file of a study: every finished cell is one row, written in one transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE_NAME = "results.sqlite"
COLUMNS = {
    "key": "TEXT PRIMARY KEY",
    "dataset": "TEXT NOT NULL",
    "method": "TEXT NOT NULL",
    "split": "INTEGER NOT NULL",
    "seed": "INTEGER NOT NULL",
    "settings": "TEXT NOT NULL",
    "status": "TEXT NOT NULL",
    "measures": "TEXT NOT NULL",
    "error": "TEXT NOT NULL",
    "data_sha256": "TEXT NOT NULL",
    "seconds": "REAL NOT NULL",
    "cpu_seconds": "REAL NOT NULL",
    "peak_megabytes": "REAL NOT NULL",
    "versions": "TEXT NOT NULL",
    "finished_at": "TEXT NOT NULL",
}


CONTENTS = {"dataset": "TEXT", "loader": "TEXT", "content": "TEXT NOT NULL"}
"""What a data set held when a run last read it; a loader is known by the fingerprint of its code and arguments."""


@dataclass(frozen=True)
class Outcome:
    """What running a cell gave: the row that goes into the store."""

    key: str
    record: dict[str, Any]


def refuse_reserved(measures: Iterable[str]) -> None:
    """Refuse measures that are called like a column of the results."""
    for name in measures:
        if name in COLUMNS:
            raise ValueError(
                f"A measure cannot be called {name!r}: the results have a column of that name. Call it otherwise, for "
                f"instance 'my {name}'."
            )


class StudyError(OSError):
    """A study's folder cannot be used; what was finished before is safe, and the study can be resumed."""


def unusable(path: str | Path, reason: object) -> StudyError:
    """What is said when a file of a study cannot be read or written."""
    return StudyError(
        f"{path} cannot be used ({reason}). What was finished before is safe: make room or make the folder "
        "writable, then run the study again and it goes on where it was."
    )


class Store:
    """Finished cells of a study, safe against kills, full disks and other writers.

    Every call opens the file anew, so that no lock outlives it. The rollback journal with full synchronisation is used
    (`journal_mode=TRUNCATE, synchronous=FULL`): a row is there completely or not at all.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / FILE_NAME
        self._is_prepared = False

    def prepare(self) -> None:
        """Make the folder and the tables where they are not there yet."""
        self._is_prepared = False
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StudyError(f"The study's folder {self.folder} cannot be made: {error.strerror}.") from None
        columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
        self._execute(f"CREATE TABLE IF NOT EXISTS cells ({columns})")
        columns = ", ".join(f"{name} {kind}" for name, kind in CONTENTS.items())
        self._execute(f"CREATE TABLE IF NOT EXISTS contents ({columns}, PRIMARY KEY (dataset, loader))")
        self._is_prepared = True

    def write(self, outcome: Outcome) -> None:
        """Keep one finished cell; of a cell that is there already only a failure is replaced, by a success."""
        row = {
            **outcome.record,
            "measures": json.dumps(outcome.record["measures"]),
            "versions": json.dumps(outcome.record["versions"]),
        }
        names = list(COLUMNS)
        marks = ", ".join("?" for _ in names)
        verb = "INSERT OR IGNORE" if outcome.record["status"] == "failed" else "INSERT OR REPLACE"
        self._execute(f"{verb} INTO cells ({', '.join(names)}) VALUES ({marks})", [row[name] for name in names])

    def statuses(self) -> dict[str, str]:
        """Status ("done" or "failed") of every cell in the file, by key."""
        return dict(self._rows("SELECT key, status FROM cells"))

    def status(self, key: str) -> str | None:
        """Status of one cell; None for one that is not in the file."""
        rows = self._rows("SELECT status FROM cells WHERE key = ?", [key])
        return str(rows[0][0]) if rows else None

    def note_content(self, dataset: str, loader: str, content: str) -> None:
        """Keep what a data set held when it was read now."""
        self._execute("INSERT OR REPLACE INTO contents VALUES (?, ?, ?)", [dataset, loader, content])

    def contents(self) -> dict[tuple[str, str], str]:
        """What the data sets held when a run last read them, by data set and loader."""
        rows = self._rows("SELECT dataset, loader, content FROM contents", table="contents")
        return {(str(dataset), str(loader)): str(content) for dataset, loader, content in rows}

    def forget(self, keys: Iterable[str]) -> None:
        """Remove cells, so that they run again."""
        for key in keys:
            self._execute("DELETE FROM cells WHERE key = ?", [key])

    def records(self) -> list[dict[str, Any]]:
        """All rows as dictionaries, in the order of data set, method and split."""
        rows = self._rows(f"SELECT {', '.join(COLUMNS)} FROM cells ORDER BY dataset, method, split, key")
        records = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
        for record in records:
            for name in ("measures", "versions"):
                record[name] = self._object(record[name], name)
        return records

    def _object(self, text: Any, name: str) -> dict[str, Any]:
        """What a cell holds as JSON, if it is what `write` puts there."""
        try:
            content = json.loads(text)
        except (ValueError, TypeError, RecursionError):
            content = None
        if not isinstance(content, dict):
            raise unusable(self.path, f"the {name} of a cell are not what a study writes")
        if name == "measures" and not all(isinstance(value, (int, float)) for value in content.values()):
            raise unusable(self.path, "a measure is not a number")
        return content

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=60, isolation_level=None)
        connection.execute("PRAGMA journal_mode=TRUNCATE")
        connection.execute("PRAGMA synchronous=FULL")
        return connection

    def _execute(self, statement: str, values: Iterable[Any] = ()) -> None:
        self._refuse_if_gone()
        try:
            with closing(self._connect()) as connection:
                connection.execute(statement, tuple(values))
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._unusable(error) from None

    def _rows(self, statement: str, values: Iterable[Any] = (), *, table: str = "cells") -> list[tuple[Any, ...]]:
        self._refuse_if_gone()
        if not self.path.exists():
            return []
        try:
            with closing(self._connect()) as connection:
                if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", [table]).fetchone():
                    return []  # killed, or looked at, between making the file and making the table
                return list(connection.execute(statement, tuple(values)))
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._unusable(error) from None

    def _refuse_if_gone(self) -> None:
        if self._is_prepared and not self.path.exists():
            raise self._gone()

    def _unusable(self, error: Exception) -> StudyError:
        replaced = self._is_prepared and "no such table" in str(error)
        return self._gone() if replaced else unusable(self.path, error)

    def _gone(self) -> StudyError:
        return StudyError(
            f"{self.path} was removed while the study was in use, and what was finished went with it. Put the file "
            "back, or run the study again, from the beginning."
        )
