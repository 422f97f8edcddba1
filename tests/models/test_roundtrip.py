"""Row R16: what is loaded equals what was saved to the last bit, and a save that fails leaves the old file."""

import dataclasses
import errno
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

import ramify
from ramify.datasets import make_hierarchical
from ramify.ensemble import ForestClassifier, ForestRegressor
from ramify.hierarchy import Hierarchy
from ramify.models.container import MAGIC
from ramify.models.values import Reader, Writer


def assert_same(left, right):
    """Equal type, structure and bits, recursively."""
    assert type(left) is type(right)
    if isinstance(left, BaseEstimator):
        assert_same(dict(sorted(vars(left).items())), dict(sorted(vars(right).items())))
    elif isinstance(left, dict):
        assert list(left) == list(right)
        for key in left:
            assert_same(left[key], right[key])
    elif isinstance(left, (list, tuple)):
        assert len(left) == len(right)
        for a, b in zip(left, right, strict=True):
            assert_same(a, b)
    elif isinstance(left, np.ndarray):
        assert (left.dtype, left.shape) == (right.dtype, right.shape)
        assert left.tolist() == right.tolist() if left.dtype == object else left.tobytes() == right.tobytes()
    elif sparse.issparse(left):
        for name in ("data", "indices", "indptr"):
            assert_same(getattr(left, name), getattr(right, name))
    elif dataclasses.is_dataclass(left):
        for field in dataclasses.fields(left):
            assert_same(getattr(left, field.name), getattr(right, field.name))
    elif hasattr(left, "arrays"):
        assert_same(left.arrays(), right.arrays())
    else:
        assert left == right or (left != left and right != right)


def roundtrip(estimator, folder):
    ramify.save(estimator, folder / "model.ramify")
    return ramify.load(folder / "model.ramify")


@pytest.fixture(scope="module")
def data():
    return make_hierarchical(80, random_state=0)


@pytest.fixture(scope="module")
def estimators(data):
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"colour": pd.Categorical(rng.choice(["red", "green", "blå"], 80)), "size": rng.normal(size=80)}
    )
    numbers = rng.normal(size=(80, 2))
    return {
        "hierarchy": ForestClassifier(5, hierarchy=data.hierarchy, oob_score=True, random_state=0).fit(data.X, data.y),
        "classes": ForestClassifier(5, random_state=0).fit(frame, rng.choice(["yes", "no"], 80)),
        "integers": ForestClassifier(5, class_weight={0: 1.0, 1: 2.0}, random_state=0).fit(
            frame, rng.integers(0, 2, 80)
        ),
        "numbers": ForestRegressor(5, target_weight=[1.0, 2.0], random_state=0).fit(frame, numbers),
        "one number": ForestRegressor(5, max_features=np.float64(0.5), random_state=0).fit(frame, numbers[:, 0]),
        "unfitted": ForestClassifier(hierarchy=data.hierarchy, min_impurity_decrease=float("inf")),
    }


@pytest.mark.parametrize(
    "name",
    ["hierarchy", "classes", "integers", "numbers", "one number", "unfitted"],
)
def test_loaded_estimator_equals_the_saved_one(estimators, name, tmp_path):
    estimator = estimators[name]
    assert_same(roundtrip(estimator, tmp_path), estimator)


