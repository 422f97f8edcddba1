"""From annotations (which row has which term) and an ontology to a data set of closed binary features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
from scipy import sparse

from ramify.datasets.dataset import Dataset
from ramify.hierarchy import Hierarchy
from ramify.parameters import check_integer, check_option

_OWNER = "annotated_dataset"


def annotated_dataset(
    annotations: Dataset | Iterable[tuple[str, str]],
    ontology: Hierarchy | None = None,
    *,
    classes: Mapping[str, str] | None = None,
    below: str | None = None,
    min_count: int = 3,
    unknown: Literal["raise", "drop"] = "raise",
) -> Dataset:
    """Turn annotations with the terms of an ontology into binary features that form a hierarchy.

    A row has a term if it is annotated with it or with a term below it. Terms that too few rows have are dropped, and
    so are rows without any term.

    Parameters
    ----------
    annotations : Dataset or iterable of (row, term)
        Direct annotations: pairs of identifiers, such as gene and Gene Ontology term, or the data set of a GAF file.
    ontology : Hierarchy, optional
        The terms, as `read_obo` gives them; by default the feature hierarchy of a data set.
    classes : mapping of row to class, optional
        Class of each row; rows without one are left out. A data set's own target is taken where this is None.
    below : str, optional
        Take only this term's descendants, for instance "GO:0008150" for biological processes.
    min_count : int, default=3
        Drop terms that fewer rows have.
    unknown : {"raise", "drop"}, default="raise"
        What to do with annotations whose term the ontology does not hold (another edition, or an obsolete term).

    Returns
    -------
    Dataset
        Sparse 0/1 features closed under `feature_hierarchy`, rows in the order of their first annotation.

    References
    ----------
    P. N. da Silva, A. Plastino, A. A. Freitas, "Prioritizing positive feature values: a new hierarchical feature
    selection method", Applied Intelligence, 2020, section 5.1.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.datasets.annotations import annotated_dataset
    >>> ontology = Hierarchy.from_edges([("process", "growth"), ("process", "repair"), ("repair", "DNA repair")])
    >>> pairs = [("g1", "DNA repair"), ("g2", "growth"), ("g3", "repair"), ("g3", "growth")]
    >>> data = annotated_dataset(pairs, ontology, min_count=2)
    >>> data.feature_names, data.X.toarray().astype(int).tolist()
    (('process', 'growth', 'repair'), [[1, 0, 1], [1, 1, 0], [1, 1, 1]])
    """
    check_integer(_OWNER, "min_count", min_count, low=1)
    check_option(_OWNER, "unknown", unknown, ("raise", "drop"))
    if ontology is None:
        ontology = annotations.feature_hierarchy if isinstance(annotations, Dataset) else None
    if ontology is None:
        raise ValueError("The annotations come without an ontology; pass one, as read_obo or read_edges gives it.")
    pairs = _pairs(annotations)
    kept = set(ontology.names) if below is None else set(ontology.descendants(below))
    pairs = [pair for pair in _known(pairs, ontology, unknown) if pair[1] in kept]
    if classes is None and isinstance(annotations, Dataset) and annotations.y is not None:
        classes = _classes_of(annotations)
    if classes is not None:
        pairs = [pair for pair in pairs if pair[0] in classes]
    ids = list(dict.fromkeys(row for row, _ in pairs))
    closed = _closed(pairs, ids, ontology)
    n_rows_with = np.bincount(closed.indices, minlength=len(ontology))
    wanted = np.array([name in kept for name in ontology.names], dtype=bool) & (n_rows_with >= min_count)
    columns = np.flatnonzero(wanted)
    if not len(columns):
        raise ValueError(
            f"No term is left of {len(pairs)} annotations of {len(ids)} rows; lower min_count ({min_count}), or check "
            "that the annotations and the ontology use the same identifiers."
        )
    features = closed[:, columns]
    rows = np.flatnonzero(np.diff(features.indptr) > 0)
    names = tuple(ontology.names[column] for column in columns)
    found = np.array(ids, dtype=str)[rows]
    return Dataset(
        sparse.csc_array(features[rows]),
        feature_names=names,
        feature_hierarchy=ontology.subset(names),
        ids=found,
        source=_OWNER,
        **_target(found, classes),
    )


def _pairs(annotations: Dataset | Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    if not isinstance(annotations, Dataset):
        return [(str(row), str(term)) for row, term in annotations]
    if annotations.ids is None:
        raise ValueError("The data set of annotations names no rows; its 'ids' must be set.")
    cells = sparse.coo_array(sparse.csr_array(annotations.X))
    return [
        (str(annotations.ids[i]), annotations.feature_names[j])
        for i, j, value in zip(cells.row.tolist(), cells.col.tolist(), cells.data.tolist(), strict=True)
        if value
    ]


def _known(pairs: list[tuple[str, str]], ontology: Hierarchy, unknown: str) -> list[tuple[str, str]]:
    missing = dict.fromkeys(term for _, term in pairs if term not in ontology)
    if missing and unknown == "raise":
        shown = ", ".join(repr(term) for term in list(missing)[:3])
        raise ValueError(
            f"{len(missing)} annotated terms are not in the ontology (first: {shown}). Use the ontology's edition of "
            "the annotations, or pass unknown='drop' to leave them out."
        )
    return [pair for pair in pairs if pair[1] not in missing]


def _closed(pairs: list[tuple[str, str]], ids: list[str], ontology: Hierarchy) -> sparse.csr_array:
    row_of = {name: i for i, name in enumerate(ids)}
    rows = np.array([row_of[row] for row, _ in pairs], dtype=np.intp)
    columns = np.array([ontology.index(term) for _, term in pairs], dtype=np.intp)
    direct = sparse.csr_array((np.ones(len(pairs)), (rows, columns)), shape=(len(ids), len(ontology)))
    closed = sparse.csr_array(direct + direct @ ontology.ancestor_matrix.astype(np.float64))
    closed.data[:] = 1.0
    return closed


def _classes_of(annotations: Dataset) -> dict[str, str]:
    if not annotations.target_type.has_one_label or annotations.ids is None:
        raise ValueError("The target of annotated rows must be classes; pass `classes` to give others.")
    values = annotations.y
    if annotations.label_names and np.asarray(values).dtype.kind in "iu":
        values = [annotations.label_names[code] for code in values]
    return dict(zip(map(str, annotations.ids), map(str, values), strict=True))


def _target(ids: np.ndarray, classes: Mapping[str, str] | None) -> dict[str, Any]:
    if classes is None:
        return {}
    label_names, y = np.unique([str(classes[row]) for row in ids], return_inverse=True)
    return {"y": y, "target": "classes", "label_names": tuple(label_names.tolist())}
