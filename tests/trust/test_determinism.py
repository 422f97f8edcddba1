"""The same data, seed and version give the same bits, whatever runs them; golden hashes make a change a decision.

A golden hash changes only when the numbers do. If that is meant, run `python -m tests.trust.test_determinism` from the
root of a checkout to write the new ones, and say in the commit why the numbers changed.
"""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from ramify.datasets import make_feature_hierarchy, make_hierarchical, make_label_ranking
from ramify.ensemble import ForestClassifier, ForestRegressor, LabelRankingForest, MixedForest
from ramify.ranking import ForestRanker, ReliefRanker, forest_ranking
from ramify.selection import LazySelector

GOLDEN = Path(__file__).with_name("golden.json")


def digest(*parts) -> str:
    """Hash of arrays, sparse or dense, bit by bit."""
    state = hashlib.sha256()
    for part in parts:
        if sparse.issparse(part):
            matrix = sparse.csr_array(part)
            matrix.sort_indices()
            state.update(digest(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data).encode())
        else:
            array = np.ascontiguousarray(part)
            state.update(f"{array.dtype.kind}{array.shape}".encode())
            state.update(array.tobytes())
    return state.hexdigest()[:16]


def genie3_shares(forest):
    scores = forest_ranking(forest, "genie3", per_label=False).scores
    return scores / scores.sum()


def forest_hash(forest, X) -> str:
    arrays = forest.trees_.arrays()
    predictions = forest.predict_proba(X) if hasattr(forest, "predict_proba") else forest.predict(X)
    return digest(*(arrays[name] for name in sorted(arrays)), predictions, genie3_shares(forest))


def labelled():
    data = make_hierarchical(n_samples=120, n_features=16, random_state=3)
    X = np.array(data.X)
    X[::7, 2] = np.nan
    X[:, 4] = np.round(X[:, 4])
    return data, X


def hierarchical_forest(n_jobs) -> str:
    data, X = labelled()
    forest = ForestClassifier(
        12, hierarchy=data.hierarchy, categorical_features=[4], random_state=1, n_jobs=n_jobs, oob_score=True
    )
    return digest(np.frombuffer(forest_hash(forest.fit(X, data.y), X).encode(), np.uint8), forest.oob_prediction_)


def extra_trees(n_jobs) -> str:
    data, X = labelled()
    forest = ForestClassifier(12, splitter="random", bootstrap=False, random_state=1, n_jobs=n_jobs)
    return forest_hash(forest.fit(X, data.y), X)


def sparse_forest(n_jobs) -> str:
    data = make_feature_hierarchy(random_state=2)
    forest = ForestClassifier(12, random_state=1, n_jobs=n_jobs)
    return forest_hash(forest.fit(sparse.csc_array(data.X), data.y), data.X)


