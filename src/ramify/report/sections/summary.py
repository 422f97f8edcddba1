"""In short: what a reader should know after ten seconds, and the one sentence that opens the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from ramify.report.notation import percent
from ramify.report.section import Section
from ramify.report.sections.drivers import driving, is_tested
from ramify.targets import target_type

_LEADS: dict[str, tuple[str, str]] = {
    "claimed": ("Claimed to predict beyond the other features", "{feature} for {name}"),
    "associated": ("Associated, by themselves or through others", "{feature} with {name}"),
    "ranked": ("Ranked first, not tested", "{feature} for {name}"),
}
"""How the first features of branches are spoken of, by how they stand to them."""


def summary_sentences(content: dict[str, Any]) -> list[str]:
    """What a reader should know after ten seconds; what the sections add follows."""
    sentences = [_data_sentence(content["data"])] if content["data"] else []
    if content["methods"]:
        sentences.append(_nothing_sentence(content) or _concentration_sentence(content))
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
        other = _nothing_sentence(content) or _concentration_sentence(content)
        return (_branch_sentence(content) or [other])[0]
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


def _nothing_sentence(content: dict[str, Any]) -> str:
    """That nothing was found, where something was looked for; a ranking without it is one of chance."""
    found = [content["features"][key] for key in ("claims", "associations")]
    if not is_tested(content) or any(any(of_branch for of_branch in part) for part in found if part is not None):
        return ""
    return "No feature is shown to matter for any branch: as far as these rows tell, the ranking is by chance."


def _branch_sentence(content: dict[str, Any]) -> list[str]:
    """The largest branches whose first feature is not the other's: claimed ones, else associated ones."""
    method = next((m for m in content["methods"] if m["branches"]), None)
    labels = content["labels"]
    if method is None or len(labels["names"]) < 2:
        return []
    roots = [j for j, parents in enumerate(labels["parents"]) if not parents]
    if len(roots) == 1:
        roots = [j for j, parents in enumerate(labels["parents"]) if parents == roots]
    examples = labels["examples"] or [0] * len(labels["names"])
    roots.sort(key=lambda j: -examples[j])
    leads: dict[str, dict[str, int]] = {standing: {} for standing in _LEADS}
    for label in roots:
        features = driving(content, method, label)
        if features and features[0][0] not in leads[features[0][1]]:
            leads[features[0][1]][features[0][0]] = label
    allowed = list(_LEADS)[:2] if is_tested(content) else ["ranked"]
    standing = next((standing for standing in allowed if len(leads[standing]) > 1), None)
    if standing is None:
        return []
    first = [(labels["names"][label], feature) for feature, label in list(leads[standing].items())[:3]]
    says, pattern = _LEADS[standing]
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
