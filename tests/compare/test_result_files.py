"""Tables of results as files, every test of them, and the Bayesian signed-rank test against its definition."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from ramify.cli.main import ramify
from ramify.compare import holm, nemenyi, read_results, signed_rank_probabilities, wilcoxon
from ramify.compare.all_tests import all_tests

TABLE = pd.DataFrame(
    {
        "forest": [0.91, 0.83, 0.72, 0.94, 0.81, 0.92, 0.77, 0.86],
        "tree": [0.85, 0.74, 0.70, 0.88, 0.75, 0.86, 0.70, 0.79],
        "a_&_b": [0.90, 0.84, 0.70, 0.93, 0.82, 0.90, 0.78, 0.85],
    },
    index=[f"set {i}" for i in range(8)],
)


def slow_probabilities(difference, rope, draws, strength, seed):
    """Benavoli et al. (2014), section 3, draw by draw."""
    z = [0.0, *difference]
    won = np.zeros(3)
    for w in np.random.default_rng(seed).dirichlet([strength, *np.ones(len(difference))], draws):
        mass = np.zeros(3)
        for i, a in enumerate(z):
            for j, b in enumerate(z):
                mean = (a + b) / 2
                mass[0 if mean > rope else 2 if mean < -rope else 1] += w[i] * w[j]
        won[mass >= mass.max() - 1e-12] += 1 / (mass >= mass.max() - 1e-12).sum()
    return won / draws


def test_signed_rank_probabilities_equal_the_definition():
    found = signed_rank_probabilities(TABLE, rope=0.02, n_draws=300)
    for row in found.itertuples():
        expected = slow_probabilities(TABLE[row.first] - TABLE[row.second], 0.02, 300, 0.5, 0)
        np.testing.assert_allclose([row.first_better, row.equal, row.second_better], expected)


def test_signed_rank_probabilities_follow_direction_and_size():
    better = signed_rank_probabilities(TABLE)
    worse = signed_rank_probabilities(TABLE, larger_is_better=False)
    np.testing.assert_allclose(better["first_better"], worse["second_better"])
    assert signed_rank_probabilities(TABLE, rope=1.0)["equal"].tolist() == [1.0, 1.0, 1.0]
    equal = pd.DataFrame({"a": TABLE["forest"], "b": TABLE["forest"]})
    assert signed_rank_probabilities(equal)["equal"].tolist() == [1.0]


def written(tmp_path, form):
    path = tmp_path / f"results.{'xlsx' if form == 'excel' else 'csv'}"
    frame = TABLE.rename_axis("dataset").reset_index()
    if form == "excel":
        frame.to_excel(path, index=False)
    elif form == "semicolons and decimal commas":
        frame.to_csv(path, sep=";", decimal=",", index=False)
    elif form == "per cent":
        frame.to_csv(path, index=False)
        percent = frame.copy()
        percent[TABLE.columns] = percent[TABLE.columns].map(lambda value: f"{value * 100:.0f} %")
        percent.to_csv(path, index=False)
    elif form == "lines":
        lines = frame.melt("dataset", var_name="method", value_name="auprc")
        runs = [lines.assign(split=split, auprc=lines["auprc"] + shift) for split, shift in ((0, -0.01), (1, 0.01))]
        pd.concat(runs).to_csv(path, index=False)
    else:
        frame.to_csv(path, sep={"tabs": "\t"}.get(form, ","), index=False, encoding="utf-8-sig")
    return path


@pytest.mark.parametrize("form", ["commas", "tabs", "semicolons and decimal commas", "excel", "lines", "per cent"])
def test_tables_are_read_in_the_forms_people_have(tmp_path, form):
    scale = 100 if form == "per cent" else 1
    found = read_results(written(tmp_path, form))
    np.testing.assert_allclose(found[list(TABLE.columns)], TABLE * scale)
    assert list(found.index) == list(TABLE.index)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("set,a,b\nx,1,2\nx,2,3\n", "must name the data sets, each once; it has 'x' twice"),
        ("set,a,b\nx,1,two\ny,2,3\n", "holds 'two' for 'b' on 'x', which is no number"),
        ("set,a\nx,1\ny,2\n", "a column that names the data sets and one for each of at least two methods"),
        ("dataset,method,f1,auprc\nx,a,1,2\nx,b,1,2\n", "has several measures, f1, auprc; choose one with --measure"),
        ("set,a,b\nx,1,\ny,2,3\n", "no finite value for 'b' on 'x'"),
    ],
)
def test_what_is_no_table_of_results_is_refused_in_words(tmp_path, text, words):
    path = tmp_path / "results.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=words):
        read_results(path)


def test_all_tests_say_what_each_of_them_says():
    found = all_tests(TABLE).to_frame()
    by_ranks, by_size = holm(TABLE), wilcoxon(TABLE)
    for row in found.itertuples():
        pair = {row.first, row.second}
        same = [set(names) == pair for names in zip(by_ranks["first"], by_ranks["second"], strict=True)]
        assert row.holm == by_ranks.loc[same, "adjusted"].iloc[0]
        assert row.nemenyi == nemenyi(TABLE).loc[row.first, row.second]
        assert row.first_better + row.equal + row.second_better == pytest.approx(1)
    assert found["wilcoxon"].tolist() == by_size["adjusted"].tolist()


def test_latex_marks_the_best_and_escapes_names():
    text = all_tests(TABLE).to_latex()
    assert r"a\_\&\_b" in text
    assert r"set 1 & 0.830 & 0.740 & \textbf{0.840} \\" in text
    assert r"\textbf{0.700}" in all_tests(TABLE, larger_is_better=False).to_latex()


def run(words):
    result = CliRunner().invoke(ramify, words)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_command_tests_a_table_and_writes_what_is_asked_for(tmp_path):
    path = written(tmp_path, "commas")
    names = {"--latex": "t.tex", "--figure": "t.svg", "-o": "pairs.csv", "--report": "r.html"}
    options = [part for name, file in names.items() for part in (name, str(tmp_path / file))]
    shown = run(["compare", str(path), *options])
    assert "Friedman's test of 3 methods" in shown
    assert "Bayesian signed-rank test" in shown
    assert all((tmp_path / file).stat().st_size > 100 for file in names.values())
    assert len(pd.read_csv(tmp_path / "pairs.csv")) == 3
    found = json.loads(run(["compare", str(path), "--json", "--loss", "--control", "tree"]))
    assert min(found["ranks"], key=found["ranks"].get) == "tree"
    assert len(found["pairs"]) == 2
