"""Every number that the READMEs of the real data give, read back from the files."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from ramify.datasets import read
from ramify.datasets.description import describe
from ramify.datasets.readers.arff import read_arff
from ramify.datasets.readers.edges import read_edges
from ramify.datasets.readers.label_rankings import read_rankings
from ramify.datasets.readers.mulan import read_mulan
from ramify.datasets.readers.ontology import read_obo
from ramify.datasets.tables.delimited import read_records

# name: rows of the parts, nominal / numeric features, labels, edges, leaves, deepest, mean depth of leaves, labels per
# row with ancestors, leaf labels per row, missing cells in percent
FUN = {
    "cellcycle": ((1628, 848, 1281), (0, 77), 499, 481, 324, 6, 3.7, 8.758, 2.159, 5.57),
    "church": ((1630, 844, 1281), (1, 26), 499, 481, 324, 6, 3.7, 8.746, 2.155, 9.65),
    "derisi": ((1608, 842, 1275), (0, 63), 499, 481, 324, 6, 3.7, 8.787, 2.163, 0.0),
    "eisen": ((1058, 529, 837), (0, 79), 461, 443, 296, 6, 3.68, 9.2, 2.353, 1.93),
    "expr": ((1639, 849, 1291), (4, 547), 499, 481, 324, 6, 3.7, 8.736, 2.153, 8.9),
    "gasch1": ((1634, 846, 1284), (0, 173), 499, 481, 324, 6, 3.7, 8.741, 2.155, 2.77),
    "pheno": ((656, 353, 582), (69, 0), 455, 437, 290, 6, 3.67, 9.08, 2.263, 0.0),
    "seq": ((1701, 879, 1339), (5, 473), 499, 481, 324, 6, 3.7, 8.551, 2.103, 0.0),
    "struc": ((1665, 860, 1313), (19628, 0), 499, 481, 324, 6, 3.7, 8.671, 2.134, 0.0),
}
# The README counts the edges and the level of the artificial root, which is no label: 3 edges and 1 level more.
GO = {
    "cellcycle": ((1625, 848, 1278), (0, 77), 4125, 5827, 2041, 13, 7.53, 34.91, 3.364, 5.59),
    "eisen": ((1055, 528, 835), (0, 79), 3573, 5037, 1707, 12.125, 7.5, 38.042, 3.727, 1.93),
    "gasch2": ((1636, 849, 1288), (0, 52), 4131, 5837, 2043, 13, 7.53, 34.869, 3.362, 3.56),
    "pheno": ((653, 352, 581), (69, 0), 3127, 4450, 1399, 13, 7.47, 35.432, 3.561, 0.0),
    "seq": ((1692, 876, 1332), (5, 473), 4133, 5839, 2044, 13, 7.53, 34.582, 3.326, 0.0),
    "spo": ((1597, 837, 1263), (3, 77), 4119, 5821, 2037, 13, 7.53, 34.969, 3.367, 2.28),
    "expr": ((849, 1288), (4, 547), 4131, 5837, 2043, 13, 7.53, 35.066, 3.368, 8.92),
}
OTHERS = {
    ("Diatoms_train.arff.gz", "Diatoms_test.arff.gz"):
        ((2065, 1054), (0, 371), 398, 313, 311, 3, 2.01, 1.948, 0.94, 0.0),
    ("Enron_corr_trainvalid.arff.gz", "Enron_corr_test.arff.gz"):
        ((988, 660), (0, 1001), 56, 53, 52, 3, 2.25, 5.3, 2.847, 0.0),
    ("ImCLEF07A_Train.arff.gz", "ImCLEF07A_Test.arff"):
        ((10000, 1006), (0, 80), 96, 88, 63, 3, 3.0, 3.0, 1.0, 0.0),
}  # fmt: skip
# rows of train and test, nominal / numeric features, labels, cardinality, density, distinct sets, storage
MULTILABEL = {
    "emotions": ((391, 202), (0, 72), 6, 1.868, 0.311, 27, "dense"),
    "scene": ((1211, 1196), (0, 294), 6, 1.074, 0.179, 15, "dense"),
    "yeast": ((1500, 917), (0, 103), 14, 4.237, 0.303, 198, "dense"),
    "enron": ((1123, 579), (1001, 0), 53, 3.378, 0.064, 753, "sparse"),
    "genbase": ((463, 199), (1186, 0), 27, 1.252, 0.046, 32, "dense"),
    "bibtex": ((4880, 2515), (1836, 0), 159, 2.402, 0.015, 2856, "sparse"),
    "Corel5k": ((4500, 500), (499, 0), 374, 3.522, 0.009, 3175, "sparse"),
    "foodtruck": ((407,), (4, 17), 12, 2.29, 0.191, 116, "dense"),
}
# rows, labels, features, distinct rankings, their share in percent
RANKINGS = {
    "kebi/authorship": (841, 4, 70, 17, 2.02),
    "kebi/bodyfat": (252, 7, 7, 236, 93.65),
    "kebi/calhousing": (20640, 4, 4, 24, 0.12),
    "kebi/cpu": (8192, 5, 6, 119, 1.45),
    "kebi/elevators": (16599, 9, 9, 131, 0.79),
    "kebi/fried": (40768, 5, 9, 120, 0.29),
    "kebi/glass": (214, 6, 9, 30, 14.02),
    "kebi/housing": (506, 6, 6, 112, 22.13),
    "kebi/iris": (150, 3, 4, 5, 3.33),
    "kebi/pendigits": (10992, 10, 16, 2081, 18.93),
    "kebi/segment": (2310, 7, 18, 135, 5.84),
    "kebi/vowel": (528, 11, 10, 294, 55.68),
    "kebi/wine": (178, 3, 13, 5, 2.81),
    "real/spo": (2465, 11, 24, 2361, 95.78),
    "real/heat": (2465, 6, 24, 622, 25.23),
    "real/dtt": (2465, 4, 24, 24, 0.97),
    "real/diau": (2465, 7, 24, 967, 39.23),
}
# features, edges, rows, percent positive, percent of ones, longest path
RPV_GO = {
    "CE-BP": (991, 1705, 657, 34.40, 4.52, 13),
    "CE-CC": (178, 277, 484, 36.36, 6.65, 9),
    "CE-MF": (263, 331, 504, 37.70, 5.07, 14),
    "DM-BP": (800, 1352, 132, 71.97, 8.32, 12),
    "DM-CC": (89, 130, 122, 70.49, 13.02, 7),
    "DM-MF": (145, 181, 126, 70.63, 7.72, 13),
    "MM-BP": (1332, 2402, 109, 68.81, 10.65, 13),
    "MM-CC": (142, 212, 107, 68.22, 16.80, 7),
    "MM-MF": (240, 288, 106, 67.92, 9.73, 10),
}
# rows, features, is_a edges, rows of class 1
WAN = {
    "CE-BP": (528, 831, 1455, 209),
    "CE-CC": (254, 144, 229, 98),
    "CE-MF": (279, 219, 270, 121),
    "DM-BP": (127, 699, 1209, 91),
    "DM-CC": (90, 76, 111, 62),
    "DM-MF": (102, 131, 161, 68),
}


def found(folder, *patterns):
    """Files of a folder, in the order of the patterns."""
    files = [file for pattern in patterns for file in sorted(folder.glob(pattern))]
    if not files:
        pytest.skip(f"no {patterns[0]} in {folder}")
    return files


def check_hierarchical(data, expected, *, root):
    rows, kinds, n_labels, n_edges, n_leaves, deepest, leaf_depth, cardinality, leaf_cardinality, missing = expected
    facts = describe(data)
    assert tuple(facts["parts"].values()) == rows
    assert (facts["nominal"], facts["numeric"]) == kinds
    assert facts["labels"] == n_labels
    n_roots = len(data.hierarchy.roots) if root else 0
    assert facts["hierarchy"]["edges"] + n_roots == n_edges
    assert facts["hierarchy"]["leaves"] == n_leaves
    assert facts["hierarchy"]["max_depth"] + root == deepest
    assert round(facts["hierarchy"]["mean_leaf_depth"] + root, 2) == leaf_depth
    assert round(facts["cardinality"], 3) == cardinality
    assert round(facts["leaf_cardinality"], 3) == leaf_cardinality
    assert round(100 * facts["missing_share"], 2) == missing
    assert (data.hierarchy.close(data.y) != data.y).nnz == 0


@pytest.mark.parametrize("name", FUN)
def test_yeast_funcat(data_folder, name):
    files = found(data_folder / "hmc/fun", f"{name}_FUN.train.*", f"{name}_FUN.valid.*", f"{name}_FUN.test.*")
    data = read_arff(files)
    check_hierarchical(data, FUN[name], root=False)
    assert data.hierarchy.is_tree
    assert sparse.issparse(data.X) == (name == "struc")


@pytest.mark.parametrize("name", GO)
def test_yeast_gene_ontology(data_folder, name):
    files = found(data_folder / "hmc/go", f"{name}_GO.train.*", f"{name}_GO.valid.*", f"{name}_GO.test.*")
    data = read_arff(files)
    check_hierarchical(data, GO[name], root=True)
    assert not data.hierarchy.is_tree


@pytest.mark.parametrize("names", OTHERS, ids=lambda names: names[0].split("_")[0])
def test_other_hierarchical_sets(data_folder, names):
    data = read_arff([data_folder / "hmc/others" / name for name in names])
    check_hierarchical(data, OTHERS[names], root=False)
    assert list(data.parts) == ["train", "test"]


def test_enron_as_edges_has_the_rows_of_enron_as_paths(data_folder):
    folder = data_folder / "hmc/others"
    paths = read_arff([folder / "Enron_corr_trainvalid.arff.gz", folder / "Enron_corr_test.arff.gz"])
    edges = read_arff(folder / "enron.harff.gz")
    assert (edges.n_samples, edges.n_features, edges.ids is not None) == (1648, 1001, True)
    assert edges.categorical_features.all()
    assert edges.hierarchy.is_tree
    assert len(edges.hierarchy) == len(paths.hierarchy) == 56
    assert edges.y.sum() == paths.y.sum()
    assert edges.X.sum() == paths.X.sum()


@pytest.mark.parametrize("name", MULTILABEL)
def test_mulan_sets(data_folder, name):
    rows, kinds, n_labels, cardinality, density, n_distinct, storage = MULTILABEL[name]
    folder = data_folder / "multilabel"
    data = read_mulan(found(folder, f"{name}-train*", f"{name}-test*") if len(rows) == 2 else folder / f"{name}.arff")
    facts = describe(data)
    assert tuple(facts["parts"].values()) == (rows if len(rows) == 2 else ())
    assert data.n_samples == sum(rows)
    assert (facts["nominal"] + (name == "genbase"), facts["numeric"]) == kinds  # its protein is an identifier here
    assert facts["labels"] == n_labels
    assert round(facts["cardinality"], 3) == cardinality
    assert round(facts["density"], 3) == density
    assert facts["distinct"] == n_distinct
    assert facts["storage"] == storage
    assert facts["missing"] == 0
    assert (data.ids is not None) == (name == "genbase")


@pytest.mark.parametrize("name", ["emotions", "yeast"])
def test_mulan_union_has_the_rows_of_its_parts(data_folder, name):
    folder = data_folder / "multilabel"
    union = read_mulan(folder / f"{name}.arff.gz")
    parts = read_mulan(found(folder, f"{name}-train*", f"{name}-test*"))
    assert union.n_samples == parts.n_samples
    assert union.label_names == parts.label_names
    np.testing.assert_array_equal(np.sort(union.X, axis=0), np.sort(parts.X, axis=0))


@pytest.mark.parametrize("name", RANKINGS)
def test_label_rankings(data_folder, name):
    n_rows, n_labels, n_features, n_distinct, share = RANKINGS[name]
    data = read_rankings(found(data_folder / "labelranking", f"{name}.csv*"))
    facts = describe(data)
    assert (data.n_samples, data.n_labels, data.n_features) == (n_rows, n_labels, n_features)
    assert facts["distinct"] == n_distinct
    assert round(100 * facts["distinct_share"], 2) == share
    assert facts["numeric"] == n_features
    assert facts["missing"] == facts["missing_labels"] == 0
    np.testing.assert_array_equal(np.sort(data.y, axis=1), np.tile(np.arange(1, n_labels + 1), (n_rows, 1)))


def test_yeast_rankings_share_their_features(data_folder):
    sets = [
        read_rankings(found(data_folder / "labelranking/real", f"{name}.csv*"))
        for name in ("spo", "heat", "dtt", "diau")
    ]
    for other in sets[1:]:
        np.testing.assert_array_equal(other.X, sets[0].X)


@pytest.mark.parametrize(
    "name", ["iris.order.txt", "iris.letters.txt", "iris.sklr_2021.csv", "iris_dense.xarff", "bodyfat.order.txt"]
)
def test_other_notations_say_the_same_rankings(data_folder, name):
    folder = data_folder / "labelranking"
    data = read_rankings(folder / "formats" / name)
    expected = read_rankings(folder / "kebi" / (name.split(".")[0].split("_")[0] + ".csv"))
    np.testing.assert_array_equal(data.y, expected.y)
    np.testing.assert_allclose(data.X, expected.X, atol=1e-5)


def test_partial_rankings_keep_their_ties(data_folder):
    data = read_rankings(data_folder / "labelranking/formats/iris.partial_ranking_ties.csv")
    assert (data.n_samples, data.n_features, data.n_labels) == (150, 4, 3)
    assert data.y[0].tolist() == [1, 2, 2]
    assert describe(data)["has_ties"]
    assert describe(data)["missing_labels"] == 0


@pytest.mark.parametrize("name", RPV_GO)
def test_ageing_genes(data_folder, name):
    n_features, n_edges, n_rows, positive, ones, longest = RPV_GO[name]
    data = read_arff(found(data_folder / "hierfeat/rpv_go", f"{name}-*"))
    terms = read_edges(data_folder / "hierfeat/go_edges_derived" / f"{name}.edges.csv")
    assert (data.n_samples, data.n_features, len(terms.edges)) == (n_rows, n_features, n_edges)
    assert set(data.feature_names) == set(terms.names)
    assert data.ids is not None
    assert data.label_names == ("0", "1")
    assert round(100 * data.y.mean(), 2) == positive
    assert abs(100 * data.X.mean() - ones) < 0.011
    assert longest_path(terms) == longest
    ordered = data.X[:, [data.feature_names.index(term) for term in terms.names]]
    assert len(terms.violations(ordered.astype(int))) == 0


def longest_path(hierarchy):
    """Number of edges of the longest way from a root to a leaf."""
    length = np.zeros(len(hierarchy), dtype=int)
    parents = [[] for _ in hierarchy.names]
    for parent, child in hierarchy.edges.tolist():
        parents[child].append(parent)
    for node in hierarchy.topological_order.tolist():
        length[node] = max((length[parent] + 1 for parent in parents[node]), default=0)
    return int(length.max())


@pytest.mark.parametrize(
    ("name", "n_edges", "relations"),
    [("go_edges_mid2015.tsv.gz", 78209, None), ("go_isa_edges_2016-08-03.tsv.gz", 72921, ("is_a",))],
)
def test_gene_ontology_edges(data_folder, name, n_edges, relations):
    file = data_folder / "hierfeat/go_ontology" / name
    assert sum(1 for _ in read_records(file, separator="\t")) - 1 == n_edges
    assert len(read_edges(file, relations=relations).edges) == n_edges


# arff rows, features, class counts; csv lines, edges among terms as listed, edges among the arff's features, reduced
LINKED_DATA = {
    "LDCities": (212, 102, {"high": 67, "medium": 106, "low": 39}, 726, 7278, 780, 94, 0),
    "LDSportsTweetst": (1179, 912, {"0": 656, "1": 523}, 4082, 37324, 7528, 901, 15),
}


@pytest.mark.parametrize("name", LINKED_DATA)
def test_linked_data(data_folder, name):
    n_rows, n_features, counts, n_lines, n_listed, n_edges, n_reduced, n_contradictions = LINKED_DATA[name]
    folder = data_folder / "hierfeat/rpv_general"
    data = read_arff(found(folder, f"{name}.arff*"))
    assert (data.n_samples, data.n_features) == (n_rows, n_features)
    assert describe(data)["class_counts"] == counts
    assert listed_edges(folder / f"{name}.csv.gz") == (n_lines, n_listed)
    terms = read_edges(folder / f"{name}.csv.gz", quotes=False, repeated="last")
    # The README's counts leave quotes in the csv and the escape \\% in three names of the arff as they are.
    positions = {feature: j for j, feature in enumerate(data.feature_names) if "%" not in feature}
    edges = [(terms.names[a], terms.names[b]) for a, b in terms.edges.tolist()]
    among = [(positions[a], positions[b]) for a, b in edges if a in positions and b in positions]
    assert len(among) == n_edges
    assert len(terms.subset([name for name in positions if name in terms]).reduction().edges) == n_reduced
    X = data.X.toarray() if sparse.issparse(data.X) else data.X
    assert sum(int(((X[:, b] == 1) & (X[:, a] == 0)).sum()) for a, b in among) == n_contradictions


def listed_edges(file, quotes=False):
    """Lines of a file and its edges with both ends among the first fields, as often as they are listed."""
    rows = [
        [cell.strip() for cell in cells if cell.strip()]
        for _, cells in read_records(file, separator=",", quotes=quotes)
    ]
    terms = {row[0] for row in rows}
    return len(rows), sum(parent in terms for row in rows for parent in row[1:])


def test_linked_data_with_cycles_is_refused_or_cut(data_folder):
    file = data_folder / "hierfeat/rpv_general/LDSportsTweetsc.csv.gz"
    assert listed_edges(file) == (10883, 15466)
    with pytest.raises(ValueError, match=r"cannot have a cycle.*->.*on_cycle='drop'"):
        read_edges(file)
    with pytest.warns(UserWarning, match="edges closed cycles and were dropped"):
        assert len(read_edges(file, on_cycle="drop")) > 10000


def test_stumbleupon_quotes_are_no_part_of_names(data_folder):
    file = data_folder / "hierfeat/rpv_general/LDStumbleupon.csv.gz"
    assert listed_edges(file) == (3974, 18937)
    assert listed_edges(file, quotes=True) == (3974, 19005)  # 583 quoted names are now those of the others
    assert '"' not in "".join(read_edges(file).names)


@pytest.fixture(scope="session")
def ontology_2014(data_folder):
    return found(data_folder / "hierfeat/wan_freitas_2014", "*.obo.zip")[0]


def test_ontology_of_2014(ontology_2014):
    from ramify.datasets.readers.ontology import read_ontology

    terms = read_ontology(ontology_2014).terms
    assert len(terms) == 41209 or sum(not term.is_obsolete for term in terms.values()) == 41209
    assert len(read_obo(ontology_2014)) == sum(not term.is_obsolete for term in terms.values())


@pytest.mark.parametrize(
    "name", [name if name in {"CE-CC", "DM-MF"} else pytest.param(name, marks=pytest.mark.slow) for name in WAN]
)
def test_transposed_ageing_genes(data_folder, ontology_2014, name):
    n_rows, n_features, n_edges, n_positive = WAN[name]
    data = read(found(data_folder / "hierfeat/wan_freitas_2014", f"{name}.txt*"), kind="classes", transposed=True)
    assert (data.n_samples, data.n_features) == (n_rows, n_features)
    assert describe(data)["class_counts"]["1"] == n_positive
    terms = read_obo(ontology_2014, names=data.feature_names)
    assert terms.names == data.feature_names
    assert len(terms.edges) == n_edges
    assert len(terms.violations(data.X.astype(int))) == 0


def test_arabidopsis_subset_has_the_depths_of_the_paper(data_folder):
    data = read_arff(data_folder / "clus_expected/ranking/testDagHMLC-RealWorld.arff.gz")
    facts = describe(data)
    assert (data.n_samples, facts["nominal"], facts["numeric"]) == (440, 417, 834)
    assert len(data.hierarchy) + 1 == 627
    assert len(data.hierarchy.edges) + len(data.hierarchy.roots) == 664
    assert facts["hierarchy"]["max_depth"] + 1 == 6.5
    assert round(facts["hierarchy"]["mean_leaf_depth"] + 1, 2) == 5.64
    assert round(100 * facts["missing_share"], 1) == 16.4


@pytest.mark.parametrize(
    ("name", "target", "n_rows", "kinds", "kind"),
    [
        ("testMLC-RealWorld.arff.gz", range(1001, 1054), 455, (1001, 0), "labels"),
        ("testSTC-RealWorld.arff", -1, 150, (0, 4), "classes"),
        ("testMLC.arff", ["tar1", "tar2", "tar3", "tar4"], 13, (3, 4), "labels"),
        ("testMTR.arff", ["tar1", "tar2", "tar3", "tar4"], 13, (3, 4), "numbers"),
    ],
)
def test_clus_unit_test_data(data_folder, name, target, n_rows, kinds, kind):
    data = read_arff(data_folder / "clus_expected/ranking" / name, target=target)
    facts = describe(data)
    assert (data.n_samples, (facts["nominal"], facts["numeric"]), data.target) == (n_rows, kinds, kind)


def test_clus_mixed_targets_are_read_side_by_side_or_one_kind_at_a_time(data_folder):
    file = data_folder / "clus_expected/ranking/testMixed.arff"
    mixed = read_arff(file, target=["tar1", "tar2", "tar3", "tar4"])
    assert (mixed.target, mixed.label_names) == ("mixed", ("tar1", "tar2", "tar3", "tar4"))
    assert mixed.targets == {"tar1": "classes", "tar2": "classes", "tar3": "numbers", "tar4": "numbers"}
    numbers = read_arff(file, target=["tar3", "tar4"], ignore=["tar1", "tar2"])
    labels = read_arff(file, target=["tar1", "tar2"], ignore=["tar3", "tar4"])
    for data in (numbers, labels):
        assert (data.n_samples, data.n_features, data.categorical_features.sum()) == (13, 7, 3)


def test_every_small_clus_file_is_read(data_folder):
    files = [
        *found(data_folder / "clus_expected/misc", "*.arff*"),
        *found(data_folder / "clus_expected/docs_examples", "*.arff"),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for file in files:
            if file.name != "example_ssl.arff":  # its target is missing in some rows
                assert read_arff(file).n_samples > 0
    with pytest.raises(ValueError, match="line 16, column 11: the class 'y3_x1XORx2' is missing"):
        read_arff(data_folder / "clus_expected/docs_examples/example_ssl.arff")


# what the list of pitfalls says: labels without a positive example in train, labels that only test has
@pytest.mark.parametrize(
    ("names", "n_without", "n_only_in_test"),
    [
        (("fun/cellcycle_FUN.train.arff.gz", "fun/cellcycle_FUN.test.arff.gz"), 45, 35),
        (("fun/pheno_FUN.train.arff", "fun/pheno_FUN.test.arff"), 70, None),
        (("others/Diatoms_train.arff.gz", "others/Diatoms_test.arff.gz"), None, 21),
        (("others/Enron_corr_trainvalid.arff.gz", "others/Enron_corr_test.arff.gz"), None, 2),
    ],
    ids=["cellcycle", "pheno", "Diatoms", "Enron"],
)
def test_labels_without_examples(data_folder, names, n_without, n_only_in_test):
    facts = describe(read_arff([data_folder / "hmc" / name for name in names]))
    if n_without is not None:
        assert facts["without_positive_in_train"] == n_without
    if n_only_in_test is not None:
        assert facts["only_outside_train"] == n_only_in_test


@pytest.mark.parametrize(
    ("name", "n_constant", "n_repeats"),
    [("church", 4, 1403), ("pheno", None, 1077), ("seq", 39, None)],
)
def test_constant_features_and_repeated_rows(data_folder, name, n_constant, n_repeats):
    files = found(data_folder / "hmc/fun", f"{name}_FUN.train.*", f"{name}_FUN.valid.*", f"{name}_FUN.test.*")
    data = read_arff(files)
    if n_constant is not None:
        assert describe(data)["constant"] == n_constant
    if n_repeats is not None:
        assert data.n_samples - len({row.tobytes() for row in data.X}) == n_repeats


def test_features_with_one_name_are_told_apart(data_folder):
    data = read_arff(data_folder / "hmc/fun/expr_FUN.train.arff.gz")
    name = "gasch1_Heat_Shock_000_minutes__hs_2"
    assert data.feature_names[255:257] == (name, f"{name}-2")
    one, two = data.X[:, 255], data.X[:, 256]
    assert ((one != two) & ~(np.isnan(one) & np.isnan(two))).sum() == 1590
    assert round(100 * np.isnan(data.X).mean(axis=1).max(), 1) == 99.6


def test_hierarchical_feature_of_clus(data_folder):
    data = read_arff(data_folder / "clus_expected/ranking/testTreeHMLC.arff", target="tar2", ignore=["tar1", "tar3"])
    assert (data.n_samples, len(data.hierarchy)) == (7, 16)
    assert data.n_features == 1 + 16 + 1
    np.testing.assert_array_equal(np.asarray(data.X)[:, 1:17], data.y.toarray())
