"""Features of a branch are ranked by credit on held-out rows, and every output says the same."""

import csv
import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

from ramify import Hierarchy
from ramify.analysis import analyse, fit_model
from ramify.analysis.methods import HELD_OUT, IN_BAG, branch_credit
from ramify.cli.rank import rank
from ramify.datasets import Dataset, write_arff
from ramify.ensemble import ForestClassifier
from ramify.ranking import ForestRanker
from ramify.report.content import report_content

DRIVER = {"a": "f2", "b": "f5", "c": "f7"}


@pytest.fixture(scope="module")
def planted():
    """Three branches of two labels below a root, each branch with a strong driver of its own, among nine features."""
    random = np.random.default_rng(0)
    hierarchy = Hierarchy.from_paths([f"{root}/{k}" for root in DRIVER for k in (1, 2)])
    X = random.standard_normal((300, 9)).round(3)
    y = np.zeros((300, len(hierarchy)), dtype=int)
    for root, driver in DRIVER.items():
        has = X[:, int(driver[1])] + 0.3 * random.standard_normal(300) > 0
        side = random.random(300) < 0.5
        for name, rows in ((root, has), (f"{root}/1", has & side), (f"{root}/2", has & ~side)):
            y[:, hierarchy.index(name)] = rows
    names = tuple(f"f{j}" for j in range(9))
    return Dataset(X, y=y, target="hierarchy", hierarchy=hierarchy, label_names=hierarchy.names, feature_names=names)


@pytest.fixture(scope="module")
def outputs(planted, tmp_path_factory):
    """What `ramify rank` prints and writes, in all its forms."""
    folder = tmp_path_factory.mktemp("branches")
    write_arff(planted, folder / "planted.arff")
    run = [str(folder / "planted.arff"), "--trees", "50", "--jobs", "1"]
    files = ["-o", str(folder / "r.csv"), "--per-label", str(folder / "lines.csv"), "--report", str(folder / "r.json")]
    printed = CliRunner().invoke(rank, [*run, *files], catch_exceptions=False)
    plain = CliRunner().invoke(rank, [*run, "--json"], catch_exceptions=False)
    assert printed.exit_code == plain.exit_code == 0
    return folder, printed.output, json.loads(plain.output)


def test_a_driver_is_listed_only_under_its_own_branch(planted, outputs):
    folder, printed, content = outputs
    page = json.loads((folder / "r.json").read_text())
    tables = {}
    for name in ("r.branches", "lines"):
        with (folder / f"{name}.csv").open() as file:
            tables[name] = list(csv.DictReader(file))
    for root, driver in DRIVER.items():
        row = next(line for line in printed.splitlines() if line.startswith(f"│ {root} "))
        listed = re.findall(r"f\d", row)
        assert listed[0] == driver
        assert not set(listed[1:]) & set(DRIVER.values())
        assert [line["feature"] for line in content["branches"][root]] == listed
        best = max((line for line in tables["lines"] if line["label"] == root), key=lambda line: float(line["score"]))
        assert best["feature"] == driver
        branch = [line for line in tables["r.branches"] if line["branch"] == root]
        assert branch[0]["feature"] == driver
        listed = [line["feature"] for line in content["branches"][root] if line["standing"] == "claimed"]
        assert [line["feature"] for line in branch if line["q"]][:3] == listed
        label = planted.label_names.index(root)
        claims = page["features"]["claims"][label + 1]
        shown = page["methods"][0]["branches"]["features"][label]
        assert [planted.feature_names[f] for f in shown if str(f) in claims][:3] == listed
        # Terminal, files and page give one score, p and q.
        told = content["branches"][root][0]
        assert [float(branch[0][key]) for key in ("score", "p", "q")] == [told["score"], told["p"], told["q"]]
        assert page["methods"][0]["branches"]["tops"][label] == pytest.approx(told["score"], rel=1e-3)
        assert claims[str(shown[0])] == pytest.approx([told["p"], told["q"]], rel=5e-3)
    assert page["methods"][0]["credit"] == content["branches_by"]["scores"] == HELD_OUT


def test_without_claims_other_drivers_have_no_credit_for_a_branch(planted):
    held_out = analyse(planted, n_estimators=50, fdr=None).rankings["genie3_oob"]
    in_bag = (
        ForestRanker(ForestClassifier(50, hierarchy=planted.hierarchy, random_state=0), scores="genie3")
        .fit(planted.X, planted.y)
        .ranking_
    )
    for root, driver in DRIVER.items():
        others = [planted.feature_names.index(name) for name in DRIVER.values() if name != driver]
        own = held_out.for_label(root).scores
        assert planted.feature_names[int(np.argmax(own))] == driver
        assert np.all(own[others] < 0.02 * own.max())
        published = in_bag.for_label(root).scores
        assert np.all(own[others] / own.max() < published[others] / published.max())


def test_the_ranker_keeps_the_published_score_and_its_sums(planted):
    forest = ForestClassifier(20, hierarchy=planted.hierarchy, random_state=0)
    ranking = ForestRanker(forest, scores="genie3").fit(planted.X, planted.y).ranking_
    np.testing.assert_allclose(ranking.per_label.sum(axis=1), ranking.scores)
    results = analyse(planted, methods=["genie3"], n_estimators=20, fdr=None)
    np.testing.assert_array_equal(results.rankings["genie3"].scores, ranking.scores)
    assert results.facts["Branches"] == f"genie3: {HELD_OUT}"


@pytest.mark.parametrize("ensemble", ["extra-trees", "boosted"])
def test_trees_without_held_out_rows_say_so_and_claim_nothing(planted, ensemble):
    results = analyse(planted, ensemble=ensemble, n_estimators=5)
    assert branch_credit(results.rankings["genie3"]) == IN_BAG
    assert results.discoveries is None
    assert "no out-of-bag rows" in results.no_claims
    assert results.facts["Branches"] == f"genie3: {IN_BAG}"
    content = report_content(results)
    assert content["methods"][0]["credit"] == IN_BAG
    assert content["claims"]["sentences"][0] == f"No claims: {results.no_claims}."
    assert "associated with" in content["claims"]["sentences"][1]


def test_the_terminal_says_that_gains_are_in_bag(planted, outputs):
    arguments = [str(outputs[0] / "planted.arff"), "--trees", "5", "--ensemble", "extra-trees", "--jobs", "1"]
    told = " ".join(CliRunner().invoke(rank, arguments, catch_exceptions=False).output.split())
    assert "ranked by in-bag gain (genie3)" in told
    assert f"Features of a branch are ranked by {IN_BAG}." in told
    assert "No claims: these trees have no out-of-bag rows to test on" in told


def test_a_fitted_model_is_ranked_by_held_out_credit_where_it_can(planted):
    for method, score, credit in (("random-forest", "genie3_oob", HELD_OUT), ("extra-trees", "genie3", IN_BAG)):
        results = fit_model(planted, method=method, n_estimators=10, explain=True).results
        assert branch_credit(results.rankings[score]) == credit
        assert results.associations is not None
