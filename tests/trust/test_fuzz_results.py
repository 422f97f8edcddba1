"""Row R9 for what Ramify writes and reads again: files of rankings, the file of a study, and inputs of a report."""

import json
import random
import sqlite3
import warnings
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score
from tests.datasets.test_fuzz import mutant
from tests.report.conftest import example_results
from tests.report.hostile import PAYLOADS

from ramify import Hierarchy
from ramify.analysis.results import Curve, ExplainedRow, Outcome, Reason
from ramify.datasets import Dataset
from ramify.ranking import Claim, Discoveries, FeatureRanking
from ramify.report import write_report
from ramify.study import Study
from ramify.study.store import StudyError

CORPUS = Path(__file__).parents[1] / "corpus"
N_MUTANTS = 2_000
ORDER = Hierarchy.from_edges([("a", "b"), ("a", "c, d")])
RANKING = FeatureRanking(
    ["size", "=colour", "x,\ty", "it's"],
    [0.5, -1e-7, 3.25, 0.0],
    per_label=np.array([[0.5, 0, 0], [0, 0, -1e-7], [1, 2, 0.25], [0, 0, 0]]),
    label_names=ORDER.names,
    hierarchy=ORDER,
    origin={"method": "genie3", "trees": 100},
)


def read_or_refused(path: Path) -> bool:
    """Whether a file was read as a ranking that keeps its promises; else it was refused by name."""
    try:
        ranking = FeatureRanking.read(path)
    except ValueError as error:
        assert str(error).startswith(str(path)), error  # noqa: PT017
        assert type(error) is ValueError, error  # noqa: PT017
        return False
    assert len(ranking.names) == len(ranking.scores) == len(ranking.ranks)
    assert np.isfinite(ranking.scores).all()
    assert all(isinstance(name, str) for name in (*ranking.names, *ranking.label_names))
    if ranking.per_label is not None:
        assert ranking.per_label.shape == (len(ranking), len(ranking.label_names))
        assert np.isfinite(ranking.per_label.data).all()
    return True


@pytest.mark.parametrize("ending", ["csv", "json", "fimp"])
def test_mutants_of_rankings_are_read_or_refused(ending, tmp_path, scorecard):
    path = tmp_path / f"ranking.{ending}"
    RANKING.save(path)
    good, source = path.read_bytes(), random.Random(ending)
    n_read = 0
    for _ in range(N_MUTANTS):
        path.write_bytes(mutant(good, source))
        n_read += read_or_refused(path)
    assert n_read > 0
    scorecard("R9", f"rankings as {ending} {N_MUTANTS:,} mutants")


VALUES = [None, True, -1, 0.5, 10**30, 1e308, "x", "", [], {}, [None], [[0, 1]], {"a": 1}, [1.5, 2], "1", [-1, 2**62]]


def test_rankings_of_wrong_parts_are_refused(tmp_path, scorecard):
    path = tmp_path / "ranking.json"
    RANKING.save(path)
    good, source = json.loads(path.read_text(encoding="utf-8")), random.Random(0)
    n_read = 0
    for _ in range(N_MUTANTS):
        content = json.loads(json.dumps(good))
        holders = []
        stack = [content]
        while stack:
            node = stack.pop()
            for key, value in list(node.items() if isinstance(node, dict) else enumerate(node)):
                holders.append((node, key))
                if isinstance(value, (dict, list)):
                    stack.append(value)
        for _ in range(source.randint(1, 2)):
            node, key = source.choice(holders)
            node[key] = source.choice(VALUES)
        path.write_text(json.dumps(content), encoding="utf-8")
        n_read += read_or_refused(path)
    scorecard("R9", f"rankings of wrong parts {N_MUTANTS:,} mutants")


@pytest.mark.parametrize("path", sorted(CORPUS.glob("ranking.*")), ids=lambda path: path.name)
def test_rankings_that_once_failed_are_refused(path):
    assert not read_or_refused(path)


def toy_study(folder: Path) -> Study:
    data = Dataset(np.arange(24.0).reshape(12, 2), y=np.arange(12) % 2, target="classes", label_names=("0", "1"))
    return Study({"toy": data}, {"prior": DummyClassifier()}, {"accuracy": accuracy_score}, 3, folder)


def looked_at(study: Study) -> bool:
    """Whether everything that a study tells could be told; else its file was refused."""
    try:
        study.status()
        study.results()
        study.errors()
        study.table("accuracy")
    except (StudyError, ValueError) as error:
        assert str(study.folder) in str(error) or "has no measure" in str(error), error  # noqa: PT017
        return False
    return True


def test_a_study_whose_file_was_changed_is_told_or_refused(tmp_path, scorecard):
    study = toy_study(tmp_path).run()
    file = tmp_path / "results.sqlite"
    good, source = file.read_bytes(), random.Random(0)
    assert looked_at(study)
    n_told = 0
    for _ in range(500):
        changed = bytearray(good)
        for _ in range(source.randint(1, 30)):
            changed[source.randrange(len(changed))] = source.randrange(256)
        file.write_bytes(bytes(changed[: source.choice([len(good), source.randrange(len(good))])]))
        n_told += looked_at(study)
    cells = [
        "",
        "{",
        "[]",
        "null",
        '{"accuracy": "x"}',
        '{"accuracy": [1]}',
        '{"accuracy": null}',
        "NaN",
        b"\xff",
        7,
        None,
    ]
    for column in ("measures", "versions", "status", "dataset", "method", "split", "seconds", "error", "finished_at"):
        for cell in cells:
            file.write_bytes(good)
            with closing(sqlite3.connect(file)) as connection:
                connection.execute("PRAGMA ignore_check_constraints = ON")
                try:
                    connection.execute(f"UPDATE cells SET {column} = ? WHERE rowid = 1", [cell])
                    connection.commit()
                except sqlite3.IntegrityError:
                    continue
            n_told += looked_at(study)
    assert n_told > 0
    scorecard("R9", "600 changed files of studies")


