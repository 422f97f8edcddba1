"""ConformalSets: predictions as sets that miss at most a stated share of the truth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_regressor
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from ramify.ensemble.classifier import ForestClassifier
from ramify.ensemble.label_rankers import preference_matrix
from ramify.ensemble.label_ranking import LabelRankingForest
from ramify.ensemble.regressor import ForestRegressor
from ramify.ensemble.row_weights import checked_sample_weight
from ramify.ensemble.training_data import checked_row_groups
from ramify.features.frames import n_rows, take_rows, weighing_rows
from ramify.parameters import check_option, check_real
from ramify.state import FEATURES, State, count, fitting, instance, number, numbers, one_of, perhaps, texts
from ramify.targets import MEASURED_KINDS, Target, target_type
from ramify.targets.rankings import check_rankings

_HELD_BACK = 0.25
_OVER = ("rows", "labelled", "depth", "frequency")
_APART = ("depth", "frequency")
_RARE, _COMMON = 0.01, 0.1
_FREQUENCIES = ("above 10 %", "1 to 10 %", "below 1 %")
_LEAF_OF_ERRORS = 10
_FORESTS = (ForestClassifier, ForestRegressor, LabelRankingForest)


@dataclass(kw_only=True, eq=False, repr=False)
class ConformalSets(BaseEstimator):
    """Sets of labels, intervals of numbers or sets of pairs that miss at most a share `alpha` of the truth on average.

    Parameters
    ----------
    estimator : ForestClassifier, ForestRegressor, LabelRankingForest or None, default=None
        The forest; None is `ForestClassifier()`.
    alpha : float, default=0.1
        Share of the truth that may be missed on average: of a row's true labels, of its numbers, or of the pairs of
        labels that it orders.
    over : {"rows", "labelled", "depth", "frequency"}, default="rows"
        What the mean is over, for label sets: all rows, of which those without a label miss nothing; rows with a label;
        or, apart, rows with labels of each depth of the hierarchy, or of each class of frequency (below 1 %, to 10 %,
        above), of their labels there. Classes with too few rows join the one above.
    width : {"constant", "normalised"}, default="constant"
        For numbers: intervals as wide everywhere, or by the size of error that a second forest expects of a row. On
        average over rows both miss as much; normalised ones do so where errors are large and where they are small.
    calibrate : {"split", "oob"}, default="split"
        Hold back a quarter of the rows, for which the promise is proven; or use all rows for the trees and calibrate on
        out-of-bag predictions, for which it is measured only.
    random_state : int, RandomState or None, default=None
        Seed of the rows that are held back. The forest has its own.

    Attributes
    ----------
    estimator_ : forest
        The fitted forest.
    threshold_ : float or ndarray of shape (n_labels,)
        Score that a label or pair in the set reaches, of each label where depths or frequencies have their own; for
        numbers, half the width of an interval in units of `scale_`.
    scale_ : ndarray of shape (n_targets,)
        For numbers, the median error of each target, in units of what `spread_` expects where there is one.
    spread_ : ForestRegressor
        With width="normalised", what it expects the errors of a row to be.
    risk_ : float
        Share missed on the rows that the threshold was chosen on.
    n_calibrated_ : int
        How many rows those are.
    guarantee_ : str
        What is proven, and what is measured.
    n_features_in_, feature_names_in_, label_names_, n_outputs_, target_kind_
        Those of the forest.

    Notes
    -----
    Conformal risk control: with n rows that the trees did not see and R(t) the mean share that sets of threshold t miss
    of them, the smallest sets are taken for which (n R + 1) / (n + 1) is at most alpha. If new rows are like these
    (exchangeable), the mean share missed in them is at most alpha. Rows without a true label miss nothing. The score of
    a label is the forest's probability with the label's frequency counted as one more tree, so that labels that no tree
    names have an order, too; a child's score is never above its parent's, so sets of a hierarchy are closed: where the
    forest cannot tell children apart, the set ends at their parent. Scores of pairs are the probabilities that one
    label is preferred to the other; both may be in the set. Where depths or frequencies have thresholds of their own,
    labels above one in the set are in it, too.

    `width="normalised"` grows a second forest on the absolute out-of-bag errors of the first; widths are at least a
    tenth of the median ones (Lei et al.).

    Where cells of y are unknown (NaN), the share missed is that of a row's known true labels or known numbers, whatever
    hid the others. A row that may have true labels but of which none is known says nothing: it is not calibrated on,
    and nothing is promised of rows like it. If it is chance which numbers of a row, or which of its true labels, are
    known, the promise holds for all of them, known or not. In a hierarchy it is not chance: a known label makes those
    above it known, which are easier, so there the promise is about known labels alone.

    References
    ----------
    Angelopoulos, A. N., Bates, S., Fisch, A., Lei, L. and Schuster, T. (2024). Conformal risk control. ICLR.

    Lei, J., G'Sell, M., Rinaldo, A., Tibshirani, R. and Wasserman, L. (2018). Distribution-free predictive inference
    for regression. Journal of the American Statistical Association 113.

    Examples
    --------
    >>> from ramify.datasets import make_hierarchical
    >>> from ramify.ensemble import ConformalSets, ForestClassifier
    >>> data = make_hierarchical(400, random_state=0)
    >>> forest = ForestClassifier(30, hierarchy=data.hierarchy, random_state=0)
    >>> sets = ConformalSets(forest, alpha=0.2, random_state=0).fit(data.X, data.y)
    >>> print(sets.guarantee_)
    Proven for rows like the 100 held back: sets miss at most 20 % of a row's true labels on average, rows without a
    label (19 %) missing none.
    """

    fitted_state: ClassVar[State] = {
        **FEATURES,
        "estimator_": instance(ForestClassifier, ForestRegressor, LabelRankingForest),
        "label_names_": texts("n_labels"),
        "n_outputs_": count(),
        "target_kind_": one_of(*MEASURED_KINDS),
        "n_calibrated_": count(),
        "threshold_": instance(float, np.ndarray),
        "spread_": perhaps(instance(ForestRegressor)),
        "risk_": number(low=0, high=1),
        "scale_": perhaps(numbers("n_labels", low=0)),
        "guarantee_": instance(str),
    }

    estimator: Any = field(default=None, kw_only=False)
    alpha: float = 0.1
    over: Literal["rows", "labelled", "depth", "frequency"] = "rows"
    width: Literal["constant", "normalised"] = "constant"
    calibrate: Literal["split", "oob"] = "split"
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, row_groups: Any = None) -> Self:
        """Grow the forest and choose the threshold.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features; NaN is missing.
        y : array, CSR or frame
            The target, as the forest takes it; in label sets and several numbers NaN is unknown.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight zero takes no part. Other weights must be equal: the promise is about rows that count alike.
        row_groups : array-like of shape (n_samples,), default=None
            What each row belongs to. Whole groups are held back, or out of bag, and the promise is about a group that
            is drawn at random: on average over groups, and over the rows of a group.
        """
        with fitting(self):
            alpha = check_real(self, "alpha", self.alpha, low=0, high=1, open_low=True, open_high=True)
            check_option(self, "calibrate", self.calibrate, ("split", "oob"))
            check_option(self, "over", self.over, _OVER)
            check_option(self, "width", self.width, ("constant", "normalised"))
            forest = self._checked_forest()
            if y is None:
                raise ValueError("ConformalSets requires y to be passed, but the target y is None.")
            groups = None
            if row_groups is not None:
                groups = checked_row_groups(self, row_groups, n_rows(X))
            X, y, groups = _alike(X, y, sample_weight, groups)
            held_back = self.calibrate == "split"  # else the forest, fitted to all rows, says what is wrong with X
            target = forest.encode_target(y, n_samples=n_rows(X) if held_back else None)
            self._check_over(target)
            if held_back:
                inside, rows = self._parts(target, groups)
                learnt = take_rows(X, inside), take_rows(y, inside), None if groups is None else groups[inside]
                forest.fit(learnt[0], learnt[1], row_groups=learnt[2])
                scores = _scores(forest, take_rows(X, rows))
            else:
                learnt = X, y, groups
                forest.fit(X, y, row_groups=groups)
                scores, rows = _out_of_bag_scores(forest, X, y, groups)
            spread, expected = None, None
            if self.width == "normalised":
                spread, errors = _spread_of_errors(forest, *learnt)
                if held_back:
                    expected = _scores(spread, take_rows(X, rows))
                else:
                    expected, seen = _out_of_bag_scores(spread, X, errors, groups)
                    rows, own, others = np.intersect1d(rows, seen, return_indices=True)
                    scores, expected = scores[own], expected[others]
            telling = _telling(target)[rows]
            scores, rows, expected = scores[telling], rows[telling], None if expected is None else expected[telling]
            truth = _truth(forest, target, y, rows)
            of_row = None if groups is None else groups[rows]
            if _is_numbers(forest):
                n_units = self._choose_width(forest, scores, truth, alpha, of_row, spread, expected)
            else:
                n_units = self._choose(forest, scores, truth, alpha, of_row)
            if spread is not None:
                self.spread_ = spread
            self.estimator_, self.n_calibrated_ = forest, n_units
            for name in ("n_features_in_", "feature_names_in_", "label_names_", "n_outputs_", "target_kind_"):
                if hasattr(forest, name):
                    setattr(self, name, getattr(forest, name))
            without = float((np.diff(truth.indptr) == 0).mean()) if target.has_sets else 0.0
            known = "" if target.unknown is None else "known "
            self.guarantee_ = self._stated(alpha, known, groups is not None, without)
        return self

    def predict(self, X: Any) -> Any:
        """Sets that keep the promise.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        0/1 array or CSR of shape (n_samples, n_labels)
            Labels or classes in the set; sparse if y was sparse at fit.
        array of shape (n_samples, 2) or (n_samples, n_targets, 2)
            For numbers, the ends of the intervals.
        0/1 array of shape (n_samples, n_labels, n_labels)
            For rankings, 1 where label a (row) may be preferred to label b (column).
        """
        check_is_fitted(self, "estimator_")
        scores = _scores(self.estimator_, X)
        if _is_numbers(self):
            reach = self.threshold_ * self.scale_
            if hasattr(self, "spread_"):
                reach = reach * _widths(self.spread_, _scores(self.spread_, X))
            ends = np.stack([scores - reach, scores + reach], axis=2)
            return ends[:, 0] if self.estimator_._single else ends
        sets = (scores >= self.threshold_).astype(np.int64)
        if np.ndim(self.threshold_) and self.estimator_.hierarchy is not None:
            sets = self.estimator_.hierarchy.close(sets)
        if target_type(self.target_kind_).ranks_labels:
            sets[:, range(self.n_outputs_), range(self.n_outputs_)] = 0
            return sets
        return sparse.csr_array(sets) if self.estimator_._sparse_sets else sets

    def coverage(self, X: Any, y: Any, *, by: str = "depth") -> pd.DataFrame:
        """What sets miss on these rows, and how large they are: over all rows, and over the rows of each class.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features of rows that took no part in `fit`.
        y : array, CSR or frame
            Their label sets.
        by : {"depth", "frequency"}, default="depth"
            What classes of labels are by; without a hierarchy it is frequency.

        Returns
        -------
        frame
            A line for all rows, one for rows with a label and one for each class: number of labels, rows that have one
            of them, mean share of these that is missed, and mean number of labels in the set.

        Examples
        --------
        >>> from ramify.datasets import make_hierarchical
        >>> from ramify.ensemble import ConformalSets, ForestClassifier
        >>> data = make_hierarchical(400, random_state=0)
        >>> forest = ForestClassifier(30, hierarchy=data.hierarchy, random_state=0)
        >>> sets = ConformalSets(forest, over="depth", random_state=0).fit(data.X[:300], data.y[:300])
        >>> sets.coverage(data.X[300:], data.y[300:]).index.tolist()
        ['all rows', 'rows with a label', 'depth 1', 'depth 2', 'depth 3']
        """
        check_is_fitted(self, "estimator_")
        if not target_type(self.target_kind_).has_sets:
            raise ValueError(f"coverage is of label sets. These sets are of {self.target_kind_}.")
        check_option(self, "by", by, _APART)
        forest = self.estimator_
        truth = forest.encode_target(y, n_samples=n_rows(X)).Y
        sets = sparse.csr_array(self.predict(X))
        classes = label_classes(forest, by if forest.hierarchy is not None else "frequency")
        everything = np.arange(len(forest.label_names_))
        lines = []
        for name, labels in {"all rows": everything, "rows with a label": everything, **classes}.items():
            true, predicted = _with_labels(truth, labels), _with_labels(sets, labels)
            counts = np.diff(true.indptr)
            caught = np.asarray(true.multiply(predicted).sum(axis=1)).ravel()
            missed = 1 - np.divide(caught, counts, out=np.ones(len(counts)), where=counts > 0)
            own = np.ones(len(counts), dtype=bool) if name == "all rows" else counts > 0
            size = np.diff(predicted.indptr)[own]
            nothing = np.nan, np.nan
            means = (float(missed[own].mean()), float(size.mean())) if own.any() else nothing
            lines.append((name, len(labels), int(own.sum()), *means))
        columns = ["class", "labels", "rows", "missed", "set_size"]
        return pd.DataFrame(lines, columns=columns).set_index("class")

    def _checked_forest(self) -> Any:
        forest = ForestClassifier() if self.estimator is None else clone(self.estimator, safe=False)
        if not isinstance(forest, _FORESTS):
            raise TypeError(
                "The 'estimator' parameter of ConformalSets must be a ForestClassifier, a ForestRegressor or a "
                f"LabelRankingForest. Got {type(forest).__name__} instead."
            )
        if self.calibrate == "oob" and not forest.bootstrap:
            raise ValueError(
                "calibrate='oob' needs a forest with bootstrap=True: without it every tree sees every row and none is "
                "out of bag. Use calibrate='split'."
            )
        if self.width == "normalised" and not (is_regressor(forest) and forest.bootstrap):
            raise ValueError(
                "width='normalised' is for numbers: it needs a ForestRegressor with bootstrap=True, whose out-of-bag "
                "errors a second forest learns. Leave it out."
            )
        return forest

    def _check_over(self, target: Target) -> None:
        """Refuse what has no meaning for this target."""
        if self.over == "rows":
            return
        if not target.has_sets:
            raise ValueError(f"over={self.over!r} is for label sets; other targets have over='rows'. Leave it out.")
        if self.over == "depth" and target.hierarchy is None:
            raise ValueError("over='depth' needs a hierarchy of the labels. Use over='frequency' or 'labelled'.")

    def _parts(self, target: Target, groups: NDArray[np.int64] | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Positions of the rows to learn from, and of those held back, of which something is known."""
        known = target.rows_with_target()
        labelled = np.arange(target.n_samples) if known is None else known
        units = labelled if groups is None else np.unique(groups[labelled])
        n_units = len(units)
        if n_units < 2:
            one = "n_samples=" if groups is None else "the number of groups is "
            raise ValueError(
                f"Some rows grow trees and others choose the threshold, but {one}{n_units}. Give more rows."
            )
        order = check_random_state(self.random_state).permutation(n_units)
        held = units[order[: int(np.ceil(_HELD_BACK * n_units))]]
        if groups is None:
            held = np.sort(held)
            return np.setdiff1d(np.arange(target.n_samples), held), held
        apart = np.isin(groups, held)
        return np.flatnonzero(~apart), np.intersect1d(labelled, np.flatnonzero(apart))

    def _choose(
        self, forest: Any, scores: NDArray[np.float64], truth: Any, alpha: float, of_row: NDArray[np.int64] | None
    ) -> int:
        """Set the threshold, or one for each class of labels; returns how many rows or groups it is chosen on."""
        is_lost = np.diff(truth.indptr) == 0 if target_type(forest.target_kind_).has_one_label else None
        classes = label_classes(forest, self.over) if self.over in _APART else {}
        if not classes:
            if self.over == "labelled":
                having = np.diff(truth.indptr) > 0
                scores, truth, of_row = scores[having], truth[having], None if of_row is None else of_row[having]
            shares = _shares(of_row, len(scores))
            n_units = self._enough(shares, alpha, of_row is not None)
            # rows of a class that the forest has not seen are missed by every set
            lost, n_lost = (0.0, 0) if is_lost is None else (float(shares[is_lost].sum()), int(is_lost.sum()))
            if (lost + 1) / (n_units + 1) > alpha:
                raise ValueError(
                    f"{n_lost} of {len(scores)} rows held back have classes that no other row has, more "
                    f"than alpha={alpha:g} allows. Give more rows of these classes, or a larger alpha."
                )
            threshold, self.risk_ = _smallest(*_entries(scores, truth, shares), float(shares.sum()), alpha, lost)
            self.threshold_ = min(threshold, 2.0)
            return n_units
        n_fewest = int(np.ceil(1 / alpha)) - 1
        parts: list[NDArray[np.int64]] = []
        waiting = np.empty(0, dtype=np.int64)
        for labels in reversed(list(classes.values())):  # the deepest or rarest first; few rows join the next
            waiting = np.concatenate([waiting, labels])
            having = np.diff(_with_labels(truth, waiting).indptr) > 0
            if round(float(_shares(None if of_row is None else of_row[having], int(having.sum())).sum())) >= n_fewest:
                parts.append(waiting)
                waiting = waiting[:0]
        parts = parts or [waiting[:0]]
        parts[-1] = np.concatenate([parts[-1], waiting])
        thresholds, self.risk_ = np.zeros(len(forest.label_names_)), 0.0
        for labels in parts:
            own = _with_labels(truth, labels)
            having = np.diff(own.indptr) > 0
            shares = _shares(None if of_row is None else of_row[having], int(having.sum()))
            self._enough(shares, alpha, of_row is not None)
            entries = _entries(scores[having][:, labels], own[having], shares)
            threshold, risk = _smallest(*entries, float(shares.sum()), alpha)
            thresholds[labels], self.risk_ = min(threshold, 2.0), max(self.risk_, risk)
        self.threshold_ = thresholds  # type: ignore[assignment]
        return round(float(_shares(of_row, len(scores)).sum()))

    def _choose_width(
        self,
        forest: Any,
        scores: NDArray[np.float64],
        truth: NDArray[np.float64],
        alpha: float,
        of_row: NDArray[np.int64] | None,
        spread: Any,
        expected: NDArray[np.float64] | None,
    ) -> int:
        """Set how wide intervals are; returns how many rows or groups that is chosen on."""
        errors = np.abs(scores - truth)
        known = ~np.isnan(errors)
        shares = _shares(of_row, len(scores))
        n_units = self._enough(shares, alpha, of_row is not None)
        if not known.any(axis=0).all():
            name = forest.label_names_[int(np.argmin(known.any(axis=0)))]
            raise ValueError(
                f"The target {name!r} is known of none of the {len(scores)} rows to calibrate on, so its intervals "
                "have no width. Give more rows of which it is known, or leave it out."
            )
        if expected is not None:
            errors = errors / _widths(spread, expected)
        scale = np.nanmedian(errors, axis=0)
        self.scale_ = np.where(scale > 0, scale, 1.0)
        smallest = _smallest(*_entries(-errors / self.scale_, known, shares), shares.sum(), alpha)
        self.threshold_, self.risk_ = -smallest[0], smallest[1]
        return n_units

    def _enough(self, shares: NDArray[np.float64], alpha: float, in_groups: bool) -> int:
        """How many rows or groups there are, or a refusal of too few."""
        n_units = round(float(shares.sum()))
        if n_units + 1 < 1 / alpha:
            units = "groups of rows" if in_groups else "rows"
            raise ValueError(
                f"alpha={alpha:g} can be promised from {int(np.ceil(1 / alpha)) - 1} {units} on that the trees did "
                f"not see, but there are {n_units}. Give more {units} or a larger alpha."
            )
        return n_units

    def _stated(self, alpha: float, known: str, in_groups: bool, without: float) -> str:
        what = {
            "classes": "miss the true class of at most {} of the rows",
            "labels": "miss at most {} of a row's {}true labels on average",
            "hierarchy": "miss at most {} of a row's {}true labels on average",
            "numbers": "miss at most {} of the {}numbers on average",
            "rankings": "miss at most {} of the pairs that a row orders on average",
        }[self.target_kind_].format(f"{100 * alpha:g} %", known)
        what += {
            "rows": f", rows without a label ({100 * without:.0f} %) missing none" if without else "",
            "labelled": ", over rows with a label",
            "depth": ", at each depth over the rows with labels there",
            "frequency": ", among frequent and among rare labels over the rows with such labels",
        }[self.over]
        kind = "intervals" if _is_numbers(self) else "sets"
        if self.calibrate == "split":
            if in_groups:
                return f"Proven for groups of rows like the {self.n_calibrated_} held back: {kind} {what}, by group."
            return f"Proven for rows like the {self.n_calibrated_} held back: {kind} {what}."
        return (
            f"Measured, not proven: chosen so that {kind} {what}; out of bag, {100 * self.risk_:.1f} % of "
            f"{self.n_calibrated_} {'groups' if in_groups else 'rows'}' truth was missed."
        )

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted model together."""
        alike = ("label_names_", "target_kind_", "n_outputs_", "n_features_in_")
        same = all(getattr(self, name) == getattr(self.estimator_, name) for name in alike)
        yield same, "estimator_ must be a forest of the same target"
        apart = self.over in _APART
        shape = (self.n_outputs_,) if apart else ()
        yield np.shape(self.threshold_) == shape, "threshold_ must be a number, or one per label"
        yield not np.isnan(self.threshold_).any(), "threshold_ must be a number"
        normalised = self.width == "normalised"
        yield hasattr(self, "spread_") == normalised, "spread_ is what width='normalised' learns"
        same = not normalised or self.spread_.label_names_ == self.estimator_.label_names_
        yield same, "spread_ must be a forest of the same target"
        yield hasattr(self, "scale_") == _is_numbers(self), "scale_ must hold a number per target, and is for numbers"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator if hasattr(self.estimator, "__sklearn_tags__") else ForestClassifier())
        tags.input_tags, tags.target_tags.multi_output = inner.input_tags, True
        tags.target_tags.required = True
        return tags


def _alike(X: Any, y: Any, sample_weight: Any, groups: Any) -> tuple[Any, Any, Any]:
    """The rows whose weight is not zero, or a refusal where they do not all weigh the same."""
    rows = weighing_rows(X, y, sample_weight)
    if rows is not None:
        X, y, sample_weight = take_rows(X, rows), take_rows(y, rows), np.asarray(sample_weight)[rows]
        groups = None if groups is None else groups[rows]
    if sample_weight is not None:
        weights = checked_sample_weight(
            "ConformalSets", sample_weight, y.shape[0] if hasattr(y, "shape") else len(np.asarray(y))
        )
        if weights is not None and (weights != weights[0]).any():
            raise ValueError(
                "ConformalSets takes no row weights but zero and one other: what it promises is about rows that count "
                "alike. Leave out sample_weight."
            )
    return X, y, groups


def _shares(groups: NDArray[np.int64] | None, n_samples: int) -> NDArray[np.float64]:
    """What each row is of the unit that is drawn: itself, or one over the rows of its group."""
    if groups is None:
        return np.ones(n_samples)
    _, group, counts = np.unique(groups, return_inverse=True, return_counts=True)
    return np.asarray(1.0 / counts[group])


def label_classes(forest: Any, by: str) -> dict[str, NDArray[np.int64]]:
    """Positions of the labels of each depth of the hierarchy, or of each class of frequency, the lowest names last.

    Parameters
    ----------
    forest : ForestClassifier
        A fitted one.
    by : {"depth", "frequency"}
        What classes are by.
    """
    if by == "depth":
        depth = np.asarray(forest.hierarchy.depth)
        return {f"depth {level:g}": np.flatnonzero(depth == level) for level in np.unique(depth).tolist()}
    place = np.digitize(-np.asarray(forest.prior_), [-_COMMON, -_RARE])
    classes = {name: np.flatnonzero(place == k) for k, name in enumerate(_FREQUENCIES)}
    return {name: labels for name, labels in classes.items() if len(labels)}


def _with_labels(truth: Any, labels: NDArray[np.int64]) -> sparse.csr_array:
    """Some columns of a truth, with nothing stored that is not true."""
    own = sparse.csr_array(sparse.csc_array(truth)[:, labels])
    own.eliminate_zeros()
    return own


def _smallest(
    value: NDArray[np.float64], share: NDArray[np.float64], n_held: float, alpha: float, lost: float = 0.0
) -> tuple[float, float]:
    """The threshold with the smallest sets whose calibrated risk is at most alpha, and the share that it misses.

    `value` and `share` are the score of each thing that is true and what of `n_held` is missed with it; `lost` is
    missed anyhow.
    """
    if not len(value):
        return np.inf, 0.0
    order = np.argsort(value, kind="stable")
    missed = (lost + np.concatenate([[0.0], np.cumsum(share[order])])) / n_held
    ordered = value[order]
    # with threshold ordered[k], what lies below is missed: the first entry of equal scores says how much
    first = np.searchsorted(ordered, ordered, side="left")
    best = int(np.flatnonzero((n_held * missed[first] + 1) / (n_held + 1) <= alpha)[-1])
    return float(ordered[best]), float(missed[first[best]])


def _widths(spread: Any, expected: NDArray[np.float64]) -> NDArray[np.float64]:
    """How large the errors of rows are, by what a second forest expects; a tenth of the mean error at least."""
    least = 0.1 * np.asarray(spread.prior_)
    return np.maximum(expected, np.where(least > 0, least, 1.0))


def _spread_of_errors(forest: Any, X: Any, y: Any, groups: NDArray[np.int64] | None) -> tuple[Any, Any]:
    """A forest of the absolute out-of-bag errors of another, and these errors; NaN where there are none."""
    scores, rows = _out_of_bag_scores(forest, X, y, groups)
    target = forest.encode_target(y, n_samples=n_rows(X))
    errors = np.full((n_rows(X), forest.n_outputs_), np.nan)
    errors[rows] = np.abs(scores - _truth(forest, target, y, rows))
    errors = errors[:, 0] if forest._single else errors
    spread = clone(forest).set_params(min_samples_leaf=_LEAF_OF_ERRORS)
    return spread.fit(X, errors, row_groups=groups), errors


def _is_numbers(model: Any) -> bool:
    kind = target_type(model.target_kind_)
    return not kind.has_labels and not kind.ranks_labels


def _entries(
    scores: NDArray[np.float64], truth: Any, shares: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Score of each thing that is true, and its share of its row's truth, of which the row has a share itself."""
    flat = scores.reshape(len(scores), -1)
    true = sparse.csr_array(truth.reshape(len(scores), -1) if isinstance(truth, np.ndarray) else truth)
    true.eliminate_zeros()
    counts = np.diff(true.indptr)
    row = np.repeat(np.arange(len(counts)), counts)
    return flat[row, true.indices], shares[row] / counts[row]


