"""AnnData files and frames of the Arrow PyCapsule interface: what others write is read as they mean it."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import ramify
from ramify.datasets.readers.raw_files import FileError

TYPES = ["T cell", "B cell", None, "B cell", "T cell", "monocyte"]
COUNTS = np.array([[0, 1, 0], [2, 0, 0], [0, 0, 3], [4, 0, 1], [0, 1, 0], [0, 2, 2]], dtype=np.float32)
OBO = """format-version: 1.2
[Term]
id: CL:1
name: blood cell
[Term]
id: CL:2
name: lymphocyte
is_a: CL:1
[Term]
id: CL:3
name: T cell
is_a: CL:2
[Term]
id: CL:4
name: B cell
is_a: CL:2
[Term]
id: CL:5
name: monocyte
is_a: CL:1
"""


def write_cells(path, X, *, ontology_ids=False):
    """A file as anndata 0.8 to 0.12 write it."""
    h5py = pytest.importorskip("h5py")

    def text(group, name, values):
        group.create_dataset(name, data=[str(value) for value in values], dtype=h5py.string_dtype())

    with h5py.File(path, "w") as file:
        if sparse.issparse(X):
            held = file.create_group("X")
            held.attrs.update({"encoding-type": f"{X.format}_matrix", "shape": X.shape})
            for name in ("data", "indices", "indptr"):
                held.create_dataset(name, data=getattr(X, name))
        else:
            file.create_dataset("X", data=X)
        cells, genes = file.create_group("obs"), file.create_group("var")
        cells.attrs["_index"] = genes.attrs["_index"] = "_index"
        text(cells, "_index", [f"cell{i}" for i in range(len(TYPES))])
        text(genes, "_index", ["ENSG1", "ENSG2", "ENSG2"])
        text(genes, "feature_name", ["CD3E", "CD19", "LYZ"])
        kinds = sorted({kind for kind in TYPES if kind})
        ids = {"T cell": "CL:3", "B cell": "CL:4", "monocyte": "CL:5"}
        column = cells.create_group("cell_type")
        text(column, "categories", [ids[kind] if ontology_ids else kind for kind in kinds])
        column.create_dataset("codes", data=[-1 if kind is None else kinds.index(kind) for kind in TYPES], dtype="i1")
        text(cells, "donor", ["a", "a", "b", "b", "c", "c"])
        cells.create_dataset("n_counts", data=COUNTS.sum(axis=1))
    return path


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_cells_are_read_with_their_type(tmp_path, form):
    data = ramify.read(write_cells(tmp_path / "cells.h5ad", form(COUNTS)), groups="donor")
    assert data.label_names == ("B cell", "T cell", "monocyte")
    assert [data.label_names[k] for k in data.y] == ["T cell", "B cell", "B cell", "T cell", "monocyte"]
    assert data.feature_names == ("ENSG1", "ENSG2", "ENSG2-2")
    assert data.titles["ENSG1"] == "CD3E"
    assert data.row_groups.tolist() == ["a", "a", "b", "c", "c"]
    assert "1 cells without 'cell_type' are left out." in data.notes
    X = data.X.toarray() if sparse.issparse(data.X) else np.asarray(data.X)
    np.testing.assert_array_equal(X, COUNTS[[0, 1, 3, 4, 5]])
    assert sparse.issparse(data.X) == (form is not np.asarray)


def test_numbers_of_the_cells_are_a_numeric_target(tmp_path):
    data = ramify.read(write_cells(tmp_path / "cells.h5ad", COUNTS), target="n_counts")
    assert data.target == "numbers"
    np.testing.assert_array_equal(data.y, COUNTS.sum(axis=1))


@pytest.mark.parametrize("ontology_ids", [False, True])
def test_an_ontology_orders_the_types(tmp_path, ontology_ids):
    path = write_cells(tmp_path / "cells.h5ad", sparse.csr_array(COUNTS), ontology_ids=ontology_ids)
    (tmp_path / "cl.obo").write_text(OBO)
    data = ramify.read(path, hierarchy=tmp_path / "cl.obo")
    assert data.target == "hierarchy"
    assert data.hierarchy.decode(data.y)[0] == ("CL:1", "CL:2", "CL:3")
    assert data.titles["CL:3"] == "T cell"
    forest = ramify.ForestClassifier(3, hierarchy=data.hierarchy, random_state=0).fit(data.X, data.y)
    assert forest.predict_proba(data.X).shape == (5, 5)


def test_faults_say_what_to_name(tmp_path):
    path = write_cells(tmp_path / "cells.h5ad", COUNTS)
    with pytest.raises(FileError, match=r"no column is called 'kind'.*Name one of cell_type, donor, n_counts"):
        ramify.read(path, target="kind")
    (tmp_path / "broken.h5ad").write_bytes(path.read_bytes()[:500])
    with pytest.raises(FileError, match="this is no readable AnnData file"):
        ramify.read(tmp_path / "broken.h5ad")


@pytest.mark.filterwarnings("ignore")  # those of anndata itself
def test_what_anndata_writes_is_read(tmp_path):
    anndata = pytest.importorskip("anndata")
    anndata.settings.allow_write_nullable_strings = True
    frame = pd.DataFrame({"cell_type": pd.Categorical(TYPES)}, index=[f"cell{i}" for i in range(len(TYPES))])
    cells = anndata.AnnData(sparse.csr_matrix(COUNTS), obs=frame, var=pd.DataFrame(index=["CD3E", "CD19", "LYZ"]))
    cells.write_h5ad(tmp_path / "written.h5ad")
    data = ramify.read(tmp_path / "written.h5ad")
    assert data.label_names == ("B cell", "T cell", "monocyte")
    np.testing.assert_array_equal(data.X.toarray(), COUNTS[[0, 1, 3, 4, 5]])


class Capsule:
    """A frame of which nothing is known but the Arrow PyCapsule interface."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def test_frames_through_the_arrow_interface_are_read():
    pa = pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"size": np.arange(20) % 7 / 2, "kind": ["a", "b"] * 10})
    data = ramify.read(Capsule(pa.Table.from_pandas(frame)), target="kind")
    expected = ramify.read(frame, target="kind")
    assert data.feature_names == expected.feature_names == ("size",)
    np.testing.assert_array_equal(data.y, expected.y)


