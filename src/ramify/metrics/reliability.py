"""Whether probabilities mean what they say: what was said and what happened, bin by bin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ramify.features.frames import as_array
from ramify.metrics.inputs import matched_by_name
from ramify.parameters import check_integer
from ramify.targets.known_cells import as_numbers, holds_only_0_and_1

if TYPE_CHECKING:
    import pandas as pd

_ROUNDING = 1e-9


def reliability_bins(y_true: Any, probabilities: Any, *, n_bins: int = 10) -> pd.DataFrame:
    """What was said and what happened, over all rows and labels, in bins of the probability.

    Parameters
    ----------
    y_true : 0/1 array or CSR of shape (n_samples, n_labels) or (n_samples,)
        True labels; all are pooled, but for unknown ones (NaN).
    probabilities : array or CSR of the same shape
        Predicted probabilities; NaN is left out.
    n_bins : int, default=10
        Bins of equal width from 0 to 1.

    Returns
    -------
    DataFrame
        Per bin its ends `low` and `high`, `count` of the probabilities in it (a bin holds its lower end, the last one
        also 1), their mean `said`, and `happened`, the share of true ones among them; NaN where the count is 0.

    Examples
    --------
    >>> from ramify.metrics import reliability_bins
    >>> bins = reliability_bins([0, 1, 1, 0], [0.1, 0.8, 0.6, 0.7], n_bins=2)
    >>> bins[["count", "said", "happened"]].round(2).values.tolist()
    [[1.0, 0.1, 0.0], [3.0, 0.7, 0.67]]
    """
    import pandas as pd

    check_integer("reliability_bins", "n_bins", n_bins, low=1)
    y_true, probabilities = matched_by_name(y_true, probabilities, "the probabilities")
    truth, said = _columns(y_true), _columns(probabilities)
    if truth.shape != said.shape:
        raise ValueError(f"The probabilities must have the shape of y_true, {truth.shape}. Got {said.shape} instead.")
    known = ~np.isnan(said) & ~np.isnan(truth)
    truth, said = truth[known], said[known]
    if not holds_only_0_and_1(truth):
        raise ValueError("y_true must hold only 0 and 1, one column per label, and NaN where it is unknown.")
    if said.size and not (said.min() >= -_ROUNDING and said.max() <= 1 + _ROUNDING):
        raise ValueError(f"Probabilities lie between 0 and 1. Got numbers from {said.min():g} to {said.max():g}.")
    ends = np.arange(n_bins + 1) / n_bins
    place = np.clip(np.searchsorted(ends, said, side="right") - 1, 0, n_bins - 1)
    count = np.bincount(place, minlength=n_bins)
    with np.errstate(invalid="ignore"):
        means = {
            "said": np.bincount(place, said, n_bins) / count,
            "happened": np.bincount(place, truth, n_bins) / count,
        }
    return pd.DataFrame({"low": ends[:-1], "high": ends[1:], "count": count, **means})


def calibration_error(bins: pd.DataFrame) -> float:
    """Mean distance between what was said and what happened, over the probabilities (expected calibration error).

    Parameters
    ----------
    bins : DataFrame
        From `reliability_bins`.

    References
    ----------
    Naeini, M. P., Cooper, G. F. and Hauskrecht, M. (2015). Obtaining well calibrated probabilities using Bayesian
    binning. AAAI.

    Examples
    --------
    >>> from ramify.metrics import calibration_error, reliability_bins
    >>> round(calibration_error(reliability_bins([0, 1, 1, 0], [0.2, 0.8, 0.8, 0.2])), 3)
    0.2
    """
    used = bins[bins["count"] > 0]
    if not len(used):
        return float("nan")
    return float(((used["said"] - used["happened"]).abs() * used["count"]).sum() / used["count"].sum())


def _columns(values: Any) -> np.ndarray:
    cells = values.toarray() if sparse.issparse(values) else as_numbers(as_array(values)).astype(np.float64)
    return np.asarray(cells[:, np.newaxis] if cells.ndim == 1 else cells, dtype=np.float64)
