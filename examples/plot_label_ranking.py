"""
Learn to rank labels
====================

Each example orders the labels, as people order foods or parties. A forest of ranking trees predicts the order for a new
example; its quality is Kendall's tau, and the average order of all examples is what it must beat.
"""

import numpy as np
from matplotlib.figure import Figure

from ramify import LabelRankingForest
from ramify.datasets import make_label_ranking
from ramify.metrics import kendall_tau

data = make_label_ranking(600, n_labels=5, random_state=0)
train, test = data.rows(np.arange(400)), data.rows(np.arange(400, 600))
average = np.tile(np.argsort(np.argsort(train.y.mean(axis=0))) + 1.0, (200, 1))
scores = {"average order": float(kendall_tau(test.y, average))}
for criterion in ("kendall", "spearman", "entropy", "mallows"):
    forest = LabelRankingForest(50, criterion=criterion, random_state=0).fit(train.X, train.y)
    scores[criterion] = float(kendall_tau(test.y, forest.predict(test.X)))
print({name: round(score, 3) for name, score in scores.items()})

# %%
# All criteria beat the average order by far.
figure = Figure(figsize=(5, 2.4), layout="constrained")
axes = figure.add_subplot()
axes.barh(list(scores), list(scores.values()), color="#0072B2")
axes.set_xlabel("Kendall's tau on unseen examples")
figure
