"""The 35 traps of the field's files, each on a small file of our own."""

import numpy as np
import pytest
from scipy import sparse

from ramify.datasets import FileError, read
from ramify.datasets.description import describe
from ramify.datasets.readers.arff import read_arff
from ramify.datasets.readers.edges import read_edges
from ramify.datasets.readers.label_rankings import read_rankings
from ramify.datasets.readers.mulan import read_mulan
from ramify.datasets.readers.ontology import read_obo

LABELS = '<labels xmlns="http://mulan.sourceforge.net/labels">'
END = "@attribute class {n,p}\n@data\n"


def test_01_keywords_and_types_in_any_case(write):
    data = read_arff(
        write("@RELATION r\n@ATTRIBUTE a NUMERIC\n@Attribute b Real\n@attribute C HIERARCHICAL x,x/y\n@DATA\n1,2,x/y\n")
    )
    assert data.feature_names == ("a", "b")
    assert data.y.toarray().tolist() == [[1, 1]]


def test_02_names_and_types_separated_by_runs_of_blanks(write):
    data = read_arff(
        write("@relation r\n@attribute   a   \t  numeric  \n@attribute\tlonger_name {x, y}\n" + END + "1,y,p\n")
    )
    assert data.feature_names == ("a", "longer_name")


def test_03_unquoted_names_with_signs_and_digits_stay_apart(write):
    names = ["thrshld_1=below", "t0_g/r_ratio", "ethanol+glucose", "2-deoxyglucose", "0", "00", "000"]
    header = "@relation r\n" + "".join(f"@attribute {name} numeric\n" for name in names)
    assert read_arff(write(header + END + "1,2,3,4,5,6,7,p\n")).feature_names == tuple(names)


def test_04_quoted_names_with_escaped_quotes_match_the_xml(write):
    arff = write(
        "@relation r\n@attribute a numeric\n@attribute 'Swainson\\'s Thrush' {0,1}\n@attribute b {0,1}\n@data\n1,1,0\n",
        "birds.arff",
    )
    write(
        LABELS + '<label name="b"/><label name="Swainson\'s Thrush"/></labels>',
        "birds.xml",
    )
    data = read_mulan(arff)
    assert data.label_names == ("Swainson's Thrush", "b")
    assert data.y.toarray().tolist() == [[1, 0]]


def test_05_quoted_names_with_commas_braces_and_percent(write):
    header = (
        "@relation r\n@attribute 'http://x/Chicago,Illinois' {0,1}\n@attribute 'American{0,1}ityTelevision' {0,1}\n"
    )
    header += "@attribute '{0,1}MadridC.F.' {0,1}\n@attribute 'Subject\\%E2\\%80\\%93verb' {0,1}\n"
    data = read_arff(write(header + END + "0,1,0,1,p\n"))
    assert data.feature_names == (
        "http://x/Chicago,Illinois",
        "American{0,1}ityTelevision",
        "{0,1}MadridC.F.",
        "Subject%E2%80%93verb",
    )
    assert data.X.tolist() == [[0, 1, 0, 1]]


def test_06_repeated_names_are_told_apart_by_position(write):
    file = write("@relation r\n@attribute a numeric\n@attribute a numeric\n" + END + "1,2,p\n")
    data = read_arff(file)
    assert data.feature_names == ("a", "a-2")
    assert data.X.tolist() == [[1, 2]]
    assert read_arff(file, target="a").y.tolist() == [1]
    assert read_arff(file, target="a-2").y.tolist() == read_arff(file, target=1).y.tolist() == [2]


def test_07_domains_keep_their_order_and_lose_blanks(write):
    data = read_arff(
        write(
            "@relation r\n@attribute a {0, 1}\n@attribute b {YES,NO}\n@attribute c {high, medium,low}\n"
            + END
            + "1,NO,low,p\n"
        )
    )
    assert data.categories == (("0", "1"), ("YES", "NO"), ("high", "medium", "low"))
    assert data.X.tolist() == [[1, 1, 2]]


def test_08_nominals_that_look_like_numbers_stay_nominal(write):
    data = read_arff(write("@relation r\n@attribute a {1,2,22}\n" + END + "22,p\n1,n\n"))
    assert data.categories == (("1", "2", "22"),)
    assert data.X.tolist() == [[2], [0]]


