"""A cell of a study: one method on one split of one data set, and what running it gives."""

from __future__ import annotations

import hashlib
import inspect
import platform
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold, StratifiedKFold

from ramify.datasets import Dataset
from ramify.hierarchy import Hierarchy

Splits = Any
Method = Any


@dataclass(frozen=True)
class Cell:
    """What has to be run: a key that depends on everything that could change the result, and its coordinates."""

    key: str
    dataset: str
    method: str
    split: int
    seed: int
    settings: str


@dataclass(frozen=True)
class Outcome:
    """What running a cell gave: the row that goes into the store."""

    key: str
    record: dict[str, Any]


def make_cell(dataset: str, method: str, split: int, settings: str, study_seed: int) -> Cell:
    """The cell with its key and with a seed that all methods share on one split."""
    seed = int(hashlib.sha256(f"{study_seed}|{dataset}|{split}".encode()).hexdigest()[:8], 16)
    identity = "\x1f".join([dataset, method, str(split), str(seed), settings])
    return Cell(hashlib.sha256(identity.encode()).hexdigest(), dataset, method, split, seed, settings)


def describe(method: Method) -> str:
    """Settings of a method as text: parameters of an estimator, name and fixed arguments of a function."""
    if isinstance(method, BaseEstimator):
        parameters = ", ".join(f"{name}={_shown(value)}" for name, value in sorted(method.get_params().items()))
        return f"{type(method).__name__}({parameters})"
    if isinstance(method, partial):
        fixed = ", ".join(
            [
                *(_shown(value) for value in method.args),
                *(f"{k}={_shown(v)}" for k, v in sorted(method.keywords.items())),
            ]
        )
        return f"{describe(method.func)}({fixed})"
    if callable(method):
        return str(getattr(method, "__qualname__", type(method).__name__))
    raise TypeError(f"A method must be an estimator or a function of (train, test, seed). Got {type(method).__name__}.")


