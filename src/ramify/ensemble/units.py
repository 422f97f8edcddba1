"""Trees whose leaves hold standardised values: what they say, in the units of the target."""

from __future__ import annotations

from typing import Any

import numpy as np

from ramify.ensemble.base import BaseForest
from ramify.ensemble.explanation import Output


class InUnits(BaseForest):
    """An output is `scale_` times what the leaves hold plus where it starts; use a class derived from it."""

    scale_: np.ndarray

    def _start(self) -> np.ndarray:
        """What a leaf that holds zeros says, per output."""
        return self.prior_

    def contributions(self, X: Any, label: Any = 0) -> tuple[np.ndarray, float]:
        """What each feature on the path added to a prediction, and the value that all predictions start from.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.
        label : str or int, default=0
            Name of the output in `label_names_`, or its position.

        Returns
        -------
        contributions : array of shape (n_samples, n_features)
            In units of the output; each row sums, together with `base`, to the prediction.
        base : float
            The mean prediction of the roots.
        """
        values, base = super().contributions(X, label)
        output = self._output(label)
        return values * output.factor, float(base * output.factor + output.offset)

    def _output(self, label: Any) -> Output:
        index = self._label_index(label)
        return Output(index, self.label_names_[index], float(self.scale_[index]), float(self._start()[index]))
