"""Numbers, names and lists as people write them, in terminal, page and notebook; files keep all digits."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, isfinite, log10


def shown_number(value: float | None) -> str:
    """A number with two decimals, two digits where it is small, none where it is large; a dash where it is unknown.

    Examples
    --------
    >>> from ramify.shown import shown_number
    >>> [shown_number(value) for value in (0.8213, 1, 0.02797, -0.00046, 12.34, 12345.6, 0, 0.0000123)]
    ['0.82', '1.00', '0.028', '-0.00046', '12.3', '12,346', '0', '1.2e-05']
    """
    if value is None or value != value:
        return "–"
    size = abs(value)
    if not isfinite(value) or (0 < size < 0.000095):
        return f"{value:.1e}"
    if size >= 99.95:
        return f"{value:,.0f}"
    if size >= 9.995:
        return f"{value:.1f}"
    if size >= 0.0995:
        return f"{value:.2f}"
    return f"{value:.{1 - floor(log10(size * 1.005))}f}" if size else "0"


def shown_p(value: float) -> str:
    """A p- or q-value: three decimals, and below them only that it is smaller.

    Examples
    --------
    >>> from ramify.shown import shown_p
    >>> shown_p(0.01649), shown_p(2e-5)
    ('0.016', '<0.001')
    """
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def listed(parts: Sequence[str]) -> str:
    """Parts of a sentence with commas between them, and "and" before the last.

    Examples
    --------
    >>> from ramify.shown import listed
    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def cut_name(name: str, n_characters: int) -> str:
    """A name that fits its place, cut in its middle: names that begin alike differ at the end.

    Examples
    --------
    >>> from ramify.shown import cut_name
    >>> cut_name("regulation_of_transport_positive", 15)
    'regulati…sitive'
    """
    n_last = n_characters // 2 - 1
    return name if len(name) <= n_characters else f"{name[: n_characters - 1 - n_last]}…{name[-n_last:]}"
