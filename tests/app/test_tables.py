"""Pieces of tables are what the whole files hold."""

import csv

import openpyxl
import pytest

from ramify.app.tables import table_slice, write_sheet


@pytest.fixture
def wide(tmp_path):
    """700 rows of 60 columns, some cells with quotes, commas and line breaks."""
    path = tmp_path / "wide.csv"
    lines = [[f"c{j}" for j in range(60)]]
    lines += [[f'say "{i}",\n{j}' if (i + j) % 97 == 0 else str(i * j) for j in range(60)] for i in range(700)]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)
    return path, lines


@pytest.mark.parametrize(
    ("row", "column"), [(0, 0), (255, 3), (256, 50), (511, 59), (690, 10), (699, 0), (700, 0), (5000, 99)]
)
def test_a_slice_is_what_the_whole_file_holds(wide, row, column):
    path, lines = wide
    found = table_slice(path, row=row, n_rows=20, column=column, n_columns=7)
    assert (found["n_rows"], found["n_columns"]) == (700, 60)
    assert found["columns"] == lines[0][column : column + 7]
    assert found["rows"] == [line[column : column + 7] for line in lines[1:][row : row + 20]]


def test_a_sheet_holds_numbers_as_numbers_and_texts_as_texts(tmp_path):
    (tmp_path / "a.csv").write_text("name,score,n\n'=1+1,0.25,3\nb,,1e-30\n")
    write_sheet(tmp_path / "a.csv", tmp_path / "a.xlsx")
    rows = list(openpyxl.load_workbook(tmp_path / "a.xlsx").active.values)
    assert rows == [("name", "score", "n"), ("'=1+1", 0.25, 3), ("b", None, 1e-30)]


@pytest.mark.parametrize("text", ["", "a,b\n", "a,b"])
def test_an_empty_table_has_no_rows(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    assert table_slice(tmp_path / "a.csv", row=0, n_rows=5, column=0, n_columns=5)["rows"] == []
