"""Methods compared on one data set by cross-validation, with a test that knows that folds share training rows."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import t
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold
from sklearn.utils.multiclass import type_of_target

from ramify.compare.posthoc import holm_adjusted
from ramify.features.frames import as_array, take_rows
from ramify.metrics.measured import dense, measured
from ramify.metrics.measures import larger_is_better, named_measure
from ramify.parameters import check_integer, check_real, worker_count
from ramify.shown import listed

_ONE_LABEL = ("binary", "multiclass")


@dataclass(frozen=True)
class CorrectedT:
    """What a t-test for values of folds that share training rows gives.

    Attributes
    ----------
    mean : float
        Mean difference.
    low, high : float
        Its confidence interval.
    statistic, p_value : float
        t, and the two-sided p-value with `n - 1` degrees of freedom.
    """

    mean: float
    low: float
    high: float
    statistic: float
    p_value: float


def corrected_t(differences: Any, *, ratio: float, level: float = 0.95) -> CorrectedT:
    """T-test of the mean difference between two methods over folds that share training rows.

    Parameters
    ----------
    differences : array-like of shape (n_folds,)
        Value of one method minus that of the other on each fold, of all repetitions.
    ratio : float
        Test rows per training row: 1/9 for ten folds.
    level : float, default=0.95
        Of the confidence interval.

    Returns
    -------
    CorrectedT

    Notes
    -----
    The variance of the mean is taken as ``(1 / n + ratio)`` times that of the differences. A plain test takes ``1 / n``
    and finds differences that are none, the more the more often the folds are repeated.

    References
    ----------
    C. Nadeau, Y. Bengio. Inference for the generalization error. Machine Learning 52, 239-281, 2003.
    R. Bouckaert, E. Frank. Evaluating the replicability of significance tests for comparing learning algorithms.
    PAKDD, 2004.

    Examples
    --------
    >>> from ramify.compare import corrected_t
    >>> test = corrected_t([0.02, 0.05, 0.03, 0.01, 0.04], ratio=1 / 4)
    >>> round(test.mean, 3), round(test.p_value, 3)
    (0.03, 0.047)
    """
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1 or values.size < 2 or not np.isfinite(values).all():
        raise ValueError("corrected_t needs finite differences of at least two folds, in one dimension.")
    check_real("corrected_t", "ratio", ratio, low=0, open_low=True)
    check_real("corrected_t", "level", level, low=0, high=1, open_low=True, open_high=True)
    mean = float(values.mean())
    error = float(np.sqrt((1 / values.size + ratio) * values.var(ddof=1)))
    if error <= 4 * np.finfo(np.float64).eps * abs(mean):  # equal but for the rounding of the values
        statistic = 0.0 if mean == 0 else float(np.copysign(np.inf, mean))
    else:
        statistic = mean / error
    margin = float(t.ppf((1 + level) / 2, values.size - 1)) * error
    return CorrectedT(mean, mean - margin, mean + margin, statistic, float(2 * t.sf(abs(statistic), values.size - 1)))


@dataclass(frozen=True, eq=False)
class MethodComparison:
    """Methods compared on one data set.

    Attributes
    ----------
    measure : str
        What was measured.
    folds : frame of shape (n_folds, n_methods)
        Every method's value on every fold.
    pairs : frame
        For each pair of methods, the better one first: the mean difference in favour of the first, its confidence
        interval (`low`, `high`), the `effect` (mean difference per standard deviation of the differences), the p-value
        of `corrected_t`, the one `adjusted` by Holm over all pairs, and the `verdict`.
    larger_is_better : bool
        Whether larger values of the measure are better.
    verdict : str
        What may be concluded, in a sentence or two.
    """

    measure: str
    folds: pd.DataFrame
    pairs: pd.DataFrame
    larger_is_better: bool
    verdict: str

    def to_frame(self) -> pd.DataFrame:
        """Per method, best first: mean and standard deviation over the folds, and on how many it is the best."""
        best = self.folds.max(axis=1) if self.larger_is_better else self.folds.min(axis=1)
        frame = pd.DataFrame(
            {
                "mean": self.folds.mean(),
                "deviation": self.folds.std(ddof=1),
                "best_on": self.folds.eq(best, axis=0).sum(),
            }
        )
        return frame.sort_values("mean", ascending=not self.larger_is_better, kind="stable")

    def _repr_html_(self) -> str:
        from ramify.notebook import html_table

        rows = [(str(name), *map(float, row)) for name, row in self.to_frame().iterrows()]
        return html_table(self.verdict, ["method", f"mean {self.measure}", "deviation", "best on folds"], rows)


def methods(
    X: Any,
    y: Any,
    estimators: Mapping[str, Any],
    *,
    measure: str | Callable[..., Any] | None = None,
    cv: Any = 10,
    n_repeats: int = 1,
    row_groups: Any = None,
    alpha: float = 0.05,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> MethodComparison:
    """Compare estimators on one data set, all on the same folds.

    Parameters
    ----------
    X, y : array-like, frame or sparse matrix
        Features and target, as the estimators take them.
    estimators : dict of str to estimator
        Any estimators of scikit-learn's kind, at least two. Each is cloned, and gets the seed of its fold where it has
        a `random_state` that is None.
    measure : str or function, optional
        A name of `ramify.metrics` or `sklearn.metrics`, one that `cross_validate` knows, a function of (y_true, y_pred)
        or (y_true, y_score) that `ramify.metrics.measure` marks, or a scorer. By default accuracy for classes, pooled
        AUPRC for label sets of estimators with probabilities, else R2.
    cv : int or splitter, default=10
        Number of shuffled folds, stratified for classes and never dividing a group, or a splitter of scikit-learn.
    n_repeats : int, default=1
        How often the folds are drawn anew, where ``cv`` is a number.
    row_groups : array-like of shape (n_samples,), optional
        Rows of one group (a patient, a family) stay on one side of every fold.
    alpha : float, default=0.05
        Chance of any false claim of a difference (Holm).
    random_state : int, default=0
        Seed of folds and methods.
    n_jobs : int, optional
        Processes; they change the time only.

    Returns
    -------
    MethodComparison

    Notes
    -----
    What is found holds for data of this kind; `Study` and `compare` compare over data sets.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from ramify.compare import methods
    >>> X, y = load_iris(return_X_y=True)
    >>> found = methods(X, y, {"tree": DecisionTreeClassifier(), "guess": DummyClassifier()}, cv=5)
    >>> found.pairs[["first", "second", "verdict"]].to_numpy().tolist()
    [['tree', 'guess', 'tree is better']]
    """
    _check(estimators, alpha)
    check_integer("methods", "n_repeats", n_repeats, low=1)
    kind = type_of_target(dense(y) if hasattr(y, "toarray") else as_array(y))
    function = _default_measure(kind, estimators) if measure is None else measure
    name, function = (
        (function, named_measure(function)) if isinstance(function, str) else (_name_of(function), function)
    )
    larger = larger_is_better(function)
    if larger is None:
        raise ValueError(
            f"Nothing says whether larger values of {name!r} are better. Mark the function with "
            "ramify.metrics.measure(larger_is_better=...), or name a measure that is known."
        )
    folds = list(_folds(y, kind, cv, n_repeats, row_groups, random_state))
    tasks = [(estimator, fold, random_state + i) for i, fold in enumerate(folds) for estimator in estimators.values()]
    values = Parallel(n_jobs=worker_count(n_jobs))(
        delayed(_value)(estimator, fold, seed, X, y, name, function, kind in _ONE_LABEL)
        for estimator, fold, seed in tasks
    )
    table = pd.DataFrame(np.reshape(values, (len(folds), len(estimators))), columns=list(estimators))
    table.index.name = "fold"
    if table.isna().any(axis=None):
        method = table.columns[table.isna().any()][0]
        raise ValueError(f"{name} of {method!r} is not defined on every fold; take fewer folds or another measure.")
    ratio = float(np.mean([len(test) / len(train) for train, test in folds]))
    pairs = _pairs(table, ratio, larger, alpha)
    return MethodComparison(name, table, pairs, larger, _verdict(table, pairs, name, larger))


def _check(estimators: Mapping[str, Any], alpha: float) -> None:
    if not isinstance(estimators, Mapping) or len(estimators) < 2:
        raise ValueError('methods needs a dict of at least two estimators, such as {"mine": ..., "other": ...}.')
    for name, estimator in estimators.items():
        if not hasattr(estimator, "fit") or not hasattr(estimator, "get_params"):
            raise TypeError(f"{name!r} must be an estimator of scikit-learn's kind. Got {type(estimator).__name__}.")
    check_real("methods", "alpha", alpha, low=0, high=1, open_low=True, open_high=True)


def _default_measure(kind: str, estimators: Mapping[str, Any]) -> str:
    if kind in _ONE_LABEL:
        return "accuracy_score"
    if kind == "multilabel-indicator":
        return "auprc" if all(hasattr(estimator, "predict_proba") for estimator in estimators.values()) else "f1_score"
    if any(is_classifier(estimator) for estimator in estimators.values()):
        raise ValueError(f"Name a measure: y is of the kind {kind!r}, for which there is no usual one.")
    return "r2_score"


def _name_of(function: Any) -> str:
    return str(
        getattr(function, "__name__", None) or getattr(getattr(function, "_score_func", None), "__name__", "value")
    )


def _folds(
    y: Any, kind: str, cv: Any, n_repeats: int, row_groups: Any, seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows of every fold of every repetition."""
    n_rows = y.shape[0] if hasattr(y, "shape") else len(y)
    groups = None if row_groups is None else np.asarray(row_groups)
    if groups is not None and groups.shape != (n_rows,):
        raise ValueError(f"row_groups must hold one group per row ({n_rows}). Got shape {groups.shape} instead.")
    classes = as_array(y) if kind in _ONE_LABEL else np.zeros(n_rows)
    if hasattr(cv, "split"):
        with warnings.catch_warnings():  # a splitter that ignores groups is refused where it divides one
            warnings.filterwarnings("ignore", "The groups parameter is ignored")
            given = list(cv.split(np.zeros((n_rows, 1)), classes, groups))
        for train, test in given:
            if groups is not None and np.isin(groups[test], groups[train]).any():
                raise ValueError(f"{type(cv).__name__} divides groups of rows; take GroupKFold or a number of folds.")
            yield train, test
        return
    n_folds = check_integer("methods", "cv", cv, low=2)
    for repeat in range(n_repeats):
        if kind in _ONE_LABEL:
            made = StratifiedKFold if groups is None else StratifiedGroupKFold
            yield from made(n_folds, shuffle=True, random_state=seed + repeat).split(classes, classes, groups)
        elif groups is None:
            yield from KFold(n_folds, shuffle=True, random_state=seed + repeat).split(classes)
        else:
            yield from _group_folds(groups, n_folds, seed + repeat)


