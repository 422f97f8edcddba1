"""Tree ensembles for every kind of target."""

from ramify.ensemble.label_ranking_baselines import AverageLabelRanker, NeighborsLabelRanker, PairwiseLabelRanker

__all__ = ["AverageLabelRanker", "NeighborsLabelRanker", "PairwiseLabelRanker"]
