"""A report as Markdown, for a repository, an issue or a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any


def heading(title: str) -> str:
    """The heading of a section."""
    return f"## {escaped(title)}"


def bullets(sentences: Iterable[str]) -> str:
    """A list of sentences."""
    return "\n".join(f"- {escaped(sentence)}" for sentence in sentences)


def facts_list(facts: Iterable[tuple[str, str]]) -> str:
    """A list of names with values."""
    return "\n".join(f"- {escaped(name)}: {escaped(value)}" for name, value in facts)


def markdown_table(columns: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    """A table; everything in it is escaped."""
    head, *body = ("| " + " | ".join(escaped(str(cell)) for cell in line) + " |" for line in [columns, *rows])
    return "\n".join([head, "|" + " --- |" * len(columns), *body])


def escaped(text: str) -> str:
    """Text whose Markdown and HTML marks are shown, not obeyed, on one line and without control characters."""
    printable = "".join(c if c.isprintable() else " " for c in text)
    return re.sub(r"([\\`*_{}\[\]<>#|!~])", r"\\\1", printable).replace("\\<", "&lt;").replace("\\>", "&gt;")
