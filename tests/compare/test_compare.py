import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import scikit_posthocs

from ramify.compare import compare, dunn, friedman, holm, nemenyi, wilcoxon
from ramify.compare.comparison import largest_groups
from ramify.compare.posthoc import critical_distance, holm_of_ranks
from ramify.compare.result_table import average_ranks, rank_methods, wins

# Printed as 3.222, 2.556, 1.583 and 2.639: rank sums over the 18 blocks.
THESIS_RANKS = pd.Series({"BR": 58.0, "CC": 46.0, "LCC": 28.5, "ECC": 47.5}) / 18
TREES = pd.DataFrame(
    [
        (0.883, 0.889, 0.882),
        (0.111, 0.182, 0.117),
        (0.182, 0.291, 0.324),
        (0.458, 0.437, 0.447),
        (0.746, 0.757, 0.760),
        (0.797, 0.774, 0.890),
        (0.871, 0.854, 0.883),
        (0.794, 0.704, 0.797),
        (0.963, 0.853, 0.947),
        (0.871, 0.838, 0.935),
        (0.929, 0.901, 0.949),
        (0.897, 0.859, 0.895),
        (0.817, 0.787, 0.827),
        (0.833, 0.598, 0.794),
        (0.905, 0.906, 0.882),
        (0.334, 0.337, 0.343),
    ],
    columns=["RT", "ERT", "LRT"],
)
FORESTS = pd.DataFrame(
    {
        "LRF-RT": [.912, .212, .185, .469, .605, .887, .874, .780, .973, None, .930, .892, .850, .844, .932, .460],
        "LRF-ERT": [.906, .211, .294, .471, .721, .841, .849, .699, .933, None, .917, .869, .849, .701, .925, .429],
    }
)  # fmt: skip


@pytest.fixture
def table():
    rng = np.random.default_rng(3)
    values = rng.random((14, 5)).round(2) + np.array([0.3, 0, 0.1, 0, 0.2])
    return pd.DataFrame(values, columns=list("abcde"))


def test_tables_5_3_and_5_4_of_the_thesis_are_one_sided():
    by_holm = holm_of_ranks(THESIS_RANKS, 18, control="LCC", alternative="less")
    assert by_holm["second"].tolist() == ["BR", "ECC", "CC"]
    np.testing.assert_allclose(by_holm["z"], [-3.808, -2.453, -2.259], atol=1e-3)
    np.testing.assert_allclose(by_holm["p_value"], [0.0001, 0.0071, 0.0119], atol=6e-5)
    np.testing.assert_allclose(by_holm["threshold"], [0.05 / 3, 0.025, 0.05])
    assert by_holm["significant"].all()


def test_critical_values_of_the_rpv_paper_belong_to_another_level():
    assert stats.chi2.ppf(0.95, 5) == pytest.approx(11.07, abs=0.01)
    assert stats.chi2.ppf(0.975, 5) == pytest.approx(12.83, abs=0.01)


def test_table_4_4_of_label_ranking_gives_a_larger_p_than_the_text_says():
    assert friedman(TREES).p_value == pytest.approx(0.047, abs=0.001)


def test_table_4_5_of_label_ranking_is_one_sided_dunn():
    p_values = dunn(TREES, alternative="one-sided")
    assert p_values.loc["RT", "ERT"] == pytest.approx(0.22, abs=0.01)
    assert p_values.loc["RT", "LRT"] == pytest.approx(0.37, abs=0.01)
    assert p_values.loc["ERT", "LRT"] == pytest.approx(0.13, abs=0.01)


def test_table_4_7_of_label_ranking_keeps_pendigits_for_the_trees():
    p_values = dunn(pd.concat([TREES, FORESTS], axis=1), alternative="one-sided")
    printed = [[0.23, 0.34, 0.31, 0.44], [0.13, 0.11, 0.28], [0.46, 0.29], [0.25]]
    for row, expected in enumerate(printed):
        np.testing.assert_allclose(p_values.iloc[row, row + 1 :], expected, atol=0.035)
    assert p_values.loc["LRT", "LRF-ERT"] == pytest.approx(0.29, abs=0.005)


def test_critical_distances_of_demsar():
    assert critical_distance(4, 14) == pytest.approx(2.569 * np.sqrt(20 / 84), abs=1e-3)
    assert critical_distance(4, 14, alpha=0.10) == pytest.approx(2.291 * np.sqrt(20 / 84), abs=1e-3)


def test_friedman_equals_scipy(table):
    expected = stats.friedmanchisquare(*table.to_numpy().T)
    result = friedman(table)
    assert result.statistic == pytest.approx(expected.statistic)
    assert result.p_value == pytest.approx(expected.pvalue)


def test_nemenyi_equals_scikit_posthocs(table):
    expected = scikit_posthocs.posthoc_nemenyi_friedman(table)
    np.testing.assert_allclose(nemenyi(table), expected, atol=1e-6)


