"""Classes, label sets and hierarchical label sets as one sparse 0/1 matrix with a weight per label."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from numbers import Number
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from ramify import _core
from ramify.features.frames import as_array, refuse_broken
from ramify.hierarchy import Hierarchy
from ramify.targets.closure import close_partly_known
from ramify.targets.distances import PairDistance, class_distance, label_set_distance
from ramify.targets.known_cells import as_numbers, holds_only_0_and_1, known_part, refuse_missing, refuse_unknown
from ramify.targets.target import Target, check_n_samples, check_weights, refuse_nowhere_known


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelTarget(Target):
    """Label sets.

    Attributes
    ----------
    Y : CSR array of shape (n_samples, n_labels), int8
        1 where the example has the label; one entry per row for classes, closed under ancestors for a hierarchy.
        Where `unknown` says so, it is not known whether the example has it.
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
        rows = self.Y.indptr.astype(np.int64), self.Y.indices.astype(np.int32), weights
        if self.unknown is None:
            return _core.LabelRows(*rows)
        self.unknown.sort_indices()
        return _core.LabelRows(
            *rows,
            unknown_indptr=self.unknown.indptr.astype(np.int64),
            unknown_indices=self.unknown.indices.astype(np.int32),
        )

    def permutation_options(self, *, per_output: bool, error: str | None = None) -> dict[str, Any]:
        """By 1 - pooled AUPRC, or as asked for."""
        return {"per_output": per_output, "error": self.permutation_error(error)}

    def distance(
        self, metric: str = "euclidean", *, bound: str | None = "observed", n_threads: int = 1
    ) -> PairDistance:
        """Weighted distance of two label sets; without a bound, top labels weigh `w0`."""
        weights = self.weights
        if bound is None and self.hierarchy is not None:
            weights = weights * self.hierarchy.w0
        return label_set_distance(
            self.Y,
            weights,
            distance=metric,
            bound=bound,
            hierarchy=self.hierarchy,
            unknown=self.unknown,
            n_threads=n_threads,
        )

    @classmethod
    def sentence(cls, n_labels: int, n_levels: int) -> str:  # noqa: ARG003
        """What examples have, as the end of a sentence."""
        return f"have any of {n_labels:,} labels"

    def label_columns(self) -> sparse.csr_array | None:
        """The label sets, NaN where unknown."""
        return sparse.csr_array(self.cells(), dtype=np.float64)

    def vectors(self) -> sparse.csr_array:
        """0/1 per label, NaN where unknown."""
        return sparse.csr_array(self.cells(), dtype=np.float64)

    def cells(self) -> sparse.csr_array:
        """0/1 per label, with a stored NaN where unknown."""
        if self.unknown is None:
            return self.Y
        unknown = self.unknown.astype(np.float64)
        unknown.data[:] = np.nan
        return sparse.csr_array(self.Y.astype(np.float64) + unknown)

    def truth(self, y: Any) -> Any:
        """0/1 per label, NaN where unknown."""
        return encode_labels(y, hierarchy=self.hierarchy, partly_known=True, nowhere_known=True).cells()

    def frequencies(self, sample_weight: np.ndarray | None = None) -> np.ndarray:
        """Share of the known examples with each label or class: what a model without features predicts."""
        Y = self.Y
        rows = np.full(Y.shape[0], 1.0 / Y.shape[0]) if sample_weight is None else sample_weight / sample_weight.sum()
        counts = summed_by_label(Y, rows)
        if self.unknown is None:
            return counts
        known = 1.0 - summed_by_label(self.unknown, rows)
        return np.clip(counts / np.where(known > 0, known, 1.0), 0.0, 1.0)


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

    def distance(
        self,
        metric: str = "euclidean",  # noqa: ARG002
        *,
        bound: str | None = "observed",  # noqa: ARG002
        n_threads: int = 1,  # noqa: ARG002
    ) -> PairDistance:
        """0 for equal classes, 1 for different ones."""
        return class_distance(self.groups)

    def label_columns(self) -> None:
        """Classes are compared as a whole."""

    def truth(self, y: Any) -> np.ndarray:
        """0/1 per class; an example of an unknown class has none."""
        number = {value: code for code, value in enumerate(self.classes.tolist())}
        codes = [number.get(value, -1) for value in np.asarray(y).ravel().tolist()]
        return (np.array(codes)[:, None] == np.arange(len(number))).astype(int)


def summed_by_label(cells: sparse.csr_array, rows: np.ndarray) -> np.ndarray:
    """Sum of the rows' weights over the cells that each label has."""
    sums = np.bincount(cells.indices, weights=np.repeat(rows, np.diff(cells.indptr)), minlength=cells.shape[1])
    return sums.astype(np.float64)  # of no label at all, bincount makes integers


