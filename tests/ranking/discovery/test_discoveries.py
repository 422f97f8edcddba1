"""Discoveries: planted drivers are found, companions are not, and nothing depends on how the data are held."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from threadpoolctl import threadpool_info, threadpool_limits

from ramify.datasets import make_label_ranking
from ramify.ensemble import ForestClassifier, ForestRegressor, LabelRankingForest
from ramify.hierarchy import Hierarchy
from ramify.ranking import Discoveries, discoveries
from ramify.ranking.discovery import discover, units
from ramify.ranking.discovery.predictors import Predictors
from ramify.ranking.discovery.redraw import column_model
from ramify.ranking.discovery.units import correlated_features
from ramify.ranking.groups import rank_correlations

TREE = Hierarchy.from_paths(["a", "a/x", "a/y", "b"])


def planted(n_rows=400, n_features=12, seed=1):
    """x0 drives a, x1 drives a/x, x2 drives b; x3 is a noisy copy of x0 and drives nothing."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n_rows, n_features))
    X[:, 3] = 0.8 * X[:, 0] + 0.6 * X[:, 3]

    def drawn(column):
        return random.random(n_rows) < 1 / (1 + np.exp(-3 * column))

    a = drawn(X[:, 0])
    Y = np.column_stack([a, a & drawn(X[:, 1]), a & drawn(0 * X[:, 0]), drawn(X[:, 2])]).astype(int)
    return X, Y


def forest(**options):
    return ForestClassifier(60, hierarchy=TREE, min_samples_leaf=3, **options)


@pytest.fixture(scope="module")
def found():
    X, Y = planted()
    return discoveries(forest(), X, Y, random_state=0)


def pairs(found):
    return {(claim.feature, claim.branch) for claim in found.claims}


def test_drivers_are_claimed_and_companions_are_not(found):
    assert {("x0", "a"), ("x0", ""), ("x1", "a/x"), ("x1", "a"), ("x2", "b")} <= pairs(found)
    assert not {feature for feature, _ in pairs(found)} - {"x0", "x1", "x2"}
    assert ("x2", "a") not in pairs(found)


def test_association_also_claims_the_companion():
    X, Y = planted()
    assert ("x3", "a") in pairs(discoveries(forest(), X, Y, given="nothing", random_state=0))


def test_beyond_the_parent_is_what_the_parent_does_not_explain(found):
    beyond = {(c.feature, c.branch): c.beyond_parent for c in found.claims}
    assert beyond["x1", "a/x"] is True
    assert beyond["x0", "a"] is None
    assert beyond.get(("x0", "a/y")) in (None, False)


def test_effects_lie_in_their_intervals(found):
    for claim in found.claims:
        assert claim.low < claim.effect < claim.high
        assert 0 <= claim.p <= claim.q <= found.fdr


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_threads_do_not_change_a_bit(found, n_jobs):
    X, Y = planted()
    assert discoveries(forest(), X, Y, random_state=0, n_jobs=n_jobs) == found


def test_processes_do_not_change_a_bit(found, monkeypatch):
    monkeypatch.setattr(units, "_WORTH_PROCESSES", 1)
    X, Y = planted()
    assert discoveries(forest().set_params(n_jobs=3), X, Y, random_state=0) == found


def test_the_form_of_the_data_does_not_matter(found):
    X, Y = planted()
    as_sparse = discoveries(forest(), sparse.csr_array(X), sparse.csr_array(Y), random_state=0)
    assert as_sparse == found
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    labels = pd.DataFrame(Y, columns=TREE.names)[["b", "a", "a/y", "a/x"]]
    assert discoveries(forest(), frame, labels, random_state=0) == found


def test_weights_of_one_change_nothing_and_of_zero_leave_out(found):
    X, Y = planted()
    assert pairs(discoveries(forest(), X, Y, sample_weight=np.ones(len(X)), random_state=0)) == pairs(found)
    more, labels = np.vstack([X, X[:50]]), np.vstack([Y, 1 - Y[:50]])
    weights = np.r_[np.ones(len(X)), np.zeros(50)]
    assert {("x0", "a"), ("x2", "b")} <= pairs(
        discoveries(forest(), more, labels, sample_weight=weights, random_state=0)
    )


def test_copies_are_claimed_as_a_group():
    X, Y = planted()
    X[:, 5] = X[:, 2] + 0.01 * np.random.default_rng(1).standard_normal(len(X))
    found = discoveries(forest(), X, Y, random_state=0)
    assert found.groups == {"x2 + x5": ("x2", "x5")}
    assert ("x2 + x5", "b") in pairs(found)
    assert pairs(found.for_feature("x5")) == pairs(found.for_feature("x2 + x5")) != set()
    alone = discoveries(forest(), X, Y, groups=None, random_state=0)
    assert "not separable" in alone.doubtful["x2"]
    assert not pairs(alone.for_feature("x2"))


