"""`read`: any data file of the field by its name, and any frame; `inspect`: what it makes of a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from ramify.datasets.copied_rows import copied_rows
from ramify.datasets.dataset import Dataset, Target
from ramify.datasets.feature_paths import BRANCHES, Branches, with_branches, with_feature_paths
from ramify.datasets.prepared.coded_file import is_coded_file, read_coded
from ramify.datasets.readers.arff import read_arff
from ramify.datasets.readers.attached_hierarchy import with_features_ordered, with_labels_ordered
from ramify.datasets.readers.attached_labels import OF_THE_TARGET, LabelChoice, with_labels_of
from ramify.datasets.readers.gaf import read_gaf
from ramify.datasets.readers.h5ad import read_h5ad
from ramify.datasets.readers.label_rankings import are_rankings, have_order_column, read_rankings
from ramify.datasets.readers.mulan import label_file_of, read_mulan
from ramify.datasets.readers.raw_files import FileError, PathLike, file_paths, plain_name, zipped_name
from ramify.datasets.readers.sparse_text import holds_sparse_text, read_sparse_text
from ramify.datasets.readers.standard_input import named_source, with_standard_input
from ramify.datasets.tables.delimited import delimited_table, read_records
from ramify.datasets.tables.excel import excel_table
from ramify.datasets.tables.inspection import Inspection
from ramify.datasets.tables.notations import points_are_thousands
from ramify.datasets.tables.parquet import parquet_table
from ramify.datasets.tables.table import MISSING, Table, table_of_frame
from ramify.datasets.tables.table_dataset import TableChoice, exact_text, ignored_positions, listed, table_dataset
from ramify.datasets.tables.text_column import TextColumn
from ramify.datasets.tables.text_layout import first_records
from ramify.hierarchy import Hierarchy
from ramify.parameters import check_option
from ramify.targets import target_type

_DECIMAL_COMMA = re.compile(r"[-+]?\d{1,3}(?:\.\d{3})*,\d{1,2}|[-+]?\d+,\d{1,2}")
_TABLE = {name for name in signature(TableChoice).parameters if name != "target"}


def read(
    files: Any,
    target: Any = None,
    *,
    kind: Target | None = None,
    identifier: str | int | None = "auto",
    weight: str | None = None,
    groups: str | None = None,
    ignore: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
    categorical: str | Collection[str] = (),
    roles: Inspection | Mapping[str, Any] | str | None = "auto",
    dates: str | Sequence[str] | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    label_separator: str | None = None,
    path_separator: str | None = None,
    nested: bool | None = None,
    missing_target: str = "leave out",
    unknown: str | float | None = None,
    strict: bool = False,
    annotations: PathLike | None = None,
    aspect: str | None = None,
    evidence: str | Collection[str] = (),
    min_rows: int = 10,
    hierarchy: Hierarchy | PathLike | None = None,
    feature_hierarchy: Hierarchy | PathLike | None = None,
    add_branches: Branches | None = None,
    **options: Any,
) -> Dataset:
    r"""Read a data set: a file with the reader that its name calls for, or a frame.

    Parameters
    ----------
    files : path, sequence of paths or frame
        One file, or the files of one set (train, valid, test; an XML file of labels). "-" is standard input, whose
        format is found from its content. Frames of pandas, polars and others are inspected as files are.
    target : str or sequence of str, optional
        Target columns, in which `*` stands for anything ("Product*"). By default what the reader finds: the
        hierarchical attribute, the labels of the XML file, the rank columns, or the last column.
    kind : {"classes", "labels", "hierarchy", "numbers", "rankings", "mixed"}, optional
        What the target of a table is; by default told by its cells. One column: orders `a>b>c` of the same few labels
        are rankings, `a|b`, `a; b` or `a, b` whose parts recur are label sets, paths such as `Home > Kitchen > Knives`
        whose parents agree are a hierarchy, 0 and 1 or other text classes, other numbers numbers. Several columns: 0
        and 1, yes and no, or one text and nothing are labels; 1 to k in every row rankings; other numbers numbers;
        columns of which each value has one parent in another a hierarchy; others stand side by side.
    identifier : str or None, default="auto"
        The column that names the rows and is no feature. "auto" finds it, None takes none.
    weight : str, optional
        The column that weights the rows of a table.
    groups : str, optional
        The column of a table that says which rows belong together, as those of one patient, family or site.
    ignore, keep : str or sequence of str
        Columns to leave out, and columns of a table to take as features whatever they seem to be; `*` stands for
        anything.
    categorical : str or sequence of str
        Columns of a table that are nominal even if all cells are numbers.
    roles : "auto", None, Inspection or dict, default="auto"
        "auto" keeps identifiers, constants and copies of the target from becoming features, in tables of 20 rows and
        more. None keeps none. The `inspection` of a data set or the `inspection_` of a model reads a table as that one
        was read.
    dates : {"parts", "days", "dmy", "mdy"} or several, optional
        What to make of dates: year, month, weekday and hour, or days since 1970-01-01; by default those that vary.
        "dmy" and "mdy" say whether the day or the month comes first in 01/02/2024.
    separator, decimal, encoding : str, optional
        How text is written; by default told by the file.
    sheet : str, optional
        Sheet of an Excel file.
    label_separator, path_separator : str, optional
        What separates labels of a set and steps of a path in the target of a table; by default found.
    nested : bool, optional
        Whether several target columns are the levels of a hierarchy; by default told by their cells.
    missing_target : {"leave out", "empty", "error"}, default="leave out"
        What to do with rows of a table without a target: leave them out, take an empty set of labels, or refuse them.
    unknown : str or number, optional
        What target cells of a table hold where nothing is known; ARFF files write ?.
    strict : bool, default=False
        Whether to refuse a table of which anything would be noted.
    annotations : path, optional
        A file with the target of the rows, which are joined by name: GAF annotations (by identifier, symbol or
        synonym), gene sets (GMT), a table of two columns (row, label; a line per pair), or any table with the names of
        rows, of which `target` names the target columns, by default all others. Rows that it does not name are treated
        as `missing_target` says.
    aspect : {"P", "F", "C"}, optional
        Of a GAF file, only biological processes, molecular functions or cellular components.
    evidence : str or collection of str, optional
        Of a GAF file, only annotations with these codes, such as ("EXP", "IDA"); by default all but ND (no data).
        Annotations with the qualifier NOT never count.
    min_rows : int, default=10
        Labels of `annotations` that fewer rows of the data have, those below them counted, are left out.
    hierarchy : Hierarchy or path, optional
        Hierarchy of the labels, or its file: OBO or edges. Labels that the data do not have are left out, unless they
        lie above one; rows get all ancestors of their labels.
    feature_hierarchy : Hierarchy or path, optional
        Hierarchy of the features, or its file: OBO or edges. By default features of a table whose names are paths,
        such as `k__Bacteria;p__Firmicutes` or `meta|diet|fibre`, form one.
    add_branches : {"sum", "mean", "max"}, optional
        Add a feature for each inner node of the feature hierarchy that is none: of the numeric features below it.
    **options
        Further parameters of the reader of ARFF, Mulan, ranking or GAF files; of tables `missing` (cells that hold
        nothing), `storage` of X ("auto", "dense" or "sparse") and `transposed` (whether lines are columns).

    Returns
    -------
    Dataset
        `.arff` files with an XML file of labels beside them are read by `read_mulan` if no target is given, other
        ARFF files (`.arff`, `.harff`, `.xarff`) by `read_arff`; `.csv`, `.tsv` and `.txt` by `read_sparse_text` or
        `read_rankings` if they hold such rows, else as tables, like `.parquet`, `.xlsx` and frames; `.gaf` by
        `read_gaf`. `inspection` says what was decided about each column of a table, `notes` the same in sentences.

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
    ('Cells are separated by semicolons.', "height: used as a number (decimal commas, as in '1,5').")
    """
    given = dict(locals())
    options |= {name: given[name] for name, usual in _SAID.items() if given[name] is not usual and given[name] != usual}
    if hierarchy is not None and kind is not None and target_type(kind).has_one_label:
        raise ValueError(f"A hierarchy orders the labels of sets; kind={kind!r} has none. Leave out one of the two.")
    with with_standard_input(files) as paths:
        if annotations is None:
            data = _rows(paths, target, options)
        else:
            data = _with_annotations(paths, annotations, target, hierarchy, options)
            hierarchy = None
        data = data if _is_frame(files) else named_source(data, files)
    if isinstance(roles, str) and (told := tuple(copied_rows(data))):
        data = replace(data, notes=(*data.notes, *told))
    if hierarchy is not None:
        data = with_labels_ordered(data, hierarchy)
    if feature_hierarchy is not None:
        data = with_features_ordered(data, feature_hierarchy, ancestors=add_branches is not None)
    elif data.inspection is not None and data.feature_hierarchy is None:
        data = with_feature_paths(data)
    if add_branches is not None:
        check_option("read", "add_branches", add_branches, BRANCHES)
        data = with_branches(data, add_branches)
    return data


_SAID = {
    name: parameter.default
    for name, parameter in signature(read).parameters.items()
    if name in {"separator", "encoding", "sheet", *signature(TableChoice).parameters, *OF_THE_TARGET} - {"target"}
}
"""Parameters of `read` that readers are told where they are not as usual."""


def _is_frame(files: Any) -> bool:
    return (hasattr(files, "columns") and hasattr(files, "shape")) or hasattr(files, "__arrow_c_stream__")


def _rows(files: Any, target: Any, options: dict[str, Any]) -> Dataset:
    """A frame or files as a data set."""
    if _is_frame(files):
        return _called(_read_frame, files, {"target": target, **options})
    return _read(files, target, options)


def _with_annotations(
    files: Any, annotations: PathLike, target: Any, hierarchy: Hierarchy | PathLike | None, options: dict[str, Any]
) -> Dataset:
    """Rows whose target is that of another file."""
    of_target = {name: value for name, value in options.items() if name in OF_THE_TARGET}
    of_rows = {name: value for name, value in options.items() if name not in OF_THE_TARGET}
    is_known = isinstance(options.get("roles"), (Mapping, Inspection))

    def read_rows(identifier: str | None) -> Dataset:
        return _rows(files, [], of_rows if identifier is None else {**of_rows, "identifier": identifier})

    choice = LabelChoice(target=target, hierarchy=hierarchy, keep_rows=is_known, **of_target)
    return with_labels_of(read_rows, annotations, choice)


def inspect(table: Any, target: Any = None, **options: Any) -> Inspection:
    """What each column of a table is, what was decided about it, why, and what would change it.

    Parameters
    ----------
    table : path, sequence of paths or frame
        As of `read`.
    target : str or sequence of str, optional
        Target columns; by default the last column.
    **options
        As of `read`.

    Examples
    --------
    >>> import pandas as pd
    >>> import ramify
    >>> frame = pd.DataFrame({"size": ["3 kg", "5 kg"], "kind": ["a", "b"]})
    >>> ramify.inspect(frame)["size"].decision
    'used as a number'
    """
    found = read(table, target, **options).inspection
    if found is None:
        raise ValueError(f"{table} is no table: its file says itself what its columns are. Use read.")
    return found


def _read(files: PathLike | Sequence[PathLike], target: Any, options: dict[str, Any]) -> Dataset:
    paths = file_paths(files)
    data_paths = [path for path in paths if not _lists_labels(path)]
    if not data_paths:
        raise FileError(paths[0], "this lists labels and holds no data", advice="Name its ARFF file as well.")
    first = data_paths[0]
    if ".edges." in plain_name(first).lower():
        raise FileError(
            first,
            "this holds a hierarchy and no data",
            advice="Use read_hierarchy, or name it as the hierarchy of data.",
        )
    ending = plain_name(first).lower().rpartition(".")[2]
    if ending not in {*READERS, *_NO_DATA} and first.suffix.lower() == ".zip" and first.is_file():
        ending = zipped_name(first).lower().rpartition(".")[2]
    if ending in _NO_DATA:
        fault, advice = _NO_DATA[ending]
        raise FileError(first, fault, advice=advice)
    if ending not in READERS:
        known = f"Known endings are {', '.join(READERS)}, plain or with .gz, .bz2, .xz or .zip"
        raise FileError(first, f"no reader is known for .{ending}", advice=f"{known}.")
    if len(data_paths) < len(paths) and READERS[ending] is not _read_arff_family:
        raise FileError(first, "an XML file of labels goes with ARFF files", advice="Leave out the XML file.")
    return READERS[ending](paths, target, options)


def _called(reader: Callable[..., Dataset], files: Any, options: dict[str, Any]) -> Dataset:
    """What a reader returns, or a word about an option that it does not take."""
    taken = signature(reader).parameters
    known = [name for name in taken if name not in {"files", "file", "path", "said"}]
    if "said" in taken:
        known += sorted(_TABLE | {"target"})
    elif "roles" not in taken:  # files that say themselves what their columns are
        options = {name: value for name, value in options.items() if name != "roles"}
    unknown = [name for name in options if name not in known]
    if unknown:
        raise ValueError(f"This kind of data takes no {unknown[0]!r}. It takes {', '.join(known)}.")
    return reader(files, **options)


def _lists_labels(path: Path) -> bool:
    return plain_name(path).lower().endswith(".xml")


def _read_prepared(paths: list[Path], target: Any, options: dict[str, Any]) -> Dataset:
    """A prepared table, which knows its target and columns."""
    if not is_coded_file(paths[0]):
        advice = "Name a data file; ramify.load and 'ramify predict MODEL DATA' take models."
        raise FileError(paths[0], "this is a model and holds no data", advice=advice)
    if len(paths) > 1:
        raise FileError(paths[1], "a prepared table is read by itself", advice="Prepare all files together.")
    data = _called(read_coded, paths[0], options)
    chosen = () if data.inspection is None else data.inspection.target.columns
    if target is not None and listed(target) and set(listed(target)) != set(chosen):
        advice = "Leave out the target, or prepare it again with another."
        raise FileError(paths[0], f"its target was chosen when it was prepared: {', '.join(chosen)}", advice=advice)
    return data


def _read_delimited(paths: list[Path], target: Any, options: dict[str, Any]) -> Dataset:
    if holds_sparse_text(paths[0]):
        if target is not None:
            advice = "Leave out the target."
            raise FileError(paths[0], "these sparse rows name their labels themselves", advice=advice)
        return _called(read_sparse_text, paths, options)
    if not options.keys() & {"kind", "transposed"} and not isinstance(options.get("roles"), (Mapping, Inspection)):
        records = first_records(paths[0], options.get("separator"), options.get("encoding"), 2)
        if target is None and are_rankings(records) and not have_order_column(records):
            return _called(read_rankings, paths, options)
        if records and records[0][0].strip() == "is_a":
            return _called(
                _read_text_table, paths, {"target": target, "transposed": True, "kind": "classes", **options}
            )
    return _called(_read_text_table, paths, {"target": target, **options})


def _read_text_table(
    files: list[Path],
    *,
    separator: str | None = None,
    encoding: str | None = None,
    missing: Collection[str] = MISSING,
    transposed: bool = False,
    **said: Any,
) -> Dataset:
    """A table of delimited text."""
    if transposed:
        table = _transposed_table(files, separator, encoding, missing)
        return table_dataset(table, TableChoice(**{"identifier": table.names[0], "roles": None, **said}))
    choice = TableChoice(**said)

    def table_with(more_text: set[int]) -> Table:
        return delimited_table(
            files,
            separator=separator,
            encoding=encoding,
            missing=missing,
            as_text=lambda names: exact_text(choice, names) | more_text,
        )

    table = table_with(set())
    has_commas = choice.decimal == "," or _some_have_decimal_commas(table)
    may_have = choice.decimal is None and any("semicolons" in note for note in table.notes)
    if has_commas or may_have:  # then 1.234 may be 1234
        table = _with_thousands(table, table_with, told=not has_commas)
    return table_dataset(table, choice)


def _with_thousands(table: Table, table_with: Callable[[set[int]], Table], *, told: bool) -> Table:
    """The table with points between thousands read as such, or with a note where they may be."""
    numbers = {j for j, column in enumerate(table.columns) if isinstance(column, np.ndarray) and _has_thirds(column)}
    texts = {j: column for j, column in enumerate(table_with(numbers).columns) if j in numbers} if numbers else {}
    unclear = {j: c for j, c in texts.items() if isinstance(c, TextColumn) and points_are_thousands(c.values)}
    if told:
        notes = [
            f"{table.names[j]}: {next(v for v in column.values if '.' in v)!r} is read with a decimal point; "
            "decimal=',' (--decimal) reads points between thousands."
            for j, column in unclear.items()
        ]
        return replace(table, notes=(*table.notes, *notes))
    columns = list(table.columns)
    for j, column in unclear.items():
        columns[j] = TextColumn.of_codes([value.replace(".", "") for value in column.values], column.codes)
    return replace(table, columns=columns)


def _some_have_decimal_commas(table: Table) -> bool:
    texts = (column for column in table.columns if isinstance(column, TextColumn))
    return any(_DECIMAL_COMMA.fullmatch(value) for column in texts for value in column.values[:20])


def _has_thirds(numbers: np.ndarray) -> bool:
    """Whether numbers have three digits behind the point at most, and some have any."""
    known = numbers[~np.isnan(numbers)]
    return bool((known != np.floor(known)).any()) and bool((np.abs(known * 1000 - np.rint(known * 1000)) < 1e-6).all())


def _transposed_table(
    paths: list[Path], separator: str | None, encoding: str | None, missing: Collection[str]
) -> Table:
    """A file whose lines are columns: a name, then one cell per row."""
    if len(paths) > 1:
        raise ValueError("transposed=True reads one file. Read the parts one by one.")
    records = [cells for _, cells in read_records(paths[0], separator=separator, encoding=encoding)]
    if not records:
        raise FileError(paths[0], "the file is empty", line=1, advice="Write one line per feature.")
    if all(len(cells) > 1 and cells[-1] == "" for cells in records):
        records = [cells[:-1] for cells in records]
    width = len(records[0])
    for number, cells in enumerate(records, start=1):
        if len(cells) != width:
            fault = f"row {number} has {len(cells)} cells and the first has {width}"
            raise FileError(paths[0], fault, advice="Leave a cell empty where a value is missing.")
    absent = frozenset(missing)
    columns = [
        TextColumn.of(None if cell.strip() in absent else cell.strip() for cell in cells[1:]) for cells in records
    ]
    return Table([cells[0].strip() for cells in records], columns, paths, np.zeros(width - 1, dtype=np.int64))


def _read_frame(files: Any, *, missing: Collection[str] = MISSING, **said: Any) -> Dataset:
    """A frame."""
    return table_dataset(table_of_frame(files, missing), TableChoice(**said))


def _read_arff_family(paths: list[Path], target: Any, options: dict[str, Any]) -> Dataset:
    data_paths = [path for path in paths if not _lists_labels(path)]
    if target is not None:
        return _called(read_arff, data_paths, {"target": target, **options})
    if len(paths) > len(data_paths) or "labels" in options or label_file_of(data_paths[0]) is not None:
        return _called(read_mulan, paths, options)
    return _called(read_arff, data_paths, options)


def _read_parquet(files: list[Path], **said: Any) -> Dataset:
    """A table of Parquet files."""
    choice = TableChoice(**said)
    return table_dataset(parquet_table(files, lambda names: ignored_positions(choice, names)), choice)


def _read_excel(
    files: list[Path], *, sheet: str | None = None, missing: Collection[str] = MISSING, **said: Any
) -> Dataset:
    """A table of a sheet of Excel files."""
    return table_dataset(excel_table(files, sheet, missing), TableChoice(**said))


def _read_annotations(paths: list[Path], target: Any, options: dict[str, Any]) -> Dataset:
    if len(paths) > 1 or target is not None:
        advice = "Read it alone, or name it as annotations= beside a table of its genes."
        raise FileError(paths[0], "this is not read together with a target or other files", advice=advice)
    return _called(read_gaf, paths[0], options)


def _read_cells(paths: list[Path], target: Any, options: dict[str, Any]) -> Dataset:
    if len(paths) > 1:
        raise FileError(paths[1], "only one AnnData file is read at a time", advice="Join them with anndata.concat.")
    if target is not None and not isinstance(target, str):
        raise FileError(paths[0], "one column of the cells is the target", advice="Name one column (--target).")
    return _called(read_h5ad, paths[0], {"target": target, **options})


def _with_target(reader: Callable[..., Dataset]) -> Callable[[list[Path], Any, dict[str, Any]], Dataset]:
    """A reader that takes the target as one more option."""
    return lambda paths, target, options: _called(reader, paths, {"target": target, **options})


READERS: dict[str, Callable[[list[Path], Any, dict[str, Any]], Dataset]] = {
    "arff": _read_arff_family,
    "harff": _read_arff_family,
    "xarff": _read_arff_family,
    "csv": _read_delimited,
    "tsv": _read_delimited,
    "tab": _read_delimited,
    "txt": _read_delimited,
    "parquet": _with_target(_read_parquet),
    "pq": _with_target(_read_parquet),
    "xlsx": _with_target(_read_excel),
    "xlsm": _with_target(_read_excel),
    "gaf": _read_annotations,
    "ramify": _read_prepared,
    "h5ad": _read_cells,
}
"""Ending of a file's name and what reads it, given all paths, the target and further options."""

_NO_DATA = {
    "obo": ("this is an ontology and holds no data", "Use read_hierarchy, or name it as the hierarchy of data."),
    "xls": ("this is an old Excel file", "Save it as .xlsx or .csv."),
}
"""Endings of files that are no data, the fault and what to do."""
