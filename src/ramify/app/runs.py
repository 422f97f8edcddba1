"""Runs: commands in processes of their own, watched, stopped, and remembered in the session's folder."""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

import ramify
from ramify.app.commands import Asked, arguments, asked, command_line, python_code
from ramify.app.session import Session, linked, listed_file, read_json, write_json

_RECORD, RESULT, LOG = ".run.json", ".result", ".log"  # no file that is given begins with a dot
_PROGRESS = re.compile(r"^(.{1,100}): (\d+) of (\d+)$")
_ENDED = ("done", "failed", "cancelled", "out of time", "interrupted")
_ADVICE = {
    errno.ENOSPC: "Make room on the disk, and run it again.",
    errno.E2BIG: "Choose fewer columns by name; * stands for anything.",
    errno.ENOMEM: "Close other programs, and run it again.",
}
_GRACE = 3.0
_LAST_LINES = 200


@dataclass
class Run:
    """One run, as the page sees it.

    Attributes
    ----------
    id : str
        Its number.
    asked : dict
        What the page asked for, from which it can ask again.
    command, code : str
        The same as a command line and as Python.
    inputs : list of str
        Files that it reads.
    minutes : float or None
        How long it may take.
    state : str
        waiting, running, or how it ended: done, failed, cancelled, out of time, interrupted.
    message : str
        What it said at its end, where it failed.
    notes : list of str
        What the command said of the data.
    step, n_done, n_steps, step_seconds
        What it does now, how far it is, and for how long it has done so.
    created, started, ended : float or None
        Seconds since 1970.
    files : list of dict
        Name and size of what it wrote.
    """

    id: str
    asked: dict[str, Any]
    command: str
    code: str
    inputs: list[str]
    minutes: float | None = None
    state: str = "waiting"
    message: str = ""
    notes: list[str] = field(default_factory=list)
    step: str = ""
    n_done: int = 0
    n_steps: int = 0
    step_seconds: float = 0.0
    created: float = 0.0
    started: float | None = None
    ended: float | None = None
    files: list[dict[str, Any]] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        """Whether it has ended, however."""
        return self.state in _ENDED


