"""Which labels help to predict which, by L-classifier chains."""

from __future__ import annotations

from typing import Any

from ramify.analysis import Results
from ramify.report.notation import percent, titled
from ramify.report.section import Section

MOST_LABELS = 100
"""Rows of the table; `ramify rank --per-label` writes all."""

N_HELPERS = 3
"""Labels named beside each."""


def _part(results: Results) -> dict[str, Any] | None:
    helpers = results.helping_labels(N_HELPERS)
    if len(helpers) < 2:
        return None
    rows = []
    for label, found in list(helpers.items())[:MOST_LABELS]:
        cells = [f"{titled([name], results)[0]} ({percent(share)})" for name, share in found]
        rows.append([titled([label], results)[0], *cells, *[""] * (N_HELPERS - len(cells))])
    sentences = [
        "Where all other labels are known too: the labels that help most to predict each, with their share of all "
        "importance for it; the rest is the features'."
    ]
    if len(rows) < len(helpers):
        sentences.append(f"The first {len(rows)} of {len(helpers):,} labels are listed.")
    columns = ["Label", *(f"Helping label {number}" for number in range(1, N_HELPERS + 1))]
    return {"sentences": sentences, "table": {"columns": columns, "rows": rows}}


SECTION = Section(
    "label-dependence",
    65,
    "Dependence",
    "Which labels help to predict which?",
    key="label_dependence",
    part=_part,
)
