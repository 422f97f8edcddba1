"""Features as numbers: what every estimator that compares feature values makes of X, at fit and afterwards."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from ramify.features.categories import (
    as_numbers,
    codes_of,
    is_missing,
    unseen_values,
    values_of,
    with_coded_zeros,
    with_other,
)
from ramify.features.checks import (
    naming_text,
    refuse_dates,
    refuse_infinity,
    refuse_merged,
    refuse_missing,
    refuse_other_shapes,
    refuse_repeated_names,
    shown_name,
    warn_of_numbers,
    warn_of_unseen,
)
from ramify.features.coded_table import CodedTable
from ramify.features.file_columns import keep_columns
from ramify.features.frames import canonical, columns_of_table, n_rows, nominal_columns, refuse_broken
from ramify.features.own_codes import own_codes, zero_one_values
from ramify.features.parted_table import is_parted, parted_table
from ramify.state import refuse_changed


@dataclass(frozen=True)
class Features:
    """A table of features in the form the kernels take.

    Attributes
    ----------
    values : ndarray, CSC array, CodedTable or PartedTable of shape (n_samples, n_features)
        Numbers, float32 or float64; a nominal column holds the codes 0, 1, ... of its values. NaN is missing. CSC where
        X was sparse. A table that was coded before stays as it is.
    n_categories : int32 array of shape (n_features,)
        Number of values of a nominal feature, 0 for a numeric one.
    """

    values: Any
    n_categories: np.ndarray

    @property
    def is_sparse(self) -> bool:
        """Whether the values are stored sparse."""
        return bool(sparse.issparse(self.values))

    def take(self, rows: np.ndarray) -> Features:
        """The features of some rows."""
        return Features(self.values[rows], self.n_categories)


def learn_features(
    estimator: Any, X: Any, categorical_features: Any = "from_dtype", *, in_full: Collection[str] = ()
) -> Features:
    """Check X at fit, learn the values of nominal features, and encode.

    Sets `n_features_in_`, `feature_names_in_` (where X has names) and `categories_` (per feature, the array of its
    values or None) on the estimator. Of a feature with more than 40 values, those that occur once are one value,
    ``"(other)"``, as all but the 4,095 most frequent are; values that fit did not see count as that.

    Parameters
    ----------
    estimator : estimator
        Named in messages, and where attributes are set.
    X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
        Features; NaN (None in nominal columns) is missing, infinity is refused.
    categorical_features : "from_dtype", None, or mask, indices or names
        Which features are nominal. "from_dtype": columns of a frame with a category, string, object or enum dtype.
    in_full : names
        Nominal features of which every value stays apart.
    """
    if isinstance(X, CodedTable):
        return _learn_coded(estimator, X)
    if is_parted(X):
        return _learn_parted(estimator, X, categorical_features)
    refuse_other_shapes(estimator, X)
    refuse_repeated_names(estimator, X)
    validate_data(estimator, X, skip_check_array=True)
    keep_columns(estimator, X, reset=True)
    mask = _nominal_mask(estimator, X, categorical_features)
    if not mask.any():
        estimator.categories_ = [None] * estimator.n_features_in_
        return _numeric(estimator, X)
    columns = columns_of_table(X)
    known = zero_one_values(X)
    estimator.categories_ = [
        None if not is_nominal else known[j] if j in known else values_of(columns[j], shown_name(estimator, j))
        for j, is_nominal in enumerate(mask.tolist())
    ]
    if isinstance(categorical_features, str):
        warn_of_numbers(estimator, X)
    names, n_samples = feature_names(estimator), n_rows(X)
    for j, values in enumerate(estimator.categories_):
        if values is not None and names[j] not in in_full:
            estimator.categories_[j] = with_other(columns[j], values, n_samples)
    return _encoded(estimator, X, columns)


def columns_of(function: str) -> BaseEstimator:
    """What `learn_features` takes in place of an estimator from a function, which messages then name.

    Examples
    --------
    >>> from ramify.features import columns_of
    >>> type(columns_of("knn_quality")).__name__
    'knn_quality'
    """
    estimator: BaseEstimator = type(function, (BaseEstimator,), {})()
    return estimator


def apply_features(estimator: Any, X: Any) -> Features:
    """Check X after fit (same columns as at fit) and encode.

    Nominal values are matched by value, whatever type holds them. One not seen at fit counts as ``"(other)"`` where the
    feature has that value, else as missing; where many cells of a column become missing, a warning names them.
    """
    if isinstance(X, CodedTable):
        return _apply_coded(estimator, X)
    if is_parted(X):
        raise TypeError("A frame or array of Dask is predicted part by part: X.map_partitions(model.predict).")
    refuse_other_shapes(estimator, X)
    refuse_repeated_names(estimator, X)
    refuse_changed(estimator)
    validate_data(estimator, X, reset=False, skip_check_array=True)
    keep_columns(estimator, X, reset=False)
    if all(values is None for values in estimator.categories_):
        return _numeric(estimator, X)
    return _encoded(estimator, X, columns_of_table(X))


def finite_features(estimator: Any, X: Any, *, reset: bool = True, allow_missing: bool = False, **options: Any) -> Any:
    """Check X for an estimator that takes numbers only; text, a date, a missing or infinite value is refused by column.

    Parameters
    ----------
    estimator : estimator
        Named in messages, and where `n_features_in_` and `feature_names_in_` are set if `reset`.
    X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
        Features.
    reset : bool, default=True
        Whether this is a fit.
    allow_missing : bool, default=False
        Let NaN pass.
    **options
        Further parameters of scikit-learn's `validate_data`.
    """
    refuse_broken("X", X)
    refuse_dates(estimator, X)
    refuse_repeated_names(estimator, X)
    if not reset:
        refuse_changed(estimator)
    keep_columns(estimator, X, reset=reset)
    with naming_text(estimator, X):
        checked = validate_data(estimator, X, reset=reset, ensure_all_finite=False, **options)
        kind = checked.dtype
        if kind.kind == "O" or not kind.isnative or (kind.kind == "f" and kind.itemsize not in (4, 8)):
            checked = checked.astype(np.float64)  # objects: a frame of categories without a value
    refuse_merged(estimator, X)
    if not allow_missing:
        refuse_missing(estimator, checked)
    if checked.dtype.kind == "f":
        refuse_infinity(estimator, sparse.csc_array(checked) if sparse.issparse(checked) else checked)
    return checked


def feature_names(estimator: Any) -> tuple[str, ...]:
    """Names of the features of a fitted estimator: those of the frame it saw, or x0, x1, ..."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return tuple(f"x{j}" for j in range(estimator.n_features_in_))
    return tuple(str(name) for name in names)


