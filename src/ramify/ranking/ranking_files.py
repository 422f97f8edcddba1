"""Rankings to and from files: CSV for people, JSON for programs, .fimp for CLUS."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from scipy import sparse
from scipy.stats import rankdata

from ramify.hierarchy import Hierarchy
from ramify.ranking.feature_ranking import FeatureRanking
from ramify.writing import neutralised, whole_text

_FORMAT = "ramify feature ranking 1"
_CSV_COLUMNS = ["index", "feature", "rank", "score"]


def write_ranking(ranking: FeatureRanking, path: str | PathLike[str]) -> None:
    """Write `ranking` in the format of the file's name; an existing file is replaced only by a complete one."""
    writers: dict[str, Callable[[FeatureRanking, TextIO], None]] = {
        ".csv": _write_csv,
        ".json": _write_json,
        ".fimp": _write_fimp,
    }
    target = Path(path)
    write = writers[_suffix(target)]
    _refuse_unreadable([*ranking.names, *ranking.label_names])
    with whole_text(target) as file:
        write(ranking, file)


def read_ranking(path: str | PathLike[str], *, column: str | None = None) -> FeatureRanking:
    """Read a ranking from a .csv, .json or .fimp file."""
    source = Path(path)
    suffix = _suffix(source)
    if column is not None and suffix != ".fimp":
        raise ValueError(
            f"The 'column' parameter is for .fimp files, which may hold several rankings; {source} is not."
        )
    try:
        text = source.read_bytes().decode("utf-8")
        if suffix == ".json":
            return _read_json(text, source)
        if suffix == ".csv":
            return _read_csv(text, source)
        return _read_fimp(text, source, column)
    except UnicodeDecodeError as error:
        raise ValueError(f"{source} is not text in UTF-8, from byte {error.start} on.") from None
    except (ValueError, csv.Error, OverflowError) as error:
        if str(error).startswith(str(source)):
            raise
        raise ValueError(f"{source} is not a valid ranking: {error}") from None


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    # CLUS keeps the rankings its own tests expect in .fimpTruth files.
    suffix = ".fimp" if suffix == ".fimptruth" else suffix
    if suffix not in {".csv", ".json", ".fimp"}:
        raise ValueError(f"A ranking is a .csv, .json or .fimp file. Got {str(path)!r}; give it one of these endings.")
    return suffix


def _write_csv(ranking: FeatureRanking, file: TextIO) -> None:
    has_returns = any("\r" in name for name in (*ranking.names, *ranking.label_names))
    writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL if has_returns else csv.QUOTE_MINIMAL)
    writer.writerow(_CSV_COLUMNS + [neutralised(label) for label in _labels(ranking)])
    for position in ranking.order.tolist():
        row = [
            position,
            neutralised(ranking.names[position]),
            ranking.ranks[position],
            repr(float(ranking.scores[position])),
        ]
        writer.writerow(row + [repr(float(v)) if v else "0" for v in _label_scores(ranking, position)])


def _read_csv(text: str, source: Path) -> FeatureRanking:
    rows = list(csv.reader(io.StringIO(text, newline="")))
    if not rows or rows[0][:4] != _CSV_COLUMNS:
        raise ValueError(f"{source}, line 1: a ranking starts with the columns {','.join(_CSV_COLUMNS)}.")
    labels = [_armed(label) for label in rows[0][4:]]
    for number, row in enumerate(rows[1:], start=2):  # before there is a cell for each label
        if len(row) != 4 + len(labels):
            raise ValueError(f"{source}, line {number}: {len(row)} cells where the header has {4 + len(labels)}.")
    names: list[str] = [""] * (len(rows) - 1)
    scores = np.full(len(rows) - 1, np.nan)
    per_label = np.zeros((len(rows) - 1, len(labels)))
    for number, row in enumerate(rows[1:], start=2):
        position = _parsed(int, row[0], source, number, 1)
        if not 0 <= position < len(names) or not np.isnan(scores[position]):
            raise ValueError(
                f"{source}, line {number}, column 1: index {position} is repeated or outside 0 to {len(names) - 1}."
            )
        names[position] = _armed(row[1])
        scores[position] = _parsed(float, row[3], source, number, 4)
        per_label[position] = [_parsed(float, cell, source, number, 5 + k) for k, cell in enumerate(row[4:])]
    origin = {"method": "read", "source": source.name}
    return FeatureRanking(names, scores, per_label=per_label if labels else None, label_names=labels, origin=origin)


