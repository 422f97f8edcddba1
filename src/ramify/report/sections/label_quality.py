"""How well each label is predicted."""

from __future__ import annotations

from typing import Any

from ramify.analysis import Results
from ramify.analysis.model_quality import LABEL_MEASURES
from ramify.report.notation import titled
from ramify.report.section import Section
from ramify.shown import shown_number

MOST_LABELS = 100
"""Rows of the table, the most frequent labels; --per-label writes all."""

_POOLED = (
    "A pooled AUROC can lie below the prior's although most labels are predicted well: it compares all pairs of "
    "example and label, and knowing which labels are frequent already scores high there. Values per label have no such "
    "fault."
)


def _part(results: Results) -> dict[str, Any] | None:
    table = results.label_measures
    if table is None or len(table) < 2:
        return None
    known = table[table["auprc"].notna()]
    n_better = int((known["auprc"] > known["prior"]).sum())
    sentences = [f"{n_better:,} of {len(known):,} labels are predicted better than by their frequency alone (AUPRC)."]
    shown = table.sort_values("rows", ascending=False, kind="stable").head(MOST_LABELS)
    if len(shown) < len(table):
        sentences.append(f"The {len(shown)} most frequent of {len(table):,} labels are listed.")
    names = titled([str(name) for name in shown.index], results)
    rows = [
        [name, f"{int(row['rows']):,}", *(shown_number(row[column]) for column in list(LABEL_MEASURES)[1:])]
        for name, (_, row) in zip(names, shown.iterrows(), strict=True)
    ]
    columns = ["Label", *LABEL_MEASURES.values()]
    return {"sentences": [*sentences, _POOLED], "table": {"columns": columns, "rows": rows}}


SECTION = Section("label-quality", 72, "Labels", "How well is each label predicted?", key="label_quality", part=_part)
