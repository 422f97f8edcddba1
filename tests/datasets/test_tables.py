# ruff: noqa: E501
"""CSV, Parquet, GAF and `read`: targets in every notation, and what goes to which reader."""

import numpy as np
import pytest
from scipy import sparse

from ramify.datasets import FileError, read
from ramify.datasets.readers.gaf import read_gaf
from ramify.datasets.readers.raw_files import plain_name

FILMS = "id,year,studio,w,drama,war,genres,paths,order,score\n"
FILMS += "f1,1999,A,1,1,1,drama|war,art/drama|art/war,a>b>c,3.5\nf2,2004,,2,0,0,,art,b>a,-1\n"


@pytest.fixture
def films(write):
    return write(FILMS, "films.csv")


def test_one_column_of_label_sets(films):
    data = read(
        films, "genres", identifier="id", weight="w", ignore=["paths", "order", "score"], missing_target="empty"
    )
    assert data.target == "labels"
    assert data.label_names == ("drama", "war")
    assert data.y.toarray().tolist() == [[1, 1], [0, 0]]
    assert data.ids.tolist() == ["f1", "f2"]
    assert data.sample_weight.tolist() == [1, 2]
    assert data.feature_names == ("year", "studio", "drama", "war")
    np.testing.assert_array_equal(data.X, [[1999, 0, 1, 1], [2004, np.nan, 0, 0]])


def test_one_column_of_paths(films):
    data = read(films, target="paths", ignore=["genres", "order"])
    assert data.target == "hierarchy"
    assert data.hierarchy.parents["art/war"] == ("art",)
    assert data.y.toarray().tolist() == [[1, 1, 1], [1, 0, 0]]


def test_one_column_of_orders(films):
    data = read(films, target="order", ignore=["genres", "paths"])
    assert data.target == "rankings"
    np.testing.assert_array_equal(data.y, [[1, 2, 3], [2, 1, np.nan]])


def test_one_column_of_numbers_or_classes(films):
    assert read(films, target="score", ignore=["genres", "paths", "order"]).y.tolist() == [3.5, -1]
    classes = read(films, target="score", kind="classes", ignore=["genres", "paths", "order"])
    assert classes.label_names == ("-1", "3.5")
    assert classes.y.tolist() == [1, 0]


def test_several_columns_and_a_prefix(write):
    file = write("a,L_x,L_y\n1,0,1\n2,1,1\n", "t.csv")
    for options in ({"target": ["L_x", "L_y"]}, {"target": "L_*"}):
        data = read(file, **options)
        assert data.target == "labels"
        assert data.y.toarray().tolist() == [[0, 1], [1, 1]]
    assert read(file, target="L_*", kind="numbers").y.tolist() == [[0, 1], [1, 1]]


def test_several_files_are_one_set(write):
    train, test = write("a,t\nx,1\n", "s.train.csv"), write("a,t\ny,2\n", "s.test.csv")
    data = read([train, test])
    assert data.categories == (("x", "y"),)
    assert data.part("test").y.tolist() == [2]
    with pytest.raises(FileError, match="line 1, column 1: the header differs"):
        read([train, write("b,t\ny,2\n", "s.other.csv")])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"target": "genre"}, "target='genre' is no column of"),
        ({"target": "Q*"}, "target='Q*' fits no column of"),
        ({"kind": "label"}, "The 'kind' parameter of read must be one of"),
        ({"target": ["genres", "paths"], "kind": "numbers"}, "which is no number"),
        ({"target": ["drama", "war"], "kind": "classes"}, "takes one target column"),
        ({"target": "score", "weight": "studio"}, "is no non-negative number"),
        ({"target": "genres", "kind": "numbers"}, "which is no number"),
        ({"target": "studio", "missing_target": "error"}, "1 rows have no value in studio, the first is row 2"),
    ],
)
def test_wrong_choices_are_refused(films, options, words):
    with pytest.raises(ValueError) as caught:
        read(films, **options)
    assert words in str(caught.value)


