import numpy as np
import pytest
from scipy import sparse

from ramify.datasets import make_hierarchical


def test_labels_respect_the_hierarchy():
    data = make_hierarchical(300, depth=4, width=2, extra_parents=0.5, n_features=40, random_state=1)
    assert not data.hierarchy.is_tree
    assert len(data.hierarchy.violations(data.y)) == 0


@pytest.mark.parametrize("density", [None, 0.1])
def test_same_seed_same_bytes(density):
    first, second = (make_hierarchical(80, density=density, random_state=3) for _ in range(2))
    bytes_of = [data.X.data.tobytes() if density else data.X.tobytes() for data in (first, second)]
    assert bytes_of[0] == bytes_of[1]
    assert first.y.indices.tobytes() == second.y.indices.tobytes()
    assert first.truth.tobytes() == second.truth.tobytes()


def test_balanced_hierarchy_has_all_levels_full():
    hierarchy = make_hierarchical(10, depth=3, width=3, random_state=0).hierarchy
    assert len(hierarchy) == 3 + 9 + 27
    assert hierarchy.is_tree


def test_unbalanced_hierarchy_is_smaller_and_as_deep():
    hierarchy = make_hierarchical(10, depth=4, width=3, balance=0.1, n_features=200, random_state=0).hierarchy
    assert hierarchy.depth.max() == 4
    assert len(hierarchy) < 60


def test_a_label_is_a_function_of_its_drivers_without_noise():
    data = make_hierarchical(400, depth=1, width=2, n_drivers=2, noise=0, random_state=0)
    for label in range(2):
        drivers = np.flatnonzero(data.truth[:, label])
        np.testing.assert_array_equal(data.y.toarray()[:, label], data.X[:, drivers].sum(axis=1) > 0)


def test_a_label_is_driven_by_its_ancestors_drivers_too():
    data = make_hierarchical(50, depth=3, random_state=0)
    own, above = data.hierarchy.index("1.1"), data.hierarchy.index("1")
    assert data.truth[:, own].sum() == 2
    assert (data.truth[:, above] <= data.truth[:, own]).all()


def test_sparse_features_are_binary_and_stay_sparse():
    data = make_hierarchical(500, density=0.1, random_state=0)
    assert sparse.issparse(data.X)
    assert set(data.X.data) == {1.0}
    assert 0.08 < data.X.nnz / np.prod(data.X.shape) < 0.12


def test_labels_have_the_probability_that_was_asked_for():
    data = make_hierarchical(4000, depth=1, label_probability=0.2, random_state=0)
    np.testing.assert_allclose(data.y.toarray().mean(axis=0), 0.2, atol=0.03)


def test_missing_cells_are_as_many_as_asked():
    data = make_hierarchical(500, missing=0.1, random_state=0)
    assert abs(np.isnan(data.X).mean() - 0.1) < 0.01


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_samples": 0}, "'n_samples' parameter of make_hierarchical must be an int >= 1"),
        ({"depth": 5, "width": 3}, "'n_features' parameter of make_hierarchical must be at least 363"),
        ({"noise": 2}, "'noise' parameter"),
        ({"density": 0.1, "missing": 0.1}, "'missing' parameter of make_hierarchical needs dense features"),
        ({"density": 0.0}, "'density' parameter"),
        ({"label_probability": 1}, "'label_probability' parameter"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        make_hierarchical(**{"n_samples": 10, **parameters})
