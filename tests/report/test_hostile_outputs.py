"""R19 outside the page: CSV files and the terminal."""

import csv
import re
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
from click.testing import CliRunner

from ramify.cli.main import ramify
from ramify.cli.terminal import console, plain, table
from ramify.ranking import FeatureRanking

PAYLOADS = run_path(str(Path(__file__).with_name("hostile.py")))["PAYLOADS"]
FORMULA = re.compile(r"^[=+\-@\t\r]")


def storable(names):
    return [name.encode("utf-8", "replace").decode() for name in names if "\x00" not in name]


def test_rankings_as_csv_hold_no_formulas(tmp_path, scorecard):
    names = storable(PAYLOADS)
    scores = np.arange(len(names), dtype=float)
    per_label = np.tile(scores[:, None], (1, len(names)))
    ranking = FeatureRanking(names, scores, per_label=per_label, label_names=names)
    path = tmp_path / "ranking.csv"
    ranking.save(path)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    text = [cell for row in rows for cell in row if not re.fullmatch(r"-?[\d.e+-]+", cell)]
    assert [cell for cell in text if FORMULA.match(cell)] == []
    assert FeatureRanking.read(path).names == tuple(names)
    scorecard("R19", f"{len(PAYLOADS)} payloads: page structure unchanged, CSV and terminal neutral")


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_terminal_gets_no_control_characters(payload):
    assert plain(payload).isprintable()
    terminal = console()
    with terminal.capture() as capture:
        terminal.print(table("", [payload], [[payload]]))
    assert "\x1b]" not in capture.get()
    assert "\x1b[31m" not in capture.get()


def test_commands_print_hostile_names_plainly(tmp_path):
    file = tmp_path / "data.csv"
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["\x1b[31mred", "<script>", "target"])
        writer.writerows([[1, 2, "\x1b]0;x\x07"], [2, 1, "[bold]b[/bold]"], [3, 0, "b"]])
    result = CliRunner().invoke(ramify, ["info", str(file), "--target", "target"])
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.output
    assert "\x07" not in result.output
