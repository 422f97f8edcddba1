"""The study of RPV: its printed tables agree with each other, and a piece of it runs and finds the printed shares."""

from pathlib import Path

import pytest

from ramify.compare import friedman
from ramify.compare.result_table import average_ranks
from ramify.study.study_files import load_study_file

FILE = Path(__file__).parents[2] / "studies" / "rpv_selection.py"


@pytest.fixture(scope="module")
def rpv():
    return load_study_file(str(FILE))


def test_printed_values_give_the_printed_ranks_and_friedman_statistics(rpv):
    paper = rpv.printed()
    table = paper.loc[("auprc", "bayes")]
    assert average_ranks(table[list(rpv.BASELINES)]).round(1).tolist() == [3.6, 5.5, 3.2, 2.8, 3.6, 2.3]
    assert friedman(table[list(rpv.HIERARCHICAL)]).statistic == pytest.approx(27.96, abs=0.01)
    assert friedman(paper.loc[("auroc", "neighbors")][list(rpv.TRADITIONAL)]).statistic == pytest.approx(7.88, abs=0.01)


def test_blocks_of_tables_5_and_6_stand_under_each_others_headings(rpv):
    # Printed as GM of naive Bayes (17.76) and AUCPR of 1-NN (14.94); the RPV columns say: the other way round.
    paper = rpv.printed()
    for key, statistic in ((("auprc", "neighbors"), 17.76), (("gm", "bayes"), 14.94)):
        assert friedman(paper.loc[key][list(rpv.TRADITIONAL)]).statistic == pytest.approx(statistic, abs=0.01)


def test_values_that_are_left_out_are_other_rows_times_a_constant(rpv):
    paper, left = rpv.printed().loc["auroc"], rpv.compared().loc["auroc"]
    for classifier, name, origin, methods in rpv.SCALED:
        copy, row = paper.loc[(classifier, name), list(methods)], paper.loc[(classifier, origin), list(methods)]
        factor = float((copy / row).mean())
        assert (copy - factor * row).abs().max() < 0.12  # both are rounded to a tenth
        assert left.loc[(classifier, name), list(methods)].isna().all()
    assert len(rpv.SCALED) == 8
    assert left.loc[("neighbors", "Tweets T")].dropna().to_dict() == {"cfs": 59.3, "relieff": 63.3, "tsel": 65.5}
    assert left.loc[("neighbors", "NY Daily"), "rpv"] == 52.8


def test_table_7_repeats_columns_of_table_2(rpv):
    table = rpv.printed().loc[("auprc", "bayes")]
    assert table["gtd"].tolist() == table["none"].tolist()
    assert table["tsel"].tolist() == table["negative"].tolist()


def test_a_piece_of_the_study_runs_and_finds_the_printed_shares(rpv, data_folder, tmp_path):
    study = rpv.study(data_folder, tmp_path, quick=True)
    assert "Tweets C" in study.missing
    study.datasets = {name: study.datasets[name] for name in ("DM-CC", "MM-MF", "Cities")}
    study.methods = {name: method for name, method in study.methods.items() if name not in {"other: SVM", "other: RF"}}
    rpv.OTHERS = tuple(name for name in rpv.OTHERS if name not in {"SVM", "RF"})
    text = rpv.findings(study.run())
    assert len(study.errors()) == 0, study.errors()["error"].iloc[0]
    assert "Selected features in percent [Table 10]" in text
    ours, paper = rpv.of(study, "share", "bayes", ("rpv", "hip", "positive", "cfs")), rpv.printed().loc[("share", "")]
    for method in ("rpv", "hip", "positive"):
        assert (ours[method] - paper[method]).abs().max() < 1.0
    aucpr = rpv.of(study, "auprc_folds", "bayes", ("rpv", "hip")).loc[["DM-CC", "MM-MF"]]
    assert (aucpr - rpv.printed().loc[("auprc", "bayes")]).abs().max().max() < 6.0
