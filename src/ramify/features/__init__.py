"""What X is: features as numbers and codes, whatever holds them."""

from ramify.features.encoding import (
    Features,
    apply_features,
    columns_of,
    distance_columns,
    feature_names,
    finite_features,
    learn_features,
    refuse_extremes,
    refuse_missing,
    stored_like,
)

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
]
