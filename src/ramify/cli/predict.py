"""The command `ramify predict`: predict the rows of data files with a saved model."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from ramify.cli.options import (
    FirstOptions,
    OutputFile,
    data_options,
    jobs_option,
    keep_inputs,
    output_options,
    report_option,
)
from ramify.cli.terminal import (
    command_line,
    json_text,
    say,
    show_measures,
    unicode_output,
    write_label_measures,
    wrote,
)
from ramify.writing import TABLES, neutralised, write_table

if TYPE_CHECKING:
    from ramify.analysis.model_quality import Quality
    from ramify.datasets import Dataset
    from ramify.datasets.tables.target_columns import TargetNotation


@click.command(
    cls=FirstOptions,
    first="--target --output --probabilities --top --specific --per-label --report --hierarchy --annotations --id",
)
@click.argument("model_file", metavar="MODEL", type=click.Path())
@data_options
@click.option("-o", "--output", default=None, type=OutputFile(*TABLES),
              help="Write the predictions: .csv, .tsv or .xlsx; standard output otherwise.")  # fmt: skip
@click.option("--probabilities", is_flag=True, help="One column per label (or pair, of rankings): its probability.")
@click.option("--top", type=click.IntRange(min=1),
              help="So many labels with their probabilities, the most probable; of a hierarchy the most specific "
              "predicted, with how much likelier they are than by their frequency.")  # fmt: skip
@click.option("--specific", is_flag=True, help="Of a hierarchy, only the most specific labels predicted.")
@click.option("--per-label", type=OutputFile(*TABLES), help="Write how well each label is predicted: .csv, .xlsx.")
@click.option("--cafa", type=OutputFile(),
              help="Write row, term and probability on each line, as CAFA and cafaeval read them.")  # fmt: skip
@jobs_option
@report_option
@output_options
def predict(
    model_file: str,
    data: tuple[str, ...],
    target: tuple[str, ...],
    hierarchy: str | None,
    reading: dict[str, Any],
    output: str | None,
    probabilities: bool,
    top: int | None,
    specific: bool,
    per_label: str | None,
    cafa: str | None,
    jobs: int,
    report: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Predict the rows of DATA files with a saved MODEL.

    Columns are found by name; those that the model does not know are left out, and those that are not there are taken
    as missing. What is missing, new or no longer as it was at fit is told on standard error. Where the data has
    targets, a table of measures follows, with the baseline (prior) beside the model. It goes to standard output if the
    predictions go to a file. --json prints that table, or the predictions if they go to no file; --quiet prints
    neither. A report shows it, how well each label is predicted and whether the probabilities mean what they say.

    \b
    Examples:
      ramify predict songs.ramify new.csv -o predicted.csv
      ramify predict cellcycle.ramify cellcycle.test.arff --probabilities --json -o predicted.csv
      ramify predict cellcycle.ramify cellcycle.test.arff --top 5 -o predicted.csv
      ramify predict genes.ramify new.csv --specific -o terms.csv
      ramify predict genes.ramify new.csv --cafa terms.tsv -q
    """  # noqa: D301
    from ramify.analysis import new_rows
    from ramify.analysis.cafa_file import write_cafa
    from ramify.analysis.model_data import matched_target, predicted_type
    from ramify.analysis.model_quality import Quality, measured_as, model_predictions, model_scores
    from ramify.cli.inputs import data_to_predict, refuse_empty
    from ramify.models import load

    keep_inputs()
    if not model_file.endswith(".ramify") and any(name.endswith(".ramify") for name in data):
        raise click.UsageError(
            f"The model comes first, then the data: ramify predict MODEL DATA. Got {model_file} first."
        )
    model = load(model_file)
    if not hasattr(model, "predict"):
        raise ValueError(f"{model_file} holds a {type(model).__name__}, which does not predict.")
    if "n_jobs" in model.get_params():
        model.set_params(n_jobs=jobs)
    dataset = refuse_empty(data_to_predict(model, data, target, hierarchy, reading), features=False)
    dataset = replace(dataset, titles={**getattr(model, "titles_", {}), **dataset.titles})
    if verbose:
        click.echo(f"{dataset!r} for {type(model).__name__}", err=True)
    given = new_rows(model, dataset, fill=True)
    if not quiet:
        for sentence in given.sentences():
            say(f"Note: {sentence}", err=True)
    X = given.X
    if top is not None and (probabilities or not hasattr(model, "predict_top")):
        raise click.UsageError(
            "--top and --probabilities exclude each other: give one of them."
            if probabilities
            else f"--top is for forests and boosted trees of labels; {model_file} holds a {type(model).__name__}."
        )
    has_order = getattr(model, "hierarchy", None) is not None
    if specific and (probabilities or not has_order):
        raise click.UsageError(
            "--specific and --probabilities exclude each other: give one of them."
            if probabilities
            else f"--specific is for models of a label hierarchy; {model_file} holds {type(model).__name__} without."
        )
    if cafa is not None and not predicted_type(model).has_labels:
        raise click.UsageError(f"--cafa is for models of labels; {model_file} holds a {type(model).__name__}.")
    # A sparse matrix has no names; its columns were matched by those of the file.
    warnings.filterwarnings("ignore", message="X does not have valid feature names")
    # These values were told.
    warnings.filterwarnings("ignore", message="Nominal feature .* holds values in .* cells")
    told = output is not None and (as_json or not quiet)
    measures = told or per_label is not None or report is not None
    matched = matched_target(dataset, model) if measures and hasattr(model, "prior_") else None
    predicted = None if matched is None else model_predictions(model, X)
    by_pair = probabilities and hasattr(model, "pair_names_")
    are_scores = not by_pair and (probabilities or not hasattr(model, "predict_proba"))
    if by_pair:
        shown = _pair_probabilities(model, X)
    elif top is not None:
        shown = () if has_order else model.predict_top(X, min(top, len(model.label_names_)))
    elif predicted is not None:
        shown = predicted.scores if are_scores else predicted.decided
    else:
        shown = model_scores(model, X) if are_scores else model.predict(X)
    if top is not None:
        rows = _specific_rows(model, dataset, X, top) if has_order else _top_rows(model, dataset, *shown)
    else:
        rows = _rows(model, dataset, _most_specific(model, shown) if specific else shown, probabilities)
    if output is None:
        if as_json or not quiet:
            _write(unicode_output(), rows, as_json=as_json)
    else:
        write_table(Path(output), rows)
    if cafa is not None:
        scores = model_scores(model, X) if predicted is None else predicted.scores
        write_cafa(Path(cafa), _ids(dataset), model.label_names_, scores)
    if not measures:
        return
    quality = Quality()
    if matched is not None and predicted is not None:
        quality = measured_as(model, matched, predicted)
    elif dataset.y is not None and told and not as_json:
        click.echo("Not measured: the data has other targets than the model predicts.", err=True)
    if told:
        show_measures(quality.measures, quality.measured_on, as_json=as_json)
    if per_label is not None:
        write_label_measures(quality.label_measures, per_label, dataset.titles)
    if report is not None:
        _write_report(report, model, dataset, quality)
    if told:
        wrote(output, per_label, cafa, report, quiet=as_json)


