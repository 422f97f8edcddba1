"""Data sets in the form in which the commands `fit` and `predict` give them to a model, and how well it did on them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from scipy import sparse

from ramify.cli import terminal
from ramify.cli.inputs import read_data
from ramify.datasets import Dataset, read
from ramify.datasets.readers.raw_files import FileError
from ramify.metrics import measure_table

if TYPE_CHECKING:
    import pandas as pd


def model_features(data: Dataset) -> Any:
    """Features with their names and nominal values, so that another file is matched by them and not by codes.

    Sparse features stay sparse where their codes are their values, as in `{0, 1}`.
    """
    if sparse.issparse(data.X) and all(values is None or values == ("0", "1") for values in data.categories):
        return data.X
    return data.to_frame()


def data_to_predict(model: Any, files: Sequence[str], target: Sequence[str], hierarchy: str | None) -> Dataset:
    """Read rows that need not have a target: without one, all columns may be features that the model knows."""
    try:
        data = read_data(files, target, hierarchy)
        if target or not _lacking(model, data):
            return data
    except FileError:
        if target:
            raise
        untargeted = read(list(files), target=[])
        if _lacking(model, untargeted):
            raise
        return untargeted
    untargeted = read(list(files), target=[])
    return data if _lacking(model, untargeted) else untargeted


def matched_features(model: Any, data: Dataset) -> Any:
    """The columns that the model learnt from, in its order; others are left out."""
    learnt_values = any(values is not None for values in getattr(model, "categories_", ()))
    features = data.to_frame() if learnt_values else model_features(data)
    if not hasattr(model, "feature_names_in_"):
        return features
    lacking = _lacking(model, data)
    if lacking:
        raise ValueError(
            f"The data lacks {len(lacking)} of the model's {len(model.feature_names_in_)} features, the first is "
            f"{lacking[0]!r}. Give predict the columns that fit was given."
        )
    if hasattr(features, "columns"):
        return features[list(model.feature_names_in_)]
    position = {name: column for column, name in enumerate(data.feature_names)}
    return features[:, [position[name] for name in model.feature_names_in_]]


def remember_names(model: Any, data: Dataset) -> None:
    """Give a model the names of its features where it learnt from a sparse matrix, which has none."""
    if not hasattr(model, "feature_names_in_") and len(set(data.feature_names)) == data.n_features:
        model.feature_names_in_ = np.array(data.feature_names, dtype=object)


def _lacking(model: Any, data: Dataset) -> list[str]:
    present = set(data.feature_names)
    return [str(name) for name in getattr(model, "feature_names_in_", ()) if name not in present]


def model_target(data: Dataset) -> Any:
    """The target as a model learns it: class names, a sparse label matrix, numbers or rankings."""
    if data.y is None:
        raise ValueError(f"{data.source or 'The data'} has no target to learn; name its columns with --target.")
    if data.target == "classes":
        return _class_names(data)
    if data.target in ("labels", "hierarchy"):
        return sparse.csr_array(data.y)
    import pandas as pd

    return pd.DataFrame(np.asarray(data.y).reshape(data.n_samples, -1), columns=list(data.label_names) or None)


def matched_target(data: Dataset, model: Any) -> Any:
    """The data's target in the order of the model's labels, or None where it has none of that kind."""
    kind = "rankings" if not hasattr(model, "target_kind_") else model.target_kind_
    if data.y is None or (data.target != kind and {data.target, kind} != {"labels", "hierarchy"}):
        return None
    if kind == "classes":
        return _class_names(data)
    position = {name: column for column, name in enumerate(data.label_names)}
    known = [name for name in model.label_names_ if name in position]
    if kind == "numbers" or kind == "rankings":
        values = np.asarray(data.y).reshape(data.n_samples, -1)
        if len(known) == len(model.label_names_):
            return values[:, [position[name] for name in known]]
        return values if values.shape[1] == len(model.label_names_) else None
    if not known:
        return None
    given = sparse.coo_array(sparse.csc_array(data.y)[:, [position[name] for name in known]])
    column_of = {name: column for column, name in enumerate(model.label_names_)}
    columns = np.array([column_of[name] for name in known])[given.coords[1]]
    shape = (data.n_samples, len(model.label_names_))
    return sparse.csr_array((given.data, (given.coords[0], columns)), shape=shape)


def model_measures(model: Any, truth: Any, predicted: Any) -> pd.DataFrame:
    """Measures of predictions (probabilities, numbers or ranks), with the prior alone beside them."""
    kind: Any = getattr(model, "target_kind_", "rankings")
    return measure_table(
        truth,
        predicted,
        target=kind,
        prior=model.prior_,
        classes=getattr(model, "classes_", None) if kind == "classes" else None,
        hierarchy=getattr(model, "hierarchy", None),
    )


def model_scores(model: Any, X: Any) -> Any:
    """What measures compare: probabilities where the model has them, else predictions."""
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


def label_parts(model: Any, learnt: Dataset, unseen: Dataset | None, X: Any = None) -> dict[str, Any]:
    """What a report says of a forest of label sets: how well each label is predicted, and why for a few rows.

    Parameters
    ----------
    model : ForestClassifier
        Fitted to `learnt`; out-of-bag predictions are measured where there are no unseen rows.
    learnt, unseen : Dataset
        The rows that the model has learnt from, and others if there are any.
    X : array or frame, optional
        The unseen rows (those learnt from if there are none) in the form that the model was fitted to; `data.X` by
        default.
    """
    from ramify.report.forests import explained_rows, label_quality

    if learnt.target not in ("labels", "hierarchy"):
        return {}
    shown = learnt if unseen is None else unseen
    features = shown.X if X is None else X
    parts: dict[str, Any] = {
        "explained": explained_rows(model, shown, features),
        "explained_on": "The model has not seen these rows."
        if unseen is not None
        else "The model has learnt from these rows, so it is surer of them than of new ones.",
    }
    scores = getattr(model, "oob_prediction_", None) if unseen is None else model_scores(model, features)
    if scores is not None:
        parts["label_quality"], parts["label_baseline"] = label_quality(shown.y, scores)
    return parts


def show_measures(table: pd.DataFrame | None, title: str, *, as_json: bool) -> None:
    """Print a table of measures for people, or as JSON for programs; the latter even if nothing was measured."""
    if table is None:
        if as_json:
            click.echo(json.dumps({"measured_on": None, "measures": {}}))
        return
    if as_json:
        content = {
            name: {key: None if isinstance(value, float) and np.isnan(value) else value for key, value in row.items()}
            for name, row in table.to_dict(orient="index").items()
        }
        click.echo(json.dumps({"measured_on": title, "measures": content}))
        return
    columns = {"model": "model", "prior": "prior alone", "better": "better"}
    if table["left_out"].any():
        columns["left_out"] = "left out"
    rows = zip(table.index, *(table[name].tolist() for name in columns), strict=True)
    shown = terminal.table(title, ["measure", *columns.values()], rows)
    if "left_out" in columns:
        shown.caption = "left out: labels, targets or rows for which the measure is not defined"
        shown.caption_justify = "left"
    terminal.console().print(shown)


def _class_names(data: Dataset) -> np.ndarray:
    values = np.asarray(data.y)
    if values.dtype.kind in "iuf" and data.label_names:
        return np.array(data.label_names)[values.astype(np.int64)]
    return values.astype(str)
