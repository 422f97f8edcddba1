"""Several numbers as one standardised matrix with a weight per target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from ramify import _core
from ramify.features.frames import as_array, merged_numbers, refuse_broken
from ramify.targets.distances import PairDistance, number_distance
from ramify.targets.known_cells import as_numbers
from ramify.targets.target import Target, check_n_samples, check_weights, refuse_nowhere_known


@dataclass(frozen=True, kw_only=True, eq=False)
class NumberTarget(Target):
    """One or several numbers.

    Attributes
    ----------
    Y : array of shape (n_samples, n_targets)
        Standardised numbers: mean 0 and variance 1 per target (constant targets are 0), NaN where unknown.
    mean, scale : arrays of shape (n_targets,)
        What takes a standardised value back: `value * scale + mean`.
    is_single : bool
        Whether y was one-dimensional, so that predictions go back one-dimensional.
    given : array of shape (n_samples,) or (n_samples, n_targets)
        The numbers as they were given.
    """

    kind: ClassVar[str] = "numbers"
    nouns: ClassVar[tuple[str, str]] = ("target", "targets")
    forest: ClassVar[str] = "ForestRegressor"
    measure: ClassVar[str] = "r2_score"
    measure_title: ClassVar[str] = "R2"

    Y: np.ndarray
    mean: np.ndarray
    scale: np.ndarray
    is_single: bool
    given: np.ndarray

    @property
    def n_samples(self) -> int:
        """Number of examples."""
        return len(self.Y)

    def kernel_rows(self) -> _core.NumberRows:
        """The standardised numbers and their weights."""
        return _core.NumberRows(np.ascontiguousarray(self.Y), np.ascontiguousarray(self.weights))

    def distance(
        self,
        metric: str = "euclidean",  # noqa: ARG002
        *,
        bound: str | None = "observed",  # noqa: ARG002
        n_threads: int = 1,  # noqa: ARG002
    ) -> PairDistance:
        """Mean over targets of the difference divided by the target's range."""
        return number_distance(self.given)

    @classmethod
    def described(cls, names: tuple[str, ...]) -> str:
        """A target with these names, in few words."""
        return f"{', '.join(names[:3])} as {'a number' if len(names) == 1 else 'numbers'}"

    @classmethod
    def sentence(cls, n_labels: int, n_levels: int) -> str:  # noqa: ARG003
        """What examples have, as the end of a sentence."""
        return f"have {n_labels:,} numeric target{'' if n_labels == 1 else 's'}"

    def vectors(self) -> np.ndarray:
        """The numbers, in their units."""
        return self.Y * self.scale + self.mean

    def truth(self, y: Any) -> np.ndarray:
        """Numbers, one column per target."""
        numbers = np.asarray(y, dtype=np.float64)
        return numbers.reshape(len(numbers), -1)

    def measure_options(self) -> dict[str, Any]:
        """The means that a model without features predicts."""
        return {"mean": self.mean}


