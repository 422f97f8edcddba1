"""The command `ramify clus`: a settings file of CLUS, run here."""

from __future__ import annotations

import os
from pathlib import Path

import click

from ramify.cli.options import jobs_option, printing_options
from ramify.cli.terminal import json_text, plain, wrote


@click.command()
@click.argument("settings", metavar="SETTINGS.s", type=click.Path(exists=True, dir_okay=False))
@click.option("--relief/--forest", default=None,
              help="What to run where the file describes both  [default: forests].")  # fmt: skip
@click.option(
    "-o", "--output", type=click.Path(file_okay=False), help="Folder to write to  [default: that of the file]."
)
@jobs_option
@printing_options
def clus(settings: str, relief: bool | None, output: str | None, jobs: int, as_json: bool, quiet: bool) -> None:
    """Run a settings file of CLUS: rankings by forests or by Relief.

    Runs forests ([Ensemble] EnsembleMethod = Bagging, RForest or ExtraTrees), their rankings (FeatureRanking = Genie3,
    Symbolic or RForest, for several Iterations) and [Relief], for tables, label sets and hierarchies. Writes a .fimp
    per ranking, named as by CLUS, and NAME.summary.txt, which also lists the settings that were not followed. Relief
    gives the scores of CLUS; random numbers are Ramify's own, so forests and draws of rows differ.

    \b
    Examples:
      ramify clus genes.s
      ramify clus genes.s --relief -o results
    """  # noqa: D301
    from ramify.analysis.clus import run_clus

    folder = Path(output) if output is not None else Path(settings).parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise click.UsageError(f"{folder} is no folder that may be written to. Make it first, or name another with -o.")
    written = run_clus(settings, relief=relief, n_jobs=jobs)
    paths = written.save(folder)
    for setting in written.unused:
        click.echo(plain(f"Note: not followed: {setting}"), err=True)
    if as_json:
        rankings = {
            name: {
                column: dict(zip(fimp.names, scores.tolist(), strict=True)) for column, scores in fimp.columns.items()
            }
            for name, fimp in written.files.items()
        }
        click.echo(json_text({"settings": dict(written.settings), "unused": written.unused, "rankings": rankings}))
    elif not quiet:
        click.echo(plain_lines(written.summary()))
        wrote(*map(str, paths))


def plain_lines(text: str) -> str:
    """Text of a file as lines that a terminal can show."""
    return "\n".join(map(plain, text.splitlines()))
