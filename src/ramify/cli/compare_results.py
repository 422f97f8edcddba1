"""The part of `ramify compare` that tests a table of results: data sets by methods."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ramify.cli.terminal import command_line, json_text, say, show, table, write_figure, wrote
from ramify.writing import whole_text, write_table

if TYPE_CHECKING:
    from ramify.compare.all_tests import TestResults

TABLES = (".csv", ".tsv", ".txt", ".xlsx", ".xlsm", ".xls")


def compare_results(
    path: str,
    *,
    measure: str | None,
    loss: bool,
    control: str | None,
    rope: float,
    latex: str | None,
    figure: str | None,
    output: str | None,
    report: str | None,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Test a file of results, print what was found and write what was asked for."""
    from ramify.compare import read_results
    from ramify.compare.all_tests import all_tests

    tests = all_tests(
        read_results(path, measure=measure), larger_is_better=not loss, control=control, rope=rope, random_state=seed
    )
    if output is not None:
        frame = tests.to_frame()
        write_table(Path(output), [list(frame.columns), *frame.to_numpy().tolist()])
    if latex is not None:
        with whole_text(Path(latex)) as lines:
            lines.write(tests.to_latex())
    if figure is not None:
        write_figure(tests.comparison.plot(), figure)
    if report is not None:
        from ramify.analysis import Results
        from ramify.report import write_report

        title = Path(path).stem
        write_report(
            Results(comparisons={measure or title: tests.comparison}, title=title, seed=seed, command=command_line()),
            report,
        )
    if as_json:
        click.echo(json_text(_content(tests)))
    elif not quiet:
        _print(tests)
        wrote(output, latex, figure, report)


def _print(tests: TestResults) -> None:
    comparison = tests.comparison
    if comparison.verdict != comparison.sentence:
        say(comparison.verdict)
    say(comparison.sentence)
    rows = [
        (str(name), f"{line['mean']:.3f}", f"{line['rank']:.2f}", int(line["ahead_of"]), int(line["better_than"]))
        for name, line in comparison.to_frame().iterrows()
    ]
    show(table("", ["method", "mean", "mean rank", "ahead of", "better than"], rows), whole=True)
    pairs = [
        (f"{line.first} - {line.second}", *map(_p_value, (line.nemenyi, line.holm, line.wilcoxon, line.dunn)),
         "/".join(f"{chance:.2f}" for chance in (line.first_better, line.equal, line.second_better)))
        for line in tests.to_frame().itertuples()
    ]  # fmt: skip
    show(table("p-values", ["pair", "Nemenyi", "Holm", "Wilcoxon", "Dunn", "1st/equal/2nd"], pairs), whole=True)
    click.echo("Holm and Wilcoxon are corrected by Holm, Dunn is not. The last column: Bayesian signed-rank test.")


def _p_value(value: float) -> str:
    return "" if value != value else "<0.001" if value < 0.001 else f"{value:.3f}"


def _content(tests: TestResults) -> dict[str, Any]:
    comparison = tests.comparison
    test = comparison.friedman
    return {
        "sentence": comparison.sentence,
        "ranks": comparison.ranks.to_dict(),
        "mean": comparison.table.mean().to_dict(),
        "friedman": None if test is None else {"statistic": test.statistic, "p_value": test.p_value},
        "critical_distance": comparison.critical_distance,
        "pairs": tests.to_frame().to_dict(orient="records"),
    }
