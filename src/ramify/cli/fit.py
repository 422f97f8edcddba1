"""The command `ramify fit`: learn a model from data files and save it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import click

from ramify.analysis.methods import MODEL_METHODS, default_method
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
    set_option,
)
from ramify.cli.terminal import (
    command_line,
    say,
    show_measures,
    shows_progress,
    write_figure,
    write_label_measures,
    wrote,
)
from ramify.writing import TABLES

if TYPE_CHECKING:
    from ramify.datasets import Dataset


@click.command(
    cls=FirstOptions,
    first="--target --output --method --hierarchy --annotations --report --folds --trees --ignore --seed",
)
@data_options
@click.option("-o", "--output", "--model", "model_file", required=True, type=OutputFile(), help="Model file to write.")
@click.option("--method", default=None, show_default="boosted where it suits, else random-forest",
              type=click.Choice(list(MODEL_METHODS)))  # fmt: skip
@click.option("--trees", default=None, show_default="100, boosted 300", type=WholeNumber(1), help="Number of trees.")
@click.option("--max-depth", default=None, type=WholeNumber(1), help="Largest depth of a tree.")
@click.option(
    "--min-samples-leaf", default=None, show_default="1, boosted 5", type=WholeNumber(1), help="Rows per leaf."
)
@click.option("--gamma", default=None, show_default="1, every gain", type=click.FloatRange(0, 1, min_open=True),
              help="How early trees for label rankings stop; 0.98 as published.")  # fmt: skip
@click.option("--minutes", default=None, type=click.FloatRange(0, min_open=True), help="Time for --method auto, about.")
@click.option(
    "--calibrate",
    default=None,
    type=click.Choice(["isotonic", "sigmoid"]),
    help="Calibrate the probabilities of a random forest or bagging.",
)
@click.option("--folds", default=None, show_default="3 for chains and by default on tables", type=WholeNumber(0),
              help="Cross-validate where there is neither a test part nor out-of-bag rows.")  # fmt: skip
@click.option("--per-label", type=OutputFile(*TABLES), help="Write how well each label is predicted: .csv, .xlsx.")
@figure_option("the measures of the model beside the baseline (prior)")
@running_options
@set_option
@report_option
@output_options
def fit(
    data: tuple[str, ...],
    target: tuple[str, ...],
    hierarchy: str | None,
    reading: dict[str, Any],
    model_file: str,
    method: str | None,
    trees: int | None,
    max_depth: int | None,
    min_samples_leaf: int | None,
    gamma: float | None,
    minutes: float | None,
    calibrate: Literal["isotonic", "sigmoid"] | None,
    folds: int | None,
    per_label: str | None,
    figure: str | None,
    seed: int,
    jobs: int,
    parameters: dict[str, Any],
    report: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Learn a model from DATA files and save it.

    Where the files are named as train, valid and test parts, the test part is kept for the measures; otherwise they are
    taken out of bag, and of chains by cross-validation; boosted trees, extra-trees and auto have them with --folds.
    The baseline beside the model, prior, knows only how frequent each label is.

    \b
    Examples:
      ramify fit cellcycle.train.arff cellcycle.test.arff -o cellcycle.ramify --report cellcycle.html
      ramify fit songs.csv --target 'mood_*' --method bagging --trees 200 -o songs.ramify
      ramify fit songs.train.csv songs.test.csv --target genre --calibrate isotonic -o songs.ramify --report songs.html
      ramify fit songs.train.csv songs.test.csv --target 'mood_*' --method auto --minutes 5 -o songs.ramify
    """  # noqa: D301
    from ramify.analysis import fit_model
    from ramify.cli.inputs import described, read_data, refuse_empty
    from ramify.models import save
    from ramify.plots.predictions import measured_bars
    from ramify.report import write_report

    if minutes is not None and method != "auto":
        raise click.UsageError("--minutes is for --method auto; other methods take the time that they need.")
    if method == "auto" and (trees, max_depth, min_samples_leaf) != (None, None, None):
        raise click.UsageError("--method auto sets --trees, --max-depth and --min-samples-leaf itself; leave them out.")
    keep_inputs()
    dataset = refuse_empty(read_data(data, target, hierarchy, reading=reading))
    needs_measures = not quiet or as_json or any(file is not None for file in (report, per_label, figure))
    fitted = fit_model(
        dataset,
        method=method,
        n_estimators=trees,
        max_depth=max_depth,
        min_samples_leaf=min_samples_leaf,
        gamma=gamma,
        minutes=minutes,
        calibrate=calibrate,
        n_folds=folds if folds is not None or needs_measures else 0,
        explain=report is not None,
        random_state=seed,
        n_jobs=jobs,
        parameters=parameters,
        verbose=shows_progress(quiet=quiet, verbose=verbose),
    )
    results = replace(fitted.results, command=command_line())
    if report is not None:
        write_report(results, report)
    save(fitted.model, model_file)
    if figure is not None:
        if results.measures is None:
            raise click.UsageError("--figure: nothing was measured. Add --folds 3, or a test part.")
        write_figure(measured_bars(results.measures), figure)
    if per_label is not None:
        write_label_measures(results.label_measures, per_label, results.titles)
    if as_json or not quiet:
        if not as_json:
            say(described(fitted.learnt, chosen=bool(target) or "annotations" in reading))
        show_measures(results.measures, results.measured_on, as_json=as_json)
        if results.measures is None and not as_json:
            click.echo(f"Measures: {results.facts['Measures'].replace('or folds', 'or --folds 3')}")
        if not as_json:
            if method == "auto":
                for name, fact in results.facts.items():
                    say(f"{name}: {fact}")
            click.echo(
                f"Saved {model_file}: {_made(method or default_method(fitted.learnt), fitted.model, fitted.learnt)}."
            )
            wrote(per_label, figure, report)


def _made(method: str, model: Any, learnt: Dataset) -> str:
    """What was learnt from what, in part of a sentence."""
    if MODEL_METHODS[method].of_forest:
        forest = getattr(model, "estimator_", model)
        return f"{forest.trees_.n_trees} trees over {learnt.n_features} features and {learnt.n_samples} rows"
    return f"{method} for {learnt.n_labels} labels over {learnt.n_samples} rows"