def _group_folds(groups: np.ndarray, n_folds: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Folds of whole groups, which are dealt out in an order of their own in every repetition."""
    _, number = np.unique(groups, return_inverse=True)
    shuffled = np.random.default_rng(seed).permutation(number.max() + 1)[number]
    order = np.argsort(shuffled, kind="stable")
    for train, test in GroupKFold(n_folds).split(order, groups=shuffled[order]):
        yield np.sort(order[train]), np.sort(order[test])


def _value(
    estimator: Any,
    fold: tuple[np.ndarray, np.ndarray],
    seed: int,
    X: Any,
    y: Any,
    name: str,
    measure: Callable[..., Any],
    one_label: bool,
) -> float:
    train, test = fold
    model = clone(estimator)
    if "random_state" in (known := model.get_params(deep=False)) and known["random_state"] is None:
        model.set_params(random_state=seed)
    target = y if type(model).__module__.startswith("ramify.") else dense(y)
    model.fit(take_rows(X, train), take_rows(target, train))
    hierarchy = getattr(model, "hierarchy", None)
    takes_it = hierarchy is not None and "hierarchy" in inspect.signature(measure).parameters
    options = {"hierarchy": hierarchy} if takes_it else {}
    unseen = take_rows(X, test), take_rows(y, test)
    return measured(name, measure, model, *unseen, one_label=one_label, options=options, predictions={})


def _pairs(table: pd.DataFrame, ratio: float, larger: bool, alpha: float) -> pd.DataFrame:
    names = table.mean().sort_values(ascending=not larger, kind="stable").index
    rows = []
    for first, second in combinations(names, 2):
        differences = table[first] - table[second] if larger else table[second] - table[first]
        test = corrected_t(differences, ratio=ratio, level=1 - alpha)
        spread = float(differences.std(ddof=1))
        effect = test.mean / spread if spread > 0 else float(np.sign(test.mean)) * np.inf if test.mean else 0.0
        rows.append((first, second, test.mean, test.low, test.high, effect, test.p_value))
    pairs = pd.DataFrame(rows, columns=["first", "second", "difference", "low", "high", "effect", "p_value"])
    pairs["adjusted"] = holm_adjusted(pairs["p_value"].to_numpy())
    better = (pairs["adjusted"] <= alpha) & (pairs["difference"] > 0)
    pairs["verdict"] = [
        f"{first} is better" if b else "cannot be told apart" for first, b in zip(pairs["first"], better, strict=True)
    ]
    return pairs


def _verdict(table: pd.DataFrame, pairs: pd.DataFrame, measure: str, larger: bool) -> str:
    means = table.mean().sort_values(ascending=not larger, kind="stable")
    best = means.index[0]
    of_best = pairs[pairs["first"] == best]
    beaten = of_best.loc[of_best["verdict"] != "cannot be told apart", "second"].tolist()
    equal = of_best.loc[of_best["verdict"] == "cannot be told apart", "second"].tolist()
    parts = [f"{best} is better than {listed(beaten)}"] if beaten else []
    parts += [f"{best} cannot be told apart from {listed(equal)}"] if equal else []
    return f"By {measure}, {'; '.join(parts)} ({best}: mean {means.iloc[0]:.3f} over {len(table)} folds)."
