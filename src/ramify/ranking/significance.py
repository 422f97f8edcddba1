"""Is it noise? Scores against those of features, or labels, that are known to be noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.stats import false_discovery_control
from sklearn.base import clone
from sklearn.utils import check_random_state

from ramify.ensemble.row_weights import refuse_without_weights
from ramify.features.frames import column_names, n_rows, take_rows, weighing_data, with_shadows
from ramify.parameters import check_integer, check_option
from ramify.progress import progress_bar
from ramify.ranking.feature_ranking import FeatureRanking
from ramify.writing import neutralised, whole_text

PER_LABEL = (False, True, "branch")


@dataclass(frozen=True)
class Significance:
    """How sure it is that features are better than noise.

    Attributes
    ----------
    ranking : FeatureRanking
        The ranking of the data itself.
    p_values, q_values : ndarray of shape (n_features,)
        Probability of such a score for noise, and the same after Benjamini-Hochberg over the features.
    p_values_per_label, q_values_per_label : ndarray of shape (n_features, n_labels) or None
        The same for each label, corrected over the features within a label.
    method : str
        "shadow" or "permutation".
    n_repeats : int
        How often noise was scored.
    """

    ranking: FeatureRanking
    p_values: np.ndarray
    q_values: np.ndarray
    p_values_per_label: np.ndarray | None
    q_values_per_label: np.ndarray | None
    method: str
    n_repeats: int

    def to_frame(self) -> pd.DataFrame:
        """One row per feature, the best first: feature, score, rank, p and q."""
        frame = pd.DataFrame(
            {
                "feature": list(self.ranking.names),
                "score": self.ranking.scores,
                "rank": self.ranking.ranks,
                "p": self.p_values,
                "q": self.q_values,
            }
        )
        return frame.sort_values("rank", kind="stable", ignore_index=True)

    def save(self, path: str | PathLike[str]) -> None:
        """Write `to_frame` as CSV, in one piece; names that a spreadsheet takes for formulas are made harmless."""
        frame = self.to_frame()
        frame["feature"] = [neutralised(name) for name in frame["feature"]]
        with whole_text(Path(path)) as file:
            frame.to_csv(file, index=False, lineterminator="\n")


def significance(
    ranker: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    method: str = "shadow",
    n_repeats: int = 20,
    per_label: bool | str = False,
    random_state: Any = None,
    verbose: int = 0,
) -> Significance:
    """P-values of features, for any ranker and score, globally and per label.

    Parameters
    ----------
    ranker : estimator with `ranking_`
        Cloned and fitted on each repetition.
    X, y : array, CSR or frame
        The data.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows, for a ranker that takes them. A row of weight zero is as good as no row.
    method : {"shadow", "permutation"}, default="shadow"
        "shadow": in each repetition every feature stands beside a copy of itself with its rows in another order, and
        competes with all copies (Boruta's idea). "permutation": in each repetition the rows of y are in another order.
    n_repeats : int, default=20
        Number of repetitions.
    per_label : bool or "branch", default=False
        Whether to give p-values per label too, or per branch: a label with all labels below it. In-bag gains credit
        a feature that is good for anything to every label, so they are refused here; which feature drives which branch
        is what `discoveries` tests.
    random_state : int, RandomState or None
        Seed of the orders; the ranker keeps its own.
    verbose : int, default=0
        Whether to show progress.

    Notes
    -----
    A feature's score is compared with those of noise after both are standardised by the mean and the spread of that
    feature's own noise scores (each noise score by those of the other repetitions); then all features' noise is one
    sample, of which the p-value is the share that is at least as large, the feature itself included:
    `(1 + #{noise >= score}) / (1 + n_repeats * n_features)`. So p-values are finer than one part in `n_repeats`, and a
    feature is measured against noise with its own values. For shadows the score is the mean over the repetitions, which
    varies less than a single one, so p-values of noise err on the large side. With permuted labels all features are
    noise at once, and some scores vary less then than beside relevant features; so standard scores are divided by the
    ratio of the spreads of the lower halves of the scores, if it is above 1.

    References
    ----------
    M. B. Kursa, W. R. Rudnicki. Feature selection with the Boruta package. Journal of Statistical Software 36, 2010.

    Y. Benjamini, Y. Hochberg. Controlling the false discovery rate. Journal of the Royal Statistical Society 57, 1995.

    Examples
    --------
    >>> from ramify.datasets import make_hierarchical
    >>> from ramify.ranking import ReliefRanker, significance
    >>> data = make_hierarchical(300, depth=1, n_features=20, random_state=0)
    >>> found = significance(ReliefRanker(), data.X, data.y, random_state=0)
    >>> sorted((found.q_values < 0.05).nonzero()[0]) == sorted(data.truth.any(axis=1).nonzero()[0])
    True
    """
    check_option("significance", "method", method, ("shadow", "permutation"))
    check_integer("significance", "n_repeats", n_repeats, low=2)
    check_option("significance", "per_label", per_label, PER_LABEL)
    X, y, sample_weight = weighing_data(X, y, sample_weight)
    if sample_weight is not None:
        refuse_without_weights("significance", ranker)
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    random = check_random_state(random_state)
    orders = [random.permutation(n_rows(X)) for _ in range(n_repeats)]
    with progress_bar(n_repeats, verbose, "Scoring noise") as progress:
        ranking = clone(ranker).fit(X, y, **weights).ranking_
        if per_label and ranking.per_label is None:
            raise ValueError(
                f"{type(ranker).__name__} gives no scores per label here. Use scores='genie3_oob' or 'permutation' of "
                "a ForestRanker, or ReliefRanker(per_label=True)."
            )
        if per_label and ranking.origin.get("method") == "genie3":
            raise ValueError(
                "Scores per label from in-bag gains have no valid p-values: a feature that is good for anything is "
                "credited to every label. Use scores='genie3_oob' or 'permutation', or ramify.ranking.discoveries: it "
                "tests what drives each branch."
            )
        repeats = _shadow_repeats if method == "shadow" else _permutation_repeats
        own, noise = [], []
        for number, (real, null) in enumerate(repeats(ranker, X, y, weights, orders, per_label)):
            own.append(real)
            noise.append(null)
            if progress is not None:
                progress(number + 1)
    observed = _columns_of(ranking, per_label) if method == "permutation" else np.mean(own, axis=0)
    p_values = _p_values(observed, np.array(noise), rescale=method == "permutation")
    of_labels = p_values[:, 1:] if per_label else None
    return Significance(
        ranking,
        p_values[:, 0],
        false_discovery_control(p_values[:, 0]),
        of_labels,
        None if of_labels is None else false_discovery_control(of_labels, axis=0),
        method,
        n_repeats,
    )


def _shadow_repeats(
    ranker: Any, X: Any, y: Any, weights: dict[str, Any], orders: list[np.ndarray], per_label: bool | str
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Scores of the features and of their shadows, per repetition: features x (1 + labels)."""
    n_features = len(column_names(X))
    doubled = _with_doubled_columns(ranker, n_features)
    for order in orders:
        columns = _columns_of(clone(doubled).fit(with_shadows(X, order), y, **weights).ranking_, per_label)
        yield columns[:n_features], columns[n_features:]


def _permutation_repeats(
    ranker: Any, X: Any, y: Any, weights: dict[str, Any], orders: list[np.ndarray], per_label: bool | str
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for order in orders:
        columns = _columns_of(clone(ranker).fit(X, take_rows(y, order), **weights).ranking_, per_label)
        yield columns, columns


def _columns_of(ranking: FeatureRanking, per_label: bool | str) -> np.ndarray:
    """The global scores and behind them those per label: features x (1 + labels)."""
    if not per_label:
        return ranking.scores[:, None]
    labels: sparse.csr_array = ranking.branch_scores() if per_label == "branch" else ranking.per_label
    return np.hstack([ranking.scores[:, None], labels.toarray()])


def _with_doubled_columns(ranker: Any, n_features: int) -> Any:
    """The ranker with its nominal features declared for the shadows as well."""
    doubled = clone(ranker)
    for name, value in doubled.get_params().items():
        if name.rpartition("__")[2] != "categorical_features" or value is None or isinstance(value, str):
            continue
        chosen = np.asarray(value)
        if chosen.dtype == bool:
            both: Any = np.concatenate([chosen, chosen])
        elif chosen.dtype.kind in "iu":
            both = np.concatenate([chosen % n_features, chosen % n_features + n_features])
        else:
            both = [*chosen.tolist(), *(f"shadow of {column}" for column in chosen.tolist())]
        doubled.set_params(**{name: both})
    return doubled


def _p_values(observed: np.ndarray, noise: np.ndarray, *, rescale: bool) -> np.ndarray:
    """P-value of each score among standardised noise of its column: features x columns."""
    n_repeats, n_features, n_columns = noise.shape
    p_values = np.empty((n_features, n_columns))
    for column in range(n_columns):
        null = noise[:, :, column]
        spread = null.std(axis=0, ddof=1)
        # Keeps features whose noise never varied from having an infinite standard score.
        floor = np.median(spread[spread > 0]) if (spread > 0).any() else 1.0
        standard = _standardised(observed[:, column], null.mean(axis=0), spread, floor)
        if rescale:
            usual = np.mean([_lower_spread(scores) for scores in null])
            standard = standard / (max(1.0, _lower_spread(observed[:, column]) / usual) if usual > 0 else 1.0)
        others = (null.sum(axis=0) - null) / (n_repeats - 1)
        squares = ((null**2).sum(axis=0) - null**2) / (n_repeats - 1) - others**2
        others_spread = np.sqrt(np.maximum(squares, 0) * (n_repeats - 1) / max(1, n_repeats - 2))
        pooled = np.sort(_standardised(null, others, others_spread, floor).ravel())
        at_least = len(pooled) - np.searchsorted(pooled, standard - 1e-12 * np.abs(standard), side="left")
        p_values[:, column] = (1 + at_least) / (1 + len(pooled))
    return p_values


def _standardised(scores: np.ndarray, mean: np.ndarray, spread: np.ndarray, floor: float) -> np.ndarray:
    return (scores - mean) / np.sqrt(spread**2 + floor**2)


def _lower_spread(scores: np.ndarray) -> float:
    """Spread of the scores below the median, where relevant features are not."""
    return float(np.median(scores) - np.quantile(scores, 0.16))
