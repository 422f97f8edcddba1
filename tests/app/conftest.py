"""A server with a client of its own; nothing but the standard library speaks to it."""

import http.client
import json
import shlex
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest

from ramify.app.server import HOST, Server
from ramify.app.session import Session

DONE = {"done", "failed", "cancelled", "out of time", "interrupted"}


class Client:
    """Asks as the page does; headers can be taken away or changed."""

    def __init__(self, server):
        self.server = server
        self.headers = {
            "Host": f"{HOST}:{server.port}",
            "Origin": f"http://{HOST}:{server.port}",
            "Cookie": f"{server.cookie_name}={server.cookie}",
        }

    def ask(self, method, path, body=None, **changed):
        headers = {**self.headers, **{name.replace("_", "-"): value for name, value in changed.items()}}
        connection = http.client.HTTPConnection(HOST, self.server.port, timeout=60)
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        if body is not None and "Content-Length" not in headers:
            headers["Content-Length"] = str(len(body))
        for name, value in headers.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, dict(answer.getheaders()), content

    def json(self, method, path, body=None, *, status=(200, 201)):
        code, _, content = self.ask(method, path, body)
        assert code in status, content
        return json.loads(content)

    def give(self, path, name=None):
        path = Path(path)
        self.json("PUT", f"/api/files/{quote(name or path.name)}", path.read_bytes())

    def run(self, command, *data, wait=True, **asked):
        run = self.json("POST", "/api/runs", {"command": command, "data": list(data), **asked})
        return self.wait(run["id"]) if wait else run

    def wait(self, number, states=DONE, seconds=120):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            run = self.json("GET", f"/api/runs/{number}")
            if run["state"] in states:
                return run
            time.sleep(0.05)
        raise AssertionError(run)


@contextmanager
def served(keep=None):
    session = Session(keep)
    server = Server(session)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield Client(server)
    finally:
        server.shutdown()
        server.server_close()
        session.close()
        thread.join(10)


@pytest.fixture
def serving(tmp_path, monkeypatch):
    """Start servers whose folders are in this test's own."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return served


@pytest.fixture
def client(serving):
    with serving() as client:
        yield client


def shell(command, folder):
    """Run a shown command as it is shown."""
    words = shlex.split(command)
    assert words[0] == "ramify"
    run = [sys.executable, "-m", *words]
    return subprocess.run(run, cwd=folder, capture_output=True, check=True, stdin=subprocess.DEVNULL).stdout


def write_songs(path, n_rows=120):
    """A messy table: an identifier, money, dates, a constant, label columns and a class."""
    rng = np.random.default_rng(0)
    loud, fast = rng.normal(size=(2, n_rows))
    lines = ["song_id;price;released;loud;fast;shop;mood_calm;mood_sad;genre"]
    for i in range(n_rows):
        genre = "rock" if loud[i] > 0 else "folk" if fast[i] > 0 else "jazz"
        day = f"{1 + i % 28:02d}/{1 + i % 12:02d}/2019"
        lines.append(
            f"S{i:04d};€ {5 + i % 7},50;{day};{loud[i]:.3f};{fast[i]:.3f};online;"
            f"{int(loud[i] < 0)};{int(fast[i] < 0)};{genre}".replace(".", ",")
        )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def songs(tmp_path):
    return write_songs(tmp_path / "songs.csv")