def _write_report(path: str, model: Any, data: Dataset, quality: Quality) -> None:
    """How well the rows were predicted, or an error where they say nothing of that."""
    from ramify.analysis import Results
    from ramify.report import write_report

    if quality.measures is None:
        raise ValueError("--report: nothing was measured. Give rows with the target that the model predicts.")
    results = Results(
        data,
        measures=quality.measures,
        measured_on=quality.measured_on,
        label_measures=quality.label_measures,
        reliability=quality.reliability,
        titles=data.titles,
        facts={"Model": type(model).__name__},
        command=command_line(),
    )
    write_report(results, path)


def _rows(model: Any, data: Dataset, predicted: Any, probabilities: bool) -> Iterator[list[Any]]:
    """Lines of the table: the identifier under its own name, then what was predicted."""
    from scipy import sparse

    from ramify.analysis.model_data import predicted_type

    by_pair = probabilities and hasattr(model, "pair_names_")
    names = list(model.pair_names_ if by_pair else model.label_names_)
    kind, ids = predicted_type(model), _ids(data)
    if kind.parts_differ and not probabilities:
        yield from _part_rows(model, data, predicted)
        return
    columns, cells = names, predicted.reshape(data.n_samples, -1).tolist() if not sparse.issparse(predicted) else None
    if kind.ranks_labels and not probabilities and (predicted == predicted.round()).all():
        cells = predicted.astype(int).tolist()
    if kind.has_one_label and not probabilities:
        columns, cells = [_target_name(model)], [[str(value)] for value in predicted]
    elif kind.has_sets and not probabilities:
        columns, cells = _label_cells(model, sparse.csr_array(predicted))
    yield [_id_name(data, columns), *columns]
    yield from ([i, *values] for i, values in zip(ids, cells or (), strict=True))


def _notation(model: Any) -> TargetNotation:
    """How the target was written that the model has learnt."""
    from ramify.datasets.tables.target_columns import TargetNotation

    inspection = getattr(model, "inspection_", None)
    return TargetNotation() if inspection is None else TargetNotation.from_dict(inspection["target"])


def _target_name(model: Any) -> str:
    """The predicted column is called as the target was."""
    columns = _notation(model).columns
    return columns[0] if len(columns) == 1 else "prediction"


