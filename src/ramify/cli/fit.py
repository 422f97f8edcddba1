"""The command `ramify fit`: learn a model from data files and save it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ramify.cli.options import data_options, output_options, running_options

if TYPE_CHECKING:
    from ramify.datasets import Dataset

METHODS: dict[str, dict[str, Any]] = {
    "random-forest": {"splitter": "best", "bootstrap": True, "max_features": "sqrt"},
    "bagging": {"splitter": "best", "bootstrap": True, "max_features": None},
    "extra-trees": {"splitter": "random", "bootstrap": False, "max_features": "sqrt"},
}


@click.command()
@data_options
@click.option("--model", "-o", "model_file", required=True, type=click.Path(dir_okay=False), help="File to write.")
@click.option("--method", default="random-forest", show_default=True, type=click.Choice(list(METHODS)))
@click.option("--trees", default=100, show_default=True, type=click.IntRange(1), help="Number of trees.")
@click.option("--max-depth", default=None, type=click.IntRange(1), help="Largest depth of a tree.")
@click.option("--min-samples-leaf", default=1, show_default=True, type=click.IntRange(1), help="Rows per leaf.")
@running_options
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
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Learn a model from DATA files and save it.

    Where the files are named as train, valid and test parts, the test part is kept for the measures; otherwise they are
    taken out of bag. The prior alone stands beside the model.
    """
    from ramify.cli.inputs import read_data
    from ramify.cli.model_data import model_features, model_target, show_measures
    from ramify.models import save

    dataset = read_data(data, target, hierarchy)
    learnt = dataset
    if "test" in dataset.parts and len(dataset.parts) > 1:
        learnt = dataset.part(*(name for name in dataset.parts if name != "test"))
    model = _new_model(
        learnt,
        n_estimators=trees,
        max_depth=max_depth,
        min_samples_leaf=min_samples_leaf,
        random_state=seed,
        n_jobs=jobs,
        verbose=int(verbose and not quiet),
        **METHODS[method],
    )
    measured_out_of_bag = learnt is dataset and METHODS[method]["bootstrap"] and "oob_score" in model.get_params()
    if measured_out_of_bag:
        model.set_params(oob_score=True)
    model.fit(model_features(learnt), model_target(learnt), sample_weight=learnt.sample_weight)
    table, title = _measured(model, dataset, learnt, measured_out_of_bag)
    for name in ("oob_prediction_", "oob_score_"):
        model.__dict__.pop(name, None)
    save(model, model_file)
    if quiet:
        return
    if table is not None:
        show_measures(table, title, as_json=as_json)
    if not as_json:
        click.echo(f"Saved {model_file}: {trees} trees over {learnt.n_features} features and {learnt.n_samples} rows.")


def _new_model(data: Dataset, **parameters: Any) -> Any:
    from ramify import ensemble

    if data.target in ("classes", "labels", "hierarchy"):
        return ensemble.ForestClassifier(**parameters, hierarchy=data.hierarchy)
    if data.target == "numbers":
        return ensemble.ForestRegressor(**parameters)
    raise ValueError(
        f"ramify fit learns classes, label sets, label hierarchies and numbers. The target is {data.target!r}; "
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
