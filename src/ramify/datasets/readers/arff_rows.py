"""The data section of an ARFF file as columns: one table of numbers and codes, and lists of text."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ramify import _core
from ramify.datasets.readers.arff_header import ESCAPED, Attribute, Header
from ramify.datasets.readers.raw_files import FileError, PathLike, column_of_cell, decoded, shown

_BLOCK = 8 << 20
_KIND_CODES = {"number": 0, "nominal": 1}
_TEXT = 2


@dataclass(frozen=True)
class Rows:
    """Rows of one or several files. `table` has a column per attribute (zero where the attribute is text)."""

    paths: tuple[PathLike, ...]
    file_of: np.ndarray
    lines: np.ndarray
    table: Any
    texts: dict[int, list[str | None]]
    weights: np.ndarray | None
    has_sparse_rows: bool

    def error(self, row: int, attribute: int, fault: str, advice: str) -> FileError:
        """An error that names the file, the line and the column of a cell (of a dense row)."""
        path, line = self.paths[self.file_of[row]], int(self.lines[row])
        column = column_of_cell(path, line, 0 if self.has_sparse_rows else attribute, ",", "utf-8")
        return FileError(path, fault, line=line, column=column, advice=advice)


def joined(parts: list[Rows]) -> Rows:
    """Rows of several files, one after the other."""
    if len(parts) == 1:
        return parts[0]
    weights = None
    if any(part.weights is not None for part in parts):
        weights = np.concatenate([np.ones(len(p.lines)) if p.weights is None else p.weights for p in parts])
    return Rows(
        paths=tuple(path for part in parts for path in part.paths),
        file_of=np.repeat(np.arange(len(parts)), [len(part.lines) for part in parts]),
        lines=np.concatenate([part.lines for part in parts]),
        table=stacked([part.table for part in parts]),
        texts={column: [t for part in parts for t in part.texts[column]] for column in parts[0].texts},
        weights=weights,
        has_sparse_rows=any(part.has_sparse_rows for part in parts),
    )


def read_rows(
    path: PathLike, header: Header, pieces: Iterator[bytes], *, index_base: int | None, encoding: str
) -> Rows:
    """Read the pieces of text after `@data`."""
    declared = _declared(header.attributes, encoding)
    blocks: Iterator[bytes] = _whole_lines(pieces)
    first = next(blocks, b"")
    if index_base is None:
        first, blocks, index_base = _detected_base(path, header, declared, first, blocks)
    builder = _Builder(path, header, encoding)
    builder.add(first, _core.arff_rows(_bytes(first), **declared, index_base=index_base))
    for block in blocks:
        builder.add(block, _core.arff_rows(_bytes(block), **declared, index_base=index_base))
    return builder.rows()


def _declared(attributes: tuple[Attribute, ...], encoding: str) -> dict[str, np.ndarray]:
    """The header as the arrays that the core takes; every distinct domain once."""
    domains: dict[tuple[str, ...], int] = {}
    kinds: np.ndarray = np.full(len(attributes), _TEXT, dtype=np.uint8)
    domain_of: np.ndarray = np.full(len(attributes), -1, dtype=np.int32)
    for column, attribute in enumerate(attributes):
        kinds[column] = _KIND_CODES.get(attribute.kind, _TEXT)
        if attribute.kind == "nominal":
            domain_of[column] = domains.setdefault(attribute.values, len(domains))
    values = [value.encode(encoding) for domain in domains for value in domain]
    return {
        "kinds": kinds,
        "domain_of": domain_of,
        "domain_text": _bytes(b"".join(values)),
        "value_offsets": np.concatenate([[0], np.cumsum([len(value) for value in values])]).astype(np.int64),
        "domain_offsets": np.concatenate([[0], np.cumsum([len(domain) for domain in domains])]).astype(np.int64),
    }


def _bytes(content: bytes) -> np.ndarray:
    return np.frombuffer(content, dtype=np.uint8)


def _whole_lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Blocks of some megabytes that end with a line."""
    pending: list[bytes] = []
    size = 0
    for piece in pieces:
        end = piece.rfind(b"\n") + 1 if size + len(piece) >= _BLOCK else 0
        if end:
            pending.append(piece[:end])
            yield b"".join(pending)
            pending, size = [piece[end:]], len(piece) - end
        else:
            pending.append(piece)
            size += len(piece)
    if size:
        yield b"".join(pending)


