"""The heat map: the best features by label."""

from __future__ import annotations

from typing import Any

from ramify.analysis import Results
from ramify.report.branches import heat_map
from ramify.report.page_labels import label_names, with_page_labels
from ramify.report.section import Section


def _part(results: Results) -> list[dict[str, Any]]:
    if len(label_names(results)) < 2:
        return []
    names = results.per_label()
    rankings = {name: with_page_labels(results.rankings[name], results) for name in names}
    return [{"method": name, **heat_map(ranking, n_methods=len(names))} for name, ranking in rankings.items()]


SECTION = Section("heatmap", 60, "Heat map", "Features × labels", key="heatmaps", part=_part)
