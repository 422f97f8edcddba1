"""One survey: a forest, units drawn anew, and a p-value for each unit and output."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse, stats
from sklearn.base import clone

from ramify import _core
from ramify.features import Features
from ramify.parameters import worker_count
from ramify.progress import progress_bar
from ramify.ranking.discovery.checkpoint import Checkpoint
from ramify.ranking.discovery.control import simes
from ramify.ranking.discovery.outcome import Outcome, outcome_of, refuse_unknown
from ramify.ranking.discovery.predictors import Predictors
from ramify.ranking.discovery.rows import RowGroups
from ramify.ranking.discovery.units import Unit, correlated_features, modelled_units
from ramify.ranking.forest_ranker import grown_on

_FEWEST_COLUMNS = 40
_CUTS = 4
"""Fewer columns are padded with noise like them; one with fewer places to cut counts for less (one of zeros and ones a
quarter). Trees that use a column at the same cut again and again, grown on each other's rows, make errors that go
together, and the t-test takes rows as independent: without padding p-values of such tables are too small."""

_LENIENCY = 3.0
"""Units are modelled that could be claimed, drawn given nothing, at so many times the level."""

_DOUBTFUL = 0.001
_MOST_CELLS = 100_000
_MOST_DRAWN = 1 << 24


@dataclass(frozen=True)
class Question:
    """What does not change from survey to survey.

    Attributes
    ----------
    forest : estimator
        Cloned and grown.
    given : {"others", "nothing"}
        What columns are drawn given.
    merge : bool
        Whether units that others determine merge.
    n_draws, seed, n_jobs, verbose
        As of `discoveries`.
    checkpoint : Checkpoint or None
        Where finished pieces are kept.
    level : float or None
        Error rate of the claims to make: units that could not be claimed at it are not modelled and have p = 1. None
        models all that trees use.
    """

    forest: Any
    given: str
    merge: bool
    n_draws: int
    seed: int
    n_jobs: int | None
    verbose: int
    checkpoint: Checkpoint | None = None
    level: float | None = None


@dataclass(frozen=True)
class Survey:
    """What a survey found.

    Attributes
    ----------
    units : list of Unit
        Features and groups that some tree uses.
    p_values : array of shape (n_units, n_tested)
        One-sided, 1 for doubtful units.
    outcome : Outcome
        Outputs and branches.
    n_unused : int
        Units that no tree uses.
    """

    units: list[Unit]
    p_values: np.ndarray
    outcome: Outcome
    n_unused: int
    question: Question
    predictors: Predictors
    forest: Any
    table: Any
    growing_weights: np.ndarray | None
    row_weights: np.ndarray
    row_groups: RowGroups

    def draws(self, units: list[Unit]) -> dict[str, Any]:
        """The arguments of the kernels that say what is redrawn; the units share no feature."""
        question = self.question
        drawn = [unit.draw(self.predictors, question.n_draws, question.seed) for unit in units]
        offsets = np.concatenate([[0], np.cumsum([len(unit.features) for unit in units])])
        return {
            "unit_offsets": offsets.astype(np.int64),
            "unit_features": np.array([f for unit in units for f in unit.features], dtype=np.int32),
            "draws": np.ascontiguousarray(np.concatenate(drawn, axis=1)),
            "outputs": self.outcome.outputs,
            "row_weights": self.row_weights,
            "sample_weight": self.growing_weights,
            "row_groups": self.row_groups.kernel_groups,
            "n_threads": worker_count(question.n_jobs),
        }

    def sums(self, units: list[Unit], residuals: np.ndarray) -> Any:
        """Sums over rows of what redrawing units does to each output, with the residuals of the units."""
        return _core.redraw_sums(
            self.forest.trees_, self.table, self.outcome.target, residuals=residuals, progress=None, **self.draws(units)
        )

    def predictions(self, first: int, last: int) -> np.ndarray:
        """Out-of-bag predictions of the tested outputs; NaN where there is none."""
        found, _ = _core.predict_oob(
            self.forest.trees_,
            _core.FeatureRows(self.table),
            sample_weight=self.growing_weights,
            row_groups=self.row_groups.kernel_groups,
            first_row=first,
            last_row=last,
            n_threads=worker_count(self.question.n_jobs),
        )
        return found[:, self.outcome.outputs]

    def row_blocks(self, n_wide: int) -> Iterator[tuple[int, int]]:
        """Blocks of rows, small enough for so many numbers each."""
        step = max(1, _MOST_DRAWN // max(1, n_wide))
        for first in range(0, self.predictors.n_rows, step):
            yield first, min(first + step, self.predictors.n_rows)


def survey(
    question: Question,
    features: Features,
    y: Any,
    sample_weight: np.ndarray | None,
    groups: list[tuple[int, ...]] | None,
    row_groups: RowGroups | None = None,
) -> Survey:
    """Grow a forest, redraw what its trees use, and test.

    Parameters
    ----------
    question : Question
        How.
    features : Features
        X, encoded.
    y : array, CSR or frame
        The target.
    sample_weight : array or None
        Weights of the rows.
    groups : list of tuple of int or None
        Units to begin with, which may share features where they do not merge; None finds them.
    row_groups : RowGroups or None
        Rows that belong together; None takes each to stand alone.
    """
    values = np.asarray(features.values.toarray() if features.is_sparse else features.values, dtype=np.float64)
    row_groups = RowGroups.alone(len(values)) if row_groups is None else row_groups
    predictors = Predictors(values, features.n_categories, question.seed, row_groups)
    groups = correlated_features(predictors) if groups is None else groups
    n_missing = _n_lacking(values)
    if n_missing:
        features = _padded(features, values, n_missing, question.seed)
    forest, data = _grown(question, features, y, sample_weight, row_groups)
    n_rows = predictors.n_rows
    row_weights = np.ones(n_rows) if sample_weight is None else sample_weight.astype(np.float64)
    used = np.bincount(_tested_features(forest), minlength=predictors.n_features)[: predictors.n_features] > 0
    takes_part = row_weights > 0 if data.weights is None else (row_weights > 0) & (data.weights > 0)
    outcome = outcome_of(data.target, takes_part)
    shuffled = [Unit(group) for group in groups if used[list(group)].any()]
    found = Survey(
        shuffled,
        np.ones((len(shuffled), len(outcome.outputs))),
        outcome,
        len(groups) - len(shuffled),
        question,
        predictors,
        forest,
        data.table,
        data.weights,
        np.ascontiguousarray(row_weights),
        row_groups,
    )
    if question.given == "nothing":
        return _tested(found)
    wanted = [unit.features for unit in shuffled] if question.level is None else _claimable(found)
    units = _modelled(question, predictors, groups, wanted)
    held = {feature for unit in units for feature in unit.features}
    n_unused = sum(group[0] not in held for group in groups)
    p_values = np.ones((len(units), len(outcome.outputs)))
    return _tested(replace(found, units=units, p_values=p_values, n_unused=n_unused))


def _claimable(found: Survey) -> list[tuple[int, ...]]:
    """The units that could be claimed if they were drawn given nothing.

    Given the others a column changes less, so what does not pass then does not pass at all; a p-value of 1 in its stead
    keeps every error rate. The step-up at the whole of y is at least as liberal as that of DAGGER.
    """
    known = _known_rows(found)
    n_rows, n_units = found.predictors.n_rows, len(found.units) + found.n_unused
    sizes = _group_sizes(found, known)
    whole = sparse.csr_array(np.ones((1, len(found.outcome.outputs))))
    p = np.ones(len(found.units))
    for first, last in _chunks(found):
        chunk = found.units[first:last]
        sums = found.sums(chunk, np.zeros((len(chunk), n_rows)))
        p[first:last] = simes(_one_sided(sums, sizes), whole)[:, 0]
    level = _LENIENCY * float(found.question.level or 1.0)
    order = np.sort(p)
    passing = np.flatnonzero(order <= level * np.arange(1, len(p) + 1) / n_units)
    most = level * (passing.max() + 1) / n_units if len(passing) else 0.0
    return [unit.features for unit, own in zip(found.units, p.tolist(), strict=True) if own <= most]


def _tested(found: Survey) -> Survey:
    """The survey with p-values, and with doubts about units whose redraw the labels contradict."""
    known, saved = _known_rows(found), _saved_tests(found)
    units, p_values = list(found.units), []
    with progress_bar(len(units), found.question.verbose, "Testing features") as progress:
        for first, last in _chunks(found):
            chunk = units[first:last]
            work = partial(_tests, found, chunk, known)
            tests = work() if saved is None else saved.piece(f"{[unit.features for unit in chunk]}", work)
            p_values.append(tests["p_values"])
            units[first:last] = _checked(chunk, tests["doubt"])
            if progress is not None:
                progress(last)
    p = np.concatenate(p_values) if p_values else found.p_values
    p[[bool(unit.doubt) for unit in units]] = 1.0
    return replace(found, units=units, p_values=p)


def _tests(found: Survey, units: list[Unit], known: np.ndarray) -> dict[str, np.ndarray]:
    """P-values of some units, and those of the check of their redraw."""
    residuals = np.ascontiguousarray([unit.residual(found.predictors.n_rows) for unit in units])
    sums = found.sums(units, residuals)
    is_checked = found.question.given == "others"
    doubt = _redraw_doubt(found, sums, residuals, known) if is_checked else np.ones(len(units))
    return {"p_values": _one_sided(sums, _group_sizes(found, known)), "doubt": doubt}


def _saved_tests(found: Survey) -> Checkpoint | None:
    """Tests done before: of these trees, rows and outputs, and of columns drawn like these."""
    question = found.question
    columns = _saved_columns(question, found.predictors)
    if columns is None:
        return None
    trees = found.forest.trees_.arrays()
    grown = [fact for name in sorted(trees) for fact in (name, trees[name])]
    rows = [
        found.outcome.truth,
        found.outcome.outputs,
        found.row_weights,
        found.growing_weights,
        found.row_groups.of_row,
    ]
    drawn = [question.given, question.n_draws, found.forest.max_bins]
    return columns.of("tests", *drawn, *rows, *grown)


def _saved_columns(question: Question, predictors: Predictors) -> Checkpoint | None:
    """Pieces of work on these features done before."""
    if question.checkpoint is None:
        return None
    return question.checkpoint.of(predictors.values, predictors.n_categories, predictors.fold, question.seed)


def _modelled(
    question: Question,
    predictors: Predictors,
    groups: list[tuple[int, ...]],
    wanted: list[tuple[int, ...]],
) -> list[Unit]:
    with progress_bar(len(wanted), question.verbose, "Learning to redraw features") as progress:
        return modelled_units(
            predictors,
            groups,
            wanted,
            merge=question.merge,
            seed=question.seed,
            n_jobs=question.n_jobs,
            done=progress,
            checkpoint=_saved_columns(question, predictors),
        )


def _n_lacking(values: np.ndarray) -> int:
    """How many columns like these make up for those that are too few, or have too few places to cut."""
    most, n_features = _CUTS * _FEWEST_COLUMNS, values.shape[1]
    if n_features >= most:
        return 0
    worth = sum(min(len(np.unique(column)) - 1, _CUTS) / _CUTS for column in values.T)
    if worth == 0:
        return most
    return min(most, max(0, int(np.ceil((_FEWEST_COLUMNS - worth) * n_features / worth))))


def _padded(features: Features, values: np.ndarray, n_missing: int, seed: int) -> Features:
    """The features beside columns of rows in another order: as related among themselves, and to nothing else."""
    n_features = values.shape[1]
    random = np.random.default_rng([seed, 2])
    rounds = [values[random.permutation(len(values))] for _ in range(-(-n_missing // n_features))]
    owners = np.tile(np.arange(n_features), len(rounds))[:n_missing]
    n_categories = np.concatenate([features.n_categories, features.n_categories[owners]])
    return Features(np.hstack([values, *rounds])[:, : n_features + n_missing], n_categories)


def _grown(
    question: Question, features: Features, y: Any, sample_weight: np.ndarray | None, row_groups: RowGroups
) -> tuple[Any, Any]:
    forest = clone(question.forest)
    refuse_unknown(forest.encode_target(y))
    mask = features.n_categories > 0
    forest.set_params(
        categorical_features=np.flatnonzero(mask) if mask.any() else None,
        random_state=question.seed,
        n_jobs=question.n_jobs,
        verbose=question.verbose,
    )
    together = row_groups.kernel_groups
    forest.fit(features.values, y, sample_weight, row_groups=together)
    return forest, grown_on(forest, ["permutation"], features.values, y, sample_weight, together)


def _tested_features(forest: Any) -> np.ndarray:
    return np.flatnonzero(_core.symbolic(forest.trees_) > 0)


def _chunks(found: Survey) -> Iterator[tuple[int, int]]:
    """Ranges of units that share no feature, whose sums and redrawn columns stay within a few tens of megabytes."""
    per_column = found.question.n_draws * found.predictors.n_rows
    first, n_cells, n_drawn = 0, 0, 0
    held: set[int] = set()
    for position, unit in enumerate(found.units):
        n_cells += len(found.outcome.outputs)
        n_drawn += per_column * len(unit.features)
        if position > first and (n_cells > _MOST_CELLS or n_drawn > _MOST_DRAWN or not held.isdisjoint(unit.features)):
            yield first, position
            first, n_cells, n_drawn = position, len(found.outcome.outputs), per_column * len(unit.features)
            held = set()
        held.update(unit.features)
    if found.units:
        yield first, len(found.units)


def _known_rows(found: Survey) -> np.ndarray:
    """Rows x outputs: predicted out of bag, taking part and of known truth."""
    known = ~np.isnan(found.outcome.truth)
    known &= (found.row_weights > 0)[:, None]
    for first, last in found.row_blocks(found.forest.trees_.n_outputs):
        known[first:last] &= ~np.isnan(found.predictions(first, last)).any(axis=1)[:, None]
    return known


def _group_sizes(found: Survey, known: np.ndarray) -> np.ndarray:
    """Weight of each group's known rows: groups x outputs."""
    return found.row_groups.sums(found.row_weights[:, None] * known)


