"""Feature selection: the top of a ranking, and selection along a feature hierarchy."""

from ramify.selection.binary_features import column_hierarchy, presence
from ramify.selection.cfs import CFSSelector
from ramify.selection.eager import HierarchicalSelector
from ramify.selection.evaluation import SelectionResult, cross_validated_selection
from ramify.selection.feature_graph import FeatureGraph
from ramify.selection.lazy import LazySelector, selection_ranking
from ramify.selection.lazy_classifiers import LazyNaiveBayes, LazyNeighbors
from ramify.selection.methods import make_selector, selecting_classifier
from ramify.selection.relevance import (
    ConditionalProbabilities,
    conditional_probabilities,
    gain_ratio,
    information_gain,
    lazy_r,
    lift,
    r_relevance,
)
from ramify.selection.top import SelectTop

__all__ = [
    "CFSSelector",
    "ConditionalProbabilities",
    "FeatureGraph",
    "HierarchicalSelector",
    "LazyNaiveBayes",
    "LazyNeighbors",
    "LazySelector",
    "SelectTop",
    "SelectionResult",
    "column_hierarchy",
    "conditional_probabilities",
    "cross_validated_selection",
    "gain_ratio",
    "information_gain",
    "lazy_r",
    "lift",
    "make_selector",
    "presence",
    "r_relevance",
    "selecting_classifier",
    "selection_ranking",
]
