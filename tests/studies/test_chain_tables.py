"""Measures and tables of the thesis, against what it prints and against scikit-learn."""

import sys

import numpy as np
import pytest
from scipy.stats import entropy
from sklearn.metrics import mutual_info_score
from sklearn.tree import DecisionTreeClassifier

from ramify.chains import BinaryRelevance
from ramify.datasets import make_multilabel
from ramify.study.study_files import load_study_file

load_study_file("l_classifier_chains")
tables = sys.modules["ramify_studies.chain_tables"]

RAW = np.array([[0.2, 0.1, 0.0, 0.4], [0.05, 0.02, 0.1, 0.0]])
# Printed as 3.222, 2.556, 1.583 and 2.639: rank sums over the 18 blocks.
THESIS_RANKS = np.array([58.0, 46.0, 28.5, 47.5]) / 18


def test_table_5_2_from_its_printed_ranks():
    statistic, p_value = tables.friedman_of_ranks(THESIS_RANKS, 18)
    assert statistic == pytest.approx(14.95, abs=0.01)
    assert p_value == pytest.approx(0.00186, abs=1e-5)


@pytest.mark.parametrize(
    ("guess", "hl", "pr", "re", "f2", "ac"),
    [
        ([1, 0, 0, 0, 0], 0.4, 1, 0.33, 0.5, 0.33),
        ([1, 1, 1, 1, 1], 0.4, 0.6, 1, 0.75, 0.6),
        ([1, 0, 0, 1, 0], 0.2, 1, 0.67, 0.8, 0.67),
    ],
)
def test_table_2_3(guess, hl, pr, re, f2, ac):
    # The table prints 0.86 for the third F2; the harmonic mean of its own 1 and 0.67 is 0.8.
    measures = tables.label_set_measures([[1, 1, 0, 1, 0]], [guess])
    assert [round(measures[name], 2) for name in ("HL", "PR", "RE", "F2", "AC")] == [hl, pr, re, f2, ac]
    assert measures["CL"] == 0


def test_nothing_right_gives_zero_harmonic_mean():
    assert tables.label_set_measures([[1, 0]], [[0, 1]])["F2"] == 0.0


def test_top_predictors_per_label():
    top = tables.top_predictors(RAW, n=2)
    assert top["label"].tolist() == ["label0", "label0", "label1", "label1"]
    assert top["predictor"].tolist() == ["label1", "x0", "label0", "x0"]
    assert top["is_label"].tolist() == [True, False, True, False]
    np.testing.assert_allclose(top["index"], [100, 50, 100, 50])


def test_a_label_is_never_its_own_predictor():
    assert len(tables.top_predictors(np.zeros((2, 4)), n=10)) == 2 * 3


def test_top_predictors_overall():
    top = tables.top_predictors(RAW, n=3, per_label=False)
    assert top["predictor"].tolist() == ["label1", "x0", "x1"]
    assert top["rank"].tolist() == [1, 2, 3]


def test_sweep_has_a_row_per_percentile():
    data = make_multilabel(120, n_features=8, n_labels=4, random_state=0)
    learner = BinaryRelevance(DecisionTreeClassifier(max_depth=3, random_state=0))
    sweep = tables.screening_sweep(data.rows(np.arange(80)), data.rows(np.arange(80, 120)), learner, [0, 50])
    assert sweep["n_features"].tolist() == [8, 4]
    assert list(sweep.columns) == ["percentile", "n_features", "HL", "CL", "PR", "RE", "F2", "AC"]


@pytest.mark.parametrize(
    ("name", "n_samples", "n_labels", "cardinality", "density", "n_distinct"),
    [("emotions", 593, 6, 1.87, 0.31, 27), ("yeast", 2417, 14, 4.24, 0.30, 198)],
)
def test_statistics_of_table_5_1(data_folder, name, n_samples, n_labels, cardinality, density, n_distinct):
    from ramify.datasets.readers.mulan import read_mulan

    folder = data_folder / "multilabel"
    found = tables.label_statistics(read_mulan([folder / f"{name}.arff.gz", folder / f"{name}.xml"]).y)
    assert (found.n_samples, found.n_labels, found.n_distinct) == (n_samples, n_labels, n_distinct)
    assert found.cardinality == pytest.approx(cardinality, abs=0.005)
    assert found.density == pytest.approx(density, abs=0.005)


def test_statistics_of_labels_that_never_occur():
    found = tables.label_statistics(np.zeros((3, 2), dtype=int))
    assert found.cardinality == 0
    assert np.isnan(found.mean_imbalance)
    np.testing.assert_array_equal(found.correlation, 0)
    assert found.to_frame().shape == (1, 6)


def test_mutual_information_equals_scikit_learns_and_the_entropy_on_the_diagonal():
    labels = (np.random.RandomState(0).random_sample((200, 4)) < [0.5, 0.1, 0.9, 0.0]).astype(int)
    labels[:, 1] |= labels[:, 0] & (np.arange(200) % 3 == 0)
    found = tables.label_statistics(labels).mutual_information
    for i in range(4):
        for j in range(4):
            expected = mutual_info_score(labels[:, i], labels[:, j]) / np.log(2)
            assert found[i, j] == pytest.approx(expected, abs=1e-12)
    assert found[0, 0] == pytest.approx(entropy([labels[:, 0].mean(), 1 - labels[:, 0].mean()], base=2))
