"""`ramify clus`: the rankings that CLUS expects of itself are met through its own settings files."""

import gzip
import json

import numpy as np
import pytest

from ramify.analysis.clus import run_clus
from ramify.cli.main import main
from ramify.datasets import make_hierarchical, make_multilabel, write_arff
from ramify.datasets.readers.clus_settings import ClusSettings
from ramify.ranking import FeatureRanking

# Each with the number of its rows: a column over all of them does not depend on which rows CLUS draws.
RELIEF = {
    "testSTC-RealWorld": 150,
    "testMTR": 13,
    "testMixed": 13,
    "testMLCHammingLoss": 13,
    "testTreeHMLC": 7,
    "testDagHMLC-RealWorld": 440,
}
# For this one CLUS leaves out the hits of a class that has three rows; Ramify takes the two there are.
NOT_MET = {"testTreeHMLC": {"tar1Iter7Neigh3"}}


@pytest.fixture
def expected(data_folder, tmp_path):
    """The lines of an expected .fimp as its columns: positions, names and scores by the column's name."""

    def read(name):
        folder = data_folder / "clus_expected" / "ranking"
        packed = folder / f"{name}.fimpTruth.gz"
        text = gzip.decompress(packed.read_bytes()) if packed.exists() else (folder / f"{name}.fimpTruth").read_bytes()
        return columns_of(text.decode())

    return read


def columns_of(text):
    lines = text.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("attributeDatasetIndex\t"))
    titles = lines[start].split("\t")[3].strip("[]").split(", ")
    rows = [line.split("\t") for line in lines[start + 2 :]]
    scores = np.array([[float(cell) for cell in row[3].strip("[]").split(", ")] for row in rows])
    named = dict(zip(titles, scores.T, strict=True))
    return {"head": lines[:start], "index": [row[0] for row in rows], "names": [row[1] for row in rows], **named}


@pytest.mark.filterwarnings("ignore:.*times the bound of single paths")
@pytest.mark.parametrize("name", RELIEF)
def test_relief_of_clus_is_met_through_its_settings(data_folder, expected, tmp_path, name):
    run = run_clus(data_folder / "clus_expected" / "ranking" / f"{name}.s")
    assert run.unused == []
    (fimp,) = run.files.values()
    found, truth = columns_of(fimp.text()), expected(name)
    assert list(found) == list(truth)
    assert (found["head"], found["index"], found["names"]) == (truth["head"], truth["index"], truth["names"])
    whole = [column for column in truth if f"Iter{RELIEF[name]}Neigh" in column]
    assert len(whole) >= 2
    for column in set(whole) - NOT_MET.get(name, set()):
        np.testing.assert_allclose(found[column], truth[column], atol=1e-9, err_msg=column)


@pytest.mark.parametrize("task", ["testSTC-RealWorld", "testMLC-RealWorld", "testDagHMLC-RealWorld"])
def test_rankings_of_forests_have_the_files_and_columns_of_clus(data_folder, expected, task):
    name = f"{task}SymbolicRForestGenie3"
    run = run_clus(data_folder / "clus_expected" / "ranking" / f"{name}.s")
    assert run.unused == []
    assert len(run.files) == 6
    for score in ("Symbolic", "RForest", "Genie3"):
        for size in (2, 4):
            found = columns_of(run.files[f"{name}Trees{size}{score}.fimp"].text())
            truth = expected(f"{task}{score}Trees{size}")
            assert found["head"] == truth["head"]
            assert sorted(zip(found["index"], found["names"], strict=True)) == sorted(
                zip(truth["index"], truth["names"], strict=True)
            )
            if score == "Genie3":  # one column per target beside the overall one; CLUS names the others by the error
                assert len(found) == len(truth)


@pytest.fixture
def folder(tmp_path):
    data = make_hierarchical(120, depth=2, n_features=12, random_state=0)
    write_arff(data, tmp_path / "genes.arff")
    write_arff(make_hierarchical(60, depth=2, n_features=12, random_state=0), tmp_path / "unseen.arff")
    write_arff(make_multilabel(60, n_features=12, n_labels=3, random_state=0), tmp_path / "labels.arff")
    return tmp_path


def settings(folder, text):
    path = folder / "genes.s"
    path.write_text(text)
    return path


def ramify(*arguments):
    with pytest.raises(SystemExit) as stop:
        main(["clus", *map(str, arguments)])
    assert stop.value.code == 0


FOREST = "[Data]\nFile = genes.arff\n[Hierarchical]\nType = DAG\nWType = ExpAvgParentWeight\n[Ensemble]\n"


def test_a_run_writes_what_clus_would_and_a_summary(folder, capsys):
    path = settings(folder, FOREST + "EnsembleMethod = RForest\nIterations = [5, 10]\nFeatureRanking = Genie3\n")
    ramify(path)
    told = capsys.readouterr().out
    assert "RForest of 5, 10 trees" in told
    ranking = FeatureRanking.read(folder / "genesTrees10Genie3.fimp")
    assert len(ranking) == 12
    assert "genesTrees5Genie3.fimp" in (folder / "genes.summary.txt").read_text()


