"""Four ensembles on six generated hierarchies."""

from ramify import ForestClassifier, Study
from ramify.datasets import make_hierarchical

DATASETS = {
    f"width{width}-noise{noise}": make_hierarchical(
        200, n_features=40, depth=2, width=width, noise=noise / 10, random_state=width
    )
    for width in (2, 3, 4)
    for noise in (0, 2)
}
METHODS = {
    "random forest": ForestClassifier(30),
    "bagging": ForestClassifier(30, max_features=None),
    "extra trees": ForestClassifier(30, splitter="random", bootstrap=False),
    "single tree": ForestClassifier(1, max_features=None, bootstrap=False),
}


def study(folder, quick):
    """What to run, in which folder its results are kept; `quick` may ask for less."""
    return Study(DATASETS, METHODS, ["auprc"], splits=2 if quick else 3, folder=folder)
