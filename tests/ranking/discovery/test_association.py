"""Association: the statistic is that of the definition, noise is not claimed, and rows in groups stay together."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats

from ramify.datasets import make_label_ranking
from ramify.ensemble import ForestClassifier, ForestRegressor, LabelRankingForest
from ramify.features import Features
from ramify.hierarchy import Hierarchy
from ramify.ranking import discoveries
from ramify.ranking.discovery import Untestable
from ramify.ranking.discovery.association import association
from ramify.ranking.discovery.feature_curves import feature_curves
from ramify.ranking.discovery.outcome import outcome_of

TREE = Hierarchy.from_paths(["a", "a/x", "a/y", "b"])


def planted(n_rows=300, n_features=12, seed=1):
    """x0 goes with a, x1 with a/x, the size of x2 with b."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n_rows, n_features))

    def drawn(column):
        return random.random(n_rows) < 1 / (1 + np.exp(-3 * column))

    a = drawn(X[:, 0])
    Y = np.column_stack([a, a & drawn(X[:, 1]), a & drawn(0 * X[:, 0]), drawn(X[:, 2] ** 2 - 1)])
    return X, Y.astype(int)


def associated(X, Y, **options):
    return discoveries(ForestClassifier(hierarchy=TREE), X, Y, given="nothing", **{"random_state": 0, **options})


def pairs(found):
    return {(claim.feature, claim.branch) for claim in found.claims}


def outcome_p(X, Y, **options):
    target = ForestClassifier().encode_target(np.asarray(Y, dtype=int))
    outcome = outcome_of(target, np.ones(len(Y), dtype=bool))
    return association(Features(np.asarray(X, float), np.zeros(np.shape(X)[1], dtype=np.int32)), outcome, **options)


def test_rises_bends_and_branches_are_found():
    found = associated(*planted())
    assert {("x0", "a"), ("x0", ""), ("x1", "a/x"), ("x1", "a"), ("x2", "b")} <= pairs(found)
    assert {feature for feature, _ in pairs(found)} <= {"x0", "x1", "x2"}
    assert all(0 <= claim.effect <= 1 and claim.p <= claim.q <= found.fdr for claim in found.claims)
    assert "is associated with" in found.question


def test_p_values_are_those_of_all_orders():
    """One feature of zeros and ones and one label: Fisher's test of both sides counts the same orders."""
    random = np.random.default_rng(3)
    feature = (random.random(60) < 0.3).astype(float)
    for chance in (0.3, 0.3 + 0.15 * feature, 0.2 + 0.25 * feature):
        label = random.random(60) < chance
        p = outcome_p(feature[:, None], np.column_stack([label, ~label])).p_values[0, 1]
        inside = int((feature * label).sum())
        draw = stats.hypergeom(60, int(feature.sum()), int(label.sum()))
        far = np.abs(np.arange(61) - draw.mean()) >= abs(inside - draw.mean()) - 1e-9
        exact = draw.pmf(np.arange(61))[far].sum()
        assert p == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 2000) + 1e-3)


def test_categories_are_compared_as_by_chi_square():
    random = np.random.default_rng(4)
    codes = random.choice(5, 400, p=[0.5, 0.2, 0.15, 0.1, 0.05])
    label = random.random(400) < 0.3
    curves = feature_curves(codes.astype(float), 5)
    vector = (label - label.mean()) * np.sqrt(399 / (400 * label.mean() * (1 - label.mean())))
    chi_square = stats.chi2_contingency(pd.crosstab(codes, label), correction=False).statistic
    assert ((curves.columns.T @ vector) ** 2).sum() == pytest.approx(chi_square * 399 / 400, rel=1e-5)
    assert curves.n_free == 4


def test_curves_are_orthonormal_and_missing_values_stand_apart():
    random = np.random.default_rng(5)
    for column in (
        random.standard_normal(200),
        random.poisson(1.0, 200).astype(float),
        random.integers(0, 2, 200) * 1.0,
    ):
        column[:20] = np.nan
        curves = feature_curves(column, 0)
        np.testing.assert_allclose(curves.columns.T @ curves.columns, np.eye(curves.n_free), atol=1e-5)
        np.testing.assert_allclose(curves.columns.sum(axis=0), 0, atol=1e-4)
        assert curves.n_missing == 20
        assert np.ptp(curves.columns[:20, 0]) == 0
    assert feature_curves(np.full(50, 3.0), 0).n_free == 0


def test_a_branch_takes_the_largest_of_its_outputs():
    """On noise p-values of branches are uniform, also of those with many labels."""
    random = np.random.default_rng(6)
    X, Y = random.standard_normal((300, 400)), random.random((300, 12)) < 0.1
    found = outcome_p(X, Y)
    assert found.p_values.shape == (400, 13)
    assert stats.kstest(found.p_values[:, 0], "uniform").pvalue > 0.001
    assert stats.kstest(found.p_values[:, 5], "uniform").pvalue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["smooth", "tied", "nominal"])
