"""Fixtures shared by all tests, and the scorecard at the end of a run."""

import os
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import ramify
from tests.scorecard import COUNTED, ROWS, Figure, counted_figure, figure, markdown, merged, summary

HOSTILE = re.compile(
    r"tests/(trust/|metamorphic/|ordinary/|studies/"
    r"|models/test_hostile_files|ensemble/test_hostile_arrays|ensemble/test_interruption|ensemble/test_boosting_parts\.py::\w*(kill|gone)"
    r"|datasets/test_h5ad\.py::test_any|report/test_browser|app/test_(page|runs|server)|report/test_hostile_outputs|datasets/test_fuzz|datasets/test_real_data|cli/test_style"
    r"|study/test_dask|study/test_study\.py::\w*(kill|disk|share_the_work|read_only|file_locks)"
    r"|test_documentation|test_documented_commands)"
)
"""Tests that `.ci/run` adds to the quick ones: hostile and generated cases, kills, browsers, real data, documents.

Single tests elsewhere that repeat a behaviour many times, as simulations do, are marked `hostile` where they stand.
"""

_FIGURES: list[Figure] = []
_COUNTS: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder with real data, or a skip that says how to get one."""
    folder = Path(os.environ.get("RAMIFY_DATA", Path(__file__).parents[1].parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}; set RAMIFY_DATA to the folder that holds it")
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a window, or a skip that says how to get it."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed (pip install playwright)"
    )
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("no chromium is installed (apt-get install chromium)")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def refused_by_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str], None]:
    """Check that a damaged model is refused in those words when it is saved, and its file when it is loaded."""

    def check(model: Any, words: str) -> None:
        path = tmp_path / "damaged.ramify"
        with pytest.raises(ValueError, match=words):
            ramify.save(model, path)
        with monkeypatch.context() as unchecked:
            unchecked.setattr("ramify.models.values.state_fault", lambda model: None)
            ramify.save(model, path)
        with pytest.raises(ValueError, match=words):
            ramify.load(path)

    return check


@pytest.fixture
def scorecard(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Note what was measured for a row of the scorecard: `scorecard("R9", "2,000 mutants, 0 crashes")`."""

    def note(row: str, figure: str) -> None:
        assert row in ROWS
        request.node.user_properties.append((row, figure))

    return note


def _hostile_asked_for(config: pytest.Config) -> bool:
    named = any(HOSTILE.search(f"{argument}/") for argument in config.args)
    return named or "hostile" in config.option.markexpr


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import the files of hostile tests where nobody asks for them: half of the collection's time."""
    path = f"{collection_path.relative_to(Path(__file__).parents[1]).as_posix()}/"
    return True if HOSTILE.search(path) and not _hostile_asked_for(config) else None


@pytest.hookimpl(tryfirst=True)  # before -m chooses by the mark
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the hostile tests, and leave them to `-m hostile` or to a command that names their files."""
    hostile = [item for item in items if HOSTILE.search(item.nodeid) or item.get_closest_marker("hostile")]
    for item in hostile:
        item.add_marker("hostile")
    if not _hostile_asked_for(config):
        config.hook.pytest_deselected(items=hostile)
        items[:] = [item for item in items if item not in set(hostile)]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call":
        for name, text in report.user_properties:
            if name in ROWS:
                _FIGURES.append(figure(name, report.nodeid, report.outcome, text))
        for pattern, row, noun in COUNTED:
            if re.search(pattern, report.nodeid):
                outcome = "expected to fail" if hasattr(report, "wasxfail") else report.outcome
                _COUNTS[row, noun, report.nodeid.partition("::")[0]][outcome] += 1


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    for (row, noun, file), outcomes in _COUNTS.items():
        _FIGURES.append(counted_figure(row, noun, file, outcomes))
    if not _FIGURES:
        return
    terminalreporter.section("scorecard")
    for number, state, measured, _ in summary(_FIGURES):
        if state != "not run":
            terminalreporter.write_line(f"{number:4} {state:6} {measured}")
    if given := config.getoption("--scorecard"):
        path = Path(given)
        path.write_text(markdown(merged(_FIGURES, path.with_suffix(".json"))), encoding="utf-8")
