"""A tree grown slowly in plain Python, from the definitions: the oracle of the engine.

Impurities are computed from the rows of both sides for every cut; only the random numbers follow the engine. A NaN in
the target is unknown: in a node it takes the mean of the known rows, in a leaf without any the value of the node above.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

MASK = (1 << 64) - 1
TOLERANCE = 1e-12


class Random:
    """splitmix64, addressed by (seed, stream)."""

    def __init__(self, seed: int, stream: int) -> None:
        self.state = _mix(seed) ^ _mix((stream + 0x632BE59BD9B4E019) & MASK)

    def next(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        return _mix(self.state)

    def below(self, bound: int) -> int:
        draw = self.next()
        unfair = ((1 << 64) - bound) % bound
        while (draw * bound) & MASK < unfair:
            draw = self.next()
        return (draw * bound) >> 64

    def uniform(self) -> float:
        return (self.next() >> 11) * 2.0**-53


def _mix(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


@dataclass
class Problem:
    """What a tree is grown on: features, 0/1 labels or numbers (NaN: unknown), weights and parameters."""

    X: np.ndarray
    Y: np.ndarray
    output_weights: np.ndarray
    n_categories: np.ndarray
    numbers: bool = False
    sample_weight: np.ndarray | None = None
    max_features: int = 1
    bootstrap: bool = True
    random_splits: bool = False
    max_depth: int = -1
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_impurity_decrease: float = 0.0
    min_category_rows: int = 1


@dataclass
class Nodes:
    """The arrays of a grown tree; ``values`` are the means of the leaves in the order they were made."""

    feature: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    child: list[int] = field(default_factory=list)
    missing_left: list[int] = field(default_factory=list)
    weight: list[float] = field(default_factory=list)
    decrease: list[float] = field(default_factory=list)
    left_categories: list[frozenset[int] | None] = field(default_factory=list)
    values: list[np.ndarray] = field(default_factory=list)

    def add(self) -> None:
        self.feature.append(-1)
        self.threshold.append(0.0)
        self.child.append(0)
        self.missing_left.append(0)
        self.weight.append(0.0)
        self.decrease.append(0.0)
        self.left_categories.append(None)


@dataclass
class Split:
    """A way to part rows: the score, the rows that go left and what the node stores."""

    score: float
    left: np.ndarray
    feature: int
    threshold: float
    left_categories: frozenset[int] | None
    missing_left: bool


def known_means(Y: np.ndarray, weight: np.ndarray, above: np.ndarray) -> np.ndarray:
    """Mean of each column over the rows that are known; `above` where none is."""
    known = weight[:, None] * ~np.isnan(Y)
    total = known.sum(axis=0)
    return np.where(total > 0, (known * np.nan_to_num(Y)).sum(axis=0) / np.where(total > 0, total, 1.0), above)


class ReferenceTree:
    """Grows one tree of a forest with the given seed."""

    def __init__(self, problem: Problem, seed: int, index: int) -> None:
        self.p = problem
        tree_seed = Random(seed, index).next()
        n = len(problem.X)
        weight = np.ones(n) if problem.sample_weight is None else problem.sample_weight
        rows = np.flatnonzero(weight > 0)
        self.draws = np.zeros(n, np.int64)
        if problem.bootstrap:
            bag = Random(tree_seed, 1)
            for _ in rows:
                self.draws[rows[bag.below(len(rows))]] += 1
        else:
            self.draws[rows] = 1
        self.m = self.draws * weight
        self.random = Random(tree_seed, 2)
        self.features = list(range(problem.X.shape[1]))
        self.nodes = Nodes()
        self.filled = self.centre = problem.Y
        above = known_means(problem.Y[rows], weight[rows], np.zeros(problem.Y.shape[1]))
        self.grow(rows[self.draws[rows] > 0], above)

    def grow(self, rows: np.ndarray, above: np.ndarray) -> None:
        nodes, p = self.nodes, self.p
        nodes.add()
        stack: list[tuple[np.ndarray, int, int, int, np.ndarray]] = [(rows, 0, 0, 0, above)]
        while stack:
            rows, node, depth, n_constant, above = stack.pop()
            nodes.weight[node] = float(self.m[rows].sum())
            means = known_means(p.Y[rows], self.m[rows], above)
            n_draws = int(self.draws[rows].sum())
            small = len(rows) < 2 or n_draws < p.min_samples_split or n_draws < 2 * p.min_samples_leaf
            if small or 0 <= p.max_depth <= depth or self.pure(rows):
                self.make_leaf(node, means)
                continue
            self.filled, self.centre = np.where(np.isnan(p.Y), means, p.Y), means
            split, n_constant = self.best_split(rows, n_constant)
            decrease = 0.0 if split is None else max(0.0, split.score - self.square(rows))
            if split is None or decrease < p.min_impurity_decrease * nodes.weight[0]:
                self.make_leaf(node, means)
                continue
            left, right = rows[split.left], rows[~split.left]
            larger_left = 2 * self.m[left].sum() >= self.m[rows].sum()
            values = p.X[rows, split.feature]
            nodes.feature[node] = split.feature
            nodes.decrease[node] = decrease
            nodes.threshold[node] = split.threshold
            nodes.missing_left[node] = int(split.missing_left if np.isnan(values).any() else larger_left)
            if split.left_categories is not None:
                unseen = set(range(p.n_categories[split.feature])) - set(values[~np.isnan(values)].astype(int).tolist())
                nodes.left_categories[node] = split.left_categories | (unseen if larger_left else set())
            nodes.child[node] = len(nodes.feature)
            nodes.add()
            nodes.add()
            stack.append((right, nodes.child[node] + 1, depth + 1, n_constant, means))
            stack.append((left, nodes.child[node], depth + 1, n_constant, means))

    def make_leaf(self, node: int, means: np.ndarray) -> None:
        self.nodes.child[node] = len(self.nodes.values)
        self.nodes.values.append(means)

    def pure(self, rows: np.ndarray) -> bool:
        columns = self.p.Y[rows][:, self.p.output_weights > 0].T
        return all(len(np.unique(column[~np.isnan(column)])) <= 1 for column in columns)

    def square(self, rows: np.ndarray) -> float:
        """Sum over outputs of w (sum of y)^2 / n: what a split adds to this, it takes from the impurity."""
        sums = self.m[rows] @ self.centred(rows)
        square = float(self.p.output_weights @ sums**2)
        if self.p.numbers and square <= 1e-25:  # zero, but for rounding
            return 0.0
        return square / self.m[rows].sum()

    def centred(self, rows: np.ndarray) -> np.ndarray:
        if not self.p.numbers:
            return self.filled[rows]
        return self.filled[rows] - self.centre

    def best_split(self, rows: np.ndarray, n_constant: int) -> tuple[Split | None, int]:
        best: Split | None = None
        at, n_drawn, n_features = n_constant, 0, len(self.features)
        while at < n_features and n_drawn < self.p.max_features and not self.perfect(rows, best):
            drawn = at + self.random.below(n_features - at)
            self.features[at], self.features[drawn] = self.features[drawn], self.features[at]
            feature = self.features[at]
            values = self.p.X[rows, feature]
            seen = np.unique(values[~np.isnan(values)])
            if len(seen) == 0 or (len(seen) == 1 and not np.isnan(values).any()):
                self.features[at], self.features[n_constant] = self.features[n_constant], self.features[at]
                n_constant += 1
            else:
                n_drawn += not self.only_pooled(rows, feature, values, seen)
                found = self.best_of(self.cuts(rows, feature, values, seen))
                if found is not None and (best is None or found.score > best.score + TOLERANCE * abs(best.score)):
                    best = found
            at += 1
        return best, n_constant

    def perfect(self, rows: np.ndarray, best: Split | None) -> bool:
        """Labels: no split can be better than one that leaves no impurity on either side."""
        if best is None or self.p.numbers:
            return False
        relevant = self.filled[rows][:, self.p.output_weights > 0]
        return all((side == side[0]).all() for side in (relevant[best.left], relevant[~best.left]))

    def best_of(self, splits: list[Split]) -> Split | None:
        best: Split | None = None
        for split in splits:
            if best is None or split.score > best.score + TOLERANCE * abs(best.score):
                best = split
        return best

    def cuts(self, rows: np.ndarray, feature: int, values: np.ndarray, seen: np.ndarray) -> list[Split]:
        """Every admissible cut in ascending order, missing values to the right first."""
        if self.p.n_categories[feature] > 0:
            groups = self.category_groups(rows, values, seen)
        elif self.p.random_splits:
            groups = self.random_threshold(seen)
        else:
            middles = seen[:-1] / 2 + seen[1:] / 2
            exact = (middles >= seen[:-1]) & (middles < seen[1:])
            groups = [(t, None) for t in np.where(exact, middles, seen[:-1])]
        missing = np.isnan(values)
        if missing.any() and not (self.p.random_splits and groups):
            everything = frozenset(seen.astype(int).tolist()) if self.p.n_categories[feature] > 0 else None
            groups.append((np.inf, everything))
        splits = []
        for threshold, categories in groups:
            left = values <= threshold if categories is None else np.isin(values, list(categories))
            for missing_left in (False, True) if missing.any() else (False,):
                side = left | (missing & missing_left)
                if side.all() or not self.allowed(rows[side]) or not self.allowed(rows[~side]):
                    continue
                score = self.square(rows[side]) + self.square(rows[~side])
                stored = 0.0 if categories is not None else float(threshold)
                splits.append(Split(score, side, feature, stored, categories, missing_left))
        return splits

    def allowed(self, side: np.ndarray) -> bool:
        return len(side) > 0 and self.draws[side].sum() >= self.p.min_samples_leaf

    def random_threshold(self, seen: np.ndarray) -> list[Any]:
        if len(seen) == 1:
            return []
        share = self.random.uniform()
        threshold = seen[0] * (1 - share) + seen[-1] * share
        return [(threshold if seen[0] <= threshold < seen[-1] else seen[0], None)]

    def category_groups(self, rows: np.ndarray, values: np.ndarray, seen: np.ndarray) -> list[Any]:
        codes = seen.astype(int).tolist()
        groups = self.pooled(rows, values, codes)
        if self.p.random_splits:
            return self.random_subset(groups)
        if len(groups) > 2:
            places = self.principal_places([rows[values == code] for code in codes])
            weight = np.array([self.m[rows[values == code]].sum() for code in codes])
            at = [np.isin(codes, group) for group in groups]
            means = [(weight[of] @ places[of]) / weight[of].sum() for of in at]
            groups = [groups[g] for g in np.argsort(means, kind="stable")]
        return [(np.inf, frozenset(chain(*groups[:k]))) for k in range(1, len(groups))]

    def pooled(self, rows: np.ndarray, values: np.ndarray, codes: list[int]) -> list[list[int]]:
        """Codes that go to one side together: of more than two, those with few draws."""
        draws = {code: self.draws[rows[values == code]].sum() for code in codes}
        rare = [code for code in codes if draws[code] < self.p.min_category_rows] if len(codes) > 2 else []
        return sorted([[code] for code in codes if code not in rare] + ([rare] if rare else []))

    def only_pooled(self, rows: np.ndarray, feature: int, values: np.ndarray, seen: np.ndarray) -> bool:
        """Nothing parts the values of a nominal feature, as if it were constant."""
        if self.p.n_categories[feature] == 0 or np.isnan(values).any():
            return False
        return len(self.pooled(rows, values, seen.astype(int).tolist())) == 1

    def random_subset(self, groups: list[list[int]]) -> list[Any]:
        if len(groups) == 1:
            return []
        sides, coins = [], 0
        for g in range(len(groups)):
            if g % 64 == 0:
                coins = self.random.next()
            sides.append((coins >> (g % 64)) & 1)
        if sum(sides) in (0, len(groups)):
            odd = self.random.below(len(groups))
            sides[odd] = 1 - sides[odd]
        return [(np.inf, frozenset(chain(*(group for group, side in zip(groups, sides, strict=True) if side == 0))))]

    def principal_places(self, groups: list[np.ndarray]) -> np.ndarray:
        """Means of the groups along their first principal direction, by eight power steps."""
        weight = np.array([self.m[rows].sum() for rows in groups])
        means = np.array([self.m[rows] @ self.centred(rows) / self.m[rows].sum() for rows in groups])
        apart = (means - weight @ means / weight.sum()) * np.sqrt(self.p.output_weights)
        start = int(np.argmax(weight * (apart**2).sum(axis=1)))
        direction = apart[start]
        for _ in range(8):
            places = apart @ direction
            direction = (weight * places) @ apart
            direction = direction / (np.abs(direction).max() or 1.0)
        return places
