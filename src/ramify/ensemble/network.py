"""NetworkClassifier: two hidden layers with dropout, and the maximum over the hierarchy in loss and prediction."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Event
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from ramify.ensemble.label_maximum import LabelMaximum
from ramify.ensemble.network_on_gpu import DeviceNetworks, checked_torch
from ramify.ensemble.smooth import SmoothClassifier
from ramify.ensemble.threshold import exceeded_threshold, fitted_threshold, is_chosen
from ramify.features import Features
from ramify.features.frames import n_rows
from ramify.hierarchy import Hierarchy
from ramify.metrics import average_precision_score
from ramify.parameters import check_integer, check_option, check_real, worker_count
from ramify.progress import progress_bar
from ramify.state import State, count, numbers, refuse_changed
from ramify.targets import LabelTarget

_UNKNOWN = 2
_CHECKED_EVERY = 2  # epochs
_CHUNK = 1 << 15  # parameters that are updated at a time, so that they stay in the cache
_FIRST_MOMENT, _SECOND_MOMENT, _TINY = 0.9, 0.999, 1e-8


@dataclass(kw_only=True, eq=False, repr=False)
class NetworkClassifier(SmoothClassifier):
    """Mean of small networks: two hidden layers, dropout, and the maximum over descendants for hierarchies.

    Parameters
    ----------
    n_networks : int, default=3
        Networks that are averaged; they differ in their seed.
    hierarchy : Hierarchy or None, default=None
        Hierarchy of the labels. `fit` closes y under ancestors.
    n_units : int, default=1000
        Units of each of the two hidden layers.
    dropout : float, default=0.7
        Share of the units that are left out of each step, in both hidden layers.
    learning_rate : float, default=5e-4
        Size of the steps (Adam).
    l2 : float, default=1e-5
        Penalty of the weights.
    batch_size : int, default=64
        Rows per step.
    n_epochs : int, default=100
        Largest number of passes over the rows.
    early_stopping : float or None, default=0.2
        Share of the rows that is held back from a first network to find the number of epochs with the largest pooled
        average precision; then all networks learn from all rows. None does all epochs.
    patience : int, default=20
        Epochs without a larger average precision on the rows held back before the first network stops.
    threshold : float, array-like of shape (n_labels,), {"f1", "cardinality", "density"} or dict, default=0.5
        Probability above which a label of a label set is predicted, as of `ForestClassifier`; one that is chosen is
        chosen on the rows that early stopping holds back.
    categorical_features : "from_dtype", mask, indices, names or None, default="from_dtype"
        Which features are nominal; by default the columns of a frame with a category or string dtype.
    n_jobs : int or None, default=None
        Threads, one per network; the result is the same for any number.
    device : {"cpu", "cuda"}, default="cpu"
        Where the networks are trained; "cuda" is a GPU by PyTorch (`pip install "ramify[cuda]"`), which trains all at
        once and differs by chance, also from run to run. Predictions need neither.
    random_state : int, RandomState or None, default=None
        Seed.
    verbose : int, default=0
        Show a progress bar if positive.

    Attributes
    ----------
    n_epochs_ : int
        Passes over the rows that the networks did.
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
        Frequency of each label or class in training.
    n_features_in_, feature_names_in_, categories_
        Number, names and nominal values of the features.

    Notes
    -----
    Features are standardised as in `KernelClassifier`. The loss is the cross-entropy: of the softmax for classes, else
    per label. With a hierarchy, the prediction of a label is the largest among itself and its descendants, and so it is
    in the loss, there among the descendants that the row has for a label that it has (C-HMCNN). An unknown label is in
    no loss. Features of sparse rows are updated in the steps where a row has them. The authors of C-HMCNN took batches
    of 4 and smaller steps; a learning rate of 3e-4 with batches of 32 reached the same on held-out rows of three sets
    in 1.4 times the time. Everything is computed in single precision.

    References
    ----------
    Giunchiglia, E. and Lukasiewicz, T. (2020). Coherent hierarchical multi-label classification networks. NeurIPS.
    Srivastava, N. et al. (2014). Dropout: a simple way to prevent neural networks from overfitting. JMLR 15.
    Kingma, D. and Ba, J. (2015). Adam: a method for stochastic optimization. ICLR.

    Examples
    --------
    >>> from ramify.datasets import make_hierarchical
    >>> from ramify.ensemble import NetworkClassifier
    >>> data = make_hierarchical(200, random_state=0)
    >>> model = NetworkClassifier(1, n_units=50, n_epochs=10, hierarchy=data.hierarchy, random_state=0)
    >>> probabilities = model.fit(data.X, data.y).predict_proba(data.X)
    >>> bool((probabilities >= 0).all() and (probabilities <= 1).all())
    True
    """

    fitted_state: ClassVar[State] = {
        **SmoothClassifier.fitted_state,
        "n_epochs_": count(),
        "_first": numbers("n_networks", "n_columns", "n_units"),
        "_first_bias": numbers("n_networks", "n_units"),
        "_second": numbers("n_networks", "n_units", "n_units"),
        "_second_bias": numbers("n_networks", "n_units"),
        "_last": numbers("n_networks", "n_labels", "n_units"),
        "_last_bias": numbers("n_networks", "n_labels"),
    }

    classes_ = SmoothClassifier.classes_  # on its own page of the documentation

    n_networks: int = field(default=3, kw_only=False)
    hierarchy: Hierarchy | None = None
    n_units: int = 1000
    dropout: float = 0.7
    learning_rate: float = 5e-4
    l2: float = 1e-5
    batch_size: int = 64
    n_epochs: int = 100
    early_stopping: float | None = 0.2
    patience: int = 20
    threshold: Any = 0.5
    categorical_features: Any = "from_dtype"
    n_jobs: int | None = None
    device: str = "cpu"
    random_state: Any = None
    verbose: int = 0

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("n_networks", "n_units", "batch_size", "n_epochs", "patience"):
            check_integer(self, name, getattr(self, name), low=1)
        check_integer(self, "verbose", self.verbose, low=0)
        check_option(self, "device", self.device, ("cpu", "cuda"))
        if self.device != "cpu":
            checked_torch(self.device)
        check_real(self, "dropout", self.dropout, low=0, high=1, open_high=True)
        check_real(self, "learning_rate", self.learning_rate, low=0, open_low=True)
        check_real(self, "l2", self.l2, low=0)
        if self.early_stopping is not None:
            check_real(self, "early_stopping", self.early_stopping, low=0, high=1, open_low=True, open_high=True)
        elif is_chosen(self.threshold):
            raise ValueError(
                f"threshold={self.threshold!r} is chosen on the rows that early stopping holds back and needs "
                "early_stopping, a share of the rows. Give a number, or one per label, instead."
            )

    def grow_staged(
        self, features: Features, target: LabelTarget, weights: np.ndarray | None, counts: tuple[int, ...]
    ) -> dict[int, Self]:
        """Models after several numbers of epochs, from one run.

        Parameters
        ----------
        features, target, weights
            As `grow` takes them.
        counts : tuple of int
            Numbers of epochs, ascending.

        Returns
        -------
        dict of int to NetworkClassifier
            Each equal to one that was fitted with this number as `n_epochs`, without early stopping.
        """
        rows, weights = self._prepared(features, target, weights)
        self.threshold_ = fitted_threshold(self, target.kind, len(self.prior_))
        return self._stages(rows, target, weights, counts)

    def _learn(self, rows: Any, target: LabelTarget, weights: np.ndarray | None) -> None:
        self.threshold_ = fitted_threshold(self, target.kind, len(self.prior_))
        n_held_back = 0 if self.early_stopping is None else round(self.early_stopping * rows.shape[0])
        n_epochs = self.n_epochs
        if 0 < n_held_back < rows.shape[0]:
            n_epochs = self._best_epochs(rows, target, weights, n_held_back)
        self.__dict__.update(vars(self._stages(rows, target, weights, (n_epochs,))[n_epochs]))

    def _seeds(self) -> list[np.random.SeedSequence]:
        """A seed for the rows that are held back, and one per network."""
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        return np.random.SeedSequence(seed).spawn(1 + self.n_networks)

    def _started(self, data: _Training, seeds: list[np.random.SeedSequence]) -> _Network | DeviceNetworks:
        """Networks to train together: one on the CPU, any number on another device."""
        made = [_Network(self, data, seed) for seed in seeds]
        if self.device == "cpu":
            return made[0]
        return DeviceNetworks(self, data, [network.parts for network in made], int(seeds[0].generate_state(1)[0]))

    def _stages(
        self, rows: Any, target: LabelTarget, weights: np.ndarray | None, counts: tuple[int, ...]
    ) -> dict[int, Self]:
        data = self._training(rows, target, weights)
        stop = Event()
        seeds = self._seeds()[1:]
        together = [[seed] for seed in seeds] if self.device == "cpu" else [seeds]
        with (
            threadpool_limits(limits=1, user_api="blas"),  # the same bits for any number of threads
            progress_bar(len(together) * counts[-1], self.verbose, "Training networks") as show,
        ):
            done: list[int] = []

            def trained(of_run: list[np.random.SeedSequence]) -> dict[int, list[list[np.ndarray]]]:
                network, kept = self._started(data, of_run), {}
                for epoch in range(1, counts[-1] + 1):
                    network.epoch(stop)
                    done.append(epoch)
                    if show is not None:
                        show(len(done))
                    if epoch in counts:
                        kept[epoch] = network.copies()
                return kept

            try:
                runs = Parallel(n_jobs=worker_count(self.n_jobs), require="sharedmem")(map(delayed(trained), together))
            except BaseException:
                stop.set()
                raise
        stages = {}
        for n_epochs in counts:
            stage = copy.copy(self)
            stage.n_epochs_ = n_epochs
            stage._keep_parts([network for run in runs for network in run[n_epochs]])
            stages[n_epochs] = stage
        return stages

    def _keep_parts(self, networks: list[list[np.ndarray]]) -> None:
        parts = [np.stack(part) for part in zip(*networks, strict=True)]
        self._first, self._first_bias, self._second, self._second_bias, self._last, self._last_bias = parts

    def _training(self, rows: Any, target: LabelTarget, weights: np.ndarray | None) -> _Training:
        labels = sparse.csr_array(target.Y, dtype=np.int8)
        if target.unknown is not None:
            labels = sparse.csr_array(labels + _UNKNOWN * target.unknown.astype(np.int8))
        maximum = None if self.hierarchy is None else LabelMaximum.of(self.hierarchy)
        held = None if weights is None else weights.astype(np.float32)
        return _Training(rows.astype(np.float32), labels, held, maximum, target.classes is not None)

    def _best_epochs(self, rows: Any, target: LabelTarget, weights: np.ndarray | None, n_held_back: int) -> int:
        """The number of epochs with which a first network predicts rows held back best, and the threshold by them."""
        order, own = self._seeds()[:2]
        drawn = np.random.default_rng(order).permutation(rows.shape[0])
        held_back, learnt = np.sort(drawn[:n_held_back]), np.sort(drawn[n_held_back:])
        whole = self._training(rows, target, weights)
        truth = target.cells()[held_back]
        best, best_epoch, kept = -np.inf, self.n_epochs, None
        with (
            threadpool_limits(limits=1, user_api="blas"),
            progress_bar(self.n_epochs, self.verbose, "Choosing the number of epochs") as show,
        ):
            network = self._started(whole.part(learnt), [own])
            probe = copy.copy(self)
            for epoch in range(1, self.n_epochs + 1):
                network.epoch(None)
                if show is not None:
                    show(epoch)
                if epoch % _CHECKED_EVERY and epoch < self.n_epochs:
                    continue
                probe._keep_parts(network.copies())
                predicted = probe._mean(whole.rows[held_back], whole.maximum)
                reached = float(average_precision_score(truth, predicted, average="micro", exclude_universal=True))
                if reached > best:  # never, if there is nothing to tell apart
                    best, best_epoch, kept = reached, epoch, predicted
                elif kept is not None and epoch - best_epoch >= self.patience:
                    break
        if is_chosen(self.threshold) and kept is not None:
            of_rows = None if weights is None else weights[held_back]
            self.threshold_ = exceeded_threshold(self.threshold, kept, truth, sample_weight=of_rows)
        return best_epoch

    def _mean(self, rows: Any, maximum: LabelMaximum | None) -> np.ndarray:
        """Mean of the networks' probabilities, in doubles, so that a row's do not hang on the rows beside it."""
        rows = rows.astype(np.float64)
        total = np.zeros((rows.shape[0], self._last.shape[1]))
        for k in range(len(self._last)):
            first, second, last = (part[k].astype(np.float64) for part in (self._first, self._second, self._last))
            hidden = np.maximum(rows @ first + self._first_bias[k], 0.0)
            hidden = np.maximum(hidden @ second.T + self._second_bias[k], 0.0)
            scores = hidden @ last.T + self._last_bias[k]
            if self._class_values is not None:
                total += softmax(scores, axis=1)
                continue
            if maximum is not None:
                scores = maximum.of_scores(np.ascontiguousarray(scores.T)).T
            total += expit(scores)
        return total / len(self._last)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Mean of the networks' probabilities of each class or label.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        array of shape (n_samples, n_labels)
            Columns follow `label_names_`. With a hierarchy a parent's probability is at least its children's.
        """
        check_is_fitted(self, "_last")
        refuse_changed(self)
        probabilities = np.empty((n_rows(X), self._last.shape[1]))
        maximum = None if self.hierarchy is None else LabelMaximum.of(self.hierarchy)

        def predict(block: slice, rows: Any) -> None:
            probabilities[block] = self._mean(rows, maximum)

        with threadpool_limits(limits=1, user_api="blas"):
            Parallel(n_jobs=worker_count(self.n_jobs), require="sharedmem")(
                delayed(predict)(block, rows) for block, rows in self._row_blocks(X)
            )
        return probabilities

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted model together."""
        yield from super().state_rules()
        yield self._first.shape[1] == self._n_columns(), "the networks have other features"


@dataclass(frozen=True)
class _Training:
    """What networks learn from.

    Attributes
    ----------
    rows : array or CSR of shape (n_rows, n_columns), float32
        Standardised features.
    labels : CSR of shape (n_rows, n_labels), int8
        1 where a row has the label, 2 where that is unknown.
    weights : array of shape (n_rows,) or None
        Weights of the rows.
    maximum : LabelMaximum or None
        The maximum over descendants, of a hierarchy.
    is_one_of : bool
        Whether labels are classes.
    """

    rows: Any
    labels: sparse.csr_array
    weights: np.ndarray | None
    maximum: LabelMaximum | None
    is_one_of: bool

    def part(self, rows: np.ndarray) -> _Training:
        """Some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return _Training(self.rows[rows], self.labels[rows], weights, self.maximum, self.is_one_of)

    def slopes(self, scores: np.ndarray, batch: np.ndarray) -> np.ndarray:
        """Derivatives of the mean loss of a batch by its scores, both of shape (n_labels, n_batch)."""
        labels = np.ascontiguousarray(self.labels[batch].toarray().T)
        if self.is_one_of:
            slopes = softmax(scores, axis=0) - labels
        elif self.maximum is None:
            slopes = expit(scores) - labels
        else:
            largest, sources = self.maximum.within_labels(scores, labels)
            slopes = expit(largest) - labels
        slopes[labels == _UNKNOWN] = 0.0
        if self.weights is not None:
            slopes *= self.weights[batch]
        if self.maximum is not None:
            cells = (sources * len(batch) + np.arange(len(batch))).ravel()
            slopes = np.bincount(cells, weights=slopes.ravel(), minlength=slopes.size).reshape(slopes.shape)
        return (slopes / (len(batch) if self.is_one_of else slopes.size)).astype(np.float32)


