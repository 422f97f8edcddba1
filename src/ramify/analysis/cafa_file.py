"""Predictions in the format of the CAFA challenges: a line per row and term, with its score."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ramify.writing import whole_text

_BARE_GO = re.compile(r"GO(\d{7})")
_SMALLEST = 0.01  # CAFA takes none of 0
_MOST = 1500  # terms of a row


def write_cafa(path: Path, rows: Sequence[str], labels: Sequence[str], probabilities: np.ndarray) -> None:
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
    probabilities : array of shape (n_rows, n_labels)
        Those of 0.01 and more are written, at most 1,500 of a row, the largest first.

    Examples
    --------
    >>> import tempfile
    >>> from ramify.analysis.cafa_file import write_cafa
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_cafa(Path(folder) / "p.tsv", ["P1"], ["GO0003674", "GO0005488"], np.array([[0.9, 0.001]]))
    ...     (Path(folder) / "p.tsv").read_text().split()
    ['P1', 'GO:0003674', '0.900']
    """
    terms = [_BARE_GO.sub(r"GO:\1", label.rsplit("/", 1)[-1]) for label in labels]
    for kind, names in (("row", rows), ("label", terms)):
        wrong = next((name for name in names if not name or any(map(str.isspace, name))), None)
        if wrong is not None:
            raise ValueError(
                f"CAFA's format takes names without spaces. The {kind} {wrong!r} is empty or has one; rename it."
            )
    with whole_text(path) as file:
        for name, scores in zip(rows, probabilities, strict=True):
            order = np.argsort(-scores, kind="stable")[:_MOST]
            for j in order[scores[order] >= _SMALLEST].tolist():
                file.write(f"{name}\t{terms[j]}\t{min(scores[j], 1.0):.3f}\n")
