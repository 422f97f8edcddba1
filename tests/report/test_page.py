import re
from html.parser import HTMLParser
from pathlib import Path
from runpy import run_path

import pytest

from ramify.report import write_report

PAYLOADS = run_path(str(Path(__file__).with_name("hostile.py")))["PAYLOADS"]


class Structure(HTMLParser):
    """Sequence of tags with their attribute names: what an injected name would change."""

    def __init__(self):
        super().__init__()
        self.tags = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, tuple(name for name, _ in attrs)))

    def handle_endtag(self, tag):
        self.tags.append(("/" + tag,))


def structure(text: str) -> list:
    parser = Structure()
    parser.feed(re.sub(r"<svg.*?</svg>", "<svg></svg>", text, flags=re.S))
    return parser.tags


def test_there_are_sixty_payloads():
    assert len(set(PAYLOADS)) >= 60


def test_hostile_names_do_not_change_the_structure(make_results, tmp_path):
    harmless = [f"name {i}" for i in range(len(PAYLOADS))]
    pages = [
        write_report(make_results(70, 24, names=names), tmp_path / f"{i}.html").read_text(encoding="utf-8")
        for i, names in enumerate((harmless, PAYLOADS))
    ]
    assert structure(pages[1]) == structure(pages[0])


def test_charts_with_hostile_method_names_are_well_formed(make_results, tmp_path):
    from dataclasses import replace
    from xml.etree import ElementTree

    results = make_results()
    rankings = dict(zip(PAYLOADS[:4], results.rankings.values(), strict=True))
    curves = dict(zip(PAYLOADS[-8:-4], results.curves.values(), strict=True))
    page = write_report(replace(results, rankings=rankings, curves=curves), tmp_path / "r.html").read_text("utf-8")
    for svg in re.findall(r"<figure>(<svg.*?</svg>)", page, flags=re.S):
        tree = ElementTree.fromstring(svg)
        assert not [e for e in tree.iter() if e.tag.rpartition("}")[2] in {"script", "style", "foreignObject", "image"}]
        assert not [e for e in tree.iter() if "style" in e.attrib or any(k.startswith("on") for k in e.attrib)]


def test_charts_have_a_text_alternative(make_results, tmp_path):
    page = write_report(make_results(), tmp_path / "r.html").read_text(encoding="utf-8")
    charts = re.findall(r"<figure>(<svg[^>]*>)", page)
    assert charts
    assert all('role="img"' in chart and re.search(r'aria-label="[^"]{10,}"', chart) for chart in charts)


def test_policy_allows_only_the_pages_own_style_and_script(make_results, tmp_path):
    import base64
    import hashlib

    page = write_report(make_results(), tmp_path / "r.html").read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for tag in ("script", "style"):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, flags=re.S)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_page_refers_to_nothing_outside(make_results, tmp_path):
    page = write_report(make_results(), tmp_path / "r.html").read_text(encoding="utf-8")
    assert not re.findall(r'(?:src|href|action)="(?!#)[^"]*"', page)
    assert "url(" not in re.sub(r"url\(#[\w-]+\)", "", page)


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_hostile_names_are_neutral_in_markdown(payload):
    from ramify.report.markdown import escaped

    text = escaped(payload)
    assert "<" not in text
    assert "\n" not in text
    assert "\x1b" not in text
    assert not re.search(r"(?<!\\)[|`\[]", text)
