"""The data sets of a study, loaded where they are needed and known by their content."""

from __future__ import annotations

from typing import Any

from ramify.datasets import Dataset
from ramify.study.fingerprint import fingerprint

UNREADABLE = "unreadable"
"""What stands for the content of a data set whose loader fails."""

_kept: tuple[str, Dataset] | None = None  # the last data set loaded in this process, under its content


def load_fresh(load: Any) -> tuple[str, Dataset]:
    """Content of a data set as it is now, and the data set."""
    global _kept
    if isinstance(load, Dataset):
        return fingerprint(load, "the data set"), load
    data = load()
    if not isinstance(data, Dataset):
        raise TypeError(f"A data set's loader must return a Dataset. Got {type(data).__name__}.")
    _kept = fingerprint(data, "the data set"), data
    return _kept


def load_known(load: Any, content: str) -> Dataset:
    """The data set of that content, loaded anew where it is not the last one that this process loaded."""
    if isinstance(load, Dataset):
        return load
    kept = _kept
    if kept is not None and kept[0] == content:
        return kept[1]
    now, data = load_fresh(load)
    if now != content:
        raise ValueError(
            "The data set is not what it was when the run began: its file changed meanwhile, or its loader returns "
            "other data each time. Give the loader a seed, leave the file alone, and run the study again."
        )
    return data
