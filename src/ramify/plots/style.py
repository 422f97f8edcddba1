"""What all figures share: colour-blind safe colours and plain axes, without touching matplotlib's global state."""

from __future__ import annotations

import io
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ramify.shown import cut_name

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5D5D5D", "#8C6D1F")
"""Okabe and Ito's palette, in an order that keeps neighbours apart also in grey."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""A second cue beside colour."""

SEQUENTIAL = "YlGnBu"
"""Colour map of magnitudes: light to dark, so that it reads the same for colour-blind readers and in grey."""

NEUTRAL = "#9a9a9a"
"""Grey that is readable on white and on black."""


class ShownFigure(Figure):
    """A figure that a notebook shows as the result of a cell, whether or not pyplot was imported or a backend set.

    matplotlib's own figures are shown only where pyplot's inline backend is active.
    """

    def _repr_png_(self) -> tuple[bytes, dict[str, str]]:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png")
        return buffer.getvalue(), {"alt": self.in_words()}

    def in_words(self) -> str:
        """What is drawn, for those who do not see it: titles, axes and the first names on them."""
        said = []
        for axes in self.axes:
            names = [label.get_text() for label in axes.get_yticklabels() if label.get_text()][:5]
            said += [axes.get_title(), axes.get_xlabel(), axes.get_ylabel(), ", ".join(names)]
        return f"Figure: {'; '.join(part for part in said if part)}"


def plain_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure with one plot whose upper and right borders are left out."""
    figure = ShownFigure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def shortened(name: str, n_characters: int = 28) -> str:
    """A name that fits beside an axis, cut in its middle; dollar signs stay dollar signs."""
    return "".join(c if c.isprintable() else " " for c in cut_name(name, n_characters)).replace("$", r"\$")


def text_colour(rgb: Sequence[float]) -> str:
    """Dark or light text, whichever is readable on the colour (channels from 0 to 1)."""
    brightness = 0.3 * rgb[0] + 0.59 * rgb[1] + 0.11 * rgb[2]
    # Not quite black: a report turns pure black into the page's own ink, and this stands on a coloured cell.
    return "#010101" if brightness > 0.55 else "#ffffff"
