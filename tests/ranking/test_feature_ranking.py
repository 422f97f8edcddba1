import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from ramify import Hierarchy
from ramify.ranking import FeatureRanking


@pytest.fixture
def ranking():
    hierarchy = Hierarchy.from_paths(["a", "a/b", "a/c", "d"])
    per_label = [[0.1, 0, 0, 0], [0.2, 0.3, 0, 0], [0, 0, 0, -0.1], [0, 0, 0.1, 0]]
    scores = np.sum(per_label, axis=1)
    return FeatureRanking(
        ["=x", "'y", "z, with comma", "line\nbreak"],
        scores,
        per_label=per_label,
        label_names=hierarchy.names,
        hierarchy=hierarchy,
        origin={"method": "genie3", "seed": np.int64(3)},
    )


def test_ties_share_the_lowest_rank():
    assert FeatureRanking("abcd", [1, 3, 1, 2]).ranks.tolist() == [3, 1, 3, 2]


def test_order_breaks_ties_by_column():
    assert FeatureRanking("abcd", [1, 3, 1, 2]).order.tolist() == [1, 3, 0, 2]


def test_top_is_a_ranking_of_the_best(ranking):
    best = ranking.top(2)
    assert best.names == ("'y", "=x")
    assert best.per_label.shape == (2, 4)


def test_branch_adds_the_labels_below(ranking):
    np.testing.assert_allclose(ranking.for_label("a").scores, [0.1, 0.5, 0, 0.1])
    np.testing.assert_allclose(ranking.for_label("a", subtree=False).scores, [0.1, 0.2, 0, 0])


def test_branch_scores_agree_with_for_label(ranking):
    branches = ranking.branch_scores().toarray()
    for column, label in enumerate(ranking.label_names):
        np.testing.assert_allclose(branches[:, column], ranking.for_label(label).scores)


def test_branch_of_a_dag_counts_a_label_once():
    dag = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c")])
    ranking = FeatureRanking("f", [1.0], per_label=[[0, 0, 0, 1.0]], label_names=dag.names, hierarchy=dag)
    assert ranking.for_label("r").scores.tolist() == [1.0]
    assert ranking.branch_scores().toarray().tolist() == [[1.0] * 4]


@pytest.mark.parametrize("suffix", ["csv", "json", "fimp"])
def test_files_give_back_names_scores_and_labels(ranking, tmp_path, suffix):
    path = tmp_path / f"ranking.{suffix}"
    ranking.save(path)
    again = FeatureRanking.read(path)
    expected = [name.replace("\n", " ") for name in ranking.names] if suffix == "fimp" else list(ranking.names)
    assert list(again.names) == expected
    np.testing.assert_array_equal(again.scores, ranking.scores)
    assert again.label_names == ranking.label_names
    np.testing.assert_array_equal(again.per_label.toarray(), ranking.per_label.toarray())


def test_json_gives_back_everything(ranking, tmp_path):
    ranking.save(tmp_path / "ranking.json")
    again = FeatureRanking.read(tmp_path / "ranking.json")
    assert again == ranking
    assert dict(again.origin) == {"method": "genie3", "seed": 3}


def test_csv_has_no_cell_that_a_spreadsheet_would_run(ranking, tmp_path):
    ranking.save(tmp_path / "ranking.csv")
    cells = (tmp_path / "ranking.csv").read_text().replace("\n", ",").split(",")
    assert not any(cell.startswith(("=", "@")) for cell in cells)


def test_pickle_gives_back_everything(ranking):
    assert pickle.loads(pickle.dumps(ranking)) == ranking


def test_a_ranking_cannot_be_changed(ranking):
    with pytest.raises(AttributeError):
        ranking.scores = np.zeros(4)
    with pytest.raises(ValueError, match="read-only"):
        ranking.scores[0] = 1


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "ranking.json"
    FeatureRanking("ab", [1, 2]).save(path)
    before = path.read_bytes()
    broken = FeatureRanking("ab", [1, 2], origin={"bad": type("Bad", (), {"__str__": lambda self: 1 / 0})()})
    with pytest.raises(ZeroDivisionError):
        broken.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_reads_a_clus_file_with_several_rankings(data_folder):
    path = data_folder / "clus_expected" / "ranking" / "testMTR.fimpTruth"
    ranking = FeatureRanking.read(path, column="overallIter13Neigh3")
    assert ranking.names == tuple(f"feat{k}" for k in range(1, 8))
    assert ranking.ranks.tolist() == [1, 7, 6, 4, 3, 5, 2]
    with pytest.raises(ValueError, match="holds 20 rankings; choose one with column="):
        FeatureRanking.read(path)


