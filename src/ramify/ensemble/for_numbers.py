"""What forests and boosted trees for numbers share: what they take y for, and the way back to its units."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from ramify.ensemble.base import BaseForest
from ramify.ensemble.named_targets import NamedRegressor
from ramify.ensemble.units import InUnits
from ramify.state import State, flag, numbers, one_of
from ramify.targets import NumberTarget, encode_numbers


class ForNumbers(NamedRegressor, InUnits):
    """Trees for one or several numbers; use a class derived from it."""

    fitted_state: ClassVar[State] = {
        **BaseForest.fitted_state,
        "target_kind_": one_of("numbers"),
        "scale_": numbers("n_labels"),
        "_single": flag(),
    }
    _single: bool
    target_weight: Any

    def encode_target(
        self, y: Any, *, sample_weight: np.ndarray | None = None, n_samples: int | None = None
    ) -> NumberTarget:
        """One or several numbers, standardised.

        Parameters
        ----------
        y : array or frame of shape (n_samples,) or (n_samples, n_targets)
            The target.
        sample_weight : array of shape (n_samples,), optional
            Checked weights of the rows.
        n_samples : int, optional
            Number of rows that y must have.
        """
        weight = self.target_weight
        return encode_numbers(
            y, target_weight=weight, sample_weight=sample_weight, n_samples=n_samples, partly_known=True
        )

    def _keep(self, target: NumberTarget, weights: np.ndarray | None) -> None:  # noqa: ARG002
        self._single = target.is_single
        self.prior_, self.scale_ = target.mean, target.scale

    def output_weights(self) -> np.ndarray:
        """Weight of each target in the impurity."""
        return super().output_weights() if self.target_weight is None else np.array(self.target_weight, dtype=float)

    def _in_units(self, standardised: np.ndarray) -> np.ndarray:
        numbers = standardised * self.scale_ + self.prior_
        return numbers[:, 0] if self._single else numbers

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted forest together."""
        yield from super().state_rules()
        yield not self._single or self.n_outputs_ == 1, "several targets cannot be one-dimensional"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
