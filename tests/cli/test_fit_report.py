import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import ramify as package
from ramify.cli.main import ramify
from ramify.datasets import make_hierarchical, write_arff
from ramify.metrics import calibration_error, reliability_bins

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
    files = ("genes.csv", "--target", "go", "--hierarchy", "terms.obo", "-o", "g.ramify", "--report", "g.html")
    run(folder, *files, "--method", "random-forest")
    page = (folder / "g.html").read_text(encoding="utf-8")
    for text in (
        "mitotic cell cycle (GO:0000278)",
        "How well is it predicted?",
        "has learnt from these rows",
    ):
        assert text in page


def test_a_model_remembers_what_its_terms_are_called(folder):
    run(
        folder, "genes.csv", "--target", "go", "--hierarchy", "terms.obo", "-o", "t.ramify", "--method", "random-forest"
    )
    model, genes = str(folder / "t.ramify"), str(folder / "genes.csv")

    def said(*arguments):
        result = CliRunner().invoke(ramify, [*arguments, "--jobs", "1"])
        assert result.exit_code == 0, result.output
        return result.output

    assert package.load(model).titles_["GO:0000278"] == "mitotic cell cycle"
    explained = said("explain", model, genes, "--row", "YAL001W", "--label", "Mitotic cell cycle")
    assert "mitotic cell cycle (GO:0000278): 0, from" in " ".join(explained.split())  # and not -2.1e-15
    outputs = [str(folder / name) for name in ("t.csv", "labels.csv", "t.html")]
    options = ("--target", "go", "-o", outputs[0], "--per-label", outputs[1], "--report", outputs[2], "-q")
    said("predict", model, genes, *options)
    assert Path(outputs[0]).read_text(encoding="utf-8").startswith("gene,go\nYAL001W,")
    named = pd.read_csv(outputs[1], index_col="label")["label_name"]
    assert named["GO:0000278"] == "mitotic cell cycle"
    assert "mitotic cell cycle (GO:0000278)" in Path(outputs[2]).read_text(encoding="utf-8")
    labels = Path(outputs[1]).read_text(encoding="utf-8")
    said("predict", model, genes, "--hierarchy", str(folder / "terms.obo"), *options)
    assert Path(outputs[1]).read_text(encoding="utf-8") == labels  # its own hierarchy orders and matches the labels


def test_fit_reports_classes_and_numbers(folder):
    run(folder, "songs.csv", "--target", "genre", "-o", "c.ramify", "--report", "c.html")
    run(folder, "songs.csv", "--target", "mood_calm", "--kind", "numbers", "-o", "n.ramify", "--report", "n.html")
    assert "one of 4 classes" in (folder / "c.html").read_text(encoding="utf-8")
    assert "1 numeric target" in (folder / "n.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    data = make_hierarchical(500, random_state=0)
    write_arff(data.rows(np.arange(300)), folder / "toy.train.arff")
    write_arff(data.rows(np.arange(300, 500)), folder / "toy.test.arff")
    return folder, data.rows(np.arange(300, 500))


def test_a_calibrated_model_is_shown_before_and_after_by_fit_and_predict(parts):
    folder, unseen = parts
    run(folder, "toy.train.arff", "toy.test.arff", "-o", "m.ramify", "--report", "m.html", "--calibrate", "isotonic")
    model = package.load(folder / "m.ramify")
    bins = reliability_bins(unseen.y, model.predict_proba(unseen.to_frame()))
    for name in ("p.json", "p.md"):
        model_file, rows, output, report = (str(folder / file) for file in ("m.ramify", "toy.test.arff", "p.csv", name))
        result = CliRunner().invoke(ramify, ["predict", model_file, rows, "-o", output, "--report", report, "-q"])
        assert result.exit_code == 0, result.output
    part = json.loads((folder / "p.json").read_text(encoding="utf-8"))["reliability"]
    assert list(part["bins"]) == ["before", "after"]
    assert part["bins"]["after"]["count"] == bins["count"].tolist()
    np.testing.assert_allclose(part["errors"]["after"], calibration_error(bins), rtol=1e-3)
    assert part["errors"]["after"] < part["errors"]["before"]
    files = [str(folder / name) for name in ("m.ramify", "toy.test.arff")]
    explained = CliRunner().invoke(ramify, ["explain", *files, "--row", "3"])
    assert explained.exit_code == 0, explained.output
    assert "before calibration" in explained.output
    for name in ("m.html", "p.md"):
        text = (folder / name).read_text(encoding="utf-8")
        assert "Do probabilities mean what they say?" in text
        assert "Occurred after" in text


@pytest.mark.parametrize(("target", "is_shown"), [("genre", True), ("mood_calm", False)])
def test_reliability_is_for_labels(folder, target, is_shown):
    kind = () if is_shown else ("--kind", "numbers")
    run(folder, "songs.csv", "--target", target, *kind, "-o", "r.ramify", "--report", "r.html")
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert ("Do probabilities mean what they say?" in page) == is_shown


@pytest.mark.parametrize(
    "options", [["--target", "mood_calm", "--kind", "numbers"], ["--target", "genre", "--method", "br"]]
)
def test_only_forests_of_labels_are_calibrated(folder, options):
    arguments = ["fit", str(folder / "songs.csv"), *options, "--calibrate", "sigmoid", "-o", str(folder / "x.ramify")]
    result = CliRunner().invoke(ramify, arguments)
    assert result.exit_code != 0
    assert "can be calibrated" in str(result.exception) + result.output


def test_a_report_of_rows_without_a_target_is_refused(folder):
    run(folder, "songs.csv", "--target", "genre", "-o", "w.ramify")
    rows = (folder / "songs.csv").read_text(encoding="utf-8").splitlines()
    place = rows[0].split(",").index("genre")
    kept = [",".join(cell for j, cell in enumerate(row.split(",")) if j != place) for row in rows]
    (folder / "new.csv").write_text("\n".join(kept) + "\n", encoding="utf-8")
    names = [str(folder / name) for name in ("w.ramify", "new.csv", "w.csv", "w.md")]
    result = CliRunner().invoke(ramify, ["predict", names[0], names[1], "-o", names[2], "--report", names[3]])
    assert result.exit_code != 0
    assert "--report: nothing was measured" in str(result.exception) + result.output
