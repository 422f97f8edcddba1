"""A model of a data set, and how well it predicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from ramify.analysis.chosen_parameters import set_parameters, with_hierarchy_parameters
from ramify.analysis.claiming import associated
from ramify.analysis.deployment import remember_columns
from ramify.analysis.methods import MODEL_METHODS, default_method
from ramify.analysis.model_data import (
    learnt_and_unseen,
    model_features,
    model_target,
    remember_names,
)
from ramify.analysis.model_quality import label_parts, measured, measured_by_folds, table_parts
from ramify.analysis.results import Results
from ramify.datasets import Dataset
from ramify.ensemble import Calibrated, Portfolio
from ramify.features import unseen_values_allowed
from ramify.parameters import check_integer, check_option
from ramify.ranking import forest_ranking
from ramify.ranking.forest_ranker import default_score
from ramify.ranking.portfolio_ranking import portfolio_ranking, ranks_features
from ramify.study.splits import folds_of

_MOST_ROWS = 50_000
"""Of so many rows a model of the default method is cross-validated."""


@dataclass(frozen=True)
class Fitted:
    """A fitted model, ready to be saved, and what is known of it.

    Parameters
    ----------
    model : estimator
        It knows the names of features and labels.
    learnt : Dataset
        The rows that it has learnt from.
    results : Results
        Its measures, and with `explain` its ranking, the quality of each label and a few explained rows.
    """

    model: Any
    learnt: Dataset
    results: Results


def fit_model(
    data: Dataset,
    *,
    method: str | None = None,
    n_estimators: int | None = None,
    max_depth: int | None = None,
    min_samples_leaf: int | None = None,
    gamma: float | None = None,
    minutes: float | None = None,
    calibrate: Literal["isotonic", "sigmoid"] | None = None,
    n_folds: int | None = None,
    explain: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
    parameters: Mapping[str, Any] | None = None,
) -> Fitted:
    """Learn a model from a data set and measure it.

    Parameters
    ----------
    data : Dataset
        With a target. Its test part, if it has one beside others, is not learnt from; the measures are of its rows.
        Otherwise they are taken out of bag where the method has such rows, or by cross-validation.
    method : str, optional
        One of `MODEL_METHODS`. By default boosted trees, or a random forest where these do not suit: label rankings,
        several targets of different kinds, rows in groups, fewer than 50 rows (300 for hierarchies and many labels),
        more than 2,000 features, and rows times labels above 50 million.
    n_estimators, max_depth, min_samples_leaf
        Of the forest, or of the forests that chains are made of; None is the method's own default.
    gamma : float, optional
        Of `LabelRankingForest`, for label rankings: 1 lets trees grow, the published 0.98 stops them early.
    minutes : float, optional
        Time for the method "auto"; with it the result depends on the machine.
    calibrate : {"isotonic", "sigmoid"}, optional
        Calibrate the probabilities of a forest with out-of-bag rows by `ramify.ensemble.Calibrated`. Out of bag, it is
        measured with each row calibrated by others.
    n_folds : int, optional
        Folds of a cross-validation where there is neither a test part nor out-of-bag rows; 0 for none. By default 3 for
        chains and their relatives and where the method is left to the data (of at most 50,000 rows), else 0.
    explain : bool, default=False
        Whether to rank the features by the forest (where the method is left to the data, by a random forest, which has
        out-of-bag rows), measure each label and explain a few rows.
    random_state : int, default=0
        Seed.
    n_jobs : int, optional
        Number of threads; it changes the time only.
    verbose : int, default=0
        Show progress if positive.
    parameters : mapping of str to value, optional
        Further parameters by name: of the method's estimator, of the forests that it is made of, or `w0` and
        `aggregate` of the label hierarchy.

    Examples
    --------
    >>> from ramify.analysis import fit_model
    >>> from ramify.datasets import make_multilabel
    >>> fitted = fit_model(make_multilabel(100, random_state=0), method="random-forest", n_estimators=10)
    >>> fitted.results.measured_on
    'Measured out of bag on 99 rows'
    """
    check_option("fit_model", "method", method, (None, *MODEL_METHODS))
    if n_folds:
        check_integer("fit_model", "n_folds", n_folds, low=2)
    data, chosen = with_hierarchy_parameters(data, parameters or {})
    learnt, unseen = learnt_and_unseen(data)
    is_default = method is None
    method = (default_method(learnt) if calibrate is None else "random-forest") if method is None else method
    record = MODEL_METHODS[method]
    if minutes is not None and method != "auto":
        raise ValueError(f"Only the method auto takes minutes. Got {minutes!r} for {method}.")
    if gamma is not None and not learnt.target_type.ranks_labels:
        raise ValueError(f"Only forests for label rankings take gamma. Got {gamma!r} for {learnt.target}.")
    told: dict[str, Any] = {
        "chosen": chosen,
        "n_estimators": n_estimators,
        "max_depth": max_depth,
        "min_samples_leaf": min_samples_leaf,
        "gamma": gamma,
        "minutes": minutes,
        "random_state": random_state,
        "n_jobs": n_jobs,
        "verbose": verbose,
    }
    model = fitted_estimator(method, learnt, out_of_bag=unseen is None, calibrate=calibrate, **told)
    quality = measured(model, learnt, unseen)
    if n_folds is None:
        needs_none = record.of_forest or method == "auto"
        n_folds = 0 if needs_none and not (is_default and learnt.n_samples <= _MOST_ROWS) else 3
    if quality.measures is None and n_folds and learnt.n_samples >= 2 * n_folds:
        folds = [
            (fitted_estimator(method, learnt.rows(train), calibrate=calibrate, **told), train, test)
            for train, test in _folds(learnt, n_folds, random_state)
        ]
        with unseen_values_allowed():  # a value of one fold may stand in no other
            quality = measured_by_folds(model, learnt, folds)
    parts: dict[str, Any] = {}
    if explain and record.of_forest:
        forest = model if calibrate is None else model.estimator_
        parts = label_parts(forest, learnt, unseen, model_features(learnt if unseen is None else unseen))
        work = (model_features(learnt), model_target(learnt))
        by_forest = is_default and method == "boosted"  # which has no out-of-bag rows to rank on
        ranked = (
            fitted_estimator("random-forest", learnt, random_state=random_state, n_jobs=n_jobs) if by_forest else forest
        )
        score = default_score(ranked)
        parts["rankings"] = {
            score: forest_ranking(
                ranked, score, *work, sample_weight=learnt.sample_weight, row_groups=learnt.row_groups
            )
        }
        if calibrate is not None and "explained_on" in parts:
            parts["explained_on"] += " Probabilities are those before calibration."
    elif explain and isinstance(model, Portfolio) and ranks_features(model):
        parts["rankings"] = {"genie3": portfolio_ranking(model)}
    elif explain and hasattr(model, "ranking_"):
        parts["rankings"] = {method: model.ranking_}
    if explain and "rankings" in parts:
        parts |= associated(learnt, _growing(random_state, n_jobs, verbose), fdr=0.1)
    if quality.label_measures is not None:
        parts |= table_parts(quality.label_measures) if explain else {"label_measures": quality.label_measures}
    results = Results(
        learnt,
        measures=quality.measures,
        measured_on=quality.measured_on,
        reliability=quality.reliability,
        facts=_facts(model) | ({} if quality.measures is not None else {"Measures": _unmeasured(method)}),
        titles=learnt.titles,
        seed=random_state,
        **parts,
    )
    remember_columns(model, model_features(learnt))
    for named in (model, *([] if calibrate is None else [model.estimator_])):
        remember_names(named, learnt)
        for name in ("oob_prediction_", "oob_score_"):  # they are rows of the data, which a saved model does not need
            vars(named).pop(name, None)
    return Fitted(model, learnt, results)


def _unmeasured(method: str) -> str:
    """Why there are no measures, and the next step."""
    return f"none: {method} has no out-of-bag rows, and there is no test part. Name one, or folds to cross-validate."


def _folds(data: Dataset, n_folds: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Shuffled folds; of classes, each with every class where there are rows enough."""
    splitter = folds_of(data, n_folds, seed)
    if isinstance(splitter, StratifiedKFold) and np.unique(np.asarray(data.y), return_counts=True)[1].min() < n_folds:
        splitter = KFold(n_folds, shuffle=True, random_state=seed)
    folds: Iterator[tuple[np.ndarray, np.ndarray]] = splitter.split(np.arange(data.n_samples), data.y, data.row_groups)
    return folds


