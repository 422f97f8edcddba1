"""What all commands share: help with examples, exit codes, one-line errors, completion."""

import json
import os
import subprocess
import sys

import pytest

from ramify.cli.main import COMMANDS

RUN = [sys.executable, "-c", "from ramify.cli.main import main; main()"]


def ramify(*arguments, **environment):
    """Run the command line in a process of its own."""
    return subprocess.run(
        [*RUN, *arguments], capture_output=True, text=True, check=False, timeout=120, env={**os.environ, **environment}
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(command):
    result = ramify(command, "--help")
    assert result.returncode == 0
    assert "Example" in result.stdout
    assert f"ramify {command}" in result.stdout


@pytest.mark.parametrize("command", [c for c in COMMANDS if c not in {"study", "demo"}])
def test_a_missing_file_is_one_line_and_no_traceback(command, tmp_path):
    model = [str(tmp_path / "none.ramify")] if command == "predict" else []
    output = ["-o", str(tmp_path / "out")] if command == "fit" else []
    result = ramify(command, *model, str(tmp_path / "no\x1b[31msuch.arff"), *output)
    assert result.returncode in {1, 2}
    assert "Traceback" not in result.stderr
    assert "\x1b" not in result.stderr
    assert "Error" in result.stderr


def test_unknown_options_exit_with_2():
    assert ramify("info", "--nonsense").returncode == 2
    assert ramify("nonsense").returncode == 2


def test_debug_shows_the_traceback(tmp_path):
    file = tmp_path / "bad.arff"
    file.write_text("@relation x\n", encoding="utf-8")
    assert "Traceback" not in ramify("info", str(file)).stderr
    assert "Traceback" in ramify("info", str(file), "--debug").stderr


def test_commands_are_completed():
    result = ramify(_RAMIFY_COMPLETE="bash_complete", COMP_WORDS="ramify ra", COMP_CWORD="1")
    assert result.stdout.split() == ["plain,rank"]
    result = ramify(_RAMIFY_COMPLETE="bash_complete", COMP_WORDS="ramify info --js", COMP_CWORD="2")
    assert result.stdout.split() == ["plain,--json"]


def test_json_is_all_that_is_printed(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("x,y\n1,a\n2,b\n3,a\n", encoding="utf-8")
    assert json.loads(ramify("info", str(file), "--json").stdout)["rows"] == 3


def test_help_is_light():
    code = (
        "import sys; from ramify.cli.main import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'pandas', 'sklearn', 'matplotlib', 'rich'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False).returncode == 0
