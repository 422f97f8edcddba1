"""ARFF files: what is read, and how faults are told."""

import random
from functools import partial

import numpy as np
import pytest
from scipy import sparse

from ramify.datasets import FileError
from ramify.datasets.readers import arff_header, arff_rows
from ramify.datasets.readers.arff import read_arff
from ramify.datasets.readers.raw_files import read_bytes, read_pieces


def test_reads_numbers_nominals_and_missing_values(write):
    data = read_arff(
        write("@relation r\n@attribute a numeric\n@attribute b {x,y}\n@attribute c {n,p}\n@data\n1.5,y,p\n?,?,n\n")
    )
    np.testing.assert_array_equal(data.X, [[1.5, 1], [np.nan, np.nan]])
    assert data.categories == (None, ("x", "y"))
    assert data.target == "classes"
    assert data.y.tolist() == [1, 0]
    assert data.label_names == ("n", "p")


def test_attributes_of_one_name_are_told_apart(write):
    data = read_arff(
        write("@relation r\n@attribute a numeric\n@attribute a numeric\n@attribute c {n,p}\n@data\n1,2,p\n")
    )
    assert data.feature_names == ("a", "a-2")
    assert data.X.tolist() == [[1, 2]]


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


def test_plain_files_are_read_in_pieces_of_the_size_asked_for(tmp_path):
    path = tmp_path / "plain"
    path.write_bytes(random.Random(0).randbytes((2 << 20) + 5))
    for size in (1 << 20, 1000):
        pieces = list(read_pieces(path, size=size))
        assert {len(piece) for piece in pieces[:-1]} == {size}
        assert len(pieces[-1]) <= size
        assert b"".join(pieces) == read_bytes(path)
    assert max(map(len, read_pieces(path))) <= 1 << 20


@pytest.mark.parametrize("layout", ["dense", "sparse", "mixed"])
@pytest.mark.parametrize(("piece", "block"), [(7, 1), (64, 100), (1000, 300)])
def test_rows_are_the_same_in_blocks_of_any_size(write, monkeypatch, layout, piece, block):
    source = random.Random(1)
    rows = []
    for i in range(60):
        cells = [source.choice(["0", "0", "1.5", "-2", "?"]), source.choice(["x", "'y z'"]), f"'n\\'{i}'"]
        is_sparse = layout == "sparse" or (layout == "mixed" and i % 3 == 0)
        rows.append("{" + ",".join(f"{j} {c}" for j, c in enumerate(cells)) + "}" if is_sparse else ",".join(cells))
    head = "@relation r\n@attribute a numeric\n@attribute b {x,'y z'}\n@attribute s string\n@attribute c {n,p}\n@data\n"
    rows = [f"{row[:-1]},3 p}}" if row[0] == "{" else f"{row},n" for row in rows]
    body = "".join(f"{row}, {{{i % 3}}}\n" if i % 5 == 0 else f"{row}\n" for i, row in enumerate(rows))  # weights
    good, bad = write(head + body), write(head + body + "1,x,t,q\n", "bad.arff")
    whole = read_arff(good, ignore="s")
    with pytest.raises(FileError) as fault:
        read_arff(bad)
    monkeypatch.setattr(arff_header, "read_pieces", partial(read_pieces, size=piece))
    monkeypatch.setattr(arff_rows, "_BLOCK", block)
    cut = read_arff(good, ignore="s")
    assert set(whole.sample_weight) == {0, 1, 2}
    for before, after in ((whole.X, cut.X), (whole.y, cut.y), (whole.sample_weight, cut.sample_weight)):
        assert sparse.issparse(before) == sparse.issparse(after)
        before, after = (part.toarray() if sparse.issparse(part) else part for part in (before, after))
        np.testing.assert_array_equal(after, before)
    assert cut.categories == whole.categories
    with pytest.raises(FileError) as again:
        read_arff(bad)
    assert str(again.value) == str(fault.value)
    assert "line 67" in str(fault.value)


def random_decimals(source, n):
    """Texts of numbers of all sizes and lengths, halfway cases among them."""
    texts = []
    for _ in range(n):
        digits = "".join(
            source.choice("0123456789") for _ in range(source.choice((1, 2, 5, 15, 16, 17, 18, 19, 20, 40, 400)))
        )
        point = source.randrange(len(digits) + 1)
        text = source.choice(("", "-", "+")) + digits[:point] + source.choice(("", ".")) + digits[point:]
        if source.random() < 0.5:
            text += (
                source.choice("eE")
                + source.choice(("", "-", "+"))
                + str(source.choice((0, 1, 5, 22, 23, 100, 290, 308, 330)))
            )
        texts.append(text)
    halves = [repr(float(2**53) * 2**k + 2**k) for k in range(20)]
    return texts + halves + [str(2**53 + 1), str(2**54 + 2), "2.2250738585072012e-308", "4.9e-324", "2.4e-324"]


def test_numbers_are_the_nearest_doubles_as_in_python(write):
    texts = [t for t in random_decimals(random.Random(0), 20_000) if t.strip("+-.") and abs(float(t)) != float("inf")]
    data = read_arff(write("@relation r\n@attribute a numeric\n@data\n" + "\n".join(texts) + "\n"))
    expected = np.array([float(text) for text in texts])
    np.testing.assert_array_equal(data.y, expected)


def reference_row(line, attributes):
    """A row read cell by cell, from the words of the format's definition."""
    values = [0.0] * len(attributes)
    if line.startswith("{"):
        pairs = [cell.split(maxsplit=1) for cell in line.strip("{}").split(",") if cell.strip()]
        cells = [(int(index), value.strip()) for index, value in pairs]
    else:
        cells = list(enumerate(cell.strip() for cell in line.split(",")))
    for column, cell in cells:
        domain = attributes[column]
        values[column] = float("nan") if cell == "?" else float(cell) if domain is None else float(domain.index(cell))
    return values


@pytest.mark.parametrize("seed", range(5))
def test_rows_are_read_as_by_the_slow_reference(write, seed):
    source = random.Random(seed)
    attributes = [source.choice((None, ("0", "1"), ("no", "yes", "may be"), ("b", "aa", "a", "ab"))) for _ in range(30)]
    header = "@relation r\n" + "".join(
        f"@attribute a{k} {'numeric' if domain is None else '{' + ','.join(domain) + '}'}\n"
        for k, domain in enumerate(attributes)
    )

    def cell(column):
        if source.random() < 0.1:
            return "?"
        domain = attributes[column]
        return f"{source.uniform(-9, 9):.{source.randrange(6)}f}" if domain is None else source.choice(domain)

    lines = []
    for _ in range(60):
        if source.random() < 0.5:
            chosen = source.sample(range(30), source.randrange(30))
            lines.append("{" + source.choice((",", ", ")).join(f"{k} {cell(k)}" for k in chosen) + "}")
        else:
            lines.append(source.choice((",", ", ", ",\t")).join(cell(k) for k in range(30)))
    file = write(header + "@data\n" + "\n".join(lines) + "\n")
    data = read_arff(file, target=[], storage="dense", identifier=None, index_base=0)
    np.testing.assert_array_equal(data.X, [reference_row(line, attributes) for line in lines])