WRONG = [b"x", "x", -1, 2**62, 1.5, [], [1, 2], [[1, 2]], np.array([np.nan]), np.array(["a"], dtype="S1")]
"""What may stand where something else belongs."""


def parts(node, path=""):
    """Every attribute, group and column below a node, by path and, for attributes, their name."""
    for name in node.attrs:
        yield path, name
    for name in node:
        yield f"{path}/{name}", None
        if hasattr(node[name], "keys"):
            yield from parts(node[name], f"{path}/{name}")


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_any_part_that_is_wrong_or_missing_is_read_or_refused(tmp_path, form, scorecard):
    h5py = pytest.importorskip("h5py")
    good = write_cells(tmp_path / "good.h5ad", form(COUNTS)).read_bytes()
    with h5py.File(tmp_path / "good.h5ad") as file:
        places = list(parts(file))
    n_tried = 0
    for path, attribute in places:
        for wrong in (None, h5py.SoftLink("/nowhere"), np.dtype("f8"), "group", *WRONG):
            bad = tmp_path / "bad.h5ad"
            bad.write_bytes(good)
            with h5py.File(bad, "r+") as file:
                holder = file[path].attrs if attribute else file
                key = attribute or path
                if attribute and (wrong is None or not isinstance(wrong, (h5py.SoftLink, np.dtype))):
                    del holder[key]
                    if wrong is not None:
                        holder[key] = wrong
                elif not attribute:
                    del file[path]
                    if isinstance(wrong, str) and wrong == "group":
                        file.create_group(path)
                    elif wrong is not None:
                        file[path] = wrong
            n_tried += 1
            try:
                data = ramify.read(bad, groups="donor")
            except FileError as error:
                assert str(error).startswith(str(bad)), error  # noqa: PT017
                continue
            assert data.X.shape == (len(data.y), data.n_features)
    scorecard("R9", f"h5ad of {form.__name__} {n_tried:,} mutants")
