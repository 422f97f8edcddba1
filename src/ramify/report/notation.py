"""How a report writes numbers and names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from ramify.analysis import Results
from ramify.datasets import term_names

_NUMBER = re.compile(r"([<+-]?[0-9][0-9,]*(\.[0-9]+)?(e[+-]?[0-9]+)?( %)?|–)?")
"""How a report writes numbers, or nothing."""


def rounded(values: Any) -> Any:
    """Numbers to four significant digits, NaN as None: short in the page and valid JSON."""
    if values is None:
        return None
    array = np.asarray(values, dtype=float)
    if array.ndim == 0:
        return float(f"{array:.4g}") if np.isfinite(array) else None
    return [float(f"{x:.4g}") if np.isfinite(x) else None for x in array.tolist()]


def three_decimals(value: float | None) -> str:
    """A measure between 0 and 1 where methods are compared, which often differ in the third; a dash if unknown."""
    return "–" if value is None or np.isnan(value) else f"{value:.3f}"


def percent(share: float) -> str:
    """A share in percent with two digits."""
    return f"{100 * share:.2g} %" if share < 0.995 else "100 %"


def numeric_columns(rows: Sequence[Sequence[str]]) -> list[bool]:
    """Which columns of a table hold numbers alone, to stand on the right; the first holds names."""
    columns = list(zip(*rows, strict=True))
    return [at > 0 and all(_NUMBER.fullmatch(str(cell)) for cell in cells) for at, cells in enumerate(columns)]


def titled(names: Sequence[str], results: Results) -> list[str]:
    """Names; what they are called comes first where that is known."""
    return [term_names.titled(str(name), results.titles) for name in names]


def file_names(source: str) -> list[str]:
    """Names of the files of a source, without the folders that are nobody else's business."""
    return [PurePath(part).name for part in source.split(", ") if part]
