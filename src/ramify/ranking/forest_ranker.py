"""ForestRanker: features by what they do in the trees of a forest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ramify import _core
from ramify.ensemble.base import BaseForest
from ramify.ensemble.boosting import BaseBoosted
from ramify.ensemble.forest_choice import check_forest, forest_for
from ramify.ensemble.gains import as_csr, known_gains, out_of_bag_gains
from ramify.ensemble.growing import feature_table
from ramify.ensemble.training_data import TrainingData
from ramify.features import Features, feature_names
from ramify.parameters import check_flag, check_integer, check_jobs, check_option, worker_count
from ramify.progress import progress_bar
from ramify.ranking.feature_ranking import BaseRanker, FeatureRanking
from ramify.state import FEATURES, State, fitting, instance
from ramify.targets import Target, kind_of

ERRORS = ("auprc", "brier", "hamming", "misclassification")
SCORES = ("genie3", "symbolic", "permutation", "genie3_oob")
_OUT_OF_BAG_SCORES = ("permutation", "genie3_oob")


@dataclass(kw_only=True, eq=False, repr=False)
class ForestRanker(BaseRanker):
    """Rank features by a forest: Symbolic, Genie3 and Random Forest scores, globally and per label.

    Parameters
    ----------
    estimator : forest (ForestClassifier, ForestRegressor, LabelRankingForest) or boosted trees, optional
        The forest; bagging, random forests and extra trees are parameters of it. By default a random forest of 100
        trees: a regressor where y is numbers (`ramify.targets.kind_of`), else a classifier.
    scores : {"genie3", "symbolic", "permutation", "genie3_oob"} or sequence of them, optional
        What a feature is given credit for; with several, all come from the same forest and the first is the ranking.
        By default "genie3_oob", or "genie3" of a forest without out-of-bag examples (extra trees, boosted trees).

        - "genie3": by how much its tests reduce the impurity, weighted by the examples that reach them; of boosted
          trees (`BoostedClassifier`, `BoostedRegressor`) by how much they reduce the loss, in mean over the rounds; it
          favours features with many values, of which some noise is among the best;
        - "symbolic": the share of examples that reach its tests;
        - "permutation": the Random Forest score, by how much the out-of-bag error grows when its values are permuted;
        - "genie3_oob": Genie3 with the gains measured on out-of-bag examples, which favours no noise; what gains
          nothing there scores about 0, above or below.
    error : {"auprc", "brier", "hamming", "misclassification"}, optional
        The error that "permutation" is the growth of. Label sets: 1 - pooled AUPRC (the default), the Brier score, or
        the Hamming loss of labels of frequency 0.5 and more. Classes: the share of wrong ones (the default) or the
        Brier score. The paper's Eq. 3 leaves it open. Scores per label are of the Brier score always.
    n_jobs, random_state, verbose
        Where not None (not 0), used in place of the forest's own.

    Attributes
    ----------
    ranking_ : FeatureRanking
        The ranking by the (first) score, with scores per label where the score has them: Genie3 and its out-of-bag
        variant for all targets (rankings: per pair "a>b", each below its two labels), and the Random Forest score
        as the increase of the Brier score, or of the squared error of standardised numbers.
    rankings_ : dict of str to FeatureRanking
        The rankings by all scores.
    scores_, scores_per_label_
        Scores of `ranking_`, globally and per label.
    estimator_ : estimator
        The fitted forest.

    Notes
    -----
    Scores are means over trees and not normalised to one. Symbolic counts the examples that reach a node (the paper's
    Eq. 1). Genie3 per label sums, over labels, to the global Genie3; labels weigh as they do in the impurity. The
    Random Forest score is `(err(permuted) - err) / err` per tree, where err is 1 - pooled AUPRC for label sets, the
    share of wrong classes, the squared error or 1 - Kendall's tau, unless `error` says otherwise; a tree without error
    adds 0. It needs out-of-bag examples, and so does genie3_oob; extra trees have none.

    References
    ----------
    M. Petkovic, S. Dzeroski, D. Kocev. Feature ranking for hierarchical multi-label classification with tree ensemble
    methods. Acta Polytechnica Hungarica 17, 2020, section 2.2.

    X. Li, Y. Wang, S. Basu, K. Kumbier, B. Yu. A debiased MDI feature importance measure for random forests. NeurIPS
    2019 (genie3_oob).

    Examples
    --------
    >>> from ramify.datasets import make_hierarchical
    >>> from ramify.ensemble import ForestClassifier
    >>> from ramify.ranking import ForestRanker
    >>> data = make_hierarchical(200, depth=2, random_state=0)
    >>> forest = ForestClassifier(50, hierarchy=data.hierarchy, random_state=0)
    >>> ranker = ForestRanker(forest, scores=["genie3", "symbolic"]).fit(data.X, data.y)
    >>> best = ranker.ranking_.for_label("1").order[0]
    >>> bool(data.truth[best, data.hierarchy.index("1")])
    True
    """

    fitted_state: ClassVar[State] = {
        **FEATURES,
        "estimator_": instance(BaseForest),
        "ranking_": instance(FeatureRanking),
        "rankings_": instance(dict),
    }

    estimator: Any = field(default=None, kw_only=False)
    scores: str | Sequence[str] | None = None
    error: str | None = None
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, row_groups: Any = None) -> ForestRanker:
        """Grow the forest and rank the features.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features; NaN is missing.
        y : array, CSR or frame
            What the forest takes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        row_groups : array-like of shape (n_samples,), optional
            What each row belongs to; bags and out-of-bag rows are by group.

        Returns
        -------
        ForestRanker
            The fitted ranker.
        """
        check_integer(self, "verbose", self.verbose, low=0)
        check_jobs(self, self.n_jobs)
        forest = self._forest(y)
        scores = _checked_scores(self, "scores", default_score(forest) if self.scores is None else self.scores)
        _check_error(self, scores, self.error)
        if not forest.bootstrap:
            _refuse_without_bags(scores)
        with fitting(self):
            forest._check_parameters()
            data = forest.training_data(X, y, sample_weight, row_groups)
            self.estimator_ = forest.fit_on(data)
            self.rankings_ = _rankings(forest, scores, _grown(forest, scores, data), True, self.error)
            self.ranking_ = self.rankings_[scores[0]]
            self.n_features_in_ = forest.n_features_in_
            if hasattr(forest, "feature_names_in_"):
                self.feature_names_in_ = forest.feature_names_in_
        return self

    def _forest(self, y: Any) -> Any:
        if self.estimator is None:
            forest = forest_for(kind_of(y))
        else:
            forest = clone(check_forest("ForestRanker", self.estimator, boosted=True))
        if self.n_jobs is not None:
            forest.set_params(n_jobs=self.n_jobs)
        if self.random_state is not None:
            forest.set_params(random_state=self.random_state)
        if self.verbose:
            forest.set_params(verbose=self.verbose)
        return forest


def default_score(forest: Any) -> str:
    """The score that favours no noise, where a forest has the out-of-bag examples for it.

    Parameters
    ----------
    forest : forest or boosted trees
        Fitted or not.

    Examples
    --------
    >>> from ramify.ensemble import BoostedClassifier, ForestClassifier
    >>> from ramify.ranking.forest_ranker import default_score
    >>> default_score(ForestClassifier()), default_score(BoostedClassifier())
    ('genie3_oob', 'genie3')
    """
    return "genie3_oob" if forest.bootstrap else "genie3"


def forest_ranking(
    forest: BaseForest,
    scores: str | Sequence[str] = "genie3",
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    row_groups: Any = None,
    per_label: bool = True,
    error: str | None = None,
) -> Any:
    """Rank features by the scores of a forest that is already grown.

    Parameters
    ----------
    forest : ForestClassifier, ForestRegressor or LabelRankingForest
        A fitted forest, or the first trees of one (`forest.first(k)`).
    scores : str or sequence of str, default="genie3"
        As of `ForestRanker`.
    X, y, sample_weight, row_groups
        What the forest was fitted on; needed for "permutation" and "genie3_oob", and for "genie3" per label where y was
        known in part.
    per_label : bool, default=True
        Whether to give scores per label where the score has them.
    error : str, optional
        As of `ForestRanker`.

    Returns
    -------
    FeatureRanking, or dict of str to FeatureRanking
        One ranking, or one per score where several are asked for.

    Examples
    --------
    >>> from ramify.datasets import make_multilabel
    >>> from ramify.ensemble import ForestClassifier
    >>> from ramify.ranking import forest_ranking
    >>> data = make_multilabel(100, random_state=0)
    >>> forest = ForestClassifier(25, random_state=0).fit(data.X, data.y)
    >>> forest_ranking(forest.first(10), "symbolic")
    FeatureRanking(50 features, by symbolic)
    """
    names = _checked_scores("forest_ranking", "scores", scores)
    check_flag("forest_ranking", "per_label", per_label)
    _check_error("forest_ranking", names, error)
    grown = grown_on(forest, _with_examples(forest, names, per_label), X, y, sample_weight, row_groups)
    rankings = _rankings(forest, names, grown, per_label, error)
    return rankings[names[0]] if isinstance(scores, str) else rankings


def held_out_ranking(rankings: Mapping[str, FeatureRanking]) -> FeatureRanking:
    """The ranking by Genie3, with scores per label measured on out-of-bag rows (genie3_oob) where there are such.

    In-bag gains credit a feature that is good for anything to every label.

    Parameters
    ----------
    rankings : dict of str to FeatureRanking
        What one forest gives for `held_out_scores(forest)`.

    Examples
    --------
    >>> from ramify.datasets import make_multilabel
    >>> from ramify.ensemble import ForestClassifier
    >>> from ramify.ranking.forest_ranker import forest_ranking, held_out_ranking, held_out_scores
    >>> data = make_multilabel(100, random_state=0)
    >>> forest = ForestClassifier(25, random_state=0).fit(data.X, data.y)
    >>> rankings = forest_ranking(forest, held_out_scores(forest), data.X, data.y)
    >>> held_out_ranking(rankings).origin["per_label"]
    'genie3_oob'
    """
    ranking, held_out = rankings["genie3"], rankings.get("genie3_oob")
    if held_out is None or ranking.per_label is None:
        return ranking
    return replace(ranking, per_label=held_out.per_label, origin={**ranking.origin, "per_label": "genie3_oob"})


def held_out_scores(forest: Any) -> list[str]:
    """The scores that `held_out_ranking` is made of: a forest without out-of-bag rows has Genie3 alone."""
    return ["genie3", "genie3_oob"] if forest.bootstrap else ["genie3"]


def nested_rankings(
    forest: BaseForest,
    sizes: Sequence[int],
    scores: str | Sequence[str] = "genie3",
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    row_groups: Any = None,
    per_label: bool = True,
    error: str | None = None,
) -> list[Any]:
    """Rankings by the first trees of one forest, for several numbers of trees; no tree is scored twice.

    Parameters
    ----------
    forest, scores, X, y, sample_weight, row_groups, per_label, error
        As of `forest_ranking`.
    sizes : sequence of int
        Numbers of trees, up to those of the forest.

    Returns
    -------
    list
        For each size what `forest_ranking(forest.first(size), ...)` gives.

    Examples
    --------
    >>> from ramify.datasets import make_multilabel
    >>> from ramify.ensemble import ForestClassifier
    >>> from ramify.ranking.forest_ranker import nested_rankings
    >>> data = make_multilabel(100, random_state=0)
    >>> forest = ForestClassifier(50, random_state=0).fit(data.X, data.y)
    >>> [ranking.origin["n_estimators"] for ranking in nested_rankings(forest, [10, 25, 50])]
    [10, 25, 50]
    """
    names = _checked_scores("nested_rankings", "scores", scores)
    _check_error("nested_rankings", names, error)
    check_is_fitted(forest, "trees_")
    for size in sizes:
        check_integer("nested_rankings", "sizes", size, low=1, high=forest.trees_.n_trees)
    data = grown_on(forest, _with_examples(forest, names, per_label), X, y, sample_weight, row_groups)
    totals: dict[str, tuple[Any, Any]] = {}
    rankings, done = {}, 0
    for size in sorted(set(sizes)):
        means = _score_means(forest, names, data, forest.trees_.part(done, size), per_label, error)
        totals = {name: _added(totals.get(name), means[name], size - done) for name in names}
        rankings[size] = {name: _ranking(forest, name, *_divided(totals[name], size), size) for name in names}
        done = size
    return [rankings[size][names[0]] if isinstance(scores, str) else rankings[size] for size in sizes]


@dataclass(frozen=True)
class Grown:
    """What a forest was grown on, as the out-of-bag scores need it."""

    features: Features
    table: Any
    target: Target
    weights: np.ndarray | None
    row_groups: np.ndarray | None = None

    @property
    def bagging(self) -> dict[str, Any]:
        """What the kernels must know to draw its bags again."""
        return {"sample_weight": self.weights, "row_groups": self.row_groups}


def _checked_scores(owner: Any, parameter: str, score: Any) -> list[str]:
    names = [score] if isinstance(score, str) else list(score) if isinstance(score, (list, tuple)) else [score]
    if not names:
        raise ValueError("At least one score is needed.")
    return [check_option(owner, parameter, name, SCORES) for name in names]


def _check_error(owner: Any, scores: Sequence[str], error: Any) -> None:
    if error is None:
        return
    check_option(owner, "error", error, ERRORS)
    if "permutation" not in scores:
        raise ValueError(
            f"error={error!r} is what the score 'permutation' measures; it is not among the scores asked for."
        )


def _refuse_without_bags(scores: Sequence[str]) -> None:
    for name in scores:
        if name in _OUT_OF_BAG_SCORES:
            raise ValueError(
                f"The score {name!r} is measured on out-of-bag examples, and a forest with bootstrap=False (extra "
                "trees, and boosted trees) has none. Use 'genie3' or 'symbolic', or a forest with bootstrap=True."
            )


def _with_examples(forest: BaseForest, scores: Sequence[str], per_label: bool) -> list[str]:
    """The scores that are measured on the examples themselves, not read from the trees."""
    check_is_fitted(forest, "trees_")
    partly_known = per_label and _gains_need_examples(forest)
    return [name for name in scores if name in _OUT_OF_BAG_SCORES or (name == "genie3" and partly_known)]


def grown_on(
    forest: BaseForest, scores: Sequence[str], X: Any, y: Any, sample_weight: Any, row_groups: Any = None
) -> Grown | None:
    """The data that a forest was fitted on, checked and encoded, if there are scores that need them."""
    if not scores:
        return None
    if not forest.bootstrap:
        _refuse_without_bags(scores)
    if X is None or y is None:
        where = " per label, where targets are known in part," if scores[0] == "genie3" else ""
        raise ValueError(f"The score {scores[0]!r}{where} needs X and y, the data that the forest was fitted on.")
    return _grown(forest, scores, forest.training_data(X, y, sample_weight, row_groups, reset=False))


def _grown(forest: BaseForest, scores: Sequence[str], data: TrainingData) -> Grown:
    table = None
    if "permutation" in scores:
        table = feature_table(data.features, max_bins=forest.max_bins, n_jobs=forest.n_jobs)
    return Grown(data.features, table, data.target, data.weights, data.row_groups)


def _rankings(
    forest: BaseForest, scores: Sequence[str], grown: Grown | None, per_label: bool, error: str | None
) -> dict[str, FeatureRanking]:
    means = _score_means(forest, scores, grown, forest.trees_, per_label, error)
    return {name: _ranking(forest, name, *means[name], forest.trees_.n_trees) for name in scores}


def _score_means(
    forest: BaseForest,
    scores: Sequence[str],
    data: Grown | None,
    trees: Any,
    per_label: bool,
    error: str | None = None,
) -> dict[str, tuple[np.ndarray, Any]]:
    """Mean over the trees of each score, and of the score per label or None."""
    n_threads = worker_count(forest.n_jobs)
    means: dict[str, tuple[np.ndarray, Any]] = {}
    for name in scores:
        if name == "symbolic":
            means[name] = (_core.symbolic(trees), None)
        elif name == "genie3":
            means[name] = (_core.genie3(trees), _gains(forest, data, trees, n_threads) if per_label else None)
        elif name == "genie3_oob":
            gains = out_of_bag_gains(forest, data, trees)
            means[name] = (np.asarray(gains.sum(axis=1)).ravel(), gains if per_label else None)
        else:
            means[name] = _permuted(forest, data, trees, n_threads, per_label, error)
    return means


def _gains(forest: BaseForest, data: Any, trees: Any, n_threads: int) -> sparse.csr_array | None:
    if isinstance(forest, BaseBoosted):
        return forest.gains_of(trees)
    if _gains_need_examples(forest):
        return known_gains(forest, data, trees, outside=False)
    return as_csr(_core.genie3(trees, output_weights=forest.output_weights(), n_threads=n_threads), trees)


def _gains_need_examples(forest: BaseForest) -> bool:
    """Whether gains per label are of the rows of which it is known."""
    return hasattr(forest, "known_share_") and not isinstance(forest, BaseBoosted)


def _permuted(
    forest: BaseForest, data: Any, trees: Any, n_threads: int, per_label: bool, error: str | None
) -> tuple[np.ndarray, Any]:
    options = data.target.permutation_options(per_output=per_label, error=error)
    with progress_bar(trees.n_trees, forest.verbose, "Permuting features") as progress:
        work = {**data.bagging, "n_threads": n_threads, "progress": progress}
        scores, per_output = _core.permutation(trees, data.table, data.target.kernel_rows(), **options, **work)
    return scores, as_csr(per_output, trees) if per_label else None


def _added(total: tuple[Any, Any] | None, means: tuple[Any, Any], n_trees: int) -> tuple[Any, Any]:
    more = tuple(None if part is None else part * n_trees for part in means)
    if total is None:
        return more[0], more[1]
    return total[0] + more[0], None if more[1] is None else total[1] + more[1]


def _divided(total: tuple[Any, Any], n_trees: int) -> tuple[Any, Any]:
    return total[0] / n_trees, None if total[1] is None else total[1] / n_trees


def _ranking(forest: BaseForest, score: str, scores: np.ndarray, per_label: Any, n_trees: int) -> FeatureRanking:
    names, hierarchy = forest.label_names_, forest.hierarchy
    if per_label is not None:
        per_label, names, hierarchy = forest.label_scores(per_label)
    origin = {
        "method": score,
        "estimator": type(forest).__name__,
        "ensemble": _ensemble(forest),
        "n_estimators": int(n_trees),
        "max_features": forest.max_features,
        "seed": forest.random_state if isinstance(forest.random_state, int) else None,
    }
    return FeatureRanking(
        feature_names(forest),
        scores,
        per_label=per_label,
        label_names=() if per_label is None else names,
        hierarchy=None if per_label is None else hierarchy,
        origin=origin,
    )


def _ensemble(forest: BaseForest) -> str:
    """The paper's name of an ensemble."""
    if isinstance(forest, BaseBoosted):
        return "Boosted Trees"
    if forest.splitter == "random":
        return "Extra Trees"
    return "Bagging" if forest.max_features is None else "Random Forests"
