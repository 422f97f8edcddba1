"""Kernels of Ramify: arrays, integers and seeds in, arrays out. Checks and defaults are in Python.

Forests in five steps::

    table = _core.code_dense(X, n_categories=np.zeros(X.shape[1], np.int32), max_bins=0, n_threads=1)
    forest = _core.grow_labels(table, Y.indptr, Y.indices, label_weights, rows=None, sample_weight=None, seed=0,
        first_tree=0, n_trees=100, max_features=8, bootstrap=True, random_splits=False, max_depth=-1,
        min_samples_split=2, min_samples_leaf=1, min_impurity_decrease=0.0,
        min_weight_fraction_leaf=0.0, n_threads=2, progress=None)
    scores = _core.genie3(forest)
    probabilities = _core.predict(forest, _core.dense_rows(X_test), first_row=0, last_row=len(X_test), n_threads=2)
    same = _core.forest_from_arrays(outcome=forest.outcome, n_outputs=forest.n_outputs, arrays=forest.arrays())

Every argument after the arrays is keyword-only, arrays are never converted (a wrong dtype is a TypeError), the
result is the same for every ``n_threads``, and Ctrl-C stops a call within a tenth of a second.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# Columns of delimited text: numbers where every cell is one, spans of text elsewhere.
def delimited_columns(
    text: np.ndarray,
    *,
    separator: int,
    as_text: np.ndarray,
    missing_text: np.ndarray,
    missing_offsets: np.ndarray,
) -> dict[str, Any]: ...

# Rows of a piece of an ARFF data section: CSR arrays, spans of text and the first fault.
def arff_rows(
    text: np.ndarray,
    *,
    kinds: np.ndarray,
    domain_of: np.ndarray,
    domain_text: np.ndarray,
    value_offsets: np.ndarray,
    domain_offsets: np.ndarray,
    index_base: int,
) -> dict[str, Any]: ...

class FeatureTable:
    """Columns coded by rank, coded once and shared by every forest grown on them. Immutable."""

    n_rows: int
    n_features: int
    n_bytes: int
    n_categories: Array
    """int32 per feature, 0 = numeric."""

    def append(self, other: FeatureTable) -> FeatureTable:
        """Both tables' columns side by side, sharing memory: how chains add label columns."""
    def take(self, features: Array) -> FeatureTable:
        """The columns ``features`` (int64), sharing memory."""

def code_dense(X: Array, *, n_categories: Array, max_bins: int, n_threads: int) -> FeatureTable:
    """Code a float32 or float64 matrix of any strides.

    ``n_categories`` is int32 per column: 0 = numeric, k = nominal with codes 0 .. k - 1 in the cells (k <= 4096).
    NaN is missing. ``max_bins`` = 0 keeps every distinct value, 2 .. 65535 bins by quantiles.
    """

def code_sparse(
    data: Array, indices: Array, indptr: Array, *, n_rows: int, n_categories: Array, max_bins: int, n_threads: int
) -> FeatureTable:
    """Code the columns of a CSC matrix (sorted indices, no duplicates; float32/64 data, int32/64 indices)."""

