import json

import pytest
from click.testing import CliRunner

from ramify.cli import demo as module
from ramify.cli.main import ramify


@pytest.fixture(scope="module")
def small():
    """The demo with less data; the README's test runs it in full."""
    patch = pytest.MonkeyPatch()
    for name, value in {"N_ROWS": 400, "N_TRAIN": 300, "N_FEATURES": 60, "N_TREES": 20}.items():
        patch.setattr(module, name, value)
    patch.setattr(module, "CURVE_SIZES", (1, 5, 15))
    yield
    patch.undo()


@pytest.fixture(scope="module")
def folder(small, tmp_path_factory):
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def printed(small, folder):
    result = CliRunner().invoke(ramify, ["demo", "-o", str(folder), "--jobs", "1", "-v"])
    assert result.exit_code == 0, result.output
    return result.output


def test_every_step_says_what_it_means_and_its_command(printed):
    for number in range(1, module.N_STEPS + 1):
        assert f"{number}/{module.N_STEPS} " in printed
    assert printed.count("$ ramify ") == module.N_STEPS


def test_writes_the_report_and_the_scores(printed, folder):
    written = {path.name for path in folder.iterdir()}
    assert written == {"data.arff", "report.html", *(f"ranking-{n}.csv" for n in module.METHODS)}
    page = (folder / "report.html").read_text(encoding="utf-8")
    for section in ("drivers", "ranking", "map", "heatmap", "measures", "quality", "agreement", "predictions", "made"):
        assert f'<section id="{section}">' in page


@pytest.mark.hostile
def test_json_tells_how_many_planted_features_were_found(small, tmp_path):
    result = CliRunner().invoke(ramify, ["demo", "-o", str(tmp_path / "d"), "--json", "--jobs", "1"])
    found = json.loads(result.output)
    by_chance = found["planted"] ** 2 / module.N_FEATURES
    assert found["found"]["genie3"] > by_chance
    assert found["planted_claims"] >= 0.7 * found["claims"] > 0
