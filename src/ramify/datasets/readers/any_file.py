"""`read`: any data file of the field, by its name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

from ramify.datasets.column_roles import ColumnRoles
from ramify.datasets.copied_rows import copied_rows
from ramify.datasets.dataset import Dataset, Target
from ramify.datasets.readers.arff import read_arff
from ramify.datasets.readers.attached_hierarchy import with_features_ordered, with_labels_ordered
from ramify.datasets.readers.gaf import read_gaf
from ramify.datasets.readers.label_rankings import are_rankings, have_order_column, read_rankings
from ramify.datasets.readers.mulan import label_file_of, read_mulan
from ramify.datasets.readers.raw_files import FileError, PathLike, file_paths, plain_name, zipped_name
from ramify.datasets.readers.sparse_text import holds_sparse_text, read_sparse_text
from ramify.datasets.readers.standard_input import named_source, with_standard_input
from ramify.datasets.readers.tables import Roles, read_csv, read_excel, read_parquet
from ramify.datasets.readers.text_layout import first_records
from ramify.hierarchy import Hierarchy


def read(
    files: PathLike | Sequence[PathLike],
    target: Any = None,
    *,
    kind: Target | None = None,
    identifier: str | int | None = "auto",
    ignore: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
    categorical: str | Collection[str] = (),
    roles: Roles = "auto",
    dates: str | Sequence[str] | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    unknown: str | float | None = None,
    hierarchy: Hierarchy | PathLike | None = None,
    feature_hierarchy: Hierarchy | PathLike | None = None,
    **options: Any,
) -> Dataset:
    r"""Read a data set with the reader that its file names call for.

    Parameters
    ----------
    files : path or sequence of paths
        One file, or the files of one set (train, valid, test; an XML file of labels). "-" is standard input, whose
        format is found from its content.
    target : str or sequence of str, optional
        Target columns, in which `*` stands for anything ("Product*"). By default what the reader finds: the
        hierarchical attribute, the labels of the XML file, the rank columns, or the last column.
    kind : {"classes", "labels", "hierarchy", "numbers", "rankings", "mixed"}, optional
        What the target of a table is; by default told by its cells.
    identifier : str or None, default="auto"
        The column that names the rows and is no feature. "auto" finds it, None takes none.
    ignore, keep : str or sequence of str
        Columns to leave out, and columns of a table to take as features whatever their role seems to be; `*` stands for
        anything.
    categorical : str or sequence of str
        Columns of a table that are nominal even if all cells are numbers.
    roles : "auto", None or roles of other data, default="auto"
        "auto" keeps identifiers, dates, constants and copies of the target in tables from becoming features. None keeps
        none. The `roles` of a data set or `roles_` of a model read a table as that data was read.
    dates : {"parts", "days", "dmy", "mdy"} or several, optional
        What to make of the dates of a table, as of `read_csv`; by default they are left out.
    separator, decimal, encoding : str, optional
        How text is written, as of `read_csv`; by default told by the file.
    sheet : str, optional
        Sheet of an Excel file.
    unknown : str or number, optional
        What target cells of a table hold where nothing is known, as of `read_csv`; ARFF files write ?.
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
        ARFF files (`.arff`, `.harff`, `.xarff`) by `read_arff`; `.csv`, `.tsv` and `.txt` by `read_sparse_text` or
        `read_rankings` if they hold such rows, else by `read_csv` (transposed if the first cell is `is_a`); `.parquet`
        by `read_parquet`; `.xlsx` by `read_excel`; `.gaf` by `read_gaf`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from ramify.datasets import read
    >>> file = Path(mkdtemp()) / "plants.csv"
    >>> _ = file.write_text("height;kind\n1,5;tree\n0,2;herb\n")
    >>> data = read(file, target="kind")
    >>> data
    Dataset(2 rows, 1 dense features, target='classes', 2 labels)
    >>> data.notes
    ('Cells are separated by semicolons.', "height holds numbers with decimal commas, as in '1,5'.")
    """
    said = {
        "kind": (kind, None),
        "identifier": (identifier, "auto"),
        "ignore": (ignore, ()),
        "keep": (keep, ()),
        "categorical": (categorical, ()),
        "roles": (roles, "auto"),
        "dates": (dates, None),
        "separator": (separator, None),
        "decimal": (decimal, None),
        "encoding": (encoding, None),
        "sheet": (sheet, None),
        "unknown": (unknown, None),
    }
    options |= {name: value for name, (value, usual) in said.items() if value is not usual and value != usual}
    with with_standard_input(files) as paths:
        data = named_source(_read(paths, target, options), files)
    if roles == "auto" and (told := tuple(copied_rows(data))):
        data = replace(data, notes=(*data.notes, *told))
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
    if ending not in {*READERS, *_NO_DATA} and first.suffix.lower() == ".zip" and first.is_file():
        ending = zipped_name(first).lower().rpartition(".")[2]
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


def _called(reader: Callable[..., Dataset], files: Any, options: dict[str, Any]) -> Dataset:
    """What a reader returns, or a word about an option that it does not take."""
    taken = signature(reader).parameters
    if "roles" not in taken:  # files that say themselves what their columns are
        options = {name: value for name, value in options.items() if name != "roles"}
    unknown = [name for name in options if name not in taken]
    if unknown:
        known = ", ".join(name for name in taken if name not in {"files", "file"})
        raise ValueError(f"{reader.__name__}, which reads this file, takes no {unknown[0]!r}. It takes {known}.")
    return reader(files, **options)


def _lists_labels(path: Path) -> bool:
    return plain_name(path).lower().endswith(".xml")


def _read_delimited(paths: list[Path], target: Any, options: dict[str, Any]) -> Dataset:
    if holds_sparse_text(paths[0]):
        if target is not None:
            advice = "Leave out the target."
            raise FileError(paths[0], "these sparse rows name their labels themselves", advice=advice)
        return _called(read_sparse_text, paths, options)
    if not options.keys() & {"kind", "transposed"} and not isinstance(options.get("roles"), (Mapping, ColumnRoles)):
        records = first_records(paths[0], options.get("separator"), options.get("encoding"), 2)
        if target is None and are_rankings(records) and not have_order_column(records):
            return _called(read_rankings, paths, options)
        if records and records[0][0].strip() == "is_a":
            return _called(read_csv, paths, {"target": target, "transposed": True, "kind": "classes", **options})
    return _called(read_csv, paths, {"target": target, **options})


def _read_arff_family(paths: list[Path], target: Any, options: dict[str, Any]) -> Dataset:
    data_paths = [path for path in paths if not _lists_labels(path)]
    if target is not None:
        return _called(read_arff, data_paths, {"target": target, **options})
    if len(paths) > len(data_paths) or "labels" in options or label_file_of(data_paths[0]) is not None:
        return _called(read_mulan, paths, options)
    return _called(read_arff, data_paths, options)


def _read_parquet(paths: list[Path], target: Any, options: dict[str, Any]) -> Dataset:
    return _called(read_parquet, paths, {"target": target, **options})


def _read_excel(paths: list[Path], target: Any, options: dict[str, Any]) -> Dataset:
    return _called(read_excel, paths, {"target": target, **options})


def _read_annotations(paths: list[Path], target: Any, options: dict[str, Any]) -> Dataset:
    if len(paths) > 1 or target is not None:
        advice = "Use read_gaf for annotations and read_obo for an ontology."
        raise FileError(paths[0], "this is not read together with a target or other files", advice=advice)
    return _called(read_gaf, paths[0], options)


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
    "xlsx": _read_excel,
    "xlsm": _read_excel,
    "gaf": _read_annotations,
}
"""Ending of a file's name and what reads it, given all paths, the target and further options."""

_NO_DATA = {
    "obo": ("this is an ontology and holds no data", "Use read_obo, or name it as the hierarchy of data."),
    "xls": ("this is an old Excel file", "Save it as .xlsx or .csv."),
    "ramify": (
        "this is a model and holds no data",
        "Name a data file; ramify.load and 'ramify predict MODEL DATA' take models.",
    ),
}
"""Endings of files that are no data, the fault and what to do."""
