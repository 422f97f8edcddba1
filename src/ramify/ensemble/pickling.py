"""What the kernels take and give pickles as plain arrays and comes back through their checks, like a model file."""

from __future__ import annotations

import copyreg
from typing import Any

from ramify import _core

_ARGUMENTS: dict[type, tuple[str, ...]] = {
    _core.Growth: (
        "seed",
        "first_tree",
        "n_trees",
        "max_features",
        "bootstrap",
        "random_splits",
        "max_depth",
        "min_samples_split",
        "min_samples_leaf",
        "min_impurity_decrease",
        "min_weight_fraction_leaf",
        "min_category_rows",
        "oblique",
        "backing",
    ),
    _core.Boosting: ("learning_rate", "n_projections", "max_samples", "l2", "tolerance", "held_back", "patience"),
    _core.LabelRows: ("indptr", "indices", "weights", "unknown_indptr", "unknown_indices"),
    _core.NumberRows: ("values", "weights"),
    _core.RankingRows: ("signs", "compared", "vectors", "kinds", "n_labels", "square", "criterion", "gamma"),
}


def rebuilt_forest(outcome: str, n_outputs: int, arrays: dict[str, Any]) -> _core.Forest:
    """The trees that `arrays` describe; a ValueError names a broken invariant."""
    return _core.Forest(outcome=outcome, n_outputs=n_outputs, arrays=arrays)


def rebuilt(kind: type, arguments: dict[str, Any]) -> Any:
    """What a constructor makes of its arguments."""
    return kind(**arguments)


def _reduced_forest(forest: _core.Forest) -> tuple[Any, tuple[Any, ...]]:
    return rebuilt_forest, (forest.outcome, forest.n_outputs, forest.arrays())


def _reduced(noun: Any) -> tuple[Any, tuple[Any, ...]]:
    return rebuilt, (type(noun), {name: getattr(noun, name) for name in _ARGUMENTS[type(noun)]})


copyreg.pickle(_core.Forest, _reduced_forest)
for _kind in _ARGUMENTS:
    copyreg.pickle(_kind, _reduced)
