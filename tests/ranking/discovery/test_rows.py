"""Rows that belong together: copies are found, and claims hold where rows are not independent."""

import numpy as np
import pytest
from scipy import sparse, stats

from ramify import _core
from ramify.ensemble import ForestClassifier
from ramify.features import Features
from ramify.ranking import discoveries
from ramify.ranking.discovery.effects import fieller_shares
from ramify.ranking.discovery.outcome import Untestable
from ramify.ranking.discovery.row_orders import of_even_sizes
from ramify.ranking.discovery.rows import RowGroups, blocks_in_order, copies, effective_number
from ramify.ranking.discovery.survey import Question, survey


def features_of(X):
    return Features(np.asarray(X, dtype=float), np.zeros(X.shape[1], dtype=np.int32))


def normal(n_rows=400, n_features=12, seed=0):
    return np.random.default_rng(seed).standard_normal((n_rows, n_features))


def visits(n_subjects, n_visits, seed, strength=0.0):
    """Subjects with their own features and their own tendency to have a label; x0 drives the first label."""
    random = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_subjects), n_visits)
    X = 0.9 * random.standard_normal((n_subjects, 10))[group] + 0.45 * random.standard_normal((len(group), 10))
    score = 2.5 * random.standard_normal((n_subjects, 3))[group]
    score[:, 0] += strength * X[:, 0]
    return X, (random.random(score.shape) < 1 / (1 + np.exp(-score))).astype(int), group


def test_copies_and_near_copies_are_found_and_others_are_not():
    X = normal(600, 20)
    X[570:] = X[:30]
    groups, n_copied = copies(features_of(X), 0)
    assert n_copied == 60
    assert groups.n_groups == 570
    assert (groups.of_row[570:] == groups.of_row[:30]).all()
    twins = np.repeat(normal(300, 60), 2, axis=0) + 0.25 * normal(600, 60, seed=1)
    groups, _ = copies(features_of(twins), 0)
    assert groups.n_groups == 300
    for columns in (normal(600, 2), normal(600, 40), np.exp(normal(600, 20)), np.round(normal(600, 5))):
        groups, n_copied = copies(features_of(columns), 0)
        assert (n_copied, groups.n_groups) == (0, 600)


def test_sums_are_by_group_wherever_a_block_of_rows_begins():
    groups = RowGroups(np.array([0, 1, 0, 2, 1]))
    values = np.arange(10.0).reshape(5, 2)
    np.testing.assert_array_equal(groups.sums(values), [[4, 6], [10, 12], [6, 7]])
    np.testing.assert_array_equal(groups.sums(values[:2]) + groups.sums(values[2:], 2), groups.sums(values))
    np.testing.assert_array_equal(groups.take(np.array([3, 1])).of_row, [1, 0])
    assert effective_number(groups.sums(np.ones(5))) == pytest.approx(25 / 9)


def walks(n_rows, n_columns, random, step=0.9):
    """Columns each value of which follows the one before."""
    X = random.standard_normal((n_rows, n_columns))
    for row in range(1, n_rows):
        X[row] = step * X[row - 1] + np.sqrt(1 - step**2) * X[row]
    return X