def test_parquet_says_the_same_as_csv(tmp_path, films):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.read_csv(films, keep_default_na=False, na_values={"studio": [""]})
    frame["studio"] = frame["studio"].astype("category")
    file = tmp_path / "films.parquet"
    frame.to_parquet(file)
    for target in ("genres", "paths", "order", "score"):
        ignore = [name for name in ("genres", "paths", "order") if name != target]
        one = read(films, target=target, identifier="id", ignore=ignore)
        two = read(file, target=target, identifier="id", ignore=ignore)
        np.testing.assert_array_equal(one.X, two.X)
        a, b = (data.y.toarray() if sparse.issparse(data.y) else data.y for data in (one, two))
        np.testing.assert_array_equal(a, b)
        assert one.label_names == two.label_names


def test_parquet_bombs_are_refused_and_compressed_files_read(tmp_path):
    import gzip

    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    file = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": np.zeros(20_000_000, dtype=np.int8)}), file)
    with pytest.raises(FileError, match="looks like a bomb"):
        read(file)
    pq.write_table(pa.table({"a": [1, 2], "t": ["x", "y"]}), file)
    packed = tmp_path / "t.parquet.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert read(packed).X.tolist() == [[1], [2]]


def test_parquet_tells_what_it_would_change(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": pa.array([2**60 + 1, 2**60]), "t": ["x", "y"]}), tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet").categories == ((str(2**60), str(2**60 + 1)),)
    pq.write_table(pa.table({"a": pa.array([1.5, float("inf")]), "t": ["x", "y"]}), tmp_path / "t.parquet")
    data = read(tmp_path / "t.parquet")
    np.testing.assert_array_equal(data.X, [[1.5], [np.nan]])
    assert data.notes == ("a: 1 infinite cells count as missing.",)


OBO = "[Term]\nid: GO:1\nnamespace: biological_process\n\n[Term]\nid: GO:2\nalt_id: GO:7\nis_a: GO:1\nnamespace: biological_process\n"
OBO += "\n[Term]\nid: GO:3\nis_a: GO:2\nnamespace: biological_process\n\n[Term]\nid: GO:4\nis_obsolete: true\n"


def gaf_line(gene, term, qualifier="", evidence="IDA", aspect="P"):
    cells = [
        "DB",
        gene,
        gene.upper(),
        qualifier,
        term,
        "PMID:1",
        evidence,
        "",
        aspect,
        "",
        "",
        "protein",
        "taxon:1",
        "20200101",
        "DB",
        "",
        "",
    ]
    return "\t".join(cells) + "\n"


def test_annotations_are_closed_under_the_ontology(write):
    text = "!gaf-version: 2.2\n!a comment\n" + gaf_line("g1", "GO:3") + gaf_line("g1", "GO:3") + gaf_line("g2", "GO:7")
    file, ontology = write(text + gaf_line("g3", "GO:3", "NOT|involved_in"), "a.gaf"), write(OBO, "o.obo")
    plain = read_gaf(file)
    assert plain.feature_names == ("GO:3", "GO:7")
    assert plain.X.toarray().tolist() == [[1, 0], [0, 1], [0, 0]]
    closed = read_gaf(file, ontology=ontology)
    assert closed.feature_names == ("GO:1", "GO:2", "GO:3")
    assert closed.X.toarray().tolist() == [[1, 1, 1], [1, 1, 0], [0, 0, 0]]
    assert closed.feature_hierarchy.parents["GO:3"] == ("GO:2",)
    assert closed.ids.tolist() == ["g1", "g2", "g3"]
    assert read_gaf(file, genes="symbol").ids.tolist() == ["G1", "G2", "G3"]


def test_annotations_of_terms_out_of_use_are_refused_or_counted(write):
    file, ontology = write(gaf_line("g1", "GO:4") + gaf_line("g1", "GO:3"), "a.gaf"), write(OBO, "o.obo")
    with pytest.raises(FileError, match=r"a.gaf, line 1: the term 'GO:4' is not in use"):
        read_gaf(file, ontology=ontology)
    with pytest.warns(UserWarning, match="1 annotations of terms that are not in use were dropped"):
        assert read_gaf(file, ontology=ontology, unknown="drop").X.sum() == 3


