"""`ramify select`: choose features that form a hierarchy, per row or overall."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ramify.analysis.methods import SELECTION_METHODS
from ramify.cli.options import (
    OutputFile,
    WholeNumber,
    keep_inputs,
    output_options,
    reading_options,
    report_option,
    set_option,
)
from ramify.cli.terminal import command_line, console, json_text, plain, show, shows_progress, wrote
from ramify.cli.terminal import table as text_table
from ramify.writing import TABLES, write_table

if TYPE_CHECKING:
    from ramify.analysis.selecting import Selected
    from ramify.datasets import Dataset
    from ramify.hierarchy import Hierarchy


@click.command()
@click.argument("data", nargs=-1, required=True, type=click.Path())
@click.option("-t", "--target", multiple=True, help="Target column; several times for several labels.")
@reading_options
@click.option(
    "--feature-hierarchy",
    "--hierarchy",
    "feature_hierarchy",
    type=click.Path(),
    help="Hierarchy of the features: OBO, or edges (parent,child or child,parents).",
)
@click.option(
    "--method", type=click.Choice(list(SELECTION_METHODS)), default="rpv", show_default=True, help="How to select."
)
@click.option("--relevance", type=click.Choice(["lazy_r", "r", "ig"]), help="Measure [default: the published one].")
@click.option("--classes", type=click.Path(), help="Table of row id and class, for annotation files (GAF).")
@click.option(
    "--min-count",
    default=3,
    show_default=True,
    type=WholeNumber(0),
    help="Drop terms of annotation files that fewer rows have.",
)
@click.option("--close", is_flag=True, help="Add missing ancestors to rows that break the hierarchy.")
@click.option("--per-row", is_flag=True, help="List the features of every row, not the features overall.")
@click.option(
    "--explain",
    metavar="ROW",
    help="Show why each feature of a row (its id or number) stayed or went, and what it speaks for.",
)
@click.option(
    "--cv", default=10, show_default=True, type=WholeNumber(0), help="Folds of the cross-validation; 0 for none."
)
@click.option("--classifier", type=click.Choice(["bayes", "neighbors"]), default="bayes", show_default=True)
@click.option("--positive", help="The positive one of two classes [default: the last].")
@click.option("--seed", default=0, show_default=True, type=WholeNumber(0, 2**32 - 1), help="Seed of the folds.")
@click.option("-o", "--output", type=OutputFile(*TABLES), help="Write the selected features: .csv, .xlsx.")
@set_option
@report_option
@output_options
def select(
    data: tuple[str, ...],
    target: tuple[str, ...],
    reading: dict[str, Any],
    feature_hierarchy: str | None,
    method: str,
    relevance: str | None,
    classes: str | None,
    min_count: int,
    close: bool,
    per_row: bool,
    explain: str | None,
    cv: int,
    classifier: Any,
    positive: str | None,
    seed: int,
    output: str | None,
    parameters: dict[str, Any],
    report: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Select features that form a hierarchy, per row or overall.

    DATA holds binary features and a class (or label sets), in any format that `ramify info` reads. rpv, hip, mr,
    hip-mr, positive and negative select a subset for each row; shsel, gtd, tsel, cfs and relieff one subset for all.
    Where the data has train and test parts, train is learnt from and rows of test are shown.

    \b
    Examples:
      ramify select ageing.arff --feature-hierarchy go.obo --method rpv -o selected.csv --report selected.html
      ramify select ageing.arff --feature-hierarchy go.edges.csv --method mr --per-row -o rows.csv
      ramify select genes.gaf --feature-hierarchy go.obo --classes longevity.csv --explain daf-2
    """  # noqa: D301
    from ramify.analysis import select_features
    from ramify.analysis.model_data import learnt_and_unseen
    from ramify.datasets.readers.attached_hierarchy import term_titles
    from ramify.report import write_report

    if cv == 1:
        raise click.UsageError("--cv 1 leaves no rows to learn from; name at least 2 folds, or 0 for none.")
    keep_inputs()
    chosen, ontology = _read(data, target, reading, feature_hierarchy, classes, min_count)
    # What breaks the hierarchy is printed with the results.
    warnings.filterwarnings("ignore", message=".*break the feature hierarchy.*")
    if verbose and not quiet:
        n_learnt = learnt_and_unseen(chosen)[0].n_samples
        click.echo(f"{chosen!r}, {len(ontology)} terms; {method} learns from {n_learnt} rows", err=True)
    selected = select_features(
        chosen,
        ontology,
        method=method,
        relevance=relevance,
        close=close,
        cv=0 if explain is not None else cv,
        classifier=classifier,
        positive=positive,
        random_state=seed,
        parameters=parameters,
        verbose=shows_progress(quiet=quiet, verbose=verbose),
    )
    titles = chosen.titles or term_titles(chosen.feature_names, feature_hierarchy)
    if explain is not None:
        _print_explanation(selected, explain, titles, as_json)
        return
    lines = [_titled(line, titles) for line in _lines(selected, per_row)]
    if output is not None:
        _write(Path(output), lines)
    if report is not None:
        write_report(replace(selected.results, titles=titles, command=command_line()), report)
    summary = _summary(chosen, ontology, method, selected)
    if as_json:
        click.echo(json_text({**summary, "selected": lines}))
    elif not quiet:
        _print(summary, lines, per_row)
        wrote(output, report)


