"""Every command that writes files, with small data that it reads and all outputs that it can be asked for."""

import os
from pathlib import Path

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
SETTINGS = """
[General]
RandomSeed = 1
[Data]
File = rows.arff
[Attributes]
Target = 4
[Ensemble]
EnsembleMethod = RForest
Iterations = 3
FeatureRanking = Genie3
"""
READS = {
    "rank": ["data.csv", "-t", "kind", "--trees", "5", "--method", "genie3", "--method", "relief"],
    "fit": ["data.csv", "-t", "kind", "--method", "random-forest", "--trees", "5"],
    "predict": ["model.ramify", "data.csv", "-t", "kind"],
    "explain": ["model.ramify", "data.csv", "-t", "kind", "--row", "1"],
    "compare": ["results.csv"],
    "prepare": ["data.csv", "-t", "kind"],
    "select": ["terms.csv", "-t", "kind", "--feature-hierarchy", "edges.csv", "--method", "gtd", "--cv", "0"],
    "study run": ["study.py", "--folder", "fresh", "--jobs", "1"],
    "study compare": ["study.py", "--folder", "kept", "--measure", "hamming_loss"],
    "study export": ["study.py", "--folder", "kept"],
}
"""What each command that takes the name of a file to write reads."""
IN_FOLDERS = {"clus": ["clus.s", "-o", "out"], "demo": ["--only-data", "-o", "out"]}
"""Commands that write files of names of their own into a folder."""
WRITES_NONE = {"app", "info", "study data", "study status", "study table"}


def commands(group=ramify, before=()):
    """Every command there is, with its words."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command, words = group.get_command(context, name), (*before, name)
        if isinstance(command, click.Group):
            yield from commands(command, words)
        else:
            yield " ".join(words), command


def outputs(command):
    """The options of a command that name a file to write, each with a name of such a file."""
    params = [p for p in command.params if isinstance(p.type, OutputFile) and p.name != "cafa"]  # of ontologies only
    return {
        p.opts[-1]: "out-" + p.name + (p.type.endings or (".ramify" if p.name == "model_file" else ".csv",))[0]
        for p in params
    }


WRITING = {words: found for words, command in commands() if (found := outputs(command))}
"""The options of every command that name a file to write."""


def write_inputs(folder: Path) -> None:
    """Everything that the commands read."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(40, 3)).round(3), columns=["a", "b", "c"])
    table["kind"] = np.where(table["a"] > 0, "warm", "cold")
    table.to_csv(folder / "data.csv", index=False)
    head = [*(f"@attribute {name} numeric" for name in "abc"), "@attribute kind {cold,warm}"]
    rows = table.to_csv(index=False, header=False)
    (folder / "rows.arff").write_text("\n".join(["@relation r", *head, "@data", rows]), encoding="utf-8")
    terms = pd.DataFrame(rng.integers(0, 2, (40, 3)), columns=["p", "q", "r"])
    terms["p"] |= terms["q"]
    terms.assign(kind=table["kind"]).to_csv(folder / "terms.csv", index=False)
    (folder / "edges.csv").write_text("parent,child\np,q\np,r\n", encoding="utf-8")
    values = pd.DataFrame(rng.random((6, 3)).round(3), columns=["one", "two", "three"])
    values.insert(0, "data set", list("uvwxyz"))
    values.to_csv(folder / "results.csv", index=False)
    (folder / "study.py").write_text(STUDY, encoding="utf-8")
    (folder / "clus.s").write_text(SETTINGS, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for given in (
            ["fit", *READS["fit"], "-o", "model.ramify", "-q"],
            ["study", "run", "study.py", "--folder", "kept"],
        ):
            result = CliRunner().invoke(ramify, given)
            assert result.exit_code == 0, (result.output, result.exception)


def files(folder: Path) -> dict[str, bytes]:
    """The content of every file below a folder."""
    found = (Path(place) / name for place, _, names in os.walk(folder) for name in names)
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}
