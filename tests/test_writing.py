import csv
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ramify.writing import whole_file, whole_text, write_table


def test_a_file_takes_the_place_of_the_old_one_only_when_complete(tmp_path):
    path = tmp_path / "numbers.txt"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(TypeError), whole_text(path) as file:
        file.writelines(["half", None])
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]
    with whole_text(path) as file:
        file.write("a\r\nü\n")
    assert path.read_bytes() == "a\r\nü\n".encode()


def test_a_link_stays_a_link(tmp_path):
    target = tmp_path / "large disk" / "model"
    target.parent.mkdir()
    target.write_bytes(b"old")
    link = tmp_path / "model"
    link.symlink_to(target)
    with whole_file(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_a_file_keeps_its_mode(tmp_path, mode):
    path = tmp_path / "secret"
    path.write_bytes(b"old")
    path.chmod(mode)
    with whole_file(path) as file:
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == mode  # before anything is in it
        file.write(b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


KILLED = """
import os, signal, sys
from pathlib import Path
import ramify.writing
if sys.argv[2] == "named":
    del os.O_TMPFILE
with ramify.writing.whole_file(Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="the system has no files without a name")
def test_a_killed_writer_leaves_nothing(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED, tmp_path / "model", "nameless"], check=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="kills and locks of files are those of Unix")
def test_what_a_killed_writer_left_goes_with_the_next_save(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    path, other = tmp_path / "model[1]", tmp_path / ".model[1].notes.tmp"
    other.write_bytes(b"not ours")
    subprocess.run([sys.executable, "-c", KILLED, path, "named"], check=False)
    assert len(list(tmp_path.iterdir())) == 2
    with whole_file(path) as first:
        first.write(b"first")
        with whole_file(path) as second:  # the first is still being written and must stay
            second.write(b"second")
    assert path.read_bytes() == b"first"
    assert sorted(tmp_path.iterdir()) == [other, path]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
@pytest.mark.parametrize("named", [False, True])
def test_another_writer_leaves_a_file_alone_until_it_has_its_name(tmp_path, monkeypatch, named):
    if named:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    path, replace = tmp_path / "model", Path.replace

    def after_another_has_written(temporary, target):
        monkeypatch.setattr(Path, "replace", replace)
        with whole_file(path) as file:
            file.write(b"other")
        return replace(temporary, target)

    monkeypatch.setattr(Path, "replace", after_another_has_written)
    with whole_file(path) as file:
        file.write(b"own")
    assert path.read_bytes() == b"own"
    assert list(tmp_path.iterdir()) == [path]


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    """So is /dev/null, which must stay a device."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(Path(pipe).read_bytes()))
    reader.start()
    with whole_file(pipe) as file:
        file.write(b"bytes")
    reader.join(timeout=30)
    assert received == [b"bytes"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_table_is_written_as_its_name_says(tmp_path):
    lines = [["=name", "score"], ["007", 0.1 + 0.2], ["-a\x01", np.float64(np.nan)], ["ü, b", np.int64(3)]]
    for name in ("t.csv", "t.tsv", "t", "t.xlsx"):
        write_table(tmp_path / name, lines)
    assert (tmp_path / "t.csv").read_bytes() == (tmp_path / "t").read_bytes()
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        found = list(csv.reader(file))
    assert found == [["'=name", "score"], ["007", "0.30000000000000004"], ["'-a\x01", ""], ["ü, b", "3"]]
    with (tmp_path / "t.tsv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file, delimiter="\t")) == found
    sheet = pd.read_excel(tmp_path / "t.xlsx", dtype={0: str})
    assert sheet.columns.tolist() == ["'=name", "score"]
    assert sheet.iloc[:, 0].tolist() == ["007", "'-a?", "ü, b"]
    assert sheet["score"].tolist() == pytest.approx([0.1 + 0.2, np.nan, 3], nan_ok=True)


def test_a_table_too_large_for_a_sheet_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"holds 1,048,576 rows of 16,384 columns.*Write .csv instead"):
        write_table(tmp_path / "t.xlsx", [["x"] * 16_385])
    assert not (tmp_path / "t.xlsx").exists()
