"""What the text of a column says: numbers with units, dates, times of day, words.

Each notation is learnt from a column and read again from another file.
"""

from __future__ import annotations

import itertools
import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from ramify.datasets.tables.text_column import TextColumn

Made = tuple[str, np.ndarray, tuple[str, ...] | None]
"""A feature: its name, its values or codes, and for codes what they stand for."""

ENOUGH = 0.95
"""So large a share of the cells must follow a notation."""
_MOST_UNITS = 3
_MOST_STRAYS = 3
_FREQUENT = 0.01
MANY = 40
"""Text of more values is looked at word by word as well."""
_MOST_WORDS = 50

_NUMBER = re.compile(
    r"""\s*(?P<sign>[-+−](?=[^\d\s\-+.,(−]))?(?P<before>[^\d\s\-+.,(−][^\d\-+.,−]*?(?:\s|(?<=[^\w\s])))?
    (?P<number>[-+−]?(?:\d{1,3}(?:[ '’\u00a0\u202f]\d{3})+(?:[.,]\d+)?|\d[\d.,]*|[.,]\d+)(?:[eE][-+−]?\d{1,3})?)
    \s*(?P<after>[^\d]*?)\s*""",
    re.VERBOSE,
)
_BLANKS = re.compile("[ '’\u00a0\u202f]")
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(?:,\d{2,3})*,\d{3}")
"""As in 1,234,567 or, in India, 12,34,567."""
_POINTS = re.compile(r"[-+]?[1-9]\d{0,2}(?:\.\d{3})+")
_CURRENCY = re.compile(r"[$€£¥₹]|\b(?:EUR|USD|GBP|CHF)\b")
_IN_BRACKETS = re.compile(r"([^\d(]{0,4})\(([^()]*\d[^()]*)\)")
_ENDING = re.compile(r"(?:\s*/|\s)\D*\d[^:]*$")
_SCALES: Sequence[Mapping[str, float]] = (
    {"": 1, "k": 1e3, "m": 1e6, "mio": 1e6, "b": 1e9, "bn": 1e9},
    {"mg": 1e-3, "g": 1, "kg": 1e3, "t": 1e6, "oz": 28.349523125, **dict.fromkeys(("lb", "lbs"), 453.59237)},
    {"mm": 1e-3, "cm": 1e-2, "m": 1, "km": 1e3, "in": 0.0254, "ft": 0.3048, "mi": 1609.344},
    {"ml": 1e-3, "cl": 1e-2, "l": 1},
    {
        **dict.fromkeys(("s", "sec", "second", "seconds"), 1),
        **dict.fromkeys(("min", "mins", "minute", "minutes"), 60),
        **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600),
        **dict.fromkeys(("d", "day", "days"), 86_400),
        **dict.fromkeys(("w", "wk", "week", "weeks"), 604_800),
        **dict.fromkeys(("mo", "month", "months"), 2_629_746),
        **dict.fromkeys(("y", "yr", "yrs", "year", "years"), 31_556_952),
        "ms": 1e-3,
    },
    {"b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12},
)
"""Units that are multiples of one another."""


