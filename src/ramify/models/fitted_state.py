"""Is a loaded estimator one that `fit` could have left? Checked against what its class declares."""

from __future__ import annotations

from typing import Any

from ramify.models.container import ModelFileError
from ramify.state import NOTED, Sizes, changed_parameter


def check_state(estimator: Any) -> None:
    """Refuse an estimator from a file whose parts are not those that its class declares.

    Parameters
    ----------
    estimator : estimator
        With `fitted_state`, and `state_rules` where parts are tied together.
    """
    title = type(estimator).__name__
    for name in learnt_parts(estimator):
        if name not in estimator.fitted_state:
            raise ModelFileError(f"The model file sets {name[:80]!r}, which {title} does not learn.")
    fault = state_fault(estimator)
    if fault is not None:
        raise ModelFileError(f"The model file holds a broken {title}: {fault}.")


def state_fault(estimator: Any) -> str | None:
    """What is wrong with the parts of a fitted estimator; None where they are as its class declares."""
    changed = changed_parameter(estimator)
    if changed is not None:
        return changed
    held, declared = learnt_parts(estimator), estimator.fitted_state
    sizes: Sizes = {}
    for name, part in declared.items():
        if name not in held and part.may_lack:
            continue
        if name not in held or not part.holds(held[name], sizes):
            return f"{name} must be {part.words}"
    return _broken_rule(estimator)


def learnt_parts(estimator: Any) -> dict[str, Any]:
    """What fitting left on an estimator and a file holds."""
    parameters = estimator.get_params(deep=False)
    return {name: part for name, part in vars(estimator).items() if name not in parameters and name != NOTED}


def _broken_rule(estimator: Any) -> str | None:
    """Rules tie parts together, so that a broken part may fail in any way before a rule can say so."""
    try:
        return next((words for holds, words in getattr(estimator, "state_rules", tuple)() if not holds), None)
    except (ValueError, TypeError, AttributeError, KeyError, IndexError) as error:
        return str(error)
