"""FeatureRanking: what every ranker gives and every later step takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.stats import rankdata
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ramify.hierarchy import Hierarchy
from ramify.parameters import check_flag, check_integer
from ramify.tags import tagged

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class FeatureRanking:
    """Scores of features, globally and per label, and how they were made.

    Parameters
    ----------
    names : sequence of str
        One name per feature, not necessarily unique; features are identified by position.
    scores : array-like of shape (n_features,)
        Importance of each feature, the larger the more important.
    per_label : CSR or array-like of shape (n_features, n_labels), optional
        Importance of each feature for each label.
    label_names : sequence of str
        Names of the columns of `per_label`.
    hierarchy : Hierarchy, optional
        Hierarchy of the labels.
    origin : mapping
        How the ranking was made: method, parameters, seed, version.

    Attributes
    ----------
    ranks : ndarray of shape (n_features,)
        1 for the largest score; equal scores share the lowest rank.
    order : ndarray of shape (n_features,)
        Positions of the features, best first; equal scores in the order of the columns.

    Examples
    --------
    >>> from ramify.ranking import FeatureRanking
    >>> ranking = FeatureRanking(["a", "b", "c"], [0.1, 0.5, 0.1])
    >>> ranking.ranks.tolist(), ranking.top(1).names
    ([2, 1, 2], ('b',))
    """

    names: tuple[str, ...]
    scores: np.ndarray
    per_label: Any = None
    label_names: tuple[str, ...] = ()
    hierarchy: Hierarchy | None = None
    origin: Mapping[str, Any] = field(default_factory=dict)

    def __init__(
        self,
        names: Sequence[str],
        scores: Any,
        *,
        per_label: Any = None,
        label_names: Sequence[str] = (),
        hierarchy: Hierarchy | None = None,
        origin: Mapping[str, Any] | None = None,
    ) -> None:
        values = {
            "names": tuple(str(name) for name in names),
            "scores": _checked_scores(scores, len(names)),
            "label_names": tuple(str(name) for name in label_names),
            "hierarchy": hierarchy,
            "origin": MappingProxyType(dict(origin or {})),
        }
        values["per_label"] = _checked_per_label(per_label, len(names), len(label_names))
        if hierarchy is not None and values["label_names"] != hierarchy.names:
            raise ValueError("The label names of a FeatureRanking must be the names of its hierarchy, in its order.")
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @cached_property
    def ranks(self) -> np.ndarray:
        """Rank of each feature: 1 is best, ties share the lowest."""
        return rankdata(-self.scores, method="min").astype(np.int64)

    @cached_property
    def order(self) -> np.ndarray:
        """Positions of the features, best first; ties in the order of the columns."""
        return np.argsort(-self.scores, kind="stable")

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        labels = f", {len(self.label_names)} labels" if self.per_label is not None else ""
        method = f", by {self.origin['method']}" if "method" in self.origin else ""
        return f"FeatureRanking({len(self)} features{labels}{method})"

    def _repr_html_(self) -> str:
        from ramify.notebook import html_table

        best = self.order[:10].tolist()
        rows = [[int(self.ranks[j]), self.names[j], float(self.scores[j])] for j in best]
        return html_table(repr(self), ["rank", "feature", "score"], rows, bar=2)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FeatureRanking):
            return NotImplemented
        return (
            self.names == other.names
            and np.array_equal(self.scores, other.scores)
            and self.label_names == other.label_names
            and self.hierarchy == other.hierarchy
            and _same_matrix(self.per_label, other.per_label)
        )

    def __hash__(self) -> int:
        return hash((self.names, self.scores.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        state = (self.names, self.scores, self.per_label, self.label_names, self.hierarchy, dict(self.origin))
        return _rebuild, state

    def top(self, k: int) -> FeatureRanking:
        """The `k` best features as a ranking of their own, best first.

        Parameters
        ----------
        k : int
            How many; all of them where there are fewer.
        """
        check_integer("FeatureRanking.top", "k", k, low=1)
        return self.take(self.order[:k])

    def take(self, positions: Any) -> FeatureRanking:
        """The features at the given positions, in that order, as a ranking of their own."""
        positions = np.asarray(positions, dtype=np.int64)
        return replace(
            self,
            names=tuple(self.names[j] for j in positions.tolist()),
            scores=self.scores[positions],
            per_label=None if self.per_label is None else self.per_label[positions],
        )

    def for_label(self, name: str, *, subtree: bool = True) -> FeatureRanking:
        """Ranking of the features for one label, or for the branch that it heads.

        Parameters
        ----------
        name : str
            Name of the label.
        subtree : bool, default=True
            Whether the scores of all labels below `name` are added, where there is a hierarchy.
        """
        check_flag("FeatureRanking.for_label", "subtree", subtree)
        if self.per_label is None:
            raise ValueError(
                "This ranking has no scores per label. ForestRanker gives them for label sets and hierarchies, "
                "ReliefRanker with per_label=True."
            )
        columns = self._branch(name) if subtree else [self._label(name)]
        scores = np.asarray(self.per_label[:, columns].sum(axis=1)).ravel()
        if not scores.any():
            raise ValueError(
                f"No feature has a score for {name!r}: every example of the training data agrees on it "
                "(most often, it never occurs there). Ask for a label above it."
            )
        origin = {**self.origin, "label": name, "subtree": subtree}
        return FeatureRanking(self.names, scores, origin=origin)

    def branch_scores(self) -> sparse.csr_array:
        """Scores of each feature for each label and everything below it: features x labels."""
        if self.per_label is None:
            raise ValueError("This ranking has no scores per label.")
        if self.hierarchy is None:
            return self.per_label
        below = self.hierarchy.ancestor_matrix.astype(np.float64) + sparse.eye_array(len(self.hierarchy))
        return sparse.csr_array(self.per_label @ sparse.csr_array(below))

    def scores_for(self, feature_names: Sequence[str]) -> np.ndarray:
        """Scores, after checking that the ranking is of exactly these features."""
        given = tuple(feature_names)
        if len(given) != len(self):
            raise ValueError(
                f"The ranking is of {len(self)} features and the data have {len(given)}. "
                "Rank the features of these data, or select the ranking's columns."
            )
        for position, (ours, theirs) in enumerate(zip(self.names, given, strict=True)):
            if ours != theirs:
                raise ValueError(
                    f"The ranking is of other features: feature {position} is {ours!r} in the ranking, {theirs!r} in "
                    "the data. Bring the columns into the ranking's order, or rank these data."
                )
        return self.scores

    def to_frame(self) -> pd.DataFrame:
        """Table with one row per feature, best first: index, feature, rank, score, and one column per label."""
        import pandas as pd

        order = self.order
        columns: dict[str, Any] = {
            "index": order,
            "feature": [self.names[j] for j in order.tolist()],
            "rank": self.ranks[order],
            "score": self.scores[order],
        }
        frame = pd.DataFrame(columns)
        if self.per_label is None:
            return frame
        labels = pd.DataFrame(self.per_label[order].toarray(), columns=list(self.label_names))
        return pd.concat([frame, labels], axis=1)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the ranking as .csv, .json or CLUS .fimp, by the name of the file.

        JSON keeps everything; CSV keeps names, scores and scores per label; .fimp as CSV, in the layout of CLUS.
        """
        from ramify.ranking.ranking_files import write_ranking

        write_ranking(self, path)

    @classmethod
    def read(cls, path: str | PathLike[str], *, column: str | None = None) -> FeatureRanking:
        """Read what `save` wrote, or a .fimp of CLUS.

        Parameters
        ----------
        path : path
            A .csv, .json or .fimp file.
        column : str, optional
            Which column of scores to take from a .fimp that holds several rankings.
        """
        from ramify.ranking.ranking_files import read_ranking

        return read_ranking(path, column=column)

    def _label(self, name: str) -> int:
        try:
            return self.label_names.index(name)
        except ValueError:
            near = get_close_matches(str(name), self.label_names, n=3)
            first = ", ".join(map(repr, self.label_names[:3]))
            hint = (
                f" Did you mean {' or '.join(map(repr, near))}?" if near else f" The first are {first}." * bool(first)
            )
            raise ValueError(f"The ranking has no label {name!r} among its {len(self.label_names)}.{hint}") from None

    def _branch(self, name: str) -> list[int]:
        head = self._label(name)
        if self.hierarchy is None:
            return [head]
        return [head, *(self.hierarchy.index(below) for below in self.hierarchy.descendants(name))]


