"""Unknown labels and numbers in files: read, described and written back."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from ramify import Hierarchy
from ramify.datasets import Dataset, read, write_arff
from ramify.datasets.description import describe
from ramify.datasets.readers.arff import read_arff

NAN = np.nan


def cells(data):
    return data.y.toarray() if sparse.issparse(data.y) else np.asarray(data.y)


def test_question_marks_of_arff_labels_and_numbers_are_unknown(tmp_path):
    file = tmp_path / "some.arff"
    file.write_text(
        "@relation r\n@attribute x numeric\n@attribute a {0,1}\n@attribute b {0,1}\n@data\n1,?,1\n2,0,?\n3,1,0\n"
    )
    data = read_arff(file, target=["a", "b"])
    np.testing.assert_array_equal(cells(data), [[NAN, 1], [0, NAN], [1, 0]])
    np.testing.assert_allclose(data.known_share, [2 / 3, 2 / 3])
    assert data.label_counts.tolist() == [1, 1]


def test_a_row_without_paths_is_unknown_and_an_empty_one_has_none(tmp_path):
    file = tmp_path / "paths.arff"
    header = "@relation r\n@attribute x numeric\n@attribute class hierarchical a,a/b,c\n@data\n"
    file.write_text(header + "1,a/b\n2,?\n3,''\n")
    data = read_arff(file)
    np.testing.assert_array_equal(cells(data), [[1, 1, 0], [NAN, NAN, NAN], [0, 0, 0]])
    write_arff(data, tmp_path / "again.arff")
    np.testing.assert_array_equal(cells(read_arff(tmp_path / "again.arff")), cells(data))


@pytest.mark.parametrize("storage", [np.asarray, sparse.csc_array])
def test_unknown_cells_are_written_and_read_back(tmp_path, storage):
    X = storage(np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]]))
    labels = Dataset(X, y=np.array([[1, NAN], [NAN, 0], [0, 1.0]]), target="labels", label_names=("a", "b"))
    write_arff(labels, tmp_path / "labels.arff")
    again = read_arff(tmp_path / "labels.arff", target=["a", "b"])
    np.testing.assert_array_equal(cells(again), labels.y)
    numbers = replace(labels, y=np.array([[1.5, NAN], [NAN, 2.5], [0, 1.0]]), target="numbers")
    write_arff(numbers, tmp_path / "numbers.arff")
    np.testing.assert_array_equal(cells(read_arff(tmp_path / "numbers.arff", target=["a", "b"])), numbers.y)


def test_rows_known_in_part_do_not_fit_a_hierarchical_attribute(tmp_path):
    tree = Hierarchy.from_paths(["a", "a/b"])
    data = Dataset(
        np.eye(2), y=np.array([[1, NAN], [0, 0]]), target="hierarchy", label_names=tree.names, hierarchy=tree
    )
    with pytest.raises(ValueError, match="Row 0 knows some of its labels and others not"):
        write_arff(data, tmp_path / "no.arff")


def test_empty_label_cells_of_a_table_are_unknown_when_asked_for(tmp_path):
    file = tmp_path / "some.csv"
    file.write_text("x,a,b\n1,,1\n2,0,\n3,1,0\n")
    data = read(file, target=["a", "b"], kind="labels")
    np.testing.assert_array_equal(cells(data), [[NAN, 1], [0, NAN], [1, 0]])


@pytest.mark.parametrize(("word", "given"), [("-1", -1), ("9", "9"), ("unk", "unk")])
def test_another_word_for_unknown_is_named(tmp_path, word, given):
    file = tmp_path / "some.csv"
    file.write_text(f"x,a,b\n1,{word},1\n2,0,{word}\n3,1,0\n")
    np.testing.assert_array_equal(cells(read(file, ["a", "b"], unknown=given)), [[NAN, 1], [0, NAN], [1, 0]])
    with pytest.raises(ValueError, match="Write 0 or 1, and nothing where it is unknown"):
        cells(read(file, ["a", "b"], kind="labels"))


def test_a_word_for_unknown_leaves_its_row_out(tmp_path):
    file = tmp_path / "sets.csv"
    file.write_text("x,labels\n1,a|b\n2,?\n3,\n4,b\n")
    data = read(file, target="labels", kind="labels", unknown="?", missing=("",))
    np.testing.assert_array_equal(cells(data), [[1, 1], [0, 1]])


def test_a_hierarchy_closes_what_is_known(tmp_path):
    (tmp_path / "order.csv").write_text("parent,child\nanimal,cat\nanimal,dog\n")
    (tmp_path / "pets.csv").write_text("x,cat,dog\n1,1,?\n2,0,0\n3,?,0\n")
    data = read(tmp_path / "pets.csv", ["cat", "dog"], unknown="?", hierarchy=tmp_path / "order.csv", kind="labels")
    assert data.label_names == ("animal", "cat", "dog")
    np.testing.assert_array_equal(cells(data), [[1, 1, NAN], [0, 0, 0], [NAN, NAN, 0]])


def test_the_description_says_how_much_is_known():
    labels = Dataset(np.eye(3), y=np.array([[1, NAN], [NAN, NAN], [0, 1.0]]), target="labels", label_names=("a", "b"))
    described = describe(labels)
    assert described["missing_labels"] == 3
    np.testing.assert_allclose(described["known_share"], 0.5)
    assert described["least_known"] == "b (33%)"
    assert describe(replace(labels, y=np.eye(3)[:, :2])).get("known_share") is None
    stored = replace(labels, y=sparse.csr_array(labels.y))
    assert describe(stored) == described
