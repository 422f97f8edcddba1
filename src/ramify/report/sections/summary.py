"""In short: what a reader should know after ten seconds."""

from __future__ import annotations

from ramify.report.section import Section

# Its sentences are made from all the others, so that it has no part of its own and opens the Markdown form.
SECTION = Section("summary", 20, "In short", "In short", shown=lambda content: bool(content["summary"]))
