"""Claims as a figure: what is claimed of each branch, with how much is lost without the feature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from ramify.plots.style import COLOURS, NEUTRAL, plain_figure, shortened

if TYPE_CHECKING:
    from ramify.ranking import Claim, Discoveries


def claims_by_branch(found: Discoveries, *, n_claims: int = 20, titles: Mapping[str, str] | None = None) -> Figure:
    """The surest claims below their branches, each with its effect and the interval of it.

    Parameters
    ----------
    found : Discoveries
        With at least one claim.
    n_claims : int, default=20
        How many of the surest are shown.
    titles : mapping of str to str, optional
        What labels and features are called where their names are ids.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from ramify.plots.claims import claims_by_branch
    >>> from ramify.ranking import Claim, Discoveries
    >>> claim = Claim("age", "Savings", 0.2, 0.1, 0.3, 0.001, 0.01, 50, None)
    >>> [tick.get_text() for tick in claims_by_branch(Discoveries((claim,))).axes[0].get_yticklabels()]
    ['age: Savings']
    """
    if not found.claims:
        raise ValueError("There is no claim to draw; print the result to read what was tested.")
    names = titles or {}
    by_branch: dict[str, list[Claim]] = {}
    for claim in found.claims[:n_claims]:
        by_branch.setdefault(claim.branch_name, []).append(claim)
    lines: list[tuple[str, Claim | None]] = []
    for branch, claims in by_branch.items():
        called = names.get(branch, branch)
        if len(claims) == 1:
            lines.append((f"{shortened(names.get(claims[0].feature, claims[0].feature), 24)}: {called}", claims[0]))
            continue
        lines.append((called, None))
        lines += [(names.get(claim.feature, claim.feature), claim) for claim in claims]
    figure, axes = plain_figure(7, 0.8 + 0.23 * len(lines))
    for y, (_, drawn) in enumerate(lines):
        if drawn is None:
            axes.axhline(y, color=NEUTRAL, linewidth=0.4, alpha=0.5)
        elif drawn.effect is not None:
            axes.plot([drawn.low, drawn.high], [y, y], color=COLOURS[0], linewidth=2, solid_capstyle="butt")
            axes.plot(drawn.effect, y, "o", color=COLOURS[0], markersize=5)
        else:
            axes.text(0, y, " effect not measured", va="center", fontsize=8, color=NEUTRAL)
    axes.axvline(0, color=NEUTRAL, linewidth=0.8)
    axes.set_yticks(np.arange(len(lines)), [shortened(name, 44) for name, _ in lines])
    for tick, (_, drawn) in zip(axes.get_yticklabels(), lines, strict=True):
        tick.set_fontsize(9)
        tick.set_fontweight("bold" if drawn is None else "normal")
    axes.set_ylim(len(lines) - 0.4, -0.6)
    more = f", the {n_claims} surest of {len(found.claims):,} claims" if len(found.claims) > n_claims else ""
    axes.set_xlabel(f"effect and 90 % interval{more}")
    axes.tick_params(axis="y", length=0)
    return figure
