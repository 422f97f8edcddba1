"""What forests and boosted trees for numbers share: what they take y for, and the way back to its units."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ramify.ensemble.base import BaseForest
from ramify.ensemble.named_targets import NumberModel
from ramify.ensemble.units import InUnits
from ramify.state import State


class ForNumbers(NumberModel, InUnits):
    """Trees for one or several numbers; use a class derived from it."""

    fitted_state: ClassVar[State] = {**BaseForest.fitted_state, **NumberModel.number_state}

    def output_weights(self) -> np.ndarray:
        """Weight of each target in the impurity."""
        return super().output_weights() if self.target_weight is None else np.array(self.target_weight, dtype=float)

    def _in_units(self, standardised: np.ndarray) -> np.ndarray:
        numbers = standardised * self.scale_ + self.prior_
        return numbers[:, 0] if self._single else numbers
