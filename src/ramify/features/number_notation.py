"""Numbers as people write them in tables: decimal commas, thousands, signs of money and per cent."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_BLANKS = "'’ \u00a0\u202f"
"""What may stand between thousands whatever the decimal sign is."""
_SIGNS = "€$£¥%"
_EXPONENT = "(?:[eE](?:[-−][0-9]{1,3}|[+]?[0-9]{1,2}))?"  # none beyond the largest double
_POSSIBLE = re.compile(rf"[-+−]?[{_SIGNS}]? ?[-+−]?[0-9.,{_BLANKS}]*[0-9]\.?{_EXPONENT} ?[{_SIGNS}]?")
_WHOLE = r"(?:[1-9][0-9]{0,2}([%s])[0-9]{3}(?:\1[0-9]{3})*|0|[1-9][0-9]*)"
_WRITTEN = {
    ".": re.compile(rf"[-+]?(?:{_WHOLE % (',' + _BLANKS)}(?:\.[0-9]*)?|\.[0-9]+){_EXPONENT}"),
    ",": re.compile(rf"[-+]?(?:{_WHOLE % ('.' + _BLANKS)}(?:,[0-9]+)?|,[0-9]+){_EXPONENT}"),
}
_MOST_DIGITS = 15
"""So many digits of a whole number survive, whatever they are."""
_SAMPLE = 200
_MOST_CODES = 20
"""Whole numbers may name something, such as classes, if they are few."""


def strays(cells: Sequence[str]) -> list[str]:
    """The cells that are no numbers as most are, which so are no column of numbers; none where most are no numbers.

    Parameters
    ----------
    cells : sequence of str
        The cells that are not missing.
    """
    notation = _common_notation(cells)
    return [] if notation is None else [cell for cell in cells if not _is_written(cell, *notation)]


def are_measured(cells: Sequence[str]) -> bool:
    """Whether most cells are numbers that measure something: fractions, or too many to be codes."""
    notation = _common_notation(cells)
    if notation is None or len(cells) > _MOST_CODES:
        return notation is not None
    return not all(cell.lstrip("+-−").isdigit() for cell in cells if _is_written(cell, *notation))


def _common_notation(cells: Sequence[str]) -> tuple[str, str] | None:
    """The sign of money or per cent and the decimal sign by which most of the first cells are numbers, or None."""
    some = cells[:_SAMPLE]
    counts = Counter((_sign(cell), sign) for cell in some for sign in _WRITTEN if _is_written(cell, _sign(cell), sign))
    notation = max(counts, key=counts.__getitem__, default=None)
    return notation if notation is not None and 2 * counts[notation] > len(some) else None


def _is_written(cell: str, money: str, decimal: str) -> bool:
    return _POSSIBLE.fullmatch(cell) is not None and _sign(cell) == money and _is_number(_bare(cell), decimal)


def _is_number(bare: str, decimal: str) -> bool:
    """Whether a cell without signs of money is a number that survives being read as one."""
    n_digits = sum(map(str.isdigit, bare.partition(decimal)[0]))
    return n_digits <= _MOST_DIGITS and _WRITTEN[decimal].fullmatch(bare) is not None


def _sign(cell: str) -> str:
    return "".join(character for character in cell if character in _SIGNS)


def _bare(cell: str) -> str:
    return cell.strip(_SIGNS + " ").replace("−", "-").replace("-" + _sign(cell), "-").strip()
