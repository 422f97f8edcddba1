# ruff: noqa: E501
"""Edge files: each is read to the exact value, or refused with file, line and column. Nothing is changed silently."""

import numpy as np
import pytest
from scipy import sparse

from ramify.datasets import FileError, read
from ramify.datasets.readers.arff import read_arff
from ramify.datasets.readers.edges import read_edges
from ramify.datasets.readers.gaf import read_gaf
from ramify.datasets.readers.label_rankings import read_rankings
from ramify.datasets.readers.mulan import read_mulan
from ramify.datasets.readers.ontology import read_obo

HEAD = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n"
NUMBER = "@relation r\n@attribute a numeric\n@data\n"
TEXT = "@relation r\n@attribute i string\n@attribute a numeric\n@data\n"
XML = "<labels xmlns='http://mulan.sourceforge.net/labels'>"
nan = np.nan

ARFF_VALUES = {
    "plus sign": (NUMBER + "+1\n", [1]),
    "no digit before the point": (NUMBER + ".5\n", [0.5]),
    "no digit after the point": (NUMBER + "5.\n", [5]),
    "exponent": (NUMBER + "1E-3\n", [0.001]),
    "nearest double of 17 digits": (NUMBER + "0.10000000000000001\n", [0.1]),
    "nearest double of 30 digits": (NUMBER + "3.14159265358979323846264338328\n", [3.141592653589793]),
    "smallest double": (NUMBER + "5e-324\n", [5e-324]),
    "largest double": (NUMBER + "1.7976931348623157e308\n", [1.7976931348623157e308]),
    "halfway case": (NUMBER + "9007199254740993\n", [9007199254740992.0]),
    "missing": (NUMBER + "?\n", [nan]),
    "blank around the value": (NUMBER + " \t 7 \t\n", [7]),
    "quoted number": (NUMBER + "'7'\n", [7]),
    "byte-order mark": ("\ufeff" + NUMBER + "7\n", [7]),
    "data without rows": (NUMBER, []),
    "comment without newline": (NUMBER + "7\n% end", [7]),
}

