"""Parquet files as a table of cells, by pyarrow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ramify.datasets.readers.delimited import Table
from ramify.datasets.readers.raw_files import FileError, read_bytes, shown
from ramify.datasets.text_column import TextColumn


def parquet_table(paths: list[Path], ignored: Callable[[list[str]], set[int]]) -> Table:
    """Columns of numbers, text or lists of text; whatever would be changed is refused.

    Columns whose positions `ignored` returns for the names are not read: they are empty.
    """
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
    unread = ignored(names)
    n_rows = sum(part.num_rows for part in tables)
    for position, name in enumerate(names):
        if position in unread:
            columns.append(np.full(n_rows, np.nan))
            continue
        cells = [_arrow_cells(path, name, part.column(position)) for path, part in zip(paths, tables, strict=True)]
        if all(isinstance(part, np.ndarray) for part in cells):
            columns.append(np.concatenate(cells))
        elif not any(isinstance(part, np.ndarray) for part in cells):
            columns.append(_joined([cell for part in cells for cell in part]))
        else:
            raise FileError(paths[-1], f"column {shown(name)} is text in one file and numbers in another", advice="")
    sizes = [part.num_rows for part in tables]
    kinds = tables[0].schema.types
    nominal = frozenset(j for j, kind in enumerate(kinds) if pa.types.is_dictionary(kind))
    return Table(names, columns, paths, np.repeat(np.arange(len(paths)), sizes), None, nominal=nominal)


def _joined(cells: list[Any]) -> Any:
    """Cells of text, or a list of tuples as it is."""
    return cells if any(isinstance(cell, tuple) for cell in cells) else TextColumn.of(cells)


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
            large = np.flatnonzero(np.abs(numbers) >= 2.0**53)
            if len(large):
                exact = column[int(large[0])].as_py()
                raise FileError(
                    path,
                    f"in row {large[0] + 1} {exact} in column {shown(name)} is too large to be kept exactly",
                    advice="Store it as text.",
                )
        infinite = np.flatnonzero(np.isinf(numbers))
        if len(infinite):
            raise FileError(
                path, f"in row {infinite[0] + 1} column {shown(name)} is infinite", advice="Use null where missing."
            )
        return numbers
    if pa.types.is_timestamp(kind):
        return column.cast(pa.timestamp("us"), safe=False).cast(pa.string()).to_pylist()
    if pa.types.is_date(kind):
        return column.cast(pa.date32(), safe=False).cast(pa.string()).to_pylist()
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind):
        return column.to_pylist()
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        cells = column.to_pylist()
        if all(cell is None or all(isinstance(label, str) for label in cell) for cell in cells):
            return [None if cell is None else tuple(cell) for cell in cells]
    raise FileError(
        path,
        f"column {shown(name)} is of type {kind}, which is not read",
        advice=f"Store numbers, booleans, dates, text or lists of text, or say ignore=[{name!r}] (--ignore).",
    )
