"""Results: everything that commands print, a report shows and a notebook displays, gathered by whoever computed it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ramify.analysis.methods import RANKING_METHODS

if TYPE_CHECKING:
    import pandas as pd

    from ramify.compare import Comparison
    from ramify.datasets import Dataset
    from ramify.ranking import FeatureRanking
from ramify.ranking.discovery import WHOLE, Claim, Discoveries

_N_BRANCHES, _N_BESIDE = 15, 3
"""Labels that a notebook lists, and features beside each."""


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
    area: float | None = None


@dataclass(frozen=True, eq=False)
class Results:
    """What an analysis found; a part that is absent is neither printed nor shown.

    Parameters
    ----------
    dataset : Dataset, optional
        The data that everything else was computed on; None for a study of several.
    rankings : mapping of str to FeatureRanking
        Rankings by the name of their method; the first is shown first.
    discoveries : Discoveries, optional
        Which features drive which branches, at a stated error rate.
    no_claims : str
        Why there are none, where they were asked for.
    associations : Discoveries, optional
        Which features are associated with which branches, where `discoveries` asks for more than that.
    label_importances : mapping of str to frame
        How much each label (columns) helps to predict each label (rows), by the ranking that says so; in the unit of
        its scores per label.
    measures : frame, optional
        How well a model predicts, from `ramify.metrics.measure_table`.
    measured_on : str
        On which rows.
    label_measures : frame, optional
        The same for each label, from `ramify.analysis.model_quality.label_table`.
    reliability : mapping of str to frame
        What was said and what happened, from `ramify.metrics.reliability_bins`: of the model, or of a calibrated one
        before and after.
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
        Methods compared over data sets, or over folds of `dataset`, by measure.
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
    >>> from ramify.analysis import Results
    >>> data = Dataset(np.eye(3), y=np.array([0, 1, 1]), target="classes", label_names=("no", "yes"))
    >>> Results(data, title="Three rows").dataset
    Dataset(3 rows, 3 dense features, target='classes', 2 labels)
    """

    dataset: Dataset | None = None
    rankings: Mapping[str, FeatureRanking] = field(default_factory=dict)
    discoveries: Discoveries | None = None
    no_claims: str = ""
    associations: Discoveries | None = None
    label_importances: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    measures: pd.DataFrame | None = None
    measured_on: str = ""
    label_measures: pd.DataFrame | None = None
    reliability: Mapping[str, pd.DataFrame] = field(default_factory=dict)
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

    @property
    def label_ranking(self) -> FeatureRanking:
        """The first ranking with scores per label, or an error that says how to get one."""
        names = self.per_label()
        if not names:
            able = ", ".join(name for name, method in RANKING_METHODS.items() if method.per_label)
            raise ValueError(
                f"These methods give no scores per label for this target; {able} do (relief and lcc for label sets)."
            )
        return self.rankings[names[0]]

    @cached_property
    def branch_scores(self) -> sparse.csc_array:
        """Features x labels of `label_ranking`, each label with everything below it."""
        scores = sparse.csc_array(self.label_ranking.branch_scores())
        scores.sum_duplicates()
        return scores

    @cached_property
    def label_positions(self) -> dict[str, int]:
        """Column of each label in `branch_scores`."""
        return {name: column for column, name in enumerate(self.label_ranking.label_names)}

    def claims_of(self, branch: str = WHOLE) -> dict[int, Claim] | None:
        """Claims of a branch by the position of the feature, those of a group by each member; None without claims.

        Parameters
        ----------
        branch : str
            The label that heads it; by default all of y.
        """
        return None if self.discoveries is None else dict(self._claims_by_branch.get(branch, {}))

    def associations_of(self, branch: str = WHOLE) -> dict[int, Claim] | None:
        """Associations of a branch by the position of the feature; None where they were not tested beside claims.

        Parameters
        ----------
        branch : str
            The label that heads it; by default all of y.
        """
        return None if self.associations is None else dict(self._associations_by_branch.get(branch, {}))

    @cached_property
    def _claims_by_branch(self) -> dict[str, dict[int, Claim]]:
        return self._by_branch(self.discoveries)

    @cached_property
    def _associations_by_branch(self) -> dict[str, dict[int, Claim]]:
        return self._by_branch(self.associations)

    def _by_branch(self, discoveries: Discoveries | None) -> dict[str, dict[int, Claim]]:
        """Claims by the position of the feature, of every branch that has some."""
        names = () if self.dataset is None else self.dataset.feature_names
        claimed: dict[str, dict[str, Claim]] = {}
        if discoveries is None:
            return {}
        for claim in discoveries.claims:
            members = discoveries.groups.get(claim.feature, (claim.feature,))
            claimed.setdefault(claim.branch, {}).update(dict.fromkeys(members, claim))
        return {
            branch: {position: of[name] for position, name in enumerate(names) if name in of}
            for branch, of in claimed.items()
        }

    def branch_column(self, branch: str) -> np.ndarray:
        """Score of each feature for a branch.

        Parameters
        ----------
        branch : str
            The label that heads it.
        """
        scores, column = self.branch_scores, self.label_positions[branch]
        cells = slice(scores.indptr[column], scores.indptr[column + 1])
        column_scores = np.zeros(scores.shape[0])
        column_scores[scores.indices[cells]] = scores.data[cells]
        return column_scores

    def helping_labels(self, n_best: int = 3) -> dict[str, list[tuple[str, float]]]:
        """The labels that help most to predict each label, with their share of all its importance.

        Parameters
        ----------
        n_best : int, default=3
            How many at most; labels without importance are left out.
        """
        helping: dict[str, list[tuple[str, float]]] = {}
        for method, importances in self.label_importances.items():
            of_features = self.rankings[method].per_label
            for at, (label, row) in enumerate(importances.iterrows()):
                total = float(row.sum() + (0 if of_features is None else of_features[:, [at]].sum()))
                best = row[row > 0].sort_values(ascending=False, kind="stable").head(n_best)
                helping[str(label)] = [(str(name), float(value) / total) for name, value in best.items()]
        return helping

    def _repr_html_(self) -> str:
        from ramify.analysis.first_table import MARKS, MEANINGS, associated_sentences, beside, unclaimed_reasons
        from ramify.datasets.term_names import titled
        from ramify.notebook import html_paragraph, html_table

        parts = []
        if self.per_label():
            tested = self.discoveries is not None or self.associations is not None
            names = np.array(self.label_ranking.label_names, dtype=object)
            largest = np.argsort(-np.asarray(self.branch_scores.sum(axis=0)).ravel(), kind="stable")[:_N_BRANCHES]
            lines = []
            for label in names[largest].tolist():
                shown = beside(self, label, _N_BESIDE)
                told = [f"{MARKS[one.standing]} {one.name}" if tested else one.name for one in shown]
                lines.append((titled(label, self.titles), ", ".join(told) or "–"))
            more = f", the first {_N_BRANCHES} of {len(names):,} labels" if len(names) > _N_BRANCHES else ""
            parts.append(html_table(f"What predicts what{more}", ["label", "features"], lines))
            if tested:
                parts.append(html_paragraph("; ".join(f"{MARKS[key]} {said}" for key, said in MEANINGS.items()) + "."))
        if self.discoveries is not None:
            parts.append(self.discoveries._repr_html_())
        elif self.no_claims:
            parts.append(html_paragraph(f"No claims: {self.no_claims}."))
        parts += [html_paragraph(said) for said in associated_sentences(self) + unclaimed_reasons(self)]
        for name, ranking in self.rankings.items():
            best = ranking.order[:10].tolist()
            rows: list[tuple[Any, ...]] = [
                (int(ranking.ranks[j]), ranking.names[j], float(ranking.scores[j])) for j in best
            ]
            parts.append(html_table(f"Top features by {name}", ["rank", "feature", "score"], rows, bar=2))
        if self.knn_quality:
            caption = f"{self.quality_name} of nearest neighbours weighted by"
            rows = [*self.knn_quality.items(), ("nothing: all features count the same", self.knn_baseline)]
            parts.append(html_table(caption, ["ranking", self.quality_name], rows))
        if self.measures is not None:
            rows = [(str(name), row["model"], row["prior"]) for name, row in self.measures.iterrows()]
            parts.append(html_table(self.measured_on, ["measure", "model", "prior"], rows))
        return "".join(parts) or html_table("Results", ["", ""], [("data", repr(self.dataset))])
