"""Results as one plain dictionary: the content of a report, from which every form of it is made."""

from __future__ import annotations

from typing import Any

import numpy as np

from ramify.analysis import Results
from ramify.analysis.methods import branch_credit, method_meaning, method_words
from ramify.ranking import Claim, FeatureRanking
from ramify.ranking.discovery import WHOLE
from ramify.report.branches import branch_tops, most_driven
from ramify.report.notation import file_names, rounded, titled
from ramify.report.page_labels import label_names, labels_part, with_page_labels
from ramify.report.sections import SECTIONS
from ramify.report.sections.summary import summary_sentences, verdict

OWN_FACTOR = 2
"""A feature is a branch's own where its share is at least this many times its overall share."""

CHIPS = 5
"""Features shown beside each label."""

N_ASSOCIATED = 50
"""Associated features listed for each label, whatever their score."""


def report_content(results: Results) -> dict[str, Any]:
    """Everything the report says, as a dictionary of strings, numbers and lists (it is valid JSON).

    Parameters
    ----------
    results : Results
        What was computed.
    """
    _check_sizes(results)
    content: dict[str, Any] = {
        "format": "ramify-report",
        "format_version": 1,
        "title": _title(results),
        "own_factor": OWN_FACTOR,
        "chips": CHIPS,
        "features": _features(results),
        "labels": labels_part(results),
        "methods": _methods(results),
    }
    for section in SECTIONS:
        if section.part is not None:
            content[section.key] = section.part(results)
    content["verdict"] = verdict(content)
    content["summary"] = summary_sentences(content)
    for section in SECTIONS:
        if section.part is not None and content[section.key]:
            content["summary"] += section.summary(content[section.key])
    return content


def _check_sizes(results: Results) -> None:
    """Refuse numbers that belong to other features or labels."""
    data = results.dataset
    if data is None:
        return
    for name, size, of in (
        ("label_quality", data.n_labels, "label"),
        ("label_baseline", data.n_labels, "label"),
    ):
        given = getattr(results, name)
        if given is not None and np.shape(given) != (size,):
            raise ValueError(
                f"The {name} of a report must hold one number per {of} ({size}). Got the shape {np.shape(given)}; "
                "give those of the same data."
            )


def _title(results: Results) -> str:
    if results.title:
        return results.title
    names = [] if results.dataset is None else file_names(results.dataset.source)
    return names[0] if names else "Ramify report"


def _features(results: Results) -> dict[str, Any]:
    data = results.dataset
    features: dict[str, Any] = {"names": [], "groups": {}}
    features |= dict.fromkeys(("claims", "associations", "given", "planted", "selected"))
    if data is None:
        return features
    features["names"] = titled(data.feature_names, results)
    if results.discoveries is not None:
        features["given"] = results.discoveries.given
        position = {name: str(feature) for feature, name in enumerate(data.feature_names)}
        for group, members in results.discoveries.groups.items():
            features["groups"] |= {position[name]: group for name in members if name in position}
        features["claims"] = [_p_and_q(results.claims_of(name)) for name in (WHOLE, *label_names(results))]
    if results.associations is not None:
        features["associations"] = [_p_and_q(results.associations_of(name)) for name in (WHOLE, *label_names(results))]
    if data.truth is not None:
        features["planted"] = (np.asarray(abs(data.truth).sum(axis=1)).ravel() > 0).astype(int).tolist()
    if results.selected:
        kept = set(results.selected)
        features["selected"] = [int(name in kept) for name in data.feature_names]
    return features


def _p_and_q(claims: dict[int, Claim] | None) -> dict[str, list[float]]:
    """P and q of the features that are claimed of a branch, by position."""
    return {str(feature): rounded(np.array([c.p, c.q])) for feature, c in (claims or {}).items()}


def _driven(per_label: Any, results: Results) -> list[int]:
    """The label that each feature goes with most; only a claimed or associated one where these were tested."""
    if results.discoveries is None and results.associations is None:
        return most_driven(per_label)
    of = results.claims_of if results.discoveries is not None else results.associations_of
    claims = [of(name) or {} for name in label_names(results)]
    driven = []
    for feature in range(per_label.shape[0]):
        own = [(at[feature].q, at[feature].p, label) for label, at in enumerate(claims) if feature in at]
        driven.append(min(own)[2] if own else -1)
    return driven


def _methods(results: Results) -> list[dict[str, Any]]:
    n_with = max(1, len(results.per_label()))
    claims = [
        [*(results.claims_of(name) or {}), *list(results.associations_of(name) or {})[:N_ASSOCIATED]]
        for name in label_names(results)
    ]
    methods = []
    for name, given in results.rankings.items():
        _check_ranking(name, given, results)
        ranking = with_page_labels(given, results)
        per_label = ranking.per_label
        methods.append(
            {
                "name": name,
                "words": method_words(name),
                "meaning": method_meaning(name),
                "credit": branch_credit(ranking),
                "scores": rounded(ranking.scores),
                "ranks": [int(rank) for rank in ranking.ranks],
                "branches": None if per_label is None else branch_tops(ranking, claims, n_methods=n_with),
                "drives": None if per_label is None else _driven(per_label, results),
            }
        )
    return methods


def _check_ranking(name: str, ranking: FeatureRanking, results: Results) -> None:
    n_features = 0 if results.dataset is None else results.dataset.n_features
    if len(ranking) != n_features:
        raise ValueError(
            f"The ranking {name!r} has {len(ranking)} features and the data set {n_features}; "
            "a report needs the data set that its rankings are of."
        )
