"""The heat map of importances can be drawn and saved as vectors, also for odd results, and stays readable."""

import io

import numpy as np
import pytest

from ramify import plots


def importances(n_labels=5, n_features=20):
    matrix = np.random.default_rng(0).exponential(size=(n_labels, n_features + n_labels))
    matrix[np.arange(n_labels), n_features + np.arange(n_labels)] = 0
    return matrix


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plots.importance_heatmap(importances()),
        lambda: plots.importance_heatmap(importances(), relative_to="matrix", n_predictors=5),
        lambda: plots.importance_heatmap(importances(n_labels=1)),
        lambda: plots.importance_heatmap(importances(n_labels=15, n_features=214)),
    ],
)
def test_figures_can_be_saved_as_vectors(draw):
    buffer = io.BytesIO()
    draw().savefig(buffer, format="svg")
    assert b"<svg" in buffer.getvalue()


def test_labels_are_ordered_by_their_dendrogram():
    matrix = np.zeros((4, 8))
    matrix[[0, 2], 0] = 1.0
    matrix[[1, 3], 1] = 1.0
    ticks = [text.get_text() for text in plots.importance_heatmap(matrix).axes[2].get_xticklabels()]
    assert {frozenset(ticks[:2]), frozenset(ticks[2:])} == {
        frozenset({"label0", "label2"}),
        frozenset({"label1", "label3"}),
    }


def test_labels_as_predictors_stay_readable_below_any_number_of_features():
    figure = plots.importance_heatmap(importances(n_labels=6, n_features=300))
    _, features, labels = figure.axes[:3]
    assert [text.get_text() for text in labels.get_yticklabels()] == [f"label{j}" for j in range(6)]
    assert len(features.get_yticklabels()) <= 100
    figure.draw_without_rendering()
    points = labels.get_window_extent().height * 72 / figure.dpi / 6
    assert points > 6  # the size of the letters
