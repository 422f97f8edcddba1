"""audit: how far claims hold on the reader's own table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.utils import check_random_state

from ramify.ensemble import ForestClassifier
from ramify.ensemble.training_data import checked_row_groups
from ramify.features import columns_of, learn_features
from ramify.features.frames import take_rows
from ramify.parameters import check_integer
from ramify.ranking.discovery.discover import checked_estimator, discoveries
from ramify.ranking.discovery.outcome import Untestable
from ramify.ranking.discovery.result import Claim, Discoveries
from ramify.ranking.forest_ranker import forest_ranking

PLANTED = ("location", "spread", "cut", "product", "near copy")
_N_DRIVERS, _N_LABELS = 5, 8
_STRENGTH, _GROUP_STRENGTH = 1.8, 1.0
_RATES = (0.15, 0.5)
_MANY_VALUES = 10


@dataclass(frozen=True)
class Audit:
    """What became of claims where the truth was planted, on features of a table.

    Attributes
    ----------
    n_planted, n_shuffled : int
        Rounds with planted labels, and with the rows of y in another order.
    false_share : float
        Mean share of false claims over the planted rounds.
    power : float
        Share of planted drivers that were claimed for their label.
    n_claims : int
        Claims in the planted rounds.
    false_claims : dict of str to int
        Features of each kind that were falsely claimed, in all planted rounds: the five kinds that were made from a
        driver, and "own" for features of the table.
    n_with_claims : int
        Rounds with shuffled rows that made any claim.
    fdr : float
        The error rate that was asked for.

    Examples
    --------
    >>> from ramify.ranking.discovery import Audit
    >>> audit = Audit(3, 3, 0.02, 0.9, 60, {"location": 0, "own": 1}, 0, 0.1)
    >>> audit.sentences[0][:66]
    'Audit on these features: labels were planted that 5 of them drive,'
    """

    n_planted: int
    n_shuffled: int
    false_share: float
    power: float
    n_claims: int
    false_claims: dict[str, int]
    n_with_claims: int
    fdr: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """The result in words."""
        kinds = ", ".join(f"{name} {number}" for name, number in self.false_claims.items() if number) or "none"
        return (
            f"Audit on these features: labels were planted that {_N_DRIVERS} of them drive, beside features made from "
            f"the drivers that drive nothing ({', '.join(PLANTED)}, of one driver each). In {self.n_planted} rounds "
            f"{self.n_claims} claims were made, on average {100 * self.false_share:.0f} % of them false (asked for: at "
            f"most {100 * self.fdr:g} %); {100 * self.power:.0f} % of the drivers were claimed. Falsely claimed "
            f"features: {kinds}.",
            f"With the rows of y in another order, {self.n_with_claims} of {self.n_shuffled} rounds made a claim.",
        )


def audit(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_rounds: int = 3,
    fdr: float = 0.1,
    control: str = "joint",
    row_groups: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> Audit:
    """How far claims hold on a table: plant drivers and decoys among its own features, and shuffle its target.

    In each round five of the features that matter most drive planted labels. From each driver a decoy is made that the
    labels do not follow: one whose mean follows its driver, one whose spread does, a cut of its size, a product with
    another driver, and a near copy. Claims are made as by `discoveries`; a claim is false unless its feature, or a
    member of its group, drives the label. In as many rounds the rows of y change places (whole groups of rows with
    groups of as many rows), and every claim is false.

    Parameters
    ----------
    estimator : ForestClassifier, ForestRegressor, LabelRankingForest or None
        As of `discoveries`.
    X, y : array, CSR, CSC or frame
        As of `discoveries`.
    n_rounds : int, default=3
        Rounds of each kind. With three, an error of the share of a few per cent is not told from none.
    fdr : float, default=0.1
        The error rate to ask for.
    control : {"joint", "per_feature", "flat"}, default="joint"
        As of `discoveries`.
    row_groups : array-like of shape (n_samples,), optional
        Which rows belong together. Planted labels then have an effect of the group too.
    n_jobs : int or None, default=None
        Threads or processes; the result is the same for any number. None takes that of the forest.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    Audit
        Realised share of false claims, power, and claims on shuffled rows.

    Examples
    --------
    >>> from ramify.datasets import make_multilabel
    >>> from ramify.ensemble import ForestClassifier
    >>> from ramify.ranking import audit
    >>> data = make_multilabel(150, random_state=0)
    >>> result = audit(ForestClassifier(20), data.X, data.y, n_rounds=1, random_state=0)
    >>> result.n_planted, result.n_shuffled
    (1, 1)
    """
    check_integer("audit", "n_rounds", n_rounds, low=1)
    forest = checked_estimator(estimator, y, "others")
    n_jobs = forest.n_jobs if n_jobs is None else n_jobs
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    features = learn_features(columns_of("audit"), X, forest.categorical_features)
    values = features.values
    table = np.asarray(values.toarray() if sparse.issparse(values) else values, dtype=np.float64)
    groups = checked_row_groups("audit", row_groups, len(table))
    nominal = np.flatnonzero(features.n_categories > 0)
    options: dict[str, Any] = {"fdr": fdr, "control": control, "row_groups": groups, "n_jobs": n_jobs}
    drivers = _strongest(clone(forest), X, y, groups, table, features.n_categories, seed, n_jobs)
    rounds, with_claims = [], 0
    for number in range(n_rounds):
        random = np.random.default_rng([seed, 5, number])
        chosen = random.permutation(drivers)[:_N_DRIVERS]
        decoys = _decoys(table[:, chosen], random)
        labels, driver_of = _planted_labels(table[:, chosen], groups, random)
        size = {"n_estimators": forest.n_estimators, "min_samples_leaf": forest.min_samples_leaf}
        planted = ForestClassifier(**size, categorical_features=nominal if len(nominal) else None)
        found = discoveries(planted, np.hstack([table, decoys]), labels, random_state=seed + number, **options)
        rounds.append(_counted(found, chosen, driver_of, table.shape[1]))
        order = _other_order(groups, len(table), random)
        shuffled = discoveries(clone(forest), X, take_rows(y, order), random_state=seed + number, **options)
        with_claims += len(shuffled.claims) > 0
    counts = {name: sum(own[3][name] for own in rounds) for name in (*PLANTED, "own")}
    return Audit(
        n_planted=n_rounds,
        n_shuffled=n_rounds,
        false_share=float(np.mean([own[0] for own in rounds])),
        power=float(np.mean([own[1] for own in rounds])),
        n_claims=sum(own[2] for own in rounds),
        false_claims=counts,
        n_with_claims=with_claims,
        fdr=fdr,
    )


def _strongest(
    forest: Any,
    X: Any,
    y: Any,
    groups: np.ndarray | None,
    table: np.ndarray,
    n_categories: np.ndarray,
    seed: int,
    n_jobs: int | None,
) -> np.ndarray:
    """Numbers with many values among the features that matter most: twice as many as drive in a round."""
    forest.set_params(random_state=seed, n_jobs=n_jobs).fit(X, y, row_groups=groups)
    scores = forest_ranking(forest, "genie3_oob", X, y, row_groups=groups).scores
    order = np.argsort(-scores, kind="stable")
    many = [j for j in order.tolist() if not n_categories[j] and len(np.unique(table[:, j])) > _MANY_VALUES]
    if len(many) < 2:
        raise Untestable("audit plants drivers among numbers with more than 10 values, and there are fewer than two.")
    return np.array(many[: 2 * _N_DRIVERS])


def _decoys(drivers: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A feature of each driver that drives nothing, each of another kind."""
    normal = _normal_scores(drivers)
    noise = random.standard_normal(normal.shape)
    made = np.empty_like(normal)
    for k, own in enumerate(normal.T):
        kind = PLANTED[k % len(PLANTED)]
        if kind == "location":
            made[:, k] = own + noise[:, k]
        elif kind == "spread":
            made[:, k] = np.exp(0.7 * own) * noise[:, k]
        elif kind == "cut":
            size = np.abs(own) + 0.3 * noise[:, k]
            made[:, k] = np.digitize(size, np.quantile(size, [0.25, 0.5, 0.75]))
        elif kind == "product":
            made[:, k] = own * normal[:, k - 1] + 0.5 * noise[:, k]
        else:
            made[:, k] = own + 0.5 * noise[:, k]
    return made


