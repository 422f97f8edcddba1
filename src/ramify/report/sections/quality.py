"""Can the ranking be trusted? Weighted neighbours, curves of added features."""

from __future__ import annotations

from typing import Any

import numpy as np

from ramify import plots
from ramify.analysis import Results
from ramify.analysis.results import Curve
from ramify.report.notation import rounded
from ramify.report.section import Chart, Content, Section
from ramify.shown import shown_number


def _part(results: Results) -> dict[str, Any] | None:
    if not (results.knn_quality or results.curves):
        return None
    part: dict[str, Any] = {
        "measure": results.quality_name,
        "knn": {name: rounded(value) for name, value in results.knn_quality.items()},
        "knn_baseline": rounded(results.knn_baseline),
        "curves": {name: _curve(curve) for name, curve in results.curves.items()},
        "random": None if results.random_curve is None else _curve(results.random_curve),
    }
    part["table"] = _table(part)
    part["sentences"] = _sentences(part)
    return part


def _curve(curve: Curve) -> dict[str, Any]:
    return {
        "sizes": [int(size) for size in curve.sizes],
        "values": rounded(curve.values),
        "low": None if curve.low is None else rounded(curve.low),
        "high": None if curve.high is None else rounded(curve.high),
    }


def _table(part: dict[str, Any]) -> dict[str, Any] | None:
    """Methods by the checks that were made, with what chance gives in the last row."""
    if not (part["knn"] or part["curves"]):
        return None
    columns = ["Ranking"]
    if part["knn"]:
        columns.append(f"Weighted neighbours, {part['measure']}")
    if part["curves"]:
        columns.append(f"Mean over the curve, {part['measure']}")
    rows = []
    for name in dict.fromkeys([*part["knn"], *part["curves"]]):
        row = [name]
        if part["knn"]:
            row.append(shown_number(part["knn"].get(name)))
        if part["curves"]:
            row.append(shown_number(_mean_of_known(part["curves"].get(name))))
        rows.append(row)
    last = ["Without a ranking"]
    if part["knn"]:
        last.append(shown_number(part["knn_baseline"]))
    if part["curves"]:
        last.append(shown_number(_mean_of_known(part["random"])))
    return {"columns": columns, "rows": [*rows, last]}


def _sentences(part: dict[str, Any]) -> list[str]:
    """Which rankings beat random order: their mean over the curve lies above that of its upper band."""
    sentences = []
    random = part["random"]
    chance = _mean_of_known(random)
    bound = None if random is None or random["high"] is None else _mean_of_known({"values": random["high"]})
    of_curves = {name: _mean_of_known(curve) for name, curve in part["curves"].items()}
    means = {name: mean for name, mean in of_curves.items() if mean is not None}
    if means and chance is not None and bound is not None:
        best = max(means, key=lambda name: means[name])
        n_above = sum(mean > bound for mean in means.values())
        if n_above == len(means):
            word = "The ranking beats" if len(means) == 1 else "All rankings beat"
        elif len(means) == 1:
            word = "The ranking is not shown to beat"
        else:
            word = f"{n_above} of {len(means)} rankings beat"
        sentences.append(
            f"{word} random order: adding features by {best} gives a mean {part['measure']} of "
            f"{shown_number(means[best])}, random order {shown_number(chance)}, 97.5 % of random orders at most "
            f"{shown_number(bound)}."
        )
    weighted = {name: value for name, value in part["knn"].items() if value is not None}
    if weighted and part["knn_baseline"] is not None:
        values = ", ".join(f"{name} {shown_number(value)}" for name, value in weighted.items())
        sentences.append(
            f"{part['measure']} of neighbours weighted by the rankings: {values}; with all features alike "
            f"{shown_number(part['knn_baseline'])}. The difference is not tested."
        )
    return sentences


def _mean_of_known(curve: dict[str, Any] | None) -> float | None:
    """Mean of a curve over the sizes at which it was measured; None where that is nowhere."""
    known = [] if curve is None else [value for value in curve["values"] if value is not None]
    return float(np.sum(np.array(known) / len(known))) if known else None


def _charts(content: Content, results: Results) -> list[Chart]:  # noqa: ARG001
    charts = []
    part = content["quality"]
    if part and part["curves"]:
        random = part["random"]
        figure = plots.addition_curves(
            {name: (curve["sizes"], curve["values"]) for name, curve in part["curves"].items()},
            random=None if random is None else (random["sizes"], random["values"], random["low"], random["high"]),
            measure=part["measure"],
        )
        caption = "Quality of a forest that may only use the best features. The grey band is random order."
        charts.append(Chart("curves", figure, caption))
    return charts


SECTION = Section(
    "quality",
    80,
    "Trust",
    "Can the ranking be trusted?",
    key="quality",
    part=_part,
    charts=_charts,
    summary=lambda part: part["sentences"][:1],
)
