"""Small escaped HTML tables and trees, with which rankings, hierarchies and data sets show themselves in notebooks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

from ramify.shown import shown_number


def html_table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], *, bar: int | None = None) -> str:
    """A table; everything in it is escaped.

    Parameters
    ----------
    caption : str
        Shown above the table.
    columns : sequence of str
        Heads of the columns; none are shown if all are empty.
    rows : iterable of sequences
        Cells; numbers stand on the right.
    bar : int, optional
        Column of non-negative numbers to show with a bar relative to the largest.
    """
    lines = [list(row) for row in rows]
    largest = max((float(line[bar]) for line in lines), default=0.0) if bar is not None else 0.0
    head = f"<thead><tr>{''.join(f'<th>{escape(c)}</th>' for c in columns)}</tr></thead>" if any(columns) else ""
    body = "".join(
        "<tr>" + "".join(_cell(cell, largest if at == bar else 0.0) for at, cell in enumerate(line)) + "</tr>"
        for line in lines
    )
    return f"<table><caption>{escape(caption)}</caption>{head}<tbody>{body}</tbody></table>"


def _cell(value: Any, largest: float) -> str:
    if not isinstance(value, (int, float)):
        return f'<td style="text-align:left">{escape(str(value))}</td>'
    text = shown_number(value) if isinstance(value, float) else f"{value:,}"
    if largest <= 0:
        return f'<td style="text-align:right">{text}</td>'
    share = max(0.0, min(1.0, value / largest))
    bar = f'<span style="display:inline-block;height:.6em;width:{6 * share:.2f}em;background:#0a6e68"></span>'
    return f'<td style="text-align:left">{bar} {text}</td>'


def html_paragraph(text: str) -> str:
    """A paragraph of escaped text."""
    return f"<p>{escape(text)}</p>"


def html_tree(caption: str, roots: Sequence[str], children: Callable[[str], Sequence[str]], *, most: int = 200) -> str:
    """Nested lists that open and close.

    Parameters
    ----------
    caption : str
        Shown above the tree.
    roots : sequence of str
        Names at the top.
    children : callable
        From a name to the names below it.
    most : int
        How many nodes are shown, about; all roots are, then level by level. A node with several parents stands below
        each of them and is opened below one.
    """
    shown, opened = _first_levels(roots, children, most), set()
    pieces = [f"<div><b>{escape(caption)}</b>"]
    end_of_branch = object()
    waiting: list[Any] = [*reversed(roots)]
    while waiting:
        item = waiting.pop()
        if item is end_of_branch:
            pieces.append("</div></details>")
            continue
        below = children(item)
        if not below:
            pieces.append(f'<div style="margin-left:1em">{escape(item)}</div>')
        elif item not in shown:
            where = "shown above" if item in opened else "not shown"
            pieces.append(f'<div style="margin-left:1em">{escape(item)} ({len(below)}, {where})</div>')
        else:
            shown.remove(item)
            opened.add(item)
            pieces.append(f"<details><summary>{escape(item)} ({len(below)})</summary>")
            pieces.append('<div style="margin-left:1.2em">')
            waiting += [end_of_branch, *reversed(below)]
    return "".join(pieces) + "</div>"


def _first_levels(roots: Sequence[str], children: Callable[[str], Sequence[str]], most: int) -> set[str]:
    """The nodes whose children are shown: from the top downwards, as long as all children of a node find room."""
    opened: set[str] = set()
    waiting = deque(roots)
    n_shown = len(roots)
    while waiting:
        node = waiting.popleft()
        below = children(node)
        if below and node not in opened and n_shown + len(below) <= most:
            opened.add(node)
            n_shown += len(below)
            waiting.extend(below)
    return opened
