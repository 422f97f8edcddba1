"""Splits of a study's data sets: the same rows for every method, whoever asks and however often."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, StratifiedGroupKFold, StratifiedKFold

from ramify.chains import IterativeStratification
from ramify.datasets import Dataset

Splits = Any


def seeded(splits: Splits, seed: int) -> Splits:
    """The splits, with the study's seed where they would be drawn anew each time."""
    if getattr(splits, "random_state", 0) is not None or not getattr(splits, "shuffle", True):
        return splits
    drawn = copy.deepcopy(splits)
    drawn.random_state = seed % 2**32
    return drawn


def n_splits(splits: Splits) -> int:
    """Number of splits, known before any data is read."""
    if isinstance(splits, str) and splits == "parts":
        return 1
    if isinstance(splits, int) and not isinstance(splits, bool):
        return splits
    if hasattr(splits, "get_n_splits"):
        return int(splits.get_n_splits())
    raise TypeError("splits must be a number of folds, 'parts' (train + valid against test) or a splitter.")


def split_dataset(data: Dataset, splits: Splits, number: int, seed: int) -> tuple[Dataset, Dataset]:
    """Training and test rows of one split; rows of weight zero are as if they were not there."""
    if isinstance(splits, str):
        training = [name for name in data.parts if name != "test"]
        if not training or "test" not in data.parts:
            raise ValueError(f"splits='parts' needs a train and a test part; this data set has {sorted(data.parts)}.")
        return _weighted(data.part(*training)), _weighted(data.part("test"))
    fixed = isinstance(splits, PredefinedSplit)
    if fixed and len(splits.test_fold) != data.n_samples:
        raise ValueError(f"The PredefinedSplit has {len(splits.test_fold)} rows and the data set {data.n_samples}.")
    counted = data if fixed else _weighted(data)
    train, test = _indices(counted, splits, seed)[number]
    return _weighted(counted.rows(train)), _weighted(counted.rows(test))


def _indices(data: Dataset, splits: Splits, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    if isinstance(splits, int):
        splits = folds_of(data, splits, seed)
    first, second = (_drawn(data, splits) for _ in range(2))
    same = all(np.array_equal(a, b) for pair in zip(first, second, strict=True) for a, b in zip(*pair, strict=True))
    if not same:
        raise ValueError(
            f"{type(splits).__name__} gives other rows each time it is asked, so the methods would not share their "
            "splits; give it a seed (random_state=0)."
        )
    return first


def _drawn(data: Dataset, splitter: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    # Splitters of scikit-learn only look at the number of rows of X. A copy, because a RandomState moves on.
    with warnings.catch_warnings():  # a splitter that ignores groups is refused where it divides one
        warnings.filterwarnings("ignore", "The groups parameter is ignored")
        told = (data.y,) if data.row_groups is None else (data.y, data.row_groups)  # some splitters know no groups
        pairs = list(copy.deepcopy(splitter).split(np.zeros((data.n_samples, 1)), *told))
    groups = np.arange(data.n_samples) if data.row_groups is None else data.row_groups
    for train, test in pairs if data.row_groups is not None else ():
        if np.isin(groups[test], groups[train]).any():
            raise ValueError(
                f"{type(splitter).__name__} divides groups of rows, so that a row is judged by others of its group. "
                "Take a number of folds, or a splitter that keeps groups together, such as GroupKFold."
            )
    return [(np.asarray(train), np.asarray(test)) for train, test in pairs]


def folds_of(data: Dataset, n_folds: int, seed: int) -> Splits:
    """A splitter into shuffled folds: stratified for classes, and never dividing a group of rows.

    Where rows belong together, label sets are stratified as well, so that rare labels are in every fold. Give
    `data.row_groups` as `groups` to `split`.

    Parameters
    ----------
    data : Dataset
        The data set.
    n_folds, seed : int
        Number of folds, and the seed of their order.

    Examples
    --------
    >>> from ramify.datasets import make_multilabel
    >>> from ramify.study.splits import folds_of
    >>> folds_of(make_multilabel(60, random_state=0), 3, 0)
    KFold(n_splits=3, random_state=0, shuffle=True)
    """
    kind = data.target_type
    drawn: dict[str, Any] = {"random_state": seed % 2**32}
    if data.row_groups is not None and kind.has_sets:
        return IterativeStratification(n_folds, **drawn)
    if kind.has_one_label:
        made = StratifiedKFold if data.row_groups is None else StratifiedGroupKFold
    else:
        made = KFold if data.row_groups is None else GroupKFold
    return made(n_folds, shuffle=True, **drawn)


def _weighted(data: Dataset) -> Dataset:
    """The rows whose weight is not zero."""
    if data.sample_weight is None or (data.sample_weight != 0).all():
        return data
    return data.rows(np.flatnonzero(data.sample_weight != 0))
