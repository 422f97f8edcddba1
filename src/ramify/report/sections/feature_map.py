"""The features' own hierarchy, coloured by the first ranking."""

from __future__ import annotations

import numpy as np

from ramify import plots
from ramify.analysis import Results
from ramify.report.section import Chart, Content, Section

MOST_FEATURES = 1500
"""More blocks than this could not be told apart."""


def _is_drawn(results: Results) -> bool:
    """Whether there is a hierarchy of features, and it is small enough to be seen."""
    order = None if results.dataset is None else results.dataset.feature_hierarchy
    return order is not None and bool(results.rankings) and 1 < len(order) <= MOST_FEATURES


def _charts(content: Content, results: Results) -> list[Chart]:
    data = results.dataset
    if not content["feature_map"] or data is None or data.feature_hierarchy is None:
        return []
    order = data.feature_hierarchy
    name, ranking = next(iter(results.rankings.items()))
    score_of = dict(zip(data.feature_names, ranking.scores.tolist(), strict=True))
    scores = np.array([score_of.get(feature, np.nan) for feature in order.names])
    caption = "The hierarchy of the features, each below its (first) parent, coloured by its score."
    return [Chart("features", plots.hierarchy_icicle(order, scores, name=name), caption)]


SECTION = Section(
    "feature-map", 40, "Features", "The features as a map", key="feature_map", part=_is_drawn, charts=_charts
)
