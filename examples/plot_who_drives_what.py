"""
What predicts what
==================

A forest ranks features for a hierarchy of labels, globally and for each branch: a label and everything below it.
The data are generated, so it is known which features matter.
"""

from ramify import ForestClassifier, ForestRanker
from ramify.datasets import make_hierarchical
from ramify.plots import label_heatmap, ranking_bars

data = make_hierarchical(800, n_features=50, depth=3, width=2, random_state=0)
forest = ForestClassifier(100, hierarchy=data.hierarchy, random_state=0)
ranker = ForestRanker(forest, scores=["genie3", "symbolic", "permutation"]).fit(data.to_frame(), data.y)
ranking = ranker.ranking_

for branch in ("1", "2"):
    best = ranking.for_label(branch).top(3).names
    drives = [bool(data.truth[data.feature_names.index(name), data.hierarchy.index(branch)]) for name in best]
    print(f"{branch}: {best[0]} first; drives the top label itself: {drives}")

# %%
# The best features overall.
ranking_bars(ranking, n_features=16)

# %%
# And for each label: a feature that drives a label also matters for the labels below it.
label_heatmap(ranking, n_features=16)