def encode_labels(
    y: Any,
    *,
    hierarchy: Hierarchy | None = None,
    label_weight: Any = None,
    n_samples: int | None = None,
    partly_known: bool = False,
    nowhere_known: bool = False,
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
    partly_known : bool, default=False
        Whether NaN in label sets, or a stored NaN of a CSR, is a label of which it is not known whether the row has it;
        else it is refused. With a hierarchy, what follows from known labels is known: a row has the ancestors of its
        labels, and none of the descendants of a label that it has not.
    nowhere_known : bool, default=False
        Whether a label may be unknown in all rows; else it is refused by name.

    Examples
    --------
    >>> from ramify.targets import encode_labels
    >>> encode_labels(["no", "yes", "no"]).Y.toarray()
    array([[1, 0],
           [0, 1],
           [1, 0]], dtype=int8)
    """
    refuse_broken("y", y)
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    if hierarchy is not None and not isinstance(hierarchy, Hierarchy):
        raise TypeError(
            f"hierarchy must be a ramify.Hierarchy. Got {type(hierarchy).__name__} instead; "
            "Hierarchy.from_paths, from_edges and from_dict make one."
        )
    is_classes = _is_one_column_of_classes(y, hierarchy)
    target = _encode_classes(y) if is_classes else _encode_label_sets(y, hierarchy, partly_known=partly_known)
    check_n_samples(target.n_samples, n_samples)
    if not nowhere_known:
        refuse_nowhere_known(target.names, target.unknown, "label")
    given = check_weights("label_weight", label_weight, target.Y.shape[1], "label")
    return replace(target, weights=target.weights * given)


def _is_one_column_of_classes(y: Any, hierarchy: Hierarchy | None) -> bool:
    if hierarchy is not None or sparse.issparse(y):
        return False
    shape = y.shape if hasattr(y, "shape") else as_array(y).shape
    if len(shape) != 2:
        return True
    return shape[1] == 1 and not holds_only_0_and_1(known_part(as_array(y)))


def _encode_classes(y: Any) -> ClassTarget:
    array = as_array(y)
    if array.ndim == 2:
        message = (
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,)."
        )
        warnings.warn(message, DataConversionWarning, stacklevel=3)
    values = column_or_1d(array)
    refuse_missing(values)
    if values.dtype == object:
        _refuse_mixed_types(values)
    check_classification_targets(values)
    classes, codes = np.unique(values, return_inverse=True)
    n_samples = len(values)
    ones = np.ones(n_samples, dtype=np.int8)
    Y = sparse.csr_array((ones, codes, np.arange(n_samples + 1)), shape=(n_samples, len(classes)))
    names = tuple(str(value) for value in classes.tolist())
    return ClassTarget(Y=Y, names=names, weights=np.ones(len(classes)), classes=classes)


def _refuse_mixed_types(values: np.ndarray) -> None:
    """Refuse classes that have no common order."""
    kinds = {"number" if isinstance(value, Number) else type(value).__name__: value for value in values.tolist()}
    if len(kinds) > 1:
        shown = " and ".join(f"{value!r} ({kind})" for kind, value in sorted(kinds.items())[:2])
        raise TypeError(
            f"Classes must be of one type, but y holds {shown}. Convert them, for instance with np.array(y, dtype=str)."
        )


def _encode_label_sets(y: Any, hierarchy: Hierarchy | None, *, partly_known: bool) -> LabelTarget:
    names, without_column = _column_names(y), None
    if hierarchy is not None and names is not None:
        y, without_column = _matched_by_name(y, names, hierarchy)
        names = list(hierarchy.names)
    was_sparse = sparse.issparse(y)
    array = check_array(
        y if sparse.issparse(y) else as_numbers(as_array(y)),
        accept_sparse="csr",
        dtype=None,
        input_name="y",
        ensure_min_features=1,
        ensure_all_finite="allow-nan",
    )
    array, unknown = _known_and_unknown(array)
    if unknown is not None and not partly_known:
        refuse_unknown(int(np.flatnonzero(np.diff(unknown.indptr))[0]))
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
        if unknown is None:
            Y = hierarchy.close(Y)
        else:
            Y, unknown = close_partly_known(Y, unknown, hierarchy, without_column)
        return HierarchyTarget(
            Y=Y,
            unknown=unknown,
            names=hierarchy.names,
            weights=np.array(hierarchy.weights),
            hierarchy=hierarchy,
            was_sparse=was_sparse,
        )
    label_names = tuple(names) if names is not None else tuple(f"y{j}" for j in range(Y.shape[1]))
    return LabelTarget(Y=Y, unknown=unknown, names=label_names, weights=np.ones(Y.shape[1]), was_sparse=was_sparse)


def _known_and_unknown(array: Any) -> tuple[Any, sparse.csr_array | None]:
    """The cells with 0 in place of NaN, and where NaN was; None for nowhere."""
    if sparse.issparse(array) and not array.has_canonical_format:
        array = array.copy()
        array.sum_duplicates()
    values = array.data if sparse.issparse(array) else array
    if values.dtype.kind != "f" or not np.isnan(values).any():
        return array, None
    if not sparse.issparse(array):
        unknown = np.isnan(array)
        return np.where(unknown, 0.0, array), sparse.csr_array(unknown)
    known, unknown = sparse.csr_array(array, copy=True), sparse.csr_array(array, copy=True)
    unknown.data = np.isnan(array.data)
    unknown.eliminate_zeros()
    known.data = np.where(np.isnan(array.data), 0.0, array.data)
    return known, sparse.csr_array(unknown.astype(bool))


def _column_names(y: Any) -> list[str] | None:
    columns = getattr(y, "columns", None)
    return None if columns is None else [str(name) for name in columns]


def _matched_by_name(y: Any, names: list[str], hierarchy: Hierarchy) -> tuple[sparse.csr_array, np.ndarray]:
    """The cells in the order of the hierarchy, and the labels that have no column."""
    unknown = [name for name in names if name not in hierarchy]
    if unknown:
        raise ValueError(
            f"The label {unknown[0]!r} of y is not in the hierarchy; {len(unknown)} labels are unknown to it."
        )
    given = sparse.csc_array(as_numbers(as_array(y)).astype(np.float64))
    position = np.array([hierarchy.index(name) for name in names], dtype=np.int64)
    coordinates = sparse.coo_array(given)
    row, column = coordinates.coords
    shape = (given.shape[0], len(hierarchy))
    without_column = np.setdiff1d(np.arange(len(hierarchy)), position)
    return sparse.csr_array((coordinates.data, (row, position[column])), shape=shape), without_column
