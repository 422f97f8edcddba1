"""Content of a report as one self-contained HTML page."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from ramify.analysis import Results
from ramify.report.figures import section_charts
from ramify.report.notation import numeric_columns
from ramify.report.section import Content
from ramify.report.sections import SECTIONS

_TEMPLATE = files("ramify.report") / "template"


def html_page(content: Content, results: Results) -> str:
    """The page: names are escaped by the template, style and script are allowed by their hashes alone.

    Parameters
    ----------
    content : dict
        From `report_content`.
    results : Results
        What it was made from, for the charts.
    """
    style = (_TEMPLATE / "report.css").read_text(encoding="utf-8")
    script = "".join((_TEMPLATE / name).read_text(encoding="utf-8") for name in ("figures.js", "report.js"))
    environment = Environment(
        loader=FunctionLoader(lambda name: (_TEMPLATE / name).read_text(encoding="utf-8")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["numeric_columns"] = numeric_columns
    sections = []
    for section in SECTIONS:
        if section.is_shown(content):
            charts = [{**chart, "svg": Markup(chart["svg"])} for chart in section_charts(section, content, results)]
            part = content[section.key] if section.key else None
            body = environment.get_template(f"{section.id}.html").render(content=content, part=part, charts=charts)
            sections.append({"id": section.id, "link": section.link, "title": section.title, "body": Markup(body)})
    return environment.get_template("report.html").render(
        content=content,
        sections=sections,
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
