import json
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest

from ramify.analysis import Results
from ramify.datasets import Dataset
from ramify.ranking import Claim, Discoveries, FeatureRanking
from ramify.report import write_report
from ramify.report.content import report_content
from ramify.report.sections import SECTIONS
from ramify.report.sections.drivers import driving


@pytest.fixture(scope="module")
def content(make_results):
    return report_content(make_results())


def test_content_is_valid_json(content):
    assert json.loads(json.dumps(content, allow_nan=False))["format"] == "ramify-report"


def test_branch_scores_sum_the_subtree(make_results):
    results = make_results()
    branches = report_content(results)["methods"][0]["branches"]
    per_label = results.rankings["genie3"].per_label.toarray()
    hierarchy = results.dataset.hierarchy
    for label, name in enumerate(hierarchy.names):
        below = [hierarchy.index(d) for d in (name, *hierarchy.descendants(name))]
        expected = np.maximum(per_label[:, below], 0).sum(axis=1)
        best = branches["features"][label]
        assert best == sorted(np.flatnonzero(expected > 0), key=lambda j: (-expected[j], j))[: len(best)]
        got = np.array(branches["scores"][label]) / 1000 * branches["tops"][label]
        np.testing.assert_allclose(got, expected[best], atol=1e-3 * branches["tops"][label])


def test_heat_map_cells_are_shares_of_each_labels_best(make_results):
    results = make_results()
    heat = report_content(results)["heatmaps"][0]
    per_label = results.rankings["genie3"].per_label.toarray()
    expected = per_label[np.ix_(heat["features"], heat["labels"])] / per_label[:, heat["labels"]].max(axis=0)
    np.testing.assert_allclose(np.array(heat["cells"]) / 1000, expected, atol=6e-4)
    assert sorted(heat["feature_order"]) == list(range(len(heat["features"])))
    assert sorted(heat["label_order"]) == list(range(len(heat["labels"])))


def test_summary_names_the_leading_feature(content, make_results):
    results = make_results()
    best = results.dataset.feature_names[int(np.argmax(results.rankings["genie3"].scores))]
    assert any(f"{best} leads" in sentence for sentence in content["summary"])


def test_agreement_is_spearmans_correlation(content, make_results):
    from scipy.stats import spearmanr

    results = make_results()
    a, b = (results.rankings[name].ranks for name in ("genie3", "relief"))
    agreement = content["agreement"]
    assert agreement["correlation"][0][3] == pytest.approx(spearmanr(a, b)[0], abs=1e-3)
    np.testing.assert_allclose(agreement["distances"], (1 - np.array(agreement["correlation"])) / 2, atol=2e-3)
    assert np.shape(agreement["places"]) == (4, 2)


def test_methods_stand_on_a_map_as_far_apart_as_their_rankings_are(tmp_path):
    ranks = np.array([[4.0, 3, 2, 1], [4, 3, 1, 2], [1, 2, 3, 4]])
    rankings = {name: FeatureRanking("abcd", scores) for name, scores in zip("xyz", ranks, strict=True)}
    data = Dataset(np.eye(4), y=np.array([0, 1, 0, 1]), target="classes", feature_names=tuple("abcd"))
    agreement = report_content(Results(data, rankings))["agreement"]
    places = np.array(agreement["places"])
    assert np.linalg.norm(places[0] - places[1]) < np.linalg.norm(places[0] - places[2])
    page = write_report(Results(data, rankings), tmp_path / "map.html").read_text(encoding="utf-8")
    assert "The methods as a map" in page
    two = write_report(Results(data, dict(list(rankings.items())[:2])), tmp_path / "two.html")
    assert "The methods as a map" not in two.read_text(encoding="utf-8")


@pytest.mark.parametrize("target", ["classes", "numbers", "rankings", None])
def test_every_kind_of_target_has_a_report(target, tmp_path):
    rng = np.random.default_rng(0)
    y = {
        "classes": rng.integers(0, 3, 20),
        "numbers": rng.normal(size=(20, 3)),
        "rankings": np.tile([1.0, 2, 3], (20, 1)),
        None: None,
    }[target]
    data = Dataset(rng.normal(size=(20, 4)), y=y, target=target, label_names=("a", "b", "c") if target else ())
    path = write_report(Results(data), tmp_path / "report.html")
    assert "20" in path.read_text(encoding="utf-8")


