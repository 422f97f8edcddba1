"""`read`: any data file of the field, by its name."""

from __future__ import annotations

from collections.abc import Sequence
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
        Order of the labels, or its file: OBO or edges. Labels that the data do not have are left out, unless they lie
        above one; rows get all ancestors of their labels.
    feature_hierarchy : Hierarchy or path, optional
        Order of the features, or its file: OBO or edges.
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
    is_xml = [plain_name(path).lower().endswith(".xml") for path in paths]
    data_paths = [path for path, xml in zip(paths, is_xml, strict=True) if not xml]
    if not data_paths:
        raise FileError(paths[0], "this lists labels and holds no data", advice="Name its ARFF file as well.")
    ending = plain_name(data_paths[0]).lower().rpartition(".")[2]
    if ending in {"arff", "harff", "xarff"}:
        return _read_arff_family(paths, data_paths, target, options)
    if ".edges." in plain_name(data_paths[0]).lower():
        raise FileError(data_paths[0], "this holds a hierarchy and no data", advice="Use read_edges.")
    if any(is_xml):
        raise FileError(data_paths[0], "an XML file of labels goes with ARFF files", advice="Leave out the XML file.")
    if ending in {"csv", "tsv", "tab", "txt"}:
        return _read_delimited(paths, target, options)
    if ending in {"parquet", "pq"}:
        return read_parquet(paths, target=target, **options)
    if ending in {"gaf", "obo"}:
        if ending == "gaf" and len(paths) == 1 and target is None:
            return read_gaf(paths[0], **options)
        advice = "Use read_gaf for annotations and read_obo for an ontology."
        raise FileError(paths[0], "this is not read together with a target or other files", advice=advice)
    if ending == "ramify":
        advice = "Name a data file; ramify.load and 'ramify predict MODEL DATA' take models."
        raise FileError(data_paths[0], "this is a model and holds no data", advice=advice)
    raise FileError(
        data_paths[0],
        f"no reader is known for .{ending}",
        advice="Known endings are arff, harff, xarff, csv, tsv, txt, parquet and gaf, plain or with .gz, .bz2, .xz or "
        ".zip; or call a reader such as read_csv.",
    )


def _read_delimited(paths: list[Path], target: Any, options: dict[str, Any]) -> Dataset:
    if not options.keys() & {"target_prefix", "kind", "transposed"}:
        layout = {name: options[name] for name in ("separator", "encoding") if name in options}
        records = list(islice(read_records(paths[0], **layout), 2))
        if target is None and are_rankings(records):
            return read_rankings(paths, **options)
        if records and records[0][1][0].strip() == "is_a":
            return read_csv(paths, target=target, transposed=True, kind="classes", **options)
    return read_csv(paths, target=target, **options)


def _read_arff_family(paths: list[Path], data_paths: list[Path], target: Any, options: dict[str, Any]) -> Dataset:
    if target is not None:
        return read_arff(data_paths, target=target, **options)
    if len(paths) > len(data_paths) or "labels" in options or label_file_of(data_paths[0]) is not None:
        return read_mulan(paths, **options)
    return read_arff(data_paths, **options)
