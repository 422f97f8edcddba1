"""The command `ramify study`: run, resume, look at and compare a study."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from inspect import signature
from pathlib import Path
from traceback import extract_tb
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ramify.cli.options import (
    OutputFile,
    keep_inputs,
    output_options,
    printing_options,
    processes_option,
    report_option,
)
from ramify.cli.terminal import command_line, json_text, plain, progress, show, wrote
from ramify.cli.terminal import table as text_table
from ramify.writing import whole_file, whole_text

if TYPE_CHECKING:
    from types import ModuleType

    from ramify.compare import Comparison
    from ramify.study import Study


class _Loaded(NamedTuple):
    """A study file and the study that it defines."""

    name: str
    module: ModuleType
    study: Study


def _definition(command: Callable[..., Any]) -> Callable[..., Any]:
    """FILE|NAME, where its data is, where its results are, and how much of it to run; the command takes the study."""
    path = click.Path(path_type=Path)

    @wraps(command)
    def with_study(name: str, data: Path | None, folder: Path | None, quick: bool, **given: Any) -> Any:
        keep_inputs()
        return command(_load(name, data, folder, quick), **given)

    for decorate in (
        click.option("--quick", is_flag=True, help="A subset that takes minutes."),
        click.option("--folder", type=path, help="Where the results are kept [default: results/NAME]."),
        click.option("--data", type=path, help="Folder with the data sets [default: RAMIFY_DATA]."),
        click.argument("name", metavar="FILE|NAME", type=click.Path()),
    ):
        with_study = decorate(with_study)
    return with_study


@click.group()
def study() -> None:
    """Compare methods over data sets; a run can be stopped at any moment and goes on where it was.

    FILE is a Python file that defines study(data, folder, quick), or study(folder, quick); NAME is one that comes with
    Ramify: hmc_relieff, hmlc_ranking, l_classifier_chains, label_ranking or rpv_selection.

    \b
    Examples:
      ramify study data label_ranking
      ramify study run label_ranking --quick
      ramify study status label_ranking --quick
      ramify study compare label_ranking --quick --measure tau
    """  # noqa: D301


@study.command()
@_definition
@processes_option
@click.option("--dask", metavar="tcp://HOST:PORT", help="Run the cells on this Dask cluster.")
@click.option("--retry", is_flag=True, help="Run cells that failed before again.")
@report_option
@output_options
def run(
    loaded: _Loaded,
    jobs: int,
    dask: str | None,
    retry: bool,
    report: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Run what is not finished, then print what was found beside what the paper printed.

    \b
    Examples:
      ramify study run label_ranking --quick --jobs 2
      ramify study run my_study.py --folder results/mine --report mine.html
      ramify study run hmc_relieff --dask tcp://head:8786 --retry
    """  # noqa: D301
    chosen = loaded.study
    for lost in chosen.missing:
        click.echo(f"Not found, left out: {plain(lost)}", err=True)
    with _finished_cells_shown(verbose and not quiet), progress(quiet=quiet) as bar:
        task = bar.add_task("cells", total=None)
        chosen.run(
            n_jobs=jobs,
            dask=dask,
            retry=retry,
            progress=lambda done, all_: bar.update(task, completed=done, total=all_),
        )
    n_failed = int(chosen.status()["failed"].sum())
    if n_failed:
        click.echo(f"{n_failed} cells failed; 'ramify study status' lists them, --retry runs them again.", err=True)
    if as_json:
        click.echo(json_text({name: chosen.table(name).to_dict(orient="index") for name in chosen.measure_names()}))
    elif not quiet:
        _show_findings(loaded)
    if report is not None:
        _write_report(chosen, Path(report))
        wrote(report, quiet=quiet or as_json)
    if n_failed:
        raise SystemExit(3)


@study.command("data")
@click.option("--data", type=click.Path(path_type=Path), help="Folder with the data sets [default: RAMIFY_DATA].")
@click.argument("name", metavar="NAME")
@printing_options
def data_(name: str, data: Path | None, as_json: bool, quiet: bool) -> None:
    """Say which data sets a study uses, where they come from, and which are there, with their hashes verified.

    \b
    Examples:
      ramify study data label_ranking --data ~/data
    """  # noqa: D301
    from ramify.study.study_files import data_folder, data_sets, manifest

    folder = data_folder(data)
    sets = data_sets(name)
    states = {each.name: each.state(folder) for each in sets}
    if as_json:
        click.echo(json_text([{**vars(each), "state": states[each.name]} for each in sets]))
        return
    n_there = sum(state == "there" for state in states.values())
    if not quiet:
        rows = [(each.name, states[each.name], ", ".join(each.files), each.licence) for each in sets]
        show(text_table("", ["data set", "state", "files in the data folder", "licence"], rows), whole=True)
        for source in dict.fromkeys(each.source for each in sets):
            names = [each.name for each in sets if each.source == source]
            click.echo(plain(f"From {source}: {', '.join(names)}."))
        if generated := manifest()[name]["generated"]:
            click.echo(f"Made by generators, no file is needed: {', '.join(generated)}.")
        if absent := manifest()[name]["absent"]:
            click.echo(f"Used by the paper and not public or not found: {absent}.")
        where = "no folder was given; pass --data FOLDER or set RAMIFY_DATA" if folder is None else f"in {folder}"
        click.echo(plain(f"{n_there} of {len(sets)} are there ({where}). Files may be packed (.gz, .bz2, .xz, .zip)."))
    if "differs" in states.values():
        raise SystemExit(3)


