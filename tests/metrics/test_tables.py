import numpy as np
import pytest

from ramify.metrics import measure_table


def test_classes_have_the_majority_as_baseline():
    true = np.array(["a", "a", "b", "a"])
    scores = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]])
    table = measure_table(true, scores, target="classes", prior=[0.75, 0.25], classes=["a", "b"])
    assert table.loc["accuracy", ["model", "prior"]].tolist() == [0.75, 0.75]
    assert table.loc["balanced accuracy", "prior"] == 0.5


def test_labels_have_their_frequencies_as_baseline():
    truth = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 0]])
    table = measure_table(truth, truth * 0.9, target="labels", prior=[1.0, 0.4, 0.1])
    assert table.loc["AUPRC, pooled", "model"] == 1.0
    assert table.loc["Hamming loss", "prior"] == pytest.approx(1 / 9)
    assert table.loc["AUPRC, mean of labels", "left_out"] == 1


def test_unknown_target_is_refused():
    with pytest.raises(ValueError, match=r"'target' parameter of measure_table must be one of 'classes'.*Got 'sets'"):
        measure_table([[1]], [[1]], target="sets", prior=[1])


def test_rankings_have_the_average_ranking_as_baseline():
    table = measure_table([[1, 2, 3], [2, 1, 3]], [[1, 2, 3], [2, 1, 3]], target="rankings", prior=[1, 2, 3])
    assert table.loc["Kendall's tau-b", "model"] == 1.0
    assert table.loc["Kendall's tau-b", "prior"] == pytest.approx(2 / 3)
