"""How much of what is known of a branch is due to a unit, and whether there is more to it than the branch above."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import stats

from ramify import _core
from ramify.features import Features
from ramify.features.frames import take_rows
from ramify.ranking.discovery.control import claimed_at, simes
from ramify.ranking.discovery.outcome import FEWEST
from ramify.ranking.discovery.survey import Question, Survey, survey

_COVERAGE = 0.95
_FEWEST_ROWS = 100
_UNITS_AT_ONCE = 64


def claim_effects(found: Survey, claims: np.ndarray) -> np.ndarray:
    """Effect and the ends of its interval for each claimed unit and branch, NaN where the branch is not predicted.

    The effect is e = sum D / sum E over rows, with D the growth of the loss when the unit is redrawn and E what the
    out-of-bag prediction gains over the frequency among the other rows; its standard error is that of a ratio.

    Parameters
    ----------
    found : Survey
        The survey.
    claims : int array of shape (n_claims, 2)
        Positions of units and branches.
    """
    sums = np.zeros((5, len(claims)))
    units = np.unique(claims[:, 0]).tolist()
    for start in range(0, len(units), _UNITS_AT_ONCE):
        _add_sums(found, claims, units[start : start + _UNITS_AT_ONCE], sums)
    return _ratios(sums, len(found.row_weights))


def _add_sums(found: Survey, claims: np.ndarray, units: list[int], sums: np.ndarray) -> None:
    """Add the sums over rows of w D, w E, w2 D D, w2 D E and w2 E E of the claims of some units."""
    outcome, trees = found.outcome, found.forest.trees_
    arguments = found.draws([found.units[unit] for unit in units])
    mixing = outcome.members.multiply(outcome.weights).tocsr()
    for first, last in found.row_blocks(max(trees.n_outputs, len(units) * len(outcome.outputs))):
        changes = _core.redraw_rows(trees, found.table, outcome.target, first_row=first, last_row=last, **arguments)
        gains = _gains(found, first, last).T
        w = found.row_weights[first:last]
        for unit, change in zip(units, changes, strict=True):
            own = np.flatnonzero(claims[:, 0] == unit)
            weights = mixing[claims[own, 1]]
            D, E = weights @ change.T, weights @ gains
            sums[:, own] += [D @ w, E @ w, (D * D) @ w**2, (D * E) @ w**2, (E * E) @ w**2]


def _gains(found: Survey, first: int, last: int) -> np.ndarray:
    """Loss of the frequency among the other rows less the out-of-bag loss; 0 where either is unknown."""
    truth, weights = found.outcome.truth, found.row_weights
    known = ~np.isnan(truth)
    filled, w = np.where(known, truth, 0.0), weights[:, None] * known
    total, weight = (w * filled).sum(axis=0), w.sum(axis=0)
    here, own = filled[first:last], w[first:last]
    others = (total - own * here) / np.maximum(weight - own, 1e-300)
    gains = (others - here) ** 2 - (found.predictions(first, last) - here) ** 2
    return np.where(known[first:last] & ~np.isnan(gains), gains, 0.0)


def _ratios(sums: np.ndarray, n_rows: int) -> np.ndarray:
    change, gain, squares, products, gain_squares = sums
    right = gain > 0
    safe = np.where(right, gain, 1.0)
    e = change / safe
    variance = np.maximum(squares - 2 * e * products + e**2 * gain_squares, 0.0) / safe**2
    half = stats.t.ppf((1 + _COVERAGE) / 2, max(1, n_rows - 1)) * np.sqrt(variance)
    return np.where(right[:, None], np.column_stack([e, e - half, e + half]), np.nan)


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
        holds = claimed_at(p_values[tested][:, None], [[]], fdr, "flat", 0)[:, 0]
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
        replace(question, merge=False, verbose=0),
        Features(features.values[rows], features.n_categories),
        take_rows(y, rows),
        None if sample_weight is None else sample_weight[rows],
        [found.units[unit].features for unit in units],
    )


def _own_column(found: Survey, branch: int) -> int:
    """The tested output that a branch of labels is named for."""
    label = found.forest.label_names_.index(found.outcome.branches[branch])
    return int(np.searchsorted(found.outcome.outputs, label))


def _varies(column: np.ndarray) -> bool:
    return FEWEST <= column.sum() <= len(column) - FEWEST
