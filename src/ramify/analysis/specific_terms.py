"""The most specific labels predicted for a row, with how much likelier they are than by their frequency alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse


@dataclass(frozen=True)
class Term:
    """A label predicted for a row.

    Attributes
    ----------
    label : int
        Its position in `label_names_`.
    probability : float
        What the model says.
    enrichment : float
        The probability over the label's share of the training rows.
    """

    label: int
    probability: float
    enrichment: float


def specific_terms(model: Any, X: Any, k: int) -> list[list[Term]]:
    """The labels predicted for each row below which nothing is predicted, the most enriched first.

    A label of every training row, as the root of an ontology is, is not among them.

    Parameters
    ----------
    model : estimator
        Fitted to label sets with a hierarchy.
    X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
        Features.
    k : int
        How many at most; a row may have fewer, or none.

    Examples
    --------
    >>> from ramify.analysis.specific_terms import specific_terms
    >>> from ramify.datasets import make_hierarchical
    >>> from ramify.ensemble import ForestClassifier
    >>> data = make_hierarchical(200, random_state=0)
    >>> forest = ForestClassifier(20, hierarchy=data.hierarchy, random_state=0).fit(data.X, data.y)
    >>> [forest.label_names_[term.label] for term in specific_terms(forest, data.X[:1], 3)[0]]
    ['1']
    """
    deepest = sparse.csr_array(model.hierarchy.most_specific(sparse.csr_array(model.predict(X))))
    deepest.sort_indices()
    probabilities = model.predict_proba(X)
    frequency = np.maximum(model.prior_, np.finfo(float).tiny)
    rows = []
    for row in range(deepest.shape[0]):
        labels = deepest.indices[deepest.indptr[row] : deepest.indptr[row + 1]]
        labels = labels[model.prior_[labels] < 1]
        said = np.asarray(probabilities[[row]][:, labels]).ravel()
        enrichment = said / frequency[labels]
        best = np.argsort(-enrichment, kind="stable")[:k]
        rows.append([Term(int(labels[at]), float(said[at]), float(enrichment[at])) for at in best])
    return rows
