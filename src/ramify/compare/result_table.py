"""Tables of results: one row per data set, one column per method."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

_FOLD = re.compile(r"(?:.*[\W_])?(?:cv|fold|split|repeat|repetition|run|seed)s?", re.IGNORECASE)
_NUMBERED = re.compile(rf"{_FOLD.pattern}[\W_]*\d+", re.IGNORECASE)


def check_data_sets(table: Any, *, gaps: bool = False) -> pd.DataFrame:
    """`check_table` for tests over data sets, whose rows must not share training rows or be of one data set."""
    values = check_table(table, gaps=gaps)
    index = values.index
    named = [str(name) for name in index.names if name is not None and _FOLD.fullmatch(str(name))]
    numbered = [str(row) for row in index if _NUMBERED.fullmatch(str(row))]
    named += numbered if len(numbered) > 1 else []
    if named or not index.is_unique:
        what = f"are folds or runs ({named[0]!r})" if named else "name a data set more than once"
        raise ValueError(
            f"Tests over data sets need rows that are independent of each other, and rows of this table {what}: folds "
            "share rows, and most differences that a test over them finds do not exist. Give one row per data set, "
            "such as the mean over its folds, or compare on one data set by ramify.analysis.compare_methods."
        )
    return values


def check_table(table: Any, *, gaps: bool = False) -> pd.DataFrame:
    """Return the table as a frame of finite floats, or say what is wrong with it; with `gaps` NaN is no value."""
    frame = pd.DataFrame(table) if not isinstance(table, pd.DataFrame) else table
    if frame.shape[0] < 2 or frame.shape[1] < 2:
        raise ValueError(
            f"A comparison needs a table of at least 2 data sets (rows) by 2 methods (columns). Got {frame.shape}."
        )
    if not frame.columns.is_unique:
        raise ValueError("Every method must have a name of its own; the table has columns of the same name.")
    try:
        values = frame.astype(np.float64)
    except (ValueError, TypeError):
        raise ValueError("The table must hold numbers only: one row per data set, one column per method.") from None
    missing = np.isnan(values.to_numpy())
    wrong = ~np.isfinite(values.to_numpy()) & ~(missing & gaps)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(
            f"The table has no finite value for {frame.columns[column]!r} on {frame.index[row]!r}; "
            "drop that data set or that method, so that all methods are compared on the same data sets."
        )
    if missing.all(axis=0).any():
        raise ValueError(
            f"The table has no value for {frame.columns[missing.all(axis=0).argmax()]!r}; drop that method."
        )
    values.columns = [str(name) for name in values.columns]
    return values


def rounded_table(table: Any, digits: int | None) -> pd.DataFrame:
    """The checked table, rounded to so many significant digits."""
    values = check_table(table)
    return values if digits is None else values.map(lambda value: float(f"{value:.{digits}g}"))


def rank_methods(table: Any, *, larger_is_better: bool = True, digits: int | None = None) -> pd.DataFrame:
    """Rank of each method on each data set: 1 is best, ties share their average rank.

    Parameters
    ----------
    table : frame or array of shape (n_datasets, n_methods)
        One measure.
    larger_is_better : bool, default=True
        False for losses.
    digits : int, optional
        Round to so many significant digits first, so that differences below that count as ties.

    Examples
    --------
    >>> from ramify.compare.result_table import rank_methods
    >>> rank_methods([[0.9, 0.8, 0.9], [0.5, 0.7, 0.6]]).to_numpy()
    array([[1.5, 3. , 1.5],
           [3. , 1. , 2. ]])
    """
    values = rounded_table(table, digits)
    return values.rank(axis=1, ascending=not larger_is_better, method="average")


def average_ranks(table: Any, *, larger_is_better: bool = True, digits: int | None = None) -> pd.Series:
    """Mean rank of each method over the data sets, 1 is best; parameters as of `rank_methods`.

    Examples
    --------
    >>> from ramify.compare.result_table import average_ranks
    >>> average_ranks([[0.9, 0.8, 0.9], [0.5, 0.7, 0.6]]).tolist()
    [2.25, 2.0, 1.75]
    """
    return rank_methods(table, larger_is_better=larger_is_better, digits=digits).mean(axis=0)


def wins(table: Any, *, larger_is_better: bool = True, digits: int | None = None) -> pd.DataFrame:
    """Number of data sets on which the row's method is better than the column's; parameters as of `rank_methods`.

    Examples
    --------
    >>> from ramify.compare.result_table import wins
    >>> wins([[0.9, 0.8], [0.5, 0.7], [0.6, 0.4]]).to_numpy().tolist()
    [[0, 2], [1, 0]]
    """
    values = rounded_table(table, digits)
    array = values.to_numpy() if larger_is_better else -values.to_numpy()
    counts = (array[:, :, None] > array[:, None, :]).sum(axis=0)
    return pd.DataFrame(counts, index=values.columns, columns=values.columns)
