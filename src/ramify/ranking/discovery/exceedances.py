"""P-values from random draws: how many reach what was observed, with a tail where few do."""

from __future__ import annotations

import numpy as np

_TAIL, _COUNTED = 100, 10
_ROUNDING = 1e-4
"""Statistics that differ by less are equal: the same sum in another order."""


class Exceedances:
    """How often, and how nearly, draws reach what was observed: cases x tests against cases x draws."""

    def __init__(self, observed: np.ndarray, n_draws: int) -> None:
        self.observed = observed
        self.n_draws = n_draws
        self.counts = np.zeros(observed.shape, dtype=np.int64)
        self.top = np.full((len(observed), min(_TAIL, n_draws // 10)), -np.inf, dtype=np.float32)

    def add(self, draws: np.ndarray) -> None:
        """Count cases x further draws."""
        n_top = self.top.shape[1]
        if self.observed.shape[1] <= 2:
            for test in range(self.observed.shape[1]):
                self.counts[:, test] += (draws >= self.observed[:, [test]] - _ROUNDING).sum(axis=1)
            largest = draws if draws.shape[1] <= n_top else np.partition(draws, -n_top, axis=1)[:, -n_top:]
        else:
            ordered = np.sort(draws, axis=1)
            largest = ordered[:, -n_top:]
            for case, own in enumerate(ordered):
                self.counts[case] += len(own) - np.searchsorted(own, self.observed[case] - _ROUNDING)
        both = np.concatenate([self.top, largest], axis=1)
        self.top = np.partition(both, -n_top, axis=1)[:, -n_top:]

    def p_values(self) -> np.ndarray:
        """(1 + count) / (1 + draws); where few draws reach, an exponential tail in half the squared score."""
        found = (1 + self.counts) / (1 + self.n_draws)
        n_top = self.top.shape[1]
        tail = np.sign(self.top) * self.top.astype(np.float64) ** 2 / 2
        first = tail.min(axis=1, keepdims=True)
        excess = tail.mean(axis=1, keepdims=True) - first
        beyond = np.sign(self.observed) * self.observed.astype(np.float64) ** 2 / 2 - first
        mean = np.maximum(excess, 1.0) * (1 + 2 / np.sqrt(n_top))
        by_tail = n_top / (1 + self.n_draws) * np.exp(-np.maximum(beyond, 0) / mean)
        far = (self.counts < _COUNTED) & (excess > 0)
        return np.where(far, np.minimum(found, by_tail), found)
