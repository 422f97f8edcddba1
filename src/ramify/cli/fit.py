"""The command `ramify fit`: learn a model from data files and save it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ramify.cli.chain_methods import CHAIN_METHODS
from ramify.cli.options import (
    ENSEMBLES,
    OutputFile,
    WholeNumber,
    data_options,
    keep_inputs,
    output_options,
    report_option,
    running_options,
)
from ramify.cli.terminal import plain, wrote

if TYPE_CHECKING:
    from ramify.datasets import Dataset


@click.command()
@data_options
@click.option("-o", "--output", "--model", "model_file", required=True, type=OutputFile(), help="Model file to write.")
@click.option("--method", default="random-forest", show_default=True, type=click.Choice([*ENSEMBLES, *CHAIN_METHODS]))
@click.option("--trees", default=100, show_default=True, type=WholeNumber(1), help="Number of trees.")
@click.option("--max-depth", default=None, type=WholeNumber(1), help="Largest depth of a tree.")
@click.option("--min-samples-leaf", default=1, show_default=True, type=WholeNumber(1), help="Rows per leaf.")
@running_options
@report_option
@output_options
def fit(
    data: tuple[str, ...],
    target: tuple[str, ...],
    hierarchy: str | None,
    model_file: str,
    method: str,
    trees: int,
    max_depth: int | None,
    min_samples_leaf: int,
    seed: int,
    jobs: int,
    report: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Learn a model from DATA files and save it.

    Where the files are named as train, valid and test parts, the test part is kept for the measures; otherwise they are
    taken out of bag. The prior alone stands beside the model.

    \b
    Examples:
      ramify fit cellcycle.train.arff cellcycle.test.arff -o cellcycle.ramify --report cellcycle.html
      ramify fit songs.csv --target 'mood_*' --method bagging --trees 200 -o songs.ramify
    """  # noqa: D301
    from ramify.cli.inputs import described, read_data, refuse_empty, term_titles
    from ramify.cli.model_data import model_features, model_target, remember_names, show_measures
    from ramify.models import save

    keep_inputs({"-o": model_file, "--report": report}, *data, hierarchy)
    dataset = refuse_empty(read_data(data, target, hierarchy))
    learnt = dataset
    if "test" in dataset.parts and len(dataset.parts) > 1:
        learnt = dataset.part(*(name for name in dataset.parts if name != "test"))
    if method in CHAIN_METHODS:
        if report is not None:
            raise click.UsageError("--report shows forests; for chains use 'ramify rank --method lcc --report'.")
        _fit_chains(method, dataset, learnt, model_file, quiet=quiet, as_json=as_json,
                    verbose=int(verbose and not quiet), random_state=seed, n_jobs=jobs,
                    n_estimators=trees, max_depth=max_depth, min_samples_leaf=min_samples_leaf)  # fmt: skip
        return
    model = _new_model(
        learnt,
        n_estimators=trees,
        max_depth=max_depth,
        min_samples_leaf=min_samples_leaf,
        random_state=seed,
        n_jobs=jobs,
        verbose=int(verbose and not quiet),
        **ENSEMBLES[method],
    )
    measured_out_of_bag = learnt is dataset and ENSEMBLES[method]["bootstrap"] and "oob_score" in model.get_params()
    if measured_out_of_bag:
        model.set_params(oob_score=True)
    model.fit(model_features(learnt), model_target(learnt), sample_weight=learnt.sample_weight)
    if learnt.target == "labels":  # a sparse matrix has no names
        model.label_names_ = learnt.label_names
    table, title = _measured(model, dataset, learnt, measured_out_of_bag)
    if report is not None:
        _write_report(report, model, dataset, learnt, table, title, term_titles(hierarchy), seed)
    for name in ("oob_prediction_", "oob_score_"):
        model.__dict__.pop(name, None)
    remember_names(model, learnt)
    save(model, model_file)
    if quiet and not as_json:
        return
    if not as_json:
        click.echo(plain(described(learnt, chosen=bool(target))))
    show_measures(table, title, as_json=as_json)
    if not as_json:
        click.echo(f"Saved {model_file}: {trees} trees over {learnt.n_features} features and {learnt.n_samples} rows.")
        wrote(report)


def _fit_chains(
    method: str,
    dataset: Dataset,
    learnt: Dataset,
    model_file: str,
    *,
    quiet: bool,
    as_json: bool,
    verbose: int,
    **parameters: Any,
) -> None:
    """Learn label sets by chains or their relatives; measured where there is a test part."""
    from ramify.cli.chain_methods import chain_model, named_label_sets
    from ramify.cli.model_data import model_features, model_target, remember_names, show_measures
    from ramify.models import save

    model = chain_model(method, learnt, **parameters)
    if "verbose" in model.get_params(deep=False):
        model.set_params(verbose=verbose)
    target = model_target(learnt) if learnt.target == "classes" else named_label_sets(learnt)
    model.fit(model_features(learnt), target)
    table, title = _measured(model, dataset, learnt, False)
    remember_names(model, learnt)
    save(model, model_file)
    if as_json or not quiet:
        show_measures(table, title, as_json=as_json)
    if not quiet and not as_json:
        click.echo(f"Saved {model_file}: {method} for {learnt.n_labels} labels over {learnt.n_samples} rows.")


def _new_model(data: Dataset, **parameters: Any) -> Any:
    from ramify import ensemble

    if data.target in ("classes", "labels", "hierarchy"):
        return ensemble.ForestClassifier(**parameters, hierarchy=data.hierarchy)
    if data.target == "numbers":
        return ensemble.ForestRegressor(**parameters)
    if data.target == "rankings":
        return ensemble.LabelRankingForest(**parameters, gamma=1.0)  # full growth, as the other forests
    raise ValueError(
        "ramify fit learns classes, label sets, label hierarchies, numbers and rankings. "
        f"The target is {data.target!r}; "
        "name another with --target."
    )


def _measured(model: Any, dataset: Dataset, learnt: Dataset, out_of_bag: bool) -> tuple[Any, str]:
    import numpy as np

    from ramify.cli.model_data import model_features, model_measures, model_scores, model_target

    if learnt is not dataset:
        test = dataset.part("test")
        scores = model_scores(model, model_features(test))
        return model_measures(model, model_target(test), scores), f"Measured on {test.n_samples} test rows"
    if not out_of_bag:
        return None, ""
    scores = model.oob_prediction_
    seen = np.flatnonzero(np.isfinite(scores.reshape(len(scores), -1)).all(axis=1))
    if seen.size == 0:
        return None, ""
    truth = model_target(learnt.rows(seen))
    return model_measures(model, truth, scores[seen]), f"Measured out of bag on {seen.size} rows"


def _write_report(
    path: str,
    model: Any,
    dataset: Dataset,
    learnt: Dataset,
    table: Any,
    title: str,
    titles: dict[str, str],
    seed: int,
) -> None:
    """What the model learnt from, how well it predicts, what drives which label and why a few rows are predicted."""
    from ramify.cli.model_data import label_parts, model_features
    from ramify.cli.terminal import command_line
    from ramify.ranking import forest_ranking
    from ramify.report import Results, write_report

    unseen = dataset.part("test") if learnt is not dataset else None
    features = model_features(learnt if unseen is None else unseen)
    results = Results(
        learnt,
        {"genie3": forest_ranking(model, "genie3")},
        measures=table,
        measured_on=title,
        titles=titles,
        command=command_line(),
        seed=seed,
        facts={"Model": f"{type(model).__name__}, {model.n_estimators} trees"},
        **label_parts(model, learnt, unseen, features),
    )
    write_report(results, path)
