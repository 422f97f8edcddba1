"""The commands that `.ci` and the pages for developers print are ones that the tools understand."""

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = [ROOT / "dev", *sorted((ROOT / ".ci").iterdir())]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "docs" / "testing.md", ROOT / "docs" / "reliability.md"]
NO_TESTS = 5
"""Exit code of pytest where the command was understood and nothing was collected; 4 is a command it does not know."""


def test_runs() -> list[str]:
    """Arguments of every run of pytest that a script or a page prints."""
    found = []
    for file in [*SCRIPTS, *PAGES]:
        for line in re.split(r"\n|`", file.read_text(encoding="utf-8")):
            if match := re.search(r"(?:^|\s)(?:-m pytest|pytest|\./dev test)\s+(-[^|;&#]*|tests/[^|;&#]*)", line):
                found.append(match[1].replace('"$@"', "").replace("${JOBS:-2}", "2").strip())
    return sorted({*found, *re.findall(r"_checks='(.+)'", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))})


test_runs.__test__ = False


def test_the_runs_of_pytest_are_found():
    assert '-n 2 -m "hostile or slow" --scorecard docs/reliability.md' in test_runs()
    assert len(test_runs()) >= 4


@pytest.mark.parametrize("run", test_runs())
def test_pytest_understands_the_command(run):
    arguments = [*shlex.split(run), "--collect-only", "-q", "--ignore-glob=*.py", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == NO_TESTS, done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("bash") is None, reason="the scripts are for bash")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_parse(script):
    subprocess.run(["bash", "-n", str(script)], check=True)


def test_every_documented_command_of_dev_and_ci_exists():
    known = set(re.findall(r"^  (\w+)\)", (ROOT / "dev").read_text(encoding="utf-8"), flags=re.M))
    options = set(re.findall(r"--\w+", (ROOT / ".ci" / "run").read_text(encoding="utf-8")))
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert set(re.findall(r"\./dev (\w+)", text)) <= known
        assert set(re.findall(r"\.ci/run (--\w+)", text)) <= options


def test_what_a_sanitized_build_needs_is_in_the_test_extra():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (needed,) = re.findall(r'"(nanobind[^"]*)"\]', project)
    assert f'  "{needed}",' in project


@pytest.mark.parametrize("end", ["oldest", "newest"])
def test_the_locked_requirements_hold_what_the_package_and_its_tests_need(end):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed, extras = list(project["dependencies"]), ["test"]
    while extras:  # an extra may name others: ramify[all]
        for line in project["optional-dependencies"][extras.pop()]:
            own = re.fullmatch(r"ramify\[([\w,]+)\]", line)
            if own is None:
                needed.append(line)
            else:
                extras += own[1].split(",")
    names = {re.match(r"[\w-]+", line)[0].lower() for line in needed}
    assert {"openpyxl", "pyarrow", "dask", "polars"} < names
    lock = (ROOT / "requirements" / f"{end}.txt").read_text(encoding="utf-8")
    locked = re.findall(r"^([\w.-]+)==\S+ \\\n    --hash=sha256:", lock, flags=re.M)
    assert names <= set(locked)
    assert len(locked) == len(re.findall(r"^[\w.-]+==", lock, flags=re.M))
