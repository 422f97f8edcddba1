"""The flow of an analysis: data in, results out, which commands print, the report shows and a notebook displays."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ramify.analysis.comparing import compare_methods
    from ramify.analysis.deployment import new_rows
    from ramify.analysis.fitting import fit_model
    from ramify.analysis.flow import analyse
    from ramify.analysis.results import Results
    from ramify.analysis.selecting import select_features
_HOMES = {
    "analyse": "flow",
    "compare_methods": "comparing",
    "fit_model": "fitting",
    "new_rows": "deployment",
    "select_features": "selecting",
    "Results": "results",
}

__all__ = [
    "Results",
    "analyse",
    "compare_methods",
    "fit_model",
    "new_rows",
    "select_features",
]


def __getattr__(name: str) -> Any:
    # The command line lists methods without importing what computes them.
    if name in _HOMES:
        return getattr(import_module(f"ramify.analysis.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'ramify.analysis' has no attribute {name!r}")