def _scores(forest: Any, X: Any) -> NDArray[np.float64]:
    """What a threshold is set on: smoothed probabilities, predicted numbers or preferences."""
    kind = target_type(forest.target_kind_)
    if kind.has_labels:
        return _smoothed(forest, forest.predict_proba(X), forest.trees_.n_trees)
    if kind.ranks_labels:
        return np.asarray(forest.predict_preferences(X))
    return np.reshape(forest.predict(X), (-1, forest.n_outputs_))


def _out_of_bag_scores(
    forest: Any, X: Any, y: Any, groups: NDArray[np.int64] | None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The same by the trees that did not see each row, and the rows that have such trees and a target."""
    data = forest.training_data(X, y, row_groups=groups, reset=False)
    prediction, seen = forest._out_of_bag(data)
    prediction, rows = prediction[seen], data.positions[seen]
    if not len(rows):
        raise ValueError(
            f"With n_samples={data.n_given} no row is out of bag of any tree. Give more rows, grow more trees, or "
            "use calibrate='split'."
        )
    kind = target_type(forest.target_kind_)
    if kind.has_labels:
        return _smoothed(forest, prediction, forest.trees_.n_trees), rows
    if kind.ranks_labels:
        return preference_matrix(prediction, forest.n_outputs_), rows
    return np.reshape(forest._in_units(prediction), (-1, forest.n_outputs_)), rows


def _smoothed(forest: Any, probabilities: NDArray[np.float64], n_trees: int) -> NDArray[np.float64]:
    return np.asarray((n_trees * probabilities + forest.prior_) / (n_trees + 1))


def _telling(target: Any) -> NDArray[np.bool_]:
    """Rows of which it is known whether a set misses something: those with a known true label, or all known."""
    if target.unknown is None or not target.has_labels:
        return np.ones(target.n_samples, dtype=bool)
    return (np.diff(target.Y.indptr) > 0) | (np.diff(target.unknown.indptr) == 0)


def _truth(forest: Any, target: Any, y: Any, rows: NDArray[np.int64]) -> Any:
    """What is known to be true of these rows: labels, numbers (NaN if unknown), or pairs of labels in their order."""
    if target.has_one_label:
        values = target.classes[target.groups[rows]]
        return sparse.csr_array((values[:, None] == forest.classes_[None, :]).astype(np.int8))
    if target.has_labels:
        return target.Y[rows]
    if target.ranks_labels:
        ranks = check_rankings(y, n_labels=forest.n_outputs_)[rows]
        return ranks[:, :, None] < ranks[:, None, :]
    return np.reshape(target.given, (-1, forest.n_outputs_))[rows]
