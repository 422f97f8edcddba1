"""What a measure knows of itself: whether larger values are better, and what it takes beside the truth."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, TypeVar

Takes = Literal["classes", "numbers", "rankings", "scores", "decisions", "estimator"]
Function = TypeVar("Function", bound=Callable[..., Any])

_SCORES = ("y_score", "y_proba", "y_prob")
_SKLEARN_LOSSES = ("_loss", "_error", "_deviance")
_SKLEARN_GAINS = ("_score", "_corrcoef")
_SKLEARN_LOSSES_CALLED_SCORES = ("davies_bouldin_score",)
_SKLEARN_SCORES_CALLED_PREDICTIONS = ("log_loss", "d2_log_loss_score")


def measure(*, larger_is_better: bool, takes: Takes = "classes") -> Callable[[Function], Function]:
    """Mark a function of (y_true, y_pred) or (y_true, y_score) as a measure that knows its direction.

    Parameters
    ----------
    larger_is_better : bool
        False for losses.
    takes : {"classes", "numbers", "rankings", "scores", "decisions"}, default="classes"
        What it is given beside the truth: the predictions (classes or label sets, numbers, rankings), the
        probabilities that ``predict_proba`` gives, or what ``decision_function`` gives.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.metrics import larger_is_better, measure
    >>> @measure(larger_is_better=False)
    ... def cost(y_true, y_pred):
    ...     return float(np.mean(np.abs(y_true - y_pred)))
    >>> larger_is_better(cost)
    False
    """

    def marked(function: Function) -> Function:
        function.__dict__.update(larger_is_better=larger_is_better, takes=takes)
        return function

    return marked


def larger_is_better(function: Callable[..., Any]) -> bool | None:
    """Which way a measure points: True, False, or None where that is not known.

    Known are the measures of `ramify.metrics`, functions marked by `measure`, the functions and scorers of
    `sklearn.metrics`, and a `functools.partial` of any of them.

    Examples
    --------
    >>> from functools import partial
    >>> from sklearn.metrics import log_loss
    >>> from ramify.metrics import auprc, hamming_loss, larger_is_better
    >>> larger_is_better(auprc), larger_is_better(partial(hamming_loss, average="micro")), larger_is_better(log_loss)
    (True, False, False)
    >>> print(larger_is_better(lambda y_true, y_pred: 0.0))
    None
    """
    inner = unwrapped(function)
    stated = getattr(inner, "larger_is_better", None)
    if isinstance(stated, bool):
        return stated
    if takes(inner) == "estimator":  # scikit-learn's convention for scorers
        return True
    name = getattr(inner, "__name__", "")
    if not is_sklearn(inner):
        return None
    if name.endswith(_SKLEARN_LOSSES) or name in _SKLEARN_LOSSES_CALLED_SCORES:
        return False
    return True if name.endswith(_SKLEARN_GAINS) else None


def takes(function: Callable[..., Any]) -> Takes:
    """What a measure is given beside the truth: as stated by `measure`, else told from its parameters.

    A function whose second parameter is called y_score, y_proba or y_prob takes probabilities, scikit-learn's log_loss
    too; one that starts with ``estimator`` is a scorer of scikit-learn; every other one takes predictions.

    Examples
    --------
    >>> from sklearn.metrics import brier_score_loss, hamming_loss
    >>> from ramify.metrics import auprc
    >>> from ramify.metrics.measures import takes
    >>> takes(auprc), takes(brier_score_loss), takes(hamming_loss)
    ('scores', 'scores', 'classes')
    """
    inner = unwrapped(function)
    stated: Takes | None = getattr(inner, "takes", None)
    if stated is not None:
        return stated
    names = list(inspect.signature(inner).parameters)
    if names[:1] == ["estimator"]:
        return "estimator"
    if "pred_decision" in names:
        return "decisions"
    called_predictions = is_sklearn(inner) and getattr(inner, "__name__", "") in _SKLEARN_SCORES_CALLED_PREDICTIONS
    return "scores" if called_predictions or any(name in names for name in _SCORES) else "classes"


def named_measure(name: str) -> Callable[..., Any]:
    """The measure of that name: of `ramify.metrics`, of `sklearn.metrics`, or a scorer that `cross_validate` knows."""
    import sklearn.metrics

    from ramify import metrics

    for module in (metrics, sklearn.metrics):
        function = getattr(module, name, None) if name in module.__all__ else None
        if callable(function) and larger_is_better(function) is not None:
            measure_: Callable[..., Any] = function
            return measure_
    if name in sklearn.metrics.get_scorer_names():
        scorer: Callable[..., Any] = sklearn.metrics.get_scorer(name)
        return scorer
    known = sorted(each for each in metrics.__all__ if hasattr(getattr(metrics, each), "larger_is_better"))
    raise ValueError(
        f"There is no measure {name!r}. Name one of ramify.metrics ({', '.join(known)}), a function of sklearn.metrics "
        "or a scorer that sklearn.metrics.get_scorer_names lists."
    )


def unwrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself, where arguments of it were fixed by `functools.partial`."""
    while isinstance(function, partial):
        function = function.func
    return function


def is_sklearn(function: Callable[..., Any]) -> bool:
    """Whether a measure is one of scikit-learn's."""
    return str(getattr(unwrapped(function), "__module__", "")).startswith("sklearn.")
