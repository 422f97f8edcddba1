"""
Label sets by classifier chains
===============================

L classifier chains give each label a chain that ends in it, so that the importance of features *and of other labels* is
known for every label.
"""

from ramify import ForestClassifier
from ramify.chains import LClassifierChains
from ramify.datasets import make_multilabel
from ramify.metrics import hamming_loss, jaccard_score
from ramify.plots import importance_heatmap

data = make_multilabel(300, random_state=0)
train, test = data.rows(range(200)), data.rows(range(200, 300))
chains = LClassifierChains(ForestClassifier(30), random_state=0).fit(train.X, train.y)
predicted = chains.predict(test.X)
print(f"Hamming loss {hamming_loss(test.y, predicted):.3f}, Jaccard index {jaccard_score(test.y, predicted):.3f}")

# %%
# The fifteen best features, and all labels, as predictors of each label.
importance_heatmap(chains.importance_frame(), n_predictors=15)
