"""The pages of the studies: every table is what the kept results give, every figure is there, nothing is left over."""

import importlib.util
import re
from pathlib import Path

import pytest

from ramify.study.study_files import study_names

DOCS = Path(__file__).parents[2] / "docs"
PAGES = DOCS / "studies"
if not (DOCS / "study_pages.py").exists():
    pytest.skip("the documentation is not part of this checkout", allow_module_level=True)


@pytest.fixture(scope="module")
def study_pages():
    specification = importlib.util.spec_from_file_location("study_pages", DOCS / "study_pages.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


NAMES = sorted(path.stem for path in (PAGES / "results").glob("*.csv") if "." not in path.stem)


def test_every_study_has_kept_results():
    assert list(study_names()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_tables_are_what_the_kept_results_give(study_pages, name, tmp_path):
    module, study = study_pages.kept(name, tmp_path)
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    tables = module.tables(study)
    blocks = {block["id"]: block["text"].strip() for block in study_pages.BLOCK.finditer(page)}
    assert len(blocks) >= 4
    for title, text in blocks.items():
        assert text == tables[title].strip(), f"run: python docs/study_pages.py {name}"


@pytest.mark.parametrize("name", NAMES)
def test_figures_are_drawn_by_the_study_and_shown_on_its_page(study_pages, name, tmp_path):
    module, study = study_pages.kept(name, tmp_path)
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"\]\(figures/([^)]+)\)", page))
    assert shown
    assert shown == {f"{name}-{title}.svg" for title in module.figures(study)}
    assert all((PAGES / "figures" / file).stat().st_size > 2000 for file in shown)
