"""Chains as methods of the commands `fit` and `rank`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from ramify.datasets import Dataset

CHAIN_METHODS = {
    "br": "BinaryRelevance",
    "lp": "LabelPowerset",
    "pairwise": "PairwiseLabels",
    "cc": "ClassifierChain",
    "ecc": "EnsembleOfChains",
    "lcc": "LClassifierChains",
    "rakel": "RAkEL",
    "mlknn": "MLkNN",
}
"""Short names and the classes of `ramify.chains` behind them."""


def chain_model(method: str, data: Dataset, *, random_state: int, n_jobs: int, **forest: Any) -> Any:
    """The unfitted classifier of label sets, over a forest with the given parameters."""
    from ramify import chains
    from ramify.ensemble import ForestClassifier

    if data.target not in ("labels", "classes"):
        raise ValueError(
            f"--method {method} learns label sets and classes. The target is {data.target!r}; "
            "use another --method, or name another target with --target."
        )
    if data.sample_weight is not None:
        raise ValueError(f"--method {method} takes no row weights; use another --method for weighted data.")
    if method == "mlknn":
        return chains.MLkNN(n_jobs=n_jobs)
    made = getattr(chains, CHAIN_METHODS[method])
    return made(ForestClassifier(n_jobs=n_jobs, **forest), random_state=random_state, n_jobs=n_jobs)


def named_label_sets(data: Dataset) -> pd.DataFrame:
    """Label sets with the names of the labels."""
    import pandas as pd
    from scipy import sparse

    dense = data.y.toarray() if sparse.issparse(data.y) else data.y
    return pd.DataFrame(dense, columns=list(data.label_names) or None)
