"""`ramify info`: describe data files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

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
    ("labels", "  labels"),
    ("cardinality", "  cardinality"),
    ("leaf_cardinality", "  leaf labels per row"),
    ("density", "  density"),
    ("distinct", "  distinct"),
    ("distinct_share", "  distinct share (U_pi)"),
    ("missing_labels", "  missing"),
    ("without_label", "  rows without a label"),
    ("without_positive", "  labels without a positive"),
    ("without_positive_in_train", "  ... in train"),
    ("hierarchy", "  hierarchy"),
    ("feature_hierarchy", "feature hierarchy"),
)
SHARES = {"missing_share", "distinct_share"}


@click.command()
@click.argument("data", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--target", "-t", multiple=True, help="Target column; give it several times for several columns.")
@click.option(
    "--hierarchy", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Label hierarchy: OBO or edges."
)
@click.option(
    "--feature-hierarchy",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Feature hierarchy: OBO or edges; its terms are matched to the features by name.",
)
@click.option("--together", is_flag=True, help="Read all files as the parts of one data set.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: one object per data set.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def info(
    data: tuple[Path, ...],
    target: tuple[str, ...],
    hierarchy: Path | None,
    feature_hierarchy: Path | None,
    together: bool,
    as_json: bool,
    debug: bool,  # noqa: ARG001
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
    labels = [path for path in data if _plain(path).endswith(".xml")]
    files = [path for path in data if path not in labels]
    groups = [list(data)] if together or not files else [[file, *labels] for file in files]
    described = [_described(group, target, hierarchy, feature_hierarchy) for group in groups]
    if as_json:
        click.echo(json.dumps(described if len(described) > 1 else described[0], indent=2, ensure_ascii=False))
    else:
        _print_table(described)


def _plain(path: Path) -> str:
    from ramify.datasets.files import plain_name

    return plain_name(path).lower()


def _described(
    files: list[Path], target: tuple[str, ...], hierarchy: Path | None, feature_hierarchy: Path | None
) -> dict[str, Any]:
    from dataclasses import replace

    from ramify.datasets import read
    from ramify.datasets.description import describe, describe_hierarchy
    from ramify.datasets.files import sha256_of

    if len(files) == 1 and (_plain(files[0]).endswith(".obo") or ".edges." in _plain(files[0])):
        shape = describe_hierarchy(_read_hierarchy(files[0]))
        return {"source": str(files[0]), "sha256": sha256_of(files), "feature_hierarchy": shape}
    data = read(files, target=None if not target else target[0] if len(target) == 1 else list(target))
    if hierarchy is not None and data.target in {"labels", "hierarchy"}:
        order = _read_hierarchy(hierarchy).subset(data.label_names)
        data = replace(data, target="hierarchy", hierarchy=order, y=order.close(data.y))
    if feature_hierarchy is not None:
        known = _read_hierarchy(feature_hierarchy)
        names = [name for name in dict.fromkeys(data.feature_names) if name in known]
        data = replace(data, feature_hierarchy=known.subset(names))
    return describe(data)


def _read_hierarchy(path: Path) -> Any:
    from ramify.datasets import read_edges, read_obo

    return read_obo(path) if _plain(path).endswith(".obo") else read_edges(path)


def _print_table(described: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(show_edge=False, pad_edge=False)
    table.add_column("", no_wrap=True)
    for entry in described:
        name = ", ".join(Path(part).name for part in entry["source"].split(", "))
        table.add_column(Text(_printable(name)), justify="right", overflow="fold")
    for key, title in ROWS:
        if any(key in entry for entry in described):
            table.add_row(title, *(Text(_cell(key, entry.get(key))) for entry in described))
    Console().print(table)


def _cell(key: str, value: Any) -> str:
    if value is None:
        return ""
    if key in SHARES:
        return f"{100 * value:.2f} %"
    if isinstance(value, dict):
        return (
            f"{value['shape']}, {value['nodes']} nodes, {value['edges']} edges, {value['leaves']} leaves, "
            f"depth {value['max_depth']:g} (leaves {value['mean_leaf_depth']:.2f})"
        )
    if isinstance(value, float):
        return f"{value:.3f}"
    return _printable(str(value))


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)
