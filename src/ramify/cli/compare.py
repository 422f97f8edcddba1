"""The command `ramify compare`: which method predicts a data set best."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ramify.analysis.methods import MODEL_METHODS
from ramify.cli.compare_results import TABLES, compare_results
from ramify.cli.options import (
    FirstOptions,
    OutputFile,
    WholeNumber,
    data_options,
    figure_option,
    keep_inputs,
    output_options,
    report_option,
    running_options,
)
from ramify.cli.terminal import (
    command_line,
    json_text,
    say,
    show,
    shows_progress,
    table,
    write_figure,
    wrote,
)

if TYPE_CHECKING:
    import pandas as pd

    from ramify.analysis import Results
    from ramify.datasets import Dataset


@click.command(
    cls=FirstOptions,
    first="--target --method --folds --report --figure --output --latex --hierarchy --ignore --seed",
)
@data_options
@click.option(
    "--method",
    "methods",
    multiple=True,
    default=("random-forest", "extra-trees", "bagging"),
    show_default=True,
    type=click.Choice(list(MODEL_METHODS)),
    help="What to compare; at least two.",
)
@click.option("--measure", help="Of a table of results that has several: which one.")
@click.option("--loss", is_flag=True, help="Smaller values of the table of results are better.")
@click.option("--control", help="Compare the others with this method of the table of results.")
@click.option("--rope", default=0.0, type=click.FloatRange(min=0), help="Differences up to this size count as equal.")
@click.option("--latex", type=OutputFile(".tex"), help="Write the table of results for a paper.")
@figure_option("the critical-difference diagram of the first measure")
@click.option("--folds", default=10, show_default=True, type=WholeNumber(3), help="Folds of the cross-validation.")
@click.option("--trees", default=None, type=WholeNumber(1), help="Number of trees [default: the method's own].")
@click.option("--max-depth", default=None, type=WholeNumber(1), help="Largest depth of a tree.")
@click.option("--min-samples-leaf", default=None, type=WholeNumber(1), help="Rows per leaf.")
@click.option("-o", "--output", type=OutputFile(".csv", ".tsv", ".xlsx"),
              help="Write measure, fold, method, value lines: .csv or .xlsx.")  # fmt: skip
@running_options
@report_option
@output_options
def compare(
    data: tuple[str, ...],
    target: tuple[str, ...],
    hierarchy: str | None,
    reading: dict[str, Any],
    methods: tuple[str, ...],
    measure: str | None,
    loss: bool,
    control: str | None,
    rope: float,
    latex: str | None,
    figure: str | None,
    folds: int,
    trees: int | None,
    max_depth: int | None,
    min_samples_leaf: int | None,
    output: str | None,
    seed: int,
    jobs: int,
    report: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Compare methods on DATA by cross-validation, or test a table of results.

    A CSV or Excel file without --target is a table of results: the first column names the data sets, every other one is
    a method; or it has columns dataset and method and one per measure, as 'ramify study export' writes. It is tested by
    Friedman, Nemenyi, Holm, Wilcoxon, Dunn and the Bayesian signed-rank test.

    With a target, all methods are fitted on the same folds, and so is a baseline, prior, that knows only how frequent
    labels are. Two methods differ where a t-test for resampled values says so, corrected over all pairs; folds share
    training rows, and a plain test would find differences that do not exist. The report has the values and a
    critical-difference diagram for every measure. 'ramify study' compares over many data sets.

    \b
    Examples:
      ramify compare songs.csv --target 'mood_*' --method random-forest --method lcc --report compared.html
      ramify compare results.csv --figure ranks.svg --latex table.tex
      ramify compare genes.csv --target go --hierarchy go.obo --folds 5 -o folds.csv
    """  # noqa: D301
    from ramify.analysis import compare_methods
    from ramify.cli.inputs import described, read_data, refuse_empty
    from ramify.report import write_report

    keep_inputs()
    if len(data) == 1 and not target and hierarchy is None and not reading and data[0].lower().endswith(TABLES):
        compare_results(
            data[0],
            measure=measure,
            loss=loss,
            control=control,
            rope=rope,
            latex=latex,
            figure=figure,
            output=output,
            report=report,
            seed=seed,
            as_json=as_json,
            quiet=quiet,
        )
        return
    chosen = tuple(dict.fromkeys(methods))
    if len(chosen) < 2:
        raise click.UsageError("One method has nothing to be compared with; name another with --method.")
    dataset = refuse_empty(read_data(data, target, hierarchy, reading=reading))
    results = compare_methods(
        dataset,
        chosen,
        n_folds=folds,
        n_estimators=trees,
        max_depth=max_depth,
        min_samples_leaf=min_samples_leaf,
        random_state=seed,
        n_jobs=jobs,
        verbose=shows_progress(quiet=quiet, verbose=verbose),
    )
    if output is not None:
        _write_folds(results, output)
    if report is not None:
        write_report(replace(results, command=command_line()), report)
    if figure is not None:
        write_figure(next(iter(results.comparisons.values())).plot(), figure)
    if as_json:
        click.echo(json_text(_content(results)))
    elif not quiet:
        say(described(dataset, chosen=bool(target) or "annotations" in reading))
        _print(results, dataset)
        wrote(output, figure, report)


def _print(results: Results, data: Dataset) -> None:
    """Means over the folds with their spread, and what the first measure says."""
    from ramify.analysis.model_data import counted_once

    methods = list(next(iter(results.comparisons.values())).ranks.index)
    rows = [
        [measure, *(_mean_and_spread(comparison.table[method]) for method in methods)]
        for measure, comparison in results.comparisons.items()
    ]
    title = f"Mean over the folds ± standard deviation{counted_once(data)}"
    show(table(title, ["measure", *methods], rows))
    for name, value in results.facts.items():
        if name.endswith("left out"):
            say(f"{name}: {value}")
    for measure in list(results.comparisons)[:1]:
        say(f"By {measure}: {results.comparisons[measure].verdict}")
        say(results.comparisons[measure].sentence)


def _mean_and_spread(values: pd.Series) -> str:
    return f"{values.mean():.3f}±{values.std(ddof=1):.3f}"  # one word, which no narrow column breaks in two


def _content(results: Results) -> dict[str, Any]:
    return {
        measure: {
            "verdict": comparison.verdict,
            "sentence": comparison.sentence,
            "ranks": comparison.ranks.to_dict(),
            "mean": comparison.table.mean().to_dict(),
            "p_values": {} if comparison.p_values is None else comparison.p_values.to_dict(),
            "folds": comparison.table.to_dict(orient="list"),
        }
        for measure, comparison in results.comparisons.items()
    }


def _write_folds(results: Results, path: str) -> None:
    """Every value with all digits as lines measure, fold, method, value."""
    from pathlib import Path

    from ramify.writing import write_table

    lines: list[list[Any]] = [["measure", "fold", "method", "value"]]
    for measure, comparison in results.comparisons.items():
        for fold, row in comparison.table.iterrows():
            lines += ([measure, fold, method, float(value)] for method, value in row.items())
    write_table(Path(path), lines)
