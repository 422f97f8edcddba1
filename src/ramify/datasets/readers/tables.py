"""Readers of tables: CSV and Parquet, with the target in columns, by prefix, or in one column of sets or orders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from ramify.datasets.dataset import Dataset, Target
from ramify.datasets.readers.arff import part_rows, stored
from ramify.datasets.readers.delimited import (
    MISSING,
    Table,
    check_width,
    column_values,
    read_records,
    read_table,
    table_of_rows,
    without_trailing_cell,
)
from ramify.datasets.readers.parquet import parquet_table
from ramify.datasets.readers.raw_files import FileError, PathLike, advice_for_name, file_paths, sha256_of
from ramify.datasets.readers.table_target import TargetChoice, read_table_target, text_cells
from ramify.parameters import check_flag, check_option

KINDS = ("classes", "labels", "hierarchy", "numbers", "rankings")


def read_csv(
    files: PathLike | Sequence[PathLike],
    *,
    target: str | Sequence[str] | None = None,
    target_prefix: str | None = None,
    kind: Target | None = None,
    identifier: str | None = None,
    weight: str | None = None,
    ignore: Sequence[str] = (),
    categorical: Collection[str] = (),
    label_separator: str = "|",
    path_separator: str = "/",
    missing: Collection[str] = MISSING,
    separator: str | None = None,
    transposed: bool = False,
    storage: Literal["auto", "dense", "sparse"] = "auto",
    encoding: str = "utf-8",
) -> Dataset:
    r"""Read a table with a header line from CSV or TSV files.

    Parameters
    ----------
    files : path or sequence of paths
        One file, or the train, valid and test files of one set with the same header.
    target : str or sequence of str, optional
        Names of the target columns; by default the last column.
    target_prefix : str, optional
        Instead of `target`: all columns whose name starts so.
    kind : {"classes", "labels", "hierarchy", "numbers", "rankings"}, optional
        What the target is. By default: one column of orders `a>b>c` is rankings, of sets `a|b` labels, of sets of
        paths `a/b|a/c` a hierarchy, of numbers numbers, of other text classes; several columns of 0 and 1 are labels,
        of other numbers numbers.
    identifier, weight : str, optional
        Columns that name the rows and weight them; they are no features.
    ignore : sequence of str
        Columns to leave out.
    categorical : collection of str
        Columns to read as nominal even if all cells are numbers.
    label_separator, path_separator : str
        What separates labels of a set and steps of a path.
    missing : collection of str
        Cells that mean a missing value.
    separator : str, optional
        What separates cells; a comma, or a tab for .tsv files.
    transposed : bool, default=False
        Whether rows of the file are columns: a first line of identifiers, then one line per feature.
    storage : {"auto", "dense", "sparse"}, default="auto"
        Form of `X`, as of `read_arff`.
    encoding : str, default="utf-8"
        Encoding of the text.

    Returns
    -------
    Dataset
        A column is numeric if all its cells are numbers, else nominal with its values in sorted order. Numbers mixed
        with text are refused unless named in `categorical`.

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
    check_option("read_csv", "kind", kind, (None, *KINDS))
    check_option("read_csv", "storage", storage, ("auto", "dense", "sparse"))
    check_flag("read_csv", "transposed", transposed)
    paths = file_paths(files)
    choice = TargetChoice(target, target_prefix, kind, label_separator, path_separator)
    if transposed:
        table = _transposed_table(paths, separator, encoding, missing)
        identifier = table.names[0] if identifier is None else identifier
    else:
        table = read_table(
            paths,
            separator=separator,
            encoding=encoding,
            missing=missing,
            as_text=lambda names: _text_positions(names, choice, identifier, weight, ignore, categorical),
        )
    return table_dataset(table, choice, identifier, weight, ignore, categorical, storage)


