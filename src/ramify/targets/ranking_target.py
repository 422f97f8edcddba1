"""Rankings of labels as a target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ramify import _core
from ramify.hierarchy import Hierarchy
from ramify.targets.distances import PairDistance, ranking_distance
from ramify.targets.rankings import (
    check_rankings,
    label_pairs,
    pair_hierarchy,
    pair_signs,
    rank_labels,
    rank_vectors,
    ranking_names,
    sign_vectors,
)
from ramify.targets.target import Target, check_n_samples


@dataclass(frozen=True, kw_only=True, eq=False)
class RankingTarget(Target):
    """Rankings of labels; an entry of a vector is a pair of labels.

    Attributes
    ----------
    ranks : array of shape (n_samples, n_labels)
        Average ranks; NaN where unranked.
    criterion : {"kendall", "spearman", "entropy", "mallows"}
        What trees compare rankings by.
    gamma : float
        A correlation above this stops growth.
    """

    kind: ClassVar[str] = "rankings"
    nouns: ClassVar[tuple[str, str]] = ("item", "ranked items")
    forest: ClassVar[str] = "LabelRankingForest"
    measure: ClassVar[str] = "kendall_tau"
    measure_title: ClassVar[str] = "Kendall's tau"
    ranks_labels: ClassVar[bool] = True

    ranks: np.ndarray
    criterion: str = "kendall"
    gamma: float = 1.0

    @property
    def n_samples(self) -> int:
        """Number of examples."""
        return len(self.ranks)

    def kernel_rows(self) -> _core.RankingRows:
        """Signs of the label pairs, the vectors that the criterion correlates and a number for each distinct ranking.

        Without ties and unranked labels all vectors are whole numbers of one length, so that sums of them are exact.
        """
        ranks, n_labels = self.ranks, len(self.names)
        signs = pair_signs(ranks)
        first, second = label_pairs(n_labels)
        compared = ~np.isnan(ranks[:, first] + ranks[:, second])
        distinct = np.unique(np.where(compared, signs, 2), axis=0, return_inverse=True)[1]
        whole = bool(np.all(signs))
        if self.criterion == "spearman":
            vectors = 2 * ranks - (n_labels + 1) if whole else rank_vectors(ranks)
            square = n_labels * (n_labels**2 - 1) / 3 if whole else 1.0
        else:
            vectors = signs.astype(np.float64) if whole else sign_vectors(ranks)
            square = float(signs.shape[1]) if whole else 1.0
        return _core.RankingRows(
            np.ascontiguousarray(signs),
            None if compared.all() else np.ascontiguousarray(compared, dtype=np.uint8),
            np.ascontiguousarray(vectors),
            np.ascontiguousarray(distinct.ravel(), dtype=np.int32),
            n_labels=n_labels,
            square=square,
            criterion=self.criterion if self.criterion in {"entropy", "mallows"} else "correlation",
            gamma=self.gamma,
        )

    def gain_rows(self) -> _core.NumberRows:
        """The signs of the label pairs."""
        return _core.NumberRows(np.ascontiguousarray(pair_signs(self.ranks), dtype=np.float64), self.weights)

    def permutation_options(self, *, per_output: bool, error: str | None = None) -> dict[str, Any]:  # noqa: ARG002
        """By 1 - tau-b, always also per pair."""
        self.permutation_error(error)
        return {}

    def distance(
        self,
        metric: str = "euclidean",  # noqa: ARG002
        *,
        bound: str | None = "observed",  # noqa: ARG002
        n_threads: int = 1,  # noqa: ARG002
    ) -> PairDistance:
        """Share of label pairs on which two rankings disagree."""
        return ranking_distance(self.ranks)

    @classmethod
    def described(cls, names: tuple[str, ...]) -> str:
        """A target with these names, in few words."""
        return f"rankings of {len(names)} labels"

    @classmethod
    def sentence(cls, n_labels: int, n_levels: int) -> str:  # noqa: ARG003
        """What examples have, as the end of a sentence."""
        return f"each ranks {n_labels:,} items"

    def label_columns(self) -> sparse.csr_array:
        """1, 0 or one half (open) per pair of labels."""
        return sparse.csr_array((pair_signs(self.ranks) + 1) / 2)

    @classmethod
    def label_scores(
        cls,
        scores: sparse.csr_array,
        names: tuple[str, ...],
        hierarchy: Hierarchy | None,  # noqa: ARG003
    ) -> tuple[sparse.csr_array, tuple[str, ...], Hierarchy | None]:
        """Scores per pair of labels, each pair below its two labels."""
        pairs = pair_hierarchy(names)
        labels = sparse.csr_array((scores.shape[0], len(names)))
        return sparse.csr_array(sparse.hstack([labels, scores])), pairs.names, pairs

    def vectors(self) -> np.ndarray:
        """The ranks."""
        return self.ranks

    def predicted(self, means: np.ndarray) -> np.ndarray:
        """Rankings by mean rank."""
        return rank_labels(means)

    def truth(self, y: Any) -> np.ndarray:
        """Ranks."""
        return check_rankings(y)


def encode_rankings(
    y: Any,
    *,
    criterion: str = "kendall",
    gamma: float = 1.0,
    n_labels: int | None = None,
    n_samples: int | None = None,
) -> RankingTarget:
    """Check rankings and encode them.

    Parameters
    ----------
    y : array-like or frame of shape (n_samples, n_labels)
        As of `check_rankings`.
    criterion, gamma
        As of `RankingTarget`.
    n_labels, n_samples : int, optional
        Numbers of labels and rows that y must have.

    Examples
    --------
    >>> from ramify.targets import encode_rankings
    >>> encode_rankings([[1, 2, 3], [2, 1, 3]]).distance()([0], [1])
    array([0.33333333])
    """
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None: pass a matrix of ranks.")
    ranks = check_rankings(y, n_labels=n_labels)
    check_n_samples(len(ranks), n_samples)
    n_pairs = ranks.shape[1] * (ranks.shape[1] - 1) // 2
    return RankingTarget(
        ranks=ranks,
        names=tuple(ranking_names(y, ranks.shape[1])),
        weights=np.full(n_pairs, 1 / n_pairs),
        criterion=criterion,
        gamma=gamma,
    )
