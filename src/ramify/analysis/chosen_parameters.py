"""Parameters of estimators chosen by name, as `--set name=value` of the command line gives them."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ramify.datasets import Dataset
from ramify.datasets.readers.raw_files import advice_for_name
from ramify.hierarchy import Hierarchy

_OF_HIERARCHY = ("w0", "aggregate")
_WORDS = {"none": None, "true": True, "false": False}
# What the data, or options of their own, decide.
_DECIDED = {
    "categorical_features", "estimator", "feature_hierarchy", "hierarchy", "memory", "members", "method", "n_jobs",
    "random_state", "scores", "selector", "steps", "target", "targets", "transform_input", "value_hierarchies",
    "verbose",
}  # fmt: skip


def parsed(settings: Iterable[str]) -> dict[str, Any]:
    """Texts as `name=value`, as values by their names; numbers, pairs as 0.05,0.1, None, True and False are read.

    Examples
    --------
    >>> from ramify.analysis.chosen_parameters import parsed
    >>> parsed(["max_features=0.5", "distance=hamming", "ramp=0.05,0.1", "sigma=none"])
    {'max_features': 0.5, 'distance': 'hamming', 'ramp': (0.05, 0.1), 'sigma': None}
    """
    parameters: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = (part.strip() for part in setting.partition("="))
        if not equals or not name or not value:
            raise ValueError(f"{setting!r} is no setting. Write name=value, as max_features=0.5.")
        if name in parameters:
            raise ValueError(f"The parameter {name!r} is set twice. Leave one of them out.")
        try:
            parameters[name] = _WORDS[value.lower()] if value.lower() in _WORDS else ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            parameters[name] = value
    return parameters


def with_hierarchy_parameters(data: Dataset, chosen: Mapping[str, Any]) -> tuple[Dataset, dict[str, Any]]:
    """The data with the chosen weights of its label hierarchy (w0, aggregate), and the other parameters."""
    of_hierarchy = {name: value for name, value in chosen.items() if name in _OF_HIERARCHY}
    others = {name: value for name, value in chosen.items() if name not in _OF_HIERARCHY}
    if not of_hierarchy:
        return data, others
    old = data.hierarchy
    if old is None:
        name = next(iter(of_hierarchy))
        raise ValueError(f"{name!r} is a parameter of the label hierarchy, and the labels have none. Leave it out.")
    made = Hierarchy(old.names, old.edges, **{"w0": old.w0, "aggregate": old.aggregate, **of_hierarchy})
    return replace(data, hierarchy=made), others


def set_parameters(estimators: Iterable[Any], chosen: Mapping[str, Any]) -> None:
    """Set the chosen parameters on the estimators that have them, an estimator inside another included.

    Each must be a parameter of at least one; the error lists what there is, with the nearest name explained.
    """
    estimators = list(estimators)
    for name, value in chosen.items():
        able = [(estimator, place) for estimator in estimators if (place := _place(estimator, name)) is not None]
        if not able:
            raise ValueError(_no_such_parameter(name, estimators))
        for estimator, place in able:
            estimator.set_params(**{place: value})


def _place(estimator: Any, name: str) -> str | None:
    """The parameter of that name, as `set_params` takes it: the estimator's own, else that of one inside it."""
    if name in _DECIDED:
        return None
    places = [place for place in estimator.get_params() if place.rpartition("__")[2] == name]
    return min(places, key=lambda place: place.count("__"), default=None)


def _no_such_parameter(name: str, estimators: list[Any]) -> str:
    if name in _DECIDED:
        return f"The parameter {name!r} is decided by the data, or by an option of its own. Leave it out of --set."
    taken: dict[str, list[str]] = {}
    explained: dict[str, str] = {}
    for estimator in estimators:
        inside = [part for part in estimator.get_params().values() if hasattr(part, "get_params")]
        for each in (estimator, *inside):
            names = [own for own in each.get_params(deep=False) if own not in _DECIDED]
            if names and not hasattr(each, "steps"):
                taken[type(each).__name__] = names
                explained = _explanations(type(each)) | explained
    known = [own for names in taken.values() for own in names]
    advice = advice_for_name(name, known)
    near = re.match(r"Did you mean '(\w+)'\?", advice)
    help_ = f" ({explained[near[1]]})" if near and near[1] in explained else ""
    lists = "; ".join(f"{owner} takes {', '.join(names)}" for owner, names in taken.items())
    return f"There is no parameter {name!r}. {advice if near else ''}{help_} {lists}.".replace("  ", " ")


def _explanations(kind: type) -> dict[str, str]:
    """What the docstring says of each parameter, in its line of type and default."""
    text = inspect.getdoc(kind) or ""
    section = text.partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    explanations: dict[str, str] = {}
    for names, what in re.findall(r"^(\w+(?:, \w+)*) : (.+)$", section, flags=re.M):
        explanations |= dict.fromkeys(names.split(", "), f"{names} : {what}")
    return explanations
