"""No command writes over a file that it reads, nor over what was there before: tried over all commands there are."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.trust import every_command

from ramify.cli.main import ramify


def run(command, *arguments):
    return CliRunner().invoke(ramify, [*command.split(), *arguments])


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    every_command.write_inputs(folder)
    return folder


def test_every_command_is_tried():
    known = {*every_command.READS, *every_command.IN_FOLDERS, *every_command.WRITES_NONE}
    assert {words for words, _ in every_command.commands()} == known
    assert every_command.WRITING.keys() == every_command.READS.keys()


@pytest.mark.parametrize("command", every_command.READS)
def test_no_file_that_a_command_writes_is_one_it_reads(command, inputs, tmp_path, monkeypatch):
    folder, reads = tmp_path / "here", every_command.READS[command]
    shutil.copytree(inputs, folder)
    monkeypatch.chdir(folder)
    before = every_command.files(folder)
    asked = [word for pair in every_command.WRITING[command].items() for word in pair]
    result = run(command, *reads, *asked)
    assert result.exit_code == 0, (result.output, result.exception)
    new = every_command.files(folder).keys() - before.keys()
    written = sorted(name for name in new if not name.startswith("fresh/"))  # the study's own files
    assert {*every_command.WRITING[command].values()} <= {*written}
    for name in filter(before.keys().__contains__, reads):
        for path in written:
            Path(path).unlink(missing_ok=True)
            Path(path).symlink_to(Path(name).resolve())
            result = run(command, *reads, *asked)
            assert "would write over a file that is read" in " ".join(result.output.split()), (path, name)
            assert Path(name).read_bytes() == before[name]
            Path(path).unlink()


@pytest.mark.parametrize("command", [command for command in every_command.READS if command.startswith("study")])
def test_no_result_takes_the_place_of_a_study_or_its_data(command, inputs, tmp_path, monkeypatch):
    shutil.copytree(inputs, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    Path("study.py").write_text(every_command.STUDY.replace("(folder,", "(data, folder,"), encoding="utf-8")
    Path("sets").mkdir()
    Path("sets/own.csv").write_text("data", encoding="utf-8")
    option, output = next(iter(every_command.WRITING[command].items()))
    Path("fresh").symlink_to("kept")
    for path in ("kept/results.sqlite", "sets/own.csv"):
        Path(output).unlink(missing_ok=True)
        Path(output).symlink_to(path)
        before = Path(path).read_bytes()
        result = run(command, *every_command.READS[command], option, output, "--data", "sets")
        assert "would write over a file that is read" in " ".join(result.output.split())
        assert Path(path).read_bytes() == before


def test_a_run_of_clus_writes_over_none_of_its_files(inputs, tmp_path, monkeypatch):
    shutil.copytree(inputs, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    Path("clus.summary.txt").symlink_to("rows.arff")
    before = every_command.files(tmp_path)
    result = run("clus", "clus.s")
    assert "would write over a file that is read" in str(result.exception)
    assert every_command.files(tmp_path) == before


def test_the_demo_writes_over_nothing(tmp_path):
    mine = tmp_path / "report.html"
    mine.write_text("mine", encoding="utf-8")
    result = CliRunner().invoke(ramify, ["demo", "-o", str(tmp_path)])
    assert result.exit_code == 2
    assert "holds report.html already. Name another with -o." in result.output.replace("\n", " ")
    assert [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()] == ["mine"]


def test_the_labels_beside_an_arff_file_are_read_too(tmp_path):
    data, labels = tmp_path / "data.arff", tmp_path / "data.xml"
    lines = ["@relation r", "@attribute a numeric", "@attribute b {0,1}", "@data", "1,0", "2,1", "3,1"]
    data.write_text("\n".join(lines), encoding="utf-8")
    labels.write_text('<labels><label name="b"/></labels>', encoding="utf-8")
    before = labels.read_bytes()
    result = CliRunner().invoke(ramify, ["rank", str(data), "--per-label", str(labels)])
    assert result.exit_code == 2
    assert labels.read_bytes() == before
