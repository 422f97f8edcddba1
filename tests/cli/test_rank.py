import json
import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from ramify.analysis import Results
from ramify.cli.rank import rank
from ramify.cli.rank_output import branches_that_fit
from ramify.datasets import make_hierarchical, make_label_ranking, make_multilabel, write_arff
from ramify.ranking import Discoveries, FeatureRanking


@pytest.fixture(scope="module")
def hierarchical(tmp_path_factory):
    data = make_hierarchical(200, depth=2, n_features=16, noise=0.0, random_state=0)
    path = tmp_path_factory.mktemp("data") / "planted.arff"
    write_arff(data, path)
    return data, str(path)


def run(*arguments):
    result = CliRunner().invoke(rank, [str(a) for a in (*arguments, "--jobs", 1)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_prints_who_drives_what_with_planted_features(hierarchical):
    data, path = hierarchical
    output = run(path, "--trees", 30)
    assert "What predicts what" in output
    label = data.hierarchy.index("1")
    driver = data.feature_names[np.flatnonzero(data.truth[:, label])[0]]
    line = next(line for line in output.splitlines() if line.startswith("│ 1 "))
    assert driver in line
    assert " q=" in line or " q<" in line
    assert "at FDR 10 %, each a feature that predicts its branch beyond all other features." in output
    assert "● predicts the branch beyond all other features" in " ".join(output.split())
    assert "drives" not in output
    assert "at most 0.1, if p-values are valid" in " ".join(output.split())
    assert "█" in output


def test_writes_every_format_and_the_per_label_lines(hierarchical, tmp_path):
    data, path = hierarchical
    for suffix in ("csv", "json", "fimp"):
        written = tmp_path / f"ranking.{suffix}"
        run(path, "--trees", 5, "--fdr", "none", "--method", "genie3", "--method", "symbolic", "-o", written, "-q")
        ranking = FeatureRanking.read(written)
        assert set(ranking.names) == set(data.feature_names)
        assert ranking.label_names == (() if suffix == "csv" else data.label_names)
        assert FeatureRanking.read(tmp_path / f"ranking.symbolic.{suffix}").per_label is None
    run(path, "--trees", 5, "--fdr", "none", "--per-label", tmp_path / "lines.csv", "-q")
    lines = (tmp_path / "lines.csv").read_text().splitlines()
    assert lines[0] == "feature,label,score"
    assert len(lines) > 10


def test_json_for_programs(hierarchical):
    data, path = hierarchical
    options = ("--json", "--quality", "--folds", 2, "--random-rankings", 2, "--method", "relief")
    content = json.loads(run(path, *options))
    assert content["n_samples"] == 200
    assert len(content["rankings"]["relief"]["top"]) == 15
    assert set(content["branches"]) == set(data.label_names)
    assert content["knn_quality"]["relief"]["weighted"] > content["knn_quality"]["relief"]["unweighted"]
    curve = content["addition_curves"]["relief"]
    assert curve["sizes"] == [1, 2, 4, 8, 16]
    assert curve["area"] > curve["random_area"]


def test_one_label(hierarchical):
    data, path = hierarchical
    output = run(path, "--trees", 30, "--fdr", "none", "--label", "1", "--top", 2)
    label = data.hierarchy.index("1")
    assert data.feature_names[np.flatnonzero(data.truth[:, label])[0]] in output
    with pytest.raises(ValueError, match="There is no label '7' among the 6 of the target"):
        run(path, "--trees", 3, "--fdr", "none", "--label", "7")


@pytest.mark.parametrize("method", ["genie3", "symbolic", "permutation", "genie3_oob", "relief", "lcc"])
def test_every_method_on_label_sets(method, tmp_path):
    data = make_multilabel(80, n_features=6, n_labels=3, signal=3.0, random_state=0)
    write_arff(data, tmp_path / "sets.arff")
    labels = [argument for name in data.label_names for argument in ("--target", name)]
    output = run(tmp_path / "sets.arff", *labels, "--trees", 5, "--method", method)
    assert f"Top features by {method}" in output


def test_numbers_and_rankings(tmp_path):
    random = np.random.RandomState(0)
    X = random.standard_normal((80, 3))
    rows = "\n".join(",".join(map(str, [*row, row[1] * 2 + row[0] / 3])) for row in X)
    (tmp_path / "numbers.csv").write_text("a,b,c,y\n" + rows + "\n")
    content = json.loads(run(tmp_path / "numbers.csv", "--target", "y", "--trees", 10, "--fdr", "none", "--json"))
    assert content["rankings"]["genie3_oob"]["top"][0]["feature"] == "b"
    made = make_label_ranking(60, n_features=6, random_state=0)
    header = [*(f"A{j + 1}" for j in range(6)), *(f"L{j + 1}" for j in range(made.y.shape[1]))]
    lines = [",".join(header)] + [",".join(f"{v:g}" for v in [*x, *y]) for x, y in zip(made.X, made.y, strict=True)]
    (tmp_path / "orders.csv").write_text("\n".join(lines) + "\n")
    targets = [argument for name in header[6:] for argument in ("--target", name)]
    assert "Top features by relief" in run(
        tmp_path / "orders.csv", *targets, "--method", "relief", "--fdr", "none", "--neighbors", 5
    )


def test_the_test_part_takes_no_part(tmp_path):
    data = make_hierarchical(120, depth=1, n_features=8, noise=0.0, random_state=0)
    for name, rows in (("train", np.arange(80)), ("test", np.arange(80, 120))):
        write_arff(data.rows(rows), tmp_path / f"set.{name}.arff")
    output = run(tmp_path / "set.train.arff", tmp_path / "set.test.arff", "--trees", 5, "--fdr", "none", "--quality",
                 "--folds", 2, "--random-rankings", 0)  # fmt: skip
    assert "80 rows" in output
    assert "Nearest neighbours, pooled AUPRC" in output


def test_report_is_written(hierarchical, tmp_path):
    path = hierarchical[1]
    run(path, "--trees", 5, "--quality", "--folds", 2, "--random-rankings", 2,
        "--report", tmp_path / "out.html", "-q")  # fmt: skip
    assert "<html" in (tmp_path / "out.html").read_text()[:200].lower()


@pytest.mark.parametrize("with_test_part", [False, True])
def test_the_report_says_how_well_labels_are_predicted_and_why(hierarchical, tmp_path, with_test_part):
    data, path = hierarchical
    files = [path]
    if with_test_part:
        files = [str(tmp_path / f"planted.{part}.arff") for part in ("train", "test")]
        for file, rows in zip(files, (np.arange(150), np.arange(150, 200)), strict=True):
            write_arff(data.rows(rows), file)
    report = tmp_path / "ranking.json"
    run(*files, "--trees", 10, "--fdr", "none", "--quality", "--random-rankings", 0, "--report", report, "-q")
    content = json.loads(report.read_text())
    quality, baseline = content["labels"]["quality"], content["labels"]["baseline"]
    assert np.mean(quality) > np.mean(baseline)
    assert content["labels"]["quality_name"] == "AUPRC"
    assert len(content["predictions"]["cases"]) == 3
    assert ("has not seen" if with_test_part else "has learnt from") in content["predictions"]["on"]


def test_extra_trees_have_no_quality_out_of_bag(hierarchical, tmp_path):
    report = tmp_path / "ranking.json"
    run(hierarchical[1], "--trees", 5, "--fdr", "none", "--ensemble", "extra-trees", "--report", report, "-q")
    assert json.loads(report.read_text())["labels"]["quality"] is None


def test_scores_of_one_forest_are_those_of_forests_alone(hierarchical):
    options = ("--trees", 10, "--fdr", "none", "--json")
    names = ("symbolic", "relief", "genie3", "permutation")
    together = json.loads(run(hierarchical[1], *options, *(part for name in names for part in ("--method", name))))
    assert tuple(together["rankings"]) == names
    for name in names:
        alone = json.loads(run(hierarchical[1], *options, "--method", name))
        assert alone["rankings"][name]["top"] == together["rankings"][name]["top"]


def test_relief_visits_a_share_or_a_number_of_rows(hierarchical):
    for given, n_rows in (("0.25", 50), ("50", 50), ("1", 1), ("1.0", 200)):
        output = run(hierarchical[1], "--method", "relief", "--fdr", "none", "--json", "--iterations", given)
        assert json.loads(output)["rankings"]["relief"]["origin"]["n_iterations"] == n_rows
    for given in ("0", "0.0", "1.5", "-3", "all", "nan"):
        result = CliRunner().invoke(rank, [hierarchical[1], "--iterations", given])
        assert result.exit_code == 2
        assert "neither a share above 0.0 and up to 1.0 nor a number of rows" in result.output
    with pytest.raises(ValueError, match="201 iterations are more than the 200 rows"):
        run(hierarchical[1], "--method", "relief", "--iterations", 201)


def test_every_file_is_named_and_the_claims_are_written_beside(hierarchical, tmp_path):
    written = tmp_path / "ranking.csv"
    options = ("--trees", 5, "--method", "genie3", "--method", "symbolic", "-o", written)
    output = run(hierarchical[1], *options, "--quality", "--folds", 2, "--random-rankings", 2)
    assert f"Wrote {written}" in output
    assert f"Wrote {tmp_path / 'ranking.symbolic.csv'}" in output
    heads = [line for line in output.splitlines() if line.startswith("┃ rank")]
    assert [line.split()[-2] for line in heads] == ["q", "q"]
    beside = tmp_path / "ranking.claims.csv"
    assert f"Wrote {beside}" in output
    claims = {(claim.feature, claim.branch): claim for claim in Discoveries.read(beside).claims}
    assert claims
    long = pd.read_csv(tmp_path / "ranking.branches.csv", dtype={"branch": str})
    assert list(long.columns) == ["feature", "branch", "score", "p", "q"]
    whole = FeatureRanking.read(written)
    assert set(long["branch"]) <= set(hierarchical[0].label_names)
    assert set(long["feature"]) <= set(whole.names)
    for line in long[long["q"].notna()].itertuples():
        claim = claims[line.feature, line.branch]
        assert (line.p, line.q) == pytest.approx((claim.p, claim.q))
    assert long["q"].notna().sum() == sum(branch != "" for _, branch in claims)
    assert "Area under" in output
    assert "random" in output


def test_branches_are_opened_by_importance_and_fit():
    data = make_hierarchical(30, depth=3, random_state=0)
    per_label = np.zeros((data.n_features, data.n_labels))
    for label, value in (("1", 1.0), ("2", 0.1), ("1.1", 1.0), ("1.2", 0.2), ("1.1.1", 1.0)):
        per_label[0, data.hierarchy.index(label)] = value
    ranking = FeatureRanking(
        data.feature_names,
        per_label.sum(axis=1),
        per_label=per_label,
        label_names=data.label_names,
        hierarchy=data.hierarchy,
    )
    found = Results(None, {"genie3": ranking})
    assert branches_that_fit(found, 2) == [(0, "1"), (0, "2")]
    assert branches_that_fit(found, 4) == [(0, "1"), (1, "1.1"), (1, "1.2"), (0, "2")]
    assert branches_that_fit(found, 9) == [(0, "1"), (1, "1.1"), (2, "1.1.1"), (1, "1.2"), (0, "2")]


def test_narrow_terminals_break_no_q_value(hierarchical, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    output = run(hierarchical[1], "--trees", 5)
    words = output.replace("│", " ").replace(",", " ").split()
    assert sum(re.fullmatch(r"q=0\.\d{3}|q<0\.001", word) is not None for word in words) >= 3
    assert max(map(len, output.partition("Top features")[0].splitlines()[1:])) <= 40


def test_chains_say_which_labels_help_which(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    first = X[:, 0] > 0
    copied = np.where(rng.uniform(size=150) < 0.05, ~first, first)
    table = pd.DataFrame(X, columns=list("abcd")).assign(sun=first, shadow=copied, luck=rng.uniform(size=150) > 0.5)
    path = tmp_path / "data.csv"
    table.astype({"sun": int, "shadow": int, "luck": int}).to_csv(path, index=False)
    target = [word for name in ("sun", "shadow", "luck") for word in ("--target", name)]
    lines, page = tmp_path / "lines.csv", tmp_path / "page.html"
    options = ("--method", "lcc", "--trees", 20, "--per-label", lines, "--report", page)
    output = run(path, *target, *options)
    assert "Which labels help to predict which, by lcc" in output
    assert "q=" not in output
    written = pd.read_csv(lines)
    of_shadow = written[(written["label"] == "shadow") & (written["is_label"] == 1)]
    assert of_shadow["feature"].iloc[0] == "sun"
    assert set(written[written["is_label"] == 0]["feature"]) <= set("abcd")
    assert not ((written["feature"] == written["label"]) & (written["is_label"] == 1)).any()
    text = page.read_text(encoding="utf-8")
    assert "Which labels help to predict which?" in text
    assert "Benjamini-Hochberg" not in text
    content = json.loads(run(path, *target, "--method", "lcc", "--trees", 20, "--json"))
    shadow = content["label_importances"]["shadow"]
    assert max(shadow, key=shadow.get) == "sun"


def test_association_is_never_called_drive(hierarchical, tmp_path):
    text = run(hierarchical[1], "--trees", 5, "--given", "nothing", "--report", tmp_path / "a.html")
    assert "associated with the branch, directly or through other features" in " ".join(text.split())
    assert "drives" not in text
    verdict = re.search(r'"verdict":\[([^]]*)\]', (tmp_path / "a.html").read_text())[1]
    assert "driver" not in verdict
    assert "beyond" not in verdict
    assert "Branches have their own drivers" not in (tmp_path / "a.html").read_text()


def test_json_has_the_claims_and_says_why_there_are_none(hierarchical, tmp_path):
    content = json.loads(run(hierarchical[1], "--trees", 5, "--json", "--given", "nothing"))
    assert content["discoveries"]["given"] == "nothing"
    assert "is associated with" in content["discoveries"]["question"]
    claimed = {claim["feature"] for claim in content["discoveries"]["claims"] if claim["branch"] == "1"}
    standings = {line["feature"]: line["standing"] for line in content["branches"]["1"]}
    assert set(standings.values()) <= {"associated", "ranked"}
    assert {feature for feature, standing in standings.items() if standing == "associated"} <= claimed
    few = tmp_path / "few.arff"
    write_arff(hierarchical[0].rows(np.arange(60)), few)
    assert "at least 100 rows" in json.loads(run(few, "--trees", 5, "--json"))["no_claims"]
    assert "No claims: " in run(few, "--trees", 5)


@pytest.mark.parametrize("rate", ["0", "1", "2", "often"])
def test_an_error_rate_that_is_none_is_refused(hierarchical, rate):
    with pytest.raises(AssertionError, match="neither a share between 0 and 1 nor none"):
        run(hierarchical[1], "--fdr", rate)
