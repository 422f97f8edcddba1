"""Which methods differ? Post-hoc tests on average ranks, and pairwise tests on the values themselves."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from ramify.compare.result_table import average_ranks, check_data_sets, rounded_table
from ramify.parameters import check_option, check_real

Alternative = Literal["two-sided", "less", "greater"]


def critical_distance(n_methods: int, n_datasets: int, *, alpha: float = 0.05) -> float:
    """Nemenyi's critical distance: average ranks further apart differ at level `alpha`.

    Examples
    --------
    >>> from ramify.compare.posthoc import critical_distance
    >>> round(critical_distance(4, 14), 2)
    1.25
    """
    check_real("critical_distance", "alpha", alpha, low=0, high=1, open_low=True, open_high=True)
    quantile = stats.studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2)
    return float(quantile * _standard_error(n_methods, n_datasets))


def nemenyi(table: Any, *, digits: int | None = None) -> pd.DataFrame:
    """p-values of Nemenyi's test for all pairs of methods.

    Examples
    --------
    >>> from ramify.compare import nemenyi
    >>> nemenyi([[1, 2, 3]] * 6).round(3).to_numpy()[0]
    array([1.   , 0.193, 0.002])
    """
    ranks = average_ranks(table, digits=digits)
    n_datasets = len(check_data_sets(table))
    distance = np.abs(ranks.to_numpy()[:, None] - ranks.to_numpy()[None, :])
    statistic = distance / _standard_error(len(ranks), n_datasets) * np.sqrt(2)
    p_values = stats.studentized_range.sf(statistic, len(ranks), np.inf)
    np.fill_diagonal(p_values, 1.0)
    return pd.DataFrame(p_values, index=ranks.index, columns=ranks.index)


def holm(
    table: Any,
    *,
    control: str | None = None,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    larger_is_better: bool = True,
    digits: int | None = None,
) -> pd.DataFrame:
    """Holm's step-down test of average ranks: one method against each other one, or all pairs.

    Parameters
    ----------
    table : frame or array of shape (n_datasets, n_methods)
        One measure.
    control : str, optional
        The method that the others are compared with; all pairs without one.
    alternative : {"two-sided", "less", "greater"}
        "less": the first method of a pair has the lower (better) rank.
    alpha : float
        Family-wise error rate.
    larger_is_better : bool
        False for losses.
    digits : int, optional
        Round to so many significant digits first.

    Returns
    -------
    frame
        One row per hypothesis by ascending p-value: the two methods, z, p_value, the alpha it is held against,
        adjusted p-value and whether it is significant.

    References
    ----------
    S. Holm. A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6, 65-70, 1979.

    Examples
    --------
    >>> from ramify.compare import holm
    >>> table = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.8], [0.7, 0.6, 0.5], [0.9, 0.8, 0.6]]
    >>> holm(table, control="0", alternative="less")[["second", "significant"]].to_numpy().tolist()
    [['2', True], ['1', True]]
    """
    ranks = average_ranks(table, larger_is_better=larger_is_better, digits=digits)
    n_datasets = len(check_data_sets(table))
    return holm_of_ranks(ranks, n_datasets, control=control, alternative=alternative, alpha=alpha)


def holm_of_ranks(
    ranks: pd.Series,
    n_datasets: int,
    *,
    control: str | None = None,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
) -> pd.DataFrame:
    """Holm's test from average ranks as papers print them; parameters and result as of `holm`.

    Examples
    --------
    >>> import pandas as pd
    >>> from ramify.compare.posthoc import holm_of_ranks
    >>> printed = pd.Series({"LCC": 1.583, "CC": 2.556, "ECC": 2.639, "BR": 3.222})
    >>> holm_of_ranks(printed, 18, control="LCC", alternative="less")["adjusted"].round(4).tolist()
    [0.0002, 0.0141, 0.0141]
    """
    tests = _z_tests("holm", ranks, n_datasets, control, alternative)
    n_tests = len(tests)
    tests["threshold"] = alpha / (n_tests - np.arange(n_tests))
    tests["adjusted"] = holm_adjusted(tests["p_value"].to_numpy())
    tests["significant"] = tests["adjusted"] <= alpha
    return tests


def holm_adjusted(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Holm's adjusted p-values, in the order of the p-values."""
    order = np.argsort(p_values, kind="stable")
    adjusted = np.empty(len(p_values))
    factors = len(p_values) - np.arange(len(p_values))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(p_values[order] * factors))
    return adjusted


def wilcoxon(
    table: Any,
    *,
    control: str | None = None,
    alternative: Alternative = "two-sided",
    correction: Literal["holm", "bh"] = "holm",
    alpha: float = 0.05,
    digits: int | None = None,
) -> pd.DataFrame:
    """Wilcoxon's signed-rank tests, corrected for their number by Holm or by Benjamini and Hochberg ("bh").

    Parameters are those of `holm`; "greater" means that the first method of a pair has the larger values. Equal values
    on a data set count as in Demsar (2006): zero differences are split evenly between both signs. Differences that
    are the same but for the rounding of their values (0.9 - 0.8 and 0.3 - 0.2) are ties.

    References
    ----------
    J. Demsar. Statistical comparisons of classifiers over multiple data sets. JMLR 7, 1-30, 2006.
    Y. Benjamini, Y. Hochberg. Controlling the false discovery rate. Journal of the Royal Statistical Society 57, 1995.

    Examples
    --------
    >>> import pandas as pd
    >>> from ramify.compare import wilcoxon
    >>> table = pd.DataFrame({"new": [0.9, 0.8, 0.7, 0.95, 0.85, 0.75], "old": [0.8, 0.6, 0.65, 0.8, 0.6, 0.45]})
    >>> wilcoxon(table, control="new")[["second", "p_value"]].to_numpy().tolist()
    [['old', 0.03125]]
    """
    check_option("wilcoxon", "alternative", alternative, ("two-sided", "less", "greater"))
    check_option("wilcoxon", "correction", correction, ("holm", "bh"))
    values = rounded_table(check_data_sets(table), digits)
    rows = []
    for first, second in _pairs(list(values.columns), control):
        difference = _differences(values[first].to_numpy(), values[second].to_numpy())
        if np.any(difference):
            p_value = float(stats.wilcoxon(difference, zero_method="zsplit", alternative=alternative).pvalue)
        else:
            p_value = 1.0
        rows.append((first, second, float(np.median(difference)), p_value))
    tests = pd.DataFrame(rows, columns=["first", "second", "median_difference", "p_value"])
    p_values = tests["p_value"].to_numpy()
    by_bh = correction == "bh"
    tests["adjusted"] = stats.false_discovery_control(p_values, method="bh") if by_bh else holm_adjusted(p_values)
    tests["significant"] = tests["adjusted"] <= alpha
    return tests.sort_values("p_value", kind="stable", ignore_index=True)


