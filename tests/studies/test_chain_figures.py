"""Every figure of the study of chains can be drawn and saved as vectors, also for odd results."""

import io
import sys

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.tree import DecisionTreeClassifier

from ramify.chains import BinaryRelevance, R2Screening
from ramify.datasets import make_multilabel
from ramify.study.study_files import load_study_file

load_study_file("l_classifier_chains")
plots = sys.modules["ramify_studies.chain_figures"]
tables = sys.modules["ramify_studies.chain_tables"]


def importances(n_labels=5, n_features=20):
    matrix = np.random.default_rng(0).exponential(size=(n_labels, n_features + n_labels))
    matrix[np.arange(n_labels), n_features + np.arange(n_labels)] = 0
    return matrix


def results():
    random = np.random.default_rng(0)
    rows = [
        {"method": method, "t": t, "HL": random.random(), "CL": random.random()}
        for method in ("BR", "LC$C")
        for t in (0.5, 5)
        for _ in range(4)
    ]
    return pd.DataFrame(rows)


def sets():
    random = np.random.default_rng(1)
    truth = random.integers(0, 2, (30, 3))
    truth[:, 2] = 1
    return truth, random.random((30, 3))


def sweep():
    data = make_multilabel(80, random_state=0)
    learner = BinaryRelevance(DecisionTreeClassifier(max_depth=1))
    return tables.screening_sweep(data, data, learner, [0, 50])


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plots.measures_by_method(results().drop(columns="t")),
        lambda: plots.measures_by_method(results(), group="t", share_y=True),
        lambda: plots.importance_densities(importances()),
        lambda: plots.importance_densities(np.zeros((2, 4))),
        lambda: plots.global_importance_bars(importances(), n_predictors=8),
        lambda: plots.roc_curves(*sets()),
        lambda: plots.roc_curves(*sets(), labels=[1], names=["a", "b$", "c"]),
        lambda: plots.label_predictions(*sets(), rows=[0, 3, 5], threshold=[0.2, 0.5, 0.9]),
        lambda: plots.label_predictions(*sets(), rows=[2], names=["a", "b", "c"]),
        lambda: plots.order_losses(np.random.default_rng(0).normal(0.18, 0.01, 720)),
        lambda: plots.label_counts(tables.label_statistics(sets()[0])),
        lambda: plots.label_densities(tables.label_statistics(sets()[0])),
        lambda: plots.r2_histogram(R2Screening().fit(*_data()).r2_, cut=0.1),
        lambda: plots.screening_curves(sweep()),
    ],
)
def test_figures_can_be_saved_as_vectors(draw):
    figure = draw()
    assert isinstance(figure, Figure)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg")
    assert b"<svg" in buffer.getvalue()


def _data():
    data = make_multilabel(80, random_state=0)
    return data.X, data.y


def test_the_best_predictor_of_each_label_is_named():
    figure = plots.importance_densities(np.array([[0.1, 0.9, 0.0, 0.2], [0.1, 0.2, 0.7, 0.0]]))
    named = [axes.texts[0].get_text() for axes in figure.axes]
    assert named == ["x1", "label0"]
