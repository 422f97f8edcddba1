"""Spread and shape: how the residuals of a location model depend on the other features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ramify.ranking.discovery.predictors import Predictors
from ramify.ranking.discovery.redraw.classes import state_chances
from ramify.ranking.discovery.redraw.location import located, mean_square

_GAIN = 0.005
"""Nats per row that a stage has to gain on rows that it was not learnt on."""

_OFFSET = 0.05
_POWERS = (0.75, 1.0, 1.25, 1.5)
"""Spread is the exponential of a power of the fit of log(residual + offset)."""

_BINS, _ROWS_PER_BIN = 8, 50


@dataclass(frozen=True)
class Spread:
    """How residuals are drawn.

    Attributes
    ----------
    scale : array of shape (n_samples,)
        Residuals are drawn in units of it.
    bin_of : int array of shape (n_samples,) or None
        Bin of each scaled residual, -1 where there is none; None if the shape depends on nothing.
    chances : array of shape (n_samples, n_bins) or None
        Honest chances of the bins.
    """

    scale: np.ndarray
    bin_of: np.ndarray | None = None
    chances: np.ndarray | None = None


def spread_of(predictors: Predictors, left: np.ndarray, known: np.ndarray, without: set[int], seed: int) -> Spread:
    """Learn the scale of residuals, then the shape of what is left, or the shape alone where that says more.

    Parameters
    ----------
    predictors : Predictors
        The features.
    left : array of shape (n_samples,)
        Residuals, 0 where they are not known.
    known : bool array of shape (n_samples,)
        Rows that have one.
    without : set of int
        Features to leave out.
    seed : int
        Of the forests.
    """
    n_known = int(known.sum())
    even = np.ones(predictors.n_rows)
    if not np.any(left[known]):
        return Spread(even)
    scale, gain = _scale(predictors, left, known, without, seed)
    best = Spread(scale)
    n_bins = min(_BINS, n_known // _ROWS_PER_BIN)
    if n_bins < 2:
        return best
    total = gain
    for unit, already in [(scale, gain), (even, 0.0)] if gain > 0 else [(even, 0.0)]:
        bins = _bins(left / unit, known, n_bins)
        found = state_chances(predictors, bins, n_bins, known, without, seed=seed + 1, only_sure=True)
        if found.gain >= _GAIN and already + found.gain > total + _GAIN:
            total, best = already + found.gain, Spread(unit, np.where(known, bins, -1), found.chances)
    return best


def _scale(
    predictors: Predictors, left: np.ndarray, known: np.ndarray, without: set[int], seed: int
) -> tuple[np.ndarray, float]:
    """The scale with the largest held-out likelihood of Laplace's distribution, and what it gains over none."""
    even = np.ones(predictors.n_rows)
    size = left[known].std()
    plain = _likelihood(left, even, known)
    best, scale = plain, even
    logs = np.log(np.abs(left) + _OFFSET * size)
    spread = logs[known].std()
    target = np.where(known, (logs - logs[known].mean()) / spread, 0.0)
    found = located(predictors, target, known, without, seed=seed, only_sure=True)
    if found.error > 0.99 * mean_square(target, known):
        return even, 0.0
    for power in _POWERS:
        candidate = np.exp(power * spread * np.clip(found.fit, -3, 3))
        likelihood = _likelihood(left, candidate, known)
        if likelihood > max(best, plain + _GAIN):
            best, scale = likelihood, candidate
    return scale, best - plain


def _likelihood(left: np.ndarray, scale: np.ndarray, known: np.ndarray) -> float:
    scaled = np.abs(left[known] / scale[known]).mean()
    return float(-np.log(scale[known]).mean() - np.log(max(scaled, 1e-300)))


def _bins(scaled: np.ndarray, known: np.ndarray, n_bins: int) -> np.ndarray:
    """Quantile bins of the rows that are known; 0 for the others."""
    rows = np.flatnonzero(known)
    bins = np.zeros(len(scaled), dtype=np.int64)
    bins[rows[np.argsort(scaled[rows], kind="stable")]] = np.arange(len(rows)) * n_bins // len(rows)
    return bins
