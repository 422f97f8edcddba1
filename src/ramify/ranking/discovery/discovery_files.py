"""Discoveries to and from files: CSV for people, JSON for programs; both keep everything."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any, TextIO

from ramify.ranking.discovery.outcome import ALL_LABELS, WHOLE
from ramify.ranking.discovery.result import Claim, Discoveries
from ramify.writing import neutralised, whole_text

_FORMAT = "ramify discoveries 1"
_FIELDS = list(Claim.__dataclass_fields__)
_COLUMNS = ["status", *_FIELDS, "note"]
_ASKED = ("given", "control", "fdr", "n_draws", "n_rows", "n_units")


def write_discoveries(found: Discoveries, path: str | PathLike[str]) -> None:
    """Write in the format of the file's name; an existing file is replaced only by a complete one."""
    target = Path(path)
    write = {".csv": _write_csv, ".json": _write_json}[_suffix(target)]
    with whole_text(target) as file:
        write(found, file)


def read_discoveries(path: str | PathLike[str]) -> Discoveries:
    """Read what `write_discoveries` wrote."""
    source = Path(path)
    suffix = _suffix(source)
    try:
        text = source.read_bytes().decode("utf-8")
        return _from_plain(json.loads(text)) if suffix == ".json" else _read_csv(text)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, csv.Error) as error:
        raise ValueError(f"{source} is not a file of discoveries: {type(error).__name__}: {error}") from None


def plain_discoveries(found: Discoveries) -> dict[str, Any]:
    """Everything as JSON knows it."""
    return {
        "format": _FORMAT,
        "question": found.question,
        "guarantee": found.guarantee,
        **{name: getattr(found, name) for name in _ASKED},
        "features": list(found.features),
        "branches": list(found.branches),
        "claims": [asdict(claim) for claim in found.claims],
        "groups": {name: list(members) for name, members in found.groups.items()},
        "feature_branches": {name: list(members) for name, members in found.feature_branches.items()},
        "untested": dict(found.untested),
        "doubtful": dict(found.doubtful),
        "notes": list(found.notes),
    }


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in {".csv", ".json"}:
        raise ValueError(f"Discoveries are a .csv or .json file. Got {str(path)!r}; give it one of these endings.")
    return suffix


def _write_json(found: Discoveries, file: TextIO) -> None:
    json.dump(plain_discoveries(found), file)
    file.write("\n")


def _from_plain(content: Any) -> Discoveries:
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise ValueError(f"its 'format' is not {_FORMAT!r}")
    asked = {name: content[name] for name in _ASKED}
    return Discoveries(
        claims=tuple(Claim(**{name: claim[name] for name in _FIELDS}) for claim in content["claims"]),
        groups={str(name): tuple(map(str, members)) for name, members in content["groups"].items()},
        feature_branches={
            str(name): tuple(map(str, members)) for name, members in content.get("feature_branches", {}).items()
        },
        untested={str(name): str(why) for name, why in content["untested"].items()},
        doubtful={str(name): str(why) for name, why in content["doubtful"].items()},
        features=tuple(map(str, content["features"])),
        branches=tuple(map(str, content["branches"])),
        notes=tuple(map(str, content.get("notes", ()))),
        given=asked["given"],
        control=asked["control"],
        fdr=float(asked["fdr"]),
        n_draws=int(asked["n_draws"]),
        n_rows=int(asked["n_rows"]),
        n_units=int(asked["n_units"]),
    )


def _write_csv(found: Discoveries, file: TextIO) -> None:
    """Claims first; then what was tested, grouped, untested, doubtful and asked, one to a line.

    The branch that is the whole of y is called "all labels", unless a label is.
    """
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(_COLUMNS)
    blank = [""] * (len(_FIELDS) - 2)

    def line(status: str, feature: str, branch: str, note: str) -> None:
        writer.writerow([status, neutralised(feature), neutralised(branch), *blank, neutralised(note)])

    whole = WHOLE if ALL_LABELS in found.branches else ALL_LABELS
    for claim in found.claims:
        cells = ["" if value is None else repr(value) for value in list(asdict(claim).values())[2:]]
        writer.writerow(["claim", neutralised(claim.feature), neutralised(claim.branch or whole), *cells, ""])
    for name, members in found.groups.items():
        for member in members:
            line("group", name, "", member)
    for name, members in found.feature_branches.items():
        for member in members:
            line("below", name, "", member)
    for name, why in found.doubtful.items():
        line("doubtful", name, "", why)
    for name in found.features:
        line("feature", name, "", "")
    for name in found.branches:
        line("tested", "", name or whole, "")
    for name, why in found.untested.items():
        line("untested", "", name, why)
    for note in found.notes:
        line("note", "", "", note)
    for name in _ASKED:
        line("asked", name, "", str(getattr(found, name)))
    line("asked", "question", "", found.question)
    line("asked", "guarantee", "", found.guarantee)


def _read_csv(text: str) -> Discoveries:
    rows = list(csv.reader(io.StringIO(text)))
    if not rows or rows[0] != _COLUMNS:
        raise ValueError(f"line 1 must hold the columns {','.join(_COLUMNS)}")
    content: dict[str, Any] = {
        "format": _FORMAT,
        "claims": [],
        "groups": {},
        "feature_branches": {},
        "doubtful": {},
        "features": [],
        "branches": [],
        "untested": {},
        "notes": [],
    }
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(_COLUMNS):
            raise ValueError(f"line {number} has {len(row)} cells, not {len(_COLUMNS)}")
        status, feature, branch, note = row[0], _armed(row[1]), _armed(row[2]), _armed(row[-1])
        if status == "claim":
            numbers = dict(zip(_FIELDS[2:], row[3:-1], strict=True))
            content["claims"].append({"feature": feature, "branch": branch, **_parsed(numbers)})
        elif status == "group":
            content["groups"].setdefault(feature, []).append(note)
        elif status == "below":
            content["feature_branches"].setdefault(feature, []).append(note)
        elif status == "doubtful":
            content["doubtful"][feature] = note
        elif status == "feature":
            content["features"].append(feature)
        elif status == "tested":
            content["branches"].append(branch)
        elif status == "untested":
            content["untested"][branch] = note
        elif status == "note":
            content["notes"].append(note)
        elif status == "asked":
            content[feature] = note
        else:
            raise ValueError(f"line {number} has the unknown status {status!r}")
    if content["branches"][:1] == [ALL_LABELS]:  # the first tested is the whole of y
        content["branches"][0] = WHOLE
        for claim in content["claims"]:
            claim["branch"] = WHOLE if claim["branch"] == ALL_LABELS else claim["branch"]
    return _from_plain(content)


def _parsed(cells: dict[str, str]) -> dict[str, Any]:
    parsed: dict[str, Any] = {}
    for name, cell in cells.items():
        if cell in ("", "True", "False"):
            parsed[name] = None if cell == "" else cell == "True"
        else:
            parsed[name] = int(cell) if name == "rows" else float(cell)
    return parsed


def _armed(name: str) -> str:
    return name[1:] if name.startswith("'") else name
