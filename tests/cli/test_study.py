import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from ramify.cli.main import main, ramify
from ramify.cli.study import latex_table

TOY = str(Path(__file__).parents[1] / "study" / "toy_study.py")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("toy")


def call(folder, *arguments: str):
    command, *rest = arguments
    return CliRunner().invoke(ramify, ["study", command, TOY, "--quick", "--folder", str(folder), "--data", ".", *rest])


@pytest.fixture(scope="module", autouse=True)
def finished(folder):
    result = call(folder, "run", "--jobs", "1")
    assert result.exit_code == 0, result.output
    return result


def test_run_prints_the_findings_and_what_was_not_found(finished):
    assert "100 cells" in finished.stdout
    assert "Not found, left out: lost" in finished.stderr


def test_status_counts_cells(folder):
    rows = json.loads(call(folder, "status", "--json").stdout)
    assert sum(row["done"] for row in rows) == 100


def test_table_and_compare_show_the_measure(folder):
    assert "power3" in call(folder, "table", "--measure", "spread").stdout
    assert "too few to conclude" in " ".join(call(folder, "compare", "--measure", "mean").stdout.split())


def test_a_report_takes_the_direction_that_was_asked_for(folder, tmp_path):
    report = tmp_path / "study.json"
    shown = json.loads(call(folder, "compare", "--measure", "mean", "--loss", "--json", "--report", str(report)).stdout)
    compared = {entry["measure"]: entry for entry in json.loads(report.read_text(encoding="utf-8"))["comparisons"]}
    assert compared["mean"]["ranks"] == shown["ranks"]


