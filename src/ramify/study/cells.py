"""A cell of a study: one method on one split of one data set, and what running it gives."""

from __future__ import annotations

import copy
import hashlib
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sklearn.base import BaseEstimator, clone

from ramify.metrics.measures import takes
from ramify.study.evaluation import Measure, evaluated
from ramify.study.fingerprint import fingerprint, versions
from ramify.study.loading import load_known
from ramify.study.origin import release
from ramify.study.splits import Splits, split_dataset
from ramify.study.store import Outcome

Method = Any


@dataclass(frozen=True)
class Cell:
    """What has to be run: its coordinates, and a hash of everything but the data that could change its result."""

    dataset: str
    method: str
    split: int
    seed: int
    settings: str
    identity: str

    def key(self, content: str) -> str:
        """Key of the cell over data of that content."""
        return _hashed(self.identity, content)


def make_cell(dataset: str, method: str, split: int, settings: str, study_seed: int, content: str) -> Cell:
    """The cell with a seed that all methods share on one split; `content` is the method's, measures' and splits'."""
    seed = int(_hashed(f"{study_seed}|{dataset}|{split}")[:8], 16)
    identity = _hashed(dataset, method, str(split), str(seed), content)
    return Cell(dataset, method, split, seed, settings, identity)


def method_content(method: Method, measures: Mapping[str, Measure], splits: Splits, study_seed: int, name: str) -> str:
    """Hash of a method with all that its result depends on, but for the data."""
    parts = [release("ramify") or "", method_fingerprint(method, name), str(study_seed)]
    if isinstance(method, BaseEstimator):
        for measure, function in sorted(measures.items()):
            parts += [measure, takes(function), fingerprint(function, f"the measure {measure!r}")]
    return _hashed(*parts, fingerprint(splits, "splits"))


def method_fingerprint(method: Method, name: str) -> str:
    """Content of a method; an estimator's is that of a clone, because that is what is fitted."""
    return fingerprint(clone(method) if isinstance(method, BaseEstimator) else method, f"the method {name!r}")


def describe(method: Method) -> str:
    """Settings of a method as text: parameters of an estimator, name and fixed arguments of a function."""
    if isinstance(method, BaseEstimator):
        parameters = ", ".join(f"{name}={_shown(value)}" for name, value in sorted(method.get_params().items()))
        return f"{type(method).__name__}({parameters})"
    if isinstance(method, partial):
        named = [f"{name}={_shown(value)}" for name, value in sorted(method.keywords.items())]
        return f"{describe(method.func)}({', '.join([*map(_shown, method.args), *named])})"
    if callable(method):
        return str(getattr(method, "__qualname__", type(method).__name__))
    raise TypeError(f"A method must be an estimator or a function of (train, test, seed). Got {type(method).__name__}.")


def run_cell(
    cell: Cell,
    content: str,
    load: Any,
    method: Method,
    measures: Mapping[str, Measure],
    splits: Splits,
    study_seed: int,
) -> Outcome:
    """Run one cell and return its row; an error in the method is part of the outcome, not raised."""
    started, cpu_started = time.perf_counter(), time.process_time()
    values: dict[str, float] = {}
    error = data_sha256 = ""
    try:
        data = load_known(load, content)
        data_sha256 = data.sha256
        train, test = split_dataset(data, splits, cell.split, study_seed)
        values = _stateless(method, cell.method, measures, train, test, cell.seed)
    except Exception:
        error = traceback.format_exc(limit=-4)
    record = {
        "key": cell.key(content),
        "dataset": cell.dataset,
        "method": cell.method,
        "split": cell.split,
        "seed": cell.seed,
        "settings": cell.settings,
        "status": "failed" if error else "done",
        "measures": values,
        "error": error,
        "data_sha256": data_sha256,
        "seconds": time.perf_counter() - started,
        "cpu_seconds": time.process_time() - cpu_started,
        "peak_megabytes": _peak_megabytes(),
        "versions": versions(("ramify", "numpy", "scipy", "sklearn")),
        "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return Outcome(cell.key(content), record)


def _stateless(
    method: Method, name: str, measures: Mapping[str, Measure], train: Any, test: Any, seed: int
) -> dict[str, float]:
    """Values of a method that starts every cell as it was given, so that the order of the cells changes nothing."""
    before = method_fingerprint(method, name)
    values = evaluated(copy.deepcopy(method), measures, train, test, seed)
    if method_fingerprint(method, name) != before:
        raise ValueError(
            f"The method {name!r} changed while it ran: a variable that its function reads from outside is another one "
            "now, so the next cell would depend on this one. Keep such values in the function, or in functools.cache."
        )
    return values


def _shown(value: Any) -> str:
    if isinstance(value, type):
        return value.__qualname__
    if isinstance(value, (BaseEstimator, partial)) or callable(value):
        return describe(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    if isinstance(value, Sequence) and len(value) <= 20:
        return "[" + ", ".join(_shown(item) for item in value) + "]"
    return f"{type(value).__name__}({fingerprint(value)[:12]})"


def _hashed(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


def _peak_megabytes() -> float:
    try:
        import resource
    except ImportError:
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024.0**2 if sys.platform == "darwin" else 1024.0)
