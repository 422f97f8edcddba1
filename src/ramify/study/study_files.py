"""Study files: short Python files that define a study, and the data they look for."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import importlib.util
import json
import lzma
import os
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import ramify

_PACKAGE = "ramify_studies"
PACKED = ("", ".gz", ".bz2", ".xz", ".zip")
_OPENED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def data_folder(given: str | Path | None = None) -> Path | None:
    """The folder with published data sets: given, or named by the environment variable RAMIFY_DATA; None without any.

    Examples
    --------
    >>> from ramify.study.study_files import data_folder
    >>> data_folder("somewhere")
    Traceback (most recent call last):
    ...
    ValueError: There is no folder somewhere; pass --data or set RAMIFY_DATA to the folder with the data sets.
    """
    chosen = given or os.environ.get("RAMIFY_DATA")
    if chosen is None:
        return None
    folder = Path(chosen)
    if not folder.is_dir():
        raise ValueError(
            f"There is no folder {folder}; pass --data or set RAMIFY_DATA to the folder with the data sets."
        )
    return folder


def available(folder: Path | None, files: Mapping[str, Sequence[str]]) -> tuple[dict[str, list[Path]], list[str]]:
    """Which data sets have all their files, plain or packed, and the names of those that do not.

    Parameters
    ----------
    folder : path or None
        The data folder; without one no set is there.
    files : dict of str to list of str
        Files of each data set, relative to the folder, without the ending of a packer.
    """
    paths_of: dict[str, list[Path]] = {}
    missing = []
    for name, relative in files.items():
        paths = [] if folder is None else [path for file in relative if (path := _packed(folder / file)) is not None]
        if len(paths) == len(relative):
            paths_of[name] = paths
        else:
            missing.append(name)
    return paths_of, missing


def _packed(file: Path) -> Path | None:
    """The file, plain or with the ending of a packer."""
    return next((path for ending in PACKED if (path := file.with_name(file.name + ending)).is_file()), None)


@dataclass(frozen=True)
class DataSet:
    """A published data set of a study, as the manifest names it.

    Attributes
    ----------
    name, source, licence, layout : str
        What it is called, where it comes from, on which terms, and how its files are laid out.
    files : dict of str to str
        SHA-256 of the unpacked content of each file, by its path in the data folder; empty where it is not known.
    """

    name: str
    source: str
    licence: str
    layout: str
    files: dict[str, str]

    def state(self, folder: Path | None) -> str:
        """Whether it is there: "there", "missing", or "differs" where a file has another content."""
        paths = [None if folder is None else _packed(folder / file) for file in self.files]
        if any(path is None for path in paths):
            return "missing"
        known = [(path, sha256) for path, sha256 in zip(paths, self.files.values(), strict=True) if sha256]
        return "there" if all(path and _sha256(path) == sha256 for path, sha256 in known) else "differs"


def _sha256(path: Path) -> str:
    """Hash of a file's content, unpacked."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            content = archive.read(archive.namelist()[0])
    elif path.suffix in _OPENED:
        with _OPENED[path.suffix](path) as file:
            content = file.read()
    else:
        content = path.read_bytes()
    return hashlib.sha256(content).hexdigest()


@cache
def manifest() -> dict[str, dict[str, Any]]:
    """What the studies that come with Ramify are about and which data they use."""
    folder = studies_folder()
    studies: dict[str, dict[str, Any]] = {}
    if folder is not None:
        studies = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return studies


def study_names() -> tuple[str, ...]:
    """The studies that come with Ramify."""
    return tuple(sorted(manifest()))


def data_sets(study: str) -> list[DataSet]:
    """The published data sets of a study that comes with Ramify."""
    if study not in manifest():
        raise ValueError(
            f"There is no study {study!r} with a list of its data; Ramify's are {', '.join(study_names())}."
        )
    return [DataSet(name, **of_set) for name, of_set in manifest()[study]["sets"].items()]


def data_files(study: str) -> dict[str, list[str]]:
    """Files of each published data set of a study, relative to the data folder."""
    return {data.name: list(data.files) for data in data_sets(study)}


def studies_folder() -> Path | None:
    """The folder of the studies that come with Ramify: in the installed package, or beside it in a checkout."""
    package = Path(ramify.__file__).resolve().parent
    folders = (package / "studies", package.parents[1] / "studies")
    return next((folder for folder in folders if (folder / "manifest.json").is_file()), None)


def load_study_file(name: str) -> ModuleType:
    """The study file of that path, or the study of that name that comes with Ramify.

    A study file is Python and defines `study(data, folder, quick)`, which returns a `Study`, and may define
    `findings(study)`, which returns Markdown: what was found beside what the paper printed.
    """
    folder, given = studies_folder(), Path(name)
    if folder is not None:
        _share_studies(folder)
    comes_with_ramify = given.resolve().parent == folder if given.is_file() else given.name == name
    if folder is not None and comes_with_ramify and given.stem in study_names():
        return _checked(importlib.import_module(f"{_PACKAGE}.{given.stem}"), name)
    if not given.is_file():
        known = ", ".join(study_names())
        raise ValueError(
            f"There is no study file {given}" + (f", and Ramify's own are {known}" if known else "") + ". Pass the "
            "path of a file that defines study(), or one of these names."
        )
    specification = importlib.util.spec_from_file_location(given.stem, given)
    if specification is None or specification.loader is None:
        raise ValueError(f"{given} is not a Python file. Pass the path of one that defines study().")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return _checked(module, name)


def _share_studies(folder: Path) -> None:
    """Make the folder the package `ramify_studies`, from which studies, also copies of them, take what they share."""
    if _PACKAGE in sys.modules:
        return
    specification = importlib.util.spec_from_file_location(
        _PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if specification is None or specification.loader is None:
        raise ValueError(f"{folder} is not a folder of studies.")
    package = importlib.util.module_from_spec(specification)
    sys.modules[_PACKAGE] = package
    specification.loader.exec_module(package)
    # Other processes cannot import the package by its name, so its functions travel by value.
    for pickler in ("joblib.externals.cloudpickle", "cloudpickle"):
        with suppress(ImportError):
            importlib.import_module(pickler).register_pickle_by_value(package)


def _checked(module: ModuleType, name: str) -> ModuleType:
    if not callable(getattr(module, "study", None)):
        raise ValueError(f"{name} defines no function study(data, folder, quick).")
    return module
