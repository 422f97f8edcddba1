"""How people write tables: separators, decimal signs, encodings, dates; found, told, or asked for by the option."""

import io
import sys

import numpy as np
import pandas as pd
import pytest
from ramify.datasets.readers.date_notation import date_formats

from ramify.datasets import FileError, read, read_sparse_text
from ramify.features.number_notation import decimal_signs, written_numbers


@pytest.mark.parametrize(
    ("cells", "signs"),
    [
        (["1,5", "2"], ","),
        (["1.234,50"], ","),
        (["1.234.567"], ","),
        (["1,234.50"], "."),
        (["12,345,678"], "."),
        (["1,234"], ".,"),
        (["1 234", "950"], "."),
        (["1'234.5"], "."),
        (["12%", "7 %"], "."),
        (["€ 1.200,00"], ","),
        (["-$5", "$7"], "."),
        (["1,5", "1.5"], ""),
        (["1,23,456"], ""),
        (["007,5"], ""),
        (["5 €", "5 $"], ""),
        (["A,5"], ""),
        (["12345678901234567"], ""),
        (["1.234.567.890.123.456,5"], ""),
        (["0,12345678901234567"], ","),
        (["1,5E-07", "-3,25e+4", "2"], ","),
        (["1.5E−07 €", "3 €"], "."),
        ([",5", "1"], ","),
        (["5.", "−7"], "."),
        (["1E5A"], ""),
        (["1,5e300"], ""),
        (["1,5e-300"], ","),
        (["."], ""),
    ],
)
def test_decimal_signs(cells, signs):
    assert decimal_signs(cells) == signs


NOTATIONS = {
    "plain": "{:.4f}".format,
    "exponents": "{:.5e}".format,
    "a trailing point": "{:.0f}.".format,
    "no leading zero": lambda value: f"{value / 10_000 % 1:.4f}"[1:],
    "decimal commas": lambda value: f"{value:.4f}".replace(".", ","),
    "decimal commas and exponents": lambda value: f"{value:.5e}".replace(".", ","),
    "thousands": "{:,.4f}".format,
    "thousands by points": lambda value: f"{value:,.4f}".translate(str.maketrans(",.", ".,")),
    "per cent": "{:.4f}%".format,
    "dollars": "${:.4f}".format,
    "a minus sign": lambda value: f"{value:.4f}".replace("-", "−"),
}


@pytest.mark.parametrize("distinct", [True, False])
@pytest.mark.parametrize("notation", NOTATIONS)
def test_a_slip_among_numbers_is_asked_about_however_they_are_written(tmp_path, notation, distinct):
    """It makes of the column neither the rows' names nor a nominal of as many values as rows."""
    values = np.random.RandomState(0).normal(scale=2000, size=60).round(0 if distinct else -3)
    cells = [NOTATIONS[notation](value + 0.1234) for value in values]

    def written(slip):
        file = tmp_path / "table.csv"
        rows = [
            f"{cell};{value % 7:g};{'yes' if value > 0 else 'no'}" for cell, value in zip(cells, values, strict=True)
        ]
        rows[5:6] = [f"{slip};1;no"] if slip else []
        file.write_text("\n".join(["dose;ward;ill", *rows]) + "\n", encoding="utf-8")
        return file

    found = read(written(""), target="ill")
    assert found.feature_names == ("dose", "ward")
    assert not found.categorical_features.any()
    for slip in ("n.d.", "<0.1", "inf", "none found"):
        with pytest.raises(FileError, match=f"'{slip}' stands in column 'dose', which holds numbers"):
            read(written(slip), target="ill")
        with pytest.raises(FileError, match=f"'{slip}' stands in column 'dose', which holds numbers.*--kind classes"):
            read(written(slip), target="dose")
        assert read(written(slip), target="dose", kind="classes").target == "classes"


