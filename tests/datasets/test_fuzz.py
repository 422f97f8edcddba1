# ruff: noqa: E501
"""Fuzzing of every reader: mutants of small good files either read or raise the documented error, and nothing else."""

import random
import warnings
from pathlib import Path

import pytest

from ramify.datasets import FileError, read
from ramify.datasets.readers.arff import read_arff
from ramify.datasets.readers.edges import read_edges
from ramify.datasets.readers.gaf import read_gaf
from ramify.datasets.readers.label_rankings import read_rankings
from ramify.datasets.readers.mulan import read_mulan
from ramify.datasets.readers.ontology import read_obo

CORPUS = Path(__file__).parents[1] / "corpus"

DENSE = b"""% comment
@relation 'fuzz: -C 2'
@attribute l1 {0,1}
@attribute 'l 2' {no, 'yes'}
@attribute id string
@attribute n numeric
@attribute h hierarchical 1,1/2,1/2/3,4
@attribute d hierarchical root/A,A/B,root/C,C/B
@data
0,no,'r 1',-1.5e3,1/2@4,B
1,'yes','r\\'2',?,1/2/3,A@C,{2}
0,no,r3,.5,4,C
"""
SPARSE = b"""@RELATION x
@ATTRIBUTE a numeric
@ATTRIBUTE b {x,y,zz}
@ATTRIBUTE c {0,1}
@DATA
{0 1.5,1 y}
{1 zz, 2 1}, {3}
{}
{0 ?,2 ?}
"""
XARFF = b"@relation r\n@attribute a numeric\n@attribute L RANKING {x,y,z}\n@data\n1,\tx>y=z\n2,z>x\n"
XML = b"""<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="b"><label name="a&amp;b"></label></label>
</labels>
"""
MULAN = b"@relation r\n@attribute x numeric\n@attribute b {0,1}\n@attribute a&b {0,1}\n@data\n{0 1,2 1}\n{1 1}\n"
TABLE = b'id,a,b,w,t\nr1,1.5,x,1,"p|q"\nr2,-2e3,"y ""z""",2,p/q|p\nr3,,x,0.5,\n'
RANKS = b"A1,A2,L1,L2,L3\r\n1,x,1,2,3\r\n2,y,2,,1\r\n"
ORDERS = b"1,2,L1>L2=L3\n2,3,L3>L1\n"
EDGES = b'parent,child,relation\nA,B,is_a\nA,C,part_of\n"B,x",D,is_a\n'
PARENTS = b'a,b, c,,\r\nb, c,\r\n"d,e",a\r\n'
OBO = b"""format-version: 1.2

[Term]
id: T:1
name: top ! c
alt_id: T:9

[Term]
id: T:2
is_a: T:1 {x="y"} ! top
relationship: part_of T:1

[Term]
id: T:3
is_obsolete: true
replaced_by: T:2
consider: T:1

[Typedef]
id: part_of
"""
GAF = b"!gaf-version: 2.2\n" + b"".join(
    b"DB\tg%d\tG%d\t%s\tT:%d\tPMID:1\tIDA\t\tP\t\t\tprotein\ttaxon:1\t20200101\tDB\t\t\n" % (k, k, q, t)
    for k, q, t in ((1, b"", 1), (1, b"NOT|x", 2), (2, b"enables", 2))
)