def _read(
    data: tuple[str, ...],
    target: tuple[str, ...],
    reading: dict[str, Any],
    feature_hierarchy: str | None,
    classes: str | None,
    min_count: int,
) -> tuple[Dataset, Hierarchy]:
    """Binary features of the files with their target, and the hierarchy of the features."""
    from ramify.cli.inputs import read_data, refuse_empty, tell_notes
    from ramify.datasets.annotations import annotated_dataset
    from ramify.datasets.readers.attached_hierarchy import with_features_named
    from ramify.datasets.readers.standard_input import named_source, with_standard_input
    from ramify.selection.binary_features import presence

    with with_standard_input(data) as paths:
        read = _read_annotations(data, feature_hierarchy) or read_data(paths, target, reading=reading, tell=False)
        terms = [name for name, why in read.left_out.items() if why in {"0 in every row", "1 in every row"}]
        if terms:  # a term that all rows have, or none, is a term as well
            reading = {**reading, "keep": [*reading.get("keep", ()), *terms]}
            read = read_data(paths, target, reading=reading, tell=False)
        read = named_source(read, data)
    tell_notes(refuse_empty(read))
    ontology = read.feature_hierarchy
    if ontology is None and feature_hierarchy is not None:
        n_told = len(read.notes)
        read, ontology = with_features_named(read, feature_hierarchy)
        tell_notes(replace(read, notes=read.notes[n_told:]))
    if ontology is None:
        raise click.UsageError("The data has no feature hierarchy; name its file with --feature-hierarchy.")
    if classes is not None:
        return annotated_dataset(read, ontology, classes=_read_classes(Path(classes)), min_count=min_count), ontology
    if read.target is None:
        raise click.UsageError("The data has no target; name a table of row ids and classes with --classes.")
    if not read.target_type.has_labels:
        raise click.UsageError(f"Features are selected for classes or label sets; this data has {read.target}.")
    return replace(read, X=presence(read), categories=()), ontology


def _read_annotations(data: tuple[str, ...], ontology: str | None) -> Dataset | None:
    """A GAF file with its OBO file, whose alternative and replaced ids are resolved; None for other files."""
    from ramify.datasets.readers.gaf import read_gaf
    from ramify.datasets.readers.raw_files import plain_name

    if ontology is None or len(data) != 1 or not plain_name(data[0]).lower().endswith(".gaf"):
        return None
    return (
        read_gaf(data[0], ontology=ontology, unknown="drop") if plain_name(ontology).lower().endswith(".obo") else None
    )


def _read_classes(path: Path) -> dict[str, str]:
    from ramify.datasets.readers.raw_files import FileError
    from ramify.datasets.tables.delimited import read_records

    classes: dict[str, str] = {}
    for line, cells in read_records(path, separator="," if path.name.lower().count(".csv") else "\t", encoding="utf-8"):
        if len(cells) != 2:
            raise FileError(path, f"the line has {len(cells)} cells", line=line, advice="Write a row id and its class.")
        classes[cells[0].strip()] = cells[1].strip()
    return classes


def _row_names(data: Dataset) -> list[str]:
    return [str(name) for name in (data.ids if data.ids is not None else range(1, data.n_samples + 1))]


def _lines(selected: Selected, per_row: bool) -> Iterator[dict[str, Any]]:
    """Selected features, of every row or overall, as lines of a table."""
    from ramify.selection import LazySelector

    selector, data, relevance = selected.selector, selected.shown, selected.relevance
    names = data.feature_names
    if not isinstance(selector, LazySelector):
        order = sorted(selector.get_support(indices=True).tolist(), key=lambda j: (-relevance[j], j))
        rows = _row_names(data) if per_row else [None]
        for row in rows:
            first = {} if row is None else {"row": row}
            yield from ({**first, "feature": names[j], "relevance": float(relevance[j])} for j in order)
        return
    if not per_row:
        for j in selector.ranking_.order.tolist():
            share = float(selector.ranking_.scores[j])
            if share > 0:
                yield {"feature": names[j], "share_of_rows": share, "relevance": float(relevance[j])}
        return
    X = selector.read_rows(data.X)
    row_names = iter(_row_names(data))
    start = 0
    for mask in selector.selection_blocks(X):
        values = X[start : start + mask.shape[0]].toarray()
        start += mask.shape[0]
        for i in range(mask.shape[0]):
            row = next(row_names)
            chosen = mask.indices[mask.indptr[i] : mask.indptr[i + 1]]
            scores = {
                j: float(relevance[j] if values[i, j] else selector.relevance_absent_[j]) for j in chosen.tolist()
            }
            for j in sorted(scores, key=lambda j: (-scores[j], j)):
                yield {"row": row, "feature": names[j], "value": int(values[i, j]), "relevance": scores[j]}


