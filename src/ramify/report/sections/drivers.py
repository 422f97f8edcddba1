"""Who drives what: every branch of the labels with the features that matter most for it."""

from __future__ import annotations

from typing import Any

from ramify.report.markdown import escaped, heading, markdown_table
from ramify.report.section import Content, Section
from ramify.shown import shown_number

N_LABELS = 40
"""Branches listed in Markdown; the rest is in the JSON form."""

_ASSOCIATED = "The features beside a branch are associated with it; which of them drive it was not asked."


def has_branches(content: Content) -> bool:
    """Whether there is something to say of each label."""
    methods = content["methods"]
    return any(method["branches"] for method in methods) or bool(methods and content["labels"]["quality"])


def driving(content: Content, method: dict[str, Any], label: int) -> list[str]:
    """The features of a branch, best first; with claims only features and groups that are claimed to drive it."""
    names, groups, claims = (content["features"][key] for key in ("names", "groups", "claims"))
    features: list[int] = method["branches"]["features"][label]
    if claims is None:
        return [names[f] for f in features]
    return list(dict.fromkeys(groups.get(str(f), names[f]) for f in features if str(f) in claims[label + 1]))


def _markdown(content: Content) -> list[str]:
    method = next((m for m in content["methods"] if m["branches"]), None)
    if method is None:
        return []
    labels = content["labels"]
    order = sorted(range(len(labels["names"])), key=lambda j: -(labels["examples"] or [0] * len(labels["names"]))[j])
    rows = []
    for label in order[:N_LABELS]:
        top = ", ".join(driving(content, method, label)[: content["chips"]])
        examples = "" if labels["examples"] is None else f"{labels['examples'][label]:,}"
        quality = (
            "" if not labels["quality"] or labels["quality"][label] is None else shown_number(labels["quality"][label])
        )
        rows.append([labels["names"][label], examples, quality, top])
    columns = [labels["noun"], "examples", labels["quality_name"], "top features"]
    said = [f"Ranked by {escaped(method['credit'])}."] if method["credit"] else []
    said += [_ASSOCIATED] if content["features"]["given"] == "nothing" else []
    return [heading(SECTION.title), *said, markdown_table(columns, rows)]


SECTION = Section("drivers", 10, "Who drives what", "Who drives what", shown=has_branches, markdown=_markdown)
