"""What `ramify rank` computes: rankings by several methods, their significance and their quality."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from ramify.cli.chain_methods import chain_model, named_label_sets
from ramify.cli.model_data import model_target
from ramify.datasets import Dataset
from ramify.ensemble import ForestClassifier, ForestRegressor, LabelRankingForest
from ramify.ranking import (
    AdditionCurve,
    FeatureRanking,
    ForestRanker,
    KnnQuality,
    ReliefRanker,
    Significance,
    addition_curve,
    knn_quality,
    significance,
)

_MOST_CELLS = 50_000_000


@dataclass(frozen=True)
class Ranked:
    """Everything the command prints and writes.

    Attributes
    ----------
    dataset : Dataset
        The rows that were ranked.
    rankings : dict of str to FeatureRanking
        By method; the first is shown in full.
    per_label : FeatureRanking or None
        The ranking whose scores per label say who drives what.
    significance : Significance or None
        P-values of the first method.
    knn, curves : dict
        Quality by method.
    facts : dict
        How the rankings were made.
    forest : forest or None
        The forest that the scores of forests come from.
    unseen : Dataset or None
        The test part, which took no part in the ranking.
    """

    dataset: Dataset
    rankings: dict[str, FeatureRanking]
    per_label: FeatureRanking | None
    significance: Significance | None
    knn: dict[str, KnnQuality] = field(default_factory=dict)
    curves: dict[str, AdditionCurve] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    forest: Any = None
    unseen: Dataset | None = None

    @property
    def per_label_ranking(self) -> FeatureRanking:
        """The ranking with scores per label, or an error that says how to get one."""
        if self.per_label is None:
            raise ValueError(
                "These methods give no scores per label for this target; use --method genie3 for labels, numbers or "
                "rankings, --method relief for label sets."
            )
        return self.per_label

    @cached_property
    def branch_scores(self) -> sparse.csc_array:
        """Features x labels, each with everything below it."""
        return sparse.csc_array(self.per_label_ranking.branch_scores())

    @cached_property
    def label_positions(self) -> dict[str, int]:
        """Column of each label in `branch_scores`."""
        return {name: column for column, name in enumerate(self.per_label_ranking.label_names)}


def ranked(
    dataset: Dataset,
    methods: tuple[str, ...],
    *,
    forest: dict[str, Any],
    relief: dict[str, Any],
    noise: str | None,
    n_repeats: int,
    quality: dict[str, int] | None,
    seed: int,
    verbose: int,
) -> Ranked:
    """Rank by all methods, test the first for noise, and measure quality where asked."""
    if dataset.y is None:
        raise ValueError(f"{dataset.source or 'The data'} has no target to rank for; name its columns with --target.")
    learnt, unseen = dataset, None
    if "test" in dataset.parts and len(dataset.parts) > 1:
        learnt = dataset.part(*(name for name in dataset.parts if name != "test"))
        unseen = dataset.part("test")
    _check_sizes(methods, relief, quality, learnt.n_samples)
    relief = {**relief, "n_iterations": _share(relief["n_iterations"], learnt.n_samples)}
    rankers = {method: _ranker(method, learnt, forest, relief, verbose) for method in methods}
    rankings, grown = _rankings(rankers, learnt)
    per_label = next((ranking for ranking in rankings.values() if ranking.per_label is not None), None)
    first = methods[0]
    found = None
    if noise is not None and first != "lcc":
        found = _tested(rankers[first], rankings[first], learnt, noise, n_repeats, seed, verbose)
    knn, curves = {}, {}
    if quality is not None:
        usable = {method: ranker for method, ranker in rankers.items() if method != "lcc"}
        knn = _knn(usable, rankings, learnt, unseen, seed)
        curves = {
            method: addition_curve(
                _plain(ranker),
                learnt.X,
                model_target(learnt),
                cv=quality["folds"],
                n_random=quality["n_random"] if number == 0 else 0,
                hierarchy=learnt.hierarchy,
                categorical_features=learnt.categorical_features if learnt.categorical_features.any() else None,
                n_jobs=forest["n_jobs"],
                random_state=seed,
                verbose=verbose,
            )
            for number, (method, ranker) in enumerate(usable.items())
        }
    facts = _facts(methods, forest, relief, noise, n_repeats)
    return Ranked(learnt, rankings, per_label, found, knn, curves, facts, grown, unseen)


def _check_sizes(
    methods: tuple[str, ...], relief: dict[str, Any], quality: dict[str, int] | None, n_samples: int
) -> None:
    """Refuse more neighbours or folds than there are rows before the work begins."""
    if "relief" in methods and relief["n_neighbors"] >= n_samples:
        raise ValueError(
            f"--neighbors {relief['n_neighbors']} is more than the other {n_samples - 1} rows; name fewer."
        )
    if quality is not None and quality["folds"] > n_samples:
        raise ValueError(f"--folds {quality['folds']} is more than the {n_samples} rows; name fewer.")


def _share(n_iterations: float, n_samples: int) -> float:
    """A number of rows as a share of them, so that it also fits parts of the data."""
    if not isinstance(n_iterations, int):
        return n_iterations
    if n_iterations > n_samples:
        raise ValueError(f"--iterations {n_iterations} is more than the {n_samples} rows; name fewer.")
    return n_iterations / n_samples


def _rankings(rankers: dict[str, Any], data: Dataset) -> tuple[dict[str, FeatureRanking], Any]:
    """The rankings by all methods, and the one forest that all scores of forests come from."""
    found: dict[str, FeatureRanking] = {}
    grown = None
    scores = [method for method, ranker in rankers.items() if isinstance(ranker, ForestRanker)]
    if scores:
        joint = clone(rankers[scores[0]]).set_params(scores=scores)
        joint.fit(data.X, model_target(data), data.sample_weight)
        found, grown = dict(joint.rankings_), joint.estimator_
    for method, ranker in rankers.items():
        if method == "lcc":
            target = model_target(data) if data.target == "classes" else named_label_sets(data)
            found[method] = ranker.fit(data.X, target).ranking_
        elif method not in scores:
            found[method] = ranker.fit(data.X, model_target(data)).ranking_
    return {method: _named(found[method], data) for method in rankers}, grown


def _ranker(method: str, data: Dataset, forest: dict[str, Any], relief: dict[str, Any], verbose: int) -> Any:
    nominal = data.categorical_features if data.categorical_features.any() else None
    if method == "relief":
        return ReliefRanker(
            **relief,
            hierarchy=data.hierarchy,
            target="rankings" if data.target == "rankings" else "auto",
            per_label=data.target in ("labels", "hierarchy", "rankings"),
            categorical_features=nominal,
            verbose=verbose,
        )
    if method == "lcc":
        options = {name: value for name, value in forest.items() if name not in ("n_jobs", "random_state")}
        return chain_model("lcc", data, random_state=forest["random_state"], n_jobs=forest["n_jobs"], **options)
    common = {**forest, "categorical_features": nominal, "verbose": verbose}
    model: Any
    if data.target == "numbers":
        model = ForestRegressor(**common)
    elif data.target == "rankings":
        model = LabelRankingForest(**common, gamma=1.0)
    else:
        model = ForestClassifier(hierarchy=data.hierarchy, **common)
    return ForestRanker(model, scores=method)


def _named(ranking: FeatureRanking, data: Dataset) -> FeatureRanking:
    """The ranking with the data's own names of features and labels."""
    labels = ranking.label_names
    if ranking.per_label is not None and data.target != "rankings" and len(data.label_names) == len(labels):
        labels = data.label_names if data.target != "classes" else labels
    names = data.feature_names if len(ranking) == data.n_features else ranking.names
    return FeatureRanking(
        names,
        ranking.scores,
        per_label=ranking.per_label,
        label_names=labels,
        hierarchy=ranking.hierarchy,
        origin={**ranking.origin, "source": data.source, "sha256": data.sha256},
    )