def test_reads_a_clus_file_sorted_by_relevance(data_folder):
    ranking = FeatureRanking.read(data_folder / "clus_expected/ranking/testSTC-RealWorldRForestTrees2.fimpTruth")
    assert ranking.names == ("sepallength", "sepalwidth", "petallength", "petalwidth")
    assert ranking.ranks.tolist() == [4, 1, 3, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n", "line 1: a ranking starts with the columns"),
        ("index,feature,rank,score\n0,a,1\n", "line 2: 3 cells where the header has 4"),
        ("index,feature,rank,score\n0,a,1,x\n", "line 2, column 4: 'x' is not a number"),
        ("index,feature,rank,score\n0,a,1,2\n0,b,1,2\n", "line 3, column 1: index 0 is repeated"),
        ("index,feature,rank,score\n0,a,1,nan\n", "must be finite"),
    ],
)
def test_a_wrong_csv_is_refused_with_line_and_column(tmp_path, text, message):
    (tmp_path / "r.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        FeatureRanking.read(tmp_path / "r.csv")


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"format": "ramify feature ranking 1"}', "[" * 100_000]
    + [
        '{"format": "ramify feature ranking 1", "names": ["a"], "label_names": ["l"], "scores": [1], "per_label": '
        + part
        + "}"
        for part in ('{"indptr": [0, 9], "indices": [0], "data": [1]}', '{"indptr": 1}', "7")
    ],
)
def test_a_wrong_json_is_refused(tmp_path, text):
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(ValueError, match=r"r\.json is not a"):
        FeatureRanking.read(tmp_path / "r.json")


def test_bad_rankings_are_refused(ranking):
    with pytest.raises(ValueError, match="needs 2 scores"):
        FeatureRanking("ab", [1])
    with pytest.raises(ValueError, match="Feature 1 has nan"):
        FeatureRanking("ab", [1, np.nan])
    with pytest.raises(ValueError, match=r"features x labels = \(2, 1\)"):
        FeatureRanking("ab", [1, 2], per_label=sparse.csr_array((3, 1)), label_names=["l"])
    with pytest.raises(ValueError, match="has no scores per label"):
        FeatureRanking("ab", [1, 2]).for_label("l")
    with pytest.raises(ValueError, match=r"no label 'a/d' among its 4\. Did you mean"):
        ranking.for_label("a/d")
    with pytest.raises(ValueError, match=r"\.csv, \.json or \.fimp"):
        ranking.save("ranking.xlsx")
    with pytest.raises(ValueError, match=r"'k' parameter of FeatureRanking\.top must be an int >= 1"):
        ranking.top(0)


def test_a_label_that_never_occurs_is_refused():
    ranking = FeatureRanking("ab", [1, 2], per_label=[[1, 0], [2, 0]], label_names=["often", "never"])
    with pytest.raises(ValueError, match="No feature has a score for 'never'"):
        ranking.for_label("never")


def test_a_ranking_for_other_features_is_refused(ranking):
    with pytest.raises(ValueError, match="feature 1 is 'b' in the ranking, 'c' in the data"):
        FeatureRanking("ab", [1, 2]).scores_for(["a", "c"])
    with pytest.raises(ValueError, match="of 2 features and the data have 1"):
        FeatureRanking("ab", [1, 2]).scores_for(["a"])


@settings(max_examples=100, deadline=None)
@given(
    names=st.lists(st.text(max_size=5), min_size=1, max_size=4, unique=True),
    labels=st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=3, unique=True),
    suffix=st.sampled_from([".csv", ".json"]),
)
def test_whatever_is_written_is_read_back(names, labels, suffix, tmp_path_factory):
    path = tmp_path_factory.mktemp("rankings") / f"ranking{suffix}"
    scores = np.arange(len(names) * len(labels), dtype=float).reshape(len(names), len(labels))
    ranking = FeatureRanking(names, scores[:, 0], per_label=scores, label_names=labels)
    if any("\ud800" <= letter <= "\udfff" for letter in "".join([*names, *labels])):
        with pytest.raises(ValueError, match="holds half a character and cannot be written"):
            ranking.save(path)
        assert not path.exists()
        return
    ranking.save(path)
    found = FeatureRanking.read(path)
    assert (found.names, found.label_names) == (ranking.names, ranking.label_names)
    np.testing.assert_array_equal(found.scores, ranking.scores)


def test_a_name_too_long_to_be_read_is_not_written(tmp_path):
    with pytest.raises(ValueError, match="has 200000 characters; a file of rankings holds shorter ones"):
        FeatureRanking(["a" * 200_000], [1.0]).save(tmp_path / "long.csv")