@study.command()
@_definition
@printing_options
def status(loaded: _Loaded, as_json: bool, quiet: bool) -> None:
    """Count the cells that are done, failed and waiting, and show what failed.

    \b
    Examples:
      ramify study status label_ranking --quick
      ramify study status my_study.py --folder results/mine --json
    """  # noqa: D301
    chosen = loaded.study
    counts = chosen.status()
    if as_json:
        click.echo(json_text(counts.reset_index().to_dict(orient="records")))
        return
    rows = [(*index, *map(int, values)) for index, values in zip(counts.index, counts.to_numpy(), strict=True)]
    if not quiet:
        show(text_table("", ["data set", "method", "done", "failed", "waiting"], rows), whole=True)
        click.echo("For the data sets as the last run read them; 'ramify study run' reads them again.")
    for _, failure in chosen.errors().iterrows():
        last = failure["error"].strip().splitlines()[-1]
        place = f"{failure['dataset']} / {failure['method']} / split {failure['split']}"
        click.echo(f"failed: {plain(place)}: {plain(last)}")


@study.command()
@_definition
@click.option("--measure", required=True, help="Which measure.")
@printing_options
def table(loaded: _Loaded, measure: str, as_json: bool, quiet: bool) -> None:
    """Mean of a measure per data set and method.

    \b
    Examples:
      ramify study table label_ranking --quick --measure tau
    """  # noqa: D301
    chosen = loaded.study
    values = chosen.table(measure)
    if as_json:
        click.echo(json_text(values.to_dict(orient="index")))
        return
    if not quiet:
        _show_table(chosen, measure)


@study.command()
@_definition
@click.option("--measure", required=True, help="Which measure.")
@click.option(
    "--loss/--gain", default=None, help="Smaller or larger values are better [default: as the measure is known for]."
)
@report_option
@printing_options
def compare(loaded: _Loaded, measure: str, loss: bool | None, report: str | None, as_json: bool, quiet: bool) -> None:
    """Average ranks, Friedman and Nemenyi, in a sentence a paper could print.

    \b
    Examples:
      ramify study compare label_ranking --quick --measure tau --report tau.html
      ramify study compare my_study.py --measure "Hamming loss" --loss
    """  # noqa: D301
    chosen = loaded.study
    result = chosen.compare(measure, larger_is_better=None if loss is None else not loss)
    if report is not None:
        _write_report(chosen, Path(report), {measure: result})
    if as_json:
        click.echo(json_text({"ranks": result.ranks.to_dict(), "sentence": result.sentence, "groups": result.groups}))
        return
    if not quiet:
        rows = [
            (name, f"{line.mean:.3f}", f"{line.rank:.2f}", int(line.ahead_of), int(line.better_than))
            for name, line in zip(result.ranks.index, result.to_frame().itertuples(), strict=True)
        ]
        show(text_table(measure, ["method", "mean", "rank", "ahead of", "significantly better than"], rows), whole=True)
        click.echo(plain(result.sentence))
    wrote(report, quiet=quiet)


@study.command()
@_definition
@click.option("--format", "kind", type=click.Choice(["csv", "parquet", "latex"]), default="csv", show_default=True)
@click.option("--measure", help="One measure as a table; without it, all cells (csv, parquet).")
@click.option("-o", "--output", type=OutputFile(), help="File to write [default: the terminal].")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
def export(loaded: _Loaded, kind: str, measure: str | None, output: str | None) -> None:
    """Write the results as CSV, Parquet or LaTeX.

    \b
    Examples:
      ramify study export label_ranking --quick -o cells.csv
      ramify study export label_ranking --quick --measure tau --format latex -o tau.tex
    """  # noqa: D301
    chosen = loaded.study
    if kind == "latex" and measure is None:
        raise click.UsageError("A LaTeX table shows one measure; name it with --measure.")
    values = chosen.results() if measure is None else chosen.table(measure)
    if values.empty:
        raise ValueError(f"The study in {chosen.folder} has no finished cell yet; run it first.")
    if kind == "parquet":
        if output is None:
            raise click.UsageError("Parquet is binary; name a file with -o.")
        with whole_file(Path(output)) as file:
            values.to_parquet(file)
        wrote(output)
        return
    if kind == "csv":
        text = values.to_csv(index=measure is not None)
    else:
        best = max if chosen.larger_is_better(str(measure)) else min
        text = latex_table(values, chosen.spread(str(measure)), best)
    if output is None:
        click.echo(text, nl=False)
    else:
        with whole_text(Path(output)) as lines:
            lines.write(text)
        wrote(output)


