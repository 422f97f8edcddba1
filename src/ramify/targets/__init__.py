"""What y is, decided once: classes, label sets, hierarchies, numbers, rankings, and several of them side by side."""

from ramify.targets.encoding import KINDS, MEASURED_KINDS, encode, kind_of, target_type
from ramify.targets.labels import ClassTarget, HierarchyTarget, LabelTarget, encode_labels
from ramify.targets.mixed import MixedPart, MixedTarget, dense_cells, encode_mixed
from ramify.targets.numbers import NumberTarget, encode_numbers
from ramify.targets.ranking_target import RankingTarget, encode_rankings
from ramify.targets.target import Target, refuse_partly_known

__all__ = [
    "KINDS",
    "MEASURED_KINDS",
    "ClassTarget",
    "HierarchyTarget",
    "LabelTarget",
    "MixedPart",
    "MixedTarget",
    "NumberTarget",
    "RankingTarget",
    "Target",
    "dense_cells",
    "encode",
    "encode_labels",
    "encode_mixed",
    "encode_numbers",
    "encode_rankings",
    "kind_of",
    "refuse_partly_known",
    "target_type",
]
