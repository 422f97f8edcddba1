"""Arrays of a file's columns, which know what those are, so that the array of one file is not taken for another's."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import numpy as np


class FileColumns(np.ndarray):
    """An array that remembers, over its rows and pieces, of which columns and nominal values it is.

    Its cells are numbers: in a nominal column the positions of values in a list that is this file's own. In another
    file the same numbers may stand for other values, and the columns in another order.
    """

    columns_of_file: str | None = None

    def __array_finalize__(self, made_of: Any) -> None:
        self.columns_of_file = getattr(made_of, "columns_of_file", None)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """What is computed of it is a plain array or number."""
        return array[()] if return_scalar else np.asarray(array)


def with_columns(X: np.ndarray, names: Sequence[str], categories: Sequence[Sequence[str] | None]) -> FileColumns:
    """The array, not copied, with what its columns are.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.features.file_columns import with_columns
    >>> one, other = (with_columns(np.zeros((3, 1)), ["colour"], [values]) for values in (["red"], ["blue", "red"]))
    >>> one[1:].columns_of_file == one.columns_of_file, one.columns_of_file == other.columns_of_file
    (True, False)
    """
    known = np.asarray(X).view(FileColumns)
    text = json.dumps([list(names), [None if values is None else list(values) for values in categories]])
    known.columns_of_file = hashlib.sha256(text.encode()).hexdigest()
    return known


def keep_columns(estimator: Any, X: Any, *, reset: bool) -> None:
    """Remember at fit of which columns X is, and refuse X of others afterwards; arrays that do not know pass."""
    _keep_labels(estimator, X, reset=reset)
    columns = getattr(X, "columns_of_file", None)
    if reset:
        estimator.__dict__.pop("file_columns_", None)
        if columns is not None:
            estimator.file_columns_ = columns
        return
    learnt = getattr(estimator, "file_columns_", None)
    if columns is not None and learnt is not None and columns != learnt:
        raise ValueError(
            f"This X is of a file whose columns are not those that {type(estimator).__name__} was fitted to: their "
            "order differs, or the values that the codes of nominal columns stand for. Fit and predict with to_frame() "
            "of both data sets, where columns and values have names, or read both files together."
        )


def _keep_labels(estimator: Any, X: Any, *, reset: bool) -> None:
    """The same for names that are no texts, such as numbers; scikit-learn matches names that are."""
    if reset:
        estimator.__dict__.pop("column_labels_", None)
    names = list(getattr(X, "columns", ()))
    if not names or all(isinstance(name, str) for name in names):
        return
    plain, labels = list(range(len(names))), tuple(map(str, names))
    if reset:
        if names != plain:
            estimator.column_labels_ = labels
        return
    learnt = getattr(estimator, "column_labels_", None)
    turned = learnt is None and names != plain and set(names) == set(plain)
    if turned or (learnt is not None and labels != learnt):
        wanted = learnt or tuple(map(str, plain))
        at_fit, here = next(((a, b) for a, b in zip_longest(wanted, labels, fillvalue="nothing") if a != b))
        raise ValueError(
            f"The columns of X are not those that {type(estimator).__name__} was fitted to: where {at_fit} was there "
            f"is {here} now. Give the same columns in the same order."
        )
