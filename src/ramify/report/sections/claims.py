"""Claims: which features drive which branches, at a stated error rate, and what was left out."""

from __future__ import annotations

from typing import Any

from ramify.analysis import Results
from ramify.analysis.first_table import (
    associated_sentences,
    branch_sentences,
    discovery_count,
    unclaimed_reasons,
)
from ramify.plots.claims import claims_by_branch
from ramify.report.notation import titled
from ramify.report.section import Chart, Content, Section
from ramify.shown import shown_number, shown_p

N_CLAIMS = 200
"""Claims listed on the page; all of them are written beside the ranking."""


def _part(results: Results) -> dict[str, Any] | None:
    found = results.discoveries
    if found is None:
        if not results.no_claims:
            return None
        sentences = [f"No claims: {results.no_claims}.", *associated_sentences(results), *unclaimed_reasons(results)]
        return {"count": "No claims", "sentences": sentences, "table": None}
    sentences = [
        found.question,
        found.guarantee,
        *associated_sentences(results),
        *unclaimed_reasons(results),
    ]
    sentences += [f"{name} cannot be told apart: {', '.join(members)}." for name, members in found.groups.items()]
    sentences += branch_sentences(found)
    sentences += found.notes
    sentences += [f"No claim can be made of {name}: {why}." for name, why in found.doubtful.items()]
    return {"count": discovery_count(found), "sentences": sentences, "table": _table(results)}


def _table(results: Results) -> dict[str, Any] | None:
    """Claims by branch, the branch of the surest claim first, and how many claims are surer than each."""
    claims = [] if results.discoveries is None else list(results.discoveries.claims[:N_CLAIMS])
    if not claims:
        return None
    order = {branch: at for at, branch in enumerate(dict.fromkeys(claim.branch for claim in claims))}
    surest = sorted(range(len(claims)), key=lambda at: order[claims[at].branch])
    columns = ["Branch", "Feature", "Effect", "Low", "High", "p", "q", "Rows"]
    beyond = any(claim.beyond_parent is not None for claim in claims)
    columns += ["Beyond its parent"] if beyond else []
    rows = [
        [
            titled([claim.branch], results)[0] if claim.branch else claim.branch_name,
            titled([claim.feature], results)[0],
            *("" if value is None else shown_number(value) for value in (claim.effect, claim.low, claim.high)),
            shown_p(claim.p),
            shown_p(claim.q),
            f"{claim.rows:,}",
            *([claim.beyond] if beyond else []),
        ]
        for claim in (claims[at] for at in surest)
    ]
    return {"columns": columns, "rows": rows, "surest": surest}


def _charts(content: Content, results: Results) -> list[Chart]:  # noqa: ARG001
    if results.discoveries is None or not results.discoveries.claims:
        return []
    caption = "The surest claims by branch: the share of what the forest explains that is lost without the feature."
    return [Chart("claims", claims_by_branch(results.discoveries, titles=results.titles), caption)]


SECTION = Section(
    "claims",
    15,
    "Claims",
    "What can be claimed",
    key="claims",
    part=_part,
    charts=_charts,
)
