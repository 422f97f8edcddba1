"""The command `ramify`: a group whose commands are imported only when they are called."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from importlib import import_module
from typing import Any

import click

from ramify.cli.terminal import plain, ready_streams

COMMANDS = {
    "demo": "Generate data with a known truth, run the whole flow on it and write a report.",
    "app": "Do all of this on a page in the browser, without a terminal.",
    "info": "Describe data files: rows, features, labels, hierarchy.",
    "prepare": "Code a table of any size once, so that it need not fit into memory.",
    "fit": "Learn a model from a data file and save it.",
    "predict": "Predict with a saved model.",
    "explain": "Say what each feature added to a prediction.",
    "compare": "Compare methods on a data set by cross-validation.",
    "rank": "Rank features: which matter, and for which labels.",
    "select": "Select features that form a hierarchy, per row or overall.",
    "clus": "Run a settings file of CLUS: rankings by forests and Relief.",
    "study": "Run, resume and compare methods over data sets.",
}


class LazyGroup(click.Group):
    """Commands listed by name and help, imported when called, so that `ramify --help` is instant."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Names of the commands, in the order of the flow."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the command's module and return the command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"ramify.cli.{cmd_name}"), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name the one that was probably meant."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            advice = f"Did you mean '{near[0]}'?" if near else f"There are {', '.join(COMMANDS)}."
            raise click.UsageError(plain(f"There is no command '{args[0]}'. {advice}"), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _show_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: ARG001
    if value:
        import ramify

        click.echo(f"ramify {ramify.__version__}")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show version."
)
def ramify() -> None:
    """Which features matter, and what can be predicted, when the target branches.

    Every command reads any format of the field by file name (ARFF, Mulan ARFF + XML, CSV, Parquet, rankings), plain or
    compressed, and takes --help.
    """


def main(args: list[str] | None = None) -> None:
    """Run the command line: errors are one line with the next step, `--debug` shows the traceback."""
    arguments = sys.argv[1:] if args is None else args
    debug = "--debug" in arguments
    ready_streams()
    try:
        with warnings.catch_warnings():
            if not debug:
                warnings.showwarning = _show_warning
            code: Any = ramify.main(args=arguments, prog_name="ramify", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        if debug:
            raise
        colours = False if os.environ.get("NO_COLOR") else None  # None: where there is a terminal
        click.secho("Error: ", fg="red", bold=True, err=True, nl=False, color=colours)
        click.echo(_one_line(error), err=True)
        sys.exit(1)
    sys.exit(code if isinstance(code, int) else 0)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning as one line, without the place in the program that gave it."""
    click.echo(f"Warning: {plain(message)}", err=True)


def _one_line(error: BaseException) -> str:
    """Message of an error without line breaks or terminal control characters."""
    text = str(error) or type(error).__name__
    if _lacks_memory(error):
        text = f"Out of memory ({text}). Close other programs, or give fewer rows, features or trees."
    elif isinstance(error, OSError) and error.strerror and not error.filename:
        text = f"{error.strerror}. Name another file or folder to write to."
    elif isinstance(error, OSError) and error.filename and error.strerror:
        text = f"{error.filename}: {_system_fault(error)}"
    return "".join(c if c.isprintable() else " " for c in text)


def _lacks_memory(error: BaseException) -> bool:
    """Whether the system had no memory left; it tells so in several ways."""
    words = ("failed to map segment", "can't start new thread", "bad allocation")
    out = isinstance(error, OSError) and error.errno == errno.ENOMEM
    return isinstance(error, MemoryError) or out or any(each in str(error) for each in words)


def _system_fault(error: OSError) -> str:
    """What the system refused, and the next step."""
    if isinstance(error, FileNotFoundError):
        return "there is no such file or folder. Check the spelling."
    if isinstance(error, PermissionError):
        return "access is refused. Check its rights, or name another file."
    if isinstance(error, IsADirectoryError):
        return "this is a folder. Name a file."
    return f"{error.strerror}. Name another file, or repair this one."
