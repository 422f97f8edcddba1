import inspect

import numpy as np
import pandas as pd
import pytest

from ramify import Hierarchy, chains, ensemble, ranking, selection, write_report
from ramify.datasets import make_label_ranking, make_multilabel, read

WITH_JOBS = [
    estimator
    for package in (ensemble, ranking, chains, selection)
    for name in package.__all__
    if inspect.isclass(estimator := getattr(package, name)) and "n_jobs" in inspect.signature(estimator).parameters
]


@pytest.mark.parametrize("n_jobs", [0, 1.5, "two", True])
@pytest.mark.parametrize("estimator", WITH_JOBS, ids=lambda estimator: estimator.__name__)
def test_a_bad_number_of_workers_is_refused_by_the_estimator_it_was_given_to(estimator, n_jobs):
    of_rankings = "LabelRank" in estimator.__name__
    data = make_label_ranking(20, random_state=0) if of_rankings else make_multilabel(20, random_state=0)
    words = rf"The 'n_jobs' parameter of {estimator.__name__} must be an int other than 0 \(-1 for all cores\) or None"
    with pytest.raises(ValueError, match=words):
        estimator(n_jobs=n_jobs).fit(data.X, data.X[:, 0] if estimator is ensemble.ForestRegressor else data.y)


def test_functions_refuse_a_bad_number_of_workers_too():
    data = make_multilabel(40, random_state=0)
    ranker = ranking.ForestRanker(ensemble.ForestClassifier(3), random_state=0).fit(data.X, data.y)
    with pytest.raises(ValueError, match="'n_jobs' parameter of knn_quality must be an int other than 0"):
        ranking.knn_quality(ranker.ranking_, data.X, data.y, data.X, data.y, n_jobs=0)
    with pytest.raises(ValueError, match="'n_jobs' parameter of addition_curve must be an int other than 0"):
        ranking.addition_curve(ranker, data.X, data.y, n_jobs=0)


NUMBERS = np.array([0.5, 1.5, np.nan, 2.5])


@pytest.mark.parametrize(
    ("estimator", "y"),
    [
        (ensemble.ForestRegressor(3), NUMBERS),
        (ensemble.ForestRegressor(3), np.where(np.isnan(NUMBERS), np.inf, NUMBERS)),
        (ranking.ReliefRanker(1), NUMBERS),
        (ranking.ReliefRanker(1), np.array(["a", "b", None, "b"], dtype=object)),
        (
            ranking.ReliefRanker(1, target="mixed"),
            pd.DataFrame({"kind": ["a", "b", None, "b"], "size": [1.0, 2.0, 3.0, 4.0]}),
        ),
    ],
)
def test_a_row_without_a_target_is_named_with_the_next_step(estimator, y):
    with pytest.raises(ValueError, match=r"Input y contains (NaN|infinity) \(first in row 2\)"):
        estimator.fit(np.arange(8.0).reshape(4, 2), y)


def test_wrong_kinds_are_refused_with_the_next_step(tmp_path):
    for nothing in (None, 3):
        with pytest.raises(TypeError, match=f"A file must be named by a str or a path. Got {nothing} instead"):
            read(nothing)
    with pytest.raises(ValueError, match="The name of a file is empty. Name a file to read"):
        read("")
    with pytest.raises(TypeError, match=r"Got the str 'a/b'; write \['a/b'\]"):
        Hierarchy.from_paths("a/b")
    with pytest.raises(TypeError, match=r"writes Results. Got ForestRegressor instead; write Results\(dataset"):
        write_report(ensemble.ForestRegressor(), tmp_path / "report.html")
