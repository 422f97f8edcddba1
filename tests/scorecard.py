"""The reliability scorecard: what is promised, the figure to beat, and the figures that the tests of a run measured.

A test that checks a row takes the fixture `scorecard` and calls it with the row and what it measured. The figures are
printed at the end of every run, and `--scorecard FILE` writes them as the table of the documentation.
"""

from __future__ import annotations

import json
import platform
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import ramify


@dataclass(frozen=True)
class Row:
    promise: str
    gate: str
    to_beat: str


ROWS = {
    "R1": Row(
        "scikit-learn's estimator checks over forests, rankers, selectors and chains: no failure; expected ones only the 2 "
        "sample-weight checks of what draws, folds or counts rows (bootstraps, neighbours), and 1 that takes label sets "
        "for classes",
        "P",
        "RandomForestClassifier: 2 fail",
    ),
    "R2": Row("the checks that check_estimator never runs, and every bad parameter refused by name", "P", "-"),
    "R3": Row(
        "multi-target invariances by Hypothesis: permutations, weight = repetition, the hierarchy never violated",
        "P",
        "scikit-learn's chains get 1 check",
    ),
    "R4": Row(
        "one hash of trees, predictions and scores over thread counts, backends and repeats",
        "P",
        "scikit-learn's predict: 15 hashes in 15 runs",
    ),
    "R6": Row("address and undefined-behaviour sanitizers: no report", "P/N", "no such job in scikit-learn"),
    "R9": Row(
        "fuzzing of every parser and the model loader: no crash, no hang, only the documented error",
        "P/N",
        "scipy's ARFF reader: 214 foreign exceptions in 20,000",
    ),
    "R10": Row("80 hostile arrays x every estimator: right, or a ValueError that names the column", "P", "-"),
    "R11": Row("more than 2^31 cells: equals the small run", "N", "LightGBM: silently one constant tree"),
    "R12": Row(
        "a tree of a million levels with a 256 KiB stack: predict, save, load, export", "P", "hdbscan dies near 87,000"
    ),
    "R13": Row(
        "fork, spawn, thread, Ctrl-C during fit: no hang, interrupt within 1 s", "P", "XGBoost, LightGBM: wontfix"
    ),
    "R14": Row(
        "tampered model files: no signal, no hang, every broken invariant refused",
        "P/N",
        "crash rates 14-100 % in XGBoost, LightGBM, scikit-learn + skops",
    ),
    "R15": Row("40 malicious files: refused in 1 s under 64 MiB, no code run", "P", "skops CVE-2025-54886"),
    "R16": Row("bit-exact round trip of every estimator; a kill or a full disk during save harms nothing", "P", "-"),
    "R17": Row(
        "60 edge files: the exact value, or an error with line and column", "P", "scipy drops extra cells silently"
    ),
    "R18": Row(
        "traps for parsers (nesting, bombs, cycles, backtracking): linear time",
        "P",
        "liac-arff: over 20 s on 100 bytes",
    ),
    "R19": Row(
        "60 hostile names: the report's structure unchanged, CSV and terminal neutralised",
        "P",
        "pandas Styler does not escape column names",
    ),
    "R20": Row(
        "a study under random kill -9: nothing lost, doubled, stale or changed",
        "P (10) / N (500)",
        "Optuna: 4 stale trials after 5 kills",
    ),
    "R21": Row(
        "full disk, read-only folder: a clean error, nothing lost, resumes", "P", "Optuna's journal cannot be resumed"
    ),
    "R22": Row("8 writers and two command lines on one folder: nothing run twice", "P", "-"),
    "R24": Row(
        "Dask: one of two workers killed: identical; all killed: a typed error in 30 s", "P/N", "joblib: cancelled fit"
    ),
    "R26": Row(
        "1,000,000 x 1,000 float32, 2 trees of depth 8: not slower than scikit-learn, the data + 1.25 GiB",
        "N",
        "48.1 s, 4.0 GiB",
    ),
    "R27": Row("100,000 labels: 7 times faster and under 1 GiB; 20,000 sparse rows under 4 GiB", "N", "34 s, 3.4 GiB"),
    "R28": Row(
        "75,000 sparse features, 20,000 rows, 10 trees: 2 times faster, never densified", "P", "15.3 s, 0.26 GiB"
    ),
    "R30": Row("a fresh install adds few packages, extras are optional, the wheel is under 10 MB", "P", "-"),
    "R31": Row(
        "the same data in any form (arrays, frames, files): the same bits, also from a model fitted on another form",
        "P (a sample) / N",
        "before: accuracy 1.00 became 0.48 through CSV",
    ),
    "R32": Row(
        "weight zero = row deleted, weight two = row repeated where promised, or weighted data refused by name",
        "P",
        "scikit-learn's oob_score_ counts zero-weight rows",
    ),
    "R33": Row("whatever is saved loads and gives the same bits, whatever names and classes are", "P", "-"),
    "R34": Row(
        "a study after any change of content (data, method, measure, split, version) is the same as a fresh study",
        "P",
        "Ramify before: 6 kinds of change returned old values",
    ),
    "R35": Row(
        "claims feature x branch: realised false share at most nominal + 2 SE, null P(p < 0.05) at most 0.06",
        "P/N",
        "Ramify before: 0.67-0.88 false at 10 %; permutation 0.64",
    ),
    "R36": Row("permuted label columns permute the output; a second fit is a fresh one", "P", "-"),
    "R37": Row(
        "ordinary files with a trap each (identifiers, dates, separators, encodings, one 0/1 column, empty cells): right, "
        "or told",
        "P",
        "identifier leads with 47 %",
    ),
    "R38": Row(
        "hiding nothing = complete data, unknown cells never count as negative, conformal sets keep their promise on "
        "held-back rows",
        "P",
        "-",
    ),
    "R42": Row(
        "any order of fit, set_params, predict, save, load, copy and clone, and the caller's arrays changed afterwards: as a "
        "fresh object, or refused in words",
        "P",
        "scikit-learn: n_neighbors=0 set after fit is an IndexError",
    ),
    "R43": Row(
        "what a command writes is never what it reads; several writers, kills, a full disk, read-only folders, too little "
        "memory in every command: the old file or the new one, a next step in one line, the same result afterwards",
        "P/N",
        "Ramify before: 15 of 400 saves failed, inputs overwritten",
    ),
    "R44": Row(
        "names of columns of X and y at every entry (permuted, numbers, pairs, doubled, missing): matched or refused",
        "P",
        "scikit-learn takes permuted columns whose names are numbers",
    ),
}