@dataclass(frozen=True)
class Numbers:
    """Numbers as people write them.

    Parameters
    ----------
    decimal : {".", ","}
        The decimal sign; the other one stands between thousands.
    units : tuple of str
        What stands before and after numbers, as "$|" or "|kg", where there are several. Those that are multiples of one
        another, as kg and g, are converted; else the unit is a feature too.
    words : tuple of str
        Words that stand where a number is expected, each a feature of its own.
    brackets : bool
        Whether numbers in brackets are negative, as in accounts.
    ending : str
        What ends every cell and is no part of the number, as the /10 of 7.5/10.
    """

    notation: ClassVar[str] = "number"
    decimal: str = "."
    units: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    brackets: bool = False
    ending: str = ""

    def read(self, text: str) -> tuple[float, str] | None:
        """The number and its unit, or None."""
        text = text.removesuffix(self.ending)
        if (inner := _IN_BRACKETS.fullmatch(text)) is not None:
            inside = self.read(inner[1] + inner[2])
            return None if inside is None else (-inside[0] if self.brackets else inside[0], inside[1])
        found = _NUMBER.fullmatch(text)
        if found is None:
            return None
        digits = _BLANKS.sub("", found["number"]).replace("−", "-")
        other = "," if self.decimal == "." else "."
        whole, sign, rest = digits.partition(self.decimal)
        if other in rest or self.decimal in rest:
            return None
        if other in whole and not re.fullmatch(rf"[-+]?\d{{1,3}}(?:\{other}\d{{2,3}})*\{other}\d{{3}}", whole):
            return None
        try:
            value = float(whole.replace(other, "") + ("." if sign else "") + rest)
        except ValueError:
            return None
        if not np.isfinite(value):
            return None
        unit = f"{(found['before'] or '').strip()}|{found['after'].strip()}".lower()
        return -value if found["sign"] in ("-", "−") else value, unit

    def values(self, cells: TextColumn) -> np.ndarray:
        """The column as numbers, NaN where a cell is none."""
        plain = pd.to_numeric(pd.Series(cells.values, dtype=object), errors="coerce").to_numpy(dtype=float, copy=True)
        scales = scales_of(self.units)
        for k in np.flatnonzero(~np.isfinite(plain)) if self.decimal == "." else range(len(plain)):
            found = self.read(cells.values[k])
            plain[k] = np.nan if found is None else found[0] * scales.get(found[1], 1)
        return cells.taken(plain)

    def features(self, name: str, cells: TextColumn) -> list[Made]:
        """The numbers, and what stands beside or instead of them."""
        made: list[Made] = [(name, self.values(cells), None)]
        if len(self.units) > 1 and not scales_of(self.units):
            position = {unit: float(k) for k, unit in enumerate(self.units)}
            found = [self.read(value) for value in cells.values]
            codes = [np.nan if one is None else position.get(one[1], np.nan) for one in found]
            made.append(
                (
                    f"{name} (unit)",
                    cells.taken(codes),
                    tuple(unit.replace("|", " ").strip() or "none" for unit in self.units),
                )
            )
        for word in self.words:
            made.append((f"{name}: {word}", cells.taken([float(value == word) for value in cells.values], 0.0), None))
        return made


def scales_of(units: Sequence[str]) -> dict[str, float]:
    """How much each unit is of one of them, where all are multiples of one another; else nothing."""
    before = {unit.partition("|")[0] for unit in units}
    after = [unit.partition("|")[2] for unit in units]
    if len(before) > 1 or len(after) < 2 or set(after) == {"", "m"}:  # 12 and 12 m are metres
        return {}
    found: Mapping[str, float] = next((scale for scale in _SCALES if scale.keys() >= set(after)), {})
    (sign,) = before
    return {f"{sign}|{unit}": size for unit, size in found.items()}


def learn_numbers(cells: TextColumn, decimal: str | None = None) -> Numbers | None:
    """How the numbers of a column are written, or None where it holds no numbers."""
    counts = np.bincount(cells.codes[cells.codes >= 0], minlength=len(cells.values))
    n_known = counts.sum()
    if are_codes(cells.values):
        return None
    ending = _common_ending(cells.values)
    for sign in (decimal,) if decimal else _signs(cells.values):
        notation = Numbers(decimal=sign, ending=ending)
        found = [notation.read(value) for value in cells.values]
        is_number = np.array([one is not None for one in found], dtype=bool)
        n_numbers = counts[is_number].sum()
        units: Counter[str] = Counter()
        for one, count in zip(found, counts.tolist(), strict=True):
            if one is not None:
                units[one[1]] += count
        frequent = tuple(unit for unit, count in units.most_common() if count >= _FREQUENT * n_known)
        words = tuple(
            cells.values[k] for k in np.flatnonzero(~is_number & (counts >= max(5, _FREQUENT * n_known))).tolist()
        )
        n_words = sum(int(counts[cells.values.index(word)]) for word in words)
        few = 0 < len(words) <= _MOST_STRAYS and is_number.sum() >= 10 and n_numbers + n_words >= ENOUGH * n_known
        if len(cells.values) == 2 and n_numbers < n_known:
            continue
        in_units = sum(units[unit] for unit in frequent)
        several = 1 < len(frequent) <= _MOST_UNITS and len({one[0] for one in found if one}) >= 2 * len(frequent)
        if (
            (n_numbers >= ENOUGH * n_known or few)
            and (len(frequent) == 1 or several or scales_of(frequent))
            and in_units >= ENOUGH * n_numbers
        ):
            in_brackets = [_IN_BRACKETS.fullmatch(value) is not None for value in cells.values]
            return Numbers(
                sign,
                frequent if len(frequent) > 1 else (),
                words if few else (),
                brackets=any(in_brackets) and not all(in_brackets),
                ending=ending,
            )
    return None


