"""Is association calibrated, and does it find what is there? Tables of noise, and planted ones.

    python benchmarks/bench_association.py --runs 20 --seed 1000 nominal tied rare numbers
    python benchmarks/bench_association.py --runs 20 shuffled --file cellcycle_FUN.train.arff

Each design of noise gives the shares of p-values below 0.05, 0.001 and 0.0001 and the share of runs with any claim at
10 %; each planted one the power and the share of false claims. `shuffled` puts the target of a file in a random order.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ramify.datasets import read
from ramify.ensemble import ForestClassifier, ForestRegressor
from ramify.ensemble.forest_choice import forest_for
from ramify.features import Features
from ramify.hierarchy import Hierarchy
from ramify.ranking.discovery.association import association
from ramify.ranking.discovery.control import Graph, q_values
from ramify.ranking.discovery.outcome import WHOLE, Outcome, outcome_of

FDR = 0.1
Design = Callable[[np.random.Generator], dict[str, Any]]


def labels(random: np.random.Generator, n_rows: int, n_labels: int = 12, low: float = 0.03) -> np.ndarray:
    """Labels of noise with frequencies from `low` to 0.5, a tree of three levels."""
    Y = random.random((n_rows, n_labels)) < np.geomspace(low, 0.5, n_labels)
    return Y.astype(float)


def flat(truth: np.ndarray) -> Outcome:
    """Each column a branch of its own."""
    n_outputs = truth.shape[1]
    members = sparse.csr_array(np.vstack([np.ones((1, n_outputs)), np.eye(n_outputs)]))
    names = (WHOLE, *(f"l{k}" for k in range(n_outputs)))
    parents: list[list[int]] = [[], *([0] for _ in range(n_outputs))]
    counts = np.concatenate([[len(truth)], truth.sum(axis=0)]).astype(np.int64)
    rows = ForestRegressor().encode_target(truth).kernel_rows()
    return Outcome(
        truth, np.arange(n_outputs, dtype=np.int32), np.ones(n_outputs), names, members, parents, counts, {}, rows
    )


def plain(X: np.ndarray, n_categories: np.ndarray | None = None) -> Features:
    """X as features; numeric unless numbers of categories are given."""
    return Features(X, np.zeros(X.shape[1], dtype=np.int32) if n_categories is None else n_categories)


def nominal(random: np.random.Generator) -> dict[str, Any]:
    """Nominal features alone, of 2 to 60 uneven categories."""
    sizes = random.integers(2, 60, 30)
    X = np.column_stack([random.choice(size, 400, p=random.dirichlet(np.ones(size))) for size in sizes]).astype(float)
    return {"features": plain(X, sizes.astype(np.int32)), "outcome": flat(labels(random, 400))}


def tied(random: np.random.Generator) -> dict[str, Any]:
    """Numbers with ties alone: counts, rare zeros and ones, grades, mostly zero."""
    columns = []
    for _ in range(8):
        columns += [
            random.poisson(1.0, 400),
            random.random(400) < random.uniform(0.02, 0.5),
            random.integers(0, 5, 400),
            np.where(random.random(400) < 0.7, 0.0, random.gamma(2.0, 1.0, 400)),
        ]
    return {"features": plain(np.column_stack(columns).astype(float)), "outcome": flat(labels(random, 400))}


def rare(random: np.random.Generator) -> dict[str, Any]:
    """Labels of 5 to 15 rows of 500, features without ties."""
    Y = np.zeros((500, 11))
    for k in range(11):
        Y[random.choice(500, 5 + k, replace=False), k] = 1
    return {"features": plain(random.standard_normal((500, 60))), "outcome": flat(Y)}


def rare_tied(random: np.random.Generator) -> dict[str, Any]:
    """Labels of 5 to 15 rows, features with ties, categories and missing values."""
    found = rare(random)
    X, other = found["features"].values, tied(random)["features"].values
    holes = X[:, 20:40].copy()
    holes[random.random(holes.shape) < 0.1] = np.nan
    many = random.choice(20, (500, 10)).astype(float)
    counts = np.vstack([other, other[random.permutation(400)[:100]]])
    n_categories = np.concatenate([np.zeros(20 + counts.shape[1]), np.full(10, 20)]).astype(np.int32)
    return {**found, "features": plain(np.hstack([holes, counts, many]), n_categories)}


def few_rows(random: np.random.Generator) -> dict[str, Any]:
    """30 rows, features of every kind."""
    X = random.standard_normal((30, 20))
    X[:, :5] = random.poisson(1.0, (30, 5))
    X[:, 5:8] = random.choice(4, (30, 3))
    n_categories = np.where(np.isin(np.arange(20), [5, 6, 7]), 4, 0).astype(np.int32)
    Y = np.zeros((30, 6))
    for k in range(6):
        Y[random.choice(30, 10 + k, replace=False), k] = 1
    return {"features": plain(X, n_categories), "outcome": flat(Y)}


def numbers(random: np.random.Generator) -> dict[str, Any]:
    """Numbers with heavy tails as target, features with heavy tails."""
    return {
        "features": plain(random.standard_t(2, (300, 40))),
        "outcome": flat(np.column_stack([random.standard_t(2, (300, 4)), random.lognormal(size=(300, 4))])),
    }


def weighted(random: np.random.Generator) -> dict[str, Any]:
    """Pareto weights of rows."""
    found = {"features": plain(random.standard_normal((400, 40))), "outcome": flat(labels(random, 400))}
    return {**found, "row_weights": 1 + random.pareto(1.5, 400)}


def families(random: np.random.Generator) -> dict[str, Any]:
    """Groups of 1 to 6 rows that share most of their features and labels."""
    group = np.repeat(np.arange(150), random.integers(1, 7, 150))
    X = random.standard_normal((150, 30))[group] + 0.5 * random.standard_normal((len(group), 30))
    Y = random.standard_normal((150, 8))[group] + 0.5 * random.standard_normal((len(group), 8)) > 0.5
    return {"features": plain(X), "outcome": flat(Y.astype(float)), "row_groups": group}


def twins(random: np.random.Generator) -> dict[str, Any]:
    """Each row twice, nearly."""
    group = np.repeat(np.arange(200), 2)
    X = random.standard_normal((200, 30))[group] + 0.3 * random.standard_normal((400, 30))
    Y = random.standard_normal((200, 8))[group] + 0.3 * random.standard_normal((400, 8)) > 0.5
    return {"features": plain(X), "outcome": flat(Y.astype(float)), "row_groups": group}


def _tree(random: np.random.Generator, n_rows: int, shape: Callable[[np.ndarray], np.ndarray]) -> dict[str, Any]:
    """40 features, a tree of 3 x 4 labels; four features each drive one branch."""
    X = random.standard_normal((n_rows, 40))
    paths = [f"b{k}" for k in range(3)] + [f"b{k}/c{m}" for k in range(3) for m in range(4)]
    order = Hierarchy.from_paths(paths)
    Y, truth = np.zeros((n_rows, len(order))), np.zeros((40, len(order) + 1), dtype=bool)
    for k in range(3):
        head = order.index(f"b{k}")
        chance = 1 / (1 + np.exp(-(1.5 * shape(X[:, k]) - 1)))
        Y[:, head] = random.random(n_rows) < chance
        for m in range(4):
            child = order.index(f"b{k}/c{m}")
            drives = 2 * shape(X[:, 3]) if (k, m) == (0, 0) else 0
            Y[:, child] = Y[:, head] * (random.random(n_rows) < 1 / (1 + np.exp(-drives)))
            truth[k, [0, 1 + head, 1 + child]] = True
    truth[3, [0, 1 + order.index("b0"), 1 + order.index("b0/c0")]] = True
    target = ForestClassifier(hierarchy=order).encode_target(Y)
    outcome = outcome_of(target, np.ones(n_rows, dtype=bool))
    own = [0, *(1 + order.index(name) for name in outcome.branches[1:])]
    return {"features": plain(X), "outcome": outcome, "truth": truth[:, own]}


def planted_500(random: np.random.Generator) -> dict[str, Any]:
    """500 rows."""
    return _tree(random, 500, lambda x: x)


def planted_200(random: np.random.Generator) -> dict[str, Any]:
    """200 rows."""
    return _tree(random, 200, lambda x: x)


def u_shaped(random: np.random.Generator) -> dict[str, Any]:
    """500 rows, labels at both ends of a feature."""
    return _tree(random, 500, lambda x: x**2 - 1)


DESIGNS: dict[str, Design] = {
    design.__name__: design
    for design in (
        nominal,
        tied,
        rare,
        rare_tied,
        few_rows,
        numbers,
        weighted,
        families,
        twins,
        planted_500,
        planted_200,
        u_shaped,
    )
}


def shuffled(path: str) -> Design:
    """The target of a file in a random order."""
    data = read(path)
    frame = data.X if isinstance(data.X, pd.DataFrame) else pd.DataFrame(np.asarray(data.X, dtype=float))
    codes, n_categories = [], []
    for name in frame.columns:
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column):
            codes.append(column.to_numpy(dtype=float))
            n_categories.append(0)
        else:
            code = column.astype("category").cat.codes.to_numpy(dtype=float)
            codes.append(np.where(code < 0, np.nan, code))
            n_categories.append(int(column.nunique()))
    features = plain(np.column_stack(codes), np.array(n_categories, dtype=np.int32))
    forest = ForestClassifier(hierarchy=data.hierarchy) if data.hierarchy is not None else forest_for(data.target)
    outcome = outcome_of(forest.encode_target(data.y), np.ones(data.n_samples, dtype=bool))

    def design(random: np.random.Generator) -> dict[str, Any]:
        truth = outcome.truth[random.permutation(len(outcome.truth))]
        return {"features": features, "outcome": Outcome(**{**vars(outcome), "truth": truth})}

    return design


def run(name: str, design: Design, n_runs: int, seed: int, n_jobs: int) -> None:
    """Print one line for a design."""
    p_values, claims, false_shares, powers = [], [], [], []
    start = time.process_time()
    for number in range(n_runs):
        made = design(np.random.default_rng([seed, number]))
        truth = made.pop("truth", None)
        found = association(**made, seed=seed + number, n_jobs=n_jobs).p_values
        q = q_values(found, Graph.of(made["outcome"].parents, len(found)), FDR, "joint")
        claimed = q <= FDR
        claims.append(int(claimed.sum()))
        if truth is None:
            p_values.append(found[:, 1:].ravel())
        else:
            false_shares.append((claimed & ~truth).sum() / max(1, claimed.sum()))
            powers.append((claimed & truth).sum() / truth.sum())
    seconds = (time.process_time() - start) / n_runs
    if powers:
        print(f"{name:14} power {np.mean(powers):.3f}  false {np.mean(false_shares):.3f}  {seconds:.1f} CPU s a run")
        return
    p = np.concatenate(p_values)
    below = "  ".join(f"{(p < level).mean():.2g}" for level in (0.05, 0.001, 0.0001))
    some = np.mean(np.array(claims) > 0)
    print(f"{name:14} P(p < .05, .001, 1e-4)  {below}  of {len(p):,}  claims in {some:.3f} of {n_runs}")


def main() -> None:
    """Run the designs that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("designs", nargs="*", choices=[*DESIGNS, "shuffled", []], default=[])
    parser.add_argument("--file", action="append", default=[])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    for name in options.designs or DESIGNS:
        if name != "shuffled":
            run(name, DESIGNS[name], options.runs, options.seed, options.jobs)
    for path in options.file:
        run(path.rsplit("/", 1)[-1].partition(".")[0], shuffled(path), options.runs, options.seed, options.jobs)


if __name__ == "__main__":
    main()
