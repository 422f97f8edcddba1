"""The most frequent value of a column may be rare in a node, and so in its pool."""

import numpy as np
import pandas as pd
import pytest

from ramify.ensemble import ForestClassifier


@pytest.mark.parametrize("seed", range(8))
def test_a_common_value_that_is_rare_in_a_node_is_pooled(seed):
    rng = np.random.default_rng(seed)
    common = rng.choice(["common", "other", "rare"], 300, p=[0.7, 0.2, 0.1])
    numbers = rng.random((300, 3)) * np.where(common == "common", 1, 0.6)[:, None]
    X = pd.DataFrame(numbers, columns=["a", "b", "c"]).assign(nominal=pd.Categorical(common))
    forest = ForestClassifier(30, max_features=None, random_state=0).fit(X, rng.integers(0, 2, 300))
    assert forest.trees_.n_trees == 30
