"""Claims: which features drive which branches, at a stated error rate, and what was left out."""

from __future__ import annotations

from typing import Any

from ramify.analysis import Results
from ramify.analysis.first_table import associated_sentences, branch_sentences, unclaimed_reasons
from ramify.report.notation import titled
from ramify.report.section import Section
from ramify.shown import shown_number, shown_p

N_CLAIMS = 200
"""Claims listed on the page; all of them are written beside the ranking."""


def _part(results: Results) -> dict[str, Any] | None:
    found = results.discoveries
    if found is None:
        if not results.no_claims:
            return None
        sentences = [f"No claims: {results.no_claims}.", *associated_sentences(results), *unclaimed_reasons(results)]
        return {"sentences": sentences, "table": None}
    number = "1 claim" if len(found.claims) == 1 else f"{len(found.claims):,} claims"
    said = found.statement("a feature or group", "a branch")
    sentences = [
        f"{number} that {said}, at an error rate of {100 * found.fdr:g} %.",
        found.question,
        found.guarantee,
        *associated_sentences(results),
        *unclaimed_reasons(results),
    ]
    sentences += [f"{name} cannot be told apart: {', '.join(members)}." for name, members in found.groups.items()]
    sentences += branch_sentences(found)
    sentences += found.notes
    sentences += [f"No claim can be made of {name}: {why}." for name, why in found.doubtful.items()]
    columns = ["Feature", "Branch", "Effect", "Low", "High", "p", "q", "Rows"]
    beyond = any(claim.beyond_parent is not None for claim in found.claims[:N_CLAIMS])
    columns += ["Beyond its parent"] if beyond else []
    rows = [
        [
            titled([claim.feature], results)[0],
            titled([claim.branch], results)[0] if claim.branch else "all of y",
            *("" if value is None else shown_number(value) for value in (claim.effect, claim.low, claim.high)),
            shown_p(claim.p),
            shown_p(claim.q),
            f"{claim.rows:,}",
            *([claim.beyond] if beyond else []),
        ]
        for claim in found.claims[:N_CLAIMS]
    ]
    return {
        "sentences": sentences,
        "table": {"columns": columns, "rows": rows} if rows else None,
    }


SECTION = Section(
    "claims",
    15,
    "Claims",
    "What can be claimed",
    key="claims",
    part=_part,
    summary=lambda part: part["sentences"][:1],
)