def run_cell(
    cell: Cell, load: Any, method: Method, measures: Mapping[str, Callable[..., float]], splits: Splits, study_seed: int
) -> Outcome:
    """Run one cell and return its row; an error in the method is part of the outcome, not raised."""
    started, cpu_started = time.perf_counter(), time.process_time()
    values: dict[str, float] = {}
    error = fingerprint = ""
    try:
        data = load_dataset(load)
        fingerprint = data.sha256
        train, test = split_dataset(data, splits, cell.split, study_seed)
        values = _measured(method, measures, train, test, cell.seed)
    except Exception:
        error = traceback.format_exc(limit=-4)
    record = {
        "key": cell.key,
        "dataset": cell.dataset,
        "method": cell.method,
        "split": cell.split,
        "seed": cell.seed,
        "settings": cell.settings,
        "status": "failed" if error else "done",
        "measures": values,
        "error": error,
        "data_sha256": fingerprint,
        "seconds": time.perf_counter() - started,
        "cpu_seconds": time.process_time() - cpu_started,
        "peak_megabytes": _peak_megabytes(),
        "versions": _versions(),
        "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return Outcome(cell.key, record)


_LOADED: dict[int, tuple[Any, Dataset]] = {}


def load_dataset(load: Any) -> Dataset:
    """The data set itself, or what its loader returns; the last one loaded in this process is kept."""
    if isinstance(load, Dataset):
        return load
    kept = _LOADED.get(hash(_loader_identity(load)))
    if kept is not None and kept[0] == _loader_identity(load):
        return kept[1]
    data = load()
    if not isinstance(data, Dataset):
        raise TypeError(f"A data set's loader must return a Dataset. Got {type(data).__name__}.")
    _LOADED.clear()
    _LOADED[hash(_loader_identity(load))] = (_loader_identity(load), data)
    return data


def n_splits(splits: Splits) -> int:
    """Number of splits, known before any data is read."""
    if splits == "parts":
        return 1
    if isinstance(splits, int):
        return splits
    if hasattr(splits, "get_n_splits"):
        return int(splits.get_n_splits())
    raise TypeError("splits must be a number of folds, 'parts' (train + valid against test) or a splitter.")


def split_dataset(data: Dataset, splits: Splits, number: int, seed: int) -> tuple[Dataset, Dataset]:
    """Training and test rows of one split."""
    if splits == "parts":
        training = [name for name in data.parts if name != "test"]
        if not training or "test" not in data.parts:
            raise ValueError(f"splits='parts' needs a train and a test part; this data set has {sorted(data.parts)}.")
        return data.part(*training), data.part("test")
    splitter: Any = splits
    if isinstance(splits, int):
        kind = StratifiedKFold if data.target == "classes" else KFold
        splitter = kind(n_splits=splits, shuffle=True, random_state=seed % 2**32)
    # Splitters of scikit-learn only look at the number of rows of X.
    parts = list(splitter.split(np.zeros((data.n_samples, 1)), data.y))
    train, test = parts[number]
    return data.rows(np.asarray(train)), data.rows(np.asarray(test))


def _measured(
    method: Method, measures: Mapping[str, Callable[..., float]], train: Dataset, test: Dataset, seed: int
) -> dict[str, float]:
    if isinstance(method, BaseEstimator):
        return _measured_estimator(method, measures, train, test, seed)
    values = method(train, test, seed)
    if not isinstance(values, Mapping):
        raise TypeError(f"A method that is a function must return a dict of measures. Got {type(values).__name__}.")
    return {str(name): float(value) for name, value in values.items()}


def _measured_estimator(
    method: BaseEstimator, measures: Mapping[str, Callable[..., float]], train: Dataset, test: Dataset, seed: int
) -> dict[str, float]:
    estimator = clone(method)
    known = estimator.get_params()
    settings: dict[str, Any] = {}
    if "random_state" in known and known["random_state"] is None:
        settings["random_state"] = seed
    if "hierarchy" in known and known["hierarchy"] is None:
        settings["hierarchy"] = train.hierarchy
    if isinstance(known.get("categorical_features"), str):
        settings["categorical_features"] = train.categorical_features
    estimator.set_params(**settings)
    estimator.fit(_features(estimator, train), train.y)
    predictions: dict[str, Any] = {}
    values = {}
    for name, measure in measures.items():
        parameters = inspect.signature(measure).parameters
        verb = "predict_proba" if "y_score" in parameters else "predict"
        if verb not in predictions:
            predictions[verb] = getattr(estimator, verb)(_features(estimator, test))
        options = {"hierarchy": test.hierarchy} if "hierarchy" in parameters and test.hierarchy is not None else {}
        values[name] = float(measure(test.y, predictions[verb], **options))
    return values


def _features(estimator: BaseEstimator, data: Dataset) -> Any:
    """The features as they are held, or as a frame where an estimator of ours sees only there which are nominal."""
    is_told = "categorical_features" in estimator.get_params(deep=False)
    is_ours = type(estimator).__module__.startswith("ramify.")
    return data.to_frame() if is_ours and not is_told and data.categorical_features.any() else data.X


def _loader_identity(load: Any) -> Any:
    if isinstance(load, partial):
        return (load.func, repr(load.args), repr(sorted(load.keywords.items())))
    return load


def _shown(value: Any) -> str:
    if isinstance(value, BaseEstimator) or callable(value):
        return describe(value) if not isinstance(value, type) else value.__qualname__
    if isinstance(value, Dataset):
        return f"Dataset({value.sha256 or value.source})"
    if isinstance(value, np.ndarray):
        return f"array({_digest(value)})"
    if isinstance(value, Hierarchy):
        names = np.array(value.names, dtype=object)
        return f"Hierarchy({_digest(names)}, {_digest(value.edges)}, w0={value.w0}, aggregate={value.aggregate})"
    if sparse.issparse(value) and hasattr(value, "indptr"):
        return f"sparse({_digest(value.data)}, {_digest(value.indices)}, {_digest(value.indptr)}, {value.shape})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k}: {_shown(v)}" for k, v in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(_shown(item) for item in value) + "]"
    return repr(value)


def _digest(values: np.ndarray) -> str:
    content = repr(values.tolist()).encode() if values.dtype == object else np.ascontiguousarray(values).tobytes()
    return hashlib.sha256(content).hexdigest()[:16]


def _peak_megabytes() -> float:
    try:
        import resource
    except ImportError:
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024.0**2 if sys.platform == "darwin" else 1024.0)


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in ("ramify", "numpy", "scipy", "scikit-learn"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "checkout"
    return found
