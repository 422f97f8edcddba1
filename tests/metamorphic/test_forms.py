"""Row R31: the same data in any form give the same bits, also from a model fitted on another form."""

import warnings

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from tests.metamorphic import cases
from tests.metamorphic.forms import DECLARED, UNDECLARED

PLAIN = {"deadline": None, "suppress_health_check": list(HealthCheck), "phases": (Phase.explicit, Phase.generate)}
FEW = settings(max_examples=2, **PLAIN)
MANY = settings(max_examples=10, **PLAIN)


def test_every_estimator_has_a_case():
    covered = {type(case.make()).__name__ for case in cases.CASES.values()}
    assert cases.public_estimators() <= covered


def fitted(case, form, data, X):
    estimator = clone(case.make())  # cases share forests
    if data.nominal and form in UNDECLARED:
        part = "estimator__categorical_features" if "estimator" in estimator.get_params() else "categorical_features"
        part = "ranker__estimator__categorical_features" if "ranker" in estimator.get_params() else part
        part = "categorical_features" if "categorical_features" in estimator.get_params() else part
        estimator.set_params(**{part: data.nominal})
    return estimator.fit(X, data.targets[case.target])


def check(case, data, forms):
    """Fit each form, and predict each form from what was fitted on a frame."""
    made = {form: (DECLARED | UNDECLARED)[form](data) for form in ("pandas category", *forms)}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X (has|does not have valid) feature names")
        warnings.filterwarnings("ignore", message="No features were selected")
        warnings.filterwarnings("ignore", message=".*cells on .* edges break the feature hierarchy")
        first = fitted(case, "pandas category", data, made["pandas category"])
        expected = cases.results(first, made["pandas category"])
        for form, X in made.items():
            cases.assert_same(cases.results(first, X), expected, f"fitted on a frame, used on {form}")
            other = fitted(case, form, data, X)
            cases.assert_same(cases.results(other, X), expected, f"fitted and used on {form}")
            cases.assert_same(cases.results(other, made[forms[0]]), expected, f"fitted on {form}, used on {forms[0]}")


@pytest.mark.parametrize("name", cases.CASES)
def test_some_forms_give_the_same_bits(name):
    case = cases.CASES[name]
    forms = st.lists(st.sampled_from([*DECLARED, *UNDECLARED]), min_size=4, max_size=4, unique=True)
    FEW(given(cases.data_sets(case.features), forms)(lambda data, forms: check(case, data, forms)))()


@pytest.mark.slow
@pytest.mark.parametrize("name", cases.CASES)
def test_every_form_gives_the_same_bits(name):
    case = cases.CASES[name]
    MANY(given(cases.data_sets(case.features))(lambda data: check(case, data, [*DECLARED, *UNDECLARED])))()
