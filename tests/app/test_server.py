"""Who may ask the server of `ramify app`, what it takes, and what it gives."""

import errno
import http.client
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from ramify.app import server as server_module
from ramify.app.session import Session


def test_the_token_opens_the_page_and_gives_a_cookie(client):
    status, headers, body = client.ask("GET", f"/?token={client.server.token}", Cookie=None, Origin=None)
    assert status == 200
    assert b"<html" in body
    cookie = headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert client.server.token not in cookie


@pytest.mark.parametrize(
    "path", ["/?token=wrong", "/?token=", "/?token=%C3%A9", "/", "/api/state", "/app.js", "/api/runs/1"]
)
def test_a_wrong_token_opens_nothing(client, path):
    status, headers, _ = client.ask("GET", path, Cookie=None)
    assert status == 403
    assert "Set-Cookie" not in headers


def test_the_address_that_a_browser_is_started_with_opens_once(client):
    """Other users of the machine may see the words that a process is started with."""
    path = client.server.ticket_address.partition(str(client.server.port))[2]
    assert client.server.token not in path
    assert client.ask("GET", path, Cookie=None)[0] == 200
    assert client.ask("GET", path, Cookie=None)[0] == 403
    assert client.ask("GET", "/?token=", Cookie=None)[0] == 403


@pytest.mark.parametrize("cookie", ["ramify=1", "ramify-1=x", "=;;=", "x" * 5000, "ramify-{port}=", "ramify-{port}=é"])
def test_a_wrong_cookie_opens_nothing(client, cookie):
    cookie = cookie.replace("{port}", str(client.server.port)).encode("latin-1", "replace").decode("latin-1")
    assert client.ask("GET", "/api/state", Cookie=cookie)[0] == 403


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "localhost:1", "127.0.0.1:80", "", None])
def test_another_host_is_refused(client, host):
    assert client.ask("GET", "/api/state", Host=host)[0] in {400, 403}
    assert client.ask("GET", f"/?token={client.server.token}", Host=host)[0] in {400, 403}


def test_localhost_is_this_machine(client):
    name = f"localhost:{client.server.port}"
    assert client.ask("GET", "/api/state", Host=name)[0] == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:{port}", None]
)
@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/api/runs"), ("PUT", "/api/files/a.csv"), ("POST", "/api/stop")]
)
def test_a_foreign_origin_changes_nothing(client, origin, method, path):
    origin = origin and origin.format(port=client.server.port)
    assert client.ask(method, path, {"command": "demo"}, Origin=origin)[0] == 403
    state = client.json("GET", "/api/state")
    assert state["files"] == []
    assert state["runs"] == []


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_pages_of_other_ports_read_nothing(client, site):
    """A page on another port of this machine is of the same site, so that the cookie comes along."""
    assert client.ask("GET", "/api/state", Sec_Fetch_Site=site)[0] == 403


def test_every_answer_has_a_strict_policy(client):
    for path in ("/", "/app.js", "/report.css", "/api/state", "/nothing"):
        _, headers, _ = client.ask("GET", path)
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        ("GET /api/state HTTP/1.1\r\n{own}Host: evil.example\r\n", 400),
        ("PUT /api/files/a.csv HTTP/1.1\r\n{own}Content-Length: 3\r\nContent-Length: 90\r\n", 400),
        ("PUT /api/files/a.csv HTTP/1.1\r\n{own}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", 411),
        ("OPTIONS /<script> HTTP/1.1\r\n{own}", 501),
        ("TRACE / HTTP/1.1\r\n{own}", 501),
        ("GET / HTTP/1.1\r\nX: " + 99_999 * "a" + "\r\n", 431),
        ("GET / HTTP/1.1\r\n" + 5_000 * "X: a\r\n", 431),
        ("GET http://[ HTTP/1.1\r\n{own}", 400),
    ],
    ids=range(8),
)
def test_what_is_no_request_of_the_page_is_refused_under_the_same_policies(client, lines, status):
    own = "".join(f"{name}: {value}\r\n" for name, value in client.headers.items())
    with socket.create_connection(("127.0.0.1", client.server.port), timeout=20) as sock:
        sock.sendall((lines.replace("{own}", own) + "\r\n").encode("latin-1"))
        answer = b""
        while b"\r\n\r\n" not in answer and (block := sock.recv(4096)):
            answer += block
    assert f" {status} ".encode() in answer.splitlines()[0]
    assert b"Content-Security-Policy: default-src 'none'" in answer
    assert client.json("GET", "/api/state")["files"] == []


