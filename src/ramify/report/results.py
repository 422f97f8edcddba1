"""Results: everything a report can show, gathered by whoever computed it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from ramify.compare import Comparison
    from ramify.datasets import Dataset
    from ramify.ranking import FeatureRanking


@dataclass(frozen=True)
class Reason:
    """One feature's part in a prediction: its value in the row and by how much it moved the probability."""

    feature: str
    value: str
    effect: float


@dataclass(frozen=True)
class Outcome:
    """One label predicted for one row: the probability, the average it starts from, the truth and the reasons."""

    label: str
    predicted: float
    base: float
    correct: bool | None
    reasons: Sequence[Reason]


@dataclass(frozen=True)
class ExplainedRow:
    """A row with what it has and what was predicted for it."""

    id: str
    has: Sequence[str]
    outcomes: Sequence[Outcome]


@dataclass(frozen=True)
class Curve:
    """Quality against the number of features; `low` and `high` bound a band where one is known."""

    sizes: np.ndarray
    values: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Results:
    """What a report shows; a part that is absent leaves its section out.

    Parameters
    ----------
    dataset : Dataset, optional
        The data that everything else was computed on; None for a study of several.
    rankings : mapping of str to FeatureRanking
        Rankings by the name of their method; the first is shown first.
    p_values : array of shape (n_features,), optional
        Significance of the first ranking's scores.
    measures : frame, optional
        How well a model predicts, from `ramify.metrics.measure_table`.
    measured_on : str
        On which rows.
    label_quality : array of shape (n_labels,), optional
        How well each label is predicted; NaN where it could not be measured.
    label_baseline : array of shape (n_labels,), optional
        The same measure for a prediction that only knows how frequent each label is.
    quality_name : str
        The measure of `label_quality`, of the curves and of the neighbours' check.
    knn_quality : mapping of str to float
        Quality of nearest neighbours weighted by each ranking.
    knn_baseline : float, optional
        The same with all features weighted equally.
    curves : mapping of str to Curve
        Quality as features are added in the order of each ranking.
    random_curve : Curve, optional
        Mean and band of the same for random rankings.
    comparisons : mapping of str to Comparison
        Methods compared over data sets, by measure.
    explained : sequence of ExplainedRow
        A few rows with their predictions and reasons.
    explained_on : str
        A sentence on those rows, for instance that the model has not seen them.
    selected : sequence of str
        Names of the features that a selection kept.
    facts : mapping of str to str
        Further facts for "how this was made" (settings of the methods).
    titles : mapping of str to str
        What labels and features are called where their names are ids, as of the Gene Ontology.
    title, command : str
        Heading of the page and the command that made it.
    seed : int, optional
        The random seed.
    seconds : float, optional
        How long the computation took.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.datasets import Dataset
    >>> from ramify.report import Results, report_content
    >>> data = Dataset(np.eye(3), y=np.array([0, 1, 1]), target="classes", label_names=("no", "yes"))
    >>> report_content(Results(data))["summary"][0]
    '3 examples are described by 3 features and have one of 2 classes.'
    """

    dataset: Dataset | None = None
    rankings: Mapping[str, FeatureRanking] = field(default_factory=dict)
    p_values: np.ndarray | None = None
    measures: pd.DataFrame | None = None
    measured_on: str = ""
    label_quality: np.ndarray | None = None
    label_baseline: np.ndarray | None = None
    quality_name: str = "AUPRC"
    knn_quality: Mapping[str, float] = field(default_factory=dict)
    knn_baseline: float | None = None
    curves: Mapping[str, Curve] = field(default_factory=dict)
    random_curve: Curve | None = None
    comparisons: Mapping[str, Comparison] = field(default_factory=dict)
    explained: Sequence[ExplainedRow] = ()
    explained_on: str = ""
    selected: Sequence[str] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    command: str = ""
    seed: int | None = None
    seconds: float | None = None

    def per_label(self) -> list[str]:
        """Names of the methods that have scores per label."""
        return [name for name, ranking in self.rankings.items() if ranking.per_label is not None]
