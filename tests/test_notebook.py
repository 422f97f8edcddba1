import inspect
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from ramify import Hierarchy, plots
from ramify.analysis import analyse
from ramify.compare import compare
from ramify.datasets import Dataset, make_hierarchical
from ramify.ranking import Claim, Discoveries, FeatureRanking

CELLS = (
    "import sys\nfrom ramify.analysis import analyse\nfrom ramify.datasets import make_hierarchical\n"
    "from ramify.plots import hierarchy_icicle, ranking_bars\n"
    "data = make_hierarchical(150, n_features=8, depth=2, random_state=0)\ndata",
    "results = analyse(data, n_estimators=10)\nresults",
    "ranking = results.rankings['genie3_oob']\nranking_bars(ranking)",
    "hierarchy_icicle(data.hierarchy, data.hierarchy.weights, name='weight')",
    "assert 'matplotlib.pyplot' not in sys.modules",
)
BAD = "<img src=x onerror=alert(1)>"


class Balance(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen = [], set()

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def shown():
    tree = Hierarchy.from_edges([(BAD, "a"), (BAD, "b"), ("a", "c"), ("b", "c")])
    y = tree.encode([["c"], ["a"]])
    yield tree
    yield FeatureRanking([BAD, "f"], [0.5, -0.1])
    yield compare(pd.DataFrame({BAD: [0.5, 0.6] * 4, "b": [0.1, 0.2] * 4}))
    yield Discoveries((Claim(BAD, "a", 0.2, 0.1, 0.3, 0.001, 0.01, 20, None),), branches=("", "a"))
    yield Dataset(np.eye(2), y=y, target="hierarchy", hierarchy=tree, label_names=tree.names, source=BAD)


@pytest.mark.parametrize("thing", list(shown()), ids=lambda thing: type(thing).__name__)
def test_notebooks_show_escaped_and_balanced_html(thing):
    parser = Balance()
    parser.feed(thing._repr_html_())
    parser.close()
    assert parser.open == []
    assert "img" not in parser.seen
    assert "onerror" in thing._repr_html_()


def test_a_large_hierarchy_is_cut():
    wide = Hierarchy.from_paths([f"{i}/{j}" for i in range(100) for j in range(100)])
    html = wide._repr_html_()
    assert len(html) < 50_000
    assert all(f">{i} (100" in html for i in range(100))  # all roots, and the first of them can be opened
    assert html.count("not shown") == 99


def test_all_roots_are_shown_with_their_first_levels():
    three = Hierarchy.from_paths([f"{root}/{i}/{j}" for root in "abc" for i in range(10) for j in range(30)])
    html = three._repr_html_()
    assert [html.count(f"<summary>{root} (10)") for root in "abc"] == [1, 1, 1]
    assert "a/9" in html
    assert "c/9" in html


def test_a_node_with_several_parents_does_not_multiply():
    ladder = Hierarchy.from_edges([(f"{i}{a}", f"{i + 1}{b}") for i in range(30) for a in "xy" for b in "xy"])
    assert len(ladder._repr_html_()) < 100_000


def test_bars_follow_the_scores():
    html = FeatureRanking(["a", "b"], [2.0, 1.0])._repr_html_()
    assert html.index("width:6.00em") < html.index("width:3.00em")


def test_a_notebook_shows_results_and_figures_without_pyplot():
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    nbclient.NotebookClient(notebook, kernel_name="python3", timeout=300).execute()
    kinds = [[set(output.get("data", {})) for output in cell.outputs] for cell in notebook.cells]
    assert [len(outputs) for outputs in kinds] == [1, 1, 1, 1, 0]
    assert all("text/html" in outputs[0] for outputs in kinds[:2])
    assert all("image/png" in outputs[0] for outputs in kinds[2:4])


def test_every_plot_shows_itself():
    made = [function for function in vars(plots).values() if inspect.isfunction(function)]
    assert len(made) == len(plots.__all__)
    figure = plots.ranking_bars(FeatureRanking(["a", "b"], [2.0, 1.0]))
    picture, about = figure._repr_png_()
    assert picture.startswith(b"\x89PNG")
    assert about["alt"].startswith("Figure: ")
    assert len(about["alt"]) > 12
    sources = "".join(inspect.getsource(inspect.getmodule(function)) for function in made)
    assert " Figure(" not in sources


def test_results_show_what_a_report_opens_with():
    data = make_hierarchical(150, n_features=8, depth=2, random_state=0)
    html = analyse(data, n_estimators=10, quality=True)._repr_html_()
    parts = ["What predicts what", "at FDR 10 %", "Top features by", "of nearest neighbours"]
    places = [html.index(part) for part in parts]
    assert places == sorted(places)
