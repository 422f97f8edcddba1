"""Forms of the importance matrix of L-classifier chains: local, global, as an index, and its top predictors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ramify.parameters import check_option


def importance_frame(
    importances: ArrayLike, *, feature_names: Sequence[Any] | None = None, label_names: Sequence[Any] | None = None
) -> pd.DataFrame:
    """The importance matrix with names: a row per label, a column per feature, then a column per label.

    Parameters
    ----------
    importances : array-like of shape (n_labels, n_features + n_labels)
        As `LClassifierChains.importances_`.
    feature_names, label_names : sequence, optional
        Names; by default x0, x1, ... and label0, label1, ...

    Returns
    -------
    DataFrame

    Examples
    --------
    >>> from ramify.chains.importance import importance_frame
    >>> importance_frame([[0.2, 0.0, 0.1], [0.4, 0.1, 0.0]])
             x0  label0  label1
    label0  0.2     0.0     0.1
    label1  0.4     0.1     0.0
    """
    values = np.asarray(importances, dtype=np.float64)
    n_labels = values.shape[0]
    n_features = values.shape[1] - n_labels
    if n_features < 0:
        raise ValueError(
            f"An importance matrix has a column per feature and per label, so at least as many columns as rows. "
            f"Got shape {values.shape}."
        )
    features = [f"x{j}" for j in range(n_features)] if feature_names is None else [str(name) for name in feature_names]
    rows = [f"label{l}" for l in range(n_labels)] if label_names is None else [str(name) for name in label_names]
    return pd.DataFrame(values, index=rows, columns=[*features, *rows])


def importance_index(importances: pd.DataFrame | ArrayLike, *, relative_to: str = "label") -> pd.DataFrame:
    """Importances as an index from 0 to 100.

    Parameters
    ----------
    importances : DataFrame or array-like of shape (n_labels, n_features + n_labels)
        Raw importances.
    relative_to : {"label", "matrix"}, default="label"
        100 is the most important predictor of each label, or of the whole matrix. The first shows rare labels, too, the
        second compares labels.

    Returns
    -------
    DataFrame

    References
    ----------
    L-classifier chains, sections 5.3 and 7.5.

    Examples
    --------
    >>> from ramify.chains.importance import importance_index
    >>> importance_index([[0.2, 0.0, 0.1], [0.4, 0.1, 0.0]], relative_to="matrix")
               x0  label0  label1
    label0   50.0     0.0    25.0
    label1  100.0    25.0     0.0
    """
    check_option("importance_index", "relative_to", relative_to, ("label", "matrix"))
    frame = _as_frame(importances)
    top = frame.max(axis=1) if relative_to == "label" else pd.Series(frame.to_numpy().max(), index=frame.index)
    return frame.div(top.where(top > 0, 1.0), axis=0) * 100


def global_importance(importances: pd.DataFrame | ArrayLike, *, index: bool = True) -> pd.Series:
    """Mean importance of each predictor over all labels.

    Parameters
    ----------
    importances : DataFrame or array-like of shape (n_labels, n_features + n_labels)
        Raw importances.
    index : bool, default=True
        Scale so that the most important predictor has 100.

    Returns
    -------
    Series

    Notes
    -----
    A label predictor's mean divides by the number of labels, though it cannot explain itself, as in the thesis.

    References
    ----------
    L-classifier chains, section 7.5, Figure 7.7.

    Examples
    --------
    >>> from ramify.chains.importance import global_importance
    >>> global_importance([[0.2, 0.0, 0.1], [0.4, 0.2, 0.0]]).round(1).to_dict()
    {'x0': 100.0, 'label0': 33.3, 'label1': 16.7}
    """
    mean = _as_frame(importances).mean(axis=0)
    return mean / mean.max() * 100 if index and mean.max() > 0 else mean


def _as_frame(importances: pd.DataFrame | ArrayLike) -> pd.DataFrame:
    return importances if isinstance(importances, pd.DataFrame) else importance_frame(importances)
