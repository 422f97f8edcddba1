"""From votes or probabilities to label sets: thresholds that keep the training set's label cardinality."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def cardinality_threshold(scores: ArrayLike, cardinality: float, *, candidates: ArrayLike | None = None) -> float:
    """The threshold that brings predicted label cardinality closest to a given one.

    A label is predicted where its score is at least the threshold. Of equally good thresholds the smallest is taken.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_labels)
        Shares of votes or probabilities.
    cardinality : float
        Mean number of labels per row to come close to, usually that of the training set.
    candidates : array-like, optional
        Thresholds to choose from; by default every score that occurs. For votes of M chains these are 1/M, ..., M/M.

    Returns
    -------
    float

    References
    ----------
    L-classifier chains, section 3.3.1; J. Read et al., Classifier chains for multi-label classification, 2011.

    Examples
    --------
    >>> from ramify.chains import cardinality_threshold
    >>> cardinality_threshold([[0.9, 0.4], [0.8, 0.1]], cardinality=1.0)
    0.8
    """
    scores = np.asarray(scores, dtype=np.float64)
    return _closest(scores.ravel(), cardinality * len(scores), candidates)


def density_thresholds(
    scores: ArrayLike, densities: ArrayLike, *, candidates: ArrayLike | None = None
) -> NDArray[np.float64]:
    """One threshold per label, so that each label's predicted density is closest to the given one.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_labels)
        Shares of votes or probabilities.
    densities : array-like of shape (n_labels,)
        Share of rows that have the label, usually in the training set.
    candidates : array-like, optional
        Thresholds to choose from; by default every score that the label has.

    Returns
    -------
    ndarray of shape (n_labels,)

    Examples
    --------
    >>> from ramify.chains import density_thresholds
    >>> density_thresholds([[0.9, 0.4], [0.8, 0.1]], densities=[1.0, 0.5])
    array([0.8, 0.4])
    """
    scores = np.asarray(scores, dtype=np.float64)
    wanted = np.asarray(densities, dtype=np.float64) * len(scores)
    return np.array([_closest(column, count, candidates) for column, count in zip(scores.T, wanted, strict=True)])


def _closest(scores: NDArray[np.float64], wanted: float, candidates: ArrayLike | None) -> float:
    """The candidate for which the number of scores at or above it is closest to `wanted`."""
    if scores.size == 0:
        return 0.5
    ordered = np.sort(scores)
    possible = np.unique(ordered if candidates is None else np.asarray(candidates, dtype=np.float64))
    if candidates is None:
        possible = np.append(possible, np.nextafter(possible[-1], np.inf))
    predicted = ordered.size - np.searchsorted(ordered, possible, side="left")
    return float(possible[np.argmin(np.abs(predicted - wanted))])
