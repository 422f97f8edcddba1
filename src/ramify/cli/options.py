"""Options that several commands share, so that the same idea has the same word and the same help everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

Command = Callable[..., Any]


def data_options(command: Command) -> Command:
    """DATA..., --target and --hierarchy; `ramify.cli.inputs.read_data` takes them."""
    return _with(
        command,
        click.argument("data", nargs=-1, required=True, type=click.Path()),
        click.option(
            "-t", "--target", multiple=True, help="Target column; several times for several, or a start such as 'go_*'."
        ),
        click.option("--hierarchy", default=None, type=click.Path(), help="Order of the labels: OBO or edges."),
    )


def running_options(command: Command) -> Command:
    """--seed and --jobs."""
    return _with(
        command,
        click.option("--seed", default=0, show_default=True, type=int, help="Seed of all randomness."),
        click.option("--jobs", default=-1, show_default=True, type=int, help="Threads; -1 takes all."),
    )


def report_option(command: Command) -> Command:
    """--report."""
    text = "Write a report: .html (one page, no network), .json or .md."
    return _with(command, click.option("--report", default=None, type=click.Path(dir_okay=False), help=text))


def output_options(command: Command) -> Command:
    """--json, --quiet, --verbose and --debug; the last is for `ramify.cli.main` alone."""
    return _with(
        command,
        click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, for scripts."),
        click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors."),
        click.option("-v", "--verbose", is_flag=True, help="Show progress."),
        click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error."),
    )


def _with(command: Command, *decorators: Callable[[Command], Command]) -> Command:
    for decorate in reversed(decorators):
        command = decorate(command)
    return command
