"""Readers of tables: CSV and Parquet, with the target in columns, by prefix, or in one column of sets or orders."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import sparse

from ramify.datasets.arff import part_rows, stored
from ramify.datasets.arff_target import TargetColumns
from ramify.datasets.dataset import Dataset, Target
from ramify.datasets.delimited import (
    MISSING,
    Table,
    check_width,
    column_values,
    is_plain_number,
    read_records,
    read_table,
    table_of_rows,
    without_trailing_cell,
)
from ramify.datasets.files import FileError, PathLike, file_paths, read_bytes, sha256_of, shown
from ramify.datasets.orders import OrderError, labels_of_order, ranks_of_order
from ramify.datasets.rankings import natural_key
from ramify.hierarchy import Hierarchy
from ramify.parameters import check_flag, check_option

KINDS = ("classes", "labels", "hierarchy", "numbers", "rankings")


@dataclass(frozen=True)
class TargetChoice:
    """Which columns are the target and what they mean."""

    columns: Sequence[str] | str | None
    prefix: str | None
    kind: Target | None
    label_separator: str
    path_separator: str


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
    return table_dataset(_parquet_table(paths), choice, identifier, weight, ignore, categorical, storage)


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


def _parquet_table(paths: list[Path]) -> Table:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ImportError("read_parquet needs pyarrow. Install it with: pip install ramify[parquet]") from None
    tables = []
    for path in paths:
        try:
            with path.open("rb") as file:
                is_plain = file.read(4) == b"PAR1"
            content = pq.ParquetFile(path if is_plain else pa.BufferReader(read_bytes(path)))
            _check_size(path, content.metadata)
            tables.append(content.read())
            tables[-1].validate(full=True)
        except FileError:
            raise
        except (pa.ArrowException, OSError, ValueError, KeyError, MemoryError) as error:
            raise FileError(
                path, f"this is no readable Parquet file ({shown(str(error))})", advice="Write it again."
            ) from None
        if tables[-1].schema.names != tables[0].schema.names:
            raise FileError(path, f"the columns differ from those of {paths[0]}", advice="Use files of one set.")
    names = list(tables[0].schema.names)
    columns: list[Any] = []
    for position, name in enumerate(names):
        cells = [_arrow_cells(path, name, part.column(position)) for path, part in zip(paths, tables, strict=True)]
        if all(isinstance(part, np.ndarray) for part in cells):
            columns.append(np.concatenate(cells))
        elif not any(isinstance(part, np.ndarray) for part in cells):
            columns.append([cell for part in cells for cell in part])
        else:
            raise FileError(paths[-1], f"column {shown(name)} is text in one file and numbers in another", advice="")
    sizes = [part.num_rows for part in tables]
    return Table(names, columns, paths, np.repeat(np.arange(len(paths)), sizes), None)


def _check_size(path: Path, metadata: Any) -> None:
    """Refuse a small file that claims a huge table."""
    claimed = 8 * metadata.num_rows * metadata.num_columns
    if claimed > 64 << 20 and claimed > 1000 * path.stat().st_size:
        raise FileError(
            path,
            f"{path.stat().st_size} bytes claim a table of {claimed >> 20} MiB, which looks like a bomb",
            advice="If you trust the file, write it again without run-length encoding.",
        )


def _arrow_cells(path: Path, name: str, column: Any) -> Any:
    """A column as numbers, or as a list of text or of tuples of text."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        return _arrow_cells(path, name, column.cast(kind.value_type))
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        numbers = column.to_pandas(integer_object_nulls=False).to_numpy(dtype=float, na_value=np.nan)
        if pa.types.is_integer(kind):
            exact = column.to_pylist()
            for row in np.flatnonzero(np.abs(numbers) >= 2.0**53).tolist():
                raise FileError(
                    path,
                    f"in row {row + 1} {exact[row]} in column {shown(name)} is too large to be kept exactly",
                    advice="Store it as text.",
                )
        infinite = np.flatnonzero(np.isinf(numbers))
        if len(infinite):
            raise FileError(
                path, f"in row {infinite[0] + 1} column {shown(name)} is infinite", advice="Use null where missing."
            )
        return numbers
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind):
        return column.to_pylist()
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        cells = column.to_pylist()
        if all(cell is None or all(isinstance(label, str) for label in cell) for cell in cells):
            return [None if cell is None else tuple(cell) for cell in cells]
    raise FileError(
        path,
        f"column {shown(name)} is of type {kind}, which is not read",
        advice="Store numbers, booleans, text or lists of text, or leave the column out of the file.",
    )


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
    ignored = {_position(table, name, "ignore") for name in ([ignore] if isinstance(ignore, str) else ignore)}
    named = [(name, what) for name, what in ((identifier, "identifier"), (weight, "weight")) if name is not None]
    taken = {what: _position(table, name, what) for name, what in named}
    nominal = {_position(table, name, "categorical") for name in categorical}
    targets = _target_positions(table, choice, ignored | set(taken.values()))
    features = [j for j in range(len(table.names)) if j not in ignored and j not in taken.values() and j not in targets]
    columns = [column_values(table, j, nominal=j in nominal) for j in features]
    found = _read_target(table, choice, targets)
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
        ids=np.array(_text(table, taken["identifier"]), dtype=object) if "identifier" in taken else None,
        parts=part_rows(table.paths, sizes),
        source=", ".join(map(str, table.paths)),
        sha256=sha256_of(table.paths),
    )


