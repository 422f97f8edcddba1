"""Is a loaded estimator one that `fit` could have left? Checked against what its class declares."""

from __future__ import annotations

from typing import Any

from ramify.models.container import ModelFileError
from ramify.state import Sizes, State


def check_state(estimator: Any) -> None:
    """Refuse an estimator whose parts are not those that its class declares.

    Parameters
    ----------
    estimator : estimator
        With `fitted_state`, and `state_rules` where parts are tied together.
    """
    declared: State = estimator.fitted_state
    held = {name: part for name, part in vars(estimator).items() if name not in estimator.get_params(deep=False)}
    title = type(estimator).__name__
    for name in held:
        if name not in declared:
            raise ModelFileError(f"The model file sets {name[:80]!r}, which {title} does not learn.")
    sizes: Sizes = {}
    for name, part in declared.items():
        if name not in held and part.may_lack:
            continue
        if name not in held or not part.holds(held[name], sizes):
            raise ModelFileError(f"The model file holds a broken {title}: {name} must be {part.words}.")
    _check_rules(estimator, title)


def _check_rules(estimator: Any, title: str) -> None:
    """Rules tie parts together, so that a broken part may fail in any way before a rule can say so."""
    try:
        broken = next((words for holds, words in getattr(estimator, "state_rules", tuple)() if not holds), None)
    except (ValueError, TypeError, AttributeError, KeyError, IndexError) as error:
        broken = str(error)
    if broken is not None:
        raise ModelFileError(f"The model file holds a broken {title}: {broken}.")
