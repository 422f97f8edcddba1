"""Row R31: every command gives the same output for the same values in any kind of file."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pandas.api.types import is_numeric_dtype

from ramify.cli.main import main
from ramify.datasets import make_feature_hierarchy

FILES = ["data.arff", "sparse.arff", "data.csv", "data.parquet"]
COLOURS = ["blue", "green", "red"]
OF_THE_FILE = {"data", "sha256", "source", "model"}
"""What a result says of the file, at any depth."""


def arff(table: pd.DataFrame, *, is_sparse: bool) -> str:
    """The frame as ARFF: numbers, and texts as nominal values; in sparse rows the first value is left out."""
    values = [sorted(map(str, table[name].unique())) if not is_numeric_dtype(table[name]) else None for name in table]
    kinds = ["numeric" if known is None else "{" + ",".join(known) + "}" for known in values]
    lines = ["@relation r", *(f"@attribute {name} {kind}" for name, kind in zip(table, kinds, strict=True)), "@data"]
    for row in table.itertuples(index=False):
        if is_sparse:
            left_out = [0 if known is None else known[0] for known in values]
            cells = [f"{j} {cell}" for j, (cell, zero) in enumerate(zip(row, left_out, strict=True)) if cell != zero]
            lines.append("{" + ",".join(cells) + "}")
        else:
            lines.append(",".join(map(str, row)))
    return "\n".join(lines) + "\n"


def write(table: pd.DataFrame, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "data.arff").write_text(arff(table, is_sparse=False), encoding="utf-8")
    (folder / "sparse.arff").write_text(arff(table, is_sparse=True), encoding="utf-8")
    table.to_csv(folder / "data.csv", index=False)
    table.to_parquet(folder / "data.parquet")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same rows in every kind of file, new rows without some of their values, and terms with their edges."""
    folder = tmp_path_factory.mktemp("commands")
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "size": rng.integers(0, 5, 60) / 4,
            "colour": rng.choice(COLOURS, 60),
            "weight": np.where(rng.random(60) < 0.6, 0.0, rng.normal(size=60).round(3)),
        }
    )
    warm = (table["colour"] == "red") | (table["size"] > 0.9)
    table["kind"] = np.where(warm, "warm", "cold")
    write(table, folder / "rows")
    write(table[(table["colour"] != "blue") & (table.index < 40)], folder / "new")
    terms = make_feature_hierarchy(50, n_features=16, random_state=0)
    binary = pd.DataFrame(terms.X.toarray().astype(int), columns=list(terms.feature_names))
    write(binary.assign(kind=np.array(["no", "yes"])[terms.y]), folder / "terms")
    names = terms.feature_hierarchy.names
    edges = [f"{names[parent]},{names[child]}" for parent, child in terms.feature_hierarchy.edges]
    (folder / "edges.csv").write_text("parent,child\n" + "\n".join(edges) + "\n", encoding="utf-8")
    for name in FILES:
        model = folder / f"{name}.ramify"
        assert run("fit", folder / "rows" / name, "-t", "kind", "-o", model, "--trees", 8, "-q") == 0
    return folder


def run(*arguments) -> int:
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    return stop.value.code


def printed(capsys, *arguments):
    """What a command prints as JSON, less what it says of the file."""
    capsys.readouterr()
    assert run(*arguments, "--json") == 0, capsys.readouterr().err
    return of_the_values(json.loads(capsys.readouterr().out))


def of_the_values(result):
    if isinstance(result, dict):
        return {name: of_the_values(value) for name, value in result.items() if name not in OF_THE_FILE}
    return [of_the_values(one) for one in result] if isinstance(result, list) else result


COMMANDS = {
    "rank": lambda folder, file: [
        "rank", folder / "rows" / file, "-t", "kind", "--trees", 8, "--method", "genie3", "--method", "relief",
    ],
    "fit": lambda folder, file: ["fit", folder / "rows" / file, "-t", "kind", "--trees", 8, "-o", folder / "m.ramify"],
    "compare": lambda folder, file: [
        "compare", folder / "rows" / file, "-t", "kind", "--trees", 4, "--folds", 3,
        "--method", "random-forest", "--method", "extra-trees",
    ],
    "select": lambda folder, file: [
        "select", folder / "terms" / file, "-t", "kind", "--hierarchy", folder / "edges.csv", "--cv", 3,
    ],
    "select per row": lambda folder, file: [
        "select", folder / "terms" / file, "-t", "kind", "--hierarchy", folder / "edges.csv", "--cv", 0,
        "--method", "hip", "--per-row",
    ],
    "info": lambda folder, file: ["info", folder / "rows" / file, "-t", "kind"],
}  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_every_kind_of_file_gives_the_same_output(folder, capsys, command):
    found = {file: printed(capsys, *COMMANDS[command](folder, file)) for file in FILES}
    assert found["data.csv"] == found["data.parquet"]
    for said in found.values():  # ARFF says itself what its columns are and is not inspected
        for name in ("notes", "columns"):
            said.pop(name, None)
    for file in FILES[1:]:
        assert found[file] == found[FILES[0]], file


@pytest.mark.parametrize("learnt", FILES)
def test_a_model_of_one_kind_of_file_is_used_on_any_other(folder, capsys, learnt):
    """The new rows have not all colours, so that values cannot be matched by their codes."""
    model = folder / f"{learnt}.ramify"
    predictions, explained = {}, {}
    for file in FILES:
        new = folder / "new" / file
        assert run("predict", model, new, "-t", "kind", "--probabilities", "-o", folder / "out.csv", "-q") == 0
        predictions[file] = (folder / "out.csv").read_text(encoding="utf-8")
        explained[file] = printed(capsys, "explain", model, new, "-t", "kind", "--row", 3)
    assert len(set(predictions.values())) == 1
    assert all(one == explained[FILES[0]] for one in explained.values())
    first = folder / f"{FILES[0]}.ramify"
    assert run("predict", first, folder / "new" / FILES[0], "-t", "kind", "--probabilities", "-q",
               "-o", folder / "out.csv") == 0  # fmt: skip
    assert (folder / "out.csv").read_text(encoding="utf-8") == predictions[learnt]
