"""AnnData files (.h5ad) of single cells: the matrix, a column of the cells as target, what the genes are called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ramify.datasets.dataset import Dataset
from ramify.datasets.readers.raw_files import FileError, sha256_of
from ramify.datasets.readers.repeated_names import told_apart

_USUAL = ("cell_type_ontology_term_id", "cell_type", "celltype", "cell_types")
_ADVICE = "Write it again with anndata's write_h5ad."


def read_h5ad(path: Path, target: str | None = None, *, groups: str | None = None) -> Dataset:
    """Read cells by genes with one column of the cells as target: text as classes, numbers as numbers.

    Parameters
    ----------
    path : path
        An AnnData file.
    target : str, optional
        Column of `obs`; by default the cells' type where a column is called so.
    groups : str, optional
        Column of `obs` that says which cells belong together, such as the donor.

    Returns
    -------
    Dataset
        Sparse where the file is; the genes' `feature_name` are their titles.
    """
    try:
        import h5py
    except ImportError:
        raise ImportError("AnnData files need h5py. Install it with: pip install ramify[h5ad]") from None
    try:
        with h5py.File(path, "r") as file:
            return _dataset(file, path, target, groups)
    except FileError:
        raise
    except (OSError, LookupError, ValueError, TypeError, AttributeError, RuntimeError, MemoryError) as error:
        raise FileError(path, f"this is no readable AnnData file ({error})", advice=_ADVICE) from None


def _dataset(file: Any, path: Path, target: str | None, groups: str | None) -> Dataset:
    columns = [name for name in file["obs"] if name != _index_name(file["obs"])]
    if target is None:
        target = next((name for name in _USUAL if name in columns), None)
    if target is None or target not in columns:
        fault = "no column of the cells is named as the target" if target is None else f"no column is called {target!r}"
        raise FileError(path, fault, advice=f"Name one of {', '.join(columns)} (--target).")
    if groups is not None and groups not in columns:
        raise FileError(path, f"no column is called {groups!r}", advice=f"Name one of {', '.join(columns)} (--groups).")
    X = _matrix(file["X"], path)
    genes = _text(_column(file["var"], _index_name(file["var"])))
    ids = np.array(_text(_column(file["obs"], _index_name(file["obs"]))), dtype=object)
    values = _column(file["obs"], target)
    named = _text(_column(file["var"], "feature_name")) if "feature_name" in file["var"] else genes
    if X.shape != (len(ids), len(genes)) or len(values) != len(ids):
        raise FileError(path, f"X is {X.shape[0]} x {X.shape[1]} beside {len(ids)} cells and {len(genes)} genes",
                        advice=_ADVICE)  # fmt: skip
    known = np.array([value is not None and value == value for value in values.tolist()])
    if values.dtype.kind in "fiu":
        kind, labels, y = "numbers", [target], values.astype(float)[known]
    else:
        different, y = np.unique(values[known].astype(str), return_inverse=True)
        kind, labels = "classes", different.tolist()
    notes = [f"Using {target!r} of the cells as the target; other columns of the cells are not used."]
    if not known.all():
        notes.append(f"{int((~known).sum()):,} cells without {target!r} are left out.")
    rows = X[np.flatnonzero(known)]
    return Dataset(
        sparse.csc_array(rows) if sparse.issparse(rows) else rows,
        y=y,
        target=kind,  # type: ignore[arg-type]
        feature_names=told_apart(genes),
        label_names=tuple(labels),
        row_groups=None if groups is None else _column(file["obs"], groups)[known],
        ids=ids[known],
        titles={gene: name for gene, name in zip(genes, named, strict=True) if gene != name},
        notes=tuple(notes),
        source=str(path),
        sha256=sha256_of([path]),
    )


def _index_name(frame: Any) -> str:
    if not hasattr(frame, "keys"):
        raise ValueError("its cells or genes are a table of an old kind")
    return str(frame.attrs.get("_index", "index"))


def _column(frame: Any, name: str) -> np.ndarray:
    """A column as numbers, or as objects with None where nothing is known."""
    held = frame[name]
    if not hasattr(held, "keys"):
        values = held.asstr()[:] if held.dtype.kind in "OS" else held[:]
        return values if values.dtype.kind in "fiu" else values.astype(object)
    if "codes" in held:
        categories, codes = _text(_column(held, "categories")), held["codes"][:]
        if len(codes) and (codes.min() < -1 or codes.max() >= len(categories)):
            raise ValueError(f"codes of {name!r} are outside its categories")
        return np.array([*categories, None], dtype=object)[codes]
    values = _column(held, "values").astype(object)
    values[held["mask"][:].astype(bool)] = None
    return values


def _text(values: np.ndarray) -> list[str]:
    return [str(value) for value in values.tolist()]


def _matrix(held: Any, path: Path) -> Any:
    """Cells by genes, as numbers that are finite or missing."""
    if not hasattr(held, "keys"):
        _check_size(held.shape, path)
        return np.asarray(held[:], dtype=np.float64)
    shape = tuple(int(size) for size in held.attrs["shape"])
    encoding = str(held.attrs.get("encoding-type", ""))
    if encoding not in {"csr_matrix", "csc_matrix"} or len(shape) != 2:
        raise ValueError(f"X is held as {encoding or 'something unknown'}")
    for name in ("data", "indices", "indptr"):
        _check_size(held[name].shape, path)
        if name != "data" and held[name].dtype.kind not in "iu":
            raise ValueError(f"{name} of X holds no whole numbers")
    build = sparse.csr_array if encoding == "csr_matrix" else sparse.csc_array
    matrix = build((held["data"][:].astype(np.float64), held["indices"][:], held["indptr"][:]), shape=shape)
    matrix.check_format(full_check=True)
    matrix.sum_duplicates()
    return sparse.csr_array(matrix)


def _check_size(shape: tuple[int, ...], path: Path) -> None:
    """Refuse a small file that claims a huge matrix."""
    claimed = 8 * int(np.prod(shape, dtype=object))
    if claimed > 64 << 20 and claimed > 1000 * path.stat().st_size:
        raise FileError(path, f"a file of this size cannot hold {shape} numbers", advice=_ADVICE)
