"""Splits of a study's data sets: the same rows for every method, whoever asks and however often."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, PredefinedSplit, StratifiedKFold

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
        kind = StratifiedKFold if data.target_type.has_one_label else KFold
        splits = kind(n_splits=splits, shuffle=True, random_state=seed % 2**32)
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
    pairs = copy.deepcopy(splitter).split(np.zeros((data.n_samples, 1)), data.y)
    return [(np.asarray(train), np.asarray(test)) for train, test in pairs]


def _weighted(data: Dataset) -> Dataset:
    """The rows whose weight is not zero."""
    if data.sample_weight is None or (data.sample_weight != 0).all():
        return data
    return data.rows(np.flatnonzero(data.sample_weight != 0))