@contextmanager
def _finished_cells_shown(wanted: bool) -> Iterator[None]:
    """A line on standard error for every cell that is finished meanwhile."""
    if not wanted:
        yield
        return
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    logger = logging.getLogger("ramify.study")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)


def _load(name: str, data: Path | None, folder: Path | None, quick: bool) -> _Loaded:
    from ramify.study import Study
    from ramify.study.store import FILE_NAME
    from ramify.study.study_files import data_folder, load_study_file

    with _faults_named(name):
        module = load_study_file(name)
    title = Path(name).stem + ("-quick" if quick else "")
    given: dict[str, Any] = {"folder": folder or Path("results") / title, "quick": quick}
    if "data" in signature(module.study).parameters:
        given["data"] = data_folder(data)
    with _faults_named(name):
        chosen: Study = module.study(**given)
    if not isinstance(chosen, Study):
        raise TypeError(f"study() of {name} must return a ramify.Study. It returned {type(chosen).__name__}.")
    keep_inputs(reads=[chosen.folder / FILE_NAME, *([given["data"]] if given.get("data") else [])])
    if not chosen.datasets:
        raise ValueError(
            f"None of the data sets of {name} is there ({', '.join(chosen.missing)}). Pass --data FOLDER or set "
            f"RAMIFY_DATA; 'ramify study data {name}' says which files are needed and where they come from."
        )
    return _Loaded(name, module, chosen)


@contextmanager
def _faults_named(file: str) -> Iterator[None]:
    """Tell what a study file raises with its place; such a file is a program and may raise anything."""
    try:
        yield
    except (ValueError, TypeError, OSError):  # these say what to do
        raise
    except Exception as error:
        lines = [
            frame.lineno for frame in extract_tb(error.__traceback__) if Path(frame.filename).stem == Path(file).stem
        ]
        place = f", line {lines[-1]}" if lines else ""
        fault = f"{type(error).__name__}: {error}"
        raise ValueError(f"{file}{place}: {fault}. Correct the study file; --debug shows the traceback.") from error


def _show_findings(loaded: _Loaded) -> None:
    """What the study file makes of its results; else a table per measure."""
    name, module, chosen = loaded
    findings = getattr(module, "findings", None)
    if callable(findings):
        with _faults_named(name):
            text = str(findings(chosen))
        click.echo(text)
        return
    counts = chosen.status().sum()
    for measure in chosen.measure_names():
        _show_table(chosen, measure)
    click.echo(
        f"{int(counts['done'])} of {int(counts.sum())} cells are done; their results are in {plain(chosen.folder)}."
    )


def _show_table(chosen: Study, measure: str) -> None:
    """Means of a measure; those that are not over all splits are named."""
    values = chosen.table(measure)
    rows = [(index, *map(float, row)) for index, row in _rows(values)]
    show(text_table(measure, ["data set", *values.columns], rows), whole=True)
    for (dataset, method), row in chosen.counts(measure).iterrows():
        if 0 < row["measured"] < row["splits"]:
            failed = f", {row['failed']} failed" if row["failed"] else ""
            place = plain(f"{method} on {dataset}")
            click.echo(f"{place}: the mean of {row['measured']} of {row['splits']} splits{failed}.", err=True)


def _rows(frame: Any) -> list[tuple[str, list[Any]]]:
    return [(str(index), values.tolist()) for index, values in zip(frame.index, frame.to_numpy(), strict=True)]


def latex_table(table: Any, spread: Any, best: Callable[..., Any]) -> str:
    """A table for papers: means with their deviation over the splits, all that are best as printed in bold."""
    from ramify.compare.all_tests import latex_text

    lines = [r"\begin{tabular}{l" + "r" * table.shape[1] + "}", r"\hline"]
    lines.append(" & ".join(["", *map(latex_text, table.columns)]) + r" \\ \hline")
    for (index, values), (_, spreads) in zip(_rows(table), _rows(spread), strict=True):
        printed = [round(value, 3) for value in values]
        bold = best((value for value in printed if value == value), default=None)
        cells = []
        for value, deviation in zip(printed, spreads, strict=True):
            mean = rf"\textbf{{{value:.3f}}}" if value == bold else f"{value:.3f}" if value == value else "--"
            cells.append(mean if deviation != deviation else rf"{mean} $\pm$ {deviation:.3f}")
        lines.append(" & ".join([latex_text(index), *cells]) + r" \\")
    return "\n".join([*lines, r"\hline", r"\end{tabular}", ""])


def _write_report(chosen: Study, path: Path, known: Mapping[str, Comparison] = MappingProxyType({})) -> None:
    from ramify.analysis import Results
    from ramify.report import write_report

    comparisons = dict(known)
    for measure in chosen.measure_names():
        if measure not in known:
            try:
                comparisons[measure] = chosen.compare(measure)
            except ValueError as error:
                click.echo(f"Not compared: {plain(str(error))}", err=True)
    title = f"Study {chosen.folder.name}"
    results = Results(comparisons=comparisons, title=title, seed=chosen.random_state, command=command_line())
    write_report(results, path)