def test_json_holds_the_rankings(folder, capsys):
    path = settings(folder, FOREST + "FeatureRanking = [Symbolic]\nIterations = 5\n")
    ramify(path, "--json")
    told = json.loads(capsys.readouterr().out)
    assert len(told["rankings"]["genesTrees5Symbolic.fimp"]["overall"]) == 12


def test_a_test_set_is_measured(folder):
    text = FOREST.replace("[Hier", "TestSet = unseen.arff\n[Hier")
    run = run_clus(settings(folder, text + "EnsembleMethod = Bagging\nIterations = [5, 10]\n"))
    assert list(run.measures) == ["5 trees", "10 trees"]
    assert run.files == {}
    assert run.data.n_samples == 120
    share = run_clus(settings(folder, text.replace("unseen.arff", "0.25") + "Iterations = 5\nFeatureRanking=Genie3\n"))
    assert share.data.n_samples == 90


def test_extra_trees_have_no_out_of_bag_ranking(folder):
    path = settings(folder, FOREST + "EnsembleMethod = ExtraTrees\nFeatureRanking = RForest\nIterations = 5\n")
    with pytest.raises(ValueError, match="out-of-bag"):
        run_clus(path)


@pytest.mark.parametrize(
    ("said", "n_features"), [("SQRT", 4), ("LOG", 4), ("0", 4), ("3", 3), ("0.3", 4), ("100", 12), (None, 4)]
)
def test_features_per_node_are_those_of_clus(folder, said, n_features):
    text = FOREST + "EnsembleMethod = RForest\nFeatureRanking = Genie3\nIterations = 2\n"
    text += f"SelectRandomSubspaces = {said}\n" if said else ""
    assert f"{n_features} of 12" in dict(run_clus(settings(folder, text)).settings)["Features per node"]


@pytest.mark.filterwarnings("ignore:.*times the bound of single paths")
def test_relief_is_run_where_it_is_asked_for(folder):
    text = FOREST + "FeatureRanking = Genie3\n[Relief]\nIterations = [0.5, 1]\nNeighbours = 3\n"
    path = settings(folder, text)
    assert list(run_clus(path).files) == ["genesTrees10Genie3.fimp"]
    (fimp,) = run_clus(path, relief=True).files.values()
    assert list(fimp.columns) == ["overallIter60Neigh3", "overallIter120Neigh3"]


def test_columns_are_those_that_the_settings_name(folder):
    text = "[Data]\nFile = labels.arff\n[Attributes]\nTarget = 13-15\nDisable = 2,4-5\n[Relief]\nNeighbours = 3\n"
    (fimp,) = run_clus(settings(folder, text)).files.values()
    assert fimp.positions == [1, 3, 6, 7, 8, 9, 10, 11, 12]


def test_settings_that_change_results_and_are_not_followed_are_named(folder, capsys):
    path = settings(folder, FOREST + "FeatureRanking = Genie3\nBagSize = 50\n[Tree]\nFTest = 0.05\n[Output]\nA = 1\n")
    ramify(path, "--quiet")
    told = capsys.readouterr().err
    assert "not followed: [Ensemble] BagSize = 50 (line 8)" in told
    assert "not followed: [Tree] FTest = 0.05 (line 10)" in told
    assert "[Output]" not in told


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[Data]\nFile = no.arff\n[Relief]\n", r"line 2: \[Data\] File names no file that is there"),
        ("[Data]\nFile = genes.arff\n", "describes neither a forest nor Relief"),
        ("File = genes.arff\n", "line 1: File stands before the first section"),
        ("[Data]\ngenes.arff\n", "line 2: 'genes.arff' is neither"),
        (FOREST + "FeatureRanking = Genie4\n", "line 7: .* must be Genie3 or Symbolic or RForest"),
        (FOREST + "EnsembleMethod = Boosting\n", "must be Bagging or RForest or ExtraTrees"),
        (FOREST + "EnsembleMethod = RForest\nSelectRandomSubspaces = RANDOM\n", "must be SQRT, LOG, a number"),
        ("[Data]\nFile = genes.arff\n[Relief]\nNeighbours = few\nIterations = 1\n", "must be a number or a list"),
        (
            "[Data]\nFile = genes.arff\n[Relief]\nNeighbours = 3\nIterations = 500\n",
            "numbers of rows up to 120",
        ),
        ("[Data]\nFile = genes.arff\n[Attributes]\nTarget = 40\n[Relief]\n", "names columns 40 where the data have 13"),
        (
            "[Data]\nFile = genes.arff\n[Attributes]\nTarget = 13\nDescriptive = 1-13\n[Relief]\n",
            "Target both name",
        ),
        ("[General]\nRandomSeed = 1\nRandomSeed = 2\n", "line 3: .* is set twice"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(folder, text, message):
    with pytest.raises(ValueError, match=message):
        run_clus(settings(folder, text))


def test_sections_may_stand_twice_and_comments_are_left_out(folder):
    path = settings(folder, "[A]\nx = 1 % one\n% y = 2\n[B]\n[a]\nz = None\n")
    read = ClusSettings(path)
    assert read.number("a", "X", 0) == 1
    assert read.text("A", "z") is None
    assert read.text("A", "y") is None