def _detected_base(
    path: PathLike, header: Header, declared: dict[str, np.ndarray], first: bytes, blocks: Iterator[bytes]
) -> tuple[bytes, Iterator[bytes], int]:
    """The number that sparse rows give to the first column: 0 for Weka and Mulan, 1 for CLUS."""
    if not _core.arff_rows(_bytes(first), **declared, index_base=-1)["largest_index"] >= 0:
        return first, blocks, 0
    kept = [first, *blocks]
    smallest, largest = None, -1
    for block in kept:
        found = _core.arff_rows(_bytes(block), **declared, index_base=-1)
        if found["largest_index"] >= 0:
            smallest = found["smallest_index"] if smallest is None else min(smallest, found["smallest_index"])
            largest = max(largest, found["largest_index"])
    n_columns = len(header.attributes)
    base = 1 if smallest != 0 and largest == n_columns else 0
    if smallest != 0 and largest < n_columns:
        base = _base_that_fits(path, declared, kept)
    return kept[0], iter(kept[1:]), base


def _base_that_fits(path: PathLike, declared: dict[str, np.ndarray], blocks: list[bytes]) -> int:
    """Where neither the first nor the last index occurs: the base under which the values fit their columns."""
    fits = [
        all(_core.arff_rows(_bytes(block), **declared, index_base=base)["fault"] == 0 for block in blocks)
        for base in (0, 1)
    ]
    if fits == [True, True]:
        warnings.warn(
            f"{path}: no row tells whether its sparse rows count columns from 0 (Weka, Mulan) or from 1 (CLUS); "
            "0 was taken. Pass index_base=0 or index_base=1 to say it.",
            UserWarning,
            stacklevel=6,
        )
    return 1 if fits == [False, True] else 0


class _Builder:
    """Collects the blocks of a file."""

    def __init__(self, path: PathLike, header: Header, encoding: str) -> None:
        self.path = path
        self.header = header
        self.encoding = encoding
        self.next_line = header.n_lines + 1
        self.text_columns = [j for j, a in enumerate(header.attributes) if a.kind not in _KIND_CODES]
        self.texts: dict[int, list[str | None]] = {column: [] for column in self.text_columns}
        self.tables: list[Any] = []
        self.lines: list[np.ndarray] = []
        self.weights: list[np.ndarray] = []
        self.has_sparse_rows = False

    def add(self, block: bytes, found: dict[str, Any]) -> None:
        if found["fault"]:
            raise _fault(self.path, self.header, block, found, self.next_line, self.encoding)
        n_rows, n_columns = len(found["lines"]), len(self.header.attributes)
        index = np.int32 if max(len(found["values"]), n_columns) < 2**31 else np.int64
        positions = found["indices"].astype(index), found["indptr"].astype(index)
        table = sparse.csr_array((found["values"], *positions), shape=(n_rows, n_columns))
        self.tables.append(table if 2 * table.nnz < n_rows * n_columns else table.toarray())
        self.lines.append(found["lines"] + self.next_line)
        weights = found["weights"]
        self.weights.append(weights if len(weights) else np.full(n_rows, np.nan))
        self.has_sparse_rows |= found["largest_index"] >= 0
        self._add_texts(block, found)
        self.next_line += found["n_lines"]

    def _add_texts(self, block: bytes, found: dict[str, Any]) -> None:
        shape = (len(found["lines"]), len(self.text_columns))
        starts, ends = found["text_starts"].reshape(shape), found["text_ends"].reshape(shape)
        quoted = found["text_quoted"].reshape(shape)
        for position, column in enumerate(self.text_columns):
            texts = self.texts[column]
            cells = zip(
                starts[:, position].tolist(), ends[:, position].tolist(), quoted[:, position].tolist(), strict=True
            )
            for row, (start, end, is_quoted) in enumerate(cells):
                if start < 0:
                    texts.append(None if start == -1 else "")
                    continue
                raw = block[start:end]
                text = decoded(self.path, raw, self.encoding, first_line=int(self.next_line + found["lines"][row]))
                texts.append(_unescaped(text) if is_quoted and "\\" in text else text)

    def rows(self) -> Rows:
        lines = np.concatenate(self.lines)
        weights = np.concatenate(self.weights)
        has_weights = not np.isnan(weights).all()
        return Rows(
            paths=(self.path,),
            file_of=np.zeros(len(lines), dtype=np.int64),
            lines=lines,
            table=stacked(self.tables),
            texts=self.texts,
            weights=np.where(np.isnan(weights), 1.0, weights) if has_weights else None,
            has_sparse_rows=self.has_sparse_rows,
        )


