"""Methods of prediction compared on one data set by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control

from ramify.analysis.fitting import fitted_estimator
from ramify.analysis.methods import MODEL_METHODS
from ramify.analysis.model_data import counted_once, model_features, model_target, weighing
from ramify.analysis.model_quality import model_measures, model_predictions
from ramify.analysis.results import Results
from ramify.compare import Comparison, corrected_t
from ramify.compare.comparison import largest_groups
from ramify.compare.result_table import average_ranks, wins
from ramify.datasets import Dataset
from ramify.parameters import check_integer, check_option
from ramify.progress import progress_bar
from ramify.study.splits import folds_of

PRIOR = "prior"
"""The name of the prediction that knows only how frequent each label is, or the mean of each number."""


def compare_methods(
    data: Dataset,
    methods: Sequence[str],
    *,
    n_folds: int = 10,
    alpha: float = 0.05,
    n_estimators: int | None = None,
    max_depth: int | None = None,
    min_samples_leaf: int | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Results:
    """Compare methods on one data set, every one on the same folds, with the baseline "prior" beside them.

    Parameters
    ----------
    data : Dataset
        With a target; all its parts are folded together.
    methods : sequence of str
        At least two of `MODEL_METHODS`.
    n_folds : int, default=10
        Number of shuffled folds, stratified for classes; groups of rows (`data.row_groups`) are never divided.
    alpha : float, default=0.05
        Share of false claims that is accepted among those of a difference between two methods.
    n_estimators, max_depth, min_samples_leaf
        Of the forests; by default the method's own.
    random_state : int, default=0
        Seed of folds and methods.
    n_jobs : int, optional
        Number of threads; it changes the time only.
    verbose : int, default=0
        Show progress if positive.

    Returns
    -------
    Results
        `comparisons` by measure: the value of every method on every fold, mean ranks, p-values and what they say.

    Notes
    -----
    Folds share their training rows, so that values of different folds are not independent and a plain test over folds
    finds differences that are none. Pairs of methods are tested by the t-test for resampled values, whose variance is
    increased by `n_test / n_train`, and corrected over all pairs by Benjamini and Hochberg. What it says is about this
    kind of data alone; `ramify.study` compares over data sets.

    References
    ----------
    C. Nadeau, Y. Bengio. Inference for the generalization error. Machine Learning 52, 2003.

    Examples
    --------
    >>> from ramify.analysis import compare_methods
    >>> from ramify.datasets import make_multilabel
    >>> data = make_multilabel(90, random_state=0)
    >>> results = compare_methods(data, ["random-forest", "extra-trees"], n_folds=3, n_estimators=5)
    >>> sorted(results.comparisons["AUPRC, pooled"].table.columns)
    ['extra-trees', 'prior', 'random-forest']
    """
    data = weighing(data)
    _check(data, methods, n_folds)
    started = perf_counter()
    options = {
        "n_estimators": n_estimators,
        "max_depth": max_depth,
        "min_samples_leaf": min_samples_leaf,
        "random_state": random_state,
        "n_jobs": n_jobs,
        "verbose": 0,
    }
    rows: list[dict[str, Any]] = []
    better: dict[str, str] = {}
    folds = _folds(data, n_folds, random_state)
    with progress_bar(len(folds) * len(methods), verbose, "Fitting") as show:
        for fold, (train, test) in enumerate(folds, start=1):
            learnt, unseen = data.rows(train), data.rows(test)
            for done, method in enumerate(methods, start=1 + (fold - 1) * len(methods)):
                table = _measured(method, learnt, unseen, options)
                better.update(table["better"].to_dict())
                by_method = {name: {method: row["model"], PRIOR: row["prior"]} for name, row in table.iterrows()}
                rows += [{"fold": fold, "measure": name, **values} for name, values in by_method.items()]
                if show is not None:
                    show(done)
    long = pd.DataFrame(rows)
    ratio = len(folds[0][1]) / len(folds[0][0])
    comparisons = {}
    together = "" if data.row_groups is None else ", groups of rows kept together"
    facts = {"Methods": ", ".join(methods), "Folds": f"{n_folds}{together}{counted_once(data)}"}
    if n_estimators is not None:
        facts["Forests"] = f"{n_estimators} trees"
    for name in better:
        table = long[long["measure"] == name].groupby("fold")[[*methods, PRIOR]].first()
        if table.isna().any(axis=None):
            facts[f"{name} left out"] = "it is not defined in every fold"
        else:
            comparisons[name] = compared_folds(table, ratio, larger_is_better=better[name] == "higher", alpha=alpha)
    return Results(
        data,
        comparisons=comparisons,
        facts=facts,
        seed=random_state,
        seconds=perf_counter() - started,
    )


def _check(data: Dataset, methods: Sequence[str], n_folds: int) -> None:
    if data.y is None:
        raise ValueError(f"{data.source or 'The data'} has no target to learn; name its columns.")
    if isinstance(methods, str) or len(set(methods)) < 2:
        raise ValueError(f"compare_methods needs at least two methods. Got {methods!r} instead.")
    for name in methods:
        check_option("compare_methods", "methods", name, tuple(MODEL_METHODS))
    check_integer("compare_methods", "n_folds", n_folds, low=3)
    if n_folds > data.n_samples // 2:
        raise ValueError(f"{n_folds} folds need at least {2 * n_folds} rows. Got {data.n_samples}; name fewer folds.")


def _folds(data: Dataset, n_folds: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows of each fold."""
    if data.target_type.has_one_label:
        rarest = int(np.unique(model_target(data), return_counts=True)[1].min())
        if n_folds > rarest:
            raise ValueError(f"{n_folds} folds are more than the {rarest} rows of the rarest class; name fewer.")
    n_groups = n_folds if data.row_groups is None else len(np.unique(data.row_groups))
    if n_folds > n_groups:
        raise ValueError(f"{n_folds} folds are more than the {n_groups} groups of rows; name fewer.")
    return list(folds_of(data, n_folds, seed).split(np.arange(data.n_samples), data.y, data.row_groups))