def read_parquet(
    files: PathLike | Sequence[PathLike],
    *,
    target: str | Sequence[str] | None = None,
    target_prefix: str | None = None,
    kind: Target | None = None,
    identifier: str | None = None,
    weight: str | None = None,
    ignore: Sequence[str] = (),
    categorical: Collection[str] = (),
    label_separator: str = "|",
    path_separator: str = "/",
    storage: Literal["auto", "dense", "sparse"] = "auto",
) -> Dataset:
    """Read a table from Parquet files (needs pyarrow: `pip install ramify[parquet]`).

    Parameters
    ----------
    files : path or sequence of paths
        One file, or the files of one set with the same columns.
    target, target_prefix, kind, identifier, weight, ignore, categorical, label_separator, path_separator, storage
        As of `read_csv`. A column of lists of text may be a target of kind "labels" or "hierarchy".

    Returns
    -------
    Dataset
        Numbers and booleans are numeric features; text and dictionary columns are nominal, in sorted order.

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
    check_option("read_parquet", "kind", kind, (None, *KINDS))
    check_option("read_parquet", "storage", storage, ("auto", "dense", "sparse"))
    paths = file_paths(files)
    choice = TargetChoice(target, target_prefix, kind, label_separator, path_separator)
    return table_dataset(parquet_table(paths), choice, identifier, weight, ignore, categorical, storage)


def _text_positions(
    names: list[str],
    choice: TargetChoice,
    identifier: str | None,
    weight: str | None,
    ignore: Sequence[str],
    categorical: Collection[str],
) -> set[int]:
    """Columns of which the very text is needed: identifiers, nominals and a target in one column."""
    wanted = {identifier, *categorical}
    if choice.columns is not None:
        wanted |= {choice.columns} if isinstance(choice.columns, str) else set(choice.columns)
    positions = {j for j, name in enumerate(names) if name in wanted}
    if choice.columns is None and choice.prefix is None:
        excluded = {identifier, weight, *([ignore] if isinstance(ignore, str) else ignore)}
        positions.update([j for j, name in enumerate(names) if name not in excluded][-1:])
    return positions


def _transposed_table(paths: list[Path], separator: str | None, encoding: str, missing: Collection[str]) -> Table:
    """A file whose lines are columns: a name, then one cell per row."""
    if len(paths) > 1:
        raise ValueError("transposed=True reads one file. Read the parts one by one.")
    records = without_trailing_cell(list(read_records(paths[0], separator=separator, encoding=encoding)))
    if not records:
        raise FileError(paths[0], "the file is empty", line=1, advice="Write one line per feature.")
    check_width(paths[0], records, len(records[0][1]), "the first line", separator, encoding)
    names = [cells[0].strip() for _, cells in records]
    rows = [list(row) for row in zip(*(cells[1:] for _, cells in records), strict=True)]
    return table_of_rows(names, rows, paths, np.zeros(len(rows), dtype=np.int64), None, missing)


def table_dataset(
    table: Table,
    choice: TargetChoice,
    identifier: str | None,
    weight: str | None,
    ignore: Sequence[str],
    categorical: Collection[str],
    storage: str,
) -> Dataset:
    """A table as a data set, once it is said which column is what."""
    ignored = _positions(table, [ignore] if isinstance(ignore, str) else ignore, "ignore")
    named = [(name, what) for name, what in ((identifier, "identifier"), (weight, "weight")) if name is not None]
    taken = {what: _positions(table, [name], what)[0] for name, what in named}
    nominal = {*_positions(table, categorical, "categorical"), *table.nominal}
    excluded = {*ignored, *taken.values()}
    targets = _target_positions(table, choice, excluded)
    no_features = excluded.union(targets)
    features = [j for j in range(len(table.names)) if j not in no_features]
    columns = [column_values(table, j, nominal=j in nominal) for j in features]
    found = read_table_target(table, choice, targets)
    X = np.column_stack([values for values, _ in columns]) if columns else np.empty((table.n_rows, 0))
    sizes = np.bincount(table.file_of, minlength=len(table.paths)).tolist()
    return Dataset(
        X=stored(X, storage, prefer_sparse=False),
        y=found.y,
        target=found.kind,
        feature_names=tuple(table.names[j] for j in features),
        categories=tuple(categories for _, categories in columns),
        label_names=found.label_names,
        hierarchy=found.hierarchy,
        sample_weight=_weights(table, taken["weight"]) if "weight" in taken else None,
        ids=np.array(text_cells(table, taken["identifier"]), dtype=object) if "identifier" in taken else None,
        parts=part_rows(table.paths, sizes),
        source=", ".join(map(str, table.paths)),
        sha256=sha256_of(table.paths),
    )


def _positions(table: Table, names: Collection[str], parameter: str) -> list[int]:
    """Columns given by names, each of which must be that of one column."""
    position = {name: k for k, name in enumerate(table.names)}
    n_columns = Counter(table.names)
    for name in names:
        file = table.paths[0]
        if name not in n_columns:
            raise ValueError(f"{parameter}={name!r} is no column of {file}. {advice_for_name(name, table.names)}")
        if n_columns[name] > 1:
            raise ValueError(
                f"{parameter}={name!r} names {n_columns[name]} columns of {file}. Give each a name of its own."
            )
    return [position[name] for name in names]


def _target_positions(table: Table, choice: TargetChoice, excluded: set[int]) -> list[int]:
    if choice.prefix is not None:
        if choice.columns is not None:
            raise ValueError("Give either target or target_prefix, not both.")
        found = [j for j, n in enumerate(table.names) if n.startswith(choice.prefix) and j not in excluded]
        if not found:
            advice = advice_for_name(choice.prefix, table.names)
            raise ValueError(f"No column of {table.paths[0]} starts with {choice.prefix!r}. {advice}")
        return found
    if choice.columns is None:
        return [j for j in range(len(table.names)) if j not in excluded][-1:]
    return _positions(table, [choice.columns] if isinstance(choice.columns, str) else choice.columns, "target")


def _weights(table: Table, position: int) -> np.ndarray:
    values, categories = column_values(table, position, nominal=False)
    bad = np.flatnonzero(~(values >= 0)) if categories is None else np.arange(1)
    if len(bad):
        raise table.error(int(bad[0]), position, "the weight is no non-negative number", "Give every row a weight.")
    return values
