"""Results as matplotlib figures: vector, colour-blind safe, ready for a paper."""

from ramify.plots.comparison import critical_difference
from ramify.plots.curves import addition_curves, agreement, method_map, p_values, shared_features
from ramify.plots.feature_rankings import hierarchy_icicle, label_heatmap, ranking_bars, ranking_development
from ramify.plots.importances import importance_heatmap
from ramify.plots.predictions import explained_prediction, explained_rows, reliability

__all__ = [
    "addition_curves",
    "agreement",
    "critical_difference",
    "explained_prediction",
    "explained_rows",
    "hierarchy_icicle",
    "importance_heatmap",
    "label_heatmap",
    "method_map",
    "p_values",
    "ranking_bars",
    "ranking_development",
    "reliability",
    "shared_features",
]
