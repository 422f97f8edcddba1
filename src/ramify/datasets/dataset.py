"""Dataset: what every reader and generator returns and every later step takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse

from ramify import targets as kinds
from ramify.features.coded_table import CodedTable
from ramify.features.file_columns import with_columns
from ramify.features.frames import take_rows

if TYPE_CHECKING:
    import pandas as pd

    from ramify.datasets.tables.inspection import Inspection
    from ramify.hierarchy import Hierarchy

Target = Literal["classes", "labels", "hierarchy", "numbers", "rankings", "mixed"]

_MOST_DENSE_CELLS = 50_000_000
"""Label sets with more cells stay sparse; a byte each."""


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Features, target and everything known about them.

    Parameters
    ----------
    X : ndarray, CSC or CodedTable of shape (n_samples, n_features)
        Features, or the codes of a prepared table. A nominal column holds the code of its value in `categories`; NaN is
        missing. Codes are those of this data set: a model that is used on another file is fitted and used on
        `to_frame()`, which has the values. A dense array of a file knows its columns, and estimators refuse that of a
        file whose columns or codes are others.
    y : ndarray or CSR, optional
        Classes (n,), label sets (n, L) as 0/1 CSR (closed under ancestors where there is a hierarchy), numbers (n,) or
        (n, T), or rankings (n, L) of ranks: 1 best, equal = tie, NaN = unranked. In label sets and several numbers NaN,
        also a stored one of a CSR, is unknown. Targets of different kinds are a frame with a column per class target,
        number and label.
    target : {"classes", "labels", "hierarchy", "numbers", "rankings", "mixed"}, optional
        Kind of `y`.
    feature_names : tuple of str
        One name per column, not necessarily unique; features are identified by position.
    categories : tuple
        Per feature, None for a numeric one or the tuple of values of a nominal one.
    label_names : tuple of str
        Names of the columns of `y` (of the classes, for classes).
    targets : mapping
        Of a mixed target, what the columns of `y` are, as `MixedForest` takes it; `label_names` are its keys.
    hierarchy, feature_hierarchy : Hierarchy, optional
        Hierarchy of the labels (columns of `y` follow `hierarchy.names`) and of the features.
    sample_weight : ndarray, optional
        One weight per row.
    row_groups : ndarray, optional
        Which rows belong together, as those of one patient, family or site.
    ids : ndarray, optional
        Identifier of each row.
    id_name : str
        What the file calls them: the name of their column.
    truth : ndarray or CSR of shape (n_features, n_labels), optional
        Which features drive which label, where it was planted.
    parts : dict, optional
        Rows of each part ("train", "valid", "test") of a set read from several files.
    titles : mapping of str to str
        What labels and features are called where their names are identifiers, as of the Gene Ontology.
    notes : tuple of str
        What was decided when the data were read, a sentence each.
    inspection : Inspection, optional
        What each column of a table is and why; `read(..., roles=)` takes it to read another table the same way.
    source : str
        Where the data came from.
    sha256 : str
        Hash of the bytes that were read.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.datasets import Dataset
    >>> data = Dataset(np.eye(3), y=np.array([0, 1, 1]), target="classes", label_names=("no", "yes"))
    >>> data.n_samples, data.n_features, data.feature_names
    (3, 3, ('x0', 'x1', 'x2'))
    """

    X: Any
    y: Any = None
    target: Target | None = None
    feature_names: tuple[str, ...] = ()
    categories: tuple[tuple[str, ...] | None, ...] = ()
    label_names: tuple[str, ...] = ()
    targets: Mapping[str, Any] = field(default_factory=dict)
    hierarchy: Hierarchy | None = None
    feature_hierarchy: Hierarchy | None = None
    sample_weight: np.ndarray | None = None
    row_groups: np.ndarray | None = None
    ids: np.ndarray | None = None
    id_name: str = ""
    truth: Any = None
    parts: dict[str, np.ndarray] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    inspection: Inspection | None = None
    source: str = ""
    sha256: str = ""

    def __post_init__(self) -> None:
        n_features = self.X.shape[1]
        if not self.feature_names:
            object.__setattr__(self, "feature_names", tuple(f"x{j}" for j in range(n_features)))
        if not self.categories:
            object.__setattr__(self, "categories", (None,) * n_features)
        for name in ("feature_names", "categories"):
            if len(getattr(self, name)) != n_features:
                raise ValueError(f"{name} has {len(getattr(self, name))} entries for {n_features} features.")
        if self.source and isinstance(self.X, np.ndarray):
            object.__setattr__(self, "X", with_columns(self.X, self.feature_names, self.categories))
        if self.y is not None and self.y.shape[0] != self.X.shape[0]:
            raise ValueError(f"X has {self.X.shape[0]} rows and y has {self.y.shape[0]}; they must agree.")

    @property
    def left_out(self) -> dict[str, str]:
        """Columns of a table that are no features, and why."""
        return {} if self.inspection is None else self.inspection.left_out

    @property
    def storage(self) -> str:
        """How X is held: "dense", "sparse", or "coded" where it is a prepared table."""
        return "sparse" if sparse.issparse(self.X) else "coded" if isinstance(self.X, CodedTable) else "dense"

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of feature columns."""
        return int(self.X.shape[1])

    @property
    def n_labels(self) -> int:
        """Number of labels, classes or target columns."""
        return len(self.label_names)

    @property
    def known_share(self) -> np.ndarray | None:
        """Share of the rows of which each label, number or target is known; None where all are, and for other kinds."""
        if self.targets:
            unknown = self.y.isna()
            columns = {name: what if isinstance(what, list) else [name] for name, what in self.targets.items()}
            columns |= {n: list(w.names) for n, w in self.targets.items() if hasattr(w, "names")}
            shares = np.array([1.0 - unknown[own].to_numpy().mean() for own in columns.values()])
            return shares if (shares < 1).any() else None
        if self.y is None or not (self.target_type.has_sets or self.target_type is kinds.NumberTarget):
            return None
        stored = self.y.data if sparse.issparse(self.y) else np.asarray(self.y)
        if stored.dtype.kind != "f" or not np.isnan(stored).any():
            return None
        if not sparse.issparse(self.y):
            return np.asarray(1.0 - np.isnan(stored).reshape(len(stored), -1).mean(axis=0))
        rows = sparse.csr_array(self.y)
        unknown = np.bincount(rows.indices, weights=np.isnan(rows.data), minlength=rows.shape[1])
        return np.asarray(1.0 - unknown / max(1, self.n_samples))

    @property
    def label_counts(self) -> np.ndarray:
        """Number of rows that are known to have each label, of label sets."""
        dense = not sparse.issparse(self.y)
        cells = sparse.csr_array(np.nan_to_num(np.asarray(self.y, dtype=float)) if dense else self.y)
        return np.bincount(cells.indices, weights=np.nan_to_num(cells.data), minlength=cells.shape[1]).astype(np.int64)

    @property
    def target_type(self) -> type[kinds.Target]:
        """The type that answers what is asked of the kind of `y`: whether it holds label sets, which forest fits it."""
        return kinds.Target if self.target is None else kinds.target_type(self.target)

    @property
    def categorical_features(self) -> np.ndarray:
        """Mask of the nominal features, as every estimator's `categorical_features` takes it."""
        return np.array([values is not None for values in self.categories], dtype=bool)

    def part(self, *names: str) -> Dataset:
        """Rows of the named parts, in their order, as a data set of their own.

        Parameters
        ----------
        *names : str
            "train", "valid", "test" or whatever `parts` holds; several are joined.
        """
        unknown = [name for name in names if name not in self.parts]
        if unknown:
            raise ValueError(f"There is no part {unknown[0]!r}; this data set has {sorted(self.parts) or 'no parts'}.")
        return self.rows(np.concatenate([self.parts[name] for name in names]))

    def rows(self, index: np.ndarray) -> Dataset:
        """The chosen rows as a data set of their own, without parts."""
        X = self.X[index] if not sparse.issparse(self.X) else sparse.csc_array(sparse.csr_array(self.X)[index])
        return replace(
            self,
            X=X,
            y=None if self.y is None else take_rows(self.y, index),
            sample_weight=None if self.sample_weight is None else self.sample_weight[index],
            row_groups=None if self.row_groups is None else self.row_groups[index],
            ids=None if self.ids is None else self.ids[index],
            parts={},
        )

    def to_frame(self) -> pd.DataFrame:
        """Features as a pandas frame; nominal ones have a category dtype, sparse ones a sparse dtype."""
        import pandas as pd

        if isinstance(self.X, CodedTable):
            np.asarray(self.X)  # says that there are no values
        if sparse.issparse(self.X) and not self.categorical_features.any():
            return pd.DataFrame.sparse.from_spmatrix(sparse.csc_matrix(self.X), columns=list(self.feature_names))
        dense = self.X.toarray() if sparse.issparse(self.X) else self.X
        columns = []
        for j, values in enumerate(self.categories):
            if values is None:
                columns.append(pd.Series(dense[:, j]))
            else:
                codes = np.where(np.isnan(dense[:, j]), -1, dense[:, j]).astype(int)
                columns.append(pd.Series(pd.Categorical.from_codes(codes, categories=list(values))))
        frame = pd.concat(columns, axis=1) if columns else pd.DataFrame(index=range(self.n_samples))
        frame.columns = list(self.feature_names)
        return frame

    @property
    def classes(self) -> np.ndarray:
        """The class of each row by its name, of a target of classes."""
        values = np.asarray(self.y)
        if values.dtype.kind in "iuf" and self.label_names:
            return np.array(self.label_names)[values.astype(np.int64)]
        return values.astype(str)

    def frames(self) -> tuple[pd.DataFrame, Any]:
        """Features and target with their names, as scikit-learn's functions take them.

        Returns
        -------
        X : DataFrame
            As `to_frame()`.
        y : DataFrame, Series or CSR
            A series of class names, else a frame with a column per label, number or target. Label sets with more than
            50 million cells stay a sparse matrix, without names.

        Examples
        --------
        >>> from sklearn.model_selection import cross_validate, train_test_split
        >>> from ramify import ForestClassifier
        >>> from ramify.datasets import make_multilabel
        >>> X, y = make_multilabel(100, n_labels=3, random_state=0).frames()
        >>> list(y.columns)
        ['label0', 'label1', 'label2']
        >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
        >>> ForestClassifier(n_estimators=10, random_state=0).fit(X_train, y_train).predict(X_test).shape
        (25, 3)
        >>> scores = cross_validate(ForestClassifier(n_estimators=10, random_state=0), X, y, cv=3)["test_score"]
        >>> scores.shape
        (3,)
        """
        import pandas as pd

        X, y = self.to_frame(), self.y
        if y is None:
            raise ValueError(f"{self.source or 'The data'} has no target; `to_frame()` gives the features alone.")
        if self.target_type.has_one_label:
            return X, pd.Series(self.classes, index=X.index)
        if self.targets or (sparse.issparse(y) and y.shape[0] * y.shape[1] > _MOST_DENSE_CELLS):
            return X, y
        dense = y.toarray() if sparse.issparse(y) else np.asarray(y).reshape(self.n_samples, -1)
        return X, pd.DataFrame(dense, columns=list(self.label_names) or None)

    def __repr__(self) -> str:
        kind = f", target={self.target!r}, {self.n_labels} labels" if self.target else ""
        return f"Dataset({self.n_samples} rows, {self.n_features} {self.storage} features{kind})"

    def _repr_html_(self) -> str:
        from ramify.notebook import html_table

        n_nominal = int(self.categorical_features.sum())
        rows: list[tuple[str, str]] = [
            ("rows", f"{self.n_samples:,}"),
            ("features", f"{self.n_features:,} ({n_nominal:,} nominal)"),
            ("target", self.target_type.described(self.label_names) if self.target else ""),
            ("labels", ", ".join(self.label_names[:8]) + (", ..." if self.n_labels > 8 else "")),
            ("hierarchy", repr(self.hierarchy) if self.hierarchy is not None else ""),
            ("parts", ", ".join(f"{name} ({len(rows):,})" for name, rows in self.parts.items())),
            ("left out", ", ".join(f"{name}: {why}" for name, why in self.left_out.items())),
            ("source", self.source or "arrays"),
        ]
        return html_table(repr(self), ["", ""], [row for row in rows if row[1]])
