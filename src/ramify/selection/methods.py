"""Every selection method by its name, with the classifier that predicts over what it selects."""

from __future__ import annotations

from typing import Any, Literal

from sklearn.pipeline import make_pipeline

from ramify.hierarchy import Hierarchy
from ramify.parameters import check_option
from ramify.ranking import ReliefRanker
from ramify.selection.cfs import CFSSelector
from ramify.selection.eager import HierarchicalSelector
from ramify.selection.lazy import LazySelector
from ramify.selection.lazy_classifiers import LazyNaiveBayes, LazyNeighbors
from ramify.selection.top import SelectTop

LAZY = ("rpv", "hip", "mr", "hip-mr", "positive", "negative")
EAGER = ("shsel", "gtd", "tsel")
METHODS = (*LAZY, *EAGER, "cfs", "relieff", "none")

# Features whose ReliefF weight is below this are not selected.
_RELIEF_THRESHOLD = 0.01


def make_selector(
    method: str,
    feature_hierarchy: Hierarchy,
    *,
    relevance: str | None = None,
    smoothing: float = 1.0,
    close: bool = False,
) -> Any:
    """The selector of that name; None for "none".

    Parameters
    ----------
    method : str
        One of "rpv", "hip", "mr", "hip-mr", "positive", "negative" (a subset per row), "shsel", "gtd", "tsel", "cfs",
        "relieff" (one subset) and "none".
    feature_hierarchy : Hierarchy
        Hierarchy of the features.
    relevance : {"lazy_r", "r", "ig"}, optional
        By default the published one: R for MR and HIP-MR, information gain for SHSEL, LazyR otherwise.
    smoothing : float, default=1.0
        Of the probabilities behind "lazy_r" and "r", as of `LazySelector`.
    close : bool, default=False
        Whether rows that break the hierarchy are repaired.

    Notes
    -----
    ReliefF visits all rows, weighs 10 neighbours of each class equally and keeps features of a weight above 0.01,
    as published.

    Examples
    --------
    >>> from ramify.hierarchy import Hierarchy
    >>> from ramify.selection.methods import make_selector
    >>> make_selector("hip", Hierarchy.from_edges([("animal", "cat")])).method
    'hip'
    """
    check_option("make_selector", "method", method, METHODS)
    if method in LAZY:
        measure: Any = relevance or ("r" if method in {"mr", "hip-mr"} else "lazy_r")
        chosen: Any = method
        return LazySelector(feature_hierarchy, method=chosen, relevance=measure, smoothing=smoothing, close=close)
    if method in EAGER:
        measure = relevance or "ig"
        chosen = method
        return HierarchicalSelector(feature_hierarchy, method=chosen, relevance=measure, close=close)
    if method == "cfs":
        return CFSSelector()
    if method == "relieff":
        ranker = ReliefRanker(10, target="classes")
        return SelectTop(ranker, n_features=len(feature_hierarchy), threshold=_RELIEF_THRESHOLD)
    return None


def selecting_classifier(
    method: str,
    feature_hierarchy: Hierarchy,
    *,
    classifier: Literal["bayes", "neighbors"] = "bayes",
    n_neighbors: int = 1,
    **options: Any,
) -> Any:
    """A classifier over the features that a method selects.

    Parameters
    ----------
    method : str
        As of `make_selector`.
    feature_hierarchy : Hierarchy
        Hierarchy of the features.
    classifier : {"bayes", "neighbors"}, default="bayes"
        Naive Bayes or nearest neighbours.
    n_neighbors : int, default=1
        Number of neighbours.
    **options
        As of `make_selector`.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.selection.methods import selecting_classifier
    >>> order = Hierarchy.from_edges([("animal", "bird"), ("animal", "fish")])
    >>> X, y = [[1, 1, 0], [1, 1, 0], [1, 0, 1], [0, 0, 0]], ["flies", "flies", "swims", "swims"]
    >>> selecting_classifier("shsel", order).fit(X, y).predict([[1, 0, 1]])
    array(['swims'], dtype='<U5')
    """
    check_option("selecting_classifier", "classifier", classifier, ("bayes", "neighbors"))
    selector = make_selector(method, feature_hierarchy, **options)
    lazy = selector if isinstance(selector, LazySelector) else None
    last = LazyNaiveBayes(lazy) if classifier == "bayes" else LazyNeighbors(lazy, n_neighbors=n_neighbors)
    return last if selector is None or lazy is not None else make_pipeline(selector, last)
