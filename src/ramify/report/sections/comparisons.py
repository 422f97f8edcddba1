"""Methods compared over data sets or folds: the verdict per measure, mean ranks, and the values behind it."""

from __future__ import annotations

from typing import Any

from ramify import plots
from ramify.analysis import Results
from ramify.report.markdown import escaped, heading, markdown_table
from ramify.report.notation import rounded, three_decimals
from ramify.report.section import Chart, Content, Section


def _part(results: Results) -> list[dict[str, Any]]:
    row = "Data set" if results.dataset is None else "Fold"
    return [
        {
            "measure": measure,
            "sentence": comparison.sentence,
            "ranks": {str(name): rounded(rank) for name, rank in comparison.ranks.items()},
            "groups": [[str(name) for name in group] for group in comparison.groups],
            "critical_distance": rounded(comparison.critical_distance),
            "table": {
                "columns": [row, *(str(name) for name in comparison.ranks.index)],
                "rows": [
                    [str(name), *(three_decimals(float(value)) for value in values)]
                    for name, values in comparison.table[comparison.ranks.index].iterrows()
                ]
                + [["Mean rank", *(f"{rank:.2f}" for rank in comparison.ranks)]],
            },
        }
        for measure, comparison in results.comparisons.items()
    ]


def _charts(content: Content, results: Results) -> list[Chart]:  # noqa: ARG001
    caption = "Mean rank of each method (best on the right); a bar joins methods that do not differ."
    return [
        Chart(f"critical{number}", plots.critical_difference(comparison), caption)
        for number, comparison in enumerate(results.comparisons.values())
    ]


def _markdown(content: Content) -> list[str]:
    blocks = []
    for comparison in content["comparisons"]:
        table = comparison["table"]
        blocks.append(heading(f"Methods compared by {comparison['measure']}"))
        blocks += [escaped(comparison["sentence"]), markdown_table(table["columns"], table["rows"])]
    return blocks


SECTION = Section(
    "comparisons",
    100,
    "Comparison",
    "Methods compared",
    key="comparisons",
    part=_part,
    charts=_charts,
    markdown=_markdown,
    summary=lambda part: [f"{comparison['measure']}: {comparison['sentence']}" for comparison in part],
)
