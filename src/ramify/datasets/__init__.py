"""Data sets: one `Dataset` class, readers and writers of the field's files, generators with planted truth."""

from ramify.datasets.dataset import Dataset

__all__ = ["Dataset"]
