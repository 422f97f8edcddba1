"""Parameters that estimators of trees share; the classes themselves say what each means."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(kw_only=True, eq=False, repr=False)
class ForestParameters:
    """What `ForestClassifier`, `ForestRegressor` and `LabelRankingForest` take, each beside its own."""

    n_estimators: int = field(default=100, kw_only=False)
    splitter: Literal["best", "random"] = "best"
    oblique: int = 0
    bootstrap: bool = True
    max_features: Any = "sqrt"
    max_depth: int | None = None
    min_samples_split: float = 2
    min_samples_leaf: float | None = 1
    min_weight_fraction_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    max_bins: int | None = None
    categorical_features: Any = "from_dtype"
    min_category_rows: int = 10
    oob_score: bool = False
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0


@dataclass(kw_only=True, eq=False, repr=False)
class BoostedParameters:
    """What `BoostedClassifier` and `BoostedRegressor` take, each beside its own."""

    n_estimators: int = field(default=300, kw_only=False)
    learning_rate: float = 0.05
    sketch: int = 10
    max_depth: int | None = 6
    max_samples: float = 0.7
    max_features: Any = 0.3
    min_samples_leaf: int = 5
    l2: float = 1.0
    early_stopping: float | None = 0.1
    patience: int = 30
    max_bins: int | None = 255
    categorical_features: Any = "from_dtype"
    min_category_rows: int = 10
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0
