"""Lazy selection: a subset of hierarchical features for each row that is to be predicted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ramify.hierarchy import Hierarchy
from ramify.parameters import check_flag, check_option, check_real
from ramify.ranking import FeatureRanking
from ramify.selection.binary_features import close_features, constant_roots, read_features, report_violations
from ramify.selection.feature_graph import FeatureGraph, feature_graph, pattern
from ramify.selection.relevance import information_gain, lazy_r, r_relevance, rows_with_target
from ramify.selection.row_selection import RULES, RowSelection
from ramify.state import FEATURES, State, fitting, instance, integers, matrix, numbers, perhaps, texts
from ramify.tags import tagged

# Cells (rows x features) that are held dense at a time.
_BLOCK_CELLS = 1 << 23

RELEVANCES = ("lazy_r", "r", "ig")


@dataclass(kw_only=True, eq=False, repr=False)
class LazySelector(BaseEstimator):
    """Select, for each row, the features that its own values make relevant and not redundant.

    Binary features that form a hierarchy imply each other: a present feature (1) makes all its ancestors present, an
    absent one (0) all its descendants absent. The methods differ in which of the implied features they remove:

    ============ =============================================== ====================================================
    method       a present feature is removed by                 an absent feature is removed
    ============ =============================================== ====================================================
    "rpv"        a present descendant of higher relevance        always
    "hip"        any present descendant                          by any absent ancestor
    "mr"         a present relative of higher relevance          by an absent relative of higher relevance
    "hip-mr"     a present descendant, not of lower relevance    by an absent ancestor, not of lower relevance
    "positive"   nothing                                         always
    "negative"   everything (all present ones are removed)       by nothing
    ============ =============================================== ====================================================

    Relatives are ancestors and descendants. In "mr", of equally relevant relatives the deepest present and the
    shallowest absent feature stays.

    Parameters
    ----------
    feature_hierarchy : Hierarchy
        Hierarchy of the features. Columns of a frame are matched by name; an array has one column per name. Columns
        that the hierarchy does not hold stand alone (`unknown_features_`).
    method : {"rpv", "hip", "mr", "hip-mr", "positive", "negative"}, default="rpv"
        What is removed, see above.
    relevance : {"lazy_r", "r", "ig"}, default="lazy_r"
        Measure of a feature's relevance in the training data. The paper's MR takes "r".
    smoothing : float, default=1.0
        s in the probabilities `(n_c + s) / (n + s k)` of k classes behind "lazy_r" and "r". 0 is the paper's Eqs. 1
        and 2 to the letter, 1 is its authors' program, which the printed results come from.
    hierarchy : Hierarchy, optional
        Hierarchy of the labels, if `y` holds label sets that have one.
    close : bool, default=False
        Whether rows with a child and without its parent are repaired by adding the parent. Otherwise they are used as
        they are, and `fit` warns.
    drop_constant_roots : bool, default=True
        Whether roots that every training row has are left out beforehand, since they tell nothing. The authors' data
        have no root; Algorithm 1 of the paper by the letter (False) treats one as any feature.

    Attributes
    ----------
    relevance_, relevance_absent_ : ndarray of shape (n_features,)
        Relevance of each feature where it is present and where it is absent (they differ for "lazy_r" only).
    ranking_ : FeatureRanking
        Features by how often they are selected in the training rows.
    graph_ : FeatureGraph
        Columns, ancestors and levels of the features that take part.
    unknown_features_ : tuple of str
        Columns the hierarchy does not hold.
    dropped_features_ : tuple of str
        Roots that are present in every training row; they tell nothing and are never selected.
    violations_ : tuple of (child, parent, n_rows)
        Training rows that break the hierarchy.

    Notes
    -----
    Without smoothing a term of one row is as relevant as can be, so RPV selects fewer features than printed. "mr"
    removes whatever shares a path of equal values with a more relevant feature, which is how its shares in the paper's
    Table 10 come about. For absent features LazyR is taken of the absent value.

    References
    ----------
    P. N. da Silva, A. Plastino, A. A. Freitas, "Prioritizing positive feature values: a new hierarchical feature
    selection method", Applied Intelligence, 2020.
    C. Wan, A. A. Freitas, J. P. de Magalhaes, "Predicting the pro-longevity or anti-longevity effect of model organism
    genes with new hierarchical feature selection methods", IEEE/ACM TCBB 12(2), 2015.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.selection import LazySelector
    >>> order = Hierarchy.from_edges([("animal", "bird"), ("animal", "fish")])
    >>> X, y = [[1, 1, 0], [1, 1, 0], [1, 0, 1], [0, 0, 0]], ["flies", "flies", "swims", "swims"]
    >>> selector = LazySelector(order).fit(X, y)
    >>> selector.selection_mask([[1, 1, 0]]).toarray()
    array([[False,  True, False]])
    """

    read_after_fit: ClassVar[tuple[str, ...]] = ("feature_hierarchy", "method", "close")
    fitted_state: ClassVar[State] = {
        **FEATURES,
        "unknown_features_": texts(),
        "violations_": instance(tuple),
        "dropped_features_": texts(),
        "_ancestors": matrix("n_features", "n_features"),
        "relevance_": numbers("n_features", nan=True),
        "relevance_absent_": numbers("n_features", nan=True),
        "_columns": integers("n_columns", below="n_features"),
        "graph_": instance(FeatureGraph),
        "ranking_": perhaps(instance(FeatureRanking)),
    }

    feature_hierarchy: Hierarchy = field(kw_only=False)
    method: Literal["rpv", "hip", "mr", "hip-mr", "positive", "negative"] = "rpv"
    relevance: Literal["lazy_r", "r", "ig"] = "lazy_r"
    smoothing: float = 1.0
    hierarchy: Hierarchy | None = None
    close: bool = False
    drop_constant_roots: bool = True

    def fit(self, X: Any, y: Any, *, rank: bool = True) -> Self:
        """Learn the relevance of each feature from training rows.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Binary features.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Classes or label sets. A label counts the rows of which it is known, not NaN; a row of which nothing is
            known takes no part.
        rank : bool
            Whether to select for the training rows as well, which `ranking_` needs.
        """
        with fitting(self):
            check_option(self, "method", self.method, tuple(RULES))
            check_option(self, "relevance", self.relevance, RELEVANCES)
            check_real(self, "smoothing", self.smoothing, low=0)
            check_flag(self, "close", self.close)
            check_flag(self, "drop_constant_roots", self.drop_constant_roots)
            values, names = read_features(self, X, self.feature_hierarchy, reset=True)
            values, y = rows_with_target(values, y, self.hierarchy)
            graph = feature_graph(self.feature_hierarchy, names)
            self.unknown_features_ = graph.unknown
            self.violations_ = report_violations(values, graph, quiet=self.close)
            self._ancestors = graph.ancestors
            values = self.close_rows(values)
            self.relevance_, self.relevance_absent_ = self._relevances(values, y)
            dropped = constant_roots(values, graph) & self.drop_constant_roots
            self.dropped_features_ = tuple(names[column] for column in np.flatnonzero(dropped))
            self._columns = np.flatnonzero(~dropped)
            self.graph_ = graph.keep(self._columns)
            if rank:
                origin = {"method": f"selection frequency of {self.method}", "relevance": self.relevance}
                self.ranking_ = selection_ranking(self.selection_blocks(values), names, origin=origin)
        return self

    def selection_mask(self, X: Any) -> sparse.csr_array:
        """Which features are selected for which row, as a boolean CSR of the shape of `X`."""
        return sparse.vstack(list(self.selection_blocks(self.read_rows(X))), format="csr")

    def selection_blocks(self, X: sparse.csr_array) -> Iterator[sparse.csr_array]:
        """`selection_mask` of checked rows in blocks, so that wide masks need not be held at once."""
        check_is_fitted(self)
        part = pattern(sparse.csr_array(X)[:, self._columns])
        height = max(1, _BLOCK_CELLS // max(1, self.graph_.n_features))
        selection = self.row_selection()
        for start in range(0, part.shape[0], height):
            block = part[start : start + height]
            mask = selection.mask(block)
            indices = self._columns[mask.indices]
            yield sparse.csr_array((mask.data, indices, mask.indptr), shape=(block.shape[0], self.n_features_in_))

    def row_selection(self) -> RowSelection:
        """What is done to a row, over the features that take part."""
        present, absent = self.relevance_[self._columns], self.relevance_absent_[self._columns]
        return RowSelection(RULES[self.method], self.graph_, present, absent)

    def explain(self, row: Any) -> pd.DataFrame:
        """Why each feature was selected or removed in one row.

        Parameters
        ----------
        row : array of shape (n_features,) or one row of a frame
            Feature values.

        Returns
        -------
        DataFrame
            One line per feature whose value the method considers: `feature`, `value`, `relevance`, `selected` and
            `removed_by`, the names of the features that removed it, the most relevant first. Selected features come
            first, by relevance.
        """
        return explanation(self, self.read_rows(one_row(row)))

    def read_rows(self, X: Any) -> sparse.csr_array:
        """Rows checked against the training columns, as a boolean CSR, closed if `close` asks for it."""
        check_is_fitted(self)
        values, _ = read_features(self, X, self.feature_hierarchy, reset=False)
        return self.close_rows(values)

    def close_rows(self, values: sparse.csr_array) -> sparse.csr_array:
        """Checked rows, with missing ancestors added if `close` asks for it."""
        return close_features(values, self._ancestors) if self.close else values

    def _relevances(self, values: sparse.csr_array, y: Any) -> tuple[np.ndarray, np.ndarray]:
        if self.relevance == "lazy_r":
            smoothed: dict[str, Any] = {"smoothing": self.smoothing, "hierarchy": self.hierarchy}
            present = lazy_r(values, y, value=1, **smoothed)
            if not RULES[self.method].negative:
                return present, present
            return present, lazy_r(values, y, value=0, **smoothed)
        if self.relevance == "r":
            both = r_relevance(values, y, smoothing=self.smoothing, hierarchy=self.hierarchy)
        else:
            both = information_gain(values, y, hierarchy=self.hierarchy)
        return both, both

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted selector together."""
        graph = self.graph_
        yield len(self._columns) == graph.n_features, "the columns are not those of the hierarchy"
        yield bool((np.diff(self._columns) > 0).all()), "the columns must be in their order"
        ancestors = sparse.coo_array(graph.ancestors)
        yield bool((graph.level[ancestors.row] > graph.level[ancestors.col]).all()), "the hierarchy has a cycle"

    def __sklearn_tags__(self) -> Tags:
        return tagged(super().__sklearn_tags__(), "sparse", "required")