def hostile_parts(rng: np.random.Generator, n_features: int, n_labels: int) -> dict:
    """Values for some of a report's inputs that nobody meant."""

    def numbers(n):
        return rng.choice([np.nan, np.inf, -np.inf, 0.0, -1.0, 1e150, 5e-324, 0.5], size=n)

    def text():
        return PAYLOADS[rng.integers(len(PAYLOADS))]

    reasons = [Reason(text(), text(), float(numbers(1)[0])) for _ in range(3)]
    outcomes = [Outcome(text(), float(numbers(1)[0]), float(numbers(1)[0]), None, reasons)]
    sizes = np.array([1, 2, 5])
    choices = {
        "label_quality": numbers(rng.choice([n_labels, 1])),
        "label_baseline": numbers(n_labels),
        "knn_quality": {text(): float(value) for value in numbers(3)},
        "knn_baseline": float(numbers(1)[0]),
        "curves": {text(): Curve(sizes, numbers(3)), "empty": Curve(np.array([], int), np.array([]))},
        "random_curve": Curve(sizes, numbers(3), numbers(3), numbers(3)),
        "explained": [ExplainedRow(text(), [text()], outcomes), ExplainedRow("", [], [])],
        "selected": [text() for _ in range(3)],
        "facts": {text(): text()},
        "titles": {text(): text()},
        "title": text(),
        "command": text(),
        "seconds": float(numbers(1)[0]),
        "measures": pd.DataFrame(
            {"model": numbers(2), "prior": numbers(2), "better": ["higher", "lower"], "left_out": [0, 1]},
            index=pd.Index([text(), "x"], dtype=object),
        ),
        "dataset": None,
        "rankings": {},
    }
    if rng.random() < 0.5:
        choices = {"discoveries": hostile_claims(rng, numbers, text), **choices}
    kept = rng.choice(list(choices), size=rng.integers(1, 5), replace=False)
    if "discoveries" in choices and rng.random() < 0.8:
        kept = [*kept, "discoveries"]
    return {name: choices[name] for name in kept}


def hostile_claims(rng: np.random.Generator, numbers: Any, text: Any) -> Discoveries:
    """Claims of features and branches that are there or not, with numbers that no test gives."""

    def name(kind):
        return text() if rng.random() < 0.5 else f"{kind} {rng.integers(9)}"

    claims = [
        Claim(
            name("feature"),
            "" if rng.random() < 0.2 else name("label"),
            *(None if rng.random() < 0.2 else float(value) for value in numbers(3)),
            *(float(value) for value in numbers(2)),
            int(rng.integers(-3, 10**12)),
            [True, False, None][rng.integers(3)],
        )
        for _ in range(rng.integers(6))
    ]
    groups = {claims[0].feature: (name("feature"), name("feature"))} if claims else {}
    return Discoveries(
        tuple(claims),
        groups,
        {text(): text()},
        {text(): text()},
        ("", text()),
        ["others", "nothing"][rng.integers(2)],
        ["joint", "per_feature", "flat"][rng.integers(3)],
        0.1,
        n_rows=-1,
    )


def test_claims_of_no_known_question_are_refused():
    for wrong in ({"given": "x"}, {"control": "none"}, {"fdr": np.nan}, {"fdr": 1.0}):
        with pytest.raises(ValueError, match=f"The '{next(iter(wrong))}' parameter of Discoveries"):
            Discoveries((), **wrong)


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_mutants_of_claims_are_read_or_refused(ending, tmp_path, scorecard):
    path = tmp_path / f"claims.{ending}"
    claim = Claim("=size", "a, b", 0.5, None, 1e-7, 1e-9, 0.01, 40, None)
    Discoveries((claim,), {"=size": ("x", "y")}, {"c": "few"}, {"z": "why"}, ("", "a, b")).save(path)
    good, source = path.read_bytes(), random.Random(ending)
    n_read = 0
    for _ in range(N_MUTANTS // 2):
        path.write_bytes(mutant(good, source))
        try:
            found = Discoveries.read(path)
        except ValueError as error:
            assert str(error).startswith(str(path)), error  # noqa: PT017
            continue
        n_read += 1
        assert all(isinstance(c.feature, str) and isinstance(c.branch, str) for c in found.claims)
        assert len(found.to_frame()) == len(found.claims)
        assert found.guarantee
    assert n_read > 0
    scorecard("R9", f"claims as {ending} {N_MUTANTS // 2:,} mutants")


def test_reports_of_hostile_parts_are_written_or_refused(tmp_path, scorecard):
    results = example_results(8, 6)
    n_written = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        changed = replace(results, **hostile_parts(rng, 8, 6))
        path = tmp_path / f"report.{('json', 'md', 'html')[seed % 3 if seed < 60 else seed % 2]}"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                write_report(changed, path)
        except ValueError as error:
            assert type(error) is ValueError  # noqa: PT017
            assert len(str(error)) > 20  # noqa: PT017
            continue
        n_written += 1
        if path.suffix == ".json":
            json.loads(path.read_text(encoding="utf-8"), parse_constant=lambda name: pytest.fail(name))
    assert n_written > 30
    scorecard("R9", f"300 reports of hostile parts: {n_written} written, the others refused")
