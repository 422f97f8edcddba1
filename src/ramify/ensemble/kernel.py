"""KernelClassifier and KernelRegressor: ridge regression on a kernel, for all labels or numbers at once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from ramify.ensemble.smooth import SmoothClassifier, SmoothModel, SmoothRegressor, dense_cells
from ramify.ensemble.threshold import exceeded_threshold, fitted_threshold, is_chosen
from ramify.features.frames import n_rows
from ramify.hierarchy import Hierarchy
from ramify.parameters import check_integer, check_option, check_real, worker_count
from ramify.state import State, matrix, number, numbers, one_of
from ramify.targets import LabelTarget, NumberTarget

_SHARPNESSES = (0.25, 0.5, 1.0, 2.0, 4.0)
_PENALTIES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
_DISTANCE_ROWS = 500  # among which the median distance is taken
_SHARPNESS_ROWS = 2000  # by which the sharpness is chosen
_ALL_ROWS = 5000  # up to which every row is a centre
_BLOCK = 1000
_DIGITS = 9  # of errors; what is left is rounding, and depends on the unit of a feature


@dataclass(frozen=True)
class _Basis:
    """Eigenvectors of the weighted kernel matrix, and what they make of the target.

    Attributes
    ----------
    rows : int array
        Rows that are predicted without themselves.
    vectors : array of shape (n_rows, rank)
        Their entries in the eigenvectors.
    values : array of shape (rank,)
        Eigenvalues.
    target : array of shape (rank, n_labels)
        The weighted target in the basis.
    back : array of shape (n_centres, rank)
        From the basis to coefficients of the centres.
    """

    rows: np.ndarray
    vectors: np.ndarray
    values: np.ndarray
    target: np.ndarray
    back: np.ndarray

    def coefficients(self, penalty: float) -> np.ndarray:
        """What each centre adds per unit of the kernel."""
        return self.back @ (self.target / (self.values + penalty)[:, None])

    def left_out(self, penalty: float, residuals: np.ndarray) -> np.ndarray:
        """Weighted errors of the rows, each predicted by all others."""
        kept = self.values / (self.values + penalty)
        own = np.minimum((self.vectors**2) @ kept, 1.0 - 1e-9)
        return (residuals - self.vectors @ (kept[:, None] * self.target)) / (1.0 - own)[:, None]


class BaseKernel(SmoothModel):
    """Ridge regression on a kernel; use a class derived from it."""

    fitted_state: ClassVar[State] = {
        **SmoothModel.fitted_state,
        "kernel_": one_of("rbf", "linear"),
        "sharpness_": number(low=0),
        "l2_": number(low=0),
        "_unit": number(low=0),
        "_centres": matrix("n_centres", "n_columns"),
        "_coefficients": numbers("n_centres", "n_labels"),
    }
    kernel_: str
    sharpness_: float
    l2_: float
    kernel: str
    sharpness: Any
    l2: Any
    n_landmarks: int
    random_state: Any

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_option(self, "kernel", self.kernel, ("auto", "rbf", "linear"))
        check_integer(self, "n_landmarks", self.n_landmarks, low=1)
        for name in ("sharpness", "l2"):
            value = getattr(self, name)
            if isinstance(value, str) and value == "auto":
                continue
            if isinstance(value, str):
                raise ValueError(
                    f"The {name!r} parameter of {type(self).__name__} must be a number > 0 or 'auto'. "
                    f"Got {value!r} instead."
                )
            check_real(self, name, value, low=0, open_low=True)

    @abstractmethod
    def _offset(self) -> np.ndarray:
        """What is predicted far from all training rows, in the units that are fitted."""

    def _learn(self, rows: Any, target: LabelTarget | NumberTarget, weights: np.ndarray | None) -> None:
        order = np.random.default_rng(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        drawn = order.permutation(rows.shape[0])
        roots = np.ones(rows.shape[0]) if weights is None else np.sqrt(weights)
        self.kernel_ = ("linear" if sparse.issparse(rows) else "rbf") if self.kernel == "auto" else self.kernel
        with threadpool_limits(limits=1, user_api="blas"):  # the same bits for any number of threads
            self._unit = self._kernel_unit(rows[np.sort(drawn[:_DISTANCE_ROWS])])
            few = np.sort(drawn[:_SHARPNESS_ROWS])
            sharpnesses, penalties = self._candidates(rows.shape[0])
            if len(sharpnesses) > 1:
                bases = Parallel(n_jobs=worker_count(self.n_jobs), require="sharedmem")(
                    delayed(self._tried)(sharpness, penalties, rows, few, few, target, roots)
                    for sharpness in sharpnesses
                )
                best = int(np.argmin([errors.min() for _, errors in bases]))
                self.sharpness_ = sharpnesses[best]
                basis, errors = bases[best]
            else:
                self.sharpness_ = sharpnesses[0]
            centres = few if rows.shape[0] <= _SHARPNESS_ROWS else np.arange(rows.shape[0])
            if rows.shape[0] > _ALL_ROWS:
                centres = np.sort(drawn[: self.n_landmarks])
            if len(sharpnesses) == 1 or len(few) < rows.shape[0]:
                judged = np.sort(drawn[:_ALL_ROWS])
                basis, errors = self._tried(self.sharpness_, penalties, rows, centres, judged, target, roots)
            self.l2_ = penalties[int(np.argmin(errors))]
            self._centres = rows[centres]
            self._coefficients = basis.coefficients(self.l2_)
            self._finish(basis, target, roots)

    def _candidates(self, n_samples: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Values to try of sharpness and penalty; a single row cannot choose."""
        choosing = n_samples > 2
        sharpnesses: tuple[float, ...] = _SHARPNESSES if choosing and self.kernel_ == "rbf" else (1.0,)
        penalties: tuple[float, ...] = _PENALTIES if choosing else (1.0,)
        given = (self.sharpness, self.l2)
        tried = (sharpnesses, penalties)
        return tuple(  # type: ignore[return-value]
            own if isinstance(value, str) else (float(value),) for value, own in zip(given, tried, strict=True)
        )

    def _finish(self, basis: _Basis, target: Any, roots: np.ndarray) -> None:
        """What is left to set after the coefficients."""

    def _kernel_unit(self, rows: Any) -> float:
        """Median squared distance of two rows, or of a linear kernel the mean squared length."""
        lengths = _squared_lengths(rows)
        if self.kernel_ == "linear":
            return float(lengths.mean()) or 1.0
        squares = _squared_distances(rows, rows)[np.triu_indices(rows.shape[0], 1)]
        return float((np.median(squares) or squares.mean()) if len(squares) else 0.0) or 1.0

    def _similar(self, rows: Any, centres: Any, sharpness: float) -> np.ndarray:
        """Values of the kernel."""
        if self.kernel_ == "linear":
            return _products(rows, centres) * (sharpness / self._unit)
        values = _squared_distances(rows, centres)
        values *= -sharpness / self._unit
        return np.exp(values, out=values)

    def _residuals(self, target: Any, rows: np.ndarray | slice) -> np.ndarray:
        """Cells less the offset, 0 where unknown."""
        return np.nan_to_num(dense_cells(target, rows) - self._offset())

    def _tried(
        self,
        sharpness: float,
        penalties: tuple[float, ...],
        rows: Any,
        centres: np.ndarray,
        judged: np.ndarray,
        target: Any,
        roots: np.ndarray,
    ) -> tuple[_Basis, np.ndarray]:
        """The basis for a sharpness, and the mean squared error of rows left out for each penalty."""
        own = np.array_equal(centres, judged)
        make = self._basis_of_rows if own else self._basis_of_landmarks
        basis = make(sharpness, rows, centres, judged, target, roots)
        residuals = roots[judged, None] * self._residuals(target, judged)
        known = ~np.isnan(dense_cells(target, judged))
        at_worst = np.sum(residuals**2) or 1.0
        errors = [np.sum(basis.left_out(penalty, residuals) ** 2, where=known) / at_worst for penalty in penalties]
        return basis, np.round(errors, _DIGITS)

    def _basis_of_rows(
        self, sharpness: float, rows: Any, centres: np.ndarray, judged: np.ndarray, target: Any, roots: np.ndarray
    ) -> _Basis:
        """Every row is a centre."""
        own = roots[centres]
        held = rows[centres]
        weighted = self._similar(held, held, sharpness)
        weighted *= own[:, None]
        weighted *= own
        values, vectors = np.linalg.eigh(weighted)
        inside = vectors.T @ (own[:, None] * self._residuals(target, centres))
        return _Basis(judged, vectors, np.maximum(values, 0.0), inside, own[:, None] * vectors)

    def _basis_of_landmarks(
        self, sharpness: float, rows: Any, centres: np.ndarray, judged: np.ndarray, target: Any, roots: np.ndarray
    ) -> _Basis:
        """Rows by their similarity to some of them (Williams and Seeger)."""
        held = rows[centres]
        values, vectors = np.linalg.eigh(self._similar(held, held, sharpness))
        sound = values > 1e-10 * values[-1]
        to_features = vectors[:, sound] / np.sqrt(values[sound])
        n_features = to_features.shape[1]
        gram, moments = np.zeros((n_features, n_features)), np.zeros((n_features, len(self._offset())))
        for first in range(0, rows.shape[0], _BLOCK):
            block = slice(first, min(first + _BLOCK, rows.shape[0]))
            features = (self._similar(rows[block], held, sharpness) @ to_features) * roots[block, None]
            gram += features.T @ features
            moments += features.T @ (roots[block, None] * self._residuals(target, block))
        values, vectors = np.linalg.eigh(gram)
        sound = values > 1e-10 * values[-1]
        values, vectors = values[sound], vectors[:, sound]
        scaled = vectors / np.sqrt(values)
        of_judged = self._similar(rows[judged], held, sharpness) @ (to_features @ scaled) * roots[judged, None]
        back = to_features @ (vectors * np.sqrt(values))
        return _Basis(judged, of_judged, values, scaled.T @ moments, back)

    def _outputs(self, X: Any) -> np.ndarray:
        """Predictions in the units that are fitted."""
        check_is_fitted(self, "_coefficients")
        outputs = np.empty((n_rows(X), self._coefficients.shape[1]))
        offset = self._offset()

        def predict(block: slice, rows: Any) -> None:
            outputs[block] = self._similar(rows, self._centres, self.sharpness_) @ self._coefficients + offset

        with threadpool_limits(limits=1, user_api="blas"):
            Parallel(n_jobs=worker_count(self.n_jobs), require="sharedmem")(
                delayed(predict)(block, rows) for block, rows in self._row_blocks(X)
            )
        return outputs

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted model together."""
        yield from super().state_rules()
        yield self._centres.shape[1] == self._n_columns(), "the centres have other features"
        yield sparse.issparse(self._centres) == self._is_csr, "the centres must be stored as rows are"
        yield self._unit > 0, "the unit of the kernel must be positive"


@dataclass(kw_only=True, eq=False, repr=False)
class KernelClassifier(BaseKernel, SmoothClassifier):
    """Ridge regression of classes or labels on a kernel, all labels with one eigendecomposition.

    Parameters
    ----------
    hierarchy : Hierarchy or None, default=None
        Hierarchy of the labels. `fit` closes y under ancestors.
    kernel : {"auto", "rbf", "linear"}, default="auto"
        "rbf" is `exp(-sharpness * d^2 / median of d^2)`, "linear" the product of two rows. "auto" is "linear" for
        sparse rows of more than 4 million cells, such as words of texts, else "rbf".
    sharpness : float or "auto", default="auto"
        How fast the kernel falls with the distance. "auto" takes that of 0.25 to 4 which predicts training rows best,
        each by the others.
    l2 : float or "auto", default="auto"
        Penalty, 0.1 to 100 chosen likewise.
    n_landmarks : int, default=3000
        Training rows, drawn at random, that others are compared with where there are more than 5,000.
    threshold : float, array-like of shape (n_labels,), {"f1", "cardinality", "density"} or dict, default=0.5
        Probability above which a label of a label set is predicted, as of `ForestClassifier`; one that is chosen is
        chosen on training rows, each predicted by the others.
    categorical_features : "from_dtype", mask, indices, names or None, default="from_dtype"
        Which features are nominal; by default the columns of a frame with a category or string dtype.
    n_jobs : int or None, default=None
        Threads; the result is the same for any number.
    random_state : int, RandomState or None, default=None
        Seed of the rows that are drawn where there are many.

    Attributes
    ----------
    kernel_ : {"rbf", "linear"}
        The kernel that is used.
    sharpness_, l2_ : float
        Those that are used.
    threshold_ : float or ndarray of shape (n_labels,)
        Probability that a predicted label exceeds.
    classes_ : ndarray of shape (n_classes,) or (n_labels, 2)
        Class values; for label sets `[0, 1]` per label.
    label_names_ : tuple of str
        Names of the columns of `predict_proba`.
    n_outputs_ : int
        Number of labels; 1 for classes.
    target_kind_ : {"classes", "labels", "hierarchy"}
        What y was.
    prior_ : ndarray of shape (n_labels,)
        Frequency of each label or class in training; predicted far from all training rows.
    n_features_in_, feature_names_in_, categories_
        Number, names and nominal values of the features.

    Notes
    -----
    Features are standardised as in `NeighborsClassifier`: 4 standard deviations from the mean is the farthest, missing
    numbers are at the mean, a nominal feature is a column per value. Predictions are cut to [0, 1], those of classes
    divided by their sum, those of a hierarchy cut to their parents'. Errors of rows left out have a closed form; the
    sharpness is chosen by up to 2,000 rows, the penalty by up to 5,000. An unknown label counts as its frequency, and
    in no error. Row weights are scaled to a mean of 1.

    References
    ----------
    Saunders, C., Gammerman, A. and Vovk, V. (1998). Ridge regression learning algorithm in dual variables. ICML.
    Rifkin, R. and Lippert, R. (2007). Notes on regularized least squares. MIT-CSAIL-TR-2007-025.
    Williams, C. and Seeger, M. (2001). Using the Nyström method to speed up kernel machines. NIPS.

    Examples
    --------
    >>> from ramify.datasets import make_hierarchical
    >>> from ramify.ensemble import KernelClassifier
    >>> data = make_hierarchical(200, random_state=0)
    >>> model = KernelClassifier(hierarchy=data.hierarchy, random_state=0).fit(data.X, data.y)
    >>> probabilities = model.predict_proba(data.X)
    >>> bool((probabilities >= 0).all() and (probabilities <= 1).all())
    True
    """

    fitted_state: ClassVar[State] = {**SmoothClassifier.fitted_state, **BaseKernel.fitted_state}

    classes_ = SmoothClassifier.classes_  # on its own page of the documentation

    hierarchy: Hierarchy | None = None
    kernel: str = "auto"
    sharpness: Any = "auto"
    l2: Any = "auto"
    n_landmarks: int = 3000
    threshold: Any = 0.5
    categorical_features: Any = "from_dtype"
    n_jobs: int | None = None
    random_state: Any = None

    def _offset(self) -> np.ndarray:
        return self.prior_

    def _finish(self, basis: _Basis, target: Any, roots: np.ndarray) -> None:
        self.threshold_ = fitted_threshold(self, target.kind, len(self.prior_))
        if not is_chosen(self.threshold):
            return
        own = roots[basis.rows, None]
        residuals = self._residuals(target, basis.rows)
        left_out = self.prior_ + residuals - basis.left_out(self.l2_, own * residuals) / own
        truth = sparse.csr_array(target.cells())[basis.rows]
        weights = roots[basis.rows] ** 2
        self.threshold_ = exceeded_threshold(self.threshold, self._limited(left_out), truth, sample_weight=weights)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class or label.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        array of shape (n_samples, n_labels)
            Columns follow `label_names_`. With a hierarchy a parent's probability is at least its children's.
        """
        return self._limited(self._outputs(X))

    def _limited(self, outputs: np.ndarray) -> np.ndarray:
        """Outputs as probabilities."""
        probabilities = np.clip(outputs, 0.0, 1.0)
        if self._class_values is not None:
            total = probabilities.sum(axis=1, keepdims=True)
            return np.where(total > 0, probabilities / np.where(total > 0, total, 1.0), self.prior_)
        return probabilities if self.hierarchy is None else _at_most_parents(probabilities, self.hierarchy)


