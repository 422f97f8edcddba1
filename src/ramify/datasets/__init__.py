"""Data sets: one `Dataset` class, readers and writers of the field's files, generators with planted truth.

Each is imported when it is first used, so that reading a file does not load what only the generators need.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ramify.datasets.annotations import annotated_dataset
    from ramify.datasets.arff import read_arff
    from ramify.datasets.arff_write import write_arff
    from ramify.datasets.by_name import read
    from ramify.datasets.dataset import Dataset
    from ramify.datasets.description import describe
    from ramify.datasets.edges import read_edges
    from ramify.datasets.feature_hierarchy import make_feature_hierarchy
    from ramify.datasets.files import FileError
    from ramify.datasets.gaf import read_gaf
    from ramify.datasets.hierarchical import make_hierarchical
    from ramify.datasets.label_ranking import make_label_ranking
    from ramify.datasets.mulan import read_mulan
    from ramify.datasets.multilabel import make_multilabel
    from ramify.datasets.ontology import read_obo
    from ramify.datasets.ordered import read_hierarchy
    from ramify.datasets.rankings import read_rankings
    from ramify.datasets.tables import read_csv, read_parquet

_MODULES = {
    "Dataset": "dataset",
    "FileError": "files",
    "annotated_dataset": "annotations",
    "describe": "description",
    "make_feature_hierarchy": "feature_hierarchy",
    "make_hierarchical": "hierarchical",
    "make_label_ranking": "label_ranking",
    "make_multilabel": "multilabel",
    "read": "by_name",
    "read_arff": "arff",
    "read_csv": "tables",
    "read_edges": "edges",
    "read_gaf": "gaf",
    "read_hierarchy": "ordered",
    "read_mulan": "mulan",
    "read_obo": "ontology",
    "read_parquet": "tables",
    "read_rankings": "rankings",
    "write_arff": "arff_write",
}

__all__ = [
    "Dataset",
    "FileError",
    "annotated_dataset",
    "describe",
    "make_feature_hierarchy",
    "make_hierarchical",
    "make_label_ranking",
    "make_multilabel",
    "read",
    "read_arff",
    "read_csv",
    "read_edges",
    "read_gaf",
    "read_hierarchy",
    "read_mulan",
    "read_obo",
    "read_parquet",
    "read_rankings",
    "write_arff",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'ramify.datasets' has no attribute {name!r}")
    return getattr(import_module(f"ramify.datasets.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
