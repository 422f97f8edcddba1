"""Readers of tables: CSV, Parquet and Excel, with the target in columns or in one column of sets or orders."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ramify.datasets.column_roles import ColumnRoles
from ramify.datasets.dataset import Dataset, Target
from ramify.datasets.readers.delimited import (
    MISSING,
    Table,
    check_width,
    read_layout_records,
    read_table,
    table_of_rows,
    without_trailing_cell,
)
from ramify.datasets.readers.excel import excel_table
from ramify.datasets.readers.parquet import parquet_table
from ramify.datasets.readers.raw_files import FileError, PathLike, file_paths
from ramify.datasets.readers.table_dataset import TableChoice, ignored_positions, table_dataset, text_positions
from ramify.datasets.readers.table_numbers import unclear_points
from ramify.parameters import check_flag

Roles = Literal["auto"] | ColumnRoles | Mapping[str, Any] | None


def read_csv(
    files: PathLike | Sequence[PathLike],
    *,
    target: str | Sequence[str] | None = None,
    kind: Target | None = None,
    identifier: str | None = "auto",
    weight: str | None = None,
    ignore: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
    categorical: str | Collection[str] = (),
    roles: Roles = "auto",
    dates: str | Sequence[str] | None = None,
    label_separator: str = "|",
    unknown: str | float | None = None,
    path_separator: str = "/",
    missing: Collection[str] = MISSING,
    separator: str | None = None,
    decimal: Literal[".", ","] | None = None,
    transposed: bool = False,
    storage: Literal["auto", "dense", "sparse"] = "auto",
    encoding: str | None = None,
) -> Dataset:
    r"""Read a table with a header line from CSV or TSV files.

    Parameters
    ----------
    files : path or sequence of paths
        One file, or the train, valid and test files of one set with the same header.
    target : str or sequence of str, optional
        Names of the target columns, in which `*` stands for anything ("Product*"); by default the last column.
    kind : {"classes", "labels", "hierarchy", "numbers", "rankings"}, optional
        What the target is. By default: one column of orders `a>b>c` is rankings, of sets `a|b` labels, of sets of
        paths `a/b|a/c` a hierarchy, of 0 and 1 or other text classes, of other numbers numbers; several columns of 0
        and 1, no and yes or false and true are labels, of other numbers numbers.
    identifier : str or None, default="auto"
        The column that names the rows and is no feature. "auto" finds it, None takes none.
    weight : str, optional
        The column that weights the rows; it is no feature.
    ignore, keep : str or sequence of str
        Columns to leave out, and columns to take as features whatever `roles` would say; `*` stands for anything.
    categorical : str or collection of str
        Columns to read as nominal even if all cells are numbers; `*` stands for anything.
    roles : "auto", None or roles of other data, default="auto"
        "auto" finds, in tables of 20 rows and more, columns that are no features: identifiers (text, or whole numbers
        that count or name rather than measure, with another value in at least 95 % of the rows), constants and copies
        of the target; and dates in any table. `Dataset.left_out` says why. None looks for none. The `roles` of a data
        set, or `roles_` of a model, read a file as that data was read: columns that it had not are left out.
    dates : {"parts", "days", "dmy", "mdy"} or several, optional
        What to make of dates: year, month, day, weekday (and hour), or days since 1970-01-01. By default they are left
        out. "dmy" and "mdy" say whether the day or the month comes first in 01/02/2024.
    label_separator, path_separator : str
        What separates labels of a set and steps of a path.
    unknown : str or number, optional
        What target cells hold where it is not known whether a row has the label, or which number it has; empty cells of
        several target columns say the same.
    missing : collection of str
        Cells that mean a missing value.
    separator : str, optional
        What separates cells. By default the one sign of comma, semicolon, tab and bar that cuts the first lines into
        the same number of cells.
    decimal : {".", ","}, optional
        The decimal sign. By default told by each column or by the others; where none tells, it is asked for.
    transposed : bool, default=False
        Whether rows of the file are columns: a first line of identifiers, then one line per feature.
    storage : {"auto", "dense", "sparse"}, default="auto"
        Form of `X`, as of `read_arff`.
    encoding : str, optional
        Encoding of the text. By default UTF-8, UTF-16 where the first bytes say so, or Latin-1 where it is not UTF-8.

    Returns
    -------
    Dataset
        A column is numeric if all its cells are numbers, else nominal with its values in sorted order. Numbers mixed
        with text are refused unless named in `categorical`. `notes` says what was found rather than said.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from ramify.datasets import read_csv
    >>> file = Path(mkdtemp()) / "films.csv"
    >>> _ = file.write_text("year,studio,genres\n1999,A,drama|war\n2004,B,comedy\n")
    >>> data = read_csv(file, target="genres", kind="labels")
    >>> data.label_names, data.y.toarray().tolist()
    (('comedy', 'drama', 'war'), [[0, 1, 1], [1, 0, 0]])
    """
    check_flag("read_csv", "transposed", transposed)
    paths = file_paths(files)
    choice = TableChoice(
        "read_csv",
        target=target,
        kind=kind,
        identifier=identifier,
        weight=weight,
        ignore=ignore,
        keep=keep,
        categorical=categorical,
        roles=None if transposed and roles == "auto" else roles,
        dates=dates,
        decimal=decimal,
        label_separator=label_separator,
        unknown=unknown,
        path_separator=path_separator,
        storage=storage,
    )
    if transposed:
        table = _transposed_table(paths, separator, encoding, missing)
        return table_dataset(table, replace(choice, identifier=table.names[0]) if identifier == "auto" else choice)

    def read_with(more_text: set[int]) -> Table:
        return read_table(
            paths,
            separator=separator,
            encoding=encoding,
            missing=missing,
            as_text=lambda names: text_positions(names, choice) | more_text,
        )

    table = read_with(set())
    unclear = unclear_points(table, decimal)
    return table_dataset(read_with(unclear) if unclear else table, choice)


def read_parquet(
    files: PathLike | Sequence[PathLike],
    *,
    target: str | Sequence[str] | None = None,
    kind: Target | None = None,
    identifier: str | None = "auto",
    weight: str | None = None,
    ignore: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
    categorical: str | Collection[str] = (),
    roles: Roles = "auto",
    dates: str | Sequence[str] | None = None,
    decimal: Literal[".", ","] | None = None,
    label_separator: str = "|",
    unknown: str | float | None = None,
    path_separator: str = "/",
    storage: Literal["auto", "dense", "sparse"] = "auto",
) -> Dataset:
    """Read a table from Parquet files (needs pyarrow: `pip install ramify[parquet]`).

    Parameters
    ----------
    files : path or sequence of paths
        One file, or the files of one set with the same columns.
    target, kind, identifier, weight, ignore, keep, categorical, roles, dates, decimal, unknown, label_separator, \
            path_separator, storage
        As of `read_csv`. A column of lists of text may be a target of kind "labels" or "hierarchy".

    Returns
    -------
    Dataset
        Numbers and booleans are numeric features; text and dictionary columns are nominal, in sorted order; timestamps
        are dates, in UTC.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> import pandas as pd
    >>> from ramify.datasets import read_parquet
    >>> file = Path(mkdtemp()) / "films.parquet"
    >>> pd.DataFrame({"year": [1999, 2004], "genres": [["drama", "war"], ["comedy"]]}).to_parquet(file)
    >>> read_parquet(file, target="genres").label_names
    ('comedy', 'drama', 'war')
    """
    paths = file_paths(files)
    choice = TableChoice(
        "read_parquet",
        target=target,
        kind=kind,
        identifier=identifier,
        weight=weight,
        ignore=ignore,
        keep=keep,
        categorical=categorical,
        roles=roles,
        dates=dates,
        decimal=decimal,
        label_separator=label_separator,
        unknown=unknown,
        path_separator=path_separator,
        storage=storage,
    )
    return table_dataset(parquet_table(paths, lambda names: ignored_positions(names, choice)), choice)


def read_excel(
    files: PathLike | Sequence[PathLike],
    *,
    sheet: str | None = None,
    target: str | Sequence[str] | None = None,
    kind: Target | None = None,
    identifier: str | None = "auto",
    weight: str | None = None,
    ignore: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
    categorical: str | Collection[str] = (),
    roles: Roles = "auto",
    dates: str | Sequence[str] | None = None,
    decimal: Literal[".", ","] | None = None,
    label_separator: str = "|",
    unknown: str | float | None = None,
    path_separator: str = "/",
    missing: Collection[str] = MISSING,
    storage: Literal["auto", "dense", "sparse"] = "auto",
) -> Dataset:
    """Read a table from a sheet of Excel files, `.xlsx` or `.xlsm` (needs openpyxl: `pip install ramify[excel]`).

    Parameters
    ----------
    files : path or sequence of paths
        One file, or the files of one set with the same columns. The first row that is not empty names the columns.
    sheet : str, optional
        Name of the sheet; needed where more than one holds something.
    target, kind, identifier, weight, ignore, keep, categorical, roles, dates, decimal, unknown, label_separator, \
            path_separator, missing, storage
        As of `read_csv`.

    Returns
    -------
    Dataset
        Numbers are numeric features, as are true and false (1 and 0); text is nominal, in sorted order; dates are dates
        in any notation. Formulas count by the value that was stored with them.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> import pandas as pd
    >>> from ramify.datasets import read_excel
    >>> file = Path(mkdtemp()) / "films.xlsx"
    >>> pd.DataFrame({"year": [1999, 2004], "genres": ["drama|war", "comedy"]}).to_excel(file, index=False)
    >>> read_excel(file, target="genres").label_names
    ('comedy', 'drama', 'war')
    """
    paths = file_paths(files)
    choice = TableChoice(
        "read_excel",
        target=target,
        kind=kind,
        identifier=identifier,
        weight=weight,
        ignore=ignore,
        keep=keep,
        categorical=categorical,
        roles=roles,
        dates=dates,
        decimal=decimal,
        label_separator=label_separator,
        unknown=unknown,
        path_separator=path_separator,
        storage=storage,
    )
    return table_dataset(excel_table(paths, sheet, missing), choice)


def _transposed_table(
    paths: list[Path], separator: str | None, encoding: str | None, missing: Collection[str]
) -> Table:
    """A file whose lines are columns: a name, then one cell per row."""
    if len(paths) > 1:
        raise ValueError("transposed=True reads one file. Read the parts one by one.")
    all_records, layout = read_layout_records(paths[0], separator, encoding)
    records = without_trailing_cell(all_records)
    if not records:
        raise FileError(paths[0], "the file is empty", line=1, advice="Write one line per feature.")
    check_width(paths[0], records, len(records[0][1]), "the first line", layout)
    names = [cells[0].strip() for _, cells in records]
    rows = [list(row) for row in zip(*(cells[1:] for _, cells in records), strict=True)]
    table = table_of_rows(names, rows, paths, np.zeros(len(rows), dtype=np.int64), None, missing, (layout,))
    return replace(table, notes=layout.notes)
