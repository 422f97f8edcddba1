"""What X is: features as numbers and codes, whatever holds them."""

from ramify.features.checks import refuse_extremes, refuse_missing, unseen_values_allowed
from ramify.features.distances import distance_columns
from ramify.features.encoding import (
    Features,
    apply_features,
    columns_of,
    feature_names,
    finite_features,
    learn_features,
)
from ramify.features.frames import stored_like

__all__ = [
    "Features",
    "apply_features",
    "columns_of",
    "distance_columns",
    "feature_names",
    "finite_features",
    "learn_features",
    "refuse_extremes",
    "refuse_missing",
    "stored_like",
    "unseen_values_allowed",
]
