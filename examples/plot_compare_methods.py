"""
Compare methods over data sets
==============================

A table of one measure, data sets by methods, becomes average ranks, Friedman's and Nemenyi's tests, a
critical-difference diagram and a sentence for the paper.
"""

import numpy as np
import pandas as pd

from ramify.compare import compare

rng = np.random.default_rng(0)
skill = {"random forest": 0.72, "extra trees": 0.71, "bagging": 0.70, "single tree": 0.60, "prior": 0.35}
difficulty = rng.normal(scale=0.1, size=(16, 1))
table = pd.DataFrame(
    np.array(list(skill.values())) + difficulty + rng.normal(scale=0.02, size=(16, 5)),
    columns=list(skill),
    index=[f"data set {i + 1}" for i in range(16)],
)

comparison = compare(table)
print(comparison.sentence)
comparison.to_frame()

# %%
# A bar joins methods whose ranks do not differ significantly.
comparison.plot()
