"""Results as matplotlib figures: vector, colour-blind safe, ready for a paper."""

from ramify.plots.chains import (
    global_importance_bars,
    importance_densities,
    importance_heatmap,
    label_counts,
    label_densities,
    label_predictions,
    measures_by_method,
    order_losses,
    r2_histogram,
    roc_curves,
    screening_curves,
)
from ramify.plots.comparison import bars_by_dataset, critical_difference
from ramify.plots.curves import addition_curves, agreement, method_map, p_values, quality_by_size, shared_features
from ramify.plots.feature_rankings import hierarchy_icicle, label_heatmap, ranking_bars, ranking_development
from ramify.plots.predictions import explained_prediction, explained_rows, reliability

__all__ = [
    "addition_curves",
    "agreement",
    "bars_by_dataset",
    "critical_difference",
    "explained_prediction",
    "explained_rows",
    "global_importance_bars",
    "hierarchy_icicle",
    "importance_densities",
    "importance_heatmap",
    "label_counts",
    "label_densities",
    "label_heatmap",
    "label_predictions",
    "measures_by_method",
    "method_map",
    "order_losses",
    "p_values",
    "quality_by_size",
    "r2_histogram",
    "ranking_bars",
    "ranking_development",
    "reliability",
    "roc_curves",
    "screening_curves",
    "shared_features",
]
