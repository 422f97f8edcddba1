"""Explanation: what each feature added to predictions (Shapley values), and how forests make one."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify.ensemble.growing import feature_rows
from ramify.features import apply_features, feature_names
from ramify.parameters import check_integer, worker_count

_SHOWN = 10
"""Contributions that a notebook lists."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """What each feature added to each prediction; with the base value it adds up to the prediction.

    One label has values of shape (rows, features), several (rows, features, labels). Where each row has labels of its
    own, or only the top features are kept, the values are sparse with one line per (row, label): `rows` and `labels`
    say which. One label, and one row of it (`of`), are what the plots of the `shap` package take as they are.

    Attributes
    ----------
    values : array, or CSR of shape (n_lines, n_features)
        Shapley values.
    base_values : array
        What a prediction starts from, per row (line) and label.
    data : array or CSR of shape (n_samples, n_features)
        The rows that are explained.
    feature_names, label_names : tuple of str
        Names of the features and of the labels explained.
    rows, labels : int array of shape (n_lines,) or None
        Row of `data` and label in `label_names` of each line, if values are sparse.

    Examples
    --------
    >>> from ramify import ForestClassifier
    >>> X, y = [[0, 5], [1, 5], [2, 5], [3, 5]], ["no", "no", "yes", "yes"]
    >>> forest = ForestClassifier(10, bootstrap=False, random_state=0).fit(X, y)
    >>> forest.shap_values([[3, 5]], labels="yes").to_frame().values.tolist()
    [[0, 'yes', 'x0', 3, 0.5]]
    """

    values: Any
    base_values: NDArray[np.float64]
    data: Any
    feature_names: tuple[str, ...]
    label_names: tuple[str, ...]
    rows: NDArray[np.int64] | None = None
    labels: NDArray[np.int64] | None = None

    @property
    def output_names(self) -> list[str]:
        """`label_names`, as the `shap` package calls them."""
        return list(self.label_names)

    @property
    def predictions(self) -> NDArray[np.float64]:
        """What base and values add up to; where only top features are kept, of those."""
        return self.base_values + np.asarray(self.values.sum(axis=1)).reshape(np.shape(self.base_values))

    def of(self, row: int, label: str | None = None) -> Explanation:
        """One row and one label, with values of shape (features,).

        Parameters
        ----------
        row : int
            Row of `data`.
        label : str or None, default=None
            Name in `label_names`; None where there is only one.
        """
        column = self._column(label)
        data = self.data[[row]].toarray()[0] if sparse.issparse(self.data) else self.data[row]
        if self.rows is not None and self.labels is not None:
            places = np.flatnonzero((self.rows == row) & (self.labels == column))
            if not len(places):
                raise ValueError(f"Label {self.label_names[column]!r} of row {row} is not among those explained.")
            values, base = self.values[[places[0]]].toarray()[0], self.base_values[places[0]]
        else:
            values, base = self._matrix(column)[row], self.base_values.reshape(len(self.values), -1)[row, column]
        return Explanation(values, base, data, self.feature_names, (self.label_names[column],))

    def label(self, name: str) -> Explanation:
        """All rows of one label, with values of shape (rows, features)."""
        column = self._column(name)
        if self.labels is not None and self.rows is not None:
            lines = np.flatnonzero(self.labels == column)
            values, data = self.values[lines].toarray(), self.data[self.rows[lines]]
            base = self.base_values[lines]
        else:
            values, data = self._matrix(column), self.data
            base = self.base_values.reshape(len(self.values), -1)[:, column]
        return Explanation(values, base, data, self.feature_names, (self.label_names[column],))

    def to_frame(self) -> pd.DataFrame:
        """One line per row, label and feature that added something, the largest of each prediction first."""
        if self.rows is not None and self.labels is not None:
            lines = sparse.coo_array(self.values)
            line, feature = lines.coords
            row, column, added = self.rows[line], self.labels[line], lines.data
        else:
            cube = np.reshape(self.values, (-1, len(self.feature_names), len(self.label_names)))
            row, feature, column = np.nonzero(cube)
            added = cube[row, feature, column]
        order = np.lexsort((-np.abs(added), column, row))
        row, column, feature, added = row[order], column[order], feature[order], added[order]
        data = self.data.reshape(1, -1) if np.ndim(self.data) == 1 else self.data
        cells = np.asarray(data[row, feature]).ravel() if len(row) else np.zeros(0)
        return pd.DataFrame(
            {
                "row": row,
                "label": pd.Series([self.label_names[j] for j in column], dtype=object),
                "feature": pd.Series([self.feature_names[j] for j in feature], dtype=object),
                "value": cells,
                "contribution": added,
            }
        )

    def _repr_html_(self) -> str:
        from ramify.notebook import html_table

        frame = self.to_frame()
        lines = frame.head(_SHOWN).itertuples(index=False, name=None)
        more = f", the first {_SHOWN}" if len(frame) > _SHOWN else ""
        caption = f"{len(frame):,} contributions of features to predictions{more}"
        return html_table(caption, list(frame.columns), lines)

    def to_shap(self) -> Any:
        """The same as `shap.Explanation`; the `shap` package must be installed."""
        import shap

        values = self.values.toarray() if sparse.issparse(self.values) else self.values
        data = self.data if self.rows is None else self.data[self.rows]
        return shap.Explanation(
            values=values,
            base_values=self.base_values,
            data=data.toarray() if sparse.issparse(data) else data,
            feature_names=list(self.feature_names),
            output_names=None if len(self.label_names) == 1 or self.rows is not None else self.output_names,
        )

    # Plots of the shap package insist on its own class and use more of it than the attributes above. Where it has been
    # imported, an explanation says that it is one of that class and lets one of that class answer; nothing here
    # imports it.

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        shap = sys.modules.get("shap")
        return type(self) if shap is None else shap.Explanation

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "shap" not in sys.modules:
            raise AttributeError(f"An Explanation has no attribute {name!r}.")
        return getattr(self.to_shap(), name)

    def __getitem__(self, item: Any) -> Any:
        return self.to_shap()[item]

    def __len__(self) -> int:
        return int(self.values.shape[0])

    def __reduce__(self) -> Any:
        return Explanation, tuple(getattr(self, field.name) for field in fields(Explanation))

    def _matrix(self, column: int) -> NDArray[np.float64]:
        return self.values if self.values.ndim == 2 else self.values[:, :, column]

    def _column(self, name: str | None) -> int:
        if name is None and len(self.label_names) == 1:
            return 0
        if name not in self.label_names:
            raise ValueError(
                f"There is no label {name!r} in this explanation of {len(self.label_names)} labels, "
                f"from {self.label_names[0]!r} to {self.label_names[-1]!r}; label_names lists them."
            )
        return self.label_names.index(name)


class Output(NamedTuple):
    """An output of the trees that a user can name, and how it becomes what the forest predicts."""

    place: int
    name: str
    factor: float = 1.0
    offset: float = 0.0


def explain(forest: Any, X: Any, *, labels: Any, background: Any, top: int | None) -> Explanation:
    """Shapley values of a fitted forest; see `shap_values`."""
    features = apply_features(forest, X)
    if top is not None:
        check_integer(f"{type(forest).__name__}.shap_values", "top", top, low=1)
    rows = feature_rows(features)
    behind = None if background is None else feature_rows(apply_features(forest, background))
    data = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
    options = {"background": behind, "n_threads": worker_count(forest.n_jobs)}
    if isinstance(labels, str) and labels == "predicted":
        if not hasattr(forest, "_predicted_outputs"):
            raise ValueError(
                f"labels='predicted' is for classes and label sets; {type(forest).__name__} predicts all of its "
                "outputs. Name some, or give labels=None and top=."
            )
        wanted = forest._predicted_outputs(X)
        outputs = [forest._output(j) for j in range(forest.trees_.n_outputs)]
        return _of_own_labels(forest, rows, behind, data, outputs, wanted, top, options)
    groups = _groups(forest, labels)
    if top is not None:
        if isinstance(labels, Mapping):
            raise ValueError("top= is for single labels; sums of labels come with the values of all features.")
        outputs = [group[0] for _, group in groups]
        index = np.array([output.place for output in outputs], dtype=np.int32)
        n_rows = rows.n_rows
        wanted = sparse.csr_array(
            (
                np.ones(n_rows * len(index), np.int8),
                np.tile(index, n_rows),
                np.arange(0, n_rows * len(index) + 1, len(index)),
            ),
            shape=(n_rows, forest.trees_.n_outputs),
        )
        return _of_own_labels(forest, rows, behind, data, outputs, wanted, top, options)
    return _of_all_rows(forest, rows, behind, data, groups, options, squeeze=isinstance(labels, str))


def _groups(forest: Any, labels: Any) -> list[tuple[str, list[Output]]]:
    """Names of what is explained, each with the outputs that it sums."""
    if labels is None:
        every = [forest._output(j) for j in range(forest.trees_.n_outputs)]
        return [(output.name, [output]) for output in every]
    if isinstance(labels, Mapping):
        groups = [(str(name), [forest._output(label) for label in members]) for name, members in labels.items()]
        empty = [name for name, members in groups if not members]
        if empty:
            raise ValueError(f"The sum {empty[0]!r} has no labels.")
    else:
        listed = [labels] if isinstance(labels, str) or not np.iterable(labels) else list(labels)
        named = [forest._output(label) for label in listed]
        groups = [(output.name, [output]) for output in named]
    if not groups:
        raise ValueError("labels must name at least one label; None explains all.")
    return groups


def _of_all_rows(
    forest: Any,
    rows: _core.FeatureRows,
    behind: _core.FeatureRows | None,
    data: Any,
    groups: list[tuple[str, list[Output]]],
    options: dict[str, Any],
    *,
    squeeze: bool,
) -> Explanation:
    terms = [(output.place, column, output.factor) for column, (_, outputs) in enumerate(groups) for output in outputs]
    index, column, factor = (np.array(part) for part in zip(*terms, strict=True))
    shape = (forest.trees_.n_outputs, len(groups))
    mixture = sparse.csr_array((factor.astype(np.float64), (index, column)), shape=shape)
    arrays = {
        "offsets": mixture.indptr.astype(np.int64),
        "columns": mixture.indices.astype(np.int32),
        "factors": mixture.data,
        "n_columns": len(groups),
    }
    try:
        values = _core.shapley(forest.trees_, rows, **arrays, **options)
    except MemoryError:
        raise MemoryError(
            f"The values of {rows.n_rows} rows, {rows.n_features} features and {len(groups)} labels do not fit in "
            "memory: name labels, or keep the top features by top=, which is sparse."
        ) from None
    if behind is None:
        base = _core.shapley_base(forest.trees_, **arrays)
    else:
        base = forest._mean_of_trees(behind).mean(axis=0) @ mixture
    base = base + np.array([sum(output.offset for output in outputs) for _, outputs in groups])
    base_values = np.tile(base, (rows.n_rows, 1))
    names = tuple(name for name, _ in groups)
    if squeeze:
        values, base_values = values[:, :, 0], base_values[:, 0]
    return Explanation(values, base_values, data, feature_names(forest), names)


def _of_own_labels(
    forest: Any,
    rows: _core.FeatureRows,
    behind: _core.FeatureRows | None,
    data: Any,
    outputs: list[Output],
    wanted: sparse.csr_array,
    top: int | None,
    options: dict[str, Any],
) -> Explanation:
    values, indices, indptr = _core.shapley(
        forest.trees_,
        rows,
        indptr=wanted.indptr.astype(np.int64),
        outputs=wanted.indices.astype(np.int32),
        top=top or 0,
        **options,
    )
    place = np.zeros(forest.trees_.n_outputs, dtype=np.int64)
    place[[output.place for output in outputs]] = np.arange(len(outputs))
    labels = place[wanted.indices]
    factors = np.array([output.factor for output in outputs])[labels]
    lines = sparse.csr_array((values, indices, indptr), shape=(len(labels), rows.n_features))
    lines.data *= np.repeat(factors, np.diff(indptr))
    if behind is None:
        n_outputs = forest.trees_.n_outputs
        base = _core.shapley_base(
            forest.trees_,
            offsets=np.arange(n_outputs + 1, dtype=np.int64),
            columns=np.arange(n_outputs, dtype=np.int32),
            factors=np.ones(n_outputs),
            n_columns=n_outputs,
        )
    else:
        base = forest._mean_of_trees(behind).mean(axis=0)
    offsets = np.array([output.offset for output in outputs])[labels]
    line_rows = np.repeat(np.arange(rows.n_rows), np.diff(wanted.indptr))
    names = tuple(output.name for output in outputs)
    base_values = base[wanted.indices] * factors + offsets
    return Explanation(lines, base_values, data, feature_names(forest), names, line_rows, labels)
