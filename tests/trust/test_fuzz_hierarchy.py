"""The hierarchy builder under random graphs and names: a hierarchy that keeps its promises, or one documented error."""

import warnings

import numpy as np

from ramify import Hierarchy

NAMES = ["a", "", "a/b", "//", "\x00", "é", "名", "x" * 10_000, "<b>", "=1+1", None, 3, ("a",), float("nan")]
N_GRAPHS = 2_000


def random_edges(rng) -> list:
    pool = [f"n{i}" for i in range(rng.integers(1, 12))]
    pool += [NAMES[i] for i in rng.integers(len(NAMES), size=rng.integers(0, 3))]
    return [(pool[rng.integers(len(pool))], pool[rng.integers(len(pool))]) for _ in range(rng.integers(0, 25))]


def test_random_graphs_give_hierarchies_or_the_documented_error(scorecard):
    built = 0
    for seed in range(N_GRAPHS):
        rng = np.random.default_rng(seed)
        edges = random_edges(rng)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                hierarchy = Hierarchy.from_edges(edges, on_cycle=rng.choice(["raise", "drop"]).item())
        except (ValueError, TypeError):
            continue
        built += 1
        position = {int(node): place for place, node in enumerate(hierarchy.topological_order)}
        assert all(position[parent] < position[child] for parent, child in hierarchy.edges.tolist())
        closed = hierarchy.close(np.eye(len(hierarchy), dtype=int))
        assert len(hierarchy.violations(closed)) == 0
        assert np.isfinite(hierarchy.weights).all()
        assert (hierarchy.depth >= 1).all()
    assert built > N_GRAPHS / 4
    scorecard(
        "R9", f"{N_GRAPHS:,} random graphs: {built} hierarchies that keep their promises, else the documented error"
    )
