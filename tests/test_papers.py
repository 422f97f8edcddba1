"""The pages that lead from the papers to the code name only what exists, and every word of the papers is found."""

import importlib
import re
from pathlib import Path

import pytest

from ramify.cli.main import main

ROOT = Path(__file__).parents[1]
PAPERS = ROOT / "docs" / "papers"
if not PAPERS.exists():
    pytest.skip("the documentation is not part of this checkout", allow_module_level=True)
PAGES = sorted(PAPERS.glob("*.md"))
NAMED = re.compile(r"\{py:obj\}`~([\w.]+)`")


def found(name: str) -> object:
    """The object of a dotted name, by the longest module that it starts with."""
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        try:
            held = importlib.import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        for part in parts[n:]:
            held = getattr(held, part)
        return held
    raise AssertionError(f"nothing is called {name}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_name_on_the_page_exists_and_is_public(page):
    names = set(NAMED.findall(page.read_text(encoding="utf-8")))
    assert len(names) >= 6
    for name in names:
        assert found(name) is not None
        module, _, last = name.rpartition(".")
        assert last in getattr(importlib.import_module(module), "__all__", [last]), name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_parameters_on_the_page_are_taken_by_something_named_in_their_line(page):
    """`name=` in code must be a parameter of an estimator or function that the page names, or of a Hierarchy."""
    text = page.read_text(encoding="utf-8")
    known = {"w0", "hierarchy", "feature_hierarchy", "target", "names"}
    for name in NAMED.findall(text):
        made = found(name)
        code = getattr(made.__init__ if isinstance(made, type) else made, "__code__", None)
        known |= set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]) if code else set()
    spans = re.findall(r"(?<!})`([^`\n]+)`", text)
    asked = {name for span in spans for name in re.findall(r"\b([a-z_0-9]+)=(?!=)", span)}
    assert asked <= known, asked - known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_and_commands_on_the_page_exist(page, capsys):
    text = page.read_text(encoding="utf-8")
    for path in re.findall(r"`((?:studies|tests|benchmarks)/[\w/.]+)`", text):
        assert (ROOT / path).exists(), path
    for command in set(re.findall(r"`ramify (\w+)", text)):
        with pytest.raises(SystemExit) as stop:
            main([command, "--help"])
        assert stop.value.code == 0
        capsys.readouterr()


@pytest.mark.parametrize(
    "word",
    ["FFA", "VI_prop", "1-CC", "ordered CC", "PPT", "calibrated label ranking", "LazyR", "LRF-RT", "MDLP",
     "Fuzzy Jaccard", "label density"],
)  # fmt: skip
def test_the_papers_own_words_are_in_the_index(word):
    assert word.lower() in (PAPERS / "index.md").read_text(encoding="utf-8").lower()


@pytest.mark.parametrize("name", ["ranking", "selection", "label_ranking", "chains"])
def test_the_guide_leads_to_the_papers(name):
    assert "../papers/" in (ROOT / "docs" / "guide" / f"{name}.md").read_text(encoding="utf-8")
