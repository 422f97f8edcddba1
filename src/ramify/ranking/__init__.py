"""Feature rankings, where they come from and whether they are good."""

from ramify.ranking.addition import addition_curve
from ramify.ranking.agreement import (
    efficiency,
    fuji,
    kendall,
    method_map,
    overlap,
    resampled_rankings,
    spearman,
    stability,
)
from ramify.ranking.discovery import Audit, Claim, Discoveries, audit, discoveries
from ramify.ranking.feature_ranking import FeatureRanking
from ramify.ranking.forest import ForestRanker, forest_ranking, nested_rankings
from ramify.ranking.groups import correlation_groups, group_frame, subtree_groups
from ramify.ranking.knn import knn_quality
from ramify.ranking.relief import ReliefRanker, relief_path
from ramify.ranking.significance import significance

__all__ = [
    "Audit",
    "Claim",
    "Discoveries",
    "FeatureRanking",
    "ForestRanker",
    "ReliefRanker",
    "addition_curve",
    "audit",
    "correlation_groups",
    "discoveries",
    "efficiency",
    "forest_ranking",
    "fuji",
    "group_frame",
    "kendall",
    "knn_quality",
    "method_map",
    "nested_rankings",
    "overlap",
    "relief_path",
    "resampled_rankings",
    "significance",
    "spearman",
    "stability",
    "subtree_groups",
]
