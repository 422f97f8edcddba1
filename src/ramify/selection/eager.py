"""Eager selection: one subset of hierarchical features for all rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ramify.features.selected_columns import ColumnSelector
from ramify.hierarchy import Hierarchy
from ramify.parameters import check_flag, check_option, check_real
from ramify.selection.binary_features import close_features, constant_roots, read_features, report_violations
from ramify.selection.feature_graph import FeatureGraph, Step, feature_graph
from ramify.selection.relevance import gain_ratio, information_gain, lazy_r, lift, r_relevance, rows_with_target
from ramify.state import FEATURES, State, fitting, flags, instance, integers, numbers, texts, value_row
from ramify.tags import tagged

_RELEVANCES = {"ig": information_gain, "r": r_relevance, "lazy_r": lazy_r}


@dataclass(kw_only=True, eq=False, repr=False)
class HierarchicalSelector(ColumnSelector, BaseEstimator):
    """Select one subset of binary features that form a hierarchy.

    ======== ==================================================================================================
    method   keeps
    ======== ==================================================================================================
    "shsel"  of parent and child with similar relevance the parent; then what is not below the mean of any path
    "gtd"    greedily the highest gain ratio, each time without its ancestors and descendants
    "tsel"   of every path from a root to a leaf the feature of highest lift
    ======== ==================================================================================================

    Parameters
    ----------
    feature_hierarchy : Hierarchy
        Hierarchy of the features. Columns of a frame are matched by name; an array has one column per name. Columns
        that the hierarchy does not hold stand alone (`unknown_features_`).
    method : {"shsel", "gtd", "tsel"}, default="shsel"
        What is kept, see above.
    relevance : {"ig", "r", "lazy_r"}, default="ig"
        Measure of SHSEL. GTD takes the gain ratio and TSEL the lift.
    threshold : float, default=0.99
        SHSEL removes a child if `1 - |relevance - relevance of a parent|` reaches it.
    hierarchy : Hierarchy, optional
        Hierarchy of the labels, if `y` holds label sets that have one.
    close : bool, default=False
        Whether rows with a child and without its parent are repaired by adding the parent before learning; columns are
        passed on as they are. Otherwise `fit` warns.
    drop_constant_roots : bool, default=True
        Whether roots that every training row has are left out beforehand, since they tell nothing. The authors' data
        have no root; Algorithm 1 of the paper by the letter (False) treats one as any feature.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The measure the method went by.
    unknown_features_, dropped_features_ : tuple of str
        Columns the hierarchy does not hold, and roots that are present in every training row (never selected).
    violations_ : tuple of (child, parent, n_rows)
        Training rows that break the hierarchy.

    Notes
    -----
    "A path" goes from a root to a leaf; no path is ever listed, as a DAG may have millions. SHSEL's second step removes
    a feature that is below the mean of all features on any of its paths, which is the reading that gives the published
    shares. The lift of TSEL is that of the second of two classes, and the largest over the classes where there are
    more. GTD's published description leaves more than one reading; none gives the shares of selected features that
    were printed for it (52 to 65 %), this one gives 29 to 46 %.

    References
    ----------
    P. Ristoski, H. Paulheim, "Feature selection in hierarchical feature spaces", Discovery Science, 2014 (SHSEL).
    S. Lu et al., "Domain ontology-based feature reduction for high dimensional drug data", CollaborateCom, 2013 (GTD).
    Y. Jeong, S.-H. Myaeng, "Feature selection using a semantic hierarchy for event recognition and type
    classification", IJCNLP, 2013 (TSEL).

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.selection import HierarchicalSelector
    >>> order = Hierarchy.from_edges([("animal", "bird"), ("animal", "fish")])
    >>> X, y = [[1, 1, 0], [1, 1, 0], [1, 0, 1], [0, 0, 0]], ["flies", "flies", "swims", "swims"]
    >>> HierarchicalSelector(order, method="gtd").fit(X, y).get_support()
    array([False,  True,  True])
    """

    read_after_fit: ClassVar[tuple[str, ...]] = ("feature_hierarchy",)
    fitted_state: ClassVar[State] = {
        **FEATURES,
        "unknown_features_": texts(),
        "violations_": instance(tuple),
        "dropped_features_": texts(),
        "scores_": numbers("n_features", nan=True),
        "_support": flags("n_features"),
        "_columns": integers("n_columns", below="n_features"),
        "_reason": value_row("n_columns"),
        "_remover": integers("n_columns", low=-1, below="n_columns"),
        "_names": texts("n_features"),
    }

    feature_hierarchy: Hierarchy = field(kw_only=False)
    method: Literal["shsel", "gtd", "tsel"] = "shsel"
    relevance: Literal["ig", "r", "lazy_r"] = "ig"
    threshold: float = 0.99
    hierarchy: Hierarchy | None = None
    close: bool = False
    drop_constant_roots: bool = True

    def fit(self, X: Any, y: Any) -> Self:
        """Choose the subset from training rows.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Binary features.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Classes or label sets. A label counts the rows of which it is known, not NaN; a row of which nothing is
            known takes no part.
        """
        with fitting(self):
            check_option(self, "method", self.method, ("shsel", "gtd", "tsel"))
            check_option(self, "relevance", self.relevance, tuple(_RELEVANCES))
            threshold = check_real(self, "threshold", self.threshold)
            check_flag(self, "close", self.close)
            check_flag(self, "drop_constant_roots", self.drop_constant_roots)
            values, names = read_features(self, X, self.feature_hierarchy, reset=True)
            values, y = rows_with_target(values, y, self.hierarchy)
            graph = feature_graph(self.feature_hierarchy, names)
            self.unknown_features_ = graph.unknown
            self.violations_ = report_violations(values, graph, quiet=self.close)
            if self.close:
                values = close_features(values, graph.ancestors)
            dropped = constant_roots(values, graph) & self.drop_constant_roots
            self.dropped_features_ = tuple(names[column] for column in np.flatnonzero(dropped))
            columns = np.flatnonzero(~dropped)
            self.scores_ = self._scores(values, y)
            choice = self._choose(graph.keep(columns), self.scores_[columns], threshold)
            self._support = np.zeros(len(names), dtype=bool)
            self._support[columns] = choice.selected
            self._reason, self._remover = choice.reason, choice.remover
            self._columns, self._names = columns, names
        return self

    def selection_mask(self, X: Any) -> sparse.csr_array:
        """The subset, repeated for every row of `X`, as a boolean CSR."""
        check_is_fitted(self)
        values, _ = read_features(self, X, self.feature_hierarchy, reset=False)
        chosen = np.flatnonzero(self._support)
        n_rows = values.shape[0]
        marks = np.ones(n_rows * len(chosen), dtype=bool)
        starts = np.arange(n_rows + 1) * len(chosen)
        return sparse.csr_array((marks, np.tile(chosen, n_rows), starts), shape=values.shape)

    def explain(self, row: Any = None) -> pd.DataFrame:  # noqa: ARG002
        """Why each feature was selected or removed.

        Parameters
        ----------
        row : ignored
            There for the sake of `LazySelector.explain`; the answer is the same for every row.

        Returns
        -------
        DataFrame
            `feature`, `relevance`, `selected`, `reason` and `removed_by`, the feature that removed it, if one did.
        """
        check_is_fitted(self)
        names = np.array(self._names, dtype=object)
        reason = np.full(len(names), "a root present in every training row", dtype=object)
        remover = np.full(len(names), "", dtype=object)
        kept_names = names[self._columns]
        reason[self._columns] = self._reason
        removed = self._remover >= 0
        remover[self._columns[removed]] = kept_names[self._remover[removed]]
        table = pd.DataFrame(
            {
                "feature": names,
                "relevance": self.scores_,
                "selected": self._support,
                "reason": reason,
                "removed_by": remover,
            }
        )
        return table.sort_values(["selected", "relevance"], ascending=False, kind="stable", ignore_index=True)

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self._support

    def _scores(self, values: sparse.csr_array, y: Any) -> np.ndarray:
        if self.method == "gtd":
            return gain_ratio(values, y, hierarchy=self.hierarchy)
        if self.method == "tsel":
            return lift(values, y, hierarchy=self.hierarchy)
        return _RELEVANCES[self.relevance](values, y, hierarchy=self.hierarchy)

    def _choose(self, graph: FeatureGraph, scores: np.ndarray, threshold: float) -> Choice:
        scores = np.round(scores, 12)
        if self.method == "shsel":
            return choose_shsel(graph, scores, threshold)
        return choose_gtd(graph, scores) if self.method == "gtd" else choose_tsel(graph, scores)

    def __sklearn_tags__(self) -> Tags:
        return tagged(super().__sklearn_tags__(), "sparse", "required")


class Choice(NamedTuple):
    """Which features were selected, why, and which feature removed a removed one (-1 for none)."""

    selected: np.ndarray
    reason: np.ndarray
    remover: np.ndarray


def choose_shsel(graph: FeatureGraph, relevance: np.ndarray, threshold: float) -> Choice:
    """SHSEL: drop children like their parents, then what is below the mean of a path."""
    edges = sparse.coo_array(graph.parents)
    similarity = 1.0 - np.abs(relevance[edges.row] - relevance[edges.col])
    similar = np.flatnonzero(similarity >= threshold)
    similar = similar[np.argsort(similarity[similar], kind="stable")]
    remover = np.full(graph.n_features, -1, dtype=np.intp)
    remover[edges.row[similar]] = edges.col[similar]
    remaining = remover < 0
    below_mean = remaining & (largest_path_mean(graph, relevance) > relevance + 1e-12)
    reason = np.where(remaining, "not below the mean of any path", "as relevant as its parent").astype(object)
    reason[below_mean] = "below the mean of a path"
    return Choice(remaining & ~below_mean, reason, remover)


def largest_path_mean(graph: FeatureGraph, relevance: np.ndarray) -> np.ndarray:
    """Largest mean relevance over all paths from a root to a leaf through each feature.

    A way to or from a feature is its number of features and its sum. Only ways that are best for some trade between
    the two are kept (the upper hull of these points), so that the largest mean is found without listing paths.
    """
    above = _best_ways(graph.downward, relevance)
    below = _best_ways(graph.upward, relevance)
    means = [_largest_mean(*halves) for halves in zip(above, below, relevance.tolist(), strict=True)]
    return np.array(means, dtype=np.float64)


_Ways = list[tuple[int, float]]


def _best_ways(steps: tuple[Step, ...], relevance: np.ndarray) -> list[_Ways]:
    """Of each feature f, number and sum of the ways from an end of the hierarchy to f, f included."""
    own = relevance.tolist()
    ways: list[_Ways] = [[(1, value)] for value in own]
    for features, starts, neighbours in steps:
        ends = [*starts[1:].tolist(), len(neighbours)]
        for feature, start, end in zip(features.tolist(), starts.tolist(), ends, strict=True):
            before = [way for neighbour in neighbours[start:end].tolist() for way in ways[neighbour]]
            ways[feature] = [(number + 1, total + own[feature]) for number, total in _upper_hull(before)]
    return ways


def _upper_hull(ways: _Ways) -> _Ways:
    """The ways that have the largest sum less some price per feature."""
    if len(ways) == 1:
        return ways
    largest: dict[int, float] = {}
    for number, total in ways:
        largest[number] = max(total, largest.get(number, -np.inf))
    hull: _Ways = []
    for number, total in sorted(largest.items()):
        while len(hull) > 1:
            (first, of_first), (second, of_second) = hull[-2:]
            if (of_second - of_first) * (number - second) > (total - of_second) * (second - first):
                break
            hull.pop()
        hull.append((number, total))
    return hull


def _largest_mean(above: _Ways, below: _Ways, own: float) -> float:
    """Largest mean over a way above joined to one below; both hold the feature itself, so it is taken off once.

    The best ways at the price of the mean so far have a larger mean, until none has (Dinkelbach's method).
    """
    mean = -np.inf
    price = own
    while True:
        up, down = (max(ways, key=lambda way: way[1] - price * way[0]) for ways in (above, below))
        means = (up[1] + down[1] - own) / (up[0] + down[0] - 1)
        if means <= mean:
            return mean
        mean = price = means


def choose_gtd(graph: FeatureGraph, ratio: np.ndarray) -> Choice:
    """GTD: take the highest gain ratio (the shallowest on ties), drop its relatives, go on."""
    selected = np.zeros(graph.n_features, dtype=bool)
    remover = np.full(graph.n_features, -1, dtype=np.intp)
    for feature in np.lexsort((graph.level, -ratio)):
        if remover[feature] >= 0:
            continue
        selected[feature] = True
        for relatives in (graph.ancestors, graph.descendants):
            others = relatives.indices[relatives.indptr[feature] : relatives.indptr[feature + 1]]
            remover[others[remover[others] < 0]] = feature
    reason = np.where(selected, "no relative was taken before", "a relative has the higher gain ratio")
    return Choice(selected, reason, remover)


def choose_tsel(graph: FeatureGraph, lifts: np.ndarray) -> Choice:
    """TSEL: the highest lift of each path (the shallowest on ties), all paths together.

    A feature is the highest of some path if some way up has only lower ones and some way down no higher one; the two
    ways do not depend on each other.
    """
    above = _smallest_peak(graph.downward, lifts)
    below = _smallest_peak(graph.upward, lifts)
    selected = (above < lifts) & (below <= lifts)
    reason = np.where(selected, "the highest lift of a path", "another feature of every path has a higher lift")
    return Choice(selected, reason.astype(object), np.full(graph.n_features, -1, dtype=np.intp))


def _smallest_peak(steps: tuple[Step, ...], lifts: np.ndarray) -> np.ndarray:
    """Over the ways from each feature in the direction of `steps`, the smallest of their largest lifts."""
    peak = np.full(len(lifts), -np.inf)
    for features, starts, neighbours in steps:
        peak[features] = np.minimum.reduceat(np.maximum(lifts[neighbours], peak[neighbours]), starts)
    return peak
