import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ramify.datasets import make_hierarchical
from ramify.ranking import FeatureRanking, ReliefRanker, fuji, overlap, stability
from ramify.ranking.agreement import kendall, method_map, resampled_rankings, spearman


def ranking(scores):
    return FeatureRanking([f"f{j}" for j in range(len(scores))], scores)


def slow_fuji(first, second):
    """The definition, set by set."""
    curve = []
    scores = [np.maximum(0, r.scores) for r in (first, second)]
    orders = [np.argsort(-s, kind="stable") for s in scores]
    for j in range(1, len(first) + 1):
        union = set(orders[0][:j]) | set(orders[1][:j])
        low = high = 0.0
        for x in union:
            members = []
            for s, order in zip(scores, orders, strict=True):
                last = s[order[j - 1]]
                members.append(1.0 if last == 0 else min(1.0, s[x] / last))
            low, high = low + min(members), high + max(members)
        curve.append(low / high)
    return np.array(curve)


@pytest.mark.parametrize("seed", range(4))
def test_fuji_equals_its_definition(seed):
    random = np.random.RandomState(seed)
    pair = [ranking(np.round(random.standard_normal(25) * 2)) for _ in range(2)]
    found = fuji(*pair)
    np.testing.assert_allclose(found.curve, slow_fuji(*pair), atol=1e-13)
    assert found.area == pytest.approx(slow_fuji(*pair).mean())


def test_a_ranking_agrees_with_itself():
    own = ranking([3.0, 1.0, 0.0, -1.0, 2.0])
    assert fuji(own, own).area == 1
    assert overlap(own, own, 3) == 1
    assert kendall(own, own) == pytest.approx(1)
    assert spearman(own, own) == pytest.approx(1)


def test_opposite_rankings_disagree():
    own, opposite = ranking([1.0, 2, 3, 4]), ranking([4.0, 3, 2, 1])
    assert kendall(own, opposite) == pytest.approx(-1)
    assert spearman(own, opposite) == pytest.approx(-1)
    assert overlap(own, opposite, 2) == 0
    assert kendall(own, ranking([1.0] * 4)) == 0


def slow_stability(chosen):
    """Nogueira's estimator and the jackknife-like variance of the paper, as printed."""
    m, d = chosen.shape
    k = chosen.sum(axis=1)
    share, mean_k = chosen.mean(axis=0), chosen.sum(axis=1).mean()
    chance = mean_k / d * (1 - mean_k / d)
    value = 1 - np.mean(m / (m - 1) * share * (1 - share)) / chance
    parts = [
        (
            np.sum(chosen[i] * share) / d
            - k[i] * mean_k / d**2
            + value / 2 * (2 * k[i] * mean_k / d**2 - k[i] / d - mean_k / d + 1)
        )
        / chance
        for i in range(m)
    ]
    return value, 4 / m**2 * np.sum((parts - np.mean(parts)) ** 2)


def test_stability_equals_its_formula():
    random = np.random.RandomState(0)
    rankings = [ranking(np.linspace(2, 0, 12) + random.standard_normal(12)) for _ in range(15)]
    chosen = np.array([r.ranks <= 4 for r in rankings]).astype(float)
    value, variance = slow_stability(chosen)
    found = stability(rankings, 4)
    assert found.value == pytest.approx(value)
    assert found.low == pytest.approx(value - 1.959964 * np.sqrt(variance), abs=1e-6)


def test_stability_of_random_rankings_is_near_zero():
    random = np.random.RandomState(0)
    found = stability([ranking(random.standard_normal(50)) for _ in range(100)], 10)
    assert abs(found.value) < 0.03
    assert found.low < 0 < found.high + 0.03


def test_stability_interval_covers_the_truth():
    """Over many repetitions, the interval holds the value of a very long run about as often as it says."""
    random = np.random.RandomState(1)

    def draw(n):
        return [ranking(np.linspace(1.5, 0, 20) + random.standard_normal(20)) for _ in range(n)]

    truth = stability(draw(3000), 5).value
    inside = [low <= truth <= high for _, low, high in (stability(draw(30), 5) for _ in range(200))]
    assert 0.88 < np.mean(inside) < 0.995


def test_rankings_of_resamples_differ_but_agree():
    data = make_hierarchical(200, depth=1, n_features=10, random_state=0)
    rankings = resampled_rankings(ReliefRanker(5), data.X, data.y, n_resamples=5, random_state=0)
    assert len({r.scores.tobytes() for r in rankings}) == 5
    assert stability(rankings, 2).value > 0.8


def test_map_keeps_distances():
    rankings = {"a": ranking([3.0, 2, 1]), "b": ranking([3.0, 2, 1.1]), "c": ranking([0.1, 0.2, 5])}
    for distance in ("fuji", "kendall", "spearman"):
        found = method_map(rankings, distance=distance)
        places = found.coordinates.to_numpy()
        apart = np.linalg.norm(places[:, None] - places[None], axis=2)
        np.testing.assert_allclose(apart, found.distances, atol=0.05)
    assert found.distances.loc["a", "b"] < found.distances.loc["a", "c"]


def test_bad_input_is_refused():
    own = ranking([1.0, 2, 3])
    with pytest.raises(ValueError, match="of 2 features and the data have 3"):
        fuji(own, ranking([1.0, 2]))
    with pytest.raises(ValueError, match=r"'k' parameter of overlap must be an int in \[1, 3\]"):
        overlap(own, own, 4)
    with pytest.raises(ValueError, match="needs at least two rankings"):
        stability([own], 1)
    with pytest.raises(ValueError, match=r"'k' parameter of stability must be an int in \[1, 2\]"):
        stability([own, own], 3)
    with pytest.raises(ValueError, match="needs at least two methods"):
        method_map({"a": own})
    with pytest.raises(ValueError, match="'distance' parameter of method_map"):
        method_map({"a": own, "b": own}, distance="hamming")


def memberships(scores, order, j):
    """How far each feature belongs to the top j + 1, from the definition."""
    last = scores[order[j]]
    return np.ones(len(scores)) if last <= 0 else np.minimum(scores, last) / last


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_fuji_equals_its_definition_at_every_depth(data):
    n_features = data.draw(st.integers(1, 12))
    score = st.one_of(st.floats(-1, 1e6), st.sampled_from([0.0, 1.0, 1e-12, 1e300, 5e-324]))
    scores = [np.array(data.draw(st.lists(score, min_size=n_features, max_size=n_features))) for _ in range(2)]
    names = [f"x{j}" for j in range(n_features)]
    found = fuji(*(FeatureRanking(names, given) for given in scores))
    clipped = [np.maximum(0.0, given) for given in scores]
    orders = [np.argsort(-given, kind="stable") for given in clipped]
    for j in range(n_features):
        union = sorted({*orders[0][: j + 1].tolist(), *orders[1][: j + 1].tolist()})
        both = [memberships(given, order, j)[union] for given, order in zip(clipped, orders, strict=True)]
        assert found.curve[j] == pytest.approx(np.minimum(*both).sum() / np.maximum(*both).sum(), rel=1e-12)
