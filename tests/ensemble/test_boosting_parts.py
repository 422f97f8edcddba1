"""Boosted trees over rows on a Dask cluster: the bits of one machine, and what happens when workers go."""

import os
import signal
import sys

import numpy as np
import pandas as pd
import pytest

import ramify
from ramify.datasets.prepared import prepare
from ramify.ensemble import BoostedClassifier, BoostedRegressor, ForestClassifier, boosting_parts
from ramify.features import parted_table

distributed = pytest.importorskip("distributed", reason="the extra ramify[dask] is not installed")
dask = pytest.importorskip("dask")
frames = pytest.importorskip("dask.dataframe")
arrays = pytest.importorskip("dask.array")

pytestmark = pytest.mark.filterwarnings("ignore")
SMALL = {"n_estimators": 3, "max_depth": 3, "early_stopping": None, "random_state": 0}


def table(n_rows=400, seed=0):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.standard_normal((n_rows, 5)), columns=list("abcde"))
    X = X.mask(random.random(X.shape) < 0.05)
    X["kind"] = random.choice(list("uvwxyz"), n_rows)
    return X


def labels(X):
    return np.stack([X.a > 0, X.b > 0.5, X.kind == "w"], axis=1).astype(int)


def bits(model):
    found = model.trees_.arrays()
    return [found[name].tobytes() for name in sorted(found)]


@pytest.fixture(scope="module")
def client():
    # Threads of this process: what is tested is the arithmetic, and processes take seconds to start.
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as connected,
    ):
        yield connected


@pytest.fixture
def processes():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as connected,
    ):
        yield connected


def test_without_a_cluster_the_next_step_is_named():
    X = table(60)
    with pytest.raises(ValueError, match="no cluster is connected"):
        BoostedClassifier(**SMALL).fit(frames.from_pandas(X, npartitions=2), labels(X))


@pytest.mark.parametrize("n_parts", [1, 3, 8])
def test_label_sets_with_weights_give_the_bits_of_one_machine(client, n_parts):
    X = table()
    Y, weights = labels(X), np.random.default_rng(1).random(len(X))
    one = BoostedClassifier(**SMALL).fit(X, Y, weights)
    parted = BoostedClassifier(**SMALL).fit(frames.from_pandas(X, npartitions=n_parts), Y, weights)
    assert bits(parted) == bits(one)
    np.testing.assert_array_equal(parted.predict_proba(X), one.predict_proba(X))
    np.testing.assert_array_equal(parted.gains_.toarray(), one.gains_.toarray())


def test_more_outputs_than_projections_give_the_bits_of_one_machine(client):
    X = table(200)
    Y = (np.random.default_rng(2).random((200, 30)) < 0.3).astype(int)
    one = BoostedClassifier(**SMALL, sketch=4, max_samples=0.5).fit(X, Y)
    assert bits(
        BoostedClassifier(**SMALL, sketch=4, max_samples=0.5).fit(frames.from_pandas(X, npartitions=2), Y)
    ) == bits(one)


def test_unknown_labels_give_the_bits_of_one_machine(client):
    X = table(300)
    Y = labels(X).astype(float)
    Y[:, 1:][np.random.default_rng(3).random((300, 2)) < 0.2] = np.nan
    one = BoostedClassifier(**SMALL).fit(X, Y)
    assert bits(BoostedClassifier(**SMALL).fit(frames.from_pandas(X, npartitions=2), Y)) == bits(one)


def test_parts_may_be_empty_lack_values_or_be_all_missing(client):
    X = table().sort_values("kind", ignore_index=True)
    X.loc[:150, "a"] = np.nan
    y = np.where(X.kind == "w", "yes", "no")
    one = BoostedClassifier(**SMALL).fit(X, y)
    whole = frames.from_pandas(X, npartitions=4, sort=False)
    empty = whole.partitions[0].loc[lambda part: part.b > 99]
    parted = BoostedClassifier(**SMALL).fit(frames.concat([whole.partitions[:2], empty, whole.partitions[2:]]), y)
    assert bits(parted) == bits(one)
    assert parted.classes_.tolist() == ["no", "yes"]
    assert [None if known is None else known.tolist() for known in parted.categories_[-2:]] == [None, list("uvwxyz")]


