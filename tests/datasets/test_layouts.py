"""How text, Excel files and standard input are written, found from their content; refusals have a place."""

import io
import sys

import numpy as np
import pytest

from ramify.datasets import FileError, read
from ramify.datasets.readers.sparse_text import read_sparse_text


def test_a_separator_is_found_told_or_asked_for(write):
    assert read(write("a;b;t\n1;2;x\n3;4;y\n", "t.csv")).notes == ("Cells are separated by semicolons.",)
    assert read(write("a\tt\n1\tx\n", "t.csv")).feature_names == ("a",)
    assert read(write('a,"b;c",t\n1,2,x\n', "t.csv")).feature_names == ("a", "b;c")
    assert read(write("a,t\n1,x|y\n2,x\n", "t.csv")).target == "labels"
    both = write("a,b;c,t\n1,2;3,x\n", "t.csv")
    with pytest.raises(FileError, match=r"may be separated by commas or semicolons. Say which: separator=','"):
        read(both)
    assert read(both, separator=",").feature_names == ("a", "b;c")
    assert read(both, separator="semicolon", kind="classes").feature_names == ("a,b",)
    with pytest.raises(FileError, match="line 3, column 4: the row has 1 cells and the header has 2"):
        read(write("a;t\n1;x\n2  \n", "t.csv"))


def test_encodings_are_found_and_told(write):
    text = "Größe,Art\n1.5,Bär\n2.5,Wolf\n"
    for encoding, told in (("utf-8", None), ("utf-8-sig", None), ("utf-16", "UTF-16"), ("latin-1", "read as Latin-1")):
        data = read(write(text.encode(encoding), "t.csv"))
        assert (data.feature_names, data.label_names) == (("Größe",), ("Bär", "Wolf"))
        assert len(data.notes) == (told is not None)
        assert told is None or told in data.notes[0]
    assert "Windows-1252" in read(write("a,t\n1,5€\n".encode("cp1252"), "t.csv")).notes[0]
    damaged = text.encode() + b"3,\xff\n"
    with pytest.raises(FileError, match="byte 0xff is not valid utf-8"):
        read(write(damaged, "t.csv"))


def test_standard_input_is_read_and_called_by_its_name(monkeypatch):
    def given(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    given(b"a,t\n1,x\n2,y\n")
    data = read("-")
    assert (data.source, data.X.tolist()) == ("standard input", [[1], [2]])
    given(b"% a comment\n@relation r\n@attribute a numeric\n@attribute t {x,y}\n@data\n1,x\n")
    assert read("-").target == "classes"
    given(b"a,t\n1,x\n2\n")
    with pytest.raises(FileError, match="^standard input, line 3, column 2: the row has 1 cells"):
        read("-")
    given(b"a,t\n1,x\n")
    with pytest.raises(ValueError, match="target='u' is no column of standard input"):
        read("-", target="u")
    with pytest.raises(ValueError, match="can be read once"):
        read(["-", "-"])


def test_sparse_text_is_read_exactly_or_refused(write):
    good = "3 4 3\n0,2 1:0.5 3:2e-1\n 0:1\n1\n"
    data = read(write(good, "t.txt"))
    assert data.y.toarray().tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 0]]
    assert data.X.toarray().tolist() == [[0, 0.5, 0, 0.2], [1, 0, 0, 0], [0, 0, 0, 0]]
    for text, words in {
        "2 4 3\n0 1:1\n": "line 1: the first line promises 2 rows and 1 follow",
        "1 4 3\n0 4:1\n": "line 2: feature 4 is outside 0 to 3",
        "2 4 3\n0 1:1\n3 1:1\n": "line 3: label 3 is outside 0 to 2",
        "1 4 3\n0 1:1 1:2\n": "line 2: feature 1 is given twice",
        "1 4 3\n0 1:x\n": "line 2: '0 1:x' is no row of labels and features",
        "4 3\n0 1:1\n": "line 1: the first line '4 3' holds no three sizes",
    }.items():
        with pytest.raises(FileError, match=words):
            read_sparse_text(write(text, "t.txt"))
    row = "0 " + " ".join("1:" + "1" * 30 for _ in range(5000)) + " x"
    with pytest.raises(FileError, match="is no row"):  # in linear time
        read_sparse_text(write(f"1 4 3\n{row}\n", "t.txt"))


