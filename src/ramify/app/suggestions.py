"""Which columns of a table may be its target."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

_NAMES = {
    "target", "label", "labels", "class", "classes", "outcome", "category", "response", "result", "diagnosis", "y",
    "go", "genre", "genres", "type", "status", "score", "rating", "price", "churn", "survived", "attrition",
}  # fmt: skip
_MOST = 8
_FEW_CLASSES = 30
_PREFIX = re.compile(r"^(.{2,}?[ _.:-])[^ _.:-]")


def suggested_targets(columns: Sequence[Mapping[str, Any]], n_rows: int) -> list[dict[str, Any]]:
    """Targets to choose from with a click, the likeliest first.

    Parameters
    ----------
    columns : sequence of mapping
        Records of an inspection.
    n_rows : int
        Of the table.

    Returns
    -------
    list of dict
        `target`, the columns; `why`, a few words.

    Examples
    --------
    >>> from ramify.app.suggestions import suggested_targets
    >>> columns = [{"name": n, "role": "feature", "kind": k, "n_values": v, "missing": 0.0}
    ...            for n, k, v in [("size", "number", 90), ("mood_sad", "number", 2), ("mood_calm", "number", 2)]]
    >>> suggested_targets(columns, 100)
    [{'target': ['mood_*'], 'why': '2 columns of two values: label sets'}]
    """
    of_rows = [column for column in columns if column["role"] in ("feature", "target")]
    found = _marked_columns(of_rows)
    spoken_for = {name for suggestion in found for name in suggestion.pop("names")}
    usable = [column for column in of_rows if column["n_values"] > 1 and _recurs(column, n_rows)]
    usable = [column for column in usable if column["name"] not in spoken_for]
    by_name = [column for column in usable if _is_called_so(column["name"])]
    last = [column for column in columns[-1:] if column in usable and column["kind"] != "text"]
    nominal = [column for column in usable if column["kind"] == "nominal" and column["n_values"] <= _FEW_CLASSES]
    texts = [column for column in usable if column["kind"] == "text"]
    found += [_suggestion(column, last) for column in (*(each for each in last if each in by_name), *by_name, *last)]
    found += _columns_side_by_side(columns, usable)
    found += [_suggestion(column, last) for column in (*nominal, *texts)]
    return [one for place, one in enumerate(found) if one not in found[:place]][:_MOST]


def _recurs(column: Mapping[str, Any], n_rows: int) -> bool:
    """Whether values stand in several rows each, as those of a target that is no number do."""
    return column["kind"] == "number" or column["n_values"] <= n_rows / 5


def _suggestion(column: Mapping[str, Any], last: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"target": [column["name"]], "why": _why(column, is_last=column in last)}


def _columns_side_by_side(
    columns: Sequence[Mapping[str, Any]], usable: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Three or more neighbours of yes and no, however they are called."""
    found = []
    is_marked = [column in usable and column["kind"] == "number" and column["n_values"] == 2 for column in columns]
    for marked, run in groupby(zip(is_marked, columns, strict=True), key=lambda pair: pair[0]):
        names = [column["name"] for _, column in run]
        if marked and len(names) > 2:
            found.append({"target": names, "why": f"{len(names)} columns of two values side by side: label sets"})
    return found


def _marked_columns(columns: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Columns of two values whose names begin alike: labels that rows have or have not."""
    families: dict[str, list[str]] = {}
    others: dict[str, int] = {}
    for column in columns:
        if match := _PREFIX.match(column["name"]):
            if column["n_values"] == 2 or (column["n_values"] == 1 and column["missing"] > 0):
                families.setdefault(match[1], []).append(column["name"])
            else:
                others[match[1]] = others.get(match[1], 0) + 1
    return [
        {
            "target": [f"{prefix}*"],
            "why": f"{len(names)} columns of two values: label sets",
            "names": names,
        }
        for prefix, names in sorted(families.items(), key=lambda family: -len(family[1]))
        if len(names) > 1 and prefix not in others and "*" not in prefix
    ]


def _is_called_so(name: str) -> bool:
    return any(word in _NAMES for word in re.findall(r"[a-z]+", name.lower()))


def _why(column: Mapping[str, Any], *, is_last: bool) -> str:
    place = "the last column, " if is_last else ""
    if column["kind"] == "number" and column["n_values"] > 2:
        return f"{place}numbers"
    return f"{place}{column['n_values']} {'texts' if column['kind'] == 'text' else 'values'}"
