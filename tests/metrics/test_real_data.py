import numpy as np

from ramify.datasets import read
from ramify.metrics import auprc


def test_prior_alone_reaches_most_of_pooled_auprc_on_cellcycle_go(data_folder):
    # Why tables show the prior: 0.435 without any model, of about 0.47 with one.
    files = [data_folder / "hmc" / "go" / f"cellcycle_GO.{part}.arff.gz" for part in ("train", "valid", "test")]
    data = read(files)
    learnt, test = data.part("train", "valid"), data.part("test")
    prior = np.broadcast_to(learnt.y.mean(axis=0), test.y.shape)
    assert round(auprc(test.y, prior), 3) == 0.435
    without = auprc(test.y, prior, exclude_universal=True)
    assert (round(without, 3), without.n_left_out) == (0.346, 3)
    assert auprc(test.y, prior, average="macro").n_left_out == 1284