class Forest:
    """Trees over the same features and outputs. Immutable; sharing makes ``first`` and ``concatenate`` cheap."""

    outcome: str
    """``"labels"``: leaves hold label frequencies. ``"numbers"``: leaves hold means (also of ranks)."""
    n_outputs: int
    n_trees: int
    n_features: int
    n_bytes: int
    n_categories: Array

    def first(self, n_trees: int) -> Forest:
        """The first trees as a forest of their own, sharing memory."""
    def part(self, first_tree: int, last_tree: int) -> Forest:
        """The trees [first_tree, last_tree) as a forest of their own, sharing memory."""
    def arrays(self) -> dict[str, Array]:
        """Everything as flat arrays (copies), tree after tree.

        - ``n_categories`` int32 (n_features,)
        - ``seeds`` uint64 (n_trees,)
        - ``tree_nodes`` int64 (n_trees + 1,): where each tree's nodes begin; node ids below count from there
        - ``feature`` int32: tested feature, -1 in a leaf
        - ``threshold`` float64: numeric values <= threshold go left
        - ``child`` int32: left child, the right one is ``child + 1``; in a leaf its row among the tree's leaves
        - ``subset`` int32: of a nominal test, the subset (counted in the tree) of categories that goes left; else -1
        - ``missing_left`` uint8: 1 if missing values go left
        - ``weight`` float64: weight of the in-bag examples that reach the node
        - ``decrease`` float64: weight * impurity less that of both children
        - ``tree_subsets`` int64 (n_trees + 1,), ``subset_offsets`` int64, ``subset_words`` uint64: bit c = category c
        - ``tree_leaves`` int64 (n_trees + 1,): where each tree's leaves begin
        - labels: ``leaf_offsets`` int64 (n_leaves + 1,) into ``leaf_labels`` int32; ``leaf_partial`` int64
          (n_leaves + 1,) into ``leaf_counts`` float64. A leaf's labels are first those that all its examples have,
          then, as many as it has counts, those that only some have, with their weighted counts. Both parts ascend.
        - numbers: ``leaf_values`` float64 (n_leaves, n_outputs)
        """

def forest_from_arrays(*, outcome: str, n_outputs: int, arrays: dict[str, Array]) -> Forest:
    """The inverse of ``Forest.arrays``; every invariant is checked first, a ValueError names the broken one."""

def concatenate(forests: Sequence[Forest]) -> Forest:
    """The trees of all forests in order: blocks [a, b) and [b, c) give the bits of [a, c)."""

def grow_labels(
    table: FeatureTable,
    indptr: Array,
    indices: Array,
    label_weights: Array,
    *,
    rows: Array | None,
    sample_weight: Array | None,
    seed: int,
    first_tree: int,
    n_trees: int,
    max_features: int,
    bootstrap: bool,
    random_splits: bool,
    max_depth: int,
    min_samples_split: int,
    min_samples_leaf: int,
    min_impurity_decrease: float,
    min_weight_fraction_leaf: float,
    n_threads: int,
    progress: Callable[[int], None] | None,
) -> Forest:
    """Grow trees for label sets or classes; impurity sum of w p (1 - p).

    ``indptr`` int64 (n + 1,), ``indices`` int32 ascending within a row: the labels of each row of the table.
    ``label_weights`` float64 (n_labels,). ``rows`` int64: only these rows take part (None = all).
    ``sample_weight`` float64 (n_rows,); rows of weight 0 take no part. ``max_depth`` < 0 = no limit.
    ``progress`` is called with the number of finished trees about every 100 ms.
    """

def grow_numbers(
    table: FeatureTable,
    values: Array,
    target_weights: Array,
    *,
    rows: Array | None,
    sample_weight: Array | None,
    seed: int,
    first_tree: int,
    n_trees: int,
    max_features: int,
    bootstrap: bool,
    random_splits: bool,
    max_depth: int,
    min_samples_split: int,
    min_samples_leaf: int,
    min_impurity_decrease: float,
    min_weight_fraction_leaf: float,
    n_threads: int,
    progress: Callable[[int], None] | None,
) -> Forest:
    """Grow trees for numbers (float64, C order, n x T, standardised by the caller); impurity sum of w Var."""

class FeatureRows:
    """Rows to send through trees. Keeps its arrays alive, copies nothing."""

    n_rows: int
    n_features: int

def dense_rows(X: Array) -> FeatureRows:
    """Rows of a float32 or float64 matrix of any strides."""

def csr_rows(data: Array, indices: Array, indptr: Array, *, n_features: int) -> FeatureRows:
    """Rows of a CSR matrix (float32/64 data, int32/64 indices)."""

def table_rows(table: FeatureTable) -> FeatureRows:
    """The coded rows themselves: for out-of-bag work without the original matrix."""

def predict(forest: Forest, rows: FeatureRows, *, first_row: int, last_row: int, n_threads: int) -> Array:
    """Mean over trees for rows [first_row, last_row): float64 (rows, n_outputs)."""

