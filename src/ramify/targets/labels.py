"""Classes, label sets and hierarchical label sets as one sparse 0/1 matrix with a weight per label."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from ramify.hierarchy import Hierarchy


@dataclass(frozen=True)
class LabelTarget:
    """A target of labels in the form the kernels take.

    Attributes
    ----------
    kind : {"classes", "labels", "hierarchy"}
        What y was.
    Y : CSR array of shape (n_samples, n_labels), int8
        1 where the example has the label; one entry per row for classes, closed under ancestors for a hierarchy.
    names : tuple of str
        Names of the labels (of the classes).
    weights : array of shape (n_labels,)
        Weight of each label in the impurity.
    classes : array, optional
        The sorted class values, where y was classes.
    was_sparse : bool
        Whether y came as a sparse matrix, so that predictions go back sparse.
    """

    kind: Literal["classes", "labels", "hierarchy"]
    Y: sparse.csr_array
    names: tuple[str, ...]
    weights: np.ndarray
    classes: np.ndarray | None = None
    was_sparse: bool = False


def encode_labels(
    y: Any, *, hierarchy: Hierarchy | None = None, label_weight: Any = None, n_samples: int | None = None
) -> LabelTarget:
    """Check y and encode it.

    Parameters
    ----------
    y : array of shape (n_samples,), or 0/1 array, CSR or frame of shape (n_samples, n_labels)
        Classes, or label sets. With a hierarchy the columns follow `hierarchy.names`; a frame is matched by name.
    hierarchy : Hierarchy, optional
        Order of the labels; y is closed under ancestors and labels get its weights.
    label_weight : array of shape (n_labels,), optional
        Weights that multiply those of the hierarchy (or 1).
    n_samples : int, optional
        Number of rows that y must have.

    Examples
    --------
    >>> from ramify.targets import encode_labels
    >>> encode_labels(["no", "yes", "no"]).Y.toarray()
    array([[1, 0],
           [0, 1],
           [1, 0]], dtype=int8)
    """
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    if hierarchy is not None and not isinstance(hierarchy, Hierarchy):
        raise TypeError(
            f"hierarchy must be a ramify.Hierarchy. Got {type(hierarchy).__name__} instead; "
            "Hierarchy.from_paths, from_edges and from_dict make one."
        )
    if _is_one_column_of_classes(y, hierarchy):
        target = _encode_classes(y)
    else:
        target = _encode_label_sets(y, hierarchy)
    if n_samples is not None and target.Y.shape[0] != n_samples:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {[n_samples, target.Y.shape[0]]}"
        )
    if label_weight is not None:
        given = _check_weights(label_weight, target.Y.shape[1])
        target = LabelTarget(
            target.kind, target.Y, target.names, target.weights * given, target.classes, target.was_sparse
        )
    return target


def _is_one_column_of_classes(y: Any, hierarchy: Hierarchy | None) -> bool:
    if hierarchy is not None or sparse.issparse(y):
        return False
    shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    if len(shape) != 2:
        return True
    return shape[1] == 1 and not _holds_only_0_and_1(np.asarray(y))


def _encode_classes(y: Any) -> LabelTarget:
    array = np.asarray(y)
    if array.ndim == 2:
        message = (
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,)."
        )
        warnings.warn(message, DataConversionWarning, stacklevel=3)
    values = column_or_1d(y)
    refuse_missing(values)
    check_classification_targets(values)
    classes, codes = np.unique(values, return_inverse=True)
    n_samples = len(values)
    ones = np.ones(n_samples, dtype=np.int8)
    Y = sparse.csr_array((ones, codes, np.arange(n_samples + 1)), shape=(n_samples, len(classes)))
    names = tuple(str(value) for value in classes.tolist())
    return LabelTarget("classes", Y, names, np.ones(len(classes)), classes=classes)


def _encode_label_sets(y: Any, hierarchy: Hierarchy | None) -> LabelTarget:
    names = _column_names(y)
    if hierarchy is not None and names is not None:
        y, names = _matched_by_name(y, names, hierarchy), list(hierarchy.names)
    array = check_array(
        y if sparse.issparse(y) else refuse_missing(np.asarray(y)),
        accept_sparse="csr",
        dtype=None,
        input_name="y",
        ensure_min_features=1,
    )
    if sparse.issparse(array) and not array.has_canonical_format:
        array = array.copy()
        array.sum_duplicates()
    if not _holds_only_0_and_1(array.data if sparse.issparse(array) else array):
        raise ValueError(
            "Label sets must be a 0/1 matrix with one column per label. Got other values; "
            "fit one estimator per column where each column is a class of its own."
        )
    Y = sparse.csr_array(array).astype(np.int8)
    Y.eliminate_zeros()
    if hierarchy is not None:
        if Y.shape[1] != len(hierarchy):
            raise ValueError(
                f"y has {Y.shape[1]} columns and the hierarchy {len(hierarchy)} nodes; columns must follow "
                "hierarchy.names. Pass a frame with named columns, or use hierarchy.encode."
            )
        return LabelTarget(
            "hierarchy", hierarchy.close(Y), hierarchy.names, np.array(hierarchy.weights), None, sparse.issparse(y)
        )
    label_names = tuple(names) if names is not None else tuple(f"y{j}" for j in range(Y.shape[1]))
    return LabelTarget("labels", Y, label_names, np.ones(Y.shape[1]), None, sparse.issparse(y))


def _column_names(y: Any) -> list[str] | None:
    columns = getattr(y, "columns", None)
    return None if columns is None else [str(name) for name in columns]


def _matched_by_name(y: Any, names: list[str], hierarchy: Hierarchy) -> sparse.csr_array:
    unknown = [name for name in names if name not in hierarchy]
    if unknown:
        raise ValueError(
            f"The label {unknown[0]!r} of y is not in the hierarchy; {len(unknown)} labels are unknown to it."
        )
    given = sparse.csc_array(refuse_missing(np.asarray(y)).astype(np.float64))
    position = np.array([hierarchy.index(name) for name in names], dtype=np.int64)
    coordinates = sparse.coo_array(given)
    row, column = coordinates.coords
    shape = (given.shape[0], len(hierarchy))
    return sparse.csr_array((coordinates.data, (row, position[column])), shape=shape)


def _holds_only_0_and_1(values: np.ndarray) -> bool:
    if values.dtype.kind not in "biuf":
        return False
    return bool(((values == 0) | (values == 1)).all())


def refuse_missing(values: np.ndarray) -> np.ndarray:
    """Return the values, or refuse them with the first row that has none."""
    if values.dtype.kind == "f":
        missing = np.isnan(values)
    elif values.dtype == object:
        missing = np.array([value is None or value != value for value in values.ravel().tolist()], dtype=bool)
        missing = missing.reshape(values.shape)
    else:
        return values
    if missing.any():
        row = int(np.argwhere(missing)[0][0])
        raise ValueError(
            f"Input y contains NaN (first in row {row}). Partially labelled data is refused: nothing is guessed; "
            "remove those rows or fill the labels in."
        )
    if values.dtype.kind == "f" and np.isinf(values).any():
        row = int(np.argwhere(np.isinf(values))[0][0])
        raise ValueError(
            f"Input y contains infinity (first in row {row}); labels are 0 and 1, classes any finite value."
        )
    return values


def _check_weights(label_weight: Any, n_labels: int) -> np.ndarray:
    weights = np.asarray(label_weight, dtype=np.float64)
    if weights.shape != (n_labels,):
        raise ValueError(f"label_weight must have one entry per label ({n_labels}). Got the shape {weights.shape}.")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("label_weight must hold finite numbers >= 0.")
    return weights