COUNTED = (
    (r"tests/metamorphic/test_forms\.py::test_(some|every)_form", "R31", "estimators and targets over the forms"),
    (r"tests/metamorphic/test_commands\.py", "R31", "commands and pairs of files"),
    (r"tests/metamorphic/test_weights\.py", "R32", "cases of weights"),
    (r"tests/ordinary/test_ordinary_files\.py::test_what_is_said", "R37", "ordinary files, as reviewed"),
    (r"tests/metamorphic/test_saving\.py", "R33", "cases of odd names and classes"),
    (r"tests/ranking/discovery/test_calibration\.py", "R35", "simulations of claims and null p-values"),
    (r"tests/metamorphic/test_order\.py", "R36", "cases of permutations and second fits"),
    (r"test_scikit_learn_check", "R1", "checks of scikit-learn's"),
    (
        r"tests/.*test_checks\.py::test_(?!scikit_learn_check)|test_bad_parameter|tests/selection/test_api\.py",
        "R2",
        "further checks and refused parameters",
    ),
    (r"test_forest_properties\.py|tests/.*_properties\.py", "R3", "properties by Hypothesis"),
    (r"test_hostile_arrays\.py", "R10", "cases of hostile arrays"),
    (r"test_deep_trees\.py", "R12", "trees of a million levels"),
    (r"test_interruption\.py", "R13", "interruptions, forks, spawns and threads"),
    (
        r"test_hostile_files\.py::test_(1200|800)_tampered",
        "R14",
        "runs over 2,000 tampered files without signal or hang",
    ),
    (
        r"test_hostile_files\.py::test_20000_tampered",
        "R14",
        "runs of thousands of tampered files without signal or hang",
    ),
    (r"test_hostile_files\.py::test_broken", "R14", "broken invariants refused by name"),
    (r"tests/models/test_roundtrip\.py", "R16", "round trips, kills and full disks"),
    (r"test_edge_files\.py", "R17", "edge files"),
    (r"test_traps\.py", "R18", "traps"),
    (r"test_names_of_(features|targets)\.py", "R44", "estimators and kinds of names"),
    (r"test_keeps_inputs\.py", "R43", "commands that would write over what they read: refused"),
    (r"test_faults\.py::test_a_(full|read)", "R43", "commands on full disks and in read-only folders"),
    (r"test_faults\.py::test_a_kill", "R43", "commands killed"),
    (r"test_faults\.py::test_several", "R43", "commands with several writers"),
    (r"test_faults\.py::test_(too|any)", "R43", "commands with too little memory"),
    (r"test_broken_inputs\.py", "R10", "estimators and measures given what only seems to be a matrix or a target"),
    (r"test_any_order\.py::test_any", "R42", "estimators and targets in 12 random orders of 10 calls"),
    (r"test_any_order\.py::test_many", "R42", "estimators and targets in 150 random orders of 10 calls"),
)
"""Rows whose figure is how many tests passed: a pattern of test names, the row, and what is counted."""

_COUNTS = " counts "


@dataclass(frozen=True)
class Figure:
    """What one test measured for a row, or how many tests of one kind in one file had which outcome."""

    row: str
    source: str
    outcome: str
    text: str
    date: str
    counts: dict[str, int] = field(default_factory=dict)