def test_09_comments_and_blank_lines_anywhere(write):
    text = (
        "% @misc{x,\n%  note = {@data}\n\n@relation r\n\n% c\n@attribute a numeric\n%d\n\n"
        + END
        + "\n1,p\n\n% between\n  \n2,n\n\n\n"
    )
    assert read_arff(write(text)).X.tolist() == [[1], [2]]


def test_10_relation_names_may_hold_blanks_and_differ(write):
    rest = "@attribute a numeric\n" + END
    one = write("@relation 'seq0.names'\n" + rest + "1,p\n", "s.train.arff")
    two = write("@relation backup of seq0\n" + rest + "2,n\n", "s.test.arff")
    assert read_arff([one, two]).n_samples == 2
    meka = "@relation 'birds: -C 2'\n@attribute l1 {0,1}\n@attribute l2 {0,1}\n@attribute a numeric\n@data\n0,1,5\n"
    data = read_arff(write(meka))
    assert data.label_names == ("l1", "l2")
    assert data.feature_names == ("a",)


def test_11_identifiers_are_no_features(write):
    data = read_arff(write("@relation r\n@attribute entrez string\n@attribute a numeric\n" + END + "181102,1,p\n"))
    assert data.feature_names == ("a",)
    assert data.ids.tolist() == ["181102"]
    proteins = [f"P{k}" for k in range(30)]
    header = "@relation r\n@attribute protein {" + ",".join(proteins) + "}\n@attribute a {x,y}\n" + END
    data = read_arff(write(header + "".join(f"{protein},x,p\n" for protein in proteins)))
    assert data.feature_names == ("a",)
    assert data.ids.tolist() == proteins
    assert read_arff(write(header + "P0,x,p\n"), identifier=None).feature_names == ("protein", "a")


def test_12_trees_of_paths_and_dags_of_edges_are_told_apart(write):
    def hierarchy(entries, labels, **options):
        return read_arff(
            write(f"@relation r\n@attribute a numeric\n@attribute c hierarchical {entries}\n@data\n1,{labels}\n"),
            **options,
        )

    tree = hierarchy("01,01/01,01/01/03", "01/01/03")
    assert tree.label_names == ("01", "01/01", "01/01/03")
    dag = hierarchy("root/A,A/B,root/C,C/B,B/D", "D")
    assert set(dag.label_names) == {"A", "B", "C", "D"}
    assert not dag.hierarchy.is_tree
    assert dag.y.sum() == 4
    repeated_last_step = hierarchy("001/01,001,011/01,011", "011/01")
    assert repeated_last_step.hierarchy.is_tree
    assert repeated_last_step.y.sum() == 2
    edges_of_a_tree = hierarchy("root/1, 1/1.1, 1.1/1.1.1", "1.1.1")
    assert edges_of_a_tree.label_names == ("1", "1.1", "1.1.1")
    assert hierarchy("A/B,C/D", "D", hierarchy_type="dag").label_names == ("A", "B", "C", "D")
    assert hierarchy("root/A,root/B", "root/A", hierarchy_type="tree").label_names == ("root", "root/A", "root/B")


def test_13_children_may_be_declared_before_parents(write):
    data = read_arff(write("@relation r\n@attribute c hierarchical 000/00,000,001/01,001\n@data\n000/00\n"))
    assert data.hierarchy.parents["000/00"] == ("000",)


def test_14_labels_declared_twice_count_once(write):
    data = read_arff(write("@relation r\n@attribute c hierarchical 1,1/2,1,1/2,1/2\n@data\n1/2\n"))
    assert data.label_names == ("1", "1/2")


def test_15_codes_are_text_and_ancestry_is_no_prefix(write):
    data = read_arff(
        write("@relation r\n@attribute c hierarchical 1,1/1,1/10,01,01/f,4,4/a,4/a/0\n@data\n1/10@01/f\n4/a/0\n")
    )
    assert data.hierarchy.decode(data.y) == [("1", "1/10", "01", "01/f"), ("4", "4/a", "4/a/0")]


def test_16_label_fields_are_closed_and_without_repeats(write):
    data = read_arff(
        write("@relation r\n@attribute c hierarchical 2,2/1,2/1/3,5\n@data\n2/1/3\n2@2/1@2/1/3\n2/1@2/1\n5\n")
    )
    assert data.hierarchy.decode(data.y) == [("2", "2/1", "2/1/3")] * 2 + [("2", "2/1"), ("5",)]
    assert data.y.max() == 1