def test_labels_of_few_rows_keep_their_error_rate(kind):
    random = np.random.default_rng(7)
    claims, small = 0, []
    for seed in range(30):
        if kind == "smooth":
            X = random.standard_normal((400, 40))
        elif kind == "tied":
            X = random.poisson(random.uniform(0.1, 2, 40), (400, 40)).astype(float)
        else:
            X = random.integers(0, random.integers(2, 30, 40), (400, 40)).astype(float)
        Y = np.zeros((400, 8))
        for k in range(8):
            Y[random.choice(400, 10 + k, replace=False), k] = 1
        frame = pd.DataFrame(X).astype("category") if kind == "nominal" else X
        found = discoveries(None, frame, Y.astype(int), given="nothing", random_state=seed)
        claims += bool(found.claims)
        if kind != "nominal":
            small.append((outcome_p(X, Y, seed=seed).p_values < 0.001).mean())
    assert claims <= 9  # 10 % of 30 and more than three standard errors
    assert not small or np.mean(small) < 0.002


def test_threads_and_forms_change_nothing():
    X, Y = planted()
    X[:30, 3] = np.nan
    X[:, 4] = np.round(X[:, 4])
    found = associated(X, Y)
    assert associated(X, Y, n_jobs=2) == found
    assert associated(pd.DataFrame(X, columns=[f"x{j}" for j in range(12)]), Y) == found
    assert associated(X, sparse.csr_array(Y), sample_weight=np.ones(len(X))).claims[0].branch == found.claims[0].branch
    holes = np.nan_to_num(X)
    assert associated(sparse.csr_array(holes), Y) == associated(holes, Y)


def test_rows_of_weight_zero_leave():
    X, Y = planted()
    more, labels = np.vstack([X, X[:80]]), np.vstack([Y, 1 - Y[:80]])
    weights = np.r_[np.ones(len(X)), np.zeros(80)]
    assert {("x0", "a"), ("x1", "a/x")} <= pairs(associated(more, labels, sample_weight=weights))


def test_classes_numbers_and_rankings():
    X, _ = planted()
    random = np.random.default_rng(2)
    classes = np.digitize(X[:, 0], [-0.5, 0.5])
    assert {claim.feature for claim in discoveries(None, X, classes, given="nothing", random_state=0).claims} == {"x0"}
    numbers = np.column_stack([X[:, 0] + random.standard_t(2, 300), random.standard_normal(300)])
    found = discoveries(ForestRegressor(), X, numbers, given="nothing", random_state=0)
    assert pairs(found) == {("x0", ""), ("x0", "y0")}
    data = make_label_ranking(300, n_labels=3, n_features=6, random_state=0)
    ranks = discoveries(LabelRankingForest(), data.X, data.y, given="nothing", random_state=0)
    drivers = set(np.flatnonzero(np.asarray(data.truth).any(axis=1)).tolist())
    assert {int(claim.feature[1:]) for claim in ranks.claims} <= drivers
    assert ranks.claims


def test_more_features_than_drive_takes():
    random = np.random.default_rng(8)
    X = random.standard_normal((60, 6000))
    label = (X[:, 7] + 0.5 * random.standard_normal(60) > 0).astype(int)
    assert pairs(discoveries(None, X, label, given="nothing", random_state=0)) >= {("x7", "")}


def test_twins_are_claimed_as_single_rows_and_not_as_groups():
    random = np.random.default_rng(9)
    group = np.repeat(np.arange(60), 4)
    X = random.standard_normal((60, 40))[group] + 0.1 * random.standard_normal((240, 40))
    Y = (random.standard_normal((60, 6))[group] > 0.5).astype(int)
    assert discoveries(None, X, Y, given="nothing", row_groups=range(240), random_state=0).claims
    assert not discoveries(None, X, Y, given="nothing", row_groups=group, random_state=0).claims
    Y[:, 0] = X[:, 0] > 0
    found = discoveries(None, X, Y, given="nothing", row_groups=group, random_state=0)
    assert ("x0", "y0") in {(claim.feature, claim.branch) for claim in found.claims}


def test_what_cannot_be_tested_is_said():
    X, Y = planted()
    group = np.arange(len(X)) % 15
    with pytest.raises(Untestable, match="exchanges groups of rows with groups of the same size"):
        associated(X, Y, row_groups=group)
    with pytest.raises(ValueError, match="one value per row"):
        associated(X, Y, row_groups=[1, 2])
    group = np.repeat(np.arange(24), np.arange(1, 25))
    with pytest.raises(Untestable, match="24 groups that tell as much as 18 groups of equal size"):
        discoveries(None, X, Y, row_groups=group)
    with pytest.raises(Untestable, match="at least 20 rows"):
        associated(X[:15], Y[:15])