def test_a_dag_keeps_claims_nested():
    order = Hierarchy.from_edges([("a", "ab"), ("b", "ab"), ("a", "c")])
    X, _ = planted(400)
    random = np.random.default_rng(3)
    a, b = X[:, 0] + 0.3 * random.standard_normal(400) > 0, X[:, 2] + 0.3 * random.standard_normal(400) > -0.5
    columns = {"a": a, "b": b, "ab": a & b & (X[:, 1] > -0.5), "c": a & (random.random(400) < 0.5)}
    Y = np.column_stack([columns[name] for name in order.names]).astype(int)
    found = discoveries(ForestClassifier(60, hierarchy=order, min_samples_leaf=3), X, Y, random_state=0)
    assert ("x1", "ab") in pairs(found)
    for feature, branch in pairs(found):
        for parent in order.parents[branch] if branch else ():
            assert (feature, parent) in pairs(found)


def test_classes_numbers_and_rankings():
    X, _ = planted(300, seed=0)
    classes = np.digitize(X[:, 0], [-0.5, 0.5])
    assert {claim.feature for claim in discoveries(None, X, classes, random_state=0).claims} == {"x0"}
    random = np.random.default_rng(5)
    numbers = np.column_stack([X[:, 0] + 0.3 * random.standard_normal(300), random.standard_normal(300)])
    model = ForestRegressor(60, min_samples_leaf=3)
    claimed = pairs(discoveries(model, X, numbers, random_state=1))
    assert {("x0", "y0"), ("x0", "")} <= claimed
    assert ("x0", "y1") not in claimed
    assert ("x3", "y0") not in claimed
    data = make_label_ranking(300, n_labels=3, n_features=6, random_state=0)
    ranks = discoveries(LabelRankingForest(60, min_samples_leaf=3), data.X, data.y, random_state=0)
    drivers = {int(claim.feature[1:]) for claim in ranks.claims}
    assert drivers
    assert drivers <= set(np.flatnonzero(np.asarray(data.truth).any(axis=1)).tolist())


def test_nominal_missing_binary_and_mostly_zero_features():
    random = np.random.default_rng(0)
    n_rows = 500
    colour = random.choice(["red", "green", "blue"], n_rows)
    flag = (random.random(n_rows) < np.where(colour == "red", 0.8, 0.2)).astype(float)
    amount = np.where(random.random(n_rows) < 0.6, 0.0, random.gamma(2.0, 1.0, n_rows))
    holes = random.standard_normal(n_rows)
    X = pd.DataFrame({"colour": pd.Categorical(colour), "flag": flag, "amount": amount, "holes": holes})
    for k in range(4):
        X[f"noise{k}"] = random.standard_normal(n_rows)
    X.loc[random.random(n_rows) < 0.2, "holes"] = np.nan
    chance = 0.1 + 0.6 * (colour == "red") + 0.2 * (amount > 1) + 0.1 * (holes > 0)
    Y = np.column_stack([random.random(n_rows) < chance, random.random(n_rows) < 0.2 + 0.6 * (holes > 0)]).astype(int)
    found = discoveries(ForestClassifier(100, min_samples_leaf=3), X, Y, random_state=0)
    features = {feature for feature, _ in pairs(found)}
    assert {"colour", "holes"} <= features <= {"colour", "holes", "amount"}


def test_labels_without_enough_rows_are_untested(found):
    X, Y = planted()
    Y[:, 3] = 0
    Y[:4, 3] = 1
    rare = discoveries(forest(), X, Y, random_state=0)
    assert rare.untested == {"b": "only 4 rows with it; 10 are needed"}
    assert "b" not in rare.branches
    assert rare.for_branch("b").claims == ()
    assert found.untested == {}


def test_noise_alone_gives_a_result_without_claims():
    X, _ = planted()
    random = np.random.default_rng(9)
    found = discoveries(None, X, random.integers(0, 2, (len(X), 3)), random_state=0)
    assert isinstance(found, Discoveries)
    assert found.claims == ()
    assert found.to_frame().shape == (0, 9)


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_files_keep_everything(found, tmp_path, suffix):
    found.save(tmp_path / f"claims{suffix}")
    assert Discoveries.read(tmp_path / f"claims{suffix}") == found
    nothing = Discoveries((), doubtful={"=x": "redraw doubtful"}, untested={"b": "why"}, groups={"g": ("-a", "b")})
    nothing.save(tmp_path / f"none{suffix}")
    assert Discoveries.read(tmp_path / f"none{suffix}") == nothing


