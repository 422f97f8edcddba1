"""Random feature hierarchies with closed binary rows."""

from collections.abc import Callable

import numpy as np
import pytest

from ramify import Hierarchy


def random_hierarchy(random: np.random.Generator, n_features: int, p_edge: float) -> Hierarchy:
    """A random DAG whose columns are in random order."""
    order = random.permutation(n_features)
    edges = [
        (int(order[i]), int(order[j]))
        for j in range(n_features)
        for i in range(j)
        if random.random() < p_edge / (1 + j / 4)
    ]
    return Hierarchy([f"f{i}" for i in range(n_features)], np.array(edges, dtype=int).reshape(-1, 2))


def random_rows(random: np.random.Generator, hierarchy: Hierarchy, n_rows: int) -> np.ndarray:
    density = random.uniform(0.05, 0.4)
    return hierarchy.close((random.random((n_rows, len(hierarchy))) < density).astype(int))


@pytest.fixture
def random_problem() -> Callable[[int], tuple[Hierarchy, np.ndarray, np.ndarray]]:
    """Hierarchy, closed rows and classes (two or three) of a seed."""

    def make(seed: int) -> tuple[Hierarchy, np.ndarray, np.ndarray]:
        random = np.random.default_rng(seed)
        hierarchy = random_hierarchy(random, int(random.integers(3, 14)), random.uniform(0.2, 1.2))
        X = random_rows(random, hierarchy, 30)
        y = random.integers(0, 2 + seed % 2, size=30)
        return hierarchy, X, y

    return make
