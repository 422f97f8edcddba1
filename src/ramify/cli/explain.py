"""The command `ramify explain`: what each feature added to the predictions of one row."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ramify.cli.options import FirstOptions, OutputFile, data_options, jobs_option, keep_inputs, output_options
from ramify.cli.terminal import json_text, write_figure, wrote
from ramify.shown import shown_number
from ramify.writing import TABLES, write_table

if TYPE_CHECKING:
    from ramify.datasets import Dataset


@click.command(cls=FirstOptions, first="--row --label --top --output --plot --hierarchy --id --ignore --json --jobs")
@click.argument("model_file", metavar="MODEL", type=click.Path())
@data_options
@click.option("--row", required=True, help="Which row: its number, from 1, or its identifier.")
@click.option("--label", "labels", multiple=True, help="Which label, class, number or pair a>b; else those predicted.")
@click.option("--top", default=10, show_default=True, type=click.IntRange(min=1), help="Features of each label.")
@click.option("-o", "--output", default=None, type=OutputFile(*TABLES), help="Write all features: .csv, .xlsx.")
@click.option(
    "--plot",
    default=None,
    type=OutputFile(".svg", ".png", ".pdf"),
    help="Draw the first label that varies: .svg, .png or .pdf.",
)
@jobs_option
@output_options
def explain(
    model_file: str,
    data: tuple[str, ...],
    target: tuple[str, ...],
    hierarchy: str | None,
    reading: dict[str, Any],
    row: str,
    labels: tuple[str, ...],
    top: int,
    output: str | None,
    plot: str | None,
    jobs: int,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Say what each feature of one row of DATA added to what a saved MODEL predicts for it.

    The contributions (Shapley values) and the base they start from add up to the prediction: a probability (before
    calibration), a number or the log-odds of boosted trees.

    \b
    Examples:
      ramify explain songs.ramify new.csv --row 17
      ramify explain cellcycle.ramify cellcycle.test.arff --row YAL001C --label 01/01 --plot why.svg
    """  # noqa: D301
    import numpy as np

    from ramify.analysis import new_rows
    from ramify.analysis.model_data import predicted_type
    from ramify.cli.inputs import called_labels, data_to_predict, refuse_empty
    from ramify.datasets.readers.attached_hierarchy import term_titles
    from ramify.ensemble import Calibrated
    from ramify.features.frames import take_rows
    from ramify.models import load

    keep_inputs()
    model = load(model_file)
    if isinstance(model, Calibrated):
        model = model.estimator_
        if not quiet:
            click.echo("Calibrated probabilities are explained as they are before calibration.", err=True)
    if not hasattr(model, "shap_values"):
        raise ValueError(
            f"{model_file} holds a {type(model).__name__}; forests and boosted trees are explained. Fit one with "
            "'ramify fit'."
        )
    model.set_params(n_jobs=jobs)
    dataset = refuse_empty(data_to_predict(model, data, target, hierarchy, reading), features=False)
    number = _row_number(dataset, row)
    if verbose:
        click.echo(f"{dataset!r} for {type(model).__name__}, row {number + 1}", err=True)
    # A sparse matrix has no names; its columns were matched by those of the file.
    warnings.filterwarnings("ignore", message="X does not have valid feature names")
    one_row = take_rows(new_rows(model, dataset, fill=True).X, np.array([number]))
    titles = {**getattr(model, "titles_", {}), **term_titles(model.label_names_, hierarchy)}
    if not predicted_type(model).ranks_labels:
        labels = called_labels(labels, model.label_names_, titles)
    chosen: Any = list(labels) or ("predicted" if hasattr(model, "predict_proba") else None)
    explanation = model.shap_values(one_row, labels=chosen)
    explained = _explained(explanation)
    if as_json:
        click.echo(json_text([{**one, "features": one["features"][:top]} for one in explained]))
    elif not quiet:
        _show(explained, top, titles, " in log-odds" if hasattr(model, "decision_function") else "")
    if output is not None:
        frame = explanation.to_frame().drop(columns="row")
        write_table(Path(output), [list(frame.columns), *frame.itertuples(index=False)])
    if plot is not None and explained:
        from ramify.plots import explained_prediction

        drawn = next((one for one in explained if _varies(one)), explained[0])
        write_figure(explained_prediction(explanation.of(0, drawn["label"]), n_features=top), plot)
    if not quiet:
        wrote(output, plot if explained else None, quiet=as_json)