def test_annotations_can_be_chosen(write):
    file = write(gaf_line("g1", "GO:3") + gaf_line("g2", "GO:9", aspect="F", evidence="IEA"), "a.gaf")
    assert read_gaf(file, aspect="F").feature_names == ("GO:9",)
    assert read_gaf(file, evidence=["IDA"]).ids.tolist() == ["g1"]
    with pytest.raises(FileError, match="no annotation is left"):
        read_gaf(file, evidence=["XXX"])


def test_read_goes_by_the_name_of_the_file(write):
    arff = "@relation r\n@attribute a numeric\n@attribute l {0,1}\n@data\n1,1\n"
    assert read(write(arff, "plain.arff")).target == "classes"
    write("<labels><label name='l'/></labels>", "mulan.xml")
    assert read(write(arff, "mulan-train.arff")).target == "labels"
    assert read(write(arff, "mulan-train.arff"), target="a").target == "numbers"
    assert read(write("a,L1,L2\n1,1,2\n", "r.csv")).target == "rankings"
    assert read(write("a,L1,L2\n7,1,2\n", "r.csv"), target="a").target == "numbers"
    assert read(write("1,x>y\n", "o.txt")).target == "rankings"
    assert read(write("1,1,2\n5,1,2\n", "n.csv")).target == "rankings"
    assert read(write("is_a,g1,g2,\nGO:1,1,0,\nclass,0,1,\n", "t.txt")).ids.tolist() == ["g1", "g2"]
    assert read(write("a\tt\n1\tp\n", "t.tsv")).target == "classes"
    assert read(write(gaf_line("g1", "GO:3"), "a.gaf")).target is None


def test_read_looks_at_files_in_their_own_encoding_and_with_their_own_separator(write):
    named = write("Größe,Art\n1.5,Bär\n".encode("latin-1"), "tiere.csv")
    assert read(named, encoding="latin-1").label_names == ("Bär",)
    assert read(write("a;L1;L2\n1;1;2\n", "r.csv"), separator=";").target == "rankings"


def test_very_many_labels_are_read(write):
    n_labels = 10_000
    names = [f"l{j}" for j in range(n_labels)]
    header = "@attribute size numeric\n" + "".join(f"@attribute {name} {{0,1}}\n" for name in names)
    write(
        f"<labels><label name='l7'>{''.join(f'<label name={n!r}/>' for n in names if n != 'l7')}</label></labels>",
        "w.xml",
    )
    data = read(write(f"@relation wide\n{header}@data\n{{0 1.5,1 1,10000 1}}\n{{}}\n", "w.arff"))
    assert (data.n_samples, data.n_features, data.n_labels) == (2, 1, n_labels)
    assert data.hierarchy.decode(data.y) == [("l7", "l0", "l9999"), ()]
    table = read(write(f"size,{','.join(names)}\n1.5{',1' * n_labels}\n", "w.csv"), target=names)
    assert table.y.sum() == n_labels


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a.ods", "no reader is known for .ods"),
        ("a.xls", "this is an old Excel file"),
        ("a.xml", "holds no data"),
        ("a.obo", "read_hierarchy"),
        ("a.edges.csv", "Use read_hierarchy"),
    ],
)
def test_read_says_what_it_cannot_read(write, name, words):
    with pytest.raises(FileError, match=words):
        read(write("x", name))


def test_missing_files_and_folders_are_told(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no such file\. Check the spelling"):
        read(tmp_path / "none.arff")
    (tmp_path / "genes.train.arff.gz").write_bytes(b"")
    with pytest.raises(FileNotFoundError, match=r"Did you mean 'genes\.train\.arff\.gz'\?"):
        read(tmp_path / "genes.train.arff")
    with pytest.raises(FileError, match="this is a folder"):
        read(tmp_path)
    with pytest.raises(TypeError, match="must be named by a str or a path"):
        read([3])
    with pytest.raises(ValueError, match="No file was given"):
        read([])


def test_names_without_compression():
    assert [plain_name(name) for name in ("a.arff.gz", "a.csv.XZ", "gz", "a.b", ".gz")] == [
        "a.arff",
        "a.csv",
        "gz",
        "a.b",
        ".gz",
    ]
