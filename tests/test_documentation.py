"""Commands and programs in the README and the documentation are run as they are printed."""

import gzip
import os
import re
import runpy
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from ramify.cli.main import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md"]
for part in ("quickstart", "guide", "coming_from"):
    PAGES += sorted((ROOT / "docs" / part).glob("*.md"))
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))

if not EXAMPLES:
    pytest.skip("the documentation is not part of this checkout", allow_module_level=True)


def blocks(page: Path, language: str) -> list[str]:
    """Fenced blocks of a page, aside from the test command and from what needs a cluster."""
    found = re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    return [block for block in found if "-m pytest" not in block and "dask" not in block]


def commands(block: str) -> list[list[str]]:
    """Arguments of each `ramify` in a block; steps that make an environment are the long test's and `.ci/run`'s."""
    steps = [step for line in block.strip().splitlines() for step in line.split(" && ")]
    words = [shlex.split(step) for step in steps if "-m venv" not in step and "pip install" not in step]
    for program, *arguments in words:
        assert Path(program).name == "ramify"
        assert not any(re.search(r"^[|;<>]|[`$]", word) for word in arguments), "only plain commands are printed"
    return [arguments for _, *arguments in words]


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """The example files, as the pages expect them in the current folder."""
    folder = tmp_path / "data"
    shutil.copytree(ROOT / "examples" / "data", folder, ignore=shutil.ignore_patterns("__pycache__", "make_data.py"))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def files_of_the_reader(workplace):
    """Files that pages name and readers have: they are as small as can be."""
    from ramify.datasets import make_hierarchical, write_arff

    data = make_hierarchical(20, n_features=6, depth=2, random_state=0)
    for name in ("cellcycle_FUN.train.arff.gz", *(f"seq_FUN.{part}.arff" for part in ("train", "valid", "test"))):
        write_arff(data, workplace / name)
    lines = ["!gaf-version: 2.2"]
    for gene in ("daf-2", "daf-16", "age-1", "sir-2.1"):
        lines.append(
            f"WB\t{gene}\t{gene}\tinvolved_in\tGO:0000278\tPMID:1\tIDA\t\tP\t\t\tgene\ttaxon:6239\t20200101\tWB\t\t"
        )
    for name in ("goa.gaf.gz", "worm.gaf.gz"):
        (workplace / name).write_bytes(gzip.compress("\n".join(lines).encode() + b"\n"))
    shutil.copy(workplace / "terms.obo", workplace / "go.obo")
    (workplace / "types.csv").write_text("Rome,Capital,City\nCapital,City,,\n", encoding="utf-8")
    return workplace


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "bash")], ids=lambda p: p.stem)
@pytest.mark.usefixtures("files_of_the_reader")
def test_commands_run_as_printed(page, capsys):
    for block in blocks(page, "bash"):
        for arguments in commands(block):
            with pytest.raises(SystemExit) as stop:
                main(arguments)
            assert stop.value.code == 0, f"ramify {shlex.join(arguments)}: {capsys.readouterr()}"


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
def test_programs_run_as_printed(page, files_of_the_reader):
    """A page is read from top to bottom: a block may use what those above it made."""
    known: dict[str, object] = {}
    for number, block in enumerate(blocks(page, "python")):
        program = files_of_the_reader / f"block{number}.py"
        program.write_text(block, encoding="utf-8")
        known = runpy.run_path(str(program), init_globals=known)


def test_programs_name_features_as_the_data_do(files_of_the_reader, capsys):
    (block,) = blocks(ROOT / "docs" / "quickstart" / "biologist.md", "python")
    program = files_of_the_reader / "program.py"
    program.write_text(block, encoding="utf-8")
    runpy.run_path(str(program))
    assert capsys.readouterr().out.startswith("('alpha_factor_21min', 'sporulation_5h', 'cdc15_70min')")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.stem)
def test_examples_run(example, workplace):
    runpy.run_path(str(example))


def test_example_files_are_what_their_program_writes(tmp_path):
    program = tmp_path / "make_data.py"
    shutil.copy(ROOT / "examples" / "data" / "make_data.py", program)
    runpy.run_path(str(program), run_name="__main__")
    for name in ("customers.csv", "customers_june.csv", "genes.csv", "terms.obo", "songs.csv"):
        assert (tmp_path / name).read_bytes() == (ROOT / "examples" / "data" / name).read_bytes()


def test_links_between_pages_lead_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        if "_build" in page.parts or "auto_examples" in page.parts:
            continue
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
            written_by_the_build = Path(target).name in ("methods.md", "performance.md", "files.md") or target in (
                "../api/index.rst",
                "auto_examples/index.rst",
            )
            if "://" not in target and "generated" not in target and not written_by_the_build:
                assert (page.parent / target).exists(), f"{page.name}: {target}"


MAPS = ("docs/architecture.md", "src/ramify/datasets/README.md", "src/ramify/report/README.md", "CONTRIBUTING.md")


@pytest.mark.parametrize("page", MAPS)
def test_maps_of_the_code_name_files_that_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    paths = set(re.findall(r"`((?:[\w.-]+/)*[\w*.-]+(?:/|\.(?:py|hpp|cpp|js|md|toml)))`", text))
    assert len(paths) > 3
    homes = (ROOT, (ROOT / page).parent, *(ROOT / "src" / "ramify").glob("**/"))
    lost = [path for path in paths if not any(any(home.glob(path.rstrip("/"))) for home in homes)]
    assert sorted(path for path in lost if "NAME" not in path) == []
