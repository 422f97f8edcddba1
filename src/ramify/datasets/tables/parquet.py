"""Parquet files as tables, by pyarrow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ramify.datasets.readers.raw_files import FileError, read_bytes, shown
from ramify.datasets.tables.table import Table, joined, table_of_frame


def parquet_table(paths: list[Path], ignored: Callable[[list[str]], set[int]]) -> Table:
    """Columns of numbers, text or lists of text; those whose positions `ignored` returns are not read."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ImportError("Parquet files need pyarrow. Install it with: pip install ramify[parquet]") from None
    parts = []
    for path in paths:
        try:
            with path.open("rb") as file:
                is_plain = file.read(4) == b"PAR1"
            content = pq.ParquetFile(path if is_plain else pa.BufferReader(read_bytes(path)))
            _check_size(path, content.metadata)
            read = content.read()
            read.validate(full=True)
            unread = ignored(list(read.schema.names))
            for j in sorted(unread, reverse=True):
                read = read.set_column(j, read.schema.names[j], pa.nulls(read.num_rows))
            parts.append(table_of_frame(frame_of_arrow(read), paths=[path]))
        except FileError:
            raise
        except (pa.ArrowException, OSError, ValueError, KeyError, MemoryError) as error:
            raise FileError(
                path, f"this is no readable Parquet file ({shown(str(error))})", advice="Write it again."
            ) from None
        if parts[-1].names != parts[0].names:
            raise FileError(path, f"the columns differ from those of {paths[0]}", advice="Use files of one set.")
    return joined(parts)


def frame_of_arrow(table: Any) -> Any:
    """An Arrow table as a pandas frame. Whole numbers with missing ones stay whole; times are those of UTC."""
    import pandas as pd
    import pyarrow as pa

    types = {pa.int8(): pd.Int8Dtype(), pa.int16(): pd.Int16Dtype(), pa.int32(): pd.Int32Dtype(),
             pa.int64(): pd.Int64Dtype(), pa.uint8(): pd.UInt8Dtype(), pa.uint16(): pd.UInt16Dtype(),
             pa.uint32(): pd.UInt32Dtype(), pa.uint64(): pd.UInt64Dtype(), pa.bool_(): pd.BooleanDtype()}  # fmt: skip
    return table.to_pandas(types_mapper=types.get, timestamp_as_object=False, ignore_metadata=True)


def _check_size(path: Path, metadata: Any) -> None:
    """Refuse a small file that claims a huge table."""
    claimed = 8 * metadata.num_rows * metadata.num_columns
    if claimed > 64 << 20 and claimed > 1000 * path.stat().st_size:
        raise FileError(
            path,
            f"{path.stat().st_size} bytes claim a table of {claimed >> 20} MiB, which looks like a bomb",
            advice="If you trust the file, write it again without run-length encoding.",
        )
