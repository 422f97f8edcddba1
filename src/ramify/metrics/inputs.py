"""What every measure of label sets does first: check the two matrices and choose the labels that count."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify.features.frames import as_array, frame_names, refuse_broken, take_columns
from ramify.metrics.score import Score
from ramify.targets import encode_labels
from ramify.targets.known_cells import as_numbers, holds_only_0_and_1, known_part, missing_cells

if TYPE_CHECKING:
    from ramify.hierarchy import Hierarchy

Average = Literal["micro", "macro", "weighted"] | None


@dataclass(frozen=True)
class LabelPair:
    """True label sets beside what was predicted for them, reduced to the rows and labels that count.

    ``truth`` is a CSC matrix of 0/1. ``other`` is a CSC matrix of 0/1 for predicted sets; for scores it is a dense
    array in column order or a CSC matrix. ``n_left_out`` counts the universal labels that were taken out of both.
    ``unknown`` is True for cells of which the truth is not known, which hold 0 in both (NaN in dense scores); None
    where all are known. Rows of which nothing is known are taken out of both, and ``n_unknown`` counts their cells too.
    """

    truth: sparse.csc_array
    other: Any
    n_left_out: int
    unknown: sparse.csc_array | None = None
    n_unknown: int = 0

    def known_counts(self) -> NDArray[np.int64]:
        """Number of rows of which each label is known."""
        n_rows, n_labels = self.truth.shape
        every = np.full(n_labels, n_rows, dtype=np.int64)
        return every if self.unknown is None else every - label_counts(self.unknown)

    def cells(self) -> sparse.csc_array:
        """The truth, with NaN where it is unknown."""
        return self.truth if self.unknown is None else with_unknown(self.truth, self.unknown)

    def shared(self) -> sparse.csc_array:
        """1 where a label is both true and predicted."""
        both = self.truth.multiply(self.other).tocsc()
        both.eliminate_zeros()
        return both


def label_pair(
    y_true: Any,
    y_other: Any,
    *,
    scores: bool,
    hierarchy: Hierarchy | None = None,
    exclude_universal: bool = False,
) -> LabelPair:
    """Check true label sets and predicted sets or scores, close them under the hierarchy and drop universal labels.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples,) or (n_samples, n_labels)
        0/1 per label; NaN is unknown.
    y_other : array-like or sparse matrix of the same shape
        0/1 per label, or with ``scores`` any finite numbers.
    scores : bool
        Whether ``y_other`` holds scores.
    hierarchy : Hierarchy or None, default=None
        Closes ``y_true``, and ``y_other`` unless it holds scores, under ancestors.
    exclude_universal : bool, default=False
        Leave out labels that every row of ``y_true`` has.

    Returns
    -------
    LabelPair
    """
    y_true, y_other = matched_by_name(y_true, y_other, "y_score" if scores else "y_pred", hierarchy)
    truth, unknown = known_matrix(y_true, hierarchy)
    other = score_matrix(y_other) if scores else zero_one_matrix(y_other, "y_pred")
    if scores and unknown is not None and sparse.issparse(other):
        other = np.asfortranarray(other.toarray())
    if truth.shape != other.shape:
        name = "y_score" if scores else "y_pred"
        raise ValueError(
            f"y_true and {name} must have the same shape, one column per label. "
            f"Got {truth.shape} and {other.shape} instead."
        )
    if truth.shape[0] == 0:
        raise ValueError("y_true must have at least one row. Got 0 rows instead.")
    if hierarchy is not None:
        truth = truth if unknown is not None else _closed(truth, hierarchy)
        if not scores:
            other = _closed(other, hierarchy)
    n_left_out = 0
    if exclude_universal:
        n_known = truth.shape[0] - (0 if unknown is None else label_counts(unknown))
        kept = np.flatnonzero(label_counts(truth) < n_known)
        n_left_out = truth.shape[1] - kept.size
        truth, other = truth[:, kept], other[:, kept]
        unknown = None if unknown is None else unknown[:, kept]
    if unknown is None:
        return LabelPair(truth, other, n_left_out)
    n_unknown = int(unknown.nnz)
    some_known = np.flatnonzero(row_counts(unknown) < max(unknown.shape[1], 1))
    if some_known.size < truth.shape[0]:
        truth, other, unknown = (matrix[some_known] for matrix in (truth, other, unknown))
    return LabelPair(truth, _without(other, unknown), n_left_out, unknown, n_unknown)


def known_matrix(y_true: Any, hierarchy: Hierarchy | None = None) -> tuple[sparse.csc_array, sparse.csc_array | None]:
    """True label sets as 0/1, and where they are unknown, closed by the hierarchy; None where all are known."""
    refuse_broken("y_true", y_true)
    stored = y_true.data if sparse.issparse(y_true) else as_array(y_true)
    if stored.dtype.kind not in "fO" or not missing_cells(stored).any():
        return zero_one_matrix(y_true, "y_true"), None
    table = y_true if sparse.issparse(y_true) else as_numbers(stored).reshape(len(stored), -1)
    if hierarchy is not None:
        target = encode_labels(table, hierarchy=hierarchy, partly_known=True, nowhere_known=True)
        return sparse.csc_array(target.Y), None if target.unknown is None else sparse.csc_array(target.unknown)
    matrix = sparse.csc_array(table, dtype=np.float64, copy=True)
    unknown = matrix.copy()
    unknown.data = np.isnan(matrix.data)
    unknown.eliminate_zeros()
    matrix.data[np.isnan(matrix.data)] = 0.0
    return zero_one_matrix(matrix, "y_true"), sparse.csc_array(unknown.astype(bool))


def class_columns(y_true: Any, y_pred: Any, pos_label: Any = None) -> tuple[Any, Any]:
    """Classes as 0/1, a column for each or for ``pos_label`` alone, NaN where the truth is; label sets as they are."""
    if sparse.issparse(y_true) or sparse.issparse(y_pred):
        return y_true, y_pred
    truth, predicted = as_array(y_true), as_array(y_pred)
    if any(y.ndim != 1 and y.shape[1:] != (1,) for y in (truth, predicted)):
        return y_true, y_pred
    truth, predicted = truth.ravel(), predicted.ravel()
    missing = missing_cells(truth)
    shown = known_part(truth) if not missing.all() else predicted
    if pos_label is None and holds_only_0_and_1(shown):
        return y_true, y_pred
    if missing_cells(predicted).any():
        raise ValueError(f"y_pred must hold a class in every row. Got none in row {missing_cells(predicted).argmax()}.")
    try:
        classes = np.unique(np.concatenate([truth[~missing], predicted]))
    except TypeError:
        raise TypeError("The classes must be of one type. Got text and numbers; pass all as text.") from None
    chosen = classes if pos_label is None else np.array([pos_label], dtype=classes.dtype)
    columns = (truth[:, np.newaxis] == chosen).astype(np.float64)
    columns[missing] = np.nan
    return columns, predicted[:, np.newaxis] == chosen


def with_unknown(truth: sparse.csc_array, unknown: sparse.csc_array) -> sparse.csc_array:
    """0/1 with NaN in the unknown cells."""
    cells = unknown.astype(np.float64)
    cells.data[:] = np.nan
    return sparse.csc_array(truth.astype(np.float64) + cells)


def _without(other: Any, unknown: sparse.csc_array) -> Any:
    """Predicted sets without the unknown cells; dense scores with NaN in their place."""
    if not sparse.issparse(other):
        return np.asfortranarray(np.where(unknown.toarray(), np.nan, other))
    kept = sparse.csc_array(other - other.multiply(unknown))
    kept.eliminate_zeros()
    return kept


def matched_by_name(y_true: Any, y_other: Any, name: str, hierarchy: Hierarchy | None = None) -> tuple[Any, Any]:
    """Both tables with their columns in the same order, as `fit` matches them.

    A frame follows the names of the hierarchy where there is one, else two frames follow the names of ``y_true``;
    what has no names is taken as it stands.
    """
    if hierarchy is not None:
        return in_hierarchy_order(y_true, hierarchy, "y_true"), in_hierarchy_order(y_other, hierarchy, name)
    true_names, other_names = frame_names(y_true), frame_names(y_other)
    if true_names is None or other_names is None or true_names == other_names:
        return y_true, y_other
    differing = sorted(set(true_names) ^ set(other_names))
    if differing or len(set(true_names)) < len(true_names) or len(true_names) != len(other_names):
        raise ValueError(
            f"The columns of y_true and {name} must have the same names, each once; they differ in "
            f"{differing[0] if differing else 'how often a name occurs'!r}. Choose the columns that both have, or give "
            "arrays whose columns are in the same order."
        )
    position = {label: column for column, label in enumerate(other_names)}
    return y_true, take_columns(y_other, np.array([position[label] for label in true_names], dtype=np.intp))


def in_hierarchy_order(y: Any, hierarchy: Hierarchy, name: str) -> Any:
    """The columns of a frame in the order of the hierarchy; of labels without a column no row has any."""
    names = frame_names(y)
    if names is None or names == tuple(hierarchy.names):
        return y
    unknown = [label for label in names if label not in hierarchy]
    lacking = len(hierarchy) - len(set(names))
    if unknown or len(set(names)) < len(names) or (lacking and name == "y_score"):
        fault = f"the label {unknown[0]!r} is not in it" if unknown else f"{lacking} of its labels have no column"
        raise ValueError(f"The columns of {name} must be labels of the hierarchy, each once; {fault}.")
    cells = as_array(y)
    ordered = np.zeros((cells.shape[0], len(hierarchy)), dtype=cells.dtype)
    ordered[:, [hierarchy.index(label) for label in names]] = cells
    return ordered


def zero_one_matrix(y: Any, name: str) -> sparse.csc_array:
    """``y`` as a CSC matrix of 0/1 without stored zeros; a vector becomes one column."""
    if sparse.issparse(y):
        refuse_broken(name, y)
        matrix = sparse.csc_array(y)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        _refuse_other_values(matrix.data, np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr)), name)
        matrix = sparse.csc_array(matrix.astype(np.int8))
        matrix.eliminate_zeros()
        return matrix
    dense = _as_columns(y, name)
    if dense.dtype == object or dense.dtype.kind in "USMm":
        raise ValueError(
            f"{name} must hold only 0 and 1, one column per label. Got text or mixed values instead; "
            "Hierarchy.encode or sklearn.preprocessing.MultiLabelBinarizer turns label sets into such a matrix."
        )
    if dense.dtype != bool:
        rows, columns = np.nonzero((dense != 0) & (dense != 1))
        _refuse_other_values(dense[rows[:1], columns[:1]], columns[:1], name)
    return sparse.csc_array(dense.astype(np.int8))


def score_matrix(y: Any) -> Any:
    """``y`` as finite floats: a CSC matrix if sparse, else a dense array in column order."""
    if sparse.issparse(y):
        matrix = sparse.csc_array(y).astype(np.float64)
        matrix.sum_duplicates()
        finite, columns = np.isfinite(matrix.data), np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))
        if not finite.all():
            raise ValueError(f"y_score must be finite. Got NaN or infinity in column {columns[~finite][0]} instead.")
        return matrix
    dense = np.asfortranarray(_as_columns(y, "y_score"), dtype=np.float64)
    finite = np.isfinite(dense)
    if not finite.all():
        raise ValueError(
            f"y_score must be finite. Got NaN or infinity in column {np.flatnonzero(~finite.all(axis=0))[0]} instead."
        )
    return dense


def label_counts(matrix: Any) -> NDArray[np.int64]:
    """Number of rows that have each label."""
    return np.diff(matrix.indptr).astype(np.int64)


def row_counts(matrix: Any) -> NDArray[np.int64]:
    """Number of labels that each row has."""
    return np.bincount(matrix.indices, minlength=matrix.shape[0])


def column_scores(scores: Any, label: int) -> tuple[NDArray[np.float64], int]:
    """The stored scores of a label, and how many further rows score zero without being stored."""
    if sparse.issparse(scores):
        stored = scores.data[scores.indptr[label] : scores.indptr[label + 1]]
        return stored, scores.shape[0] - stored.size
    column = scores[:, label]
    return column[~np.isnan(column)], 0


def averaged(
    per_label: NDArray[np.float64], weights: NDArray[Any], average: str | None, n_left_out: int, n_unknown: int = 0
) -> Any:
    """Mean of the defined values of ``per_label``, or all of them for ``average=None``."""
    if average is None:
        return per_label
    defined = ~np.isnan(per_label)
    left_out = n_left_out + int((~defined).sum())
    used = np.ones(per_label.size) if average == "macro" else weights.astype(np.float64)
    if not defined.any() or used[defined].sum() == 0:
        return Score(np.nan, n_left_out=left_out, n_unknown=n_unknown)
    return Score(np.average(per_label[defined], weights=used[defined]), n_left_out=left_out, n_unknown=n_unknown)


def check_average(average: str | None, allowed: tuple[str | None, ...] = ("micro", "macro", "weighted", None)) -> None:
    """Refuse an average that the measure does not know."""
    if average not in allowed:
        words = ", ".join(repr(word) for word in allowed)
        raise ValueError(f"The 'average' parameter must be one of {words}. Got {average!r} instead.")


def ratio(numerator: Any, denominator: Any) -> NDArray[np.float64]:
    """``numerator / denominator``, NaN where the denominator is zero."""
    numerator, denominator = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    return np.divide(numerator, denominator, out=np.full(denominator.shape, np.nan), where=denominator != 0)


def _as_columns(y: Any, name: str) -> NDArray[Any]:
    dense = as_array(y)
    if dense.ndim == 1:
        dense = dense[:, np.newaxis]
    if dense.ndim != 2:
        raise ValueError(f"{name} must have one or two dimensions. Got {dense.ndim} instead.")
    if dense.dtype == object and all(isinstance(value, Real) for value in dense.ravel().tolist()):
        return dense.astype(np.float64)
    return dense


def _refuse_other_values(values: NDArray[Any], columns: NDArray[Any], name: str) -> None:
    wrong = np.flatnonzero((values != 0) & (values != 1))
    if wrong.size:
        raise ValueError(
            f"{name} must hold only 0 and 1. Got {values[wrong[0]]} in column {columns[wrong[0]]} instead."
        )


def _closed(matrix: sparse.csc_array, hierarchy: Hierarchy) -> sparse.csc_array:
    return zero_one_matrix(hierarchy.close(sparse.csr_array(matrix)), "the closed label sets")
