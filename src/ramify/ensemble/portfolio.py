"""Portfolio: several models, of which those stay that predict held-out rows best together."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from operator import itemgetter
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import ClassifierTags, RegressorTags, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter
from threadpoolctl import threadpool_limits

from ramify.ensemble.boosted_classifier import BoostedClassifier
from ramify.ensemble.boosted_regressor import BoostedRegressor
from ramify.ensemble.classifier import ForestClassifier
from ramify.ensemble.kernel import KernelClassifier, KernelRegressor
from ramify.ensemble.neighbors import NeighborsClassifier
from ramify.ensemble.network import NetworkClassifier
from ramify.ensemble.regressor import ForestRegressor
from ramify.ensemble.row_weights import checked_sample_weight
from ramify.ensemble.threshold import (
    check_threshold,
    exceeded_threshold,
    fitted_threshold,
    is_chosen,
    is_fitted_threshold,
    label_sets,
)
from ramify.ensemble.training_data import checked_row_groups, learnt_data, row_folds
from ramify.features import Features, learn_features, unseen_values_allowed
from ramify.features.frames import take_rows
from ramify.hierarchy import Hierarchy
from ramify.metrics import average_precision_score
from ramify.parameters import check_integer, check_jobs, check_option, check_real, worker_count
from ramify.progress import progress_bar
from ramify.state import ENCODED_FEATURES, State, count, fitting, instance, number, numbers, one_of, perhaps, texts
from ramify.tags import ANY_FEATURES, tagged
from ramify.targets import MEASURED_KINDS, encode_labels, encode_numbers, kind_of, target_type
from ramify.thread_budget import ThreadBudget

_MOST_MEMBERS = 15
_PATIENCE = 3  # members that are added without a gain before adding ends: later ones weigh less
_DIGITS = 9  # of scores; what is left is rounding, which must not choose a member
_SHARES_OF_STAGES = (0.25, 0.5, 1.0)
_NETWORK_CELLS = 15_000_000  # rows times units and their inputs and outputs, up to which "auto" has networks
_NETWORK_UNITS = 1000


@dataclass(kw_only=True, eq=False, repr=False)
class Portfolio(BaseEstimator):
    """Trees, neighbours, kernels and networks, weighted by what they add to the prediction of held-out rows.

    Parameters
    ----------
    members : "auto" or dict of str to estimator, default="auto"
        What to choose from: forests, boosted trees, weighted neighbours, kernels and networks for one kind of target.
        "auto" is a random forest, extra trees that look at 20 % of the features, ridge regression on a kernel, for
        label sets networks where they take minutes (rows times columns, labels and 1,000 up to 15 million), boosted
        trees with a small and a large learning rate, for labels neighbours weighted by extra trees, and where most
        features are numbers extra trees that also split by sums of two.
    hierarchy : Hierarchy or None, default=None
        Hierarchy of the labels.
    target : {"auto", "classes", "labels", "hierarchy", "numbers"}, default="auto"
        What y is, for `members="auto"`; by default as `ramify.targets.kind_of` says.
    threshold : float, array-like of shape (n_labels,), {"f1", "cardinality", "density"} or dict, default=0.5
        Probability above which a label of a label set is predicted, as of `ForestClassifier`; one that is chosen is
        chosen on held-out rows. Those of the members do not matter.
    cv : int or iterable of (train, test) positions, default=3
        Folds, the same for all members; rows that are in no test part only help to fit.
    minutes : float or None, default=None
        Start no further member after half of this time, in the order of `members` ("auto": networks last, which take
        longest); the rest is for fitting those chosen to all rows. The result then depends on the machine, and
        `left_out_` says what was not tried.
    n_jobs : int or None, default=None
        Threads in all: members and folds run side by side, and share what is left; the result is the same for any
        number. None leaves each member with its own.
    device : {"cpu", "cuda"}, default="cpu"
        Where `members="auto"` trains networks, as of `NetworkClassifier`.
    random_state : int, RandomState or None, default=None
        Seed of the folds, and with `members="auto"` of the members.
    verbose : int, default=0
        Show a progress bar if positive.

    Attributes
    ----------
    members_ : dict of str to estimator
        The chosen members, fitted to all rows.
    weights_ : dict of str to float
        Their weights, which sum to 1.
    scores_ : dict of str to float
        What each member that was tried reaches on held-out rows: pooled average precision of labels (those that all
        rows have left out), 1 - Brier score of classes, R2 of numbers.
    score_ : float
        The same of the weighted mean of the chosen members. Chosen by these rows, it is a little too good.
    added_ : dict of str to float
        What each chosen member added: `score_` less the score of the others without it; all of it for a single one.
    left_out_ : tuple of str
        Members that were not tried for want of time.
    threshold_ : float or ndarray of shape (n_labels,)
        Probability that a predicted label exceeds; of labels only.
    target_kind_ : {"classes", "labels", "hierarchy", "numbers"}
        What y was.
    classes_ : ndarray
        As of the members, for classes and labels.
    label_names_ : tuple of str
        Names of the labels or targets.
    n_outputs_ : int
        Number of labels or targets; 1 for classes.
    prior_ : ndarray of shape (n_labels,)
        Frequency of each label or class, or mean of each target, in training.
    n_features_in_, feature_names_in_, categories_
        Number, names and nominal values of the features.

    Notes
    -----
    Members are added one by one, with replacement, until three in a row do not make the mean predict the held-out rows
    better, and those up to the best mean are kept (Caruana et al.). Boosted trees and networks without early stopping
    are tried with a quarter, half and all of their rounds or epochs, at the price of one fit. A mean of probabilities
    that respect a hierarchy respects it. Explanations are those of the members.

    References
    ----------
    Caruana, R., Niculescu-Mizil, A., Crew, G. and Ksikes, A. (2004). Ensemble selection from libraries of models. ICML.

    Examples
    --------
    >>> from ramify.datasets import make_multilabel
    >>> from ramify.ensemble import BoostedClassifier, ForestClassifier, Portfolio
    >>> data = make_multilabel(100, random_state=0)
    >>> members = {"forest": ForestClassifier(20, random_state=0), "boosted": BoostedClassifier(20, random_state=0)}
    >>> model = Portfolio(members, random_state=0).fit(data.X, data.y)
    >>> round(sum(model.weights_.values()), 6)
    1.0
    """

    read_after_fit: ClassVar[tuple[str, ...]] = ("hierarchy",)
    fitted_state: ClassVar[State] = {
        **ENCODED_FEATURES,
        "members_": instance(dict),
        "weights_": instance(dict),
        "scores_": instance(dict),
        "score_": number(),
        "added_": instance(dict),
        "left_out_": texts(),
        "target_kind_": one_of(*MEASURED_KINDS),
        "label_names_": texts("n_labels"),
        "n_outputs_": count(),
        "prior_": numbers("n_labels"),
        "threshold_": perhaps(instance(float, np.ndarray)),
    }

    members: str | Mapping[str, Any] = field(default="auto", kw_only=False)
    hierarchy: Hierarchy | None = None
    target: str = "auto"
    threshold: Any = 0.5
    cv: Any = 3
    minutes: float | None = None
    n_jobs: int | None = None
    device: str = "cpu"
    random_state: Any = None
    verbose: int = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, row_groups: Any = None) -> Self:
        """Try the members on the folds, choose, and fit those chosen to all rows.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features; NaN is missing.
        y : array, CSR or frame
            What the members take; unknown cells (NaN) count in no score.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows when members are fitted; rows of weight 0 are in no fold.
        row_groups : array-like of shape (n_samples,), default=None
            Which rows belong together (patients, families): whole groups are in a fold, and members that hold rows
            back are told. A `cv` that divides groups is refused.

        Returns
        -------
        self
        """
        with fitting(self):
            self._check_parameters()
            seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
            is_regression = self._is_regression(y)
            members = self._members_to_try(is_regression, seed)
            nominal = next(iter(members.values())).categorical_features
            features = learn_features(self, X, nominal)
            n_samples = features.values.shape[0]
            weights = checked_sample_weight(self, sample_weight, n_samples)
            truth = _truth_of(y, self.hierarchy, is_regression, n_samples)
            if not isinstance(self.members, Mapping):
                _leave_out_unfit(members, features, truth)
            X, y = (part if hasattr(part, "shape") else np.asarray(part) for part in (X, y))
            groups = checked_row_groups(self, row_groups, n_samples)
            folds = self._folds(truth, weights, groups, seed)
            data = _Data(X, y, weights, groups, truth)
            predictions = self._tried(members, data, folds)
            held_out = np.concatenate([test for _, test in folds])
            judged = truth.part(held_out)
            chosen, self.score_ = _chosen(predictions, judged, worker_count(self.n_jobs))
            self.scores_ = {name: judged.score(predictions[name]) for name in predictions}
            self.left_out_ = tuple(
                name for name, member in members.items() if not _was_tried(name, member, predictions)
            )
            self.weights_ = {name: chosen.count(name) / len(chosen) for name in dict.fromkeys(chosen)}
            self.added_ = {
                name: self.score_ - _score_without(name, self.weights_, predictions, judged) for name in self.weights_
            }
            self.members_ = self._fitted(members, data)
            self._keep(truth)
            self._set_threshold(predictions, judged, None if weights is None else weights[held_out])
        return self

    def _check_parameters(self) -> None:
        check_threshold(self)
        check_integer(self, "verbose", self.verbose, low=0)
        check_jobs(self, self.n_jobs)
        check_option(self, "target", self.target, ("auto", "classes", "labels", "hierarchy", "numbers"))
        if self.minutes is not None:
            check_real(self, "minutes", self.minutes, low=0, open_low=True)
        if isinstance(self.cv, Integral):
            check_integer(self, "cv", self.cv, low=2)
        elif not isinstance(self.cv, Iterable) or isinstance(self.cv, str):
            raise ValueError(
                f"The 'cv' parameter of Portfolio must be an int >= 2 or pairs of train and test positions. "
                f"Got {self.cv!r} instead."
            )
        if isinstance(self.members, str) and self.members == "auto":
            return
        if not isinstance(self.members, Mapping) or not self.members:
            raise ValueError(
                f"The 'members' parameter of Portfolio must be 'auto' or a dict of names and estimators. "
                f"Got {self.members!r} instead."
            )
        for name, member in self.members.items():
            if not isinstance(name, str) or not isinstance(member, _TAKEN):
                raise TypeError(
                    f"Members of a Portfolio are forests, boosted trees, weighted neighbours, kernels or networks by "
                    f"name, for labels or for numbers. "
                    f"Got {type(member).__name__} as {name!r} instead."
                )
        if len({isinstance(member, _FOR_NUMBERS) for member in self.members.values()}) > 1:
            raise ValueError("Members of a Portfolio must all be for labels or all for numbers; this one has both.")

    def _is_regression(self, y: Any) -> bool:
        if isinstance(self.members, Mapping):
            return isinstance(next(iter(self.members.values())), _FOR_NUMBERS)
        kind = kind_of(y, self.hierarchy) if self.target == "auto" else self.target
        return not target_type(kind).has_labels

    def _members_to_try(self, is_regression: bool, seed: int) -> dict[str, Any]:
        """Members by name, not fitted."""
        if isinstance(self.members, Mapping):
            given = {name: clone(member) for name, member in self.members.items()}
            for member in given.values():
                if self.hierarchy is not None:
                    member.set_params(hierarchy=self.hierarchy)
            return given
        members = members_by_default(self.hierarchy, is_regression=is_regression, seed=seed, device=self.device)
        if self.minutes is not None and "networks" in members:
            members["networks"] = members.pop("networks")  # last, as all others together take less
        return members

    def _folds(
        self, truth: _Truth, weights: np.ndarray | None, row_groups: np.ndarray | None, seed: int
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        rows = np.flatnonzero(truth.is_known if weights is None else truth.is_known & (weights > 0))
        if not isinstance(self.cv, Integral):
            folds = [(np.asarray(train, dtype=np.intp), np.asarray(test, dtype=np.intp)) for train, test in self.cv]
            for train, test in folds:
                inside = all(len(part) and part.min() >= 0 and part.max() < truth.n_rows for part in (train, test))
                if not inside or np.intersect1d(train, test).size:
                    raise ValueError(
                        f"The 'cv' parameter of Portfolio must hold pairs of train and test positions from 0 to "
                        f"{truth.n_rows - 1}, without a row in both parts of a pair."
                    )
                if row_groups is not None and np.isin(row_groups[test], row_groups[train]).any():
                    raise ValueError(
                        "The 'cv' parameter of Portfolio divides groups of rows: a group has rows in both parts of a "
                        "pair. Give a number of folds, or parts of whole groups."
                    )
            if not folds:
                raise ValueError("The 'cv' parameter of Portfolio holds no pair of train and test positions.")
            return folds
        n_folds = int(self.cv)
        if len(rows) < n_folds:
            raise ValueError(
                f"Portfolio needs at least as many rows as folds ({n_folds}). Got n_samples = {len(rows)} instead."
            )
        if row_groups is not None:
            whole_groups = row_folds(len(rows), n_folds, seed, row_groups[rows])
            if not whole_groups:
                n_groups = len(np.unique(row_groups[rows]))
                raise ValueError(f"Portfolio needs at least as many groups as folds ({n_folds}). Got {n_groups}.")
            return [(rows[train], rows[test]) for train, test in whole_groups]
        split: Any = KFold(n_folds, shuffle=True, random_state=seed)
        groups = truth.groups[rows] if truth.groups is not None else None
        if groups is not None and np.bincount(groups).min() >= n_folds:
            split = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
        return [(rows[train], rows[test]) for train, test in split.split(rows, groups)]

    def _tried(
        self, members: Mapping[str, Any], data: _Data, folds: list[tuple[np.ndarray, np.ndarray]]
    ) -> dict[str, np.ndarray]:
        """Predictions of the held-out rows, fold after fold, by member and number of rounds."""
        deadline = np.inf if self.minutes is None else time.monotonic() + 30 * self.minutes
        started: set[str] = set()
        first = next(iter(members))

        def predicted(name: str, fold: tuple[np.ndarray, np.ndarray], n_jobs: int | None) -> dict[str, np.ndarray]:
            if name not in started and name != first and time.monotonic() > deadline:
                return {}
            started.add(name)
            train, test = fold
            member = _with_jobs(members[name], n_jobs)
            rows = take_rows(data.X, test)
            return {
                title: _predicted(model, rows, data.truth).astype(np.float32)
                for title, model in _fit_rows(name, member, data, train).items()
            }

        tasks = [(name, fold) for name in members for fold in folds]
        runs = self._side_by_side(predicted, tasks, members, "Trying members")
        predictions: dict[str, np.ndarray] = {}
        for k in range(0, len(runs), len(folds)):
            of_folds = runs[k : k + len(folds)]
            if all(of_folds):
                predictions.update({title: np.concatenate([part[title] for part in of_folds]) for title in of_folds[0]})
        return predictions

    def _fitted(self, members: Mapping[str, Any], data: _Data) -> dict[str, Any]:
        """The chosen members, fitted to all rows; numbers of rounds or epochs share one fit."""
        tasks: list[tuple[str, list[int]]] = []
        for name, member in members.items():
            counts = [k for k in _stage_counts(member) if _variant(name, member, k) in self.weights_]
            tasks += [(name, counts)] * bool(counts) + [(name, [])] * (name in self.weights_)

        def fitted(name: str, counts: list[int], n_jobs: int | None) -> dict[str, Any]:
            member = _with_jobs(members[name], n_jobs)
            if counts:
                member.set_params(**{_stage_parameter(member): counts[-1]})
            if not isinstance(member, NetworkClassifier) or not counts:
                member.fit(data.X, data.y, data.weights, **data.together(member))
                return {_variant(name, member, k): member.first(k) for k in counts[:-1]} | {
                    _variant(name, member, counts[-1]) if counts else name: member
                }
            known = learnt_data(member, data.X, data.y, data.weights, **data.together(member))
            stages = member.grow_staged(known.features, known.target, known.weights, tuple(counts))
            return {_variant(name, member, k): stage.set_params(n_epochs=k) for k, stage in stages.items()}

        models: dict[str, Any] = {}
        for run in self._side_by_side(fitted, tasks, members, "Fitting members"):
            models.update(run)
        for model in models.values() if self.n_jobs is not None else ():
            model.set_params(n_jobs=self.n_jobs)
        return {title: models[title] for title in self.weights_}

    def _side_by_side(
        self, run: Callable[..., dict[str, Any]], tasks: list[tuple[Any, ...]], members: Mapping[str, Any], title: str
    ) -> list[dict[str, Any]]:
        """Results of the tasks of members, in their order; each also takes its share of the threads."""
        n_threads = None if self.n_jobs is None else worker_count(self.n_jobs)
        shares = _shares([members[task[0]] for task in tasks], n_threads)
        order = np.arange(len(tasks))
        if self.minutes is None:  # what takes long and cannot be divided begins first
            order = np.argsort([-_width(members[task[0]]) for task in tasks], kind="stable")
        budget = ThreadBudget(n_threads or 1)
        done: list[int] = []
        with progress_bar(len(tasks), self.verbose, title) as show:

            def told(number: int) -> dict[str, Any]:
                with budget.taken(shares[number] or 1):
                    result = run(*tasks[number], shares[number])
                done.append(number)
                if show is not None:
                    show(len(done))
                return result

            # Members limit the threads of BLAS themselves; the last of them must not lift what others still need.
            with threadpool_limits(limits=1, user_api="blas"):
                at_once = Parallel(n_jobs=min(n_threads or 1, max(1, len(tasks))), require="sharedmem")
                results = at_once(delayed(told)(number) for number in order.tolist())
        return [result for _, result in sorted(zip(order.tolist(), results, strict=True), key=itemgetter(0))]

    def _keep(self, truth: _Truth) -> None:
        """What the members know of the data."""
        one = next(iter(self.members_.values()))
        self.target_kind_ = truth.kind
        self.label_names_ = one.label_names_
        self.n_outputs_ = one.n_outputs_
        self.n_features_in_ = one.n_features_in_
        self.prior_, self.categories_ = one.prior_, one.categories_
        if hasattr(one, "feature_names_in_"):
            self.feature_names_in_ = one.feature_names_in_

    def _set_threshold(self, predictions: Mapping[str, np.ndarray], truth: _Truth, weights: np.ndarray | None) -> None:
        threshold = fitted_threshold(self, truth.kind, truth.Y.shape[1])
        if truth.is_numbers:
            return
        if is_chosen(self.threshold):
            mean = np.asarray(sum(weight * predictions[name].astype(float) for name, weight in self.weights_.items()))
            threshold = exceeded_threshold(self.threshold, mean, truth.Y, sample_weight=weights)
        self.threshold_ = threshold

    def _predicts_labels(self) -> bool:
        if hasattr(self, "target_kind_"):
            return target_type(self.target_kind_).has_labels
        if isinstance(self.members, Mapping) and self.members:
            return not isinstance(next(iter(self.members.values())), _FOR_NUMBERS)
        return True

    @property
    def classes_(self) -> Any:
        """Class values; for label sets `[0, 1]` per label."""
        check_is_fitted(self, "members_")
        return next(iter(self.members_.values())).classes_

    @available_if(_predicts_labels)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Weighted mean of the members' probabilities.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        array of shape (n_samples, n_labels)
            Columns follow `label_names_`. With a hierarchy a parent's probability is at least its children's.
        """
        return self._mean(lambda member: member.predict_proba(X))

    def predict(self, X: Any) -> Any:
        """The most probable class, the labels whose probability exceeds `threshold_`, or the weighted mean of numbers.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        array or CSR, as the members give it
        """
        check_is_fitted(self, "members_")
        if not self._predicts_labels():
            return self._mean(lambda member: member.predict(X))
        probabilities = self.predict_proba(X)
        if target_type(self.target_kind_).has_one_label:
            return self.classes_[probabilities.argmax(axis=1)]
        sets = label_sets(probabilities, self.threshold_, self.hierarchy)
        return sparse.csr_array(sets) if next(iter(self.members_.values()))._sparse_sets else sets

    def _mean(self, predicted: Callable[[Any], np.ndarray]) -> np.ndarray:
        check_is_fitted(self, "members_")
        return np.asarray(sum(weight * predicted(self.members_[name]) for name, weight in self.weights_.items()))

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted portfolio together."""
        members, shares = self.members_, list(self.weights_.values())
        taken = bool(members) and all(isinstance(member, _TAKEN) for member in members.values())
        weighed = taken and members.keys() == self.weights_.keys()
        yield weighed, "members_ must be models that a Portfolio takes, with a weight each"
        yield all(isinstance(share, float) and share > 0 for share in shares), "weights_ must be positive"
        yield abs(sum(shares) - 1) <= 1e-9, "weights_ must sum to 1"
        alike = ("label_names_", "n_features_in_", "target_kind_", "n_outputs_")
        same = all(getattr(member, name) == getattr(self, name) for member in members.values() for name in alike)
        yield same, "members_ must all be for the same features and labels"
        threshold = getattr(self, "threshold_", None)
        yield (threshold is None) != self._predicts_labels(), "threshold_ is for labels"
        right = threshold is None or is_fitted_threshold(threshold, len(self.label_names_))
        yield right, "threshold_ must be a number between 0 and 1, or one per label"

    def __sklearn_tags__(self) -> Any:
        tags = tagged(super().__sklearn_tags__(), *ANY_FEATURES, "required", "multi_output")
        if self._predicts_labels():
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        else:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        return tags


def members_by_default(
    hierarchy: Hierarchy | None, *, is_regression: bool, seed: int, device: str = "cpu"
) -> dict[str, Any]:
    """What `members="auto"` stands for, before members that the data do not suit are left out."""
    forest, boosted = (ForestRegressor, BoostedRegressor) if is_regression else (ForestClassifier, BoostedClassifier)
    common: dict[str, Any] = {"random_state": seed}
    if hierarchy is not None:
        common["hierarchy"] = hierarchy
    extra = {"splitter": "random", "bootstrap": False, "max_features": 0.2, "min_samples_leaf": 3, **common}
    members: dict[str, Any] = {
        "random forest": forest(**common),
        "extra trees": forest(300, **extra),
        "kernel": KernelRegressor(random_state=seed) if is_regression else KernelClassifier(**common),
        "networks": NetworkClassifier(
            n_epochs=64, early_stopping=None, n_units=_NETWORK_UNITS, device=device, **common
        ),
        "boosted trees": boosted(400, sketch=30, early_stopping=None, **common),
        "weighted neighbours": NeighborsClassifier(**common),
        "boosted trees, fast": boosted(
            500, learning_rate=0.1, l2=0.2, max_samples=1.0, sketch=30, early_stopping=None, **common
        ),
        "oblique extra trees": forest(300, oblique=2, **extra),
    }
    if is_regression:
        del members["networks"], members["weighted neighbours"]
    return members


_FOR_NUMBERS = (ForestRegressor, BoostedRegressor, KernelRegressor)
_TAKEN = (
    ForestClassifier,
    BoostedClassifier,
    NeighborsClassifier,
    KernelClassifier,
    NetworkClassifier,
    *_FOR_NUMBERS,
)


@dataclass(frozen=True)
class _Data:
    """What members learn from, and what they are measured against."""

    X: Any
    y: Any
    weights: np.ndarray | None
    groups: np.ndarray | None
    truth: _Truth

    def together(self, model: Any, rows: Any = slice(None)) -> dict[str, Any]:
        """The groups of some rows, for members that hold rows back by them."""
        if self.groups is None or not has_fit_parameter(model, "row_groups"):
            return {}
        return {"row_groups": self.groups[rows]}


@dataclass(frozen=True)
class _Truth:
    """What members are measured against: 0/1 per label or numbers, and the class of each row where there is one."""

    kind: str
    Y: Any
    groups: np.ndarray | None = None
    classes: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        return int(self.Y.shape[0])

    @property
    def is_numbers(self) -> bool:
        return not target_type(self.kind).has_labels

    @property
    def is_known(self) -> np.ndarray:
        """Rows of which something is known."""
        if not sparse.issparse(self.Y):
            return ~np.isnan(self.Y).all(axis=1)
        unknown = sparse.csr_array(self.Y).astype(np.float64)
        unknown.data = np.isnan(unknown.data).astype(np.float64)
        return np.asarray(unknown.sum(axis=1)).ravel() < unknown.shape[1]

    def part(self, rows: np.ndarray) -> _Truth:
        return _Truth(self.kind, self.Y[rows], None if self.groups is None else self.groups[rows], self.classes)

    def score(self, predicted: np.ndarray) -> float:
        """What a prediction reaches, larger for a better one."""
        if target_type(self.kind).has_sets:
            reached = float(average_precision_score(self.Y, predicted, average="micro", exclude_universal=True))
            return reached if np.isfinite(reached) else 0.0
        truth = self.Y.toarray() if sparse.issparse(self.Y) else self.Y
        errors = np.nanmean((truth - predicted) ** 2, axis=0)
        if self.groups is not None:
            return float(1 - errors.sum())
        spread = np.nanvar(truth, axis=0)
        return float(np.mean(1 - errors / np.where(spread > 0, spread, 1.0)))


def _truth_of(y: Any, hierarchy: Hierarchy | None, is_regression: bool, n_samples: int) -> _Truth:
    if is_regression:
        numbers = encode_numbers(y, n_samples=n_samples, partly_known=True)
        return _Truth("numbers", numbers.Y * numbers.scale + numbers.mean)
    labels = encode_labels(y, hierarchy=hierarchy, n_samples=n_samples, partly_known=True)
    groups = labels.Y.indices.copy() if labels.classes is not None else None
    return _Truth(labels.kind, labels.cells(), groups, labels.classes)


def _leave_out_unfit(members: dict[str, Any], features: Features, truth: _Truth) -> None:
    """Drop members of "auto" that the data do not suit: sums of few numbers, networks that would take long."""
    if np.mean(features.n_categories > 0) >= 0.5:
        members.pop("oblique extra trees")  # they add up numbers
    n_columns = int(np.maximum(features.n_categories, 1).sum())
    cells = truth.n_rows * (n_columns + truth.Y.shape[1] + _NETWORK_UNITS)
    if not target_type(truth.kind).has_sets or cells > _NETWORK_CELLS:
        members.pop("networks", None)


def _stage_counts(member: Any) -> list[int]:
    """Numbers of rounds or epochs to try, where all of them are done: one fit gives all."""
    staged = isinstance(member, (BoostedClassifier, BoostedRegressor, NetworkClassifier))
    if not staged or member.early_stopping is not None:
        return []
    n_stages = getattr(member, _stage_parameter(member))
    return sorted({max(1, int(share * n_stages)) for share in _SHARES_OF_STAGES})


def _stage_parameter(member: Any) -> str:
    return "n_epochs" if isinstance(member, NetworkClassifier) else "n_estimators"


def _variant(name: str, member: Any, n_stages: int) -> str:
    return f"{name}, {n_stages} {'epochs' if isinstance(member, NetworkClassifier) else 'rounds'}"


def _was_tried(name: str, member: Any, predictions: Mapping[str, Any]) -> bool:
    counts = _stage_counts(member)
    return (_variant(name, member, counts[0]) if counts else name) in predictions


def _width(member: Any) -> int:
    """Threads without which the member takes long: those of a network cannot be divided."""
    return int(member.n_networks) if isinstance(member, NetworkClassifier) else 1


def _shares(members: list[Any], n_threads: int | None) -> list[int | None]:
    """Threads for each of the members that are fitted side by side; None leaves each with its own."""
    if n_threads is None:
        return [None] * len(members)
    widths = [min(n_threads, _width(member)) for member in members]
    spare, n_narrow = n_threads - sum(width for width in widths if width > 1), widths.count(1)
    each = max(1, spare // max(1, n_narrow))
    return [width if width > 1 else each for width in widths]


def _with_jobs(member: Any, n_jobs: int | None) -> Any:
    """A clone with its share of the threads, or with its own number of them."""
    return clone(member) if n_jobs is None else clone(member).set_params(n_jobs=n_jobs)


def _fit_rows(name: str, member: Any, data: _Data, rows: np.ndarray) -> dict[str, Any]:
    """A member at its stages, grown on some of the rows; it knows the nominal values of all."""
    model = clone(member)
    features = learn_features(model, data.X, model.categorical_features)
    values = take_rows(features.values, rows)
    if features.is_sparse:
        values = sparse.csc_array(values)
        values.sort_indices()
    part = Features(values, features.n_categories)
    given = None if data.weights is None else data.weights[rows]
    target = model.encode_target(take_rows(data.y, rows), sample_weight=given, n_samples=len(rows))
    weights, counts = model.row_weights(target, given), _stage_counts(member)
    if isinstance(model, NetworkClassifier) and counts:
        stages = model.grow_staged(part, target, weights, tuple(counts))
        return {_variant(name, member, k): stage for k, stage in stages.items()}
    model.grow(part, target, weights, **data.together(model, rows))
    return {_variant(name, member, k): model.first(k) for k in counts} or {name: model}


@unseen_values_allowed()
def _predicted(model: Any, X: Any, truth: _Truth) -> np.ndarray:
    """Probabilities or numbers with the columns of the truth."""
    if truth.is_numbers:
        return np.asarray(model.predict(X)).reshape(-1, truth.Y.shape[1])
    probabilities = model.predict_proba(X)
    if truth.classes is None or len(model.classes_) == len(truth.classes):
        return np.asarray(probabilities)
    whole = np.zeros((len(probabilities), len(truth.classes)))
    whole[:, np.searchsorted(truth.classes, model.classes_)] = probabilities
    return whole


def _chosen(predictions: Mapping[str, np.ndarray], truth: _Truth, n_threads: int) -> tuple[list[str], float]:
    """Members in the order in which they are added, with repeats, and the score of their mean."""
    side_by_side = Parallel(n_jobs=n_threads, require="sharedmem")
    added: list[str] = []
    total: Any = 0.0
    best, n_best = -np.inf, 0
    while len(added) < min(_MOST_MEMBERS, n_best + _PATIENCE):
        reached = side_by_side(delayed(truth.score)((total + part) / (len(added) + 1)) for part in predictions.values())
        scores = dict(zip(predictions, reached, strict=True))
        name = max(scores, key=lambda member: round(scores[member], _DIGITS))
        added.append(name)
        total = total + predictions[name]
        if round(scores[name] - best, _DIGITS) > 0:
            best, n_best = scores[name], len(added)
    return added[:n_best], best


def _score_without(
    name: str, weights: Mapping[str, float], predictions: Mapping[str, np.ndarray], truth: _Truth
) -> float:
    """What the other members reach together, with their weights; 0 where there is none."""
    others = {other: weight for other, weight in weights.items() if other != name}
    if not others:
        return 0.0
    total = sum(others.values())
    return truth.score(np.asarray(sum(weight / total * predictions[other] for other, weight in others.items())))
