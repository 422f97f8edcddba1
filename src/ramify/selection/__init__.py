"""Feature selection: the top of a ranking, and selection along a feature hierarchy."""

from ramify.selection.cfs import CFSSelector
from ramify.selection.eager import HierarchicalSelector
from ramify.selection.evaluation import cross_validated_selection
from ramify.selection.feature_graph import FeatureGraph
from ramify.selection.lazy import LazySelector
from ramify.selection.lazy_classifiers import LazyNaiveBayes, LazyNeighbors
from ramify.selection.top import SelectTop

__all__ = [
    "CFSSelector",
    "FeatureGraph",
    "HierarchicalSelector",
    "LazyNaiveBayes",
    "LazyNeighbors",
    "LazySelector",
    "SelectTop",
    "cross_validated_selection",
]
