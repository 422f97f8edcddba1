# ruff: noqa: E501
"""Traps: files made to make a parser hang, blow up or run out of memory are refused or read in linear time."""

import bz2
import contextlib
import gzip
import io
import lzma
import tracemalloc
import zipfile

import pytest

from ramify.datasets import FileError, read
from ramify.datasets.readers.arff import read_arff
from ramify.datasets.readers.edges import read_edges
from ramify.datasets.readers.gaf import read_gaf
from ramify.datasets.readers.label_rankings import read_rankings
from ramify.datasets.readers.mulan import read_mulan
from ramify.datasets.readers.ontology import read_obo

pytestmark = pytest.mark.timeout(120)

BOMB_SIZE = 80 << 20
HEAD = b"@relation r\n@attribute a numeric\n@data\n"


def zipped(name, size):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(name, "w") as member:
        for _ in range(size >> 20):
            member.write(b" " * (1 << 20))
    return content.getvalue()


@pytest.fixture(scope="module")
def bombs():
    """The same 80 MiB of blanks, packed by every method."""
    gz, bz, xz = io.BytesIO(), bz2.BZ2Compressor(), lzma.LZMACompressor(preset=0)
    block = b" " * (1 << 20)
    with gzip.GzipFile(fileobj=gz, mode="wb", compresslevel=9) as stream:
        for _ in range(BOMB_SIZE >> 20):
            stream.write(block)
    return {
        "gz": gz.getvalue(),
        "bz2": b"".join(bz.compress(block) for _ in range(BOMB_SIZE >> 20)) + bz.flush(),
        "xz": b"".join(xz.compress(block) for _ in range(BOMB_SIZE >> 20)) + xz.flush(),
        "zip": zipped("data.arff", BOMB_SIZE),
    }


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz", "zip"])
@pytest.mark.parametrize("reader", [read_arff, read, read_obo], ids=lambda reader: reader.__name__)
def test_compression_bomb_is_refused(write, bombs, suffix, reader):
    file = write(bombs[suffix], f"bomb.csv.{suffix}" if reader is read else f"bomb.{suffix}")
    with pytest.raises(FileError, match="looks like a bomb"):
        reader(file)


def test_reading_a_bomb_takes_little_memory(write, bombs):
    file = write(bombs["gz"], "bomb.gz")
    tracemalloc.start()
    try:
        with pytest.raises(FileError, match="looks like a bomb"):
            read_arff(file)
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "entities", ["<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;'>", "<!ENTITY x SYSTEM 'file:///etc/passwd'>"]
)
def test_xml_entities_are_refused_before_they_expand(write, entities):
    arff = write("@relation r\n@attribute l {0,1}\n@data\n1\n", "s.arff")
    write(f"<!DOCTYPE labels [{entities}]><labels><label name='&b;'/></labels>", "s.xml")
    with pytest.raises(FileError, match="document type declaration"):
        read_mulan(arff)


def test_xml_nested_200000_deep_is_refused(write):
    arff = write("@relation r\n@attribute l {0,1}\n@data\n1\n", "s.arff")
    write("<labels>" + "".join(f"<label name='{k}'>" for k in range(200_000)), "s.xml")
    with pytest.raises(FileError, match="nested deeper than 1000"):
        read_mulan(arff)


def test_label_path_of_200000_steps_is_refused(write):
    path = "/".join(["a"] * 200_000)
    with pytest.raises(FileError, match="200000 levels"):
        read_arff(write(f"@relation r\n@attribute c hierarchical {path}\n@data\na\n"))
    with pytest.raises(FileError, match="no path of at most 200 steps"):
        read(write(f"x,t\n1,{path[:100_000]}\n", "t.csv"), target="t", kind="hierarchy")


def test_ontology_chain_of_200000_terms_is_read(write):
    terms = "".join(f"[Term]\nid: T:{k}\nis_a: T:{k + 1}\n" for k in range(200_000)) + "[Term]\nid: T:200000\n"
    assert read_obo(write(terms, "o.obo")).roots == ("T:200000",)


