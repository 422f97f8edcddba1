"""A model of a data set, and how well it predicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ramify.analysis.methods import MODEL_METHODS
from ramify.analysis.model_data import chain_target, learnt_and_unseen, model_features, model_target, remember_names
from ramify.analysis.model_quality import label_parts, measured, table_parts
from ramify.analysis.results import Results
from ramify.datasets import Dataset
from ramify.parameters import check_option
from ramify.ranking import forest_ranking


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
    method: str = "random-forest",
    n_estimators: int = 100,
    max_depth: int | None = None,
    min_samples_leaf: int = 1,
    explain: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Fitted:
    """Learn a model from a data set and measure it.

    Parameters
    ----------
    data : Dataset
        With a target. Its test part, if it has one beside others, is not learnt from; the measures are of its rows.
        Otherwise they are taken out of bag where the method has such rows.
    method : str, default="random-forest"
        One of `MODEL_METHODS`.
    n_estimators, max_depth, min_samples_leaf
        Of the forest, or of the forests that chains are made of.
    explain : bool, default=False
        Whether to rank the features by the forest, measure each label and explain a few rows.
    random_state : int, default=0
        Seed.
    n_jobs : int, optional
        Number of threads; it changes the time only.
    verbose : int, default=0
        Show progress if positive.

    Examples
    --------
    >>> from ramify.analysis import fit_model
    >>> from ramify.datasets import make_multilabel
    >>> fitted = fit_model(make_multilabel(100, random_state=0), n_estimators=10)
    >>> fitted.results.measured_on
    'Measured out of bag on 99 rows'
    """
    check_option("fit_model", "method", method, tuple(MODEL_METHODS))
    learnt, unseen = learnt_and_unseen(data)
    record = MODEL_METHODS[method]
    model = record.build(
        learnt,
        n_estimators=n_estimators,
        max_depth=max_depth,
        min_samples_leaf=min_samples_leaf,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    if record.of_forest:
        if unseen is None and model.bootstrap and "oob_score" in model.get_params():
            model.set_params(oob_score=True)
        model.fit(model_features(learnt), model_target(learnt), sample_weight=learnt.sample_weight)
        if learnt.target_type.has_sets and learnt.hierarchy is None:  # a sparse matrix has no names
            model.label_names_ = learnt.label_names
    else:
        model.fit(model_features(learnt), chain_target(learnt))
    quality = measured(model, learnt, unseen)
    parts: dict[str, Any] = {}
    if explain and record.of_forest:
        parts = label_parts(model, learnt, unseen, model_features(learnt if unseen is None else unseen))
        parts["rankings"] = {"genie3": forest_ranking(model, "genie3")}
    elif explain and hasattr(model, "ranking_"):
        parts["rankings"] = {method: model.ranking_}
    if quality.label_measures is not None:
        parts |= table_parts(quality.label_measures) if explain else {"label_measures": quality.label_measures}
    size = f", {n_estimators} trees" if hasattr(model, "n_estimators") else ""
    results = Results(
        learnt,
        measures=quality.measures,
        measured_on=quality.measured_on,
        facts={"Model": f"{type(model).__name__}{size}"},
        seed=random_state,
        **parts,
    )
    for name in ("oob_prediction_", "oob_score_"):  # they are rows of the data, which a saved model does not need
        model.__dict__.pop(name, None)
    remember_names(model, learnt)
    return Fitted(model, learnt, results)
