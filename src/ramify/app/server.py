"""The server: who may ask, and what is answered; it listens on this machine alone and imports nothing heavy."""

from __future__ import annotations

import errno
import hmac
import json
import os
import re
import secrets
import shutil
import socketserver
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from functools import cached_property
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

import ramify
from ramify.app.runs import LOG, RESULT, Run, Runs
from ramify.app.session import NotGiven, Session
from ramify.app.suggestions import suggested_targets
from ramify.app.tables import table_slice, write_sheet

HOST = "127.0.0.1"
MOST_BYTES = 4 << 30
"""Of a file that the page sends; larger ones are named on the command line."""
_MOST_JSON = 8 << 20
_BLOCK = 1 << 20
_PATIENCE = 120
_REST_PATIENCE = 2
_SHEET_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_PAGE = {
    "/": ("app/page/app.html", "text/html; charset=utf-8"),
    "/app.css": ("app/page/app.css", "text/css; charset=utf-8"),
    "/app.js": ("app/page/app.js", "text/javascript; charset=utf-8"),
    "/grid.js": ("app/page/grid.js", "text/javascript; charset=utf-8"),
    "/report.css": ("report/template/report.css", "text/css; charset=utf-8"),
    "/figures.js": ("report/template/figures.js", "text/javascript; charset=utf-8"),
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_VIEW_POLICY = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
"""Of what a run wrote: it is shown without the page's rights, whatever names from data it holds."""
_VIEWS = {".html": "text/html; charset=utf-8", ".svg": "image/svg+xml"}
_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}