def _common_ending(values: Sequence[str]) -> str:
    """What all cells end with from a slash or blank on, if there are digits in it."""
    reversed_ = [value[::-1] for value in values]
    ends = zip(min(reversed_, default=""), max(reversed_, default=""), strict=False)
    common = "".join(first for first, last in itertools.takewhile(lambda pair: pair[0] == pair[1], ends))[::-1]
    start = _ENDING.search(common) if len(values) > 1 else None
    return "" if start is None else common[start.start() :]


def _signs(values: Sequence[str]) -> tuple[str, ...]:
    """The decimal signs to try, the likelier first: a comma is one unless three digits always follow it."""
    with_comma = [part for value in values for part in re.findall(r"[-+]?\d*,[\d,.]*\d", value)]
    if not with_comma:
        points = [part for value in values for part in re.findall(r"\d[\d.]*\.\d[\d.]*", value)]
        are_money = any(_CURRENCY.search(value) for value in values) and all(map(_POINTS.fullmatch, points))
        between_thousands = any(part.count(".") > 1 for part in points) or are_money
        return (",", ".") if points and between_thousands else (".",)
    thousands = all(_THOUSANDS.fullmatch(part.partition(".")[0]) for part in with_comma)
    return (".", ",") if thousands else (",", ".")


def comma_is_unclear(values: Sequence[str]) -> bool:
    """Whether commas may be decimal signs as well as stand between thousands."""
    found = [part for value in values for part in re.findall(r"\d[\d.,]*", value) if "," in part]
    return bool(found) and all(part.count(",") == 1 and _THOUSANDS.fullmatch(part) for part in found)


def points_are_thousands(values: Sequence[str]) -> bool:
    """Whether all points may stand between thousands, as in 1.234 beside 950."""
    with_point = [value for value in values if "." in value]
    return bool(with_point) and all(_POINTS.fullmatch(value) for value in with_point)


def are_codes(values: Sequence[str]) -> bool:
    """Whether cells are padded with zeros, as 007 or 07B, or whole numbers of more digits than a double holds."""
    return any(re.fullmatch(r"[+-]?0\d+[A-Za-z]?", value) for value in values) or any(
        re.fullmatch(r"[+-]?\d{16,}", value) and abs(int(value)) >= 2**53 for value in values
    )


_DIGITS = re.compile(r"\d")
_TWO_PARTS = re.compile(r"\s*(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})\b")
_TIME = re.compile(r"(?<![\d/])\d{1,3}(?::\d{1,2}){1,2}(?:[.,]\d+)?")
_DAY_WORDS = re.compile(r"[a-zäöüéû]{3,}", re.IGNORECASE)
_LOG_TIME = re.compile(r"^(\d{1,2}/[A-Za-z]{3}/\d{4}):")
"""Logs of servers have a colon between day and time."""
_MONTH_AND_YEAR = re.compile(r"^([A-Za-z]{3,9})[-/' ’]{1,2}(\d\d)$")
_FIRST_OF_LAST_CENTURY = 69
"""Years of two digits from here on belong to the last century, as in POSIX."""
_LONGEST_MONTH = 31
_ZONE = re.compile(r"(:\d\d(?:[.,]\d+)?(?:\s*[AaPp][Mm])?)\s*\(?(?![AaPp][Mm]\b)[A-Z]{2,5}(?:[+-]\d{1,2})?\)?$")
"""A name of a time zone behind a time, as forms write it; a column is of one."""
_PARTS = ("days", "year", "month", "weekday", "hour")


