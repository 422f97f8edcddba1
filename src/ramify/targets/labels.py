"""Classes, label sets and hierarchical label sets as one sparse 0/1 matrix with a weight per label."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from ramify import _core
from ramify.features.categories import is_missing
from ramify.features.frames import as_array
from ramify.hierarchy import Hierarchy
from ramify.targets.distances import PairDistance, class_distance, label_set_distance
from ramify.targets.target import Target, check_n_samples, check_weights


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelTarget(Target):
    """Label sets.

    Attributes
    ----------
    Y : CSR array of shape (n_samples, n_labels), int8
        1 where the example has the label; one entry per row for classes, closed under ancestors for a hierarchy.
    was_sparse : bool
        Whether y came as a sparse matrix, so that predictions go back sparse.
    classes : None
        The class values, of `ClassTarget` only.
    """

    kind: ClassVar[str] = "labels"
    forest: ClassVar[str] = "ForestClassifier"
    measure: ClassVar[str] = "auprc"
    measure_title: ClassVar[str] = "pooled AUPRC"
    has_labels: ClassVar[bool] = True
    has_sets: ClassVar[bool] = True
    permutation_errors: ClassVar[tuple[str, ...]] = ("auprc", "brier", "hamming")

    Y: sparse.csr_array
    was_sparse: bool = False
    classes: np.ndarray | None = None

    @property
    def n_samples(self) -> int:
        """Number of examples."""
        return int(self.Y.shape[0])

    def kernel_rows(self) -> _core.LabelRows:
        """The labels of each row, and the weights of the labels."""
        self.Y.sort_indices()
        weights = np.ascontiguousarray(self.weights, dtype=np.float64)
        return _core.LabelRows(self.Y.indptr.astype(np.int64), self.Y.indices.astype(np.int32), weights)

    def permutation_options(self, *, per_output: bool, error: str | None = None) -> dict[str, Any]:
        """By 1 - pooled AUPRC, or as asked for."""
        return {"per_output": per_output, "error": self.permutation_error(error)}

    def distance(self, metric: str = "euclidean", *, bound: str | None = "observed") -> PairDistance:
        """Weighted distance of two label sets; without a bound, top labels weigh `w0`."""
        weights = self.weights
        if bound is None and self.hierarchy is not None:
            weights = weights * self.hierarchy.w0
        return label_set_distance(self.Y, weights, distance=metric, bound=bound, hierarchy=self.hierarchy)

    @classmethod
    def sentence(cls, n_labels: int, n_levels: int) -> str:  # noqa: ARG003
        """What examples have, as the end of a sentence."""
        return f"have any of {n_labels:,} labels"

    def label_columns(self) -> sparse.csr_array | None:
        """The label sets."""
        return sparse.csr_array(self.Y, dtype=np.float64)

    def vectors(self) -> sparse.csr_array:
        """0/1 per label."""
        return sparse.csr_array(self.Y, dtype=np.float64)

    def truth(self, y: Any) -> Any:
        """0/1 per label."""
        return encode_labels(y, hierarchy=self.hierarchy).Y

    def frequencies(self, sample_weight: np.ndarray | None = None) -> np.ndarray:
        """Share of the examples with each label or class: what a model without features predicts."""
        Y = self.Y
        rows = np.full(Y.shape[0], 1.0 / Y.shape[0]) if sample_weight is None else sample_weight / sample_weight.sum()
        counts = np.bincount(Y.indices, weights=np.repeat(rows, np.diff(Y.indptr)), minlength=Y.shape[1])
        return counts.astype(np.float64)  # of no label at all, bincount makes integers


@dataclass(frozen=True, kw_only=True, eq=False)
class HierarchyTarget(LabelTarget):
    """Label sets that are closed under the ancestors of a hierarchy."""

    kind: ClassVar[str] = "hierarchy"

    @classmethod
    def described(cls, names: tuple[str, ...]) -> str:
        """A target with these names, in few words."""
        return f"{len(names)} labels in a hierarchy"

    @classmethod
    def sentence(cls, n_labels: int, n_levels: int) -> str:
        """What examples have, as the end of a sentence."""
        return f"have labels from a hierarchy of {n_labels:,} on {n_levels} levels"


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassTarget(LabelTarget):
    """Classes: exactly one label per example.

    Attributes
    ----------
    classes : array of shape (n_classes,)
        The sorted class values.
    """

    kind: ClassVar[str] = "classes"
    nouns: ClassVar[tuple[str, str]] = ("class", "classes")
    has_one_label: ClassVar[bool] = True
    has_sets: ClassVar[bool] = False
    permutation_errors: ClassVar[tuple[str, ...]] = ("misclassification", "brier")

    classes: np.ndarray

    @property
    def n_outputs(self) -> int:
        """One class per example."""
        return 1

    @classmethod
    def sentence(cls, n_labels: int, n_levels: int) -> str:  # noqa: ARG003
        """What examples have, as the end of a sentence."""
        return f"have one of {n_labels:,} classes"

    @property
    def groups(self) -> np.ndarray:
        """Number of the class of each example."""
        return self.Y.indices.astype(np.int32)

    def distance(self, metric: str = "euclidean", *, bound: str | None = "observed") -> PairDistance:  # noqa: ARG002
        """0 for equal classes, 1 for different ones."""
        return class_distance(self.groups)

    def label_columns(self) -> None:
        """Classes are compared as a whole."""

    def truth(self, y: Any) -> np.ndarray:
        """0/1 per class; an example of an unknown class has none."""
        number = {value: code for code, value in enumerate(self.classes.tolist())}
        codes = [number.get(value, -1) for value in np.asarray(y).ravel().tolist()]
        return (np.array(codes)[:, None] == np.arange(len(number))).astype(int)


def encode_labels(
    y: Any, *, hierarchy: Hierarchy | None = None, label_weight: Any = None, n_samples: int | None = None
) -> LabelTarget:
    """Check y as a classifier takes it, classes or label sets, and encode it.

    Parameters
    ----------
    y : array of shape (n_samples,), or 0/1 array, CSR or frame of shape (n_samples, n_labels)
        Classes, or label sets. With a hierarchy the columns follow `hierarchy.names`; a frame is matched by name.
    hierarchy : Hierarchy, optional
        Hierarchy of the labels; y is closed under ancestors and labels get its weights.
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
    is_classes = _is_one_column_of_classes(y, hierarchy)
    target = _encode_classes(y) if is_classes else _encode_label_sets(y, hierarchy)
    check_n_samples(target.n_samples, n_samples)
    given = check_weights("label_weight", label_weight, target.Y.shape[1], "label")
    return replace(target, weights=target.weights * given)


