"""Every test of a table of results at once, to print, store and set in LaTeX."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from ramify.compare.bayesian import signed_rank_probabilities
from ramify.compare.comparison import Comparison, compare
from ramify.compare.posthoc import dunn, holm, wilcoxon
from ramify.compare.result_table import check_table


@dataclass(frozen=True, eq=False)
class TestResults:
    """What the tests say of one table.

    Attributes
    ----------
    comparison : Comparison
        Average ranks, Friedman and Nemenyi, with the sentence.
    holm, wilcoxon : frame
        Pairs by average ranks, and by Wilcoxon's signed-rank test; both corrected by Holm.
    dunn : frame
        p-values of Dunn's test for unpaired data sets.
    bayesian : frame
        Probabilities of the Bayesian signed-rank test.
    larger_is_better : bool
        Whether larger values are better.
    """

    comparison: Comparison
    holm: pd.DataFrame
    wilcoxon: pd.DataFrame
    dunn: pd.DataFrame
    bayesian: pd.DataFrame
    larger_is_better: bool

    def to_frame(self) -> pd.DataFrame:
        """A line per pair of methods: what each test says of it."""
        frame = self.wilcoxon[["first", "second", "median_difference"]].copy()
        pairs = list(zip(frame["first"], frame["second"], strict=True))
        nemenyi = self.comparison.p_values
        frame["nemenyi"] = [float("nan") if nemenyi is None else nemenyi.loc[pair] for pair in pairs]
        frame["holm"] = [_of_pair(self.holm, pair) for pair in pairs]
        frame["wilcoxon"] = self.wilcoxon["adjusted"]
        frame["dunn"] = [self.dunn.loc[pair] for pair in pairs]
        chances = self.bayesian.set_index(["first", "second"])
        for column in ("first_better", "equal", "second_better"):
            turned = {"first_better": "second_better", "second_better": "first_better"}.get(column, column)
            frame[column] = [
                chances.loc[pair, column] if pair in chances.index else chances.loc[pair[::-1], turned]
                for pair in pairs
            ]
        return frame

    def to_latex(self) -> str:
        """The table with the best value of each row in bold, and the average ranks below it."""
        table, ranks = self.comparison.table, self.comparison.ranks
        best = table.max(axis=1) if self.larger_is_better else table.min(axis=1)
        lines = [r"\begin{tabular}{l" + "r" * table.shape[1] + "}", r"\hline"]
        lines += [" & ".join(["", *map(latex_text, table.columns)]) + r" \\ \hline"]
        for name, row in table.iterrows():
            cells = [rf"\textbf{{{v:.3f}}}" if round(v, 3) == round(best[name], 3) else f"{v:.3f}" for v in row]
            lines.append(" & ".join([latex_text(name), *cells]) + r" \\")
        cells = [f"{ranks[name]:.2f}" for name in table.columns]
        return "\n".join(
            [*lines, r"\hline", " & ".join(["average rank", *cells]) + r" \\ \hline", r"\end{tabular}", ""]
        )


def all_tests(
    table: Any,
    *,
    larger_is_better: bool = True,
    control: str | None = None,
    alpha: float = 0.05,
    rope: float = 0.0,
    random_state: int = 0,
) -> TestResults:
    """Friedman, Nemenyi, Holm, Wilcoxon with Holm, Dunn and the Bayesian signed-rank test of one table.

    Parameters
    ----------
    table : frame or array of shape (n_datasets, n_methods)
        One measure: rows are data sets, columns methods.
    larger_is_better : bool, default=True
        False for losses.
    control : str, optional
        The method that Holm and Wilcoxon compare the others with; all pairs without one.
    alpha : float, default=0.05
        Level of the tests.
    rope : float, default=0.0
        Differences up to this size count as practically equal in the Bayesian test.
    random_state : int, default=0
        Seed of the Bayesian test.

    Returns
    -------
    TestResults

    Notes
    -----
    The tests answer different questions; choose one before looking. Nemenyi and Holm use average ranks, Wilcoxon the
    sizes of the differences, Dunn does not pair the data sets.

    References
    ----------
    J. Demsar. Statistical comparisons of classifiers over multiple data sets. JMLR 7, 1-30, 2006.

    Examples
    --------
    >>> import pandas as pd
    >>> from ramify.compare.all_tests import all_tests
    >>> table = pd.DataFrame({"forest": [0.9, 0.8, 0.7, 0.9, 0.8, 0.9], "tree": [0.8, 0.7, 0.6, 0.8, 0.7, 0.7]})
    >>> all_tests(table).to_frame()[["first", "second", "wilcoxon"]].to_numpy().tolist()
    [['forest', 'tree', 0.03125]]
    """
    values = check_table(table)
    return TestResults(
        compare(values, larger_is_better=larger_is_better, alpha=alpha),
        holm(values, control=control, alpha=alpha, larger_is_better=larger_is_better),
        wilcoxon(values, control=control, alpha=alpha),
        dunn(values),
        signed_rank_probabilities(values, rope=rope, larger_is_better=larger_is_better, random_state=random_state),
        larger_is_better,
    )


def latex_text(text: object) -> str:
    """Text in which no character means anything to LaTeX."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(c, f"\\{c}" if c in "&%$#_{}" else c) for c in str(text))


def _of_pair(tests: pd.DataFrame, pair: tuple[str, str]) -> float:
    first, second = pair
    either = (tests["first"].isin(pair)) & (tests["second"].isin(pair)) & (first != second)
    return float(tests.loc[either, "adjusted"].iloc[0])
