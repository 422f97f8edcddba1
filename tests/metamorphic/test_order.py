"""Row R36: permuted label columns of a frame permute the output, and a second fit is a fresh one."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify import metrics
from ramify.ensemble import ForestClassifier, ForestRegressor
from ramify.ranking import ReliefRanker
from tests.metamorphic import cases
from tests.metamorphic.forms import DECLARED
from tests.metamorphic.test_forms import FEW

NAMES = list(cases.LABELS.names)


def quietly(run):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="No features were selected")
        warnings.filterwarnings("ignore", message=".*cells on .* edges break the feature hierarchy")
        return run()


@pytest.mark.parametrize("name", cases.CASES)
def test_a_second_fit_is_a_fresh_one(name):
    case = cases.CASES[name]

    def check(first, second):
        X = DECLARED["pandas category"](second)
        again = case.make().fit(DECLARED["pandas category"](first), first.targets[case.target])
        again.fit(X, second.targets[case.target])
        fresh = case.make().fit(X, second.targets[case.target])
        cases.assert_same(cases.results(again, X), cases.results(fresh, X), "fitted again")
        assert sorted(vars(again)) == sorted(vars(fresh))

    drawn = given(cases.data_sets(case.features), cases.data_sets(case.features))
    FEW(drawn(lambda first, second: quietly(lambda: check(first, second))))()


PERMUTED = {
    "labels": (lambda: ForestClassifier(3, random_state=0), "labels"),
    "hierarchy": (lambda: ForestClassifier(3, hierarchy=cases.LABELS, random_state=0), "hierarchy"),
    "numbers": (lambda: ForestRegressor(3, random_state=0), "rankings"),
}


@pytest.mark.parametrize("kind", PERMUTED)
def test_permuted_label_columns_permute_the_output(kind):
    make, target = PERMUTED[kind]

    def check(data, order):
        y = pd.DataFrame(data.targets[target], columns=NAMES)
        X = DECLARED["pandas category"](data)
        plain, permuted = make().fit(X, y), make().fit(X, y.iloc[:, order])
        names = NAMES if kind == "hierarchy" else [NAMES[j] for j in order]  # a hierarchy keeps its own order
        assert list(permuted.label_names_) == names
        outputs = [model.predict_proba(X) if kind != "numbers" else model.predict(X) for model in (plain, permuted)]
        tables = [
            pd.DataFrame(out, columns=list(m.label_names_)) for out, m in zip(outputs, (plain, permuted), strict=True)
        ]
        np.testing.assert_allclose(tables[1][NAMES], tables[0][NAMES], rtol=1e-12)

    FEW(given(cases.data_sets("nominal"), st.permutations(range(3)))(check))()


def test_permuted_label_columns_permute_the_scores_of_relief():
    def check(data, order):
        y = pd.DataFrame(data.targets["labels"], columns=NAMES)
        X = DECLARED["pandas category"](data)
        plain, permuted = (ReliefRanker(3, per_label=True).fit(X, one).ranking_ for one in (y, y.iloc[:, order]))
        np.testing.assert_allclose(permuted.scores, plain.scores, rtol=1e-9, atol=1e-12)
        found = permuted.per_label.toarray()[:, [permuted.label_names.index(name) for name in plain.label_names]]
        np.testing.assert_allclose(found, plain.per_label.toarray(), rtol=1e-9, atol=1e-12)

    FEW(given(cases.data_sets("nominal"), st.permutations(range(3)))(check))()


@pytest.mark.parametrize("measure", ["auprc", "roc_auc_score", "average_precision_score", "fmax", "smin"])
def test_permuted_columns_and_rows_leave_measures_as_they_are(measure):
    def check(data, columns, rows):
        truth = pd.DataFrame(data.targets["hierarchy"], columns=NAMES)
        scores = pd.DataFrame(data.X[:, :3] / 10 + 0.4, columns=NAMES)
        expected = getattr(metrics, measure)(truth, scores, hierarchy=cases.LABELS)
        moved = truth.iloc[rows], scores.iloc[rows, columns]
        assert getattr(metrics, measure)(*moved, hierarchy=cases.LABELS) == pytest.approx(expected, rel=1e-12)

    drawn = given(cases.data_sets("numbers"), st.permutations(range(3)), st.permutations(range(cases.N_ROWS)))
    FEW(drawn(check))()
