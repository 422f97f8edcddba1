"""Reader of hierarchies written as edges: parent,child pairs, or a node and its parents on each line."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal

from ramify.datasets.readers.raw_files import FileError, PathLike, file_paths, read_text, shown
from ramify.datasets.tables.delimited import read_records
from ramify.hierarchy import Hierarchy
from ramify.parameters import check_option

Layout = Literal["auto", "parent,child", "child,parents"]

_LAYOUTS = ("auto", "parent,child", "child,parents")


def read_edges(
    file: PathLike,
    *,
    layout: Layout = "auto",
    relations: Collection[str] | None = ("is_a",),
    names: Iterable[str] = (),
    repeated: Literal["merge", "last"] = "merge",
    on_cycle: Literal["raise", "drop"] = "raise",
    separator: str | None = None,
    quotes: bool = True,
    encoding: str = "utf-8",
) -> Hierarchy:
    r"""Read a hierarchy from a file of edges.

    Parameters
    ----------
    file : path
        A delimited file, plain or compressed.
    layout : {"auto", "parent,child", "child,parents"}, default="auto"
        What a line holds: one edge, or a node followed by any number of parents. "auto" goes by a header line
        (`parent,child`, or `child,parent` with an optional `relation`), or by a line of more than two names.
    relations : collection of str or None, default=("is_a",)
        Which edges to take where the file has a column `relation`; None takes all.
    names : iterable of str
        Names that may hold the separator (feature names, for instance), so that an unquoted one is not cut in two.
    repeated : {"merge", "last"}, default="merge"
        Parents of a node that begins several lines: those of all lines, or of the last.
    on_cycle : {"raise", "drop"}, default="raise"
        Refuse cycles and print one, or drop the edges that close cycles with a warning that counts them.
    separator : str, optional
        What separates names; a tab if the first line has one, else a comma.
    quotes : bool, default=True
        Whether `"` around a name protects separators inside; False takes quotes as characters of the name.
    encoding : str, default="utf-8"
        Encoding of the text.

    Returns
    -------
    Hierarchy
        Files that list all ancestors give all of them as parents: take
        `.reduction()` where direct parents are meant, and `.subset(feature_names)` to keep the features of a data set.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from ramify.datasets.readers.edges import read_edges
    >>> file = Path(mkdtemp()) / "places.csv"
    >>> _ = file.write_text("Rome,Capital,City\nCapital,City,,\n")
    >>> read_edges(file).reduction().parents["Rome"]
    ('Capital',)
    """
    check_option("read_edges", "layout", layout, _LAYOUTS)
    check_option("read_edges", "repeated", repeated, ("merge", "last"))
    check_option("read_edges", "on_cycle", on_cycle, ("raise", "drop"))
    path = file_paths(file)[0]
    if separator is None:
        first_line = read_text(path, encoding)[:4096].partition("\n")[0]
        separator = "\t" if "\t" in first_line else ","
    records = list(read_records(path, separator=separator, encoding=encoding, quotes=quotes))
    if not records:
        raise FileError(path, "the file is empty", line=1, advice="Write one edge or one node per line.")
    header = [cell.strip().lower() for cell in records[0][1]]
    if {"parent", "child"} <= set(header):
        edges, nodes = _from_columns(path, records, header, relations)
    else:
        if layout == "auto":
            layout = _layout(path, records)
        whole = _names_with(separator, names)
        rows = [(line, _cells(cells, whole, separator)) for line, cells in records]
        edges, nodes = _from_pairs(path, rows) if layout == "parent,child" else _from_parents(path, rows, repeated)
    try:
        return Hierarchy.from_edges(edges, nodes=nodes, on_cycle=on_cycle)
    except ValueError as error:
        fault, _, advice = str(error).partition(". ")
        raise FileError(path, fault, advice=advice) from None


def _from_columns(
    path: PathLike, records: list[tuple[int, list[str]]], header: list[str], relations: Collection[str] | None
) -> tuple[list[tuple[str, str]], list[str]]:
    """Edges of a file whose header names the columns parent and child, in any order."""
    parent, child = header.index("parent"), header.index("child")
    relation = header.index("relation") if "relation" in header else None
    edges = []
    for line, cells in records[1:]:
        if len(cells) != len(header):
            raise FileError(
                path,
                f"the row has {len(cells)} cells and the header has {len(header)}",
                line=line,
                advice="Quote names that hold the separator.",
            )
        if relation is None or relations is None or cells[relation].strip() in relations:
            edges.append(_edge(path, line, cells[parent].strip(), cells[child].strip()))
    return edges, []


def _layout(path: PathLike, records: list[tuple[int, list[str]]]) -> Layout:
    if any(len(cells) != 2 for _, cells in records):
        return "child,parents"
    raise FileError(
        path,
        "two names per line and no header: it is not known which is the parent",
        line=records[0][0],
        advice="Pass layout='parent,child' or layout='child,parents'.",
    )


def _names_with(separator: str, names: Iterable[str]) -> dict[str, set[str]]:
    """Known names that hold the separator, by their first piece."""
    whole: dict[str, set[str]] = {}
    for name in names:
        if separator in name:
            whole.setdefault(name.partition(separator)[0].strip(), set()).add(name)
    return whole


def _cells(cells: list[str], whole: dict[str, set[str]], separator: str) -> list[str]:
    """Names of a line, blanks and empty cells removed, known names put together again."""
    stripped = [cell.strip() for cell in cells]
    if not whole:
        return [cell for cell in stripped if cell]
    joined = []
    position = 0
    while position < len(cells):
        length = 1
        for name in whole.get(stripped[position], ()):
            n_pieces = name.count(separator) + 1
            if separator.join(cells[position : position + n_pieces]).strip() == name:
                length = max(length, n_pieces)
        joined.append(separator.join(cells[position : position + length]).strip())
        position += length
    return [cell for cell in joined if cell]


def _from_pairs(path: PathLike, rows: list[tuple[int, list[str]]]) -> tuple[list[tuple[str, str]], list[str]]:
    edges = []
    for line, names in rows:
        if len(names) != 2:
            raise FileError(
                path,
                f"the line has {len(names)} names where parent,child is expected",
                line=line,
                advice="Write two names, or pass layout='child,parents'.",
            )
        edges.append(_edge(path, line, names[0], names[1]))
    return edges, []


def _from_parents(
    path: PathLike, rows: list[tuple[int, list[str]]], repeated: str
) -> tuple[list[tuple[str, str]], list[str]]:
    parents: dict[str, list[str]] = {}
    for line, names in rows:
        if not names:
            raise FileError(path, "the line names no node", line=line, advice="Remove it.")
        if repeated == "last":
            parents[names[0]] = []
        parents.setdefault(names[0], []).extend(names[1:])
    return [(parent, node) for node, above in parents.items() for parent in above], list(parents)


def _edge(path: PathLike, line: int, parent: str, child: str) -> tuple[str, str]:
    if not parent or not child:
        raise FileError(path, f"{'the parent' if not parent else 'the child'} is empty", line=line, advice="Name it.")
    if "\x00" in parent + child:
        raise FileError(path, f"{shown(parent)} holds a NUL byte", line=line, advice="Is this a text file?")
    return parent, child
