import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp
from sklearn.model_selection import KFold

from ramify.analysis import compare_methods
from ramify.analysis.comparing import compared_folds
from ramify.cli.main import main
from ramify.datasets import Dataset, make_multilabel, write_arff


@pytest.fixture(scope="module")
def data():
    return make_multilabel(120, n_features=6, n_labels=3, signal=2.0, random_state=0)


def test_every_method_is_measured_on_the_same_folds_and_beats_the_prior(data):
    results = compare_methods(data, ["random-forest", "br"], n_folds=3, n_estimators=10)
    comparison = results.comparisons["AUPRC, pooled"]
    assert comparison.table.shape == (3, 3)
    assert comparison.ranks["prior"] == 3.0
    assert comparison.sentence.startswith("Over 3 folds ")
    again = compare_methods(data, ["random-forest", "br"], n_folds=3, n_estimators=10, n_jobs=2)
    pd.testing.assert_frame_equal(again.comparisons["AUPRC, pooled"].table, comparison.table)


def test_losses_rank_the_smallest_first(data):
    results = compare_methods(data, ["random-forest", "extra-trees"], n_folds=3, n_estimators=10)
    loss = results.comparisons["Hamming loss"]
    assert loss.ranks.index[-1] == "prior"
    assert loss.table["prior"].mean() == loss.table.mean().max()


def test_a_method_does_not_differ_from_itself_and_a_clear_one_does():
    rng = np.random.default_rng(0)
    value = rng.normal(0.5, 0.02, 10)
    table = pd.DataFrame({"a": value, "same": value, "worse": value - 0.2 + rng.normal(0, 0.01, 10)})
    found = compared_folds(table, 1 / 9, larger_is_better=True)
    assert found.p_values.loc["a", "same"] == 1.0
    assert found.p_values.loc["a", "worse"] < 1e-6
    assert found.groups == [("a", "same")]
    assert "is better than worse" in found.sentence


@pytest.mark.hostile
def test_p_values_hold_where_folds_share_training_rows():
    """Two learners of equal error: the means of the first and of the second half of the training rows."""
    rng = np.random.default_rng(0)
    corrected, plain = [], []
    for seed in range(400):
        y = rng.normal(size=40)
        rows = []
        for train, test in KFold(10, shuffle=True, random_state=seed).split(y):
            halves = np.array_split(y[train], 2)
            rows.append([((y[test] - half.mean()) ** 2).mean() for half in halves])
        table = pd.DataFrame(rows, columns=["first", "second"])
        corrected.append(compared_folds(table, 1 / 9, larger_is_better=False).p_values.iloc[0, 1])
        plain.append(ttest_1samp(table["first"] - table["second"], 0).pvalue)
    assert np.mean(np.array(corrected) <= 0.05) <= 0.075
    assert np.mean(np.array(plain) <= 0.05) > np.mean(np.array(corrected) <= 0.05)


@pytest.mark.parametrize(
    ("methods", "n_folds", "words"),
    [
        (["br"], 3, "needs at least two methods"),
        ("br", 3, "needs at least two methods"),
        (["br", "primrose"], 3, "'methods' parameter of compare_methods must be"),
        (["br", "cc"], 2, "'n_folds' parameter of compare_methods must be"),
        (["br", "cc"], 61, "61 folds need at least 122 rows. Got 120"),
    ],
)
def test_refuses_what_cannot_be_compared(data, methods, n_folds, words):
    with pytest.raises(ValueError, match=words):
        compare_methods(data, methods, n_folds=n_folds)


def test_more_folds_than_rows_of_a_class_are_refused():
    few = Dataset(np.arange(12.0)[:, None], y=np.array([0] * 9 + [1] * 3), target="classes", label_names=("a", "b"))
    with pytest.raises(ValueError, match="4 folds are more than the 3 rows of the rarest class"):
        compare_methods(few, ["random-forest", "extra-trees"], n_folds=4)


def test_the_command_prints_writes_and_reports(data, tmp_path, capsys):
    file = tmp_path / "data.arff"
    write_arff(data, file)
    target = [word for j in range(3) for word in ("--target", f"label{j}")]
    options = ["--method", "random-forest", "--method", "br", "--folds", "3", "--trees", "5", "--jobs", "1"]
    outputs = ["-o", str(tmp_path / "folds.csv"), "--report", str(tmp_path / "r.html")]
    for extra in ([], ["--json"]):
        with pytest.raises(SystemExit) as stop:
            main(["compare", str(file), *target, *options, *outputs, *extra])
        assert stop.value.code == 0
        printed = capsys.readouterr().out
    found = json.loads(printed)
    lines = pd.read_csv(tmp_path / "folds.csv")
    chosen = lines[(lines["measure"] == "AUPRC, pooled") & (lines["method"] == "br")]["value"]
    assert chosen.to_list() == found["AUPRC, pooled"]["folds"]["br"]
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "By AUPRC, pooled: " in page
    assert '<section id="comparisons">' in page
    with pytest.raises(SystemExit) as stop:
        main(["compare", str(file), "--method", "br"])
    assert stop.value.code == 2
    assert "One method has nothing to be compared with" in capsys.readouterr().err
