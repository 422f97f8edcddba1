"""Methods compared over data sets or folds: the verdict per measure, mean ranks, and the values behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ramify import plots
from ramify.analysis import Results
from ramify.report.markdown import escaped, heading, markdown_table
from ramify.report.notation import rounded, three_decimals
from ramify.report.section import Chart, Content, Section

if TYPE_CHECKING:
    from ramify.compare import Comparison


def _part(results: Results) -> list[dict[str, Any]]:
    row = "Data set" if results.dataset is None else "Fold"
    of_folds = results.dataset is not None
    return [
        {
            "measure": measure,
            "verdict": comparison.verdict,
            "better": [
                [str(name), other] for name in sorted(comparison.ranks.index) for other in _worse(comparison, name)
            ],
            "sentence": comparison.sentence,
            "test": _test(comparison) if of_folds else "",
            "ranks": {str(name): rounded(rank) for name, rank in comparison.ranks.items()},
            "groups": [[str(name) for name in group] for group in comparison.groups],
            "critical_distance": rounded(comparison.critical_distance),
            "table": {
                "columns": [row, *(str(name) for name in comparison.ranks.index)],
                "rows": [
                    [str(name), *(three_decimals(float(value)) for value in values)]
                    for name, values in comparison.table[comparison.ranks.index].iterrows()
                ]
                + (
                    [["Mean", *map(three_decimals, comparison.table[comparison.ranks.index].mean())]]
                    if of_folds
                    else []
                )
                + [["Mean rank", *(f"{rank:.2f}" for rank in comparison.ranks)]],
            },
        }
        for measure, comparison in results.comparisons.items()
    ]


def _worse(comparison: Comparison, name: str) -> list[str]:
    return sorted(map(str, comparison.better_than(name)))


def _test(comparison: Comparison) -> str:
    return (
        f"All methods are fitted on the same {len(comparison.table)} folds. Pairs are tested by the t-test for "
        f"resampled values, corrected over all pairs (false discovery rate {100 * comparison.alpha:g} %). The prior "
        "knows only how frequent each label is, or the mean of each number."
    )


def _charts(content: Content, results: Results) -> list[Chart]:  # noqa: ARG001
    caption = "Mean rank of each method (best on the right); a bar joins methods that do not differ."
    return [
        Chart(f"critical{number}", plots.critical_difference(comparison), caption)
        for number, comparison in enumerate(results.comparisons.values())
    ]


def _markdown(content: Content) -> list[str]:
    tests = dict.fromkeys(comparison["test"] for comparison in content["comparisons"] if comparison["test"])
    blocks = [escaped(test) for test in tests]
    for comparison in content["comparisons"]:
        table = comparison["table"]
        blocks.append(heading(f"Methods compared by {comparison['measure']}"))
        said = [comparison["verdict"]] if comparison["test"] else [comparison["verdict"], comparison["sentence"]]
        blocks += [
            *(escaped(sentence) for sentence in dict.fromkeys(said)),
            markdown_table(table["columns"], table["rows"]),
        ]
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
)
