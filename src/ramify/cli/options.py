"""Options that several commands share, so that the same idea has the same word and the same help everywhere."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

Command = Callable[..., Any]


class WholeNumber(click.IntRange):
    """A whole number within bounds; click calls it an "integer range" where it is none."""

    name = "integer"


class OutputFile(click.Path):
    """A file to write, refused before the work begins if its folder or its ending is wrong."""

    def __init__(self, *endings: str) -> None:
        super().__init__(dir_okay=False)
        self.endings = endings

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path as it was given."""
        path = os.fsdecode(super().convert(value, param, ctx))
        folder = Path(path).parent
        if not Path(path).name:
            self.fail(f"'{path}' names no file.", param, ctx)
        if Path(path).exists() and not Path(path).is_file():  # /dev/null, a pipe
            return path
        if not folder.is_dir():
            self.fail(f"There is no folder '{folder}'. Make it first, or name another.", param, ctx)
        if not os.access(folder, os.W_OK):
            self.fail(f"The folder '{folder}' may not be written to. Name another.", param, ctx)
        if self.endings and Path(path).suffix.lower() not in self.endings:
            self.fail(f"'{path}' must end with {' or '.join(filter(None, self.endings))}.", param, ctx)
        return path


def keep_inputs(
    *, derived: Mapping[str, Iterable[str | Path]] = MappingProxyType({}), reads: Iterable[Path] = ()
) -> None:
    """Refuse to write over a file that the running command reads, or two results to one file.

    Its parameters tell what it reads (every `click.Path`) and what it writes (every `OutputFile`).

    Parameters
    ----------
    derived : mapping of str to paths, optional
        Further files that an option makes the command write, beside the one that it names.
    reads : iterable of Path, optional
        Further files that the command reads, or folders of them.
    """
    context = click.get_current_context()
    read = {path.resolve() for path in reads}
    outputs: list[tuple[str, str | Path]] = []
    for param in context.command.params:
        given = context.params.get(param.name or "")
        values = [value for value in (given if isinstance(given, tuple) else (given,)) if value is not None]
        if isinstance(param.type, OutputFile):
            outputs += [(min(param.opts, key=len), value) for value in values]
        elif isinstance(param.type, click.Path):
            read |= _files_read(values)
    named = dict(outputs)
    outputs += [(option, name) for option, names in derived.items() for name in names]
    written: dict[Path, str] = {}
    for option, name in outputs:
        if Path(name).exists() and not Path(name).is_file():
            continue
        path = Path(name).resolve()
        does = (
            f"{option} {name} would"
            if named[option] == name
            else f"{option} {named[option]} writes {name} too and would"
        )
        if path in read or (path.exists() and not read.isdisjoint(path.parents)):
            raise click.UsageError(f"{does} write over a file that is read. Name another.")
        if path in written:
            raise click.UsageError(f"{does} write over what {written[path]} writes. Name another.")
        written[path] = option


def _files_read(names: Iterable[str | Path]) -> set[Path]:
    """These files, and of ARFF files the XML files beside them that name their labels."""
    from ramify.datasets.readers.mulan import label_file_of

    files = [Path(name) for name in names if Path(name).is_file()]
    beside = [label_file_of(file) for file in files if ".arff" in file.name.lower()]
    return {file.resolve() for file in (*files, *beside) if file is not None}


