"""From a data set to what an estimator fits: features, target, rows to learn from and rows kept apart, the forest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import has_fit_parameter

from ramify.datasets import Dataset
from ramify.datasets.readers.attached_hierarchy import with_labels_ordered
from ramify.datasets.term_names import meant_terms
from ramify.ensemble import forest_choice
from ramify.features.categories import codes_of
from ramify.hierarchy import Hierarchy
from ramify.targets import Target, target_type


def learnt_and_unseen(data: Dataset) -> tuple[Dataset, Dataset | None]:
    """Rows to learn from, and the test part where there is one beside others; rows of weight zero are in neither."""
    if "test" not in data.parts or len(data.parts) < 2:
        return weighing(data), None
    return weighing(data.part(*(name for name in data.parts if name != "test"))), weighing(data.part("test"))


def weighing(data: Dataset) -> Dataset:
    """The rows whose weight is not zero; without weights where all are the same."""
    if data.sample_weight is None:
        return data
    rows = np.flatnonzero(data.sample_weight)
    kept = data if len(rows) == data.n_samples else data.rows(rows)
    return replace(kept, sample_weight=None) if len(np.unique(data.sample_weight[rows])) < 2 else kept


def row_weights_and_groups(data: Dataset, estimator: Any) -> dict[str, Any]:
    """What `fit` of an estimator is told of the rows besides features and target, or a refusal in words."""
    told = {"sample_weight": data.sample_weight}
    if data.row_groups is None:
        return told
    if not has_fit_parameter(estimator, "row_groups"):
        raise ValueError(
            f"{type(estimator).__name__} takes no groups of rows. Take a forest (random-forest), or leave out groups= "
            "(--groups)."
        )
    return told | {"row_groups": data.row_groups}


def counted_once(data: Dataset) -> str:
    """What people must know of measures of weighted rows, in part of a sentence; nothing where all weigh the same."""
    has_weights = data.sample_weight is not None and len(np.unique(data.sample_weight[data.sample_weight > 0])) > 1
    return ", every row counted once whatever its weight" if has_weights else ""


def refuse_weights(what: str, data: Dataset) -> None:
    """Refuse weighted data for what cannot use the weights of rows."""
    if data.sample_weight is not None:
        raise ValueError(f"{what} takes no row weights; use another for weighted data.")


def forest_for(data: Dataset, **parameters: Any) -> Any:
    """The unfitted forest, or boosted trees, that learn the data's kind of target.

    Parameters
    ----------
    data : Dataset
        With a target.
    **parameters
        Of the forest; with `boosted=True` of boosted trees.
    """
    if data.target is None or not data.target_type.forest:
        raise ValueError(
            "Forests learn classes, label sets, label hierarchies, numbers, rankings and several of them side by side. "
            f"The target is {data.target!r}; name another."
        )
    if parameters.pop("boosted", False):
        given = {name: value for name, value in parameters.items() if name not in ("bootstrap", "oob_score")}
        return forest_choice.boosted_for(data.target, hierarchy=data.hierarchy, **given)
    told = {"targets": dict(data.targets)} if data.targets else {}
    return forest_choice.forest_for(data.target, hierarchy=data.hierarchy, **told, **parameters)


def nominal_features(data: Dataset) -> np.ndarray | None:
    """Mask of the nominal features, or None where all are numbers."""
    return data.categorical_features if data.categorical_features.any() else None


def model_features(data: Dataset) -> Any:
    """Features with their names and nominal values, so that another file is matched by them and not by codes.

    Sparse features stay sparse where their codes are their values, as in `{0, 1}`.
    """
    if data.storage == "coded":
        return data.X
    if sparse.issparse(data.X) and all(values is None or values == ("0", "1") for values in data.categories):
        return data.X
    return data.to_frame()


def remember_names(model: Any, data: Dataset) -> None:
    """Give a model what its columns are, names of terms, and of its features where a sparse matrix had none."""
    if data.inspection is not None:
        model.inspection_ = data.inspection.to_dict()
    titles = {name: data.titles[name] for name in (*data.label_names, *data.feature_names) if name in data.titles}
    if titles:
        model.titles_ = titles
    if not hasattr(model, "feature_names_in_") and len(set(data.feature_names)) == data.n_features:
        model.feature_names_in_ = np.array(data.feature_names, dtype=object)


def lacking_features(model: Any, names: Iterable[str]) -> list[str]:
    """Names of the features that the model learnt from and the given columns do not have."""
    present = set(names)
    return [str(name) for name in getattr(model, "feature_names_in_", ()) if name not in present]


def model_target(data: Dataset) -> Any:
    """The target as a model learns it: class names, a sparse label matrix, numbers, rankings or several targets."""
    if data.y is None:
        raise ValueError(f"{data.source or 'The data'} has no target to learn; name its columns.")
    if data.target_type.has_one_label:
        return data.classes
    if data.target_type.has_sets:
        return sparse.csr_array(data.y)
    if data.targets:
        return data.y
    import pandas as pd

    return pd.DataFrame(np.asarray(data.y).reshape(data.n_samples, -1), columns=list(data.label_names) or None)


def predicted_type(model: Any) -> type[Target]:
    """The type of target that a fitted model predicts; label rankers that are no forests predict rankings."""
    return target_type(getattr(model, "target_kind_", "rankings"))


def chain_target(data: Dataset) -> Any:
    """The target as chains learn it: classes, or dense label sets with their names."""
    import pandas as pd

    if data.target_type.has_one_label:
        return model_target(data)
    dense = data.y.toarray() if sparse.issparse(data.y) else data.y
    return pd.DataFrame(dense, columns=list(data.label_names) or None)


class MatchedTarget(NamedTuple):
    """The target of a file for a model that was learnt from another.

    Attributes
    ----------
    truth : array or CSR
        Classes, or a column for each of the model's labels or numbers that the file has.
    columns : int array
        Which of the model's labels those are, in its order.
    note : str
        What people must know of the labels that the file has not.
    rows : int array or None
        The rows that `truth` is of: those of some weight whose target is known; None where that is all of them.
    """

    truth: Any
    columns: np.ndarray
    note: str
    rows: np.ndarray | None = None


def matched_target(data: Dataset, model: Any) -> MatchedTarget | None:
    """The data's target by the names of the model's labels; None where it has nothing that the model predicts."""
    kind = predicted_type(model)
    is_alike = data.target_type is kind or (data.target_type.has_sets and kind.has_sets)
    if data.y is None or not is_alike:
        return None
    if data.sample_weight is not None and data.sample_weight.any() and not data.sample_weight.all():
        rows = np.flatnonzero(data.sample_weight)
        matched = matched_target(data.rows(rows), model)
        return None if matched is None else matched._replace(rows=rows)
    known = _rows_with_target(data)
    if known is not None:
        matched = matched_target(data.rows(known), model) if len(known) else None
        return None if matched is None else matched._replace(rows=known)
    if kind.has_sets and data.hierarchy is None and getattr(model, "hierarchy", None) is not None:
        data = _ordered_as(model.hierarchy, data)
    if kind.parts_differ:
        return _matched_parts(data, model)
    names = tuple(model.label_names_)
    if kind.has_one_label:
        return MatchedTarget(_as_classes(data.classes, model.classes_), np.arange(len(names)), counted_once(data))
    position = {name: column for column, name in enumerate(data.label_names)}
    columns = np.array([column for column, name in enumerate(names) if name in position], dtype=np.intp)
    if not len(columns) or (kind.ranks_labels and len(columns) < len(names)):
        return None
    given = [position[names[column]] for column in columns]
    if not kind.has_labels:
        truth = np.asarray(data.y).reshape(data.n_samples, -1)[:, given]
    else:
        truth = sparse.csr_array(sparse.csc_array(data.y)[:, given])
    lacking = [name for name in names if name not in position]
    note = f", over {len(columns)} of {len(names)} labels: the data lacks {_listed(lacking)}" if lacking else ""
    return MatchedTarget(truth, columns, counted_once(data) + note)


def _rows_with_target(data: Dataset) -> np.ndarray | None:
    """The rows whose target is known where that is not all of them, of classes and single numbers."""
    y = data.y
    if not isinstance(y, np.ndarray) or y.ndim > 1:
        return None
    known = np.flatnonzero(y >= 0 if data.target_type.has_one_label else ~np.isnan(y))
    return None if len(known) == len(y) else known


def _matched_parts(data: Dataset, model: Any) -> MatchedTarget | None:
    """Those of several targets that the data has; the columns are their numbers."""
    held = [part.name for part in model.parts() if set(part.columns) <= set(data.y.columns)]
    lacking = [name for name in model.target_names_ if name not in held]
    note = f", over {len(held)} of {len(model.target_names_)} targets: the data lacks {_listed(lacking)}"
    columns = np.array([model.target_names_.index(name) for name in held], dtype=np.intp)
    return MatchedTarget(data.y, columns, note if lacking else "") if held else None


def _ordered_as(hierarchy: Hierarchy, data: Dataset) -> Dataset:
    """The labels of a file that has no hierarchy as those of the model's, however spelled, with all above them."""
    meant = meant_terms(data.label_names, hierarchy.names, {})
    known = [column for column, name in enumerate(data.label_names) if name in meant]
    if not known:
        return data
    labels = sparse.csr_array(sparse.csc_array(data.y)[:, known])
    named = tuple(data.label_names[column] for column in known)
    return with_labels_ordered(replace(data, y=labels, label_names=named), hierarchy)


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names[:3])) + (f" and {len(names) - 3} others" if len(names) > 3 else "")


def _as_classes(named: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Classes as the model has them, found by value: the text "1" of a file is its 1, 1.0 or True; others stay text."""
    truth = named.astype(object)
    codes = codes_of(truth, classes)
    known = np.flatnonzero(~np.isnan(codes))
    truth[known] = classes[codes[known].astype(np.intp)]
    return truth