def test_17_depth_counts_the_mean_of_parents(write):
    data = read_arff(write("@relation r\n@attribute c hierarchical root/A,A/B,B/C,A/C\n@data\nC\n"))
    assert describe(data)["hierarchy"]["max_depth"] == 2.5
    assert "root" not in data.label_names


def test_18_labels_without_a_positive_example_are_kept_and_counted(write):
    head = "@relation r\n@attribute c hierarchical 1,1/1,2,3\n@data\n"
    data = read_arff([write(head + "1/1\n1\n", "s.train.arff"), write(head + "2\n", "s.test.arff")])
    facts = describe(data)
    assert (facts["labels"], facts["without_positive"]) == (4, 1)
    assert (facts["without_positive_in_train"], facts["only_outside_train"]) == (2, 1)


def test_19_a_hierarchical_attribute_can_be_a_feature(write):
    file = write(
        "@relation r\n@attribute f hierarchical 1,1/1,2\n@attribute n numeric\n@attribute t hierarchical 7,8\n"
        "@data\n1/1,3,8\n2,4,7\n"
    )
    data = read_arff(file)
    assert data.feature_names == ("f=1", "f=1/1", "f=2", "n")
    assert np.asarray(data.X).tolist() == [[1, 1, 0, 3], [0, 0, 1, 4]]
    assert data.label_names == ("7", "8")
    assert read_arff(file, target="f").label_names == ("1", "1/1", "2")


def test_20_headers_of_a_set_must_agree(write):
    one = write("@relation r\n@attribute a numeric\n" + END + "1,p\n", "s.train.arff")
    for number, header in enumerate(
        ("@attribute b numeric\n", "@attribute a {1}\n", "@attribute a numeric\n@attribute b numeric\n")
    ):
        two = write("@relation r\n" + header + END, f"s.test{number}.arff")
        with pytest.raises(FileError, match=r"same attributes in the same order"):
            read_arff([one, two])


def test_21_missing_values_in_features_and_labels(write):
    header = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@attribute l1 {0,1}\n@attribute l2 {0,1}\n@data\n"
    data = read_arff(write(header + "?,?,1,0\n1,y,?,1\n"), target=["l1", "l2"])
    assert np.isnan(data.X[0]).all()
    np.testing.assert_array_equal(data.y, [[1, 0], [np.nan, 1]])
    with pytest.raises(FileError, match="line 8, column 7: the class 'l2' is missing"):
        read_arff(write(header + "1,x,1,1\n1,x,1,?\n"))


def test_22_sparse_rows_count_from_0_or_from_1(write):
    header = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@attribute c numeric\n@data\n"
    weka = read_arff(write(header + "{0 ?,1 y}\n{2 5}\n"))
    assert np.isnan(weka.X.toarray()[0, 0]) if sparse.issparse(weka.X) else np.isnan(weka.X[0, 0])
    clus = read_arff(write(header + "{1 ?,2 y}\n{3 5}\n"))
    assert clus.y.tolist() == weka.y.tolist() == [0, 5]
    assert np.asarray(clus.X)[1].tolist() == [0, 0]
    with pytest.raises(FileError, match="outside the 3 attributes"):
        read_arff(write(header + "{0 1}\n{3 5}\n"))
    with pytest.warns(UserWarning, match="Pass index_base=0 or index_base=1"):
        read_arff(
            write("@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute c numeric\n@data\n{1 1}\n")
        )
    assert read_arff(write(header + "{1 y}\n")).X[0, 1] == 1  # only counting from 0 fits the declared domain


def test_23_crlf_and_no_newline_at_the_end(write):
    text = "@relation r\n@attribute a numeric\n" + END + "1,p\n2,n"
    one, two = read_arff(write(text)), read_arff(write(text.replace("\n", "\r\n"), "crlf.arff"))
    assert one.X.tolist() == two.X.tolist() == [[1], [2]]
    assert one.y.tolist() == two.y.tolist()
    assert read(write("a,b\r\n1,x\r\n2,y", "t.csv")).X.tolist() == [[1], [2]]


def test_24_blanks_and_tabs_after_commas(write):
    data = read_arff(
        write("@relation r\n@attribute i string\n@attribute a numeric\n" + END + "O00060, 1,\tn\nO1,\t 2 , p\n")
    )
    assert data.ids.tolist() == ["O00060", "O1"]
    assert data.X.tolist() == [[1], [2]]


