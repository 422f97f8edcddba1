"""Rank the features of a data set by several methods, test the first and measure them all: the flow in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from os import PathLike
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GroupShuffleSplit, train_test_split

from ramify.analysis.chosen_parameters import set_parameters, with_hierarchy_parameters
from ramify.analysis.claiming import claims_and_associations
from ramify.analysis.methods import ENSEMBLES, RANKING_METHODS, branch_credit, default_methods
from ramify.analysis.model_data import (
    forest_for,
    learnt_and_unseen,
    model_target,
    nominal_features,
    row_weights_and_groups,
)
from ramify.analysis.model_quality import label_parts
from ramify.analysis.results import Curve, Results
from ramify.datasets import Dataset
from ramify.parameters import check_option, check_real
from ramify.ranking import Discoveries, FeatureRanking, ForestRanker, addition_curve, fuji, knn_quality
from ramify.ranking.forest_ranker import held_out_ranking, held_out_scores


def analyse(
    data: Dataset,
    *,
    methods: Sequence[str] | None = None,
    ensemble: str = "random-forest",
    n_estimators: int = 100,
    n_neighbors: int = 15,
    n_iterations: float = 1.0,
    fdr: float | None = 0.1,
    given: str = "others",
    quality: bool | Mapping[str, Any] = False,
    explain: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
    checkpoint: str | PathLike[str] | None = None,
    all_rows: bool = False,
    audit_claims: bool = False,
    parameters: Mapping[str, Any] | None = None,
) -> Results:
    """Which features matter, for which labels, how sure that is and how good the rankings are.

    Parameters
    ----------
    data : Dataset
        With a target. Its test part, if it has one beside others, takes no part in the ranking; `quality` and `explain`
        use it.
    methods : sequence of str, optional
        Of `RANKING_METHODS`; the first is shown in full. By default "genie3_oob", gains on rows that a tree has not
        seen, which favour no noise; forests without such rows (extra trees, boosted trees) are ranked by "genie3", and
        the results say so. Scores per label of "genie3" are gains on out-of-bag rows too, where there are any.
    ensemble : {"random-forest", "bagging", "extra-trees", "boosted"}, default="random-forest"
        The forest that scores.
    n_estimators : int, default=100
        Its number of trees.
    n_neighbors, n_iterations
        Of Relief: neighbours, and the share (up to 1.0) or number of rows that it visits.
    fdr : float or None, default=0.1
        Expected share of false claims that a feature predicts a branch beyond all others, and apart from these of false
        associations, by `ramify.ranking.discoveries`; None for no tests. Claims need out-of-bag rows, which extra trees
        have not, and 100 rows; associations need neither. Prepared tables are ranked without tests and curves, which
        need the values.
    given : {"others", "nothing"}, default="others"
        Whether a claim says that a feature tells something beyond all others (drive), or anything (association).
    quality : bool or mapping, default=False
        Whether to add nearest neighbours weighted by the rankings and curves of added features; a mapping holds options
        of `addition_curve`, by default three folds and ten random rankings.
    explain : bool, default=False
        Whether to add how well each label is predicted, and why for a few rows.
    random_state : int, default=0
        Seed.
    n_jobs : int, optional
        Number of threads; it changes the time only.
    verbose : int, default=0
        Show progress if positive.
    checkpoint : path, optional
        A folder from which claims go on where they were stopped, as of `ramify.ranking.discoveries`.
    all_rows : bool, default=False
        Whether claims are tested on all rows where there are more than 10,000.
    audit_claims : bool, default=False
        Whether to say how far claims hold on this table, by `ramify.ranking.audit`; it takes about six times as long.
    parameters : mapping of str to value, optional
        Further parameters by name: of the rankers of these methods, of their forest (then of that of the claims too),
        or `w0` and `aggregate` of the label hierarchy.

    Returns
    -------
    Results
        What the command line prints, `ramify.report.write_report` shows and a notebook displays.

    Examples
    --------
    >>> from ramify.analysis import analyse
    >>> from ramify.datasets import make_hierarchical
    >>> data = make_hierarchical(200, depth=2, random_state=0)
    >>> results = analyse(data, n_estimators=20)
    >>> best = results.rankings["genie3_oob"].for_label("1").order[0]
    >>> bool(data.truth[best, data.hierarchy.index("1")])
    True
    """
    started = perf_counter()
    methods = default_methods(ensemble) if methods is None else methods
    _check(data, methods, ensemble, fdr, given)
    data, chosen = with_hierarchy_parameters(data, parameters or {})
    if data.storage == "coded":  # rankings of forests need codes alone
        fdr, quality = None, False
    learnt, unseen = learnt_and_unseen(data)
    forest = {
        **ENSEMBLES[ensemble],
        "n_estimators": n_estimators,
        "random_state": random_state,
        "n_jobs": n_jobs,
        "verbose": verbose,
    }
    if explain:
        forest["oob_score"] = forest["bootstrap"] and learnt.target_type.has_sets
    relief = {
        "n_neighbors": n_neighbors,
        "n_iterations": _share(n_iterations, learnt.n_samples),
        "random_state": random_state,
        "n_jobs": n_jobs,
    }
    curves = {"cv": 3, "n_random": 10, **(quality if isinstance(quality, Mapping) else {})} if quality else None
    _check_sizes(methods, n_neighbors, curves, learnt.n_samples)
    rankers = {name: RANKING_METHODS[name].build(learnt, forest=forest, relief=relief) for name in methods}
    set_parameters(rankers.values(), chosen)
    if chosen:  # claims are made by the same forest
        of_forest = forest_for(learnt, **forest).get_params()
        forest |= {name: value for name, value in chosen.items() if name in of_forest}
    rankings, grown = _rankings(rankers, learnt)
    parts: dict[str, Any] = {}
    for name, ranker in rankers.items():
        parts |= RANKING_METHODS[name].parts(ranker, learnt)
    if fdr is not None:
        asked: dict[str, Any] = {
            "given": given,
            "checkpoint": checkpoint,
            "all_rows": all_rows,
            "audited": audit_claims,
        }
        parts |= claims_and_associations(learnt, forest, fdr=fdr, **asked)
    if curves is not None:
        run = _Quality(learnt, unseen, random_state, n_jobs, verbose)
        parts |= run.neighbors(rankers, rankings) | run.curves(rankers, curves)
    if explain and grown is not None:
        parts |= label_parts(grown, learnt, unseen, (learnt if unseen is None else unseen).X)
    return Results(
        learnt,
        rankings,
        facts=_facts(rankings, ensemble, forest, relief, parts.get("discoveries"), parameters or {}),
        titles=learnt.titles,
        seed=random_state,
        seconds=perf_counter() - started,
        **parts,
    )


def _check(data: Dataset, methods: Sequence[str], ensemble: str, fdr: float | None, given: str) -> None:
    if data.y is None:
        raise ValueError(f"{data.source or 'The data'} has no target to rank for; name its columns.")
    if isinstance(methods, str) or not methods:
        raise ValueError(f"The 'methods' parameter of analyse must be a list of methods. Got {methods!r} instead.")
    for name in methods:
        check_option("analyse", "methods", name, tuple(RANKING_METHODS))
    check_option("analyse", "ensemble", ensemble, tuple(ENSEMBLES))
    if fdr is not None:
        check_real("analyse", "fdr", fdr, low=0, high=1, open_low=True, open_high=True)
    check_option("analyse", "given", given, ("others", "nothing"))
    lacking = [name for name in methods if RANKING_METHODS[name].needs_out_of_bag]
    if lacking and not ENSEMBLES[ensemble]["bootstrap"]:
        able = ", ".join(name for name, parameters in ENSEMBLES.items() if parameters["bootstrap"])
        raise ValueError(
            f"The method {lacking[0]} is measured on out-of-bag rows, which {ensemble} has not. Use another method, or "
            f"an ensemble with bootstrap samples ({able})."
        )


def _check_sizes(methods: Sequence[str], n_neighbors: int, curves: Mapping[str, Any] | None, n_samples: int) -> None:
    """Refuse more neighbours or folds than there are rows before the work begins."""
    if "relief" in methods and n_neighbors >= n_samples:
        raise ValueError(f"{n_neighbors} neighbours are more than the other {n_samples - 1} rows; name fewer.")
    if curves is not None and isinstance(curves["cv"], int) and curves["cv"] > n_samples:
        raise ValueError(f"{curves['cv']} folds are more than the {n_samples} rows; name fewer.")


def _share(n_iterations: float, n_samples: int) -> float:
    """A number of rows as a share of them, so that it also fits parts of the data."""
    if not isinstance(n_iterations, int):
        return n_iterations
    if n_iterations > n_samples:
        raise ValueError(f"{n_iterations} iterations are more than the {n_samples} rows; name fewer.")
    return n_iterations / n_samples


def _rankings(rankers: dict[str, Any], data: Dataset) -> tuple[dict[str, FeatureRanking], Any]:
    """The rankings by all methods, and the one forest that all scores of forests come from."""
    rankings: dict[str, FeatureRanking] = {}
    grown = None
    scores = [name for name in rankers if RANKING_METHODS[name].of_forest]
    if scores:
        joint = clone(rankers[scores[0]])
        besides = held_out_scores(joint.estimator) if "genie3" in scores else []
        joint.set_params(scores=list(dict.fromkeys([*scores, *besides])))
        joint.fit(data.X, model_target(data), **row_weights_and_groups(data, joint))
        rankings, grown = dict(joint.rankings_), joint.estimator_
        if besides:
            rankings["genie3"] = held_out_ranking(rankings)
    for name, ranker in rankers.items():
        if name not in scores:
            rankings[name] = RANKING_METHODS[name].fit(ranker, data.X, data).ranking_
    return {name: _named(rankings[name], data) for name in rankers}, grown


def _named(ranking: FeatureRanking, data: Dataset) -> FeatureRanking:
    """The ranking with the data's own names of features and labels."""
    labels = ranking.label_names
    own = ranking.per_label is not None and not data.target_type.ranks_labels and not data.target_type.has_one_label
    if own and len(data.label_names) == len(labels):
        labels = data.label_names
    names = data.feature_names if len(ranking) == data.n_features else ranking.names
    return FeatureRanking(
        names,
        ranking.scores,
        per_label=ranking.per_label,
        label_names=labels,
        hierarchy=ranking.hierarchy,
        origin={**ranking.origin, "source": data.source, "sha256": data.sha256},
    )