class Refused(Exception):
    """An answer other than what was asked for."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Server(socketserver.ThreadingTCPServer):
    """A server for the one person at this machine.

    Parameters
    ----------
    session : Session
        Its files.
    port : int
        0 takes one that is free.
    """

    daemon_threads = True
    allow_reuse_address = os.name != "nt"
    request_queue_size = 64  # a browser opens several connections at once

    def __init__(self, session: Session, port: int = 0) -> None:
        super().__init__((HOST, port), _Handler)
        self.session, self.runs = session, Runs(session)
        self.token, self.cookie, self._ticket = (secrets.token_urlsafe(24) for _ in range(3))
        self._lock = threading.Lock()
        self.port = int(self.server_address[1])
        self.hosts = {f"{HOST}:{self.port}", f"localhost:{self.port}"}
        self.cookie_name = f"ramify-{self.port}"  # cookies do not tell ports apart

    @property
    def address(self) -> str:
        """What a browser opens."""
        return f"http://{HOST}:{self.port}/?token={self.token}"

    @property
    def ticket_address(self) -> str:
        """The same for one visit: other users of the machine may see the words that a browser is started with."""
        return f"http://{HOST}:{self.port}/?token={self._ticket}"

    def knows(self, token: str) -> bool:
        """Whether a token opens the page; the ticket does so once."""
        with self._lock:
            if self._ticket and hmac.compare_digest(token.encode(), self._ticket.encode()):
                self._ticket = ""
                return True
        return hmac.compare_digest(token.encode(), self.token.encode())

    @cached_property
    def methods(self) -> dict[str, Any]:
        """The methods that can be chosen, asked once of another process."""
        command = [sys.executable, "-m", "ramify.app.choices"]
        source = str(Path(ramify.__file__).parents[1])
        known = {**os.environ, "PYTHONSAFEPATH": "1", "PYTHONPATH": os.pathsep.join([source, *sys.path])}
        found = subprocess.run(command, capture_output=True, check=True, env=known, cwd=self.session.folder)
        return dict(json.loads(found.stdout))

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of browsers that go away; an error of ours is shown."""
        error = sys.exc_info()[1]
        if not isinstance(error, (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)

    def server_close(self) -> None:
        """Stop listening and what runs."""
        super().server_close()
        self.runs.close()


def serve(session: Session, *, port: int = 0, opened: Callable[[str, str], object] = lambda *_: None) -> None:
    """Answer until the page's Stop button or Ctrl-C.

    Parameters
    ----------
    session : Session
        Its files.
    port : int
        0 takes one that is free.
    opened : callable
        Called, once it answers, with the address, and with one that opens the page once.
    """
    with Server(session, port) as server:
        threading.Thread(target=lambda: server.methods, daemon=True).start()  # while the page is being read
        opened(server.address, server.ticket_address)
        server.serve_forever(poll_interval=0.2)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "ramify", ""
    timeout = _PATIENCE
    server: Server

    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def do_PUT(self) -> None:
        self._answer("PUT")

    def do_DELETE(self) -> None:
        self._answer("DELETE")

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the terminal is the user's."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What is no request that the server knows is answered under the same policies."""
        self._unread, self._is_admitted, self.close_connection = 0, False, True
        self._refuse(int(code), explain or message or "This is no request.")

    # ------------------------------------------------------------------------------------------ who may ask

    def _answer(self, method: str) -> None:
        self._unread = int(self.headers["Content-Length"]) if _is_count(self.headers["Content-Length"]) else 0
        self._is_admitted = False
        try:
            url = urlsplit(self.path)
            query = {name: values[-1] for name, values in parse_qs(url.query).items()}
            is_new = self._admit(method, url.path, query)
            self._is_admitted = True
            if method == "GET" and url.path in _PAGE:
                self._send_page(url.path, with_cookie=is_new)
                return
            for verb, pattern, answer in _ROUTES:
                match = re.fullmatch(pattern, url.path)
                if verb == method and match:
                    answer(self, query, *map(unquote, match.groups()))
                    return
            raise Refused(404, "There is no such page.")
        except Refused as refused:
            self._refuse(refused.status, str(refused))
        except FileNotFoundError as error:
            self._refuse(404, str(error))
        except (NotGiven, ValueError) as error:
            self._refuse(400, str(error))
        except OSError as error:
            if isinstance(error, (ConnectionError, TimeoutError)):
                raise
            is_full = error.errno in _FULL
            self._refuse(507 if is_full else 500, _FULL_DISK if is_full else f"{error.strerror or error}.")

    def _admit(self, method: str, path: str, query: dict[str, str]) -> bool:
        """Refuse whoever is not the page that this server opened; True for the first visit, by the token."""
        if any(len(self.headers.get_all(name, [])) > 1 for name in ("Host", "Origin", "Content-Length")):
            raise Refused(400, "A header is there twice.")
        if self.headers["Host"] not in self.server.hosts:
            raise Refused(403, "This address is not the one that ramify app printed.")
        if self.headers["Transfer-Encoding"] is not None:
            raise Refused(411, "Say how long it is (Content-Length).")
        if method != "GET" and self.headers["Origin"] != f"http://{self.headers['Host']}":
            raise Refused(403, "Another page asked for this.")
        if method == "GET" and path == "/" and "token" in query:
            if not self.server.knows(query["token"]):
                raise Refused(403, "The token is wrong. Open the address that ramify app printed.")
            return True
        if path != "/" and self.headers.get("Sec-Fetch-Site", "none") not in {"same-origin", "none"}:
            raise Refused(403, "Another page asked for this.")
        if not hmac.compare_digest(self._cookie().encode(), self.server.cookie.encode()):
            raise Refused(403, "Open the address that ramify app printed, with its token.")
        return False

    def _cookie(self) -> str:
        try:
            given = SimpleCookie(self.headers.get("Cookie", "")).get(self.server.cookie_name)
        except CookieError:
            given = None
        return "" if given is None else given.value

    # -------------------------------------------------------------------------------------------- answers

    def _head(self, status: int, kind: str, size: int, *, policy: str = _POLICY, **more: str) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(size),
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": "no-store",
            **{name.replace("_", "-"): value for name, value in more.items()},
        }.items():
            self.send_header(name, value)
        if self._unread:  # what was sent and not read would be taken for the next request
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()

    def _send(self, status: int, kind: str, body: bytes, **more: str) -> None:
        self._head(status, kind, len(body), **more)
        self.wfile.write(body)

    def _send_json(self, content: Any, status: int = 200) -> None:
        text = json.dumps(content, ensure_ascii=False).encode("utf-8", "replace")
        self._send(status, "application/json; charset=utf-8", text)

    def _refuse(self, status: int, message: str) -> None:
        if self._is_admitted:
            self._read_the_rest()
        self._send_json({"error": message}, status)

    def _send_page(self, path: str, *, with_cookie: bool) -> None:
        name, kind = _PAGE[path]
        more = {}
        if with_cookie:
            value = f"{self.server.cookie_name}={self.server.cookie}; Path=/; HttpOnly; SameSite=Strict"
            more["Set_Cookie"] = value
        self._send(200, kind, (files("ramify") / name).read_bytes(), **more)

    def _send_file(self, path: Path, kind: str, **more: str) -> None:
        with path.open("rb") as file:
            self._head(200, kind, os.fstat(file.fileno()).st_size, **more)
            shutil.copyfileobj(file, self.wfile, _BLOCK)

    def _read(self, size: int) -> bytes:
        block = self.rfile.read(min(size, self._unread))
        self._unread -= len(block)
        return block

    def _read_the_rest(self) -> None:
        """Discard what the page still sends: a browser shows no answer to a file that it could not send to its end."""
        self.connection.settimeout(_REST_PATIENCE)
        with suppress(OSError):
            while 0 < self._unread <= MOST_BYTES and self._read(_BLOCK):
                pass
        self.connection.settimeout(_PATIENCE)

    def _json(self) -> Any:
        if not _is_count(self.headers["Content-Length"]) or self._unread > _MOST_JSON:
            raise Refused(413, "This is too long.")
        try:
            return json.loads(self._read(self._unread))
        except (ValueError, RecursionError):
            raise Refused(400, "This is no JSON.") from None

    # ------------------------------------------------------------------------------------ state and files

    def _state(self, _: dict[str, str]) -> None:
        self._send_json(
            {
                "version": ramify.__version__,
                "kept": self.server.session.is_kept,
                "most_bytes": MOST_BYTES,
                "files": self.server.session.files(),
                "runs": [asdict(run) for run in self.server.runs],
            }
        )

    def _get_choices(self, _: dict[str, str]) -> None:
        self._send_json(self.server.session.choices)

    def _put_choices(self, _: dict[str, str]) -> None:
        given = self._json()
        if not isinstance(given, dict):
            raise Refused(400, "Choices are a table of names.")
        self.server.session.choices = given
        self._send_json({})

    def _methods(self, _: dict[str, str]) -> None:
        self._send_json(self.server.methods)

    def _put_file(self, _: dict[str, str], name: str) -> None:
        size = self.headers["Content-Length"]
        if not _is_count(size):
            raise Refused(411, "Say how long the file is (Content-Length).")
        session = self.server.session
        if int(size) > MOST_BYTES:
            raise Refused(413, f"The page takes files of up to {MOST_BYTES >> 30} GB. Name it: ramify app FILE.")
        if int(size) > shutil.disk_usage(session.folder).free:
            raise Refused(507, _FULL_DISK)
        session.receive(name, self._read, int(size))
        self._send_json({"name": name})

    def _delete_file(self, _: dict[str, str], name: str) -> None:
        self.server.session.drop(name)
        self._send_json({})

    def _stop(self, _: dict[str, str]) -> None:
        self._send_json({})
        threading.Thread(target=self.server.shutdown, daemon=True).start()

    # ---------------------------------------------------------------------------------------------- runs

    def _post_run(self, _: dict[str, str]) -> None:
        self._send_json(asdict(self.server.runs.start(self._json())), 201)

    def _get_run(self, _: dict[str, str], number: str) -> None:
        run = self.server.runs[number]
        said = {"result": self.server.runs.text(number, RESULT), "log": self.server.runs.text(number, LOG)}
        self._send_json({**asdict(run), **said})

    def _cancel(self, _: dict[str, str], number: str) -> None:
        self.server.runs.stop(number)
        self._send_json({})

    def _delete_run(self, _: dict[str, str], number: str) -> None:
        self.server.runs.remove(number)
        self._send_json({})

    def _give(self, _: dict[str, str], number: str) -> None:
        """Put what a run wrote among the files that are given, as the demo's data."""
        run = self.server.runs[number]
        for file in run.files:
            path = self.server.runs.file(number, file["name"])
            with path.open("rb") as stream:
                self.server.session.receive(path.name, stream.read, path.stat().st_size)
        self._send_json({"names": [file["name"] for file in run.files]})

    def _inspection(self, _: dict[str, str], number: str) -> None:
        run = self._of(number, "info")
        found = json.loads(self.server.runs.text(run.id, RESULT))
        self._send_json({**found, "suggestions": suggested_targets(found.get("columns", []), found.get("rows", 0))})

    def _of(self, number: str, command: str) -> Run:
        run = self.server.runs[number]
        if run.asked["command"] != command or run.state != "done":
            raise Refused(409, f"Run {number} is {run.state}.")
        return run

    def _table(self, query: dict[str, str], number: str, name: str) -> None:
        wanted = {key: int(query.get(key, 0)) for key in ("row", "n_rows", "column", "n_columns")}
        self._send_json(table_slice(self.server.runs.file(number, self._table_name(name)), **wanted))

    def _table_name(self, name: str) -> str:
        if not name.endswith(".csv"):
            raise Refused(400, "Tables are .csv files.")
        return name

    def _view(self, _: dict[str, str], number: str, name: str) -> None:
        path = self.server.runs.file(number, name)
        if path.suffix not in _VIEWS or path.name in self.server.runs[number].inputs:
            raise Refused(404, "This file is taken away, not shown.")
        self._send_file(path, _VIEWS[path.suffix], policy=_VIEW_POLICY)

    def _download(self, _: dict[str, str], number: str, name: str) -> None:
        path = self.server.runs.file(number, name)
        self._send_file(path, "application/octet-stream", **_as_file(name))

    def _sheet(self, _: dict[str, str], number: str, name: str) -> None:
        path = self.server.runs.file(number, self._table_name(name))
        with tempfile.TemporaryDirectory(dir=self.server.session.folder) as folder:
            sheet = Path(folder) / "table.xlsx"
            try:
                write_sheet(path, sheet)
            except ImportError as error:
                raise Refused(501, str(error)) from None
            self._send_file(sheet, _SHEET_TYPE, **_as_file(f"{path.stem}.xlsx"))


