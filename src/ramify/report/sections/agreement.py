"""Do the methods agree? Rank correlation of every pair, a map of the methods, how many of the best they share."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from ramify import plots
from ramify.analysis import Results
from ramify.ranking import overlap
from ramify.ranking.agreement import method_map, spearman
from ramify.report.notation import rounded
from ramify.report.section import Chart, Content, Section


def _part(results: Results) -> dict[str, Any] | None:
    if len(results.rankings) < 2:
        return None
    names = list(results.rankings)
    rankings = list(results.rankings.values())
    correlation = [[1.0 if a is b else spearman(a, b) for b in rankings] for a in rankings]
    n_features = len(rankings[0])
    sizes = sorted({int(k) for k in np.geomspace(1, max(1, n_features // 2), 12)})
    shared = [np.mean([overlap(a, b, k) for a, b in combinations(rankings, 2)]) for k in sizes]
    nearness = method_map(results.rankings, distance="spearman")
    part = {
        "methods": names,
        "distances": [rounded(row) for row in nearness.distances.to_numpy()],
        "places": [rounded(place) for place in nearness.coordinates.to_numpy()],
        "correlation": [rounded(row) for row in correlation],
        "sizes": sizes,
        "shared": rounded(shared),
        "by_chance": rounded([k / n_features for k in sizes]),
    }
    part["sentences"] = _sentences(part)
    return part


def _sentences(part: dict[str, Any]) -> list[str]:
    """How alike the methods' rankings are."""
    correlation = np.array(part["correlation"], dtype=float)
    upper = np.triu_indices(len(correlation), 1)
    values = correlation[upper]
    low = int(np.argmin(values))
    a, b = (part["methods"][upper[side][low]] for side in (0, 1))
    mean = values.mean()
    word = "agree closely" if mean >= 0.7 else "agree in part" if mean >= 0.3 else "disagree"
    sentence = f"The methods {word}: their mean rank correlation is {mean:.2f}"
    if len(values) > 1:
        sentence += f", the lowest {values[low]:.2f} between {a} and {b}"
    return [sentence + "."]


def _charts(content: Content, results: Results) -> list[Chart]:  # noqa: ARG001
    part = content["agreement"]
    if not part:
        return []
    names = part["methods"]
    figure = plots.agreement(names, np.array(part["correlation"], dtype=float))
    charts = [Chart("agreement", figure, "Rank correlation of every pair of methods.")]
    if len(names) > 2:
        figure = plots.method_map(names, part["places"], distances=np.array(part["distances"], dtype=float))
        caption = "The methods as a map: the nearer, the more alike they order the features."
        charts.append(Chart("methods", figure, caption))
    figure = plots.shared_features(part["sizes"], part["shared"], by_chance=part["by_chance"])
    caption = "Share of their k best features that two methods have in common, on average."
    return [*charts, Chart("shared", figure, caption)]


SECTION = Section(
    "agreement",
    90,
    "Agreement",
    "Do the methods agree?",
    key="agreement",
    part=_part,
    charts=_charts,
    summary=lambda part: part["sentences"][:1],
)
