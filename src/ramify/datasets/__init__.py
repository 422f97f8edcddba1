"""Data sets: one `Dataset` class, readers and writers of the field's files, generators with planted truth.

Each is imported when it is first used, so that reading a file does not load what only the generators need.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ramify.datasets.arff_write import write_arff
    from ramify.datasets.dataset import Dataset
    from ramify.datasets.generators.feature_hierarchy import make_feature_hierarchy
    from ramify.datasets.generators.hierarchical import make_hierarchical
    from ramify.datasets.generators.label_ranking import make_label_ranking
    from ramify.datasets.generators.multilabel import make_multilabel
    from ramify.datasets.prepared.prepare import prepare
    from ramify.datasets.readers.any_file import inspect, read
    from ramify.datasets.readers.attached_hierarchy import read_hierarchy
    from ramify.datasets.readers.raw_files import FileError
_MODULES = {
    "Dataset": "dataset",
    "FileError": "readers.raw_files",
    "inspect": "readers.any_file",
    "make_feature_hierarchy": "generators.feature_hierarchy",
    "make_hierarchical": "generators.hierarchical",
    "make_label_ranking": "generators.label_ranking",
    "make_multilabel": "generators.multilabel",
    "prepare": "prepared.prepare",
    "read": "readers.any_file",
    "read_hierarchy": "readers.attached_hierarchy",
    "write_arff": "arff_write",
}

__all__ = [
    "Dataset",
    "FileError",
    "inspect",
    "make_feature_hierarchy",
    "make_hierarchical",
    "make_label_ranking",
    "make_multilabel",
    "prepare",
    "read",
    "read_hierarchy",
    "write_arff",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'ramify.datasets' has no attribute {name!r}")
    return getattr(import_module(f"ramify.datasets.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