def test_dunn_equals_scikit_posthocs(table):
    long = table.melt(var_name="method")
    expected = scikit_posthocs.posthoc_dunn(long, val_col="value", group_col="method")
    np.testing.assert_allclose(dunn(table), expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_dunn_of_unequal_groups_with_ties_equals_scikit_posthocs(table, seed):
    tied = table.round(1).mask(np.random.default_rng(seed).random(table.shape) < 0.3)
    assert tied.count().nunique() > 1
    assert tied.stack().duplicated().any()
    long = tied.melt(var_name="method").dropna()
    expected = scikit_posthocs.posthoc_dunn(long, val_col="value", group_col="method")
    np.testing.assert_allclose(dunn(tied), expected, atol=1e-12)
    assert dunn(tied, alternative="one-sided").loc["a", "b"] == pytest.approx(expected.loc["a", "b"] / 2)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (pd.DataFrame({"a": [np.nan, np.nan], "b": [1, 2]}), "no value for 'a'"),
        (pd.DataFrame({"a": [1, np.inf], "b": [1, np.nan]}), "no finite value for 'a' on 1"),
    ],
)
def test_dunn_refuses_a_method_without_a_value_and_infinite_values(table, words):
    with pytest.raises(ValueError, match=words):
        dunn(table)


def test_values_that_are_all_equal_do_not_differ_by_dunn():
    assert (dunn(pd.DataFrame({"a": [0.1, 0.1, 0.1], "b": [0.1, np.nan, 0.1]})) == 1).all(axis=None)


def test_holm_adjusts_as_statsmodels_does(table):
    from statsmodels.stats.multitest import multipletests

    tests = holm(table, control="a")
    np.testing.assert_allclose(tests["adjusted"], multipletests(tests["p_value"], method="holm")[1])


def test_wilcoxon_with_benjamini_hochberg_equals_scipy_and_statsmodels(table):
    from statsmodels.stats.multitest import multipletests

    tests = wilcoxon(table, correction="bh")
    first = tests.iloc[0]
    hundredths = (100 * table).round()  # exact, so that equal differences are equal
    expected = stats.wilcoxon(hundredths[first["first"]], hundredths[first["second"]], zero_method="zsplit").pvalue
    assert first["p_value"] == pytest.approx(expected)
    np.testing.assert_allclose(tests["adjusted"], multipletests(tests["p_value"], method="fdr_bh")[1])


def test_ranks_share_ties_and_follow_the_direction():
    values = pd.DataFrame({"a": [1.0, 1.0], "b": [1.0, 2.0], "c": [0.0, 3.0]})
    assert rank_methods(values).to_numpy().tolist() == [[1.5, 1.5, 3], [3, 2, 1]]
    assert average_ranks(values, larger_is_better=False).tolist() == [1.75, 2.25, 2.0]
    assert rank_methods([[0.12341, 0.12342], [1, 2]], digits=3).iloc[0].tolist() == [1.5, 1.5]


def test_wins_count_strictly_better():
    assert wins(pd.DataFrame({"a": [1, 2, 3], "b": [1, 1, 4]})).to_numpy().tolist() == [[0, 1], [1, 0]]


def test_a_clear_winner_is_named_in_the_sentence():
    rng = np.random.default_rng(0)
    noise = rng.normal(scale=0.01, size=(20, 3))
    result = compare(pd.DataFrame(noise + [0.9, 0.5, 0.5], columns=["best", "x", "y"]))
    assert "best (average rank 1.00) is significantly better than" in result.sentence
    assert ("best",) not in result.groups
    assert result.groups[-1] in {("x", "y"), ("y", "x")}


def test_no_difference_gives_one_group_and_no_distance(table):
    noise = pd.DataFrame(np.random.default_rng(1).random((12, 4)))
    result = compare(noise)
    assert result.critical_distance is None
    assert len(result.groups) == 1
    assert "no significant difference" in result.sentence


def test_too_few_data_sets_give_no_p_value():
    result = compare([[0.9, 0.1], [0.9, 0.2], [0.8, 0.1]])
    assert result.friedman is None
    assert result.p_values is None
    assert "too few to conclude anything" in result.sentence


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([[1, 2]], "at least 2 data sets"),
        (pd.DataFrame({"a": [1, np.nan], "b": [1, 2]}), "no finite value for 'a' on 1"),
        (pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}), "numbers only"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), "name of its own"),
    ],
)
def test_bad_tables_are_refused(table, words):
    with pytest.raises(ValueError, match=words):
        compare(table)


def test_an_unknown_control_is_refused(table):
    with pytest.raises(ValueError, match="control 'z' is not a method"):
        holm(table, control="z")


def test_differences_that_rounding_hides_are_neither_ranks_nor_wins():
    table = pd.DataFrame({"a": [0.90004, 0.8] * 3, "b": [0.90001, 0.8] * 3, "c": [0.5, 0.6] * 3})
    result = compare(table, digits=3)
    assert result.ranks["a"] == result.ranks["b"]
    assert result.wins.loc["a", "b"] == result.wins.loc["b", "a"] == 0
    assert compare(table).wins.loc["a", "b"] == 3


