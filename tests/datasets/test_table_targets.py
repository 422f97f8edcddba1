"""What the target of a table is: told by its cells, read alike in every notation, rows without one left out."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from ramify.datasets import read

SHOP = ["Home/Kitchen/Knives", "Home/Kitchen/Pans", "Home/Bath", "Garden/Tools", "Garden/Tools/Spades", "Garden/Seeds"]


def target(cells, **options):
    frame = pd.DataFrame({"x": np.arange(len(cells)) % 7, "t": cells})
    return read(frame, target="t", **options)


def dense(y):
    return y.toarray() if sparse.issparse(y) else np.asarray(y)


def shop(n=60, seed=0):
    return np.random.default_rng(seed).choice(SHOP, n).tolist()


@pytest.mark.parametrize("sign", [">", " > ", "/", "|", "::", ".", "\\"])
def test_paths_in_every_notation_are_one_hierarchy(sign):
    if sign == "|":
        paths = [*SHOP, "Home/Bath/Towels", "Garden/Seeds/Herbs", "Home/Kitchen/Pots"]
    else:
        paths = SHOP
    cells = np.random.default_rng(0).choice(paths, 80).tolist()
    expected = target(cells)
    assert expected.target == "hierarchy"
    data = target([cell.replace("/", sign) for cell in cells])
    assert data.target == "hierarchy"
    assert data.hierarchy == expected.hierarchy
    np.testing.assert_array_equal(dense(data.y), dense(expected.y))
    assert any("hierarchy" in note and "--kind classes" in note for note in data.notes)


def test_several_paths_in_a_cell():
    cells = [f"{a}; {b}" for a, b in itertools.product(SHOP, SHOP) if a != b]
    data = target([cell.replace("/", " > ") for cell in cells])
    assert data.target == "hierarchy"
    assert dense(data.y).sum(axis=1).min() >= 3


@pytest.mark.parametrize("noise", [0.0, 0.03])
def test_nested_columns_are_a_hierarchy(noise):
    rng = np.random.default_rng(1)
    rows = [path.split("/") + [""] * (3 - path.count("/") - 1) for path in shop(200)]
    frame = pd.DataFrame(rows, columns=["department", "aisle", "shelf"]).replace("", None)
    swapped = rng.random(200) < noise
    frame.loc[swapped, "department"] = rng.choice(["Home", "Garden"], int(swapped.sum()))
    data = read(frame.assign(x=np.arange(200) % 9), target=["shelf", "department", "aisle"])
    assert data.target == "hierarchy"
    assert {"Home", "Home/Kitchen", "Home/Kitchen/Knives"} <= set(data.label_names)
    if not noise:
        assert data.hierarchy == target(shop(200)).hierarchy


def test_a_stray_slash_makes_no_hierarchy():
    brews = ["Pour over", "Pod/capsule machine (e.g. Keurig/Nespresso)", "French press", "Espresso"]
    sets = [", ".join(np.random.default_rng(k).choice(brews, 1 + k % 3, replace=False)) for k in range(60)]
    data = target(sets)
    assert (data.target, sorted(data.label_names)) == ("labels", sorted(brews))


@pytest.mark.parametrize("sign", ["|", ";", "; ", ",", ", "])
def test_label_sets_by_the_sign_whose_parts_recur(sign):
    genres = ["Drama", "Romance", "War", "Comedy"]
    sets = [sign.join(np.random.default_rng(k).choice(genres, 1 + k % 3, replace=False)) for k in range(60)]
    data = target(sets)
    assert (data.target, sorted(data.label_names)) == ("labels", sorted(genres))
    if "|" not in sign:
        assert target(sets, kind="classes").target == "classes"


@pytest.mark.parametrize(
    "cells",
    [
        ["Yes, often", "No, never", "Yes, sometimes", "Do not know"] * 15,
        ["Berlin, Germany", "Paris, France", "Rome, Italy"] * 20,
        ["Smith, John", "Miller, Ann", "Jones, Bob"] * 20,
        ["rarely/never", "always", "sporadic"] * 20,
        ["a.b", "c", "d"] * 20,
    ],
)
def test_signs_in_ordinary_classes_mean_nothing(cells):
    data = target(cells)
    assert (data.target, sorted(data.label_names)) == ("classes", sorted(set(cells)))


def test_orders_of_the_same_few_labels_are_rankings():
    labels = np.array(["a", "b", "c"])
    cells = [">".join(labels[np.random.default_rng(k).permutation(3)]) for k in range(30)]
    data = target(cells)
    assert (data.target, data.label_names) == ("rankings", ("a", "b", "c"))
    assert target(["a>b=c", "b>a=c", "c>a>b"] * 8).y[0].tolist() == [1, 2, 2]


@pytest.mark.parametrize(
    ("words", "positive"),
    [(("Not selected", "Your height"), "Your height"), ((None, "Your job"), "Your job"), (("no", "Yes"), "Yes"),
     (("FALSE", "TRUE"), "TRUE"), (("0", "1"), "1"), (("unchecked", "checked"), "checked")],
)  # fmt: skip
def test_ticked_columns_are_label_sets(words, positive):
    rng = np.random.default_rng(0)
    has = rng.random((50, 3)) < 0.4
    frame = pd.DataFrame(np.where(has, words[1], words[0]), columns=["q_a", "q_b", "q_c"], dtype=object)
    data = read(frame.assign(x=rng.normal(size=50)), target="q_*")
    assert (data.target, data.label_names) == ("labels", ("q_a", "q_b", "q_c"))
    np.testing.assert_array_equal(dense(data.y), has)


def test_ranks_in_every_row_are_rankings():
    ranks = np.argsort(np.random.default_rng(0).random((30, 4)), axis=1) + 1
    frame = pd.DataFrame(ranks, columns=list("abcd")).assign(x=1.5)
    data = read(frame, target=list("abcd"))
    assert data.target == "rankings"
    assert read(frame, target=list("abcd"), kind="numbers").target == "numbers"


def test_rows_without_a_target_are_left_out_and_counted():
    data = target(["a", "b", None, "a", ""] * 5)
    assert data.n_samples == 15
    assert "10 of 25 rows have no value in t and are left out." in data.notes
    with pytest.raises(ValueError, match="10 rows have no value in t, the first is row 3"):
        target(["a", "b", None, "a", ""] * 5, missing_target="error")
    with pytest.raises(ValueError, match="No row has a value in the target t"):
        target([None, None])
    sets = ["a|b", None, "b", "a|b"]
    assert target(sets).n_samples == 3
    assert dense(target(sets, missing_target="empty").y)[1].tolist() == [0, 0]
    with pytest.raises(ValueError, match="'empty' is for label sets"):
        target([1.5, None, 2.5, 3.5], missing_target="empty")


def test_one_column_of_0_and_1_is_two_classes_unless_said():
    assert target([0, 1] * 10).target == "classes"
    assert target([0, 1] * 10, kind="numbers").target == "numbers"
    assert target(["$1,200.50", "$80.25", "$3.75"] * 5).y[:2].tolist() == [1200.5, 80.25]


def test_empty_cells_beside_a_word_for_no_are_unknown():
    frame = pd.DataFrame({"x": [1, 2, 3], "a": ["0", None, "1"], "b": ["1", "1", "0"]})
    data = read(frame, target=["a", "b"])
    np.testing.assert_array_equal(data.y, [[0, 1], [np.nan, 1], [1, 0]])
    assert data.notes == ("1 empty label cells are unknown: neither a label nor none.",)


def test_a_column_that_nobody_would_predict_is_not_taken_by_its_place():
    frame = pd.DataFrame({"x": np.arange(40) % 7, "day": [f"2024-01-{1 + k % 28:02d}" for k in range(40)]})
    with pytest.raises(ValueError, match="'day', holds dates and is hardly the target. Name the target"):
        read(frame)
    assert read(frame, target="day").target == "classes"


def test_a_target_named_in_full_is_not_ignored_by_a_wildcard():
    frame = pd.DataFrame({"x": [1, 2, 3], "p_a": [0, 1, 1], "p_b": [1, 1, 0]})
    assert read(frame, target="p_a", ignore="p_*").feature_names == ("x",)
    with pytest.raises(ValueError, match="All target columns are to be left out"):
        read(frame, target="p_*", ignore="p_*")
