"""What there is to know about a data set before learning from it."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from scipy import sparse

from ramify.datasets.dataset import Dataset
from ramify.features.coded_table import CodedTable
from ramify.hierarchy import Hierarchy

_ROWS = 1 << 20


def describe(data: Dataset) -> dict[str, Any]:
    """Counts and shares of a data set as a plain dict, ready for JSON.

    Parameters
    ----------
    data : Dataset
        What to describe.

    Returns
    -------
    dict
        Rows and parts; features by kind, missing, constant and duplicate ones; labels, cardinality, density, distinct
        label sets or rankings and their share of the rows, labels without a positive example; the hierarchies' shape.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.datasets import Dataset
    >>> from ramify.datasets.description import describe
    >>> described = describe(Dataset(np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]])))
    >>> described["constant"], described["duplicates"]
    (1, 1)
    """
    n_missing, n_constant, n_duplicates = _columns(data.X)
    n_cells = data.n_samples * data.n_features
    n_nominal = int(data.categorical_features.sum())
    described: dict[str, Any] = {
        "source": data.source,
        "sha256": data.sha256,
        "rows": data.n_samples,
        "parts": {name: len(rows) for name, rows in data.parts.items()},
        "features": data.n_features,
        "numeric": data.n_features - n_nominal,
        "nominal": n_nominal,
        "storage": data.storage,
        "missing": n_missing,
        "missing_share": n_missing / n_cells if n_cells else 0.0,
        "constant": n_constant,
        "duplicates": n_duplicates,
        "has_ids": data.ids is not None,
        "has_weights": data.sample_weight is not None,
        "left_out": dict(data.left_out),
        "columns": [] if data.inspection is None else data.inspection.to_frame().to_dict("records"),
        "notes": list(data.notes),
        "target": data.target,
    }
    described.update(_target(data))
    if data.known_share is not None:
        described["known_share"] = float(data.known_share.mean())
        least = int(data.known_share.argmin())
        described["least_known"] = f"{data.label_names[least]} ({data.known_share[least]:.0%})"
        shares = data.known_share.round(4).tolist()
        described["known_share_per_label"] = dict(zip(data.label_names, shares, strict=True))
    if data.hierarchy is not None:
        described["hierarchy"] = describe_hierarchy(data.hierarchy)
    if data.feature_hierarchy is not None:
        described["feature_hierarchy"] = describe_hierarchy(data.feature_hierarchy)
    return described


def describe_hierarchy(hierarchy: Hierarchy) -> dict[str, Any]:
    """Shape and depth of a hierarchy as a plain dict."""
    is_leaf = np.ones(len(hierarchy), dtype=bool)
    is_leaf[hierarchy.edges[:, 0]] = False
    depth = hierarchy.depth
    return {
        "shape": "tree" if hierarchy.is_tree else "DAG",
        "nodes": len(hierarchy),
        "edges": len(hierarchy.edges),
        "roots": len(hierarchy.roots),
        "leaves": len(hierarchy.leaves),
        "max_depth": float(depth.max()) if len(depth) else 0.0,
        "mean_leaf_depth": float(depth[is_leaf].mean()) if is_leaf.any() else 0.0,
    }


def _columns(X: Any) -> tuple[int, int, int]:
    """Missing cells, columns with at most one known value, and columns that repeat an earlier one."""
    n_missing = n_constant = 0
    digests: set[bytes] = set()
    n_rows, n_columns = X.shape
    if isinstance(X, CodedTable):
        return _coded_columns(X)
    if sparse.issparse(X):
        X = sparse.csc_array(X).sorted_indices()
    for j in range(n_columns):
        if sparse.issparse(X):
            stored = slice(X.indptr[j], X.indptr[j + 1])
            values, content = X.data[stored], X.indices[stored].tobytes() + b"|" + X.data[stored].tobytes()
            known = values[~np.isnan(values)]
            missing = len(values) - len(known)
            if len(values) < n_rows:
                known = np.append(known, 0.0)
        else:
            values = np.ascontiguousarray(X[:, j], dtype=float)
            content = values.tobytes()
            known = values[~np.isnan(values)]
            missing = n_rows - len(known)
        n_missing += missing
        n_constant += len(known) == 0 or bool((known == known[0]).all())
        digests.add(hashlib.sha256(content).digest())
    return n_missing, int(n_constant), n_columns - len(digests)


def _coded_columns(table: CodedTable) -> tuple[int, int, int]:
    """The same by codes."""
    n_missing = n_constant = 0
    digests: set[bytes] = set()
    for column, missing, lower in zip(table.codes, table.cuts.n_codes.tolist(), table.bounds.lower, strict=True):
        counts = np.zeros(missing + 1, dtype=np.int64)
        for start in range(0, len(column), _ROWS):
            counts += np.bincount(column[start : start + _ROWS], minlength=missing + 1)
        n_missing += int(counts[missing])
        n_constant += int(np.count_nonzero(counts[:missing]) <= 1)
        digests.add(hashlib.sha256(column).digest() + lower.tobytes())
    return n_missing, int(n_constant), len(table.codes) - len(digests)


def _target(data: Dataset) -> dict[str, Any]:
    if data.target is None or data.y is None:
        return {}
    described: dict[str, Any] = {"labels": data.n_labels}
    kind = data.target_type
    if data.targets:
        described["targets"] = {name: _what(what) for name, what in data.targets.items()}
        described["missing_labels"] = int(data.y.isna().to_numpy().sum())
    elif kind.has_one_label:
        counts = np.bincount(data.y, minlength=data.n_labels)
        described["class_counts"] = {name: int(n) for name, n in zip(data.label_names, counts, strict=True)}
        described["without_positive"] = int((counts == 0).sum())
    elif kind.has_sets:
        described.update(_label_sets(data))
    else:
        described["missing_labels"] = int(np.isnan(data.y).sum())
    if kind.ranks_labels:
        described["has_ties"] = _has_ties(data.y)
        described.update(_distinct(np.nan_to_num(data.y, nan=-1.0), data.n_samples))
    return described


def _what(target: Any) -> str:
    """What one of several targets is, in words."""
    if isinstance(target, str):
        return target
    return f"{len(target)} labels in a hierarchy" if isinstance(target, Hierarchy) else f"{len(target)} labels"


def _label_sets(data: Dataset) -> dict[str, Any]:
    Y = sparse.csr_array(data.y if sparse.issparse(data.y) else np.asarray(data.y, dtype=float), copy=True)
    n_missing = int(np.isnan(Y.data).sum()) if Y.data.dtype.kind == "f" else 0
    Y.data = np.nan_to_num(Y.data)
    Y.eliminate_zeros()
    Y.sort_indices()
    positives = np.diff(sparse.csc_array(Y).indptr)
    per_row = np.diff(Y.indptr)
    cardinality = float(per_row.mean()) if data.n_samples else 0.0
    described = {
        "missing_labels": n_missing,
        "cardinality": cardinality,
        "density": cardinality / data.n_labels if data.n_labels else 0.0,
        "without_positive": int((positives == 0).sum()),
        "without_label": int((per_row == 0).sum()),
    }
    if data.hierarchy is not None:
        is_leaf = np.ones(data.n_labels, dtype=bool)
        is_leaf[data.hierarchy.edges[:, 0]] = False
        described["leaf_cardinality"] = float(is_leaf[Y.indices].sum() / max(data.n_samples, 1))
    if "train" in data.parts and len(data.parts) > 1:
        in_train = np.diff(sparse.csc_array(Y[data.parts["train"]]).indptr) > 0
        described["without_positive_in_train"] = int((~in_train).sum())
        described["only_outside_train"] = int((~in_train & (positives > 0)).sum())
    sets = {Y.indices[Y.indptr[i] : Y.indptr[i + 1]].tobytes() for i in range(data.n_samples)}
    described["distinct"] = len(sets)
    described["distinct_share"] = len(sets) / data.n_samples if data.n_samples else 0.0
    return described


def _distinct(rows: np.ndarray, n_samples: int) -> dict[str, Any]:
    n_distinct = len(np.unique(rows, axis=0))
    return {"distinct": n_distinct, "distinct_share": n_distinct / n_samples if n_samples else 0.0}


def _has_ties(ranks: np.ndarray) -> bool:
    ordered = np.sort(ranks, axis=1)
    return bool((ordered[:, 1:] == ordered[:, :-1]).any())
