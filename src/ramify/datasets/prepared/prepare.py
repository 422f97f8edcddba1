"""`prepare`: a table of any size, in batches, to a file of codes that trees grow on where it lies."""

from __future__ import annotations

import hashlib
import io
import json
import mmap
import os
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ramify import _core
from ramify.datasets.dataset import Dataset
from ramify.datasets.prepared.coded_file import Layout, finish_file, hashes_of, packed, read_coded, unpacked
from ramify.datasets.prepared.sources import Source, source_of
from ramify.datasets.readers.any_file import read
from ramify.datasets.readers.raw_files import PathLike
from ramify.features.categories import frequent_values, values_of
from ramify.features.coded_table import MAX_BINS, Bounds, Cuts
from ramify.features.parted_table import SAMPLED_ROWS, mixed_numbers
from ramify.parameters import worker_count
from ramify.progress import progress_bar
from ramify.writing import whole_file

_CELL = 96
"""Bytes that a cell of a batch may take while it is read and coded."""

_FEWEST = 1000
_MOST_ROWS = 1 << 18
_MOST_VALUES = 1_000_000
_OF_TARGET = ("kind", "label_separator", "path_separator", "nested", "missing_target", "unknown", "hierarchy")
_NOT_TAKEN = (
    "annotations",
    "aspect",
    "evidence",
    "min_rows",
    "feature_hierarchy",
    "add_branches",
    "transposed",
)
_ROW = "number of the row"
_BETWEEN_NOTES = 5.0
"""Seconds of work that may be lost when the process is killed."""


def prepare(
    source: Any,
    output: PathLike,
    *,
    target: Any = None,
    memory: str | int = "2G",
    n_jobs: int | None = None,
    verbose: int = 0,
    **options: Any,
) -> Dataset:
    """Code a table of any size once, a byte per cell, into a file that trees grow on where it lies.

    The rows are read in batches, first the target, then a sample of the features for the edges of at most 255 bins,
    then all features. Killed and started again with files, it goes on where it was. Forests, boosted trees, their
    rankings, `read`, and the commands `fit`, `rank`, `predict` and `info` take the file.

    Parameters
    ----------
    source : path, sequence of paths, frame, sequence of frames, Arrow table or data set, Dask frame, or callable
        Text (`.csv`, `.tsv`, `.txt`) or Parquet, one below the other. A callable returns an iterator of frames each
        time that it is called.
    output : path
        The file to write, `table.ramify`. What was there before stays until it is complete.
    target : str or sequence of str, optional
        Target columns, as of `read`.
    memory : str or int, default="2G"
        Memory for batches and the sample, such as "500M"; the target is held besides.
    n_jobs : int or None, default=None
        Threads.
    verbose : int, default=0
        Show progress if positive.
    **options
        As of `read`, for tables: what columns are is decided by the first 50,000 rows.

    Returns
    -------
    Dataset
        As `read(output)`: the codes stay in the file, and its hashes were checked.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> import pandas as pd
    >>> import ramify
    >>> from ramify.ensemble import BoostedClassifier
    >>> frame = pd.DataFrame({"size": [1.5, 2.5, 3.5, 4.5] * 10, "kind": ["a", "a", "b", "b"] * 10})
    >>> data = ramify.prepare(frame, Path(mkdtemp()) / "plants.ramify", target="kind")
    >>> model = BoostedClassifier(5, early_stopping=None).fit(data.X, data.classes)
    >>> model.predict(data.X)[:4].tolist()
    ['a', 'a', 'b', 'b']
    """
    for name in _NOT_TAKEN:
        if name in options:
            raise ValueError(f"prepare takes no {name}: join and change the table before it is prepared.")
    output = Path(output)
    limit = memory_bytes(memory)
    rows = source_of(source, target, {name: value for name, value in options.items() if name != "hierarchy"})
    work = _Work(rows, target, options, limit, worker_count(n_jobs), verbose)
    with _partial_files(output) as partial:
        learnt = partial.learnt(work.identity)
        if learnt is None:
            partial.forget()
            learnt = work.learn()
            partial.keep(work.identity, learnt)
        data, cuts, kept_rows = learnt
        layout = Layout(data.n_samples, tuple(cuts.dtypes))
        partial.make_room(layout)
        bounds = work.code(partial, layout, cuts, kept_rows)
        with partial.mapped(layout) as columns:
            hashes = hashes_of(columns, work.n_threads)
        partial.finish(layout, packed(data, cuts, bounds, hashes=hashes))
    return read_coded(output, n_threads=work.n_threads)