@dataclass(frozen=True)
class Dates:
    """Dates in any notation that pandas reads.

    Parameters
    ----------
    day_first : bool
        Whether 01/02/2024 is the first of February.
    parts : tuple of str
        What becomes a feature.
    compact : bool
        Whether dates are whole numbers such as 20240131.
    """

    notation: ClassVar[str] = "date"
    day_first: bool = False
    parts: tuple[str, ...] = _PARTS
    compact: bool = False

    def read(self, values: Sequence[str]) -> pd.Series:
        """The dates of some texts, NaT where a text is none."""
        plain = (_ZONE.sub(r"\1", _LOG_TIME.sub(r"\1 ", value)) for value in values)
        texts = pd.Series([_with_whole_year(value) for value in plain], dtype=object)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self.compact:
                found = pd.to_datetime(texts, format="%Y%m%d", errors="coerce")
            else:
                found = pd.to_datetime(texts, format="mixed", dayfirst=self.day_first, errors="coerce", utc=True)
        return found.dt.tz_localize(None) if found.dt.tz is not None else found

    def features(self, name: str, cells: TextColumn) -> list[Made]:
        """A number per part."""
        dates = self.read(cells.values).dt
        made = {
            "days": (dates.normalize() - pd.Timestamp("1970-01-01")).dt.days,
            "year": dates.year,
            "month": dates.month,
            "weekday": dates.day_of_week + 1,
            "hour": dates.hour + dates.minute / 60,
        }
        return [(f"{name}.{part}", cells.taken(made[part].to_numpy(dtype=float)), None) for part in self.parts]


def learn_dates(cells: TextColumn, order: str | None = None, parts: str | None = None) -> Dates | None:
    """How the dates of a column are written, or None where it holds no dates.

    Parameters
    ----------
    cells : TextColumn
        The column.
    order : {"dmy", "mdy"}, optional
        Which comes first in 01/02/2024.
    parts : {"parts", "days"}, optional
        What becomes a feature; by default what varies.
    """
    values = cells.values
    head = values[:200]
    compact = all(re.fullmatch(r"(?:1[6-9]|20|21)\d{6}", value) for value in head)
    if not values or not (compact or _look_like_dates(head)):
        return None
    notation = Dates(day_first=_day_first(values) if order is None else order == "dmy", compact=compact)
    if notation.read(head).notna().mean() < ENOUGH:
        return None
    found = notation.read(values)
    counts = np.bincount(cells.codes[cells.codes >= 0], minlength=len(values))
    if counts[found.notna().to_numpy()].sum() < (1 if compact else ENOUGH) * counts.sum():
        return None
    chosen: tuple[str, ...]
    if parts is not None:
        chosen = ("days",) if parts == "days" else _PARTS[1:]
    else:
        made = notation.features("", TextColumn(values, np.arange(len(values))))
        of_months = bool((found.dropna().dt.day == 1).all())
        chosen = tuple(
            part
            for part, (_, cells_, _) in zip(_PARTS, made, strict=True)
            if _varies(cells_) and not (part == "weekday" and of_months)
        )
    if not chosen:
        return None
    return Dates(notation.day_first, chosen, compact)


def _with_whole_year(value: str) -> str:
    """Sep-84 as September 1984: a parser would take Sep-03 as a day of this year."""
    found = _MONTH_AND_YEAR.match(value)
    if found is None:
        return value
    return f"1 {found[1]} {19 if int(found[2]) >= _FIRST_OF_LAST_CENTURY else 20}{found[2]}"


def _look_like_dates(values: Sequence[str]) -> bool:
    return bool(
        np.mean([_DIGITS.search(value) is not None and len(value) <= 40 for value in values]) > ENOUGH
        and np.mean([_names_a_date(value) for value in values]) > ENOUGH
        and not any(re.fullmatch(r"[-+]?\d+[.,]\d+", value) for value in values)
    )


def _names_a_date(value: str) -> bool:
    """Whether day, month and year, or month and year stand in a cell: a parser takes 1/2 as a day of this year."""
    beside = _TIME.sub("", value)
    numbers = re.findall(r"\d+", beside)
    n_steps = len(numbers) + bool(_DAY_WORDS.search(beside))
    has_year = any(int(number) > _LONGEST_MONTH for number in numbers) or _MONTH_AND_YEAR.match(value) is not None
    return n_steps > 2 or (n_steps == 2 and has_year)


def _varies(values: np.ndarray) -> bool:
    return len(np.unique(values[~np.isnan(values)])) > 1


