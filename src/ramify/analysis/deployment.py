"""Rows that come after fit: columns matched by name, and what differs from the rows that a model has learnt from."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ramify.analysis.model_data import lacking_features, model_features
from ramify.datasets import Dataset
from ramify.features import apply_features, unseen_values_allowed
from ramify.features.categories import codes_of, unseen_values
from ramify.features.coded_table import CodedTable
from ramify.features.frames import column_names, columns_of_table
from ramify.state import N_SUMMARY

if TYPE_CHECKING:
    import pandas as pd

_SHIFT = 0.1
"""A column has drifted if its distribution moved by more than this, and by more than chance explains."""

_CHANCE = 1.36
"""Kolmogorov's limit: by chance, a share of n rows moves by more than this over the root of n one time in twenty."""

_LISTED = 5

_MOST_COLUMNS = 50_000
"""So many columns a model remembers; of more, each says little and all would weigh megabytes."""

_BLOCK_CELLS = 4_000_000
"""Columns of a sparse matrix are looked at in dense blocks of about so many cells."""


@dataclass(frozen=True, eq=False)
class NewRows:
    """Rows for a model, in its own columns, and what differs from the rows that it has learnt from.

    Attributes
    ----------
    X : frame, array or sparse matrix
        The model's columns in its order, for `predict`.
    lacking : tuple of str
        Columns that were not there and are filled with missing values.
    unused : tuple of str
        Columns that the model does not know.
    unseen : mapping of str to dict
        By nominal column, the values that fit did not see with the number of their rows; they count as missing.
    drifted : frame
        By column whose distribution moved: `shift`, the largest difference of the shares below a value, `outside`, the
        share of rows beyond the smallest and largest value at fit, and `missing`, the growth of the share of missing
        values. None where the model does not remember its columns: `fit_model` and `ramify fit` make it do so.
    """

    X: Any
    lacking: tuple[str, ...]
    unused: tuple[str, ...]
    unseen: Mapping[str, Mapping[str, int]]
    drifted: pd.DataFrame | None

    def sentences(self) -> list[str]:
        """What people must know, a sentence each; nothing where all is as it was at fit."""
        sentences = []
        if self.lacking:
            sentences.append(f"Columns not there, filled with missing values: {_listed(self.lacking)}.")
        for name, values in list(self.unseen.items())[:_LISTED]:
            shown = _listed([f"{value!r} ({n} rows)" for value, n in values.items()])
            sentences.append(f"Values of {name!r} that the model has not seen, taken as missing: {shown}.")
        if len(self.unseen) > _LISTED:
            sentences.append(f"{len(self.unseen) - _LISTED} more columns have values that the model has not seen.")
        if self.drifted is not None and len(self.drifted):
            sentences.append(
                f"Columns unlike those at fit: {_listed([_moved(row) for row in self.drifted.itertuples()])}."
            )
        return sentences


def new_rows(model: Any, X: Any, *, fill: bool = False) -> NewRows:
    """Match new rows with the columns of a model, and say what differs from the rows that it has learnt from.

    Parameters
    ----------
    model : estimator
        Fitted to a frame, or by `fit_model`.
    X : frame or Dataset
        New rows; columns may stand in any order, and there may be more than the model knows.
    fill : bool, default=False
        Whether columns that are not there are filled with missing values; otherwise they are refused.

    Examples
    --------
    >>> import pandas as pd
    >>> from ramify import ForestClassifier
    >>> from ramify.analysis import new_rows
    >>> X = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "colour": ["red", "blue", "red", "blue"]})
    >>> forest = ForestClassifier(5, random_state=0).fit(X, ["a", "b", "a", "b"])
    >>> found = new_rows(forest, pd.DataFrame({"id": [7], "colour": ["green"]}), fill=True)
    >>> found.lacking, found.unused, found.unseen
    (('size',), ('id',), {'colour': {'green': 1}})
    """
    learnt = [str(name) for name in getattr(model, "feature_names_in_", ())]
    names = list(X.feature_names) if isinstance(X, Dataset) else list(column_names(X))
    lacking = lacking_features(model, names)
    if lacking and not fill:
        raise ValueError(
            f"The data lacks {len(lacking)} of the model's {len(learnt)} features, the first is {lacking[0]!r}. Give "
            "the columns that fit was given, or have them filled with missing values (fill=True, or --fill)."
        )
    if learnt and len(lacking) == len(learnt):
        raise ValueError(f"The data has none of the model's {len(learnt)} features, such as {learnt[0]!r}.")
    if isinstance(X, Dataset) and isinstance(X.X, CodedTable):
        return NewRows(X.X, (), (), {}, None)
    model = _encoder(model)
    matched = _matched(model, X, learnt, lacking)
    present = [place for place, name in enumerate(learnt) if name not in set(lacking)] if lacking else None
    unseen = _unseen(model, matched, learnt)
    drifted = _drifted(model, matched, learnt or names, present)
    unused = tuple(name for name in names if name not in set(learnt)) if learnt else ()
    return NewRows(matched, tuple(lacking), unused, unseen, drifted)


def remember_columns(model: Any, X: Any) -> None:
    """Let a model keep the deciles and the share of missing values of each column, so that drift is seen later."""
    model = _encoder(model)
    if not hasattr(model, "categories_") or isinstance(X, CodedTable):
        return
    with unseen_values_allowed():
        values = apply_features(model, X).values
    if values.shape[0] and values.shape[1] <= _MOST_COLUMNS:
        model.feature_summary_ = column_summary(values)


def _encoder(model: Any) -> Any:
    """Who encodes the features: the model itself, or the forest inside one that calibrates it."""
    return model if hasattr(model, "categories_") else getattr(model, "estimator_", model)


