"""Redraw models: what each stage must see, against slow references and on planted dependence."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from ramify.ranking.discovery.predictors import N_FOLDS, Predictors, ridge_on_most_correlated
from ramify.ranking.discovery.redraw import column_model, draw_column, draw_group, unit_residual
from ramify.ranking.discovery.redraw.classes import state_chances
from ramify.ranking.discovery.redraw.drawing import exchanged_states
from ramify.ranking.discovery.redraw.screening import scaled_indicators, screened, standardised

N_ROWS = 800


def table_of(X, n_categories=None):
    codes = np.zeros(X.shape[1], dtype=np.int32) if n_categories is None else np.asarray(n_categories, dtype=np.int32)
    predictors = Predictors(X, codes, seed=0)
    return predictors


def model_of(X, feature, n_categories=None):
    predictors = table_of(X, n_categories)
    return column_model(predictors, feature, {feature}, seed=0)


def normal(n_features=12, seed=0, n_rows=N_ROWS):
    return np.random.default_rng(seed).standard_normal((n_rows, n_features))


def everywhere():
    return np.ones(N_ROWS, dtype=bool)


def test_strong_features_are_those_of_a_chi_square_test_on_curves():
    X = normal()
    target = X[:, 3] ** 2 + 0.2 * X[:, 5] + normal(1, seed=1)[:, 0]
    predictors = table_of(X)
    column = standardised(target, everywhere())
    expected = []
    for feature in range(X.shape[1]):
        curves = np.column_stack([np.ones(N_ROWS), predictors.curves(feature)])
        fitted = curves @ np.linalg.lstsq(curves, column[:, 0])[0]
        if stats.chi2.sf(N_ROWS * fitted.var(), curves.shape[1] - 1) < 0.05 / X.shape[1]:
            expected.append(feature)
    assert 3 in expected
    assert sorted(screened(predictors, column, set(), 12).strong) == expected


def test_nothing_is_strong_by_chance_too_often():
    predictors = table_of(normal(40))
    random = np.random.default_rng(5)
    n_false = n_products = 0
    for _ in range(100):
        screen = screened(predictors, standardised(random.standard_normal(N_ROWS), everywhere()), set(), 10)
        n_false += bool(screen.strong)
        n_products += bool(screen.products)
    assert n_false <= 5 + 2 * np.sqrt(100 * 0.05 * 0.95)
    assert n_products <= 5


@pytest.mark.parametrize("n_features", [60, 500])
def test_products_that_show_in_neither_factor_are_found_among_any_number_of_features(n_features):
    X = normal(n_features)
    target = X[:, 7] * X[:, 31] + 0.3 * normal(1, seed=1)[:, 0]
    predictors = table_of(X)
    assert screened(predictors, standardised(target, everywhere()), set(), 10).products[0] == (7, 31)


def test_states_are_screened_like_pearsons_chi_square():
    random = np.random.default_rng(0)
    codes = random.integers(0, 4, N_ROWS)
    state = np.where(random.random(N_ROWS) < 0.2, codes % 3, random.integers(0, 3, N_ROWS))
    predictors = table_of(codes[:, None].astype(float), [4])
    basis = predictors.curves(0)
    shown = scaled_indicators(state, 3, everywhere())
    counted = np.array([[np.sum((codes == a) & (state == b)) for b in range(3)] for a in range(4)])
    chi_square = stats.chi2_contingency(counted, correction=False).statistic
    assert ((basis.T @ shown) ** 2).sum() / N_ROWS == pytest.approx(chi_square, rel=1e-4)


def test_a_fold_says_nothing_about_its_own_prediction():
    X = normal(200)
    predictors = table_of(X)
    target = X[:, 0] + normal(1, seed=1)[:, 0]
    fit, partner = ridge_on_most_correlated(predictors, target, everywhere(), set(), 20)
    assert partner == 0
    for number in range(N_FOLDS):
        own = predictors.fold == number
        other = np.where(own, -5 * target + 3, target)
        again = ridge_on_most_correlated(predictors, other, everywhere(), set(), 20)[0]
        np.testing.assert_allclose(again[own], fit[own], atol=1e-9)


def test_spread_that_follows_a_feature_is_seen():
    X = normal()
    X[:, 1] *= np.exp(0.7 * X[:, 0])
    model = model_of(X, 1)
    assert np.corrcoef(np.log(model.scale), X[:, 0])[0, 1] > 0.95
    drawn = draw_column(model, np.random.default_rng(0))
    wide = X[:, 0] > 0.5
    assert drawn[wide].std() / drawn[~wide].std() == pytest.approx(X[wide, 1].std() / X[~wide, 1].std(), rel=0.25)
    assert model_of(X, 2).scale.std() == 0


def test_shape_that_follows_a_feature_is_seen():
    X = normal()
    random = np.random.default_rng(1)
    side = np.where(random.random(N_ROWS) < 0.5, 1, -1)
    far = X[:, 0] > 0
    X[:, 1] = np.where(far, 2 * side, 0) + 0.3 * X[:, 1]
    drawn = draw_column(model_of(X, 1), np.random.default_rng(0))
    assert np.mean(np.abs(drawn[far]) < 1) < 0.1
    assert np.mean(np.abs(drawn[~far]) > 1) < 0.1


def test_exclusive_or_of_two_classes_is_seen():
    X = normal()
    X[:, :2] = X[:, :2] > 0
    flipped = np.random.default_rng(1).random(N_ROWS) < 0.05
    X[:, 2] = (X[:, 0] != X[:, 1]) ^ flipped
    predictors = table_of(X)
    chances = state_chances(predictors, X[:, 2].astype(int), 2, everywhere(), {2}, seed=0).chances
    right = chances[np.arange(N_ROWS), (X[:, 0] != X[:, 1]).astype(int)]
    assert 0.9 < right.mean() < 0.99
    assert right.min() > 0.7


def test_chances_are_calibrated_and_sum_to_one():
    X = normal()
    state = np.digitize(X[:, 0] + normal(1, seed=1)[:, 0], [-1, 0, 1])
    predictors = table_of(X)
    found = state_chances(predictors, state, 4, everywhere(), set(), seed=0)
    np.testing.assert_allclose(found.chances.sum(axis=1), 1)
    np.testing.assert_allclose(found.chances.mean(axis=0), np.bincount(state) / N_ROWS, atol=0.01)
    likely = found.chances[:, 0] > 0.5
    assert np.mean(state[likely] == 0) == pytest.approx(found.chances[likely, 0].mean(), abs=0.1)
    assert found.partner == 0
    assert found.gain > 0.1


def test_all_levels_of_many_are_drawn_from_what_goes_with_them():
    random = np.random.default_rng(0)
    X = normal()
    level = np.clip((X[:, 0] * 8 + 20).astype(int), 0, 39)
    X[:, 1] = random.permutation(40)[level]
    X[:4, 1] = 39  # a level that hardly any row has
    model = model_of(X, 1, [0, 40, *[0] * 10])
    drawn = np.concatenate([draw_column(model, random) for _ in range(5)])
    assert set(np.unique(drawn)) == set(np.unique(X[:, 1]))
    near = {value: X[X[:, 1] == value, 0].mean() for value in np.unique(X[:, 1])}
    shown = np.array([near[value] for value in drawn])
    assert np.corrcoef(shown, np.tile(X[:, 0], 5))[0, 1] > 0.8


def test_what_is_drawn_varies_like_the_column_and_has_its_values():
    X = normal()
    X[:, 1] += 0.8 * X[:, 0]
    X[::9, 1] = np.nan
    model = model_of(X, 1)
    drawn = np.concatenate([draw_column(model, np.random.default_rng(k)) for k in range(10)])
    assert set(drawn[~np.isnan(drawn)]) <= set(X[~np.isnan(X[:, 1]), 1])
    assert np.isnan(drawn).mean() == pytest.approx(np.isnan(X[:, 1]).mean(), abs=0.03)
    assert np.nanstd(drawn) == pytest.approx(np.nanstd(X[:, 1]), rel=0.07)
    assert np.corrcoef(np.nan_to_num(drawn), np.tile(X[:, 0], 10))[0, 1] == pytest.approx(
        np.corrcoef(np.nan_to_num(X[:, 1]), X[:, 0])[0, 1], abs=0.08
    )


def test_a_group_keeps_spread_and_what_its_members_share():
    X = normal()
    X[:, 1] = np.exp(0.7 * X[:, 0]) * X[:, 1]
    X[:, 2] = X[:, 1] + 0.1 * X[:, 2]
    predictors = table_of(X)
    models = [column_model(predictors, feature, {1, 2}, seed=feature) for feature in (1, 2)]
    drawn = draw_group(X[:, [1, 2]], models, np.random.default_rng(0))
    assert np.corrcoef(drawn.T)[0, 1] > 0.97
    wide = X[:, 0] > 0.5
    assert drawn[wide, 0].std() > 2 * drawn[~wide, 0].std()


def test_the_residual_that_the_check_takes_is_free_of_what_is_drawn():
    X = normal()
    X[:, 1] = X[:, 0] ** 2 + 0.5 * X[:, 1]
    model = model_of(X, 1)
    drawn = np.mean([draw_column(model, np.random.default_rng(k)) for k in range(200)], axis=0)
    residual = unit_residual([model])
    assert np.corrcoef(residual, X[:, 1] - drawn)[0, 1] > 0.97
    assert abs(np.corrcoef(residual, X[:, 0] ** 2)[0, 1]) < 0.1


def many_levels(n_levels=30, seed=3):
    """A nominal driver, a partner that follows it, and noise."""
    random = np.random.default_rng(seed)
    driver = random.integers(0, n_levels, N_ROWS)
    order = random.permutation(n_levels)
    partner = order[(driver + random.integers(-2, 3, N_ROWS)) % n_levels]
    X = np.column_stack([driver, partner, normal(1, seed)[:, 0]]).astype(float)
    return X, [n_levels, n_levels, 0]


def test_many_levels_change_places_among_rows_of_the_level_that_they_follow():
    X, n_categories = many_levels()
    drawn = draw_column(model_of(X, 1, n_categories), np.random.default_rng(0))
    assert (drawn != X[:, 1]).mean() > 0.3
    for level in np.unique(X[:, 0]):
        rows = X[:, 0] == level
        np.testing.assert_array_equal(np.sort(drawn[rows]), np.sort(X[rows, 1]))


def test_many_levels_that_follow_a_number_change_places_among_rows_with_similar_numbers():
    X, _ = many_levels()
    number = normal(1, seed=8)[:, 0]
    level = np.clip(((number + 0.1 * X[:, 2]) * 8 + 15).astype(int), 0, 29)
    X = np.column_stack([number, np.random.default_rng(0).permutation(30)[level], X[:, 2]])
    drawn = draw_column(model_of(X, 1, [0, 30, 0]), np.random.default_rng(0))
    level_of = np.empty(30)
    level_of[X[:, 1].astype(int)] = level
    assert np.corrcoef(level_of[drawn.astype(int)], number)[0, 1] > 0.95


def test_exchanged_states_have_the_odds_of_the_chances():
    random = np.random.default_rng(1)
    chances = random.dirichlet(np.ones(3), 4)
    alike = np.array([0, 0, 0, 1])
    state = np.array([0, 1, 2, 0])
    drawn = np.array([exchanged_states(state, chances, alike, random) for _ in range(4000)])
    np.testing.assert_array_equal(drawn[:, 3], 0)
    orders = list(permutations(range(3)))
    weight = np.array([np.prod(chances[np.arange(3), state[list(order)]]) for order in orders])
    seen = np.array([(drawn[:, :3] == state[list(order)]).all(axis=1).mean() for order in orders])
    np.testing.assert_allclose(seen, weight / weight.sum(), atol=0.03)
