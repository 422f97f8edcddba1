"""How well a classifier predicts over selected features, and how many of them it needs."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline

from ramify.features.frames import column_names, take_rows
from ramify.metrics import average_precision_score, geometric_mean, roc_auc_score
from ramify.parameters import check_integer
from ramify.ranking import FeatureRanking
from ramify.selection.lazy_classifiers import LazyNaiveBayes, LazyNeighbors


@dataclass(frozen=True, eq=False)
class SelectionResult:
    """Predictions of a cross-validation over selected features, and what was selected.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        True classes.
    classes : ndarray
        Classes, sorted.
    probabilities : ndarray of shape (n_samples, n_classes)
        Of each row when it was in the test fold.
    folds : ndarray of shape (n_samples,)
        Number of that fold.
    ranking : FeatureRanking
        Features by the share of test rows that selected them.
    fit_seconds, predict_seconds : float
        CPU time over all folds.
    """

    y: np.ndarray
    classes: np.ndarray
    probabilities: np.ndarray
    folds: np.ndarray
    ranking: FeatureRanking
    fit_seconds: float
    predict_seconds: float

    @property
    def share(self) -> float:
        """Mean share of the features that a row selects."""
        return float(self.ranking.scores.mean())

    def measures(self, *, positive: Any = None) -> dict[str, float]:
        """AUCPR, AUROC, GM and accuracy of the predictions of all folds together, and as means over the folds.

        Parameters
        ----------
        positive : class, optional
            The positive one of two classes; by default the last in sorted order. With more classes every measure is
            the mean of one class against the others, weighted by their frequency.

        Returns
        -------
        dict
            "auprc" (the step sum), "auroc", "gm" and "accuracy", and each with the ending "_folds".
        """
        if positive is not None and positive not in self.classes:
            known = ", ".join(map(str, self.classes))
            raise ValueError(f"There is no class {positive!r}; the data has {known}.")
        pooled = self._measures(np.ones(len(self.y), dtype=bool), positive)
        by_fold = [self._measures(self.folds == fold, positive) for fold in np.unique(self.folds)]
        means = {f"{name}_folds": float(np.nanmean([fold[name] for fold in by_fold])) for name in pooled}
        return {**pooled, **means, "share": self.share}

    def by_prior(self) -> SelectionResult:
        """The same rows predicted by how frequent each class is, without any feature."""
        shares = np.mean(self.y[:, None] == self.classes, axis=0)
        return replace(self, probabilities=np.tile(shares, (len(self.y), 1)))

    def _measures(self, rows: np.ndarray, positive: Any) -> dict[str, float]:
        truth, scores = self.y[rows], self.probabilities[rows]
        predicted = self.classes[np.argmax(scores, axis=1)]
        accuracy = float(np.mean(truth == predicted))
        if len(self.classes) == 2:
            column = 1 if positive is None else int(np.flatnonzero(self.classes == positive)[0])
            present = (truth == self.classes[column]).astype(int)
            return {
                "auprc": float(average_precision_score(present, scores[:, column])),
                "auroc": float(roc_auc_score(present, scores[:, column])),
                "gm": float(geometric_mean(truth, predicted, pos_label=self.classes[column])),
                "accuracy": accuracy,
            }
        members = (truth[:, None] == self.classes).astype(int)
        chosen = (predicted[:, None] == self.classes).astype(int)
        return {
            "auprc": float(average_precision_score(members, scores, average="weighted")),
            "auroc": float(roc_auc_score(members, scores, average="weighted")),
            "gm": float(geometric_mean(members, chosen, average="weighted")),
            "accuracy": accuracy,
        }


def cross_validated_selection(
    estimator: Any, X: Any, y: Any, *, names: Any = None, n_splits: int = 10, random_state: int = 0
) -> SelectionResult:
    """Cross-validate a classifier over selected features, with everything learnt on training rows alone.

    Parameters
    ----------
    estimator : LazyNaiveBayes, LazyNeighbors or Pipeline
        A lazy classifier, or a pipeline that starts with a selector of one subset for all rows.
    X : array, sparse matrix or frame of shape (n_samples, n_features)
        Binary features.
    y : array of shape (n_samples,)
        Classes.
    names : sequence of str, optional
        Feature names of an array.
    n_splits : int, default=10
        Number of stratified, shuffled folds.
    random_state : int, default=0
        Seed of the folds.

    Examples
    --------
    >>> from ramify.datasets import make_feature_hierarchy
    >>> from ramify.selection import LazyNaiveBayes, LazySelector, cross_validated_selection
    >>> data = make_feature_hierarchy(200, strength=0.5, random_state=0)
    >>> result = cross_validated_selection(LazyNaiveBayes(LazySelector(data.feature_hierarchy)), data.X, data.y)
    >>> result.measures()["auroc"] > 0.8, result.share < 0.2
    (True, True)
    """
    check_integer("cross_validated_selection", "n_splits", n_splits, low=2)
    y = np.asarray(y)
    X = sparse.csr_array(X) if sparse.issparse(X) else X
    names = column_names(X) if names is None or hasattr(X, "columns") else tuple(names)
    classes = np.unique(y)
    probabilities = np.zeros((len(y), len(classes)))
    folds = np.zeros(len(y), dtype=int)
    counts = np.zeros(len(names))
    fit_seconds = predict_seconds = 0.0
    splitter = StratifiedKFold(n_splits, shuffle=True, random_state=random_state)
    for fold, (train, test) in enumerate(splitter.split(np.zeros(len(y)), y)):
        X_train, X_test = take_rows(X, train), take_rows(X, test)
        model = clone(estimator)
        started = time.process_time()
        model.fit(X_train, y[train])
        fitted = time.process_time()
        predicted = model.predict_proba(X_test)
        predict_seconds += time.process_time() - fitted
        fit_seconds += fitted - started
        probabilities[np.ix_(test, np.searchsorted(classes, model.classes_))] = predicted
        folds[test] = fold
        counts += _selection_counts(model, X_test)
    ranking = FeatureRanking(names, counts / len(y), origin={"method": "selection frequency over test rows"})
    return SelectionResult(y, classes, probabilities, folds, ranking, fit_seconds, predict_seconds)


def _selection_counts(model: Any, X: Any) -> np.ndarray:
    """Number of rows that select each feature."""
    n_rows, n_features = X.shape
    if isinstance(model, (LazyNaiveBayes, LazyNeighbors)) and model.selector_ is not None:
        masks = model.selector_.selection_blocks(model.selector_.read_rows(X))
        return sum((np.bincount(mask.indices, minlength=n_features) for mask in masks), np.zeros(n_features))
    if isinstance(model, Pipeline) and hasattr(model[0], "get_support"):
        return n_rows * model[0].get_support().astype(float)
    return np.full(n_features, float(n_rows))
