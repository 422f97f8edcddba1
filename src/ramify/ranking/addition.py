"""Is a ranking good? Quality of a model as features are added in its order, against random orders."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, check_cv
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

from ramify.ensemble.forest_choice import forest_for
from ramify.ensemble.row_weights import checked_sample_weight, refuse_without_weights
from ramify.ensemble.training_data import checked_row_groups
from ramify.features import unseen_values_allowed
from ramify.features.frames import column_names, n_rows, take_columns, take_rows, weighing_data, weighing_rows
from ramify.hierarchy import Hierarchy
from ramify.metrics.target_measure import target_score
from ramify.parameters import check_integer, check_jobs, check_option
from ramify.progress import progress_bar
from ramify.targets import Target, encode


@dataclass(frozen=True)
class AdditionCurve:
    """Quality of a model against the number of features, added in the order of a ranking.

    Attributes
    ----------
    sizes : ndarray
        Numbers of features.
    values : ndarray
        Mean quality over the folds.
    fold_values : ndarray of shape (n_folds, n_sizes)
        Quality in each fold.
    random_mean, random_low, random_high : ndarray or None
        Mean, 2.5 % and 97.5 % quantile of the same for random rankings.
    measure : str
        What quality is.
    """

    sizes: np.ndarray
    values: np.ndarray
    fold_values: np.ndarray
    random_mean: np.ndarray | None
    random_low: np.ndarray | None
    random_high: np.ndarray | None
    measure: str

    @property
    def area(self) -> float:
        """Area under the curve, the number of features scaled to [0, 1]."""
        return _area(self.sizes, self.values)

    @property
    def random_area(self) -> float | None:
        """The same for random rankings."""
        return None if self.random_mean is None else _area(self.sizes, self.random_mean)

    @property
    def best_size(self) -> int:
        """The smallest number of features within one standard error of the best."""
        best = int(np.argmax(self.values))
        n_folds = len(self.fold_values)
        error = self.fold_values[:, best].std(ddof=1) / np.sqrt(n_folds) if n_folds > 1 else 0.0
        return int(self.sizes[np.argmax(self.values >= self.values[best] - error)])


def addition_curve(
    ranker: Any,
    X: Any,
    y: Any,
    *,
    estimator: Any = None,
    sizes: str | Sequence[int] = "exponential",
    reverse: bool = False,
    n_random: int = 50,
    cv: Any = 10,
    scoring: Callable[[Any, Any, Any], float] | None = None,
    hierarchy: Hierarchy | None = None,
    categorical_features: Any = "from_dtype",
    sample_weight: Any = None,
    row_groups: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: int = 0,
) -> AdditionCurve:
    """How quality grows as features are added in the order of a ranking, by cross-validation, against chance.

    The ranking is computed in each training fold, so that no test row takes part in it. A curve above the band of
    random rankings means that relevant features come first.

    Parameters
    ----------
    ranker : estimator with `ranking_`
        Cloned and fitted in each fold.
    X, y : array, CSR or frame
        The data.
    estimator : estimator, optional
        The model, cloned for each number of features. By default a forest of 100 trees that looks at 10 % of the
        features per node (rounded up), the one that fits the target: `ramify.ensemble.forest_choice.forest_for`.
    sizes : "all", "quadratic", "exponential" or sequence of int, default="exponential"
        Numbers of features: 1, 2, 3, ...; 1, 4, 9, ...; 1, 2, 4, ...; always with all of them.
    reverse : bool, default=False
        Whether to add the worst features first.
    n_random : int, default=50
        Number of random rankings; 0 for none.
    cv : int or cross-validator, default=10
        Folds; an int shuffles.
    scoring : callable (estimator, X, y) -> float, optional
        By default pooled AUPRC for classes and label sets, R2 (against the training mean) for numbers, Kendall's tau
        for rankings.
    hierarchy : Hierarchy, optional
        Hierarchy of the labels, for the default estimator; by default the ranker's own.
    categorical_features : "from_dtype", None, or mask, indices or names, default="from_dtype"
        Nominal features, for the default estimator.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows that rankers and models learn from; both must take them. Rows of weight zero are in no
        fold, and the rows that a fold is tested on count the same.
    row_groups : array-like of shape (n_samples,), optional
        Which rows belong together: whole groups are in a fold, and rankers and models that hold rows back are told.
        A `cv` that divides groups is refused.
    n_jobs : int, optional
        Threads of the default estimator.
    random_state : int, RandomState or None
        Seed of folds, forests and random rankings.
    verbose : int, default=0
        Whether to show progress.

    References
    ----------
    I. Slavkov, J. Karcheska, D. Kocev, S. Kalajdziski, S. Dzeroski. ReliefF for hierarchical multi-label
    classification. New Frontiers in Mining Complex Patterns, 2014, Algorithm 2 and section 4.1.

    Examples
    --------
    >>> from ramify.datasets import make_hierarchical
    >>> from ramify.ranking import ReliefRanker, addition_curve
    >>> data = make_hierarchical(150, depth=1, n_features=8, random_state=0)
    >>> curve = addition_curve(ReliefRanker(), data.X, data.y, cv=3, n_random=5, random_state=0)
    >>> curve.sizes.tolist(), curve.area > curve.random_area
    ([1, 2, 4, 8], True)
    """
    check_integer("addition_curve", "n_random", n_random, low=0)
    check_jobs("addition_curve", n_jobs)
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    weighing = weighing_rows(X, y, sample_weight)
    groups = checked_row_groups("addition_curve", row_groups, n_rows(X))
    groups = groups if weighing is None or groups is None else groups[weighing]
    X, y, sample_weight = weighing_data(X, y, sample_weight)
    weights = checked_sample_weight("addition_curve", sample_weight, n_rows(X))
    names = column_names(X)
    n_features = len(names)
    counts = _sizes(sizes, n_features)
    nominal = _nominal(categorical_features, names)
    target = _target(ranker, y, hierarchy)
    common: dict[str, Any] = {"n_estimators": 100, "n_jobs": n_jobs, "random_state": seed}
    template = forest_for(target, hierarchy=hierarchy, **common) if estimator is None else estimator
    model = _Model(template, estimator is None, nominal)
    for learner in (ranker, template) if weights is not None else ():
        refuse_without_weights("addition_curve", learner)
    if scoring is None and not _predicts(template, target):
        scoring = _own_score
    splits = _folds(cv, seed, n_rows(X), groups)
    told = has_fit_parameter(ranker, "row_groups")  # what holds no rows back needs no groups
    random = np.random.RandomState(seed)
    chance = [random.permutation(n_features) for _ in range(n_random)]
    own = np.zeros((len(splits), len(counts)))
    by_chance = np.zeros((n_random, len(splits), len(counts)))
    with progress_bar(len(splits) * (1 + n_random), verbose, "Adding features") as progress:
        for fold, (train, test) in enumerate(splits):
            data = (take_rows(X, train), take_rows(y, train), take_rows(X, test), take_rows(y, test))
            learnt = _target(ranker, data[1], hierarchy)
            weighed = {} if weights is None else {"sample_weight": weights[train]}
            together = {"row_groups": groups[train]} if groups is not None and told else {}
            order = clone(ranker).fit(data[0], data[1], **weighed, **together).ranking_.order
            for number, features in enumerate([order[::-1] if reverse else order, *chance]):
                values = [_quality(model, features[:count], data, weighed, learnt, scoring) for count in counts]
                if number == 0:
                    own[fold] = values
                else:
                    by_chance[number - 1, fold] = values
                if progress is not None:
                    progress(fold * (1 + n_random) + number + 1)
    random_curves = by_chance.mean(axis=1)
    low, high = (np.quantile(random_curves, q, axis=0) if n_random else None for q in (0.025, 0.975))
    mean = random_curves.mean(axis=0) if n_random else None
    measure = target.measure_title if scoring is None else "score"
    return AdditionCurve(np.array(counts), own.mean(axis=0), own, mean, low, high, measure)


class _Model:
    """The model for a subset of the features."""

    def __init__(self, template: Any, is_default: bool, nominal: np.ndarray | None) -> None:
        self.template = template
        self.is_default = is_default
        self.nominal = nominal

    def of(self, features: np.ndarray) -> Any:
        model = clone(self.template)
        if self.is_default:
            model.set_params(max_features=-(-len(features) // 10))
            if self.nominal is not None:
                model.set_params(categorical_features=self.nominal[features])
        return model


def _nominal(categorical_features: Any, names: tuple[str, ...]) -> np.ndarray | None:
    """Mask of the nominal features; None where the columns' types tell them."""
    if isinstance(categorical_features, str):
        check_option("addition_curve", "categorical_features", categorical_features, ("from_dtype",))
        return None
    mask = np.zeros(len(names), dtype=bool)
    if categorical_features is None:
        return mask
    chosen = np.asarray(categorical_features)
    if chosen.dtype.kind in "UO":
        for name in chosen.tolist():
            if name not in names:
                raise ValueError(f"categorical_features names {name!r}, which is not a column of X.")
        chosen = np.array([names.index(name) for name in chosen.tolist()], dtype=np.intp)
    mask[chosen] = True
    return mask


