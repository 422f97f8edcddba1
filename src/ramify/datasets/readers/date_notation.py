"""Columns of dates: which notation they have, and the numbers that can be made of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

DateNumbers = Literal["parts", "days"]
DAY_FIRST, MONTH_FIRST = "dmy", "mdy"

ISO = "ISO8601"
COMPACT = "%Y%m%d"
_CLOCK = r"[0-9]{1,2}:[0-9]{2}(?P<seconds>:[0-9]{2}(?P<fraction>\.[0-9]+)?)?"
_TIME = rf"(?P<time>[T ]{_CLOCK})?"
_ZONED = rf"(?P<time>[T ]{_CLOCK}(?:Z|[+-][0-9]{{2}}:?[0-9]{{2}})?)?"
_NOTATIONS = (
    (re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}" + _ZONED), (ISO,)),
    (re.compile(r"[0-9]{4}-[0-9]{2}"), ("%Y-%m",)),
    (re.compile(r"[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}" + _TIME), ("%Y/%m/%d",)),
    (re.compile(r"[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}" + _TIME), ("%d.%m.%Y",)),
    (re.compile(r"[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{2}"), ("%d.%m.%y",)),
    (re.compile(r"[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}" + _TIME), ("%d/%m/%Y", "%m/%d/%Y")),
    (re.compile(r"[0-9]{1,2}-[0-9]{1,2}-[0-9]{4}" + _TIME), ("%d-%m-%Y", "%m-%d-%Y")),
    (re.compile(r"[0-9]{1,2}/[0-9]{1,2}/[0-9]{2}"), ("%d/%m/%y", "%m/%d/%y")),
    (re.compile(r"[0-9]{1,2} [A-Za-z]{3,9} [0-9]{4}"), ("%d %b %Y", "%d %B %Y")),
    (re.compile(r"[0-9]{1,2}-[A-Za-z]{3}-[0-9]{4}"), ("%d-%b-%Y",)),
)
"""A notation and the formats that it may have, as `strptime` writes them; several are told apart by the values."""
_FIRST = 20
"""Numbers that tell whether a column may hold days written as 20240131."""
_NEARLY_ALL = 0.9
"""Share of the rows of such a column that are days if others are slips."""


def date_formats(cells: Sequence[str]) -> tuple[str, ...]:
    """The formats by which all cells are dates: none, one, or two where day and month cannot be told apart.

    Parameters
    ----------
    cells : sequence of str
        The cells that are not missing.
    """
    if not cells:
        return ()
    for notation, formats in _NOTATIONS:
        first = notation.fullmatch(cells[0])
        if first is None:
            continue
        if not all(notation.fullmatch(cell) for cell in cells):
            return ()
        found = [_with_time(form, first) for form in formats]
        return tuple(form for form in found if bool(dates_of(cells, form).notna().all()))
    return ()


def unlike_dates(cells: Sequence[str]) -> tuple[str, str] | None:
    """A date and a cell that is none like it, of a column of which most cells are dates; None for others.

    What is unlike has another notation, as 31.01.2024 beside 2024-01-31, or is no day of the calendar.
    """
    if len(cells) < 2 or not (_formats(cells[0]) or _formats(cells[-1])):
        return None
    formats = [_formats(cell) for cell in cells]
    if 2 * formats.count(()) >= len(cells):
        return None
    common = next(found for found in formats if found)
    alike = np.array([found == common for found in formats])
    if alike.all():
        alike = max((np.asarray(dates_of(cells, form).notna()) for form in common), key=np.count_nonzero)
        if alike.all() or 2 * np.count_nonzero(alike) <= len(cells):
            return None
    return cells[int(np.argmax(alike))], cells[int(np.argmin(alike))]


def _formats(cell: str) -> tuple[str, ...]:
    """The formats that one cell may have, by its notation."""
    for notation, formats in _NOTATIONS:
        if (found := notation.fullmatch(cell)) is not None:
            return tuple(_with_time(form, found) for form in formats)
    return ()


def _with_time(form: str, first: re.Match[str]) -> str:
    parts = first.groupdict()
    if form == ISO or not parts.get("time"):
        return form
    gap = parts["time"][0]
    return form + gap + ("%H:%M:%S" if parts["seconds"] else "%H:%M") + (".%f" if parts["fraction"] else "")


def compact_dates(values: np.ndarray) -> bool:
    """Whether whole numbers are all days of 1900 to 2100 written as 20240131."""
    _, is_day, _ = _compact_days(values)
    return bool(len(is_day) and is_day.all())


def unlike_compact_dates(values: np.ndarray) -> tuple[float, float] | None:
    """A day written as 20240131 and a number that is none, of numbers of which nearly all are such days, or None."""
    known, is_day, counts = _compact_days(values)
    if not len(is_day) or is_day.all() or counts[is_day].sum() < _NEARLY_ALL * counts.sum():
        return None
    return float(known[np.argmax(is_day)]), float(known[np.argmin(is_day)])


def _compact_days(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each number once, whether it is a day, and how often it occurs; none where the first ones are hardly days."""
    known = values[~np.isnan(values)]
    if 2 * np.count_nonzero(_like_days(known[:_FIRST])) <= len(known[:_FIRST]):
        return np.empty(0), np.empty(0, dtype=bool), np.empty(0)
    known, counts = np.unique(known, return_counts=True)
    is_day = _like_days(known)
    is_day[is_day] = dates_of([str(int(value)) for value in known[is_day]], COMPACT).notna()
    return known, is_day, counts


def _like_days(values: np.ndarray) -> np.ndarray:
    return (values >= 19000101) & (values <= 21001231) & (values == np.floor(values))


def dates_of(cells: Sequence[str | None], form: str) -> pd.Series:
    """The cells as dates (of UTC, where they say a zone); what is none is NaT."""
    import pandas as pd

    texts = pd.Series(list(cells), dtype=object)
    return pd.to_datetime(texts, format=form, errors="coerce", utc=True).dt.tz_localize(None)


def date_numbers(name: str, dates: pd.Series, wanted: DateNumbers) -> dict[str, np.ndarray]:
    """Columns of numbers made of a column of dates, by name.

    Parameters
    ----------
    name : str
        Of the column.
    dates : Series of dates
        NaT where missing.
    wanted : {"parts", "days"}
        Year, month, day, weekday (Monday is 1) and hour, or days since 1970-01-01 with the time as a fraction.
    """
    import pandas as pd

    if wanted == "days":
        return {f"{name}.days": _numbers((dates - pd.Timestamp(0)) / pd.Timedelta(days=1))}
    parts = {"year": dates.dt.year, "month": dates.dt.month, "day": dates.dt.day, "weekday": dates.dt.day_of_week + 1}
    return {f"{name}.{part}": _numbers(values) for part, values in (parts | {"hour": dates.dt.hour}).items()}


def _numbers(values: Any) -> np.ndarray:
    return np.asarray(values, dtype=float)