def _position(table: Table, name: str, parameter: str) -> int:
    positions = [k for k, other in enumerate(table.names) if other == name]
    if len(positions) != 1:
        listed = ", ".join(repr(other) for other in table.names[:8])
        what = "is no column" if not positions else f"names {len(positions)} columns"
        raise ValueError(f"{parameter}={name!r} {what} of {table.paths[0]}, which has {listed}.")
    return positions[0]


def _target_positions(table: Table, choice: TargetChoice, excluded: set[int]) -> list[int]:
    if choice.prefix is not None:
        if choice.columns is not None:
            raise ValueError("Give either target or target_prefix, not both.")
        found = [j for j, n in enumerate(table.names) if n.startswith(choice.prefix) and j not in excluded]
        if not found:
            raise ValueError(f"No column of {table.paths[0]} starts with target_prefix={choice.prefix!r}.")
        return found
    if choice.columns is None:
        return [j for j in range(len(table.names)) if j not in excluded][-1:]
    names = [choice.columns] if isinstance(choice.columns, str) else choice.columns
    return [_position(table, name, "target") for name in names]


def _weights(table: Table, position: int) -> np.ndarray:
    values, categories = column_values(table, position, nominal=False)
    bad = np.flatnonzero(~(values >= 0)) if categories is None else np.arange(1)
    if len(bad):
        raise table.error(int(bad[0]), position, "the weight is no non-negative number", "Give every row a weight.")
    return values


def _text(table: Table, position: int) -> list[str]:
    cells = table.columns[position]
    if isinstance(cells, np.ndarray):
        cells = [None if np.isnan(value) else f"{value:.17g}" for value in cells.tolist()]
    for row, cell in enumerate(cells):
        if not isinstance(cell, str):
            raise table.error(row, position, f"{shown(table.names[position])} is missing", "Fill it in.")
    return cells


def _read_target(table: Table, choice: TargetChoice, targets: list[int]) -> TargetColumns:
    if not targets:
        return TargetColumns(None, None, ())
    names = tuple(table.names[j] for j in targets)
    if len(targets) > 1:
        return _several_columns(table, targets, names, choice.kind)
    cells = table.columns[targets[0]]
    kind = choice.kind or _kind_of(cells, choice)
    if kind == "numbers":
        return TargetColumns("numbers", _target_numbers(table, targets)[:, 0], names)
    if kind == "rankings":
        return _orders(table, targets[0])
    if kind == "classes":
        texts = _text(table, targets[0])
        found = set(texts)
        are_numbers = all(is_plain_number(text) for text in found)
        classes = tuple(sorted(found, key=float if are_numbers else natural_key))
        code = {value: k for k, value in enumerate(classes)}
        return TargetColumns("classes", np.array([code[text] for text in texts], dtype=np.int64), classes)
    return _label_sets(table, targets[0], kind, choice)


