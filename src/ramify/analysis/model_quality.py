"""How well a fitted model predicts: measures over all labels with the prior beside them, and quality per label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from ramify.analysis.explained import explained_rows
from ramify.analysis.model_data import MatchedTarget, counted_once, model_features, model_target, predicted_type
from ramify.datasets import Dataset
from ramify.ensemble import Calibrated
from ramify.ensemble.threshold import label_sets
from ramify.features.frames import take_rows
from ramify.metrics import auprc, measure_table, reliability_bins, roc_auc_score
from ramify.targets import target_type

if TYPE_CHECKING:
    import pandas as pd


def model_scores(model: Any, X: Any) -> Any:
    """What measures compare: probabilities where the model has them, else predictions; of several targets both."""
    if predicted_type(model).parts_differ:
        return model.predict_outputs(X)
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


class Predicted(NamedTuple):
    """What a model says of rows.

    Attributes
    ----------
    scores : array or CSR
        Probabilities, numbers or ranks.
    decided : array, CSR, frame or None
        What `predict` makes of probabilities: classes or label sets; None for numbers and ranks.
    uncalibrated : array or None
        Of a calibrated model, the probabilities before.
    """

    scores: Any
    decided: Any = None
    uncalibrated: Any = None

    def of_rows(self, rows: Any) -> Predicted:
        """The same of some of the rows."""
        return Predicted(*(None if part is None else take_rows(part, rows) for part in self))


def model_predictions(model: Any, X: Any) -> Predicted:
    """What a model says of these rows: by `predict_proba` where it has it, and by `predict`."""
    if predicted_type(model).parts_differ:
        return Predicted(model.predict_outputs(X), model.predict(X))
    if not predicted_type(model).has_labels:
        return Predicted(model.predict(X))
    uncalibrated = model.estimator_.predict_proba(X) if isinstance(model, Calibrated) else None
    return Predicted(model_scores(model, X), model.predict(X), uncalibrated)


def out_of_bag_predictions(model: Any) -> Predicted | None:
    """What the trees that did not see them say of the training rows; None where the model has kept nothing of that.

    Rows that every tree has seen are NaN.
    """
    scores = getattr(model, "oob_prediction_", None)
    if scores is None or not predicted_type(model).has_labels:
        return None if scores is None else Predicted(scores)
    forest = getattr(model, "estimator_", model)
    if predicted_type(model).has_one_label:
        decided = model.classes_[np.nan_to_num(scores).argmax(axis=1)]
    else:
        decided = sparse.csr_array(label_sets(scores, model.threshold_, forest.hierarchy))
    return Predicted(scores, decided, forest.oob_prediction_ if forest is not model else None)


def model_measures(model: Any, truth: Any, predicted: Predicted, columns: Any = None) -> pd.DataFrame:
    """Measures of predictions, with the baseline "prior" beside them.

    Parameters
    ----------
    model : estimator
        Fitted.
    truth : array or CSR
        The target of the rows.
    predicted : Predicted
        What the model says of them.
    columns : int array, optional
        Which of the model's labels `truth` has; all by default.
    """
    if predicted_type(model).parts_differ:
        return _part_measures(model, truth, predicted.scores, columns)
    kind: Any = getattr(model, "target_kind_", "rankings")
    has_one_label = target_type(kind).has_one_label
    prior, hierarchy = np.atleast_1d(model.prior_), getattr(model, "hierarchy", None)
    scores, decided = predicted.scores, predicted.decided
    if columns is not None and not has_one_label and len(columns) < len(prior):
        prior, scores = prior[columns], np.asarray(scores).reshape(truth.shape[0], -1)[:, columns]
        decided = None if decided is None else decided[:, columns]
        hierarchy = None if hierarchy is None else hierarchy.subset(hierarchy.names[column] for column in columns)
    return measure_table(
        truth,
        scores,
        target=kind,
        prior=prior,
        y_pred=decided,
        classes=getattr(model, "classes_", None) if has_one_label else None,
        hierarchy=hierarchy,
    )


def _part_measures(model: Any, truth: Any, outputs: np.ndarray, columns: Any) -> pd.DataFrame:
    """The measures of each of several targets, named by it."""
    import pandas as pd

    parts = model.parts()
    tables = []
    for part in parts if columns is None else [parts[column] for column in columns]:
        own, scores = part.truth(truth), outputs[:, part.outputs]
        known = np.flatnonzero(~np.isnan(_dense(own).astype(float)).all(axis=1))
        if known.size == 0:
            continue
        table = measure_table(
            part.named(own[known]),
            scores[known],
            target=part.kind,
            prior=model.prior_[part.outputs],
            classes=part.classes,
            hierarchy=part.hierarchy,
        )
        tables.append(table.rename(index=lambda measure, name=part.name: f"{name}: {measure}"))
    return pd.concat(tables)


@dataclass(frozen=True)
class Quality:
    """Measures over all labels and per label, and on which rows; nothing where there were none to measure on."""

    measures: pd.DataFrame | None = None
    measured_on: str = ""
    label_measures: pd.DataFrame | None = None
    reliability: Mapping[str, pd.DataFrame] = field(default_factory=dict)


def measured(model: Any, learnt: Dataset, unseen: Dataset | None) -> Quality:
    """How well a model predicts the unseen rows, or else those that it left out of bag."""
    if unseen is not None:
        on = f"Measured on {unseen.n_samples} test rows{counted_once(unseen)}"
        return _quality(model, model_target(unseen), model_predictions(model, model_features(unseen)), on)
    predicted = out_of_bag_predictions(model)
    if predicted is None:
        return Quality()
    seen = np.flatnonzero(np.isfinite(predicted.scores.reshape(learnt.n_samples, -1)).all(axis=1))
    if seen.size == 0:
        return Quality()
    on = f"Measured out of bag on {seen.size} rows"
    if isinstance(model, Calibrated):
        on += ", each calibrated by the others"
    on += counted_once(learnt)
    return _quality(model, model_target(learnt.rows(seen)), predicted.of_rows(seen), on)


def measured_by_folds(model: Any, data: Dataset, folds: Sequence[tuple[Any, np.ndarray, np.ndarray]]) -> Quality:
    """How well models of parts of the data predict the other rows, as the model of all of them would others.

    Parameters
    ----------
    model : estimator
        Fitted to all rows; its labels and its prior are taken.
    data : Dataset
        All rows.
    folds : sequence of (estimator, int array, int array)
        A model, the rows that it has learnt from and those that it predicts.
    """
    n_columns, kind = len(model.label_names_), predicted_type(model)
    scores, decided = np.zeros((data.n_samples, n_columns)), None
    if kind.has_labels:
        decided = np.zeros(data.n_samples, dtype=object) if kind.has_one_label else np.zeros(scores.shape, np.int8)
    position = {name: column for column, name in enumerate(model.label_names_)}
    for part, _, rows in folds:
        predicted = model_predictions(part, model_features(data.rows(rows)))
        columns = np.array([position[name] for name in part.label_names_], dtype=np.intp)
        scores[rows[:, None], columns] = _dense(predicted.scores).reshape(len(rows), -1)
        if decided is not None:
            decided[rows if kind.has_one_label else (rows[:, None], columns)] = _dense(predicted.decided)
    given = scores if kind.has_labels or n_columns > 1 else scores[:, 0]
    on = f"Measured by cross-validation with {len(folds)} folds on {data.n_samples} rows{counted_once(data)}"
    return _quality(model, model_target(data), Predicted(given, decided), on)


def measured_as(model: Any, matched: MatchedTarget, predicted: Predicted) -> Quality:
    """How well a model predicts rows of another file, over those of its labels that the file has.

    Parameters
    ----------
    model : estimator
        Fitted.
    matched : MatchedTarget
        The target of the rows.
    predicted : Predicted
        What the model says of them.
    """
    if matched.rows is not None:
        predicted = predicted.of_rows(matched.rows)
    on = f"Measured on {predicted.scores.shape[0]} rows{matched.note}"
    return _quality(model, matched.truth, predicted, on, matched.columns)


def _quality(model: Any, truth: Any, predicted: Predicted, on: str, columns: Any = None) -> Quality:
    measures = model_measures(model, truth, predicted, columns)
    reliability = reliability_tables(model, truth, predicted, columns)
    return Quality(measures, on, label_table(model, truth, predicted, columns), reliability)


def _dense(values: Any) -> np.ndarray:
    return np.asarray(values.toarray() if sparse.issparse(values) else values)


def reliability_tables(model: Any, truth: Any, predicted: Predicted, columns: Any = None) -> dict[str, Any]:
    """Bins of what was said and what happened, of a calibrated model before and after; empty for other targets.

    Parameters
    ----------
    model : estimator
        Fitted.
    truth : array or CSR
        The target of the rows.
    predicted : Predicted
        What the model says of them.
    columns : int array, optional
        Which of the model's labels `truth` has; all by default.
    """
    shown = {"model": predicted.scores}
    if predicted.uncalibrated is not None:
        shown = {"before": predicted.uncalibrated, "after": predicted.scores}
    tables = {}
    for name, probabilities in shown.items():
        labels = _by_label(model, truth, probabilities, columns)
        if labels is None or not hasattr(model, "predict_proba"):
            return {}
        tables[name] = reliability_bins(labels.has, labels.scores)
    return tables


LABEL_MEASURES = {
    "rows": "rows",
    "prior": "prior",
    "auprc": "AUPRC",
    "auroc": "AUROC",
    "f1": "F1",
    "threshold": "threshold",
}
"""Columns of `label_table` and what they are called."""


def label_table(model: Any, truth: Any, predicted: Predicted, columns: Any = None) -> pd.DataFrame | None:
    """How well each label or class is predicted; None for targets without.

    Parameters
    ----------
    model : estimator
        Fitted.
    truth : array or CSR
        The target of the rows.
    predicted : Predicted
        What the model says of them.
    columns : int array, optional
        Which of the model's labels `truth` has; all by default.

    Returns
    -------
    DataFrame
        Per label: `rows` that have it; `prior`, their share, which is the AUPRC of knowing nothing else; `auprc` and
        `auroc`, NaN where all rows or none have it; `f1` of what `predict` says; and the model's `threshold`, NaN where
        it has none, as for classes.
    """
    import pandas as pd

    labels = _by_label(model, truth, predicted.scores, columns)
    if labels is None:
        return None
    names, has, scores = labels
    if predicted_type(model).has_one_label:
        threshold = np.full(len(names), np.nan)
        said = np.asarray(predicted.decided).astype(str)[:, None] == np.array(names)
    else:
        threshold = _thresholds(model)
        said = _dense(predicted.decided) != 0
        if columns is not None:
            threshold, said = threshold[np.asarray(columns)], said[:, np.asarray(columns)]
    known = ~np.isnan(has)
    is_true, said = has == 1, said & known
    both, either = (is_true & said).sum(axis=0), is_true.sum(axis=0) + said.sum(axis=0)
    with np.errstate(invalid="ignore"):
        f1 = 2 * both / either
    values = {
        "rows": is_true.sum(axis=0),
        "prior": is_true.sum(axis=0) / np.maximum(known.sum(axis=0), 1),
        "auprc": np.atleast_1d(auprc(has, scores, average=None)),
        "auroc": np.atleast_1d(roc_auc_score(has, scores, average=None)),
        "f1": f1,
        "threshold": threshold,
    }
    return pd.DataFrame(values, index=pd.Index(names, name="label"))


class _ByLabel(NamedTuple):
    """Names of labels or classes, which rows have them (NaN: unknown), and their scores."""

    names: list[str]
    has: np.ndarray
    scores: np.ndarray


def _by_label(model: Any, truth: Any, scores: Any, columns: Any) -> _ByLabel | None:
    """A column per label or class; None for targets without."""
    kind = target_type(getattr(model, "target_kind_", "rankings"))
    if not kind.has_labels:
        return None
    scores = _dense(scores)
    if kind.has_one_label:
        names = [str(name) for name in model.classes_]
        return _ByLabel(names, (np.asarray(truth).astype(str)[:, None] == np.array(names)).astype(float), scores)
    chosen = np.arange(scores.shape[1]) if columns is None else np.asarray(columns)
    has = sparse.csr_array(truth).toarray().astype(float)
    return _ByLabel([model.label_names_[column] for column in chosen], has, scores[:, chosen])


def _thresholds(model: Any) -> np.ndarray:
    """The score at which each label is predicted; NaN where the model decides otherwise."""
    threshold = getattr(model, "threshold_", None)
    of_labels = np.array(np.nan if threshold is None else threshold, dtype=float)
    return np.broadcast_to(of_labels, (len(model.label_names_),))


def label_parts(model: Any, learnt: Dataset, unseen: Dataset | None, X: Any) -> dict[str, Any]:
    """What results say of a forest of label sets: how well each label is predicted, and why for a few rows.

    Parameters
    ----------
    model : ForestClassifier
        Fitted to `learnt`; out-of-bag predictions are measured where there are no unseen rows.
    learnt, unseen : Dataset
        The rows that the model has learnt from, and others if there are any.
    X : array or frame
        The unseen rows (those learnt from if there are none) in the form that the model was fitted to.
    """
    import pandas as pd

    if not learnt.target_type.has_sets:
        return {}
    shown = learnt if unseen is None else unseen
    parts: dict[str, Any] = {}
    if not hasattr(model, "decision_function"):  # what boosted trees add are log-odds, which rows do not show
        parts["explained"] = explained_rows(model, shown, X)
        parts["explained_on"] = (
            "The model has not seen these rows."
            if unseen is not None
            else "The model has learnt from these rows, so it is surer of them than of new ones."
        )
    predicted = out_of_bag_predictions(model) if unseen is None else model_predictions(model, X)
    if predicted is None:
        return parts
    seen = np.flatnonzero(np.isfinite(_dense(predicted.scores)).all(axis=1))
    table = label_table(model, sparse.csr_array(shown.y)[seen], predicted.of_rows(seen))
    if table is None:
        return parts
    return {**parts, **table_parts(table.set_axis(pd.Index(shown.label_names, name="label")))}


def table_parts(table: pd.DataFrame) -> dict[str, Any]:
    """Measures per label as results hold them: the table, and what the tree and the map of labels show of it."""
    return {
        "label_measures": table,
        "label_quality": table["auprc"].to_numpy(),
        "label_baseline": table["prior"].to_numpy(),
    }