def test_a_ranking_of_other_data_is_refused(make_results):
    results = make_results()
    other = Dataset(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="has 60 features and the data set 2"):
        report_content(Results(other, results.rankings))


def test_an_unknown_form_is_refused(make_results, tmp_path):
    with pytest.raises(ValueError, match=r"\.html, \.json or \.md"):
        write_report(make_results(), tmp_path / "report.pdf")


def test_json_and_markdown_say_the_same_as_the_page(make_results, tmp_path, content):
    results = make_results()
    stored = json.loads(write_report(results, tmp_path / "r.json").read_text(encoding="utf-8"))
    text = write_report(results, tmp_path / "r.md").read_text(encoding="utf-8")
    page = write_report(results, tmp_path / "r.html").read_text(encoding="utf-8")
    assert stored == json.loads(json.dumps(content))
    for sentence in content["summary"]:
        assert sentence in page
        assert sentence.replace("_", "\\_") in text


def test_large_reports_stay_small(make_results, tmp_path):
    path = write_report(make_results(5000, 500), tmp_path / "large.html")
    assert path.stat().st_size < 5_000_000


def test_the_same_results_give_the_same_bytes(make_results, tmp_path):
    first, second = (write_report(make_results(), tmp_path / f"{i}.html").read_bytes() for i in range(2))
    assert first == second


