"""Row R42: fit, set_params, predict, save, load, copy and clone in any order, over every public estimator.

Whatever is done to an estimator, it predicts what its last fit learnt, and that is what a fresh object with the same
parameters learns; or it refuses in words. Nothing that a caller does to the arrays of a fit afterwards changes it.
"""

import copy
import pickle
import tempfile
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.metamorphic import cases
from tests.metamorphic.test_changed_parameters import changes
from tests.metamorphic.test_names import planted

import ramify
from ramify.features.frames import take_rows

FEW = settings(
    max_examples=12,
    stateful_step_count=10,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
)
MANY = settings(FEW, max_examples=150)


def data(case, seed):
    """Rows that a case takes, as arrays and frames of its own."""
    X, targets = planted(seed)
    y = np.array(targets[case.target.removeprefix("unknown ")])
    if case.features == "nominal":
        return X.copy(), y
    numbers = X[["size", "age"]].to_numpy()
    return (
        ((np.repeat(numbers, 3, axis=1) > 0)[:, : cases.N_FEATURES].astype(float), y)
        if (case.features == "terms")
        else (numbers.copy(), y)
    )


def is_refused_in_words(error):
    """Whether somebody raised it on purpose, not Python or NumPy where something broke."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    return isinstance(error, (ValueError, TypeError)) and (where.line or "").startswith("raise ")


class AnyOrder(RuleBasedStateMachine):
    """An estimator of one case, and what its last fit says of some rows."""

    case: cases.Case

    @initialize()
    def make(self):
        self.estimator = clone(self.case.make())
        self.names = sorted(self.estimator.get_params(deep=False))
        self.given = data(self.case, 0)
        self.new = take_rows(data(self.case, 1)[0], np.arange(20))
        self.expected = None

    def tried(self, action):
        """What an action returns, or None if it is refused in words."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return action()
            except NotFittedError:
                assert self.expected is None
            except Exception as error:
                if not is_refused_in_words(error):
                    raise
        return None

    def check(self, estimator):
        found = self.tried(lambda: cases.results(estimator, self.new))
        if found is not None and self.expected is not None:
            cases.assert_same(found, self.expected, f"{estimator.get_params(deep=False)}")

    @rule(seed=st.integers(0, 1))
    def fit(self, seed):
        self.given = data(self.case, seed)
        goes_on = bool(getattr(self.estimator, "warm_start", False))
        if self.tried(lambda: self.estimator.fit(*self.given)) is not None:
            self.expected = self.tried(lambda: cases.results(self.estimator, self.new))
            assert self.expected is not None
            if not goes_on:
                fresh = self.tried(lambda: clone(self.estimator).fit(*data(self.case, seed)))
                self.check(fresh)

    @rule(drawn=st.data())
    def change(self, drawn):
        name = drawn.draw(st.sampled_from(self.names))
        others = changes(getattr(self.estimator, name))
        value = drawn.draw(st.sampled_from(range(len(others))))
        if name != "random_state" or others[value] is not None:
            self.estimator.set_params(**{name: others[value]})

    @rule()
    def set_back(self):
        self.estimator.set_params(**self.case.make().get_params(deep=False))

    @rule()
    def predict(self):
        self.check(self.estimator)

    @rule()
    def change_what_was_given(self):
        X, y = self.given
        if isinstance(X, np.ndarray):
            X[:] = X[::-1].copy()
        else:
            for name in X:
                X[name] = X[name].to_numpy()[::-1].copy()
        y[:] = y[::-1].copy()
        self.check(self.estimator)

    @precondition(lambda self: self.expected is not None)
    @rule()
    def save_and_load(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.ramify"
            self.tried(lambda: ramify.save(self.estimator, path))
            if path.exists():
                self.estimator = ramify.load(path)
                self.check(self.estimator)

    @rule(copied=st.sampled_from([copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))]))
    def copy(self, copied):
        self.estimator = copied(self.estimator)
        self.check(self.estimator)

    @rule()
    def clone(self):
        self.estimator = clone(self.estimator)
        self.expected = None


def run(name, how):
    machine = type("AnyOrder", (AnyOrder,), {"case": cases.CASES[name]})
    run_state_machine_as_test(machine, settings=how)


@pytest.mark.parametrize("name", cases.CASES)
def test_any_order_of_calls(name):
    run(name, FEW)


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("name", cases.CASES)
def test_many_orders_of_calls(name):
    run(name, MANY)
