"""The first table: beside each branch claimed features, associated ones, and the best ranked otherwise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ramify.analysis.results import Results
from ramify.ranking import Claim, Discoveries

STANDINGS = ("claimed", "associated", "ranked")
MEANINGS = {
    "claimed": "predicts the branch beyond all other features",
    "associated": "associated with the branch, directly or through other features",
    "ranked": "best ranked of the rest, not shown to matter",
}
"""How a feature stands to a branch, the most that can be said first."""

_COUNTED = {
    "others": "each a feature that predicts its branch beyond all other features",
    "nothing": "each a feature that is associated with its branch, directly or through other features",
}

_NAMED = 5
"""So many branches of features are named in a sentence."""

MARKS = {"claimed": "●", "associated": "○", "ranked": "·"}


@dataclass(frozen=True)
class Beside:
    """A feature, or a group of features that cannot be told apart, beside a branch.

    Attributes
    ----------
    feature : int
        Position of the feature, of a group that of its best member.
    name : str
        What it is called.
    standing : {"claimed", "associated", "ranked"}
        The most that can be said of it.
    score : float
        Its score for the branch.
    claim : Claim or None
        What was claimed, or found associated.
    """

    feature: int
    name: str
    standing: str
    score: float
    claim: Claim | None = None


def beside(results: Results, branch: str, n_most: int) -> list[Beside]:
    """The features beside a branch: claimed ones, associated ones, others by score; none where it has too few rows.

    Parameters
    ----------
    results : Results
        With scores per label.
    branch : str
        The label that heads it.
    n_most : int
        How many at most.
    """
    if branch in untested(results):
        return []
    column = results.branch_column(branch)
    names = results.label_ranking.names
    order = np.argsort(-column, kind="stable").tolist()
    claims = results.claims_of(branch) or {}
    associations = results.associations_of(branch) or {}
    claimed = [j for j in order if j in claims]
    rest = sorted((j for j in order if j in associations and j not in claims), key=lambda j: associations[j].p)
    others = [j for j in order if column[j] > 0 and j not in claims and j not in associations]
    shown: dict[str, Beside] = {}
    is_drive = results.discoveries is not None and results.discoveries.given == "others"
    for j in claimed:  # a group once, with its best member
        made = Beside(j, claims[j].feature, STANDINGS[0 if is_drive else 1], float(column[j]), claims[j])
        shown.setdefault(claims[j].feature, made)
    for j in rest:
        shown.setdefault(names[j], Beside(j, names[j], "associated", float(column[j]), associations[j]))
    for j in others[:n_most]:
        shown.setdefault(names[j], Beside(j, names[j], "ranked", float(column[j])))
    return list(shown.values())[:n_most]


def untested(results: Results) -> dict[str, str]:
    """Labels of which nothing is said, and why: too few rows with or without them."""
    tested = results.discoveries or results.associations
    return {} if tested is None else dict(tested.untested)


def discovery_count(discoveries: Discoveries) -> str:
    """How many claims there are, of what kind and at which error rate; the start of a sentence."""
    what = _COUNTED[discoveries.given]
    number = "No discovery" if not discoveries.claims else "1 discovery" if len(discoveries.claims) == 1 else ""
    number = number or f"{len(discoveries.claims):,} discoveries"
    return f"{number} at FDR {100 * discoveries.fdr:g} %" + (f", {what}" if discoveries.claims else "")


def associated_sentences(results: Results) -> list[str]:
    """How many associations there are beside the claims, in a sentence."""
    associations = results.associations
    if associations is None:
        return []
    n_features = len({claim.feature for claim in associations.claims})
    if not n_features:
        return [f"No feature is associated with any branch at FDR {100 * associations.fdr:g} %."]
    n_branches = len({claim.branch for claim in associations.claims})
    branches = "one branch" if n_branches == 1 else f"{n_branches:,} branches"
    return [
        f"{_are(n_features)} associated with {branches}, directly or through other features "
        f"(FDR {100 * associations.fdr:g} %)."
    ]


def _are(n_features: int) -> str:
    return "1 feature is" if n_features == 1 else f"{n_features:,} features are"


def branch_sentences(discoveries: Discoveries) -> list[str]:
    """What was claimed of branches of features, in a sentence; none where features have no hierarchy."""
    if not discoveries.feature_branches:
        return []
    claimed: dict[str, list[str]] = {}
    for claim in discoveries.claims:
        if claim.feature in discoveries.feature_branches:
            claimed.setdefault(claim.feature, []).append(claim.branch_name)
    asked = f"{len(discoveries.feature_branches):,} branches of features were tested beside single features"
    if not claimed:
        return [f"{asked}, and none is claimed."]
    some = "; ".join(f"{name}: {', '.join(branches[:3])}" for name, branches in list(claimed.items())[:_NAMED])
    more = "" if len(claimed) <= _NAMED else f", and {len(claimed) - _NAMED:,} more"
    return [f"{asked}. {len(claimed):,} of them, each as a whole, predict beyond the features outside: {some}{more}."]


def unclaimed_reasons(results: Results) -> list[str]:
    """Why branches have no claim, and what would help, in sentences."""
    discoveries, associations = results.discoveries, results.associations
    if discoveries is None and associations is None:
        return []
    sentences = []
    few = untested(results)
    if few:
        one = next(iter(few))
        number = "1 label was" if len(few) == 1 else f"{len(few):,} labels were"
        universal = all(reason.startswith("no row without") for reason in few.values())
        advice = "" if universal else " More rows, or coarser labels, would help."
        sentences.append(f"{number} not tested, such as {one}: {few[one]}.{advice}")
    if discoveries is None or associations is None:
        return sentences
    members = {
        name: discoveries.groups.get(name, (name,))
        for name in (*discoveries.doubtful, *(c.feature for c in discoveries.claims))
    }
    claimed = {(member, claim.branch) for claim in discoveries.claims for member in members[claim.feature]}
    open_pairs = [(claim.feature, claim.branch) for claim in associations.claims]
    features = {feature for feature, branch in open_pairs if branch and (feature, branch) not in claimed}
    doubtful = {member for name in discoveries.doubtful for member in members[name]}
    if features & doubtful:
        sentences.append(
            f"{_are(len(features & doubtful))} associated but cannot be claimed: other features carry the same "
            "information. Leaving out near copies would help."
        )
    if features - doubtful:
        sentences.append(
            f"{_are(len(features - doubtful))} associated with branches but not shown to predict them beyond all "
            "other features, which may carry the same information. More rows would help."
        )
    return sentences
