"""Are there any differences among the methods? Friedman's test and its correction by Iman and Davenport."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from ramify.compare.result_table import check_data_sets, rank_methods


@dataclass(frozen=True)
class FriedmanResult:
    """Outcome of Friedman's test.

    Attributes
    ----------
    statistic, p_value : float
        Friedman's chi-square and its p-value with `n_methods - 1` degrees of freedom.
    f_statistic, f_p_value : float
        Iman and Davenport's F, less conservative, and its p-value.
    n_datasets, n_methods : int
        Size of the table.
    """

    statistic: float
    p_value: float
    f_statistic: float
    f_p_value: float
    n_datasets: int
    n_methods: int


def friedman(table: Any, *, digits: int | None = None) -> FriedmanResult:
    """Friedman's test over a table of data sets (rows) by methods (columns), corrected for ties.

    References
    ----------
    J. Demsar. Statistical comparisons of classifiers over multiple data sets. JMLR 7, 1-30, 2006.

    Examples
    --------
    >>> from ramify.compare import friedman
    >>> friedman([[1, 2, 3], [1, 2, 3], [1, 3, 2], [2, 1, 3]]).statistic
    4.5
    """
    ranks = rank_methods(check_data_sets(table), digits=digits).to_numpy()
    n_datasets, n_methods = ranks.shape
    spread = np.sum((ranks.mean(axis=0) - (n_methods + 1) / 2) ** 2)
    within = np.sum((ranks - (n_methods + 1) / 2) ** 2)
    if within == 0:
        return FriedmanResult(0.0, 1.0, 0.0, 1.0, n_datasets, n_methods)
    return _result(float((n_methods - 1) * n_datasets**2 * spread / within), n_datasets, n_methods)


def _result(statistic: float, n_datasets: int, n_methods: int) -> FriedmanResult:
    p_value = float(stats.chi2.sf(statistic, n_methods - 1))
    remaining = n_datasets * (n_methods - 1) - statistic
    f_statistic = (n_datasets - 1) * statistic / remaining if remaining > 0 else np.inf
    f_p_value = float(stats.f.sf(f_statistic, n_methods - 1, (n_methods - 1) * (n_datasets - 1)))
    return FriedmanResult(statistic, p_value, float(f_statistic), f_p_value, n_datasets, n_methods)
