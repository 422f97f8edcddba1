"""Predictions of ontology terms as the CAFA challenges measure them: per namespace, plain and by information."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ramify.hierarchy import Hierarchy
from ramify.metrics.hierarchical import checked_information, fmax, label_information, smin
from ramify.metrics.inputs import in_hierarchy_order, row_counts, score_matrix, zero_one_matrix


def cafa_measures(
    y_true: Any,
    y_score: Any,
    *,
    hierarchy: Hierarchy,
    information: Any = None,
    namespaces: Mapping[str, Iterable[str]] | None = None,
    thresholds: Any = None,
) -> pd.DataFrame:
    """Fmax, Fmax weighted by information, and Smin of each namespace, as the `cafaeval` package has them.

    A row counts in the namespaces in which it has a label. Within a namespace, labels are closed under ancestors and
    scores raised to those of descendants first.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        0/1 per label, columns in the order of ``hierarchy.names``.
    y_score : array-like or sparse matrix of the same shape
        Scores in [0, 1].
    hierarchy : Hierarchy
        Of the labels.
    information : array-like of shape (n_labels,) or None, default=None
        Bits that each label adds to its parents; None computes them from ``y_true`` by :func:`label_information`. CAFA
        computes them from the training rows.
    namespaces : mapping of str to labels, optional
        Labels of each namespace; by default each root with its descendants is one. A single root above all, as
        some files of the Gene Ontology have it, is none: its children are.
    thresholds : array-like or None, default=None
        Thresholds to try; None takes CAFA's 0.01, 0.02, ..., 1. (`cafaeval` stops before 1.)

    Returns
    -------
    DataFrame with a row per namespace
        ``n_rows``, ``fmax``, ``fmax_threshold``, ``weighted_fmax``, ``weighted_fmax_threshold``, ``smin`` and
        ``smin_threshold``.

    References
    ----------
    Piovesan, D. et al. (2024). CAFA-evaluator: a Python tool for benchmarking ontological classification methods.
    Bioinformatics Advances 4.
    Clark, W. T. and Radivojac, P. (2013). Information-theoretic evaluation of predicted ontological annotations.
    Bioinformatics 29.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.metrics import cafa_measures
    >>> terms = Hierarchy.from_paths(["process", "process/growth", "function", "function/binding"])
    >>> truth = [[1, 1, 0, 0], [1, 0, 1, 1]]
    >>> scores = [[0.9, 0.8, 0.2, 0.1], [0.9, 0.1, 0.9, 0.7]]
    >>> cafa_measures(truth, scores, hierarchy=terms)[["n_rows", "fmax"]].to_dict("index")
    {'process': {'n_rows': 2, 'fmax': 1.0}, 'function': {'n_rows': 1, 'fmax': 1.0}}
    """
    truth = zero_one_matrix(in_hierarchy_order(y_true, hierarchy, "y_true"), "y_true")
    scores = score_matrix(in_hierarchy_order(y_score, hierarchy, "y_score"))
    bits = label_information(truth, hierarchy=hierarchy) if information is None else information
    bits = checked_information(bits, len(hierarchy))
    lines: dict[str, dict[str, float]] = {}
    for name, labels in (_namespaces(hierarchy) if namespaces is None else namespaces).items():
        columns = np.array(sorted(hierarchy.index(label) for label in labels), dtype=np.intp)
        part = hierarchy.subset(hierarchy.names[j] for j in columns)
        rows = np.flatnonzero(row_counts(truth[:, columns]))
        pair = truth[rows][:, columns], scores[rows][:, columns]
        measured = {
            "fmax": fmax(*pair, hierarchy=part, thresholds=thresholds),
            "weighted_fmax": fmax(*pair, hierarchy=part, thresholds=thresholds, information=bits[columns]),
            "smin": smin(*pair, hierarchy=part, thresholds=thresholds, information=bits[columns]),
        }
        lines[name] = {"n_rows": len(rows)}
        for title, score in measured.items():
            lines[name] |= {title: float(score), f"{title}_threshold": getattr(score, "threshold", np.nan)}
    return pd.DataFrame.from_dict(lines, orient="index")


def _namespaces(hierarchy: Hierarchy) -> dict[str, list[str]]:
    """Each root, or each child of a single root, with its descendants."""
    roots = hierarchy.roots
    if len(roots) == 1 and len(hierarchy) > 1:
        roots = hierarchy.children[roots[0]]
    return {root: [root, *hierarchy.descendants(root)] for root in roots}
