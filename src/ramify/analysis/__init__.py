"""The flow of an analysis: data in, results out, which commands print, the report shows and a notebook displays."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ramify.analysis.comparing import compare_methods
    from ramify.analysis.deployment import NewRows, new_rows
    from ramify.analysis.fitting import Fitted, fit_model
    from ramify.analysis.flow import analyse
    from ramify.analysis.methods import MODEL_METHODS, RANKING_METHODS, SELECTION_METHODS, Method
    from ramify.analysis.results import Curve, ExplainedRow, Outcome, Reason, Results
    from ramify.analysis.selecting import Selected, explained_selection, select_features

_HOMES = {
    "analyse": "flow",
    "compare_methods": "comparing",
    "fit_model": "fitting",
    "Fitted": "fitting",
    "NewRows": "deployment",
    "new_rows": "deployment",
    "Selected": "selecting",
    "explained_selection": "selecting",
    "select_features": "selecting",
    "Results": "results",
    "Curve": "results",
    "ExplainedRow": "results",
    "Outcome": "results",
    "Reason": "results",
    "Method": "methods",
    "RANKING_METHODS": "methods",
    "SELECTION_METHODS": "methods",
    "MODEL_METHODS": "methods",
}

__all__ = [
    "MODEL_METHODS",
    "RANKING_METHODS",
    "SELECTION_METHODS",
    "Curve",
    "ExplainedRow",
    "Fitted",
    "Method",
    "NewRows",
    "Outcome",
    "Reason",
    "Results",
    "Selected",
    "analyse",
    "compare_methods",
    "explained_selection",
    "fit_model",
    "new_rows",
    "select_features",
]


def __getattr__(name: str) -> Any:
    # The command line lists methods without importing what computes them.
    if name in _HOMES:
        return getattr(import_module(f"ramify.analysis.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'ramify.analysis' has no attribute {name!r}")