def _kind_of(cells: Any, choice: TargetChoice) -> Target:
    """What one target column holds, by its notation."""
    if isinstance(cells, np.ndarray):
        return "numbers"
    present = [cell for cell in cells if cell is not None]
    if any(isinstance(cell, tuple) for cell in present):
        labels = [label for cell in present for label in cell]
        return "hierarchy" if any(choice.path_separator in label for label in labels) else "labels"
    if any(">" in cell for cell in present):
        return "rankings"
    if any(choice.label_separator in cell for cell in present):
        return "hierarchy" if any(choice.path_separator in cell for cell in present) else "labels"
    table = Table(["target"], [present], [Path()], np.zeros(len(present), dtype=np.int64), None)
    try:
        return "numbers" if present and column_values(table, 0, nominal=False)[1] is None else "classes"
    except FileError:
        return "classes"


def _target_numbers(table: Table, targets: list[int]) -> np.ndarray:
    columns = []
    for j in targets:
        values, categories = column_values(table, j, nominal=False)
        if categories is not None:
            row = next(k for k, cell in enumerate(table.columns[j]) if cell is not None)
            raise table.error(
                row,
                j,
                f"{shown(table.columns[j][row])} in target column {shown(table.names[j])} is not a number",
                "Choose numeric columns, or say what the target is with kind=....",
            )
        columns.append(values)
    return np.column_stack(columns)


def _several_columns(table: Table, targets: list[int], names: tuple[str, ...], kind: Target | None) -> TargetColumns:
    if kind in {"classes", "hierarchy"}:
        raise ValueError(f"kind={kind!r} takes one target column. Got {len(targets)}: {', '.join(names[:6])}.")
    values = _target_numbers(table, targets)
    is_binary = bool(np.isin(values, (0, 1)).all()) and len(values) > 0
    if kind == "labels" or (kind is None and is_binary):
        if not is_binary:
            row = int(np.argmin(np.isin(values, (0, 1)).all(axis=1)))
            raise table.error(row, targets[0], "a label column holds something else than 0 and 1", "Write 0 or 1.")
        return TargetColumns("labels", sparse.csr_array(values.astype(np.int8)), names)
    if kind == "rankings":
        bad = np.flatnonzero(((values < 1) | (values > len(names))).any(axis=1))
        if len(bad):
            raise table.error(int(bad[0]), targets[0], f"a rank is outside 1 to {len(names)}", "1 is the best label.")
    return TargetColumns(kind or "numbers", values, names)


def _orders(table: Table, position: int) -> TargetColumns:
    texts = _text(table, position)
    labels = tuple(sorted({label for text in texts for label in labels_of_order(text)}, key=natural_key))
    column_of = {label: k for k, label in enumerate(labels)}
    y = np.full((table.n_rows, len(labels)), np.nan)
    for row, text in enumerate(texts):
        try:
            y[row] = ranks_of_order(text, column_of)
        except OrderError as error:
            raise table.error(row, position, f"in the order {shown(text)} {error}", "Write it as a>b=c>d.") from None
    return TargetColumns("rankings", y, labels)


def _label_sets(table: Table, at: int, kind: Target, choice: TargetChoice) -> TargetColumns:
    """Sets of labels or of paths; an empty cell is the empty set."""
    cells = table.columns[at]
    if isinstance(cells, np.ndarray):
        cells = _text(table, at)
    sets = []
    for row, cell in enumerate(cells):
        parts = cell if isinstance(cell, tuple) else () if not cell else cell.split(choice.label_separator)
        labels = [part.strip() for part in parts]
        if not all(labels):
            raise table.error(row, at, f"a label of {shown(str(cell))} is empty", "Write a|b.")
        sets.append(labels)
    found = sorted({label for labels in sets for label in labels}, key=natural_key)
    if kind == "labels":
        position = {label: k for k, label in enumerate(found)}
        indices = [sorted({position[label] for label in labels}) for labels in sets]
        indptr = np.concatenate([[0], np.cumsum([len(row) for row in indices])]).astype(np.int64)
        flat = np.array([k for row in indices for k in row], dtype=np.int64)
        shape = (len(sets), len(found))
        y = sparse.csr_array((np.ones(len(flat), dtype=np.int8), flat, indptr), shape=shape)
        return TargetColumns("labels", y, tuple(found))
    for row, labels in enumerate(sets):
        for label in labels:
            steps = label.split(choice.path_separator)
            if not all(steps) or len(steps) > 200:
                raise table.error(row, at, f"{shown(label)} is no path of at most 200 steps", "Write a/b|a/c.")
    hierarchy = Hierarchy.from_paths(found, separator=choice.path_separator)
    return TargetColumns("hierarchy", hierarchy.encode(sets), hierarchy.names, hierarchy)
