"""
Predict a label hierarchy and explain it
========================================

A forest learns a hierarchy of labels at once. A child's probability never exceeds its parent's, quality is known per
label out of bag, and each prediction can be taken apart into what every feature added.
"""

import numpy as np

from ramify import ForestClassifier
from ramify.datasets import make_hierarchical
from ramify.metrics import auprc
from ramify.plots import hierarchy_icicle

data = make_hierarchical(600, n_features=60, depth=3, width=2, random_state=0)
forest = ForestClassifier(100, hierarchy=data.hierarchy, oob_score=True, random_state=0).fit(data.X, data.y)
quality = auprc(data.y, forest.oob_prediction_, average=None)
print(f"pooled AUPRC out of bag: {auprc(data.y, forest.oob_prediction_):.3f}")
hierarchy_icicle(data.hierarchy, quality, name="AUPRC")

# %%
# Why does the first row have this probability of label 1? Contributions and the base sum to the prediction.
effects, base = forest.contributions(data.X[:1], "1")
best = np.argsort(-np.abs(effects[0]))[:3]
print({data.feature_names[j]: round(float(effects[0, j]), 3) for j in best})
print(np.isclose(base + effects.sum(), forest.predict_proba(data.X[:1])[0, data.hierarchy.index("1")]))
