"""How a text file is written: its encoding and what separates its cells, found from its content and told."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from ramify.datasets.readers.raw_files import FileError, PathLike, plain_name, read_pieces

_HEAD = 1 << 16
_LINES = 100
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_WORDS = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "bar": "|"}
_NOT_WESTERN = bytes(set(range(256)) - set(range(0x80, 0xA0)))


@dataclass(frozen=True)
class TextLayout:
    """How a file is written, and what of it was found rather than said or usual."""

    separator: str = ","
    encoding: str = "utf-8"
    notes: tuple[str, ...] = ()

    @property
    def is_wide(self) -> bool:
        """Whether letters take two bytes, so that lines are not found as bytes."""
        return self.encoding.lower().replace("_", "-").startswith("utf-16")


def text_layout(path: PathLike, content: bytes, separator: str | None, encoding: str | None) -> TextLayout:
    """How to read a file: as the caller says, else as its content tells.

    Parameters
    ----------
    path : path
        The file.
    content : bytes
        What it holds, or its first lines.
    separator : str, optional
        One character, or "tab", "comma", "semicolon", "bar". None finds it: what cuts the first lines into the same
        number of cells; a file that two separators fit is refused.
    encoding : str, optional
        None takes UTF-8, UTF-16 where a byte-order mark says so, or Latin-1 (Windows-1252) where bytes are not UTF-8.
    """
    notes = []
    if encoding is None:
        encoding, told = _encoding_of(content)
        notes += [told] if told else []
    if separator is None:
        separator = _separator_of(path, _head_text(content, encoding))
        if separator != usual_separator(path):
            notes.append(f"Cells are separated by {_NAMES[separator]}.")
    return TextLayout(_WORDS.get(separator, separator), encoding, tuple(notes))


def head_of(path: PathLike) -> bytes:
    """The first lines of a file, without the last one where it is cut."""
    content = b""
    for piece in read_pieces(path):
        content += piece
        if len(content) > _HEAD:
            return content[:_HEAD] if b"\n" not in content[:_HEAD] else content[: content.rfind(b"\n", 0, _HEAD) + 1]
    return content


def first_records(path: PathLike, separator: str | None, encoding: str | None, n_records: int) -> list[list[str]]:
    """The first rows of cells; whoever reads the whole file says what is wrong in them and where."""
    content = head_of(path)
    layout = text_layout(path, content, separator, encoding)
    records: list[list[str]] = []
    try:
        for record in csv.reader(
            io.StringIO(_head_text(content, layout.encoding), newline=""), delimiter=layout.separator
        ):
            if record and any(cell.strip() for cell in record):
                records.append(record)
            if len(records) == n_records:
                break
    except csv.Error:
        pass
    return records


def usual_separator(path: PathLike) -> str:
    """Tab for .tsv and .tab files, comma for all others."""
    return "\t" if plain_name(path).lower().endswith((".tsv", ".tab")) else ","


def _encoding_of(content: bytes) -> tuple[str, str]:
    """The encoding, and what is to be told of it."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) and not content.startswith(b"\xff\xfe\x00\x00"):
        return "utf-16", "The text is UTF-16, as its first bytes say."
    if content.isascii():
        return "utf-8", ""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        pass
    else:
        return "utf-8", ""
    if not content.decode("utf-8", errors="ignore").isascii() or b"\x00" in content:
        return "utf-8", ""  # damaged, or no text at all: the reader says where
    is_windows = bool(content.translate(None, _NOT_WESTERN))
    encoding, name = ("cp1252", "Windows-1252") if is_windows else ("latin-1", "Latin-1")
    try:
        content.decode(encoding)
    except UnicodeDecodeError:
        return "utf-8", ""
    return encoding, f"The text is not UTF-8; it was read as {name}. Another is named with encoding= (--encoding)."


def _head_text(content: bytes, encoding: str) -> str:
    return content[:_HEAD].decode(encoding, errors="replace").removeprefix("\ufeff")


def _separator_of(path: PathLike, text: str) -> str:
    header = next((line for line in text.splitlines() if line.strip()), "")
    above = {sign: found for sign in _NAMES if (found := _lines_above(text, sign)) is not None}
    fitting = [sign for sign, n_lines in above.items() if n_lines == min(above.values())]
    if len(fitting) > 1:
        named = " or ".join(_NAMES[sign] for sign in fitting)
        raise FileError(
            path,
            f"the cells may be separated by {named}",
            line=1,
            advice=f"Say which: separator={fitting[0]!r} or separator={fitting[1]!r} (--separator).",
        )
    if fitting:
        return fitting[0]
    present = [sign for sign in _NAMES if sign in header]
    return present[0] if len(present) == 1 else usual_separator(path)


def _lines_above(text: str, separator: str) -> int | None:
    """How many lines of titles stand above lines that a separator cuts into as many cells each, None where it does not.

    The last line may be cut and does not count.
    """
    widths: list[int] = []
    whole = text if len(text) < _HEAD // 2 else text[: text.rfind("\n") + 1]
    try:
        for record in csv.reader(io.StringIO(whole, newline=""), delimiter=separator, strict=True):
            if record and any(cell.strip() for cell in record):
                widths.append(len(record))
            if len(widths) == _LINES:
                break
    except csv.Error:
        return None
    width = widths[-1] if widths else 1
    n_above = next((k for k, found in enumerate(widths) if 2 * found > width), 0)
    is_regular = width > 1 and set(widths[n_above:]) == {width}
    return n_above if is_regular and (n_above == 0 or len(widths) - n_above > 1) else None