def test_25_very_wide_dense_rows_are_kept_compact(write):
    n = 5000
    header = "@relation r\n" + "".join(f"@attribute s{k} {{0,1}}\n" for k in range(n)) + END
    rows = [",".join("1" if (k + row) % 50 == 0 else "0" for k in range(n)) + ",p\n" for row in range(500)]
    data = read_arff(write(header + "".join(rows)))
    assert sparse.issparse(data.X)
    assert data.X.shape == (500, n)
    assert data.X.nnz == 500 * n // 50
    assert data.X[0, 0] == 1


def test_26_constant_and_repeated_features_are_counted(write):
    data = read_arff(
        write(
            "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute c numeric\n"
            + END
            + "1,5,5,p\n2,5,5,p\n1,5,5,n\n"
        )
    )
    facts = describe(data)
    assert (facts["constant"], facts["duplicates"]) == (2, 1)


def test_27_rows_without_a_label(write):
    data = read_arff(
        write(
            "@relation 'x: -C -2'\n@attribute a real\n@attribute l1 {0,1}\n@attribute l2 {0,1}\n@data\n1,0,0\n2,1,0\n"
        )
    )
    assert describe(data)["without_label"] == 1
    assert data.y.toarray().tolist() == [[0, 0], [1, 0]]


def test_28_mulan_labels_are_found_by_name(write):
    arff = write(
        "@relation r\n@attribute Class2 {0,1}\n@attribute a numeric\n@attribute Class1 {0,1}\n@data\n1,7,0\n", "y.arff"
    )
    write(
        '<?xml version="1.0"?>\n'
        + LABELS
        + '\n<label name="Class1"></label>\n<label name="Class2"></label>\n</labels>',
        "y.xml",
    )
    data = read_mulan(arff)
    assert data.label_names == ("Class2", "Class1")
    assert data.y.toarray().tolist() == [[1, 0]]
    assert data.feature_names == ("a",)


def test_28_nested_mulan_labels_are_a_hierarchy(write):
    arff = write("@relation r\n@attribute a numeric\n@attribute x {0,1}\n@attribute y {0,1}\n@data\n1,0,1\n", "y.arff")
    write(
        LABELS + '<label name="x"><label name="y"/></label></labels>',
        "y.xml",
    )
    data = read_mulan(arff)
    assert data.target == "hierarchy"
    assert data.hierarchy.parents["y"] == ("x",)
    assert data.y.toarray().tolist() == [[1, 1]]


def test_29_files_of_terms_and_parents(write):
    lines = '"Lloyd, Andrew", Top,Arts,,,\r\nArts, Top,,,\r\nCafé, Arts,,\r\n'
    lines += "PeopleFromChicago,Illinois, Top\r\nArts, Culture\r\n"
    file = write(lines, "LD.csv")
    terms = read_edges(file)
    assert set(terms.parents["Lloyd, Andrew"]) == {"Top", "Arts"}
    assert set(terms.parents["Arts"]) == {"Top", "Culture"}
    assert read_edges(file, repeated="last").parents["Arts"] == ("Culture",)
    assert "Café" in terms
    assert "Top" in terms
    assert set(terms.parents["PeopleFromChicago"]) == {"Top", "Illinois"}
    whole = read_edges(file, names=["PeopleFromChicago,Illinois"])
    assert whole.parents["PeopleFromChicago,Illinois"] == ("Top",)
    assert "Illinois" not in whole


def test_29_cycles_and_self_loops_are_refused_or_dropped(write):
    file = write("a,b,\nb,a,\nc,c,a\n", "LD.csv")
    with pytest.raises(FileError, match=r"LD.csv: A hierarchy cannot have a cycle, and this one has .* -> "):
        read_edges(file)
    with pytest.warns(UserWarning, match="2 of 4 edges closed cycles"):
        assert len(read_edges(file, on_cycle="drop").edges) == 2


def test_30_lists_of_all_ancestors_reduce_to_parents(write):
    terms = read_edges(write("a,b,c,d\nb,c,d\nc,d,,\n", "LD.csv"))
    assert len(terms.edges) == 6
    assert len(terms.reduction().edges) == 3


