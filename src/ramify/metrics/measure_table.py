"""Tables of measures, always with what the baseline "prior" reaches beside the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify.features.frames import as_array
from ramify.metrics.curves import auprc, average_precision_score, roc_auc_score
from ramify.metrics.geometric_mean import geometric_mean
from ramify.metrics.hierarchical import (
    fmax,
    hierarchical_f,
    hierarchical_precision,
    hierarchical_recall,
    smin,
)
from ramify.metrics.inputs import known_matrix, matched_by_name, with_unknown, zero_one_matrix
from ramify.metrics.label_rankings import kendall_tau, spearman_footrule, spearman_rho, top_k_overlap
from ramify.metrics.label_sets import (
    accuracy_score,
    f1_score,
    hamming_loss,
    jaccard_score,
    precision_score,
    recall_score,
)
from ramify.metrics.measures import larger_is_better
from ramify.metrics.numbers import r2_score, root_mean_squared_error, rrmse
from ramify.parameters import check_option
from ramify.targets import MEASURED_KINDS, target_type

if TYPE_CHECKING:
    import pandas as pd

    from ramify.hierarchy import Hierarchy


def measure_table(
    y_true: Any,
    y_score: Any,
    *,
    target: Literal["labels", "hierarchy", "classes", "numbers", "rankings"],
    prior: Any,
    y_pred: Any = None,
    classes: Any = None,
    hierarchy: Hierarchy | None = None,
) -> pd.DataFrame:
    """All measures of a target, for a model and for its baseline, the prior.

    Parameters
    ----------
    y_true : array-like or sparse matrix
        True label sets (n_samples, n_labels), classes (n_samples,), numbers (n_samples, n_targets) or ranks
        (n_samples, n_labels).
    y_score : array-like or sparse matrix
        Predicted probabilities, one column per label or class; for numbers and ranks the predictions.
    target : {"labels", "hierarchy", "classes", "numbers", "rankings"}
        Kind of ``y_true``.
    prior : array-like of shape (n_labels,) or (n_targets,)
        Frequencies of the labels or classes, means of the targets, or the average ranking in training: ``prior_`` of a
        fitted forest.
    y_pred : array-like or sparse matrix, default=None
        Predicted label sets or classes; None takes labels above one half and the most probable class.
    classes : array-like of shape (n_classes,), default=None
        For classes, those that the columns of ``y_score`` stand for.
    hierarchy : Hierarchy or None, default=None
        Of the labels; adds the hierarchical measures.

    Returns
    -------
    pandas.DataFrame
        One row per measure with columns ``model``, ``prior``, ``better`` ("higher" or "lower") and ``left_out``, the
        number of labels, targets or rows on which the measure is not defined.

    Examples
    --------
    >>> from ramify.metrics import measure_table
    >>> table = measure_table([1.0, 2.0, 3.0], [1.1, 2.0, 2.9], target="numbers", prior=[2.0])
    >>> table["prior"].round(2).to_dict()
    {'RMSE': 0.82, 'RRMSE': 1.0, 'R2': 0.0}
    """
    frequencies = np.atleast_1d(np.asarray(prior, dtype=np.float64))
    kind = target_type(check_option("measure_table", "target", target, MEASURED_KINDS))
    if kind.has_one_label:
        scores = np.asarray(y_score)
        predicted = np.asarray(classes)[scores.argmax(axis=1)] if y_pred is None else y_pred
        model = _class_measures(y_true, scores, predicted, classes)
        constant = np.broadcast_to(frequencies, scores.shape)
        baseline = _class_measures(y_true, constant, np.asarray(classes)[constant.argmax(axis=1)], classes)
    elif kind.has_sets:
        if y_pred is not None:
            y_pred = matched_by_name(y_true, y_pred, "y_pred", hierarchy)[1]
        y_true, y_score = matched_by_name(y_true, y_score, "y_score", hierarchy)
        y_score = as_array(y_score) if hasattr(y_score, "columns") else y_score
        truth, unknown = known_matrix(y_true, hierarchy)
        if unknown is not None:
            truth = with_unknown(truth, unknown)
        elif hierarchy is not None:
            truth = zero_one_matrix(hierarchy.close(sparse.csr_array(truth)), "y_true")
        predicted = more_than_half(y_score) if y_pred is None else y_pred
        model = _label_measures(truth, y_score, predicted, hierarchy)
        constant = np.asfortranarray(np.broadcast_to(frequencies, truth.shape))
        baseline = _label_measures(truth, constant, more_than_half(constant), hierarchy)
    elif kind.ranks_labels:
        model = _ranking_measures(y_true, y_score)
        baseline = _ranking_measures(y_true, np.broadcast_to(frequencies, np.shape(y_true)))
    else:
        model = _number_measures(y_true, y_score, frequencies)
        baseline = _number_measures(y_true, np.broadcast_to(frequencies, (len(y_true), frequencies.size)), frequencies)
    return _as_frame(model, baseline)


def more_than_half(scores: Any) -> sparse.csr_array:
    """Label sets of the scores above one half."""
    return sparse.csr_array((scores > 0.5).astype(np.int8))


_Measures = dict[str, tuple[Callable[..., Any], Any]]
"""By its name in the table: the measure, which knows its direction, and its value."""


def _label_measures(truth: sparse.csc_array, scores: Any, predicted: Any, hierarchy: Hierarchy | None) -> _Measures:
    measures: _Measures = {
        "AUPRC, pooled": (auprc, auprc(truth, scores)),
        "AUPRC, mean of labels": (auprc, auprc(truth, scores, average="macro")),
        "AUPRC, weighted mean": (auprc, auprc(truth, scores, average="weighted")),
        "average precision, pooled": (average_precision_score, average_precision_score(truth, scores, average="micro")),
        "AUROC, pooled": (roc_auc_score, roc_auc_score(truth, scores, average="micro")),
        "AUROC, mean of labels": (roc_auc_score, roc_auc_score(truth, scores, average="macro")),
        "Hamming loss": (hamming_loss, hamming_loss(truth, predicted)),
        "subset accuracy": (accuracy_score, accuracy_score(truth, predicted)),
    }
    by_example = {"precision": precision_score, "recall": recall_score, "F": f1_score, "Jaccard": jaccard_score}
    for name, function in by_example.items():
        measures[f"{name}, mean of rows"] = (function, function(truth, predicted))
    n_unknown = np.asarray(np.isnan(truth.data), dtype=np.int64)
    columns = np.repeat(np.arange(truth.shape[1]), np.diff(truth.indptr))
    n_without = truth.shape[0] - np.diff(truth.indptr)  # unknown cells are stored
    n_positive = np.diff(truth.indptr) - np.bincount(columns, weights=n_unknown, minlength=truth.shape[1])
    some_universal = bool(((n_without == 0) & (n_positive > 0)).any())
    if some_universal:
        without = auprc(truth, scores, exclude_universal=True)
        measures["AUPRC, pooled, without universal labels"] = (auprc, without)
    if hierarchy is not None:
        of_sets = {"precision": hierarchical_precision, "recall": hierarchical_recall, "F": hierarchical_f}
        for name, of_set in of_sets.items():
            measures[f"hierarchical {name}"] = (of_set, of_set(truth, predicted, hierarchy=hierarchy))
        measures["Fmax"] = (fmax, fmax(truth, scores, hierarchy=hierarchy))
        if some_universal:
            without = fmax(truth, scores, hierarchy=hierarchy, exclude_universal=True)
            measures["Fmax, without universal labels"] = (fmax, without)
        measures["Smin"] = (smin, smin(truth, scores, hierarchy=hierarchy))
    return measures


def _class_measures(y_true: Any, scores: NDArray[np.float64], predicted: Any, classes: Any) -> _Measures:
    names = np.asarray(classes)
    one_hot, predicted_one_hot = (np.asarray(y)[:, np.newaxis] == names for y in (y_true, predicted))
    return {
        "accuracy": (accuracy_score, accuracy_score(one_hot, predicted_one_hot)),
        "balanced accuracy": (recall_score, recall_score(one_hot, predicted_one_hot, average="macro")),
        "GM, weighted mean": (geometric_mean, geometric_mean(one_hot, predicted_one_hot, average="weighted")),
        "AUROC, mean of classes": (roc_auc_score, roc_auc_score(one_hot, scores, average="macro")),
        "AUPRC, mean of classes": (auprc, auprc(one_hot, scores, average="macro")),
    }


def _number_measures(y_true: Any, predicted: Any, means: NDArray[np.float64]) -> _Measures:
    return {
        "RMSE": (root_mean_squared_error, root_mean_squared_error(y_true, predicted)),
        "RRMSE": (rrmse, rrmse(y_true, predicted, mean=means)),
        "R2": (r2_score, r2_score(y_true, predicted, mean=means)),
    }


def _ranking_measures(y_true: Any, predicted: Any) -> _Measures:
    return {
        "Kendall's tau-b": (kendall_tau, kendall_tau(y_true, predicted)),
        "Spearman's rho": (spearman_rho, spearman_rho(y_true, predicted)),
        "Spearman's footrule": (spearman_footrule, spearman_footrule(y_true, predicted)),
        "top-1 overlap": (top_k_overlap, top_k_overlap(y_true, predicted, k=1)),
    }


def _as_frame(model: _Measures, baseline: _Measures) -> pd.DataFrame:
    import pandas as pd

    rows = {
        name: {
            "model": float(value),
            "prior": float(baseline[name][1]),
            "better": "higher" if larger_is_better(function) else "lower",
            "left_out": getattr(value, "n_left_out", 0),
        }
        for name, (function, value) in model.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("measure")