class Runs:
    """All runs of a session; heavy ones wait for each other, since each takes all cores.

    Parameters
    ----------
    session : Session
        Where they are kept.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._runs: dict[str, Run] = {}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._wishes: dict[str, str] = {}  # how a run that is being stopped will have ended
        self._lock = threading.RLock()
        self._turn = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._recover()

    def __iter__(self) -> Iterator[Run]:
        with self._lock:
            return iter(list(self._runs.values()))

    def __getitem__(self, number: str) -> Run:
        with self._lock:
            if number not in self._runs:
                raise FileNotFoundError(f"There is no run {number!r:.20}.")
            return self._runs[number]

    def folder(self, number: str) -> Path:
        """Where a run's files are."""
        return self._session.runs / self[number].id

    def file(self, number: str, name: str) -> Path:
        """A file that a run wrote or read."""
        return listed_file(self.folder(number), name)

    def text(self, number: str, name: str) -> str:
        """What a run printed: `RESULT` or `LOG`."""
        path = self.folder(number) / name
        return self._without_paths(path.read_text(encoding="utf-8", errors="replace")) if path.is_file() else ""

    def start(self, given: Any) -> Run:
        """Begin what the page asks for.

        Parameters
        ----------
        given : object
            From JSON: what `asked` takes, and `minutes`.
        """
        wanted = asked(given)
        minutes = given.get("minutes")
        if minutes is not None and (not isinstance(minutes, (int, float)) or not 0 < minutes <= 60 * 24 * 30):
            raise ValueError(f"The time of a run is a number of minutes above 0. Got {minutes!r:.40}.")
        files = [self._session.file(name) for name in wanted.files]
        if wanted.model_of:
            files.append(self.file(wanted.model_of, wanted.model))
        with self._lock:
            number = self._next(quick=wanted.kind.is_quick)
            folder = self._session.runs / number
            folder.mkdir(mode=0o700)
            run = Run(
                number,
                {key: value for key, value in given.items() if key != "minutes"},
                command_line(wanted),
                python_code(wanted),
                [file.name for file in files],
                minutes=minutes,
                created=time.time(),
            )
            try:
                for file in files:
                    linked(file, folder)
                write_json(folder / _RECORD, asdict(run))
            except OSError:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            self._runs[number] = run
        thread = threading.Thread(target=self._perform, args=(run, wanted), daemon=True)
        self._threads.append(thread)
        thread.start()
        return run

    def _next(self, *, quick: bool) -> str:
        """A number of its own; runs that only look count apart, so that the others are 1, 2, 3."""
        letter = "q" if quick else ""
        used = [int(other.lstrip("q")) for other in self._runs if other.startswith("q") is quick]
        return f"{letter}{1 + max(used, default=0)}"

    def stop(self, number: str, *, state: str = "cancelled") -> None:
        """End a run now, with every process that it started."""
        with self._lock:
            run = self[number]
            if run.is_over:
                return
            self._wishes.setdefault(number, state)
            process = self._processes.get(number)
        if process is not None:
            _end(process)

    def remove(self, number: str) -> None:
        """Forget a run that is over, and its files."""
        run = self[number]
        if not run.is_over:
            raise ValueError(f"Run {number} is not over yet. Cancel it first.")
        with self._lock:
            shutil.rmtree(self._session.runs / run.id)
            del self._runs[number]

    def close(self) -> None:
        """Stop what runs."""
        for run in self:
            self.stop(run.id, state="interrupted")
        for thread in self._threads:
            thread.join(timeout=2 * _GRACE)

    # ------------------------------------------------------------------------------------------- in its thread

    def _perform(self, run: Run, wanted: Asked) -> None:
        try:
            with self._its_turn(quick=wanted.kind.is_quick):
                with self._lock:
                    ended = self._wishes.get(run.id, "")
                    if not ended:
                        run.state, run.started = "running", time.time()
                if not ended:
                    self._save(run)
                    code = self._watch(run, wanted)
                    ended = self._wishes.get(run.id, "") or ("done" if code == 0 else "failed")
                    if ended == "failed":
                        run.message = self._fault(run.id, code)
        except OSError as error:
            advice = _ADVICE.get(error.errno or 0, "Run it again.")
            ended, run.message = "failed", f"{error.strerror or error}. {advice}"
        with suppress(OSError):
            run.files = self._written(run)
        run.ended = time.time()
        run.state = ended
        self._save(run)

    @contextmanager
    def _its_turn(self, *, quick: bool) -> Iterator[None]:
        if quick:
            yield
            return
        with self._turn:
            yield

    def _watch(self, run: Run, wanted: Asked) -> int:
        """Run the command to its end, and read its progress."""
        folder = self._session.runs / run.id
        known = {"NO_COLOR": "1", "PYTHONIOENCODING": "utf-8", "PYTHONUNBUFFERED": "1", "MPLBACKEND": "agg"}
        known["PYTHONSAFEPATH"] = "1"  # a file that was given is data even if it is called numpy.py
        source = str(Path(ramify.__file__).parents[1])
        paths = [source, *filter(None, [os.environ.get("PYTHONPATH")])]
        with (folder / RESULT).open("wb") as result:
            process = subprocess.Popen(
                [sys.executable, "-m", "ramify.app.child", *arguments(wanted)],
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=result,
                stderr=subprocess.PIPE,
                env={**os.environ, **known, "PYTHONPATH": os.pathsep.join(paths)},
                start_new_session=True,
            )
        with self._lock:
            self._processes[run.id] = process
            unwanted = run.id in self._wishes
        if unwanted:
            _end(process)
        watch = None
        if run.minutes is not None:
            watch = threading.Timer(60 * run.minutes, self.stop, (run.id,), {"state": "out of time"})
            watch.daemon = True
            watch.start()
        try:
            if process.stderr is not None:
                self._listen(run, process.stderr, folder / LOG)
            return process.wait()
        finally:
            if watch is not None:
                watch.cancel()
            if process.stdin is not None:
                process.stdin.close()
            with self._lock:
                del self._processes[run.id]

    def _listen(self, run: Run, stream: IO[bytes], log: Path) -> None:
        begun = time.monotonic()
        with stream, log.open("ab") as file:
            for raw in stream:
                line = raw.decode("utf-8", "replace").rstrip()
                if match := _PROGRESS.match(line):
                    if match[1] != run.step:
                        begun = time.monotonic()
                    run.step, run.n_done, run.n_steps = match[1], int(match[2]), int(match[3])
                    run.step_seconds = time.monotonic() - begun
                    continue
                file.write(raw)
                file.flush()
                if line.startswith(("Note: ", "Warning: ")) and len(run.notes) < _LAST_LINES:
                    run.notes.append(self._without_paths(line))

    def _fault(self, number: str, code: int) -> str:
        """What the command said last, without what only a programmer reads."""
        lines = [line for line in self.text(number, LOG).splitlines() if line.strip()]
        if any(line.startswith("Traceback ") for line in lines):
            return f"Ramify failed, which is a fault of its own; please report it: {lines[-1]}"
        for place in range(len(lines) - 1, -1, -1):
            if lines[place].startswith("Error: "):
                return " ".join(lines[place:]).removeprefix("Error: ")
        if code < 0:
            return "The system ended the run, probably for want of memory. Try fewer rows, trees or columns."
        return lines[-1] if lines else f"The run ended with the code {code} and said nothing."

    def _without_paths(self, text: str) -> str:
        """Text that does not say where things are on this machine."""
        for path in (str(self._session.folder), str(Path(ramify.__file__).parents[1]), sys.prefix, str(Path.home())):
            if len(path) > 1:
                text = text.replace(path + os.sep, "").replace(path, "")
        return text

    def _written(self, run: Run) -> list[dict[str, Any]]:
        """What the command wrote, the report first."""
        found = [
            {"name": path.name, "size": path.stat().st_size}
            for path in (self._session.runs / run.id).iterdir()
            if path.is_file() and path.name not in run.inputs and not path.name.startswith(".")
        ]
        return sorted(found, key=lambda file: (not file["name"].endswith(".html"), file["name"]))

    # ---------------------------------------------------------------------------------------------- on the disk

    def _save(self, run: Run) -> None:
        """Keep the record for the next server; a full disk is told, and the run goes on."""
        try:
            write_json(self._session.runs / run.id / _RECORD, asdict(run))
        except OSError as error:
            run.message = f"{run.message} What became of this run could not be kept: {error.strerror}.".strip()

    def _recover(self) -> None:
        """Take over the runs of an earlier server; those that it did not see end are interrupted."""
        names = Run.__dataclass_fields__
        for folder in sorted(self._session.runs.iterdir(), key=lambda path: (len(path.name), path.name)):
            kept = read_json(folder / _RECORD)
            if set(kept) != set(names) or not re.fullmatch(r"q?\d{1,9}", folder.name) or kept["id"] != folder.name:
                continue
            run = Run(**kept)
            if not run.is_over:
                run.state, run.message = "interrupted", "Ramify stopped before this run ended. Run it again."
                with suppress(OSError):
                    run.files = self._written(run)
                self._save(run)
            self._runs[run.id] = run


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask a process and all that it started to end, then make them."""
    for wish, patience in (("SIGTERM", _GRACE), ("SIGKILL", _GRACE)):
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, getattr(signal, wish))
            else:
                process.kill()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=patience)
            return
