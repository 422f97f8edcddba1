"""Write a report: HTML, JSON or Markdown by the file's name."""

from __future__ import annotations

import json
import os
from pathlib import Path

from ramify.analysis import Results
from ramify.report.content import report_content
from ramify.report.markdown import bullets, escaped
from ramify.report.page import html_page
from ramify.report.section import Content
from ramify.report.sections import SECTIONS
from ramify.writing import whole_file


def write_report(results: Results, path: str | os.PathLike[str]) -> Path:
    """Write everything known about a data set and its rankings to one file.

    Parameters
    ----------
    results : Results
        What was computed.
    path : path
        Where to write: `.html` for a page that needs no network, `.json` or `.md` for the same content.

    Returns
    -------
    Path
        The file written. It replaces an older one only when complete.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from ramify.datasets import Dataset
    >>> from ramify.analysis import Results
    >>> from ramify.report import write_report
    >>> data = Dataset(np.eye(3), y=np.array([0, 1, 1]), target="classes", label_names=("no", "yes"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(Results(data), f"{folder}/report.html").name
    'report.html'
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in {".html", ".htm", ".json", ".md"}:
        raise ValueError(f"A report is written as .html, .json or .md. Got the name {target.name!r}.")
    if not isinstance(results, Results):
        raise TypeError(
            f"write_report writes Results. Got {type(results).__name__} instead; "
            "write Results(dataset, {'name': ranking}), for instance."
        )
    content = report_content(results)
    if suffix == ".json":
        text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    elif suffix == ".md":
        text = _markdown(content)
    else:
        text = html_page(content, results)
    target.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(target) as file:
        file.write(text.encode("utf-8", errors="replace"))
    return target


def _markdown(content: Content) -> str:
    blocks = [f"# {escaped(content['title'])}", escaped(" ".join(content["verdict"])), bullets(content["summary"])]
    for section in SECTIONS:
        blocks += section.as_markdown(content)
    return "\n\n".join(blocks) + "\n"
