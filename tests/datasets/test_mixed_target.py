"""Targets of different kinds in one file."""

import numpy as np
import pandas as pd
import pytest

from ramify import Hierarchy
from ramify.datasets import read, write_arff
from ramify.datasets.description import describe

ROWS = {
    "size": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5],
    "Price": [1.0, 2.5, None, 4.0, 5.5, 6.0],
    "Colour": ["red", "blue", "red", None, "blue", "blue"],
    "P_a": [0, 1, 1, 0, 1, 0],
    "P_b": [1, 1, 0, 0, 0, 1],
    "Tags": ["x|y", "y", "x", "x|z", "z", "y"],
    "Place": ["a/b", "a|c", "c", "a/b|c", "a", "c"],
}


@pytest.fixture
def table(tmp_path):
    file = tmp_path / "table.csv"
    pd.DataFrame(ROWS).to_csv(file, index=False)
    return file


def chosen(table, *target, **options):
    others = [name for name in ROWS if name != "size" and not any(name.startswith(t.strip("*")) for t in target)]
    return read(table, target=list(target), ignore=others, **options)


def test_every_name_of_a_target_is_a_target_with_its_own_kind(table):
    data = chosen(table, "Price", "Colour", "P_*")
    assert (data.target, data.label_names, data.feature_names) == ("mixed", ("Price", "Colour", "P_*"), ("size",))
    assert data.targets == {"Price": "numbers", "Colour": "classes", "P_*": ["P_a", "P_b"]}
    expected = pd.DataFrame(ROWS)[["Price", "Colour", "P_a", "P_b"]]
    assert data.y.drop(columns="Colour").astype(float).equals(expected.drop(columns="Colour").astype(float))
    assert data.y["Colour"].fillna("?").tolist() == expected["Colour"].fillna("?").tolist()
    assert data.notes == (
        "Targets of different kinds stand side by side: Price (a number), Colour (2 classes), P_* (2 labels); 2 of "
        "their cells are unknown.",
    )
    np.testing.assert_allclose(data.known_share, [5 / 6, 5 / 6, 1.0])
    assert describe(data)["targets"] == {"Price": "numbers", "Colour": "classes", "P_*": "2 labels"}
    assert data.rows(np.array([3, 0])).y["P_a"].tolist() == [0, 0]


def test_sets_and_paths_in_one_column_stand_beside_others(table):
    data = chosen(table, "Price", "Tags", "Place")
    assert data.targets["Tags"] == ["x", "y", "z"]
    assert isinstance(data.targets["Place"], Hierarchy)
    assert list(data.y) == ["Price", "x", "y", "z", *data.targets["Place"].names]
    assert data.y.loc[0, ["x", "y", "z", "a", "a/b", "c"]].tolist() == [1, 1, 0, 1, 1, 0]


@pytest.mark.parametrize(
    ("target", "kind"),
    [(("P_a", "P_b"), "labels"), (("Price", "size"), "numbers"), (("P_*",), "labels"), (("Price",), "numbers")],
)
def test_columns_of_one_kind_are_one_target_as_ever(table, target, kind):
    data = read(table, target=list(target), ignore=[name for name in ROWS if name not in target and name[:2] != "P_"])
    assert data.target == kind
    assert not data.targets


def test_a_kind_for_all_is_kept(table):
    data = read(table, target=["Price", "P_*"], kind="numbers", ignore=["Colour", "Tags", "Place"])
    assert data.target == "numbers"
    assert data.y.shape == (6, 3)


def test_another_file_is_read_by_the_roles_of_the_first(table, tmp_path):
    data = chosen(table, "Price", "Colour", "P_*")
    other = tmp_path / "other.csv"
    pd.DataFrame({"Colour": ["red", "red"], "size": [1.0, 2.0], "P_b": [1, 1], "P_a": [1, 1]}).to_csv(
        other, index=False
    )
    again = read(other, roles=data.inspection.to_dict())
    assert set(again.targets) == {"Colour", "P_*"}
    assert sorted(again.targets["P_*"]) == ["P_a", "P_b"]
    assert again.y["P_b"].tolist() == [1, 1]


