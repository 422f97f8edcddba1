"""Rankings written as orders, `a>b=c>d`: best first, `=` between tied labels, unranked labels left out."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np


class OrderError(ValueError):
    """What is wrong with an order, as a clause; the caller knows the place."""


def ranks_of_order(text: str, position: Mapping[str, int]) -> np.ndarray:
    """Ranks of the labels of an order: 1 best, tied labels share a rank, the next group has the next rank.

    Parameters
    ----------
    text : str
        Labels from best to worst, separated by `>`, tied ones by `=`; the empty text ranks no label.
    position : mapping
        Position of each label among the columns.
    """
    ranks = np.full(len(position), np.nan)
    if not text.strip():
        return ranks
    for rank, group in enumerate(text.split(">"), start=1):
        for label in group.split("="):
            name = label.strip()
            if not name or name not in position:
                raise OrderError(f"{name!r} is no label" if name else "a label is empty")
            if not np.isnan(ranks[position[name]]):
                raise OrderError(f"the label {name!r} stands twice")
            ranks[position[name]] = rank
    return ranks


def labels_of_order(text: str) -> list[str]:
    """Labels that an order names, best first."""
    if not text.strip():
        return []
    return [label.strip() for group in text.split(">") for label in group.split("=")]


def order_of_ranks(ranks: np.ndarray, names: tuple[str, ...]) -> str:
    """The order that a row of ranks says; the inverse of `ranks_of_order` up to the notation of ties."""
    groups: dict[float, list[str]] = {}
    for rank, name in zip(ranks.tolist(), names, strict=True):
        if not np.isnan(rank):
            groups.setdefault(rank, []).append(name)
    return ">".join("=".join(groups[rank]) for rank in sorted(groups))


def natural_key(text: str) -> list[tuple[int, int, str]]:
    """Sorting key that puts L2 before L10."""
    pieces = re.split("([0-9]{1,18})", text)
    return [(1, int(piece), piece) if piece.isdecimal() else (0, 0, piece) for piece in pieces]
