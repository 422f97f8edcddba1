"""The command `ramify demo`: the whole flow on generated data whose truth is known."""

from __future__ import annotations

import shlex
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ramify.cli.options import output_options, running_options
from ramify.cli.terminal import console, json_text, plain, table

if TYPE_CHECKING:
    from rich.console import Console

    from ramify.datasets import Dataset
    from ramify.ranking import FeatureRanking

TOPS = ("metabolism", "transport", "cell cycle")
PARTS = (
    ("lipids", "amino acids", "nucleotides"),
    ("ions", "proteins", "vesicles"),
    ("growth", "division", "repair"),
)
STAGES = ("early", "middle", "late")
N_TREES = 100
N_STEPS = 6


@click.command()
@click.option(
    "-o", "--output", "folder", default="ramify-demo", show_default=True, type=click.Path(file_okay=False), help="Folder."
)
@running_options
@output_options
def demo(folder: str, seed: int, jobs: int, as_json: bool, quiet: bool, verbose: bool) -> None:  # noqa: ARG001
    r"""Generate data with a known truth, run the whole flow on it and write a report.

    Takes less than a minute. Each step says what it means and which command does it on your own file.

    \b
    Examples:
      ramify demo
      ramify demo -o /tmp/demo --seed 7
    """
    from ramify.report import write_report

    started = time.monotonic()
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    guide = Guide(console(quiet=quiet or as_json), target)
    data = _generate(guide, seed)
    forest, test = _grow(guide, data, seed, jobs)
    rankings = _rank(guide, data, forest, seed, jobs)
    checks = _check(guide, data, rankings, seed, jobs)
    _show_branches(guide, rankings)
    results = _results(data, test, forest, rankings, checks, seed, jobs, folder)
    path = write_report(replace(results, seconds=time.monotonic() - started), target / "report.html")
    guide.step("Write the report", "One page with all of it; open it in a browser, no network needed.", "rank", "--report r.html")
    guide.say(f"{path} and the scores as CSV, in {time.monotonic() - started:.0f} s.")
    if as_json:
        click.echo(json_text({"report": str(path), **checks.summary(), "planted_found": _found(data, rankings)}))