def test_arff_targets_of_different_kinds_stand_side_by_side(tmp_path):
    file = tmp_path / "mixed.arff"
    file.write_text(
        "@relation r\n@attribute size numeric\n@attribute price numeric\n@attribute colour {red,blue,green}\n"
        "@attribute p_a {0,1}\n@attribute p_b {0,1}\n@attribute place hierarchical a,a/b,c\n@data\n"
        "1,2.5,red,0,1,a/b\n2,?,?,1,1,c\n3,4.5,green,0,0,?\n"
    )
    data = read(file, target=["price", "colour", "p_*", "place"])
    assert data.label_names == ("price", "colour", "p_*", "place")
    assert data.targets["p_*"] == ["p_a", "p_b"]
    assert data.y["colour"].fillna("?").tolist() == ["red", "?", "green"]
    assert data.y["p_b"].tolist() == [1, 1, 0]
    assert data.y.loc[0, ["a", "a/b", "c"]].tolist() == [1, 1, 0]
    assert data.y.loc[2, ["a", "a/b", "c"]].isna().all()


def test_several_kinds_are_not_written_as_arff(table, tmp_path):
    with pytest.raises(ValueError, match="ARFF files say nothing of targets of different kinds"):
        write_arff(chosen(table, "Price", "Colour"), tmp_path / "out.arff")
    assert not (tmp_path / "out.arff").exists()


def test_rankings_and_names_that_clash_are_refused(tmp_path):
    file = tmp_path / "table.csv"
    pd.DataFrame({"f": [1.0, 2.0], "n": [0.5, 1.5], "order": ["a>b", "b>a"], "s": ["n|m", "m"]}).to_csv(
        file, index=False
    )
    with pytest.raises(ValueError, match="The target 'order' holds rankings, which stand beside no other target"):
        read(file, target=["n", "order"], ignore=["s"])
    with pytest.raises(ValueError, match="Two targets have a column or label 'n'"):
        read(file, target=["n", "s"], ignore=["order"])


@pytest.mark.parametrize(
    ("written", "numbers"),
    [
        (["1,5", "2,25", "", "4,0", "5,5", "6,0"], [1.5, 2.25, np.nan, 4.0, 5.5, 6.0]),
        (["1.000,5", "2,25", "", "4,0", "5,5", "6,0"], [1000.5, 2.25, np.nan, 4.0, 5.5, 6.0]),
        (["10 %", "20 %", "", "40 %", "5 %", "60 %"], [10, 20, np.nan, 40, 5, 60]),
    ],
)
def test_numbers_beside_other_targets_may_be_written_as_people_write_them(tmp_path, written, numbers):
    """One such target was read as numbers, but several as classes, or refused as no numbers."""
    alone = tmp_path / "table.csv"
    lines = ["size;Price;Weight;Colour"]
    lines += [f"{k};{cell};{k},5;{'ab'[k % 2]}" for k, cell in enumerate(written)]
    alone.write_text("\n".join(lines) + "\n")
    one = read(alone, target="Price", ignore=["Weight", "Colour"])
    mixed = read(alone, target=["Price", "Colour"], ignore=["Weight"])
    assert mixed.targets == {"Price": "numbers", "Colour": "classes"}
    several = read(alone, target=["Price", "Weight"], ignore=["Colour"])
    assert several.target == "numbers"
    np.testing.assert_allclose(np.ravel(one.y), [number for number in numbers if not np.isnan(number)])
    for found in (mixed.y["Price"].to_numpy(dtype=float), several.y[:, 0]):
        np.testing.assert_allclose(found, numbers)
    again = read(alone, roles=mixed.inspection.to_dict())
    np.testing.assert_allclose(again.y["Price"].to_numpy(dtype=float), mixed.y["Price"].to_numpy(dtype=float))
