"""Rows that stand in a table twice are told, with what to do; ordinary repetition is not."""

import numpy as np
import pandas as pd
import pytest

from ramify.datasets import read, write_arff


@pytest.fixture
def rows():
    random = np.random.RandomState(0)
    frame = pd.DataFrame(random.standard_normal((100, 3)).round(2), columns=["a", "b", "c"])
    return frame.assign(shop=random.choice(["north", "south"], 100), y=np.where(frame["a"] > 0, "p", "q"))


def told(tmp_path, frame, **said):
    frame.to_csv(tmp_path / "t.csv", index=False)
    return [note for note in read(tmp_path / "t.csv", target="y", **said).notes if "repeat" in note]


def test_nothing_is_told_of_rows_of_their_own_or_a_few_copies(tmp_path, rows):
    assert told(tmp_path, rows) == []
    assert told(tmp_path, pd.concat([rows, rows[:5]])) == []


@pytest.mark.parametrize("n_copies", [6, 100])
def test_copies_are_told_with_a_row(tmp_path, rows, n_copies):
    (sentence,) = told(tmp_path, pd.concat([rows, rows[:n_copies]]))
    start = (
        f"{n_copies} of {100 + n_copies} rows repeat an earlier row in all features and the target, such as row 101."
    )
    assert sentence.startswith(start)
    assert "Remove copies" in sentence


def test_copies_with_missing_cells_and_names_of_their_own_are_copies(tmp_path, rows):
    rows.loc[:50, "a"] = np.nan
    rows.loc[3, "shop"] = None
    both = pd.concat([rows, rows]).assign(customer_id=range(200))
    (sentence,) = told(tmp_path, both)
    assert sentence.startswith("100 of 200 rows repeat")


def test_a_row_for_each_label_is_told_as_such(tmp_path, rows):
    listed = pd.concat([rows.assign(y="x"), rows[:40].assign(y="z")]).sort_values("b")
    (sentence,) = told(tmp_path, listed)
    assert sentence.startswith("40 of 140 rows repeat an earlier row in all features with another target, such as row")
    assert "write it once, with | between its labels" in sentence


def test_repeated_measurements_and_coarse_values_are_ordinary(tmp_path, rows):
    random = np.random.RandomState(1)
    twice = pd.concat([rows, rows])
    assert told(tmp_path, twice.assign(y=random.standard_normal(200))) == []
    coarse = pd.DataFrame(random.randint(0, 3, (200, 3)), columns=["a", "b", "c"]).assign(y=["p", "q"] * 100)
    assert told(tmp_path, coarse) == []


@pytest.mark.parametrize("seed", range(5))
def test_what_is_counted_is_what_pandas_counts(tmp_path, seed):
    random = np.random.RandomState(seed)
    frame = pd.DataFrame({"a": random.randint(0, 40, 400) / 4, "b": random.choice([1.5, 2.5, np.nan], 400)})
    frame = frame.assign(shop=random.choice(["north", "south"], 400), y=random.choice(["p", "q"], 400))
    copies = frame.duplicated()
    others = frame.drop(columns="y").duplicated() & ~copies
    first, second = told(tmp_path, frame)
    assert first.startswith(f"{copies.sum()} of 400 rows")
    assert f"such as row {np.argmax(copies) + 1}." in first
    assert second.startswith(f"{others.sum()} of 400 rows")
    assert f"such as row {np.argmax(others) + 1}." in second


def test_files_of_any_kind_are_told_alike(tmp_path, rows):
    both = pd.concat([rows, rows[:30]], ignore_index=True)
    both.to_csv(tmp_path / "t.csv", index=False)
    both.to_parquet(tmp_path / "t.parquet")
    write_arff(read(tmp_path / "t.csv", target="y"), tmp_path / "t.arff")
    found = [
        read(tmp_path / f"t.{ending}", **said).notes for ending, said in (("csv", {}), ("parquet", {}), ("arff", {}))
    ]
    assert found[0] == found[1] == found[2]
    assert found[0][0].startswith("30 of 130 rows")


@pytest.mark.parametrize("sets", [["a|b", "b"], ["x/1|x/2", "x/2"], ["1.5", "2.5"]])
def test_copies_with_other_targets_than_classes(tmp_path, rows, sets):
    rows["y"] = np.array(sets)[(rows["a"] > 0).astype(int)]
    assert told(tmp_path, rows) == []
    (sentence,) = told(tmp_path, pd.concat([rows, rows[:30]]))
    assert sentence.startswith("30 of 130 rows repeat an earlier row in all features and the target, such as row 101.")
    again = rows[:30].assign(y=rows["y"][:30].map({sets[0]: sets[1], sets[1]: sets[0]}))
    assert told(tmp_path, pd.concat([rows, again])) == []


def test_a_test_part_that_repeats_the_training_part_is_told(tmp_path, rows):
    rows.to_csv(tmp_path / "t.train.csv", index=False)
    rows[50:].to_csv(tmp_path / "t.test.csv", index=False)
    (sentence,) = read([tmp_path / "t.train.csv", tmp_path / "t.test.csv"], target="y").notes
    assert sentence.startswith("50 of 150 rows repeat an earlier row")


@pytest.mark.parametrize("n_copies", [0, 30])
def test_rows_without_a_target_are_for_nothing_to_be_measured_on(tmp_path, rows, n_copies):
    new = pd.concat([rows, rows[:n_copies]]).drop(columns="y")
    new.to_csv(tmp_path / "new.csv", index=False)
    data = read(tmp_path / "new.csv", target=[])
    assert data.y is None
    assert data.n_samples == 100 + n_copies
    assert not [note for note in data.notes if "repeat" in note]
