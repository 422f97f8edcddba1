"""Feature rankings, where they come from and whether they are good."""

from ramify.ranking.feature_ranking import FeatureRanking
from ramify.ranking.forest import ForestRanker, forest_ranking, nested_rankings
from ramify.ranking.relief import ReliefRanker, relief_path

__all__ = ["FeatureRanking", "ForestRanker", "ReliefRanker", "forest_ranking", "nested_rankings", "relief_path"]
