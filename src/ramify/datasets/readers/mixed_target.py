"""Targets of different kinds in one file, side by side in a frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ramify.datasets.readers.arff_target import TargetColumns
from ramify.targets import target_type


def side_by_side(found: Mapping[str, TargetColumns]) -> TargetColumns:
    """The targets of a file as one frame, with what its columns are as `MixedForest` takes it.

    Parameters
    ----------
    found : mapping of str to TargetColumns
        By the name that the caller gave: what was read. Of several numbers each is a target; classes are codes, of
        which a negative one is unknown.
    """
    import pandas as pd

    columns: dict[str, Any] = {}
    targets: dict[str, Any] = {}
    shown = []
    for name, part in found.items():
        kind = target_type(part.kind)
        if kind.ranks_labels:
            raise ValueError(f"The target {name!r} holds rankings, which stand beside no other target. Name it alone.")
        if kind.has_one_label:
            made = {name: np.array([*part.label_names, None], dtype=object)[part.y]}
            targets[name] = part.kind
        elif kind.has_sets:
            cells = part.y.toarray() if sparse.issparse(part.y) else np.asarray(part.y)
            made = dict(zip(part.label_names, cells.T, strict=True))
            targets[name] = list(part.label_names) if part.hierarchy is None else part.hierarchy
        else:
            made = dict(zip(part.label_names, np.asarray(part.y).reshape(len(part.y), -1).T, strict=True))
            targets |= dict.fromkeys(part.label_names, part.kind)
        twice = next((column for column in made if column in columns), None)
        if twice is not None:
            raise ValueError(f"Two targets have a column or label {twice!r}. Give one of them another name.")
        columns |= made
        nouns = kind.nouns[len(part.label_names) != 1]
        shown.append(f"{name} (a number)" if not kind.has_labels else f"{name} ({len(part.label_names)} {nouns})")
    frame = pd.DataFrame(columns)
    n_unknown = int(frame.isna().to_numpy().sum())
    told = f"Targets of different kinds stand side by side: {', '.join(shown)}"
    told += f"; {n_unknown} of their cells are unknown." if n_unknown else "."
    further = tuple(note for part in found.values() for note in part.notes if "unknown" not in note)
    notes = ((told,) if len(found) > 1 else ()) + further
    return TargetColumns("mixed", frame, tuple(targets), notes=notes, targets=targets)
