"""A few rows: what was predicted for them and which features moved the prediction."""

from __future__ import annotations

from typing import Any

from ramify.analysis import Results
from ramify.analysis.results import Outcome
from ramify.report.notation import titled
from ramify.report.section import Section


def _part(results: Results) -> dict[str, Any] | None:
    if not results.explained:
        return None
    cases = []
    for row in results.explained:
        has = titled(row.has[:6], results) + ([f"{len(row.has) - 6} more"] if len(row.has) > 6 else [])
        cases.append({"id": row.id, "has": has, "outcomes": [_outcome(one, results) for one in row.outcomes]})
    return {"on": results.explained_on, "cases": cases}


def _outcome(outcome: Outcome, results: Results) -> dict[str, Any]:
    widest = max((abs(reason.effect) for reason in outcome.reasons), default=0.0) or 1.0
    reasons = [
        {
            "feature": titled([reason.feature], results)[0],
            "value": reason.value,
            "effect": f"{reason.effect:+.3f}",
            "sign": "plus" if reason.effect >= 0 else "minus",
            "x": round(50 + min(0.0, 50 * reason.effect / widest), 1),
            "width": round(abs(50 * reason.effect / widest), 1),
        }
        for reason in outcome.reasons
    ]
    return {
        "label": titled([outcome.label], results)[0],
        "predicted": f"{outcome.predicted:.2f}",
        "base": f"{outcome.base:.2f}",
        "correct": outcome.correct,
        "reasons": reasons,
    }


SECTION = Section(
    "predictions",
    110,
    "Predictions",
    "Predictions and their reasons",
    key="predictions",
    part=_part,
    markdown=lambda content: [],  # noqa: ARG005
)