def _row_number(data: Dataset, row: str) -> int:
    """The position of a row by its identifier or, from 1, its number."""
    if data.ids is not None:
        ids = [str(name) for name in data.ids]
        if row in ids:
            number = ids.index(row)
            if row.isdecimal() and int(row) not in {number + 1, 0} and int(row) <= data.n_samples:
                told = f"Note: --row {row} is the row whose identifier is {row}, row {number + 1}; not row {row}."
                click.echo(f"{told} --id none counts rows.", err=True)
            return number
    if row.isdecimal() and 1 <= int(row) <= data.n_samples:
        return int(row) - 1
    known = "" if data.ids is None else f", or an identifier such as {data.ids[0]!r}"
    raise click.BadParameter(
        f"There is no row {row!r}; give a number from 1 to {data.n_samples}{known}.", param_hint="'--row'"
    )


def _explained(explanation: Any) -> list[dict[str, Any]]:
    """Label, prediction, base and contributing features of each label explained."""
    frame = explanation.to_frame()
    if explanation.rows is None:
        columns = range(len(explanation.label_names))
        base = explanation.base_values.reshape(1, -1)[0]
        predicted = explanation.predictions.reshape(1, -1)[0]
    else:
        columns, base, predicted = explanation.labels.tolist(), explanation.base_values, explanation.predictions
    lines = []
    for line, column in enumerate(columns):
        name = explanation.label_names[column]
        added = frame[frame["label"] == name]
        features = [
            {"feature": feature, "value": _plain(value), "contribution": float(contribution)}
            for feature, value, contribution in zip(
                added["feature"], added["value"], added["contribution"], strict=True
            )
        ]
        summed = round(float(predicted[line]), 12) + 0.0  # rounding of the sum is no prediction below zero
        one = {"label": name, "prediction": summed, "base": float(base[line]), "features": features}
        lines.append(one)
    return lines


def _plain(value: Any) -> Any:
    """A cell as JSON holds it: a number, a text, or nothing."""
    if isinstance(value, str):
        return value
    number = float(value)
    return None if number != number else number


def _show(explained: list[dict[str, Any]], top: int, titles: Mapping[str, str], unit: str) -> None:
    from ramify.cli.terminal import show, table
    from ramify.datasets.term_names import titled

    if not explained:
        click.echo("No label is predicted for this row. Name one with --label.")
    for one in explained:
        rows = [
            (
                titled(item["feature"], titles),
                "missing" if item["value"] is None else item["value"],
                _signed(item["contribution"]),
            )
            for item in one["features"][:top]
        ]
        rest = one["features"][top:]
        if rest:
            rows.append((f"{len(rest)} other features", "", _signed(sum(item["contribution"] for item in rest))))
        title = f"{titled(one['label'], titles)}: {shown_number(one['prediction'])}{unit}"
        if not _varies(one):
            click.echo(f"{title}, whatever the features.")
            continue
        title += f", from a base of {shown_number(one['base'])}"
        show(table(title, ["feature", "value", "contribution"], rows), whole=True)


def _varies(one: dict[str, Any]) -> bool:
    """Whether any feature adds something to a label; none does where every row has the label."""
    return any(abs(item["contribution"]) > 1e-9 for item in one["features"])


def _signed(value: float) -> str:
    """A contribution with its sign, three decimals since many are small."""
    return f"{value:+.3f}"