def _measured(method: str, learnt: Dataset, unseen: Dataset, options: dict[str, Any]) -> pd.DataFrame:
    model = fitted_estimator(method, learnt, **options)
    return model_measures(model, model_target(unseen), model_predictions(model, model_features(unseen)))


def compared_folds(table: pd.DataFrame, ratio: float, *, larger_is_better: bool, alpha: float = 0.05) -> Comparison:
    """Methods compared over the folds of one data set.

    Parameters
    ----------
    table : frame of shape (n_folds, n_methods)
        Values of one measure.
    ratio : float
        Test rows per training row of a fold.
    larger_is_better : bool
        Whether the measure is no loss.
    alpha : float, default=0.05
        Level of the corrected p-values.
    """
    means = table.mean()
    names = [str(name) for name in (-means if larger_is_better else means).sort_values(kind="stable").index]
    ranks = average_ranks(table, larger_is_better=larger_is_better)[names]  # in the order of what is tested
    pairs = list(combinations(range(len(names)), 2))
    raw = [corrected_t(table[names[a]] - table[names[b]], ratio=ratio).p_value for a, b in pairs]
    p_values = pd.DataFrame(np.eye(len(names)), names, names)
    for (a, b), corrected in zip(pairs, false_discovery_control(raw), strict=True):
        p_values.iloc[a, b] = p_values.iloc[b, a] = corrected
    groups = largest_groups(names, p_values.to_numpy(), alpha)
    sentence = _sentence(table, names, p_values, alpha)
    beaten = wins(table, larger_is_better=larger_is_better)
    return Comparison(table, ranks, None, p_values, None, groups, beaten, alpha, sentence)


def _sentence(table: pd.DataFrame, names: list[str], p_values: pd.DataFrame, alpha: float) -> str:
    """What the test of the means says of the method with the best mean."""
    best, others = names[0], names[1:]
    beaten = [name for name in others if p_values.loc[best, name] <= alpha]
    rest = [name for name in others if name not in beaten]
    over, mean = f"Over {len(table)} folds", table[best].mean()
    level = f"resampled t-test, false discovery rate {alpha:g}"
    if not beaten:
        return f"{over} no method is shown to differ from {best} (mean {mean:.3f}; {level})."
    left = f", and not shown to differ from {', '.join(rest)}" if rest else ""
    return f"{over} {best} (mean {mean:.3f}) is better than {', '.join(beaten)}{left} ({level})."
