"""The report's charts: matplotlib figures as SVG that stands inside a page."""

from __future__ import annotations

import io
import re
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from ramify import plots
from ramify.analysis import Results

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
_STYLE = {"svg.fonttype": "none", "svg.hashsalt": "ramify", "text.parse_math": False}
MOST_FEATURES = 1500
"""More blocks than this could not be told apart."""

_INK = {"#000000", "#262626", "black"}


def report_figures(content: dict[str, Any], results: Results) -> dict[str, list[dict[str, str]]]:
    """SVG and caption of every chart, by the section that shows it."""
    figures: dict[str, list[dict[str, str]]] = {"quality": [], "agreement": [], "comparisons": [], "features": []}
    with mpl.rc_context(_STYLE):
        quality = content["quality"]
        if quality and quality["curves"]:
            figure = plots.addition_curves(
                {name: (c["sizes"], c["values"]) for name, c in quality["curves"].items()},
                random=_band(quality["random"]),
                measure=quality["measure"],
            )
            caption = "Quality of a forest that may only use the best features. The grey band is random order."
            figures["quality"].append({"svg": inline_svg(figure, "curves"), "caption": caption})
        if content["features"]["p_values"]:
            figure = plots.p_values(np.array([np.nan if p is None else p for p in content["features"]["p_values"]]))
            caption = "Significance of the features. Without any true signal the points would follow the dashed line."
            figures["quality"].append({"svg": inline_svg(figure, "significance"), "caption": caption})
        agreement = content["agreement"]
        if agreement:
            figure = plots.agreement(agreement["methods"], np.array(agreement["correlation"], dtype=float))
            caption = "Rank correlation of every pair of methods."
            figures["agreement"].append({"svg": inline_svg(figure, "agreement"), "caption": caption})
            if len(agreement["methods"]) > 2:
                distances = np.array(agreement["distances"], dtype=float)
                figure = plots.method_map(agreement["methods"], agreement["places"], distances=distances)
                caption = "The methods as a map: the nearer, the more alike they order the features."
                figures["agreement"].append({"svg": inline_svg(figure, "methods"), "caption": caption})
            figure = plots.shared_features(agreement["sizes"], agreement["shared"], by_chance=agreement["by_chance"])
            caption = "Share of their k best features that two methods have in common, on average."
            figures["agreement"].append({"svg": inline_svg(figure, "shared"), "caption": caption})
        figures["features"] = _feature_map(results)
        for number, comparison in enumerate(results.comparisons.values()):
            figure = plots.critical_difference(comparison)
            caption = "Mean rank of each method (best on the right); a bar joins methods that do not differ."
            figures["comparisons"].append({"svg": inline_svg(figure, f"critical{number}"), "caption": caption})
    return figures


def _feature_map(results: Results) -> list[dict[str, str]]:
    """The features' own hierarchy coloured by the first ranking, where it is small enough to be seen."""
    data = results.dataset
    order = None if data is None else data.feature_hierarchy
    if data is None or order is None or not results.rankings or not 1 < len(order) <= MOST_FEATURES:
        return []
    name, ranking = next(iter(results.rankings.items()))
    score_of = dict(zip(data.feature_names, ranking.scores.tolist(), strict=True))
    scores = np.array([score_of.get(feature, np.nan) for feature in order.names])
    caption = "The hierarchy of the features, each below its (first) parent, coloured by its score."
    return [{"svg": inline_svg(plots.hierarchy_icicle(order, scores, name=name), "features"), "caption": caption}]


def _band(curve: dict[str, Any] | None) -> Any:
    return None if curve is None else (curve["sizes"], curve["values"], curve["low"], curve["high"])


def inline_svg(figure: Figure, prefix: str) -> str:
    """The figure as an SVG element without style attributes, which the page's content-security policy forbids.

    Black becomes the page's ink, so that the chart is readable on a dark page; ids get a prefix, so that two charts on
    one page do not share clip paths.
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
