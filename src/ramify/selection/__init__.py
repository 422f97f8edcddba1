"""Feature selection: the top of a ranking, and selection along a feature hierarchy."""

from ramify.selection.binary_features import column_hierarchy, presence
from ramify.selection.cfs import CFSSelector
from ramify.selection.eager import HierarchicalSelector
from ramify.selection.evaluation import cross_validated_selection
from ramify.selection.feature_graph import FeatureGraph
from ramify.selection.lazy import LazySelector, selection_ranking
from ramify.selection.lazy_classifiers import LazyNaiveBayes, LazyNeighbors
from ramify.selection.relevance import (
    gain_ratio,
    information_gain,
    lazy_r,
    lift,
    r_relevance,
)
from ramify.selection.top import SelectTop

__all__ = [
    "CFSSelector",
    "FeatureGraph",
    "HierarchicalSelector",
    "LazyNaiveBayes",
    "LazyNeighbors",
    "LazySelector",
    "SelectTop",
    "column_hierarchy",
    "cross_validated_selection",
    "gain_ratio",
    "information_gain",
    "lazy_r",
    "lift",
    "presence",
    "r_relevance",
    "selection_ranking",
]