def _write_json(ranking: FeatureRanking, file: TextIO) -> None:
    content: dict[str, Any] = {
        "format": _FORMAT,
        "names": ranking.names,
        "scores": ranking.scores.tolist(),
        "ranks": ranking.ranks.tolist(),
        "label_names": ranking.label_names,
        "origin": dict(ranking.origin),
    }
    if ranking.per_label is not None:
        matrix = ranking.per_label
        content["per_label"] = {
            "indptr": matrix.indptr.tolist(),
            "indices": matrix.indices.tolist(),
            "data": matrix.data.tolist(),
        }
    if ranking.hierarchy is not None:
        order = ranking.hierarchy
        content["hierarchy"] = {"edges": order.edges.tolist(), "w0": order.w0, "aggregate": order.aggregate}
    json.dump(content, file, default=_plain)
    file.write("\n")


def _plain(value: Any) -> Any:
    """Numpy scalars and arrays as JSON knows them; anything else by its text."""
    if isinstance(value, np.generic):
        return value.item()
    return value.tolist() if isinstance(value, np.ndarray) else str(value)


def _read_json(text: str, source: Path) -> FeatureRanking:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{source} is not a JSON file: {error}.") from None
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise ValueError(f"{source} is not a ranking: its 'format' is not {_FORMAT!r}.")
    try:
        labels = content["label_names"]
        matrix = content.get("per_label")
        shape = (len(content["names"]), len(labels))
        per_label = None if matrix is None else _csr(matrix, shape)
        order = content.get("hierarchy")
        hierarchy = None
        if order is not None:
            edges = _whole_numbers(order["edges"]).reshape(-1, 2)
            hierarchy = Hierarchy(labels, edges, w0=order["w0"], aggregate=order["aggregate"])
        return FeatureRanking(
            content["names"],
            content["scores"],
            per_label=per_label,
            label_names=labels,
            hierarchy=hierarchy,
            origin=content.get("origin", {}),
        )
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, AttributeError) as error:
        raise ValueError(f"{source} is not a valid ranking: {type(error).__name__}: {error}") from error


def _whole_numbers(values: Any) -> np.ndarray:
    """Whole numbers as they are, where numpy would cut off what follows the point."""
    given = np.array(values)
    if given.size and given.dtype.kind != "i":
        raise ValueError(f"positions must be whole numbers, not {given.dtype}")
    return given.astype(np.int64)


def _csr(matrix: dict[str, list[Any]], shape: tuple[int, int]) -> sparse.csr_array:
    parts = (np.array(matrix["data"], float), _whole_numbers(matrix["indices"]), _whole_numbers(matrix["indptr"]))
    built = sparse.csr_array(parts, shape=shape)
    built.check_format(full_check=True)
    return built


def _write_fimp(ranking: FeatureRanking, file: TextIO) -> None:
    columns = {"overall": ranking.scores}
    if ranking.per_label is not None:
        columns |= dict(zip(_labels(ranking), ranking.per_label.toarray().T, strict=True))
    method = str(ranking.origin.get("method", "unknown"))
    fimp = Fimp([f"Ranking method: {method}"], ranking.names, range(1, len(ranking.names) + 1), columns)
    file.write(fimp.text())


@dataclass(frozen=True)
class Fimp:
    """What a .fimp of CLUS holds: features with their columns in the data file, and columns of scores.

    Parameters
    ----------
    head : sequence of str
        The lines above the table.
    names : sequence of str
        Names of the features.
    positions : sequence of int
        Their columns in the data file, from 1.
    columns : mapping of str to array
        Scores of the features, by what they are called.
    by_relevance : bool
        Whether the features stand in the order of the first column's scores, and not as they are given.
    """

    head: Sequence[str]
    names: Sequence[str]
    positions: Sequence[int]
    columns: Mapping[str, np.ndarray]
    by_relevance: bool = True

    def text(self) -> str:
        """The content of the file."""
        names = [_one_line(name).replace(", ", ",") for name in self.columns]
        scores = np.column_stack([np.asarray(column, dtype=float) for column in self.columns.values()])
        ranks = np.column_stack([rankdata(-column, method="min") for column in scores.T]).astype(int)
        order = np.argsort(-scores[:, 0], kind="stable") if self.by_relevance else np.arange(len(scores))
        titles = [f"[{', '.join(f'{name}Rank' for name in names)}]", f"[{', '.join(names)}]"]
        header = "\t".join(["attributeDatasetIndex", "attributeName", *titles])
        lines = [*map(_one_line, self.head), header, "-" * len(header)]
        for j in order.tolist():
            own = [f"[{', '.join(map(str, ranks[j].tolist()))}]", f"[{', '.join(map(repr, scores[j].tolist()))}]"]
            lines.append("\t".join([str(self.positions[j]), _one_line(self.names[j]), *own]))
        return "\n".join([*lines, ""])


