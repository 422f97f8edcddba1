"""Binary features that form an ontology, with planted terms that drive the class."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from ramify.datasets.dataset import Dataset
from ramify.hierarchy import Hierarchy
from ramify.parameters import check_integer, check_real

_OWNER = "make_feature_hierarchy"


def make_feature_hierarchy(
    n_samples: int = 300,
    *,
    n_features: int = 100,
    n_classes: int = 2,
    n_drivers: int = 2,
    n_annotations: float = 6.0,
    strength: float = 0.3,
    extra_parents: float = 0.3,
    random_state: int | np.random.RandomState | None = None,
) -> Dataset:
    """Generate rows annotated with the terms of a random ontology, as genes are with the Gene Ontology.

    Every row has a class and is annotated with a few terms: each is drawn with probability `strength` from the terms at
    or below one of the class's driving terms, otherwise from all terms. A row has a term if it is annotated with it or
    with a term below it, so the features are closed under the hierarchy. The driving terms tell the class; the terms
    above them tell less, those below them are rarer.

    Parameters
    ----------
    n_samples : int, default=300
        Number of rows.
    n_features : int, default=100
        Number of terms, the root included.
    n_classes : int, default=2
        Number of classes, equally likely.
    n_drivers : int, default=2
        Number of driving terms per class; none is an ancestor of another.
    n_annotations : float, default=6.0
        Mean number of annotations per row (Poisson; at least one).
    strength : float, default=0.3
        Probability that an annotation comes from the class's driving terms; 0 makes the class unpredictable.
    extra_parents : float, default=0.3
        Probability that a term has a second parent, a sibling of the first; above 0 the hierarchy is a DAG.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    Dataset
        With sparse 0/1 features, `feature_hierarchy`, and `truth`, the 0/1 matrix of features by classes.

    Examples
    --------
    >>> from ramify.datasets import make_feature_hierarchy
    >>> data = make_feature_hierarchy(50, n_features=30, random_state=0)
    >>> data
    Dataset(50 rows, 30 sparse features, target='classes', 2 labels)
    >>> int(data.truth.sum()), len(data.feature_hierarchy.violations(data.X))
    (4, 0)
    """
    check_integer(_OWNER, "n_samples", n_samples, low=1)
    check_integer(_OWNER, "n_classes", n_classes, low=2)
    check_integer(_OWNER, "n_drivers", n_drivers, low=1)
    check_integer(_OWNER, "n_features", n_features, low=4 * n_classes * n_drivers)
    check_real(_OWNER, "n_annotations", n_annotations, low=0, open_low=True)
    check_real(_OWNER, "strength", strength, low=0, high=1)
    check_real(_OWNER, "extra_parents", extra_parents, low=0, high=1)
    random = np.random.default_rng(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    hierarchy = _draw_ontology(n_features, extra_parents, random)
    at_or_below = sparse.csr_array(hierarchy.ancestor_matrix.T + sparse.eye_array(n_features, format="csr"))
    drivers = _draw_drivers(at_or_below, n_classes * n_drivers, random).reshape(n_classes, n_drivers)
    y = random.integers(n_classes, size=n_samples)
    annotations = _annotate(y, drivers, at_or_below, n_annotations, strength, random)
    closed = annotations + annotations @ hierarchy.ancestor_matrix.astype(np.float64)
    closed.data[:] = 1.0
    truth = np.zeros((n_features, n_classes), dtype=np.int8)
    truth[drivers.ravel(), np.repeat(np.arange(n_classes), n_drivers)] = 1
    return Dataset(
        sparse.csc_array(closed),
        y=y,
        target="classes",
        feature_names=hierarchy.names,
        label_names=tuple(f"class {c}" for c in range(n_classes)),
        feature_hierarchy=hierarchy,
        truth=truth,
        source=_OWNER,
    )


def _draw_ontology(n_terms: int, extra_parents: float, random: np.random.Generator) -> Hierarchy:
    """Terms hang below uniformly drawn earlier ones, which gives the depth and the fan-out of a real ontology."""
    parent = np.floor(random.random(n_terms) * np.arange(n_terms)).astype(np.int64)
    edges = [np.column_stack([parent[1:], np.arange(1, n_terms)])]
    # A sibling of the parent: an earlier term with the same grandparent, found by drawing among that one's children.
    child_order = np.argsort(parent[1:], kind="stable") + 1
    n_children = np.bincount(parent[1:], minlength=n_terms)
    first_child = np.cumsum(n_children) - n_children
    grandparent = parent[parent]
    draw = (random.random(n_terms) * n_children[grandparent]).astype(np.int64)
    uncle = child_order[np.minimum(first_child[grandparent] + draw, n_terms - 2)]
    term = np.arange(n_terms)
    has_second = (random.random(n_terms) < extra_parents) & (parent > 0) & (uncle < term) & (uncle != parent)
    edges.append(np.column_stack([uncle[has_second], term[has_second]]))
    width = len(str(n_terms - 1))
    return Hierarchy([f"T{i:0{width}d}" for i in range(n_terms)], np.concatenate(edges))


def _draw_drivers(at_or_below: sparse.csr_array, n_drivers: int, random: np.random.Generator) -> np.ndarray:
    """Terms that are not related to each other, of middling size where there are enough of them."""
    n_terms = at_or_below.shape[0]
    size = np.diff(at_or_below.indptr)
    middling = (size >= 3) & (size <= max(3, n_terms // (2 * n_drivers)))
    order = random.permutation(n_terms)
    order = np.concatenate([order[middling[order]], order[~middling[order] & (order > 0)]])
    blocked = np.zeros(n_terms, dtype=bool)
    above = sparse.csr_array(at_or_below.T)
    drivers: list[int] = []
    for term in order.tolist():
        if len(drivers) == n_drivers:
            break
        if not blocked[term]:
            drivers.append(term)
            for related in (at_or_below, above):
                blocked[related.indices[related.indptr[term] : related.indptr[term + 1]]] = True
    if len(drivers) < n_drivers:
        raise ValueError(
            f"The ontology has only {len(drivers)} terms that are not related to each other, and {n_drivers} were "
            "asked for; take more features or fewer drivers."
        )
    return np.array(drivers)


def _annotate(
    y: np.ndarray,
    drivers: np.ndarray,
    at_or_below: sparse.csr_array,
    n_annotations: float,
    strength: float,
    random: np.random.Generator,
) -> sparse.csr_array:
    n_terms = at_or_below.shape[0]
    per_row = np.maximum(1, random.poisson(n_annotations, size=len(y)))
    row = np.repeat(np.arange(len(y)), per_row)
    term = random.integers(n_terms, size=len(row))
    driver = drivers[y[row], random.integers(drivers.shape[1], size=len(row))]
    start, stop = at_or_below.indptr[driver], at_or_below.indptr[driver + 1]
    below = at_or_below.indices[start + (random.random(len(row)) * (stop - start)).astype(np.int64)]
    term = np.where(random.random(len(row)) < strength, below, term)
    annotations = sparse.csr_array((np.ones(len(row)), (row, term)), shape=(len(y), n_terms))
    annotations.sum_duplicates()
    annotations.data[:] = 1.0
    return annotations
