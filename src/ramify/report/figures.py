"""The report's charts: matplotlib figures as SVG that stands inside a page."""

from __future__ import annotations

import io
import re
from xml.etree import ElementTree

import matplotlib as mpl
from matplotlib.figure import Figure

from ramify.analysis import Results
from ramify.report.section import Content, Section

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
_STYLE = {"svg.fonttype": "none", "svg.hashsalt": "ramify", "text.parse_math": False}
_INK = {"#000000", "#262626", "black"}


def section_charts(section: Section, content: Content, results: Results) -> list[dict[str, str]]:
    """SVG and caption of every chart of a section."""
    with mpl.rc_context(_STYLE):
        return [
            {"svg": inline_svg(chart.figure, chart.name, chart.caption), "caption": chart.caption}
            for chart in section.charts(content, results)
        ]


def inline_svg(figure: Figure, prefix: str, description: str) -> str:
    """The figure as an SVG element without style attributes, which the page's content-security policy forbids.

    Black becomes the page's ink, so that the chart is readable on a dark page; ids get a prefix, so that two charts on
    one page do not share clip paths. The description is the text alternative for those who do not see it.
    """
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    root = ElementTree.fromstring(buffer.getvalue())
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.rpartition("}")[2] in {"metadata", "style", "script"}:
                parent.remove(child)
    for element in root.iter():
        for name, value in _declarations(element.attrib.pop("style", "")):
            element.set(name, value)
        for key, value in list(element.attrib.items()):
            if key in {"fill", "stroke"} and value.lower() in _INK:
                element.set(key, "currentColor")
            elif key == "id":
                element.set(key, f"{prefix}-{value}")
            elif "#" in value and (key.endswith("href") or value.startswith("url(")):
                element.set(key, re.sub(r"#([\w.-]+)", rf"#{prefix}-\1", value))
        if element.tag == f"{{{_SVG}}}text" and "fill" not in element.attrib:
            element.set("fill", "currentColor")
    root.set("role", "img")
    root.set("aria-label", description)
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _XLINK)
    return ElementTree.tostring(root, encoding="unicode")


def _declarations(style: str) -> list[tuple[str, str]]:
    """The declarations of a style attribute; the font shorthand as its size and family."""
    pairs = []
    for declaration in style.split(";"):
        name, _, value = declaration.partition(":")
        name, value = name.strip(), value.strip()
        if name == "font":
            size = re.search(r"[\d.]+px", value)
            pairs.append(("font-size", size.group() if size else "10px"))
            pairs.append(("font-family", "system-ui, DejaVu Sans, sans-serif"))
        elif name == "font-family":
            pairs.append((name, "system-ui, DejaVu Sans, sans-serif"))
        elif name:
            pairs.append((name, value))
    return pairs