def _day_first(values: Sequence[str]) -> bool:
    """Whether the day comes first, by a first number above 12; else by the sign: points are European."""
    found = [match for value in values if (match := _TWO_PARTS.match(value)) is not None]
    if any(int(match[1]) > 12 for match in found):
        return True
    return bool(found) and found[0][2] == "." and not any(int(match[3]) > 12 for match in found)


def order_is_unclear(values: Sequence[str]) -> bool:
    """Whether nothing tells the day from the month in dates such as 01/02/2024."""
    found = [match for value in values if (match := _TWO_PARTS.match(value)) is not None and match[2] != "."]
    return bool(found) and all(int(match[1]) <= 12 and int(match[3]) <= 12 for match in found)


def has_short_years(values: Sequence[str]) -> bool:
    """Whether years are written with two digits."""
    return any(
        ((match := _TWO_PARTS.match(value)) is not None and len(match[4]) == 2) or _MONTH_AND_YEAR.match(value)
        for value in values
    )


_CLOCK = re.compile(r"(\d{1,3}):([0-5]\d)(?::([0-5]\d))?([.,]\d+)?\s*([ap]\.?m\.?)?", re.IGNORECASE)


_DURATION = re.compile(r"(?:\d+(?:\.\d+)?\s*[a-z]{1,7}[,\s]*)+", re.IGNORECASE)


@dataclass(frozen=True)
class Clock:
    """Times of the day and durations such as 14:35, 2:05 pm, 3:19.8 or 1h 20m, in hours."""

    notation: ClassVar[str] = "time"

    def values(self, cells: TextColumn) -> np.ndarray:
        """The hours, NaN where a cell is no time."""
        return cells.taken([_hours(value) for value in cells.values])

    def features(self, name: str, cells: TextColumn) -> list[Made]:
        """The hours."""
        return [(name, self.values(cells), None)]


def learn_clock(cells: TextColumn) -> Clock | None:
    """Times, or None where a column holds none."""
    head = [value.strip() for value in cells.values[:200]]
    times = np.mean([_CLOCK.fullmatch(value) is not None for value in head]) if head else 0.0
    several_units = any(len(re.findall(r"\d[\d.]*\s*[a-z]", value, re.IGNORECASE)) > 1 for value in head)
    if times < ENOUGH and not (several_units and all(map(_DURATION.fullmatch, head))):
        return None
    hours = np.array([_hours(value) for value in cells.values])
    return Clock() if np.isfinite(cells.taken(hours, 0.0)).mean() >= ENOUGH else None


def _hours(text: str) -> float:
    found = _CLOCK.fullmatch(text.strip())
    if found is None:
        duration = pd.to_timedelta(text, errors="coerce") if _DURATION.fullmatch(text.strip()) else pd.NaT
        return float(duration.total_seconds()) / 3600
    hour, minute, second, fraction, half = found.groups()
    seconds = int(hour) * 3600 + int(minute) * 60 + int(second or 0)
    if fraction and second is None:  # minutes and seconds
        seconds //= 60
    hours = (seconds + float(f"0.{fraction[1:]}" if fraction else 0)) / 3600
    if half:
        hours = hours % 12 + (12 if half.lower().startswith("p") else 0)
    return hours


_PART = re.compile(r"(?:(?<![^\s,;(\[])[-+])?\d+(?:\.\d+)?")
_MOST_PARTS = 10
_FEWEST_PARTED = 10
"""Fewer values than these are nominal alone."""


@dataclass(frozen=True)
class Parts:
    """Several numbers in a cell, such as 120/80 or 40k-60k, each a feature of its own.

    Parameters
    ----------
    between : tuple of str
        What stands before, between and behind the numbers.
    values : bool
        Whether the cells themselves are a nominal feature as well.
    """

    notation: ClassVar[str] = "several numbers"
    between: tuple[str, ...] = ()
    values: bool = True

    def features(self, name: str, cells: TextColumn) -> list[Made]:
        """A number per part."""
        found = [_PART.findall(value) if _between(value) == self.between else None for value in cells.values]
        n_parts = len(self.between) - 1
        made: list[Made] = [
            (f"{name}.{k + 1}", cells.taken([np.nan if parts is None else float(parts[k]) for parts in found]), None)
            for k in range(n_parts)
        ]
        return [*made, *(Categories().features(name, cells) if self.values else [])]