def column_summary(values: Any) -> np.ndarray:
    """Deciles of each column, from the smallest value to the largest, and the share of missing cells.

    What a sparse matrix does not store is zero.
    """
    n_rows, n_columns = values.shape
    summary = np.full((n_columns, N_SUMMARY), np.nan)
    shares = np.linspace(0, 1, N_SUMMARY - 1)
    for column, cells in enumerate(_columns(values)):
        cells.sort()  # NaN comes last
        n_known = n_rows - int(np.count_nonzero(np.isnan(cells)))
        summary[column, -1] = 1 - n_known / n_rows
        if n_known:
            summary[column, :-1] = cells[np.rint(shares * (n_known - 1)).astype(int)]
    return summary


def _columns(values: Any) -> Iterator[np.ndarray]:
    """Each column as an array of its own."""
    n_rows, n_columns = values.shape
    step = max(1, _BLOCK_CELLS // max(1, n_rows))
    by_column = sparse.csc_array(values) if sparse.issparse(values) else values
    for start in range(0, n_columns, step):
        block = by_column[:, start : start + step]
        block = block.toarray() if sparse.issparse(block) else block
        yield from (np.array(column, dtype=np.float64) for column in block.T)


def shift_from(deciles: np.ndarray, cells: np.ndarray) -> float:
    """How far the shares of cells below the deciles are from what they were, at most; 0 where all could be the same."""
    ordered = np.sort(cells)
    expected = np.linspace(0, 1, len(deciles))
    below = np.searchsorted(ordered, deciles, side="left") / len(cells)
    up_to = np.searchsorted(ordered, deciles, side="right") / len(cells)
    return float(np.maximum(0, np.maximum(below - expected, expected - up_to)).max())


def _matched(model: Any, X: Any, learnt: list[str], lacking: list[str]) -> Any:
    """The model's columns in its order, those that are not there filled with missing values."""
    import pandas as pd

    features = X
    if isinstance(X, Dataset):
        has_values = any(values is not None for values in getattr(model, "categories_", ()))
        features = X.to_frame() if has_values else model_features(X)
        if sparse.issparse(features) and lacking:
            features = X.to_frame()
    if not learnt:
        return features
    if sparse.issparse(features):
        position = {name: column for column, name in enumerate(X.feature_names)}
        return features[:, [position[name] for name in learnt]]
    if not hasattr(features, "columns"):
        return features
    if lacking:
        features = features.to_pandas() if hasattr(features, "get_columns") else features
        categories = getattr(model, "categories_", [None] * len(learnt))
        nominal = {name for name, values in zip(learnt, categories, strict=True) if values is not None}
        empty = {
            name: pd.Series([None if name in nominal else np.nan] * len(features), index=features.index,
                            dtype=object if name in nominal else float)
            for name in lacking
        }  # fmt: skip
        features = pd.concat([features, pd.DataFrame(empty, index=features.index)], axis=1)
    return features[learnt]


def _unseen(model: Any, X: Any, learnt: list[str]) -> dict[str, dict[str, int]]:
    """Values of nominal columns that fit did not see."""
    categories = getattr(model, "categories_", ())
    if sparse.issparse(X) or all(values is None for values in categories):
        return {}
    unseen = {}
    for at, (column, values) in enumerate(zip(columns_of_table(X), categories, strict=True)):
        if values is not None:
            others = Counter(unseen_values(column, codes_of(column, values)))
            if others:
                unseen[learnt[at] if learnt else f"x{at}"] = dict(others.most_common())
    return unseen


def _drifted(model: Any, X: Any, names: list[str], present: list[int] | None) -> pd.DataFrame | None:
    """The columns whose distribution moved, most moved first."""
    import pandas as pd

    summary = getattr(model, "feature_summary_", None)
    if summary is None:
        return None
    with unseen_values_allowed(), warnings.catch_warnings():
        # A sparse matrix has no names; its columns were matched by those of the data.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        values = apply_features(model, X).values
    n_rows = max(1, values.shape[0])
    chance = _CHANCE / np.sqrt(n_rows)
    there = None if present is None else set(present)
    rows = {}
    for at, cells in enumerate(_columns(values)):
        if there is not None and at not in there:
            continue
        deciles, was_missing = summary[at, :-1], summary[at, -1]
        known = cells[~np.isnan(cells)]
        more_missing = 1 - len(known) / n_rows - was_missing
        shift = outside = 0.0
        if len(known) and not np.isnan(deciles).any():
            shift = shift_from(deciles, known)
            outside = float(np.mean((known < deciles[0]) | (known > deciles[-1])))
        limit = _SHIFT + _CHANCE / np.sqrt(max(1, len(known)))
        if shift > limit or abs(more_missing) > _SHIFT + chance:
            rows[names[at]] = {"shift": shift, "outside": outside, "missing": more_missing}
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["shift", "outside", "missing"])
    largest = table[["shift", "missing"]].abs().max(axis=1)
    return table.loc[largest.sort_values(ascending=False, kind="stable").index]


def _moved(row: Any) -> str:
    """A column and how it differs."""
    parts = []
    if row.shift > _SHIFT:
        parts.append(f"shares moved by {100 * row.shift:.0f} %")
    if row.outside > 0.005:
        parts.append(f"{100 * row.outside:.0f} % of the values beyond those at fit")
    if abs(row.missing) > _SHIFT:
        parts.append(f"{100 * abs(row.missing):.0f} % {'more' if row.missing > 0 else 'fewer'} missing values")
    return f"{row.Index} ({', '.join(parts)})"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(str(name) for name in names[:_LISTED])
    return f"{shown} and {len(names) - _LISTED} more" if len(names) > _LISTED else shown