def _planted_labels(
    drivers: np.ndarray, groups: np.ndarray | None, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and the driver of each (its position; -1 for none: the last ones)."""
    normal = _normal_scores(drivers)
    n_rows, n_drivers = normal.shape
    labels, driver_of = np.empty((n_rows, _N_LABELS), dtype=np.int64), np.full(_N_LABELS, -1)
    for label in range(_N_LABELS):
        rate = random.uniform(*_RATES)
        score = np.full(n_rows, np.log(rate / (1 - rate)))
        if groups is not None:
            score += _GROUP_STRENGTH * random.standard_normal(int(groups.max()) + 1)[groups]
        if label < n_drivers:
            driver_of[label] = label
            score += _STRENGTH * normal[:, label]
        labels[:, label] = random.random(n_rows) < 1 / (1 + np.exp(-score))
    return labels, driver_of


def _normal_scores(columns: np.ndarray) -> np.ndarray:
    """Columns as normal quantiles of their ranks; missing values in the middle."""
    filled = np.where(np.isnan(columns), np.nanmedian(columns, axis=0), columns)
    ranks = stats.rankdata(filled, axis=0)
    return stats.norm.ppf((ranks - 0.5) / len(columns))


def _counted(
    found: Discoveries, chosen: np.ndarray, driver_of: np.ndarray, n_own: int
) -> tuple[float, float, int, dict[str, int]]:
    """Share of false claims, share of drivers claimed, claims, and false features of each kind."""
    wrong: dict[str, set[str]] = {name: set() for name in (*PLANTED, "own")}
    n_false, claimed = 0, set()
    for claim in found.claims:
        members = [int(name[1:]) for name in found.groups.get(claim.feature, (claim.feature,))]
        true = {label for label, driver in enumerate(driver_of.tolist()) if driver >= 0 and chosen[driver] in members}
        asked = _labels_of(claim)
        if true & (asked if asked is not None else true):
            claimed |= true & (asked or set())
            continue
        n_false += 1
        kind = "own" if members[0] < n_own else PLANTED[members[0] - n_own]
        wrong[kind].add(claim.feature)
    n_claims, n_drivers = len(found.claims), int((driver_of >= 0).sum())
    counts = {name: len(features) for name, features in wrong.items()}
    return n_false / max(1, n_claims), len(claimed) / max(1, n_drivers), n_claims, counts


def _labels_of(claim: Claim) -> set[int] | None:
    """The label of a claim; None for the whole of y."""
    return {int("".join(filter(str.isdigit, claim.branch)))} if claim.branch else None


def _other_order(groups: np.ndarray | None, n_rows: int, random: np.random.Generator) -> np.ndarray:
    """Another order of the rows; whole groups change places with groups of as many rows."""
    if groups is None:
        return random.permutation(n_rows)
    order = np.arange(n_rows)
    by_group = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    for size in np.unique(sizes):
        same = np.flatnonzero(sizes == size)
        for own, other in zip(same.tolist(), random.permutation(same).tolist(), strict=True):
            rows = by_group[starts[own] : starts[own] + size]
            order[rows] = by_group[starts[other] : starts[other] + size]
    return order
