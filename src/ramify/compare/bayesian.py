"""How probable is it that one method is better than another? The Bayesian signed-rank test."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ramify.compare.result_table import check_data_sets
from ramify.parameters import check_integer, check_real

_BLOCK = 2_000
"""Draws of the weights are worked on so many at a time."""


def signed_rank_probabilities(
    table: Any,
    *,
    rope: float = 0.0,
    larger_is_better: bool = True,
    prior_strength: float = 0.5,
    n_draws: int = 20_000,
    random_state: int = 0,
) -> pd.DataFrame:
    """Probabilities that the first method of a pair is better, that both are equal in practice, that the second is.

    Parameters
    ----------
    table : frame or array of shape (n_datasets, n_methods)
        One measure: rows are data sets, columns methods.
    rope : float, default=0.0
        Differences up to this size count as practically equal.
    larger_is_better : bool, default=True
        False for losses.
    prior_strength : float, default=0.5
        Weight of the prior's one data set, on which the two are equal.
    n_draws : int, default=20000
        Draws from the posterior.
    random_state : int, default=0
        Seed of the draws.

    Returns
    -------
    frame
        One row per pair: first, second, `first_better`, `equal` and `second_better`.

    Notes
    -----
    The weights of the data sets are drawn from a Dirichlet distribution; a draw says which of the three has the
    largest weight among the means of all pairs of differences (with that of the prior, which is 0).

    References
    ----------
    A. Benavoli, F. Mangili, G. Corani, M. Zaffalon, F. Ruggeri. A Bayesian Wilcoxon signed-rank test based on the
    Dirichlet process. ICML, 2014.
    A. Benavoli, G. Corani, J. Demsar, M. Zaffalon. Time for a change: a tutorial for comparing multiple classifiers
    through Bayesian analysis. JMLR 18, 1-36, 2017.

    Examples
    --------
    >>> from ramify.compare import signed_rank_probabilities
    >>> found = signed_rank_probabilities([[0.9, 0.8], [0.8, 0.6], [0.7, 0.6], [0.9, 0.7], [0.8, 0.7]], rope=0.01)
    >>> bool(found["first_better"][0] > 0.95)
    True
    """
    values = check_data_sets(table)
    check_real("signed_rank_probabilities", "rope", rope, low=0)
    check_real("signed_rank_probabilities", "prior_strength", prior_strength, low=0, open_low=True)
    check_integer("signed_rank_probabilities", "n_draws", n_draws, low=1)
    random = np.random.default_rng(random_state)
    strength = np.concatenate([[prior_strength], np.ones(len(values))])
    weights = random.dirichlet(strength, n_draws)
    rows = []
    for first, second in combinations(values.columns, 2):
        difference = (values[first] - values[second]).to_numpy() * (1 if larger_is_better else -1)
        rows.append((first, second, *_probabilities(np.concatenate([[0.0], difference]), weights, rope)))
    return pd.DataFrame(rows, columns=["first", "second", "first_better", "equal", "second_better"])


def _probabilities(difference: NDArray[np.float64], weights: NDArray[np.float64], rope: float) -> tuple[float, ...]:
    """Share of the draws in which the first is better, both are equal, the second is better; ties are shared."""
    sums = difference[:, None] + difference[None, :]
    regions = np.stack([sums > 2 * rope, np.abs(sums) <= 2 * rope, sums < -2 * rope]).astype(np.float64)
    won = np.zeros(3)
    for start in range(0, len(weights), _BLOCK):
        drawn = weights[start : start + _BLOCK]
        mass = np.einsum("di,rij,dj->dr", drawn, regions, drawn, optimize=True)
        best = mass >= mass.max(axis=1, keepdims=True) - 1e-12
        won += (best / best.sum(axis=1, keepdims=True)).sum(axis=0)
    return tuple((won / len(weights)).tolist())
