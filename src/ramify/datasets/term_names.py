"""Names for identifiers: one term written in several ways, and what terms are called."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches

_IDENTIFIER = re.compile(r"([A-Za-z]+)[:_. -]?([0-9]+)")
"""A prefix and digits, with or without something between: `GO:0008152`, `GO0008152`, `GO_0008152`."""


def known_spelling(name: str) -> str | None:
    """An identifier in the one spelling by which it is compared; None for any other name."""
    parts = _IDENTIFIER.fullmatch(name.strip())
    return None if parts is None else f"{parts[1].lower()}:{parts[2]}"


def meant_terms(
    names: Iterable[str],
    known: Sequence[str],
    titles: Mapping[str, str],
    current: Callable[[str], str | None] = lambda _: None,
) -> dict[str, str]:
    """The known term that each name means; names that mean none are left out.

    Parameters
    ----------
    names : iterable of str
        As somebody wrote them.
    known : sequence of str
        Names of the terms.
    titles : mapping of str to str
        What terms are called.
    current : callable
        The term in use that an older identifier means, or None.
    """
    exact = set(known)
    by_spelling = _unambiguous((spelling, name) for name in known if (spelling := known_spelling(name)))
    by_title = _unambiguous((titles[name].casefold(), name) for name in known if titles.get(name))
    found = {}
    for name in names:
        spelling = known_spelling(name)
        term = name if name in exact else by_spelling.get(spelling or "") or by_title.get(name.strip().casefold())
        if term is None and spelling is not None:
            prefix, _, digits = spelling.partition(":")
            for written in (name, f"{prefix.upper()}:{digits}"):
                older = current(written)
                term = older if older in exact else term
        if term is not None:
            found[name] = term
    return found


def label_called(text: str, names: Sequence[str], titles: Mapping[str, str]) -> str:
    """The label that somebody names by its identifier, however spelled, or by what it is called.

    Parameters
    ----------
    text : str
        As somebody wrote it.
    names : sequence of str
        Names of the labels.
    titles : mapping of str to str
        What they are called.

    Raises
    ------
    ValueError
        If there is no such label; it says which ones are written nearly so.
    """
    found = meant_terms([text], names, titles)
    if text in found:
        return found[text]
    shown = {name.casefold(): titled(name, titles) for name in names}
    shown |= {titles[name].casefold(): titled(name, titles) for name in names if name in titles}
    wanted = text.casefold()
    near = [shown[key] for key in get_close_matches(wanted, shown, n=3, cutoff=0.75)]
    near += [title for key, title in shown.items() if len(wanted) > 2 and wanted in key]
    near = list(dict.fromkeys(near))[:3]
    first = ", ".join(repr(titled(name, titles)) for name in names[:3])
    advice = f"Did you mean {' or '.join(map(repr, near))}?" if near else f"The first are {first}."
    raise ValueError(f"There is no label {text!r} among the {len(names)} of the target. {advice}")


def titled(name: str, titles: Mapping[str, str]) -> str:
    """What a label or feature is called with its identifier beside it, or its name alone."""
    title = titles.get(name)
    return f"{title} ({name})" if title else str(name)


def _unambiguous(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Keys that stand for one name only."""
    listed = list(pairs)
    counts = Counter(key for key, _ in listed)
    return {key: name for key, name in listed if counts[key] == 1}