def _learn_coded(estimator: Any, X: CodedTable) -> Features:
    """A prepared table says itself what its columns are."""
    estimator.__dict__.pop("file_columns_", None)
    estimator.n_features_in_ = X.shape[1]
    estimator.feature_names_in_ = np.array(X.columns, dtype=object)
    estimator.categories_ = list(X.cuts.categories)
    return Features(X, X.cuts.n_categories)


def _learn_parted(estimator: Any, X: Any, categorical_features: Any) -> Features:
    """Code the rows of a Dask frame or array where they lie."""
    like = np.empty((0, X.shape[1]))
    if hasattr(X, "columns"):
        import pandas as pd

        like = pd.DataFrame({name: pd.Series(dtype=dtype) for name, dtype in X.dtypes.items()})
    refuse_repeated_names(estimator, like)
    validate_data(estimator, like, skip_check_array=True)
    keep_columns(estimator, like, reset=True)
    mask = _nominal_mask(estimator, like, categorical_features)
    table = parted_table(X, feature_names(estimator), mask, getattr(estimator, "max_bins", None))
    estimator.categories_ = list(table.cuts.categories)
    return Features(table, table.cuts.n_categories)


def _apply_coded(estimator: Any, X: CodedTable) -> Features:
    """A prepared table with the columns and nominal values of the fit."""
    if X.columns != feature_names(estimator):
        raise ValueError(
            f"The columns of this prepared table are not those that {type(estimator).__name__} was fitted to, or stand "
            "in another order. Predict the file that it was made of."
        )
    for name, own, learnt in zip(X.columns, X.cuts.categories, estimator.categories_, strict=True):
        if (own is None) != (learnt is None) or (own is not None and own.tolist() != learnt.tolist()):
            raise ValueError(
                f"{name!r} has other nominal values in this prepared table than {type(estimator).__name__} was fitted "
                "to. Predict the file that it was made of."
            )
    return Features(X, X.cuts.n_categories)