def selection_ranking(
    masks: Iterable[sparse.csr_array], names: Sequence[str], *, origin: Mapping[str, Any] | None = None
) -> FeatureRanking:
    """Features by the share of rows that select them.

    Parameters
    ----------
    masks : iterable of CSR
        Selection masks, as of `LazySelector.selection_blocks` or several calls of `selection_mask`.
    names : sequence of str
        Feature names.
    origin : mapping, optional
        How the ranking was made.

    Examples
    --------
    >>> from scipy import sparse
    >>> from ramify.selection.lazy import selection_ranking
    >>> masks = [sparse.csr_array([[True, False], [True, True]])]
    >>> selection_ranking(masks, ["a", "b"]).scores.tolist()
    [1.0, 0.5]
    """
    counts = np.zeros(len(names))
    n_rows = 0
    for mask in masks:
        counts += np.bincount(mask.indices, minlength=len(names))
        n_rows += mask.shape[0]
    return FeatureRanking(names, counts / max(1, n_rows), origin=origin)


def one_row(row: Any) -> Any:
    """What `explain` is given, an array, a sparse one or a row of a frame, as a table of one row."""
    if isinstance(row, pd.Series):
        return row.to_frame().T
    if not sparse.issparse(row) and not hasattr(row, "columns"):
        row = np.asarray(row)
    if len(row.shape) == 1:
        return row.reshape(1, -1)
    if row.shape[0] != 1:
        raise ValueError(f"explain takes one row. Got {row.shape[0]}.")
    return row


def explanation(selector: LazySelector, X: sparse.csr_array) -> pd.DataFrame:
    """The table of `LazySelector.explain` for one checked row."""
    rule = RULES[selector.method]
    graph = selector.graph_
    selection = selector.row_selection()
    present = X[:, selector._columns].toarray().ravel().astype(bool)
    selected = np.zeros(selector.n_features_in_, dtype=bool)
    selected[next(selector.selection_blocks(X)).indices] = True
    selected = selected[selector._columns]
    relevance = np.where(present, selector.relevance_[selector._columns], selector.relevance_absent_[selector._columns])
    considered = (present & rule.positive) | (~present & rule.negative)
    lines = []
    for feature in np.flatnonzero(considered):
        removers = [] if selected[feature] else selection.removers(int(feature), present)
        removers.sort(key=lambda other: (-relevance[other], other))
        removed_by = tuple(graph.names[other] for other in removers)
        lines.append((graph.names[feature], int(present[feature]), relevance[feature], selected[feature], removed_by))
    table = pd.DataFrame(lines, columns=["feature", "value", "relevance", "selected", "removed_by"])
    return table.sort_values(["selected", "relevance"], ascending=False, kind="stable", ignore_index=True)
