"""Scores per label, gathered per branch of the hierarchy and as a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering

from ramify.ranking import FeatureRanking

BRANCH_CELLS = 120_000
"""Scores listed over all branches and methods; more would only make the page heavy."""

HEAT_CELLS = 90_000
"""Cells of all heat maps together."""


def branch_tops(
    ranking: FeatureRanking, claimed: Sequence[Sequence[int]] | None = None, *, n_methods: int = 1
) -> dict[str, Any]:
    """The best features of each branch (a label and all below it).

    Parameters
    ----------
    ranking : FeatureRanking
        With scores per label.
    claimed : sequence of sequence of int, optional
        Features that are listed in any case, per label.
    n_methods : int
        How many methods share the page; each gets its part of the room.

    Returns
    -------
    dict
        Per label: `features` best first, `scores` in thousandths of the best feature's, `tops` the best feature's
        score and `totals` the sum over all features; only positive scores count. `overall`: each feature's share of
        the scores of all labels.
    """
    scores = sparse.csc_array(ranking.branch_scores()).maximum(0)
    scores.sum_duplicates()
    n_labels = scores.shape[1]
    overall = np.maximum(np.asarray(ranking.per_label.sum(axis=1)).ravel(), 0)
    overall /= overall.sum() or 1.0
    n_kept = int(np.clip(BRANCH_CELLS // max(1, n_labels * n_methods), 10, scores.shape[0]))
    features, thousandths, tops, totals = [], [], [], []
    for label in range(n_labels):
        part = slice(scores.indptr[label], scores.indptr[label + 1])
        values, rows = scores.data[part], scores.indices[part]
        best = np.lexsort((rows, -values))[:n_kept]
        best = best[values[best] > 0]
        top = float(values[best[0]]) if len(best) else 0.0
        listed = rows[best].tolist()
        further = [] if claimed is None else [feature for feature in claimed[label] if feature not in set(listed)]
        features.append(listed + further)
        thousandths.append(np.rint(1000 * values[best] / (top or 1.0)).astype(int).tolist() + [0] * len(further))
        tops.append(float(f"{top:.4g}"))
        totals.append(float(f"{values.sum():.4g}"))
    shares = [float(f"{share:.4g}") for share in overall.tolist()]
    return {"features": features, "scores": thousandths, "tops": tops, "totals": totals, "overall": shares}


def most_driven(per_label: Any) -> list[int]:
    """The label of which each feature has the largest share of importance; -1 where it has none."""
    scores = sparse.csr_array(per_label).maximum(0)
    totals = np.asarray(scores.sum(axis=0)).ravel()
    totals[totals == 0] = 1.0
    shares = sparse.csr_array(scores @ sparse.diags_array(1.0 / totals))
    driven = np.asarray(shares.argmax(axis=1)).ravel()
    driven[np.asarray(shares.sum(axis=1)).ravel() <= 0] = -1
    return [int(label) for label in driven]


def heat_map(ranking: FeatureRanking, *, n_methods: int = 1) -> dict[str, Any]:
    """The best features by label, with an order of rows and columns that puts the similar beside each other.

    Parameters
    ----------
    ranking : FeatureRanking
        With scores per label.
    n_methods : int
        How many heat maps share the page.

    Returns
    -------
    dict
        `features` and `labels` (with a score) shown, `cells` in thousandths of each label's best feature, `tops` that
        best score, `feature_order` and `label_order` positions in clustered order.
    """
    scores = sparse.csr_array(ranking.per_label).maximum(0)
    totals = np.asarray(scores.sum(axis=0)).ravel()
    n_labels = min(max(2, int((totals > 0).sum())), scores.shape[1], HEAT_CELLS // (20 * n_methods))
    labels = np.sort(np.argsort(-totals, kind="stable")[:n_labels])
    n_features = int(np.clip(HEAT_CELLS // (n_methods * max(1, n_labels)), 20, 60))
    features = ranking.order[:n_features]
    tops = np.asarray(scores.tocsc()[:, labels].max(axis=0).todense()).ravel().astype(float)
    values = scores[features][:, labels].toarray() / np.where(tops > 0, tops, 1.0)
    return {
        "features": features.tolist(),
        "labels": labels.tolist(),
        "cells": np.rint(1000 * values).astype(int).tolist(),
        "tops": [float(f"{top:.4g}") for top in tops],
        "feature_order": clustered_order(values),
        "label_order": clustered_order(values.T),
    }


def clustered_order(rows: np.ndarray) -> list[int]:
    """Positions of the rows such that similar ones are neighbours (average linkage, leaves in the best order)."""
    if len(rows) < 3:
        return list(range(len(rows)))
    tree = linkage(rows, method="average")
    if len(rows) <= 300:
        tree = optimal_leaf_ordering(tree, rows)
    return [int(position) for position in leaves_list(tree)]