def predict_sparse(
    forest: Forest, rows: FeatureRows, *, threshold: float, first_row: int, last_row: int, n_threads: int
) -> tuple[Array, Array, Array]:
    """As ``predict`` for labels, keeping probabilities > 0 and >= threshold: CSR (data, indices, indptr)."""

def apply(forest: Forest, rows: FeatureRows, *, n_threads: int) -> Array:
    """The leaf that each row reaches: int32 (n_rows, n_trees), node ids within the tree."""

def predict_oob(
    forest: Forest,
    rows: FeatureRows,
    *,
    bag_rows: Array | None,
    sample_weight: Array | None,
    first_row: int,
    last_row: int,
    n_threads: int,
) -> tuple[Array, Array]:
    """Mean over the trees whose bag lacks the row (NaN where none) and how many those are (int32).

    ``rows`` are the training rows, ``bag_rows`` and ``sample_weight`` the ``rows`` and ``sample_weight`` of growing.
    """

def contributions(forest: Forest, rows: FeatureRows, *, output: int, n_threads: int) -> tuple[Array, float]:
    """What each feature added to the prediction of one output: (n_rows, n_features) and the mean of the roots.

    Row sum + the mean of the roots is the prediction.
    """

def symbolic(forest: Forest) -> Array:
    """Mean over trees of the share of examples that reach the nodes that test a feature."""

def genie3(forest: Forest) -> Array:
    """Mean over trees of decrease / weight of the root, per feature."""

def genie3_per_output(forest: Forest, *, output_weights: Array, n_threads: int) -> tuple[Array, Array, Array]:
    """The same per output: CSR (data, indices int32, indptr int64) of features x outputs; rows sum to ``genie3``."""

def genie3_oob(
    forest: Forest,
    rows: FeatureRows,
    indptr: Array,
    indices: Array,
    *,
    output_weights: Array,
    bag_rows: Array | None,
    sample_weight: Array | None,
    n_threads: int,
) -> tuple[Array, Array, Array]:
    """As ``genie3_per_output`` with the gains of the same splits on out-of-bag examples (may be negative)."""

def genie3_oob_numbers(
    forest: Forest,
    rows: FeatureRows,
    values: Array,
    *,
    target_weights: Array,
    bag_rows: Array | None,
    sample_weight: Array | None,
    n_threads: int,
) -> Array:
    """As ``genie3_oob`` for numbers (float64, C order, as they were grown on): dense (n_features, n_targets)."""

def permutation_labels(
    forest: Forest,
    table: FeatureTable,
    indptr: Array,
    indices: Array,
    *,
    error: str,
    per_label: bool,
    bag_rows: Array | None,
    sample_weight: Array | None,
    n_threads: int,
    progress: Callable[[int], None] | None,
) -> tuple[Array, tuple[Array, Array, Array]]:
    """Random Forest score per feature: mean over trees of (err permuted - err) / err on out-of-bag rows.

    ``error`` is ``"auprc"`` (1 - pooled AUPRC) or ``"misclassification"`` (one label per row). With ``per_label`` also
    the mean over trees of the increase of the Brier score: CSR (data, indices, indptr), features x labels; else empty.
    """

def permutation_numbers(
    forest: Forest,
    table: FeatureTable,
    values: Array,
    *,
    target_weights: Array,
    per_target: bool,
    bag_rows: Array | None,
    sample_weight: Array | None,
    n_threads: int,
    progress: Callable[[int], None] | None,
) -> tuple[Array, tuple[Array, Array, Array]]:
    """As ``permutation_labels`` with the weighted mean squared error, and per target the increase of its own."""

