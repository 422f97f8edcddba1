"""Which features matter, and what can be predicted, when the target branches.

The steps of the flow are modules: `ramify.datasets`, `ramify.ensemble`, `ramify.ranking`, `ramify.selection`,
`ramify.chains`, `ramify.metrics`, `ramify.compare`, `ramify.study`, `ramify.plots`, `ramify.analysis`,
`ramify.report`. The common names are here as well. Nothing heavy is imported before it is used.
"""

from importlib import import_module
from typing import Any

__version__ = "0.2.0"

_MODULES = (
    "analysis",
    "chains",
    "compare",
    "datasets",
    "ensemble",
    "metrics",
    "plots",
    "ranking",
    "report",
    "selection",
    "study",
)
_NAMES = {
    "Hierarchy": "ramify.hierarchy",
    "Dataset": "ramify.datasets",
    "inspect": "ramify.datasets",
    "prepare": "ramify.datasets",
    "read": "ramify.datasets",
    "ForestClassifier": "ramify.ensemble",
    "ForestRegressor": "ramify.ensemble",
    "LabelRankingForest": "ramify.ensemble",
    "MixedForest": "ramify.ensemble",
    "FeatureRanking": "ramify.ranking",
    "ForestRanker": "ramify.ranking",
    "ReliefRanker": "ramify.ranking",
    "SelectTop": "ramify.selection",
    "Study": "ramify.study",
    "write_report": "ramify.report",
    "save": "ramify.models",
    "load": "ramify.models",
}

__all__ = ["__version__", *_MODULES, *_NAMES]


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(import_module(_NAMES[name]), name)
    if name in _MODULES:
        return import_module(f"ramify.{name}")
    raise AttributeError(f"module 'ramify' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
