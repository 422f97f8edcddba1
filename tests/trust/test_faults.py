"""Row R43: a full disk, a read-only folder, a kill, another writer or too little memory, in every command that writes.

Whatever befalls a command: each file that it writes is the old one or the new one, what it reads stays as it was, what
is said is one line with a next step, and the same command afterwards gives what it gives undisturbed.
"""

import ctypes
import io
import multiprocessing
import os
import re
import resource
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest
from tests.trust import every_command

from ramify.cli.main import COMMANDS as COMMAND_MODULES
from ramify.cli.main import main

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits and rights of processes as Linux has them")

COMMANDS = [*every_command.READS, *every_command.IN_FOLDERS]
CHANGES = re.compile(rb"[\d.:eE+-]+|[ \n]+")
"""What differs from run to run: times, dates and how they are set."""
IMPORTED = ["pytest", "pandas", "sklearn.ensemble", "matplotlib.pyplot", "ramify.study", "ramify.report"]
IMPORTED += [f"ramify.cli.{name}" for name in (*COMMAND_MODULES, "inputs", "rank_output", "compare_results")]
CHANGE_FILES = ("os.rename", "os.link", "os.remove", "os.truncate", "sqlite3.connect", "open")


def arguments(command):
    asked = [word for pair in every_command.WRITING.get(command, {}).items() for word in pair]
    return [*command.split(), *(every_command.READS | every_command.IN_FOLDERS)[command], *asked]


def limit_files(n_bytes):
    """A disk on which no file is larger."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, resource.RLIM_INFINITY))


def limit_memory(n_bytes):
    """No more memory than is used now and this much."""
    used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + n_bytes, resource.RLIM_INFINITY))


def forbid_folders(_):
    """Folders that nobody may write to; a superuser would not notice without giving up that right."""
    header, nothing = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    ctypes.CDLL(None).capset(header, nothing)
    for folder in (".", *filter(os.path.isdir, ("kept", "out"))):
        os.chmod(folder, 0o555)  # noqa: PTH101


def kill_at_change(number):
    """Kill this process when it is about to change a file for that many times."""
    left = [number]

    def hook(event, given):
        if event not in CHANGE_FILES or (event == "open" and not given[2] & (os.O_WRONLY | os.O_RDWR)):
            return
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def kill_after(seconds):
    """Kill this process some time later."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def child(said, folder, given, fault, size):
    """Run a command in a folder under a fault, and tell how it ends and what it says."""
    os.chdir(folder)
    sys.stdout, sys.stderr = io.StringIO(), io.StringIO()
    code = 99
    try:
        if fault is not None:
            fault(size)
        main(given)
    except SystemExit as stop:
        code = stop.code
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        said.send((code, sys.stderr.getvalue()))
        os._exit(0)


def started(folder, command, fault=None, size=None):
    """A process that runs a command, forked from one that has imported everything, and the end of its pipe."""
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload(IMPORTED)
    listens, says = server.Pipe(duplex=False)
    process = server.Process(target=child, args=(says, folder, arguments(command), fault, size))
    process.start()
    says.close()
    return process, listens


def ended(process, listens):
    """The exit code of a command, negative where a signal ended it, and what it said."""
    try:
        code, text = listens.recv() if listens.poll(60) else (None, "hangs")
    except EOFError:
        code, text = None, ""
    process.join(60)
    return (process.exitcode if code is None else code), text


def run(folder, command, fault=None, size=None):
    return ended(*started(folder, command, fault, size))


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    every_command.write_inputs(folder)
    return folder


