"""
Learn from annotations with gaps
================================

In an annotation file an empty cell says that nobody has looked. Ramify reads it as unknown, learns each function from
the genes of which it is known, and says how much that is.
"""

from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pandas as pd

from ramify import ForestClassifier
from ramify.datasets import make_hierarchical, read
from ramify.metrics import auprc
from ramify.plots import hierarchy_icicle

# %%
# The file: 400 genes, 40 measurements, functions in a tree; half of the cells were never looked at.
made = make_hierarchical(600, n_features=40, depth=2, width=3, random_state=0)
truth = made.hierarchy.close(made.y).toarray()
functions = pd.DataFrame(truth, columns=made.hierarchy.names).astype("Int64")
never_looked_at = np.random.default_rng(0).random(truth.shape) < 0.5
table = pd.concat([pd.DataFrame(made.X).add_prefix("m"), functions.mask(never_looked_at)], axis=1)
folder = Path(mkdtemp())
table[:400].to_csv(folder / "annotations.csv", index=False)
pd.DataFrame(made.hierarchy.edges).map(lambda node: made.hierarchy.names[node]).set_axis(
    ["parent", "child"], axis=1
).to_csv(folder / "functions.csv", index=False)

# %%
# Read it. What follows from the hierarchy is filled in: a gene without a function has none of those below it.
names = list(made.hierarchy.names)
data = read(folder / "annotations.csv", names, kind="labels", hierarchy=folder / "functions.csv")
print(f"{np.mean(~never_looked_at[:400]):.0%} of the cells were looked at, {data.known_share.mean():.0%} are known")

# %%
# Three ways to learn, measured on 200 genes of which everything is known.
new = truth[400:][:, [made.hierarchy.index(name) for name in data.label_names]]


def reached(y):
    forest = ForestClassifier(100, hierarchy=data.hierarchy, random_state=0).fit(data.X, y)
    return auprc(new, forest.predict_proba(np.asarray(made.X[400:])))  # the same columns under other names


y = data.y.toarray()
print(f"unknown stays unknown:   {reached(y):.3f}")
print(f"unknown means has not:   {reached(data.hierarchy.close(np.nan_to_num(y).astype(int))):.3f}")
complete = np.flatnonzero(~np.isnan(y).any(axis=1))
print(f"only {len(complete)} complete genes: not enough to learn from")

# %%
# How much is known of each function.
hierarchy_icicle(data.hierarchy, data.known_share, name="share of genes of which it is known")