def stacked(tables: list[Any]) -> Any:
    """Blocks of rows as one CSC or dense table, whichever holds the non-zeros better; empties `tables`."""
    n_rows = sum(table.shape[0] for table in tables)
    n_columns = tables[0].shape[1]
    n_nonzero = sum(table.nnz if sparse.issparse(table) else np.count_nonzero(table) for table in tables)
    if 2 * n_nonzero < n_rows * n_columns or n_rows * n_columns == 0:
        whole = sparse.vstack([sparse.csr_array(table) for table in tables], format="csr")
        tables.clear()
        return whole.tocsc()
    whole = np.zeros((n_rows, n_columns))
    start = 0
    tables.reverse()
    while tables:
        table = tables.pop()
        stop = start + table.shape[0]
        whole[start:stop] = table.toarray() if sparse.issparse(table) else table
        start = stop
    return whole


def _unescaped(text: str) -> str:
    characters = []
    position = 0
    while position < len(text):
        character = text[position]
        if character == "\\" and position + 1 < len(text):
            position += 1
            character = ESCAPED.get(text[position], text[position])
        characters.append(character)
        position += 1
    return "".join(characters)


def _fault(
    path: PathLike, header: Header, block: bytes, found: dict[str, Any], first_line: int, encoding: str
) -> FileError:
    """The core's fault in words."""
    value = shown(block[found["fault_start"] : found["fault_end"]])
    column = found["fault_column"]
    attribute = header.attributes[column] if column >= 0 else None
    of = f" (attribute {column + 1}, {shown(attribute.name)})" if attribute else ""
    n_columns = len(header.attributes)
    count = found["fault_count"]
    words = {
        1: (f"the row has {count} values for {n_columns} attributes", "Write ? for every missing value."),
        2: (f"the row has {count} values for {n_columns} attributes", "Quote values that hold a comma."),
        3: (f"{value} is not a number{of}", "Write ? for a missing value, or declare the attribute's domain."),
        4: (f"{value} is not a finite number{of}", "Write ? for a missing value."),
        5: (f"{value} is not in the declared domain{of}", _domain_advice(attribute)),
        6: (f"the value is empty{of}", "Write ? for a missing value, or '' for an empty text."),
        7: (f"the quote is not closed{of}", "Close it, or write \\ before a quote inside."),
        8: (f"text follows the closing quote{of}", "Separate values by commas."),
        9: (f"{value} is no index of a sparse row", "Write {index value, index value, ...}."),
        10: (
            f"the index {value} of a sparse row is outside the {n_columns} attributes",
            "Indices count from 0 (Weka, Mulan); pass index_base=1 for a CLUS file, which counts from 1.",
        ),
        11: (f"the index {count} stands twice in a sparse row{of}", "Keep one of its values."),
        12: ("the sparse row is not closed", "End it with }."),
        13: (f"{value} follows the sparse row", "Write one row per line; only a weight {w} may follow."),
        14: (f"{value} is no instance weight", "Write a non-negative number in braces."),
    }
    fault, advice = words[found["fault"]]
    before = block[found["fault_line_start"] : found["fault_start"]].decode(encoding, errors="replace")
    return FileError(path, fault, line=int(first_line + found["fault_line"]), column=len(before) + 1, advice=advice)


def _domain_advice(attribute: Attribute | None) -> str:
    if attribute is None:
        return ""
    listed = ", ".join(attribute.values[:6]) + (", ..." if len(attribute.values) > 6 else "")
    return f"It may be {listed}, or ? where missing."