class Place:
    """A folder in which one command runs, with what it gives undisturbed and what was there before."""

    def __init__(self, command, inputs, folder):
        self.command, self.source, self.folder = command, inputs, folder / "here"
        self.anew()
        self.inputs = every_command.files(self.folder)
        began = time.monotonic()
        code, text = run(self.folder, command)
        self.seconds = time.monotonic() - began
        assert code == 0, text
        self.results = self.written()
        assert self.results

    def anew(self, old=()):
        """Lay out the inputs, and an old file under each of these names."""
        if self.folder.exists():
            self.allow()
            shutil.rmtree(self.folder)
        shutil.copytree(self.source, self.folder)
        (self.folder / "out").mkdir()
        self.old = dict.fromkeys(old, b"old")
        for name, content in self.old.items():
            (self.folder / name).write_bytes(content)

    def old_names(self):
        """Files that the command may write over; one that makes a folder of its own refuses to."""
        return () if self.command == "demo" else self.results

    def allow(self):
        for place, _, _ in os.walk(self.folder):
            os.chmod(place, 0o755)  # noqa: PTH101

    def written(self):
        found = every_command.files(self.folder)
        assert {name: found.get(name) for name in self.inputs} == self.inputs
        return {name: content for name, content in found.items() if name not in self.inputs and "fresh/" not in name}

    def check(self, code, text, *, killed=False):
        """Each file is the old one or the new one, and a fault is said in one line with the next step."""
        found = self.written()
        for name, content in found.items():
            if name in self.results:
                assert content == self.old.get(name) or same(name, content, self.results[name]), (name, code, text)
            else:
                assert killed, (name, code, text)
        if code and not killed:
            assert code in (1, 2), (code, text)
            assert re.search(r"^(Error|Usage): .+[.:;] .+[.]$", text.strip(), re.MULTILINE | re.DOTALL), text
            assert "Traceback" not in text

    def check_afterwards(self):
        """The command runs as if nothing had been, and leaves nothing else behind."""
        self.allow()
        if self.command == "demo":
            shutil.rmtree(self.folder / "out")
        code, text = run(self.folder, self.command)
        assert code == 0, text
        found = self.written()
        assert found.keys() == self.results.keys()
        assert [name for name, content in self.results.items() if not same(name, found[name], content)] == []


def same(name, found, expected):
    """Whether a file holds what it should; reports say when and how fast they were made."""
    if name.endswith((".html", ".summary.txt")):
        return CHANGES.sub(b"", found) == CHANGES.sub(b"", expected)
    return found == expected


@pytest.fixture(params=COMMANDS)
def place(request, inputs, tmp_path):
    return Place(request.param, inputs, tmp_path)


def test_a_full_disk(place):
    largest = max(map(len, place.results.values()))
    for size in (40, largest - 1, 0):
        place.anew(place.old_names())
        place.check(*run(place.folder, place.command, limit_files, size))
    place.check_afterwards()


def test_a_read_only_folder(place):
    place.anew(place.old_names())
    code, text = run(place.folder, place.command, forbid_folders)
    assert code, "a folder that nobody may write to was written to"
    place.check(code, text)
    place.check_afterwards()


def check_kills(place, changes, moments):
    for fault, size in (*((kill_at_change, k) for k in changes), *((kill_after, s * place.seconds) for s in moments)):
        place.anew(place.old_names())
        code, text = run(place.folder, place.command, fault, size)
        place.check(code, text, killed=code < 0)
        assert code in (0, -signal.SIGKILL, -signal.SIGALRM), text
        place.check_afterwards()


def test_a_kill(place):
    check_kills(place, (1, 4), (0.7,))


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_a_kill_at_every_change_and_at_random_moments(place):
    check_kills(place, range(24), [k / 10 for k in range(1, 12)])


def test_several_writers(place):
    place.anew(place.old_names())
    for code, text in [ended(*each) for each in [started(place.folder, place.command) for _ in range(3)]]:
        assert code in (0, 1, 2), (code, text)
        assert "Traceback" not in text
    place.check_afterwards()


def check_memory(place, sizes):
    for size in sizes:
        place.anew(place.old_names())
        place.check(*run(place.folder, place.command, limit_memory, size << 20))
    place.check_afterwards()


@pytest.mark.slow
def test_too_little_memory(place):
    check_memory(place, (1, 24))


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_any_limit_of_memory(place):
    check_memory(place, [0, 2, 4, 6, 9, 13, 18, 32, 48, 64, 96, 128, 192, 256])
