import io

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from ramify import Hierarchy, plots
from ramify.compare import compare
from ramify.ranking import FeatureRanking


def ranking(n_features=40, n_labels=6, per_label=True):
    scores = np.random.default_rng(0).exponential(size=(n_features, n_labels))
    names = [f"$feature_{j}" for j in range(n_features)]
    if not per_label:
        return FeatureRanking(names, scores.sum(axis=1))
    labels = [f"label {j}" for j in range(n_labels)]
    return FeatureRanking(names, scores.sum(axis=1), per_label=scores, label_names=labels)


def saved(figure) -> bytes:
    assert isinstance(figure, Figure)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg")
    return buffer.getvalue()


def comparison(n_datasets=12):
    means = np.array([0.9, 0.86, 0.85, 0.7])
    table = means + np.random.default_rng(0).normal(scale=0.04, size=(n_datasets, 4))
    return compare(pd.DataFrame(table, columns=["a$b", "b", "<c>", "d"]))


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plots.ranking_bars(ranking(), n_features=10),
        lambda: plots.label_heatmap(ranking()),
        lambda: plots.label_heatmap(ranking(n_labels=80), labels=["label 3", "label 7"]),
        lambda: plots.agreement(["a", "b"], np.array([[1, -0.3], [-0.3, 1]])),
        lambda: plots.method_map(["a$", "b", "c"], [[0, 0], [1, 0], [0, 1]], distances=np.ones((3, 3))),
        lambda: plots.method_map(list("abcdef"), np.zeros((6, 2)), distances=np.zeros((6, 6))),
        lambda: plots.critical_difference(comparison()),
        lambda: plots.critical_difference(comparison(n_datasets=3)),
    ],
)
def test_figures_can_be_saved_as_vectors(draw):
    assert b"<svg" in saved(draw())


def test_dollar_signs_are_no_formulas():
    assert b"$feature" in saved_text(plots.ranking_bars(ranking(), n_features=5))


def saved_text(figure) -> bytes:
    import matplotlib as mpl

    with mpl.rc_context({"svg.fonttype": "none"}):
        return saved(figure)


def test_blocks_of_a_hierarchy_tile_their_parents():
    from ramify.plots.feature_rankings import _blocks

    tree = Hierarchy.from_paths(["a/b/c", "a/b/d", "a/e", "f"])
    start, width, level = _blocks(tree)
    assert width[level == 0].sum() == len(tree.leaves)
    for parent, children in tree.children.items():
        if children:
            inside = [tree.index(child) for child in children]
            assert start[inside].min() == start[tree.index(parent)]
            assert width[inside].sum() == width[tree.index(parent)]


def test_icicle_takes_dags_and_missing_values():
    dag = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c")])
    assert b"<svg" in saved(plots.hierarchy_icicle(dag, np.array([1.0, np.nan, 3, 4])))
    with pytest.raises(ValueError, match="one entry per node"):
        plots.hierarchy_icicle(dag, np.ones(2))


def test_heat_map_needs_scores_per_label():
    with pytest.raises(ValueError, match="no scores per label"):
        plots.label_heatmap(ranking(per_label=False))


def test_development_shows_the_share_of_the_last_best_features():
    rows = {5: [4.0, 1.0, 0.0], 20: [2.0, 1.0, 7.0]}
    rankings = [FeatureRanking(["a", "b", "c"], r, origin={"n_estimators": n}) for n, r in rows.items()]
    axes = plots.ranking_development(rankings, n_features=2).axes[0]
    assert [line.get_label() for line in axes.lines] == ["c", "a"]
    np.testing.assert_allclose(axes.lines[0].get_ydata(), [0.0, 0.7])
    assert axes.lines[0].get_xdata().tolist() == [5, 20]


@pytest.mark.parametrize(
    ("rankings", "words"),
    [
        ([], "at least one ranking"),
        ([FeatureRanking(["a"], [1.0])], "its number of trees"),
        (
            [FeatureRanking([name], [1.0], origin={"n_estimators": 2}) for name in "ab"],
            "of the same features",
        ),
    ],
)
def test_development_refuses_what_it_cannot_compare(rankings, words):
    with pytest.raises(ValueError, match=words):
        plots.ranking_development(rankings)
