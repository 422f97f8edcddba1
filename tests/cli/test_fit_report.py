import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from ramify.cli.main import ramify

EXAMPLES = Path(__file__).parents[2] / "examples" / "data"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fit")
    for name in ("genes.csv", "terms.obo", "songs.csv"):
        shutil.copy(EXAMPLES / name, folder / name)
    return folder


def run(folder, *arguments):
    arguments = [str(folder / a) if (folder / a).exists() or a.endswith((".html", ".ramify")) else a for a in arguments]
    result = CliRunner().invoke(ramify, ["fit", *arguments, "--trees", "20", "--jobs", "1", "-q"])
    assert result.exit_code == 0, result.output


def test_fit_reports_a_hierarchy_with_titles_and_reasons(folder):
    run(folder, "genes.csv", "--target", "go", "--hierarchy", "terms.obo", "-o", "g.ramify", "--report", "g.html")
    page = (folder / "g.html").read_text(encoding="utf-8")
    for text in ("mitotic cell cycle (GO:0000278)", "How well is it predicted?", "has learnt from these rows"):
        assert text in page


def test_fit_reports_classes_and_numbers(folder):
    run(folder, "songs.csv", "--target", "genre", "-o", "c.ramify", "--report", "c.html")
    run(folder, "songs.csv", "--target", "mood_calm", "-o", "n.ramify", "--report", "n.html")
    assert "one of 4 classes" in (folder / "c.html").read_text(encoding="utf-8")
    assert "1 numeric target" in (folder / "n.html").read_text(encoding="utf-8")
