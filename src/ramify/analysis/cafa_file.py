"""Predictions in the format of the CAFA challenges: a line per row and term, with its score."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from ramify.writing import whole_text

_BARE_GO = re.compile(r"GO(\d{7})")


def write_cafa(
    path: Path,
    rows: Sequence[str],
    labels: Sequence[str],
    blocks: Iterable[np.ndarray],
    *,
    smallest: float = 0.01,
    most: int = 1500,
) -> None:
    """Write probabilities as CAFA and `cafaeval` read them: row, term and score, with tabs between.

    Parameters
    ----------
    path : Path
        The file; it appears complete or not at all.
    rows : sequence of str
        Names of the rows (proteins).
    labels : sequence of str
        Names of the labels. Of a path such as ``a/b`` the last part is the term, and ``GO0003674`` is written
        ``GO:0003674``.
    blocks : iterable of arrays of shape (n_block, n_labels)
        Probabilities of the rows, in their order, block by block.
    smallest : float, default=0.01
        Smaller scores are not written; CAFA takes none of 0.
    most : int, default=1500
        Terms of a row that are written, those of the largest scores.

    Examples
    --------
    >>> import tempfile
    >>> from ramify.analysis.cafa_file import write_cafa
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_cafa(Path(folder) / "p.tsv", ["P1"], ["GO0003674", "GO0005488"], [np.array([[0.9, 0.001]])])
    ...     (Path(folder) / "p.tsv").read_text().split()
    ['P1', 'GO:0003674', '0.900']
    """
    terms = [term_of(label) for label in labels]
    for kind, names in (("row", rows), ("label", terms)):
        wrong = next((name for name in names if not name or any(map(str.isspace, name))), None)
        if wrong is not None:
            raise ValueError(
                f"CAFA's format takes names without spaces. The {kind} {wrong!r} is empty or has one; rename it."
            )
    with whole_text(path) as file:
        file.writelines(_lines(rows, terms, blocks, smallest, most))


def term_of(label: str) -> str:
    """The term that a label names.

    Examples
    --------
    >>> from ramify.analysis.cafa_file import term_of
    >>> term_of("GO0003674"), term_of("root/GO0003674"), term_of("HP:0000118")
    ('GO:0003674', 'GO:0003674', 'HP:0000118')
    """
    last = label.rsplit("/", 1)[-1]
    return _BARE_GO.sub(r"GO:\1", last) if _BARE_GO.fullmatch(last) else last


def _lines(
    rows: Sequence[str], terms: Sequence[str], blocks: Iterable[np.ndarray], smallest: float, most: int
) -> Iterator[str]:
    names = iter(rows)
    for block in blocks:
        for scores, name in zip(block, names, strict=False):
            order = np.argsort(-scores, kind="stable")[:most]
            for j in order[scores[order] >= smallest].tolist():
                yield f"{name}\t{terms[j]}\t{min(scores[j], 1.0):.3f}\n"
