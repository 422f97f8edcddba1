"""The header of an ARFF file: attributes, their kinds and their domains."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from ramify.datasets.readers.raw_files import FileError, PathLike, decoded, read_pieces, shown, without_bom
from ramify.datasets.readers.repeated_names import told_apart

Kind = Literal["number", "nominal", "string", "date", "hierarchical", "ranking"]

_KINDS: dict[str, Kind] = {"numeric": "number", "real": "number", "integer": "number", "string": "string"}
ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
"""What letters mean after a backslash; any other character means itself."""
_BLANKS = " \t\r\v\f"
_BLANK_RUN = re.compile(r"[ \t\r\v\f]*")
_WORD = re.compile(r"[^ \t\r\v\f]*")
_TYPE_WORD = re.compile(r"[^ \t\r\v\f{%]*")


@dataclass(frozen=True)
class Attribute:
    """A declared column; `values` are a nominal's domain, a hierarchy's entries or a ranking's labels."""

    name: str
    kind: Kind
    values: tuple[str, ...]
    line: int


@dataclass(frozen=True)
class Header:
    """What stands before `@data`; of columns of the same name the later ones get a number."""

    relation: str
    attributes: tuple[Attribute, ...]
    n_lines: int


def read_header(path: PathLike, encoding: str) -> tuple[Header, Iterator[bytes]]:
    """The header of a file and the pieces of text that follow its `@data` line."""
    pieces = read_pieces(path)
    relation = ""
    attributes: list[Attribute] = []
    domains: dict[str, tuple[str, ...]] = {}
    lines = _lines(path, pieces)
    number = 0
    for number, (raw, rest) in enumerate(lines, start=1):
        stripped = raw.strip()
        if not stripped or stripped.startswith(b"%"):
            continue
        line = _Line(path, number, decoded(path, raw, encoding, first_line=number))
        line.skip_blanks()
        keyword = line.word(_WORD).lower()
        if keyword == "@data":
            if not attributes:
                line.fail("there is no @attribute line before @data", "Declare the columns first.")
            names = told_apart(attribute.name for attribute in attributes)
            distinct = tuple(replace(each, name=name) for each, name in zip(attributes, names, strict=True))
            return Header(relation, distinct, number), _rest(rest, pieces)
        if keyword == "@relation":
            relation = _relation(line)
        elif keyword == "@attribute":
            attributes.append(_attribute(line, domains))
        else:
            line.position = 0
            line.skip_blanks()
            known = "@relation, @attribute, @data, a comment (%) or blank"
            line.fail(f"{shown(stripped)} is none of {known}", "Correct it, or put @data before the rows.")
    raise FileError(
        path, "there is no @data line", line=max(number, 1), advice="Is this an ARFF file, and is it complete?"
    )


def _lines(path: PathLike, pieces: Iterator[bytes]) -> Iterator[tuple[bytes, memoryview]]:
    """Lines without their ends, each with what is left of the piece it came from."""
    pending: list[bytes] = []
    is_first = True
    for piece in pieces:
        if is_first:
            piece = without_bom(path, piece)
            is_first = False
        start = 0
        while (end := piece.find(b"\n", start)) >= 0:
            line = b"".join([*pending, piece[start:end]])
            pending = []
            start = end + 1
            yield line, memoryview(piece)[start:]
        if start < len(piece):
            pending.append(piece[start:])
    if pending:
        yield b"".join(pending), memoryview(b"")


def _rest(first: memoryview, pieces: Iterator[bytes]) -> Iterator[bytes]:
    if len(first):
        yield bytes(first)
    yield from pieces


class _Line:
    """A header line and how far it has been read."""

    def __init__(self, path: PathLike, number: int, text: str) -> None:
        self.path = path
        self.number = number
        self.text = text.rstrip(_BLANKS)
        self.position = 0

    def fail(self, fault: str, advice: str, position: int | None = None) -> None:
        at = self.position if position is None else position
        raise FileError(self.path, fault, line=self.number, column=at + 1, advice=advice)

    def skip_blanks(self) -> None:
        run = _BLANK_RUN.match(self.text, self.position)
        self.position = run.end() if run else self.position

    def at_end(self) -> bool:
        return self.position >= len(self.text)

    def word(self, pattern: re.Pattern[str]) -> str:
        """The run of characters of a kind that stands here."""
        start = self.position
        run = pattern.match(self.text, start)
        self.position = run.end() if run else start
        return self.text[start : self.position]

    def quoted(self) -> str:
        """A text in quotes, its escapes resolved."""
        start = self.position
        quote = self.text[start]
        characters = []
        self.position += 1
        while not self.at_end() and self.text[self.position] != quote:
            character = self.text[self.position]
            if character == "\\" and self.position + 1 < len(self.text):
                self.position += 1
                character = ESCAPED.get(self.text[self.position], self.text[self.position])
            characters.append(character)
            self.position += 1
        if self.at_end():
            self.fail(f"the quote {quote} is not closed", "Close it, or write \\ before a quote inside.", start)
        self.position += 1
        return "".join(characters)


