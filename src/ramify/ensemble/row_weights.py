"""Weights of rows: what is wrong with them, and who cannot use them."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import has_fit_parameter

_MAX_TOTAL_WEIGHT = 1e100


def checked_sample_weight(owner: object, sample_weight: Any, n_samples: int) -> np.ndarray | None:
    """One finite weight >= 0 per row, as float64; None stays None. The owner is an estimator or a function's name."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_samples, float(sample_weight))
    weights = np.array(sample_weight, dtype=np.float64)
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array.")
    if weights.shape != (n_samples,):
        raise ValueError(f"sample_weight must hold one number per row ({n_samples}). Got {weights.size} instead.")
    if not np.isfinite(weights).all() or (weights < 0).any():
        row = int(np.flatnonzero(~np.isfinite(weights) | (weights < 0))[0])
        raise ValueError(f"sample_weight must hold finite numbers >= 0. Got {weights[row]} in row {row} instead.")
    if not weights.any():
        raise ValueError(
            f"{_title(owner)} needs rows to learn from, but all sample weights are zero: "
            "Sample weights must contain at least one non-zero number."
        )
    refuse_extreme_weights(owner, weights, "sample_weight")
    return weights


def refuse_extreme_weights(owner: object, weights: np.ndarray, name: str) -> None:
    """Refuse weights whose sums cannot be squared in double precision, as the search for splits does."""
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if total > _MAX_TOTAL_WEIGHT or 0 < total < 1 / _MAX_TOTAL_WEIGHT:
        raise ValueError(
            f"The weights that {_title(owner)} has from {name} sum to {total:g}, beyond what can be "
            f"computed with; only their ratios matter, so scale them to a sum between {1 / _MAX_TOTAL_WEIGHT:g} and "
            f"{_MAX_TOTAL_WEIGHT:g}."
        )


def refuse_without_weights(owner: str, learner: Any) -> None:
    """Refuse to leave out the weights of rows where what learns cannot take them."""
    if not has_fit_parameter(learner, "sample_weight"):
        name = type(learner).__name__
        raise ValueError(f"{name} takes no row weights, so {owner} cannot weigh rows with it; leave out one of them.")


def _title(owner: object) -> str:
    return owner if isinstance(owner, str) else type(owner).__name__
