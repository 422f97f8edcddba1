"""Checks of parameters, so that every estimator refuses a bad one in the same words."""

from collections.abc import Collection
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs

_MANY_JOBS = 1024


def check_integer(owner: object, name: str, value: Any, *, low: int | None = None, high: int | None = None) -> int:
    """Return `value` as an int, or refuse it with the owner, the name and the allowed range."""
    is_integer = isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))
    if not is_integer or not _within(value, low, high):
        _refuse(owner, name, f"an int{_range(low, high)}", value)
    return int(value)


def check_jobs(owner: object, n_jobs: Any) -> int | None:
    """Return a number of workers as joblib counts them (-1 = all cores), or refuse it; 0 would do no work."""
    if n_jobs is None:
        return None
    is_integer = isinstance(n_jobs, Integral) and not isinstance(n_jobs, (bool, np.bool_))
    if not is_integer or n_jobs == 0:
        _refuse(owner, "n_jobs", "an int other than 0 (-1 for all cores) or None", n_jobs)
    return int(n_jobs)


def worker_count(n_jobs: int | None) -> int:
    """Threads or processes to start for `n_jobs`; more than 1024 are as many as there are cores.

    Results are the same for any number, and no system starts millions.
    """
    check_jobs("this estimator", n_jobs)
    return int(effective_n_jobs(-1 if n_jobs is not None and n_jobs > _MANY_JOBS else n_jobs))


def check_real(
    owner: object,
    name: str,
    value: Any,
    *,
    low: float | None = None,
    high: float | None = None,
    open_low: bool = False,
    open_high: bool = False,
) -> float:
    """Return `value` as a finite float, or refuse it with the owner, the name and the allowed range."""
    is_real = isinstance(value, Real) and not isinstance(value, (bool, np.bool_)) and isfinite(value)
    if not is_real or not _within(value, low, high) or (open_low and value == low) or (open_high and value == high):
        _refuse(owner, name, f"a number{_range(low, high, open_low, open_high)}", value)
    return float(value)


def check_flag(owner: object, name: str, value: Any) -> bool:
    """Return `value` as a bool, or refuse it."""
    if not isinstance(value, (bool, np.bool_)):
        _refuse(owner, name, "a bool", value)
    return bool(value)


def check_option(owner: object, name: str, value: Any, options: Collection[Any]) -> Any:
    """Return `value` if it is one of `options`, or refuse it and list them."""
    if isinstance(value, (str, bool, int, float, type(None))) and any(
        value is option or (type(value) is type(option) and value == option) for option in options
    ):
        return value
    _refuse(owner, name, "one of " + ", ".join(repr(option) for option in options), value)


def _refuse(owner: object, name: str, right: str, value: Any) -> None:
    title = owner if isinstance(owner, str) else type(owner).__name__
    shown = repr(value)
    if len(shown) > 200:
        shown = shown[:200] + "..."
    raise ValueError(f"The {name!r} parameter of {title} must be {right}. Got {shown} instead.")


def _within(value: Any, low: float | None, high: float | None) -> bool:
    return (low is None or value >= low) and (high is None or value <= high)


def _range(low: float | None, high: float | None, open_low: bool = False, open_high: bool = False) -> str:
    if low is not None and high is not None:
        return f" in {'(' if open_low else '['}{low}, {high}{')' if open_high else ']'}"
    if low is not None:
        return f" {'>' if open_low else '>='} {low}"
    if high is not None:
        return f" {'<' if open_high else '<='} {high}"
    return ""
