"""The number a measure returns: a float that also says what was left out of it."""

from __future__ import annotations

from typing import Any


class Score(float):
    """A measure's value, with what a reader needs to judge it.

    It behaves as the float it is, so it can be averaged, compared, formatted and stored like any other number.

    Parameters
    ----------
    value : float
        The measure; NaN where nothing was left to measure.
    n_left_out : int, default=0
        Labels, targets or rows on which the measure is not defined and that were therefore left out of it.
    n_unknown : int, default=0
        Cells whose truth is not known (NaN in ``y_true``) and that were left out.
    threshold : float or None, default=None
        The threshold at which the value was reached, for measures that look for the best one.

    Examples
    --------
    >>> from ramify.metrics import auprc
    >>> score = auprc([[1, 0], [0, 0]], [[0.9, 0.2], [0.1, 0.3]], average="macro")
    >>> score, score.n_left_out
    (1.0, 1)
    """

    n_left_out: int
    n_unknown: int
    threshold: float | None

    def __new__(cls, value: float, *, n_left_out: int = 0, threshold: float | None = None, n_unknown: int = 0) -> Score:
        """Store the number and what was left out of it."""
        score = super().__new__(cls, value)
        score.n_left_out = n_left_out
        score.n_unknown = n_unknown
        score.threshold = threshold
        return score

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt_score, (float(self), self.n_left_out, self.threshold, self.n_unknown)


def _rebuilt_score(value: float, n_left_out: int, threshold: float | None, n_unknown: int = 0) -> Score:
    return Score(value, n_left_out=n_left_out, threshold=threshold, n_unknown=n_unknown)
