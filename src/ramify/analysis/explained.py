"""A few rows of a data set with what a forest predicts for them and why."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ramify.analysis.results import ExplainedRow, Outcome, Reason
from ramify.datasets import Dataset
from ramify.shown import shown_number

N_LABELS = 2
"""Labels explained per row."""

N_REASONS = 4
"""Features named per prediction."""


def explained_rows(forest: Any, data: Dataset, X: Any = None, *, n_rows: int = 3) -> list[ExplainedRow]:
    """A few rows from best to worst predicted, each with the labels that moved furthest from the average.

    Parameters
    ----------
    forest : ForestClassifier
        Fitted to label sets or a hierarchy.
    data : Dataset
        Rows to choose from, best ones that the forest has not seen.
    X : array or frame, optional
        The rows in the form that the forest was fitted to; `data.X` by default.
    n_rows : int, default=3
        How many rows.
    """
    features = data.X if X is None else X
    if sparse.issparse(features):
        features = sparse.csr_array(features)
    predicted = np.asarray(forest.predict_proba(features))
    truth = sparse.csr_array(data.y).toarray().astype(float)
    told = np.flatnonzero(~np.isnan(truth).all(axis=1))
    surprise = np.nanmean(np.abs(truth[told] - predicted[told]), axis=1)
    order = told[np.argsort(surprise, kind="stable")]
    chosen = order[np.linspace(0, len(order) - 1, min(n_rows, len(order))).astype(int)]
    return [_explained(forest, data, features, int(row), predicted[row], truth[row]) for row in chosen]


def _explained(
    forest: Any, data: Dataset, features: Any, row: int, predicted: np.ndarray, truth: np.ndarray
) -> ExplainedRow:
    one_row = features.iloc[[row]] if hasattr(features, "iloc") else features[[row]]
    moved = np.argsort(-np.abs(predicted - forest.prior_), kind="stable")
    moved = moved[~np.isnan(truth[moved])][:N_LABELS]
    said = sparse.csr_array(forest.predict(one_row)).toarray()[0]
    outcomes = []
    for label in moved.tolist():
        explanation = forest.shap_values(one_row, labels=[label])
        effects, base = explanation.values[0, :, 0], explanation.base_values[0, 0]
        best = [int(j) for j in np.argsort(-np.abs(effects), kind="stable")[:N_REASONS] if effects[j]]
        reasons = [Reason(data.feature_names[j], _value(data, row, j), float(effects[j])) for j in best]
        correct = bool(said[label] == truth[label])
        outcomes.append(Outcome(data.label_names[label], float(predicted[label]), float(base), correct, reasons))
    has = np.flatnonzero(_specific(data, row)).tolist()
    name = f"row {row + 1}" if data.ids is None else f"{data.id_name or 'row'} {data.ids[row]}"
    return ExplainedRow(name, [data.label_names[label] for label in has], outcomes)


def _specific(data: Dataset, row: int) -> np.ndarray:
    """The row's labels, without those that another of them implies."""
    labels = sparse.csr_array(sparse.csr_array(data.y)[[row]])
    labels.data = np.nan_to_num(labels.data)
    if data.hierarchy is not None:
        labels = data.hierarchy.most_specific(labels)
    return np.asarray(labels.toarray()).ravel()


def _value(data: Dataset, row: int, feature: int) -> str:
    value = float(data.X[row, feature])
    if np.isnan(value):
        return "missing"
    values = data.categories[feature]
    if values is not None:
        return values[int(value)]
    return f"{value:,.0f}" if value == round(value) else shown_number(value)