def _label_cells(model: Any, sets: Any) -> tuple[list[str], list[list[str]]]:
    """Names of the columns and the cells of predicted label sets, in the notation that came in."""
    notation, names = _notation(model), list(model.label_names_)
    if set(notation.words) == set(names):
        dense = sets.toarray() > 0
        words = [notation.words[name] for name in names]
        return names, [[pair[int(has)] for pair, has in zip(words, row, strict=True)] for row in dense]
    labels = [sorted(sets.indices[sets.indptr[k] : sets.indptr[k + 1]].tolist()) for k in range(sets.shape[0])]
    if notation.path_separator or notation.nested:
        sets = sets.tocsr() if model.hierarchy is None else model.hierarchy.most_specific(sets)
        labels = [sorted(sets.indices[sets.indptr[k] : sets.indptr[k + 1]].tolist()) for k in range(sets.shape[0])]
        sign = " > " if any(" > " in name for name in names) else "/"
        paths = [[names[label].split(sign) for label in of_row] for of_row in labels]
        if notation.nested:
            width = len(notation.columns)
            deepest = [max(of_row, key=len) if of_row else [] for of_row in paths]
            return list(notation.columns), [[*path, *[""] * (width - len(path))] for path in deepest]
        written = [[notation.path_separator.join(path) for path in of_row] for of_row in paths]
        return [_target_name(model)], [[notation.label_separator.join(of_row)] for of_row in written]
    return [_target_name(model)], [["|".join(names[label] for label in of_row)] for of_row in labels]


def _part_rows(model: Any, data: Dataset, predicted: Any) -> Iterator[list[Any]]:
    """Lines of the table: the identifier, then a column per target; of a label set the labels."""
    import numpy as np

    columns: dict[str, list[Any]] = {}
    for part in model.parts():
        if part.classes is not None or not part.has_shares:
            columns |= {name: predicted[name].tolist() for name in part.columns}
        else:
            present = predicted[list(part.columns)].to_numpy()
            columns[part.name] = ["|".join(np.array(part.columns, dtype=object)[row > 0]) for row in present]
    yield [_id_name(data, list(columns)), *columns]
    yield from ([i, *cells] for i, *cells in zip(_ids(data), *columns.values(), strict=True))


def _top_rows(model: Any, data: Dataset, labels: Any, probabilities: Any) -> Iterator[list[Any]]:
    """Lines of the table: the identifier, then labels with their probabilities, the most probable first."""
    names, numbers = model.label_names_, range(1, labels.shape[1] + 1)
    titles = [title for number in numbers for title in (f"label_{number}", f"probability_{number}")]
    yield [_id_name(data, titles), *titles]
    for i, columns, values in zip(_ids(data), labels.tolist(), probabilities.tolist(), strict=True):
        yield [i, *(cell for column, value in zip(columns, values, strict=True) for cell in (names[column], value))]


def _specific_rows(model: Any, data: Dataset, X: Any, k: int) -> Iterator[list[Any]]:
    """Lines of the table: the identifier, then the most specific labels predicted, the most enriched first."""
    from ramify.analysis.specific_terms import specific_terms

    specific = specific_terms(model, X, min(k, len(model.label_names_)))
    parts = ["label", *(["name"] if data.titles else []), "probability", "enrichment"]
    columns = [f"{part}_{number}" for number in range(1, max(map(len, specific), default=0) + 1) for part in parts]
    yield [_id_name(data, columns), *columns]
    for i, terms in zip(_ids(data), specific, strict=True):
        cells: list[Any] = []
        for term in terms:
            name = model.label_names_[term.label]
            called = [data.titles.get(name, "")] if data.titles else []
            cells += [name, *called, round(term.probability, 4), round(term.enrichment, 2)]
        yield [i, *cells, *[""] * (len(columns) - len(cells))]


def _most_specific(model: Any, sets: Any) -> Any:
    from scipy import sparse

    return model.hierarchy.most_specific(sparse.csr_array(sets))


def _ids(data: Dataset) -> list[str]:
    return [str(i) for i in (range(1, data.n_samples + 1) if data.ids is None else data.ids)]


def _id_name(data: Dataset, others: Sequence[str]) -> str:
    """What the file calls its identifiers, unless another column is called so."""
    return data.id_name if data.id_name and data.id_name not in others else "id"


def _pair_probabilities(model: Any, X: Any) -> Any:
    """The probability that the first label of each pair is preferred to the second."""
    from ramify.targets.rankings import label_pairs

    first, second = label_pairs(model.n_outputs_)
    return model.predict_preferences(X)[:, first, second]


def _write(file: IO[str], rows: Iterator[list[Any]], *, as_json: bool = False) -> None:
    """Lines as CSV, or as a JSON list with an object per row."""
    if as_json:
        names = next(rows)
        file.write(json_text([dict(zip(names, row, strict=True)) for row in rows]) + "\n")
        return
    cells = ([neutralised(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    csv.writer(file, lineterminator="\n").writerows(cells)
