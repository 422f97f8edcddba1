"""The labels as a map: a block below its parent, coloured by quality, examples or the importance of a feature."""

from __future__ import annotations

from ramify.report.section import Section
from ramify.report.sections.drivers import has_branches

SECTION = Section(
    "map",
    50,
    "Map",
    "The labels as a map",
    shown=lambda content: has_branches(content) and len(content["labels"]["names"]) > 1,
)
