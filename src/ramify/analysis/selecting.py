"""Features of a data set that a method selects along their hierarchy, and what selecting them does to a classifier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from ramify.analysis.chosen_parameters import set_parameters
from ramify.analysis.methods import SELECTION_METHODS
from ramify.analysis.model_data import learnt_and_unseen, model_target, refuse_weights, weighing
from ramify.analysis.results import Results
from ramify.datasets import Dataset
from ramify.hierarchy import Hierarchy
from ramify.parameters import check_integer, check_option
from ramify.progress import progress_bar
from ramify.ranking import FeatureRanking
from ramify.selection import LazyNaiveBayes, LazySelector, cross_validated_selection
from ramify.selection.binary_features import column_hierarchy
from ramify.selection.evaluation import SelectionResult
from ramify.selection.methods import selecting_classifier

SELECTION_MEASURES = {"auprc": "AUCPR", "auroc": "AUROC", "gm": "GM", "accuracy": "accuracy"}
"""Measures of the cross-validation and what they are called."""


@dataclass(frozen=True)
class Selected:
    """What a method selects.

    Parameters
    ----------
    selector : estimator
        Fitted to the rows learnt from.
    learnt, shown : Dataset
        Those rows, and the rows whose features are listed: the test part, or the same.
    relevance : array of shape (n_features,)
        Relevance of each feature.
    measures : mapping of str to mapping of str to float
        Of the cross-validation ("cross_validation", with the "share" of features selected per row), of the same
        without selection ("without_selection") and of the prior ("prior"); empty where none was asked for.
    results : Results
        For the report.
    """

    selector: Any
    learnt: Dataset
    shown: Dataset
    relevance: np.ndarray
    measures: dict[str, dict[str, float]]
    results: Results


def select_features(
    data: Dataset,
    feature_hierarchy: Hierarchy,
    *,
    method: str = "rpv",
    relevance: str | None = None,
    close: bool = False,
    cv: int = 10,
    classifier: Literal["bayes", "neighbors"] = "bayes",
    positive: str | None = None,
    random_state: int = 0,
    verbose: int = 0,
    parameters: Mapping[str, Any] | None = None,
) -> Selected:
    """Select the features of a data set and measure, by cross-validation, what that does to a classifier.

    Parameters
    ----------
    data : Dataset
        Binary features, with classes or label sets. The test part, if there is one beside others, is not learnt from.
    feature_hierarchy : Hierarchy
        Hierarchy of the features; terms that are no column count for what lies between their neighbours.
    method : str, default="rpv"
        One of `SELECTION_METHODS`.
    relevance : {"lazy_r", "r", "ig"}, optional
        By default the published one.
    close : bool, default=False
        Whether rows that break the hierarchy are repaired.
    cv : int, default=10
        Folds of the cross-validation of classes; 0 for none.
    classifier : {"bayes", "neighbors"}, default="bayes"
        What classifies in it.
    positive : str, optional
        The positive one of two classes; the last by default.
    random_state : int, default=0
        Seed of the folds.
    verbose : int, default=0
        Show progress if positive.
    parameters : mapping of str to value, optional
        Further parameters of the method's selector by name.

    Examples
    --------
    >>> from ramify.analysis import select_features
    >>> from ramify.datasets import make_feature_hierarchy
    >>> data = make_feature_hierarchy(60, random_state=0)
    >>> found = select_features(data, data.feature_hierarchy, method="hip", cv=2)
    >>> sorted(found.measures)
    ['cross_validation', 'prior', 'without_selection']
    """
    check_option("select_features", "method", method, tuple(SELECTION_METHODS))
    check_integer("select_features", "cv", cv, low=0)
    data = weighing(data)
    measured = bool(cv) and data.target_type.has_one_label
    if measured:
        _check_folds(cv, model_target(data))
    hierarchy = column_hierarchy(feature_hierarchy, data.feature_names)
    options: dict[str, Any] = {"relevance": relevance, "close": close}
    learnt, unseen = learnt_and_unseen(data)
    refuse_weights(f"The method {method}", learnt)
    selector = SELECTION_METHODS[method].build(hierarchy, **options)
    set_parameters([selector], parameters or {})
    selector.fit(learnt.X, learnt.y)
    measures: dict[str, dict[str, float]] = {}
    if measured:
        folds = {"n_splits": cv, "random_state": random_state}
        runs = _cross_validated(
            data, method, hierarchy, {**options, "classifier": classifier}, parameters or {}, folds, verbose
        )
        measures = {name: _measures(run, positive) for name, run in runs.items()}
    weights = _relevance(selector)
    lazy = SELECTION_METHODS[method].per_row
    ranking = selector.ranking_ if lazy else FeatureRanking(data.feature_names, weights)
    kept = ranking.scores > 0 if lazy else selector.get_support()
    results = Results(
        replace(learnt, feature_hierarchy=hierarchy),
        {method: ranking},
        selected=[data.feature_names[j] for j in np.flatnonzero(kept)],
        facts={"Selection": method},
        titles=learnt.titles,
        seed=random_state,
    )
    if measures:
        results = replace(
            results,
            measures=_measure_table(measures),
            measured_on="Measured by cross-validation of the selected features",
            facts=_facts(method, measures),
        )
    return Selected(selector, learnt, learnt if unseen is None else unseen, weights, measures, results)


def explained_selection(selected: Selected, row: int) -> pd.DataFrame:
    """Why the features of one row stayed or went and, chosen for that row, which class each that stayed speaks for.

    Parameters
    ----------
    found : Selected
        What a method that looks at the hierarchy found.
    row : int
        Which of the rows that are shown.

    Returns
    -------
    DataFrame
        As of the selector's `explain`; of methods that select row by row for classes also `log_odds` and `speaks_for`
        of `LazyNaiveBayes.explain`, empty for features that went.

    Examples
    --------
    >>> from ramify.analysis import select_features
    >>> from ramify.analysis.selecting import explained_selection
    >>> from ramify.datasets import make_feature_hierarchy
    >>> data = make_feature_hierarchy(60, random_state=0)
    >>> found = select_features(data, data.feature_hierarchy, cv=0)
    >>> explained_selection(found, 0).columns.tolist()
    ['feature', 'value', 'relevance', 'selected', 'removed_by', 'log_odds', 'speaks_for']
    """
    values = selected.shown.X[[row]]
    table = selected.selector.explain(values)
    if isinstance(selected.selector, LazySelector) and selected.learnt.target_type.has_one_label:
        classifier = LazyNaiveBayes(selected.selector).fit(selected.learnt.X, model_target(selected.learnt))
        said = classifier.explain(values).iloc[1:].set_index("feature")  # the first line is the prior
        table["log_odds"] = table["feature"].map(said["log_odds"])
        table["speaks_for"] = table["feature"].map(said["speaks_for"]).fillna("")
    return table


def _check_folds(cv: int, classes: np.ndarray) -> None:
    if cv == 1:
        raise ValueError("One fold leaves no rows to learn from; name at least 2, or 0 for no cross-validation.")
    largest = max(Counter(classes.tolist()).values())
    if cv > largest:
        raise ValueError(f"{cv} folds are more than the {largest} rows of the largest class; name fewer.")


def _cross_validated(
    data: Dataset,
    method: str,
    hierarchy: Hierarchy,
    options: dict[str, Any],
    chosen: Mapping[str, Any],
    folds: dict[str, int],
    verbose: int,
) -> dict[str, SelectionResult]:
    """Predictions with the selected features, with all of them, and by the frequency of the classes."""
    runs: dict[str, SelectionResult] = {}
    classes = model_target(data)
    both = [("cross_validation", method), ("without_selection", "none")]
    with progress_bar(len(both), verbose, f"{folds['n_splits']} folds of {data.n_samples} rows") as show:
        for done, (title, name) in enumerate(both, start=1):
            model = selecting_classifier(name, hierarchy, **options)
            set_parameters([model], chosen if name == method else {})
            runs[title] = cross_validated_selection(model, data.X, classes, names=data.feature_names, **folds)
            if show is not None:
                show(done)
    runs["prior"] = runs["cross_validation"].by_prior()
    return runs


def _measures(run: SelectionResult, positive: str | None) -> dict[str, float]:
    if positive is not None and positive not in run.classes:
        raise ValueError(f"There is no class {positive!r}; the data has {', '.join(map(str, run.classes))}.")
    measures = run.measures(positive=positive)
    return {name: measures[name] for name in (*SELECTION_MEASURES, "share")}


def _relevance(selector: Any) -> np.ndarray:
    """Relevance of each feature: the selector's own, or that of the ranker it goes by."""
    if hasattr(selector, "relevance_"):
        return np.asarray(selector.relevance_)
    return np.asarray(selector.scores_ if hasattr(selector, "scores_") else selector.ranking_.scores)


def _measure_table(measures: dict[str, dict[str, float]]) -> pd.DataFrame:
    """The measures of the cross-validation with those of the prior beside them."""
    measured, prior = measures["cross_validation"], measures["prior"]
    rows = {title: [measured[name], prior[name], "higher", 0] for name, title in SELECTION_MEASURES.items()}
    return pd.DataFrame.from_dict(rows, orient="index", columns=["model", "prior", "better", "left_out"])


def _facts(method: str, measures: dict[str, dict[str, float]]) -> dict[str, str]:
    facts = {"Selection": method}
    for title, name in (("Cross-validation", "cross_validation"), ("Without selection", "without_selection")):
        facts[title] = ", ".join(f"{word} {measures[name][key]:.3f}" for key, word in SELECTION_MEASURES.items())
    facts["Selected per row"] = f"{100 * measures['cross_validation']['share']:.1f} % of the features"
    return facts
