"""Reader of label-ranking files: rank columns or orders, with or without a header."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from ramify.datasets.dataset import Dataset
from ramify.datasets.readers.arff import read_arff
from ramify.datasets.readers.raw_files import FileError, PathLike, decoded, file_paths, plain_name
from ramify.datasets.tables.delimited import check_width, cut_records, read_text
from ramify.datasets.tables.table import MISSING, Table
from ramify.datasets.tables.table_dataset import TableChoice, table_dataset
from ramify.datasets.tables.text_column import TextColumn
from ramify.datasets.tables.text_layout import TextLayout
from ramify.parameters import check_integer

Records = list[tuple[int, list[str]]]

_RANK_COLUMN = re.compile(r"L[0-9]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")


def read_rankings(
    files: PathLike | Sequence[PathLike],
    *,
    n_labels: int | None = None,
    categorical: Collection[str] = (),
    missing: Collection[str] = MISSING,
    separator: str | None = None,
    encoding: str | None = None,
) -> Dataset:
    r"""Read label rankings: rank columns, or one column of orders such as `a>b=c`.

    Parameters
    ----------
    files : path or sequence of paths
        One file, or the files of one set. `.arff` and `.xarff` files with a RANKING attribute are read as well.
    n_labels : int, optional
        How many of the last columns are ranks. Needed only where neither names `L1, L2, ...` nor a first line
        `N,p,m` says it.
    categorical : collection of str
        Feature columns to read as nominal even if all cells are numbers.
    missing : collection of str
        Cells that mean a missing value: of a feature, or of a rank (the label is unranked).
    separator : str, optional
        What separates cells. By default found from the first lines.
    encoding : str, optional
        Encoding of the text. By default found from the content, as by `read`.

    Returns
    -------
    Dataset
        `y` holds ranks: 1 best, equal ranks are a tie, NaN is an unranked label. An order `a>b=c` of the labels a, b,
        c, d becomes 1, 2, 2, NaN. Rank columns are kept as written.

    Notes
    -----
    A rank column says the place of a label, an order lists the labels by place: one is the inverse permutation of the
    other, so they are told apart by notation (`>`), never by value.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from ramify.datasets.readers.label_rankings import read_rankings
    >>> file = Path(mkdtemp()) / "films.csv"
    >>> _ = file.write_text("age,ranking\n31,b>a>c\n17,c>a=b\n")
    >>> data = read_rankings(file)
    >>> data.label_names, data.y.tolist()
    (('a', 'b', 'c'), [[2.0, 1.0, 3.0], [2.0, 2.0, 1.0]])
    """
    paths = file_paths(files)
    if n_labels is not None:
        n_labels = check_integer("read_rankings", "n_labels", n_labels, low=2)
    if plain_name(paths[0]).lower().endswith("arff"):
        return _from_arff(paths, encoding or "utf-8")
    tables = [_read_one(path, n_labels, separator, encoding) for path in paths]
    names, n_rank_columns = tables[0][0], tables[0][1]
    for path, (other, _, records, _) in zip(paths, tables, strict=True):
        if other != names:
            raise FileError(
                path,
                f"the columns differ from those of {paths[0]}",
                line=records[0][0] if records else 1,
                advice="Files read together must have the same columns in the same order.",
            )
    rows = [cells for _, _, records, _ in tables for _, cells in records]
    absent = frozenset(missing)
    columns = [
        TextColumn.of(None if cell.strip() in absent else cell.strip() for cell in of_column)
        for of_column in (zip(*rows, strict=True) if rows else ((),) * len(names))
    ]
    file_of = np.repeat(np.arange(len(paths)), [len(records) for _, _, records, _ in tables])
    notes = dict.fromkeys(note for _, _, _, layout in tables for note in layout.notes)
    table = Table(names, columns, paths, file_of, notes=tuple(notes))
    ranked = names[-max(n_rank_columns, 1) :]
    return table_dataset(table, TableChoice(ranked, "rankings", identifier=None, roles=None, categorical=categorical))


def are_rankings(records: list[list[str]]) -> bool:
    """Whether the first two rows of a file look like rankings: columns L1, L2, ... at the end, N,p,m, or orders."""
    if not records:
        return False
    first = [cell.strip() for cell in records[0]]
    return _n_named_ranks(first) > 0 or _is_size_line(first, records[1:2]) or ">" in records[-1][-1]


def have_order_column(records: list[list[str]]) -> bool:
    """Whether a line of names stands above orders, as in any table."""
    return len(records) > 1 and ">" in records[1][-1] and ">" not in records[0][-1]


def _from_arff(paths: list[Path], encoding: str) -> Dataset:
    data = read_arff(paths, encoding=encoding)
    if not data.target_type.ranks_labels:
        raise FileError(
            paths[0], "no attribute is of type RANKING", advice="Declare @attribute NAME RANKING {a,b,...}."
        )
    return data


def _read_one(
    path: Path, n_labels: int | None, separator: str | None, encoding: str | None
) -> tuple[list[str], int, Records, TextLayout]:
    """Names of the columns, how many of the last are ranks (0: one column of orders), the rows, their layout."""
    content, layout = read_text(path, separator, encoding)
    text = decoded(path, content, "utf-8" if layout.is_wide else layout.encoding)
    records = list(cut_records(path, text, layout.separator))
    if records and all(len(cells) > 1 and cells[-1] == "" for _, cells in records):  # a separator ends every line
        records = [(line, cells[:-1]) for line, cells in records]
    if not records:
        raise FileError(path, "the file is empty", line=1, advice="Write one row of features and ranks per line.")
    first = [cell.strip() for cell in records[0][1]]
    if ">" in first[-1]:
        names, n_ranks, n_header = [f"A{k + 1}" for k in range(len(first) - 1)] + ["ranking"], 0, 0
    elif _is_size_line(first, [cells for _, cells in records[1:2]]):
        names, n_ranks, n_header = _sized_layout(path, first, records)
    elif all(_is_number(cell) or cell in MISSING for cell in first):
        names, n_ranks, n_header = _bare_layout(path, first, records, n_labels)
    else:
        names, n_ranks, n_header = _named_layout(path, first, records, n_labels)
    for line, cells in records[n_header:]:
        check_width(path, line, len(cells), len(names), "the table", layout)
    return names, n_ranks, records[n_header:], layout


def _sized_layout(path: Path, first: list[str], records: Records) -> tuple[list[str], int, int]:
    """A first line `N,p,m`."""
    n_rows, n_features, n_ranks = (int(cell) for cell in first)
    if n_rows != len(records) - 1:
        fault = f"the first line promises {n_rows} rows and {len(records) - 1} follow"
        raise FileError(path, fault, line=records[0][0], column=1, advice="Is the file complete?")
    return _numbered_names(n_features, n_ranks), n_ranks, 1


def _bare_layout(path: Path, first: list[str], records: Records, n_labels: int | None) -> tuple[list[str], int, int]:
    """Numbers from the first line on."""
    n_ranks = n_labels or 0
    if not 0 < n_ranks <= len(first):
        raise FileError(
            path,
            "there is no line with names, so it is not known which columns are ranks",
            line=records[0][0],
            column=1,
            advice="Pass n_labels=..., the number of rank columns at the end of each row.",
        )
    return _numbered_names(len(first) - n_ranks, n_ranks), n_ranks, 0


def _named_layout(path: Path, names: list[str], records: Records, n_labels: int | None) -> tuple[list[str], int, int]:
    """A first line with the names of the columns."""
    n_ranks = n_labels if n_labels is not None else _n_named_ranks(names)
    if not n_ranks and len(records) > 1 and ">" not in records[1][1][-1]:
        raise FileError(
            path,
            "no column is named L1, L2, ... and the last column holds no order a>b>c",
            line=records[0][0],
            column=1,
            advice="Pass n_labels=..., the number of rank columns at the end of each row.",
        )
    if n_ranks > len(names):
        fault = f"{len(names)} columns cannot hold {n_ranks} labels"
        raise FileError(path, fault, line=records[0][0], column=1, advice="Correct n_labels.")
    return names, n_ranks, 1


def _numbered_names(n_features: int, n_ranks: int) -> list[str]:
    return [f"A{k + 1}" for k in range(n_features)] + [f"L{k + 1}" for k in range(n_ranks)]


def _is_size_line(first: list[str], following: list[list[str]]) -> bool:
    """Whether the first line is `N,p,m`: rows, features, labels."""
    if len(first) != 3 or not following or not all(re.fullmatch("[0-9]{1,9}", cell) for cell in first):
        return False
    return len(following[0]) == int(first[1]) + int(first[2]) and int(first[2]) >= 2


def _n_named_ranks(names: list[str]) -> int:
    """How many of the last columns are named L1, L2, ...."""
    n_ranks = 0
    while n_ranks < len(names) and _RANK_COLUMN.fullmatch(names[-1 - n_ranks]):
        n_ranks += 1
    return n_ranks if n_ranks >= 2 else 0


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None