def test_rows_in_the_order_of_time_make_blocks_with_gaps():
    random = np.random.default_rng(0)
    X = walks(1000, 12, random)
    labels = (walks(1000, 3, random) > 0).astype(float)
    alone = RowGroups.alone(1000)
    found = blocks_in_order(features_of(X), labels, alone)
    assert found is not None
    assert found.length == 2 * found.gap
    centred = [(own - own.mean(axis=0)) / own.std(axis=0) for own in (X, labels)]

    def product(lag):
        return np.prod([np.median((own[lag:] * own[:-lag]).mean(axis=0)) for own in centred])

    assert product(found.gap) < 0.07
    assert product(max(1, found.gap // 2)) > 0.05
    sizes = np.bincount(found.of_row[found.of_row >= 0])
    assert set(sizes) == {found.length}
    starts = np.flatnonzero(np.diff(np.r_[-1, found.of_row]) > 0)
    assert set(np.diff(starts)) == {3 * found.gap}


def test_rows_in_no_order_or_sorted_by_their_label_make_none():
    alone = RowGroups.alone(400)
    walk = np.cumsum(normal(), axis=0)
    assert blocks_in_order(features_of(normal()), walk[:, :2], alone) is None
    assert blocks_in_order(features_of(walk), normal(seed=1)[:, :2], alone) is None
    label = np.sort(np.random.default_rng(0).integers(0, 3, 400))
    shown = (label[:, None] == np.arange(3)).astype(float)
    assert blocks_in_order(features_of(normal() + 3 * label[:, None]), shown, alone) is None
    assert blocks_in_order(features_of(walk), np.sign(walk[:, :2]), alone) is not None


def test_copies_count_once_when_the_order_is_looked_at():
    twins = RowGroups(np.repeat(np.arange(200), 2))
    X, y = np.repeat(normal(200), 2, axis=0), np.repeat(normal(200, 2, seed=1), 2, axis=0)
    assert blocks_in_order(features_of(X), y, twins) is None
    assert blocks_in_order(features_of(X), y, RowGroups.alone(400)) is not None


@pytest.mark.parametrize("given", ["others", "nothing"])
def test_rows_in_order_are_tested_in_blocks_unless_told_otherwise(given):
    random = np.random.default_rng(3)
    X = walks(600, 8, random, 0.7)
    Y = (walks(600, 2, random, 0.7) + 0.3 * random.standard_normal((600, 2)) > 0).astype(int)
    forest = ForestClassifier(30, min_samples_leaf=3)
    found = discoveries(forest, X, Y, given=given, random_state=0)
    assert "as rows in the order of time, place or batch are" in found.notes[0]
    assert found.n_rows < 450
    alone = discoveries(forest, X, Y, given=given, row_groups=np.arange(600), random_state=0)
    assert (alone.notes, alone.n_rows) == ((), 600)
    with pytest.raises(Untestable, match=r"blocks of \d+ rows that tell something of their own"):
        discoveries(forest, X[:150], Y[:150], given=given)


def test_sums_of_redraws_are_those_of_groups_of_rows():
    X, Y, group = visits(40, 4, 1)
    rows = RowGroups(group.astype(np.int64))
    question = Question(ForestClassifier(30, min_samples_leaf=3), "nothing", True, 2, 0, 1, 0)
    found = survey(question, features_of(X), Y, np.random.default_rng(0).uniform(0.5, 2, len(X)), None, rows)
    sums = found.sums(found.units, np.zeros((len(found.units), len(X))))
    arguments = found.draws(found.units)
    span = {"first_row": 0, "last_row": len(X)}
    changes = _core.redraw_rows(found.forest.trees_, found.table, found.outcome.target, **span, **arguments)
    weight = rows.sums(found.row_weights)
    for unit, change in enumerate(changes):
        S = rows.sums(found.row_weights[:, None] * change)
        np.testing.assert_allclose(sums[0][unit], S.sum(axis=0), atol=1e-12)
        np.testing.assert_allclose(sums[1][unit], weight @ S, atol=1e-12)
        np.testing.assert_allclose(sums[2][unit], (S**2).sum(axis=0), atol=1e-12)
        mean = S.sum(axis=0) / weight.sum()
        variance = ((S - mean * weight[:, None]) ** 2).sum(axis=0) / weight.sum() ** 2 * 40 / 39
        t = np.where(variance > 0, mean / np.sqrt(np.where(variance > 0, variance, 1)), -np.inf)
        expected = stats.t.sf(t, effective_number(weight) - 1)
        np.testing.assert_allclose(found.p_values[unit], expected, atol=1e-10)


def test_visits_of_subjects_make_no_false_claims_once_they_are_told():
    claimed = {"alone": 0, "together": 0}
    for seed in range(3):
        X, Y, group = visits(60, 8, seed)
        forest = ForestClassifier(60, min_samples_leaf=3)
        alone = discoveries(forest, X, Y, row_groups=np.arange(len(X)), random_state=seed)
        claimed["alone"] += len(alone.claims) > 0
        claimed["together"] += len(discoveries(forest, X, Y, row_groups=group, random_state=seed).claims) > 0
    assert claimed["alone"] > claimed["together"]
    assert claimed["together"] <= 1


def test_a_driver_is_found_among_subjects():
    X, Y, group = visits(120, 4, 0, strength=4.0)
    found = discoveries(ForestClassifier(60, min_samples_leaf=3), X, Y, row_groups=group, random_state=0)
    assert "x0" in {claim.feature for claim in found.claims}


def test_the_names_and_order_of_groups_do_not_matter():
    X, Y, group = visits(60, 4, 0, strength=4.0)
    forest = ForestClassifier(40, min_samples_leaf=3)
    named = discoveries(forest, X, Y, row_groups=[f"subject {g}" for g in group], random_state=0)
    assert named == discoveries(forest, X, Y, row_groups=group, random_state=0, n_jobs=2)


def test_copies_are_kept_together_and_said_so():
    X = normal(300, 10)
    X[260:] = X[:40]
    Y = (np.random.default_rng(1).random((300, 2)) < 0.5).astype(int)
    found = discoveries(ForestClassifier(20), X, Y, random_state=0)
    assert found.notes == (
        "80 rows are copies or near copies of others. Copies are kept together and count as one in tests.",
    )


def test_few_groups_and_uneven_weights_are_refused():
    X, Y, group = visits(15, 10, 0)
    with pytest.raises(Untestable, match="15 groups that tell as much as 15 groups of equal size"):
        discoveries(None, X, Y, row_groups=group)
    with pytest.raises(Untestable, match="The weights leave as much as"):
        discoveries(None, X[:110], Y[:110], sample_weight=np.r_[np.ones(80), np.full(30, 50.0)])
    with pytest.raises(ValueError, match="one value per row"):
        discoveries(None, X, Y, row_groups=group[:-1])
    weight = np.r_[np.full(5, 9.0), np.ones(195)]
    heavy = discoveries(None, normal(200), visits(40, 5, 0)[1], sample_weight=weight, random_state=0)
    assert heavy.notes[0] == "5 rows weigh more than 5 medians and count as 5."
    some = discoveries(None, *visits(40, 5, 0)[:2], row_groups=visits(40, 5, 0)[2], random_state=0)
    assert some.notes == ("The rows tell as much as 40 independent groups: with fewer than 80 few drivers are found.",)


def test_shares_exclude_zero_exactly_where_the_test_does():
    random = np.random.default_rng(0)
    explained = np.abs(random.standard_normal((200, 300))) + 0.2
    lost = random.normal(random.uniform(-0.05, 0.2, 200)[:, None], 1, (200, 300)) * explained
    sizes = random.uniform(0.5, 2, 300)
    shares = fieller_shares(lost * sizes, explained * sizes, sizes)
    mean = (lost * sizes).sum(axis=1) / sizes.sum()
    spread = np.sqrt((((lost - mean[:, None]) * sizes) ** 2).sum(axis=1) * 300 / 299) / sizes.sum()
    p = stats.t.sf(mean / spread, effective_number(sizes) - 1)
    np.testing.assert_array_equal(shares[:, 1] > 0, p < 0.05)
    assert ((shares[:, 0] >= 0) & (shares[:, 2] <= 1)).all()
    assert (shares[:, 1] <= shares[:, 0]).all()
    assert (shares[:, 0] <= shares[:, 2]).all()
    nothing = fieller_shares(lost[:1], random.standard_normal((1, 300)), sizes)
    assert np.isnan(nothing).all()


@pytest.mark.slow
def test_effects_are_shares_of_what_is_explained():
    shares = []
    beta = np.array([1.0, 0.7, 0.4, 0.2, 0, 0])
    apart = np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    covariance = 0.5**apart
    true = beta**2 / np.diag(np.linalg.inv(covariance)) / (beta @ covariance @ beta)
    for seed in range(5):
        X = normal(1500, 6, seed) @ np.linalg.cholesky(covariance).T
        signal = X @ beta
        y = signal + signal.std() * normal(1500, 1, seed + 100)[:, 0]
        found = discoveries(None, X, y, random_state=seed)
        effects = {claim.feature: claim.effect for claim in found.claims if claim.branch == ""}
        shares.append([effects.get(f"x{j}", 0.0) for j in range(4)])
    np.testing.assert_allclose(np.mean(shares, axis=0), true[:4], atol=0.06)


def test_sparse_features_take_groups_too():
    X, Y, group = visits(60, 4, 0, strength=4.0)
    X[np.abs(X) < 0.3] = 0
    forest = ForestClassifier(20, min_samples_leaf=3)
    dense = discoveries(forest, X, Y, row_groups=group, random_state=0)
    assert discoveries(forest, sparse.csr_array(X), Y, row_groups=group, random_state=0) == dense


def test_more_rows_than_are_asked_for_are_drawn_in_whole_groups():
    X, Y, group = visits(120, 4, 0, strength=4.0)
    forest = ForestClassifier(40, min_samples_leaf=3)
    found = discoveries(forest, X, Y, row_groups=group, max_rows=402, random_state=0)
    assert found.n_rows == 400
    assert found.notes[0].startswith("400 of 480 rows, drawn at random, are tested")
    assert found == discoveries(forest, X, Y, row_groups=group, max_rows=402, random_state=0, n_jobs=2)
    assert discoveries(forest, X, Y, row_groups=group, max_rows=None, random_state=0).n_rows == 480


def kin(n_groups, n_members, alike, n_columns=40, seed=0):
    """Rows of a group correlate by `alike`."""
    group = np.repeat(np.arange(n_groups), n_members)
    own = normal(len(group), n_columns, seed=seed + 1)
    return np.sqrt(alike) * normal(n_groups, n_columns, seed=seed)[group] + np.sqrt(1 - alike) * own, group


@pytest.mark.parametrize(("n_groups", "n_members", "alike"), [(200, 2, 0.9), (100, 4, 0.9), (60, 10, 0.8)])
def test_rows_alike_are_found_whole_and_apart(n_groups, n_members, alike):
    X, group = kin(n_groups, n_members, alike)
    found = copies(features_of(X), 0)[0].of_row
    pairs = np.unique(np.column_stack([group, found]), axis=0)
    assert len(pairs) <= 1.01 * n_groups
    assert len(np.unique(found)) >= n_groups


def test_copies_of_few_values_are_found():
    random = np.random.default_rng(0)
    for values in (random.integers(0, 4, (300, 30)), random.random((300, 60)) < 0.5, np.round(normal(300, 30))):
        X = np.vstack([values, values[:30]]).astype(float)
        rows, n_copied = copies(features_of(X), 0)
        assert n_copied >= 59
        assert np.array_equal(rows.of_row[:29], rows.of_row[300:329])


@pytest.mark.parametrize(
    "X",
    [
        np.random.default_rng(0).standard_cauchy((400, 30)),
        np.exp(1.5 * normal(400, 20)) * np.exp(normal(400, 1, seed=5)),
        (normal(400, 8) > 0).astype(float),
        (normal(400, 40) > 1.3).astype(float),
        np.round(normal(400, 6)),
        normal(400, 20) + 4 * normal(3, 20, seed=2)[np.arange(400) % 3],
        walks(400, 15, np.random.default_rng(1), 0.95),
        walks(1500, 30, np.random.default_rng(1), 0.9),
    ],
    ids=["heavy tails", "uneven", "few classes", "rare classes", "scores", "clusters", "time", "a course"],
)
def test_rows_alike_by_chance_are_no_copies(X):
    assert copies(features_of(X), 0)[1] == 0


def test_groups_of_uneven_sizes_are_cut_to_even_ones():
    sizes = np.r_[np.full(12, 3), np.full(11, 4), np.full(10, 40), 200]
    group = np.random.default_rng(0).permutation(np.repeat(np.arange(34), sizes))
    kept = of_even_sizes(group, 0)
    assert np.array_equal(kept, np.unique(kept))
    left = np.bincount(group[kept], minlength=34)
    assert left[-1] in (0, 40)
    assert np.array_equal(left[:33], sizes[:33])
    X, Y = normal(len(group), 5), (normal(len(group), 2, seed=1) > 0).astype(int)
    found = discoveries(None, X, Y, given="nothing", row_groups=group, random_state=0)
    assert found.n_rows == len(kept)
    assert "rows are left out" in found.notes[0]


def test_association_keeps_copies_together():
    X, Y = np.repeat(normal(60, 20), 5, axis=0), np.repeat(normal(60, 4, seed=1) > 0, 5, axis=0).astype(int)
    found = discoveries(None, X, Y, given="nothing", random_state=0)
    assert found.claims == ()
    assert "300 rows are copies" in found.notes[0]