def _relation(line: _Line) -> str:
    line.skip_blanks()
    if not line.at_end() and line.text[line.position] in "'\"":
        return line.quoted()
    return line.text[line.position :].strip()


def _attribute(line: _Line, domains: dict[str, tuple[str, ...]]) -> Attribute:
    line.skip_blanks()
    if line.at_end():
        line.fail("@attribute has no name", "Write @attribute NAME TYPE.")
    start = line.position
    is_quoted = line.text[start] in "'\""
    name = line.quoted() if is_quoted else line.word(_WORD)
    if not name:
        line.fail("the attribute's name is empty", "Give it a name.", start)
    if "\x00" in name:
        line.fail("the attribute's name holds a NUL byte", "Is this a text file?", start)
    if is_quoted and not line.at_end() and line.text[line.position] not in _BLANKS + "{":
        line.fail("text follows the closing quote", "Put a blank between the name and its type.")
    line.skip_blanks()
    if line.at_end():
        line.fail(f"attribute {shown(name)} has no type", "Write numeric, string or a domain {a,b,...}.")
    kind, values = _kind(line, name, domains)
    return Attribute(name, kind, values, line.number)


def _kind(line: _Line, name: str, domains: dict[str, tuple[str, ...]]) -> tuple[Kind, tuple[str, ...]]:
    start = line.position
    if line.text[start] == "{":
        return "nominal", _domain(line, domains)
    word = line.word(_TYPE_WORD).lower()
    line.skip_blanks()
    if word == "hierarchical":
        return "hierarchical", _hierarchy_entries(line, name)
    if word == "ranking":
        if line.at_end() or line.text[line.position] != "{":
            line.fail("a RANKING attribute needs its labels", "Write RANKING {a,b,...}.")
        return "ranking", _domain(line, domains)
    if word == "relational":
        line.fail("relational attributes are not read", "Write one row per example.", start)
    if word == "date":
        return "date", ()
    if word not in _KINDS:
        line.fail(
            f"{shown(line.text[start:])} is no type of an attribute",
            "Use numeric, real, integer, string, date, hierarchical, ranking or a domain {a,b,...}; "
            "a name with blanks must be quoted.",
            start,
        )
    if not line.at_end() and line.text[line.position] != "%":
        line.fail(f"{shown(line.text[line.position :])} follows the type of {shown(name)}", "Remove it.")
    return _KINDS[word], ()


def _domain(line: _Line, domains: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Values between braces. Equal texts share one tuple, since wide files repeat a domain thousands of times."""
    raw = line.text[line.position :]
    if raw in domains:
        line.position = len(line.text)
        return domains[raw]
    start = line.position
    values: list[str] = []
    line.position += 1
    while True:
        line.skip_blanks()
        if line.at_end():
            line.fail("the domain is not closed", "End it with }.", start)
        if line.text[line.position] == "}" and not values:
            break
        values.append(_domain_value(line))
        line.skip_blanks()
        if line.at_end():
            line.fail("the domain is not closed", "End it with }.", start)
        if line.text[line.position] == "}":
            break
        line.position += 1
    line.position += 1
    line.skip_blanks()
    if not line.at_end() and line.text[line.position] != "%":
        line.fail(f"{shown(line.text[line.position :])} follows the domain", "Quote values that hold braces.")
    _check_domain(line, values, start)
    domains[raw] = tuple(values)
    return domains[raw]


def _domain_value(line: _Line) -> str:
    start = line.position
    if line.text[start] in "'\"":
        value = line.quoted()
        line.skip_blanks()
        if not line.at_end() and line.text[line.position] not in ",}":
            line.fail("text follows the closing quote", "Separate values by commas.")
        return value
    while not line.at_end() and line.text[line.position] not in ",}":
        line.position += 1
    value = line.text[start : line.position].rstrip(_BLANKS)
    if not value:
        line.fail("a value of the domain is empty", "Remove the extra comma, or write '' for an empty value.", start)
    return value


def _check_domain(line: _Line, values: list[str], start: int) -> None:
    if not values:
        line.fail("the domain is empty", "List its values.", start)
    if len(set(values)) < len(values):
        seen: set[str] = set()
        twice = next(value for value in values if value in seen or seen.add(value))  # type: ignore[func-returns-value]
        line.fail(f"the value {shown(twice)} stands twice in the domain", "List every value once.", start)


def _hierarchy_entries(line: _Line, name: str) -> tuple[str, ...]:
    """The comma-separated paths or edges of a CLUS hierarchical attribute; repeated ones count once."""
    if line.at_end():
        line.fail(f"the hierarchical attribute {shown(name)} lists no label", "List paths a/b/c or edges a/b.")
    start = line.position
    entries = []
    for entry in line.text[start:].split(","):
        label = entry.strip(_BLANKS)
        if not label or not all(label.split("/")):
            line.fail(
                f"{shown(label)} is no path or edge of a hierarchy", "Separate labels by commas and steps by /.", start
            )
        entries.append(label)
        start += len(entry) + 1
    return tuple(dict.fromkeys(entries))