_FULL_DISK = "The disk is full: nothing of this was saved, and what was saved before is whole. Make room and try again."
_RUN, _NAME = r"/api/runs/(q?\d{1,9})", r"/([^/]+)"
_ROUTES: list[tuple[str, str, Callable[..., None]]] = [
    ("GET", r"/api/state", _Handler._state),
    ("GET", r"/api/choices", _Handler._get_choices),
    ("PUT", r"/api/choices", _Handler._put_choices),
    ("GET", r"/api/methods", _Handler._methods),
    ("PUT", r"/api/files" + _NAME, _Handler._put_file),
    ("DELETE", r"/api/files" + _NAME, _Handler._delete_file),
    ("POST", r"/api/stop", _Handler._stop),
    ("POST", r"/api/runs", _Handler._post_run),
    ("GET", _RUN, _Handler._get_run),
    ("DELETE", _RUN, _Handler._delete_run),
    ("POST", _RUN + r"/cancel", _Handler._cancel),
    ("POST", _RUN + r"/give", _Handler._give),
    ("GET", _RUN + r"/inspection", _Handler._inspection),
    ("GET", _RUN + r"/table" + _NAME, _Handler._table),
    ("GET", _RUN + r"/view" + _NAME, _Handler._view),
    ("GET", _RUN + r"/file" + _NAME, _Handler._download),
    ("GET", _RUN + r"/sheet" + _NAME, _Handler._sheet),
]


def _is_count(text: str | None) -> bool:
    return text is not None and text.isascii() and text.isdecimal() and len(text) < 19


def _as_file(name: str) -> dict[str, str]:
    return {"Content_Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
