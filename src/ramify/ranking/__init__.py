"""Feature rankings, where they come from and whether they are good."""

from ramify.ranking.addition import addition_curve
from ramify.ranking.agreement import fuji, overlap, resampled_rankings, stability
from ramify.ranking.discovery import Claim, Discoveries, audit, discoveries
from ramify.ranking.feature_ranking import FeatureRanking
from ramify.ranking.forest_ranker import ForestRanker, forest_ranking, nested_rankings
from ramify.ranking.groups import correlation_groups, group_frame, subtree_groups
from ramify.ranking.knn import knn_quality
from ramify.ranking.relief import ReliefRanker
from ramify.ranking.significance import significance

__all__ = [
    "Claim",
    "Discoveries",
    "FeatureRanking",
    "ForestRanker",
    "ReliefRanker",
    "addition_curve",
    "audit",
    "correlation_groups",
    "discoveries",
    "forest_ranking",
    "fuji",
    "group_frame",
    "knn_quality",
    "nested_rankings",
    "overlap",
    "resampled_rankings",
    "significance",
    "stability",
    "subtree_groups",
]
