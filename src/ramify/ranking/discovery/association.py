"""Association: which features go along with which outputs, by the target in random row orders; no forest is grown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ramify.features import Features
from ramify.parameters import worker_count
from ramify.progress import progress_bar
from ramify.ranking.discovery.exceedances import Exceedances
from ramify.ranking.discovery.feature_curves import (
    Curves,
    curves_of_ranks,
    feature_curves,
    is_smooth,
    ranks_without_ties,
)
from ramify.ranking.discovery.outcome import Outcome
from ramify.ranking.discovery.row_orders import RowOrders
from ramify.ranking.discovery.target_vectors import BranchMaxima, TargetVectors, target_vectors

_POOLED_ORDERS, _OWN_ORDERS, _FIRST_ORDERS = 20_000, 2_000, 300
_FEATURES_OF_POOL = 200
_FEWEST_SEEN = 2.0
_MOST = 1 << 23
"""Numbers held at once in one block of work."""


def association(
    features: Features,
    outcome: Outcome,
    *,
    row_weights: np.ndarray | None = None,
    row_groups: np.ndarray | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Association:
    """Test each feature against each branch; the null distribution is that of the features in random row orders.

    An output is a vector v over rows with mean 0 and squared length n - 1; a feature is orthonormal columns Q
    (`feature_curves`). T = |Q'v|^2 and its first term, which sees a rise alone, become normal scores (Wilson and
    Hilferty, with the moments of the null distribution of the output), of which the larger counts, and a branch takes
    the largest of its outputs. All features without ties share one null distribution; so do, nearly, those that are
    without ties but for missing values; each other feature has its own.

    Parameters
    ----------
    features : Features
        The features.
    outcome : Outcome
        Outputs and branches.
    row_weights : array of shape (n_samples,), optional
        Weights of the rows: v is the weighted deviation from the weighted mean.
    row_groups : array of shape (n_samples,), optional
        Which rows belong together; they stay together in every order, and each feature has its own null distribution.
    seed, n_jobs, verbose
        As of `discoveries`.

    References
    ----------
    E. B. Wilson, M. M. Hilferty. The distribution of chi-square. Proceedings of the National Academy of Sciences 17,
    1931.

    B. Phipson, G. K. Smyth. Permutation p-values should never be zero. Statistical Applications in Genetics and
    Molecular Biology 9, 2010.
    """
    orders = RowOrders(len(outcome.truth), row_groups, seed)
    test = _Test(target_vectors(outcome.truth, row_weights), BranchMaxima.of(outcome), orders, worker_count(n_jobs))
    return test.run(features, seed, verbose)


@dataclass(frozen=True)
class Association:
    """What the test found.

    Attributes
    ----------
    p_values : array of shape (n_features, n_branches)
        1 for features with one value only.
    share : function of features and outputs
        For each pair the share of the variance of the output that goes along with the feature, less what chance gives.
    """

    p_values: np.ndarray
    share: Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass
class _Test:
    """The target and how it is put in other orders."""

    vectors: TargetVectors
    branches: BranchMaxima
    orders: RowOrders
    n_threads: int

    def run(self, features: Features, seed: int, verbose: int) -> Association:
        n_features = features.values.shape[1]
        smooth: list[int] = []
        holes: list[int] = []
        own: list[int] = []
        for feature in range(n_features):
            column = self.column(features, feature)
            is_number = not features.n_categories[feature] and not self.orders.grouped
            if not is_number or not is_smooth(column):
                own.append(feature)
            elif not np.isnan(column).any():
                smooth.append(feature)
            else:
                (holes if np.isnan(column).mean() <= 0.5 else own).append(feature)
        p_values = np.ones((n_features, self.branches.n_branches))
        ranked = curves_of_ranks(self.vectors.rows.shape[1])

        def curves(feature: int) -> Curves:
            column = self.column(features, feature)
            if features.n_categories[feature] or not is_smooth(column) or np.isnan(column).any():
                return feature_curves(column, int(features.n_categories[feature]))
            ranks = ranks_without_ties(column, np.random.default_rng([seed, 5, feature]))
            return Curves(ranked.columns[ranks], ranked.rises, 0, ranked.n_free)

        done = 0
        with progress_bar(n_features, verbose, "Testing association") as progress:
            work = [
                (smooth, lambda: self._pooled(smooth, curves, [ranked], 6)),
                (holes, lambda: self._pooled(holes, curves, [curves(f) for f in _spread(holes)], 7)),
            ]
            for part, tested in work:
                if part:
                    p_values[part] = tested()
                    done += len(part)
                    if progress is not None:
                        progress(done)
            for batch, tested_batch in self._own(own, curves):
                p_values[batch] = tested_batch
                done += len(batch)
                if progress is not None:
                    progress(done)

        def share(pairs_of: np.ndarray, outputs: np.ndarray) -> np.ndarray:
            return self._shares(curves, pairs_of, outputs)

        return Association(p_values, share)

    @staticmethod
    def column(features: Features, feature: int) -> np.ndarray:
        """One feature, dense."""
        values = features.values[:, [feature]]
        return np.asarray(values.toarray() if sparse.issparse(values) else values, dtype=np.float64).ravel()

    def _pooled(
        self, tested: list[int], curves: Callable[[int], Curves], owners: list[Curves], salt: int
    ) -> np.ndarray:
        """P-values against one null distribution, to which each of some features gives as many draws."""
        n_each = -(-_POOLED_ORDERS // len(owners))
        n_columns = max(owner.columns.shape[1] for owner in owners)
        step = self._step(n_columns)
        blocks = [(k, first) for k in range(len(owners)) for first in range(0, n_each, step)]

        def drawn(block: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
            owner, first = block
            orders = self.orders.draw(min(step, n_each - first), salt, owner, first)
            return self._ordered_terms(owners[owner], orders)

        n_first = 1 + min(len(blocks) - 1, max(_FIRST_ORDERS, 1000) // min(step, n_each))
        moments = _moments([drawn(block) for block in blocks[:n_first]])

        def scores(block: tuple[int, int]) -> np.ndarray:
            return self.branches.largest(_scores(*drawn(block), moments)[:, 0])

        def observed(features: list[int]) -> np.ndarray:
            terms = [self._terms([curves(feature)]) for feature in features]
            whole, rising = (np.concatenate(parts, axis=1) for parts in zip(*terms, strict=True))
            return self.branches.largest(_scores(whole, rising, moments)[:, :, 0])

        parts = [tested[first : first + step] for first in range(0, len(tested), step)]
        found = Exceedances(np.concatenate(list(self._map(observed, parts)), axis=1), n_each * len(owners))
        for draws in self._map(scores, blocks):
            found.add(draws)
        return found.p_values().T

    def _own(self, tested: list[int], curves: Callable[[int], Curves]) -> Iterable[tuple[list[int], np.ndarray]]:
        """P-values of features each against its own null distribution, in batches that share the orders."""
        if not tested:
            return
        n_rows = self.vectors.rows.shape[1]
        n_wide = max(self.vectors.rows.shape[0], self.branches.n_branches)
        n_columns = {feature: max(1, curves(feature).columns.shape[1]) for feature in tested}
        room = max(1, min(_MOST // n_rows, _MOST // (128 * n_wide)))
        batches: list[list[int]] = [[]]
        for feature in sorted(tested, key=lambda feature: n_columns[feature]):
            if batches[-1] and (len(batches[-1]) + 1) * n_columns[feature] > room:
                batches.append([])
            batches[-1].append(feature)
        found = self._map(lambda batch: self._own_batch([curves(feature) for feature in batch]), batches)
        yield from zip(batches, found, strict=True)

    def _own_batch(self, batch: list[Curves]) -> np.ndarray:
        n_columns = max(1, max(own.columns.shape[1] for own in batch))
        n_wide = max(self.vectors.rows.shape[0] * n_columns, self.branches.n_branches) * len(batch)
        step = max(1, min(_FIRST_ORDERS, _MOST // max(n_wide, self.vectors.n_stored)))
        blocks = range(0, _OWN_ORDERS, step)

        def drawn(first: int) -> tuple[np.ndarray, np.ndarray]:
            orders = self.orders.draw(min(step, _OWN_ORDERS - first), 8, 0, first)
            if len(batch) == 1:
                return self._ordered_terms(batch[0], orders)
            return self._terms(batch, orders)

        moments = _moments([drawn(first) for first in blocks if first < _FIRST_ORDERS])

        def scores(whole: np.ndarray, rising: np.ndarray) -> np.ndarray:
            found = _scores(whole, rising, moments)
            largest = self.branches.largest(found.reshape(len(found), -1))
            return largest.reshape(self.branches.n_branches * len(batch), -1)

        found = Exceedances(scores(*self._terms(batch)), _OWN_ORDERS)
        for first in blocks:
            found.add(scores(*drawn(first)))
        return found.p_values().reshape(self.branches.n_branches, len(batch)).T

    def _terms(self, batch: list[Curves], orders: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """T and its first term, outputs x features x orders; as the rows are without `orders`."""
        n_columns = max(1, max(own.columns.shape[1] for own in batch))
        columns = np.zeros((self.vectors.rows.shape[1], n_columns, len(batch)), dtype=np.float32)
        for k, own in enumerate(batch):
            columns[:, : own.columns.shape[1], k] = own.columns
        if orders is None:
            projected = self.vectors.project(columns)[:, None]
        else:
            projected = self.vectors.project_ordered(columns, orders)
        projected = np.square(projected)  # outputs x orders x columns x features
        whole = projected[:, :, 0].copy()
        for column in range(1, n_columns):
            whole += projected[:, :, column]
        for k, own in enumerate(batch):
            if own.n_missing:
                unseen = ~self._sees(own)
                whole[unseen, :, k] -= projected[unseen, :, own.columns.shape[1] - 1, k]
        rising = np.where([own.rises for own in batch], projected[:, :, 0], 0.0)
        return tuple(np.ascontiguousarray(part.swapaxes(1, 2)) for part in (whole, rising))  # type: ignore[return-value]

    def _ordered_terms(self, own: Curves, orders: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same of one feature in orders of its own: outputs x 1 x orders."""
        ordered = np.ascontiguousarray(own.columns.T)[:, orders]  # columns x orders x rows
        projected = self.vectors.project(np.ascontiguousarray(ordered.transpose(2, 0, 1)))
        np.square(projected, out=projected)
        if own.n_missing:
            projected[:, -1] *= self._sees(own)[:, None]
        whole = projected.sum(axis=1, keepdims=True)
        rising = projected[:, :1] if own.rises else np.zeros_like(whole)
        return whole, rising

    def _sees(self, own: Curves) -> np.ndarray:
        """Which outputs the rows without a value are told to: at least two such rows are expected with the label."""
        seen: np.ndarray = own.n_missing * self.vectors.effective / self.vectors.rows.shape[1] >= _FEWEST_SEEN
        return seen

    def _step(self, n_columns: int) -> int:
        """How many orders of one feature make a block."""
        n_outputs, n_rows = self.vectors.rows.shape
        return max(1, min(1000, _MOST // max(n_rows * n_columns, n_outputs * n_columns, self.branches.n_branches)))

    def _map(self, work: Callable[[Any], np.ndarray], parts: Iterable[Any]) -> Iterable[np.ndarray]:
        """Results in order; a few blocks are held at a time."""
        waiting = list(parts)
        if self.n_threads == 1:
            yield from map(work, waiting)
            return
        with ThreadPoolExecutor(self.n_threads) as pool:
            for first in range(0, len(waiting), 2 * self.n_threads):
                yield from pool.map(work, waiting[first : first + 2 * self.n_threads])

    def _shares(self, curves: Callable[[int], Curves], features: np.ndarray, outputs: np.ndarray) -> np.ndarray:
        found = np.zeros(len(features))
        rest = self.vectors.rows.shape[1] - 1.0
        for feature in np.unique(features).tolist():
            own = curves(feature)
            whole = self._terms([own])[0][:, 0, 0].astype(np.float64)
            free = own.n_free - (own.n_missing > 0) * ~self._sees(own)
            share = (whole - free) / np.maximum(rest - free, 1.0)
            mine = features == feature
            found[mine] = np.clip(share[outputs[mine]], 0.0, 1.0)
        return found


def _moments(drawn: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean of T, its degrees of freedom as of a scaled chi-square, and mean of its first term."""
    whole = np.concatenate([part[0] for part in drawn], axis=2).astype(np.float64)
    rising = np.concatenate([part[1] for part in drawn], axis=2)
    mean = np.maximum(whole.mean(axis=2, keepdims=True), 1e-12)
    variance = np.maximum(whole.var(axis=2, keepdims=True), (1e-3 * mean) ** 2)
    first = rising.mean(axis=2, keepdims=True, dtype=np.float64)
    return mean.astype(np.float32), (2 * mean**2 / variance).astype(np.float32), first.astype(np.float32)


def _scores(whole: np.ndarray, rising: np.ndarray, moments: tuple[np.ndarray, np.ndarray, np.ndarray]) -> np.ndarray:
    """The larger of the normal scores of T and of its first term."""
    mean, freedom, first = moments
    found = _normal(whole / mean, freedom)
    if (first > 0).any():
        risen = _normal(rising / np.where(first > 0, first, 1), np.float32(1.0))
        np.maximum(found, np.where(first > 0, risen, -np.inf), out=found)
    return found


def _normal(ratio: np.ndarray, freedom: Any) -> np.ndarray:
    """Wilson and Hilferty: the normal score of a chi-square over its mean."""
    v = (2 / (9 * freedom)).astype(np.float32)
    found: np.ndarray = np.cbrt(ratio, dtype=np.float32)
    found -= 1 - v
    found /= np.sqrt(v)
    return found


def _spread(features: list[int]) -> list[int]:
    """At most so many features as give draws to a pool, spread over all."""
    return features[:: -(-len(features) // _FEATURES_OF_POOL)]
