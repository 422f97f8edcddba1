"""A measure of a fitted estimator: what it is given, predictions or probabilities, is asked of the estimator once."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from scipy import sparse

from ramify.metrics.measures import is_sklearn, takes, unwrapped

_VERBS = {"scores": "predict_proba", "decisions": "decision_function"}


def measured(
    name: str,
    measure: Any,
    estimator: Any,
    X: Any,
    y: Any,
    *,
    one_label: bool,
    options: dict[str, Any],
    predictions: dict[str, Any],
) -> float:
    """Value of a measure on rows that the estimator has not learnt from.

    Parameters
    ----------
    name : str
        What the measure is called in messages.
    measure : function
        Of (y_true, y_pred) or (y_true, y_score), or a scorer of scikit-learn.
    estimator : estimator
        Fitted.
    X, y : array-like
        The rows.
    one_label : bool
        Whether y holds one class per row.
    options : dict
        Further arguments of the measure.
    predictions : dict
        What was asked of the estimator already, by verb; it is added to.
    """
    taken = takes(measure)
    if taken == "estimator":  # a scorer of scikit-learn predicts itself
        return float(measure(estimator, X, dense(y), **options))
    verb = _VERBS.get(taken, "predict")
    if not hasattr(estimator, verb):
        raise ValueError(f"The measure {name!r} takes {taken}, and {type(estimator).__name__} has no {verb}.")
    if verb not in predictions:
        predictions[verb] = getattr(estimator, verb)(X)
    predicted = predictions[verb]
    if taken == "scores":
        predicted = _probabilities(estimator, predicted)
        if one_label:
            predicted, more = _class_scores(measure, estimator.classes_, predicted)
            options = options | more
    if str(unwrapped(measure).__module__).startswith("ramify."):
        if taken == "scores" and one_label:
            y, predicted = _class_labels(y, estimator.classes_, predicted)
        return float(measure(y, predicted, **options))
    return float(measure(dense(y), dense(predicted), **options))


def dense(y: Any) -> Any:
    """A sparse matrix as an array; anything else as it is."""
    return y.toarray() if sparse.issparse(y) else y


def _probabilities(estimator: Any, predicted: Any) -> Any:
    """Probabilities of the labels as one matrix; many estimators give a list, with the classes of each label."""
    if not isinstance(predicted, list):
        return predicted
    columns = []
    for classes, scores in zip(estimator.classes_, predicted, strict=True):
        positive = np.flatnonzero(np.asarray(classes) == 1)
        columns.append(scores[:, positive[0]] if positive.size else np.zeros(len(scores)))
    return np.column_stack(columns)


def _class_labels(y: Any, classes: Any, scores: Any) -> tuple[Any, Any]:
    """Classes as the labels that measures of Ramify take: the second of two, else one for each."""
    first = 1 if len(classes) == 2 else 0
    truth = np.asarray(y).reshape(-1, 1) == np.asarray(classes)[first:]
    return truth, np.asarray(scores)[:, first:]


def _class_scores(measure: Any, classes: Any, scores: Any) -> tuple[Any, dict[str, Any]]:
    """Probabilities of classes as a measure of scikit-learn takes them: of two classes those of the second."""
    if not is_sklearn(measure):
        return scores, {}
    parameters = inspect.signature(unwrapped(measure)).parameters
    fixed = getattr(measure, "keywords", {})
    labels = {"labels": classes} if "labels" in parameters and "labels" not in fixed else {}
    is_matrix = "y_pred" in parameters  # log_loss
    if len(classes) != 2 or is_matrix:
        return scores, labels
    positive = fixed.get("pos_label", classes[1])
    options = {"pos_label": positive} if "pos_label" in parameters and "pos_label" not in fixed else {}
    (column,) = np.flatnonzero(classes == positive)
    return scores[:, column], options