def _read_fimp(text: str, source: Path, column: str | None) -> FeatureRanking:
    lines = text.replace("\r\n", "\n").split("\n")
    start = next((k for k, line in enumerate(lines) if line.startswith("attributeDatasetIndex\t")), None)
    if start is None:
        raise ValueError(f"{source} is not a .fimp: no line starts with attributeDatasetIndex<TAB>attributeName.")
    header = lines[start].split("\t")
    if len(header) != 4:
        raise ValueError(f"{source}, line {start + 1}: 4 cells separated by tabs are needed. Got {len(header)}.")
    columns = header[3].strip("[]").split(", ")
    table = [
        _fimp_row(line, source, number, len(columns))
        for number, line in enumerate(lines[start + 1 :], start=start + 2)
        if line.strip() and not line.startswith("---")
    ]
    if not table:
        raise ValueError(f"{source} ranks no feature.")
    table.sort(key=lambda row: row[0])
    values = np.array([row[2] for row in table])
    method = next((line.partition(": ")[2] for line in lines if line.startswith("Ranking method: ")), "read")
    origin = {"method": method, "source": source.name}
    names = [row[1] for row in table]
    chosen, labels = _fimp_columns(columns, column, source)
    if not labels:
        return FeatureRanking(names, values[:, chosen], origin=origin)
    return FeatureRanking(
        names, values[:, 0], per_label=values[:, 1:], label_names=[columns[k] for k in labels], origin=origin
    )


def _fimp_columns(columns: list[str], column: str | None, source: Path) -> tuple[int, list[int]]:
    """The column of global scores and those of labels."""
    if column is not None:
        if column not in columns:
            raise ValueError(f"{source} has no column {column!r}; it has {', '.join(columns[:20])}.")
        return columns.index(column), []
    n_overall = sum("overall" in name.lower() for name in columns)
    if len(columns) == 1 or (n_overall == 1 and "overall" in columns[0].lower()):
        return 0, list(range(1, len(columns)))
    raise ValueError(f"{source} holds {len(columns)} rankings; choose one with column=, of {', '.join(columns[:20])}.")


def _fimp_row(line: str, source: Path, number: int, n_columns: int) -> tuple[int, str, list[float]]:
    cells = line.split("\t")
    if len(cells) != 4:
        raise ValueError(f"{source}, line {number}: 4 cells separated by tabs are needed. Got {len(cells)}.")
    scores = [_parsed(float, cell, source, number, 4) for cell in cells[3].strip("[]").split(", ")]
    if len(scores) != n_columns:
        raise ValueError(f"{source}, line {number}, column 4: {len(scores)} scores where the header has {n_columns}.")
    return _parsed(int, cells[0], source, number, 1), cells[1], scores


def _labels(ranking: FeatureRanking) -> list[str]:
    return list(ranking.label_names) if ranking.per_label is not None else []


def _label_scores(ranking: FeatureRanking, position: int) -> list[float]:
    if ranking.per_label is None:
        return []
    values: list[float] = ranking.per_label[[position]].toarray()[0].tolist()
    return values


def _parsed(kind: Callable[[str], Any], cell: str, source: Path, line: int, column: int) -> Any:
    try:
        if "_" in cell:  # which Python takes for a blank within a number
            raise ValueError
        return kind(cell)
    except ValueError:
        raise ValueError(f"{source}, line {line}, column {column}: {cell!r} is not a number.") from None


def _refuse_unreadable(names: list[str]) -> None:
    """Refuse names that could be written and not be read again."""
    for name in names:
        if len(name) >= csv.field_size_limit():
            raise ValueError(
                f"The name {name[:40]!r}... has {len(name)} characters; a file of rankings holds shorter ones."
            )
        try:
            name.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError(
                f"The name {name[:40]!r} holds half a character and cannot be written; rename it."
            ) from None


def _armed(name: str) -> str:
    return name[1:] if name.startswith("'") else name


def _one_line(name: str) -> str:
    """A name as .fimp can hold it: tabs and line breaks would break the layout."""
    return " ".join(name.split()) if any(c in name for c in "\t\r\n") else name
