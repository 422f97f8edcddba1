"""Feature rankings, where they come from and whether they are good."""

from ramify.ranking.feature_ranking import FeatureRanking
from ramify.ranking.relief import ReliefRanker, relief_path

__all__ = ["FeatureRanking", "ReliefRanker", "relief_path"]