def encode_numbers(
    y: Any,
    *,
    target_weight: Any = None,
    sample_weight: np.ndarray | None = None,
    n_samples: int | None = None,
    partly_known: bool = False,
) -> NumberTarget:
    """Check y and standardise it, weighted by `sample_weight` where given.

    Parameters
    ----------
    y : array or frame of shape (n_samples,) or (n_samples, n_targets)
        Numbers.
    target_weight : array of shape (n_targets,), optional
        Weights of the targets in the impurity.
    sample_weight : array of shape (n_samples,), optional
        Weights of the rows.
    n_samples : int, optional
        Number of rows that y must have.
    partly_known : bool, default=False
        Whether NaN in a matrix is a number that is unknown; else, and in a single column, it is refused.

    Examples
    --------
    >>> from ramify.targets import encode_numbers
    >>> encode_numbers([1.0, 3.0]).Y.ravel()
    array([-1.,  1.])
    """
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    columns = getattr(y, "columns", None)
    # Row by row in memory: the order of summation, and so the last bit, must not depend on the layout of y.
    given = finite_numbers(y, partly_known=partly_known)
    is_single = given.ndim == 1
    array = given.reshape(-1, 1) if is_single else given
    check_n_samples(len(array), n_samples)
    weights = check_weights("target_weight", target_weight, array.shape[1], "target")
    names = tuple(map(str, columns)) if columns is not None else tuple(f"y{j}" for j in range(array.shape[1]))
    unknown = sparse.csr_array(np.isnan(array)) if np.isnan(array).any() else None
    refuse_nowhere_known(names, unknown, "target")
    _refuse_too_large(array, names)
    pivot = _pivot(array)
    mean = _average(array - pivot, sample_weight)
    centred = (array - pivot) - mean
    largest = np.nanmax(np.abs(centred), axis=0)
    unit = np.where(largest > 0, largest, 1.0)
    scale = unit * np.sqrt(_average((centred / unit) ** 2, sample_weight))
    constant = scale <= 1e-12 * np.maximum(np.abs(mean), np.finfo(np.float64).tiny)
    mean = pivot + mean
    safe = np.where(constant, 1.0, scale)
    Y = np.where(constant & ~np.isnan(array), 0.0, centred / safe)
    return NumberTarget(
        Y=Y,
        mean=mean,
        scale=safe,
        weights=weights,
        names=names,
        is_single=is_single,
        given=given,
        unknown=unknown,
    )


def _refuse_too_large(array: np.ndarray, names: Sequence[str]) -> None:
    """Refuse numbers whose sum over the rows or distance from each other no float can hold."""
    largest = np.nanmax(np.abs(array), axis=0, initial=0.0)
    overflows = largest > np.finfo(np.float64).max / (2 * max(1, len(array)))
    if overflows.any():
        column = int(np.flatnonzero(overflows)[0])
        raise ValueError(
            f"The numbers of {names[column]!r} are too large (up to {largest[column]:g}): sums of them would overflow. "
            "Divide them by a constant, or take their logarithm."
        )


def _average(columns: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Mean of each column over its known numbers."""
    known = ~np.isnan(columns)
    if known.all():
        return np.asarray(np.average(columns, axis=0, weights=weights))
    weighed = known * (1.0 if weights is None else weights[:, None])
    return np.asarray((weighed * np.where(known, columns, 0.0)).sum(axis=0) / weighed.sum(axis=0))


def _pivot(array: np.ndarray) -> np.ndarray:
    """What to subtract first: the smallest number where all lie close to it, so that their differences are exact."""
    low, high = np.nanmin(array, axis=0), np.nanmax(array, axis=0)
    with np.errstate(over="ignore"):
        return np.where(high - low < 1e-6 * np.abs(low), low, 0.0)


def finite_numbers(y: Any, *, partly_known: bool = False) -> np.ndarray:
    """A numeric target as an array of floats, or an error that names the first row that has none.

    Where it may be partly known, a matrix may hold NaN.
    """
    refuse_broken("y", y)
    cells = y.data if sparse.issparse(y) else as_array(y)
    refuse_dates(cells)
    merged = merged_numbers(cells)
    if merged is not None:
        raise ValueError(
            f"y holds {merged}, which are one double of 64 bits. Subtract what all numbers have in common."
        )
    array = check_array(
        y if sparse.issparse(y) else as_numbers(as_array(y)),
        dtype=np.float64,
        order="C",
        ensure_2d=False,
        input_name="y",
        allow_nd=False,
        ensure_all_finite=False,
    )
    for word, wrong in (("NaN", np.isnan(array)), ("infinity", np.isinf(array))):
        if wrong.any() and not (word == "NaN" and partly_known and array.ndim == 2):
            row = int(np.argwhere(wrong)[0][0])
            raise ValueError(
                f"Input y contains {word} (first in row {row}). Rows without a target are refused: nothing is guessed; "
                "remove those rows or fill the numbers in."
            )
    return array


def refuse_dates(cells: np.ndarray) -> None:
    """Refuse dates and durations as numbers: of what unit they would be is nowhere said."""
    first = cells.flat[0] if cells.dtype == object and cells.size else None
    if cells.dtype.kind in "mM" or isinstance(first, (date, timedelta)):
        raise ValueError("y holds dates or durations. Give numbers, such as days since a date, or texts as classes.")
