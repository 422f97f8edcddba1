"""The command `ramify rank`: which features matter, and for which labels."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from ramify.analysis.methods import ENSEMBLES, RANKING_METHODS
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
from ramify.cli.terminal import command_line, json_text, shows_progress, write_figure, wrote

if TYPE_CHECKING:
    from ramify.analysis import Results
    from ramify.datasets import Dataset


class ShareOrNumber(click.ParamType):
    """A share as 0.1 or 1.0, or a whole number as 100."""

    name = "share or number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return a float for a share, an int for a number."""
        text = str(value)
        try:
            number = int(text) if text.isdecimal() else float(text)
        except ValueError:
            number = -1
        if not (number >= 1 if isinstance(number, int) else 0 < number <= 1):
            self.fail(f"'{text}' is neither a share above 0.0 and up to 1.0 nor a number of rows.", param, ctx)
        return number


class ErrorRate(click.ParamType):
    """A share between 0 and 1, or none."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | None:
        """Return a float, or None for none."""
        if value is None or value == "none":
            return None
        try:
            number = float(value)
        except ValueError:
            number = -1
        if not 0 < number < 1:
            self.fail(f"'{value}' is neither a share between 0 and 1 nor none.", param, ctx)
        return number


@click.command(
    cls=FirstOptions,
    first="--target --output --report --hierarchy --annotations --label --method --trees --ignore --seed",
)
@data_options
@click.option(
    "--feature-hierarchy",
    default=None,
    type=click.Path(),
    help="Hierarchy of the features, claimed by branches too: OBO or edges.",
)
@click.option(
    "--method",
    "methods",
    multiple=True,
    type=click.Choice(list(RANKING_METHODS)),
    help="How to rank; several times for several. The first one is shown in full.  [default: genie3_oob; genie3 where "
    "trees have no out-of-bag rows]",
)
@click.option("--ensemble", default="random-forest", show_default=True, type=click.Choice(list(ENSEMBLES)),
              help="The forest that scores; extra-trees and boosted have no out-of-bag rows.")  # fmt: skip
@click.option("--trees", default=100, show_default=True, type=WholeNumber(1), help="Number of trees.")
@click.option("--neighbors", default=15, show_default=True, type=WholeNumber(1), help="Neighbours of Relief (K).")
@click.option("--iterations", default="1.0", show_default=True, type=ShareOrNumber(),
              help="Share (up to 1.0) or number of the rows that Relief visits (m).")  # fmt: skip
@click.option("--fdr", default="0.1", show_default=True, type=ErrorRate(),
              help="Expected share of false claims (and of false associations); none for no tests.")  # fmt: skip
@click.option("--given", default="others", show_default=True, type=click.Choice(["others", "nothing"]),
              help="What a claim is beyond: all other features, or nothing (association).")  # fmt: skip
@click.option("--all-rows", is_flag=True, help="Test claims on all rows where there are more than 10,000.")
@click.option("--audit", is_flag=True,
              help="Plant drivers and decoys among the features, and say how far claims hold here.")  # fmt: skip
@click.option("--checkpoint", type=click.Path(file_okay=False), help="Folder from which claims go on when stopped.")
@click.option("--quality", is_flag=True, help="Add weighted nearest neighbours and curves of added features.")
@click.option("--folds", default=3, show_default=True, type=WholeNumber(2), help="Folds of the curves.")
@click.option("--random-rankings", default=10, show_default=True, type=WholeNumber(0), help="For the curves' band.")
@click.option("--label", "labels", multiple=True, help="Show the features of this label and all below it.")
@click.option("--top", default=15, show_default=True, type=WholeNumber(1), help="How many features to print.")
@click.option("--branches", default=25, show_default=True, type=WholeNumber(1), help="How many branches to print.")
@click.option(
    "-o", "--output", type=OutputFile(".csv", ".json", ".fimp"), help="Write the ranking: .csv, .json or .fimp."
)
@click.option("--per-label", type=OutputFile(), help="Write feature, label, score lines: .csv.")
@figure_option("the claims by branch, or where there are none the best features")
@running_options
@set_option
@report_option
@output_options
def rank(
    data: tuple[str, ...],
    target: tuple[str, ...],
    hierarchy: str | None,
    reading: dict[str, Any],
    feature_hierarchy: str | None,
    methods: tuple[str, ...],
    ensemble: str,
    trees: int,
    neighbors: int,
    iterations: float,
    fdr: float | None,
    given: str,
    all_rows: bool,
    audit: bool,
    checkpoint: str | None,
    quality: bool,
    folds: int,
    random_rankings: int,
    labels: tuple[str, ...],
    top: int,
    branches: int,
    output: str | None,
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
    """Rank the features of DATA: which matter, and for which labels.

    Prints what predicts what (the labels, collapsed to what fits, each with the features that are claimed to predict
    it beyond all other features, then those associated with it, then the best ranked of the rest) and the top features.
    Where the files are named as train, valid and test parts, the test part takes no part in the ranking and is kept
    for --quality.

    A claim says that a feature tells something about a branch that all other features do not; q is the smallest share
    of false claims, over all features and branches, at which it is made. With -o the claims are written beside the
    ranking, and for CSV a long table with the features of every branch (feature, branch, score, p, q).

    \b
    Examples:
      ramify rank cellcycle_FUN.train.arff -o ranking.csv --report ranking.html
      ramify rank genes.csv --target go --hierarchy go.obo --label GO:0007049
      ramify rank data.arff data.xml --method genie3 --method relief --quality
    """  # noqa: D301
    from ramify.analysis import analyse
    from ramify.cli.inputs import read_data, refuse_empty
    from ramify.cli.rank_output import (
        files_beside,
        print_ranked,
        ranked_content,
        ranking_figure,
        write_rankings,
    )

    keep_inputs(derived={} if output is None else {"-o": files_beside(output, methods)})
    started = perf_counter()
    dataset = refuse_empty(read_data(data, target, hierarchy, feature_hierarchy, reading))
    labels = _known_labels(labels, dataset)
    if dataset.storage == "coded" and not quiet:
        click.echo("Note: claims and curves need the values; a prepared table is ranked without them.", err=True)
    results = analyse(
        dataset,
        methods=tuple(dict.fromkeys(methods)) or None,
        ensemble=ensemble,
        n_estimators=trees,
        n_neighbors=neighbors,
        n_iterations=iterations,
        fdr=fdr,
        given=given,
        quality={"cv": folds, "n_random": random_rankings} if quality else False,
        explain=report is not None,
        random_state=seed,
        n_jobs=jobs,
        parameters=parameters,
        verbose=shows_progress(quiet=quiet, verbose=verbose),
        checkpoint=checkpoint,
        all_rows=all_rows,
        audit_claims=audit,
    )
    results = replace(results, command=command_line(), seconds=perf_counter() - started)
    for label in labels:
        results.label_ranking.for_label(label)
    written = [] if output is None else write_rankings(results, output)
    if per_label is not None:
        _write_per_label(results, per_label)
    if figure is not None:
        write_figure(ranking_figure(results), figure)
    if report is not None:
        from ramify.report import write_report

        write_report(results, report)
    if as_json:
        click.echo(json_text(ranked_content(results, labels, top)))
    elif not quiet:
        print_ranked(results, labels, n_top=top, n_branches=branches, chosen=bool(target) or "annotations" in reading)
        wrote(*written, per_label, figure, report)


def _known_labels(labels: tuple[str, ...], data: Dataset) -> tuple[str, ...]:
    """The labels that were asked for, refused before the work begins; pairs of a ranking are looked up later."""
    from ramify.cli.inputs import called_labels

    return called_labels(labels, data.label_names, data.titles) if data.target_type.has_labels else labels


def _write_per_label(results: Results, path: str) -> None:
    """Non-zero scores per label as lines feature, label, score; of chains also those of labels for labels."""
    import csv
    from pathlib import Path

    import numpy as np

    from ramify.writing import neutralised, whole_text

    ranking = results.label_ranking
    of_labels = results.label_importances.get(results.per_label()[0])
    cells = ranking.per_label.tocoo()
    order = np.lexsort((-cells.data, cells.coords[1]))
    with whole_text(Path(path)) as file:
        writer = csv.writer(file, lineterminator="\n")
        names = ["feature", "label", "score", *([] if of_labels is None else ["is_label"])]
        named = {name: neutralised(title) for name, title in results.titles.items()}
        called = ["label_name"] if named else []
        writer.writerow([*names, *called])
        for at in order.tolist():
            feature, label = ranking.names[cells.coords[0][at]], ranking.label_names[cells.coords[1][at]]
            line = [neutralised(feature), neutralised(label), repr(float(cells.data[at]))]
            line += [] if of_labels is None else ["0"]
            writer.writerow([*line, named.get(label, "")] if named else line)
        if of_labels is not None:
            for label, row in of_labels.iterrows():
                for name, value in row[row != 0].sort_values(ascending=False, kind="stable").items():
                    line = [neutralised(str(name)), neutralised(str(label)), repr(float(value)), "1"]
                    writer.writerow([*line, named.get(str(label), "")] if named else line)
