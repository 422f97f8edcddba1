"""What predicts what: every branch of the labels with the features that have to do with it."""

from __future__ import annotations

from typing import Any

from ramify.analysis.first_table import MARKS, MEANINGS, STANDINGS
from ramify.report.markdown import escaped, heading, markdown_table
from ramify.report.section import Content, Section
from ramify.shown import shown_number

N_LABELS = 40
"""Branches listed in Markdown; the rest is in the JSON form."""

_LEGEND = "; ".join(f"{MARKS[standing]} {meaning}" for standing, meaning in MEANINGS.items()) + "."


def has_branches(content: Content) -> bool:
    """Whether there is something to say of each label."""
    methods = content["methods"]
    return any(method["branches"] for method in methods) or bool(methods and content["labels"]["quality"])


def standing_of(content: Content, feature: int, label: int) -> str:
    """How a feature stands to a branch: claimed, associated, or ranked only."""
    features, key = content["features"], str(feature)
    if features["claims"] and key in features["claims"][label + 1]:
        return "claimed" if features["given"] == "others" else "associated"
    if features["associations"] and key in features["associations"][label + 1]:
        return "associated"
    return "ranked"


def driving(content: Content, method: dict[str, Any], label: int) -> list[tuple[str, str]]:
    """The features beside a branch and how they stand to it: claimed first, then associated, then best ranked."""
    if content["labels"]["untested"][label]:
        return []
    names, groups = content["features"]["names"], content["features"]["groups"]
    found: dict[str, str] = {}
    for feature in method["branches"]["features"][label]:
        standing = standing_of(content, feature, label)
        found.setdefault(
            groups.get(str(feature), names[feature]) if standing == "claimed" else names[feature], standing
        )
    return sorted(found.items(), key=lambda item: STANDINGS.index(item[1]))


def is_tested(content: Content) -> bool:
    """Whether it was tested which features have to do with which branches."""
    return content["features"]["claims"] is not None or content["features"]["associations"] is not None


def _markdown(content: Content) -> list[str]:
    method = next((m for m in content["methods"] if m["branches"]), None)
    if method is None:
        return []
    labels = content["labels"]
    order = sorted(range(len(labels["names"])), key=lambda j: -(labels["examples"] or [0] * len(labels["names"]))[j])
    rows = []
    for label in order[:N_LABELS]:
        beside = driving(content, method, label)[: content["chips"]]
        top = ", ".join(f"{MARKS[standing]} {name}" if is_tested(content) else name for name, standing in beside)
        top = top or content["labels"]["untested"][label] or ""
        examples = "" if labels["examples"] is None else f"{labels['examples'][label]:,}"
        quality = (
            "" if not labels["quality"] or labels["quality"][label] is None else shown_number(labels["quality"][label])
        )
        rows.append([labels["names"][label], examples, quality, top])
    columns = [labels["noun"], "examples", labels["quality_name"], "top features"]
    said = [f"Ranked by {escaped(method['credit'])}."] if method["credit"] else []
    said += [_LEGEND] if is_tested(content) else []
    return [heading(SECTION.title), *said, markdown_table(columns, rows)]


SECTION = Section("drivers", 10, "What predicts what", "What predicts what", shown=has_branches, markdown=_markdown)
