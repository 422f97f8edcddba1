"""Data sets: one `Dataset` class, readers and writers of the field's files, generators with planted truth."""

from ramify.datasets.annotations import annotated_dataset
from ramify.datasets.arff import read_arff
from ramify.datasets.dataset import Dataset
from ramify.datasets.edges import read_edges
from ramify.datasets.feature_hierarchy import make_feature_hierarchy
from ramify.datasets.files import FileError
from ramify.datasets.hierarchical import make_hierarchical
from ramify.datasets.label_ranking import make_label_ranking
from ramify.datasets.mulan import read_mulan
from ramify.datasets.multilabel import make_multilabel
from ramify.datasets.rankings import read_rankings

__all__ = [
    "Dataset",
    "FileError",
    "annotated_dataset",
    "make_feature_hierarchy",
    "make_hierarchical",
    "make_label_ranking",
    "make_multilabel",
    "read_arff",
    "read_edges",
    "read_mulan",
    "read_rankings",
]