def binned_forests(n_jobs) -> str:
    """One label, classes and a number over bins: missing values, a frequent value, two categories, weights."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(3000, 8))
    X[rng.random(3000) < 0.2, 1] = np.nan
    X[rng.random(3000) < 0.6, 2] = 0.0
    X[:, 3] = rng.integers(0, 2, 3000)
    number = X[:, 0] + np.nan_to_num(X[:, 1]) * X[:, 2] + X[:, 3] + rng.normal(size=3000)
    common = {"n_estimators": 3, "categorical_features": [3], "random_state": 1, "n_jobs": n_jobs}
    weights = rng.integers(1, 4, 3000).astype(float)
    hashes = []
    for max_bins in (None, 255):
        for leaf in (1, 5):
            options = {**common, "max_bins": max_bins, "min_samples_leaf": leaf}
            one = ForestClassifier(**options)
            hashes.append(forest_hash(one.fit(X, number > 1), X))
            hashes.append(forest_hash(one.fit(X, number > 1, sample_weight=weights), X))
            hashes.append(forest_hash(ForestClassifier(**options).fit(X, np.digitize(number, [-1, 0, 1])), X))
            hashes.append(forest_hash(ForestRegressor(**options).fit(X, number), X))
    return digest(np.frombuffer("".join(hashes).encode(), np.uint8))


def regression_forest(n_jobs) -> str:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6))
    y = np.column_stack([X[:, 0] * X[:, 1], X[:, 2]])
    return forest_hash(ForestRegressor(12, random_state=1, n_jobs=n_jobs).fit(X, y), X)


def ranking_forest(n_jobs) -> str:
    data = make_label_ranking(random_state=4)
    return forest_hash(LabelRankingForest(12, random_state=1, n_jobs=n_jobs).fit(data.X, data.y), data.X)


def mixed_forest(n_jobs) -> str:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6))
    y = pd.DataFrame({"size": X[:, 0] * X[:, 1], "kind": np.where(X[:, 2] > 0, "a", "b")})
    forest = MixedForest(12, random_state=1, n_jobs=n_jobs).fit(X, y)
    arrays = forest.trees_.arrays()
    return digest(*(arrays[name] for name in sorted(arrays)), forest.predict_outputs(X), genie3_shares(forest))


def forest_scores(n_jobs) -> str:
    data, X = labelled()
    hashes = []
    for score in ("genie3", "symbolic", "permutation", "genie3_oob"):
        forest = ForestClassifier(10, hierarchy=data.hierarchy, random_state=1, n_jobs=n_jobs)
        ranking = ForestRanker(forest, scores=score).fit(X, data.y).ranking_
        hashes.append(digest(ranking.scores))
    return digest(np.frombuffer("".join(hashes).encode(), np.uint8))


def relief_scores(n_jobs) -> str:
    data, X = labelled()
    ranker = ReliefRanker(8, hierarchy=data.hierarchy, categorical_features=[4], random_state=1, n_jobs=n_jobs)
    return digest(ranker.fit(X, data.y).ranking_.scores)


def lazy_selection(n_jobs) -> str:  # selection has no threads of its own: repeats are what is checked
    data = make_feature_hierarchy(random_state=2)
    selector = LazySelector(data.feature_hierarchy, method="rpv").fit(data.X, data.y)
    return digest(selector.selection_mask(data.X))


CASES: dict[str, Callable[[int], str]] = {
    case.__name__: case
    for case in (
        hierarchical_forest,
        extra_trees,
        sparse_forest,
        binned_forests,
        regression_forest,
        ranking_forest,
        mixed_forest,
        forest_scores,
        relief_scores,
        lazy_selection,
    )
}


@pytest.mark.parametrize("name", CASES)
def test_the_numbers_are_the_golden_ones(name):
    assert CASES[name](1) == json.loads(GOLDEN.read_text())[name]


@pytest.mark.parametrize("name", CASES)
def test_threads_and_repeats_give_one_hash(name, scorecard):
    hashes = {CASES[name](n_jobs) for n_jobs in (1, 2, 4) for _ in range(7)}
    assert len(hashes) == 1
    scorecard("R4", f"{len(CASES)} cases x 21 runs over 1, 2 and 4 threads: 1 hash each")


@pytest.mark.parametrize("backend", ["loky", "threading", "sequential"])
def test_backends_of_joblib_give_one_hash(backend, scorecard):
    expected = json.loads(GOLDEN.read_text())["hierarchical_forest"]
    with joblib.parallel_config(backend=backend, n_jobs=2):
        assert hierarchical_forest(None) == expected
    assert (
        joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(hierarchical_forest)(1) for _ in range(2))
        == [expected] * 2
    )
    scorecard("R4", "processes, threads and sequential: the same hash")


@pytest.mark.filterwarnings("ignore")
def test_a_dask_cluster_gives_the_same_hash(scorecard):
    distributed = pytest.importorskip("distributed", reason="the extra ramify[dask] is not installed")
    expected = json.loads(GOLDEN.read_text())["hierarchical_forest"]
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        assert hierarchical_forest(-1) == expected
    scorecard("R4", "Dask: the same hash")
    scorecard("R24", "forest grown in blocks on 2 workers: bit-identical")


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps({name: case(1) for name, case in CASES.items()}, indent=2) + "\n")
