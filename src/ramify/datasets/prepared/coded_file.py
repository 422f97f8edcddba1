"""The file of a prepared table: codes column by column, then what they mean and the target, then hashes of all of it.

After a mark, each column begins at a page and holds a code per row, so that a mapped file is a table without a copy.
Behind the columns are a ZIP archive of arrays (`numpy.savez`), its place and its hash.
"""

from __future__ import annotations

import hashlib
import io
import json
import mmap
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from scipy import sparse

from ramify.datasets.dataset import Dataset
from ramify.datasets.readers.raw_files import FileError, PathLike
from ramify.datasets.tables.inspection import Inspection
from ramify.features.coded_table import Bounds, CodedTable, Cuts
from ramify.hierarchy import Hierarchy

MARK = b"ramify table 1\n\0"
PAGE = 4096
HASHED_ROWS = 1 << 20
"""Rows whose codes have a hash of their own."""
_END = len(MARK) + 8 + 8 + 32
_FAULTS = (ValueError, KeyError, TypeError, OSError, EOFError, IndexError, AttributeError)


@dataclass(frozen=True)
class Layout:
    """Where the columns of a file begin."""

    n_rows: int
    dtypes: tuple[np.dtype, ...]

    def offsets(self) -> list[int]:
        """The byte at which each column begins, and behind them the one at which they end."""
        found = [PAGE]
        for dtype in self.dtypes:
            found.append(found[-1] + -(-self.n_rows * dtype.itemsize // PAGE) * PAGE)
        return found

    def columns(self, memory: Any) -> list[np.ndarray]:
        """The columns of a mapped file."""
        places = zip(self.dtypes, self.offsets(), strict=False)
        return [np.frombuffer(memory, dtype, self.n_rows, offset) for dtype, offset in places]


def hashes_of(columns: list[np.ndarray], n_threads: int) -> np.ndarray:
    """SHA-256 of the codes of each block of rows."""

    def digest(first: int) -> np.ndarray:
        found = hashlib.sha256()
        for column in columns:
            found.update(column[first : first + HASHED_ROWS])
        return np.frombuffer(found.digest(), np.uint8)

    n_rows = len(columns[0]) if columns else 0
    with ThreadPoolExecutor(n_threads) as threads:
        return np.array(list(threads.map(digest, range(0, n_rows, HASHED_ROWS))), np.uint8).reshape(-1, 32)


def is_coded_file(path: Path) -> bool:
    """Whether a file is a prepared table."""
    with path.open("rb") as file:
        return file.read(len(MARK)) == MARK


def finish_file(file: BinaryIO, layout: Layout, described: bytes) -> None:
    """Write what stands behind the columns."""
    start = layout.offsets()[-1]
    file.seek(start)
    file.write(described)
    place = np.array([start, len(described)], dtype="<u8").tobytes()
    file.write(place + hashlib.sha256(place + described).digest() + MARK)


def packed(data: Dataset, cuts: Cuts, bounds: Bounds | None, **arrays: np.ndarray) -> bytes:
    """Everything but the codes, as an archive of arrays.

    Parameters
    ----------
    data : Dataset
        Target, weights, groups and what is known of the data; its X is not looked at.
    cuts : Cuts
        Bins and nominal values.
    bounds : Bounds or None
        Values of the bins.
    **arrays : arrays
        Whatever else is to be kept.
    """
    text = {
        "names": cuts.names,
        "categories": [None if values is None else values.tolist() for values in cuts.categories],
        "target": data.target,
        "label_names": data.label_names,
        "hierarchy": _hierarchy_text(data.hierarchy),
        "feature_hierarchy": _hierarchy_text(data.feature_hierarchy),
        "titles": dict(data.titles),
        "notes": data.notes,
        "inspection": None if data.inspection is None else data.inspection.to_dict(),
        "source": data.source,
        "sha256": data.sha256,
    }
    arrays |= {"text": np.frombuffer(json.dumps(text).encode(), np.uint8)}
    arrays["n_rows"] = np.array([data.n_samples])
    arrays |= {"edges": _joined(cuts.edges), "n_edges": np.array([len(edges) for edges in cuts.edges])}
    if bounds is not None:
        arrays |= {"lower": _joined(bounds.lower), "upper": _joined(bounds.upper)}
    for name in ("sample_weight", "row_groups"):
        if getattr(data, name) is not None:
            held = np.asarray(getattr(data, name))
            arrays[name] = held.astype(str) if held.dtype == object else held
    if sparse.issparse(data.y):
        cells = sparse.csr_array(data.y)
        arrays |= {"y_data": cells.data, "y_indices": cells.indices, "y_indptr": cells.indptr}
        arrays["y_shape"] = np.array(cells.shape)
    elif data.y is not None:
        y = np.asarray(data.y)
        is_whole = y.dtype.kind in "iu" and y.size
        arrays["y"] = y.astype(np.result_type(*map(np.min_scalar_type, (y.min(), y.max())))) if is_whole else y
    if any(array.dtype == object for array in arrays.values()):
        raise TypeError(f"A target of kind {data.target!r} cannot be kept in a prepared table.")
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def unpacked(content: bytes) -> tuple[Dataset, Cuts, Bounds | None, dict[str, np.ndarray]]:
    """What `packed` was given; the data set has no features."""
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    text = json.loads(arrays.pop("text").tobytes())
    categories = tuple(None if values is None else _values(values) for values in text["categories"])
    ends = np.cumsum(arrays.pop("n_edges"))
    cuts = Cuts(tuple(text["names"]), categories, tuple(np.split(arrays.pop("edges"), ends[:-1])) if len(ends) else ())
    bounds = None
    if "lower" in arrays:
        sizes = [len(values) for values in cuts.no_bounds().lower]
        lower, upper = (np.split(arrays.pop(name), np.cumsum(sizes)[:-1]) for name in ("lower", "upper"))
        bounds = Bounds(list(lower), list(upper))
    y = arrays.pop("y", None)
    if "y_data" in arrays:
        parts = tuple(arrays.pop(name) for name in ("y_data", "y_indices", "y_indptr"))
        y = sparse.csr_array(parts, shape=tuple(arrays.pop("y_shape").tolist()))
    weight, groups = arrays.pop("sample_weight", None), arrays.pop("row_groups", None)
    data = Dataset(
        np.empty((int(arrays.pop("n_rows")[0]), 0)),
        y=y,
        target=text["target"],
        label_names=tuple(text["label_names"]),
        hierarchy=_hierarchy(text["hierarchy"]),
        feature_hierarchy=_hierarchy(text["feature_hierarchy"]),
        sample_weight=weight,
        row_groups=groups,
        titles=text["titles"],
        notes=tuple(text["notes"]),
        inspection=None if text["inspection"] is None else Inspection.from_dict(text["inspection"]),
        source=text["source"],
        sha256=text["sha256"],
    )
    return data, cuts, bounds, arrays


def read_coded(file: PathLike, *, n_threads: int | None = None) -> Dataset:
    """A prepared table, whose codes stay in the file; every byte is checked against its hash.

    Parameters
    ----------
    file : path
        What `prepare` wrote.
    n_threads : int, optional
        Threads that check; by default one for each core.
    """
    path = Path(file)
    with path.open("rb") as opened:
        size = os.fstat(opened.fileno()).st_size
        if size < PAGE + _END or opened.read(len(MARK)) != MARK:
            raise FileError(path, "this is no prepared table, or a part of one", advice="Prepare it again.")
        memory = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        end = memory[size - _END :]
        start, length = np.frombuffer(end, "<u8", 2).tolist()
        if end[-len(MARK) :] != MARK or start + length + _END != size:
            raise ValueError("it is cut off")
        described = memory[start : start + length]
        if hashlib.sha256(end[:16] + described).digest() != end[16:48]:
            raise ValueError("its hash is another")
        data, cuts, bounds, kept = unpacked(described)
        layout = Layout(data.n_samples, tuple(cuts.dtypes))
        if layout.offsets()[-1] != start or bounds is None:
            raise ValueError("its columns are not where they should be")
        columns = layout.columns(memory)
        if not np.array_equal(hashes_of(columns, n_threads or os.cpu_count() or 1), kept["hashes"]):
            raise ValueError("the hash of its codes is another")
        table = CodedTable(cuts, columns, bounds)
        _ = table.table  # checks that every code has a meaning
    except _FAULTS as error:
        raise FileError(path, f"this prepared table is damaged: {error}", advice="Prepare it again.") from None
    categories = tuple(None if values is None else tuple(map(str, values)) for values in cuts.categories)
    return replace(data, X=table, feature_names=cuts.names, categories=categories, source=str(path))


def _joined(arrays: Any) -> np.ndarray:
    return np.concatenate([np.zeros(0), *arrays])


def _values(values: list[Any]) -> np.ndarray:
    """Nominal values as `fit` keeps them: numbers, or texts."""
    is_text = any(isinstance(value, str) for value in values)
    return np.array(values, dtype=object if is_text else np.float64)


def _hierarchy_text(hierarchy: Hierarchy | None) -> dict[str, Any] | None:
    if hierarchy is None:
        return None
    text = {"names": hierarchy.names, "edges": hierarchy.edges.tolist()}
    return {**text, "w0": hierarchy.w0, "aggregate": hierarchy.aggregate}


def _hierarchy(text: dict[str, Any] | None) -> Hierarchy | None:
    return None if text is None else Hierarchy(**text)