def dunn(table: Any, *, alternative: Literal["two-sided", "one-sided"] = "two-sided") -> pd.DataFrame:
    """p-values of Dunn's procedure for all pairs, with the data sets unpaired (ranks over all values, ties corrected).

    Parameters
    ----------
    table : frame or array of shape (n_datasets, n_methods)
        One measure. NaN: the method has no value on that data set; the others keep theirs, since nothing is paired.
    alternative : {"two-sided", "one-sided"}
        One-sided p-values are half of the two-sided ones.

    Notes
    -----
    The paper on label ranking forests uses it one-sided (R's dunn.test), in Table 4.7 with one value fewer for the
    forests than for the trees; scikit-posthocs gives the two-sided values.

    References
    ----------
    O. J. Dunn. Multiple comparisons using rank sums. Technometrics 6, 241-252, 1964.
    C. R. de Sa, C. Soares, A. Knobbe, P. Cortez. Label Ranking Forests. Expert Systems, 2016, Tables 4.5 and 4.7.

    Examples
    --------
    >>> from ramify.compare import dunn
    >>> dunn([[1, 2, 9], [2, 3, 8], [1, 3, 9]]).round(3).to_numpy()[0].tolist()
    [1.0, 0.225, 0.008]
    """
    check_option("dunn", "alternative", alternative, ("two-sided", "one-sided"))
    values = check_data_sets(table, gaps=True)
    there = values.notna().to_numpy()
    n_values = int(there.sum())
    ranks = np.full(values.shape, np.nan)
    ranks[there] = stats.rankdata(values.to_numpy()[there])
    _, counts = np.unique(values.to_numpy()[there], return_counts=True)
    ties = float(np.sum(counts**3 - counts)) / (12 * (n_values - 1))
    variance = max(0.0, n_values * (n_values + 1) / 12 - ties)
    per_value = 1 / there.sum(axis=0)
    error = np.sqrt(variance * (per_value[:, None] + per_value[None, :]))
    means = np.nanmean(ranks, axis=0)
    distance = np.abs(means[:, None] - means[None, :])
    z = np.divide(distance, error, out=np.zeros_like(distance), where=error > 0)
    p_values = stats.norm.sf(z) * (2 if alternative == "two-sided" else 1)
    np.fill_diagonal(p_values, 1.0)
    return pd.DataFrame(p_values, index=values.columns, columns=values.columns)


def _differences(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """First - second; sizes that only the rounding of the values tells apart are made one, and zero if it is theirs.

    A difference of two floats is off by at most half a unit in the last place of the larger one for each of them and
    for itself, so two sizes closer than a few such units cannot be told apart.
    """
    difference = first - second
    sizes = np.abs(difference)
    rounding = 8 * np.finfo(np.float64).eps * max(np.abs(first).max(), np.abs(second).max())
    order = np.argsort(sizes, kind="stable")
    ascending = np.concatenate([[0.0], sizes[order]])
    group = np.cumsum(np.diff(ascending) > rounding)
    smallest = np.concatenate([[0.0], sizes[order][np.flatnonzero(np.diff(group, prepend=0))]])
    sizes[order] = smallest[group]
    return np.sign(difference) * sizes


def _standard_error(n_methods: int, n_datasets: int) -> float:
    return float(np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def _pairs(names: list[str], control: str | None) -> list[tuple[str, str]]:
    if control is None:
        return list(combinations(names, 2))
    if control not in names:
        raise ValueError(f"The control {control!r} is not a method of the table, which has {', '.join(names)}.")
    return [(control, name) for name in names if name != control]


def _z_tests(
    owner: str, ranks: pd.Series, n_datasets: int, control: str | None, alternative: Alternative
) -> pd.DataFrame:
    check_option(owner, "alternative", alternative, ("two-sided", "less", "greater"))
    ranks = pd.Series(np.asarray(ranks, dtype=np.float64), index=[str(name) for name in ranks.index])
    error = _standard_error(len(ranks), n_datasets)
    rows = []
    for first, second in _pairs(list(ranks.index), control):
        z = (ranks[first] - ranks[second]) / error
        two_sided = 2 * stats.norm.sf(abs(z))
        p_value = {"two-sided": two_sided, "less": stats.norm.cdf(z), "greater": stats.norm.sf(z)}[alternative]
        rows.append((first, second, float(z), float(p_value)))
    tests = pd.DataFrame(rows, columns=["first", "second", "z", "p_value"])
    return tests.sort_values("p_value", kind="stable", ignore_index=True)
