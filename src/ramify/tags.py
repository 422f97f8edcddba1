"""What an estimator takes, as scikit-learn's tags say it."""

from typing import Any

ANY_FEATURES = ("sparse", "allow_nan", "categorical")
"""Tags of what learns from sparse, missing and nominal features."""


def tagged(tags: Any, *names: str) -> Any:
    """The tags of a base class with further ones of input or target set.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> from ramify.tags import tagged
    >>> tagged(BaseEstimator().__sklearn_tags__(), "sparse", "required").input_tags.sparse
    True
    """
    for name in names:
        setattr(tags.input_tags if hasattr(tags.input_tags, name) else tags.target_tags, name, True)
    return tags