def test_methods_may_be_numbered_and_a_direction_must_be_known():
    ranks = pd.Series([1.2, 1.9, 2.9])
    found = holm_of_ranks(ranks, 10, control="0", alternative="less")
    assert found["second"].tolist() == ["2", "1"]
    table = pd.DataFrame({"a": [0.9, 0.8, 0.7], "b": [0.8, 0.7, 0.5]})
    with pytest.raises(ValueError, match="alternative"):
        wilcoxon(table, control="a", alternative="fewer")


@pytest.mark.parametrize("seed", range(20))
def test_differences_that_rounding_tells_apart_are_ties_for_wilcoxon(seed):
    rng = np.random.default_rng(seed)
    tenths = rng.integers(1, 10, size=(8, 2))
    exact = stats.wilcoxon(tenths[:, 0] - tenths[:, 1], zero_method="zsplit").pvalue
    for scale in (10, 1000, 1e-5):
        assert wilcoxon(tenths / scale)["p_value"][0] == pytest.approx(exact, rel=1e-12)


def test_wilcoxon_of_six_printed_values_is_the_exact_one():
    table = pd.DataFrame({"a": [0.9, 0.3, 0.8, 0.5, 0.6, 0.7], "b": [0.8, 0.2, 0.6, 0.6, 0.8, 0.6]})
    exact = stats.wilcoxon([1, 1, 2, -1, -2, 1]).pvalue
    assert wilcoxon(table, correction="bh")["p_value"][0] == exact
    assert wilcoxon(table, correction="bh")["median_difference"][0] == pytest.approx(0.1)


def test_values_equal_but_for_rounding_do_not_differ():
    tests = wilcoxon(pd.DataFrame({"a": [0.1 + 0.2, 0.7, 1.1 + 2.2], "b": [0.3, 0.7, 3.3]}))
    assert tests["p_value"][0] == 1.0


@pytest.mark.parametrize("noise", [0.001, 0.2])
def test_the_table_of_wins_agrees_with_the_sentence(noise):
    generator = np.random.default_rng(0)
    table = pd.DataFrame({name: 0.5 + 0.02 * k + noise * generator.normal(size=12) for k, name in enumerate("abcd")})
    found = compare(table)
    best = str(found.ranks.index[0])
    frame = found.to_frame()
    assert frame.loc[best, "better_than"] == len(found.better_than(best))
    for name in found.better_than(best):
        assert f"{name} (" in found.sentence.partition("significantly better than")[2]
    assert (noise == 0.2) == ("no significant difference" in found.sentence)
    assert (frame["better_than"].sum() == 0) == ("no significant difference" in found.sentence)
    assert frame["ahead_of"].sum() > 0


def test_pairs_without_a_significant_difference_share_a_bar():
    random = np.random.default_rng(4)
    for test in ("nemenyi", "wilcoxon"):
        for seed in range(20):
            table = np.random.default_rng(seed).standard_normal((12, 5)) + np.linspace(0, 1.2, 5) * random.random()
            found = compare(table, test=test)
            for first in found.ranks.index:
                for second in found.ranks.index:
                    together = any({first, second} <= set(group) for group in found.groups)
                    if first != second:
                        assert together == (found.p_values.loc[first, second] > found.alpha)
                        assert not (together and second in found.better_than(first))


def test_bars_may_skip_a_method():
    p_values = np.array([[1, 0.01, 0.065], [0.01, 1, 0.5], [0.065, 0.5, 1]])
    assert largest_groups(["a", "b", "c"], p_values, 0.05) == [("a", "c"), ("b", "c")]


def test_wilcoxon_with_holm_is_that_of_scipy_and_finds_more():
    random = np.random.default_rng(0)
    n_found = {"nemenyi": 0, "wilcoxon": 0}
    for _ in range(20):
        level = random.standard_normal((12, 1))
        table = pd.DataFrame(
            level + [0.0, 0.05, 0.1, 0.35] + 0.25 * random.standard_normal((12, 4)), columns=list("abcd")
        )
        for test in n_found:
            n_found[test] += "a" in compare(table, test=test).better_than("d")
        tests = wilcoxon(table)
        raw = [stats.wilcoxon(table[a], table[b]).pvalue for a, b in tests[["first", "second"]].to_numpy()]
        np.testing.assert_allclose(tests["p_value"], raw)
        np.testing.assert_allclose(tests["adjusted"].iloc[0], min(1, 6 * min(raw)))
    assert n_found["wilcoxon"] > n_found["nemenyi"]


@pytest.mark.parametrize("test", ["nemenyi", "wilcoxon"])
@pytest.mark.hostile
def test_methods_that_are_equal_are_seldom_told_apart(test):
    said = sum(
        any(found.better_than(name) for name in found.ranks.index)
        for seed in range(100)
        for found in [compare(np.random.default_rng(seed).standard_normal((10, 4)), test=test)]
    )
    assert said <= 11


@pytest.mark.parametrize("index", [["fold 1", "fold 2", "fold 3"], ["a", "a", "b"], pd.RangeIndex(3, name="fold")])
def test_folds_are_no_independent_data_sets(index):
    table = pd.DataFrame(np.eye(3), index=index, columns=list("xyz"))
    with pytest.raises(ValueError, match=r"independent of each other.*compare_methods"):
        compare(table)
