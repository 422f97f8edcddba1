"""How well a model predicts, with the prior beside it."""

from __future__ import annotations

from typing import Any

from ramify.analysis import Results
from ramify.report.section import Section
from ramify.shown import shown_number


def _part(results: Results) -> dict[str, Any] | None:
    if results.measures is None:
        return None
    rows = [
        [str(name), shown_number(row["model"]), shown_number(row["prior"]), str(row["better"])]
        for name, row in results.measures.iterrows()
    ]
    sentence = f"{results.measured_on}. The prior knows only how frequent each label is, or the mean of each number."
    columns = ["Measure", "Model", "Prior alone", "Better is"]
    on = results.measured_on[:1].lower() + results.measured_on[1:]
    return {"on": on, "sentences": [sentence], "table": {"columns": columns, "rows": rows}}


SECTION = Section("measures", 70, "Measures", "How well is it predicted?", key="measures", part=_part)
