"""Which forest fits a target."""

from __future__ import annotations

from typing import Any

from ramify.ensemble.base import BaseForest
from ramify.ensemble.boosted_classifier import BoostedClassifier
from ramify.ensemble.boosted_regressor import BoostedRegressor
from ramify.ensemble.boosting import BaseBoosted
from ramify.hierarchy import Hierarchy
from ramify.targets import KINDS, Target, target_type

BOOSTED: dict[str, type[BaseBoosted]] = {"ForestClassifier": BoostedClassifier, "ForestRegressor": BoostedRegressor}
"""Boosted trees for what a forest learns."""


def forests() -> dict[str, type[BaseForest]]:
    """The forests that targets name, as `ramify.ensemble` has them."""
    from ramify import ensemble  # which imports this

    names = dict.fromkeys(target_type(kind).forest for kind in KINDS[1:])
    return {name: getattr(ensemble, name) for name in names if name}


def forest_for(target: Target | str, *, hierarchy: Hierarchy | None = None, **parameters: Any) -> Any:
    """Make the forest that fits a target, not yet grown.

    Parameters
    ----------
    target : Target or str
        What `ramify.targets.encode` returns, or a kind of target.
    hierarchy : Hierarchy, optional
        Hierarchy of the labels, where only a kind is given.
    **parameters
        Parameters of the forest.

    Examples
    --------
    >>> from ramify.ensemble.forest_choice import forest_for
    >>> forest_for("numbers", n_estimators=10)
    ForestRegressor(n_estimators=10)
    """
    made = target if isinstance(target, Target) else target_type(target)
    return forests()[made.forest](**_told(parameters, made, hierarchy))


def boosted_for(target: Target | str, *, hierarchy: Hierarchy | None = None, **parameters: Any) -> Any:
    """Make the boosted trees that fit a target, not yet fitted.

    Parameters
    ----------
    target : Target or str
        What `ramify.targets.encode` returns, or a kind of target.
    hierarchy : Hierarchy, optional
        Hierarchy of the labels, where only a kind is given.
    **parameters
        Parameters of the boosted trees.

    Examples
    --------
    >>> from ramify.ensemble.forest_choice import boosted_for
    >>> boosted_for("numbers", n_estimators=10)
    BoostedRegressor(n_estimators=10)
    """
    made = target if isinstance(target, Target) else target_type(target)
    if made.forest not in BOOSTED:
        raise ValueError(f"Boosted trees learn classes, label sets and numbers, not a target of kind {made.kind!r}.")
    return BOOSTED[made.forest](**_told(parameters, made, hierarchy))


def _told(parameters: dict[str, Any], target: Target | type[Target], hierarchy: Hierarchy | None) -> dict[str, Any]:
    """The parameters, with what the estimator must be told of the target."""
    known = target.forest_parameters if isinstance(target, Target) else {}
    return {**known, **({} if hierarchy is None else {"hierarchy": hierarchy}), **parameters}


def check_forest(owner: str, forest: Any, *, boosted: bool = False) -> Any:
    """Return the forest, or refuse what is none; boosted trees are taken where `boosted` says so."""
    taken = (*forests().values(), *(BOOSTED.values() if boosted else ()))
    if not isinstance(forest, taken):
        names = [made.__name__ for made in taken]
        raise TypeError(
            f"The 'estimator' parameter of {owner} must be a {', a '.join(names[:-1])} or a {names[-1]}. "
            f"Got {type(forest).__name__} instead."
        )
    return forest