def _between(value: str) -> tuple[str, ...]:
    return tuple(" ".join(text.lower().split()) for text in _PART.split(value))


def learn_parts(cells: TextColumn) -> Parts | None:
    """How several numbers stand in each cell, or None where they do not."""
    if len(cells.values) <= _FEWEST_PARTED or _are_parted_codes(cells.values[:200]):
        return None
    ((between, _),) = Counter(map(_between, cells.values[:200])).most_common(1)
    if not 3 <= len(between) <= _MOST_PARTS + 1:
        return None
    fits = np.array([_between(value) == between for value in cells.values], dtype=float)
    if cells.taken(fits, 1.0).mean() < ENOUGH or _are_parted_codes(cells.values):
        return None
    return Parts(between, values=len(cells.values) <= MANY)


def _are_parted_codes(values: Sequence[str]) -> bool:
    """Whether digits are padded with zeros or parted by several points, as in codes, numbers of phones, addresses."""
    return any(re.search(r"(?<![\d.])0\d|\d\.\d+\.\d", value) for value in values)


@dataclass(frozen=True)
class Categories:
    """Nominal values, and for text of many values its most frequent words.

    Parameters
    ----------
    words : tuple of str
        A 0/1 feature each.
    values : bool
        Whether the values themselves are a feature.
    """

    notation: ClassVar[str] = "nominal"
    words: tuple[str, ...] = ()
    values: bool = True

    def features(self, name: str, cells: TextColumn) -> list[Made]:
        """Codes into the sorted values, and whether each word stands in a cell."""
        made: list[Made] = []
        if self.values:
            categories = tuple(sorted(cells.values))
            code = {value: float(k) for k, value in enumerate(categories)}
            made.append((name, cells.taken([code[value] for value in cells.values]), categories))
        tokens = [_tokens(value) for value in cells.values] if self.words else []
        for word in self.words:
            made.append((f"{name}: {word}", cells.taken([float(word in of_cell) for of_cell in tokens], 0.0), None))
        return made


def learn_categories(cells: TextColumn) -> Categories:
    """Which words of a column of text are features beside its values."""
    n_known = int((cells.codes >= 0).sum())
    if len(cells.values) <= MANY:
        return Categories()
    counts: Counter[str] = Counter()
    rows = np.bincount(cells.codes[cells.codes >= 0], minlength=len(cells.values)).tolist()
    for value, count in zip(cells.values, rows, strict=True):
        for word in _tokens(value):
            counts[word] += count
    least, most = max(10, 0.005 * len(cells)), ENOUGH * len(cells)
    frequent = sorted((-count, word) for word, count in counts.items() if least <= count <= most)
    words = tuple(word for _, word in frequent[:_MOST_WORDS])
    return Categories(words, values=len(cells.values) < ENOUGH * n_known or not words)


def _tokens(text: str) -> set[str]:
    return set(re.findall(r"\w{2,}", text.lower()))


Notation = Numbers | Dates | Clock | Parts | Categories
_NOTATIONS: Mapping[str, type] = {each.notation: each for each in (Numbers, Dates, Clock, Parts, Categories)}


def notation_to_dict(notation: Notation) -> dict[str, Any]:
    """A notation as plain values, as a model keeps it."""
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(notation).items()}
    return {"notation": notation.notation, **plain}


def notation_from_dict(plain: Mapping[str, Any]) -> Notation:
    """The notation that a model kept, or a refusal in words."""
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()}
    kind = _NOTATIONS.get(str(given.pop("notation", None)))
    try:
        made = kind(**given) if kind is not None else None
    except TypeError:
        made = None
    usual = {"decimal": str, "ending": str, "day_first": bool, "compact": bool, "values": bool, "brackets": bool}
    texts = (value for name, value in given.items() if name not in usual)
    right = made is not None and all(isinstance(given[name], usual[name]) for name in usual.keys() & given.keys())
    if not right or not all(isinstance(v, tuple) and all(isinstance(t, str) for t in v) for v in texts):
        raise ValueError(f"A column is written as {plain!r:.80}. Give the inspection of a data set or a model.")
    return made  # type: ignore[return-value]