def parquet():
    """A small Parquet file, or none where pyarrow is not installed."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"a": [1.5, None], "b": ["x", "y"], "t": [["p"], ["q", "p"]]}), sink, compression="none")
    return sink.getvalue().to_pybytes()


def read_with_xml(path):
    """Read the mutant as the XML of a good ARFF file."""
    arff = path.with_name("mulan-of-fuzz.arff")
    if not arff.exists():
        arff.write_bytes(MULAN)
    return read_mulan(arff, labels=path)


def read_tree_or_dag(path):
    """Read the mutant with every column in another role."""
    read_arff(path, target=["l1", "l 2"], ignore=["h", "id"])
    return read_arff(path, target="h", ignore=["d"], hierarchy_type="tree")


READERS = {
    "arff": (read_arff, ".arff", DENSE),
    "arff_roles": (read_tree_or_dag, ".arff", DENSE),
    "sparse": (read_arff, ".arff", SPARSE),
    "xarff": (read_rankings, ".xarff", XARFF),
    "xml": (read_with_xml, ".xml", XML),
    "csv": (lambda path: read(path, identifier="id", weight="w"), ".csv", TABLE),
    "csv_transposed": (lambda path: read(path, transposed=True), ".csv", TABLE),
    "ranks": (read_rankings, ".csv", RANKS),
    "orders": (read_rankings, ".txt", ORDERS),
    "edges": (lambda path: read_edges(path, on_cycle="drop"), ".csv", EDGES),
    "parents": (lambda path: read_edges(path, names=["d,e"]), ".csv", PARENTS),
    "obo": (lambda path: read_obo(path, relations=("is_a", "part_of")), ".obo", OBO),
    "gaf": (read_gaf, ".gaf", GAF),
}
PIECES = [
    b"", b"\n", b"\r\n", b"\r", b"\x00", b"\xff", b"\xef\xbb\xbf", b",", b",,", b"'", b'"', b"\\", b"{", b"}", b"%", b"?",
    b"@", b"@data\n", b"@attribute", b"/", b"//", b"root/", b">", b"=", b"|", b"!", b" ", b"\t", b"-1", b"1e999", b"nan",
    b"99999999999999999999", b"0", b"1", b"L1", b"[Term]\n", b"id: ", b"is_a: T:1\n", b"<label name='b'>", b"&x;", b"<!DOCTYPE",
    b"hierarchical ", b"RANKING {a}", b"string", b"{0 1}", b"\xe2\x80\xa8", b"\x85", b"1" * 400, b"a/" * 300, b"(" * 50,
]  # fmt: skip


def mutant(good: bytes, source: random.Random) -> bytes:
    """A copy with one to four random changes: bytes, inserted pieces, cuts, repeats, swaps and mixed lines."""
    text = bytearray(good)
    for _ in range(source.randint(1, 4)):
        at = source.randrange(len(text) + 1)
        to = min(len(text), at + source.choice((1, 1, 2, 5, 20)))
        change = source.randrange(6)
        if change == 0 and text:
            text[min(at, len(text) - 1)] = source.randrange(256)
        elif change == 1:
            text[at:at] = source.choice(PIECES)
        elif change == 2:
            del text[at:to]
        elif change == 3:
            text[at:at] = text[at:to] * source.choice((1, 2, 30))
        elif change == 4:
            other = source.randrange(len(text) + 1)
            text[at:at] = text[other : other + 10]
        else:
            lines = text.split(b"\n")
            a, b = source.randrange(len(lines)), source.randrange(len(lines))
            lines[a], lines[b] = lines[b], lines[a]
            text = bytearray(b"\n".join(lines))
    return bytes(text)


def is_documented(error: Exception) -> bool:
    """Whether an error is of the readers' own class, or tells that a column that the caller named is gone."""
    if isinstance(error, FileError):
        return str(error).startswith(error.path)
    return isinstance(error, ValueError) and str(error).startswith(("target=", "ignore=", "identifier=", "weight="))


def check_readers_survive(name: str, folder: Path, n_mutants: int, seed: int) -> int:
    """Read mutants; return how many were read rather than refused."""
    reader, suffix, good = READERS[name]
    source = random.Random(f"{name} {seed}")
    file = folder / ("fuzz" + suffix)
    n_read = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for _ in range(n_mutants):
            text = mutant(good, source)
            file.write_bytes(text)
            try:
                reader(file)
                n_read += 1
            except Exception as error:
                if not is_documented(error):
                    raise AssertionError(f"{type(error).__name__}: {error} for {text!r}") from error
    return n_read


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", READERS)
def test_mutants_are_read_or_refused(name, tmp_path, scorecard):
    assert check_readers_survive(name, tmp_path, 2000, seed=0) > 0
    scorecard("R9", f"{name} 2,000 mutants")


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("name", READERS)
def test_many_mutants_are_read_or_refused(name, tmp_path, scorecard):
    assert check_readers_survive(name, tmp_path, 20_000, seed=1) > 0
    scorecard("R9", f"{name} 20,000 mutants")


@pytest.mark.parametrize("n_mutants", [2000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_parquet_mutants_are_read_or_refused(n_mutants, tmp_path):
    good, source = parquet(), random.Random(0)
    file = tmp_path / "fuzz.parquet"
    for _ in range(n_mutants):
        text = bytearray(good)
        for _ in range(source.randint(1, 3)):
            text[source.randrange(len(text))] = source.randrange(256)
        file.write_bytes(text)
        try:
            read(file)
        except FileError:
            continue


@pytest.mark.parametrize("name", ["gz", "bz2", "xz", "zip"])
def test_damaged_archives_are_refused(name, tmp_path):
    import bz2
    import gzip
    import io
    import lzma
    import zipfile

    packed = io.BytesIO()
    if name == "zip":
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("data.arff", DENSE)
    else:
        packed.write({"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}[name](DENSE))
    source = random.Random(name)
    file = tmp_path / f"fuzz.arff.{name}"
    for _ in range(400):
        text = bytearray(packed.getvalue())
        if source.random() < 0.3:
            del text[source.randrange(1, len(text)) :]
        for _ in range(source.randint(1, 3)):
            text[source.randrange(len(text))] = source.randrange(256)
        file.write_bytes(text)
        try:
            read_arff(file)
        except FileError:
            continue


DATA_FILES = [file for file in sorted(CORPUS.iterdir()) if file.name.split(".")[0] in {*READERS, "parquet"}]


@pytest.mark.parametrize("file", DATA_FILES, ids=lambda file: file.name)
def test_files_that_once_failed_are_read_or_refused(file, tmp_path):
    name = file.name.split(".")[0]
    reader, suffix = (read, ".parquet") if name == "parquet" else READERS[name][:2]
    copy = tmp_path / ("fuzz" + suffix)
    copy.write_bytes(file.read_bytes())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            reader(copy)
        except ValueError as error:
            if not is_documented(error):
                raise
