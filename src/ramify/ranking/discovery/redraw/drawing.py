"""Drawing: new values for a column or a group of columns from their models."""

from __future__ import annotations

from typing import Any

import numpy as np

from ramify.ranking.discovery.predictors import BLOCK, blocks_of_rows
from ramify.ranking.discovery.redraw.column import ColumnModel

_SHRINKAGE = 0.1
_LEAST_CHANCE = 1e-4
_ROUNDS = 50
"""How often rows in pairs may exchange their states."""


def draw_column(model: ColumnModel, random: np.random.Generator) -> np.ndarray:
    """A column drawn anew."""
    if model.state is not None and model.alike is not None and model.chances is not None:
        return model.states[exchanged_states(model.state, model.chances, model.alike, random)]
    if model.fitted is None or model.left is None or model.scale is None:
        return model.states[_sampled(model.chances, random)]
    if model.bin_of is None or model.bin_chances is None:
        difference = _exchanged(model.fitted, model.left, random)
    else:
        difference = model.left[_donors(model.bin_of, model.bin_chances, random)]
    drawn = _snapped(model.fitted + model.scale * difference, model.support)
    if model.chances is None:
        return drawn
    state = _sampled(model.chances, random)
    return np.where(state == len(model.states), drawn, np.append(model.states, 0.0)[state])