def test_a_command_that_is_too_long_is_told(client, songs):
    client.give(songs)
    run = client.run("rank", "songs.csv", target=["x" * 300_000])
    assert run["state"] == "failed"
    assert "fewer columns" in run["message"]


@pytest.mark.parametrize(
    "name",
    [
        "..%2Fa.csv",
        "%2Fetc%2Fpasswd",
        "..",
        "..%5Ca.csv",
        ".run.json",
        "-o.csv",
        "a%00b.csv",
        "%20a",
        "x" * 200,
        "a%0Ab",
    ],
)
def test_files_go_nowhere_else(client, name, tmp_path):
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    assert client.ask("PUT", f"/api/files/{name}", b"a,b\n1,2\n")[0] in {400, 404}
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "name", ["..%2F..%2F..%2Fetc%2Fpasswd", "%2Fetc%2Fpasswd", "..", ".run.json%2F..", "nothing.csv"]
)
def test_nothing_else_is_given_away(client, songs, name):
    client.give(songs)
    number = client.run("info", "songs.csv")["id"]
    for what in ("file", "view", "table", "sheet"):
        assert client.ask("GET", f"/api/runs/{number}/{what}/{name}")[0] in {400, 404}
    assert client.ask("GET", "/../../etc/passwd")[0] == 404
    assert client.ask("DELETE", f"/api/files/{name}")[0] == 404


def test_a_run_reads_only_what_was_given(client, songs, tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("a,b\n1,2\n")
    client.give(songs)
    asked = [
        {"data": [str(secret)]},
        {"data": ["../../secret.csv"]},
        {"data": ["songs.csv"], "others": {"hierarchy": str(secret)}},
        {"data": ["songs.csv"], "others": {"annotations": "-"}},
        {"data": ["-"]},
    ]
    for each in asked:
        status, _, body = client.ask("POST", "/api/runs", {"command": "info", **each})
        assert status in {400, 404}, body
    status, _, _ = client.ask(
        "POST", "/api/runs", {"command": "info", "data": ["songs.csv"], "options": {"output": "x"}}
    )
    assert status == 400


def test_words_that_look_like_options_are_values(client, songs):
    client.give(songs)
    run = client.run("info", "songs.csv", target=["--together"])
    assert run["state"] == "failed"
    assert "--together" in run["message"]
    assert "--target=--together" in run["command"]


def test_a_file_that_is_called_like_a_module_is_data(client, tmp_path):
    for name in ("numpy.py", "ramify.py", "sitecustomize.py"):
        (tmp_path / name).write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
        client.give(tmp_path / name)
        client.run("info", name)
    assert not (tmp_path / "ran").exists()


def test_too_large_a_file_is_refused_before_it_is_read(client, monkeypatch):
    status, _, body = client.ask("PUT", "/api/files/big.csv", b"", Content_Length=str(server_module.MOST_BYTES + 1))
    assert status == 413
    assert b"ramify app FILE" in body
    assert client.ask("PUT", "/api/files/big.csv", b"", Content_Length="-1")[0] == 411
    assert client.ask("POST", "/api/runs", b"[" * 10, Content_Length=str(9 << 20))[0] == 413
    assert client.json("GET", "/api/state")["files"] == []


def test_a_file_that_breaks_off_is_not_there(client):
    lines = [
        "PUT /api/files/half.csv HTTP/1.1",
        *(f"{k}: {v}" for k, v in client.headers.items()),
        "Content-Length: 99",
    ]
    with socket.create_connection(("127.0.0.1", client.server.port)) as sock:
        sock.sendall("\r\n".join([*lines, "", "a,b\n1,2"]).encode())
        sock.shutdown(socket.SHUT_WR)
        answer = sock.recv(4096)
    assert b"400" in answer.splitlines()[0]
    assert client.json("GET", "/api/state")["files"] == []


def test_a_full_disk_is_told_and_nothing_is_lost(client, songs, monkeypatch):
    client.give(songs)
    done = client.run("info", "songs.csv")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("ramify.app.session.whole_file", full)
        for method, path, body in (
            ("PUT", "/api/files/more.csv", b"a,b\n1,2\n"),
            ("PUT", "/api/choices", {"target": ["x"]}),
            ("POST", "/api/runs", {"command": "info", "data": ["songs.csv"]}),
        ):
            status, _, answer = client.ask(method, path, body)
            assert status == 507
            assert b"disk is full" in answer
    state = client.json("GET", "/api/state")
    assert [file["name"] for file in state["files"]] == ["songs.csv"]
    assert [run["id"] for run in state["runs"]] == [done["id"]]
    assert client.run("info", "songs.csv")["state"] == "done"


def test_too_little_room_is_told_before_the_file_is_read(client, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 5}))
    assert client.ask("PUT", "/api/files/a.csv", b"a,b\n1,2\n")[0] == 507


