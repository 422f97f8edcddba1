"""Names of columns of files in which some are called the same."""

from __future__ import annotations

from collections.abc import Iterable


def told_apart(names: Iterable[str]) -> tuple[str, ...]:
    """The names, of which a later one of the same name gets a number.

    Examples
    --------
    >>> from ramify.datasets.readers.repeated_names import told_apart
    >>> told_apart(["a", "b", "a", "a-2", "a"])
    ('a', 'b', 'a-3', 'a-2', 'a-4')
    """
    names = list(names)
    taken, seen, told = set(names), set(), []
    for name in names:
        number, own = 1, name
        while own in seen or (number > 1 and own in taken):
            number += 1
            own = f"{name}-{number}"
        seen.add(own)
        told.append(own)
    return tuple(told)
