"""No command writes over a file that it reads, nor over what was there before: tried over all commands there are."""

import shutil

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from ramify.cli.main import ramify
from ramify.cli.options import OutputFile

STUDY = """
from ramify import ForestClassifier
from ramify.datasets import make_multilabel
from ramify.study import Study


def study(folder, quick):
    data = {f"set {seed}": make_multilabel(40, n_features=3, n_labels=2, random_state=seed) for seed in range(2)}
    methods = {f"trees {n}": ForestClassifier(n, random_state=0) for n in (2, 3)}
    return Study(data, methods, ["hamming_loss"], 2, folder)
"""
READS = {
    "rank": ["data.csv", "-t", "kind", "--trees", "5", "--method", "genie3", "--method", "relief"],
    "prepare": ["data.csv", "-t", "kind"],
    "fit": ["data.csv", "-t", "kind", "--method", "random-forest", "--trees", "5"],
    "predict": ["model.ramify", "data.csv", "-t", "kind"],
    "explain": ["model.ramify", "data.csv", "-t", "kind", "--row", "1"],
    "compare": ["results.csv"],
    "select": ["terms.csv", "-t", "kind", "--feature-hierarchy", "edges.csv", "--method", "gtd", "--cv", "0"],
    "study run": ["study.py", "--folder", "kept", "--jobs", "1"],
    "study compare": ["study.py", "--folder", "kept", "--measure", "hamming_loss"],
    "study export": ["study.py", "--folder", "kept"],
}
"""What each command that writes files reads."""
OUTPUTS = {"model_file": "out.ramify", "report": "out.html", "plot": "out.svg", "figure": "out.svg", "latex": "out.tex"}


def writing_commands(group=ramify, before=()):
    """Every command that takes a file to write, with the options that name one."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command, words = group.get_command(context, name), (*before, name)
        if isinstance(command, click.Group):
            yield from writing_commands(command, words)
        elif options := [param for param in command.params if isinstance(param.type, OutputFile)]:
            yield from ((" ".join(words), option) for option in options)


def run(command, *arguments):
    return CliRunner().invoke(ramify, [*command.split(), *READS[command], *arguments])


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(40, 3)).round(3), columns=["a", "b", "c"])
    table["kind"] = np.where(table["a"] > 0, "warm", "cold")
    table.to_csv(folder / "data.csv", index=False)
    terms = pd.DataFrame(rng.integers(0, 2, (40, 3)), columns=["p", "q", "r"])
    terms["p"] |= terms["q"]
    terms.assign(kind=table["kind"]).to_csv(folder / "terms.csv", index=False)
    (folder / "edges.csv").write_text("parent,child\np,q\np,r\n", encoding="utf-8")
    values = pd.DataFrame(rng.random((6, 3)).round(3), columns=["one", "two", "three"])
    values.insert(0, "data set", list("uvwxyz"))
    values.to_csv(folder / "results.csv", index=False)
    (folder / "study.py").write_text(STUDY, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for command, *more in (("fit", "-o", "model.ramify", "-q"), ("study run", "-q")):
            result = run(command, *more)
            assert result.exit_code == 0, (result.output, result.exception)
    return folder


@pytest.mark.parametrize(
    ("command", "option"), list(writing_commands()), ids=lambda v: v if isinstance(v, str) else v.name
)
def test_no_file_that_a_command_writes_is_one_it_reads(command, option, inputs, tmp_path, monkeypatch):
    folder = tmp_path / "here"
    shutil.copytree(inputs, folder)
    monkeypatch.chdir(folder)
    before = {path for path in folder.rglob("*") if path.is_file()}
    output = "out.ramify" if command == "prepare" else OUTPUTS.get(option.name, "out.csv")
    result = run(command, option.opts[-1], output, *model(command, option))
    assert result.exit_code == 0, (result.output, result.exception)
    written = {path for path in folder.rglob("*") if path.is_file() and "kept" not in path.parts} - before
    assert folder / output in written
    read = [name for name in READS[command] if (folder / name).is_file()]
    for path in sorted(written - {folder / "own.ramify"}):
        for name in read:
            shutil.copy(inputs / name, path)
            content = path.read_bytes()
            swapped = [path.name if given == name else given for given in READS[command]]
            result = CliRunner().invoke(
                ramify, [*command.split(), *swapped, option.opts[-1], output, *model(command, option)]
            )
            assert result.exit_code == 2, (path.name, name, result.output)
            assert "would write over a file that is read" in result.output.replace("\n", " ")
            assert path.read_bytes() == content


def model(command, option):
    """`fit` must be told where the model goes."""
    return ["-o", "own.ramify"] if command == "fit" and option.name != "model_file" else []


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