def test_a_large_file_that_is_refused_is_answered(client, monkeypatch):
    """A browser shows no answer to a file that it could not send to its end."""
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 5}))
    status, _, body = client.ask("PUT", "/api/files/a.csv", bytes(30 << 20))
    assert status == 507
    assert b"disk is full" in body


class Bomb:
    def __reduce__(self):
        return (Path.touch, (Path("exploded"),))


def test_a_pickle_is_no_model(client, songs, tmp_path):
    (tmp_path / "model.ramify").write_bytes(pickle.dumps(Bomb()))
    client.give(tmp_path / "model.ramify")
    client.give(songs)
    run = client.run("predict", "songs.csv", model="model.ramify")
    assert run["state"] == "failed"
    assert "model.ramify" in run["message"]
    assert not list(tmp_path.rglob("exploded"))


def test_no_page_says_where_things_are(client, songs):
    client.give(songs)
    client.json("PUT", "/api/files/broken.csv", b"a,b\n1,2,3,4\n\x00\xff\n")
    number = client.run("info", "broken.csv")["id"]
    client.run("info", "songs.csv")
    for path in ("/api/state", f"/api/runs/{number}", "/api/runs/q2", "/api/runs/q2/inspection", "/"):
        body = client.ask("GET", path)[2].decode()
        for place in (str(client.server.session.folder), str(Path.home()), sys.prefix):
            assert place not in body


def test_the_folder_is_private_and_gone_at_the_end(serving, songs):
    with serving() as client:
        folder = client.server.session.folder
        client.give(songs)
        assert folder.stat().st_mode & 0o077 == 0
        assert (folder / "data" / "songs.csv").exists()
    assert not folder.exists()


def test_the_folder_of_a_killed_server_is_removed_by_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left, living = Session(), Session()
    left._lock.close()  # as the system does when a process is killed
    after = Session()
    assert not left.folder.exists()
    assert living.folder.exists()
    for session in (living, after):
        session.close()


def test_two_servers_do_not_share_a_folder(tmp_path):
    first = Session(tmp_path / "kept")
    with pytest.raises(ValueError, match="Another 'ramify app' uses the folder"):
        Session(tmp_path / "kept")
    first.close()
    Session(tmp_path / "kept").close()


def command(*arguments, **options):
    return subprocess.Popen([sys.executable, "-m", "ramify", "app", "--no-browser", *map(str, arguments)],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **options)  # fmt: skip


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_the_command_opens_with_data_and_cleans_up(tmp_path, songs, how):
    process = command(songs, env={**os.environ, "TMPDIR": str(tmp_path)})
    address = process.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:")
    folder = next(tmp_path.glob("ramify-app-*"))
    assert (folder / "data" / "songs.csv").exists()
    process.send_signal(how)
    process.wait(20)
    process.stdout.close()
    assert not list(tmp_path.glob("ramify-app-*"))


def test_the_server_is_light():
    """It starts at once because pandas and the core are the runs' business."""
    heavy = "{'numpy', 'pandas', 'scipy', 'jinja2'}"
    code = f"import sys, ramify.app.server, ramify.cli.app; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_stop_ends_the_server(tmp_path):
    process = command("--keep", tmp_path / "kept")
    address = process.stdout.readline().strip()
    host, token = address.split("/")[2], address.rpartition("=")[2]
    connection = http.client.HTTPConnection(host, timeout=20)
    connection.request("GET", f"/?token={token}")
    answer = connection.getresponse()
    answer.read()
    cookie = answer.getheader("Set-Cookie").split(";")[0]
    headers = {"Origin": f"http://{host}", "Cookie": cookie}
    connection.request("POST", "/api/stop", headers=headers)
    assert json.loads(connection.getresponse().read()) == {}
    connection.close()
    assert process.wait(20) == 0
    process.stdout.close()
    assert (tmp_path / "kept").is_dir()
