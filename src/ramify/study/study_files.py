"""Study files: short Python files that define a study, and the data they look for."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

PACKED = ("", ".gz", ".bz2", ".xz", ".zip")


def data_folder(given: str | Path | None = None) -> Path:
    """The folder with the published data sets: given, or named by the environment variable RAMIFY_DATA.

    Examples
    --------
    >>> from ramify.study import data_folder
    >>> data_folder("somewhere")
    Traceback (most recent call last):
    ...
    ValueError: There is no folder somewhere; pass --data or set RAMIFY_DATA to the folder with the data sets.
    """
    folder = Path(given or os.environ.get("RAMIFY_DATA") or "../shared/data")
    if not folder.is_dir():
        raise ValueError(
            f"There is no folder {folder}; pass --data or set RAMIFY_DATA to the folder with the data sets."
        )
    return folder


def available(folder: Path, files: Mapping[str, Sequence[str]]) -> tuple[dict[str, list[Path]], list[str]]:
    """Which data sets have all their files, plain or packed, and the names of those that do not.

    Parameters
    ----------
    folder : path
        The data folder.
    files : dict of str to list of str
        Files of each data set, relative to the folder, without the ending of a packer.
    """
    found: dict[str, list[Path]] = {}
    missing = []
    for name, relative in files.items():
        paths = [
            next((path for ending in PACKED if (path := folder / f"{file}{ending}").is_file()), None)
            for file in relative
        ]
        if all(path is not None for path in paths):
            found[name] = [path for path in paths if path is not None]
        else:
            missing.append(name)
    return found, missing


def load_study_file(name: str) -> ModuleType:
    """The study file of that path, or of that name in the folder `studies` of a checkout.

    A study file is Python and defines `study(data, folder, quick)`, which returns a `Study`, and may define
    `findings(study)`, which returns Markdown: what was found beside what the paper printed.
    """
    path = Path(name) if name.endswith(".py") or Path(name).is_file() else Path("studies") / f"{name}.py"
    if not path.is_file():
        folder = Path("studies")
        here = sorted(file.stem for file in folder.glob("*.py")) if folder.is_dir() else []
        known = f"studies/ has {', '.join(here)}" if here else "there is no folder studies/ here"
        raise ValueError(f"There is no study file {path}; {known}. Pass the path of a file that defines study().")
    specification = importlib.util.spec_from_file_location(path.stem, path)
    if specification is None or specification.loader is None:
        raise ValueError(f"{path} is not a Python file. Pass the path of one that defines study().")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    if not callable(getattr(module, "study", None)):
        raise ValueError(f"{path} defines no function study(data, folder, quick).")
    return module