def _one_sided(sums: Any, sizes: np.ndarray) -> np.ndarray:
    """P-values that the mean change of the error is not above 0, by a t-test over groups of rows; 1 without variance.

    With S the sum of w D over a group and m that of w, the mean is sum S / sum m and its variance that of the sums
    S - mean m; there are as many degrees of freedom as groups of equal weight would have that tell as much.
    """
    change, weighted_change, square = sums[:3]
    n, total, squares = (sizes > 0).sum(axis=0), sizes.sum(axis=0), (sizes**2).sum(axis=0)
    mean = change / total
    variance = (square - 2 * mean * weighted_change + mean**2 * squares) / total**2 * (n / np.maximum(n - 1, 1))
    # Sums of rounding errors are no variance.
    right = variance > 1e-24 * np.maximum(square / total**2, 1e-300)
    t = np.divide(mean, np.sqrt(np.where(right, variance, 1.0)), out=np.full(mean.shape, -np.inf), where=right)
    return stats.t.sf(t, np.maximum(total**2 / squares - 1, 1))


def _redraw_doubt(found: Survey, sums: Any, residuals: np.ndarray, known: np.ndarray) -> np.ndarray:
    """P-value of each unit that its residuals are unrelated to the redrawn predictions, as they must be.

    A correlation over rows counts as one over groups: rows of a group may say the same.
    """
    shifted, shift, spread = sums[3:]
    n = known.sum(axis=0).astype(np.float64)
    product = np.zeros(shifted.shape)
    level, size = np.zeros(known.shape[1]), np.zeros(known.shape[1])
    for first, last in found.row_blocks(found.forest.trees_.n_outputs):
        here = known[first:last]
        predicted = np.where(here, found.predictions(first, last), 0.0)
        product += residuals[:, first:last] @ predicted
        level += predicted.sum(axis=0)
        size += (predicted**2).sum(axis=0)
    mask = known.astype(np.float64)
    r_sum, r_size = residuals @ mask, residuals**2 @ mask
    s_sum, s_size = level + shift, size + spread
    covariance = product + shifted - r_sum * s_sum / n
    variance = np.maximum(r_size - r_sum**2 / n, 0) * np.maximum(s_size - s_sum**2 / n, 0)
    right = variance > 1e-20
    r = np.divide(covariance, np.sqrt(np.where(right, variance, 1.0)), out=np.zeros_like(variance), where=right)
    r = np.clip(r, -1 + 1e-12, 1 - 1e-12)
    sizes = found.row_groups.sums(mask)
    n = np.maximum(sizes.sum(axis=0) ** 2 / np.maximum((sizes**2).sum(axis=0), 1e-300), 3.0)
    p = 2 * stats.t.sf(np.abs(r) * np.sqrt((n - 2) / (1 - r**2)), np.maximum(n - 2, 1))
    return simes(p, sparse.csr_array(np.ones((1, p.shape[1]))))[:, 0]


def _checked(units: list[Unit], p_values: np.ndarray) -> list[Unit]:
    return [
        unit
        if unit.doubt or p >= _DOUBTFUL
        else Unit(unit.features, unit.models, "redraw doubtful: what is left of it still follows the labels")
        for unit, p in zip(units, p_values.tolist(), strict=True)
    ]
