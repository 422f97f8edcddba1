"""Several targets side by side: numbers, classes and label sets in the columns of one frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets

from ramify import _core
from ramify.features.frames import columns_of_table, name_fits, refuse_broken
from ramify.hierarchy import Hierarchy
from ramify.targets.closure import with_all_ancestors
from ramify.targets.distances import PairDistance, mean_distance
from ramify.targets.known_cells import as_numbers, missing_cells, refuse_missing
from ramify.targets.labels import ClassTarget, encode_labels
from ramify.targets.numbers import NumberTarget, encode_numbers
from ramify.targets.target import Target, check_n_samples, refuse_nowhere_known

PART_KINDS = ("numbers", "classes", "labels")
"""What may be said that columns of a mixed target are; label sets with a hierarchy are named by it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MixedTarget(Target):
    """Several targets side by side, each scaled to unit variance.

    `parts` holds the targets and `names` their names; `weights` and `unknown` are those of all entries in turn.

    Attributes
    ----------
    columns : tuple of tuple of str
        The columns of y that each target is made of.
    all_columns : tuple of str
        All columns of y in their order.
    targets : "from_dtype" or mapping
        What was said that the columns are.
    """

    kind: ClassVar[str] = "mixed"
    nouns: ClassVar[tuple[str, str]] = ("target", "targets")
    forest: ClassVar[str] = "MixedForest"
    parts_differ: ClassVar[bool] = True

    columns: tuple[tuple[str, ...], ...] = ()
    all_columns: tuple[str, ...] = ()
    targets: Any = "from_dtype"

    @property
    def n_samples(self) -> int:
        """Number of examples."""
        return self.parts[0].n_samples

    @property
    def n_outputs(self) -> int:
        """Number of entries of a vector."""
        return len(self.weights)

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the entries: columns, labels, and `column=class` of classes."""
        return tuple(
            f"{name}={entry}" if part.has_one_label else entry
            for name, part in zip(self.names, self.parts, strict=True)
            for entry in part.names
        )

    @property
    def slices(self) -> tuple[slice, ...]:
        """Where the entries of each target are."""
        ends = accumulate((len(part.weights) for part in self.parts), initial=0)
        return tuple(slice(first, last) for first, last in pairwise(ends))

    @property
    def forest_parameters(self) -> dict[str, Any]:
        """The forest must be told what the columns are."""
        return {"targets": self.targets}

    def cells(self) -> np.ndarray:
        """The vectors: numbers standardised, 0 and 1 for classes and labels, NaN where unknown."""
        return np.ascontiguousarray(np.hstack([dense_cells(part) for part in self.parts]))

    def kernel_rows(self) -> _core.NumberRows:
        """The vectors of all parts side by side."""
        return _core.NumberRows(self.cells(), np.ascontiguousarray(self.weights))

    def units(self, sample_weight: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Per entry: its mean, and the scale and offset that take an entry of `cells` back to what y holds."""
        units = [
            (part.mean, part.scale, part.mean)
            if isinstance(part, NumberTarget)
            else (_shares(part, sample_weight), np.ones(len(part.weights)), np.zeros(len(part.weights)))
            for part in self.parts
        ]
        prior, scale, offset = (np.concatenate(of_parts) for of_parts in zip(*units, strict=True))
        return prior, scale, offset

    def distance(
        self, metric: str = "euclidean", *, bound: str | None = "observed", n_threads: int = 1
    ) -> PairDistance:
        """Mean distance over the parts."""
        return mean_distance([part.distance(metric, bound=bound, n_threads=n_threads) for part in self.parts])

    @classmethod
    def described(cls, names: tuple[str, ...]) -> str:
        """A target with these names, in few words."""
        return f"{', '.join(names[:6])}{', ...' if len(names) > 6 else ''} side by side"

    @classmethod
    def sentence(cls, n_labels: int, n_levels: int) -> str:  # noqa: ARG003
        """What examples have, as the end of a sentence."""
        return f"have {n_labels:,} targets of different kinds"


