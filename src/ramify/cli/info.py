"""`ramify info`: describe data files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ramify.cli.inputs import OF_ANNOTATIONS, read_data, tell_notes
from ramify.cli.options import FirstOptions, data_options, output_options
from ramify.cli.terminal import console, json_text, plain

if TYPE_CHECKING:
    from rich.table import Table

ROWS = (
    ("rows", "rows"),
    ("features", "features"),
    ("numeric", "  numeric"),
    ("nominal", "  nominal"),
    ("storage", "  stored"),
    ("missing_share", "  missing cells"),
    ("constant", "  constant"),
    ("duplicates", "  duplicates"),
    ("target", "target"),
    ("targets", "  targets"),
    ("labels", "  labels"),
    ("cardinality", "  cardinality"),
    ("leaf_cardinality", "  leaf labels per row"),
    ("density", "  density"),
    ("distinct", "  distinct"),
    ("distinct_share", "  distinct share (U_pi)"),
    ("missing_labels", "  missing"),
    ("known_share", "  known cells"),
    ("least_known", "  least known"),
    ("without_label", "  rows without a label"),
    ("without_positive", "  labels without rows"),
    ("without_positive_in_train", "  ... in train"),
    ("hierarchy", "  hierarchy"),
    ("feature_hierarchy", "feature hierarchy"),
    ("nodes", "hierarchy"),
)
SHARES = {"missing_share", "distinct_share", "known_share"}
_TITLES = 28
_COLUMN = 13
"""Characters of a line for the titles, and at least for each data set."""


@click.command(
    cls=FirstOptions,
    first="--target --hierarchy --annotations --feature-hierarchy --together --kind --id --ignore --weight --json",
)
@data_options
@click.option("--feature-hierarchy", default=None, type=click.Path(), help="Hierarchy of the features: OBO or edges.")
@click.option("--together", is_flag=True, help="Read all files as the parts of one data set.")
@output_options
def info(
    data: tuple[str, ...],
    target: tuple[str, ...],
    hierarchy: str | None,
    reading: dict[str, Any],
    feature_hierarchy: str | None,
    together: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Describe data files: rows, features by kind, missing, constant and duplicate columns, labels, hierarchy.

    DATA are ARFF, CSV, Parquet, ranking or GAF files, or OBO and .edges files of hierarchies, plain or compressed. Each
    file is a data set of its own unless --together is given; an XML file of labels goes with the ARFF files.

    \b
    Examples:
      ramify info cellcycle.train.arff.gz
      ramify info --together cellcycle.train.arff.gz cellcycle.test.arff.gz
      ramify info --json data.csv --target genre
    """  # noqa: D301
    labels = [file for file in data if _ending(file) == "xml"]
    files = [file for file in data if file not in labels]
    groups = [list(data)] if together or not files else [[file, *labels] for file in files]
    described = []
    for number, group in enumerate(groups, start=1):
        if verbose:
            click.echo(f"{number} of {len(groups)}: {plain(group[0])}", err=True)
        described.append(_described(group, target, hierarchy, feature_hierarchy, reading))
    if as_json:
        click.echo(json_text(described if len(described) > 1 else described[0]))
    elif not quiet:
        _print_tables(described)


def _ending(file: str) -> str:
    from ramify.datasets.readers.raw_files import plain_name

    name = plain_name(file).lower()
    return "edges" if ".edges." in name else name.rpartition(".")[2]


def _described(
    files: list[str],
    target: tuple[str, ...],
    hierarchy: str | None,
    feature_hierarchy: str | None,
    reading: dict[str, Any],
) -> dict[str, Any]:
    from ramify.datasets import read, read_hierarchy
    from ramify.datasets.description import describe, describe_hierarchy
    from ramify.datasets.readers.raw_files import sha256_of

    if len(files) == 1 and _ending(files[0]) in {"obo", "edges"}:
        shape = describe_hierarchy(read_hierarchy(files[0]))
        return {"source": files[0], "sha256": sha256_of(files), "nodes": shape}
    try:
        data = read_data(files, target, hierarchy, feature_hierarchy, reading)
    except ValueError as error:
        if target or OF_ANNOTATIONS & reading.keys():
            raise
        # Columns can be told of a table in whose last column nobody finds a target.
        data = read(files, [], feature_hierarchy=feature_hierarchy, **reading)
        data = replace(data, notes=(*data.notes, f"No target: {error}"))
        tell_notes(data)
    return describe(data)


def _print_tables(described: list[dict[str, Any]]) -> None:
    """Data sets side by side, as many as fit without breaking a number, the others below."""
    screen = console()
    screen.width = max(screen.width, _TITLES + _COLUMN)
    at_once = (screen.width - _TITLES) // _COLUMN
    for start in range(0, len(described), at_once):
        if start:
            screen.print()
        screen.print(_table(described[start : start + at_once]))
    for entry in described:
        if entry.get("columns"):
            screen.print()
            screen.print(_columns(entry["columns"]))


def _columns(records: list[dict[str, Any]]) -> Table:
    """What each column of a table is and what is done with it."""
    from rich.table import Table
    from rich.text import Text

    shown = Table(show_edge=False, pad_edge=False)
    for title, justify in (("column", "left"), ("kind", "left"), ("values", "right"), ("missing", "right")):
        shown.add_column(title, justify=justify, overflow="fold", max_width=20)  # type: ignore[arg-type]
    shown.add_column("what is done")
    for record in records:
        done = record["decision"] + (f": {record['why']}" if record["why"] else "")
        missing = f"{100 * record['missing']:.0f} %" if record["missing"] else ""
        cells = (record["name"], record["kind"], f"{record['n_values']:,}", missing, done)
        shown.add_row(*(Text(plain(cell)) for cell in cells))
    return shown


def _table(described: list[dict[str, Any]]) -> Table:
    from rich.table import Table
    from rich.text import Text

    shown = Table(show_edge=False, pad_edge=False)
    shown.add_column("", no_wrap=True)
    for entry in described:
        name = ", ".join(Path(part).name for part in entry["source"].split(", "))
        shown.add_column(Text(plain(name)), justify="right", overflow="fold", min_width=_COLUMN - 3)
    for key, title in ROWS:
        if any(key in entry for entry in described):
            shown.add_row(title, *(Text(_cell(key, entry.get(key))) for entry in described))
    return shown


def _cell(key: str, value: Any) -> str:
    if value is None:
        return ""
    if key in SHARES:
        return f"{100 * value:.2f} %"
    if key == "targets":
        return plain("; ".join(f"{name}: {what}" for name, what in value.items()))
    if isinstance(value, dict):
        return (
            f"{value['shape']}, {value['nodes']} nodes, {value['edges']} edges, {value['leaves']} leaves, "
            f"depth {value['max_depth']:g} (leaves {value['mean_leaf_depth']:.2f})"
        )
    return f"{value:.3f}" if isinstance(value, float) else plain(value)
