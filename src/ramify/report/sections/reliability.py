"""Whether probabilities mean what they say, before and after calibration where the model is calibrated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ramify import plots
from ramify.analysis import Results
from ramify.metrics import calibration_error
from ramify.report.notation import percent, rounded
from ramify.report.section import Chart, Content, Section
from ramify.shown import shown_number

if TYPE_CHECKING:
    import pandas as pd

FEW = 30
"""A bin with fewer predictions says little."""


def _part(results: Results) -> dict[str, Any] | None:
    if not results.reliability:
        return None
    tables = dict(results.reliability)
    bins = {
        name: {"count": table["count"].tolist()}
        | {column: rounded(table[column]) for column in ("low", "high", "said", "happened")}
        for name, table in tables.items()
    }
    errors = {name: rounded(calibration_error(table)) for name, table in tables.items()}
    return {"bins": bins, "errors": errors, "sentences": _sentences(results), "table": _table(tables)}


def _sentences(results: Results) -> list[str]:
    names, tables = list(results.reliability), list(results.reliability.values())
    errors = [percent(calibration_error(table)) for table in tables]
    last = tables[-1]
    n_predictions = int(last["count"].sum())
    if len(tables) == 1:
        off = f"it is off by {errors[0]} on average"
    else:
        off = "it is off by " + " and ".join(f"{e} {name}" for name, e in zip(names, errors, strict=True))
        off += " calibration"
    sentences = [
        "Where a probability of 0.3 is said, 30 % should occur. "
        f"{results.measured_on}, over {n_predictions:,} probabilities (all rows and labels), {off}.",
        *_likely(last),
    ]
    if ((last["count"] > 0) & (last["count"] < FEW)).any():
        sentences.append(f"A bin with fewer than {FEW} predictions says little.")
    return sentences


def _likely(table: pd.DataFrame) -> list[str]:
    """Whether what is said to be likely occurs more or less often than that."""
    likely = table[(table["low"] >= 0.5) & (table["count"] > 0)]
    n_likely = int(likely["count"].sum())
    if n_likely < FEW:
        return []
    said, happened = (float((likely[name] * likely["count"]).sum() / n_likely) for name in ("said", "happened"))
    word = "too cautious" if happened > said + 0.02 else "too sure" if happened < said - 0.02 else "about right"
    return [f"From one half on it says {said:.2f} on average and {happened:.2f} occur: {word}."]


def _table(tables: dict[str, pd.DataFrame]) -> dict[str, Any]:
    """A line per bin; with several models, theirs side by side."""
    first = next(iter(tables.values()))
    columns = ["Probability"]
    rows = [[f"{low:g} to {high:g}"] for low, high in first[["low", "high"]].itertuples(index=False)]
    for name, table in tables.items():
        which = "" if len(tables) == 1 else f" {name}"
        columns += [f"Predictions{which}", f"Said{which}", f"Occurred{which}"]
        for row, (count, said, happened) in zip(
            rows, table[["count", "said", "happened"]].itertuples(index=False), strict=True
        ):
            row += [f"{int(count):,}", shown_number(said), shown_number(happened)]
    return {"columns": columns, "rows": rows}


def _charts(content: Content, results: Results) -> list[Chart]:
    if not content["reliability"]:
        return []
    caption = "On the diagonal a probability means what it says; above it the model is too cautious, below too sure."
    return [Chart("reliability", plots.reliability(results.reliability), caption)]


SECTION = Section(
    "reliability",
    74,
    "Probabilities",
    "Do probabilities mean what they say?",
    key="reliability",
    part=_part,
    charts=_charts,
)