@dataclass(frozen=True)
class MixedPart:
    """One of the targets that a model predicts side by side.

    Attributes
    ----------
    name, kind : str
        Its name, and what it is.
    columns : tuple of str
        The columns of y that it is made of.
    outputs : slice
        Which outputs of the model are its own.
    classes : array or None
        The values of classes.
    hierarchy : Hierarchy or None
        That of the labels.
    """

    name: str
    kind: str
    columns: tuple[str, ...]
    outputs: slice
    classes: np.ndarray | None = None
    hierarchy: Hierarchy | None = None

    @property
    def has_shares(self) -> bool:
        """Whether its outputs are shares of rows: of classes or labels."""
        return self.kind != "numbers"

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of its outputs, within the target."""
        if self.classes is not None:
            return tuple(map(str, self.classes.tolist()))
        return self.columns if self.hierarchy is None else self.hierarchy.names

    def truth(self, y: Any) -> Any:
        """Its columns of another frame, as measures take them: numbers, or 0/1 per label, NaN where unknown."""
        chosen = _chosen(y, self.columns)
        if not self.has_shares:
            return _matrix(chosen)
        if self.classes is None:
            frame = _frame(self.columns, chosen)
            return encode_labels(frame, hierarchy=self.hierarchy, partly_known=True, nowhere_known=True).cells()
        values = np.array(chosen[0].tolist(), dtype=object)
        one_hot = (values[:, None] == np.array(self.classes.tolist(), dtype=object)).astype(np.float64)
        one_hot[missing_cells(values)] = np.nan
        return one_hot

    def named(self, truth: Any) -> Any:
        """Rows of `truth` of which something is known, with the values of classes in place of 0 and 1."""
        return truth if self.classes is None else self.classes[np.asarray(truth).argmax(axis=1)]

    def is_predicted(self, scores: np.ndarray) -> np.ndarray:
        """Which of its outputs `decided` speaks of: every number, the most probable class, labels above one half."""
        if self.classes is not None:
            return scores.argmax(axis=1)[:, None] == np.arange(scores.shape[1])
        return scores > 0.5 if self.has_shares else np.ones(scores.shape, dtype=bool)

    def decided(self, scores: np.ndarray) -> dict[str, np.ndarray]:
        """Its columns of y, predicted from its outputs: numbers, the most probable class, labels above one half."""
        if self.classes is not None:
            return {self.columns[0]: self.classes[scores.argmax(axis=1)]}
        if not self.has_shares:
            return {column: scores[:, j] for j, column in enumerate(self.columns)}
        present = scores > 0.5
        if self.hierarchy is None:
            return {column: present[:, j].astype(np.int64) for j, column in enumerate(self.columns)}
        sets = with_all_ancestors(present, self.hierarchy)
        return {column: sets[:, self.hierarchy.index(column)].astype(np.int64) for column in self.columns}


def encode_mixed(
    y: Any,
    *,
    targets: Any = "from_dtype",
    target_weight: Mapping[str, float] | None = None,
    value_hierarchies: Mapping[str, Hierarchy] | None = None,
    sample_weight: np.ndarray | None = None,
    n_samples: int | None = None,
    partly_known: bool = False,
) -> MixedTarget:
    """Check a frame of several targets and encode each by itself.

    Parameters
    ----------
    y : frame, or array of objects, of shape (n_samples, n_columns)
        The targets.
    targets : "from_dtype" or mapping, default="from_dtype"
        By dtype every column is a target: columns of numbers are numbers, all others classes. A mapping says otherwise,
        by the name of a column, in which `*` stands for anything: "numbers", "classes" or "labels", or a Hierarchy for
        the label set whose columns are its nodes, or the list of columns of the label set that is called so. What it
        does not name is taken by dtype.
    target_weight : mapping of str to float, optional
        Weights of targets in the impurity, by name; 1 where it does not say.
    value_hierarchies : mapping of str to Hierarchy, optional
        By name, columns of classes whose values are nodes of a hierarchy.
    sample_weight : array of shape (n_samples,), optional
        Weights of the rows, by which each target is scaled.
    n_samples : int, optional
        Number of rows that y must have.
    partly_known : bool, default=False
        Whether missing cells are unknown; else they are refused.

    Examples
    --------
    >>> import pandas as pd
    >>> from ramify.targets import encode
    >>> target = encode(pd.DataFrame({"weight": [1.0, 3.0], "kind": ["fish", "bird"]}), kind="mixed")
    >>> [part.kind for part in target.parts], target.distance()([0], [1]).tolist()
    (['numbers', 'classes'], [1.0])
    """
    names, columns = _named_columns(y)
    check_n_samples(len(columns[0]), n_samples)
    wanted = _wanted(names, columns, targets)
    parts = []
    for name, (kind, positions) in wanted.items():
        held = [columns[j] for j in positions]
        order = (value_hierarchies or {}).get(name)
        try:
            part = _value_part(name, held[0], order) if order is not None else None
            part = part or _part([names[j] for j in positions], held, kind, sample_weight, partly_known)
        except (ValueError, TypeError) as error:
            raise type(error)(f"Target {name!r}: {error}") from None
        parts.append(part)
    factors = _factors(tuple(wanted), target_weight)
    weights = [
        part.weights * (factor / _impurity(part, sample_weight)) for part, factor in zip(parts, factors, strict=True)
    ]
    return MixedTarget(
        parts=tuple(parts),
        names=tuple(wanted),
        weights=np.concatenate(weights),
        unknown=_unknown(parts),
        columns=tuple(tuple(names[j] for j in positions) for _, positions in wanted.values()),
        all_columns=names,
        targets=targets,
    )


def columns_of_mixed(y: Any) -> list[np.ndarray]:
    """Columns of a frame, or of an array of objects, each with the type of its values; NaN or None is missing."""
    refuse_broken("y", y)
    shape = getattr(y, "shape", None) if hasattr(y, "columns") else np.shape(np.asarray(y, dtype=object))
    if sparse.issparse(y) or shape is None or len(shape) != 2:
        raise ValueError("A mixed target has one column per target, dense. Got one column; leave 'mixed' out.")
    held = y if hasattr(y, "columns") else np.asarray(y, dtype=object)
    return [_inferred(column) for column in columns_of_table(held)]


def is_nominal(column: np.ndarray) -> bool:
    """Whether the values of a column are no numbers."""
    return column.dtype.kind not in "fiu"


def check_nodes(name: str, values: list[Any], hierarchy: Hierarchy) -> list[str]:
    """The values of a nominal column as names of nodes."""
    if not isinstance(hierarchy, Hierarchy):
        raise TypeError(
            "The 'value_hierarchies' parameter of ReliefRanker must map names of columns to hierarchies. "
            f"Got {type(hierarchy).__name__} for {name!r}."
        )
    nodes = [str(value) for value in values]
    for node in nodes:
        if node not in hierarchy:
            raise ValueError(
                f"Column {name!r} has the value {node!r}, which is not a node of its hierarchy in 'value_hierarchies'."
            )
    return nodes


_Wanted = dict[str, tuple[Any, list[int]]]
"""By the name of a target: its kind or hierarchy, and the positions of its columns."""


def _named_columns(y: Any) -> tuple[tuple[str, ...], list[np.ndarray]]:
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    columns = columns_of_mixed(y)
    if not columns or not len(columns[0]):
        raise ValueError(f"y has {len(columns)} columns and no row; there is nothing to learn.")
    names = tuple(str(name) for name in getattr(y, "columns", range(len(columns))))
    twice = next((name for j, name in enumerate(names) if name in names[:j]), None)
    if twice is not None:
        raise ValueError(f"y has several columns {twice!r}. Give each a name of its own.")
    return names, columns


def _chosen(y: Any, columns: Sequence[str]) -> list[np.ndarray]:
    """The columns of these names."""
    names, held = _named_columns(y)
    lacking = next((column for column in columns if column not in names), None)
    if lacking is not None:
        raise ValueError(f"y has no column {lacking!r}, which the model predicts. Pass the columns that fit was given.")
    return [held[names.index(column)] for column in columns]


def _wanted(names: tuple[str, ...], columns: list[np.ndarray], targets: Any) -> _Wanted:
    """Which columns are which target, in the order of their first columns."""
    if isinstance(targets, str) and targets == "from_dtype":
        targets = {}
    if not isinstance(targets, Mapping):
        raise ValueError(
            "The 'targets' parameter must be 'from_dtype' or a mapping from names of columns of y to what they are. "
            f"Got {targets!r} instead."
        )
    wanted: _Wanted = {}
    owner: dict[int, str] = {}
    for name, what in targets.items():
        for own, kind, positions in _named_target(str(name), what, names):
            for j in positions:
                if j in owner:
                    raise ValueError(f"'targets' gives the column {names[j]!r} to {owner[j]!r} and to {own!r}.")
                owner[j] = own
            wanted[own] = (kind, positions)
    for j, name in enumerate(names):
        if j not in owner:
            if name in wanted:
                raise ValueError(f"'targets' calls a label set {name!r}, which is the name of another column of y.")
            wanted[name] = ("classes" if is_nominal(columns[j]) else "numbers", [j])
    return dict(sorted(wanted.items(), key=lambda entry: min(entry[1][1])))


def _named_target(name: str, what: Any, names: tuple[str, ...]) -> list[tuple[str, Any, list[int]]]:
    """The targets that one entry of a mapping names: their names, kinds and columns."""
    if isinstance(what, str) and what in PART_KINDS:
        positions = [j for j, column in enumerate(names) if name_fits(column, name)]
        if not positions:
            raise ValueError(f"'targets' names {name!r}, which fits no column of y. Its columns are {_listed(names)}.")
        if what == "classes":  # each column has classes of its own
            return [(names[j], what, [j]) for j in positions]
        return [(name, what, positions)]
    if isinstance(what, Hierarchy):
        positions = [j for j, column in enumerate(names) if column in what]
        if not positions:
            raise ValueError(
                f"No column of y is a node of the hierarchy of {name!r}. Its columns are {_listed(names)}."
            )
        return [(name, what, positions)]
    if isinstance(what, (list, tuple)) and what:
        lacking = next((column for column in what if column not in names), None)
        if lacking is not None:
            raise ValueError(f"'targets' gives {name!r} the column {lacking!r}, which y has not.")
        return [(name, "labels", [names.index(column) for column in what])]
    raise ValueError(
        f"'targets' must say of {name!r} that it is {', '.join(map(repr, PART_KINDS[:-1]))} or {PART_KINDS[-1]!r}, "
        f"give the Hierarchy of its labels, or list its columns. Got {what!r} instead."
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:6])) + (", ..." if len(names) > 6 else "")


def _factors(names: tuple[str, ...], target_weight: Any) -> list[float]:
    """The weight that is given to each target."""
    given = {} if target_weight is None else target_weight
    if not isinstance(given, Mapping):
        raise ValueError(f"target_weight must be None or a mapping from names of targets to numbers. Got {given!r}.")
    for name, weight in given.items():
        if name not in names:
            raise ValueError(f"target_weight names {name!r}, which is no target. The targets are {_listed(names)}.")
        if isinstance(weight, bool) or not isinstance(weight, Real) or not 0 <= float(weight) < np.inf:
            raise ValueError(f"target_weight must hold finite numbers >= 0. Got {weight!r} for {name!r}.")
    return [float(given.get(name, 1.0)) for name in names]


def _part(
    names: list[str], columns: list[np.ndarray], kind: Any, sample_weight: np.ndarray | None, partly_known: bool
) -> Target:
    """The target of some columns."""
    if kind == "numbers":
        _refuse_text(names, columns)
        matrix = _matrix(columns)
        if not partly_known:
            refuse_missing(matrix)
        frame = _frame(names, list(matrix.T))
        return encode_numbers(frame, sample_weight=sample_weight, partly_known=partly_known)
    if kind == "classes":
        return _class_part(names[0], columns[0], partly_known=partly_known)
    _refuse_text(names, columns)
    order = kind if isinstance(kind, Hierarchy) else None
    matrix = _matrix(columns)
    wrong = np.argwhere(~np.isnan(matrix) & (matrix != 0) & (matrix != 1))
    if len(wrong):
        row, column = wrong[0].tolist()
        raise ValueError(
            f"a label set has columns of 0 and 1, but {names[column]!r} holds {matrix[row, column]:g} in row {row}. "
            "Say that it is 'numbers' or 'classes'."
        )
    return encode_labels(_frame(names, list(matrix.T)), hierarchy=order, partly_known=partly_known)


def _refuse_text(names: list[str], columns: list[np.ndarray]) -> None:
    for name, column in zip(names, columns, strict=True):
        if as_numbers(column).dtype.kind not in "biuf" and not _are_truth_values(column):
            value = column[~missing_cells(column)][0]
            raise ValueError(f"the column {name!r} holds {value!r}, which is no number. Say that it is 'classes'.")


def _are_truth_values(column: np.ndarray) -> bool:
    return all(isinstance(value, (bool, np.bool_)) for value in column[~missing_cells(column)].tolist())


def _value_part(name: str, column: np.ndarray, hierarchy: Hierarchy) -> Target:
    """Classes that are nodes of a hierarchy."""
    if not is_nominal(column):
        raise ValueError(f"Column {name!r} has a hierarchy in 'value_hierarchies', but its values are numbers.")
    refuse_missing(column)
    nodes = check_nodes(name, column.tolist(), hierarchy)
    return encode_labels(hierarchy.encode([[node] for node in nodes]), hierarchy=hierarchy)


def _class_part(name: str, column: np.ndarray, *, partly_known: bool) -> ClassTarget:
    missing = missing_cells(column)
    if not partly_known:
        refuse_missing(column)
    if missing.all():
        refuse_nowhere_known((name,), sparse.csr_array(missing[:, None]), "target")
    values = _class_values(column[~missing])
    check_classification_targets(values)
    classes, codes = np.unique(values, return_inverse=True)
    indptr = np.concatenate([[0], np.cumsum(~missing)])
    Y = sparse.csr_array((np.ones(len(codes), dtype=np.int8), codes, indptr), shape=(len(column), len(classes)))
    unknown = sparse.csr_array(np.repeat(missing[:, None], len(classes), axis=1)) if missing.any() else None
    names = tuple(map(str, classes.tolist()))
    return ClassTarget(Y=Y, unknown=unknown, names=names, weights=np.ones(len(classes)), classes=classes)


def _class_values(column: np.ndarray) -> np.ndarray:
    """Classes as truth values, numbers or text, whichever all are; else as text."""
    values = column.tolist()
    for kinds in ((bool, np.bool_), Real):
        if all(isinstance(value, kinds) for value in values):
            return np.array(values)
    return np.array([str(value) for value in values], dtype=object)


def _matrix(columns: list[np.ndarray]) -> np.ndarray:
    """Columns of numbers and truth values side by side, NaN where missing."""
    held = []
    for column in columns:
        missing = missing_cells(column)
        held.append(np.where(missing, np.nan, np.where(missing, 0, column).astype(np.float64)))
    return np.ascontiguousarray(np.column_stack(held))


def _frame(names: Sequence[str], columns: list[np.ndarray]) -> Any:
    import pandas as pd

    return pd.DataFrame(dict(zip(names, columns, strict=True)))


def dense_cells(target: Any) -> np.ndarray:
    """Vectors of a target that is no ranking, dense: numbers standardised, NaN where unknown."""
    rows: Any = target.Y if isinstance(target, NumberTarget) else target.cells()
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)


def _impurity(part: Target, sample_weight: np.ndarray | None) -> float:
    """Weighted variance of a part, 1 where it is constant."""
    if isinstance(part, NumberTarget):  # standardised: 1 for each that varies
        return float(part.weights[(np.nan_to_num(part.Y) != 0).any(axis=0)].sum()) or 1.0
    shares = _shares(part, sample_weight)
    return float(part.weights @ (shares * (1 - shares))) or 1.0


def _shares(part: Any, sample_weight: np.ndarray | None) -> np.ndarray:
    """Share of the known rows that have each label or class."""
    return np.asarray(part.frequencies(sample_weight))


def _unknown(parts: list[Target]) -> sparse.csr_array | None:
    if all(part.unknown is None for part in parts):
        return None
    blocks = [
        sparse.csr_array((part.n_samples, len(part.weights)), dtype=bool) if part.unknown is None else part.unknown
        for part in parts
    ]
    return sparse.csr_array(sparse.hstack(blocks, format="csr").astype(bool))


def _inferred(column: np.ndarray) -> np.ndarray:
    """A column of objects as numbers where all its values are, NaN for those that are missing."""
    if column.dtype != object:
        return column
    missing = missing_cells(column)
    if missing.all() or any(isinstance(value, (bool, np.bool_)) for value in column[~missing].tolist()):
        return column
    return as_numbers(column) if missing.any() else _as_floats(column)


def _as_floats(column: np.ndarray) -> np.ndarray:
    return column.astype(np.float64) if all(isinstance(value, Real) for value in column.tolist()) else column