@pytest.mark.parametrize(("domain", "code"), [("{0,1}", 1), ("{1,0}", 0), ("{false,true}", 1), ("{YES,NO}", 0)])
def test_31_which_value_is_positive(write, domain, code):
    values = domain.strip("{}").split(",")
    header = f"@relation r\n@attribute a numeric\n@attribute l1 {domain}\n@attribute l2 {domain}\n@data\n"
    data = read_arff(write(header + f"1,{values[code]},{values[1 - code]}\n"), target=["l1", "l2"])
    assert data.y.toarray().tolist() == [[1, 0]]


def test_31_an_unknown_pair_of_values_must_be_told(write):
    file = write(
        "@relation r\n@attribute a numeric\n@attribute l1 {high,low}\n@attribute l2 {high,low}\n@data\n1,high,low\n"
    )
    with pytest.raises(FileError, match=r"line 3: .*Pass positive=VALUE"):
        read_arff(file, target=["l1", "l2"])
    assert read_arff(file, target=["l1", "l2"], positive="high").y.toarray().tolist() == [[1, 0]]


OBO = """format-version: 1.2

[Term]
id: GO:1
name: top
alt_id: GO:9

[Term]
id: GO:2
is_a: GO:1 ! top
relationship: part_of GO:3 ! other

[Term]
id: GO:3
is_a: GO:1 {source="x"} ! top

[Term]
id: GO:4
is_obsolete: true
replaced_by: GO:2

[Typedef]
id: ends_during
is_a: ends_sometime ! ends_sometime
"""


def test_32_ontologies_with_type_definitions_obsolete_terms_and_alternative_ids(write):
    file = write(OBO, "small.obo")
    terms = read_obo(file)
    assert terms.names == ("GO:1", "GO:2", "GO:3")
    assert terms.parents["GO:2"] == ("GO:1",)
    assert read_obo(file, relations=("is_a", "part_of")).parents["GO:2"] == ("GO:1", "GO:3")
    assert "GO:4" in read_obo(file, obsolete="keep")
    named = read_obo(file, names=["GO:4", "GO:9"])
    assert named.names == ("GO:4", "GO:9")
    assert named.parents["GO:4"] == ("GO:9",)
    with pytest.raises(FileError, match="'GO:7' is no term in use"):
        read_obo(file, names=["GO:7"])


def test_33_transposed_files_with_a_comma_at_the_end_of_each_line(write):
    data = read(
        write("is_a,g1,g2,g3,\nGO:1,1,0,1,\nGO:2,0,0,1,\nclass,0,1,1,\n", "t.txt"), kind="classes", transposed=True
    )
    assert data.ids.tolist() == ["g1", "g2", "g3"]
    assert data.feature_names == ("GO:1", "GO:2")
    assert data.X.tolist() == [[1, 0], [0, 0], [1, 1]]
    assert data.y.tolist() == [0, 1, 1]


def test_34_ranks_and_orders_are_never_confused(write):
    ranks = read_rankings(write("A1,L1,L2,L3\n5,2,3,1\n", "ranks.csv"))
    orders = read_rankings(write("A1,ranking\n5,L3>L1>L2\n", "orders.csv"))
    assert ranks.y.tolist() == orders.y.tolist() == [[2, 3, 1]]
    assert ranks.label_names == orders.label_names == ("L1", "L2", "L3")


def test_35_first_lines_of_ranking_files(write):
    named = read_rankings(write("A1,A2,L1,L2\n1,2,1,2\n", "a.csv"))
    sized = read_rankings(write("1,2,2\n1,2,1,2\n", "b.csv"))
    bare = read_rankings(write("1,2,L1>L2\n", "c.txt"))
    given = read_rankings(write("1,2,1,2\n", "d.csv"), n_labels=2)
    for data in (named, sized, bare, given):
        assert data.X.tolist() == [[1, 2]]
        assert data.y.tolist() == [[1, 2]]
    with pytest.raises(FileError, match=r"line 1, column 1: .*Pass n_labels"):
        read_rankings(write("1,2,1,2\n", "d.csv"))


def test_35_ties_and_unranked_labels_are_different_things(write):
    ties = read_rankings(write("1,1,3\n0.5,1,2,2\n", "ties.csv"))
    assert ties.y.tolist() == [[1, 2, 2]]
    partial = read_rankings(write("A1,L1,L2,L3\n0.5,1,,2\n", "partial.csv"))
    np.testing.assert_array_equal(partial.y, [[1, np.nan, 2]])
    orders = read_rankings(write("0,a>b=c\n1,b>a\n", "orders.txt"))
    np.testing.assert_array_equal(orders.y, [[1, 2, 2], [2, 1, np.nan]])
