"""Targets as vectors: classes, label sets, hierarchies, numbers and rankings."""

from ramify.targets.labels import LabelTarget, encode_labels
from ramify.targets.numbers import NumberTarget, encode_numbers

__all__ = ["LabelTarget", "NumberTarget", "encode_labels", "encode_numbers"]
