"""write_arff: what is written reads back as the same data set."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from ramify import Hierarchy
from ramify.datasets import Dataset, make_hierarchical, make_label_ranking, make_multilabel, write_arff
from ramify.datasets.readers.arff import read_arff
from ramify.datasets.readers.label_rankings import read_rankings
from ramify.datasets.readers.mulan import read_mulan


def assert_same(one, other):
    for name in ("X", "y"):
        a, b = getattr(one, name), getattr(other, name)
        a = a.toarray() if sparse.issparse(a) else np.asarray(a, dtype=float)
        b = b.toarray() if sparse.issparse(b) else np.asarray(b, dtype=float)
        np.testing.assert_array_equal(a, b)
    for name in ("feature_names", "categories", "label_names", "target"):
        assert getattr(one, name) == getattr(other, name), name
    if one.hierarchy is not None:
        assert set(one.hierarchy.names) == set(other.hierarchy.names)


numbers = st.one_of(st.floats(allow_nan=True, allow_infinity=False), st.integers(-5, 5).map(float))
names = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=8)
domains = st.lists(names, min_size=1, max_size=4, unique=True).map(tuple)


@st.composite
def data_sets(draw):
    """Dense or sparse features of both kinds and a class, with odd names."""
    n_rows = draw(st.integers(1, 4))
    columns, categories = [], []
    for _ in range(draw(st.integers(1, 4))):
        values = draw(st.one_of(st.none(), domains))
        cells = numbers if values is None else st.one_of(st.just(np.nan), st.integers(0, len(values) - 1).map(float))
        columns.append(draw(st.lists(cells, min_size=n_rows, max_size=n_rows)))
        categories.append(values)
    X = np.array(columns, dtype=float).T
    classes = draw(domains)
    return Dataset(
        sparse.csc_array(X) if draw(st.booleans()) else X,
        y=np.array(draw(st.lists(st.integers(0, len(classes) - 1), min_size=n_rows, max_size=n_rows))),
        target="classes",
        feature_names=tuple(draw(st.lists(names, min_size=len(columns), max_size=len(columns), unique=True))),
        categories=tuple(categories),
        label_names=classes,
        ids=np.array(draw(st.lists(names, min_size=n_rows, max_size=n_rows)), dtype=object)
        if draw(st.booleans())
        else None,
        sample_weight=np.arange(n_rows) + 0.5 if draw(st.booleans()) else None,
    )


@given(data=data_sets(), index_base=st.sampled_from([0, 1]))
@settings(max_examples=150, deadline=None)
def test_any_data_set_comes_back(tmp_path_factory, data, index_base):
    file = tmp_path_factory.mktemp("round") / "data.arff"
    write_arff(data, file, index_base=index_base)
    again = read_arff(file, identifier=None if data.ids is None else 0, index_base=index_base)
    assert_same(data, again)
    if data.ids is not None:
        assert again.ids.tolist() == data.ids.tolist()
    if data.sample_weight is not None:
        np.testing.assert_array_equal(again.sample_weight, data.sample_weight)


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz"])
def test_hierarchies_come_back(tmp_path, suffix):
    data = make_hierarchical(60, random_state=0)
    file = tmp_path / f"data.arff{suffix}"
    write_arff(data, file)
    again = read_arff(file)
    assert again.hierarchy.decode(again.y) == [
        tuple(name for name in again.hierarchy.names if name in labels) for labels in data.hierarchy.decode(data.y)
    ]
    np.testing.assert_array_equal(
        again.X.toarray() if sparse.issparse(again.X) else again.X,
        data.X.toarray() if sparse.issparse(data.X) else data.X,
    )


def test_a_dag_is_written_as_edges_and_rows_hold_most_specific_labels(tmp_path):
    dag = Hierarchy.from_edges([("A", "B"), ("C", "B"), ("B", "D")])
    data = Dataset(
        np.zeros((2, 1)), y=dag.encode([["D"], []]), target="hierarchy", label_names=dag.names, hierarchy=dag
    )
    file = tmp_path / "dag.arff"
    write_arff(data, file)
    assert "hierarchical root/A,A/B,C/B" in file.read_text()
    assert file.read_text().endswith("0,D\n0,''\n")
    assert_same(data, read_arff(file))


def test_rankings_with_ties_and_unranked_labels_come_back(tmp_path):
    y = np.array([[1, 2, 2], [2, 1, np.nan], [np.nan, np.nan, np.nan]])
    data = Dataset(np.zeros((3, 1)), y=y, target="rankings", label_names=("a", "b", "c"))
    file = tmp_path / "r.xarff"
    write_arff(data, file)
    np.testing.assert_array_equal(read_rankings(file).y, y)
    full = make_label_ranking(30, random_state=0)
    write_arff(full, file)
    np.testing.assert_array_equal(read_rankings(file).y, full.y)


@pytest.mark.parametrize("X", [np.arange(8.0).reshape(4, 2), sparse.csc_array(np.eye(4))], ids=["dense", "sparse"])
def test_label_sets_go_to_mulan_and_back(tmp_path, X):
    y = sparse.csr_array(np.array([[1, 0, 1], [0, 0, 0], [0, 1, 0], [1, 1, 1]], dtype=np.int8))
    data = Dataset(X, y=y, target="labels", label_names=("x & y", "l<2>", "'z'"))
    write_arff(data, tmp_path / "m.arff", labels=tmp_path / "m.xml")
    assert_same(data, read_mulan(tmp_path / "m.arff"))
    generated = make_multilabel(20, random_state=0)
    write_arff(generated, tmp_path / "g.arff", labels=tmp_path / "g.xml")
    assert_same(generated, read_mulan(tmp_path / "g.arff"))


def test_several_numbers_come_back(tmp_path):
    data = Dataset(np.ones((2, 1)), y=np.array([[0.1, 2], [np.nan, -1e300]]), target="numbers", label_names=("u", "v"))
    write_arff(data, tmp_path / "n.arff")
    assert_same(data, read_arff(tmp_path / "n.arff", target=["u", "v"]))


def test_the_same_data_give_the_same_bytes(tmp_path):
    data = make_multilabel(20, random_state=0)
    for name in ("a.arff.gz", "b.arff.gz"):
        write_arff(data, tmp_path / name)
    assert (tmp_path / "a.arff.gz").read_bytes() == (tmp_path / "b.arff.gz").read_bytes()


def test_a_failed_write_leaves_the_old_file(tmp_path):
    file = tmp_path / "old.arff"
    file.write_text("old")
    bad = Hierarchy.from_edges([("a b", "c")])
    data = Dataset(np.zeros((1, 1)), y=bad.encode([["c"]]), target="hierarchy", label_names=bad.names, hierarchy=bad)
    with pytest.raises(ValueError, match="which CLUS cannot read"):
        write_arff(data, file)
    assert file.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["old.arff"]


@settings(max_examples=60, deadline=None)
@given(labels=st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=6), min_size=2, unique=True))
def test_labels_in_xml_come_back_or_are_refused(labels, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mulan")
    Y = sparse.csr_array(np.eye(2, len(labels)))
    data = Dataset(np.eye(2), Y, "labels", ("feature 0", "feature 1"), label_names=tuple(labels))
    if re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "".join(labels)):
        with pytest.raises(ValueError, match="holds a control character, which XML cannot hold"):
            write_arff(data, folder / "a.arff", labels=folder / "a.xml")
        assert not list(folder.iterdir())
        return
    write_arff(data, folder / "a.arff", labels=folder / "a.xml")
    assert read_mulan([folder / "a.arff", folder / "a.xml"]).label_names == tuple(labels)
