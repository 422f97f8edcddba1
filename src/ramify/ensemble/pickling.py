"""Trees pickle as plain arrays and come back through the validator, like those of a model file."""

from __future__ import annotations

import copyreg
from collections.abc import Callable
from typing import Any

from ramify import _core


def rebuilt_forest(outcome: str, n_outputs: int, arrays: dict[str, Any]) -> _core.Forest:
    """The trees that `arrays` describe; a ValueError names a broken invariant."""
    return _core.forest_from_arrays(outcome=outcome, n_outputs=n_outputs, arrays=arrays)


def _reduced(forest: _core.Forest) -> tuple[Callable[..., _core.Forest], tuple[Any, ...]]:
    return rebuilt_forest, (forest.outcome, forest.n_outputs, forest.arrays())


copyreg.pickle(_core.Forest, _reduced)
