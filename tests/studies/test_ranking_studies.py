"""The studies of rankings: a piece of each runs on real or generated data, and its findings name every question."""

from functools import partial
from pathlib import Path

import pytest

from ramify.study import Study
from ramify.study.study_files import load_study_file

FOLDER = Path(__file__).parents[2] / "studies"


@pytest.fixture(scope="module")
def hmlc():
    return load_study_file(str(FOLDER / "hmlc_ranking.py"))


@pytest.fixture(scope="module")
def relieff():
    return load_study_file(str(FOLDER / "hmc_relieff.py"))


def test_a_piece_of_hmlc_ranking_runs_and_answers_the_five_questions(hmlc, data_folder, tmp_path):
    study = hmlc.study(data_folder, tmp_path, quick=True)
    study.datasets = {name: study.datasets[name] for name in ("church_FUN", "pheno_FUN")}
    study.methods = {
        **{name: partial(hmlc.ensemble, name=name, sizes=(2, 10)) for name in hmlc.ENSEMBLES},
        "Boosted": partial(hmlc.boosted, sizes=(2, 10)),
        "Relief": study.methods["Relief"],
        "Agreement": study.methods["Agreement"],
    }
    study.run()
    assert study.errors().empty
    text = hmlc.findings(study)
    for number in range(1, 6):
        assert f"## {number}. " in text
    assert "too few for a test" in text
    table = study.table("genie3 10")
    assert table.loc["church_FUN", "Bagging"] > 0.05
    assert table.loc["church_FUN", "Boosted"] > 0.05
    assert "Boosted: mean (rank)" in text


def test_the_paper_has_eight_pairs_of_score_and_ensemble(hmlc):
    assert len(hmlc.combinations_at(10)) == 8
    assert set(hmlc.PAPER_RELEVANT) <= set(hmlc.combinations_at(10))


def test_a_piece_of_hmc_relieff_runs_in_the_controlled_setting(relieff, tmp_path):
    common = {"n_trees": 5, "n_sizes": 3}
    grid = {"shares": (0.25,), "neighbours": (5,)}
    methods = {
        "HMC-ReliefF": partial(relieff.by_relief, bound=None, **grid, **common),
        "HMLC-Relief": partial(relieff.by_relief, bound="observed", **grid, **common),
        "random": partial(relieff.by_chance, n_random=2, **common),
    }
    names = ("balanced", "sparse features")
    datasets = {name: partial(relieff.controlled, name) for name in names}
    study = Study(datasets, methods, splits=2, folder=tmp_path).run()
    assert study.errors().empty
    text = relieff.findings(study)
    assert "| balanced |" in text
    areas = study.table("m 0.25 K 5 area")["HMLC-Relief"]
    assert (areas > study.table("random area")["random"]).all()
    # Without the bound the distances exceed 1 and dense rankings come out upside down, as the later paper says.
    truth = study.table("m 0.25 K 5 truth")
    assert truth.loc["balanced", "HMLC-Relief"] > truth.loc["balanced", "HMC-ReliefF"]
