"""What each ranking method means, in a sentence, and which papers to cite for it."""

from __future__ import annotations

from ramify.report.results import Results

_MEANINGS = {
    "genie3_oob": "how much a feature's splits reduce the spread of the labels, measured on examples the tree did not "
    "see.",
    "genie3": "how much a feature's splits reduce the spread of the labels, over all trees of the forest.",
    "symbolic": "how often the trees test a feature, weighted by the examples that reach the test.",
    "permutation": "how much worse the forest predicts when a feature's values are shuffled among unseen examples.",
    "relief": "whether examples that are close but differ in this feature also differ in their labels.",
    "hip-mr": "share of the rows for which the feature is selected: not implied by others, unless more relevant.",
    "hip": "share of the rows for which the feature is selected: not implied by another of the row's values.",
    "mr": "share of the rows for which the feature is selected: the most relevant of those that imply each other.",
    "rpv": "share of the rows for which the feature is selected: present, and more relevant than what it implies.",
    "positive": "share of the rows that have the feature.",
    "negative": "share of the rows that lack the feature.",
    "shsel": "relevance; of features that say nearly the same as their parent only the parent is kept.",
    "gtd": "relevance; kept are features of which none is above another, chosen from the top down.",
    "tsel": "relevance; kept is the most telling feature of each path.",
    "cfs": "correlation with the target; kept are features that tell much and repeat each other little.",
}

_CITATIONS = {
    "forest": "M. Petković, S. Džeroski, D. Kocev. Feature ranking for hierarchical multi-label classification with "
    "tree ensemble methods. Acta Polytechnica Hungarica 17(10), 2020.",
    "relief": "I. Slavkov, J. Karcheska, D. Kocev, S. Kalajdziski, S. Džeroski. ReliefF for hierarchical multi-label "
    "classification. New Frontiers in Mining Complex Patterns, LNCS 8399, 2014.",
    "selection": "P. N. da Silva, A. Plastino, A. A. Freitas. Prioritizing positive feature values: a new hierarchical "
    "feature selection method. Applied Intelligence, 2020.",
    "comparison": "J. Demšar. Statistical comparisons of classifiers over multiple data sets. Journal of Machine "
    "Learning Research 7, 1-30, 2006.",
}


def method_meaning(name: str) -> str:
    """One sentence on what a method of this name measures."""
    lowered = name.lower()
    return next((text for key, text in _MEANINGS.items() if key in lowered), "scores as computed by this method.")


def citations(results: Results) -> list[str]:
    """Ramify itself and the papers of the methods used."""
    names = " ".join(results.rankings).lower()
    listed = ["Ramify developers. Ramify: feature ranking, selection and prediction for structured targets."]
    if any(key in names for key in ("genie3", "symbolic", "permutation")):
        listed.append(_CITATIONS["forest"])
    if "relief" in names:
        listed.append(_CITATIONS["relief"])
    if results.selected:
        listed.append(_CITATIONS["selection"])
    if results.comparisons:
        listed.append(_CITATIONS["comparison"])
    return listed
