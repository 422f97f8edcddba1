"""How well each label is predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from ramify.analysis import Results
from ramify.analysis.model_quality import LABEL_MEASURES
from ramify.report.notation import titled
from ramify.report.section import Section
from ramify.shown import shown_number

if TYPE_CHECKING:
    import pandas as pd

MOST_LABELS = 100
"""Rows of the table, the most frequent labels; --per-label writes all."""

_FDR = 0.1

_POOLED = (
    "A pooled AUROC can lie below the prior's although most labels are predicted well: it compares all pairs of "
    "example and label, and knowing which labels are frequent already scores high there. Values per label have no such "
    "fault."
)


def _part(results: Results) -> dict[str, Any] | None:
    table = results.label_measures
    if table is None or len(table) < 2:
        return None
    known = table[table["auroc"].notna()]
    n_better = int(_is_above_chance(known).sum())
    sentences = [
        f"{n_better:,} of {len(known):,} labels are predicted better than by their frequency alone (AUROC above one "
        f"half by the test of Mann and Whitney, false discovery rate {100 * _FDR:g} %)."
    ]
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


def _is_above_chance(known: pd.DataFrame) -> np.ndarray:
    """Whether rows with a label score higher than rows without it, beyond what chance does to so many labels."""
    n_with = known["rows"].to_numpy(dtype=float)
    n_without = n_with / known["prior"].to_numpy(dtype=float) - n_with
    spread = np.sqrt((n_with + n_without + 1) / (12 * n_with * n_without))
    p_values = stats.norm.sf((known["auroc"].to_numpy(dtype=float) - 0.5) / spread)
    found: np.ndarray = stats.false_discovery_control(p_values) <= _FDR if len(p_values) else np.zeros(0, dtype=bool)
    return found


SECTION = Section("label-quality", 72, "Labels", "How well is each label predicted?", key="label_quality", part=_part)