@pytest.mark.parametrize("n_days", [60, 4])
@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%Y-%m-%d %H:%M", "%d-%b-%Y"])
def test_a_slip_among_dates_is_told_and_asked_about(tmp_path, form, n_days):
    """It makes of the column neither the rows' names nor a nominal."""
    days = pd.Timestamp("2023-01-17 10:30") + pd.to_timedelta(3 * (np.arange(60) % n_days), unit="D")
    last = {"%d.%m.%Y": "00.00.0000", "%m/%d/%Y": "02/30/2023", "%d-%b-%Y": "30-Feb-2023"}.get(form, "2023-02-30")
    for slip in ("unknown", "2023", last):
        cells = [*days.strftime(form)[:59], slip]
        file = tmp_path / "table.csv"
        rows = [f"{cell},{row % 7},{'yes' if row % 3 else 'no'}\n" for row, cell in enumerate(cells)]
        file.write_text("since,ward,ill\n" + "".join(rows), encoding="utf-8")
        found = read(file, target="ill")
        assert found.feature_names == ("ward",)
        assert f"'{slip}', which is none like them" in found.left_out["since"]
        with pytest.raises(FileError, match=f"line 61.*'{slip}' in 'since' is no date like '{cells[0]}'"):
            read(file, target="ill", dates="days")


