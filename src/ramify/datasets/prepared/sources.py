"""Where rows come from, batch by batch and as often as asked: files of text and Parquet, frames, Arrow and Dask."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from ramify.datasets.dataset import Dataset
from ramify.datasets.readers.any_file import read
from ramify.datasets.readers.raw_files import FileError, file_paths, plain_name, read_pieces, sha256_of
from ramify.datasets.tables.inspection import Inspection
from ramify.datasets.tables.parquet import frame_of_arrow
from ramify.datasets.tables.table import MISSING
from ramify.datasets.tables.table_dataset import TableChoice, exact_text
from ramify.datasets.tables.text_layout import text_layout

HEAD_ROWS = 50_000
_HEAD_BYTES = 1 << 24

Batches = Callable[[list[str], int], Iterator[pd.DataFrame]]


@dataclass(frozen=True)
class Source:
    """Rows in batches.

    Attributes
    ----------
    name : str
        For people.
    head : Dataset
        The first rows, by which all others are read.
    is_whole : bool
        Whether these are all rows.
    batches : callable
        From names of columns and a number of rows, frames of these columns with at most about so many rows each.
    identity : str or None
        What changes when the rows do; None where nothing tells.
    sha256 : str
        Hash of the files.
    """

    name: str
    head: Dataset
    is_whole: bool
    batches: Batches
    identity: str | None = None
    sha256: str = ""

    @property
    def inspection(self) -> Inspection:
        """What each column is."""
        assert self.head.inspection is not None
        return self.head.inspection


@dataclass(frozen=True)
class _Text:
    """How a file of text is cut into frames."""

    path: Path
    separator: str
    encoding: str
    missing: Sequence[str]
    text: Callable[[list[str]], set[int]] = field(default=lambda names: set())  # noqa: ARG005

    def frames(self, columns: list[str], n_rows: int) -> Iterator[pd.DataFrame]:
        """The named columns, so many rows at a time."""
        options: dict[str, Any] = {
            "sep": self.separator,
            "encoding": self.encoding,
            "keep_default_na": False,
            "na_values": list(self.missing),
            "skipinitialspace": True,
            "index_col": False,
            "low_memory": False,
        }
        given = pd.read_csv(self.path, nrows=0, **options).columns.tolist()
        names = [str(name).strip() for name in given]
        lacking = [name for name in columns if names.count(name) != 1]
        if lacking:
            raise FileError(
                self.path,
                f"the first line does not name the column {lacking[0]!r} once",
                line=1,
                advice="Write one line with a name of its own for each column above the rows, and nothing above it.",
            )
        text = {given[j]: str for j in self.text(names)}
        wanted = [given[names.index(name)] for name in columns]
        try:
            with pd.read_csv(self.path, usecols=wanted, dtype=text, chunksize=n_rows, **options) as chunks:
                for chunk in chunks:
                    yield chunk[wanted].set_axis(columns, axis=1)
        except (pd.errors.ParserError, UnicodeDecodeError) as error:
            raise FileError(
                self.path, f"the rows cannot be cut into cells ({error})", advice="Read it by ramify.read to see where."
            ) from None


def source_of(source: Any, target: Any, options: dict[str, Any]) -> Source:
    """Rows in batches, whatever holds them.

    Parameters
    ----------
    source : path, sequence of paths, frame, Arrow table or data set, Dask frame, or callable
        As `prepare` takes it.
    target : str or sequence of str
        Target columns.
    options : dict
        Of `read`.
    """
    if _holds_paths(source):
        paths = file_paths(source)
        endings = {plain_name(path).lower().rpartition(".")[2] for path in paths}
        if endings <= {"parquet", "pq"}:
            return _parquet_source(paths, target, options)
        if endings <= {"csv", "tsv", "tab", "txt"}:
            return _text_source(paths, target, options)
        raise FileError(
            paths[0], "tables are prepared from .csv, .tsv, .txt and .parquet files", advice="Write it as one of these."
        )
    frames = _frames_of(source)

    def batches(columns: list[str], n_rows: int) -> Iterator[pd.DataFrame]:
        for frame in frames(n_rows):
            for start in range(0, len(frame), n_rows):
                yield frame.iloc[start : start + n_rows][columns]

    first, n_first = [], 0
    whole = True
    for frame in frames(HEAD_ROWS):
        if n_first + len(frame) > HEAD_ROWS or (n_first == HEAD_ROWS and len(frame)):
            first.append(frame.iloc[: HEAD_ROWS - n_first])
            whole = False
            break
        first.append(frame)
        n_first += len(frame)
    if not first:
        raise ValueError("The source has no rows.")
    table = pd.concat(first, ignore_index=True) if len(first) > 1 else first[0]
    return Source(type(source).__name__, _head(table, target, options, whole=whole), whole, batches)


def _holds_paths(source: Any) -> bool:
    return isinstance(source, (str, Path)) or (
        isinstance(source, (list, tuple)) and all(isinstance(part, (str, Path)) for part in source)
    )


def _head(source: Any, target: Any, options: dict[str, Any], *, whole: bool) -> Dataset:
    """The first rows, inspected; what is constant in them may vary further down."""
    head = read(source, target, **options)
    if head.inspection is None:
        raise ValueError("Tables are prepared: files of other kinds say themselves what their columns are.")
    constant = [column.name for column in head.inspection.columns if column.kind == "constant"]
    if whole or not constant:
        return head
    kept = options.get("keep", ())
    return read(source, target, **{**options, "keep": [*([kept] if isinstance(kept, str) else kept), *constant]})


def _identity(paths: Sequence[Path]) -> str:
    return str([(str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns) for path in paths])


def _text_source(paths: list[Path], target: Any, options: dict[str, Any]) -> Source:
    content, whole = b"", True
    for piece in read_pieces(paths[0]):
        content += piece
        if len(content) > _HEAD_BYTES:
            content, whole = content[: content.rfind(b"\n") + 1], False
            break
    layout = text_layout(paths[0], content, options.get("separator"), options.get("encoding"))
    if layout.is_wide:
        raise FileError(paths[0], "the text is UTF-16", advice="Save it as UTF-8.")
    missing = options.get("missing", MISSING)
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder) / plain_name(paths[0])
        first.write_bytes(content)
        head = _head(first, target, options, whole=whole and len(paths) == 1)
    name = ", ".join(map(str, paths))
    head = replace(head, source=name)
    choice = TableChoice(target=target, roles=head.inspection)
    files = [
        _Text(path, layout.separator, layout.encoding, missing, lambda names: exact_text(choice, names))
        for path in paths
    ]

    def batches(columns: list[str], n_rows: int) -> Iterator[pd.DataFrame]:
        for file in files:
            yield from file.frames(columns, n_rows)

    return Source(name, head, whole and len(paths) == 1, batches, _identity(paths), sha256_of(paths))


def _parquet_source(paths: list[Path], target: Any, options: dict[str, Any]) -> Source:
    import pyarrow as pa
    import pyarrow.parquet as pq

    def batches(columns: list[str], n_rows: int) -> Iterator[pd.DataFrame]:
        for path in paths:
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(batch_size=n_rows, columns=columns):
                    yield frame_of_arrow(pa.Table.from_batches([batch]))[columns]

    try:
        with pq.ParquetFile(paths[0]) as file:
            n_rows = file.metadata.num_rows
            names = file.schema_arrow.names
    except (pa.ArrowException, OSError) as error:
        raise FileError(paths[0], f"this is no readable Parquet file ({error})", advice="Write it again.") from None
    whole = len(paths) == 1 and n_rows <= HEAD_ROWS
    first = next(batches(names, HEAD_ROWS), None)
    if first is None:
        raise FileError(paths[0], "the file has no rows", advice="Name a file with rows.")
    head = replace(_head(first, target, options, whole=whole), source=", ".join(map(str, paths)))
    return Source(head.source, head, whole, batches, _identity(paths), sha256_of(paths))


def _frames_of(source: Any) -> Callable[[int], Iterable[pd.DataFrame]]:
    """A function that goes through the rows from the beginning, in frames of about so many rows."""
    if callable(source) and not hasattr(source, "columns"):
        return lambda n_rows: (_plain_frame(frame) for frame in source())  # noqa: ARG005
    if hasattr(source, "partitions") and hasattr(source, "dask"):
        return lambda n_rows: (  # noqa: ARG005
            _plain_frame(source.partitions[number].compute()) for number in range(source.npartitions)
        )
    if hasattr(source, "to_batches"):  # tables and data sets of Arrow
        import pyarrow as pa

        return lambda n_rows: (
            frame_of_arrow(pa.Table.from_batches([batch])) for batch in _arrow_batches(source, n_rows)
        )
    if hasattr(source, "columns") and hasattr(source, "shape"):
        frame = _plain_frame(source)
        return lambda n_rows: [frame]  # noqa: ARG005
    if isinstance(source, (list, tuple)) and source and all(hasattr(part, "columns") for part in source):
        return lambda n_rows: map(_plain_frame, source)  # noqa: ARG005
    raise TypeError(
        "A table is prepared from a path or paths, a frame or frames, an Arrow table or data set, a Dask frame, or a "
        f"function that returns an iterator of frames each time it is called. Got {type(source).__name__}."
    )


def _arrow_batches(source: Any, n_rows: int) -> Iterable[Any]:
    import pyarrow as pa

    if isinstance(source, pa.Table):
        return source.to_batches(max_chunksize=n_rows)
    return (batch for batch in source.to_batches(batch_size=n_rows) if batch.num_rows)


def _plain_frame(frame: Any) -> pd.DataFrame:
    """A pandas frame whose rows are numbered and whose columns have names."""
    if not isinstance(frame, pd.DataFrame):
        import narwhals as nw

        frame = nw.from_native(frame, eager_only=True).to_pandas()
    return frame.set_axis([str(name).strip() for name in frame.columns], axis=1).reset_index(drop=True)
