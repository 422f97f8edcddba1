"""`ramify prepare`: code a table of any size once, into a file that trees grow on where it lies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ramify.cli.options import FirstOptions, OutputFile, data_options, jobs_option, keep_inputs, output_options
from ramify.cli.terminal import json_text, plain, shows_progress


@click.command(cls=FirstOptions, first="--target --output --memory --kind --hierarchy --ignore --jobs --json")
@data_options
@click.option("-o", "--output", required=True, type=OutputFile(".ramify"), help="File to write: table.ramify.")
@click.option("--memory", default="2G", show_default=True, help="Memory for batches of rows, such as 500M.")
@jobs_option
@output_options
def prepare(
    data: tuple[str, ...],
    target: tuple[str, ...],
    hierarchy: str | None,
    reading: dict[str, Any],
    output: str,
    memory: str,
    jobs: int,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Code a table of any size once, a byte per cell, for fit, rank, predict and info.

    DATA are CSV or Parquet files, one below the other. They are read in batches; what columns are is decided by the
    first 50,000 rows. If it is killed, the same command goes on where it was. Trees grow on the file without a copy of
    it in memory.

    \b
    Examples:
      ramify prepare visits.parquet --target readmitted -o visits.ramify
      ramify prepare part1.csv part2.csv --target 'mood_*' --memory 500M -o songs.ramify
      ramify fit visits.ramify -o model.ramify
    """  # noqa: D301
    from ramify.cli.inputs import tell_notes
    from ramify.datasets import prepare as prepared
    from ramify.datasets.description import describe

    keep_inputs()
    if hierarchy is not None:
        reading["hierarchy"] = hierarchy
    made = prepared(
        list(data),
        output,
        target=(target[0] if len(target) == 1 else list(target)) if target else None,
        memory=memory,
        n_jobs=jobs,
        verbose=shows_progress(quiet=quiet, verbose=verbose),
        **reading,
    )
    tell_notes(made)
    if as_json:
        click.echo(json_text(describe(made)))
    elif not quiet:
        size = Path(output).stat().st_size
        held = f"{made.n_samples:,} rows, {made.n_features:,} features, {size / 1e6:,.1f} MB"
        click.echo(plain(f"Wrote {output}: {held}."))