def _target(ranker: Any, y: Any, hierarchy: Hierarchy | None) -> Target:
    """What y is to the ranker: to its forest, or as it says."""
    forest: Any = getattr(ranker, "estimator", None)
    if hasattr(forest, "encode_target"):
        return forest.encode_target(y)
    order = getattr(ranker, "hierarchy", None) if hierarchy is None else hierarchy
    return encode(y, kind=getattr(ranker, "target", "auto"), hierarchy=order, partly_known=True)


def _predicts(model: Any, target: Target) -> bool:
    """Whether a model predicts what the measure of the target takes."""
    return bool(target.measure) and (not target.has_labels or hasattr(model, "predict_proba"))


def _own_score(fitted: Any, X: Any, y: Any) -> float:
    return float(fitted.score(X, y))


@unseen_values_allowed()
def _quality(
    model: _Model,
    features: np.ndarray,
    data: tuple[Any, Any, Any, Any],
    weighed: dict[str, Any],
    learnt: Target,
    scoring: Any,
) -> float:
    X, y, X_test, y_test = data
    fitted = model.of(features).fit(take_columns(X, features), y, **weighed)
    tested = take_columns(X_test, features)
    if scoring is not None:
        return float(scoring(fitted, tested, y_test))
    predicted = fitted.predict_proba(tested) if learnt.has_labels else fitted.predict(tested)
    return target_score(learnt, learnt.truth(y_test), predicted)


