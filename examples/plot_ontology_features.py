"""
Features that form an ontology
==============================

Where features imply each other, as annotations with the Gene Ontology do, a lazy selector keeps for each row the terms
that are relevant and not implied by others.
"""

from sklearn.model_selection import cross_val_score

from ramify.datasets import make_feature_hierarchy
from ramify.plots import ranking_bars
from ramify.selection import LazyNaiveBayes, LazySelector

data = make_feature_hierarchy(300, n_features=80, random_state=0)
X = data.X.toarray()
for method in ("rpv", "hip", "positive"):
    selector = LazySelector(data.feature_hierarchy, method=method)
    accuracy = cross_val_score(LazyNaiveBayes(selector), X, data.y, cv=5).mean()
    share = selector.fit(X, data.y).selection_mask(X).mean()
    print(f"{method:9} accuracy {accuracy:.3f}, {100 * share:.0f} % of the features per row")

# %%
# The terms that are selected for most rows.
ranking_bars(LazySelector(data.feature_hierarchy).fit(X, data.y).ranking_, n_features=15)
