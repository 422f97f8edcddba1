"""What is asked about: the outputs of a forest that can be tested, and the branches that they make up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ramify import _core
from ramify.hierarchy import Hierarchy
from ramify.targets import Target
from ramify.targets.rankings import pair_hierarchy

FEWEST = 10
"""Rows with a label, and rows without it, that a test needs."""


class Untestable(ValueError):
    """Data on which nothing can be tested: too few rows, too many features, or labels that do not vary."""


def refuse_unknown(target: Target) -> None:
    """Refuse unknown cells, on which the error rate was never tried."""
    if target.unknown is not None:
        raise Untestable(
            "discoveries takes complete targets, but y has unknown cells (NaN): its error rate was never tried on "
            "those. Leave out the rows or the labels that are not known."
        )


WHOLE = ""
"""The branch that is all of y."""

ALL_LABELS = "all labels"
"""What that branch is called wherever people read it."""


@dataclass(frozen=True)
class Outcome:
    """Outputs, branches and what is known of each row.

    Attributes
    ----------
    truth : array of shape (n_samples, n_tested)
        0 and 1, standardised numbers, or signs of pairs; NaN is unknown.
    outputs : int32 array of shape (n_tested,)
        The outputs that can be tested, ascending.
    weights : array of shape (n_tested,)
        Weight of each in an effect.
    branches : tuple of str
        Names of the branches with an output that can be tested; the first is WHOLE.
    members : CSR array of shape (n_branches, n_tested)
        1 where an output belongs to a branch.
    parents : list of list of int
        Positions of the branches directly above each; WHOLE is above the roots.
    rows : int array of shape (n_branches,)
        Rows that have the branch (that are known, for numbers and rankings).
    untested : dict of str to str
        Why a label cannot be tested.
    target : LabelRows or NumberRows
        All of y, as the kernels take it.
    """

    truth: np.ndarray
    outputs: np.ndarray
    weights: np.ndarray
    branches: tuple[str, ...]
    members: sparse.csr_array
    parents: list[list[int]]
    rows: np.ndarray
    untested: dict[str, str]
    target: _core.LabelRows | _core.NumberRows


def outcome_of(target: Target, used: np.ndarray) -> Outcome:
    """The outputs of a target that can be tested, and their branches.

    Parameters
    ----------
    target : Target
        y, encoded.
    used : bool array of shape (n_samples,)
        Rows that take part.
    """
    rows: Any = target.kernel_rows()
    names = target.output_names
    if target.ranks_labels:
        return _pair_outcome(names, rows, used)
    if target.has_labels:
        indptr, indices, weights = (np.asarray(part) for part in (rows.indptr, rows.indices, rows.weights))
        labels = sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=(len(indptr) - 1, len(names)))
        counts = np.asarray(labels[used].sum(axis=0)).ravel()
        why = [_too_few(count, used.sum() - count) for count in counts.tolist()]
        outputs = _tested(why, names, "label")
        truth = labels[:, outputs].toarray()
        order = target.hierarchy or Hierarchy.from_edges([], nodes=names)
        own = np.arange(len(names))
        return _assembled(order, own, outputs, why, truth, weights, counts, rows)
    if target.parts_differ:
        return _mixed_outcome(target, rows, used)
    values, weights = np.asarray(rows.values), np.asarray(rows.weights)
    why = ["" if np.nanstd(column[used]) > 0 else "it has one value only" for column in values.T]
    outputs = _tested(why, names, "number")
    order = Hierarchy.from_edges([], nodes=names)
    known = (~np.isnan(values[used])).sum(axis=0)
    own = np.arange(len(names))
    return _assembled(order, own, outputs, why, values[:, outputs], weights, known, rows)


def _mixed_outcome(target: Any, rows: Any, used: np.ndarray) -> Outcome:
    """Several targets side by side: each is a branch, with its classes or labels below it."""
    values, names = np.asarray(rows.values), target.output_names
    parts = list(zip(target.names, target.slices, target.parts, strict=True))
    above = [(name, outputs, part) for name, outputs, part in parts if names[outputs] != (name,)]
    edges = [(name, entry) for name, outputs, _ in above for entry in names[outputs]]
    for own_order in (part.hierarchy for _, _, part in above if part.hierarchy is not None):
        edges += [(own_order.names[parent], own_order.names[child]) for parent, child in own_order.edges.tolist()]
    order = Hierarchy.from_edges(edges, nodes=(*(name for name, _, _ in above), *names))
    has_shares = np.concatenate([np.full(len(part.weights), part.has_labels) for part in target.parts])
    known = (~np.isnan(values[used])).sum(axis=0)
    n_with = np.nansum(values[used] > 0, axis=0)
    varies = np.nanstd(values[used], axis=0) > 0
    why_output = [
        _too_few(n_with[k], known[k] - n_with[k]) if has_shares[k] else "" if varies[k] else "it has one value only"
        for k in range(len(names))
    ]
    outputs = _tested(why_output, names, "output")
    places = np.concatenate([np.full(len(above), -1), np.arange(len(names))])
    counts = np.concatenate([[known[own].max() for _, own, _ in above], np.where(has_shares, n_with, known)])
    why = [""] * len(above) + why_output
    return _assembled(order, places, outputs, why, values[:, outputs], np.asarray(rows.weights), counts, rows)


def _pair_outcome(names: tuple[str, ...], target: Any, used: np.ndarray) -> Outcome:
    signs = np.asarray(target.signs, dtype=np.float64)
    values = signs if target.compared is None else np.where(np.asarray(target.compared, dtype=bool), signs, np.nan)
    first, second = (values[used] > 0).sum(axis=0), (values[used] < 0).sum(axis=0)
    why_pair = [_too_few(a, b, "that prefer the first", "the second") for a, b in zip(first, second, strict=True)]
    order = pair_hierarchy(names)
    n_labels = len(names)
    outputs = _tested(why_pair, order.names[n_labels:], "pair")
    own = np.concatenate([np.full(n_labels, -1), np.arange(len(why_pair))])
    known = (~np.isnan(values[used])).sum(axis=0)
    counts = np.concatenate([np.full(n_labels, int(used.sum())), known])
    weights = np.ones(len(why_pair))
    why = [""] * n_labels + why_pair
    pairs = _core.NumberRows(np.ascontiguousarray(values), weights)
    return _assembled(order, own, outputs, why, values[:, outputs], weights, counts, pairs)


def _too_few(n_with: float, n_without: float, having: str = "with it", lacking: str = "without it") -> str:
    for n_rows, which in ((int(n_with), having), (int(n_without), lacking)):
        if n_rows < FEWEST:
            rows = "only 1 row" if n_rows == 1 else f"only {n_rows} rows"
            return f"{rows} {which}; {FEWEST} are needed" if n_rows else f"no row {which}"
    return ""


def _tested(why: list[str], names: Any, what: str) -> np.ndarray:
    outputs = np.flatnonzero([not reason for reason in why]).astype(np.int32)
    if not len(outputs):
        raise Untestable(
            f"discoveries has nothing to test: no {what} varies enough. The first, {names[0]!r}: {why[0]}. A {what} "
            f"needs at least {FEWEST} rows on either side."
            if what != "number"
            else "discoveries has nothing to test: every number in y has one value only."
        )
    return outputs


def _assembled(
    order: Hierarchy,
    own: np.ndarray,
    outputs: np.ndarray,
    why: list[str],
    truth: np.ndarray,
    weights: np.ndarray,
    counts: np.ndarray,
    target: _core.LabelRows | _core.NumberRows,
) -> Outcome:
    """Branches of a hierarchy whose node i has the output `own[i]` (-1: none); those without a tested one leave."""
    place = np.full(int(own.max()) + 1, -1)
    place[outputs] = np.arange(len(outputs))
    has = np.flatnonzero((own >= 0) & (place[own.clip(0)] >= 0))
    outputs_of = sparse.csr_array((np.ones(len(has)), (has, place[own[has]])), shape=(len(order), len(outputs)))
    below = sparse.csr_array(order.ancestor_matrix.T.astype(np.float64) + sparse.eye_array(len(order)))
    within = sparse.csr_array(below @ outputs_of)
    within.data[:] = 1.0
    # A label that cannot be tested itself leaves with its own claim; labels below it have fewer rows or more.
    stays = np.array([not why[node] for node in range(len(order))]) & (np.diff(within.indptr) > 0)
    kept = np.flatnonzero(stays)
    position = np.full(len(order), -1)
    position[kept] = 1 + np.arange(len(kept))
    above = sparse.csr_array(order.parent_matrix)
    parents: list[list[int]] = [[]]
    for node in kept.tolist():
        found = [int(position[p]) for p in above.indices[above.indptr[node] : above.indptr[node + 1]] if stays[p]]
        parents.append(found or [0])
    members = sparse.csr_array(sparse.vstack([np.ones((1, len(outputs))), within[kept]]))
    rows = np.concatenate([[len(truth)], counts[kept]]).astype(np.int64)
    names = (WHOLE, *(order.names[node] for node in kept.tolist()))
    untested = {order.names[node]: why[node] for node in range(len(order)) if why[node]}
    return Outcome(truth, outputs, weights[outputs], names, members, parents, rows, untested, target)
