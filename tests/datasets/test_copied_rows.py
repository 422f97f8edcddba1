"""Rows that stand in a table twice are told, with what to do; ordinary repetition is not."""

import numpy as np
import pandas as pd
import pytest

from ramify.datasets import read


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
def test_copies_are_told_with_a_line(tmp_path, rows, n_copies):
    (sentence,) = told(tmp_path, pd.concat([rows, rows[:n_copies]]))
    start = (
        f"{n_copies} of {100 + n_copies} rows repeat an earlier row in all features and the target, such as line 102."
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
    assert sentence.startswith("40 of 140 rows repeat an earlier row in all features with another target, such as line")
    assert "write it once, with | between its labels" in sentence


def test_repeated_measurements_and_coarse_values_are_ordinary(tmp_path, rows):
    random = np.random.RandomState(1)
    twice = pd.concat([rows, rows])
    assert told(tmp_path, twice.assign(y=random.standard_normal(200))) == []
    coarse = pd.DataFrame(random.randint(0, 3, (200, 3)), columns=["a", "b", "c"]).assign(y=["p", "q"] * 100)
    assert told(tmp_path, coarse) == []


def test_many_copies_are_counted_as_far_as_looked_at(tmp_path, rows, monkeypatch):
    monkeypatch.setattr("ramify.datasets.readers.copied_rows._MOST", 50)
    (sentence,) = told(tmp_path, pd.concat([rows, rows]))
    assert sentence.startswith("At least 2")
    assert " of 200 rows repeat" in sentence
