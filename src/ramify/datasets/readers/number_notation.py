"""Numbers as people write them in tables: decimal commas, thousands, signs of money and per cent."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

_BLANKS = "'’ \u00a0\u202f"
"""What may stand between thousands whatever the decimal sign is."""
_SIGNS = "€$£¥%"
_POSSIBLE = re.compile(rf"[-+−]?[{_SIGNS}]? ?[-+−]?[0-9.,{_BLANKS}]*[0-9] ?[{_SIGNS}]?")
_WHOLE = r"[-+]?(?:[1-9][0-9]{0,2}([%s])[0-9]{3}(?:\1[0-9]{3})*|0|[1-9][0-9]*)"
_GROUPED = {
    ".": re.compile(_WHOLE % f",{_BLANKS}" + r"(?:\.[0-9]+)?"),
    ",": re.compile(_WHOLE % f".{_BLANKS}" + "(?:,[0-9]+)?"),
}
_MOST_DIGITS = 15
"""So many digits survive as a number, whatever they are."""


def decimal_signs(cells: Sequence[str]) -> str:
    """The decimal signs, of "." and ",", by which all cells are numbers; both where that cannot be told.

    A column whose numbers are the same by both has the sign ".".

    Parameters
    ----------
    cells : sequence of str
        The cells that are not missing.
    """
    if not cells or not _POSSIBLE.fullmatch(cells[0]):
        return ""
    distinct = list(dict.fromkeys(cells))
    if not all(_POSSIBLE.fullmatch(cell) for cell in distinct) or len({_sign(cell) for cell in distinct}) > 1:
        return ""
    bare = [_bare(cell) for cell in distinct]
    n_digits = max(sum(map(str.isdigit, cell)) for cell in bare)
    if n_digits > _MOST_DIGITS or all(cell.isdigit() for cell in distinct):
        return ""
    fitting = "".join(sign for sign, pattern in _GROUPED.items() if all(pattern.fullmatch(cell) for cell in bare))
    return "." if fitting == ".," and not any("," in cell or "." in cell for cell in bare) else fitting


def _sign(cell: str) -> str:
    return "".join(character for character in cell if character in _SIGNS)


def _bare(cell: str) -> str:
    return cell.strip(_SIGNS + " ").replace("−", "-").replace("-" + _sign(cell), "-").strip()


def written_numbers(cells: Sequence[str], decimal: str) -> np.ndarray:
    """The cells as numbers, by the decimal sign that `decimal_signs` found."""
    between = str.maketrans("", "", _BLANKS + ("," if decimal == "." else "."))
    return np.array([float(_bare(cell).translate(between).replace(",", ".")) for cell in cells], dtype=float)


def may_be_thousands(cells: Sequence[str]) -> bool:
    """Whether all points in plain numbers may stand between thousands, as in 1.234 beside 950."""
    return any("." in cell for cell in cells) and all(_THOUSANDS.fullmatch(cell) for cell in cells)


_THOUSANDS = re.compile(r"[-+]?(?:[1-9][0-9]{0,2}(?:\.[0-9]{3})?|0)")