class BaseRanker(BaseEstimator):
    """What the fitted rankers give; use a class derived from it."""

    ranking_: FeatureRanking

    @property
    def scores_(self) -> np.ndarray:
        """Score of each feature."""
        check_is_fitted(self, "ranking_")
        return self.ranking_.scores

    @property
    def scores_per_label_(self) -> sparse.csr_array | None:
        """Scores of features x labels, where there are some."""
        check_is_fitted(self, "ranking_")
        return self.ranking_.per_label

    def __sklearn_tags__(self) -> Any:
        return tagged(super().__sklearn_tags__(), "sparse", "allow_nan", "required", "multi_output")


def _rebuild(
    names: tuple[str, ...],
    scores: np.ndarray,
    per_label: Any,
    label_names: tuple[str, ...],
    hierarchy: Hierarchy | None,
    origin: dict[str, Any],
) -> FeatureRanking:
    return FeatureRanking(
        names, scores, per_label=per_label, label_names=label_names, hierarchy=hierarchy, origin=origin
    )


def _checked_scores(scores: Any, n_features: int) -> np.ndarray:
    values = np.array(scores, dtype=np.float64)
    if values.shape != (n_features,):
        raise ValueError(f"A ranking of {n_features} features needs {n_features} scores. Got shape {values.shape}.")
    if not np.isfinite(values).all():
        worst = int(np.flatnonzero(~np.isfinite(values))[0])
        raise ValueError(f"The scores of a ranking must be finite numbers. Feature {worst} has {values[worst]}.")
    values.flags.writeable = False
    return values


def _checked_per_label(per_label: Any, n_features: int, n_labels: int) -> sparse.csr_array | None:
    if per_label is None:
        return None
    matrix = sparse.csr_array(per_label, dtype=np.float64)
    if matrix.shape != (n_features, n_labels):
        raise ValueError(
            f"Scores per label must be features x labels = ({n_features}, {n_labels}). Got {matrix.shape}."
        )
    if not np.isfinite(matrix.data).all():
        raise ValueError("The scores per label of a ranking must be finite numbers.")
    return matrix


def _same_matrix(ours: Any, theirs: Any) -> bool:
    if ours is None or theirs is None:
        return ours is theirs
    return bool((ours != theirs).nnz == 0)
