"""One record per method, from which come the choices of the command line, the report's texts and the guide's tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ramify.datasets import Dataset
    from ramify.ranking import FeatureRanking

ENSEMBLES: dict[str, dict[str, Any]] = {
    "random-forest": {"splitter": "best", "bootstrap": True, "max_features": "sqrt"},
    "bagging": {"splitter": "best", "bootstrap": True, "max_features": None},
    "extra-trees": {"splitter": "random", "bootstrap": False, "max_features": "sqrt"},
    "boosted": {"boosted": True, "bootstrap": False},
}
"""Kinds of forests, boosted trees among them, and the parameters that make them."""

_OF_TABLES: dict[str, dict[str, Any]] = {
    "random-forest": {"max_features": 1 / 3},
    "boosted": {"n_estimators": 1000, "max_features": 0.5},
}
"""What predicts better on tables, whose columns differ much in what they say."""

_FEW_LABELS = 50
_FEWEST_ROWS = 50
_FEWEST_ROWS_ELSE = 300  # with fewer, forests learn hierarchies and many labels better
_MOST_FEATURES = 2000
_MOST_CELLS = 50_000_000  # rows times labels: boosting keeps a number for each


def default_method(data: Dataset) -> str:
    """The method that predicts best by itself: boosted trees where they are quick, else a random forest."""
    enough = _is_table(data) or (_suits_boosting(data) and data.n_samples >= _FEWEST_ROWS_ELSE)
    suits = enough and data.row_groups is None and data.n_samples * data.n_labels <= _MOST_CELLS
    return "boosted" if suits else "random-forest"


def _suits_boosting(data: Dataset) -> bool:
    """Whether boosted trees learn the target, and there are rows enough and not too many columns for them."""
    from ramify.ensemble.forest_choice import BOOSTED

    enough = data.n_samples >= _FEWEST_ROWS and data.n_features <= _MOST_FEATURES
    return enough and data.target_type.forest in BOOSTED


def _is_table(data: Dataset) -> bool:
    """Whether data are as most tables: not too wide, and classes, numbers or a few labels without a hierarchy."""
    return _suits_boosting(data) and data.hierarchy is None and data.n_labels <= _FEW_LABELS


@dataclass(frozen=True)
class Method:
    """What is known of a method of ranking, selection or prediction.

    Parameters
    ----------
    name : str
        As the command line calls it.
    build : callable
        Returns the unfitted estimator; see the tables below for what it is given.
    meaning : str
        What its scores say, or how it predicts, in part of a sentence.
    paper : str
        Where it was published.
    needs_out_of_bag : bool
        Whether the forest must leave rows out, as extra trees do not.
    per_label : bool
        Whether it gives scores per label.
    per_row : bool
        Whether it selects features for each row.
    of_forest : bool
        Whether it is a score, or the prediction, of a forest.
    repeatable : bool
        Whether it is quick enough to be fitted again on parts of the rows.
    by_chains : bool
        Whether chains compute it, which take label sets as a dense frame.
    gives : callable, optional
        What else the fitted estimator gives, as parts of `Results`: `gives(name, ranker, data)`.
    words : str
        By what it ranks, in two or three words that stand on a button.

    Examples
    --------
    >>> from ramify.analysis.methods import RANKING_METHODS
    >>> RANKING_METHODS["symbolic"].meaning
    'how often the trees test a feature, weighted by the examples that reach the test.'
    """

    name: str
    build: Callable[..., Any]
    meaning: str
    paper: str
    needs_out_of_bag: bool = False
    per_label: bool = False
    per_row: bool = False
    of_forest: bool = False
    repeatable: bool = True
    by_chains: bool = False
    gives: Callable[[str, Any, Dataset], dict[str, Any]] | None = None
    words: str = ""

    def fit(self, estimator: Any, X: Any, data: Dataset) -> Any:
        """Fit the estimator that `build` made, with the weights and groups of the rows.

        Parameters
        ----------
        estimator : estimator
            What `build` returned.
        X : array, CSC or frame
            The features: those of `data`, or the same with their names.
        data : Dataset
            With a target.
        """
        from ramify.analysis.model_data import chain_target, model_target, row_weights_and_groups

        target = chain_target(data) if self.by_chains else model_target(data)
        return estimator.fit(X, target, **row_weights_and_groups(data, estimator))

    def parts(self, ranker: Any, data: Dataset) -> dict[str, Any]:
        """What the fitted ranker gives besides a ranking, as parts of `Results`."""
        return {} if self.gives is None else self.gives(self.name, ranker, data)


_PETKOVIC = (
    "M. Petković, S. Džeroski, D. Kocev. Feature ranking for hierarchical multi-label classification with "
    "tree ensemble methods. Acta Polytechnica Hungarica 17(10), 2020."
)
_LI = (
    "X. Li, Y. Wang, S. Basu, K. Kumbier, B. Yu. A debiased MDI feature importance measure for random forests. "
    "NeurIPS, 2019."
)
_SLAVKOV = (
    "I. Slavkov, J. Karcheska, D. Kocev, S. Kalajdziski, S. Džeroski. ReliefF for hierarchical multi-label "
    "classification. New Frontiers in Mining Complex Patterns, LNCS 8399, 2014."
)
_CHAINS = (
    "M. du Toit. L-classifier chains classification and variable selection for multi-label datasets. Thesis, "
    "Stellenbosch University, 2016."
)
_READ = "J. Read, B. Pfahringer, G. Holmes, E. Frank. Classifier chains for multi-label classification. 2011."
_SILVA = (
    "P. N. da Silva, A. Plastino, A. A. Freitas. Prioritizing positive feature values: a new hierarchical "
    "feature selection method. Applied Intelligence, 2020."
)
_WAN = (
    "C. Wan, A. A. Freitas, J. P. de Magalhães. Predicting the pro-longevity or anti-longevity effect of model "
    "organism genes with new hierarchical feature selection methods. IEEE/ACM TCBB 12(2), 2015."
)
_SKETCH = (
    "L. Iosipoi, A. Vakhrushev. SketchBoost: fast gradient boosted decision tree for multioutput problems. NeurIPS, "
    "2022."
)
_CARUANA = "R. Caruana et al. Ensemble selection from libraries of models. ICML, 2004."
_KOCEV = (
    "D. Kocev, C. Vens, J. Struyf, S. Džeroski. Tree ensembles for predicting structured outputs. Pattern "
    "Recognition 46, 2013."
)


def _forest_score(name: str) -> Callable[..., Any]:
    def build(data: Dataset, *, forest: dict[str, Any], **_: Any) -> Any:
        from ramify.analysis.model_data import forest_for, nominal_features
        from ramify.ranking import ForestRanker

        return ForestRanker(forest_for(data, categorical_features=nominal_features(data), **forest), scores=name)

    return build


def _relief(data: Dataset, *, relief: dict[str, Any], forest: dict[str, Any], **_: Any) -> Any:
    from ramify.analysis.model_data import nominal_features
    from ramify.ranking import ReliefRanker

    return ReliefRanker(
        **relief,
        hierarchy=data.hierarchy,
        target=str(data.target),
        per_label=data.target_type.has_sets or data.target_type.ranks_labels,
        categorical_features=nominal_features(data),
        verbose=forest["verbose"],
    )


def _chain_ranker(data: Dataset, *, forest: dict[str, Any], **_: Any) -> Any:
    return MODEL_METHODS["lcc"].build(data, **{name: value for name, value in forest.items() if name != "oob_score"})


def _label_importances(name: str, ranker: Any, data: Dataset) -> dict[str, Any]:
    return {"label_importances": {name: ranker.importance_frame().iloc[:, data.n_features :]}}


RANKING_METHODS = {
    method.name: method
    for method in (
        Method(
            "genie3_oob",
            _forest_score("genie3_oob"),
            "how much a feature's splits reduce the spread of the labels, measured on out-of-bag rows.",
            _LI,
            needs_out_of_bag=True,
            per_label=True,
            of_forest=True,
            words="by out-of-bag gain",
        ),
        Method(
            "genie3",
            _forest_score("genie3"),
            "how much a feature's splits reduce the spread of the labels, over all trees of the forest.",
            _PETKOVIC,
            per_label=True,
            of_forest=True,
            words="by gain",
        ),
        Method(
            "symbolic",
            _forest_score("symbolic"),
            "how often the trees test a feature, weighted by the examples that reach the test.",
            _PETKOVIC,
            of_forest=True,
            words="by number of splits",
        ),
        Method(
            "permutation",
            _forest_score("permutation"),
            "how much worse the forest predicts when a feature's values are permuted among out-of-bag rows.",
            _PETKOVIC,
            needs_out_of_bag=True,
            per_label=True,
            of_forest=True,
            words="by permutation",
        ),
        Method(
            "relief",
            _relief,
            "whether examples that are close but differ in this feature also differ in their labels.",
            _SLAVKOV,
            per_label=True,
            words="by nearest neighbours",
        ),
        Method(
            "lcc",
            _chain_ranker,
            "how much a feature helps to predict a label where all other labels are known too, mean over the labels "
            "(L-classifier chains).",
            _CHAINS,
            per_label=True,
            repeatable=False,
            by_chains=True,
            gives=_label_importances,
            words="by chains of labels",
        ),
    )
}
"""Methods that rank. `build(data, forest=..., relief=...)` takes the parameters of the forest and those of Relief."""


def _selector(name: str) -> Callable[..., Any]:
    def build(feature_hierarchy: Any, **options: Any) -> Any:
        from ramify.selection.methods import make_selector

        return make_selector(name, feature_hierarchy, **options)

    return build


_LAZY_MEANING = "share of the rows for which the feature is selected: "
SELECTION_METHODS = {
    name: Method(name, _selector(name), meaning, paper, per_row=per_row)
    for name, meaning, paper, per_row in (
        ("rpv", _LAZY_MEANING + "present, and more relevant than what it implies.", _SILVA, True),
        ("hip", _LAZY_MEANING + "not implied by another of the row's values.", _WAN, True),
        ("mr", _LAZY_MEANING + "the most relevant of those that imply each other.", _WAN, True),
        ("hip-mr", _LAZY_MEANING + "not implied by others, unless more relevant.", _WAN, True),
        ("positive", "share of the rows that have the feature.", _SILVA, True),
        ("negative", "share of the rows that lack the feature.", _SILVA, True),
        (
            "shsel",
            "relevance; of features that say nearly the same as their parent only the parent is kept.",
            "P. Ristoski, H. Paulheim. Feature selection in hierarchical feature spaces. Discovery Science, 2014.",
            False,
        ),
        (
            "gtd",
            "relevance; kept are features of which none is above another, chosen from the top down.",
            "S. Lu et al. Domain ontology-based feature reduction for high dimensional drug data. CollaborateCom, "
            "2013.",
            False,
        ),
        (
            "tsel",
            "relevance; kept is the most telling feature of each path.",
            "Y. Jeong, S.-H. Myaeng. Feature selection using a semantic hierarchy for event recognition and type "
            "classification. IJCNLP, 2013.",
            False,
        ),
        (
            "cfs",
            "correlation with the target; kept are features that tell much and repeat each other little.",
            "M. A. Hall. Correlation-based feature selection for discrete and numeric class machine learning. ICML, "
            "2000.",
            False,
        ),
        (
            "relieff",
            "whether rows that are close but differ in this feature also differ in their class; kept are features of a "
            "weight above 0.01.",
            "M. Robnik-Šikonja, I. Kononenko. Theoretical and empirical analysis of ReliefF and RReliefF. Machine "
            "Learning 53, 2003.",
            False,
        ),
    )
}
"""Methods that select. `build(feature_hierarchy, relevance=..., close=...)`."""


def _forest(name: str) -> Callable[..., Any]:
    def build(data: Dataset, **parameters: Any) -> Any:
        from ramify.analysis.model_data import forest_for

        known = ENSEMBLES[name] | (_OF_TABLES.get(name, {}) if _is_table(data) else {})
        return forest_for(data, **(known | parameters))

    return build


def _portfolio(
    data: Dataset,
    *,
    random_state: int,
    n_jobs: int | None,
    verbose: int = 0,
    minutes: float | None = None,
    **forest: Any,
) -> Any:
    from ramify.ensemble import Portfolio

    if forest:
        raise ValueError(f"The method auto sets {', '.join(sorted(forest))} itself; leave that out.")
    if data.target is None or data.target_type.ranks_labels:
        raise ValueError(
            f"The method auto learns classes, label sets, hierarchies and numbers. The target is {data.target!r}; "
            "use another method, or name another target."
        )
    return Portfolio(
        hierarchy=data.hierarchy,
        target=data.target,
        minutes=minutes,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=verbose,
    )


def _chains(name: str, class_name: str) -> Callable[..., Any]:
    def build(data: Dataset, *, random_state: int, n_jobs: int | None, verbose: int = 0, **forest: Any) -> Any:
        from ramify import chains, ensemble

        if not data.target_type.has_labels or data.hierarchy is not None:
            raise ValueError(
                f"The method {name} learns label sets and classes. The target is {data.target!r}; "
                "use another method, or name another target."
            )
        if name == "mlknn":
            return chains.MLkNN(n_jobs=n_jobs)
        link = ensemble.ForestClassifier(n_jobs=n_jobs, **forest)
        model = getattr(chains, class_name)(link, random_state=random_state, n_jobs=n_jobs)
        return model.set_params(verbose=verbose) if "verbose" in model.get_params(deep=False) else model

    return build


MODEL_METHODS = {
    **{
        name: Method(name, _forest(name), meaning, _KOCEV, of_forest=True)
        for name, meaning in (
            ("random-forest", "trees over bootstrap samples that look at few features per node."),
            ("bagging", "trees over bootstrap samples that look at all features."),
            ("extra-trees", "trees over all rows whose cuts are drawn at random."),
        )
    },
    "boosted": Method(
        "boosted",
        _forest("boosted"),
        "trees one after the other, each for what those before it leave open, for all labels at once.",
        _SKETCH,
        of_forest=True,
    ),
    "auto": Method(
        "auto",
        _portfolio,
        "forests, boosted trees, neighbours, kernels and networks, by what they add on held-out rows.",
        _CARUANA,
    ),
    **{
        name: Method(name, _chains(name, class_name), meaning, paper, by_chains=True)
        for name, class_name, meaning, paper in (
            ("br", "BinaryRelevance", "one classifier per label, each alone.", _CHAINS),
            ("lp", "LabelPowerset", "one classifier whose classes are the label sets that occur.", _CHAINS),
            (
                "pairwise",
                "PairwiseLabels",
                "one classifier per pair of labels; their votes rank the labels.",
                "J. Fürnkranz et al. Multilabel classification via calibrated label ranking. Machine Learning 73, "
                "2008.",
            ),
            ("cc", "ClassifierChain", "one classifier per label, each sees the labels before it.", _READ),
            ("ecc", "EnsembleOfChains", "many chains in random orders, over parts of the rows, that vote.", _READ),
            ("lcc", "LClassifierChains", "one chain ends in each label, so that it sees all others.", _CHAINS),
            (
                "rakel",
                "RAkEL",
                "label powersets of small random sets of labels, that vote.",
                "G. Tsoumakas, I. Katakis, I. Vlahavas. Random k-labelsets for multilabel classification. IEEE TKDE, "
                "2011.",
            ),
            (
                "mlknn",
                "MLkNN",
                "how often the nearest rows have the label, weighed by how often they do for rows that have it.",
                "M.-L. Zhang, Z.-H. Zhou. ML-KNN: a lazy learning approach to multi-label learning. Pattern "
                "Recognition 40, 2007.",
            ),
        )
    },
}
"""Methods that predict. `build(data, random_state=..., n_jobs=..., verbose=..., **forest parameters)`."""

HELD_OUT = "gain on out-of-bag rows"
IN_BAG = "in-bag gain, which credits a feature that is good for anything to every branch"
"""What scores per label of a forest are."""

OWN_METHOD = "scores as computed by this method."
"""What is said of scores whose method has no record."""


def default_methods(ensemble: str) -> tuple[str, ...]:
    """How features are ranked if nobody says how: by gains on out-of-bag rows, where there are any."""
    return ("genie3_oob",) if ENSEMBLES.get(ensemble, {}).get("bootstrap", True) else ("genie3",)


def method_meaning(name: str) -> str:
    """One sentence on what the scores of a method say; a name that stands in no table has scores of its own."""
    method = {**SELECTION_METHODS, **RANKING_METHODS}.get(name.lower())
    return OWN_METHOD if method is None else method.meaning


def method_words(name: str) -> str:
    """By what a method ranks, in words for a button; its name where it stands in no table."""
    method = RANKING_METHODS.get(name.lower())
    return method.words if method is not None else f"by {name}"


def branch_credit(ranking: FeatureRanking) -> str:
    """What the scores per label of a forest are; empty for other methods, and where there are none."""
    method = RANKING_METHODS.get(str(ranking.origin.get("method", "")).lower())
    if ranking.per_label is None or method is None or not method.of_forest:
        return ""
    return HELD_OUT if method.needs_out_of_bag or ranking.origin.get("per_label") == "genie3_oob" else IN_BAG


def papers(names: Iterable[str]) -> list[str]:
    """The papers of the methods with these names, each once, in their order."""
    known = {**MODEL_METHODS, **SELECTION_METHODS, **RANKING_METHODS}
    return list(dict.fromkeys(known[name.lower()].paper for name in names if name.lower() in known))