@pytest.mark.parametrize("n_days", [60, 4])
@pytest.mark.parametrize("slip", ["20230230", "99999999", "0", "20230101.5"])
@pytest.mark.parametrize("place", [0, 59])
def test_a_slip_among_days_of_eight_digits_is_told_and_asked_about(tmp_path, slip, place, n_days):
    cells = pd.date_range("2023-01-17", periods=n_days).strftime("%Y%m%d").tolist() * (60 // n_days)
    cells[place] = slip
    file = tmp_path / "table.csv"
    rows = [f"{cell},{row % 7},{'yes' if row % 3 else 'no'}\n" for row, cell in enumerate(cells)]
    file.write_text("since,ward,ill\n" + "".join(rows), encoding="utf-8")
    found = read(file, target="ill")
    assert found.feature_names == ("ward",)
    assert f"'{slip}', which is none like them" in found.left_out["since"]
    with pytest.raises(FileError, match=f"line {place + 2}.*'{slip}' in 'since' is no date like '2023"):
        read(file, target="ill", dates="days")


def test_numbers_of_eight_digits_are_no_days_and_days_may_be_missing(tmp_path):
    random = np.random.RandomState(0)
    table = pd.DataFrame({"size": random.randint(19000101, 21001231, 60), "ill": ["yes", "no"] * 30})
    table["day"] = [None] * 25 + pd.date_range("2023-01-17", periods=35).strftime("%Y%m%d").tolist()
    table.to_csv(tmp_path / "table.csv", index=False)
    found = read(tmp_path / "table.csv", target="ill")
    assert found.feature_names == ("size",)
    assert list(found.left_out.values()) == ["dates such as 20230117"]


def test_codes_beside_words_are_classes(tmp_path):
    file = tmp_path / "table.csv"
    rows = [f"{row},{'R' if row == 7 else row % 3}\n" for row in range(30)]
    file.write_text("size,grade\n" + "".join(rows), encoding="utf-8")
    assert read(file, target="grade").label_names == ("0", "1", "2", "R")


@pytest.mark.parametrize("cells", [("a|b", "b", "a|c"), ("a>b>c", "b>a>c", "c>b>a"), ("x/y|z", "z", "x")])
def test_a_copy_of_label_sets_paths_or_orders_is_left_out(tmp_path, cells):
    file = tmp_path / "table.csv"
    rows = [f"{row % 7 + 0.5},{cells[row % 3]},{cells[row % 3]}\n" for row in range(30)]
    file.write_text("size,again,tags\n" + "".join(rows), encoding="utf-8")
    found = read(file, target="tags")
    assert found.feature_names == ("size",)
    assert found.left_out["again"] == "a copy of the target"


def test_a_target_without_repeated_classes_has_no_copies(tmp_path):
    file = tmp_path / "table.csv"
    rows = [f"{row + 0.5},name {row}\n" for row in range(30)]
    file.write_text("size,who\n" + "".join(rows), encoding="utf-8")
    assert read(file, target="who").feature_names == ("size",)


def test_numbers_as_written():
    assert written_numbers(["1.234,5", "-7", "€ 3,25"], ",").tolist() == [1234.5, -7, 3.25]
    assert written_numbers(["1,234.5", "9 999", "12.5%", "−4"], ".").tolist() == [1234.5, 9999, 12.5, -4]


@pytest.mark.parametrize(
    ("cells", "formats"),
    [
        (["2024-01-31"], ("ISO8601",)),
        (["2024-01-31", "2024-02-01T10:00:00Z"], ("ISO8601",)),
        (["2024-01"], ("%Y-%m",)),
        (["31.01.2024"], ("%d.%m.%Y",)),
        (["01/02/2024"], ("%d/%m/%Y", "%m/%d/%Y")),
        (["01/02/2024", "31/01/2024"], ("%d/%m/%Y",)),
        (["01/02/2024", "01/31/2024"], ("%m/%d/%Y",)),
        (["31/01/2024", "01/31/2024"], ()),
        (["01/02/24"], ("%d/%m/%y", "%m/%d/%y")),
        (["3/4/2024 09:30"], ("%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M")),
        (["12 Jan 2024"], ("%d %b %Y",)),
        (["2024-02-30"], ()),
        (["2024-01-31", "soon"], ()),
        (["1.5"], ()),
        ([], ()),
    ],
)
def test_formats_of_dates(cells, formats):
    assert date_formats(cells) == formats


def test_dates_become_parts_or_days(write):
    file = write("at,t\n2024-01-31 06:00,a\n,b\n1970-01-02 00:00,a\n", "t.csv")
    assert read(file).left_out == {"at": "dates such as 2024-01-31 06:00"}
    parts = read(file, dates="parts")
    assert parts.feature_names == ("at.year", "at.month", "at.day", "at.weekday", "at.hour")
    np.testing.assert_array_equal(parts.X, [[2024, 1, 31, 3, 6], [np.nan] * 5, [1970, 1, 2, 5, 0]])
    np.testing.assert_array_equal(read(file, dates="days").X[:, 0], [19753.25, np.nan, 1])
    with pytest.raises(ValueError, match="The 'dates' parameter of read must be one of"):
        read(file, dates="weeks")


def test_two_digits_of_a_year_are_asked_for(write):
    file = write("at,t\n01/02/24,a\n02/03/24,b\n", "t.csv")
    assert "at" in read(file).left_out
    with pytest.raises(FileError, match="have years of two digits. Write years in full, or leave the column out"):
        read(file, dates=("days", "dmy"))


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


def test_points_in_files_with_semicolons(write):
    def column(cells, **options):
        rows = "".join(f"{cell};t{k % 2}\n" for k, cell in enumerate(cells))
        return read(write(f"a;t\n{rows}", "t.csv"), **options).X[:, 0].tolist()

    assert column(["1.5", "2.25"]) == [1.5, 2.25]
    assert column(["0.125", "1.250"]) == [0.125, 1.25]  # 0.125 has no thousands
    with pytest.raises(
        FileError, match=r"line 2, column 1: '1.234' in column 'a' may be 1.234 or 1234. Say which sign"
    ):
        column(["1.234", "950"])
    assert column(["1.234", "950"], decimal=",") == [1234, 950]
    assert column(["1.234", "950"], decimal=".") == [1.234, 950]
    plain = write("a,t\n1.234,x\n2.345,y\n", "t.csv")
    assert read(plain).X[:, 0].tolist() == [1.234, 2.345]


def test_other_columns_tell_the_decimal_sign(write):
    file = write("a;b;t\n1.234;1,5;x\n2.345;2,5;y\n", "t.csv")
    assert read(file).X.tolist() == [[1234, 1.5], [2345, 2.5]]
    file = write('a,b,t\n"1,234",1.5,x\n"2,345",2.5,y\n', "t.csv")
    assert read(file).X.tolist() == [[1234, 1.5], [2345, 2.5]]


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


def test_excel_asks_for_a_sheet_and_names_what_is_wrong(tmp_path):
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
    with pytest.raises(FileError, match="column B has no name in the first row"):
        read(book(("one", [["Report of March"], ["a", "t"], [1, "x"]])))
    with pytest.raises(FileError, match="in row 1 column 'a' holds the error #DIV/0!"):
        read(book(("one", [["a", "t"], ["#DIV/0!", "x"]])))
    (tmp_path / "t.xlsx").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(FileError, match="this is no readable Excel file"):
        read(tmp_path / "t.xlsx")


def test_options_that_a_reader_does_not_take_are_named(write):
    arff = write("@relation r\n@attribute a numeric\n@attribute t {x,y}\n@data\n1,x\n", "t.arff")
    with pytest.raises(ValueError, match="read_arff, which reads this file, takes no 'dates'. It takes target"):
        read(arff, dates="days")
    assert read(arff, roles=None).target == "classes"