def memory_bytes(memory: str | int) -> int:
    """Bytes from a number, or from a number with K, M, G or T.

    Examples
    --------
    >>> from ramify.datasets.prepared.prepare import memory_bytes
    >>> memory_bytes("1.5G"), memory_bytes(4_000_000)
    (1610612736, 4000000)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", str(memory).strip().lower())
    n_bytes = 0 if found is None else int(float(found[1]) * 1024 ** " kmgt".index(found[2] or " "))
    if n_bytes < 1 << 20:
        raise ValueError(f"memory must be a number of bytes of at least 1M, such as '500M' or '2G'. Got {memory!r}.")
    return n_bytes


@dataclass(frozen=True)
class _Work:
    """The passes over the rows."""

    source: Source
    target: Any
    options: dict[str, Any]
    memory: int
    n_threads: int
    verbose: int

    @property
    def identity(self) -> str | None:
        """What a half-finished run must share to be gone on with."""
        if self.source.identity is None:
            return None
        said = json.dumps([self.target, self.options], default=str, sort_keys=True)
        inspection = json.dumps(self.source.inspection.to_dict(), default=str)
        return hashlib.sha256(f"{self.source.identity}{said}{inspection}{self.n_sampled}".encode()).hexdigest()

    @property
    def columns(self) -> list[str]:
        """Columns of which features are made."""
        return list(self.source.inspection.names("feature"))

    @property
    def n_batch(self) -> int:
        """Rows of a batch."""
        return max(_FEWEST, min(_MOST_ROWS, self.memory // 4 // (_CELL * max(1, len(self.columns)))))

    @property
    def n_sampled(self) -> int:
        """Rows of the sample."""
        return max(_FEWEST, min(SAMPLED_ROWS, self.memory // 4 // (24 * max(1, self.source.head.n_features))))

    def learn(self) -> tuple[Dataset, Cuts, np.ndarray | None]:
        """The target of all rows, how features become codes, and which rows are kept; None for all."""
        data, kept = self._target()
        sample, counts = self._sample(kept)
        head = self.source.head
        categories: list[np.ndarray | None] = []
        for j, values in enumerate(head.categories):
            categories.append(None if values is None else _categories(counts[j], head.feature_names[j]))
        edges = _core.edges_of_bins(sample, max_bins=MAX_BINS, n_threads=self.n_threads)
        edges = [own if values is None else np.zeros(0) for own, values in zip(edges, categories, strict=True)]
        cuts = Cuts(head.feature_names, tuple(categories), tuple(edges))
        return data, cuts, kept

    def _target(self) -> tuple[Dataset, np.ndarray | None]:
        """Everything but the features, and the rows that have a target; None for all."""
        head = self.source.head
        known = self.source.inspection
        beside = [*known.names("weight"), *known.names("groups")]
        columns = list(dict.fromkeys([*known.target.columns, *beside]))
        frames = list(self.source.batches(columns, self.n_batch))
        frame = pd.concat(frames, ignore_index=True)
        del frames
        frame[_ROW] = np.arange(1.0, len(frame) + 1)
        given = {name: self.options[name] for name in _OF_TARGET if name in self.options}
        wish = list(known.target.columns) if self.target is None else self.target
        wish = wish[0] if isinstance(wish, list) and len(wish) == 1 else wish
        data = read(frame, wish, weight=_ROW, groups=next(iter(known.names("groups")), None), roles=None, **given,
                    ignore=[name for name in known.names("weight") if name not in known.target.columns])  # fmt: skip
        if data.targets:
            raise ValueError("Targets of several kinds are not kept in prepared tables. Prepare a table for each.")
        assert data.sample_weight is not None
        rows = data.sample_weight.astype(np.int64) - 1
        kept = None if len(rows) == len(frame) else rows
        weights = None
        for name in known.names("weight"):
            weights = read(frame[[name]], [], weight=name, ignore=(), roles=None).sample_weight
            weights = weights if weights is None or kept is None else weights[kept]
        notes = (*head.notes, *(note for note in data.notes if note not in head.notes))
        if not self.source.is_whole:
            notes = (*notes, f"What columns are was decided by the first {known.n_rows:,} rows.")
        return replace(
            data,
            X=np.empty((len(rows), 0)),
            feature_names=(),
            categories=(),
            sample_weight=weights,
            titles=head.titles,
            inspection=known,
            notes=notes,
            source=self.source.name,
            sha256=self.source.sha256,
        ), kept

    def batches(self, kept: np.ndarray | None) -> Iterator[tuple[int, Dataset]]:
        """Features of the kept rows in batches, each with the number of its first row among them."""
        first = first_kept = 0
        for frame in self.source.batches(self.columns, self.n_batch):
            data = read(frame, [], roles=self.source.inspection, storage="dense")
            if data.feature_names != self.source.head.feature_names:
                raise ValueError(f"Rows {first + 1:,} and following have other columns than the first rows.")
            n_rows = len(frame)
            if kept is not None:
                low, high = np.searchsorted(kept, [first, first + n_rows])
                data = data.rows(kept[low:high] - first)
            yield first_kept, data
            first += n_rows
            first_kept += data.n_samples

    def _sample(self, kept: np.ndarray | None) -> tuple[np.ndarray, dict[int, Counter[str]]]:
        """Rows drawn by their number, the same ones whatever the batches; and how often each nominal value occurs."""
        head = self.source.head
        nominal = np.flatnonzero(head.categorical_features).tolist()
        counts: dict[int, Counter[str]] = {j: Counter() for j in nominal}
        values, places = np.zeros((0, head.n_features)), np.zeros(0, dtype=np.uint64)
        for first, data in self.batches(kept):
            drawn = mixed_numbers(np.arange(first, first + data.n_samples, dtype=np.uint64))
            taken = np.ones(len(drawn), bool)
            if len(places) >= self.n_sampled:
                taken = drawn < places.max()
            values = np.concatenate([values, np.asarray(data.X)[taken]])
            places = np.concatenate([places, drawn[taken]])
            if len(places) > self.n_sampled:
                best = np.argpartition(places, self.n_sampled)[: self.n_sampled]
                values, places = values[best], places[best]
            for j in nominal:
                _count(counts[j], data, j)
        values = values[np.argsort(places)]
        values[:, nominal] = np.nan
        return values, counts

    def code(self, partial: _Partial, layout: Layout, cuts: Cuts, kept: np.ndarray | None) -> Bounds:
        """Write the codes of all rows that are not written yet."""
        n_done, bounds = partial.progress(cuts)
        noted = time.monotonic()
        with progress_bar(layout.n_rows, self.verbose, "Coding rows") as show:
            for first, data in self.batches(kept):
                if first + data.n_samples <= n_done:
                    continue
                if first < n_done:  # other batches than those of the run that was killed
                    data, first = data.rows(np.arange(n_done - first, data.n_samples)), n_done
                values = _in_cuts(data, cuts)
                partial.write(layout, first, cuts.code(values, bounds, self.n_threads))
                n_done = first + data.n_samples
                if time.monotonic() - noted > _BETWEEN_NOTES:
                    partial.note(n_done, bounds)
                    noted = time.monotonic()
                if show is not None:
                    show(n_done)
        if n_done != layout.n_rows:
            raise ValueError(f"{self.source.name} has changed while it was read. Prepare it again.")
        return bounds


def _count(counts: Counter[str], data: Dataset, feature: int) -> None:
    """Count the values of a nominal feature."""
    names = data.categories[feature] or ()
    codes = np.asarray(data.X)[:, feature]
    found = np.bincount(codes[~np.isnan(codes)].astype(np.intp), minlength=len(names))
    for name, count in zip(names, found.tolist(), strict=True):
        if count:
            counts[name] += count
    if len(counts) > _MOST_VALUES:
        name = data.feature_names[feature]
        raise ValueError(f"{name!r} has more than a million different texts. Leave it out: ignore={name!r} (--ignore).")


def _categories(counts: Counter[str], name: str) -> np.ndarray:
    """The values of a nominal feature as `fit` would learn them from all cells."""
    texts = np.array(list(counts), dtype=object)
    values = values_of(texts, name)
    return frequent_values(values, np.array([counts[str(value)] for value in values.tolist()], dtype=np.int64))


def _in_cuts(data: Dataset, cuts: Cuts) -> np.ndarray:
    """Values of a batch, its own codes of nominal values replaced by positions among all."""
    from ramify.features.categories import codes_of

    values = np.array(data.X, dtype=np.float64)
    for j, own in enumerate(data.categories):
        known = cuts.categories[j]
        if own is None or known is None:
            continue
        position = np.append(codes_of(np.array(own, dtype=object), known), np.nan)
        codes = values[:, j]
        values[:, j] = position[np.where(np.isnan(codes), len(own), codes).astype(np.intp)]
    return values


@dataclass(frozen=True)
class _Partial:
    """The files of a run that is not finished, beside the file that it is to become."""

    output: Path

    @property
    def codes(self) -> Path:
        return self.output.with_name(f".{self.output.name}.partial")

    @property
    def known(self) -> Path:
        return self.output.with_name(f".{self.output.name}.partial.learnt")

    @property
    def done(self) -> Path:
        return self.output.with_name(f".{self.output.name}.partial.done")

    def forget(self) -> None:
        """Remove what an earlier run left."""
        for path in (self.done, self.known):
            path.unlink(missing_ok=True)
        with self.codes.open("r+b") as file:
            file.truncate(0)

    def learnt(self, identity: str | None) -> tuple[Dataset, Cuts, np.ndarray | None] | None:
        """What an earlier run learnt of the same rows, or None."""
        if identity is None or not self.known.exists():
            return None
        content = self.known.read_bytes()
        if content[:64] != hashlib.sha256(identity.encode() + content[64:]).hexdigest().encode():
            return None
        data, cuts, _, kept = unpacked(content[64:])
        return data, cuts, kept.get("kept")

    def keep(self, identity: str | None, learnt: tuple[Dataset, Cuts, np.ndarray | None]) -> None:
        """Keep what is learnt for a run that goes on."""
        if identity is None:
            return
        data, cuts, kept = learnt
        content = packed(data, cuts, None, **({} if kept is None else {"kept": kept}))
        with whole_file(self.known) as file:
            file.write(hashlib.sha256(identity.encode() + content).hexdigest().encode() + content)

    def make_room(self, layout: Layout) -> None:
        """Take the place on disk before the work begins."""
        size = layout.offsets()[-1]
        with self.codes.open("r+b") as file:
            if os.fstat(file.fileno()).st_size >= size:
                return
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                file.truncate(size)

    def progress(self, cuts: Cuts) -> tuple[int, Bounds]:
        """Rows that an earlier run wrote, and the bounds of their bins."""
        bounds = cuts.no_bounds()
        if not self.done.exists():
            return 0, bounds
        with np.load(io.BytesIO(self.done.read_bytes()), allow_pickle=False) as kept:
            ends = np.cumsum([len(values) for values in bounds.lower])[:-1]
            lower, upper = (np.split(kept[name].copy(), ends) for name in ("lower", "upper"))
            return int(kept["n_done"]), Bounds([a.copy() for a in lower], [a.copy() for a in upper])

    def note(self, n_done: int, bounds: Bounds) -> None:
        """Note that so many rows are on disk."""
        with self.codes.open("r+b") as file:
            os.fsync(file.fileno())
        with whole_file(self.done) as noted:
            lower, upper = np.concatenate(bounds.lower), np.concatenate(bounds.upper)
            np.savez(noted, n_done=np.array(n_done), lower=lower, upper=upper)

    def write(self, layout: Layout, first: int, codes: np.ndarray) -> None:
        """Write the codes of some rows."""
        with self.codes.open("r+b", buffering=0) as file:
            for dtype, offset, column in zip(layout.dtypes, layout.offsets(), codes, strict=False):
                file.seek(offset + first * dtype.itemsize)
                content = memoryview(column.astype(dtype).tobytes())
                while content:
                    content = content[file.write(content) :]

    @contextmanager
    def mapped(self, layout: Layout) -> Iterator[list[np.ndarray]]:
        """The columns as they are in the file."""
        with self.codes.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as memory:
            columns = layout.columns(memory)
            yield columns
            columns.clear()

    def finish(self, layout: Layout, described: bytes) -> None:
        """Write what the codes mean and give the file its name."""
        from ramify.datasets.prepared.coded_file import MARK

        with self.codes.open("r+b") as file:
            file.write(MARK)
            finish_file(file, layout, described)
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
        self.codes.replace(self.output)
        for path in (self.known, self.done):
            path.unlink(missing_ok=True)


@contextmanager
def _partial_files(output: Path) -> Iterator[_Partial]:
    """The unfinished files of one run; a second run at the same time is refused, and a full disk leaves none."""
    partial = _Partial(output)
    if not output.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {output.parent} to write {output.name} to.")
    with partial.codes.open("ab") as held:
        with suppress(ImportError):
            import fcntl

            try:
                fcntl.flock(held.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise ValueError(f"{output} is being prepared by another process. Wait for it.") from None
        try:
            yield partial
        except OSError:
            for path in (partial.codes, partial.known, partial.done):
                path.unlink(missing_ok=True)
            raise