def shuffled_rows(columns: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Rows of columns in another order: drawn given nothing."""
    return columns[random.permutation(len(columns))]


def draw_group(values: np.ndarray, models: list[ColumnModel], random: np.random.Generator) -> np.ndarray:
    """Columns of a group drawn together.

    Rows of scaled residuals are exchanged among rows with similar expectations; where some columns are of states,
    whole rows of values are, by the odds that `row_tilts` gives.

    Parameters
    ----------
    values : array of shape (n_samples, n_members)
        The columns.
    models : list of ColumnModel
        Of each.
    random : Generator
        What is drawn with.
    """
    if any(model.chances is not None or model.left is None or model.scale is None for model in models):
        return values[exchanged_rows(*row_tilts(values, models), random)]
    expected = np.column_stack([model.expected for model in models])
    shaped = _shaped(models)
    if shaped is None:
        order = np.argsort(_leading(expected), kind="stable")
        donors = np.empty(len(order), dtype=np.int64)
        donors[order] = _block_order(order, random)
    else:  # the member whose shape depends most on other features chooses the rows
        donors = _donors(shaped[0], shaped[1], random)
    drawn = [expected[:, k] + m.scale * m.left[donors] for k, m in enumerate(models)]  # type: ignore[index]
    return np.column_stack([_snapped(column, model.support) for column, model in zip(drawn, models, strict=True)])


def row_tilts(values: np.ndarray, models: list[ColumnModel]) -> tuple[np.ndarray, np.ndarray]:
    """What a row of values is, and what the other features of a row make likely, in columns that are multiplied.

    A working model of the exponential family: the log chance of values z in row i is z' theta_i, and a part that is the
    same for all. For one column, theta is the logit of a state or the expectation of a number over its variance; the
    thetas of several columns are joined by the correlations of what is left of them.

    Parameters
    ----------
    values : array of shape (n_samples, n_members)
        The columns.
    models : list of ColumnModel
        Of each.
    """
    parts = [_tilt(column, model) for column, model in zip(values.T, models, strict=True)]
    shown, expected, own = (np.column_stack([part[k] for part in parts]) for k in range(3))
    left = shown - expected
    spread = np.sqrt(np.maximum((left**2).mean(axis=0), 1e-12))
    related = (left / spread).T @ (left / spread) / len(left)
    related = (1 - _SHRINKAGE) * related + _SHRINKAGE * np.eye(len(related))
    return shown, np.linalg.solve(related, (own * spread).T).T / spread


def exchanged_rows(shown: np.ndarray, tilt: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """For each row the row whose values it takes: rows in pairs exchange theirs by the odds before and after.

    Parameters
    ----------
    shown, tilt : array of shape (n_samples, n_columns)
        As of `row_tilts`.
    random : Generator
        What is drawn with.
    """
    held = np.arange(len(shown))
    for number in range(_ROUNDS):
        order = random.permutation(len(shown))[number % 2 :]
        first, second = order[: len(order) // 2 * 2].reshape(-1, 2).T
        a, b = held[first], held[second]
        gain = -np.einsum("ij,ij->i", shown[a] - shown[b], tilt[first] - tilt[second])
        swap = random.random(len(first)) < 1 / (1 + np.exp(-np.clip(gain, -50, 50)))
        held[first[swap]], held[second[swap]] = b[swap], a[swap]
    return held


def _tilt(column: np.ndarray, model: ColumnModel) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns that show a value (states but the most frequent, or a number), their expectations, and their thetas."""
    if model.chances is None or model.left is not None:
        known = ~np.isnan(column)
        shown = np.where(known, column, model.expected)[:, None]
        variance = max(float(np.mean(model.residual[known] ** 2)), 1e-12)
        return shown, model.expected[:, None], model.expected[:, None] / variance
    states, chances = model.states, np.clip(model.chances, _LEAST_CHANCE, 1.0)
    is_state = np.isnan(column)[:, None] & np.isnan(states) | (column[:, None] == states)
    leading = int(np.argmax(is_state.sum(axis=0)))
    others = np.arange(len(states)) != leading
    return is_state[:, others] * 1.0, chances[:, others], np.log(chances[:, others] / chances[:, [leading]])


def unit_residual(models: list[ColumnModel]) -> np.ndarray:
    """What the others leave unexplained of a column, or of the leading direction of a group's columns.

    Less what a draw has on average too: the mean within each block of rows that exchange residuals, or that of the
    bins that residuals are drawn from.
    """
    if len(models) > 1:
        residual = _leading(np.column_stack([model.residual for model in models]))
        return _centred_in_blocks(residual, _leading(np.column_stack([model.expected for model in models])))
    model = models[0]
    if model.fitted is None or model.left is None or model.scale is None:
        return model.residual
    own = ~np.isnan(model.left)
    residual = model.residual.copy()
    if model.bin_of is not None and model.bin_chances is not None:
        means = np.bincount(model.bin_of[own], model.left[own]) / np.bincount(model.bin_of[own])
        residual[own] -= model.scale[own] * (model.bin_chances[own] @ means)
    else:
        scaled = _centred_in_blocks(residual[own] / model.scale[own], model.fitted[own])
        residual[own] = scaled * model.scale[own]
    return residual


def _shaped(models: list[ColumnModel]) -> tuple[np.ndarray, np.ndarray] | None:
    """Bins, and their chances, of the member whose chances vary most."""
    found = [(m.bin_of, m.bin_chances) for m in models if m.bin_of is not None and m.bin_chances is not None]
    found = [part for part in found if (part[0] >= 0).all()]
    return max(found, key=lambda part: float(part[1].var(axis=0).sum()), default=None)


def _donors(bin_of: np.ndarray, chances: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """For each row a row of a bin that is drawn by its chances."""
    n_bins = chances.shape[1]
    order = np.argsort(bin_of, kind="stable")
    count = np.bincount(bin_of[bin_of >= 0], minlength=n_bins)
    start = np.concatenate([[0], np.cumsum(count)[:-1]]) + int((bin_of < 0).sum())
    own = _sampled(chances, random)
    return order[start[own] + (random.random(len(own)) * count[own]).astype(np.int64)]


def _sampled(chances: Any, random: np.random.Generator) -> np.ndarray:
    steps = np.cumsum(chances, axis=1)
    return (random.random(len(steps))[:, None] * steps[:, -1:] >= steps).sum(axis=1).clip(max=steps.shape[1] - 1)


def exchanged_states(
    state: np.ndarray, chances: np.ndarray, alike: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """States exchanged in pairs of rows that are alike, by the odds of the states of both before and after.

    Many states are not told apart so well that rows could be given any of them: what chances miss of the feature that
    the states follow most is kept by exchanging among rows that agree in it.

    References
    ----------
    T. B. Berrett, Y. Wang, R. F. Barber, R. J. Samworth. The conditional permutation test for independence while
    controlling for confounders. Journal of the Royal Statistical Society B 82, 2020.
    """
    logs = np.log(np.clip(chances, 1e-6, 1.0))
    found = state.copy()
    for number in range(_ROUNDS):
        order = np.lexsort((random.random(len(state)), alike))[number % 2 :]
        pairs = order[: len(order) // 2 * 2].reshape(-1, 2)
        first, second = pairs[alike[pairs[:, 0]] == alike[pairs[:, 1]]].T
        a, b = found[first], found[second]
        gain = logs[first, b] + logs[second, a] - logs[first, a] - logs[second, b]
        swap = random.random(len(first)) < 1 / (1 + np.exp(-gain))
        found[first[swap]], found[second[swap]] = b[swap], a[swap]
    return found


def _exchanged(fitted: np.ndarray, left: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Differences of other rows with similar fitted values; rows without one of their own borrow at random."""
    own = np.flatnonzero(~np.isnan(left))
    order = own[np.argsort(fitted[own], kind="stable")]
    drawn = np.empty(len(fitted))
    drawn[order] = left[_block_order(order, random)]
    lacking = np.flatnonzero(np.isnan(left))
    if len(lacking):
        near = random.integers(-BLOCK // 2, BLOCK // 2, len(lacking))
        place = np.searchsorted(fitted[order], fitted[lacking]) + near
        drawn[lacking] = left[order[np.clip(place, 0, len(order) - 1)]]
    return drawn


def _block_order(order: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Rows in an order that is random within blocks of neighbours."""
    return order[np.lexsort((random.random(len(order)), blocks_of_rows(len(order))))]


def _centred_in_blocks(residual: np.ndarray, fitted: np.ndarray) -> np.ndarray:
    block = np.empty(len(residual), dtype=np.int64)
    block[np.argsort(fitted, kind="stable")] = blocks_of_rows(len(residual))
    return residual - (np.bincount(block, residual) / np.bincount(block))[block]


def _snapped(drawn: np.ndarray, support: np.ndarray) -> np.ndarray:
    """The nearest values that the column has."""
    right = np.searchsorted(support, drawn).clip(1, len(support) - 1)
    low, high = support[right - 1], support[right]
    return np.where(drawn - low <= high - drawn, low, high)


def _leading(columns: np.ndarray) -> np.ndarray:
    """Scores of the first principal component of standardised columns."""
    centred = columns - columns.mean(axis=0)
    spread = centred.std(axis=0)
    centred = centred / np.where(spread > 0, spread, 1.0)
    left, strength, _ = np.linalg.svd(centred, full_matrices=False)
    return left[:, 0] * strength[0]
