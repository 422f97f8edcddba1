"""The one number that a target is scored by."""

from __future__ import annotations

from typing import Any

import numpy as np

from ramify.metrics.curves import auprc
from ramify.metrics.label_rankings import kendall_tau
from ramify.metrics.numbers import r2_score
from ramify.targets import MixedPart, Target, target_type

MEASURES = {measure.__name__: measure for measure in (auprc, kendall_tau, r2_score)}


def target_score(target: Target, y_true: Any, y_pred: Any) -> float:
    """How good predictions are, by the measure of their target.

    Parameters
    ----------
    target : Target
        What was learnt from, as `ramify.targets.encode` returns it.
    y_true : array or CSR
        Other examples, as `target.truth` returns them.
    y_pred : array
        Probabilities of labels or classes, numbers or rankings.

    Examples
    --------
    >>> from ramify.metrics.target_measure import target_score
    >>> from ramify.targets import encode
    >>> numbers = encode([0.5, 1.5])
    >>> target_score(numbers, numbers.truth([1.0, 2.0]), [[1.0], [2.0]])
    1.0
    """
    return float(MEASURES[target.measure](y_true, y_pred, **target.measure_options()))


def part_score(part: MixedPart, y_true: Any, y_pred: Any) -> float:
    """How good predictions are of one of several targets side by side, by its own measure.

    Parameters
    ----------
    part : MixedPart
        The target.
    y_true : array or CSR
        What `part.truth` returns: numbers, or 0/1 per label, NaN where unknown.
    y_pred : array
        Probabilities or numbers.

    Examples
    --------
    >>> from ramify.metrics.target_measure import part_score
    >>> from ramify.targets import MixedPart
    >>> part_score(MixedPart("price", "numbers", ("price",), slice(0, 1)), [[1.0], [2.0]], [[1.0], [2.0]])
    1.0
    """
    measure = MEASURES[target_type(part.kind).measure]
    if len(part.columns) > 1 or part.has_shares:
        return float(measure(y_true, y_pred))
    known = ~np.isnan(np.asarray(y_true, dtype=np.float64)).any(axis=1)
    return float(measure(np.asarray(y_true)[known], np.asarray(y_pred)[known])) if known.any() else float("nan")
