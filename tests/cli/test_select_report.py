import csv

import pytest
from click.testing import CliRunner

from ramify.cli.main import ramify
from ramify.datasets import make_feature_hierarchy


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("terms")
    data = make_feature_hierarchy(80, n_features=30, random_state=0)
    order = data.feature_hierarchy
    with (folder / "terms.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*data.feature_names, "class"])
        for row, y in zip(data.X.toarray().astype(int), data.y, strict=True):
            writer.writerow([*row, data.label_names[y]])
    with (folder / "order.edges.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["parent", "child"])
        writer.writerows([order.names[p], order.names[c]] for p, c in order.edges)
    return folder


@pytest.mark.parametrize("method", ["rpv", "shsel"])
def test_select_writes_a_report(files, method):
    path = files / f"{method}.html"
    arguments = ["select", str(files / "terms.csv"), "--feature-hierarchy", str(files / "order.edges.csv")]
    result = CliRunner().invoke(ramify, [*arguments, "--method", method, "--cv", "3", "--report", str(path)])
    assert result.exit_code == 0, result.output
    page = path.read_text(encoding="utf-8")
    assert "features are selected" in page
    assert "The features as a map" in page
    assert 'id="drivers"' not in page
    assert "Without selection" in page
    assert "The prior knows only how frequent" in page