ARFF_FAULTS = {
    "too few values": (HEAD + "1,x\n2\n", 6, 2, "has 1 values for 2 attributes"),
    "too many values": (HEAD + "1,x,3\n", 5, 5, "has 3 values for 2 attributes"),
    "a comma too many": (HEAD + "1,x,\n", 5, 5, "has 3 values for 2 attributes"),
    "an empty value": (HEAD + "1,\n", 5, 3, "the value is empty"),
    "an empty value between commas": (HEAD + ",x\n", 5, 1, "the value is empty"),
    "text in a number": (HEAD + "1,x\none,x\n", 6, 1, "'one' is not a number (attribute 1, 'a')"),
    "a decimal comma": (NUMBER + "1,5\n", 4, 3, "has 2 values for 1 attributes"),
    "two points": (NUMBER + "1.2.3\n", 4, 1, "'1.2.3' is not a number"),
    "a thousands separator": (NUMBER + "1_000\n", 4, 1, "'1_000' is not a number"),
    "a hexadecimal number": (NUMBER + "0x10\n", 4, 1, "'0x10' is not a number"),
    "infinity": (NUMBER + "inf\n", 4, 1, "'inf' is not a number"),
    "NaN by name": (NUMBER + "NaN\n", 4, 1, "'NaN' is not a number"),
    "a number beyond double": (NUMBER + "1e999\n", 4, 1, "'1e999' is not a finite number"),
    "a value outside the domain": (HEAD + "1,z\n", 5, 3, "'z' is not in the declared domain (attribute 2, 'b')"),
    "another case of a value": (HEAD + "1,X\n", 5, 3, "'X' is not in the declared domain"),
    "an open quote": (HEAD + "1,'x\n", 5, 3, "the quote is not closed"),
    "text after a quote": (HEAD + "1,'x'y\n", 5, 3, "text follows the closing quote"),
    "tabs instead of commas": (HEAD + "1\tx\n", 5, 1, "'1\\tx' is not a number"),
    "a sparse index of text": (HEAD + "{a 1}\n", 5, 2, "'a' is no index"),
    "a negative sparse index": (HEAD + "{-1 1}\n", 5, 2, "'-1' is no index"),
    "a sparse index too large": (HEAD + "{0 1,7 1}\n", 5, 6, "outside the 2 attributes"),
    "a sparse index twice": (HEAD + "{0 1,0 2}\n", 5, 1, "the index 0 stands twice"),
    "an open sparse row": (HEAD + "{0 1\n", 5, 1, "the sparse row is not closed"),
    "text after a sparse row": (HEAD + "{0 1} 5\n", 5, 7, "'5' follows the sparse row"),
    "a sparse pair without a value": (HEAD + "{0,1 x}\n", 5, 2, "'0' is no index"),
    "a comma at the end of a sparse row": (HEAD + "{0 1,}\n", 5, 6, "is no index"),
    "a weight that is no number": (HEAD + "1,x,{heavy}\n", 5, 5, "'{heavy}' is no instance weight"),
    "a negative weight": (HEAD + "1,x,{-2}\n", 5, 5, "'{-2}' is no instance weight"),
    "an unknown type": ("@relation r\n@attribute a number\n@data\n", 2, 14, "'number' is no type"),
    "a name with an unquoted blank": ("@relation r\n@attribute a b numeric\n@data\n", 2, 14, "'b numeric' is no type"),
    "no type": ("@relation r\n@attribute a\n@data\n", 2, 13, "attribute 'a' has no type"),
    "no name": ("@relation r\n@attribute\n@data\n", 2, 11, "@attribute has no name"),
    "an open domain": ("@relation r\n@attribute a {x,y\n@data\n", 2, 14, "the domain is not closed"),
    "an empty domain": ("@relation r\n@attribute a {}\n@data\n", 2, 14, "the domain is empty"),
    "an empty value of a domain": ("@relation r\n@attribute a {x,,y}\n@data\n", 2, 17, "a value of the domain is empty"),
    "a value twice in a domain": ("@relation r\n@attribute a {x,x}\n@data\n", 2, 14, "'x' stands twice in the domain"),
    "text after a domain": ("@relation r\n@attribute a {x}y\n@data\n", 2, 17, "'y' follows the domain"),
    "an open quote in a name": ("@relation r\n@attribute 'a numeric\n@data\n", 2, 12, "the quote ' is not closed"),
    "a relational attribute": ("@relation r\n@attribute a relational\n@end a\n@data\n", 2, 14, "relational attributes are not"),
    "an unknown keyword": ("@relation r\n@atribute a numeric\n@data\n", 2, 1, "is none of @relation, @attribute"),
    "no data section": ("@relation r\n@attribute a numeric\n", 2, None, "there is no @data line"),
    "no attributes": ("@relation r\n@data\n1\n", 2, 6, "there is no @attribute line"),
    "a byte that is not UTF-8": (TEXT.encode() + b"a\xe9,1\n", 5, 2, "byte 0xe9 is not valid utf-8"),
    "UTF-16": (NUMBER.encode("utf-16"), 1, None, "this is UTF-16"),
    "an unknown label": ("@relation r\n@attribute c hierarchical 1,1/2\n@data\n1/3\n", 4, 1, "'1/3' is not in the hierarchy"),
    "an empty step of a path": ("@relation r\n@attribute c hierarchical 1,1//2\n@data\n1\n", 2, 29, "'1//2' is no path"),
    "a cycle of labels": ("@relation r\n@attribute c hierarchical root/a,a/b,b/a\n@data\na\n", 2, None, "cannot have a cycle"),
    "a date as a feature": ("@relation r\n@attribute d date\n@attribute a numeric\n@data\n", 2, None, "is a date and cannot be a feature"),
    "two string columns": ("@relation r\n@attribute s string\n@attribute t string\n@attribute a numeric\n@data\n", 2, None, "cannot be a feature"),
    "a label twice in a ranking": ("@relation r\n@attribute r RANKING {a,b}\n@data\na>a\n", 4, 1, "the label 'a' stands twice"),
}  # fmt: skip