def test_an_interrupted_write_keeps_the_old_report(make_results, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old", encoding="utf-8")

    def fail(descriptor):
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_report(make_results(), path)
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_a_study_needs_no_data_set(tmp_path):
    import pandas as pd

    from ramify.compare import compare

    table = pd.DataFrame(
        np.random.default_rng(0).uniform(size=(8, 3)) + [0.5, 0.2, 0], columns=["forest", "<b>", "relief"]
    )
    results = Results(comparisons={"AUPRC": compare(table)}, title="A study")
    for form in ("html", "md", "json"):
        text = write_report(results, tmp_path / f"study.{form}").read_text(encoding="utf-8")
        assert "Friedman" in text
    page = (tmp_path / "study.html").read_text(encoding="utf-8")
    assert "<b>relief" not in page
    assert 'id="comparisons"' in page
    assert 'id="drivers"' not in page


def test_measures_stand_beside_the_prior(make_results, tmp_path):
    from dataclasses import replace

    import pandas as pd

    table = pd.DataFrame(
        {"model": [0.71, np.nan], "prior": [0.3, 0.1], "better": ["higher", "lower"], "left_out": [0, 2]},
        index=["AUPRC", "<Hamming>"],
    )
    results = replace(make_results(), measures=table, measured_on="Measured on 10 test rows")
    assert report_content(results)["measures"]["table"]["rows"][0] == ["AUPRC", "0.71", "0.30", "higher"]
    page = write_report(results, tmp_path / "r.html").read_text(encoding="utf-8")
    assert "&lt;Hamming&gt;" in page


def test_scores_per_class_stand_beside_their_own_class(results_of_kind):
    results = results_of_kind("classes")
    content = report_content(results)
    ranking = results.rankings["genie3"]
    assert content["labels"]["names"] == ["zebra", "lion", "ape"]
    assert ranking.label_names == ("ape", "lion", "zebra")
    tops = content["methods"][0]["branches"]["tops"]
    best = ranking.per_label.toarray().max(axis=0)
    assert tops == pytest.approx([best[2], best[1], best[0]], rel=1e-3)
    assert sum(content["labels"]["examples"]) == 120


def test_pairs_of_a_ranking_stand_below_their_items(results_of_kind):
    content = report_content(results_of_kind("rankings"))
    names, parents = content["labels"]["names"], content["labels"]["parents"]
    pair = names.index("tea>beer")
    assert [names[parent] for parent in parents[pair]] == ["tea", "beer"]
    assert content["features"]["names"][content["methods"][0]["branches"]["features"][pair][0]] == "feature0"
    assert [names[label] for label in content["heatmaps"][0]["labels"]] == ["tea>milk", "tea>beer", "milk>beer"]


def test_a_ranking_of_other_labels_is_refused(results_of_kind):
    results = results_of_kind("labels")
    other = FeatureRanking(
        results.dataset.feature_names, np.arange(6.0), per_label=np.ones((6, 5)), label_names="abcde"
    )
    with pytest.raises(ValueError, match="scores of 5 labels and the report 2"):
        report_content(replace(results, rankings={"own": other}))


def test_every_section_has_its_template_and_place():
    folder = files("ramify.report") / "template"
    assert len({section.place for section in SECTIONS}) == len({section.id for section in SECTIONS}) == len(SECTIONS)
    for section in SECTIONS:
        assert (folder / f"{section.id}.html").is_file()


def test_a_group_is_named_as_one_where_it_is_claimed(make_results):
    results = make_results()
    names, roots = results.dataset.feature_names, results.dataset.hierarchy.roots[:2]
    best = [results.label_ranking.for_label(root).order[0] for root in roots]
    group = f"{names[best[0]]} + {names[best[1]]}"
    claims = tuple(Claim(group, root, 0.1, 0.0, 0.2, 1e-9, 1e-6, 50, None) for root in roots)
    groups = {group: tuple(names[j] for j in best)}
    content = report_content(replace(results, discoveries=Discoveries(claims, groups, branches=("", *roots))))
    for root in roots:
        label = content["labels"]["names"].index(root)
        assert driving(content, content["methods"][0], label)[0] == (group, "claimed")
    assert best[0] != best[1]
    assert content["verdict"][0].startswith("2 discoveries at FDR 10 %, each a feature that predicts its branch")
    assert content["verdict"][0].count(group) == 1  # it is one feature


def test_only_claims_are_called_drivers(make_results):
    results = make_results()
    names, roots = results.dataset.feature_names, results.dataset.hierarchy.roots[:2]
    best = [names[results.label_ranking.for_label(root).order[0]] for root in roots]
    untested = report_content(replace(results, discoveries=None))
    assert untested["verdict"][0].startswith("Ranked first, not tested: ")
    assert f"{best[0]} for {roots[0]}" in untested["verdict"][0]
    assert not any("driver" in sentence for sentence in untested["summary"])
    claims = tuple(Claim(one, root, 0.1, 0.0, 0.2, 1e-9, 1e-6, 50, None) for one, root in zip(best, roots, strict=True))
    tested = report_content(replace(results, discoveries=Discoveries(claims, branches=("", *roots))))
    assert tested["verdict"][0].startswith("2 discoveries at FDR 10 %")
    assert f"{best[0]} for {roots[0]}" in tested["verdict"][0]
    assert len(tested["verdict"]) <= 3


def test_claims_of_a_branch_are_given_by_each_member(make_results):
    results = make_results()
    names, roots = results.dataset.feature_names, results.dataset.hierarchy.roots[:2]
    numbers = (0.1, 0.0, 0.2, 1e-9, 1e-6, 50, None)
    claims = (
        Claim("pair", roots[0], *numbers),
        Claim(names[3], roots[0], *numbers),
        Claim(names[3], roots[1], *numbers),
    )
    groups = {"pair": (names[2], names[0])}
    found = replace(results, discoveries=Discoveries(claims, groups, branches=("", *roots)))
    assert list(found.claims_of(roots[0]).items()) == [(0, claims[0]), (2, claims[0]), (3, claims[1])]
    assert found.claims_of(roots[1]) == {3: claims[2]}
    assert found.claims_of() == {}
    assert replace(results, discoveries=None).claims_of(roots[0]) is None
    np.testing.assert_array_equal(
        np.column_stack([found.branch_column(name) for name in found.label_ranking.label_names]),
        found.label_ranking.branch_scores().toarray(),
    )


def test_what_was_found_when_the_data_were_read_is_told(make_results, tmp_path):
    results = make_results()
    many = replace(
        results, dataset=replace(results.dataset, notes=tuple(f"Column {k} is left out." for k in range(60)))
    )
    for form in ("html", "md"):
        write_report(results, tmp_path / f"one.{form}")
        assert "gene_id names the rows." in (tmp_path / f"one.{form}").read_text(encoding="utf-8").replace("\\_", "_")
        write_report(many, tmp_path / f"many.{form}")
        text = (tmp_path / f"many.{form}").read_text(encoding="utf-8")
        assert "Column 49 is left out." in text
        assert "Column 50 is left out." not in text
        assert "And 10 more." in text
