"""One call from a table of results to ranks, p-values, a picture and a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ramify.compare.omnibus import FriedmanResult, friedman
from ramify.compare.posthoc import critical_distance, nemenyi, wilcoxon
from ramify.compare.result_table import average_ranks, check_data_sets, wins
from ramify.parameters import check_option
from ramify.shown import listed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEWEST_DATASETS = 5
"""With fewer data sets no p-value is given: the tests could not reject whatever the numbers were."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """What a table of data sets by methods says.

    Attributes
    ----------
    table : frame
        The values compared.
    ranks : series
        Average rank of each method, best first by what is tested: by their mean for folds of one data set.
    friedman : FriedmanResult, optional
        The omnibus test; None with too few data sets.
    p_values : frame, optional
        p-values of all pairs, by which everything is said; None with too few data sets. Nemenyi's are at least
        Friedman's, without which no pair is looked at; Wilcoxon's are corrected by Holm.
    critical_distance : float, optional
        Average ranks further apart differ significantly, by Nemenyi's test.
    groups : list of tuples
        Largest sets of methods of which no two differ significantly, as the lines of the diagram.
    wins : frame
        Number of data sets on which the row's method beats the column's.
    alpha : float
        Level of the tests.
    sentence : str
        The result as a paper could print it.
    """

    table: pd.DataFrame
    ranks: pd.Series
    friedman: FriedmanResult | None
    p_values: pd.DataFrame | None
    critical_distance: float | None
    groups: list[tuple[str, ...]]
    wins: pd.DataFrame
    alpha: float
    sentence: str

    @property
    def verdict(self) -> str:
        """Which methods the best one cannot be told apart from and which it beats, for people in a hurry."""
        names, p_values = [str(name) for name in self.ranks.index], self.p_values
        if p_values is None:
            return self.sentence
        best = names[0]
        tied = [name for name in names[1:] if p_values.loc[best, name] > self.alpha]
        beaten = [name for name in names[1:] if name not in tied]
        if not tied:
            return f"{best} is better than {listed(beaten)}."
        differ = any(p_values.loc[a, b] <= self.alpha for a in tied for b in tied)
        apart = f"{listed([best, *tied])} cannot be told apart"
        apart = f"{best} cannot be told apart from {listed(tied)}" if differ else apart
        if not beaten:
            return f"{apart}."
        if all(p_values.loc[name, other] <= self.alpha for name in tied for other in beaten):
            return f"{apart}; {'both' if len(tied) == 1 else 'all'} beat {listed(beaten)}."
        return f"{apart}; {best} is better than {listed(beaten)}."

    def better_than(self, name: str) -> tuple[str, ...]:
        """The methods that this one is significantly better than, by the test of the sentence.

        Parameters
        ----------
        name : str
            A method.
        """
        behind = list(self.ranks.index)[list(self.ranks.index).index(name) + 1 :]
        if self.p_values is None:
            return ()
        return tuple(other for other in behind if self.p_values.loc[name, other] <= self.alpha)

    def to_frame(self) -> pd.DataFrame:
        """Per method: mean value and average rank, and of how many others it is ahead, and significantly better.

        It is ahead of those that it beats on more data sets than they beat it, which may be chance.
        """
        ahead = self.wins.gt(self.wins.T).sum(axis=1)
        better = pd.Series({name: len(self.better_than(name)) for name in self.ranks.index})
        frame = pd.DataFrame({"mean": self.table.mean(), "rank": self.ranks, "ahead_of": ahead, "better_than": better})
        return frame.loc[self.ranks.index]

    def _repr_html_(self) -> str:
        from ramify.notebook import html_paragraph, html_table

        frame = self.to_frame()
        rows = [
            (str(name), float(line["mean"]), float(line["rank"]), int(line["ahead_of"]), int(line["better_than"]))
            for name, line in frame.iterrows()
        ]
        heads = ["method", "mean", "mean rank", "ahead of", "significantly better than"]
        return html_table(self.verdict, heads, rows) + html_paragraph(self.sentence)

    def plot(self) -> Figure:
        """Critical-difference diagram."""
        from ramify.plots import critical_difference

        figure: Figure = critical_difference(self)
        return figure


def compare(
    table: Any,
    *,
    larger_is_better: bool = True,
    alpha: float = 0.05,
    digits: int | None = None,
    test: str = "nemenyi",
) -> Comparison:
    """Compare methods over data sets: average ranks, Friedman, tests of all pairs, wins, and what may be concluded.

    Parameters
    ----------
    table : frame or array of shape (n_datasets, n_methods)
        One measure: rows are data sets, columns methods. Rows that are named as folds, runs or repeats, and several
        rows of one data set, are refused: they are not independent.
    larger_is_better : bool, default=True
        False for losses.
    alpha : float, default=0.05
        Level of the tests.
    digits : int, optional
        Round to so many significant digits first, as the HMLC ranking paper does with 3.
    test : {"nemenyi", "wilcoxon"}, default="nemenyi"
        How pairs are tested: by their average ranks after Friedman's test, or by Wilcoxon's signed ranks with Holm's
        correction, which finds more and does not depend on the other methods (Benavoli, Corani, Mangili 2016).

    References
    ----------
    J. Demsar. Statistical comparisons of classifiers over multiple data sets. JMLR 7, 1-30, 2006.

    A. Benavoli, G. Corani, F. Mangili. Should we really use post-hoc tests based on mean-ranks? JMLR 17, 1-10, 2016.

    Examples
    --------
    >>> import pandas as pd
    >>> from ramify.compare import compare
    >>> table = pd.DataFrame({"forest": [0.9, 0.8, 0.7, 0.9, 0.8, 0.9], "tree": [0.8, 0.7, 0.6, 0.8, 0.7, 0.8]})
    >>> compare(table).ranks.to_dict()
    {'forest': 1.0, 'tree': 2.0}
    """
    check_option("compare", "test", test, ("nemenyi", "wilcoxon"))
    values = check_data_sets(table)
    ranks = average_ranks(values, larger_is_better=larger_is_better, digits=digits).sort_values(kind="stable")
    beaten = wins(values, larger_is_better=larger_is_better, digits=digits)
    n_datasets, n_methods = values.shape
    if n_datasets < FEWEST_DATASETS:
        sentence = (
            f"{n_datasets} data sets are too few to conclude anything (at least {FEWEST_DATASETS} are needed, more "
            f"than 10 are better); the best average rank is {ranks.iloc[0]:.2f} ({ranks.index[0]})."
        )
        return Comparison(values, ranks, None, None, None, [tuple(ranks.index)], beaten, alpha, sentence)
    omnibus = friedman(values, digits=digits)
    names = [str(name) for name in ranks.index]
    if test == "wilcoxon":
        p_values = _wilcoxon(values, names, larger_is_better, digits)
        groups = largest_groups(names, p_values.to_numpy(), alpha)
        sentence = _wilcoxon_sentence(ranks, p_values, n_datasets, alpha)
        return Comparison(values, ranks, omnibus, p_values, None, groups, beaten, alpha, sentence)
    distance = critical_distance(n_methods, n_datasets, alpha=alpha)
    pairs = np.maximum(nemenyi(values, digits=digits).loc[names, names].to_numpy(), omnibus.p_value)
    np.fill_diagonal(pairs, 1.0)
    p_values = pd.DataFrame(pairs, names, names)
    groups = largest_groups(names, p_values.to_numpy(), alpha)
    differ = omnibus.p_value <= alpha
    sentence = _sentence(ranks, omnibus, p_values, distance, alpha)
    return Comparison(values, ranks, omnibus, p_values, distance if differ else None, groups, beaten, alpha, sentence)


def largest_groups(names: list[str], p_values: np.ndarray, alpha: float) -> list[tuple[str, ...]]:
    """Largest sets of at least two methods of which no two differ, each in the order of `names`.

    Parameters
    ----------
    names : list of str
        The methods.
    p_values : array of shape (n_methods, n_methods)
        Of all pairs.
    alpha : float
        Level of the test.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.compare.comparison import largest_groups
    >>> p_values = np.array([[1, 0.01, 0.07], [0.01, 1, 0.5], [0.07, 0.5, 1]])
    >>> largest_groups(["a", "b", "c"], p_values, 0.05)
    [('a', 'c'), ('b', 'c')]
    """
    groups: list[set[int]] = []
    for method in range(len(names)):  # each set so far, with what in it does not differ from the next method
        alike = {other for other in range(method) if p_values[method, other] > alpha}
        grown = [group & alike | {method} for group in groups] + [{method}]
        groups = [g for g in groups + grown if not any(g < other for other in groups + grown)]
        groups = [g for k, g in enumerate(groups) if g not in groups[:k]]
    return sorted((tuple(names[k] for k in sorted(g)) for g in groups if len(g) > 1), key=lambda g: names.index(g[0]))


def _wilcoxon(values: pd.DataFrame, names: list[str], larger_is_better: bool, digits: int | None) -> pd.DataFrame:
    """p-values of all pairs, corrected by Holm; 1 where the median difference favours whom the ranks do not."""
    tests = wilcoxon(values[names], digits=digits)
    p_values = pd.DataFrame(np.eye(len(names)), names, names)
    for pair in tests.itertuples():
        ahead = pair.median_difference if larger_is_better else -pair.median_difference
        p_values.loc[pair.first, pair.second] = p_values.loc[pair.second, pair.first] = (
            pair.adjusted if ahead >= 0 else 1.0
        )
    return p_values


def _sentence(ranks: pd.Series, test: FriedmanResult, p_values: pd.DataFrame, distance: float, alpha: float) -> str:
    p_value = "p < 0.001" if test.p_value < 0.001 else f"p = {test.p_value:.3f}"
    over = f"Over {test.n_datasets} data sets, Friedman's test of {test.n_methods} methods gives chi-square = "
    finding = f"{over}{test.statistic:.2f}, {p_value}"
    if test.p_value > alpha:
        return f"{finding}: no significant difference at alpha = {alpha:g}."
    level = f"by Nemenyi's test (critical distance {distance:.2f} at alpha = {alpha:g})"
    return f"{finding}; {level} {_verdict(ranks, p_values, alpha)}."


def _wilcoxon_sentence(ranks: pd.Series, p_values: pd.DataFrame, n_datasets: int, alpha: float) -> str:
    level = f"by Wilcoxon's signed ranks with Holm's correction (alpha = {alpha:g})"
    return f"Over {n_datasets} data sets, {level}, {_verdict(ranks, p_values, alpha)}."


def _verdict(ranks: pd.Series, p_values: pd.DataFrame, alpha: float) -> str:
    """Whom the method of the best average rank is better than; or else which pairs differ at all."""
    best = str(ranks.index[0])
    worse = [f"{name} ({ranks[name]:.2f})" for name in ranks.index[1:] if p_values.loc[best, name] <= alpha]
    if worse:
        return f"{best} (average rank {ranks.iloc[0]:.2f}) is significantly better than {', '.join(worse)}"
    return f"{best} (average rank {ranks.iloc[0]:.2f}) is significantly better than no single other method"
