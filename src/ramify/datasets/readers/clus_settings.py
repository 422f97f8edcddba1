"""Settings files of CLUS: sections of `Name = value`, with comments from % on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from ramify.datasets.readers.raw_files import FileError, PathLike, advice_for_name, read_text, shown

Value = TypeVar("Value")

_YES_NO = {"yes": True, "true": True, "no": False, "false": False}
_WITHOUT_EFFECT = {
    ("general", "verbose"),
    ("general", "resourceinfoloaded"),
    ("attributes", "reducememorynominalattrs"),
}
_SECTIONS_WITHOUT_EFFECT = {"output"}


class ClusSettings:
    r"""A settings file of CLUS; names of sections and settings are found in any case.

    Every method that returns a value notes that the setting is used; `unused` lists those that nothing asked for.

    Parameters
    ----------
    path : path-like
        A `.s` file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from ramify.datasets.readers.clus_settings import ClusSettings
    >>> file = Path(mkdtemp()) / "genes.s"
    >>> _ = file.write_text("[Relief]\nNeighbours = [5, 10]  % K\nChosenInstances = 3\n")
    >>> settings = ClusSettings(file)
    >>> settings.numbers("Relief", "Neighbours", [10])
    [5.0, 10.0]
    >>> settings.unused()
    ['[Relief] ChosenInstances = 3 (line 3)']
    """

    def __init__(self, path: PathLike) -> None:
        self.path = Path(path)
        self._values: dict[tuple[str, str], tuple[str, str, str, int]] = {}
        self._used: set[tuple[str, str]] = set()
        self._sections: set[str] = set()
        section = ""
        for number, raw in enumerate(read_text(path).splitlines(), start=1):
            line = raw.partition("%")[0].strip()
            if not line:
                continue
            if heading := re.fullmatch(r"\[\s*([\w ]+?)\s*\]", line):
                section = heading[1]
                self._sections.add(section.lower())
                continue
            name, equals, value = (part.strip() for part in line.partition("="))
            if not equals or not name:
                advice = "A line is a section as [Data] or a setting as File = genes.arff."
                raise FileError(path, f"{shown(line)} is neither", line=number, advice=advice)
            if not section:
                raise FileError(path, f"{name} stands before the first section", line=number, advice="Add [General].")
            key = section.lower(), name.lower()
            if key in self._values and self._values[key][2] != value:
                advice = f"Line {self._values[key][3]} says {self._values[key][2]}. Leave one of them out."
                raise FileError(path, f"[{section}] {name} is set twice", line=number, advice=advice)
            self._values[key] = section, name, value, number

    def has(self, section: str, name: str | None = None) -> bool:
        """Whether the file has that section, or that setting with a value other than None."""
        if name is None:
            return section.lower() in self._sections
        return self.text(section, name) is not None

    def text(self, section: str, name: str) -> str | None:
        """The value as it stands in the file; None where it is not there, empty or `None`."""
        key = section.lower(), name.lower()
        self._used.add(key)
        value = self._values[key][2] if key in self._values else ""
        return None if value.lower() in {"", "none"} else value

    def choice(self, section: str, name: str, known: Mapping[str, Value], default: Value) -> Value:
        """What `known` holds for the value, in any case."""
        value = self.text(section, name)
        return default if value is None else self._known(section, name, value, known)

    def choices(self, section: str, name: str, known: Mapping[str, Value]) -> list[Value]:
        """What `known` holds for each value of a list or for the one value."""
        return [self._known(section, name, value, known) for value in self._list(section, name)]

    def flag(self, section: str, name: str, *, default: bool) -> bool:
        """Yes or No."""
        return self.choice(section, name, _YES_NO, default)

    def number(self, section: str, name: str, default: float) -> float:
        """A number."""
        found = self.numbers(section, name, [default])
        if len(found) != 1:
            raise self.fault(section, name, "must be one number")
        return found[0]

    def numbers(self, section: str, name: str, default: list[float]) -> list[float]:
        """The numbers of a list or the one number."""
        if self.text(section, name) is None:
            return default
        try:
            return [float(value) for value in self._list(section, name)]
        except ValueError:
            raise self.fault(section, name, "must be a number or a list of numbers as [5, 10]") from None

    def columns(self, section: str, name: str, n_columns: int) -> list[int] | None:
        """Positions of columns, from 0, of a value as 1-7,9 that counts from 1; None where the file does not say."""
        value = self.text(section, name)
        if value is None or value.lower() == "default":
            return None
        found: list[int] = []
        for part in value.split(","):
            bounds = re.fullmatch(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?", part)
            if bounds is None:
                raise self.fault(section, name, "must list columns as 1-7,9")
            first, last = int(bounds[1]), int(bounds[2] or bounds[1])
            if not 1 <= first <= last <= n_columns:
                raise self.fault(section, name, f"names columns {part.strip()} where the data have {n_columns}")
            found += range(first - 1, last)
        return sorted(set(found))

    def unused(self) -> list[str]:
        """Settings that nothing asked for, each with its line, but for those that change no result."""
        return [
            f"[{section}] {name} = {value} (line {line})"
            for key, (section, name, value, line) in self._values.items()
            if key not in self._used | _WITHOUT_EFFECT and key[0] not in _SECTIONS_WITHOUT_EFFECT
        ]

    def fault(self, section: str, name: str, what: str, advice: str = "") -> FileError:
        """The error that says what is wrong with a setting."""
        section_, name_, value, line = self._values.get((section.lower(), name.lower()), (section, name, "", None))
        return FileError(self.path, f"[{section_}] {name_} {what}. Got {shown(value)}", line=line, advice=advice)

    def _list(self, section: str, name: str) -> list[str]:
        value = self.text(section, name)
        inner = "" if value is None else value.removeprefix("[").removesuffix("]")
        return [part.strip() for part in inner.split(",") if part.strip()]

    def _known(self, section: str, name: str, value: str, known: Mapping[str, Value]) -> Value:
        lower = {each.lower(): meant for each, meant in known.items()}
        if value.lower() not in lower:
            what = f"must be {' or '.join(known)} for Ramify" if len(known) < 8 else "is not known"
            raise self.fault(section, name, what, advice_for_name(value, list(known)) if len(known) >= 8 else "")
        return lower[value.lower()]
