import numpy as np
import pandas as pd
import pytest
from scipy.stats import false_discovery_control

from ramify.datasets import make_hierarchical
from ramify.ensemble import ForestClassifier
from ramify.ranking import ForestRanker, ReliefRanker, significance


def rankers(hierarchy):
    forest = ForestClassifier(15, hierarchy=hierarchy, random_state=0)
    return {
        "relief": ReliefRanker(8, hierarchy=hierarchy, per_label=True),
        "genie3": ForestRanker(forest, scores="genie3"),
        "symbolic": ForestRanker(forest, scores="symbolic"),
        "genie3_oob": ForestRanker(forest, scores="genie3_oob"),
        "permutation": ForestRanker(forest, scores="permutation"),
    }


@pytest.mark.parametrize("method", ["shadow", "permutation"])
@pytest.mark.parametrize("name", ["relief", "genie3", "symbolic", "genie3_oob", "permutation"])
def test_p_values_of_noise_are_honest(name, method):
    """P(p <= a) <= a up to Monte Carlo error, beside relevant features, globally and per label."""
    noise, noise_per_label = [], []
    per_label = name not in ("symbolic", "genie3")  # without, or refused
    for seed in range(6):
        data = make_hierarchical(120, depth=1, n_features=40, random_state=seed)
        data.X[:, ::2] = np.round(data.X[:, ::2])  # features with few and with many values
        ranker = rankers(data.hierarchy)[name]
        found = significance(ranker, data.X, data.y, method=method, n_repeats=8, per_label=per_label, random_state=seed)
        irrelevant = ~data.truth.any(axis=1)
        noise += found.p_values[irrelevant].tolist()
        if per_label:
            noise_per_label += found.p_values_per_label[irrelevant].ravel().tolist()
    for p_values in filter(None, (noise, noise_per_label)):
        for level in (0.05, 0.1, 0.2):
            error = np.sqrt(level * (1 - level) / len(noise))
            assert np.mean(np.array(p_values) <= level) <= level + 3 * error


@pytest.mark.parametrize("method", ["shadow", "permutation"])
def test_relevant_features_are_found(method):
    data = make_hierarchical(400, depth=2, n_features=40, noise=0.0, random_state=0)
    ranker = ForestRanker(ForestClassifier(60, hierarchy=data.hierarchy, random_state=0), scores="genie3_oob")
    found = significance(ranker, data.X, data.y, method=method, n_repeats=10, per_label="branch", random_state=0)
    relevant = data.truth.any(axis=1)
    assert (found.q_values[relevant] < 0.05).all()
    assert (found.q_values[~relevant] < 0.05).mean() <= 0.1
    top = data.hierarchy.index("1")
    drives_branch = data.truth[:, [top, *map(data.hierarchy.index, data.hierarchy.descendants("1"))]].any(axis=1)
    assert (found.q_values_per_label[drives_branch, top] < 0.1).all()
    assert found.q_values_per_label.shape == (40, data.n_labels)


def test_gains_in_the_bag_have_no_p_values_per_label():
    data = make_hierarchical(60, depth=1, n_features=6, random_state=0)
    ranker = ForestRanker(ForestClassifier(3, hierarchy=data.hierarchy, random_state=0), scores="genie3")
    with pytest.raises(ValueError, match=r"no valid p-values.*ramify\.ranking\.discoveries"):
        significance(ranker, data.X, data.y, n_repeats=2, per_label="branch", random_state=0)


def test_it_is_a_frame_and_a_file(tmp_path):
    data = make_hierarchical(100, depth=1, n_features=10, random_state=0)
    names = ["=1+1", *(f"f{j}" for j in range(9))]
    found = significance(ReliefRanker(5), pd.DataFrame(data.X, columns=names), data.y, n_repeats=3, random_state=0)
    frame = found.to_frame()
    assert list(frame.columns) == ["feature", "score", "rank", "p", "q"]
    assert frame["rank"].is_monotonic_increasing
    assert frame.set_index("feature").loc[names, "p"].tolist() == found.p_values.tolist()
    found.save(tmp_path / "noise.csv")
    read = pd.read_csv(tmp_path / "noise.csv")
    assert read["q"].tolist() == frame["q"].tolist()
    assert not any(name.startswith("=") for name in read["feature"])


def test_q_values_are_benjamini_hochberg():
    data = make_hierarchical(100, depth=1, n_features=10, random_state=0)
    found = significance(ReliefRanker(5), data.X, data.y, n_repeats=5, random_state=0)
    np.testing.assert_allclose(found.q_values, false_discovery_control(found.p_values))


def test_same_seed_same_p_values():
    data = make_hierarchical(100, depth=1, n_features=10, random_state=0)
    first, second = (
        significance(ReliefRanker(5), data.X, data.y, n_repeats=3, random_state=1).p_values for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)


def test_shadows_of_nominal_features_are_nominal():
    data = make_hierarchical(100, depth=1, n_features=6, random_state=0)
    X = np.round(data.X) + 0.0
    masks = (np.arange(6) < 3, np.arange(3))
    frame = pd.DataFrame(X, columns=list("abcdef"))
    by_array = [
        significance(ReliefRanker(5, categorical_features=mask), X, data.y, n_repeats=3, random_state=0).p_values
        for mask in masks
    ]
    by_name = significance(
        ReliefRanker(5, categorical_features=["a", "b", "c"]), frame, data.y, n_repeats=3, random_state=0
    )
    typed = frame.astype({name: str for name in "abc"}).astype({name: "category" for name in "abc"})
    by_dtype = significance(ReliefRanker(5), typed, data.y, n_repeats=3, random_state=0)
    np.testing.assert_array_equal(by_array[0], by_array[1])
    np.testing.assert_array_equal(by_array[0], by_name.p_values)
    np.testing.assert_array_equal(by_array[0], by_dtype.p_values)


def test_sparse_features_stay_sparse():
    data = make_hierarchical(500, depth=1, density=0.2, n_features=20, random_state=0)
    found = significance(ReliefRanker(5), data.X, data.y, n_repeats=4, random_state=0)
    assert set(np.argsort(found.p_values)[:2]) == set(np.flatnonzero(data.truth.any(axis=1)))


def test_bad_input_is_refused():
    data = make_hierarchical(40, depth=1, n_features=5, random_state=0)
    with pytest.raises(ValueError, match="'method' parameter of significance must be one of 'shadow', 'permutation'"):
        significance(ReliefRanker(3), data.X, data.y, method="boruta")
    with pytest.raises(ValueError, match="'n_repeats' parameter"):
        significance(ReliefRanker(3), data.X, data.y, n_repeats=1)
    with pytest.raises(ValueError, match="gives no scores per label"):
        significance(ReliefRanker(3), data.X, data.y, per_label=True)
    with pytest.raises(ValueError, match="'per_label' parameter"):
        significance(ReliefRanker(3), data.X, data.y, per_label="all")
