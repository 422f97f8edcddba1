"""The ranking of a portfolio: those of its members, weighted."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ramify.ensemble import NeighborsClassifier, Portfolio
from ramify.ranking.feature_ranking import FeatureRanking
from ramify.ranking.forest_ranker import forest_ranking


def portfolio_ranking(portfolio: Portfolio) -> FeatureRanking:
    """Rank features by the members of a fitted portfolio, each with its weight.

    Parameters
    ----------
    portfolio : Portfolio
        A fitted portfolio.

    Returns
    -------
    FeatureRanking
        The sum over members of their weight times their Genie3 scores (gains of boosted trees; for neighbours those of
        the forest that weighs the features), which are divided by their sum so that members count by weight alone; also
        per label where each member has scores per label. Kernels and networks have no scores of features and are left
        out; a portfolio of these alone is refused.

    Examples
    --------
    >>> from ramify.datasets import make_multilabel
    >>> from ramify.ensemble import BoostedClassifier, ForestClassifier, Portfolio
    >>> from ramify.ranking.portfolio_ranking import portfolio_ranking
    >>> data = make_multilabel(100, random_state=0)
    >>> members = {"forest": ForestClassifier(20, random_state=0), "boosted": BoostedClassifier(20, random_state=0)}
    >>> portfolio_ranking(Portfolio(members, random_state=0).fit(data.X, data.y))
    FeatureRanking(50 features, 5 labels, by genie3)
    """
    if not isinstance(portfolio, Portfolio):
        raise TypeError(f"portfolio_ranking takes a fitted Portfolio. Got {type(portfolio).__name__} instead.")
    check_is_fitted(portfolio, "members_")
    trees = {name: made for name, member in portfolio.members_.items() if (made := _trees_of(member)) is not None}
    if not ranks_features(portfolio):
        raise ValueError(
            f"The members of this portfolio, {', '.join(portfolio.members_)}, have no trees and rank no features. Give "
            "it forests or boosted trees, or rank by one of the rankers."
        )
    rankings = {name: forest_ranking(forest, "genie3") for name, forest in trees.items()}
    of_trees = sum(portfolio.weights_[name] for name in trees)
    one = next(iter(rankings.values()))
    scores, per_label = np.zeros(len(one.names)), sparse.csr_array((len(one.names), len(portfolio.label_names_)))
    complete = all(ranking.per_label is not None for ranking in rankings.values())
    for name, ranking in rankings.items():
        total = np.abs(ranking.scores).sum()
        share = portfolio.weights_[name] / (of_trees * total) if total > 0 else 0.0
        scores = scores + share * ranking.scores
        if complete:
            per_label = per_label + share * ranking.per_label
    origin: dict[str, Any] = {"method": "genie3", "estimator": "Portfolio", "weights": dict(portfolio.weights_)}
    return FeatureRanking(
        one.names,
        scores,
        per_label=sparse.csr_array(per_label) if complete else None,
        label_names=one.label_names if complete else (),
        hierarchy=one.hierarchy if complete else None,
        origin=origin,
    )


def ranks_features(portfolio: Portfolio) -> bool:
    """Whether a fitted portfolio has a member of which features have scores."""
    return any(_trees_of(member) is not None for member in portfolio.members_.values())


def _trees_of(member: Any) -> Any:
    """A forest or boosted trees as they are; of neighbours, what weighs the features; of others nothing."""
    if isinstance(member, NeighborsClassifier):
        return member.forest_
    return member if hasattr(member, "trees_") else None