def test_wide_tables_break_no_number(folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    header, *rows = [line for line in call(folder, "table", "--measure", "spread").stdout.splitlines() if "set" in line]
    assert [name.strip() for name in header.split("┃")[1:-1]] == ["data set", *(f"power{p}" for p in range(1, 6))]
    assert len(rows) == 4


def test_a_cluster_that_does_not_answer_is_one_line(tmp_path, capsys, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("ramify.study.backends.CONNECT_SECONDS", 0.1)
    with pytest.raises(SystemExit):
        main(["study", "run", TOY, "--quick", "--folder", str(tmp_path), "--data", ".", "--dask", "tcp://127.0.0.1:9"])
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("Error: No Dask scheduler answers at tcp://127.0.0.1:9")


def test_exports_are_written(folder, tmp_path):
    assert call(folder, "export").stdout.startswith("key,dataset,method")
    assert r"\begin{tabular}" in call(folder, "export", "--format", "latex", "--measure", "mean").stdout
    pytest.importorskip("pyarrow")
    assert call(folder, "export", "--format", "parquet", "-o", str(tmp_path / "all.parquet")).exit_code == 0
    assert (tmp_path / "all.parquet").stat().st_size > 0


def test_an_unknown_measure_names_those_there_are(folder):
    result = call(folder, "table", "--measure", "nonsense")
    assert isinstance(result.exception, ValueError)
    assert "it has mean, spread" in str(result.exception)


def test_latex_without_a_measure_says_what_to_do(folder):
    result = call(folder, "export", "--format", "latex")
    assert result.exit_code == 2
    assert "--measure" in result.stderr


def test_no_processes_are_refused_by_name(folder):
    result = call(folder, "run", "--jobs", "0")
    assert result.exit_code == 2
    assert "Invalid value for '--jobs': 0 processes do no work. Name a number, or -1 for all." in result.stderr


def test_verbose_names_every_finished_cell(tmp_path):
    lines = call(tmp_path, "run", "--jobs", "1", "--verbose").stderr.splitlines()
    cells = [line for line in lines if "done in" in line]
    assert len(cells) == 100
    assert re.search(r"set0 / power1 / split 0: done in \d+\.\d s$", cells[0])


@pytest.mark.parametrize(
    ("program", "fault"),
    [
        ("def study(:", "study_file.py: SyntaxError: "),
        ("import nowhere_to_be_found", "study_file.py, line 1: ModuleNotFoundError: "),
        ("def study(folder, quick):\n    return {}['missing']", "study_file.py, line 2: KeyError: 'missing'. Correct"),
        ("def study(folder, quick):\n    return 3", "study_file.py must return a ramify.Study. It returned int."),
        ("x = 1", "study_file.py defines no function study(data, folder, quick)."),
    ],
)
def test_faults_of_a_study_file_are_one_line_with_their_place(program, fault, tmp_path, capsys):
    file = tmp_path / "study_file.py"
    file.write_text(program, encoding="utf-8")
    with pytest.raises(SystemExit) as stop:
        main(["study", "status", str(file), "--folder", str(tmp_path / "results")])
    assert stop.value.code == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert fault in line


def test_a_file_that_is_no_program_is_told_so(tmp_path, capsys):
    file = tmp_path / "songs.csv"
    file.write_text("x,y\n", encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["study", "status", str(file)])
    assert "songs.csv is not a Python file. Pass the path of one that defines study()." in capsys.readouterr().err


LOSSES = """
from ramify import Study
from ramify.chains import BinaryRelevance
from ramify.datasets import make_multilabel
from ramify.metrics import hamming_loss
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

def study(folder, quick):
    data = {f"set{seed}": make_multilabel(200, n_labels=3, random_state=seed) for seed in range(3)}
    methods = {"model": BinaryRelevance(LogisticRegression()), "prior": BinaryRelevance(DummyClassifier())}
    return Study(data, methods, {"HL": hamming_loss}, 2, folder)
"""


def test_the_smallest_loss_is_the_best_everywhere(tmp_path):
    file, folder, report = tmp_path / "losses.py", tmp_path / "results", tmp_path / "study.json"
    file.write_text(LOSSES, encoding="utf-8")
    given = [str(file), "--folder", str(folder)]
    shown = CliRunner().invoke(ramify, ["study", "run", *given, "--jobs", "1", "--report", str(report)])
    assert shown.exit_code == 0, shown.output
    assert "12 of 12 cells are done" in shown.stdout
    assert f"Wrote {report}" in shown.stdout
    means = json.loads(CliRunner().invoke(ramify, ["study", "table", *given, "--measure", "HL", "--json"]).stdout)
    assert all(row["model"] < row["prior"] for row in means.values())
    ranks = json.loads(CliRunner().invoke(ramify, ["study", "compare", *given, "--measure", "HL", "--json"]).stdout)
    assert ranks["ranks"] == {"model": 1.0, "prior": 2.0}
    latex = CliRunner().invoke(ramify, ["study", "export", *given, "--measure", "HL", "--format", "latex"]).stdout
    for line in latex.splitlines()[3:6]:
        assert line.split(" & ")[1].startswith(r"\textbf{")
    (comparison,) = json.loads(report.read_text(encoding="utf-8"))["comparisons"]
    assert comparison["ranks"] == {"model": 1.0, "prior": 2.0}


def test_nothing_is_exported_before_the_first_result(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(
            ["study", "export", TOY, "--quick", "--data", ".", "--folder", str(tmp_path), "-o", str(tmp_path / "x.csv")]
        )
    assert "has no finished cell yet; run it first." in capsys.readouterr().err
    assert not (tmp_path / "x.csv").exists()


PARTLY = """
import numpy as np
from sklearn.model_selection import KFold
from ramify import Study
from ramify.datasets import Dataset

def bad(train, test, seed):
    if test.X[0, 0]:
        raise RuntimeError("no luck")
    return {"cost": 0.0}

def good(train, test, seed):
    return {"cost": 1.0}

def better(train, test, seed):
    return {"cost": 0.5}

def study(folder, quick):
    data = {name: Dataset(np.arange(5.0)[:, None], y=np.arange(5) % 2, target="classes") for name in "abc"}
    return Study(data, {"bad": bad, "good": good, "better": better}, splits=KFold(5), folder=folder)
"""


def test_what_failed_and_what_is_not_known_is_told(tmp_path):
    file = tmp_path / "partly.py"
    file.write_text(PARTLY, encoding="utf-8")
    given = [str(file), "--folder", str(tmp_path / "results")]
    assert CliRunner().invoke(ramify, ["study", "run", *given, "--jobs", "1"]).exit_code == 3
    table = CliRunner().invoke(ramify, ["study", "table", *given, "--measure", "cost"])
    assert "bad on a: the mean of 1 of 5 splits, 4 failed." in table.stderr
    status = CliRunner().invoke(ramify, ["study", "status", *given])
    assert "as the last run read them" in status.stdout
    refused = CliRunner().invoke(ramify, ["study", "compare", *given, "--measure", "cost"])
    assert isinstance(refused.exception, ValueError)
    assert "Nothing says whether larger values of 'cost' are better" in str(refused.exception)
    for direction, best in (("--loss", "better"), ("--gain", "good")):
        shown = CliRunner().invoke(ramify, ["study", "compare", *given, "--measure", "cost", direction, "--json"])
        assert next(iter(json.loads(shown.stdout)["ranks"])) == best
        assert "Left out: bad, which failed or has no value on 4 of 5 splits of a" in shown.stdout


def test_latex_has_spreads_and_marks_every_best_value():
    means = pd.DataFrame({"a": [0.50004, 0.2], "b": [0.50001, 0.3], "c": [0.4, np.nan]}, index=["x_1", "y"])
    spreads = pd.DataFrame({"a": [0.01, 0.02], "b": [0.03, np.nan], "c": [0.04, np.nan]}, index=["x_1", "y"])
    lines = latex_table(means, spreads, max).splitlines()
    assert lines[3] == r"x\_1 & \textbf{0.500} $\pm$ 0.010 & \textbf{0.500} $\pm$ 0.030 & 0.400 $\pm$ 0.040 \\"
    assert lines[4] == r"y & 0.200 $\pm$ 0.020 & \textbf{0.300} & -- \\"