def _tested(
    ranker: Any, ranking: FeatureRanking, data: Dataset, noise: str, n_repeats: int, seed: int, verbose: int
) -> Significance:
    quiet = _plain(ranker)
    has_labels = ranking.per_label is not None
    small = has_labels and len(ranking) * len(ranking.label_names) * n_repeats <= _MOST_CELLS
    return significance(
        quiet,
        data.X,
        model_target(data),
        method=noise,
        n_repeats=n_repeats,
        per_label="branch" if small else False,
        random_state=seed,
        verbose=verbose,
    )


def _plain(ranker: Any) -> Any:
    """A ranker that shows no progress and measures nothing besides."""
    if isinstance(ranker, ForestRanker):
        return clone(ranker).set_params(estimator__verbose=0, estimator__oob_score=False)
    return clone(ranker).set_params(verbose=0)


def _knn(
    rankers: dict[str, Any],
    rankings: dict[str, FeatureRanking],
    learnt: Dataset,
    unseen: Dataset | None,
    seed: int,
) -> dict[str, KnnQuality]:
    """Quality on the test part, or on a third of the rows that a second ranking does not see."""
    if unseen is not None:
        train, test = learnt, unseen
    else:
        parts = train_test_split(np.arange(learnt.n_samples), test_size=1 / 3, random_state=seed)
        train, test = learnt.rows(np.sort(parts[0])), learnt.rows(np.sort(parts[1]))
        rankings, _ = _rankings({method: _plain(ranker) for method, ranker in rankers.items()}, train)
    plain = [FeatureRanking([f"x{j}" for j in range(len(rankings[name]))], rankings[name].scores) for name in rankers]
    found = knn_quality(
        plain,
        train.X,
        model_target(train),
        test.X,
        model_target(test),
        hierarchy=train.hierarchy,
        target="rankings" if train.target == "rankings" else "numbers" if train.target == "numbers" else "labels",
        categorical_features=train.categorical_features,
    )
    return dict(zip(rankers, found, strict=True))


def _facts(
    methods: tuple[str, ...], forest: dict[str, Any], relief: dict[str, Any], noise: str | None, n_repeats: int
) -> dict[str, str]:
    facts = {"Methods": ", ".join(methods)}
    if any(method not in ("relief", "lcc") for method in methods):
        kind = "extra trees" if forest["splitter"] == "random" else "bagging" if forest["max_features"] is None else ""
        facts["Forest"] = f"{forest['n_estimators']} trees, {kind or 'random forest'}"
    if "relief" in methods:
        facts["Relief"] = f"{relief['n_neighbors']} neighbours, share {relief['n_iterations']:g} of the rows"
    if noise is not None:
        facts["q-values"] = f"{noise}, {n_repeats} repetitions, Benjamini-Hochberg"
    return facts
