"""Feature rankings, where they come from and whether they are good."""

from ramify.ranking.feature_ranking import FeatureRanking

__all__ = ["FeatureRanking"]
