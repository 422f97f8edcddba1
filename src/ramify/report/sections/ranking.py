"""The ranking: every feature with its scores and ranks, to search, sort and restrict to a branch."""

from __future__ import annotations

from ramify.report.markdown import escaped, heading, markdown_table
from ramify.report.section import Content, Section

N_FEATURES = 30
"""Rows of the table in Markdown; the rest is in the JSON form."""


def _markdown(content: Content) -> list[str]:
    if not content["methods"]:
        return []
    first, *others = content["methods"]
    best = sorted(range(len(first["ranks"])), key=lambda j: first["ranks"][j])[:N_FEATURES]
    columns = ["rank", "feature", f"{first['name']} score", *(f"rank by {m['name']}" for m in others)]
    rows = [
        [first["ranks"][j], content["features"]["names"][j], first["scores"][j], *(m["ranks"][j] for m in others)]
        for j in best
    ]
    meanings = "\n".join(f"- {escaped(m['name'])}: {escaped(m['meaning'])}" for m in content["methods"])
    return [heading(SECTION.title), meanings, markdown_table(columns, rows)]


SECTION = Section(
    "ranking",
    30,
    "Ranking",
    "Feature ranking",
    shown=lambda content: bool(content["methods"]),
    markdown=_markdown,
)
