"""How much of what is known of a branch is due to a unit, and whether there is more to it than the branch above."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse, stats

from ramify import _core
from ramify.features import Features
from ramify.features.frames import take_rows
from ramify.ranking.discovery.control import Graph, claimed_at, simes
from ramify.ranking.discovery.outcome import FEWEST
from ramify.ranking.discovery.rows import effective_number
from ramify.ranking.discovery.survey import Question, Survey, survey

_LEVEL = 0.05
_FEWEST_ROWS = 100
_MOST_CELLS = 1 << 23


def claim_effects(found: Survey, claims: np.ndarray) -> np.ndarray:
    """Effect and the ends of its interval for each claimed unit and branch, NaN where the interval has no bound.

    The effect is the share of what the forest explains of a branch that is lost when the unit is redrawn:
    e = (sum D / 2) / sum V over rows, with D the growth of the squared error and V = (y - mean y) (p - mean p) of the
    out-of-bag prediction p. With p~ the redrawn prediction, D / 2 is the loss of covariance if p~ varies like p; V is
    not changed by how much a forest shrinks its predictions. The interval is Fieller's at 90 %: it excludes 0 exactly
    when the one-sided test of the branch's D has p < 0.05.

    Parameters
    ----------
    found : Survey
        The survey.
    claims : int array of shape (n_claims, 2)
        Positions of units and branches.

    References
    ----------
    E. C. Fieller. Some problems in interval estimation. Journal of the Royal Statistical Society B 16, 1954.
    """
    shares = np.full((len(claims), 3), np.nan)
    if not len(claims):
        return shares
    mixing = found.outcome.members.multiply(found.outcome.weights).tocsr()
    branches, of_branch = np.unique(claims[:, 1], return_inverse=True)
    explained, sizes = _explained(found, mixing[branches])
    for chosen in _chunks(claims, len(sizes)):
        lost = _lost(found, mixing, claims[chosen])
        shares[chosen] = fieller_shares(lost, explained[of_branch[chosen]], sizes)
    return shares


def fieller_shares(lost: np.ndarray, explained: np.ndarray, sizes: np.ndarray, level: float = _LEVEL) -> np.ndarray:
    """Ratio of two sums over rows and the ends of Fieller's interval, clipped to [0, 1]; NaN where it has no bound.

    Parameters
    ----------
    lost, explained : array of shape (n_claims, n_groups)
        Weighted sums over the rows of each group (over each row, where rows stand alone).
    sizes : array of shape (n_groups,)
        Sums of weights.
    level : float
        Chance of each end.
    """
    total, n_groups = sizes.sum(), int((sizes > 0).sum())
    a, b = lost.sum(axis=1) / total, explained.sum(axis=1) / total
    own, other = lost - a[:, None] * sizes, explained - b[:, None] * sizes
    factor = n_groups / max(1, n_groups - 1) / total**2
    var_a, var_b = (own**2).sum(axis=1) * factor, (other**2).sum(axis=1) * factor
    both = (own * other).sum(axis=1) * factor
    square = stats.t.isf(level, max(1.0, effective_number(sizes) - 1)) ** 2
    first, second, third = b**2 - square * var_b, a * b - square * both, a**2 - square * var_a
    bounded = (first > 0) & (b > 0)
    safe = np.where(bounded, first, 1.0)
    half = np.sqrt(np.maximum(second**2 - first * third, 0.0))
    found = np.column_stack([a / np.where(bounded, b, 1.0), (second - half) / safe, (second + half) / safe])
    return np.where(bounded[:, None], np.clip(found, 0.0, 1.0), np.nan)


def _chunks(claims: np.ndarray, n_groups: int) -> Iterator[np.ndarray]:
    """Claims unit by unit, as many at once as fit."""
    order = np.argsort(claims[:, 0], kind="stable")
    step = max(1, _MOST_CELLS // max(1, n_groups))
    for start in range(0, len(order), step):
        yield order[start : start + step]


def _lost(found: Survey, mixing: sparse.csr_array, claims: np.ndarray) -> np.ndarray:
    """Half of w D of each claim, summed within groups of rows: claims x groups."""
    outcome, trees = found.outcome, found.forest.trees_
    lost = np.zeros((len(claims), found.row_groups.n_groups))
    for units in _side_by_side(found, np.unique(claims[:, 0]).tolist()):
        arguments = found.draws([found.units[unit] for unit in units])
        for first, last in found.row_blocks(max(trees.n_outputs, len(units) * len(outcome.outputs))):
            changes = _core.redraw_rows(trees, found.table, outcome.target, first_row=first, last_row=last, **arguments)
            for unit, change in zip(units, changes, strict=True):
                own = np.flatnonzero(claims[:, 0] == unit)
                rows = 0.5 * (mixing[claims[own, 1]] @ change.T) * found.row_weights[first:last]
                lost[own] += _in_groups(found, rows, first)
    return lost


def _side_by_side(found: Survey, units: list[int]) -> Iterator[list[int]]:
    """The units, as many at once as share no feature."""
    own: list[int] = []
    held: set[int] = set()
    for unit in units:
        features = found.units[unit].features
        if not held.isdisjoint(features):
            yield own
            own, held = [], set()
        own.append(unit)
        held.update(features)
    yield own


def _in_groups(found: Survey, rows: np.ndarray, first: int) -> np.ndarray:
    """Sums within groups of columns that are rows of the table from `first` on."""
    return found.row_groups.sums(rows.T, first).T


def _explained(found: Survey, mixing: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Sums of w (y - mean y) (p - mean p) of each branch, branches x groups, and the weights of the groups."""
    truth, trees = found.outcome.truth, found.forest.trees_
    blocks = list(found.row_blocks(trees.n_outputs))
    predicted = np.concatenate([found.predictions(first, last) for first, last in blocks])
    known = ~(np.isnan(truth) | np.isnan(predicted))
    w = found.row_weights[:, None] * known
    total = np.maximum(w.sum(axis=0), 1e-300)
    y, p = np.where(known, truth, 0.0), np.where(known, predicted, 0.0)
    product = w * (y - (w * y).sum(axis=0) / total) * (p - (w * p).sum(axis=0) / total)
    sizes = found.row_weights * known.any(axis=1)
    return mixing @ found.row_groups.sums(product).T, found.row_groups.sums(sizes)


