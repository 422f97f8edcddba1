"""Whatever is set after fit: what `save` writes, `load` reads."""

import warnings

import pytest

import ramify
from ramify import Hierarchy
from tests.metamorphic import cases
from tests.metamorphic.test_names import planted

OTHER = Hierarchy.from_paths(["a/b/c"])


def changes(value):
    """Other values for a parameter, right ones and wrong ones."""
    if isinstance(value, bool):
        return [not value, "nonsense"]
    if isinstance(value, (int, float)):
        return [value + 3, value / 2, "nonsense", None]
    return [None, OTHER, "nonsense", 0.2]


TRIED = [name for name, case in cases.CASES.items() if case.features != "terms"]


@pytest.mark.parametrize("name", TRIED)
def test_what_is_saved_after_a_change_of_parameters_loads(name, tmp_path):
    case, path = cases.CASES[name], tmp_path / "model.ramify"
    X, targets = planted()
    X = X if case.features == "nominal" else X.drop(columns="town")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = case.make().fit(X, targets[case.target.removeprefix("unknown ")])
    ramify.save(fitted, path)
    for parameter, value in fitted.get_params(deep=False).items():
        for other in changes(value):
            fitted.set_params(**{parameter: other})
            try:
                ramify.save(fitted, path)
            except ValueError as error:
                assert "is no longer as fit left it" in str(error)  # noqa: PT017
            ramify.load(path)
        fitted.set_params(**{parameter: value})