class FirstOptions(click.Command):
    """A command whose help begins with the options that people need first, the others under "More options".

    Parameters
    ----------
    first : str
        These options, separated by spaces, in the order of the help.
    """

    def __init__(self, *arguments: Any, first: str, **given: Any) -> None:
        super().__init__(*arguments, **given)
        self.first = first.split()
        known = {name for param in self.params for name in param.opts}
        if unknown := [name for name in self.first if name not in known]:
            raise ValueError(f"{self.name} has no option {unknown[0]}; its help cannot begin with it.")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in two sections."""
        rank = {name: place for place, name in enumerate(self.first)}
        places = [(min(rank.get(name, len(rank)) for name in param.opts), param) for param in self.get_params(ctx)]
        places.sort(key=lambda placed: placed[0])
        for title, wanted in (("Options", True), ("More options", False)):
            params = [param for place, param in places if (place < len(rank)) is wanted]
            lines = [line for param in params if (line := param.get_help_record(ctx)) is not None]
            with formatter.section(title):
                formatter.write_dl(lines)


def data_options(command: Command) -> Command:
    """DATA..., --target, --hierarchy and `reading_options`; `ramify.cli.inputs.read_data` takes them."""
    return _with(
        reading_options(command),
        click.argument("data", nargs=-1, required=True, type=click.Path()),
        click.option(
            "-t",
            "--target",
            multiple=True,
            help="Target column; several times for several, also of different kinds; * stands for anything.",
        ),
        click.option("--hierarchy", default=None, type=click.Path(), help="Hierarchy of the labels: OBO or edges."),
    )


_READING = (
    ("--id", "identifier", str, False, "Row identifier: its column, or 'none' [default: detected]."),
    ("--ignore", "ignore", str, True, "Column to leave out; several times for several; * stands for anything."),
    ("--keep", "keep", str, True, "Column to use as a feature even if it would be left out."),
    ("--nominal", "categorical", str, True, "Column whose numbers are codes, not amounts."),
    ("--kind", "kind", click.Choice(["classes", "labels", "hierarchy", "numbers", "rankings", "mixed"]), False,
     "What the target is [default: detected]."),
    ("--weight", "weight", str, False, "Column that weights the rows."),
    ("--groups", "groups", str, False, "Column that says which rows belong together: patients, families, sites."),
    ("--label-separator", "label_separator", str, False, "What separates labels in a cell [default: detected]."),
    ("--path-separator", "path_separator", str, False, "What separates steps of a path [default: detected]."),
    ("--missing-target", "missing_target", click.Choice(["leave-out", "empty", "error"]), False,
     "Rows without a target: leave them out, take an empty label set, or stop [default: leave-out]."),
    ("--dates", "dates", click.Choice(["parts", "days", "dmy", "mdy"]), True,
     "What dates become: parts or days [default: what varies]; dmy or mdy says which comes first in 01/02/2024."),
    ("--separator", "separator", str, False, "What separates cells: a character, or 'tab' [default: detected]."),
    ("--decimal", "decimal", click.Choice([".", ","]), False, "Decimal sign [default: detected]."),
    ("--encoding", "encoding", str, False, "Text encoding, such as latin-1 [default: detected]."),
    ("--sheet", "sheet", str, False, "Sheet of an Excel file."),
    ("--annotations", "annotations", click.Path(), False,
     "File with the target, joined by row identifier: GAF, GMT, pairs (row, label) or a table."),
    ("--aspect", "aspect", click.Choice(["P", "F", "C"]), False, "Of GAF annotations, only those of this aspect."),
    ("--evidence", "evidence", str, True, "Of GAF annotations, only those with this code; several times for several."),
    ("--min-rows", "min_rows", WholeNumber(1), False,
     "Leave out labels of --annotations with fewer rows [default: 10]."),
    ("--add-branches", "add_branches", click.Choice(["sum", "mean", "max"]), False,
     "Add inner nodes of the feature hierarchy as features, from those below them."),
    ("--unknown", "unknown", str, False, "What marks unknown target cells [default: empty cells]."),
)  # fmt: skip
"""Option, the parameter of `ramify.datasets.read` that it is, its type, whether several are taken, and its help."""


def reading_options(command: Command) -> Command:
    """Options for how files are read, handed to the command as one dict `reading` of parameters of `read`."""

    @functools.wraps(command)
    def with_reading(*arguments: Any, **given: Any) -> Any:
        reading = {name: given.pop(name) for _, name, *_ in _READING}
        flags = {name: given.pop(name) for name in ("nested", "strict")}
        reading = {name: list(value) if isinstance(value, tuple) else value for name, value in reading.items() if value}
        if "missing_target" in reading:
            reading["missing_target"] = reading["missing_target"].replace("-", " ")
        reading |= {name: value for name, value in flags.items() if value}
        if reading.get("identifier") == "none":
            reading["identifier"] = None
        return command(*arguments, reading=reading, **given)

    return _with(
        with_reading,
        click.option(
            "--nested", is_flag=True, help="The target columns are the levels of a hierarchy [default: detected]."
        ),
        click.option("--strict", is_flag=True, help="Stop instead of noting something about a column."),
        *(
            click.option(option, name, type=kind, multiple=several, default=None, help=text)
            for option, name, kind, several, text in _READING
        ),
    )


def running_options(command: Command) -> Command:
    """--seed and --jobs."""
    return _with(
        command,
        click.option(
            "--seed", default=0, show_default=True, type=WholeNumber(0, 2**32 - 1), help="Seed of all randomness."
        ),
        jobs_option,
    )


def jobs_option(command: Command) -> Command:
    """--jobs, of threads."""
    return _jobs("threads")(command)


def processes_option(command: Command) -> Command:
    """--jobs, of processes."""
    return _jobs("processes")(command)


def _jobs(workers: str) -> Callable[[Command], Command]:
    def check(ctx: click.Context, param: click.Parameter, value: int) -> int:
        if value == 0:
            raise click.BadParameter(f"0 {workers} do no work. Name a number, or -1 for all.", ctx, param)
        return value

    text = f"{workers.capitalize()}; -1 takes all."
    return click.option("--jobs", default=-1, show_default=True, type=int, callback=check, help=text)


def set_option(command: Command) -> Command:
    """--set, as values by the names of parameters."""

    def check(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, Any]:
        from ramify.analysis.chosen_parameters import parsed

        try:
            return parsed(value)
        except ValueError as error:
            raise click.BadParameter(str(error), ctx, param) from None

    text = "Parameter of the method's estimator, as max_features=0.5; a name that it has not lists them."
    return click.option("--set", "parameters", multiple=True, metavar="NAME=VALUE", callback=check, help=text)(command)


def report_option(command: Command) -> Command:
    """--report."""
    text = "Write a report: .html (one page, no network), .json or .md."
    return _with(command, click.option("--report", default=None, type=OutputFile(".html", ".json", ".md"), help=text))


def figure_option(shows: str) -> Callable[[Command], Command]:
    """--figure, of a command whose figure shows this."""
    kinds = OutputFile(".svg", ".pdf", ".png")
    return click.option("--figure", default=None, type=kinds, help=f"Draw {shows}: .svg, .pdf or .png.")


def output_options(command: Command) -> Command:
    """--json, --quiet, --verbose and --debug; the last is for `ramify.cli.main` alone."""
    return printing_options(
        click.option("-v", "--verbose", is_flag=True, help="Show progress.")(command),
    )


def printing_options(command: Command) -> Command:
    """--json, --quiet and --debug, for commands that only show what is there already."""
    return _with(
        command,
        click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, for scripts."),
        click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors."),
        click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error."),
    )


def _with(command: Command, *decorators: Callable[[Command], Command]) -> Command:
    for decorate in reversed(decorators):
        command = decorate(command)
    return command