@dataclass(kw_only=True, eq=False, repr=False)
class KernelRegressor(BaseKernel, SmoothRegressor):
    """Ridge regression of one or several numbers on a kernel, all with one eigendecomposition.

    Parameters
    ----------
    kernel : {"auto", "rbf", "linear"}, default="auto"
        "rbf" is `exp(-sharpness * d^2 / median of d^2)`, "linear" the product of two rows. "auto" is "linear" for
        sparse rows of more than 4 million cells, such as words of texts, else "rbf".
    sharpness : float or "auto", default="auto"
        How fast the kernel falls with the distance. "auto" takes that of 0.25 to 4 which predicts training rows best,
        each by the others.
    l2 : float or "auto", default="auto"
        Penalty, 0.1 to 100 chosen likewise.
    n_landmarks : int, default=3000
        Training rows, drawn at random, that others are compared with where there are more than 5,000.
    categorical_features : "from_dtype", mask, indices, names or None, default="from_dtype"
        Which features are nominal; by default the columns of a frame with a category or string dtype.
    n_jobs : int or None, default=None
        Threads; the result is the same for any number.
    random_state : int, RandomState or None, default=None
        Seed of the rows that are drawn where there are many.

    Attributes
    ----------
    kernel_ : {"rbf", "linear"}
        The kernel that is used.
    sharpness_, l2_ : float
        Those that are used.
    label_names_ : tuple of str
        Names of the targets.
    n_outputs_ : int
        Number of targets.
    target_kind_ : "numbers"
        What y was.
    prior_, scale_ : ndarray of shape (n_targets,)
        Mean and standard deviation of each target in training.
    n_features_in_, feature_names_in_, categories_
        Number, names and nominal values of the features.

    Notes
    -----
    As `KernelClassifier`; targets are standardised, and an unknown number counts as the mean.

    References
    ----------
    Saunders, C., Gammerman, A. and Vovk, V. (1998). Ridge regression learning algorithm in dual variables. ICML.
    Rifkin, R. and Lippert, R. (2007). Notes on regularized least squares. MIT-CSAIL-TR-2007-025.
    Williams, C. and Seeger, M. (2001). Using the Nyström method to speed up kernel machines. NIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.ensemble import KernelRegressor
    >>> X = np.linspace(0, 6, 50).reshape(-1, 1)
    >>> model = KernelRegressor().fit(X, np.sin(X).ravel())
    >>> bool(model.score(X, np.sin(X).ravel()) > 0.99)
    True
    """

    fitted_state: ClassVar[State] = {**BaseKernel.fitted_state, **SmoothRegressor.fitted_state}

    kernel: str = "auto"
    sharpness: Any = "auto"
    l2: Any = "auto"
    n_landmarks: int = 3000
    categorical_features: Any = "from_dtype"
    n_jobs: int | None = None
    random_state: Any = None

    def _offset(self) -> np.ndarray:
        return np.zeros(len(self.prior_))  # targets are standardised

    def predict(self, X: Any) -> np.ndarray:
        """The mean of training and what the kernel adds.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_targets)
            One-dimensional if y was at fit.
        """
        values = self._outputs(X) * self.scale_ + self.prior_
        return values[:, 0] if self._single else values


def _products(rows: Any, others: Any) -> np.ndarray:
    products = rows @ others.T
    return products.toarray() if sparse.issparse(products) else np.asarray(products)


def _squared_lengths(rows: Any) -> np.ndarray:
    squares = rows.multiply(rows) if sparse.issparse(rows) else rows * rows
    return np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()


def _squared_distances(rows: Any, others: Any) -> np.ndarray:
    squares = _products(rows, others)
    squares *= -2.0
    squares += _squared_lengths(rows)[:, None]
    squares += _squared_lengths(others)
    return np.maximum(squares, 0.0, out=squares)


def _at_most_parents(probabilities: np.ndarray, hierarchy: Hierarchy) -> np.ndarray:
    """Each label's probability cut to the smallest among its ancestors'."""
    by_label = np.ascontiguousarray(probabilities.T)
    parents = hierarchy.parent_matrix
    for label in hierarchy.topological_order.tolist():
        for parent in parents.indices[parents.indptr[label] : parents.indptr[label + 1]].tolist():
            np.minimum(by_label[label], by_label[parent], out=by_label[label])
    return np.ascontiguousarray(by_label.T)
