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
    """X, y, which feature drives which label, features that go along with a driver, and rows that belong together."""

    X: Any
    y: np.ndarray
    truth: np.ndarray
    partners: tuple[int, ...] = ()
    hierarchy: Hierarchy | None = None
    kind: str = "labels"
    categorical: tuple[int, ...] = ()
    row_groups: np.ndarray | None = None


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
}