def _is_one_column_of_classes(y: Any, hierarchy: Hierarchy | None) -> bool:
    if hierarchy is not None or sparse.issparse(y):
        return False
    shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    if len(shape) != 2:
        return True
    return shape[1] == 1 and not holds_only_0_and_1(as_array(y))


def _encode_classes(y: Any) -> ClassTarget:
    array = as_array(y)
    if array.ndim == 2:
        message = (
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,)."
        )
        warnings.warn(message, DataConversionWarning, stacklevel=3)
    values = column_or_1d(array)
    refuse_missing(values)
    check_classification_targets(values)
    classes, codes = np.unique(values, return_inverse=True)
    n_samples = len(values)
    ones = np.ones(n_samples, dtype=np.int8)
    Y = sparse.csr_array((ones, codes, np.arange(n_samples + 1)), shape=(n_samples, len(classes)))
    names = tuple(str(value) for value in classes.tolist())
    return ClassTarget(Y=Y, names=names, weights=np.ones(len(classes)), classes=classes)


def _encode_label_sets(y: Any, hierarchy: Hierarchy | None) -> LabelTarget:
    names = _column_names(y)
    if hierarchy is not None and names is not None:
        y, names = _matched_by_name(y, names, hierarchy), list(hierarchy.names)
    array = check_array(
        y if sparse.issparse(y) else refuse_missing(as_array(y)),
        accept_sparse="csr",
        dtype=None,
        input_name="y",
        ensure_min_features=1,
    )
    if sparse.issparse(array) and not array.has_canonical_format:
        array = array.copy()
        array.sum_duplicates()
    if not holds_only_0_and_1(array.data if sparse.issparse(array) else array):
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
        return HierarchyTarget(
            Y=hierarchy.close(Y),
            names=hierarchy.names,
            weights=np.array(hierarchy.weights),
            hierarchy=hierarchy,
            was_sparse=sparse.issparse(y),
        )
    label_names = tuple(names) if names is not None else tuple(f"y{j}" for j in range(Y.shape[1]))
    return LabelTarget(Y=Y, names=label_names, weights=np.ones(Y.shape[1]), was_sparse=sparse.issparse(y))


def _column_names(y: Any) -> list[str] | None:
    columns = getattr(y, "columns", None)
    return None if columns is None else [str(name) for name in columns]


def _matched_by_name(y: Any, names: list[str], hierarchy: Hierarchy) -> sparse.csr_array:
    unknown = [name for name in names if name not in hierarchy]
    if unknown:
        raise ValueError(
            f"The label {unknown[0]!r} of y is not in the hierarchy; {len(unknown)} labels are unknown to it."
        )
    given = sparse.csc_array(refuse_missing(as_array(y)).astype(np.float64))
    position = np.array([hierarchy.index(name) for name in names], dtype=np.int64)
    coordinates = sparse.coo_array(given)
    row, column = coordinates.coords
    shape = (given.shape[0], len(hierarchy))
    return sparse.csr_array((coordinates.data, (row, position[column])), shape=shape)


def holds_only_0_and_1(values: np.ndarray) -> bool:
    """Whether the values are numbers, and none is other than 0 and 1."""
    if values.dtype.kind not in "biuf":
        return False
    return bool(((values == 0) | (values == 1)).all())


def refuse_missing(values: np.ndarray) -> np.ndarray:
    """Return the values, or refuse them with the first row that has none."""
    if values.dtype.kind == "f":
        missing = np.isnan(values)
    elif values.dtype == object:
        missing = np.array([is_missing(value) for value in values.ravel().tolist()], dtype=bool)
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
