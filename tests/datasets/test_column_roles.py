"""Roles of columns: what names the rows, dates, constants and copies of the target, and what only looks so."""

import numpy as np
import pytest
from ramify.datasets.tables.inspection import names_rows

from ramify.datasets import FileError, read

N = 40


def table(write, columns, name="t.csv"):
    """A file of text columns, 40 rows each, and a target of two classes in a random order."""
    rng = np.random.default_rng(0)
    columns = {**columns, "t": rng.permutation(["a", "b"] * (N // 2)).tolist()}
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    return write("\n".join(lines) + "\n", name)


def numbers(low, high, seed=1):
    return np.random.default_rng(seed).choice(np.arange(low, high), N, replace=False).tolist()


@pytest.mark.parametrize(
    ("name", "values", "is_identifier"),
    [
        ("code", [f"c{k}" for k in range(N)], True),
        ("code", [f"c{k % 20}" for k in range(N)], False),
        ("code", [f"c{max(k, 2)}" for k in range(N)], True),  # 38 of 40 rows differ: 95 %
        ("code", [f"c{max(k, 3)}" for k in range(N)], False),
        ("Customer ID", numbers(1e6, 9e6), True),
        ("customerid", numbers(1e6, 9e6), True),
        ("Kundennummer", numbers(1e6, 9e6), True),
        ("income", numbers(1e4, 9e4), False),  # whole, nearly all different, and measured
        ("number of visits", numbers(0, 1000), False),
        ("row", list(range(5, 5 + N)), True),  # counts on
        ("shuffled", np.random.default_rng(3).permutation(N).tolist(), True),
        ("id", [k + 0.5 for k in range(N)], False),  # fractions are measured
    ],
)
def test_identifiers_are_told_from_measured_numbers(write, name, values, is_identifier):
    data = read(table(write, {"x": np.random.default_rng(2).normal(size=N).tolist(), name: values}))
    assert (name not in data.feature_names) == is_identifier
    assert (data.ids is not None) == is_identifier
    assert (data.roles.identifier == name) == is_identifier


def test_rising_whole_numbers_name_rows_in_the_first_column_only(write):
    rising = np.cumsum(numbers(1, 1000)).tolist()
    x = np.random.default_rng(2).normal(size=N).tolist()
    assert read(table(write, {"a": rising, "x": x})).roles.identifier == "a"
    assert read(table(write, {"x": x, "a": rising})).roles.identifier is None


def test_of_several_identifiers_the_one_called_so_goes_through(write):
    columns = {"name": [f"n{k}" for k in range(N)], "id": [f"i{k}" for k in range(N)], "x": [k % 7 for k in range(N)]}
    data = read(table(write, columns))
    assert data.ids.tolist() == columns["id"]
    assert data.left_out == {"name": "text with another value in every row"}
    assert data.notes == (
        "id names the rows: text with another value in every row.",
        "name is left out: text with another value in every row.",
    )
    assert read(table(write, columns), identifier="name").ids.tolist() == columns["name"]
    assert read(table(write, columns), identifier=None).ids is None
    assert read(table(write, columns), keep="*").feature_names == ("name", "id", "x")


def test_constants_and_copies_are_left_out_unless_kept(write):
    x = [k % 7 for k in range(N)]
    columns = {"unit": ["kg"] * N, "empty": [""] * N, "half": ["kg", ""] * (N // 2), "x": x}
    file = table(write, columns)
    copy = ["1" if line.endswith("a") else "0" for line in file.read_text().splitlines()[1:]]
    file = table(write, {**columns, "copy": copy})
    data = read(file)
    assert data.left_out == {
        "unit": "'kg' in every row",
        "empty": "empty in every row",
        "copy": "a copy of the target",
    }
    assert data.feature_names == ("half", "x")
    assert read(file, keep=["copy", "uni*"]).feature_names == ("unit", "half", "x", "copy")
    assert len(read(file, roles=None).feature_names) == 5
    almost = ["0" if copy[0] == "1" else "1", *copy[1:]]
    assert "copy" in read(table(write, {**columns, "copy": almost})).feature_names


def test_copies_of_a_label_and_of_a_number(write):
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, N))
    c = rng.normal(size=N)
    lines = ["x,not_a,a,b,c,d,c2"]
    lines += [f"{k % 7},{['yes', 'no'][a[k]]},{a[k]},{b[k]},{c[k]},{rng.normal()},{c[k]}" for k in range(N)]
    file = write("\n".join(lines), "t.csv")
    assert read(file, target=["a", "b"]).left_out == {"not_a": "a copy of the target"}
    assert read(file, target="c", ignore=["a"]).left_out == {"c2": "a copy of the target"}


def test_few_rows_say_nothing_of_roles(write):
    data = read(write("id,unit,x,t\na,kg,1,p\nb,kg,2,q\n", "t.csv"))
    assert data.feature_names == ("id", "unit", "x")
    assert data.left_out == {}


def test_many_columns_of_one_role_are_told_in_one_line(write):
    columns = {f"c{j}": ["k"] * N for j in range(9)} | {"x": [k % 7 for k in range(N)]}
    assert read(table(write, columns)).notes == ("c0, c1, c2, c3 and 5 more are left out: 'k' in every row.",)


def test_a_column_that_nobody_would_predict_is_not_taken_by_its_place(write):
    dates = "\n".join(f"{k % 7},2024-01-{1 + k % 28:02d}" for k in range(N))
    with pytest.raises(ValueError, match=r"'day', holds dates and is hardly the target. Name the target: target='...'"):
        read(write(f"x,day\n{dates}\n", "t.csv"))
    sets = "\n".join(f"{k},l{k}|l{k % 7}" for k in range(N))
    assert read(write(f"x,sets\n{sets}\n", "t.csv"), keep="x").target == "labels"


def test_a_target_named_in_full_is_not_ignored_by_a_wildcard(write):
    file = write("x,p_a,p_b\n" + "1,0,1\n2,1,1\n3,1,0\n", "t.csv")
    assert read(file, target="p_a", ignore="p_*").feature_names == ("x",)
    assert read(file, target="p_*", ignore="p_b").label_names == ("0", "1")
    with pytest.raises(ValueError, match="All target columns are to be left out"):
        read(file, target="p_*", ignore="p_*")


def test_names_with_stars_and_brackets_are_names_first(write):
    file = write("a*,ab,a[1],t\n1,2,3,x\n4,5,6,y\n", "t.csv")
    assert read(file, ignore="a*").feature_names == ("ab", "a[1]")
    assert read(file, ignore="a[*").feature_names == ("a*", "ab")


def test_one_column_of_0_and_1_is_two_classes_unless_said(write):
    file = write("x,t\n" + "".join(f"{k % 7},{k % 2}\n" for k in range(N)), "t.csv")
    assert (read(file).target, read(file).label_names) == ("classes", ("0", "1"))
    assert read(file, kind="numbers").y.tolist() == [k % 2 for k in range(N)]
    lone = write("x,t\n1,0\n2,\n3,1\n", "t.csv")
    with pytest.raises(FileError, match=r"line 3, column 3: 't' is missing. Fill it in, or leave out the row."):
        read(lone)


def test_an_empty_label_cell_is_refused_with_its_row(write):
    file = write("x,a,b\n1,0,1\n2,,1\n3,1,1\n", "t.csv")
    with pytest.raises(
        FileError, match=r"line 3, column 3: the label 'a' is empty. Write 0 or 1, or say kind='labels'"
    ):
        read(file, target=["a", "b"])
    unknown = read(file, target=["a", "b"], kind="labels")
    np.testing.assert_array_equal(unknown.y, [[0, 1], [np.nan, 1], [1, 1]])
    assert unknown.notes == ("1 empty label cells are unknown: neither a label nor none.",)
    assert np.isnan(read(file, target=["a", "b"], kind="numbers").y[1, 0])


@pytest.mark.parametrize("name", ["id", "ID", "Customer ID", "customerId", "patient_id", "Order No", "row number"])
def test_names_of_identifiers(name):
    assert names_rows(name)


@pytest.mark.parametrize("name", ["paid", "width", "number of rooms", "no of visits", "nation", "income", "", "42"])
def test_names_of_no_identifiers(name):
    assert not names_rows(name)


def test_parquet_and_excel_have_the_same_roles_as_csv(tmp_path):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "id": [f"i{k}" for k in range(N)],
            "at": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(N), unit="D"),
            "unit": "kg",
            "x": rng.normal(size=N).round(3),
            "t": rng.choice(["a", "b"], N),
        }
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    one, *others = (read(tmp_path / name, dates="days") for name in ("t.csv", "t.parquet", "t.xlsx"))
    for other in others:
        np.testing.assert_array_equal(other.X, one.X)
        assert other.ids.tolist() == one.ids.tolist()
        assert (other.left_out, other.feature_names) == (one.left_out, one.feature_names)
        assert (other.roles.features, other.roles.dates) == (one.roles.features, one.roles.dates)


def test_ignored_columns_of_parquet_are_not_read(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    columns = {"a": [1, 2], "gap": pa.array([1, 2], type=pa.duration("s")), "t": ["x", "y"]}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    with pytest.raises(FileError, match=r"ignore=\['gap'\] \(--ignore\)"):
        read(tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet", ignore="gap").feature_names == ("a",)
