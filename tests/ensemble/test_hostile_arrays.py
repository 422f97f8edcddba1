"""Row R10: hostile arrays give a right result or an error that names what is wrong, for every forest."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from ramify.ensemble import BoostedClassifier, BoostedRegressor, ForestClassifier, ForestRegressor

RNG = np.random.default_rng(0)
N = 24
BASE = RNG.normal(size=(N, 3))
CLASSES = np.array(["a", "b"])[(BASE[:, 0] > 0).astype(int)]
SETS = np.column_stack([BASE[:, 0] > 0, BASE[:, 1] > 0]).astype(int)
LARGEST = np.finfo(float).max
NUMBERS = BASE[:, :2] * [1.0, 100.0]


def changed(base, function):
    array = base.copy()
    function(array)
    return array


def replaced(array, row, column, value):
    array[row, column] = value


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def unaligned(array):
    buffer = np.zeros(array.nbytes + 1, dtype=np.uint8)
    view = buffer[1:].view(array.dtype).reshape(array.shape)
    view[:] = array
    return view


def unusual_features(base):
    """Arrays that an estimator must learn from, or refuse by column if it does not take what a column holds."""
    return {
        "plain": base,
        "NaN cell": changed(base, lambda a: replaced(a, 0, 0, np.nan)),
        "NaN column": changed(base, lambda a: replaced(a, slice(None), 1, np.nan)),
        "NaN row": changed(base, lambda a: replaced(a, 3, slice(None), np.nan)),
        "all NaN": np.full((N, 3), np.nan),
        "negative NaN": changed(base, lambda a: replaced(a, 0, 0, -np.nan)),
        "denormal": base * 5e-324 / np.abs(base).max(),
        "tiny": base * 1e-300,
        "huge": base * 1e307,
        "largest": changed(base, lambda a: replaced(a, 0, 0, LARGEST)),
        "whole range of doubles": changed(base, lambda a: replaced(a, slice(2), 0, [LARGEST, -LARGEST])),
        "neighbouring doubles": np.nextafter(1.0, 2.0) ** np.arange(N * 3).reshape(N, 3),
        "negative zero": np.where(base > 0, 0.0, -0.0),
        "constant": np.ones((N, 3)),
        "constant column": changed(base, lambda a: replaced(a, slice(None), 0, 7.0)),
        "duplicate rows": np.repeat(base[:4], N // 4, axis=0),
        "duplicate columns": base[:, [0, 0, 0]],
        "one column": base[:, :1],
        "many columns": RNG.normal(size=(N, 300)),
        "truth values": base > 0,
        "int8": (base * 20).astype(np.int8),
        "uint64": np.abs(base * 2**60).astype(np.uint64),
        "int64 beyond doubles": (base * 2**60).astype(np.int64),
        "float16": base.astype(np.float16),
        "float32": base.astype(np.float32),
        "longdouble": base.astype(np.longdouble),
        "big-endian": base.astype(">f8"),
        "big-endian float32": base.astype(">f4"),
        "strided": np.repeat(base, 3, axis=0)[::3],
        "reversed": base[::-1][::-1, ::-1][:, ::-1],
        "fortran": np.asfortranarray(base),
        "read-only": read_only(base),
        "unaligned": unaligned(base),
        "object of numbers": base.astype(object),
        "list": base.tolist(),
        "memory map like": np.asarray(memoryview(base)),
        "matrix of one value and NaN": np.where(base > 0, 1.0, np.nan),
        "csr": sparse.csr_array(base),
        "csc": sparse.csc_array(base),
        "coo": sparse.coo_array(base),
        "lil": sparse.lil_array(base),
        "sparse with NaN": sparse.csr_array(changed(base, lambda a: replaced(a, 0, 0, np.nan))),
        "empty sparse": sparse.csr_array((N, 3)),
        "stored zeros": sparse.csr_array((np.zeros(N), (np.arange(N), np.zeros(N, int))), shape=(N, 3)),
        "duplicate entries": sparse.coo_array(
            (np.ones(2 * N), (np.tile(np.arange(N), 2), np.zeros(2 * N, int))), (N, 3)
        ),
        "unsorted csc": sparse.csc_array(base[::-1])[::-1],
        "sparse float32": sparse.csr_array(base.astype(np.float32)),
        "sparse int": sparse.csr_array((base * 3).astype(int)),
        "pandas": pd.DataFrame(base),
        "pandas nullable": pd.DataFrame(base, columns=list("abc")).convert_dtypes(),
        "pandas category": pd.DataFrame({"a": pd.Categorical(CLASSES), "b": base[:, 0]}),
        "category with missing": pd.DataFrame({"a": pd.Categorical([None, *CLASSES[1:]]), "b": base[:, 0]}),
        "category with one value": pd.DataFrame({"a": pd.Categorical(["x"] * N)}),
        "category all missing": pd.DataFrame({"a": pd.Categorical([None] * N, categories=["x"]), "b": base[:, 0]}),
        "category unused": pd.DataFrame({"a": pd.Categorical(CLASSES, categories=["z", "b", "a", "c"])}),
        "category per row": pd.DataFrame({"a": pd.Categorical([f"v{i}" for i in range(N)])}),
        "category of numbers": pd.DataFrame({"a": pd.Categorical(RNG.integers(0, 5, N))}),
        "strings": pd.DataFrame({"a": CLASSES.astype(str), "b": base[:, 0]}),
        "ordered category": pd.DataFrame({"a": pd.Categorical(CLASSES, ordered=True)}),
    }


def bad_features(base):
    """Arrays that every estimator must refuse, and the words that say why."""
    return {
        "infinity": (changed(base, lambda a: replaced(a, 2, 1, np.inf)), "column 1"),
        "minus infinity": (changed(base, lambda a: replaced(a, 2, 2, -np.inf)), "column 2"),
        "sparse infinity": (sparse.csr_array(changed(base, lambda a: replaced(a, 2, 1, np.inf))), "column 1"),
        "infinity in a frame": (
            pd.DataFrame(changed(base, lambda a: replaced(a, 2, 1, np.inf)), columns=list("abc")),
            r"'b' \(column 1\)",
        ),
        "text": (np.array([["x", "y", "z"]] * N), "column 0"),
        "complex": (base.astype(complex), "Complex data not supported"),
        "no rows": (np.zeros((0, 3)), "0 sample"),
        "no columns": (np.zeros((N, 0)), "0 feature"),
        "one dimension": (base[:, 0], "Expected 2D array"),
        "three dimensions": (base[:, :, None], "dim 3|3D|ndim"),
        "scalar": (np.float64(1.0), "Expected 2D array|scalar"),
        "dates": (np.full((N, 2), np.datetime64("2020-01-01")), "column 0"),
        "ragged": ([[1.0], [1.0, 2.0]] * (N // 2), "inhomogeneous|setting an array element|sequence"),
        "rows differ": (base[:-1], "inconsistent numbers of samples"),
    }


GOOD_FEATURES = unusual_features(BASE)
BAD_FEATURES = bad_features(BASE)

FORESTS = {
    "classes": (ForestClassifier(5, random_state=0), CLASSES),
    "sets": (ForestClassifier(5, random_state=0), SETS),
    "numbers": (ForestRegressor(5, random_state=0), NUMBERS),
    "boosted sets": (BoostedClassifier(5, random_state=0), SETS),
    "boosted numbers": (BoostedRegressor(5, random_state=0), NUMBERS),
    "random cuts": (ForestClassifier(5, splitter="random", bootstrap=False, random_state=0), SETS),
}


@pytest.mark.parametrize("name", GOOD_FEATURES)
@pytest.mark.parametrize("forest", FORESTS)
def test_unusual_features_give_finite_predictions(forest, name):
    estimator, y = FORESTS[forest]
    X = GOOD_FEATURES[name]
    predicted = estimator.fit(X, y).predict(X)
    assert len(predicted) == N
    if hasattr(estimator, "predict_proba"):
        predicted = estimator.predict_proba(X)
        assert ((predicted >= 0) & (predicted <= 1)).all()
    assert np.isfinite(predicted).all()


@pytest.mark.parametrize("name", BAD_FEATURES)
@pytest.mark.parametrize("forest", FORESTS)
def test_bad_features_are_refused_by_column(forest, name):
    estimator, y = FORESTS[forest]
    X, words = BAD_FEATURES[name]
    with pytest.raises((ValueError, TypeError), match=words):
        estimator.fit(X, y)


@pytest.mark.parametrize("kind", ["plain", "float32", "csr", "fortran", "int8", "big-endian", "strided"])
def test_full_trees_repeat_their_training_rows(kind):
    # Distinct rows, full growth, no bootstrap: the only right answer is the training target itself.
    X = GOOD_FEATURES[kind] if kind != "int8" else RNG.permutation(np.arange(-12, 12, dtype=np.int8))[:, None]
    options = {"bootstrap": False, "random_state": 0}
    np.testing.assert_array_equal(ForestClassifier(5, **options).fit(X, SETS).predict(X), SETS)
    np.testing.assert_array_equal(ForestClassifier(5, **options).fit(X, CLASSES).predict(X), CLASSES)
    np.testing.assert_allclose(ForestRegressor(5, **options).fit(X, NUMBERS).predict(X), NUMBERS, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.where(np.arange(SETS.shape[1]) == 1, np.nan, SETS), "known of no row"),
        (np.array([None] * N), "NaN|None"),
        (SETS + 1, "0/1 matrix"),
        (SETS[:-1], "inconsistent numbers of samples"),
        (np.zeros((N, 0)), "0 feature|at least|minimum of 1"),
        (BASE[:, 0], "continuous|Unknown label type"),
        (None, "requires y to be passed"),
    ],
)
def test_bad_classes_and_sets_are_refused(y, words):
    with pytest.raises(ValueError, match=words):
        ForestClassifier(5).fit(BASE, y)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.full(N, np.inf), "infinity"),
        (np.full((N, 2), np.nan), "known of no row"),
        (NUMBERS[:-1], "inconsistent numbers of samples"),
        (np.array(["x"] * N), "could not convert|dtype|numeric"),
    ],
)
def test_bad_numbers_are_refused(y, words):
    with pytest.raises(ValueError, match=words):
        ForestRegressor(5).fit(BASE, y)


def test_one_class_is_predicted_everywhere():
    assert set(ForestClassifier(5).fit(BASE, ["only"] * N).predict(BASE)) == {"only"}


@pytest.mark.parametrize("value", [0, 1])
def test_no_label_and_every_label_are_predicted(value):
    sets = np.full((N, 3), value)
    forest = ForestClassifier(5, random_state=0).fit(BASE, sets)
    np.testing.assert_array_equal(forest.predict(BASE), sets)
    assert not forest.feature_importances_.any()


def test_one_row_is_learnt():
    assert ForestClassifier(5).fit([[1.0]], [[1, 0]]).predict([[5.0]]).tolist() == [[1, 0]]
    assert ForestRegressor(5).fit([[1.0]], [3.0]).predict([[5.0]]).tolist() == [3.0]


def test_constant_and_extreme_targets_come_back():
    y = np.column_stack([np.full(N, 1e-300), np.full(N, 1e300), BASE[:, 0] * 1e150])
    predicted = ForestRegressor(5, bootstrap=False, random_state=0).fit(BASE, y).predict(BASE)
    np.testing.assert_allclose(predicted, y, rtol=1e-9)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.zeros(N), "at least one non-zero"),
        (-np.ones(N), "finite numbers >= 0. Got -1.0 in row 0"),
        (np.where(np.arange(N) == 4, np.nan, 1.0), "in row 4"),
        (np.ones(N - 1), r"one number per row \(24\). Got 23"),
        (np.ones((N, 1)), "1D"),
        ("heavy", "could not convert"),
    ],
)
def test_bad_weights_are_refused(weights, words):
    with pytest.raises(ValueError, match=words):
        ForestClassifier(5).fit(BASE, SETS, sample_weight=weights)


def test_rows_of_weight_zero_are_not_learnt():
    weights = (np.arange(N) < 12).astype(float)
    options = {"bootstrap": False, "random_state": 0}
    weighted = ForestClassifier(5, **options).fit(BASE, SETS, sample_weight=weights)
    alone = ForestClassifier(5, **options).fit(BASE[:12], SETS[:12])
    np.testing.assert_array_equal(weighted.predict_proba(BASE), alone.predict_proba(BASE))


def test_input_is_never_changed():
    X, Y = BASE.copy(), sparse.csr_array(SETS)
    before = X.tobytes(), Y.data.tobytes(), Y.indices.tobytes()
    ForestClassifier(5, oob_score=True).fit(X, Y).predict(X)
    assert (X.tobytes(), Y.data.tobytes(), Y.indices.tobytes()) == before


def test_there_are_at_least_80_hostile_arrays():
    assert len(GOOD_FEATURES) + len(BAD_FEATURES) + 7 + 4 + 6 >= 80