def beyond_parents(
    found: Survey,
    claims: np.ndarray,
    features: Features,
    y: Any,
    sample_weight: np.ndarray | None,
    fdr: float,
) -> list[bool | None]:
    """Whether a claim holds among the rows that have all parents of its branch too; None where it cannot be tested.

    All such questions are corrected together (Benjamini-Hochberg).
    """
    outcome, question = found.outcome, found.question
    p_values = np.full(len(claims), np.nan)
    by_parents: dict[tuple[int, ...], list[int]] = {}
    for number, (_, branch) in enumerate(claims.tolist()):
        above = tuple(p for p in outcome.parents[branch] if p != 0)
        if above and isinstance(outcome.target, _core.LabelRows):
            by_parents.setdefault(above, []).append(number)
    for above, numbers in by_parents.items():
        columns = [_own_column(found, branch) for branch in above]
        rows = np.flatnonzero((outcome.truth[:, columns] == 1).all(axis=1) & (found.row_weights > 0))
        if len(rows) < _FEWEST_ROWS:
            continue
        testable = [k for k in numbers if _varies(outcome.truth[rows, _own_column(found, int(claims[k, 1]))])]
        if not testable:
            continue
        units = sorted({int(claims[k, 0]) for k in testable})
        local = _local_survey(question, found, units, features, y, sample_weight, rows)
        at = {unit.features: k for k, unit in enumerate(local.units)}
        branch_p = simes(local.p_values, local.outcome.members)
        for k in testable:
            unit = at.get(found.units[int(claims[k, 0])].features)
            name = outcome.branches[int(claims[k, 1])]
            inside = name in local.outcome.branches
            p_values[k] = 1.0 if unit is None or not inside else branch_p[unit, local.outcome.branches.index(name)]
    tested = np.flatnonzero(~np.isnan(p_values))
    answers: list[bool | None] = [None] * len(claims)
    if len(tested):
        holds = claimed_at(p_values[tested][:, None], Graph.of([[]], len(tested)), fdr, "flat")[:, 0]
        for k, answer in zip(tested.tolist(), holds.tolist(), strict=True):
            answers[k] = bool(answer)
    return answers


def _local_survey(
    question: Question,
    found: Survey,
    units: list[int],
    features: Features,
    y: Any,
    sample_weight: np.ndarray | None,
    rows: np.ndarray,
) -> Survey:
    """The same question among some rows, of some units only."""
    return survey(
        replace(question, merge=False, verbose=0, level=None),
        Features(features.values[rows], features.n_categories),
        take_rows(y, rows),
        None if sample_weight is None else sample_weight[rows],
        [found.units[unit].features for unit in units],
        found.row_groups.take(rows),
    )


def _own_column(found: Survey, branch: int) -> int:
    """The tested output that a branch of labels is named for."""
    label = found.forest.label_names_.index(found.outcome.branches[branch])
    return int(np.searchsorted(found.outcome.outputs, label))


def _varies(column: np.ndarray) -> bool:
    return FEWEST <= column.sum() <= len(column) - FEWEST