def test_ontology_cycle_of_200000_terms_is_refused(write):
    terms = "".join(f"[Term]\nid: T:{k}\nis_a: T:{(k + 1) % 200_000}\n" for k in range(200_000))
    with pytest.raises(FileError, match="cannot have a cycle") as caught:
        read_obo(write(terms, "o.obo"))
    assert len(str(caught.value)) < 2000


def test_ring_of_replaced_terms_ends(write):
    terms = "".join(f"[Term]\nid: T:{k}\nis_obsolete: true\nreplaced_by: T:{(k + 1) % 5}\n" for k in range(5))
    with pytest.raises(FileError, match="'T:0' is no term in use"):
        read_obo(write(terms + "[Term]\nid: T:9\n", "o.obo"), names=["T:0"])


# Texts that a reader which backtracks or copies needs quadratic or exponential time for; n is their size.
GROWING = {
    "spaces in a name": (read_arff, lambda n: HEAD[:12] + b"@attribute " + b" " * n + b"x\n"),
    "quotes and escapes": (read_arff, lambda n: HEAD[:12] + b"@attribute '" + b"\\'" * n + b"\n"),
    "an open domain": (read_arff, lambda n: HEAD[:12] + b"@attribute a {" + b"x," * n + b"\n"),
    "a wide domain": (read_arff, lambda n: HEAD[:12] + b"@attribute a {" + b",".join(b"v%d" % k for k in range(n)) + b"}\n@data\nv1\n"),
    "a long relation": (read_arff, lambda n: b"@relation " + b"-C " * n + b"\n" + HEAD[12:] + b"1\n"),
    "a long line of data": (read_arff, lambda n: HEAD + b"1," * n),
    "a long quote": (read_arff, lambda n: HEAD + b"'" + b"\\\\" * n),
    "a long sparse row": (read_arff, lambda n: HEAD + b"{" + b"0 1," * n),
    "unordered sparse rows": (read_arff, lambda n: b"@relation r\n" + b"".join(b"@attribute a%d numeric\n" % k for k in range(n // 20)) + b"@data\n{" + b",".join(b"%d 1" % k for k in reversed(range(n // 20))) + b"}\n"),
    "a long number": (read_arff, lambda n: HEAD + b"1" * n + b"e-%d\n" % n),
    "blank lines": (read_arff, lambda n: HEAD + b"\n" * n + b"1\n"),
    "comment lines": (read_arff, lambda n: b"%\n" * n + HEAD + b"1\n"),
    "commas": (read, lambda n: b"a" + b"," * (n // 5) + b"\n" + b"1" + b"," * (n // 5) + b"\n"),
    "csv quotes": (read, lambda n: b'a,b\n"' + b'""' * min(n, 60_000) + b'",1\n'),
    "an order": (read_rankings, lambda n: b"1," + b">".join(b"l%d" % k for k in range(n // 10)) + b"\n"),
    "digits in labels": (read_rankings, lambda n: b"1,a" + b"1" * n + b">b\n"),
    "parents": (read_edges, lambda n: b"a," + b",".join(b"p%d" % k for k in range(n // 2)) + b"\n"),
    "obo modifiers": (read_obo, lambda n: b"[Term]\nid: a" + b" {" * n + b"}" * n + b"\n"),
    "obo comments": (read_obo, lambda n: b"[Term]\nid: a" + b" !" * n + b"\n"),
    "gaf tabs": (read_gaf, lambda n: b"\t" * n + b"\n"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*no row tells")
@pytest.mark.parametrize("case", GROWING)
def test_crafted_text_is_read_or_refused_in_time(write, case):
    reader, text = GROWING[case]
    suffix = {read_arff: "arff", read_obo: "obo", read_gaf: "gaf"}.get(reader, "csv")
    with contextlib.suppress(FileError):
        reader(write(text(200_000), f"t.{suffix}"))  # 4e10 steps, far beyond the watchdog, if it were quadratic


def test_pictures_and_models_are_no_data(tmp_path):
    picture = tmp_path / "picture.arff"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)))
    with pytest.raises(FileError, match="this is a picture or a PDF file. Name the file"):
        read(picture)
    model = tmp_path / "songs.ramify"
    model.write_bytes(b"")
    with pytest.raises(FileError, match="this is a model and holds no data. Name a data file"):
        read(model)
