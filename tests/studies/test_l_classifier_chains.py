"""The study of L-classifier chains: designs as printed, a quick run of all parts, a few splits of Table 3.1."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit

from ramify.datasets.readers.mulan import read_mulan
from ramify.study.study_files import load_study_file

FILE = Path(__file__).parents[2] / "studies" / "l_classifier_chains.py"


@pytest.fixture(scope="module")
def thesis():
    return load_study_file(str(FILE))


def test_designs_are_those_of_table_6_2(thesis):
    assert len(thesis.DESIGNS) == 32
    design = {"n_samples": 200, "n_features": 50, "n_labels": 20, "correlation": 0.8, "signal": 5.0}
    assert thesis.DESIGNS["SIM08"] == design
    design = {"n_samples": 1000, "n_features": 100, "n_labels": 5, "correlation": 0.1, "signal": 0.5}
    assert thesis.DESIGNS["SIM25"] == design
    assert thesis.SIMULATED["SIM08 AR"] == thesis.DESIGNS["SIM08"] | {"dependence": "autoregressive"}
    assert len(thesis.SIMULATED) == 48


def test_printed_shares_have_the_printed_means(thesis):
    first = [thesis.printed("6.3").loc[f"SIM{number:02d}", "VI_prop"] for number in (1, 5, 9, 13)]
    assert np.mean(first) == pytest.approx(0.908, abs=0.001)


def test_a_quick_run_has_all_parts_and_keeps_to_the_design(thesis, data_folder, tmp_path):
    study = thesis.study(data_folder, tmp_path, quick=True).run()
    assert len(study.errors()) == 0, study.errors()["error"].iloc[0]
    text = thesis.findings(study)
    for part in (
        "Figure 3.2",
        "Table 3.1",
        "Table 5.2",
        "Table 6.3",
        "Table 6.5",
        "Chapter 7",
        "Table 7.1",
        "Table 7.9",
    ):
        assert part in text
    assert {"orders", "heatmap-emotions", "screening", "roc", "clients"} <= set(thesis.figures(study))
    results = study.results()
    of_credit = {"BR", "CC", "LCC", "ECC", "screening", "chapter 7"}
    assert set(results.loc[results["dataset"] == "credit", "method"]) == of_credit
    shares = results["VI_prop"].dropna()
    assert len(shares) == 12  # two planted matrices for each of six designs
    assert (shares <= results["ceiling"].dropna() + 1e-9).all()
    assert shares.mean() > 0.575


def test_a_few_splits_come_close_to_table_3_1(thesis, data_folder):
    folder = data_folder / "multilabel"
    data = read_mulan(folder / "emotions.arff.gz", labels=folder / "emotions.xml")
    for method in ("BR", "CC", "CC cor"):
        found = []
        for train, test in ShuffleSplit(6, test_size=0.25, random_state=0).split(data.X):
            values = thesis.on_real_data(method, 100, 50, data.rows(train), data.rows(test), seed=1)
            found.append([values[name] for name in thesis.MEASURES])
        difference = np.abs(np.mean(found, axis=0) - thesis.printed("3.1").loc[method])
        assert difference["HL"] < 0.015
        assert difference.max() < 0.045
