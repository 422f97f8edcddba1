"""What all commands share: help with examples, exit codes, one-line errors, completion."""

import json
import os
import shlex
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from ramify.cli.main import COMMANDS, main, ramify
from ramify.cli.terminal import shows_progress

PROGRAM = [sys.executable, "-m", "ramify"]


def run(capfd, *arguments):
    """Exit code, standard output and standard error of a command."""
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    return (stop.value.code, *capfd.readouterr())


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(command):
    result = CliRunner().invoke(ramify, [command, "--help"])
    assert result.exit_code == 0
    assert "Example" in result.output
    assert f"ramify {command}" in result.output


@pytest.mark.parametrize("command", [c for c in COMMANDS if c not in {"study", "demo"}])
def test_a_missing_file_is_one_line_and_no_traceback(command, tmp_path, capfd):
    model = [tmp_path / "none.ramify"] if command == "predict" else []
    output = ["-o", tmp_path / "out"] if command == "fit" else []
    code, _, errors = run(capfd, command, *model, tmp_path / "no\x1b[31msuch.arff", *output)
    assert code in {1, 2}
    assert "Traceback" not in errors
    assert "\x1b[31m" not in errors
    assert "Error" in errors


def test_unknown_options_exit_with_2(capfd):
    assert run(capfd, "info", "--nonsense")[0] == 2
    assert run(capfd, "nonsense")[0] == 2


def test_debug_shows_the_traceback(tmp_path, capfd):
    file = tmp_path / "bad.arff"
    file.write_text("@relation x\n", encoding="utf-8")
    assert run(capfd, "info", file)[0] == 1
    with pytest.raises(ValueError, match="bad"):
        main(["info", str(file), "--debug"])


def test_json_is_all_that_is_printed(tmp_path, capfd):
    file = tmp_path / "data.csv"
    file.write_text("x,y\n1,a\n2,b\n3,a\n", encoding="utf-8")
    code, output, _ = run(capfd, "info", file, "--json")
    assert (code, json.loads(output)["rows"]) == (0, 3)


def test_commands_and_options_are_completed():
    for words, at, expected in (("ramify ra", "1", "plain,rank"), ("ramify info --js", "2", "plain,--json")):
        environment = {"_RAMIFY_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": at}
        result = subprocess.run(
            PROGRAM, capture_output=True, text=True, check=False, timeout=120, env={**os.environ, **environment}
        )
        assert result.stdout.split() == [expected]


