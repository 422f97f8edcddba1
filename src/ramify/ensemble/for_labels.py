"""What forests and boosted trees for labels share: what they take y for, class values, weights of the labels."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ramify import _core
from ramify.ensemble.base import BaseForest
from ramify.ensemble.named_targets import LabelModel
from ramify.ensemble.threshold import fitted_threshold
from ramify.metrics import label_propensities
from ramify.parameters import check_integer, check_option
from ramify.state import State, numbers, perhaps, refuse_changed
from ramify.targets import ClassTarget, LabelTarget, encode_labels


class ForLabels(LabelModel, BaseForest):
    """Trees for classes, label sets and label hierarchies; use a class derived from it."""

    fitted_state: ClassVar[State] = {
        **BaseForest.fitted_state,
        **LabelModel.label_state,
        "_label_weights": perhaps(numbers("n_labels")),
    }
    read_after_fit: ClassVar[tuple[str, ...]] = (*BaseForest.read_after_fit, "label_weight")
    _label_weights: np.ndarray
    label_weight: Any

    def encode_target(
        self,
        y: Any,
        *,
        sample_weight: np.ndarray | None = None,
        n_samples: int | None = None,
    ) -> LabelTarget:
        """Classes or label sets; with a hierarchy, columns follow `hierarchy.names` and a frame is matched by name.

        Parameters
        ----------
        y : array of shape (n_samples,), or 0/1 array, CSR or frame of shape (n_samples, n_labels)
            The target; in label sets NaN is unknown.
        sample_weight : array of shape (n_samples,), optional
            What "balanced" label weights count.
        n_samples : int, optional
            Number of rows that y must have.
        """
        if not isinstance(self.label_weight, str):
            return encode_labels(
                y, hierarchy=self.hierarchy, label_weight=self.label_weight, n_samples=n_samples, partly_known=True
            )
        check_option(self, "label_weight", self.label_weight, ("balanced", "propensity", None))
        target = encode_labels(y, hierarchy=self.hierarchy, n_samples=n_samples, partly_known=True)
        if isinstance(target, ClassTarget):
            raise ValueError(
                f"label_weight={self.label_weight!r} is for label sets, but y holds classes. "
                "Use the class_weight of ForestClassifier instead."
            )
        if self.label_weight == "balanced":
            return replace(target, weights=target.weights * _one_over(target.frequencies(sample_weight)))
        cells = target.cells() if sample_weight is None else target.cells()[np.flatnonzero(sample_weight)]
        return replace(target, weights=target.weights / label_propensities(cells))

    def _keep(self, target: LabelTarget, weights: np.ndarray | None) -> None:
        super()._keep(target, weights)
        self.threshold_ = fitted_threshold(self, target.kind, self.trees_.n_outputs)
        if isinstance(self.label_weight, str) and self.label_weight == "propensity":
            self._label_weights = target.weights

    def output_weights(self) -> np.ndarray:
        """Weight of each label in the impurity."""
        refuse_changed(self)
        if hasattr(self, "_label_weights"):
            return self._label_weights
        if self.label_weight is None:
            weights = super().output_weights()
        elif isinstance(self.label_weight, str):
            weights = _one_over(self.prior_)
        else:
            weights = np.array(self.label_weight, dtype=float)
        return weights if self.hierarchy is None else weights * self.hierarchy.weights

    def predict_top(self, X: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The most probable classes or labels of each row, as `predict_proba` has them.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.
        k : int
            How many, from 1 to the number of labels.

        Returns
        -------
        labels : int array of shape (n_samples, k)
            Positions in `label_names_`, the most probable first; of equally probable ones the first.
        probabilities : array of shape (n_samples, k)
            Theirs.

        Examples
        --------
        >>> from ramify.ensemble import ForestClassifier
        >>> X, Y = [[0], [1], [2]], [[1, 0, 1], [0, 0, 1], [0, 1, 1]]
        >>> forest = ForestClassifier(10, bootstrap=False, random_state=0).fit(X, Y)
        >>> labels, probabilities = forest.predict_top([[0]], k=2)
        >>> labels.tolist(), probabilities.tolist()
        ([[0, 2]], [[1.0, 1.0]])
        """
        rows = self.rows_of(X)
        n_top = check_integer(f"{type(self).__name__}.predict_top", "k", k, low=1, high=self.trees_.n_outputs)
        return self._top(rows, n_top)

    @abstractmethod
    def _top(self, rows: _core.FeatureRows, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Positions and probabilities of the `k` most probable labels."""

    @abstractmethod
    def _best_classes(self, X: Any) -> np.ndarray:
        """Position of the most probable class of each row."""

    def _predicted_outputs(self, X: Any) -> sparse.csr_array:
        if self._class_values is None:
            return sparse.csr_array(self.predict(X))
        best = self._best_classes(X)
        shape = (len(best), len(self._class_values))
        return sparse.csr_array((np.ones(len(best)), best, np.arange(len(best) + 1)), shape=shape)


def _one_over(frequencies: np.ndarray) -> np.ndarray:
    """Weights of labels that make rare ones count as much as frequent ones; labels of no row have none."""
    return np.where(frequencies > 0, 1 / np.where(frequencies > 0, frequencies, 1.0), 0.0)
