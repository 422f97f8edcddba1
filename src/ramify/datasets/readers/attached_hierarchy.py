"""Data sets whose labels or features get their order from a hierarchy in a file of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from ramify.datasets.dataset import Dataset
from ramify.datasets.readers.edges import read_edges
from ramify.datasets.readers.ontology import read_obo
from ramify.datasets.readers.raw_files import PathLike, plain_name
from ramify.hierarchy import Hierarchy


def read_hierarchy(file: PathLike) -> Hierarchy:
    r"""Read a hierarchy with the reader that its file name calls for.

    Parameters
    ----------
    file : path
        `.obo` is read by `read_obo`, anything else as edges by `read_edges`.

    Returns
    -------
    Hierarchy
        The hierarchy.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ramify.datasets import read_hierarchy
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "terms.txt"
    ...     _ = file.write_text("parent,child\nanimal,cat\nanimal,dog\n")
    ...     read_hierarchy(file).names
    ('animal', 'cat', 'dog')
    """
    return read_obo(file) if is_ontology(file) else read_edges(file)


def is_ontology(file: PathLike) -> bool:
    """Whether a file's name says that it holds an OBO ontology."""
    return plain_name(file).lower().endswith(".obo")


def with_labels_ordered(data: Dataset, hierarchy: Hierarchy | PathLike) -> Dataset:
    """The data's labels and all that lie above them in the hierarchy, closed."""
    if not data.target_type.has_sets:
        raise ValueError("A hierarchy orders labels, but the data has no label sets; name them as the target.")
    order = hierarchy if isinstance(hierarchy, Hierarchy) else read_hierarchy(hierarchy)
    unknown = [name for name in data.label_names if name not in order]
    if unknown:
        raise ValueError(
            f"{len(unknown)} labels of the data are not in the hierarchy, the first is {unknown[0]!r}. "
            "Use the hierarchy's own names, or its edition of the data's date."
        )
    kept = order.subset(order.decode(order.encode([data.label_names]))[0])
    cells = sparse.coo_array(data.y)
    column_of = np.array([kept.index(name) for name in data.label_names], dtype=np.int64)
    columns = column_of[cells.coords[1]]
    y = sparse.csr_array((cells.data, (cells.coords[0], columns)), shape=(data.n_samples, len(kept)))
    return replace(data, y=kept.close(y), target="hierarchy", label_names=kept.names, hierarchy=kept)


def with_features_ordered(data: Dataset, hierarchy: Hierarchy | PathLike) -> Dataset:
    """The data with the hierarchy of those features that it names."""
    order = hierarchy if isinstance(hierarchy, Hierarchy) else read_hierarchy(hierarchy)
    names = [name for name in dict.fromkeys(data.feature_names) if name in order]
    if not names:
        source = "the hierarchy" if isinstance(hierarchy, Hierarchy) else hierarchy
        raise ValueError(f"No feature is named in {source}; its terms must be the names of features.")
    return replace(data, feature_hierarchy=order.subset(names))