def _plain(ranker: Any) -> Any:
    """A ranker that shows no progress and measures nothing besides."""
    if isinstance(ranker, ForestRanker):
        return clone(ranker).set_params(estimator__verbose=0, estimator__oob_score=False)
    return clone(ranker).set_params(verbose=0)


@dataclass(frozen=True)
class _Quality:
    """Whether the rankings help nearest neighbours, and adding features in their order beats random order."""

    learnt: Dataset
    unseen: Dataset | None
    seed: int
    n_jobs: int | None
    verbose: int

    def neighbors(self, rankers: dict[str, Any], rankings: dict[str, FeatureRanking]) -> dict[str, Any]:
        """Quality on the test part, or on a third of the rows that a second ranking does not see."""
        usable = _repeatable(rankers)
        if not usable or not self.learnt.target_type.measure:
            return {}
        train, test = self.learnt, self.unseen
        if test is None:
            parts = _two_thirds_and_one(train, self.seed)
            train, test = self.learnt.rows(np.sort(parts[0])), self.learnt.rows(np.sort(parts[1]))
            rankings, _ = _rankings({name: _plain(ranker) for name, ranker in usable.items()}, train)
        plain = [
            FeatureRanking([f"x{j}" for j in range(len(rankings[name]))], rankings[name].scores) for name in usable
        ]
        qualities = knn_quality(
            plain,
            train.X,
            model_target(train),
            test.X,
            model_target(test),
            hierarchy=train.hierarchy,
            target=str(train.target),
            categorical_features=train.categorical_features,
            sample_weight=train.sample_weight,
            n_jobs=self.n_jobs,
        )
        return {
            "knn_quality": {name: float(one.weighted) for name, one in zip(usable, qualities, strict=True)},
            "knn_baseline": float(qualities[0].unweighted),
            "quality_name": qualities[0].measure,
        }

    def curves(self, rankers: dict[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
        """A curve for every ranking, and the band of random ones."""
        curves: dict[str, Curve] = {}
        parts: dict[str, Any] = {"curves": curves}
        for name, ranker in _repeatable(rankers).items():
            results = addition_curve(
                _plain(ranker),
                self.learnt.X,
                model_target(self.learnt),
                hierarchy=self.learnt.hierarchy,
                categorical_features=nominal_features(self.learnt),
                sample_weight=self.learnt.sample_weight,
                row_groups=self.learnt.row_groups,
                n_jobs=self.n_jobs,
                random_state=self.seed,
                verbose=self.verbose,
                **{**options, **({"n_random": 0} if curves else {})},
            )
            curves[name] = Curve(results.sizes, results.values, area=results.area)
            parts["quality_name"] = results.measure
            if results.random_mean is not None:
                band = (results.random_mean, results.random_low, results.random_high)
                parts["random_curve"] = Curve(results.sizes, *band, area=results.random_area)
        return parts


def _two_thirds_and_one(data: Dataset, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to rank by and rows to measure on; rows of one group stay together."""
    rows = np.arange(data.n_samples)
    if data.row_groups is None:
        first, second = train_test_split(rows, test_size=1 / 3, random_state=seed)
        return first, second
    return next(GroupShuffleSplit(1, test_size=1 / 3, random_state=seed).split(rows, groups=data.row_groups))


def _repeatable(rankers: dict[str, Any]) -> dict[str, Any]:
    """The rankers that are quick enough to be fitted again and again."""
    return {name: ranker for name, ranker in rankers.items() if RANKING_METHODS[name].repeatable}


def _facts(
    rankings: dict[str, FeatureRanking],
    ensemble: str,
    forest: dict[str, Any],
    relief: dict[str, Any],
    discoveries: Discoveries | None,
    chosen: Mapping[str, Any],
) -> dict[str, str]:
    facts = {"Methods": ", ".join(rankings)}
    if chosen:
        facts["Set"] = ", ".join(f"{name}={value}" for name, value in chosen.items())
    if any(RANKING_METHODS[name].of_forest for name in rankings):
        facts["Forest"] = f"{forest['n_estimators']} trees, {ensemble.replace('-', ' ')}"
    credits = {name: branch_credit(ranking) for name, ranking in rankings.items()}
    if any(credits.values()):
        facts["Branches"] = "; ".join(f"{name}: {credit}" for name, credit in credits.items() if credit)
    if "relief" in rankings:
        own = relief | {name: chosen[name] for name in ("n_neighbors", "n_iterations") if name in chosen}
        facts["Relief"] = f"{own['n_neighbors']} neighbours, share {own['n_iterations']:g} of the rows"
    efficiency = ", ".join(f"{name} {(ranking.scores > 0).mean():.3f}" for name, ranking in rankings.items())
    facts["Efficiency"] = f"share of the features with a positive score: {efficiency}"
    if len(rankings) > 1:
        pairs = combinations(rankings.items(), 2)
        alike = ", ".join(f"{one} and {other} {fuji(a, b).area:.3f}" for (one, a), (other, b) in pairs)
        facts["FUJI"] = f"similarity of the rankings, 1 where they are the same: {alike}"
    if discoveries is not None:
        facts["Claims"] = f"{discoveries.question} {discoveries.guarantee}"
    return facts