class _Network:
    """One network in training; units and labels are rows, examples are columns."""

    def __init__(self, given: NetworkClassifier, data: _Training, seed: np.random.SeedSequence) -> None:
        self._given, self._data = given, data
        self._random = np.random.Generator(np.random.SFC64(seed))
        n_columns, n_labels, n_units = data.rows.shape[1], data.labels.shape[1], given.n_units
        shapes = [(n_columns, n_units), (n_units,), (n_units, n_units), (n_units,), (n_labels, n_units), (n_labels,)]
        fan_in = [max(n_columns, 1), max(n_columns, 1), n_units, n_units, n_units, n_units]
        # Rows of the first layer are updated on their own where features are sparse, all else in one piece.
        self._is_sparse = sparse.issparse(data.rows)
        sizes = [int(np.prod(shape)) for shape in shapes]
        ends = np.cumsum(sizes).tolist()
        self._values, self._slopes = np.empty(ends[-1], np.float32), np.zeros(ends[-1], np.float32)
        self._moments = np.zeros((2, ends[-1]), np.float32)
        self.parts, self._part_slopes = [], []
        for shape, size, end, width in zip(shapes, sizes, ends, fan_in, strict=True):
            limit = np.float32(1 / np.sqrt(width))
            self._values[end - size : end] = self._random.uniform(-limit, limit, size)
            self.parts.append(self._values[end - size : end].reshape(shape))
            self._part_slopes.append(self._slopes[end - size : end].reshape(shape))
        self._first_size = sizes[0] if self._is_sparse else 0
        self._n_steps = 0

    def copies(self) -> list[list[np.ndarray]]:
        """Weights as they are now, of this one network."""
        return [[part.copy() for part in self.parts]]

    def epoch(self, stop: Event | None) -> None:
        """One pass over the rows."""
        order = self._random.permutation(self._data.rows.shape[0])
        for first in range(0, len(order), self._given.batch_size):
            if stop is not None and stop.is_set():
                return
            self._step(order[first : first + self._given.batch_size])

    def _step(self, batch: np.ndarray) -> None:
        first, first_bias, second, second_bias, last, last_bias = self.parts
        slopes = self._part_slopes
        rows, columns = self._data.rows[batch], None
        if self._is_sparse:
            columns = np.unique(rows.indices)
            rows = rows[:, columns].toarray()
            first = first[columns]
        hidden = first.T @ rows.T
        hidden += first_bias[:, None]
        kept = self._drop(hidden)
        hidden_2 = second @ hidden
        hidden_2 += second_bias[:, None]
        kept_2 = self._drop(hidden_2)
        scores = last @ hidden_2
        scores += last_bias[:, None]
        error = self._data.slopes(scores, batch)
        np.matmul(error, hidden_2.T, out=slopes[4])
        error.sum(axis=1, out=slopes[5])
        error = last.T @ error
        error *= kept_2
        np.matmul(error, hidden.T, out=slopes[2])
        error.sum(axis=1, out=slopes[3])
        error = second.T @ error
        error *= kept
        error.sum(axis=1, out=slopes[1])
        self._n_steps += 1
        if columns is None:
            np.matmul(rows.T, error.T, out=slopes[0])
        else:
            self._update_rows(columns, rows.T @ error.T)
        for start in range(self._first_size, len(self._values), _CHUNK):
            part = slice(start, start + _CHUNK)
            self._update(self._values[part], self._slopes[part], self._moments[0, part], self._moments[1, part])

    def _drop(self, hidden: np.ndarray) -> np.ndarray:
        """Leave out units and those below zero, in place; the factor of each that is kept."""
        keep = 1.0 - self._given.dropout
        kept = hidden > 0
        if keep < 1:
            kept &= self._random.random(hidden.shape, dtype=np.float32) < keep
        factors = kept.astype(np.float32)
        factors *= np.float32(1 / keep)
        hidden *= factors
        return factors

    def _update_rows(self, columns: np.ndarray, slopes: np.ndarray) -> None:
        """Update the first layer's weights of some features."""
        shape = self.parts[0].shape
        held = [self._values, *self._moments]
        tables = [part[: self._first_size].reshape(shape) for part in held]
        values, first, second = (table[columns] for table in tables)
        self._update(values, np.ascontiguousarray(slopes), first, second)
        for table, changed in zip(tables, (values, first, second), strict=True):
            table[columns] = changed

    def _update(self, values: np.ndarray, slopes: np.ndarray, first: np.ndarray, second: np.ndarray) -> None:
        """A step of Adam, in place; the moments are kept without their factors."""
        of_first = (1 - _FIRST_MOMENT) / (1 - _FIRST_MOMENT**self._n_steps)
        of_second = float(np.sqrt((1 - _SECOND_MOMENT) / (1 - _SECOND_MOMENT**self._n_steps)))
        slopes += np.float32(self._given.l2) * values
        first *= np.float32(_FIRST_MOMENT)
        first += slopes
        slopes *= slopes
        second *= np.float32(_SECOND_MOMENT)
        second += slopes
        size = np.sqrt(second)
        size += np.float32(_TINY / of_second)
        np.divide(first, size, out=size)
        size *= np.float32(self._given.learning_rate * of_first / of_second)
        values -= size
