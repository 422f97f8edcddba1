"""Data as the commands read it: files by name, targets by column, hierarchies from files of their own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import click

from ramify.cli.terminal import say

if TYPE_CHECKING:
    from ramify.datasets import Dataset

Path = str | PathLike[str]


def read_data(
    files: Sequence[Path],
    target: Sequence[str] = (),
    hierarchy: Path | None = None,
    feature_hierarchy: Path | None = None,
    reading: Mapping[str, Any] | None = None,
    *,
    tell: bool = True,
) -> Dataset:
    """Read the files of a command line.

    Parameters
    ----------
    files : sequence of paths
        One data set: a file, or its parts.
    target : sequence of str
        Columns of the target; `*` stands for anything.
    hierarchy : path, optional
        Hierarchy of the labels, OBO or edges. Labels that the data do not have are left out, unless they lie above one.
    feature_hierarchy : path, optional
        Hierarchy of the features, OBO or edges.
    reading : dict, optional
        Further parameters of `ramify.datasets.read`.
    tell : bool, default=True
        Whether to print what the readers decided.
    """
    from ramify.datasets import read

    data = read(
        list(files),
        (target[0] if len(target) == 1 else list(target)) if target else None,
        hierarchy=hierarchy,
        feature_hierarchy=feature_hierarchy,
        **(reading or {}),
    )
    if tell:
        tell_notes(data)
    return data


def tell_notes(data: Dataset) -> None:
    """Print what the readers decided to standard error, unless --quiet was given."""
    context = click.get_current_context(silent=True)
    if context is None or not context.params.get("quiet"):
        for note in (*data.notes, *_nameless(data)):
            say(f"Note: {note}", err=True)


def _nameless(data: Dataset) -> list[str]:
    """Where names come from, if labels are identifiers of an ontology and nothing says what they are called."""
    ids = [name for name in map(str, data.label_names) if re.fullmatch(r"[A-Za-z]{2,}[:_]?[0-9]{5,}", name)]
    if data.titles or 2 * len(ids) < max(1, len(data.label_names)):
        return []
    return [f"Labels are identifiers, such as {ids[0]}. Give their ontology to see their names: --hierarchy FILE.obo."]


OF_ANNOTATIONS = {"annotations", "aspect", "evidence", "min_rows"}
OF_THE_MODEL = {"ignore": "--ignore", "keep": "--keep", "categorical": "--nominal", "dates": "--dates"}


def data_to_predict(
    model: Any, files: Sequence[str], target: Sequence[str], hierarchy: str | None, reading: Mapping[str, Any]
) -> Dataset:
    """Read rows that need not have a target, as the model's own data were read.

    Where a model does not know how, all columns of a table may be features.
    """
    from ramify.analysis.model_data import lacking_features
    from ramify.datasets import read
    from ramify.datasets.readers.standard_input import named_source, with_standard_input

    inspection = getattr(model, "inspection_", None)
    notes = []
    if inspection is not None:
        said = [option for name, option in OF_THE_MODEL.items() if name in reading]
        reading = {name: value for name, value in reading.items() if name not in OF_THE_MODEL}
        notes = (
            [f"{', '.join(said)} of the model are used: it reads the columns that it was fitted to."] if said else []
        )
    options = {"roles": inspection, **reading}
    with with_standard_input(files) as paths:
        try:
            data = read_data(paths, target, hierarchy, reading=options, tell=False)
        except ValueError as error:
            if target:
                raise
            options = {name: value for name, value in options.items() if name not in OF_ANNOTATIONS}
            data = read(list(paths), target=[], **options)
            if lacking_features(model, data.feature_names) and inspection is None:
                raise
            notes.append(f"Nothing is measured, since the target cannot be read: {error}")
        if not target and inspection is None and lacking_features(model, data.feature_names):
            untargeted = read(list(paths), target=[], **options)
            data = min(data, untargeted, key=lambda each: len(lacking_features(model, each.feature_names)))
        data = replace(named_source(data, files), notes=(*data.notes, *notes))
    tell_notes(data)
    return data


def described(data: Dataset, *, chosen: bool) -> str:
    """What was read, in a line: a target that nobody chose is told, so that a wrong guess is seen."""
    kind = data.target_type
    target = "none" if data.target is None else kind.described(data.label_names)
    columns = () if data.inspection is None else data.inspection.target.columns
    if len(columns) == 1 and kind.has_one_label:
        target = f"{columns[0]}, {target}"
    if data.target is not None and not chosen and not kind.has_sets and not kind.ranks_labels:
        target += " (the last column; --target names another)"
    return f"{data.n_samples:,} rows, {data.n_features:,} features, target: {target}, {data.source}"


def refuse_empty(data: Dataset, *, features: bool = True) -> Dataset:
    """Return data that there is something to learn from; without `features`, something to predict."""
    if data.n_samples == 0:
        raise ValueError(f"{data.source or 'The data'} has no rows. Name a file with rows below the columns' names.")
    if features and data.n_features == 0:
        raise ValueError(f"{data.source or 'The data'} has no features, only a target. Name another target or file.")
    if features and data.target_type.has_one_label and data.n_labels == 1:
        only = f"All {data.n_samples} rows" if data.n_samples > 1 else "The one row"
        raise ValueError(
            f"{only} of {data.source or 'the data'} {'are' if data.n_samples > 1 else 'is'} of the class "
            f"{data.label_names[0]!r}: there is nothing to tell apart. Name another target with --target."
        )
    return data


def called_labels(texts: Sequence[str], names: Sequence[str], titles: Mapping[str, str]) -> tuple[str, ...]:
    """The labels that --label names by identifier or by what they are called, or an error with near misses."""
    from ramify.datasets.term_names import label_called

    return tuple(label_called(text, names, titles) for text in texts)
