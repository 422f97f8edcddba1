"""A section of the report: what it says, in which words and pictures, and when it is left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ramify.analysis import Results
from ramify.report.markdown import bullets, heading, markdown_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Content = dict[str, Any]


@dataclass(frozen=True)
class Chart:
    """A figure under its name, which is unique on the page, with a caption."""

    name: str
    figure: Figure
    caption: str


def _no_charts(content: Content, results: Results) -> list[Chart]:  # noqa: ARG001
    return []


def _no_sentences(part: Any) -> list[str]:  # noqa: ARG001
    return []


@dataclass(frozen=True)
class Section:
    """One section, with the template of its name beside it in `template/`.

    Parameters
    ----------
    id : str
        Of the element on the page; `template/<id>.html` is what stands below the heading.
    place : int
        Sections stand by it in page, JSON and Markdown.
    link, title : str
        In the navigation and as the heading.
    key : str
        Where its part stands in the content (and in JSON); none for a view of what other parts hold.
    part : callable, optional
        From results to plain values; nothing where the results lack what it shows.
    shown : callable, optional
        From the whole content to whether the page shows it; by default where its part holds something.
    charts : callable
        From content and results to the figures that the template is given.
    markdown : callable, optional
        From content to blocks of Markdown; by default sentences and table of its part.
    summary : callable
        From its part to what a reader should know after ten seconds.
    """

    id: str
    place: int
    link: str
    title: str
    key: str = ""
    part: Callable[[Results], Any] | None = None
    shown: Callable[[Content], bool] | None = None
    charts: Callable[[Content, Results], list[Chart]] = _no_charts
    markdown: Callable[[Content], list[str]] | None = None
    summary: Callable[[Any], list[str]] = _no_sentences

    def is_shown(self, content: Content) -> bool:
        """Whether the page shows it."""
        return bool(content[self.key]) if self.shown is None else self.shown(content)

    def as_markdown(self, content: Content) -> list[str]:
        """Blocks of Markdown; none where there is nothing to say."""
        if self.markdown is not None:
            return self.markdown(content)
        part = content[self.key] if self.key else None
        if not isinstance(part, dict):
            return []
        blocks = [heading(self.title)]
        if part.get("sentences"):
            blocks.append(bullets(part["sentences"]))
        if part.get("table"):
            blocks.append(markdown_table(part["table"]["columns"], part["table"]["rows"]))
        return blocks
