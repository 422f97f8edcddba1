import numpy as np
import pytest
import sklearn.metrics

from ramify.metrics import measure_table, r2_score, root_mean_squared_error, rrmse


@pytest.fixture
def numbers():
    rng = np.random.default_rng(0)
    true = rng.normal(size=(50, 3)) * [1, 10, 100]
    return true, true + rng.normal(size=true.shape)


def test_measures_equal_scikit_learns(numbers):
    for ours in (root_mean_squared_error, r2_score):
        theirs = getattr(sklearn.metrics, ours.__name__)
        np.testing.assert_allclose(ours(*numbers, average=None), theirs(*numbers, multioutput="raw_values"))
        assert ours(*numbers) == pytest.approx(theirs(*numbers))


def test_rrmse_is_the_root_of_what_r2_leaves(numbers):
    np.testing.assert_allclose(rrmse(*numbers, average=None) ** 2, 1 - r2_score(*numbers, average=None))


def test_rrmse_against_training_means(numbers):
    true, predicted = numbers
    means = np.array([1.0, 2.0, 3.0])
    expected = np.sqrt(((true - predicted) ** 2).sum(axis=0) / ((true - means) ** 2).sum(axis=0))
    np.testing.assert_allclose(rrmse(true, predicted, mean=means, average=None), expected)


def test_constant_target_is_left_out_and_counted():
    true = np.column_stack([np.full(4, 0.1), [1.0, 2.0, 3.0, 4.0]])
    score = rrmse(true, true + 1)
    assert score.n_left_out == 1
    assert np.isnan(r2_score(true, true, average=None)[0])


@pytest.mark.parametrize(
    ("true", "predicted", "words"),
    [
        ([1.0, np.nan], [1.0, 2.0], "y_true must be finite. Got NaN or infinity in column 0"),
        ([[1.0, 2.0]], [[1.0]], r"same shape. Got \(1, 2\) and \(1, 1\)"),
        ([], [], "at least one row"),
    ],
)
def test_bad_input_is_named(true, predicted, words):
    with pytest.raises(ValueError, match=words):
        root_mean_squared_error(true, predicted)


def test_table_shows_the_prior_beside_the_model(numbers):
    table = measure_table(*numbers, target="numbers", prior=numbers[0].mean(axis=0))
    assert list(table.columns) == ["model", "prior", "better", "left_out"]
    assert table.loc["RRMSE", "prior"] == pytest.approx(1.0)
    assert table.loc["R2", "model"] == pytest.approx(r2_score(*numbers))
