"""Data as the commands read it: files by name, targets by column, hierarchies from files of their own."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ramify.datasets import Dataset

Path = str | PathLike[str]


def read_data(
    files: Sequence[Path],
    target: Sequence[str] = (),
    hierarchy: Path | None = None,
    feature_hierarchy: Path | None = None,
) -> Dataset:
    """Read the files of a command line.

    Parameters
    ----------
    files : sequence of paths
        One data set: a file, or its parts.
    target : sequence of str
        Columns of the target; one that ends with `*` stands for all columns that start so.
    hierarchy : path, optional
        Hierarchy of the labels, OBO or edges. Labels that the data do not have are left out, unless they lie above one.
    feature_hierarchy : path, optional
        Hierarchy of the features, OBO or edges.
    """
    from ramify.datasets import read

    return read(list(files), **_target(files, target), hierarchy=hierarchy, feature_hierarchy=feature_hierarchy)


def data_to_predict(model: Any, files: Sequence[str], target: Sequence[str], hierarchy: str | None) -> Dataset:
    """Read rows that need not have a target: without one, all columns may be features that the model knows."""
    from ramify.analysis.model_data import lacking_features
    from ramify.datasets import read
    from ramify.datasets.readers.raw_files import FileError

    try:
        data = read_data(files, target, hierarchy)
        if target or not lacking_features(model, data):
            return data
    except FileError:
        if target:
            raise
        untargeted = read(list(files), target=[])
        if lacking_features(model, untargeted):
            raise
        return untargeted
    untargeted = read(list(files), target=[])
    return data if lacking_features(model, untargeted) else untargeted


def described(data: Dataset, *, chosen: bool) -> str:
    """What was read, in a line: a target that nobody chose is told, so that a wrong guess is seen."""
    kind = data.target_type
    target = "none" if data.target is None else kind.described(data.label_names)
    if data.target is not None and not chosen and not kind.has_sets and not kind.ranks_labels:
        target += " (taken by its place; --target names another)"
    return f"{data.n_samples} rows, {data.n_features} features, target: {target}, {data.source}"


def refuse_empty(data: Dataset) -> Dataset:
    """Return data that there is something to learn from, or to predict."""
    if data.n_samples == 0:
        raise ValueError(f"{data.source or 'The data'} has no rows. Name a file with rows below the columns' names.")
    if data.n_features == 0:
        raise ValueError(f"{data.source or 'The data'} has no features, only a target. Name another target or file.")
    return data


def _target(files: Sequence[Path], target: Sequence[str]) -> dict[str, Any]:
    from ramify.datasets import read
    from ramify.datasets.readers.raw_files import advice_for_name, plain_name

    if not target:
        return {}
    is_arff = any(plain_name(path).lower().endswith("arff") for path in files)
    if len(target) == 1 and target[0].endswith("*") and not is_arff:
        return {"target_prefix": target[0][:-1]}
    if not any(name.endswith("*") for name in target):
        return {"target": target[0] if len(target) == 1 else list(target)}
    columns = read(list(files), target=[]).feature_names
    chosen: dict[str, None] = {}
    for name in target:
        found = [column for column in columns if column.startswith(name[:-1])] if name.endswith("*") else [name]
        if not found:
            raise ValueError(f"No column starts with {name[:-1]!r}. {advice_for_name(name[:-1], columns)}")
        chosen.update(dict.fromkeys(found))
    return {"target": list(chosen)}


def term_titles(*paths: Path | None) -> dict[str, str]:
    """What the terms of OBO files are called, for people who do not know their ids."""
    from ramify.datasets.readers.attached_hierarchy import is_ontology
    from ramify.datasets.readers.ontology import read_ontology

    titles: dict[str, str] = {}
    for path in paths:
        if path is not None and is_ontology(path):
            terms = read_ontology(path).terms
            titles.update({name: term.name for name, term in terms.items() if term.name})
    return titles
