"""In short: what a reader should know after ten seconds, and the one sentence that opens the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from ramify.report.notation import percent
from ramify.report.section import Section
from ramify.report.sections.drivers import driving
from ramify.targets import target_type

_LEADS: dict[str | None, tuple[str, str]] = {
    "others": ("Branches have their own drivers", "{name} by {feature}"),
    "nothing": ("Branches go with features of their own", "{name} with {feature}"),
    None: ("Ranked first, not tested", "{feature} for {name}"),
}
"""How the features of branches are spoken of, by what claims are beyond."""


def summary_sentences(content: dict[str, Any]) -> list[str]:
    """What a reader should know after ten seconds; what the sections add follows."""
    sentences = [_data_sentence(content["data"])] if content["data"] else []
    if content["methods"]:
        sentences.append(_concentration_sentence(content))
        sentences.extend(_branch_sentence(content))
    sentences.extend(_planted_sentence(content))
    if content["features"]["selected"]:
        chosen = content["features"]["selected"]
        sentences.append(f"{sum(chosen):,} of the {len(chosen):,} features are selected.")
    return sentences


def lead_sentence(content: dict[str, Any]) -> str:
    """The one thing to take away: whose drivers differ, else where the importance lies, else what the data are."""
    if content["methods"]:
        if content["features"]["claims"] is not None:
            return (_branch_sentence(content) or content["claims"]["sentences"])[0]
        return (_branch_sentence(content) or [_concentration_sentence(content)])[0]
    if content["comparisons"]:
        table = content["comparisons"][0]["table"]
        rows = {"Data set": "data sets", "Fold": "folds"}[table["columns"][0]]
        return f"{len(table['columns']) - 1} methods compared over {len(table['rows']) - 1} {rows}."
    return content["summary"][0] if content["summary"] else ""


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
        f"By {method['name']}, {n_half:,} of the {len(scores):,} features {carry} half of all "
        f"importance; {name} leads with {percent(scores[best] / total)}."
    )


def _branch_sentence(content: dict[str, Any]) -> list[str]:
    """The two largest branches whose leading feature is not the other's."""
    method = next((m for m in content["methods"] if m["branches"]), None)
    labels = content["labels"]
    if method is None or len(labels["names"]) < 2:
        return []
    roots = [j for j, parents in enumerate(labels["parents"]) if not parents]
    if len(roots) == 1:
        roots = [j for j, parents in enumerate(labels["parents"]) if parents == roots]
    examples = labels["examples"] or [0] * len(labels["names"])
    roots.sort(key=lambda j: -examples[j])
    leads: dict[str, int] = {}
    for label in roots:
        features = driving(content, method, label)
        if features and features[0] not in leads:
            leads[features[0]] = label
    if len(leads) < 2:
        return []
    first = [(labels["names"][label], feature) for feature, label in list(leads.items())[:3]]
    says, pattern = _LEADS[content["features"]["given"]]
    parts = [pattern.format(name=name, feature=feature) for name, feature in first]
    return [f"{says}: {', '.join(parts[:-1])} and {parts[-1]}."]


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
SECTION = Section("summary", 20, "In short", "In short", shown=lambda content: bool(content["summary"]))
