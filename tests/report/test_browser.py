"""The report in a real browser."""

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from runpy import run_path
from xml.etree import ElementTree

import pandas as pd
import pytest
from matplotlib import image

from ramify.analysis import select_features
from ramify.compare import compare
from ramify.datasets import make_feature_hierarchy
from ramify.report import write_report

PAYLOADS = run_path(str(Path(__file__).with_name("hostile.py")))["PAYLOADS"]
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 375, "height": 740}


@pytest.fixture(scope="module")
def report(make_results, tmp_path_factory):
    return write_report(make_results(), tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture
def opened(browser):
    """Open a report; at the end of the test nothing may have been logged, thrown or requested."""
    troubles, contexts = [], []

    def open_page(path, **options):
        context = browser.new_context(**{"viewport": DESKTOP, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: troubles.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on("dialog", lambda dialog: troubles.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: troubles.append(request.url) if request.url != path.as_uri() else None)
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []


def features_shown(page):
    return page.locator("#ranking-table tbody td.feature").all_inner_texts()


def content_of(page):
    return json.loads(page.locator("#content").text_content())


def best_features(content, method):
    ranks = content["methods"][method]["ranks"]
    order = sorted(range(len(ranks)), key=lambda j: ranks[j])
    return [content["features"]["names"][j] for j in order]


def overflow(page):
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


def test_opens_on_the_verdict_and_what_predicts_what(opened, report):
    page = opened(report)
    assert [page.locator("section").nth(i).get_attribute("id") for i in (0, 1)] == ["summary", "drivers"]
    assert page.locator("#tree .branch .chip").first.is_visible()
    assert page.locator("#tree .branch .chip").first.bounding_box()["y"] < 900


def test_search_filters_features(opened, report):
    page = opened(report)
    page.fill("#feature-search", "EXPRESSION_at_1")
    shown = features_shown(page)
    names = content_of(page)["features"]["names"]
    assert sorted(shown) == sorted(name for name in names if "expression_at_1" in name)


def test_method_toggle_reorders(opened, report):
    page = opened(report)
    content = content_of(page)
    assert features_shown(page)[:10] == best_features(content, 0)[:10]
    page.click("#ranking [data-method='3']")
    assert features_shown(page)[:10] == best_features(content, 3)[:10]
    assert page.locator("#drivers [data-method='3']").get_attribute("aria-pressed") == "true"


def test_headers_sort(opened, report):
    page = opened(report)
    page.click("#ranking-table [data-sort='feature']")
    names = sorted(content_of(page)["features"]["names"], key=str.lower)
    assert features_shown(page) == names[: len(features_shown(page))]
    page.click("#ranking-table [data-sort='feature']")
    assert features_shown(page)[0] == names[-1]


@pytest.mark.parametrize("where", ["#tree .branch[data-label='{}'] .pick", "#icicle rect[data-label='{}']"])
def test_choosing_a_label_restricts_the_table(opened, report, where):
    page = opened(report)
    content = content_of(page)
    label = content["labels"]["names"].index("energy")
    page.locator(where.format(label)).click()
    best = content["methods"][0]["branches"]["features"][label]
    shown = features_shown(page)
    assert shown == [content["features"]["names"][j] for j in best][: len(shown)]
    assert "energy" in page.locator("#restricted").inner_text()
    page.click("#restricted button")
    assert features_shown(page)[:10] == best_features(content, 0)[:10]


def saved(page, button):
    """Lines of the file that a click saves."""
    with page.expect_download() as download:
        page.locator(button).first.click()
    with open(download.value.path(), encoding="utf-8", newline="") as file:  # noqa: PTH123
        return download.value.suggested_filename, list(csv.reader(file))


def test_choosing_a_branch_brings_its_table_into_view(opened, report):
    page = opened(report, reduced_motion="reduce")
    assert page.locator("#ranking-table").bounding_box()["y"] > 500
    page.locator("#tree .pick").first.click()
    assert 0 <= page.locator("#ranking-table").bounding_box()["y"] < 500


def test_tables_are_saved_as_csv(opened, report):
    page = opened(report)
    content = content_of(page)
    name, lines = saved(page, "#save-ranking")
    assert name == "ranking.csv"
    assert lines[0][:5] == ["rank", "feature", "genie3 score", "p", "q"]
    assert [line[1] for line in lines[1:]] == best_features(content, 0)
    assert float(lines[1][2]) == max(content["methods"][0]["scores"])
    name, lines = saved(page, "#save-branches")
    tops = content["methods"][0]["branches"]
    assert len(lines) == 1 + sum(len(found) for found in tops["features"])
    assert lines[0] == ["feature", "branch", "score", "share", "p", "q"]
    position = {name: at for at, name in enumerate(content["features"]["names"])}
    for line in lines[1:]:
        claims = content["features"]["claims"][1 + content["labels"]["names"].index(line[1])]
        claim = claims.get(str(position[line[0]]))
        assert [float(cell) if cell else None for cell in line[4:]] == (claim or [None, None])
    assert lines[1][:2] == [content["features"]["names"][tops["features"][0][0]], content["labels"]["names"][0]]
    name, lines = saved(page, "#quality [data-role=csv]")
    assert (name, lines) == (
        "quality.csv",
        [content["quality"]["table"]["columns"], *content["quality"]["table"]["rows"]],
    )


@pytest.mark.parametrize("figure", ["map", "quality"])
def test_figures_are_saved_as_on_white_paper(opened, report, figure):
    page = opened(report, color_scheme="dark")
    for kind in ("SVG", "PNG"):
        with page.expect_download() as download:
            page.locator(f"#{figure} button:text('Save as {kind}')").first.click()
        assert download.value.suggested_filename == f"{figure}.{kind.lower()}"
        if kind == "SVG":
            root = ElementTree.parse(download.value.path()).getroot()
            shown = [element for element in root.iter() if element.get("fill") not in {None, "none"}]
            assert len(shown) > 5
            assert not [
                element for element in root.iter() if element.get("class") or "currentColor" in element.attrib.values()
            ]
        else:
            picture = image.imread(download.value.path())
            assert picture.shape[1] > 400
            assert picture[..., :3].mean() > 0.5
            assert picture[..., :3].std() > 0.01
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(16, 22, 27)"
    with page.expect_download() as download:
        page.click("#heatmap button:text('Save as PNG')")
    assert image.imread(download.value.path()).shape[0] > 100


def test_saved_names_are_no_formulas(opened, make_results, tmp_path):
    names = ["=1+1", "-2", "+x", "@y", 'a "quoted", name', "plain"]
    page = opened(write_report(make_results(6, 4, names=names), tmp_path / "report.html"))
    _, lines = saved(page, "#save-ranking")
    assert {line[1] for line in lines[1:]} == {"'=1+1", "-2", "'+x", "'@y", 'a "quoted", name', "plain"}


def test_tree_opens_and_closes_and_is_searched(opened, report):
    page = opened(report)
    page.click("#unfold")
    n_labels = len(content_of(page)["labels"]["names"])
    assert page.locator("#tree .branch[data-label]").count() == n_labels
    page.click("#fold")
    assert page.locator("#tree .branch[data-label]").count() < n_labels
    page.fill("#label-search", "vitamin")
    assert "vitamin" in page.locator("#tree").inner_text()


def test_choosing_a_feature_colours_the_map(opened, report):
    page = opened(report)
    chip = page.locator("#tree .chip").first
    name = chip.inner_text()
    chip.click()
    assert page.locator("#map-colour").input_value() == "feature"
    assert name in page.locator("#map-colour option[value='feature']").inner_text()
    assert len(set(page.locator("#icicle rect").evaluate_all("list => list.map(r => r.getAttribute('fill'))"))) > 1


@pytest.mark.parametrize("order", ["given", "clustered"])
def test_heat_map_shows_the_right_cell(opened, report, make_results, order):
    page = opened(report)
    page.select_option("#heat-order", order)
    heat = content_of(page)["heatmaps"][0]
    rows = heat["feature_order"] if order == "clustered" else range(len(heat["features"]))
    columns = heat["label_order"] if order == "clustered" else range(len(heat["labels"]))
    names = content_of(page)
    per_label = make_results().rankings["genie3"].per_label.toarray()
    found = {}
    page.locator("#heat").scroll_into_view_if_needed()
    box = page.locator("#heat").bounding_box()
    for y in range(int(box["height"]) - 6, 120, -197):
        for x in range(200, int(box["width"]) - 70, 173):
            page.locator("#heat").hover(position={"x": x, "y": y})
            text = page.locator("#heat-readout").inner_text()
            match = re.match(r"(.*) × (.*): (\S+) \(", text)
            assert match, text
            found[y, x] = match.groups()
    assert len(found) > 12
    for feature, label, value in found.values():
        j, k = names["features"]["names"].index(feature), names["labels"]["names"].index(label)
        assert float(value) == pytest.approx(per_label[j, k], abs=2e-3 * per_label[:, k].max(), rel=0.055)
    bottom = names["features"]["names"][heat["features"][list(rows)[-1]]]
    assert {f for (y, _), (f, _, _) in found.items() if y == int(box["height"]) - 6} == {bottom}
    seen = [names["labels"]["names"].index(found[key][1]) for key in sorted(found) if key[0] == max(found)[0]]
    in_order = [heat["labels"][c] for c in columns]
    assert [in_order.index(label) for label in seen] == sorted(in_order.index(label) for label in seen)


@pytest.mark.parametrize("kind", ["classes", "labels", "hierarchy", "numbers", "rankings"])
def test_every_kind_of_target_is_shown_with_its_names(opened, results_of_kind, tmp_path, kind):
    page = opened(write_report(results_of_kind(kind), tmp_path / "report.html"))
    content = content_of(page)
    names = content["labels"]["names"]
    assert set(results_of_kind(kind).dataset.label_names) <= set(names)
    page.locator("#tree .pick").first.click()
    assert page.locator("#restricted").is_visible()
    assert page.locator("#icicle rect").count() >= len(names)
    page.locator("#heat").scroll_into_view_if_needed()
    box = page.locator("#heat").bounding_box()
    page.locator("#heat").hover(position={"x": 200, "y": int(box["height"]) - 8})
    match = re.match(r"(.*) × (.*): \S+ \(", page.locator("#heat-readout").inner_text())
    assert match
    assert match.group(2) in names
    for method in range(len(content["methods"])):
        page.click(f"#ranking [data-method='{method}']")
    assert overflow(page) == 0


def test_pairs_of_a_ranking_are_whole_names_below_their_items(opened, results_of_kind, tmp_path):
    page = opened(write_report(results_of_kind("rankings"), tmp_path / "report.html"))
    page.click("#unfold")
    assert page.locator("#tree .pick").all_inner_texts()[:3] == ["tea", "tea>milk", "tea>beer"]
    assert "predict whether a is preferred to b" in page.locator("#drivers").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_nothing_overflows(opened, report, scheme, size):
    page = opened(report, viewport=size, color_scheme=scheme)
    assert overflow(page) == 0
    page.click("#ranking [data-method='1']")
    assert overflow(page) == 0
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(int(c) for c in re.findall(r"\d+", paper)[:3]) / 3
    assert brightness < 60 if scheme == "dark" else brightness > 200


@pytest.fixture(scope="module")
def measured_report(make_results, tmp_path_factory):
    results = make_results()
    measures = pd.DataFrame(
        {"model": [0.86, 0.00701], "prior": [0.42, 0.00732], "better": ["higher", "lower"], "left_out": 0},
        index=["AUPRC, pooled, without universal labels", "Hamming loss"],
    )
    table = pd.DataFrame(
        {"random forest": [0.9, 0.8, 0.7], "extra trees": [0.8, 0.7, 0.6], "single tree": [0.7, 0.6, 0.5]},
        index=["first set", "second set", "third set"],
    )
    fifth = {"genie3_oob": results.rankings["genie3"], **results.rankings}
    results = replace(
        results, measures=measures, measured_on="On rows", comparisons={"auprc": compare(table)}, rankings=fifth
    )
    return write_report(results, tmp_path_factory.mktemp("measured") / "report.html")


def test_tables_fit_a_phone_and_five_methods_a_desktop(opened, measured_report):
    hidden = "Math.max(...[...document.querySelectorAll('{} .scroll')].map((e) => e.scrollWidth - e.clientWidth))"
    phone = opened(measured_report, viewport=PHONE)
    assert phone.evaluate(hidden.format("#measures")) <= 0
    assert phone.evaluate(hidden.format("#comparisons")) <= 0
    assert opened(measured_report).evaluate(hidden.format("#ranking")) <= 0


def test_small_losses_are_told_apart(opened, measured_report):
    row = opened(measured_report).locator("#measures tr", has_text="Hamming loss").inner_text().split()
    assert row == ["Hamming", "loss", "0.0070", "0.0073", "lower"]


def test_the_mark_in_the_bars_of_quality_is_explained(opened, report):
    shown = opened(report).locator(".legend .quality")
    assert shown.is_visible()
    assert "mark: baseline, from the label's frequency alone" in shown.inner_text()
    assert not opened(report, viewport=PHONE).locator(".legend .quality").is_visible()


def test_prints_light_and_within_the_page(opened, report):
    page = opened(report, viewport={"width": 794, "height": 1123}, color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
    assert overflow(page) == 0


def test_theme_button_switches(opened, report):
    page = opened(report)
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    page.click("#theme")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light


def test_hostile_names_change_nothing(opened, make_results, tmp_path):
    path = write_report(make_results(70, 40, names=PAYLOADS), tmp_path / "hostile.html")
    page = opened(path, viewport=PHONE)
    page.fill("#feature-search", "<script>")
    assert all("<script>" in name for name in features_shown(page))
    page.locator("#tree .pick").first.click()
    page.locator("#tree .chip").first.click()
    page.locator("#heat").hover(position={"x": 150, "y": 60})
    assert page.evaluate("window.hacked") is None
    assert page.locator("iframe, object, embed, form, base, img, link, section script").count() == 0
    assert page.locator("script").count() == 2
    assert overflow(page) == 0


def test_a_large_report_is_quick(opened, make_results, tmp_path):
    page = opened(write_report(make_results(5000, 500), tmp_path / "large.html"))
    page.fill("#feature-search", "gene49")
    assert all("gene49" in name for name in features_shown(page))
    page.click("#ranking [data-method='1']")
    page.locator("#icicle rect").nth(40).click()
    assert page.locator("#restricted").is_visible()
    # Elements drawn, not seconds, are what keeps it quick on any machine.
    assert page.evaluate("document.querySelectorAll('*').length") < 6000


def test_the_map_of_the_features_finds_them_in_the_ranking(opened, tmp_path):
    data = make_feature_hierarchy(80, random_state=0)
    found = select_features(data, data.feature_hierarchy, method="rpv", cv=2)
    page = opened(write_report(found.results, tmp_path / "select.html"))
    terms = content_of(page)["feature_map"]
    assert page.locator("#feature-icicle rect").count() == len(terms["names"])
    last = len(terms["names"]) - 1
    block = page.locator(f"#feature-icicle rect[data-label='{last}']")
    block.hover(force=True)
    assert page.locator("#feature-map-readout").text_content().startswith(terms["names"][last] + ": ")
    block.click(force=True)
    assert page.locator("#ranking tr.lit").get_attribute("data-feature") == str(terms["features"][last])
    assert page.locator("#feature-icicle rect.chosen").count() == 1


def test_text_stands_left_and_numbers_right(opened, report):
    page = opened(report)
    heads = page.locator("#claims th")
    sides = {heads.nth(i).text_content(): heads.nth(i).get_attribute("class") for i in range(heads.count())}
    assert sides["Branch"] is None
    assert sides["Effect"] == sides["q"] == "number"


def test_ten_claims_are_shown_and_all_on_request(opened, report):
    page = opened(report)
    rows = page.locator("#claims tbody tr")
    shown = [i for i in range(rows.count()) if rows.nth(i).is_visible()]
    assert rows.count() > 10
    assert len(shown) == 10
    named = [rows.nth(i).locator("td").first for i in shown]
    groups = [cell.text_content() for cell in named if "again" not in (cell.get_attribute("class") or "")]
    assert len(groups) == len(set(groups))  # each branch heads its claims once
    page.click("#claims [data-role=all]")
    assert all(rows.nth(i).is_visible() for i in range(rows.count()))


def test_long_names_are_cut_where_they_do_not_differ(opened, make_results, tmp_path):
    results = make_results()
    names = tuple(
        f"a feature of a very long name {j} that differs in its middle alone and nowhere else"
        for j in range(results.dataset.n_features)
    )
    rankings = {key: replace(ranking, names=names) for key, ranking in results.rankings.items()}
    data = replace(results.dataset, feature_names=names)
    long = replace(results, dataset=data, rankings=rankings, discoveries=None, explained=())
    page = opened(write_report(long, tmp_path / "long.html"))
    chips = page.locator("#tree .chip")
    shown = {chips.nth(i).get_attribute("data-feature"): chips.nth(i).text_content() for i in range(chips.count())}
    assert len(set(shown.values())) == len(shown) > 5
    assert all(len(text) < 40 and "…" in text for text in shown.values())
