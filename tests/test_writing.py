import os
import stat
import threading
from pathlib import Path

import pytest

from ramify.writing import whole_file, whole_text


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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
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
