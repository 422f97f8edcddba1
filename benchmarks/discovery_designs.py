"""Generated data with known drivers, one factor to a design, for `bench_discoveries.py`."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ramify import Hierarchy
from ramify.datasets import read

DATA = Path(os.environ.get("RAMIFY_DATA", "../shared/data"))
TREE = Hierarchy.from_paths([f"{a}{b}" for a in "abc" for b in ("", "/1", "/2", "/3")])
FLAT = Hierarchy.from_edges([], nodes=[f"l{k}" for k in range(12)])


@dataclass(frozen=True)
class Design:
    """X, y, which feature drives which label, features that go along with a driver, and what `discoveries` is told."""

    X: Any
    y: np.ndarray
    truth: np.ndarray
    partners: tuple[int, ...] = ()
    hierarchy: Hierarchy | None = None
    kind: str = "labels"
    categorical: tuple[int, ...] = ()
    row_groups: np.ndarray | None = None
    sample_weight: np.ndarray | None = None
    feature_hierarchy: Hierarchy | None = None


Random = np.random.Generator


def normal(random: Random, n_rows: int = 800, n_features: int = 60, step: float = 0.0) -> np.ndarray:
    """Normal features, each correlated by `step` with the one before it."""
    X = random.standard_normal((n_rows, n_features))
    for j in range(1, n_features):
        X[:, j] = step * X[:, j - 1] + np.sqrt(1 - step**2) * X[:, j]
    return X


def labels(
    random: Random,
    signals: np.ndarray,
    hierarchy: Hierarchy,
    drivers: list[int],
    *,
    strength: float = 1.8,
    rates: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Labels with one driver each for the first ones (roots first, then every other label), none for the others."""
    n_rows, n_labels = len(signals), len(hierarchy)
    order = list(hierarchy.roots) + [name for name in hierarchy.names if name not in hierarchy.roots][::2]
    own = dict(zip(order, drivers, strict=False))
    Y = np.zeros((n_rows, n_labels), dtype=np.int64)
    truth = np.zeros((signals.shape[1], n_labels), dtype=bool)
    for node in hierarchy.topological_order.tolist():
        name = hierarchy.names[node]
        rate = 0.45 if rates is None else rates[node]
        score = np.full(n_rows, np.log(rate / (1 - rate)))
        if name in own:
            column = signals[:, own[name]]
            score += strength * (column - column.mean()) / max(1e-9, column.std())
            truth[own[name], node] = True
        has = random.random(n_rows) < 1 / (1 + np.exp(-score))
        for parent in hierarchy.parents[name]:
            has &= Y[:, hierarchy.index(parent)] == 1
            truth[:, node] |= truth[:, hierarchy.index(parent)]
        Y[:, node] = has
    return Y, truth


def some(random: Random, n_features: int, n_drivers: int = 8) -> list[int]:
    return random.choice(n_features, n_drivers, replace=False).tolist()


def correlated(step: float) -> Callable[[Random], Design]:
    def make(random: Random) -> Design:
        X = normal(random, step=step)
        drivers = some(random, 60)
        Y, truth = labels(random, X, TREE, drivers)
        near = {j + d for j in drivers for d in (-1, 1) if 0 <= j + d < 60} - set(drivers)
        return Design(X, Y, truth, tuple(near) if step else (), TREE)

    return make


def blocks(random: Random) -> Design:
    X = normal(random) * np.sqrt(0.2) + np.repeat(normal(random, n_features=12), 5, axis=1) * np.sqrt(0.8)
    drivers = (5 * random.permutation(12)[:8]).tolist()
    Y, truth = labels(random, X, TREE, drivers)
    return Design(X, Y, truth, tuple(j + d for j in drivers for d in range(1, 5)), TREE)


def copies(random: Random) -> Design:
    X = normal(random)
    drivers = list(range(8))
    for j in drivers:
        for copy in (10 + 2 * j, 11 + 2 * j):
            X[:, copy] = X[:, j] + 0.15 * X[:, copy]
    Y, truth = labels(random, X, TREE, drivers)
    return Design(X, Y, truth, tuple(range(10, 26)), TREE)


