"""How well a fitted model predicts: measures over all labels with the prior beside them, and quality per label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from ramify.analysis.explained import explained_rows
from ramify.analysis.model_data import MatchedTarget, model_features, model_target, predicted_type
from ramify.datasets import Dataset
from ramify.ensemble import Calibrated
from ramify.features.frames import take_rows
from ramify.metrics import auprc, auroc, measure_table, reliability_bins
from ramify.targets import target_type

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
    has_one_label = target_type(kind).has_one_label
    prior, hierarchy = np.atleast_1d(model.prior_), getattr(model, "hierarchy", None)
    if columns is not None and not has_one_label and len(columns) < len(prior):
        prior, predicted = prior[columns], np.asarray(predicted).reshape(truth.shape[0], -1)[:, columns]
        hierarchy = None if hierarchy is None else hierarchy.subset(hierarchy.names[column] for column in columns)
    return measure_table(
        truth,
        predicted,
        target=kind,
        prior=prior,
        classes=getattr(model, "classes_", None) if has_one_label else None,
        hierarchy=hierarchy,
    )


@dataclass(frozen=True)
class Quality:
    """Measures over all labels and per label, and on which rows; nothing where there were none to measure on."""

    measures: pd.DataFrame | None = None
    measured_on: str = ""
    label_measures: pd.DataFrame | None = None
    reliability: Mapping[str, pd.DataFrame] = field(default_factory=dict)


def measured(model: Any, learnt: Dataset, unseen: Dataset | None) -> Quality:
    """How well a model predicts the unseen rows, or else those that it left out of bag."""
    if unseen is not None:
        truth, X = model_target(unseen), model_features(unseen)
        scores = model_scores(model, X)
        on = f"Measured on {unseen.n_samples} test rows"
        return _quality(model, truth, scores, on, X)
    scores = getattr(model, "oob_prediction_", None)
    if scores is None:
        return Quality()
    seen = np.flatnonzero(np.isfinite(scores.reshape(len(scores), -1)).all(axis=1))
    if seen.size == 0:
        return Quality()
    truth, scores = model_target(learnt.rows(seen)), scores[seen]
    return _quality(model, truth, scores, f"Measured out of bag on {seen.size} rows")


def measured_by_folds(model: Any, data: Dataset, folds: Sequence[tuple[Any, np.ndarray, np.ndarray]]) -> Quality:
    """How well models of parts of the data predict the other rows, as the model of all of them would others.

    Parameters
    ----------
    model : estimator
        Fitted to all rows; its labels and its prior are taken.
    data : Dataset
        All rows.
    folds : sequence of (estimator, int array, int array)
        A model, the rows that it has learnt from and those that it predicts.
    """
    n_columns = len(model.label_names_)
    scores = np.zeros((data.n_samples, n_columns))
    position = {name: column for column, name in enumerate(model.label_names_)}
    for part, _, rows in folds:
        predicted = model_scores(part, model_features(data.rows(rows)))
        predicted = predicted.toarray() if sparse.issparse(predicted) else predicted
        columns = np.array([position[name] for name in part.label_names_], dtype=np.intp)
        scores[rows[:, None], columns] = predicted.reshape(len(rows), -1)
    given = scores if predicted_type(model).has_labels or n_columns > 1 else scores[:, 0]
    on = f"Measured by cross-validation with {len(folds)} folds on {data.n_samples} rows"
    return _quality(model, model_target(data), given, on)


def measured_as(model: Any, matched: MatchedTarget, scores: Any, X: Any) -> Quality:
    """How well a model predicts rows of another file, over those of its labels that the file has.

    Parameters
    ----------
    model : estimator
        Fitted.
    matched : MatchedTarget
        The target of the rows.
    scores : array or CSR
        What the model predicts of them, as `model_scores` gives it.
    X : array or frame
        The rows as the model takes them.
    """
    if matched.rows is not None:
        scores, X = scores[matched.rows], take_rows(X, matched.rows)
    on = f"Measured on {scores.shape[0]} rows{matched.note}"
    return _quality(model, matched.truth, scores, on, X, matched.columns)


def _quality(model: Any, truth: Any, scores: Any, on: str, X: Any = None, columns: Any = None) -> Quality:
    measures = model_measures(model, truth, scores, columns)
    reliability = reliability_tables(model, truth, scores, X, columns)
    return Quality(measures, on, label_table(model, truth, scores, columns), reliability)


def reliability_tables(model: Any, truth: Any, scores: Any, X: Any = None, columns: Any = None) -> dict[str, Any]:
    """Bins of what was said and what happened, of a calibrated model before and after; empty for other targets.

    Parameters
    ----------
    model : estimator
        Fitted.
    truth : array or CSR
        The target of the rows.
    scores : array of shape (n_samples, n_labels)
        Probabilities.
    X : array or frame, optional
        The rows as the model takes them, for the probabilities before calibration.
    columns : int array, optional
        Which of the model's labels `truth` has; all by default.
    """
    shown = {"model": scores}
    if isinstance(model, Calibrated) and X is not None:
        shown = {"before": model.estimator_.predict_proba(X), "after": scores}
    tables = {}
    for name, probabilities in shown.items():
        labels = _by_label(model, truth, probabilities, columns)
        if labels is None or not hasattr(model, "predict_proba"):
            return {}
        tables[name] = reliability_bins(labels.has, labels.scores)
    return tables


LABEL_MEASURES = {
    "rows": "rows",
    "prior": "prior",
    "auprc": "AUPRC",
    "auroc": "AUROC",
    "f1": "F1",
    "threshold": "threshold",
}
"""Columns of `label_table` and what they are called."""


def label_table(model: Any, truth: Any, scores: Any, columns: Any = None) -> pd.DataFrame | None:
    """How well each label or class is predicted; None for targets without.

    Parameters
    ----------
    model : estimator
        Fitted.
    truth : array or CSR
        The target of the rows.
    scores : array of shape (n_samples, n_labels)
        Probabilities.
    columns : int array, optional
        Which of the model's labels `truth` has; all by default.

    Returns
    -------
    DataFrame
        Per label: `rows` that have it; `prior`, their share, which is the AUPRC of knowing nothing else; `auprc` and
        `auroc`, NaN where all rows or none have it; `f1` of predicting it at `threshold` (of classes: the most
        probable one, and no threshold).
    """
    import pandas as pd

    labels = _by_label(model, truth, scores, columns)
    if labels is None:
        return None
    names, has, scores = labels
    one_of_them = target_type(model.target_kind_).has_one_label
    if one_of_them:
        threshold = np.full(len(names), np.nan)
        predicted = scores.argmax(axis=1)[:, None] == np.arange(len(names))
    else:
        threshold = _thresholds(model, len(names) if columns is None else len(model.label_names_))
        threshold = threshold if columns is None else threshold[np.asarray(columns)]
        predicted = scores >= np.nan_to_num(threshold, nan=np.inf)
    known = ~np.isnan(has)
    is_true, predicted = has == 1, predicted & known
    both, either = (is_true & predicted).sum(axis=0), is_true.sum(axis=0) + predicted.sum(axis=0)
    with np.errstate(invalid="ignore"):
        f1 = np.where(np.isnan(threshold) & (not one_of_them), np.nan, 2 * both / either)
    values = {
        "rows": is_true.sum(axis=0),
        "prior": is_true.sum(axis=0) / np.maximum(known.sum(axis=0), 1),
        "auprc": np.atleast_1d(auprc(has, scores, average=None)),
        "auroc": np.atleast_1d(auroc(has, scores, average=None)),
        "f1": f1,
        "threshold": threshold,
    }
    return pd.DataFrame(values, index=pd.Index(names, name="label"))


class _ByLabel(NamedTuple):
    """Names of labels or classes, which rows have them (NaN: unknown), and their scores."""

    names: list[str]
    has: np.ndarray
    scores: np.ndarray


def _by_label(model: Any, truth: Any, scores: Any, columns: Any) -> _ByLabel | None:
    """A column per label or class; None for targets without."""
    kind = target_type(getattr(model, "target_kind_", "rankings"))
    if not kind.has_labels:
        return None
    scores = np.asarray(scores.toarray() if sparse.issparse(scores) else scores)
    if kind.has_one_label:
        names = [str(name) for name in model.classes_]
        return _ByLabel(names, (np.asarray(truth).astype(str)[:, None] == np.array(names)).astype(float), scores)
    chosen = np.arange(scores.shape[1]) if columns is None else np.asarray(columns)
    has = sparse.csr_array(truth).toarray().astype(float)
    return _ByLabel([model.label_names_[column] for column in chosen], has, scores[:, chosen])


def _thresholds(model: Any, n_labels: int) -> np.ndarray:
    """The score from which each label is predicted; NaN where the model decides otherwise."""
    threshold = getattr(model, "threshold_", 0.5)
    return np.broadcast_to(np.array(np.nan if threshold is None else threshold, dtype=float), (n_labels,))


def label_parts(model: Any, learnt: Dataset, unseen: Dataset | None, X: Any) -> dict[str, Any]:
    """What results say of a forest of label sets: how well each label is predicted, and why for a few rows.

    Parameters
    ----------
    model : ForestClassifier
        Fitted to `learnt`; out-of-bag predictions are measured where there are no unseen rows.
    learnt, unseen : Dataset
        The rows that the model has learnt from, and others if there are any.
    X : array or frame
        The unseen rows (those learnt from if there are none) in the form that the model was fitted to.
    """
    import pandas as pd

    if not learnt.target_type.has_sets:
        return {}
    shown = learnt if unseen is None else unseen
    parts: dict[str, Any] = {}
    if not hasattr(model, "decision_function"):  # what boosted trees add are log-odds, which rows do not show
        parts["explained"] = explained_rows(model, shown, X)
        parts["explained_on"] = (
            "The model has not seen these rows."
            if unseen is not None
            else "The model has learnt from these rows, so it is surer of them than of new ones."
        )
    scores = getattr(model, "oob_prediction_", None) if unseen is None else model_scores(model, X)
    if scores is None:
        return parts
    scores = np.asarray(scores.toarray() if sparse.issparse(scores) else scores)
    seen = np.flatnonzero(np.isfinite(scores).all(axis=1))
    table = label_table(model, sparse.csr_array(shown.y)[seen], scores[seen])
    if table is None:
        return parts
    return {**parts, **table_parts(table.set_axis(pd.Index(shown.label_names, name="label")))}


def table_parts(table: pd.DataFrame) -> dict[str, Any]:
    """Measures per label as results hold them: the table, and what the tree and the map of labels show of it."""
    return {
        "label_measures": table,
        "label_quality": table["auprc"].to_numpy(),
        "label_baseline": table["prior"].to_numpy(),
    }
