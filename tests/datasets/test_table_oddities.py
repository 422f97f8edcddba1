"""What is told of tables, and what is not: ordinary text stays what it is."""

import zipfile

import pytest
from ramify.datasets.tables.oddities import label_separator
from ramify.datasets.tables.text_column import TextColumn

from ramify.datasets import read


@pytest.mark.parametrize(
    ("cells", "said", "sign"),
    [
        (["red;green", "green", "red;blue", "blue", None], False, ";"),
        (["red, green", "green", "red, blue", "blue"], False, ","),
        (["Smith, John", "Smith, Anna", "Jones, Eve"], False, None),  # parts that do not recur are no labels
        (["yes, often", "yes, rarely", "no"], False, None),
        (["1,5", "2,5", "1,2"], False, None),
        (["a|b;c", "b;c", "a"], False, None),  # the bar is the usual sign
        (["red;green"], True, ";"),
        (["transport, active", "growth"], True, None),
        (["a;a", "b;a"], False, None),
        (["a;", "b;a"], False, None),
    ],
)
def test_signs_between_labels(cells, said, sign):
    assert label_separator(TextColumn.of(cells), said=said) == sign


def table(path, columns, n_rows=24):
    rows = [",".join(str(make(k)) for make in columns.values()) for k in range(n_rows)]
    path.write_text("\n".join([",".join(columns), *rows]) + "\n", encoding="utf-8")
    return path


def test_nothing_is_told_of_an_ordinary_table(tmp_path):
    ordinary = {"kind": lambda k: "abc"[k % 3], "size": lambda k: k / 7, "code": lambda k: f"{k % 5}A"}
    assert read(table(tmp_path / "t.csv", {**ordinary, "y": lambda k: k % 2}), target="y").notes == ()
    ordinary["code"] = lambda k: f"{k % 5}k"
    (told,) = read(table(tmp_path / "u.csv", {**ordinary, "y": lambda k: k % 2}), target="y").notes
    assert told.startswith("code holds numbers with text beside them, as '0k', and is taken as names.")


def test_columns_get_names_of_their_own(tmp_path):
    (tmp_path / "t.csv").write_text("a,,a,a.1,y\n1,2,3,4,p\n5,6,7,8,q\n", encoding="utf-8")
    data = read(tmp_path / "t.csv", target="y")
    assert data.feature_names == ("a.1_", "column 2", "a.2", "a.1")
    assert data.X.tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]
    with pytest.raises(ValueError, match="target='a' is no column"):
        read(tmp_path / "t.csv", target="a")


def test_an_archive_may_have_any_name(tmp_path):
    with zipfile.ZipFile(tmp_path / "month.zip", "w") as archive:
        archive.writestr("deep/customers.csv", "a,y\n1,p\n2,q\n")
    assert read(tmp_path / "month.zip").X.tolist() == [[1], [2]]