def _growing(random_state: int, n_jobs: int | None, verbose: int) -> dict[str, Any]:
    """What association needs of a forest, which is not grown."""
    return {"bootstrap": True, "random_state": random_state, "n_jobs": n_jobs, "verbose": verbose}


def _facts(model: Any) -> dict[str, str]:
    """What the model is, and of a portfolio what it chose and what each member reaches on held-out rows."""
    if not isinstance(model, Portfolio):
        trees = getattr(getattr(model, "estimator_", model), "trees_", None)
        return {"Model": type(model).__name__ + ("" if trees is None else f", {trees.n_trees} trees")}
    facts = {"Model": "Portfolio: " + "; ".join(f"{share:.2f} {name}" for name, share in model.weights_.items())}
    reached = {**model.scores_, "portfolio": model.score_}
    facts["Held-out score"] = "; ".join(f"{name} {score:.3f}" for name, score in reached.items())
    facts["Added by each"] = "; ".join(f"{name} {gain:.3f}" for name, gain in model.added_.items())
    if model.left_out_:
        facts["Not tried for want of time"] = ", ".join(model.left_out_)
    return facts


def fitted_estimator(
    method: str,
    data: Dataset,
    *,
    out_of_bag: bool = False,
    calibrate: Literal["isotonic", "sigmoid"] | None = None,
    chosen: Mapping[str, Any] = MappingProxyType({}),
    **parameters: Any,
) -> Any:
    """The estimator of a method, fitted to all rows of the data and knowing the names of its labels.

    Parameters
    ----------
    method : str
        One of `MODEL_METHODS`.
    data : Dataset
        With a target.
    out_of_bag : bool, default=False
        Whether a forest that has out-of-bag rows also predicts them.
    calibrate : {"isotonic", "sigmoid"}, optional
        How to calibrate the probabilities of a forest.
    chosen : mapping of str to value, optional
        Parameters by name that the estimator must have.
    **parameters
        As of `fit_model`; None takes the method's own.
    """
    record = MODEL_METHODS[method]
    model = record.build(
        data, **{name: value for name, value in parameters.items() if value is not None or name == "n_jobs"}
    )
    set_parameters([model], chosen)
    if calibrate is not None and not (record.of_forest and data.target_type.has_labels):
        raise ValueError(
            "Probabilities of forests for classes and label sets can be calibrated. "
            f"The method is {method} and the target {data.target}; leave calibrate out."
        )
    if record.of_forest and out_of_bag and model.bootstrap and "oob_score" in model.get_params():
        model.set_params(oob_score=True)
    if calibrate is not None:
        model = Calibrated(model, method=calibrate)
    record.fit(model, model_features(data), data)
    if data.target_type.has_sets and data.hierarchy is None and not record.by_chains:  # a sparse matrix has no names
        inner = [model.estimator_] if calibrate is not None else getattr(model, "members_", {}).values()
        for named in (model, *inner):
            named.label_names_ = data.label_names
    return model