def grow_rankings(
    table: FeatureTable,
    signs: Array,
    compared: Array | None,
    vectors: Array,
    kinds: Array,
    *,
    n_labels: int,
    square: float,
    criterion: str,
    gamma: float,
    rows: Array | None,
    sample_weight: Array | None,
    seed: int,
    first_tree: int,
    n_trees: int,
    max_features: int,
    bootstrap: bool,
    random_splits: bool,
    max_depth: int,
    min_samples_split: int,
    min_samples_leaf: int,
    min_impurity_decrease: float,
    min_weight_fraction_leaf: float,
    n_threads: int,
    progress: Callable[[int], Any] | None,
) -> Forest:
    """Grow trees for rankings; leaves hold the mean sign of each label pair (outcome ``"numbers"``).

    ``signs`` int8 and ``compared`` uint8 are rows x label pairs, ``vectors`` float64 has rows of squared length
    ``square`` whose inner products the criterion ("correlation", "entropy" or "mallows") correlates, ``kinds`` int32
    numbers the distinct rankings.
    """

def sum_rankings(
    forest: Forest,
    rows: FeatureRows,
    *,
    n_labels: int,
    as_signs: bool,
    out_of_bag: bool,
    sample_weight: Array | None,
    n_threads: int,
) -> tuple[Array, Array]:
    """Sums over trees of the leaves' rankings (rows x labels) or signs (rows x pairs), and numbers of trees."""

def leaf_rankings(forest: Forest, *, tree: int, n_labels: int) -> Array:
    """The ranking of each leaf of a tree, ties sharing their mean rank."""

def permutation_rankings(
    forest: Forest,
    table: FeatureTable,
    signs: Array,
    compared: Array | None,
    vectors: Array,
    kinds: Array,
    *,
    n_labels: int,
    sample_weight: Array | None,
    n_threads: int,
    progress: Callable[[int], Any] | None,
) -> tuple[Array, Array]:
    """Mean over trees of the relative increase of 1 - tau-b, per feature, and of that of the Brier score per pair."""

class Differences:
    """How feature values differ, and how differences sum to a distance."""

    def __init__(
        self,
        *,
        nominal: Array,
        low: Array,
        range: Array,
        n_values: Array,
        equal_below: float,
        different_above: float,
        squared: bool,
        weights: Array,
    ) -> None: ...
    def set_table(self, feature: int, table: Array) -> None:
        """Differences of the values 0 .. n - 1 of a nominal feature (float64, n x n), in place of 0 and 1."""
    def between(self, feature: int, a: float, b: float) -> float:
        """Difference of two values of a feature; NaN is missing."""

class SparseMatrix:
    """The CSR and CSC arrays of one matrix; int32 indices that ascend, int64 offsets."""

    def __init__(
        self,
        *,
        row_values: Array,
        row_features: Array,
        row_offsets: Array,
        column_values: Array,
        column_rows: Array,
        column_offsets: Array,
    ) -> None: ...

def nearest_dense(
    rows: Array,
    queries: Array,
    *,
    differences: Differences,
    own_rows: Array,
    groups: Array,
    n_groups: int,
    n_neighbours: int,
    n_threads: int,
    progress: Callable[[int], None] | None,
) -> Array:
    """Nearest rows of each query and group, nearest first, ties by row: (queries, groups, neighbours), -1 = none.

    ``rows`` and ``queries`` are float64 in C order, ``own_rows`` int64 (a query's own row, or -1), ``groups`` int32.
    """

def nearest_sparse(
    rows: SparseMatrix,
    queries: SparseMatrix,
    *,
    differences: Differences,
    own_rows: Array,
    groups: Array,
    n_groups: int,
    n_neighbours: int,
    n_threads: int,
    progress: Callable[[int], None] | None,
) -> Array:
    """As ``nearest_dense``, for sparse rows."""

def difference_sums_dense(
    X: Array,
    *,
    differences: Differences,
    first: Array,
    second: Array,
    offsets: Array,
    columns: Array,
    coefficients: Array,
    n_columns: int,
    n_threads: int,
) -> Array:
    """Sum over pairs of rows of coefficient * difference: float64 (n_features, n_columns); ``X`` in Fortran order."""

def difference_sums_sparse(
    X: SparseMatrix,
    *,
    differences: Differences,
    first: Array,
    second: Array,
    offsets: Array,
    columns: Array,
    coefficients: Array,
    n_columns: int,
    n_threads: int,
) -> Array:
    """As ``difference_sums_dense``, for sparse rows."""
