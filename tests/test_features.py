import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator

from ramify.features import apply_features, feature_names, finite_features, learn_features


class Learner(BaseEstimator):
    pass


@pytest.mark.parametrize("as_frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_text_columns_of_a_frame_are_nominal_and_unseen_values_are_missing(as_frame):
    learner = Learner()
    features = learn_features(learner, as_frame({"size": [1.0, 2.0, 3.0], "colour": ["red", None, "blue"]}))
    np.testing.assert_array_equal(features.values, [[1, 1], [2, np.nan], [3, 0]])
    assert features.n_categories.tolist() == [0, 2]
    with pytest.warns(UserWarning, match="'colour' .* 1 of 2 cells .*'green'; at fit it held 'blue', 'red'"):
        later = apply_features(learner, as_frame({"size": [4.0, 5.0], "colour": ["green", "red"]}))
    np.testing.assert_array_equal(later.values, [[4, np.nan], [5, 1]])
    assert feature_names(learner) == ("size", "colour")


def test_a_category_dtype_is_nominal_even_when_its_values_are_numbers():
    learner = Learner()
    features = learn_features(learner, pd.DataFrame({"a": pd.Categorical([10, 2, 10]), "b": [True, False, True]}))
    np.testing.assert_array_equal(features.values, [[1, 1], [0, 0], [1, 1]])
    assert features.n_categories.tolist() == [2, 0]


@pytest.mark.parametrize("chosen", [[False, True], [1], [-1], np.array([1])])
def test_nominal_features_can_be_given_by_mask_or_index(chosen):
    features = learn_features(Learner(), np.array([[5.0, 7], [6, 9], [5, np.nan]]), chosen)
    np.testing.assert_array_equal(features.values, [[5, 0], [6, 1], [5, np.nan]])


def test_nominal_features_can_be_given_by_name():
    frame = pd.DataFrame({"a": [3, 1], "b": [3, 1]})
    assert learn_features(Learner(), frame, ["b"]).n_categories.tolist() == [0, 2]


@pytest.mark.parametrize("fit_sparse", [False, True])
@pytest.mark.parametrize("apply_sparse", [False, True])
def test_nominal_zeros_are_the_same_value_sparse_or_dense(fit_sparse, apply_sparse):
    seen = np.array([[0, 1, -1.0], [-3, 2, 0], [4, 1, 0], [0, 2, 5]])  # negatives, and a column without zeros
    new = np.array([[0, 0, -1.0], [-3, 2, 5], [9, 1, 0], [4, 0, 2]])
    learner = Learner()
    learn_features(learner, sparse.csr_array(seen) if fit_sparse else seen, [0, 1, 2])
    with pytest.warns(UserWarning, match="that Learner has not seen"):
        features = apply_features(learner, sparse.csr_array(new) if apply_sparse else new)
    codes = features.values.toarray() if features.is_sparse else features.values
    for column in range(3):
        known = np.isin(new[:, column], seen[:, column])
        assert np.isnan(codes[~known, column]).all()
        values = learner.categories_[column][codes[known, column].astype(int)]
        np.testing.assert_array_equal(values, new[known, column])


SAME_VALUES = {
    "float": np.array([0.0, 1.0, 10.0, 2.0]),
    "int": np.array([0, 1, 10, 2]),
    "int8": np.array([0, 1, 10, 2], dtype=np.int8),
    "text": np.array(["0", "1", "10", "2"], dtype=object),
    "decimal text": np.array(["0.0", "1.0", "10.0", "2.0"], dtype=object),
    "objects": np.array([0, 1.0, np.int64(10), np.float32(2)], dtype=object),
    "category of text": pd.Categorical(["0", "1", "10", "2"]),
    "category of numbers": pd.Categorical([0, 1, 10, 2]),
    "nullable": pd.array([0, 1, 10, 2], dtype="Int64"),
    "arrow": pd.array([0, 1, 10, 2], dtype="int64[pyarrow]"),
    "arrow text": pd.array(["0", "1", "10", "2"], dtype="string[pyarrow]"),
}


@pytest.mark.parametrize("seen", SAME_VALUES)
@pytest.mark.parametrize("met", [*SAME_VALUES, "sparse"])
def test_the_same_nominal_values_have_the_same_codes_whatever_holds_them(seen, met):
    learner = Learner()
    learnt = learn_features(learner, pd.DataFrame({"a": SAME_VALUES[seen]}), ["a"])
    np.testing.assert_array_equal(learnt.values[:, 0], [0, 1, 3, 2])
    rows = np.arange(4)[::-1]
    if met == "sparse":
        learner.__dict__.pop("feature_names_in_")
        later = apply_features(learner, sparse.csr_array(np.array([[2.0], [10], [1], [0]]))).values.toarray()
    else:
        later = apply_features(learner, pd.DataFrame({"a": SAME_VALUES[met]}).iloc[rows]).values
    np.testing.assert_array_equal(later[:, 0], [2, 3, 1, 0])


@pytest.mark.parametrize("written", [[True, False], ["true", "false"], ["True", "False"], [1, 0], ["1", "0"]])
@pytest.mark.parametrize("met", [[True, False], ["true", "false"], ["True", "False"], [1, 0], ["1", "0"]])
def test_truth_is_the_same_value_however_it_is_written(written, met):
    learner = Learner()
    learn_features(learner, pd.DataFrame({"a": written}), ["a"])
    np.testing.assert_array_equal(apply_features(learner, pd.DataFrame({"a": met})).values[:, 0], [1, 0])


@pytest.mark.parametrize("form", [np.int64, np.uint64, object, str, "Int64", "sparse"])
def test_integers_beyond_doubles_stay_apart(form):
    identifiers = [2**60, 2**60 + 1, 2**60 + 2]
    learner = Learner()
    if form == "sparse":
        columns = sparse.csc_array(np.array(identifiers)[:, None])
        assert learn_features(learner, columns, [0]).n_categories.tolist() == [3]
        np.testing.assert_array_equal(apply_features(learner, columns).values.toarray()[:, 0], [0, 1, 2])
        return
    frame = pd.DataFrame({"a": pd.Series(identifiers, dtype=form)})
    assert learn_features(learner, frame, ["a"]).n_categories.tolist() == [3]
    later = apply_features(learner, pd.DataFrame({"a": identifiers[::-1]}))
    np.testing.assert_array_equal(later.values[:, 0], [2, 1, 0])


def test_texts_that_only_look_like_the_same_number_stay_apart():
    learner = Learner()
    features = learn_features(learner, pd.DataFrame({"code": ["007", "7", "7.0", "x"]}))
    assert features.n_categories.tolist() == [4]
    np.testing.assert_array_equal(np.sort(features.values[:, 0]), [0, 1, 2, 3])
    with pytest.warns(UserWarning, match="1 of 3 cells .* '7'"):  # which of the two, a number does not say
        later = apply_features(learner, pd.DataFrame({"code": np.array(["007", 7, "7.0"], dtype=object)}))
    np.testing.assert_array_equal(np.isnan(later.values[:, 0]), [False, True, False])


def test_one_value_written_in_two_ways_in_a_column_is_refused():
    frame = pd.DataFrame({"a": np.array([1, "1", "b"], dtype=object)})
    with pytest.raises(ValueError, match="'a' holds both the number 1 and the text '1'"):
        learn_features(Learner(), frame)


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_a_column_without_any_value_that_fit_saw_is_missing_and_told(form):
    learner = Learner()
    learn_features(learner, np.array([[1.0], [2], [1]]), [0])
    with pytest.warns(UserWarning, match="'x0' .* in 3 of 3 cells .* not seen: '3', '4'; at fit it held '1', '2'"):
        later = apply_features(learner, form(np.array([[3.0], [4], [3]]))).values
    assert np.isnan(later.toarray() if sparse.issparse(later) else later).all()
    with pytest.warns(UserWarning, match="1 of 1 cells"):
        apply_features(learner, form(np.array([[3.0]])))


def test_unseen_values_of_many_columns_are_one_warning():
    learner = Learner()
    learn_features(learner, pd.DataFrame({name: ["u", "v"] for name in "abcde"}))
    with pytest.warns(UserWarning, match="'a' .*'b' .*'c' .* So do 2 more features") as told:
        apply_features(learner, pd.DataFrame({name: ["new", "w"] for name in "abcde"}))
    assert len(told) == 1


def values_that_stay(cells, most=4095):
    """From the definition: of more than 40 values those that occur twice, and no more than the most frequent ones."""
    counts = {}
    for cell in cells:
        if cell is not None:
            counts[cell] = counts.get(cell, 0) + 1
    if len(counts) <= 40:
        return set(counts), False
    often = {value for value, count in counts.items() if count > 1}
    if len(often) > most + 1 or (len(often) > most and len(often) < len(counts)):
        often = set(sorted(often, key=lambda value: (-counts[value], value))[:most])
    return often, len(often) < len(counts)


@pytest.mark.parametrize(
    "cells",
    [
        [f"v{k:02}" for k in range(40)],  # few enough
        [f"v{k:02}" for k in range(41)],  # an identifier
        [f"v{k % 50:02}" for k in range(100)],
        [f"v{k % 50:02}" for k in range(99)],
        [f"v{k % 50:02}" for k in range(70)] + [None] * 5,
        ["(other)"] * 3 + [f"v{k:02}" for k in range(60)] * 2 + ["once"],
        [f"v{k:05}" for k in range(4096)] * 2,
        [f"v{k:05}" for k in range(4097)] * 2 + ["v04096"],
        [f"v{k:05}" for k in range(4096)] * 2 + ["once"],
        [f"v{k:05}" for k in range(50_000)],
    ],
    ids=["40", "41", "50", "a single", "missing", "named other", "4096", "4097", "4096 and a single", "50000"],
)
def test_rare_values_of_columns_with_many_are_one_value(cells):
    learner = Learner()
    features = learn_features(learner, pd.DataFrame({"a": pd.Series(cells, dtype=object)}))
    stay, any_other = values_that_stay(cells)
    found = learner.categories_[0].tolist()
    assert len(found) <= 4096
    assert set(found) == stay | ({"(other)"} if any_other else set())
    assert found[:-1] == sorted(found[:-1])
    codes = features.values[:, 0]
    for cell, code in zip(cells, codes.tolist(), strict=True):
        expected = None if cell is None else cell if cell in stay else "(other)"
        assert (found[int(code)] if code == code else None) == expected
    with warnings.catch_warnings(action="error" if any_other else "ignore"):
        unseen = apply_features(learner, pd.DataFrame({"a": ["new", None, cells[0]]})).values[:, 0]
    assert np.isnan(unseen[1])
    assert found[int(unseen[0])] == "(other)" if any_other else np.isnan(unseen[0])
    assert unseen[2] == codes[0]


@pytest.mark.parametrize("fit_sparse", [False, True])
@pytest.mark.parametrize("zeros", [0, 1, 30])
def test_rare_numbers_are_one_value_in_every_form(fit_sparse, zeros):
    rng = np.random.default_rng(zeros)
    column = np.concatenate([np.zeros(zeros), np.repeat(np.arange(1.0, 46), 2), np.arange(100.0, 130)])
    X = rng.permutation(column)[:, None]
    stay = set(range(1, 46)) | ({0} if zeros > 1 else set())
    expected = [str(value) for value in sorted(stay)] + ["(other)"]
    learner, new = Learner(), np.array([[0.0], [7], [105], [999]])
    learnt = learn_features(learner, sparse.csc_array(X) if fit_sparse else X, [0])
    assert learner.categories_[0].tolist() == expected
    for form in (np.asarray, sparse.csr_array):
        codes = apply_features(learner, form(new)).values
        codes = codes.toarray() if sparse.issparse(codes) else codes
        shown = [expected[int(code)] for code in codes[:, 0]]
        assert shown == ["0" if zeros > 1 else "(other)", "7", "(other)", "(other)"]
        again = apply_features(learner, form(X)).values
        np.testing.assert_array_equal(
            again.toarray() if sparse.issparse(again) else again,
            learnt.values.toarray() if sparse.issparse(learnt.values) else learnt.values,
        )


def test_the_order_of_rows_does_not_choose_what_stays():
    cells = np.array([f"v{k % 4500:04}" for k in range(9500)], dtype=object)
    learners = [Learner(), Learner()]
    for learner, order in zip(learners, (np.arange(9500), np.random.default_rng(0).permutation(9500)), strict=True):
        learn_features(learner, pd.DataFrame({"a": cells[order]}))
    np.testing.assert_array_equal(learners[0].categories_[0], learners[1].categories_[0])
    assert len(learners[0].categories_[0]) == 4096


def test_features_can_keep_every_value():
    frame = pd.DataFrame({"a": [f"v{k:02}" for k in range(50)], "b": [f"v{k:02}" for k in range(50)]})
    assert learn_features(Learner(), frame, in_full=["b"]).n_categories.tolist() == [1, 50]


def test_missing_cells_are_not_unseen():
    learner = Learner()
    learn_features(learner, pd.DataFrame({"a": ["u", "v"]}))
    later = apply_features(learner, pd.DataFrame({"a": [None, np.nan, None]}, dtype=object))
    assert np.isnan(later.values).all()


def test_sparse_stays_sparse_and_zeros_keep_code_zero():
    X = sparse.csr_array(np.array([[0, 5.0], [2, 0], [0, 7]]))
    features = learn_features(Learner(), X, [1])
    assert features.is_sparse
    np.testing.assert_array_equal(features.values.toarray(), [[0, 1], [2, 0], [0, 2]])


def test_float32_is_not_copied_to_double():
    X = np.ones((4, 2), dtype=np.float32)
    assert learn_features(Learner(), X).values is X


@pytest.mark.parametrize(
    ("X", "chosen", "words"),
    [
        (np.array([[1, 2], [3, np.inf]]), None, "infinity in feature 'x1'"),
        (sparse.csr_array(np.array([[0.0, 0, -np.inf]])), None, "infinity in feature 'x2'"),
        (pd.DataFrame({"a": [1.0, np.inf]}), None, "infinity in feature 'a'"),
        (pd.DataFrame({"a": ["x", "y"], "b": ["1", "u"]}), ["a"], "Feature 'b' is numeric, but could not convert"),
        (np.ones((2, 2)), [True], "mask of 1 entries for 2 features"),
        (np.ones((2, 2)), [2], r"must be in 0..1. Got \[2\]"),
        (pd.DataFrame({"a": [1, 2]}), ["z"], "names 'z', which is not a column"),
        (np.ones((2, 2)), "auto", "must be 'from_dtype', None, a mask, indices or names. Got 'auto'"),
    ],
)
def test_bad_input_names_the_column(X, chosen, words):
    with pytest.raises(ValueError, match=words):
        learn_features(Learner(), X, chosen)


def test_a_nominal_column_of_lists_is_refused():
    with pytest.raises(TypeError, match="Feature 'a' is nominal; its values must be strings or numbers. Got list"):
        learn_features(Learner(), pd.DataFrame({"a": [[1], [2]]}))


def test_numbers_that_start_amid_a_word_are_moved():
    buffer = np.zeros(6 * 8 + 1, dtype=np.uint8)
    unaligned = buffer[1:].view(np.float64).reshape(3, 2)
    assert not unaligned.flags.aligned
    assert learn_features(Learner(), unaligned).values.flags.aligned
    shifted = sparse.csc_array(np.ones((3, 2)))
    shifted.data = buffer[1:].view(np.float64)
    shifted.data[:] = 1.0
    assert learn_features(Learner(), shifted).values.data.flags.aligned


@pytest.mark.parametrize("values", [[5, 7, 5], ["x", "y", "x"]])
def test_arrow_dictionaries_are_categories(values):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": pa.array(values).dictionary_encode(), "b": pa.array([1, 2, 3])})
    for frame in (table.to_pandas(), table.to_pandas(types_mapper=pd.ArrowDtype)):
        features = learn_features(Learner(), frame)
        assert features.n_categories.tolist() == [2, 0]
        np.testing.assert_array_equal(features.values[:, 0], [0, 1, 0])


@pytest.mark.parametrize("seed", range(30))
def test_wide_tables_are_encoded_as_columns_are_one_by_one(seed):
    """Arrays and sparse matrices, whose columns of small whole numbers are looked at at once, against frames."""
    rng = np.random.default_rng(seed)
    kinds = [
        [0.0, 1.0],
        [1.0],
        [0.0],
        [0.0, 1.0, 2.0],
        [0.0, 2.0],
        [1.0, 2.0],
        [0.0, 0.5],
        [-1.0, 0.0],
        [0.0, 1.0, np.nan],
    ]
    X = np.column_stack([rng.choice(kinds[k], 12) for k in rng.integers(len(kinds), size=9)])
    later = np.where(rng.random(X.shape) < 0.1, rng.choice([0.0, 1.0, 5.0, np.nan], X.shape), X)
    later[0] = X[0]  # no column holds only what fit has not seen
    nominal = np.flatnonzero(rng.random(9) < 0.8)
    expected = Learner()
    frame = pd.DataFrame(X)
    wanted = learn_features(expected, frame, nominal)
    for stored in (np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_array):
        estimator = Learner()
        found = learn_features(estimator, stored(X), nominal)
        for values, others in zip(estimator.categories_, expected.categories_, strict=True):
            np.testing.assert_array_equal(values, others)
        with warnings.catch_warnings(action="ignore"):
            again = apply_features(estimator, stored(later))
            wanted_again = apply_features(expected, pd.DataFrame(later))
        for mine, theirs in ((found, wanted), (again, wanted_again)):
            values = mine.values.toarray() if mine.is_sparse else mine.values
            np.testing.assert_array_equal(values, theirs.values)


def test_two_columns_of_one_name_are_refused_by_name():
    frame = pd.DataFrame(np.eye(3), columns=["size", "age", "size"])
    with pytest.raises(ValueError, match="Columns 0 and 2 of X are all named 'size'; Learner knows features by name"):
        learn_features(Learner(), frame)
    with pytest.raises(ValueError, match="Columns 0 and 2 of X are all named 'size'"):
        finite_features(Learner(), frame)


@pytest.mark.parametrize("as_frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize(
    "cells", [[f"{k / 7:.3f}".replace(".", ",") for k in range(30)], ["n.d.", "0.5", "1.5", "2.25"]]
)
def test_numbers_as_text_are_told_where_they_become_names(as_frame, cells):
    with pytest.warns(UserWarning, match=r"'size' .* holds numbers as .*, such as '.*\d', and is taken as nominal"):
        found = learn_features(Learner(), as_frame({"size": cells}))
    assert found.n_categories.tolist() == [len(cells)]


def test_numbers_as_objects_are_told_and_codes_and_categories_are_not():
    with pytest.warns(UserWarning, match="holds numbers as object"):
        learn_features(Learner(), pd.DataFrame({"size": np.array([0.5, None, 1.25], dtype=object)}))
    for column in (["1", "2", "-1", "x"], [f"id {k}" for k in range(30)], ["01", "02"], ["low", "0.5"]):
        learn_features(Learner(), pd.DataFrame({"code": column}))
    learn_features(Learner(), pd.DataFrame({"code": [f"{k}.5" for k in range(30)]}, dtype="category"))
    learn_features(Learner(), pd.DataFrame({"code": [f"{k}.5" for k in range(30)]}), ["code"])
