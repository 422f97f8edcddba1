from html.parser import HTMLParser

import numpy as np
import pytest

from ramify import Hierarchy
from ramify.datasets import Dataset
from ramify.ranking import FeatureRanking

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
    assert "The first 200 are shown" in html


def test_bars_follow_the_scores():
    html = FeatureRanking(["a", "b"], [2.0, 1.0])._repr_html_()
    assert html.index("width:6.00em") < html.index("width:3.00em")