def test_a_sample_of_rows_gives_the_bins_of_the_prepared_table(client, monkeypatch, tmp_path):
    for module in (parted_table, prepare):
        monkeypatch.setattr(module, "SAMPLED_ROWS", 1000)
    X = table(1500).assign(y=lambda held: np.where(held.a > held.b, "yes", "no"))
    one = ramify.prepare(X, tmp_path / "table.ramify", target="y")
    expected = BoostedClassifier(**SMALL).fit(one.X, one.classes)
    found = BoostedClassifier(**SMALL).fit(frames.from_pandas(X.drop(columns="y"), npartitions=3), X.y.to_numpy())
    assert bits(found) == bits(expected)


def test_many_columns_of_two_values_give_the_bits_of_one_machine(client):
    X = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (200, 70))).add_prefix("x")
    y = (X.x0 + X.x1 * X.x2 > 0).to_numpy()
    one = BoostedClassifier(**SMALL).fit(X, y)
    assert bits(BoostedClassifier(**SMALL).fit(frames.from_pandas(X, npartitions=3), y)) == bits(one)


def test_numbers_in_arrays_of_dask_give_the_bits_of_one_machine(client):
    X = table().drop(columns="kind").to_numpy()
    y = np.nan_to_num(X[:, :2])
    one = BoostedRegressor(**SMALL).fit(X, y)
    parted = BoostedRegressor(**SMALL).fit(arrays.from_array(X, chunks=(150, 2)), arrays.from_array(y, chunks=170))
    assert bits(parted) == bits(one)
    np.testing.assert_array_equal(parted.predict(X), one.predict(X))


def test_forests_grow_on_the_codes_of_all_parts(client):
    X = table()
    one = ForestClassifier(3, max_bins=255, random_state=0).fit(X, labels(X))
    parted = ForestClassifier(3, max_bins=255, random_state=0).fit(frames.from_pandas(X, npartitions=3), labels(X))
    assert bits(parted) == bits(one)


def test_what_rows_in_parts_cannot_do_is_refused(client):
    X = table(60)
    parted, y = frames.from_pandas(X, npartitions=2), labels(X)
    with pytest.raises(ValueError, match="early_stopping=None"):
        BoostedClassifier(3).fit(parted, y)
    with pytest.raises(ValueError, match="Of rows on a Dask cluster all take part"):
        BoostedClassifier(**SMALL).fit(parted, y, np.arange(60) % 2)
    with pytest.raises(TypeError, match="map_partitions"):
        BoostedClassifier(**SMALL).fit(X, y).predict(parted)
    with pytest.raises(ValueError, match="infinity in feature 'a'"):
        BoostedClassifier(**SMALL).fit(frames.from_pandas(X.assign(a=np.inf), npartitions=2), y)


def in_the_middle(monkeypatch, action):
    """Do something when a few numbers of all parts have been put together."""
    joined, n_joined = boosting_parts._Rounds._joined, []

    def counted(self, parts):
        n_joined.append(1)
        if len(n_joined) == 12:
            action()
        return joined(self, parts)

    monkeypatch.setattr(boosting_parts._Rounds, "_joined", counted)


@pytest.mark.skipif(sys.platform == "win32", reason="kills processes by signal")
def test_a_killed_worker_changes_no_bit(processes, monkeypatch):
    X = table()
    Y = labels(X)
    one = BoostedClassifier(**SMALL).fit(X, Y)
    victim = next(iter(processes.run(os.getpid).values()))
    in_the_middle(monkeypatch, lambda: os.kill(victim, signal.SIGKILL))
    with pytest.warns(RuntimeWarning, match="The rounds begin anew"):
        parted = BoostedClassifier(**SMALL).fit(frames.from_pandas(X, npartitions=3), Y)
    assert bits(parted) == bits(one)


@pytest.mark.skipif(sys.platform == "win32", reason="closes processes")
@pytest.mark.slow
def test_a_cluster_that_is_gone_is_a_typed_error(processes, monkeypatch):
    monkeypatch.setattr(boosting_parts, "_PATIENCE", 1.0)
    in_the_middle(monkeypatch, lambda: processes.cluster.scale(0))
    X = table()
    with pytest.raises(boosting_parts.ClusterError, match="Dask"):
        BoostedClassifier(**SMALL).fit(frames.from_pandas(X, npartitions=3), labels(X))
