import io

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import sparse

from ramify import ForestClassifier, plots
from ramify.metrics import reliability_bins

X = np.random.RandomState(0).rand(40, 6)
Y = np.column_stack([X[:, 0] > 0.5, X[:, 1] > 0.7]).astype(int)
FOREST = ForestClassifier(10, random_state=0).fit(X, Y)
PROBABILITIES = {"forest": FOREST.predict_proba(X), "half": np.full(Y.shape, 0.5)}
EXPLAINED = FOREST.shap_values(X)


def saved(figure) -> bytes:
    assert isinstance(figure, Figure)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg")
    return buffer.getvalue()


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plots.explained_prediction(EXPLAINED.of(3, "y1"), n_features=3),
        lambda: plots.explained_prediction(FOREST.shap_values(X, labels="y0", top=2).of(0), n_features=9),
        lambda: plots.explained_rows(EXPLAINED.label("y0")),
        lambda: plots.explained_rows(FOREST.shap_values(sparse.csr_array(X), labels="y1"), n_features=2),
        lambda: plots.reliability({name: reliability_bins(Y, p) for name, p in PROBABILITIES.items()}),
    ],
)
def test_figures_can_be_saved_as_vectors(draw):
    assert b"<svg" in saved(draw())


def test_bars_lead_from_the_base_to_the_prediction():
    axes = plots.explained_prediction(EXPLAINED.of(3, "y1"), n_features=2).axes[0]
    bars = axes.patches
    assert bars[0].get_x() == pytest.approx(EXPLAINED.base_values[3, 1])
    assert bars[-1].get_x() + bars[-1].get_width() == pytest.approx(FOREST.predict_proba(X)[3, 1])
    assert [tick.get_text() for tick in axes.get_yticklabels()][-1].endswith("other features")


def test_reliability_of_truth_itself_is_off_by_nothing():
    legend = plots.reliability({"truth": reliability_bins(Y, Y)}).legends[0]
    assert legend.get_texts()[0].get_text() == "truth: off by 0 %"


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match=r"give explanation.of\(row, label\)"):
        plots.explained_prediction(EXPLAINED)
    with pytest.raises(ValueError, match=r"give explanation.label\(name\)"):
        plots.explained_rows(EXPLAINED)
