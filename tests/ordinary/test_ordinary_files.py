"""What `info`, `rank`, `fit` and `predict` say of 50 small ordinary files, each with a trap, word for word.

The texts in `expected/` were read one by one. After a change on purpose write them anew and read what changed:

    RAMIFY_WRITE_EXPECTED=1 ./dev test tests/ordinary -q
"""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from ramify.cli.main import ramify
from tests.ordinary.files import FILES, write

EXPECTED = Path(__file__).parent / "expected"


def what_is_said(name: str, folder: Path) -> str:
    """The commands on a file and on next month's, and all that a user reads of it."""
    file, later, model = write(name, folder, 0), write(name, folder, 1), folder / "model.ramify"
    options = FILES[name].options
    told: set[str] = set()
    lines = [f"{name}: {FILES[name].trap}", ""]

    def run(*arguments: object) -> dict | None:
        """The JSON of a command; what it says beside it is added to the lines, but for what was said before."""
        lines.append(f"$ ramify {' '.join(Path(str(a)).name if isinstance(a, Path) else str(a) for a in arguments)}")
        result = CliRunner().invoke(ramify, [str(a) for a in (*arguments, "--json")])
        for line in result.stderr.replace(f"{folder}{os.sep}", "").splitlines():
            if line not in told:
                lines.append(line)
            told.add(line)
        if result.exit_code:
            lines.append(f"Error: {str(result.exception).replace(f'{folder}{os.sep}', '')}")
            return None
        return json.loads(result.stdout)

    described = run("info", file, *options)
    if described is not None:
        lines.append(
            f"{described['rows']} rows, {described['features']} features ({described['nominal']} nominal), "
            f"{described['missing']} missing cells, target: "
            + (f"{described['labels']} {described['target']}" if described["target"] else "none")
        )
        lines += [f"left out: {column}: {why}" for column, why in described["left_out"].items()]
    ranked = run("rank", file, *options, "--fdr", "none", "--trees", 20, "--jobs", 1)
    if ranked is not None:
        lines.append(", ".join(line["feature"] for line in ranked["rankings"]["genie3_oob"]["top"][:4]))
    fitted = run("fit", file, *options, "--trees", 20, "--jobs", 1, "-o", model)
    if fitted is not None:
        lines += _first_measures(fitted)
        measured = run("predict", model, later, "--jobs", 1, "-o", folder / "predicted.csv")
        if measured is not None:
            lines += _first_measures(measured)
            lines += (folder / "predicted.csv").read_text(encoding="utf-8").splitlines()[:4]
    return "\n".join(lines) + "\n"


def _first_measures(content: dict) -> list[str]:
    """The first two measures in the words of the table."""
    measures = list(content["measures"].items())[:2]
    shown = [(title, *("none" if v is None else f"{v:.2f}" for v in (m["model"], m["prior"]))) for title, m in measures]
    found = [f"{title}: {model}, prior alone {prior}" for title, model, prior in shown]
    return [content["measured_on"] or "Not measured", *found]


@pytest.mark.parametrize("name", FILES)
def test_what_is_said_of_an_ordinary_file(name, tmp_path):
    said = what_is_said(name, tmp_path)
    reviewed = EXPECTED / f"{name}.txt"
    if os.environ.get("RAMIFY_WRITE_EXPECTED"):
        reviewed.write_text(said, encoding="utf-8")
    assert said == reviewed.read_text(encoding="utf-8")


def test_every_reviewed_text_is_of_a_file():
    assert {path.name.removesuffix(".txt") for path in EXPECTED.iterdir()} == set(FILES)