CSV_VALUES = {
    "quoted separator": ('a,t\n"x,y",0\n', [["x,y"]]),
    "quote inside quotes": ('a,t\n"x""y",0\n', [['x"y']]),
    "newline inside quotes": ('a,t\n"x\ny",0\n', [["x\ny"]]),
    "zero-padded codes": ("a,t\n007,0\n7,0\n", [["007"], ["7"]]),
    "only zero-padded codes": ("a,t\n007,0\n012,0\n", [["007"], ["012"]]),
    "underscores are no digits": ("a,t\n1_0,0\n", [["1_0"]]),
    "an integer beyond 2^53": ("a,t\n9007199254740993,0\n", [["9007199254740993"]]),
    "numbers and text": ("a,t\n1,0\nx,0\n", [["1"], ["x"]]),
    "a short row": ("a,b,t\n1,2\n", FileError),
    "a long row": ("a,t\n1,2,3\n", FileError),
    "an open quote": ('a,t\n"x,0\n', FileError),
    "nothing": ("", FileError),
}


@pytest.mark.parametrize("case", ARFF_VALUES)
def test_arff_value_is_exact(write, case):
    text, expected = ARFF_VALUES[case]
    np.testing.assert_array_equal(read_arff(write(text)).y, expected)


@pytest.mark.parametrize("case", ARFF_FAULTS)
def test_arff_fault_is_told_with_its_place(write, case):
    text, line, column, words = ARFF_FAULTS[case]
    with pytest.raises(FileError) as caught:
        read_arff(write(text), index_base=0)
    error = caught.value
    assert words in error.fault
    assert (error.line, error.column) == (line, column)
    assert "data.arff, line" in str(error)
    assert error.advice


@pytest.mark.parametrize("case", CSV_VALUES)
def test_csv_is_exact_or_refused(write, case):
    text, expected = CSV_VALUES[case]
    file = write(text, "t.csv")
    if expected is FileError:
        with pytest.raises(FileError, match=r"t.csv, line [0-9]+"):
            read(file, target="t")
        return
    data = read(file, target="t")
    values = [[data.categories[j][int(code)] for j, code in enumerate(row)] for row in data.X]
    assert values == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (XML + "<label name='l'></labels>", "line 1, column 71: this is not well-formed XML: mismatched tag"),
        (XML + "<label/></labels>", "line 1, column 53: the label has no name"),
        (XML + "<label name='l'/>\n<label name='l'/></labels>", "line 2, column 1: the label 'l' stands twice"),
        (XML + "<label name='other'/></labels>", "line 1: the label 'other' is no attribute"),
        (XML + "<lable name='l'/></labels>", "column 53: <lable> is not expected here"),
        (XML + "</labels>", "the XML names no label"),
        ("<!DOCTYPE labels []>" + XML + "<label name='l'/></labels>", "document type declaration"),
        ("", "not well-formed XML: no element found"),
    ],
)
def test_xml_fault_is_told_with_its_place(write, text, words):
    arff = write("@relation r\n@attribute a numeric\n@attribute l {0,1}\n@data\n1,1\n", "s.arff")
    write(text, "s.xml")
    with pytest.raises(FileError) as caught:
        read_mulan(arff)
    assert "s.xml, line" in str(caught.value)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[Term]\nis_a: x\n", 2, "the tag 'is_a' stands before the term's id"),
        ("[Term]\n\n[Term]\nid: a\n", 1, "the term has no id"),
        ("[Term]\nid: a\n[Term]\nid: a\n", 4, "the id 'a' is given twice"),
        ("[Term]\nid: a\nis_a: b\n", 3, "the parent 'b' of 'a' is not in the file"),
        ("[Term]\nid: a\nis_a:\n", 3, "names no parent"),
        ("[Term\nid: a\n", 1, "is no stanza"),
        ("[Term]\nid: a\nnonsense\n", 3, "has no tag"),
        ("[Term]\nid: a\nis_a: b\n[Term]\nid: b\nis_a: a\n", None, "cannot have a cycle"),
        ("hello\n", 1, "has no tag"),
        ("", 1, "this is no OBO file"),
    ],
)
def test_obo_fault_is_told_with_its_place(write, text, line, words):
    with pytest.raises(FileError) as caught:
        read_obo(write(text, "o.obo"))
    assert words in caught.value.fault
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A1,L1,L2\n1,0,1\n", "In row 1 a rank is outside 1 to 2"),
        ("A1,L1,L2\n1,3,1\n", "In row 1 a rank is outside 1 to 2"),
        ("A1,L1,L2\n1,best,1\n", "The target column L1 holds 'best', which is no number"),
        ("A1,L1,L2\n1,2,2\n2,1\n", "line 3, column 4: the row has 2 cells"),
        ("1,a>b>a\n", "In the order 'a>b>a' the label 'a' stands twice"),
        ("1,a>>b\n", "In the order 'a>>b' a label is empty"),
        ("3,1,2\n5,1,2\n", "promises 3 rows and 1 follow"),
    ],
)
def test_ranking_fault_is_told_with_its_place(write, text, words):
    with pytest.raises(FileError) as caught:
        read_rankings(write(text, "r.csv"))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n", "line 1: two names per line and no header"),
        ("parent,child\na\n", "line 2: the row has 1 cells"),
        ("parent,child\n,b\n", "line 2: the parent is empty"),
        ("", "line 1: the file is empty"),
    ],
)
def test_edge_fault_is_told_with_its_place(write, text, words):
    with pytest.raises(FileError) as caught:
        read_edges(write(text, "e.csv"))
    assert words in str(caught.value)


