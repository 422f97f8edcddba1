"""One method on one split: fitted or called, predicted, measured."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import has_fit_parameter

from ramify.datasets import Dataset
from ramify.metrics.measured import dense, measured
from ramify.study.store import refuse_reserved

Measure = Callable[..., float]


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
    target = train.y if _is_ours(estimator) else dense(train.y)
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
    return measured(
        name,
        measure,
        estimator,
        _features(estimator, test),
        test.y,
        one_label=test.target_type.has_one_label,
        options=_measure_options(name, measure, test),
        predictions=predictions,
    )


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


def _features(estimator: Any, data: Dataset) -> Any:
    """The features as they are held, or as a frame where an estimator of ours sees only there which are nominal."""
    is_told = "categorical_features" in estimator.get_params(deep=False)
    return data.to_frame() if _is_ours(estimator) and not is_told and data.categorical_features.any() else data.X


def _is_ours(estimator: Any) -> bool:
    return type(estimator).__module__.startswith("ramify.")
