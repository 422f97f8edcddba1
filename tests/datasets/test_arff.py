"""ARFF files: what is read, and how faults are told."""

import numpy as np
import pytest

from ramify.datasets import FileError, read_arff


def test_reads_numbers_nominals_and_missing_values(write):
    data = read_arff(
        write("@relation r\n@attribute a numeric\n@attribute b {x,y}\n@attribute c {n,p}\n@data\n1.5,y,p\n?,?,n\n")
    )
    np.testing.assert_array_equal(data.X, [[1.5, 1], [np.nan, np.nan]])
    assert data.categories == (None, ("x", "y"))
    assert data.target == "classes"
    assert data.y.tolist() == [1, 0]
    assert data.label_names == ("n", "p")


def test_files_of_a_set_become_parts(write):
    text = "@relation r\n@attribute a numeric\n@attribute c {n,p}\n@data\n"
    train, test = write(text + "1,n\n2,p\n", "s.train.arff"), write(text + "3,p\n", "s.test.arff")
    data = read_arff([train, test])
    assert {name: rows.tolist() for name, rows in data.parts.items()} == {"train": [0, 1], "test": [2]}
    assert data.part("test").X.tolist() == [[3]]


def test_files_that_declare_other_attributes_are_refused(write):
    one = write("@relation r\n@attribute a numeric\n@attribute c {n,p}\n@data\n1,n\n", "one.arff")
    other = write("@relation r\n@attribute a numeric\n@attribute c {p,n}\n@data\n1,n\n", "other.arff")
    with pytest.raises(FileError, match=r"other.arff, line 3: the values of attribute 'c' differ"):
        read_arff([one, other])
