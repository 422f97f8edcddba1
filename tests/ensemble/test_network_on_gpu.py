"""Networks by PyTorch: the same loss, steps and results as over NumPy. They run where PyTorch is installed."""

import numpy as np
import pytest
from scipy import sparse

from ramify.datasets import make_hierarchical
from ramify.ensemble import NetworkClassifier, network
from ramify.ensemble.label_maximum import LabelMaximum
from ramify.ensemble.network_on_gpu import DeviceNetworks

DATA = make_hierarchical(60, random_state=0)


def test_a_device_without_pytorch_is_refused_with_the_next_step(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(ImportError, match=r"pip install 'ramify\[cuda\]'"):
        NetworkClassifier(device="cuda").fit([[0.0], [1.0]], [0, 1])


def training(kind):
    random = np.random.default_rng(1)
    rows = random.normal(size=(60, 4)).astype(np.float32)
    weights = random.uniform(0.5, 2, 60).astype(np.float32)
    if kind == "classes":
        labels = np.eye(3, dtype=np.int8)[random.integers(0, 3, 60)]
        return network._Training(rows, sparse.csr_array(labels), weights, None, is_one_of=True)
    labels = DATA.hierarchy.close(DATA.y).astype(np.int8)
    labels = labels.toarray() if sparse.issparse(labels) else np.asarray(labels)
    labels[3, -2:] = 2
    held = sparse.csr_array(rows) if kind == "sparse" else rows
    return network._Training(held, sparse.csr_array(labels), weights, LabelMaximum.of(DATA.hierarchy), is_one_of=False)


@pytest.mark.parametrize("kind", ["hierarchy", "classes", "sparse"])
def test_one_batch_of_all_rows_trains_as_numpy_does(kind):
    pytest.importorskip("torch")
    data = training(kind)
    given = NetworkClassifier(n_units=20, dropout=0.0, learning_rate=0.01, l2=0.01, batch_size=60)
    seeds = np.random.SeedSequence(0).spawn(2)
    alone = [network._Network(given, data, seed) for seed in seeds]
    together = DeviceNetworks(given, data, [made.parts for made in alone], 0)
    for _ in range(5):
        together.epoch(None)
        for made in alone:
            made.epoch(None)
    for made, parts in zip(alone, together.copies(), strict=True):
        for own, other in zip(made.parts, parts, strict=True):
            np.testing.assert_allclose(other, own, atol=2e-4)


def test_dropout_leaves_the_mean_of_a_unit():
    torch = pytest.importorskip("torch")
    data = training("classes")
    given = NetworkClassifier(n_units=4, dropout=0.7)
    made = DeviceNetworks(given, data, [network._Network(given, data, np.random.SeedSequence(0)).parts], 0)
    hidden = made._drop(torch.ones(1, 100, 1000)).numpy()
    assert hidden.mean() == pytest.approx(1, abs=0.02)
    assert (hidden > 0).mean() == pytest.approx(0.3, abs=0.01)
