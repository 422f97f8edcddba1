"""Results as matplotlib figures: vector, colour-blind safe, ready for a paper."""

from ramify.plots.comparison import critical_difference
from ramify.plots.curves import addition_curves, agreement, p_values, shared_features
from ramify.plots.rankings import hierarchy_icicle, label_heatmap, ranking_bars

__all__ = [
    "addition_curves",
    "agreement",
    "critical_difference",
    "hierarchy_icicle",
    "label_heatmap",
    "p_values",
    "ranking_bars",
    "shared_features",
]
