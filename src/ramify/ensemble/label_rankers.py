"""What label rankers share: checked rankings, predictions with or without ties, the score, preferences."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ramify.ensemble.named_targets import matched_columns
from ramify.metrics.label_rankings import kendall_tau
from ramify.parameters import check_option
from ramify.state import ENCODED_FEATURES, State, count, texts
from ramify.tags import tagged
from ramify.targets.rankings import break_ties, label_pairs

__all__ = ["LabelRankerMixin", "preference_matrix"]


class LabelRankerMixin:
    """What all label rankers share: checked rankings, ``predict`` with or without ties and ``score`` by tau-b."""

    label_names_: tuple[str, ...]
    n_outputs_: int

    fitted_state: ClassVar[State] = {
        **ENCODED_FEATURES,
        "n_outputs_": count("n_labels", low=2),
        "label_names_": texts("n_labels"),
    }

    def predict(self, X: Any, *, ties: Literal["keep", "break"] = "keep") -> NDArray[np.float64]:
        """Return the predicted ranking of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows to rank labels for.
        ties : {"keep", "break"}
            Tied labels share their mean rank, or are put in label order.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Ranks, 1 is best.
        """
        check_option(self, "ties", ties, ("keep", "break"))
        rankings = self._predict_rankings(X)
        return break_ties(rankings) if ties == "break" else rankings

    def score(self, X: Any, y: Any) -> float:
        """Return the mean Kendall tau-b between the rankings ``y``, matched by name, and the predicted ones."""
        return float(kendall_tau(matched_columns(self, y), self.predict(X)))

    @abstractmethod
    def _predict_rankings(self, X: Any) -> NDArray[np.float64]:
        """Return the predicted rankings, ties kept."""

    def __sklearn_tags__(self) -> Any:
        tags = tagged(super().__sklearn_tags__(), "required", "multi_output")  # type: ignore[misc]
        tags.target_tags.single_output = False
        return tags


def preference_matrix(mean_signs: NDArray[np.floating], n_labels: int) -> NDArray[np.float64]:
    """Return probabilities (n, a, b) that label a is preferred to label b from mean signs; a tie counts one half.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.ensemble.label_rankers import preference_matrix
    >>> preference_matrix(np.array([[1.0, 0.0, -1.0]]), 3)[0].tolist()
    [[0.5, 1.0, 0.5], [0.0, 0.5, 0.0], [0.5, 1.0, 0.5]]
    """
    first, second = label_pairs(n_labels)
    matrix = np.full((len(mean_signs), n_labels, n_labels), 0.5)
    matrix[:, first, second] = (1 + np.asarray(mean_signs)) / 2
    matrix[:, second, first] = (1 - np.asarray(mean_signs)) / 2
    return matrix
