"""One method on one split: fitted or called, predicted, measured."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import has_fit_parameter

from ramify.datasets import Dataset
from ramify.metrics import takes
from ramify.metrics.measures import is_sklearn, unwrapped
from ramify.study.store import refuse_reserved

Measure = Callable[..., float]
_VERBS = {"scores": "predict_proba", "decisions": "decision_function"}


def evaluated(
    method: Any, measures: Mapping[str, Measure], train: Dataset, test: Dataset, seed: int
) -> dict[str, float]:
    """Values of the measures: of an estimator's predictions, or as the function that is the method returns them."""
    if isinstance(method, BaseEstimator):
        estimator = _fitted(clone(method), train, seed)
        predictions: dict[str, Any] = {}
        return {name: _measured(name, measure, estimator, test, predictions) for name, measure in measures.items()}
    values = method(train, test, seed)
    if not isinstance(values, Mapping):
        raise TypeError(f"A method that is a function must return a dict of measures. Got {type(values).__name__}.")
    refuse_reserved(values)
    return {str(name): float(value) for name, value in values.items()}


def _fitted(estimator: Any, train: Dataset, seed: int) -> Any:
    known = estimator.get_params()
    settings: dict[str, Any] = {}
    if "random_state" in known and known["random_state"] is None:
        settings["random_state"] = seed
    if "hierarchy" in known and known["hierarchy"] is None:
        settings["hierarchy"] = train.hierarchy
    if isinstance(known.get("categorical_features"), str):
        settings["categorical_features"] = train.categorical_features
    estimator.set_params(**settings)
    target = train.y if _is_ours(estimator) else _dense(train.y)
    return estimator.fit(_features(estimator, train), target, **_weights_for(estimator, train))


def _weights_for(estimator: Any, train: Dataset) -> dict[str, Any]:
    """The weights of the rows as `fit` takes them; weights that it cannot take are refused."""
    if not _has_weights(train):
        return {}
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(
            f"The data set has weights of rows, and {type(estimator).__name__}.fit takes none. Leave the method out, "
            "or the weights: dataclasses.replace(data, sample_weight=None)."
        )
    return {"sample_weight": train.sample_weight}


def _measured(name: str, measure: Measure, estimator: Any, test: Dataset, predictions: dict[str, Any]) -> float:
    taken = takes(measure)
    options = _measure_options(name, measure, test)
    features = _features(estimator, test)
    if taken == "estimator":  # a scorer of scikit-learn predicts itself
        return float(measure(estimator, features, _dense(test.y), **options))
    verb = _VERBS.get(taken, "predict")
    if not hasattr(estimator, verb):
        raise ValueError(f"The measure {name!r} takes {taken}, and {type(estimator).__name__} has no {verb}.")
    if verb not in predictions:
        predictions[verb] = getattr(estimator, verb)(features)
    predicted = predictions[verb]
    if taken == "scores":
        predicted = _probabilities(estimator, predicted)
        if is_sklearn(measure) and test.target_type.has_one_label:
            predicted, more = _class_scores(measure, estimator.classes_, predicted)
            options |= more
    if str(unwrapped(measure).__module__).startswith("ramify."):
        return float(measure(test.y, predicted, **options))
    return float(measure(_dense(test.y), _dense(predicted), **options))


def _measure_options(name: str, measure: Measure, test: Dataset) -> dict[str, Any]:
    """The hierarchy and the weights of the rows, for a measure that takes them."""
    parameters = inspect.signature(measure).parameters
    options: dict[str, Any] = {}
    if "hierarchy" in parameters and test.hierarchy is not None:
        options["hierarchy"] = test.hierarchy
    if _has_weights(test):
        if "sample_weight" not in parameters:
            raise ValueError(
                f"The data set has weights of rows, and the measure {name!r} takes none; take one with a parameter "
                "sample_weight, as scikit-learn's have, or leave out the weights: dataclasses.replace(data, "
                "sample_weight=None)."
            )
        options["sample_weight"] = test.sample_weight
    return options


def _has_weights(data: Dataset) -> bool:
    """Whether some rows weigh more than others."""
    weights = data.sample_weight
    return weights is not None and weights.size > 0 and bool((weights != weights[0]).any())


def _probabilities(estimator: Any, predicted: Any) -> Any:
    """Probabilities of the labels as one matrix; many estimators give a list, with the classes of each label."""
    if not isinstance(predicted, list):
        return predicted
    columns = []
    for classes, scores in zip(estimator.classes_, predicted, strict=True):
        positive = np.flatnonzero(np.asarray(classes) == 1)
        columns.append(scores[:, positive[0]] if positive.size else np.zeros(len(scores)))
    return np.column_stack(columns)


def _class_scores(measure: Measure, classes: Any, scores: Any) -> tuple[Any, dict[str, Any]]:
    """Probabilities of classes as a measure of scikit-learn takes them: of two classes those of the second."""
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


def _features(estimator: Any, data: Dataset) -> Any:
    """The features as they are held, or as a frame where an estimator of ours sees only there which are nominal."""
    is_told = "categorical_features" in estimator.get_params(deep=False)
    return data.to_frame() if _is_ours(estimator) and not is_told and data.categorical_features.any() else data.X


def _is_ours(estimator: Any) -> bool:
    return type(estimator).__module__.startswith("ramify.")


def _dense(y: Any) -> Any:
    return y.toarray() if sparse.issparse(y) else y
