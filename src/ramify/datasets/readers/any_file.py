"""`read`: any data file of the field, by its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from ramify.datasets.dataset import Dataset
from ramify.datasets.readers.arff import read_arff
from ramify.datasets.readers.attached_hierarchy import with_features_ordered, with_labels_ordered
from ramify.datasets.readers.delimited import read_records
from ramify.datasets.readers.gaf import read_gaf
from ramify.datasets.readers.label_rankings import are_rankings, read_rankings
from ramify.datasets.readers.mulan import label_file_of, read_mulan
from ramify.datasets.readers.raw_files import FileError, PathLike, file_paths, plain_name
from ramify.datasets.readers.tables import read_csv, read_parquet
from ramify.hierarchy import Hierarchy


def read(
    files: PathLike | Sequence[PathLike],
    target: Any = None,
    *,
    hierarchy: Hierarchy | PathLike | None = None,
    feature_hierarchy: Hierarchy | PathLike | None = None,
    **options: Any,
) -> Dataset:
    r"""Read a data set with the reader that its file names call for.

    Parameters
    ----------
    files : path or sequence of paths
        One file, or the files of one set (train, valid, test; an XML file of labels).
    target : str or sequence of str, optional
        Target columns. By default what the reader finds: the hierarchical attribute, the labels of the XML file, the
        rank columns, or the last column.
    hierarchy : Hierarchy or path, optional
        Hierarchy of the labels, or its file: OBO or edges. Labels that the data do not have are left out, unless they
        lie above one; rows get all ancestors of their labels.
    feature_hierarchy : Hierarchy or path, optional
        Hierarchy of the features, or its file: OBO or edges.
    **options
        Further parameters of the reader.

    Returns
    -------
    Dataset
        `.arff` files with an XML file of labels beside them are read by `read_mulan` if no target is given, other
        ARFF files (`.arff`, `.harff`, `.xarff`) by `read_arff`; `.csv`, `.tsv` and `.txt` by `read_rankings` if they
        hold rankings and no target is given, else by `read_csv` (transposed if the first cell is `is_a`); `.parquet`
        by `read_parquet`; `.gaf` by `read_gaf`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from ramify.datasets import read
    >>> file = Path(mkdtemp()) / "plants.csv"
    >>> _ = file.write_text("height,kind\n1.5,tree\n0.2,herb\n")
    >>> read(file, target="kind")
    Dataset(2 rows, 1 dense features, target='classes', 2 labels)
    """
    data = _read(files, target, options)
    if hierarchy is not None:
        data = with_labels_ordered(data, hierarchy)
    if feature_hierarchy is not None:
        data = with_features_ordered(data, feature_hierarchy)
    return data


def _read(files: PathLike | Sequence[PathLike], target: Any, options: dict[str, Any]) -> Dataset:
    paths = file_paths(files)
    data_paths = [path for path in paths if not _lists_labels(path)]
    if not data_paths:
        raise FileError(paths[0], "this lists labels and holds no data", advice="Name its ARFF file as well.")
    first = data_paths[0]
    if ".edges." in plain_name(first).lower():
        raise FileError(first, "this holds a hierarchy and no data", advice="Use read_edges.")
    ending = plain_name(first).lower().rpartition(".")[2]
    if ending in _NO_DATA:
        fault, advice = _NO_DATA[ending]
        raise FileError(first, fault, advice=advice)
    if ending not in READERS:
        known = f"Known endings are {', '.join(READERS)}, plain or with .gz, .bz2, .xz or .zip"
        raise FileError(
            first, f"no reader is known for .{ending}", advice=f"{known}; or call a reader such as read_csv."
        )
    if len(data_paths) < len(paths) and READERS[ending] is not _read_arff_family:
        raise FileError(first, "an XML file of labels goes with ARFF files", advice="Leave out the XML file.")
    return READERS[ending](paths, target, options)


def _lists_labels(path: Path) -> bool:
    return plain_name(path).lower().endswith(".xml")


def _read_delimited(paths: list[Path], target: Any, options: dict[str, Any]) -> Dataset:
    if not options.keys() & {"target_prefix", "kind", "transposed"}:
        layout = {name: options[name] for name in ("separator", "encoding") if name in options}
        records = list(islice(read_records(paths[0], **layout), 2))
        if target is None and are_rankings(records):
            return read_rankings(paths, **options)
        if records and records[0][1][0].strip() == "is_a":
            return read_csv(paths, target=target, transposed=True, kind="classes", **options)
    return read_csv(paths, target=target, **options)


def _read_arff_family(paths: list[Path], target: Any, options: dict[str, Any]) -> Dataset:
    data_paths = [path for path in paths if not _lists_labels(path)]
    if target is not None:
        return read_arff(data_paths, target=target, **options)
    if len(paths) > len(data_paths) or "labels" in options or label_file_of(data_paths[0]) is not None:
        return read_mulan(paths, **options)
    return read_arff(data_paths, **options)


def _read_parquet(paths: list[Path], target: Any, options: dict[str, Any]) -> Dataset:
    return read_parquet(paths, target=target, **options)


def _read_annotations(paths: list[Path], target: Any, options: dict[str, Any]) -> Dataset:
    if len(paths) > 1 or target is not None:
        advice = "Use read_gaf for annotations and read_obo for an ontology."
        raise FileError(paths[0], "this is not read together with a target or other files", advice=advice)
    return read_gaf(paths[0], **options)


READERS: dict[str, Callable[[list[Path], Any, dict[str, Any]], Dataset]] = {
    "arff": _read_arff_family,
    "harff": _read_arff_family,
    "xarff": _read_arff_family,
    "csv": _read_delimited,
    "tsv": _read_delimited,
    "tab": _read_delimited,
    "txt": _read_delimited,
    "parquet": _read_parquet,
    "pq": _read_parquet,
    "gaf": _read_annotations,
}
"""Ending of a file's name and what reads it, given all paths, the target and further options."""

_NO_DATA = {
    "obo": ("this is an ontology and holds no data", "Use read_obo, or name it as the hierarchy of data."),
    "ramify": (
        "this is a model and holds no data",
        "Name a data file; ramify.load and 'ramify predict MODEL DATA' take models.",
    ),
}
"""Endings of files that are no data, the fault and what to do."""