def test_loaded_forest_predicts_the_same_bits(estimators, data, tmp_path):
    forest = estimators["hierarchy"]
    loaded = roundtrip(forest, tmp_path)
    assert loaded.predict_proba(data.X).tobytes() == forest.predict_proba(data.X).tobytes()
    assert_same(loaded.predict(data.X), forest.predict(data.X))


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -(2**70),
        0.1,
        float("nan"),
        float("-inf"),
        "ä\ud800\x00",
        np.float32(0.1),
        np.int64(3),
        (1, [2.0, {"a": None, 3: (4,)}]),
        [f"label {i}" for i in range(100)],
        tuple(f"label {i}" for i in range(100)),
        np.arange(6, dtype=">f8").reshape(2, 3)[:, ::-1],
        np.zeros((0, 3), dtype=np.uint16),
        np.array([True, False]),
        np.array(["a", "bcd"]),
        np.array(["a", "bcd"], dtype=object),
        np.array([], dtype=object),
        sparse.csr_array(np.triu(np.arange(20.0).reshape(5, 4))),
        sparse.csc_matrix(np.eye(3)),
        Hierarchy.from_edges([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")], w0=0.5, aggregate="sum"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_come_back_as_they_were(value):
    writer = Writer()
    node = writer.value(value, "value")
    back = Reader(writer.arrays).value(node)
    if isinstance(value, np.ndarray) and value.dtype.byteorder == ">":
        value = value.astype("<f8")
    if isinstance(value, np.ndarray):
        value = np.ascontiguousarray(value)
    assert_same(back, value)


def test_estimator_from_elsewhere_is_refused_with_advice(tmp_path):
    with pytest.raises(TypeError, match=r"LogisticRegression: ramify.save holds estimators made of Ramify's own parts"):
        ramify.save(LogisticRegression(), tmp_path / "model.ramify")
    forest = ForestClassifier(label_weight=LogisticRegression())
    with pytest.raises(TypeError, match=r"ForestClassifier.label_weight is a sklearn.*use pickle, joblib or skops"):
        ramify.save(forest, tmp_path / "model.ramify")
    assert list(tmp_path.iterdir()) == []


def test_generator_as_random_state_is_refused_with_advice(tmp_path):
    forest = ForestClassifier(random_state=np.random.RandomState(0))
    with pytest.raises(TypeError, match="random_state is a .*RandomState: give a value .* integer for random_state"):
        ramify.save(forest, tmp_path / "model.ramify")


def test_what_is_not_an_estimator_is_refused(tmp_path):
    with pytest.raises(TypeError, match="takes an estimator. Got a dict"):
        ramify.save({}, tmp_path / "model.ramify")


def test_failed_write_leaves_the_old_file_and_nothing_else(estimators, tmp_path, monkeypatch):
    path = tmp_path / "model.ramify"
    ramify.save(estimators["classes"], path)
    before = path.read_bytes()

    def full_disk(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        ramify.save(estimators["numbers"], path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["model.ramify"]


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="needs limits on file sizes")
def test_full_disk_is_an_error_and_leaves_the_old_file(estimators, tmp_path):
    path = tmp_path / "model.ramify"
    ramify.save(estimators["classes"], path)
    before = path.read_bytes()
    code = (
        "import resource, signal, sys, numpy as np, ramify\n"
        "forest = ramify.ForestRegressor(200, random_state=0).fit(np.random.rand(200, 3), np.random.rand(200))\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))\n"
        "try:\n    ramify.save(forest, sys.argv[1])\nexcept OSError as error:\n    print('refused', error.errno)\n"
    )
    result = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == f"refused {errno.EFBIG}"
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["model.ramify"]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX signals")
def test_killed_while_saving_the_file_is_the_old_or_a_new_one(tmp_path):
    path = tmp_path / "model.ramify"
    code = (
        "import sys, numpy as np, ramify\n"
        "X = np.random.rand(300, 3)\n"
        "small, large = (ramify.ForestRegressor(n, random_state=0).fit(X, X[:, 0]) for n in (1, 100))\n"
        "ramify.save(small, sys.argv[1])\nprint('ready', flush=True)\n"
        "while True:\n    ramify.save(large, sys.argv[1])\n    ramify.save(small, sys.argv[1])\n"
    )
    for pause in (0.02, 0.051, 0.113):
        with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            time.sleep(pause)
            process.kill()
        assert ramify.load(path).trees_.n_trees in (1, 100)


def test_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        ramify.save(ForestClassifier(), tmp_path / "nowhere" / "model.ramify")


def test_file_starts_with_its_magic(tmp_path):
    ramify.save(ForestClassifier(), tmp_path / "model.ramify")
    assert (tmp_path / "model.ramify").read_bytes().startswith(MAGIC)


def test_a_file_that_is_not_there_is_named_with_the_next_step(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nofile: there is no such model file. Write one with ramify.save"):
        ramify.load(tmp_path / "nofile")
    with pytest.raises(IsADirectoryError, match="this is a folder"):
        ramify.load(tmp_path)