def test_the_whole_is_called_all_labels_unless_a_label_is(found, tmp_path):
    whole = found.for_branch("")
    assert whole.claims
    assert found.for_branch("all labels") == whole
    assert set(whole.to_frame()["branch"]) == {"all labels"}
    assert "all labels" in found._repr_html_()
    found.save(tmp_path / "claims.csv")
    assert f"claim,{whole.claims[0].feature},all labels," in (tmp_path / "claims.csv").read_text()
    named = replace(found, branches=("", "all labels"), claims=(replace(whole.claims[0], branch="all labels"),))
    named.save(tmp_path / "named.csv")
    assert Discoveries.read(tmp_path / "named.csv") == named


def test_every_output_says_which_question_was_asked(found, tmp_path):
    found.save(tmp_path / "claims.csv")
    assert found.question in (tmp_path / "claims.csv").read_text()
    assert "predicts branch beyond all other features" in repr(found)
    assert "at most 0.1" in found._repr_html_()
    assert found.question in found._repr_html_()
    assert "<th>beyond its parent</th>" in found._repr_html_()


def test_names_that_were_not_asked_about_are_refused(found):
    assert not found.for_feature("x11").claims
    with pytest.raises(ValueError, match="There is no feature or group 'x12' among the 12 features"):
        found.for_feature("x12")
    with pytest.raises(ValueError, match="There is no branch 'c' among the 4"):
        found.for_branch("c")


def test_files_that_are_none_are_refused(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"format": "other"}')
    with pytest.raises(ValueError, match="is not a file of discoveries"):
        Discoveries.read(path)
    with pytest.raises(ValueError, match=r"are a \.csv or \.json file"):
        Discoveries.read(tmp_path / "x.txt")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fdr": 0}, "'fdr' parameter of discoveries must be a number in"),
        ({"fdr": 1.0}, "'fdr' parameter of discoveries must be a number in"),
        ({"given": "some"}, "'given' parameter of discoveries must be one of 'others', 'nothing'"),
        ({"control": "none"}, "'control' parameter of discoveries must be one of 'joint', 'per_feature', 'flat'"),
        ({"groups": 3}, "'groups' parameter of discoveries must be one of 'auto', None"),
        ({"n_draws": 0}, "'n_draws' parameter of discoveries must be an int >= 1"),
        ({"sample_weight": [1.0]}, "sample_weight must hold one number per row"),
    ],
)
def test_bad_parameters_are_refused(options, message):
    X, Y = planted(120)
    with pytest.raises(ValueError, match=message):
        discoveries(forest(), X, Y, **options)


def test_bad_data_are_refused():
    X, Y = planted(120)
    with pytest.raises(ValueError, match="at least 100 rows"):
        discoveries(forest(), X[:99], Y[:99])
    with pytest.raises(ValueError, match="nothing to test: no label varies enough"):
        discoveries(None, X, np.ones((120, 2), dtype=int))
    with pytest.raises(ValueError, match="one value only"):
        discoveries(ForestRegressor(5), X, np.full(120, 0.5))
    with pytest.raises(ValueError, match="extra trees"):
        discoveries(forest(bootstrap=False, splitter="random"), X, Y)
    with pytest.raises(TypeError, match="must be a ForestClassifier"):
        discoveries("forest", X, Y)


def test_products_of_small_matrices_are_not_shared_among_threads(monkeypatch):
    def threads():
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

    seen = []

    def watched(*arguments):
        seen.append(threads())
        raise InterruptedError

    monkeypatch.setattr(discover, "survey", watched)
    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        with pytest.raises(InterruptedError):
            discoveries(forest(), *planted(120))
        assert threads() == before
    assert seen == [{1}]


def test_groups_of_features_are_those_of_average_linkage_over_all_pairs():
    random = np.random.default_rng(0)
    hidden = random.standard_normal((200, 12))
    X = np.repeat(hidden, 4, axis=1) + random.choice([0.05, 0.3, 0.5], 48) * random.standard_normal((200, 48))
    X[::7, 5] = np.nan
    apart = 1 - np.abs(rank_correlations(X))
    np.fill_diagonal(apart, 0)
    group = fcluster(linkage(squareform(apart, checks=False), "average"), 0.1, "distance")
    expected = sorted(tuple(np.flatnonzero(group == number).tolist()) for number in np.unique(group))
    assert correlated_features(Predictors(X, np.zeros(48, dtype=np.int32), 0)) == expected
    assert 12 < len(expected) < 48


def test_features_that_cannot_be_claimed_are_not_modelled(monkeypatch, found):
    learnt = []

    def counted(predictors, feature, *arguments, **options):
        learnt.append(feature)
        return column_model(predictors, feature, *arguments, **options)

    monkeypatch.setattr(units, "column_model", counted)
    X, Y = planted()
    assert discoveries(forest(), X, Y, random_state=0) == found
    assert {0, 1, 2} <= set(learnt) < set(range(12))