def _titled(line: dict[str, Any], titles: Mapping[str, str]) -> dict[str, Any]:
    return {**line, "title": titles.get(line["feature"], "")} if titles else line


def _summary(data: Dataset, ontology: Hierarchy, method: str, selected: Selected) -> dict[str, Any]:
    from ramify.analysis.selecting import SELECTION_MEASURES

    known = set(ontology.names)
    violations = getattr(selected.selector, "violations_", ())
    summary: dict[str, Any] = {
        "rows": data.n_samples,
        "features": data.n_features,
        "method": method,
        "features_outside_the_hierarchy": [name for name in data.feature_names if name not in known],
        "roots_left_out": list(getattr(selected.selector, "dropped_features_", ())),
        "violations": [{"child": child, "parent": parent, "rows": n} for child, parent, n in violations],
    }
    for title, measures in selected.measures.items():
        summary[title] = {name: measures[name] for name in SELECTION_MEASURES}
    if selected.measures:
        summary["cross_validation"]["share"] = selected.measures["cross_validation"]["share"]
    return summary


def _write(path: Path, lines: list[dict[str, Any]]) -> None:
    write_table(path, [list(lines[0]) if lines else ["feature"], *(list(line.values()) for line in lines)])


def _print(summary: dict[str, Any], lines: list[dict[str, Any]], per_row: bool) -> None:
    from ramify.analysis.selecting import SELECTION_MEASURES

    terminal = console()
    terminal.print(f"{summary['rows']} rows, {summary['features']} features, method {summary['method']}")
    outside, roots = summary["features_outside_the_hierarchy"], summary["roots_left_out"]
    if outside:
        terminal.print(plain(f"{len(outside)} features are not in the hierarchy and stand alone: {_listed(outside)}"))
    if roots:
        terminal.print(plain(f"Roots present in every row, left out: {_listed(roots)}"))
    for broken in summary["violations"][:3]:
        terminal.print(plain(f"{broken['rows']} rows have {broken['child']} and lack its parent {broken['parent']}."))
    if len(summary["violations"]) > 3:
        n_cells = sum(broken["rows"] for broken in summary["violations"])
        terminal.print(f"... {n_cells} such cells in all; --close adds the missing parents.")
    if "cross_validation" in summary:
        columns = {summary["method"]: "cross_validation", "all features": "without_selection", "prior": "prior"}
        rows = [
            [title, *(f"{100 * summary[column][name]:.1f} %" for column in columns.values())]
            for name, title in SELECTION_MEASURES.items()
        ]
        show(text_table("Cross-validation", ["measure", *columns], rows))
        terminal.print(f"{100 * summary['cross_validation']['share']:.1f} % of the features selected per row")
    n_shown = 20
    title = "Selected features of each row" if per_row else "Selected features"
    if lines:
        show(text_table(title, list(lines[0]), [list(line.values()) for line in lines[:n_shown]]))
    if len(lines) > n_shown:
        terminal.print(f"... {len(lines) - n_shown} more; -o FILE.csv writes all.")


def _print_explanation(selected: Selected, row: str, titles: Mapping[str, str], as_json: bool) -> None:
    from ramify.analysis.selecting import explained_selection

    if not hasattr(selected.selector, "explain"):
        raise click.UsageError("This method looks at no hierarchy and has nothing to explain row by row.")
    names = _row_names(selected.shown)
    if row not in names:
        raise click.UsageError(f"There is no row {row!r}; the first are {_listed(names)}.")
    table = explained_selection(selected, names.index(row))
    table["removed_by"] = table["removed_by"].map(", ".join)
    if titles:
        table.insert(1, "title", table["feature"].map(lambda name: titles.get(name, "")))
    if as_json:
        click.echo(json_text(table.to_dict(orient="records")))
    else:
        cells = table.astype(object).where(table.notna(), "").to_numpy().tolist()
        heads = [name.replace("_", " ") for name in table.columns]
        show(text_table(f"Row {plain(row)}", heads, cells))


def _listed(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f", ... ({len(names)} in all)" if len(names) > 5 else "")