GAF_LINE = ["DB", "g1", "G1", "", "GO:1", "PMID:1", "IDA", "", "P", "", "", "protein", "taxon:1", "20200101", "DB"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({1: ""}, "line 1, column 4: the object id is empty"),
        ({4: " "}, "the term is empty"),
        ({8: "X"}, "'X' is no aspect"),
        ({5: "a\tb\tc\td"}, "the line has 18 columns"),
    ],
)
def test_gaf_fault_is_told_with_its_place(write, change, words):
    cells = [change.get(k, cell) for k, cell in enumerate(GAF_LINE)]
    with pytest.raises(FileError) as caught:
        read_gaf(write("\t".join(cells) + "\n", "a.gaf"))
    assert words in str(caught.value)


def test_weights_are_kept(write):
    dense = read_arff(write(HEAD + "1,x,{2.5}\n3,y\n"))
    assert dense.sample_weight.tolist() == [2.5, 1]
    rows = read_arff(write(HEAD + "{0 1},{3}\n{}\n"))
    assert rows.sample_weight.tolist() == [3, 1]
    assert read(write("a,w,t\n1,2,0\n", "t.csv"), weight="w").sample_weight.tolist() == [2]


def test_sparse_and_dense_rows_say_the_same(write):
    header = (
        "@relation r\n@attribute a numeric\n@attribute b {x,y,z}\n@attribute c numeric\n@attribute d {n,p}\n@data\n"
    )
    dense = read_arff(write(header + "0,x,-1.5,p\n2,z,0,n\n?,y,0,p\n"))
    rows = read_arff(write(header + "{2 -1.5, 3 p}\n{1 z,0 2}\n{0 ?,1 y,3 p}\n", "s.arff"), storage="dense")
    np.testing.assert_array_equal(dense.X, rows.X)
    np.testing.assert_array_equal(dense.y, rows.y)
    assert sparse.issparse(read_arff(write(header + "{1 z,0 2}\n"), storage="sparse").X)


def test_values_that_need_quotes_are_not_confused_with_missing_ones(write):
    header = "@relation r\n@attribute a {'?',x}\n@attribute b {'\\'',' '}\n@attribute c {n,p}\n@data\n"
    data = read_arff(write(header + "?,'\\'',n\n'?',' ',p\nx,?,n\n"))
    np.testing.assert_array_equal(data.X, [[nan, 0], [0, 1], [1, nan]])
