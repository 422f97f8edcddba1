"""A run's process: the command line as it is, ended when the server is gone."""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading


def main() -> None:
    """Run `python -m ramify` with the arguments given, until standard input ends."""
    threading.Thread(target=_end_with_the_server, args=(sys.stdin.fileno(),), daemon=True).start()
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123
    sys.argv[0] = "ramify"
    runpy.run_module("ramify", run_name="__main__")


def _end_with_the_server(descriptor: int) -> None:
    """Wait for the end of the pipe that the server holds, then end this process and those it started."""
    while os.read(descriptor, 1):
        pass
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    main()