def test_excel_asks_for_a_sheet_and_takes_the_rest_as_it_is(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")

    def book(*sheets):
        made = openpyxl.Workbook()
        made.remove(made.active)
        for title, rows in sheets:
            sheet = made.create_sheet(title)
            for row in rows:
                sheet.append(row)
        made.save(tmp_path / "t.xlsx")
        return tmp_path / "t.xlsx"

    table = [["a", "b", "t"], [1, None, "x"], [2.5, "n/a", "y"], [None, True, "x"]]
    data = read(book(("one", table), ("empty", [])))
    np.testing.assert_array_equal(data.X, [[1, np.nan], [2.5, np.nan], [np.nan, 1]])
    two = book(("one", table), ("two", table[:3]))
    with pytest.raises(
        FileError, match=r"there are 2 sheets with cells: 'one', 'two'. Say which: sheet='one' \(--sheet\)"
    ):
        read(two)
    assert read(two, sheet="two").n_samples == 2
    with pytest.raises(FileError, match="there is no sheet 'three'. It has 'one', 'two'"):
        read(two, sheet="three")
    titled = read(book(("one", [["Report of March"], *table])))
    assert titled.feature_names == data.feature_names
    assert read(book(("one", [["a", "b", "t"], ["#DIV/0!", 2, "x"], [3, 1, "y"]]))).X.tolist()[1] == [3, 1]
    (tmp_path / "t.xlsx").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(FileError, match="this is no readable Excel file"):
        read(tmp_path / "t.xlsx")


def test_options_that_a_reader_does_not_take_are_named(write):
    arff = write("@relation r\n@attribute a numeric\n@attribute t {x,y}\n@data\n1,x\n", "t.arff")
    with pytest.raises(ValueError, match="takes no 'dates'. It takes target"):
        read(arff, dates="days")
    assert read(arff, roles=None).target == "classes"


def test_rows_of_another_width_are_refused_with_their_line(write):
    for body, line in (("1,2\n3\n", 3), ("1,2\n3,4,5\n", 3), ('"1\n1",2\n"x",3,4\n', 4), ("1,2\n\n5\n", 4)):
        with pytest.raises(FileError, match=f"t.csv, line {line}.*the row has . cells and the header has 2"):
            read(write(f"a,t\n{body}", "t.csv"))


def test_lines_above_and_below_a_table_are_left_out_and_told(write):
    table = "a,b,t\n1,x,p\n2,y,q\n3,x,p\n"
    expected = read(write(table, "t.csv"), target="t")
    for text in (
        f"Report of May\n\n{table}",
        f"Report of May,,\nby the shop,,\n{table}",
        f"{table}\nSource: the shop\nThree rows in all\n",
    ):
        data = read(write(text, "t.csv"), target="t")
        np.testing.assert_array_equal(data.X, expected.X)
        assert any("left out" in note for note in data.notes)


def test_names_without_one_for_the_rows_are_those_of_r(write):
    data = read(write("a\tt\nr1\t1\tp\nr2\t2\tq\nr3\t3\tp\n", "t.tsv"), target="t")
    assert data.feature_names == ("column 1", "a")


def test_decimals_are_exact(write):
    rng = np.random.default_rng(0)
    values = rng.normal(size=300) * 10.0 ** rng.integers(-20, 20, 300)
    file = write("a,t\n" + "".join(f"{value!r},{k % 2}\n" for k, value in enumerate(values.tolist())), "t.csv")
    np.testing.assert_array_equal(read(file, roles=None).X[:, 0], values)


def test_padded_codes_and_large_numbers_keep_their_digits(write):
    rows = "".join(f"{k % 3:03d},{2**60 + k % 4},{k // 7 % 2}\n" for k in range(40))
    data = read(write(f"code,large,t\n{rows}", "t.csv"))
    assert data.categories == (("000", "001", "002"), tuple(str(2**60 + k) for k in range(4)))


def test_a_name_of_several_lines_costs_no_row(write):
    path = write('a,"how many,\ndo you have?",kind\n' + "".join(f"{k},{k + 0.5},x{k % 2}\n" for k in range(6)), "t.csv")
    data = read(path, "kind")
    assert data.n_samples == 6
    assert data.X[0].tolist() == [0, 0.5]


def test_titles_do_not_hide_what_separates_cells(write):
    rows = "".join(f"{k},5;{k % 7},25;x{k % 2}\n" for k in range(40))
    data = read(write(f"Station 5\nexported in May\ntemp;rain;kind\n{rows}", "t.csv"), "kind")
    assert data.feature_names == ("temp", "rain")
    assert data.X[1].tolist() == [1.5, 1.25]


def test_a_last_row_that_sums_up_the_others_is_left_out(write):
    rows = "".join(f"shop {k},{k},{k % 3},x{k % 2}\n" for k in range(30))
    data = read(write(f"shop,sold,staff,kind\n{rows}Total,{sum(range(30))},30,x1\n", "t.csv"), "kind")
    assert data.n_samples == 30
    assert any("'Total', sums up the others and is left out" in note for note in data.notes)
    data = read(write(f"shop,sold,staff,kind\n{rows}Total,7,9,x1\n", "t.csv"), "kind")
    assert data.n_samples == 31
