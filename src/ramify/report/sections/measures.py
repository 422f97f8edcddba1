"""How well a model predicts, with the prior beside it."""

from __future__ import annotations

from typing import Any

from ramify.analysis import Results
from ramify.report.notation import three_decimals
from ramify.report.section import Section


def _part(results: Results) -> dict[str, Any] | None:
    if results.measures is None:
        return None
    rows = [
        [str(name), _measured(row["model"]), _measured(row["prior"]), str(row["better"])]
        for name, row in results.measures.iterrows()
    ]
    sentence = f"{results.measured_on}. The prior knows only how frequent each label is, or the mean of each number."
    columns = ["Measure", "Model", "Prior alone", "Better is"]
    return {"sentences": [sentence], "table": {"columns": columns, "rows": rows}}


def _measured(value: float) -> str:
    """Three decimals, or three digits where decimals would show two small losses as the same."""
    return f"{value:.3g}" if 0 < abs(value) < 0.1 else three_decimals(value)


SECTION = Section("measures", 70, "Measures", "How well is it predicted?", key="measures", part=_part)