def _numeric(estimator: Any, X: Any) -> Features:
    refuse_dates(estimator, X)
    with naming_text(estimator, X):
        values = check_array(
            X,
            accept_sparse=("csc", "csr"),
            accept_large_sparse=True,
            dtype=(np.float64, np.float32),
            ensure_all_finite=False,
            estimator=estimator,
            input_name="X",
        )
    if sparse.issparse(values):
        values = canonical(sparse.csc_array(values))
    if not (values.data if sparse.issparse(values) else values).flags.aligned:
        values = values.copy()  # the kernels read whole numbers of memory, which must not start amid a word
    refuse_merged(estimator, X)
    refuse_infinity(estimator, values)
    return Features(values, np.zeros(values.shape[1], dtype=np.int32))


def _encoded(estimator: Any, X: Any, columns: list[Any]) -> Features:
    """Nominal columns replaced by codes, the others checked as numbers."""
    n_categories = np.array([0 if values is None else len(values) for values in estimator.categories_], dtype=np.int32)
    refuse_dates(estimator, X)
    refuse_merged(estimator, X)
    if sparse.issparse(X):
        return Features(_encoded_sparse(estimator, X), n_categories)
    n_samples = len(columns[0]) if columns else 0
    numeric = np.empty((n_samples, len(columns)), dtype=np.float64, order="F")
    coded = own_codes(X, estimator.categories_)
    if coded.any():
        numeric[:, coded] = X[:, coded]
    unseen = {}
    for j, (column, values) in enumerate(zip(columns, estimator.categories_, strict=True)):
        if coded[j]:
            continue
        if values is None:
            numeric[:, j] = as_numbers(column, shown_name(estimator, j))
            continue
        numeric[:, j] = codes_of(column, values)
        n_known = n_samples - sum(map(is_missing, column[np.isnan(numeric[:, j])].tolist()))
        unseen[j] = unseen_values(column, numeric[:, j]), n_known
    warn_of_unseen(estimator, unseen)
    checked = check_array(numeric, dtype=np.float64, ensure_all_finite=False, estimator=estimator, input_name="X")
    refuse_infinity(estimator, checked)
    return Features(checked, n_categories)


def _encoded_sparse(estimator: Any, X: Any) -> sparse.csc_array:
    """The same for a sparse matrix, whose absent cells are zeros."""
    given = canonical(sparse.csc_array(X))
    codes = given.astype(np.float64)
    coded = own_codes(given, estimator.categories_)
    unseen_of = {}
    for j, values in enumerate(estimator.categories_):
        if values is None or coded[j]:
            continue
        cells = slice(given.indptr[j], given.indptr[j + 1])
        stored = given.data[cells]
        codes.data[cells] = codes_of(stored, values)
        unseen = unseen_values(stored, codes.data[cells])
        n_absent = given.shape[0] - len(stored)
        if n_absent and np.isnan(codes_of(np.zeros(1), values)[0]):
            unseen += ["0"] * n_absent
        n_known = given.shape[0] - int(np.count_nonzero(stored != stored))  # NaN
        unseen_of[j] = unseen, n_known
    warn_of_unseen(estimator, unseen_of)
    encoded = canonical(with_coded_zeros(codes, estimator.categories_))
    refuse_infinity(estimator, encoded)
    return encoded


def _nominal_mask(estimator: Any, X: Any, categorical_features: Any) -> np.ndarray:
    n_features = estimator.n_features_in_
    mask = np.zeros(n_features, dtype=bool)
    if categorical_features is None:
        return mask
    if isinstance(categorical_features, str):
        if categorical_features != "from_dtype":
            raise ValueError(
                f"The 'categorical_features' parameter of {type(estimator).__name__} must be 'from_dtype', None, "
                f"a mask, indices or names. Got {categorical_features!r} instead."
            )
        return nominal_columns(X, n_features)
    chosen = np.asarray(categorical_features)
    if chosen.ndim != 1:
        raise ValueError(
            f"The 'categorical_features' parameter of {type(estimator).__name__} must be 'from_dtype', None, a mask, "
            f"indices or names, in a list. Got {categorical_features!r} instead."
        )
    if chosen.dtype == bool:
        if chosen.shape != (n_features,):
            raise ValueError(f"categorical_features is a mask of {chosen.size} entries for {n_features} features.")
        return chosen.copy()
    if chosen.dtype.kind in "iu":
        if chosen.size and (chosen.min() < -n_features or chosen.max() >= n_features):
            raise ValueError(f"categorical_features must be in 0..{n_features - 1}. Got {chosen.tolist()}.")
        mask[chosen] = True
        return mask
    if chosen.size == 0:
        return mask
    names = list(getattr(estimator, "feature_names_in_", []))
    for name in chosen.tolist():
        if name not in names:
            raise ValueError(f"categorical_features names {name!r}, which is not a column of X.")
        mask[names.index(name)] = True
    return mask
