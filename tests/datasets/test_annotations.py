import numpy as np
import pytest
from scipy import sparse

from ramify import Hierarchy
from ramify.datasets import Dataset
from ramify.datasets.annotations import annotated_dataset
from ramify.datasets.readers.gaf import read_gaf

ONTOLOGY = Hierarchy.from_edges(
    [("BP", "growth"), ("BP", "repair"), ("repair", "DNA repair"), ("growth", "regrowth"), ("repair", "regrowth")]
    + [("CC", "nucleus")]
)
PAIRS = [("g1", "DNA repair"), ("g2", "regrowth"), ("g3", "repair"), ("g3", "nucleus"), ("g4", "nucleus")]


def test_features_are_closed_and_counted_after_closing():
    data = annotated_dataset(PAIRS, ONTOLOGY, min_count=2)
    assert data.feature_names == ("BP", "repair", "CC", "nucleus")
    assert data.ids.tolist() == ["g1", "g2", "g3", "g4"]
    expected = [[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1], [0, 0, 1, 1]]
    np.testing.assert_array_equal(data.X.toarray(), expected)
    assert len(data.feature_hierarchy.violations(data.X)) == 0
    assert data.feature_hierarchy.parents["repair"] == ("BP",)


def test_below_keeps_one_branch_without_its_root_and_drops_rows_it_leaves_empty():
    data = annotated_dataset(PAIRS, ONTOLOGY, below="BP", min_count=1)
    assert data.feature_names == ("growth", "repair", "DNA repair", "regrowth")
    assert data.ids.tolist() == ["g1", "g2", "g3"]


def test_classes_pick_and_label_the_rows():
    data = annotated_dataset(PAIRS, ONTOLOGY, classes={"g1": "pro", "g3": "anti"}, min_count=1)
    assert data.target == "classes"
    assert data.label_names == ("anti", "pro")
    assert data.y.tolist() == [1, 0]


def test_the_published_threshold_is_three_rows():
    assert annotated_dataset(PAIRS, ONTOLOGY).feature_names == ("BP", "repair")


def test_a_data_set_of_direct_annotations_gives_the_same():
    names = ("repair", "nucleus", "regrowth", "DNA repair")
    X = np.array([[0, 0, 0, 1], [0, 0, 1, 0], [1, 1, 0, 0], [0, 1, 0, 0]], dtype=float)
    table = Dataset(sparse.csc_array(X), feature_names=names, ids=np.array(["g1", "g2", "g3", "g4"]))
    expected = annotated_dataset(PAIRS, ONTOLOGY, min_count=2)
    np.testing.assert_array_equal(annotated_dataset(table, ONTOLOGY, min_count=2).X.toarray(), expected.X.toarray())


def test_unknown_terms_are_named_or_dropped():
    with pytest.raises(ValueError, match="1 annotated terms are not in the ontology .first: 'GO:x'.*unknown='drop'"):
        annotated_dataset([*PAIRS, ("g1", "GO:x")], ONTOLOGY)
    kept = annotated_dataset([*PAIRS, ("g1", "GO:x")], ONTOLOGY, unknown="drop", min_count=2)
    np.testing.assert_array_equal(kept.X.toarray(), annotated_dataset(PAIRS, ONTOLOGY, min_count=2).X.toarray())


def test_a_gaf_file_and_an_ontology_become_a_data_set(tmp_path):
    ontology = tmp_path / "go.obo"
    term = "[Term]\nid: {}\nnamespace: biological_process\n{}\n"
    ontology.write_text(term.format("GO:1", "") + term.format("GO:2", "is_a: GO:1\n"))
    annotations = tmp_path / "genes.gaf"
    line = "DB\t{0}\t{0}\t\t{1}\tPMID:1\tIDA\t\tP\t\t\tprotein\ttaxon:1\t20200101\tDB\t\t\n"
    rows = [("g1", "GO:2"), ("g2", "GO:1"), ("g3", "GO:2"), ("g4", "GO:2")]
    annotations.write_text("!gaf-version: 2.2\n" + "".join(line.format(*row) for row in rows))
    classes = {"g1": "pro", "g2": "anti", "g3": "pro"}
    data = annotated_dataset(read_gaf(annotations, ontology=ontology), classes=classes, min_count=2)
    assert data.feature_names == ("GO:1", "GO:2")
    assert data.ids.tolist() == ["g1", "g2", "g3"]
    np.testing.assert_array_equal(data.X.toarray(), [[1, 1], [1, 0], [1, 1]])


def test_bad_input_is_refused_in_words():
    with pytest.raises(ValueError, match="No term is left of 5 annotations of 4 rows; lower min_count"):
        annotated_dataset(PAIRS, ONTOLOGY, min_count=9)
    with pytest.raises(ValueError, match="'min_count' parameter of annotated_dataset"):
        annotated_dataset(PAIRS, ONTOLOGY, min_count=0)
    with pytest.raises(ValueError, match="is not in the hierarchy"):
        annotated_dataset(PAIRS, ONTOLOGY, below="MF")
    with pytest.raises(ValueError, match="come without an ontology"):
        annotated_dataset(PAIRS)
    with pytest.raises(ValueError, match="names no rows"):
        annotated_dataset(Dataset(np.eye(2)), ONTOLOGY)
