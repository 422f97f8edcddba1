"""Commands and programs in the README and the documentation are run as they are printed."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "quickstart").glob("*.md")), ROOT / "docs/guide/report.md"]
PAGES += [ROOT / "docs/guide/plots.md"]
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))

if not EXAMPLES:
    pytest.skip("the documentation is not part of this checkout", allow_module_level=True)


def blocks(page: Path, language: str) -> list[str]:
    """Fenced blocks of a page, the test command aside."""
    found = re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    return [block for block in found if "-m pytest" not in block]


def without_install(block: str) -> str:
    """The block without the steps that make an environment, which the long test and `.ci/run` take."""
    steps = [step for step in block.split(" && ") if "-m venv" not in step and "pip install" not in step]
    return " && ".join(steps)


@pytest.fixture
def workplace(tmp_path):
    """The example files, and `ramify` and `python` on the path as an installation puts them there."""
    folder = tmp_path / "data"
    shutil.copytree(ROOT / "examples" / "data", folder, ignore=shutil.ignore_patterns("__pycache__", "make_data.py"))
    commands = tmp_path / "bin"
    commands.mkdir()
    ramify = commands / "ramify"
    ramify.write_text(f'#!/bin/sh\nexec {sys.executable} -c "from ramify.cli.main import main; main()" "$@"\n')
    ramify.chmod(0o755)
    (commands / "python").symlink_to(sys.executable)
    (folder / ".venv").mkdir()
    (folder / ".venv" / "bin").symlink_to(commands)
    environment = {**os.environ, "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(Path(p).resolve()) for p in sys.path if p])

    def run(command: list[str]) -> str:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=240, check=False
        )
        assert done.returncode == 0, f"{command[-1]}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "bash")], ids=lambda p: p.stem)
def test_commands_run_as_printed(page, workplace):
    for block in blocks(page, "bash"):
        workplace(["bash", "-euo", "pipefail", "-c", without_install(block)])


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_set_up_command_runs_as_printed_in_a_fresh_checkout(tmp_path):
    (block,) = [block for block in blocks(ROOT / "README.md", "bash") if "pip install" in block]
    ignored = shutil.ignore_patterns(".git", ".venv", "build", "_build", "*.so", "__pycache__")
    shutil.copytree(ROOT, tmp_path / "checkout", ignore=ignored)
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block], cwd=tmp_path / "checkout", env=clean, timeout=1100, check=False
    )
    assert done.returncode == 0
    assert (tmp_path / "checkout" / "ramify-demo" / "report.html").stat().st_size > 50_000


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=lambda p: p.stem)
def test_programs_run_as_printed(page, workplace):
    for block in blocks(page, "python"):
        workplace([sys.executable, "-W", "error", "-c", block])


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.stem)
def test_examples_run(example, workplace):
    workplace([sys.executable, "-W", "error", str(example)])


def test_example_files_are_what_their_program_writes(tmp_path):
    program = tmp_path / "make_data.py"
    shutil.copy(ROOT / "examples" / "data" / "make_data.py", program)
    subprocess.run([sys.executable, str(program)], check=True, timeout=60)
    for name in ("genes.csv", "terms.obo", "songs.csv"):
        assert (tmp_path / name).read_bytes() == (ROOT / "examples" / "data" / name).read_bytes()


def test_links_between_pages_lead_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        if "_build" in page.parts or "auto_examples" in page.parts:
            continue
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" not in target and "generated" not in target and target != "../api/index.rst":
                assert (page.parent / target).exists(), f"{page.name}: {target}"
