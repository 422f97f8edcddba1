"""What commands print: tables, progress with the time left, names that cannot steer a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any, TextIO

from ramify.shown import cut_name, shown_number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table
    from rich.text import Text


def ready_streams() -> None:
    """Let nothing that is printed fail: a closed stream takes everything, another encoding escapes what it lacks."""
    import os
    import sys

    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
        elif not _is_unicode(stream) and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def shows_progress(*, quiet: bool, verbose: bool) -> int:
    """1 where progress is asked for or standard error is a terminal, else 0; as estimators take `verbose`."""
    import sys

    return int(not quiet and (verbose or sys.stderr.isatty()))


def unicode_output() -> TextIO:
    """Standard output in UTF-8 whatever the terminal's encoding is, for what programs read: the same as in a file."""
    import io
    import sys

    if _is_unicode(sys.stdout) or not hasattr(sys.stdout, "buffer"):
        return sys.stdout
    return io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="", write_through=True)


def bar(share: float, width: int) -> str:
    """A bar of characters that standard output can show."""
    import sys

    return ("█" if _is_unicode(sys.stdout) else "#") * round(width * min(1.0, max(0.0, share)))


def _is_unicode(stream: Any) -> bool:
    return (stream.encoding or "utf-8").lower().replace("_", "-").startswith(("utf-", "utf8"))


def plain(text: Any) -> str:
    """Text without control characters, on one line."""
    return "".join(c if c.isprintable() else " " for c in str(text))


def say(text: Any, *, err: bool = False) -> None:
    """A sentence on a line of its own, which a terminal breaks between words; a file or a pipe gets one line."""
    import sys

    import click

    if (sys.stderr if err else sys.stdout).isatty():
        from rich.text import Text

        console(stderr=err).print(Text(plain(text)))
    else:
        click.echo(plain(text), err=err)


def packed(units: Sequence[tuple[str, str]], width: int) -> Text:
    """Words with their styles, with commas between them, on lines of at most `width`; none is broken.

    Parameters
    ----------
    units : sequence of (str, str)
        What stays together, and its style.
    width : int
        Of a line.
    """
    from rich.text import Text

    lines, used = Text(), 0
    for at, (unit, style) in enumerate(units):
        comma = "," if at < len(units) - 1 else ""
        shown = cut_name(unit, max(8, width - len(comma)))
        if used and used + 1 + len(shown) + len(comma) > width:
            lines.append("\n")
            used = 0
        elif used:
            lines.append(" ")
            used += 1
        lines.append(shown, style=style).append(comma)
        used += len(shown) + len(comma)
    return lines


def command_line() -> str:
    """The command that is running, as it would be typed again."""
    import shlex
    import sys

    return plain(shlex.join(["ramify", *sys.argv[1:]]))


def console(*, quiet: bool = False, stderr: bool = False) -> Console:
    """The terminal; colours follow NO_COLOR and whether it is one."""
    from rich.console import Console

    return Console(quiet=quiet, stderr=stderr, highlight=False, soft_wrap=False)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
    """A table for people; numbers stand on the right, names are neutralised."""
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=plain(title), header_style="bold")
    lines = [list(row) for row in rows]
    for at, name in enumerate(columns):
        numeric = bool(lines) and all(isinstance(line[at], (int, float)) for line in lines)
        shown.add_column(Text(plain(name)), justify="right" if numeric else "left", overflow="fold")
    for line in lines:
        shown.add_row(*(Text(_shown(cell)) for cell in line))
    return shown


def show(shown: Table, *, whole: bool = False) -> None:
    """Print a table, with its title and caption as wide as the terminal rather than as the table.

    Parameters
    ----------
    shown : Table
        What to print.
    whole : bool
        Whether every cell stays on one line, beyond the terminal's width if need be.
    """
    from rich.measure import Measurement
    from rich.text import Text

    terminal = console()
    title, caption = shown.title, shown.caption
    shown.title = shown.caption = None
    if title:
        terminal.print(Text(str(title), style="bold"))
    if whole:
        width = terminal.width
        unlimited = terminal.options.update(max_width=100_000)
        terminal.width = max(width, Measurement.get(terminal, unlimited, shown).maximum)
        terminal.print(shown)
        terminal.width = width
    else:
        terminal.print(shown)
    if caption:
        terminal.print(Text(str(caption), style="dim"))


def _shown(cell: Any) -> str:
    if isinstance(cell, float):
        return shown_number(cell)
    return plain(cell)


def progress(*, quiet: bool = False) -> Progress:
    """A progress bar with the time left, on standard error; nothing where that is no terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    terminal = console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=terminal, transient=True, disable=quiet or not terminal.is_terminal)


def show_measures(measures: pd.DataFrame | None, title: str, *, as_json: bool) -> None:
    """Print a table of measures for people, or as JSON for programs; the latter even if nothing was measured."""
    import json

    import click

    if measures is None:
        if as_json:
            click.echo(json.dumps({"measured_on": None, "measures": {}}))
        return
    if as_json:
        content = {
            name: {key: None if isinstance(value, float) and isnan(value) else value for key, value in row.items()}
            for name, row in measures.to_dict(orient="index").items()
        }
        click.echo(json.dumps({"measured_on": title, "measures": content}))
        return
    columns = {"model": "model", "prior": "prior", "better": "better if"}
    if measures["left_out"].any():
        columns["left_out"] = "left out"
    rows = zip(measures.index, *(measures[name].tolist() for name in columns), strict=True)
    measured = table(title, ["measure", *columns.values()], rows)
    measured.caption = "prior: the baseline, which knows only how frequent each label is, or the mean of each number"
    if "left_out" in columns:
        measured.caption += "; left out: labels, targets or rows for which the measure is not defined"
    show(measured)


def write_label_measures(table: pd.DataFrame | None, path: str, titles: Mapping[str, str]) -> None:
    """Write how well each label is predicted as a table with all digits, or say why that is not known.

    Where it is known what labels are called, a column `label_name` says so.
    """
    from pathlib import Path

    from ramify.writing import write_table

    if table is None:
        raise ValueError(
            "--per-label: no label was measured. Give rows with classes or label sets: a test part beside the training "
            "part, or a forest with out-of-bag rows."
        )
    named = table if not titles else table.assign(label_name=[titles.get(str(name), "") for name in table.index])
    lines = ([str(name), *line] for name, *line in named.itertuples())
    write_table(Path(path), [["label", *named.columns], *lines])


def write_figure(figure: Figure, path: str) -> None:
    """Write a figure in the format of the file's name: the same bytes for the same figure, whenever it is drawn."""
    from pathlib import Path

    import matplotlib as mpl

    from ramify.writing import whole_file

    ending = Path(path).suffix[1:].lower() or "svg"
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending)
    with whole_file(Path(path)) as file, mpl.rc_context({"svg.hashsalt": "ramify"}):
        figure.savefig(file, format=ending, bbox_inches="tight", metadata=undated)


def wrote(*paths: str | None, quiet: bool = False) -> None:
    """Tell which files were written."""
    import click

    for path in paths:
        if path is not None and not quiet:
            click.echo(f"Wrote {plain(path)}")


def json_text(content: Any) -> str:
    """JSON for programs; what is not finite becomes null, what standard output cannot write is escaped."""
    import json
    import sys

    return json.dumps(_finite(content), indent=2, ensure_ascii=not _is_unicode(sys.stdout))


def _finite(content: Any) -> Any:
    if isinstance(content, float) and not isfinite(content):
        return None
    if isinstance(content, dict):
        return {str(key): _finite(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [_finite(value) for value in content]
    return _finite(content.item()) if hasattr(content, "item") else content
