"""PartedTable: features as one-byte codes on the workers of a Dask cluster, each part of the rows where it lies."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from ramify import _core
from ramify.features.categories import codes_of, frequent_values, is_missing, shown_value, values_of
from ramify.features.coded_table import MAX_BINS, Bounds, CodedTable, Cuts

SAMPLED_ROWS = 200_000
"""Rows whose values give the edges of bins: all where there are no more."""


@dataclass(frozen=True, eq=False)
class PartedTable:
    """Codes of rows that are parted among workers; all parts are coded alike.

    Attributes
    ----------
    client : distributed.Client
        Who asks the workers.
    parts : list of Future
        A `CodedTable` each, with the bounds of its own rows.
    sizes : list of int
        Number of rows of each part, in the order of the rows.
    cuts : Cuts
        Names, bins and nominal values.
    bounds : Bounds
        Values of the bins, of all parts.
    """

    client: Any
    parts: list[Any]
    sizes: list[int]
    cuts: Cuts
    bounds: Bounds

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        return sum(self.sizes), len(self.cuts.names)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"PartedTable({len(self)} rows in {len(self.parts)} parts, {self.shape[1]} features)"

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise TypeError("Rows on a Dask cluster are for forests and boosted trees. Give other methods X.compute().")

    def gathered(self) -> CodedTable:
        """All codes in one place, a byte per cell."""
        parts = self.client.gather(self.parts)
        codes = [np.concatenate(own) for own in zip(*(part.codes for part in parts), strict=True)]
        return CodedTable(self.cuts, codes, self.bounds)


def is_parted(X: Any) -> bool:
    """Whether X is a frame or an array of Dask."""
    return hasattr(X, "dask") and hasattr(X, "to_delayed")


def in_memory(values: Any) -> Any:
    """What a Dask collection holds; anything else as it is."""
    return values.compute() if is_parted(values) else values


def parted_table(X: Any, names: tuple[str, ...], is_nominal: np.ndarray, max_bins: int | None) -> PartedTable:
    """Code a frame or array of Dask, part by part, on the workers of the cluster that is connected.

    Rows are numbered in the order of the parts. The edges of bins are those of a sample drawn by these numbers, so
    codes do not depend on how rows are parted.

    Parameters
    ----------
    X : Dask frame or array
        Features.
    names : tuple of str
        Their names.
    is_nominal : bool array
        Which features are nominal.
    max_bins : int or None
        Bins of a feature, at most 255.
    """
    client = _connected()
    rows = _delayed_parts(X)
    held = client.compute(rows)
    sizes = client.gather(client.map(len, held, pure=False))
    held = [part for part, size in zip(held, sizes, strict=True) if size]
    sizes = [size for size in sizes if size]
    if not sizes:
        raise ValueError("X has no rows. Give partitions with rows.")
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]]).tolist()
    most = _largest_number(sum(sizes))
    looked_at = client.gather(
        client.map(_looked_at, held, first, most=most, is_nominal=is_nominal, names=names, pure=False)
    )
    sample = np.concatenate([values for values, _, _ in looked_at])
    places = np.concatenate([numbers for _, numbers, _ in looked_at])
    if len(places) > SAMPLED_ROWS:
        sample = sample[np.sort(np.argpartition(places, SAMPLED_ROWS)[:SAMPLED_ROWS])]
    edges = _core.edges_of_bins(sample, max_bins=min(max_bins or MAX_BINS, MAX_BINS), n_threads=1)
    categories = [
        _categories([counts[j] for _, _, counts in looked_at], names[j]) if nominal else None
        for j, nominal in enumerate(is_nominal.tolist())
    ]
    edges = [own if values is None else np.zeros(0) for own, values in zip(edges, categories, strict=True)]
    cuts = Cuts(names, tuple(categories), tuple(edges))
    parts = client.map(_coded, held, cuts=cuts, pure=False)
    bounds = cuts.no_bounds()
    for own in client.gather(client.map(_bounds, parts, pure=False)):
        bounds.widen(own)
    return PartedTable(client, parts, sizes, cuts, bounds)


def _connected() -> Any:
    try:
        from distributed import get_client

        return get_client()
    except ImportError:
        raise ImportError("Frames and arrays of Dask need the extra: pip install 'ramify[dask]'.") from None
    except ValueError:
        raise ValueError(
            "X is of Dask, but no cluster is connected. Make a dask.distributed.Client first, such as Client() for "
            "this machine, or give X.compute()."
        ) from None


def _delayed_parts(X: Any) -> list[Any]:
    """The partitions of a frame, or the blocks of rows of an array."""
    if hasattr(X, "npartitions") and hasattr(X, "columns"):
        return list(X.to_delayed())
    if X.ndim != 2:
        raise ValueError(f"X must have rows and columns. Got a Dask array of {X.ndim} dimensions.")
    return list(X.rechunk({1: -1}).to_delayed().ravel())


def _largest_number(n_rows: int) -> int:
    """Rows whose mixed number is at most this are looked at: surely as many as the sample needs, if there are."""
    share = min(1.0, 1.1 * SAMPLED_ROWS / max(1, n_rows))
    return int(share * (2**64 - 1)) if share < 1 else 2**64 - 1


def _looked_at(
    part: Any, first: int, most: int, is_nominal: np.ndarray, names: tuple[str, ...]
) -> tuple[np.ndarray, np.ndarray, list[Counter[Any] | None]]:
    """Rows of the sample with their mixed numbers, and how often each nominal value occurs."""
    values = _numbers(part, is_nominal, names)
    mixed = mixed_numbers(np.arange(first, first + len(values), dtype=np.uint64))
    taken = mixed <= np.uint64(most)
    counts = [
        Counter(value for value in _cells(part, j).tolist() if not is_missing(value)) if nominal else None
        for j, nominal in enumerate(is_nominal.tolist())
    ]
    return values[taken], mixed[taken], counts


def mixed_numbers(numbers: np.ndarray) -> np.ndarray:
    """Numbers of rows in an order without pattern (splitmix64)."""
    with np.errstate(over="ignore"):
        z = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(z ^ (z >> np.uint64(31)))


def _categories(counts: list[Counter[Any] | None], name: str) -> np.ndarray:
    """The values of a nominal feature as `fit` would learn them from all cells."""
    total: Counter[Any] = Counter()
    for own in counts:
        total.update(own or ())
    values = values_of(np.array(list(total), dtype=object), repr(name))
    of_value: Counter[str] = Counter()
    for value, count in total.items():
        of_value[shown_value(value)] += count
    return frequent_values(
        values, np.array([of_value[shown_value(value)] for value in values.tolist()], dtype=np.int64)
    )


def _cells(part: Any, column: int) -> np.ndarray:
    cells = part.iloc[:, column] if hasattr(part, "iloc") else part[:, column]
    return np.asarray(cells, dtype=object)


def _numbers(part: Any, is_nominal: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """Numeric columns as doubles, NaN in nominal ones; infinity is refused."""
    values = np.full((len(part), len(names)), np.nan)
    for j in np.flatnonzero(~is_nominal).tolist():
        values[:, j] = part.iloc[:, j].to_numpy(np.float64, na_value=np.nan) if hasattr(part, "iloc") else part[:, j]
        if np.isinf(values[:, j]).any():
            raise ValueError(f"Input X contains infinity in feature {names[j]!r}; replace it by a number or by NaN.")
    return values


def _coded(part: Any, cuts: Cuts) -> CodedTable:
    is_nominal = cuts.n_categories > 0
    values = _numbers(part, is_nominal, cuts.names)
    for j, known in enumerate(cuts.categories):
        if known is not None:
            values[:, j] = codes_of(_cells(part, j), known)
    bounds = cuts.no_bounds()
    codes = cuts.code(values, bounds)
    return CodedTable(cuts, [own.astype(dtype) for own, dtype in zip(codes, cuts.dtypes, strict=True)], bounds)


def _bounds(part: CodedTable) -> Bounds:
    return part.bounds