def bent(curve: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable[[Random], Design]:
    def make(random: Random) -> Design:
        X = normal(random)
        for j in range(8):
            X[:, 10 + j] = curve(X[:, j], X[:, (j + 3) % 8]) + 0.5 * X[:, 10 + j]
        Y, truth = labels(random, X, TREE, list(range(8)))
        return Design(X, Y, truth, tuple(range(10, 18)), TREE)

    return make


def dag(random: Random) -> Design:
    edges = [(f"r{k % 4}", f"m{k}") for k in range(8)] + [(f"r{(k + 1) % 4}", f"m{k}") for k in range(0, 8, 2)]
    edges += [(f"m{k % 8}", f"b{k}") for k in range(12)] + [(f"m{(k + 1) % 8}", f"b{k}") for k in range(0, 12, 3)]
    order = Hierarchy.from_edges(edges)
    X = normal(random, 1000, step=0.5)
    drivers = some(random, 60, 12)
    Y, truth = labels(random, X, order, drivers, rates=np.full(len(order), 0.6))
    return Design(X, Y, truth, (), order)


def flat(random: Random) -> Design:
    X = normal(random, step=0.5)
    Y, truth = labels(random, X, FLAT, some(random, 60))
    return Design(X, Y, truth)


def rare(random: Random) -> Design:
    X = normal(random, 2000, step=0.5)
    rates = np.array([0.007, 0.01, 0.02, 0.03] * 3)
    Y, truth = labels(random, X, FLAT, some(random, 60), rates=rates, strength=2.5)
    return Design(X, Y, truth)


def nominal(random: Random) -> Design:
    X = normal(random, step=0.5)
    signals = X.copy()
    codes = tuple(range(0, 60, 3))
    for j in codes:
        X[:, j] = np.digitize(X[:, j] + 0.3 * random.standard_normal(len(X)), [-0.8, 0.0, 0.8])
        signals[:, j] = X[:, j] % 2
    drivers = some(random, 60)
    Y, truth = labels(random, signals, TREE, drivers)
    return Design(X, Y, truth, tuple({j + 1 for j in drivers if j < 59} - set(drivers)), TREE, categorical=codes)


def binary(random: Random) -> Design:
    hidden = normal(random, step=0.7)
    X = (hidden > 1.28).astype(float)
    drivers = some(random, 60)
    Y, truth = labels(random, X, TREE, drivers, strength=1.2)
    near = {j + d for j in drivers for d in (-1, 1) if 0 <= j + d < 60} - set(drivers)
    return Design(sparse.csr_array(X), Y, truth, tuple(near), TREE)


def missing(random: Random) -> Design:
    X = normal(random, step=0.7)
    drivers = some(random, 60)
    Y, truth = labels(random, X, TREE, drivers)
    X[random.random(X.shape) < 0.1] = np.nan
    return Design(X, Y, truth, (), TREE)


def few_features(random: Random) -> Design:
    X = normal(random, n_features=6, step=0.5)
    Y, truth = labels(random, X, TREE, [0, 3])
    return Design(X, Y, truth, (1, 2, 4), TREE)


def numbers(random: Random) -> Design:
    X = normal(random, step=0.7)
    truth = np.zeros((60, 6), dtype=bool)
    y = random.standard_normal((len(X), 6))
    for k, j in enumerate(some(random, 60, 5)):
        y[:, k] += X[:, j]
        truth[j, k] = True
    return Design(X, y, truth, (), None, "numbers")


def rankings(random: Random) -> Design:
    X = normal(random, n_features=40, step=0.5)
    utility = random.standard_normal((len(X), 4))
    truth = np.zeros((40, 4), dtype=bool)
    for k, j in enumerate(some(random, 40, 3)):
        utility[:, k] += 1.2 * X[:, j]
        truth[j, k] = True
    return Design(X, (-utility).argsort(axis=1).argsort(axis=1) + 1, truth, (), None, "rankings")


def scaled(random: Random) -> Design:
    X = normal(random)
    X[:, 10:18] *= np.exp(0.7 * X[:, :8])
    Y, truth = labels(random, X, TREE, list(range(8)))
    return Design(X, Y, truth, tuple(range(10, 18)), TREE)


def ordinal(random: Random) -> Design:
    X = normal(random)
    X[:, 10:18] = np.digitize(np.abs(X[:, :8]) + 0.3 * X[:, 10:18], [0.4, 0.9, 1.5])
    Y, truth = labels(random, np.abs(X), TREE, list(range(8)))
    return Design(X, Y, truth, tuple(range(10, 18)), TREE)


def exclusive(random: Random) -> Design:
    """Partners are the exclusive or of two features of zeros and ones, one row in twenty flipped."""
    X = normal(random)
    X[:, :8] = X[:, :8] > 0
    for j in range(8):
        flipped = random.random(len(X)) < 0.05
        X[:, 10 + j] = (X[:, j] != X[:, (j + 3) % 8]) ^ flipped
    Y, truth = labels(random, X, TREE, list(range(8)))
    return Design(X, Y, truth, tuple(range(10, 18)), TREE)


def many_levels(random: Random) -> Design:
    """Drivers and partners of 40 levels in no order; what a label follows is a number that each level has."""
    X = normal(random)
    signals = X.copy()
    codes = tuple(range(4)) + tuple(range(10, 14))
    for j in range(4):
        level = np.clip(((X[:, j] + 0.3 * random.standard_normal(len(X))) * 8 + 20).astype(int), 0, 39)
        X[:, 10 + j] = random.permutation(40)[level]
        own = np.clip((X[:, j] * 8 + 20).astype(int), 0, 39)
        X[:, j], signals[:, j] = random.permutation(40)[own], own
    drivers = list(range(8))
    Y, truth = labels(random, signals, TREE, drivers)
    return Design(X, Y, truth, tuple(range(10, 14)), TREE, categorical=codes)


def heavy_tails(random: Random) -> Design:
    X = random.standard_t(2, (800, 60))
    for j in range(1, 60):
        X[:, j] += 0.7 * X[:, j - 1]
    drivers = some(random, 60)
    Y, truth = labels(random, np.clip(X, -4, 4), TREE, drivers)
    near = {j + d for j in drivers for d in (-1, 1) if 0 <= j + d < 60} - set(drivers)
    return Design(X, Y, truth, tuple(near), TREE)


def sized(n_features: int) -> Callable[[Random], Design]:
    def make(random: Random) -> Design:
        X = normal(random, n_features=n_features)
        X[:, 10:18] = X[:, :8] ** 2 + 0.5 * X[:, 10:18]
        Y, truth = labels(random, np.abs(X), TREE, list(range(8)))
        return Design(X, Y, truth, tuple(range(10, 18)), TREE)

    return make


def twins(random: Random) -> Design:
    hidden = random.standard_normal((400, 60))
    X = np.sqrt(0.9) * np.repeat(hidden, 2, axis=0) + np.sqrt(0.1) * random.standard_normal((800, 60))
    Y, truth = labels(random, hidden, TREE, some(random, 60))
    return Design(X, np.repeat(Y, 2, axis=0), truth, (), TREE)


def copied_rows(random: Random) -> Design:
    X = normal(random)
    Y, truth = labels(random, X, TREE, some(random, 60))
    X[760:], Y[760:] = X[:40], Y[:40]
    return Design(X, Y, truth, (), TREE)


def subjects(n_subjects: int, n_visits: int, shared: float, own: float, drives: bool) -> Callable[[Random], Design]:
    """Rows of a subject share features, and each label an effect of the subject."""

    def make(random: Random) -> Design:
        group = np.repeat(np.arange(n_subjects), n_visits)
        X = np.sqrt(shared) * random.standard_normal((n_subjects, 60))[group]
        X += np.sqrt(1 - shared) * random.standard_normal((len(group), 60))
        effect = own * random.standard_normal((n_subjects, 12))[group]
        drivers = some(random, 60)
        Y, truth = np.zeros((len(group), 12), dtype=np.int64), np.zeros((60, 12), dtype=bool)
        for node in TREE.topological_order.tolist():
            score = effect[:, node] - 0.2
            if drives and node < len(drivers):
                score += 1.8 * X[:, drivers[node]]
                truth[drivers[node], node] = True
            has = random.random(len(group)) < 1 / (1 + np.exp(-score))
            for parent in TREE.parents[TREE.names[node]]:
                has &= Y[:, TREE.index(parent)] == 1
                truth[:, node] |= truth[:, TREE.index(parent)]
            Y[:, node] = has
        return Design(X, Y, truth, (), TREE, row_groups=group)

    return make


def no_signal(random: Random) -> Design:
    X = normal(random, step=0.7)
    Y, truth = labels(random, X, TREE, [])
    return Design(X, Y, truth, (), TREE)


REAL = {
    "cellcycle_FUN": [f"hmc/fun/cellcycle_FUN.{part}.arff.gz" for part in ("train", "valid")],
    "cellcycle_GO": [f"hmc/go/cellcycle_GO.{part}.arff.gz" for part in ("train", "valid")],
    "iris": ["labelranking/kebi/iris.csv"],
    "housing": ["labelranking/kebi/housing.csv"],
}
SHUFFLED = {
    "emotions": ["multilabel/emotions.arff.gz", "multilabel/emotions.xml"],
    "eisen_FUN": ["hmc/fun/eisen_FUN.train.arff.gz"],
    "vehicle": ["labelranking/kebi/vehicle.csv"],
}
AUDITED = ("iris", "housing", "vehicle", "emotions", "eisen_FUN")


@cache
def real_set(name: str) -> Any:
    """A real set, read once by each process."""
    return read([DATA / file for file in (SHUFFLED | REAL)[name]])


@cache
def real_features(name: str) -> Any:
    files = {
        "cellcycle": [DATA / f"hmc/fun/cellcycle_FUN.{part}.arff.gz" for part in ("train", "valid")],
        "diatoms": [DATA / "hmc/others/Diatoms_train.arff.gz"],
        "enron": [DATA / "multilabel/enron-train.arff.gz"],
        "ontology": [DATA / "hierfeat/rpv_go/MM-BP-threshold-3.arff.gz"],
    }[name]
    values = read([*files, DATA / "multilabel/enron.xml"] if name == "enron" else files).X
    dense = np.asarray(values.toarray() if sparse.issparse(values) else values, dtype=np.float64)
    varied = np.nanstd(dense, axis=0) > 0
    common = np.array([np.nanmax(np.unique(c[~np.isnan(c)], return_counts=True)[1]) < len(c) - 20 for c in dense.T])
    return dense[:, varied & common]


def semi_synthetic(name: str, most_features: int) -> Callable[[Random], Design]:
    def make(random: Random) -> Design:
        X = real_features(name)
        rows = random.permutation(len(X))[:800]
        X = X[rows][:, np.sort(random.permutation(X.shape[1])[:most_features])]
        X = X[:, np.nanstd(X, axis=0) > 0]
        signals = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
        rates = random.uniform(0.05, 0.3, 12)
        Y, truth = labels(random, signals, FLAT, some(random, X.shape[1]), rates=rates)
        return Design(X, Y, truth)

    return make


def in_time(n_rows: int, step: float, drives: bool) -> Callable[[Random], Design]:
    """Features and a hidden state of each label follow the order of rows."""

    def make(random: Random) -> Design:
        X, state = (normal(random, width, n_rows, step).T for width in (60, 12))
        drivers = some(random, 60) if drives else []
        Y, truth = np.zeros((n_rows, 12), dtype=np.int64), np.zeros((60, 12), dtype=bool)
        for node in range(12):
            score = 2.0 * state[:, node]
            if node < len(drivers):
                score += 1.8 * X[:, drivers[node]]
                truth[drivers[node], node] = True
            Y[:, node] = random.random(n_rows) < 1 / (1 + np.exp(-score))
        return Design(X, Y, truth)

    return make


def weighted(drives: bool) -> Callable[[Random], Design]:
    """Pareto weights of rows."""

    def make(random: Random) -> Design:
        X = normal(random, step=0.5)
        Y, truth = labels(random, X, TREE, some(random, 60) if drives else [])
        return Design(X, Y, truth, (), TREE, sample_weight=1 + random.pareto(1.2, len(X)))

    return make


def wide(random: Random) -> Design:
    """300 samples, 20,000 features in blocks of 10 that share a factor, as genes of a pathway do."""
    X = normal(random, 300, 20_000) * np.sqrt(0.5) + np.repeat(normal(random, 300, 2_000), 10, axis=1) * np.sqrt(0.5)
    drivers = (10 * random.permutation(2_000)[:6]).tolist()
    Y, truth = labels(random, X, TREE, drivers, strength=3.0)
    return Design(X, Y, truth, tuple(j + d for j in drivers for d in range(1, 10)), TREE)


def pathways(random: Random) -> Design:
    """20 branches of 6 features, near copies of one another; branches of features are asked for."""
    factor = normal(random, n_features=20)
    X = np.repeat(factor, 6, axis=1) + 0.35 * normal(random, n_features=120)
    Y, truth = labels(random, X, TREE, (6 * random.permutation(20)[:6]).tolist())
    order = Hierarchy.from_edges([(f"p{j // 6}", f"x{j}") for j in range(120)])
    return Design(X, Y, truth, (), TREE, feature_hierarchy=order)


# Made after the method was settled, one factor each, and not tuned to.


def partners_of(curve: Callable[[Random, np.ndarray, np.ndarray], np.ndarray], bend: Any = None) -> Any:
    """Features 10 to 17 are made from 0 to 7 and drive nothing; labels follow a bend of 0 to 7."""

    def make(random: Random) -> Design:
        X = normal(random)
        for j in range(8):
            X[:, 10 + j] = curve(random, X[:, j], X[:, (j + 3) % 8])
        Y, truth = labels(random, X if bend is None else bend(X), TREE, list(range(8)))
        return Design(X, Y, truth, tuple(range(10, 18)), TREE)

    return make


def skewed(random: Random, a: np.ndarray, _: np.ndarray) -> np.ndarray:
    shape = np.exp(a)
    return (random.gamma(shape) - shape) / np.sqrt(shape)


def counts(random: Random, a: np.ndarray, _: np.ndarray) -> np.ndarray:
    return random.poisson(np.exp(np.clip(0.6 * a**2 - 0.5, None, 3))).astype(float)


def zero_inflated(random: Random, a: np.ndarray, _: np.ndarray) -> np.ndarray:
    return np.where(random.random(len(a)) < 1 / (1 + np.exp(3 - 3 * np.abs(a))), random.gamma(2.0, 1.0, len(a)), 0.0)


def two_peaks(random: Random, a: np.ndarray, _: np.ndarray) -> np.ndarray:
    side = np.where(random.random(len(a)) < 0.5, -1.0, 1.0)
    return side * np.abs(a) + 0.4 * random.standard_normal(len(a))


def spread_of_product(random: Random, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.exp(0.6 * np.clip(a * b, -2.5, 2.5)) * random.standard_normal(len(a))


def holes(random: Random, a: np.ndarray, _: np.ndarray) -> np.ndarray:
    """Missing where the driver is large."""
    own = random.standard_normal(len(a))
    return np.where(random.random(len(a)) < 1 / (1 + np.exp(2 - 2 * a)), np.nan, own)


def sign_of_three(random: Random) -> Design:
    """Partners are the sign of a product of three features, one row in ten flipped."""
    X = normal(random)
    for j in range(8):
        kept = np.where(random.random(len(X)) < 0.1, -1.0, 1.0)
        X[:, 10 + j] = np.sign(X[:, j] * X[:, (j + 3) % 8] * X[:, (j + 5) % 8]) * kept
    Y, truth = labels(random, X, TREE, list(range(8)))
    return Design(X, Y, truth, tuple(range(10, 18)), TREE)


def products_drive(random: Random) -> Design:
    """Labels follow products of two features; partners are noisy copies of one of them."""
    X = normal(random)
    signals = X.copy()
    signals[:, :8] = X[:, :8] * X[:, 20:28]
    X[:, 10:18] = X[:, :8] + 0.7 * X[:, 10:18]
    Y, truth = labels(random, signals, TREE, list(range(8)), strength=2.5)
    truth[20:28] = truth[:8]
    return Design(X, Y, truth, tuple(range(10, 18)), TREE)


def classes_of_two(random: Random) -> Design:
    """Partners are classes whose chances follow two drivers, one of them by its size."""
    X = normal(random)
    for j in range(8):
        slopes = random.standard_normal((2, 5)) * 1.2
        logs = np.outer(X[:, j], slopes[0]) + np.outer(np.abs(X[:, (j + 3) % 8]), slopes[1])
        X[:, 10 + j] = (logs + random.gumbel(size=logs.shape)).argmax(axis=1)
    Y, truth = labels(random, X + (X**2 - 1) / 2, TREE, list(range(8)))
    return Design(X, Y, truth, tuple(range(10, 18)), TREE, categorical=tuple(range(10, 18)))


def shares(random: Random) -> Design:
    """40 abundances that add up to 1 in each row, with zeros."""
    raw = np.exp(normal(random, n_features=40, step=0.5) * 1.2) * (random.random((800, 40)) < 0.8)
    X = raw / raw.sum(axis=1, keepdims=True)
    drivers = some(random, 40)
    Y, truth = labels(random, np.log(X + 1e-3), TREE, drivers)
    return Design(X, Y, truth, (), TREE)


def rare_and_wide(random: Random) -> Design:
    """300 rows, 2,000 features, labels of 12 to 25 rows."""
    X = normal(random, 300, 2_000, step=0.5)
    rates = np.tile([0.04, 0.06, 0.08], 4)
    Y, truth = labels(random, X, FLAT, some(random, 2_000, 6), rates=rates, strength=3.5)
    return Design(X, Y, truth)


def sites(random: Random) -> Design:
    """60 groups of 2 to 60 rows that share levels of features and labels."""
    group = np.repeat(np.arange(60), np.round(np.geomspace(2, 60, 60)).astype(int))
    X = random.standard_normal((60, 40))[group] + random.standard_normal((len(group), 40))
    state = 1.5 * random.standard_normal((60, 12))[group]
    Y, truth = np.zeros((len(group), 12), dtype=np.int64), np.zeros((40, 12), dtype=bool)
    for node, driver in enumerate([*some(random, 40, 6), *[-1] * 6]):
        score = state[:, node] + (1.5 * X[:, driver] if driver >= 0 else 0)
        truth[driver, node] |= driver >= 0
        Y[:, node] = random.random(len(group)) < 1 / (1 + np.exp(-score))
    return Design(X, Y, truth, row_groups=group)


def triplets(random: Random) -> Design:
    """Rows in threes alike by 0.95, not told; nothing drives anything but what the three share."""
    hidden = random.standard_normal((300, 40))
    X = np.sqrt(0.95) * np.repeat(hidden, 3, axis=0) + np.sqrt(0.05) * random.standard_normal((900, 40))
    Y, _ = labels(random, hidden, TREE, [])
    order = random.permutation(900)
    return Design(X[order], np.repeat(Y, 3, axis=0)[order], np.zeros((40, 12), dtype=bool), (), TREE)


def terms(random: Random) -> Design:
    """Features of zeros and ones closed under a hierarchy of terms, branches of them asked for."""
    leaves = (random.random((800, 60)) < 0.12).astype(float)
    middle = np.column_stack([leaves[:, 4 * k : 4 * k + 4].max(axis=1) for k in range(15)])
    top = np.column_stack([middle[:, 5 * k : 5 * k + 5].max(axis=1) for k in range(3)])
    X = np.hstack([leaves, middle, top])
    drivers = (60 + random.permutation(15)[:6]).tolist()
    Y, truth = labels(random, X, TREE, drivers, strength=1.2)
    edges = [(f"x{60 + j // 4}", f"x{j}") for j in range(60)] + [(f"x{75 + k // 5}", f"x{60 + k}") for k in range(15)]
    return Design(X, Y, truth, (), TREE, feature_hierarchy=Hierarchy.from_edges(edges))


DESIGNS: dict[str, tuple[str, Callable[[Random], Design]]] = {
    "independent": ("independent features, tree of 12 labels", correlated(0.0)),
    "correlated 0.3": ("neighbours correlated 0.3", correlated(0.3)),
    "correlated 0.7": ("neighbours correlated 0.7", correlated(0.7)),
    "blocks": ("blocks of 5 correlated 0.8", blocks),
    "copies": ("two noisy copies of each driver", copies),
    "squares": ("partner = driver squared + noise", bent(lambda a, _: a**2)),
    "sines": ("partner = sin(2 driver) + noise", bent(lambda a, _: np.sin(2 * a))),
    "products": ("partner = driver x driver + noise", bent(lambda a, b: a * b)),
    "DAG": ("DAG of 24 labels, 1,000 rows", dag),
    "flat": ("12 labels without order", flat),
    "rare": ("labels of 0.7 to 3 %, 2,000 rows", rare),
    "nominal": ("a third of the features nominal", nominal),
    "binary": ("sparse 0/1 features, 10 % ones", binary),
    "missing": ("10 % of the values missing", missing),
    "few features": ("6 features (padded)", few_features),
    "numbers": ("6 numbers", numbers),
    "rankings": ("rankings of 4 labels", rankings),
    "no signal": ("nothing drives anything", no_signal),
    "cellcycle": ("features of cellcycle_FUN, planted labels", semi_synthetic("cellcycle", 40)),
    "diatoms": ("features of Diatoms, planted labels", semi_synthetic("diatoms", 60)),
    "enron": ("words of Enron, planted labels", semi_synthetic("enron", 100)),
    "ontology": ("Gene Ontology terms as features, planted labels", semi_synthetic("ontology", 100)),
    "scale": ("partner = exp(0.7 driver) x noise", scaled),
    "ordinal": ("partner = |driver| + noise, cut into 4; labels follow |driver|", ordinal),
    "exclusive or": ("partner = exclusive or of two classes, 5 % flipped", exclusive),
    "40 levels": ("nominal drivers and partners of 40 levels", many_levels),
    "heavy tails": ("neighbours: 0.7 of the one before + t(2)", heavy_tails),
    "size": ("partner = driver squared + noise, labels follow |driver|", sized(60)),
    "size, 600": ("the same, 600 features", sized(600)),
    "twins": ("400 pairs of rows alike by 0.9, not told", twins),
    "copied rows": ("40 of 800 rows twice, not told", copied_rows),
    "visits, no driver": ("80 subjects with 10 visits, nothing drives anything", subjects(80, 10, 0.8, 2.5, False)),
    "visits": ("80 subjects with 10 visits", subjects(80, 10, 0.8, 2.5, True)),
    "families": ("200 families of 4", subjects(200, 4, 0.5, 1.8, True)),
    "time 0.95, no driver": (
        "2,400 rows in the order of time, 0.95 a step, nothing drives",
        in_time(2400, 0.95, False),
    ),
    "time 0.95, short": ("800 rows in the order of time, 0.95 a step, nothing drives", in_time(800, 0.95, False)),
    "time 0.8": ("1,000 rows in the order of time, 0.8 a step", in_time(1000, 0.8, True)),
    "weights, no driver": ("Pareto weights of rows, nothing drives anything", weighted(False)),
    "weights": ("Pareto weights of rows", weighted(True)),
    "wide": ("300 rows, 20,000 features in blocks of 10", wide),
    "pathways": ("20 branches of 6 near copies; branches of features", pathways),
    "skew": ("partner's skew follows the driver", partners_of(skewed)),
    "counts": ("partner counts, their rate follows driver squared", partners_of(counts, lambda X: X**2)),
    "zeros": ("partner zero or not by the driver's size", partners_of(zero_inflated, np.abs)),
    "two peaks": ("partner = plus or minus |driver| + noise", partners_of(two_peaks, np.abs)),
    "spread of a product": ("partner's spread follows a product of drivers", partners_of(spread_of_product)),
    "holes": ("partner missing where the driver is large", partners_of(holes)),
    "three": ("partner = sign of a product of three", sign_of_three),
    "products drive": ("labels follow products; partner = driver + noise", products_drive),
    "classes of two": ("partner = class of 5, by two drivers and their sizes", classes_of_two),
    "shares": ("40 abundances that add up to 1, with zeros", shares),
    "rare and wide": ("300 rows, 2,000 features, labels of 12 to 25 rows", rare_and_wide),
    "sites": ("60 groups of 2 to 60 rows", sites),
    "triplets": ("rows in threes alike by 0.95, not told, nothing drives", triplets),
    "terms": ("terms of zeros and ones in a hierarchy; branches of features", terms),
}

_CLASSES = {
    "The designs of version 0.1.0": "independent",
    "Dependence that means do not show": "scale",
    "Rows that belong together": "twins",
    "Weights": "weights, no driver",
    "Very many features": "wide",
    "Branches of features": "pathways",
    "Made after the method was settled": "skew",
}
_STARTS = [list(DESIGNS).index(first) for first in _CLASSES.values()] + [len(DESIGNS)]
CLASSES = {title: list(DESIGNS)[first:last] for title, first, last in zip(_CLASSES, _STARTS, _STARTS[1:], strict=False)}
"""Names of the designs of each class."""
