"""What the studies share: a part of the grid of cells, findings under their titles, tables in Markdown."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from ramify.study import Study
from ramify.study.cells import Cell


class SomeCells(Study):
    """A study of the cells that `wanted` is true for: not every method belongs to every data set."""

    def __init__(self, wanted: Callable[[Cell], bool], *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.wanted = wanted

    def cells(self) -> list[Cell]:
        """The cells that are wanted."""
        return [cell for cell in super().cells() if self.wanted(cell)]


def findings_under(
    study: Study, title: str, made: Mapping[str, str], titles: Mapping[str, str], notes: Sequence[str] = ()
) -> str:
    """What was found: tables under their titles, after notes and what data are missing."""
    told = [*notes, *([f"Not found, and left out: {', '.join(study.missing)}."] if study.missing else [])]
    parts = [f"# {title}", *told]
    for name, table in made.items():
        parts += [f"## {titles.get(name, name)}", table]
    return "\n\n".join(parts) + "\n"


def markdown(frame: pd.DataFrame) -> str:
    """A frame as a Markdown table."""
    header = [str(frame.index.name or ""), *map(str, frame.columns)]
    rows = [[str(index), *map(str, row)] for index, row in zip(frame.index, frame.to_numpy(), strict=True)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, ["---"] * len(header), *rows])