def _folds(cv: Any, seed: int, n_samples: int, groups: np.ndarray | None) -> list[tuple[np.ndarray, np.ndarray]]:
    if isinstance(cv, (int, np.integer)):
        check_integer("addition_curve", "cv", cv, low=2)
        cv = (KFold if groups is None else GroupKFold)(int(cv), shuffle=True, random_state=seed)
    empty = np.zeros(n_samples)
    with warnings.catch_warnings():  # a splitter that ignores groups is refused where it divides one
        warnings.filterwarnings("ignore", "The groups parameter is ignored")
        folds = list(check_cv(cv).split(empty, empty, groups))
    if groups is not None and any(np.isin(groups[test], groups[train]).any() for train, test in folds):
        raise ValueError(
            f"{type(cv).__name__} divides groups of rows; give addition_curve a number of folds, or GroupKFold."
        )
    return folds


def _sizes(sizes: str | Sequence[int], n_features: int) -> list[int]:
    if isinstance(sizes, str):
        check_option("addition_curve", "sizes", sizes, ("all", "quadratic", "exponential"))
        steps = range(1, n_features + 1)
        grown = {"all": steps, "quadratic": (k * k for k in steps), "exponential": (2**k for k in range(n_features))}
        chosen: list[int] = []
        for count in grown[sizes]:
            if count >= n_features:
                break
            chosen.append(count)
        return [*chosen, n_features]
    given = sorted({check_integer("addition_curve", "sizes", count, low=1, high=n_features) for count in sizes})
    if not given:
        raise ValueError("The 'sizes' parameter of addition_curve must name at least one number of features.")
    return given


def _area(sizes: np.ndarray, values: np.ndarray) -> float:
    if len(sizes) == 1:
        return float(values[0])
    return float(np.trapezoid(values, sizes) / (sizes[-1] - sizes[0]))
