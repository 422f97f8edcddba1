"""The pages of the studies: every table is what the kept cells give, every cell is one that the study asks for."""

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
def test_tables_are_what_the_kept_cells_give(study_pages, name, tmp_path):
    module, study = study_pages.kept(name, tmp_path)
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    tables = {**module.tables(study), "cells": study_pages.builds(name)}
    blocks = {block["id"]: block["text"].strip() for block in study_pages.BLOCK.finditer(page)}
    assert "cells" in blocks
    assert len(blocks) >= 4
    for title, text in blocks.items():
        assert text == tables[title].strip(), f"run: python docs/study_pages.py {name}"


def test_cells_that_the_study_does_not_ask_for_are_refused(study_pages, tmp_path, monkeypatch):
    cells = study_pages.cells("label_ranking")
    for column, value in (("key", "0123456789ab"), ("key", cells["key"].iloc[1]), ("key", None)):
        other = cells.copy()
        other.loc[0, column] = value
        monkeypatch.setattr(study_pages, "cells", lambda _, other=other: other)
        with pytest.raises(ValueError, match="cells that the study does not ask for"):
            study_pages.kept("label_ranking", tmp_path)


def test_a_changed_parameter_is_another_cell(study_pages, tmp_path):
    study = study_pages.kept("label_ranking", tmp_path)[1]
    before = set(study_pages.keys("label_ranking", study).values())
    study.methods["neighbours"] = study.methods["average"]
    after = set(study_pages.keys("label_ranking", study).values())
    assert len(before) == len(after)
    assert 0 < len(before - after) < 0.25 * len(before)


@pytest.mark.parametrize("name", NAMES)
def test_figures_are_drawn_by_the_study_and_shown_on_its_page(study_pages, name, tmp_path):
    module, study = study_pages.kept(name, tmp_path)
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"\]\(figures/([^)]+)\)", page))
    assert shown
    assert shown == {f"{name}-{title}.svg" for title in module.figures(study)}
    assert all((PAGES / "figures" / file).stat().st_size > 2000 for file in shown)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_drawn_sample_of_kept_cells_comes_out_again(study_pages, name, data_folder, monkeypatch):
    monkeypatch.setenv("RAMIFY_DATA", str(data_folder))
    seed = len(study_pages.cells(name))  # another sample when the cells become others
    assert study_pages.differences(name, 12, seed) == []


def test_the_check_finds_a_changed_value(study_pages, data_folder, monkeypatch):
    monkeypatch.setenv("RAMIFY_DATA", str(data_folder))
    cells = study_pages.cells("label_ranking")
    iris = cells[(cells["dataset"] == "iris") & (cells["method"] == "RT")].copy()
    monkeypatch.setattr(study_pages, "cells", lambda _: iris)
    assert study_pages.differences("label_ranking", 3, 0) == []
    iris["tau"] += 0.001
    assert len(study_pages.differences("label_ranking", 3, 0)) == 3
