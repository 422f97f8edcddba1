"""In short: the verdict of at most three sentences that opens the page, and what else a reader should know at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ramify.report.notation import percent
from ramify.report.section import Section
from ramify.report.sections.drivers import driving
from ramify.shown import listed, shown_number
from ramify.targets import target_type

_N_NAMED = 3


def verdict(content: dict[str, Any]) -> list[str]:
    """What was found, how good it is, and what is not shown: at most three sentences.

    Parameters
    ----------
    content : dict
        All parts of the sections.
    """
    found = [*_comparison_verdict(content), *_finding(content), *_quality(content), *_open_end(content)]
    return found[:3] or ([_data_sentence(content["data"])] if content["data"] else [])


def summary_sentences(content: dict[str, Any]) -> list[str]:
    """What else a reader should know after ten seconds; what the sections add follows."""
    sentences = [_data_sentence(content["data"])] if content["data"] else []
    if content["methods"] and not _is_by_chance(content["features"]):
        sentences.append(_concentration_sentence(content))
    sentences.extend(_planted_sentence(content))
    if content["features"]["selected"]:
        chosen = content["features"]["selected"]
        sentences.append(f"{sum(chosen):,} of the {len(chosen):,} features are selected.")
    return [sentence for sentence in sentences if sentence not in content["verdict"]]


def _comparison_verdict(content: dict[str, Any]) -> list[str]:
    """What the first measure says, and how many others say the same."""
    if not content["comparisons"]:
        return []
    first, *others = content["comparisons"]
    if len(others) < 2:
        return (
            [f"By {one['measure']}: {one['verdict']}" for one in content["comparisons"]]
            if others
            else [first["verdict"]]
        )
    n_same = sum(comparison["better"] == first["better"] for comparison in others)
    same = {0: "None", 1: "One", len(others): "All"}.get(n_same, f"{n_same}")
    says = "says" if n_same < 2 else "say"
    return [
        f"By {first['measure']}: {first['verdict']}",
        f"{same} of the {len(others)} other measures {says} the same.",
    ]


def _finding(content: dict[str, Any]) -> list[str]:
    """What was claimed, else what is associated, else what is ranked first."""
    if not content["methods"]:
        return []
    features = content["features"]
    tested = [key for key in ("claims", "associations") if features[key] is not None]
    if not tested:
        first = _first_features(content, "ranked")
        return [f"Ranked first, not tested: {first}."] if first else [_concentration_sentence(content)]
    sentences = []
    for key in tested:
        n_features = len({feature for of_branch in features[key] for feature in of_branch})
        beyond = key == "claims" and features["given"] == "others"
        first = _first_features(content, "claimed" if beyond else "associated")
        if beyond and content["claims"]:
            sentences.append(content["claims"]["count"] + (f": {first}." if first else "."))
        elif n_features:
            what = first or f"{n_features:,} features with {sum(map(bool, features[key])):,} branches"
            sentences.append(f"Associated, directly or through other features: {what}.")
        else:
            sentences.append("No feature is associated with any branch: the ranking may be chance.")
    if len(sentences) == 2 and any(map(len, features["claims"])) and any(map(len, features["associations"])):
        return sentences[:1]  # the association follows in the last sentence
    return sentences


def _first_features(content: dict[str, Any], standing: str) -> str:
    """The first feature of the largest branches, each feature once."""
    method = next((m for m in content["methods"] if m["branches"]), None)
    labels = content["labels"]
    if method is None or len(labels["names"]) < 2:
        return ""
    examples = labels["examples"] or [0] * len(labels["names"])
    tops = sorted(_tops(labels), key=lambda j: -examples[j])
    others = sorted(set(range(len(examples))) - set(tops), key=lambda j: -examples[j])
    leads: dict[str, int] = {}
    for label in [*tops, *(others if standing == "claimed" else ())]:
        features = driving(content, method, label)
        if features and features[0][1] == standing:
            leads.setdefault(features[0][0], label)
        if len(leads) == _N_NAMED:
            break
    word = "with" if standing == "associated" else "for"
    return listed([f"{feature} {word} {labels['names'][label]}" for feature, label in leads.items()])


def _tops(labels: dict[str, Any]) -> list[int]:
    """The labels at the top; below a single one, and below one that every row has, those under it."""
    children: dict[int, list[int]] = {}
    roots = [label for label, parents in enumerate(labels["parents"]) if not parents]
    for label, parents in enumerate(labels["parents"]):
        for parent in parents:
            children.setdefault(parent, []).append(label)
    tops: dict[int, None] = {}
    waiting = children.get(roots[0], roots) if len(roots) == 1 else roots
    for label in waiting:
        tops |= dict.fromkeys(children.get(label, [label]) if labels["untested"][label] else [label])
    return list(tops)


def _quality(content: dict[str, Any]) -> list[str]:
    """How well the target is predicted, beside what its frequencies alone give."""
    if content["measures"]:
        first = content["measures"]["table"]["rows"][0]
        return [f"Prediction: {first[0]} {first[1]}, baseline (prior) {first[2]} ({content['measures']['on']})."]
    labels = content["labels"]
    known = [
        (quality, prior)
        for quality, prior in zip(labels["quality"] or (), labels["baseline"] or (), strict=False)
        if quality is not None and prior is not None
    ]
    if len(labels["names"]) > 1 and known:
        quality, prior = (float(np.mean(values)) for values in zip(*known, strict=True))
        name = labels["quality_name"]
        of = f"the {len(known):,} {labels['nouns']}" if len(known) > 1 else "the label"
        return [f"Mean {name} of {of}: {shown_number(quality)}, baseline (label frequencies) {shown_number(prior)}."]
    return []


def _is_by_chance(features: dict[str, Any]) -> bool:
    """Whether features were tested and none is shown to matter."""
    tested = [features[key] for key in ("claims", "associations") if features[key] is not None]
    return bool(tested) and not any(pairs for of_branch in tested for pairs in of_branch)


def _open_end(content: dict[str, Any]) -> list[str]:
    """How much more is associated than claimed, so that nobody takes the short list for all there is."""
    features = content["features"]
    if not features["claims"] or not features["associations"] or features["given"] != "others":
        return []
    associated = {feature for of_branch in features["associations"] for feature in of_branch}
    claimed = {feature for of_branch in features["claims"] for feature in of_branch}
    n_more = len(associated - claimed)
    if not n_more or not claimed:
        return []
    more = "1 more feature is" if n_more == 1 else f"{n_more:,} more features are"
    return [f"{more} associated with branches, but may only repeat what other features say."]


def _data_sentence(data: dict[str, Any]) -> str:
    start = f"{data['n_samples']:,} examples are described by {data['n_features']:,} features"
    if not data["target"]:
        return f"{start}."
    return f"{start} and {target_type(data['target']).sentence(data['n_labels'], data['levels'])}."


def _concentration_sentence(content: dict[str, Any]) -> str:
    method = content["methods"][0]
    scores = np.maximum([score or 0.0 for score in method["scores"]], 0)
    total = scores.sum()
    if total == 0:
        return f"{method['name']} finds no feature that matters."
    ordered = np.sort(scores)[::-1]
    n_half = int(np.searchsorted(np.cumsum(ordered), total / 2)) + 1
    best = int(np.argmax(scores))
    name = content["features"]["names"][best]
    carry = "carry" if n_half > 1 else "carries"
    return (
        f"{method['words'].capitalize()}, {n_half:,} of the {len(scores):,} features {carry} half of all "
        f"importance; {name} leads with {percent(scores[best] / total)}."
    )


def _planted_sentence(content: dict[str, Any]) -> list[str]:
    planted = content["features"]["planted"]
    if not planted or not content["methods"]:
        return []
    n_planted = sum(planted)
    method = content["methods"][0]
    best = np.argsort(method["ranks"], kind="stable")[:n_planted]
    n_found = sum(planted[j] for j in best)
    return [
        f"The truth is known here: {n_found} of the {n_planted} planted features are among the {n_planted} that "
        f"{method['name']} ranks highest."
    ]


# Its sentences are made from all other parts, so that it has none of its own; in Markdown they open the page.
SECTION = Section("summary", 5, "In short", "In short", shown=lambda content: bool(content["verdict"]))
