"""How well a fitted model predicts: measures over all labels with the prior beside them, and quality per label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ramify.analysis.explained import explained_rows
from ramify.analysis.model_data import model_features, model_target
from ramify.datasets import Dataset
from ramify.metrics import auprc, measure_table

if TYPE_CHECKING:
    import pandas as pd


def model_scores(model: Any, X: Any) -> Any:
    """What measures compare: probabilities where the model has them, else predictions."""
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


def model_measures(model: Any, truth: Any, predicted: Any, columns: Any = None) -> pd.DataFrame:
    """Measures of predictions (probabilities, numbers or ranks), with the prior alone beside them.

    Parameters
    ----------
    model : estimator
        Fitted.
    truth : array or CSR
        The target of the rows.
    predicted : array or CSR
        What the model predicts of them: probabilities, numbers or ranks.
    columns : int array, optional
        Which of the model's labels `truth` has; all by default.
    """
    kind: Any = getattr(model, "target_kind_", "rankings")
    prior, hierarchy = np.atleast_1d(model.prior_), getattr(model, "hierarchy", None)
    if columns is not None and kind != "classes" and len(columns) < len(prior):
        prior, predicted = prior[columns], np.asarray(predicted).reshape(truth.shape[0], -1)[:, columns]
        hierarchy = None if hierarchy is None else hierarchy.subset(hierarchy.names[column] for column in columns)
    return measure_table(
        truth,
        predicted,
        target=kind,
        prior=prior,
        classes=getattr(model, "classes_", None) if kind == "classes" else None,
        hierarchy=hierarchy,
    )


def measured(model: Any, learnt: Dataset, unseen: Dataset | None) -> tuple[pd.DataFrame | None, str]:
    """Measures on the unseen rows, or else out of bag, and on which rows; None where there are neither."""
    if unseen is not None:
        scores = model_scores(model, model_features(unseen))
        return model_measures(model, model_target(unseen), scores), f"Measured on {unseen.n_samples} test rows"
    scores = getattr(model, "oob_prediction_", None)
    if scores is None:
        return None, ""
    seen = np.flatnonzero(np.isfinite(scores.reshape(len(scores), -1)).all(axis=1))
    if seen.size == 0:
        return None, ""
    truth = model_target(learnt.rows(seen))
    return model_measures(model, truth, scores[seen]), f"Measured out of bag on {seen.size} rows"


def label_quality(y: Any, probabilities: Any) -> tuple[np.ndarray, np.ndarray]:
    """AUPRC of each label, and what the label's frequency alone would give.

    Parameters
    ----------
    y : CSR or array of shape (n_samples, n_labels)
        True label sets.
    probabilities : array of the same shape
        Predicted; rows with NaN (never out of bag) are left out.
    """
    predicted = np.asarray(probabilities.toarray() if sparse.issparse(probabilities) else probabilities)
    known = np.flatnonzero(np.isfinite(predicted).all(axis=1))
    truth = sparse.csr_array(y)[known]
    return np.asarray(auprc(truth, predicted[known], average=None)), np.asarray(truth.mean(axis=0)).ravel()


def label_parts(model: Any, learnt: Dataset, unseen: Dataset | None, X: Any = None) -> dict[str, Any]:
    """What results say of a forest of label sets: how well each label is predicted, and why for a few rows.

    Parameters
    ----------
    model : ForestClassifier
        Fitted to `learnt`; out-of-bag predictions are measured where there are no unseen rows.
    learnt, unseen : Dataset
        The rows that the model has learnt from, and others if there are any.
    X : array or frame, optional
        The unseen rows (those learnt from if there are none) in the form that the model was fitted to; `data.X` by
        default.
    """
    if learnt.target not in ("labels", "hierarchy"):
        return {}
    shown = learnt if unseen is None else unseen
    features = shown.X if X is None else X
    parts: dict[str, Any] = {
        "explained": explained_rows(model, shown, features),
        "explained_on": "The model has not seen these rows."
        if unseen is not None
        else "The model has learnt from these rows, so it is surer of them than of new ones.",
    }
    scores = getattr(model, "oob_prediction_", None) if unseen is None else model_scores(model, features)
    if scores is not None:
        parts["label_quality"], parts["label_baseline"] = label_quality(shown.y, scores)
    return parts
