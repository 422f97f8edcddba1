"""The core's reading of delimited text against the slow reference: Python's csv module, cell by cell."""

import csv
import io
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.datasets.test_fuzz import TABLE, mutant

from ramify.datasets import FileError, read
from ramify.datasets.readers import delimited

CELLS = st.one_of(
    st.sampled_from(
        ["", "?", "NA", "0", "-0", "007", "1.50", "1e5", "1e999", "9007199254740993", " 7 ", "nan", "x", 'a"b', "a,b"]
    ),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=5),
)


def outcome(file, slow, monkeypatch, **options):
    """What reading gives: values, or the error in its words."""
    with monkeypatch.context() as patch:
        if slow:
            patch.setattr(delimited, "_read_regular", lambda *_: None)
        try:
            data = read(file, **options)
        except (FileError, ValueError) as error:
            return str(error)
    y = data.y.toarray() if hasattr(data.y, "toarray") else np.asarray(data.y, dtype=float)
    return data.X.tobytes(), y.tobytes(), data.feature_names, data.categories, data.label_names, data.target


@given(
    rows=st.integers(1, 4).flatmap(lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), max_size=5)),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    newline=st.sampled_from(["\n", "\r\n"]),
)
@settings(max_examples=300, deadline=None)
def test_core_reads_tables_as_the_csv_module_does(tmp_path_factory, rows, quoting, newline):
    text = io.StringIO()
    width = len(rows[0]) if rows else 2
    text.write(",".join(f"c{k}" for k in range(width)) + newline)
    csv.writer(text, quoting=quoting, lineterminator=newline).writerows(rows)
    file = tmp_path_factory.mktemp("csv") / "t.csv"
    file.write_bytes(text.getvalue().encode())
    with pytest.MonkeyPatch.context() as patch:
        assert outcome(file, False, patch) == outcome(file, True, patch)


def test_a_quoted_blank_is_a_cell_and_a_blank_line_is_none(tmp_path, monkeypatch):
    file = tmp_path / "t.csv"
    for cell in ('" "', "\xa0"):
        file.write_text(f"c0\n{cell}\n  \n", encoding="utf-8")
        for slow in (False, True):
            assert "line 2, column 1: 'c0' is missing" in outcome(file, slow, monkeypatch)


def test_core_and_csv_module_agree_on_mutants(tmp_path, monkeypatch):
    source = random.Random(0)
    file = tmp_path / "t.csv"
    for _ in range(1500):
        text = mutant(TABLE, source)
        file.write_bytes(text)
        options = {"identifier": "id", "weight": "w"} if source.random() < 0.5 else {}
        assert outcome(file, False, monkeypatch, **options) == outcome(file, True, monkeypatch, **options), text


def test_numbers_of_one_file_and_text_of_another_are_one_column(write):
    one, two = write("a,t\n1.50,x\n2,y\n", "s.train.csv"), write("a,t\n007,x\n", "s.test.csv")
    with pytest.raises(FileError, match=r"s.test.csv, line 2, column 1: '007' stands in column 'a'"):
        read([one, two])
    data = read([one, two], categorical=["a"])
    assert data.categories == (("007", "1.50", "2"),)
