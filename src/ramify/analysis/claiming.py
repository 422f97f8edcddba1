"""What can be said of features and branches of a data set at an error rate, or why nothing can."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

from ramify.analysis.methods import RANKING_METHODS
from ramify.analysis.model_data import model_target
from ramify.datasets import Dataset
from ramify.hierarchy import Hierarchy
from ramify.ranking import Discoveries, audit, discoveries
from ramify.ranking.discovery import Untestable


def claims_and_associations(
    data: Dataset,
    forest: dict[str, Any],
    *,
    fdr: float,
    given: str,
    checkpoint: str | PathLike[str] | None,
    all_rows: bool = False,
    audited: bool = False,
) -> dict[str, Any]:
    """Claims and associations as parts of `Results`: association alone is tested where `given` is "nothing"."""
    associations = associated(data, forest, fdr=fdr)
    if given == "nothing":
        found, why = associations.get("associations"), associations.get("no_claims", "")
        return {"discoveries": found, "no_claims": why}
    if not forest["bootstrap"]:
        return {**associations, "no_claims": "these trees have no out-of-bag rows to test on"}
    options = {**forest, "n_estimators": 200, "min_samples_leaf": 3, "oob_score": False}
    asked: dict[str, Any] = {"given": "others", "fdr": fdr, "checkpoint": checkpoint}
    if all_rows:
        asked["max_rows"] = None
    if data.feature_hierarchy is not None:
        asked["feature_hierarchy"] = _by_position(data.feature_hierarchy, data.feature_names)
    claims = _found(data, options, "discoveries", **asked)
    if audited and "discoveries" in claims:
        found = claims["discoveries"]
        claims["discoveries"] = replace(found, notes=(*found.notes, *_audited(data, options, fdr)))
    return associations | claims


def _by_position(hierarchy: Hierarchy, features: Sequence[str]) -> Hierarchy:
    """The hierarchy with features called x0, x1, ..., as those of an array are."""
    called = {name: f"x{position}" for position, name in reversed(list(enumerate(features)))}
    taken = set(called.values())
    own = (called.get(name, f"{name} (node)" if name in taken else name) for name in hierarchy.names)
    return Hierarchy(list(own), hierarchy.edges)


def _audited(data: Dataset, forest: dict[str, Any], fdr: float) -> tuple[str, ...]:
    model = RANKING_METHODS["genie3"].build(data, forest=forest, relief={}).estimator
    running = {"n_jobs": forest["n_jobs"], "random_state": forest["random_state"]}
    try:
        return audit(model, data.X, model_target(data), fdr=fdr, row_groups=data.row_groups, **running).sentences
    except Untestable as error:
        return (f"No audit: {error}",)


def associated(data: Dataset, forest: dict[str, Any], *, fdr: float) -> dict[str, Any]:
    """Associations alone, as parts of `Results`."""
    return _found(data, {**forest, "oob_score": False}, "associations", given="nothing", fdr=fdr)


def _found(data: Dataset, forest: dict[str, Any], part: str, **asked: Any) -> dict[str, Any]:
    if "boosted" in forest:
        forest.pop("oob_score")
    model = RANKING_METHODS["genie3"].build(data, forest=forest, relief={}).estimator
    running = {"n_jobs": forest["n_jobs"], "random_state": forest["random_state"], "verbose": forest["verbose"]}
    target = model_target(data)
    try:
        rows: dict[str, Any] = {"sample_weight": data.sample_weight, "row_groups": data.row_groups}
        claims: Discoveries = discoveries(model, data.X, target, **rows, **asked, **running)
    except Untestable as error:
        return {"no_claims": str(error).removesuffix(".")}
    own = model.encode_target(target).output_names
    renamed = dict(zip(own, data.label_names, strict=True)) if len(own) == len(data.label_names) else {}
    return {part: claims.with_names(data.feature_names, renamed)}
