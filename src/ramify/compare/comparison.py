"""One call from a table of results to ranks, p-values, a picture and a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ramify.compare.omnibus import FriedmanResult, friedman
from ramify.compare.posthoc import critical_distance, nemenyi
from ramify.compare.result_table import average_ranks, check_table, wins

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
        Average rank of each method, best first.
    friedman : FriedmanResult, optional
        The omnibus test; None with too few data sets.
    p_values : frame, optional
        Nemenyi's p-values for all pairs; None with too few data sets.
    critical_distance : float, optional
        Average ranks further apart differ significantly.
    groups : list of tuples
        Largest sets of methods without a significant difference, as the lines of the diagram.
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

    def better_than(self, name: str) -> tuple[str, ...]:
        """The methods that this one is significantly better than, by the test of the sentence.

        Parameters
        ----------
        name : str
            A method.
        """
        behind = [other for other in self.ranks.index if self.ranks[other] > self.ranks[name]]
        if self.friedman is not None:
            limit = self.critical_distance
            return () if limit is None else tuple(o for o in behind if self.ranks[o] - self.ranks[name] > limit)
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
        from ramify.notebook import html_table

        frame = self.to_frame()
        rows = [
            (str(name), float(line["mean"]), float(line["rank"]), int(line["ahead_of"]), int(line["better_than"]))
            for name, line in frame.iterrows()
        ]
        heads = ["method", "mean", "mean rank", "ahead of", "significantly better than"]
        return html_table(self.sentence, heads, rows)

    def plot(self) -> Figure:
        """Critical-difference diagram."""
        from ramify.plots import critical_difference

        figure: Figure = critical_difference(self)
        return figure


def compare(table: Any, *, larger_is_better: bool = True, alpha: float = 0.05, digits: int | None = None) -> Comparison:
    """Compare methods over data sets: average ranks, Friedman, Nemenyi, wins, and what may be concluded.

    Parameters
    ----------
    table : frame or array of shape (n_datasets, n_methods)
        One measure: rows are data sets, columns methods.
    larger_is_better : bool, default=True
        False for losses.
    alpha : float, default=0.05
        Level of the tests.
    digits : int, optional
        Round to so many significant digits first, as the HMLC ranking paper does with 3.

    References
    ----------
    J. Demsar. Statistical comparisons of classifiers over multiple data sets. JMLR 7, 1-30, 2006.

    Examples
    --------
    >>> import pandas as pd
    >>> from ramify.compare import compare
    >>> table = pd.DataFrame({"forest": [0.9, 0.8, 0.7, 0.9, 0.8, 0.9], "tree": [0.8, 0.7, 0.6, 0.8, 0.7, 0.8]})
    >>> compare(table).ranks.to_dict()
    {'forest': 1.0, 'tree': 2.0}
    """
    values = check_table(table)
    ranks = average_ranks(values, larger_is_better=larger_is_better, digits=digits).sort_values(kind="stable")
    beaten = wins(values, larger_is_better=larger_is_better, digits=digits)
    n_datasets, n_methods = values.shape
    if n_datasets < FEWEST_DATASETS:
        sentence = (
            f"{n_datasets} data sets are too few to conclude anything (at least {FEWEST_DATASETS} are needed, more "
            f"than 10 are better); the best average rank is {ranks.iloc[0]:.2f} ({ranks.index[0]})."
        )
        return Comparison(values, ranks, None, None, None, [tuple(ranks.index)], beaten, alpha, sentence)
    test = friedman(values, digits=digits)
    distance = critical_distance(n_methods, n_datasets, alpha=alpha)
    p_values = nemenyi(values, digits=digits).loc[ranks.index, ranks.index]
    differ = test.p_value <= alpha
    groups = _groups(ranks, distance) if differ else [tuple(ranks.index)]
    sentence = _sentence(ranks, test, distance, alpha, differ)
    return Comparison(values, ranks, test, p_values, distance if differ else None, groups, beaten, alpha, sentence)


def _groups(ranks: pd.Series, distance: float) -> list[tuple[str, ...]]:
    """Runs of methods, ordered by rank, whose ends are within the critical distance; only the largest are kept."""
    values = ranks.to_numpy()
    ends = [int(np.searchsorted(values, value + distance, side="right")) for value in values]
    return [
        tuple(ranks.index[start:end])
        for start, end in enumerate(ends)
        if end - start > 1 and (start == 0 or ends[start - 1] < end)
    ]


def _sentence(ranks: pd.Series, test: FriedmanResult, distance: float, alpha: float, differ: bool) -> str:
    p_value = "p < 0.001" if test.p_value < 0.001 else f"p = {test.p_value:.3f}"
    over = f"Over {test.n_datasets} data sets, Friedman's test of {test.n_methods} methods gives chi-square = "
    finding = f"{over}{test.statistic:.2f}, {p_value}"
    if not differ:
        return f"{finding}: no significant difference at alpha = {alpha:g}."
    best = str(ranks.index[0])
    worse = [f"{name} ({ranks[name]:.2f})" for name in ranks.index[1:] if ranks[name] - ranks.iloc[0] > distance]
    against = ", ".join(worse) if worse else "no single other method"
    return (
        f"{finding}; by Nemenyi's test (critical distance {distance:.2f} at alpha = {alpha:g}) "
        f"{best} (average rank {ranks.iloc[0]:.2f}) is significantly better than {against}."
    )