def test_help_is_light():
    code = (
        "import sys; from ramify.cli.main import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'pandas', 'sklearn', 'matplotlib', 'rich'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False).returncode == 0


@pytest.mark.parametrize("command", ["info", "rank", "fit", "predict", "compare", "explain"])
def test_help_begins_with_the_options_that_people_need_first(command):
    shown = CliRunner().invoke(ramify, [command, "--help"]).output
    first, more = shown[shown.index("\nOptions:") :].split("\nMore options:\n")
    names = [line.split()[0] for part in (first, more) for line in part.splitlines() if line.startswith("  -")]
    assert len([line for line in first.splitlines() if line.startswith("  -")]) == 10
    params = ramify.get_command(None, command).params
    assert len(names) == len(set(names)) == 1 + sum(isinstance(param, click.Option) for param in params)


STUDY_COMMANDS = ("run", "status", "table", "compare", "export")


@pytest.mark.parametrize("command", [*COMMANDS, *(f"study {part}" for part in STUDY_COMMANDS)])
def test_examples_stand_on_lines_of_their_own(command):
    shown = CliRunner().invoke(ramify, [*command.split(), "--help"]).output
    assert "\\b" not in shown
    assert "  Examples:\n" in shown
    assert f"\n    ramify {command}" in shown


def test_outputs_are_refused_before_the_work(tmp_path, capfd):
    data = tmp_path / "data.csv"
    data.write_text("x,y\n1,a\n2,b\n3,a\n", encoding="utf-8")
    for command in (["fit", "-o"], ["rank", "-o"], ["rank", "--report"], ["select", "-o"]):
        code, _, errors = run(capfd, command[0], data, *command[1:], tmp_path / "none" / "out.json")
        assert code == 2
        assert errors.splitlines()[-1].endswith(
            f"There is no folder '{tmp_path / 'none'}'. Make it first, or name another."
        )
    assert "must end with .html or .json or .md." in run(capfd, "rank", data, "--report", tmp_path / "r.pdf")[2]
    assert "must end with .csv or .json or .fimp." in run(capfd, "rank", data, "-o", tmp_path / "r.xls")[2]


def test_seeds_and_threads_are_checked(tmp_path, capfd):
    assert "0 threads do no work. Name a number, or -1 for all." in run(capfd, "rank", "x.csv", "--jobs", 0)[2]
    assert "-1 is not in the range" in run(capfd, "rank", "x.csv", "--seed", -1)[2]


def test_what_the_system_refuses_is_told_in_words(tmp_path, capfd):
    code, _, errors = run(capfd, "predict", tmp_path / "none.ramify", "x.csv")
    advice = "Write one with ramify.save or 'ramify fit'."
    assert (code, errors) == (1, f"Error: {tmp_path / 'none.ramify'}: there is no such model file. {advice}\n")
    code, _, errors = run(capfd, "predict", tmp_path, "x.csv")
    assert (code, errors) == (1, f"Error: {tmp_path}: this is a folder. Name a file.\n")


def test_a_file_that_is_read_is_not_written_over(tmp_path, capfd):
    data = tmp_path / "data.csv"
    data.write_text("x,y\n1,a\n2,b\n3,a\n", encoding="utf-8")
    before = data.read_bytes()
    (tmp_path / "link.csv").symlink_to(data)
    model = tmp_path / "model.ramify"
    assert run(capfd, "fit", data, "-o", model, "--trees", 2)[0] == 0
    learnt = model.read_bytes()
    for arguments in (
        ["fit", data, "-o", data],
        ["rank", data, "-o", tmp_path / "link.csv"],
        ["rank", data, "--per-label", data],
        ["select", data, "--feature-hierarchy", data, "-o", data],
        ["predict", model, data, "-o", data],
    ):
        code, _, errors = run(capfd, *arguments)
        assert code == 2
        assert errors.splitlines()[-1].endswith("would write over a file that is read. Name another.")
    code, _, errors = run(capfd, "rank", data, "-o", tmp_path / "r.json", "--report", tmp_path / "r.json")
    assert code == 2
    assert errors.splitlines()[-1].endswith("would write over what -o writes. Name another.")
    assert (data.read_bytes(), model.read_bytes()) == (before, learnt)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_predictions_go_into_a_pipe(tmp_path):
    data, model, pipe = tmp_path / "data.csv", tmp_path / "model.ramify", tmp_path / "pipe"
    data.write_text("x,y\n1,a\n2,b\n3,a\n", encoding="utf-8")
    os.mkfifo(pipe)
    subprocess.run([*PROGRAM, "fit", data, "-o", model, "--trees", "2", "-q"], check=True, timeout=120)
    with subprocess.Popen([*PROGRAM, "predict", model, data, "-o", pipe, "-q"]) as predicting:
        assert pipe.read_text(encoding="utf-8").startswith("id,y\n")
        assert predicting.wait(timeout=120) == 0
    assert pipe.is_fifo()


def test_every_written_file_is_told(tmp_path, capfd):
    data, model, report = tmp_path / "data.csv", tmp_path / "model.ramify", tmp_path / "r.md"
    data.write_text("x,y\n1,a\n2,b\n3,a\n", encoding="utf-8")
    assert run(capfd, "fit", data, "-o", model, "--trees", 2, "--report", report)[1].endswith(f"Wrote {report}\n")
    assert run(capfd, "predict", model, data, "-o", tmp_path / "p.csv")[1].endswith(f"Wrote {tmp_path / 'p.csv'}\n")


def test_a_mistyped_command_is_corrected(capfd):
    code, _, errors = run(capfd, "ranck", "x.csv")
    assert (code, errors.splitlines()[-1]) == (2, "Error: There is no command 'ranck'. Did you mean 'rank'?")
    assert run(capfd, "zzz")[2].endswith(
        "There are demo, app, info, prepare, fit, predict, explain, compare, rank, select, clus, study.\n"
    )


def test_what_is_no_whole_number_is_told_so(capfd):
    assert run(capfd, "rank", "x.csv", "--trees", "1e3")[2].endswith("'1e3' is not a valid integer.\n")
    assert run(capfd, "select", "x.csv", "--min-count", -3)[0] == 2


@pytest.mark.parametrize(
    ("target", "advice"),
    [
        ("mood_happpy", "target='mood_happpy' is no column of {}. Did you mean 'mood_happy'?"),
        ("MOOD_HAPPY", "target='MOOD_HAPPY' is no column of {}. Did you mean 'mood_happy'?"),
        ("colour", "target='colour' is no column of {}. It has 'beat', 'mood_happy', 'mood_sad'."),
        ("mod_*", "target='mod_*' fits no column of {}. It has 'beat', 'mood_happy', 'mood_sad'."),
    ],
)
def test_a_mistyped_target_is_corrected(target, advice, tmp_path, capfd):
    data = tmp_path / "songs.csv"
    data.write_text("beat,mood_happy,mood_sad\n1,0,1\n2,1,0\n", encoding="utf-8")
    assert run(capfd, "rank", data, "--target", target) == (1, "", f"Error: {advice.format(data)}\n")


def test_data_without_rows_or_features_are_refused_in_words(tmp_path, capfd):
    model, rows = tmp_path / "model.ramify", tmp_path / "rows.csv"
    rows.write_text("x,y\n1,a\n2,b\n3,a\n", encoding="utf-8")
    assert run(capfd, "fit", rows, "-o", model, "--trees", 2)[0] == 0
    header, column = tmp_path / "header.csv", tmp_path / "column.csv"
    header.write_text("x,y\n", encoding="utf-8")
    column.write_text("y\na\nb\n", encoding="utf-8")
    for arguments in (["fit", header, "-o", model], ["rank", header], ["predict", model, header]):
        assert (
            run(capfd, *arguments)[2]
            == f"Error: {header} has no rows. Name a file with rows below the columns' names.\n"
        )
    assert "has no features, only a target." in run(capfd, "rank", column)[2]


def test_model_and_data_in_the_wrong_order_are_told_so(tmp_path, capfd):
    code, _, errors = run(capfd, "predict", "songs.csv", "songs.ramify")
    assert code == 2
    assert "The model comes first, then the data" in errors


def test_warnings_are_one_line_without_a_place_in_the_program(tmp_path):
    data, edges = tmp_path / "data.csv", tmp_path / "order.csv"
    edges.write_text("parent,child\nx,z\n", encoding="utf-8")
    data.write_text("x,z,y\n1,0,a\n1,1,b\n0,0,a\n1,1,b\n0,0,a\n1,1,a\n", encoding="utf-8")
    command = [*PROGRAM, "select", data, "--feature-hierarchy", edges, "--cv", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0
    assert {line[:42] for line in done.stderr.splitlines()} == {"Warning: The least populated class in y ha"}


def test_more_folds_or_neighbours_than_rows_are_refused_before_the_work(tmp_path, capfd):
    data = tmp_path / "data.csv"
    data.write_text("x,y\n1,a\n2,b\n3,a\n4,b\n", encoding="utf-8")
    for arguments, words in (
        (["--method", "relief"], "15 neighbours are more than the other 3 rows; name fewer."),
        (["--quality", "--folds", 5], "5 folds are more than the 4 rows; name fewer."),
    ):
        assert run(capfd, "rank", data, *arguments) == (1, "", f"Error: {words}\n")
    edges = tmp_path / "order.csv"
    edges.write_text("parent,child\nx,z\n", encoding="utf-8")
    data.write_text("x,z,y\n1,0,a\n1,1,b\n0,0,a\n1,1,b\n", encoding="utf-8")
    code, _, errors = run(capfd, "select", data, "--feature-hierarchy", edges, "--cv", 3)
    assert code == 1
    assert "3 folds are more than the 2 rows of the largest class; name fewer." in errors


def test_a_target_that_nobody_named_is_told(tmp_path, capfd):
    data = tmp_path / "data.csv"
    data.write_text("x,sold\n1,0\n2,1\n3,0\n4,1\n", encoding="utf-8")
    read = f"4 rows, 1 features, target: sold, 2 classes (the last column; --target names another), {data}"
    for command in (["rank", data, "--fdr", "none"], ["fit", data, "-o", tmp_path / "m.ramify"]):
        code, shown, _ = run(capfd, *command, "--trees", 2)
        assert code == 0
        assert " ".join(shown.split()).startswith(read)
        assert "the last column" not in run(capfd, *command, "--trees", 2, "--target", "sold")[1]


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="the system has no pseudo-terminals")
@pytest.mark.parametrize(("setting", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_no_color_turns_the_colour_of_errors_off(setting, coloured):
    terminal, end = os.openpty()
    environment = {**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, "TERM": "xterm", **setting}
    subprocess.run([*PROGRAM, "info", "none.csv"], stderr=end, check=False, timeout=120, env=environment)
    os.close(end)
    shown = os.read(terminal, 10_000)
    os.close(terminal)
    assert b"there is no such file" in shown
    assert (b"\x1b[" in shown) is coloured


CHARTS = ["rank", "--trees", "3", "--jobs", "1"]


@pytest.fixture
def accented(tmp_path):
    file = tmp_path / "data.csv"
    rows = "".join(f"{row % 4},{row % 3},{'αβ'[row % 2]}\n" for row in range(24))
    file.write_text(f"größe,z,y\n{rows}", encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_that_is_not_unicode_shows_everything(accented, encoding):
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    command = [*PROGRAM, CHARTS[0], accented, *CHARTS[1:]]
    result = subprocess.run(command, capture_output=True, check=False, timeout=120, env=environment)
    shown = result.stdout.decode(encoding)
    assert result.returncode == 0, result.stderr
    assert "\\u03b1" in shown
    assert "####" in shown
    assert ("größe" if encoding == "latin-1" else "gr\\xf6\\xdfe") in shown
    told = subprocess.run([*command, "--json"], capture_output=True, check=True, timeout=120, env=environment)
    assert set(json.loads(told.stdout)["branches"]) == {"α", "β"}


def test_predictions_on_standard_output_are_utf8_whatever_the_terminal(accented, tmp_path):
    model = str(tmp_path / "model.ramify")
    subprocess.run([*PROGRAM, "fit", accented, "-o", model, "--trees", "3", "-q"], check=True, timeout=120)
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    command = [*PROGRAM, "predict", model, accented]
    result = subprocess.run(command, capture_output=True, check=True, timeout=120, env=environment)
    assert {line.split(",")[1] for line in result.stdout.decode("utf-8").splitlines()[1:]} == {"α", "β"}


@pytest.mark.parametrize("closed", ["2>&-", ">&-", ">&- 2>&-"])
def test_a_closed_stream_is_no_error(accented, tmp_path, closed):
    output = tmp_path / "ranking.csv"
    words = shlex.join([*PROGRAM, CHARTS[0], accented, *CHARTS[1:], "-o", str(output)])
    result = subprocess.run(["sh", "-c", f"{words} {closed}"], capture_output=True, check=False, timeout=120)
    assert result.returncode == 0, result.stderr
    assert "größe" in output.read_text(encoding="utf-8")


def test_progress_is_shown_on_a_terminal_without_asking(monkeypatch):
    for terminal, options, expected in (
        (True, {"quiet": False, "verbose": False}, 1),
        (True, {"quiet": True, "verbose": True}, 0),
        (False, {"quiet": False, "verbose": False}, 0),
        (False, {"quiet": False, "verbose": True}, 1),
    ):
        monkeypatch.setattr(sys.stderr, "isatty", lambda shown=terminal: shown)
        assert shows_progress(**options) == expected
