"""Content of a report as Markdown, for a repository, an issue or a terminal."""

from __future__ import annotations

import re
from typing import Any

N_FEATURES = 30
"""Rows of the ranking table; the rest is in the JSON form."""

N_LABELS = 40
"""Branches listed; the rest is in the JSON form."""


def markdown_text(content: dict[str, Any]) -> str:
    """The report as Markdown.

    Parameters
    ----------
    content : dict
        From `report_content`.
    """
    parts = [f"# {escaped(content['title'])}", "\n".join(f"- {escaped(s)}" for s in content["summary"])]
    parts.extend(_drivers(content))
    parts.extend(_ranking(content))
    for key, title in (
        ("measures", "How well is it predicted?"),
        ("quality", "Can the ranking be trusted?"),
        ("agreement", "Do the methods agree?"),
    ):
        section = content[key]
        if section:
            parts.append(f"## {title}")
            parts.append("\n".join(f"- {escaped(sentence)}" for sentence in section["sentences"]))
            if section.get("table"):
                parts.append(_table(section["table"]["columns"], section["table"]["rows"]))
    for comparison in content["comparisons"]:
        parts.append(f"## Methods compared by {escaped(comparison['measure'])}")
        parts.append(escaped(comparison["sentence"]))
        parts.append(_table(comparison["table"]["columns"], comparison["table"]["rows"]))
    if content["data"]:
        parts.append("## The data\n\n" + _facts(content["data"]["facts"]))
    made = list(content["made"]["facts"])
    if content["made"]["command"]:
        made.append(("Command", content["made"]["command"]))
    parts.append("## How this was made\n\n" + _facts(made))
    parts.append("## How to cite\n\n" + "\n".join(f"- {escaped(reference)}" for reference in content["citations"]))
    return "\n\n".join(parts) + "\n"


def _drivers(content: dict[str, Any]) -> list[str]:
    method = next((m for m in content["methods"] if m["branches"]), None)
    if method is None:
        return []
    labels, names = content["labels"], content["features"]["names"]
    order = sorted(range(len(labels["names"])), key=lambda j: -(labels["examples"] or [0] * len(labels["names"]))[j])
    rows = []
    for label in order[:N_LABELS]:
        top = ", ".join(names[f] for f in method["branches"]["features"][label][: content["chips"]])
        examples = "" if labels["examples"] is None else f"{labels['examples'][label]:,}"
        quality = "" if not labels["quality"] or labels["quality"][label] is None else f"{labels['quality'][label]:.3f}"
        rows.append([labels["names"][label], examples, quality, top])
    return ["## Who drives what", _table([labels["noun"], "examples", labels["quality_name"], "top features"], rows)]


def _ranking(content: dict[str, Any]) -> list[str]:
    if not content["methods"]:
        return []
    first = content["methods"][0]
    best = sorted(range(len(first["ranks"])), key=lambda j: first["ranks"][j])[:N_FEATURES]
    columns = ["rank", "feature", f"{first['name']} score", *(f"rank by {m['name']}" for m in content["methods"][1:])]
    rows = [
        [first["ranks"][j], content["features"]["names"][j], first["scores"][j]]
        + [m["ranks"][j] for m in content["methods"][1:]]
        for j in best
    ]
    meanings = "\n".join(f"- {escaped(m['name'])}: {escaped(m['meaning'])}" for m in content["methods"])
    return ["## Feature ranking", meanings, _table(columns, rows)]


def _table(columns: list[Any], rows: list[list[Any]]) -> str:
    head, *body = ("| " + " | ".join(escaped(str(cell)) for cell in line) + " |" for line in [columns, *rows])
    return "\n".join([head, "|" + " --- |" * len(columns), *body])


def _facts(facts: list[Any]) -> str:
    return "\n".join(f"- {escaped(name)}: {escaped(value)}" for name, value in facts)


def escaped(text: str) -> str:
    """Text whose Markdown and HTML marks are shown, not obeyed, on one line and without control characters."""
    printable = "".join(c if c.isprintable() else " " for c in text)
    return re.sub(r"([\\`*_{}\[\]<>#|!~])", r"\\\1", printable).replace("\\<", "&lt;").replace("\\>", "&gt;")
