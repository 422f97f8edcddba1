"""The geometric mean of the two rates of a label: of its positives and of its negatives, the share predicted right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ramify.metrics.inputs import Average, averaged, check_average, class_columns, label_counts, label_pair, ratio
from ramify.metrics.measures import measure
from ramify.metrics.score import Score

if TYPE_CHECKING:
    from ramify.hierarchy import Hierarchy


@measure(larger_is_better=True)
def geometric_mean(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    average: Average = "micro",
    exclude_universal: bool = False,
    pos_label: Any = None,
) -> Any:
    """GM: square root of sensitivity times specificity.

    Parameters
    ----------
    y_true, y_pred : array-like or sparse matrix of shape (n_samples,) or (n_samples, n_labels)
        0/1 per label, or classes (n_samples,), taken one against the rest in turn without ``pos_label``. Cells where
        the truth is NaN are left out, and `Score.n_unknown` counts them.
    hierarchy : Hierarchy or None, default=None
        Closes both under ancestors first.
    average : {"micro", "macro", "weighted"} or None, default="micro"
        Pooled over all pairs, mean over labels, mean weighted by their frequency, or one value per label.
        ``"weighted"`` gives the class-weighted average for three or more classes.
    exclude_universal : bool, default=False
        Leave out labels that every row has.
    pos_label : object, default=None
        For classes, the one that counts as positive.

    Returns
    -------
    Score or ndarray of shape (n_labels,)
        Labels that no row or every row has are left out of means and counted in ``n_left_out``.

    Examples
    --------
    >>> from ramify.metrics import geometric_mean
    >>> geometric_mean([1, 1, 0, 0], [1, 0, 0, 0])
    0.7071067811865476
    """
    check_average(average)
    y_true, y_pred = class_columns(y_true, y_pred, pos_label)
    pair = label_pair(y_true, y_pred, scores=False, hierarchy=hierarchy, exclude_universal=exclude_universal)
    right, true, predicted = (label_counts(matrix) for matrix in (pair.shared(), pair.truth, pair.other))
    negative = pair.known_counts() - true
    rejected = negative - (predicted - right)
    if average == "micro":
        right, true, rejected, negative = right.sum(), true.sum(), rejected.sum(), negative.sum()
    values = np.sqrt(ratio(right, true) * ratio(rejected, negative))
    if average == "micro":
        return Score(float(values), n_left_out=pair.n_left_out, n_unknown=pair.n_unknown)
    return averaged(values, true, average, pair.n_left_out, pair.n_unknown)
