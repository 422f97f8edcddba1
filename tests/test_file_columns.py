"""The array of one file is not taken for that of another whose columns or codes are others."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import ramify
from ramify.datasets import read
from ramify.features.frames import take_rows
from tests.metamorphic import cases

ROWS = [("red", 1.0), ("blue", 2.0), ("green", 3.0), ("red", 4.0)] * 8


def file(folder, name, rows, *, swapped=False):
    head, order = ("size,colour", (1, 0)) if swapped else ("colour,size", (0, 1))
    lines = [f"{row[order[0]]},{row[order[1]]},{'yes' if row[1] > 2 else 'no'}" for row in rows]
    (folder / name).write_text(f"{head},kind\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return read(folder / name, target="kind", identifier=None)


@pytest.fixture
def files(tmp_path):
    first = file(tmp_path, "a.csv", ROWS)
    return {
        "first": first,
        "same": file(tmp_path, "b.csv", ROWS[::-1]),
        "fewer values": file(tmp_path, "c.csv", [row for row in ROWS if row[0] != "blue"]),
        "other order": file(tmp_path, "d.csv", ROWS, swapped=True),
    }


def test_arrays_of_files_with_other_columns_or_codes_are_refused(files):
    first = files["first"]
    forest = ramify.ForestClassifier(5, categorical_features=first.categorical_features, random_state=0)
    forest.fit(first.X, first.y)
    assert (forest.predict(files["same"].X) == files["same"].y).all()
    for name in ("fewer values", "other order"):
        with pytest.raises(
            ValueError, match=r"whose columns are not those that ForestClassifier was fitted to.*to_frame"
        ):
            forest.predict(files[name].X)
    named = ramify.ForestClassifier(5, random_state=0).fit(first.to_frame(), first.y)
    few = files["fewer values"]
    assert (named.predict(few.to_frame()) == few.y).all()


def test_what_does_not_know_its_file_is_taken_as_it_is(files):
    first = files["first"]
    forest = ramify.ForestClassifier(5, random_state=0).fit(first.X, first.y)
    plain = np.asarray(files["fewer values"].X)
    assert len(forest.predict(plain)) == len(plain)
    forest.fit(plain, files["fewer values"].y)
    assert not hasattr(forest, "file_columns_")
    forest.predict(first.X)


def test_rows_copies_and_models_in_files_remember(files, tmp_path):
    first, other = files["first"].X, files["other order"].X
    for part in (first[3:], first[[0, 2]], take_rows(first, np.array([1])), copy.deepcopy(first), first.copy()):
        assert part.columns_of_file == first.columns_of_file
    assert np.array_equal(pickle.loads(pickle.dumps(first)), first)
    forest = ramify.ForestClassifier(5, random_state=0).fit(first, files["first"].y)
    ramify.save(forest, tmp_path / "m.ramify")
    with pytest.raises(ValueError, match="whose columns are not those"):
        ramify.load(tmp_path / "m.ramify").predict(other)
    assert cross_val_score(clone(forest), first, files["first"].y, cv=2).mean() > 0.5


def test_what_is_computed_of_an_array_is_plain(files):
    X = files["first"].X
    for computed in (X + 1, np.isnan(X), X.mean(axis=0), np.log1p(X)):
        assert type(computed) is np.ndarray
    assert isinstance(X.max(), np.floating)
    assert round(np.isnan(X).mean(axis=1).max(), 1) == 0
    assert type(X[1:]) is type(X)


NUMERIC = [name for name, case in cases.CASES.items() if case.features != "terms" and hasattr(case.make(), "predict")]


@pytest.mark.parametrize("name", NUMERIC)
def test_every_estimator_that_predicts_refuses_columns_in_another_order(name, tmp_path):
    case = cases.CASES[name]
    rng = np.random.default_rng(0)
    values = rng.normal(size=(cases.N_ROWS, 3)).round(2)
    for file_name, order in (("a.csv", [0, 1, 2]), ("b.csv", [2, 1, 0])):
        lines = [",".join(f"f{j}" for j in order), *(",".join(str(row[j]) for j in order) for row in values)]
        (tmp_path / file_name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    one, other = (read(tmp_path / name, target=[], identifier=None).X for name in ("a.csv", "b.csv"))
    Y = np.tile([[0, 0, 0], [1, 1, 1], [1, 0, 0], [0, 1, 1]], (6, 1))
    targets = {
        "classes": np.array(["no", "yes"])[Y[:, 0]],
        "labels": Y,
        "hierarchy": np.asarray(cases.LABELS.close(Y)),
        "numbers": values[:, :2],
        "rankings": np.tile([[1.0, 2, 3], [3, 1, 2]], (12, 1)),
    }
    targets["mixed"] = np.column_stack([values[:, 0].astype(object), targets["classes"].astype(object), Y[:, 1]])
    fitted = case.make().fit(one, targets[case.target.removeprefix("unknown ")])
    fitted.predict(one)
    with pytest.raises(ValueError, match="whose columns are not those that"):
        fitted.predict(other)