def figure(row: str, source: str, outcome: str, text: str) -> Figure:
    """A figure of today."""
    return Figure(row, source, outcome, text, _today())


def counted_figure(row: str, noun: str, file: str, counts: dict[str, int]) -> Figure:
    """How many tests of a file that are counted as `noun` had which outcome today."""
    outcome = "failed" if counts.get("failed") else "passed"
    return Figure(row, f"{file}{_COUNTS}{noun}", outcome, noun, _today(), dict(counts))


def _today() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d}"


def merged(figures: list[Figure], memory: Path) -> list[Figure]:
    """The figures of this run and, of the tests that it did not run, those that earlier runs left in `memory`."""
    known = {}
    if memory.is_file():
        replaced = {_other_form(new.source) for new in figures}
        known = {(kept["row"], kept["source"]): Figure(**kept) for kept in json.loads(memory.read_text("utf-8"))}
        known = {
            key: kept
            for key, kept in known.items()
            if _still_measured(kept.source) and _form(kept.source) not in replaced
        }
    known.update({(new.row, new.source): new for new in figures})
    kept = [known[key] for key in sorted(known)]
    stored = [{name: value for name, value in asdict(one).items() if value != {}} for one in kept]
    memory.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return kept


def _form(source: str) -> tuple[str, bool]:
    """A test's name and whether it has cases."""
    name, bracket, _ = source.partition("[")
    return name, bool(bracket)


def _other_form(source: str) -> tuple[str, bool]:
    """The form that the test had before it was given cases, or before it lost them: figures of it are stale."""
    name, has_cases = _form(source)
    return name, not has_cases


def _still_measured(source: str) -> bool:
    """Whether the test, or the count of tests, that gave a figure is still there and still gives one."""
    root = Path(__file__).parents[1]
    if _COUNTS in source:
        file, _, noun = source.partition(_COUNTS)
        return (root / file).is_file() and any(noun == counted for _, _, counted in COUNTED)
    file, _, test = source.partition("::")
    path = root / file
    definition = rf"def {re.escape(test.partition('[')[0])}\([^)]*\bscorecard\b"
    return path.is_file() and re.search(definition, path.read_text("utf-8")) is not None


def summary(figures: list[Figure]) -> list[tuple[str, str, str, str]]:
    """Per row: its number, "holds" or "FAILS" or "not run", the figures, and the day of the oldest of them."""
    lines = []
    for number in ROWS:
        measured = [one for one in figures if one.row == number]
        state = "not run" if not measured else "holds" if all(m.outcome == "passed" for m in measured) else "FAILS"
        counted = [one for one in measured if one.counts]
        texts = "; ".join(_added(counted) + _gathered(dict.fromkeys(one.text for one in measured if not one.counts)))
        lines.append((number, state, texts, min((one.date for one in measured), default="-")))
    return lines


def _added(counted: list[Figure]) -> list[str]:
    """Per noun the number of tests that passed in all files, and those that did not."""
    totals: dict[str, Counter[str]] = {}
    for one in counted:
        totals.setdefault(one.text, Counter()).update(one.counts)
    texts = []
    for noun, counts in totals.items():
        rest = ", ".join(f"{n} {outcome}" for outcome, n in sorted(counts.items()) if outcome != "passed" and n)
        texts.append(f"{counts['passed']} {noun}" + (f" ({rest})" if rest else ""))
    return texts


def _gathered(texts: Iterable[str]) -> list[str]:
    """The texts, those that count mutants of one kind each ("csv 2,000 mutants") as one text per number."""
    gathered: dict[str, list[str]] = {}
    for text in texts:
        counted = re.fullmatch(r"(.+) ([\d,]+ mutants)", text)
        gathered.setdefault(f"{counted[2]} each of " if counted else text, []).append(counted[1] if counted else "")
    return [head + ", ".join(kinds) for head, kinds in gathered.items()]


def markdown(figures: list[Figure]) -> str:
    """The table of the documentation."""
    lines = [
        "# Reliability",
        "",
        "What Ramify promises and what the checks measured. The table is written by the test run (`.ci/run --full`, or",
        "`pytest --scorecard docs/reliability.md` with any choice of tests, which keeps the figures of those it does not",
        "run), not by hand. Gate P runs with every change, gate N are the long checks. The figures to beat were measured",
        "on released versions of the peers; `benchmarks/bench_trust.py` measures some of them again. Tests assert no",
        "speed: `benchmarks/bench_forest.py --large` measures those of R26 to R28 (`docs/benchmarks/forest_large.md`),",
        "which are met.",
        "",
        f"Ramify {ramify.__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}.",
        "",
        "| # | promise | gate | figure to beat | state | measured | on |",
        "|---|---|---|---|---|---|---|",
    ]
    for number, state, measured, date in summary(figures):
        row = ROWS[number]
        lines.append(
            f"| {number} | {row.promise} | {row.gate} | {row.to_beat} | {state} | {measured or '-'} | {date} |"
        )
    return "\n".join([*lines, ""])
