"""Content of a report as one self-contained HTML page."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

_TEMPLATE = files("ramify.report") / "template"

_TEXTS = {
    "drivers": "The labels, and beside each branch (a label and all below it) the features that matter most for it.",
    "map": "Every label is a block below its parent, as wide as the number of labels under it. Choose a block to "
    "restrict the ranking to that branch.",
    "heatmap": "Each row is one of the best features, each column a label; the stronger the colour, the closer the "
    "feature is to being the label's most important one.",
    "predictions": "A few examples: what was predicted for them and which features moved the prediction away from the "
    "average, summed along the paths of all trees.",
}

_SECTIONS = (
    ("drivers", "Who drives what", "methods"),
    ("summary", "In short", "summary"),
    ("ranking", "Ranking", "methods"),
    ("feature-map", "Features", "methods"),
    ("map", "Map", "methods"),
    ("heatmap", "Heat map", "heatmaps"),
    ("measures", "Measures", "measures"),
    ("quality", "Trust", "quality"),
    ("agreement", "Agreement", "agreement"),
    ("comparisons", "Comparison", "comparisons"),
    ("predictions", "Predictions", "predictions"),
    ("data-card", "Data", "data"),
    ("made", "How it was made", "made"),
)


def html_page(content: dict[str, Any], figures: dict[str, list[dict[str, str]]]) -> str:
    """The page: names are escaped by the template, style and script are allowed by their hashes alone.

    Parameters
    ----------
    content : dict
        From `report_content`.
    figures : dict
        From `report_figures`.
    """
    style, script = ((_TEMPLATE / f"report.{suffix}").read_text(encoding="utf-8") for suffix in ("css", "js"))
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string((_TEMPLATE / "report.html").read_text(encoding="utf-8"))
    has_drivers = any(method["branches"] for method in content["methods"]) or bool(
        content["methods"] and content["labels"]["quality"]
    )
    absent = set() if has_drivers else {"drivers", "map"}
    if len(content["labels"]["names"]) < 2:
        absent.add("map")
    if not figures["features"]:
        absent.add("feature-map")
    return template.render(
        content=content,
        texts=_TEXTS,
        has_drivers=has_drivers,
        sections=[(section, name) for section, name, key in _SECTIONS if content[key] and section not in absent],
        figures={
            section: [{"svg": Markup(figure["svg"]), "caption": figure["caption"]} for figure in group]
            for section, group in figures.items()
        },
        style=Markup(style),
        script=Markup(script),
        style_hash=_hash(style),
        script_hash=_hash(script),
        content_json=Markup(json_for_script(content)),
    )


def json_for_script(content: dict[str, Any]) -> str:
    """JSON that cannot end the script element it stands in, nor start a comment or another element."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode("utf-8", "replace").decode("utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
