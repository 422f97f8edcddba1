"""The features' own hierarchy as a map, coloured by a ranking."""

from __future__ import annotations

from typing import Any

from ramify.analysis import Results
from ramify.report.notation import titled
from ramify.report.section import Section

MOST_FEATURES = 1500
"""More blocks than this could not be told apart."""


def _part(results: Results) -> dict[str, Any] | None:
    """Terms with their first parent and their column, -1 for none; nothing where there is no hierarchy to be seen."""
    data = results.dataset
    order = None if data is None else data.feature_hierarchy
    if data is None or order is None or not results.rankings or not 1 < len(order) <= MOST_FEATURES:
        return None
    column = {name: at for at, name in enumerate(data.feature_names)}
    first = [order.parents[name][:1] for name in order.names]
    return {
        "names": titled(order.names, results),
        "parents": [order.index(parent[0]) if parent else -1 for parent in first],
        "features": [column.get(name, -1) for name in order.names],
    }


SECTION = Section(
    "feature-map", 40, "Features", "The features as a map", key="feature_map", part=_part, markdown=lambda _: []
)
