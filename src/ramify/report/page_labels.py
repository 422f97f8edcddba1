"""The labels of a report: those of the data, or where a ranking takes them apart (pairs of a ranking) those it has."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ramify.analysis import Results
from ramify.analysis.first_table import untested
from ramify.hierarchy import Hierarchy
from ramify.ranking import FeatureRanking
from ramify.report.notation import rounded, titled
from ramify.targets import Target


def target_noun(results: Results) -> tuple[str, str]:
    """What one and several of the target's labels are called."""
    return (Target if results.dataset is None else results.dataset.target_type).nouns


def label_names(results: Results) -> tuple[str, ...]:
    """Names of the labels that the page shows, in the order of all its columns."""
    data = results.dataset
    if data is None:
        return ()
    apart = _taken_apart(results)
    return apart.label_names if apart is not None else tuple(data.label_names) or ("target",)


def label_hierarchy(results: Results) -> Hierarchy | None:
    """What lies below what, among the labels that the page shows."""
    apart = _taken_apart(results)
    if apart is not None:
        return apart.hierarchy
    return None if results.dataset is None else results.dataset.hierarchy


def with_page_labels(ranking: FeatureRanking, results: Results) -> FeatureRanking:
    """The ranking with its scores per label in the order of the page's labels."""
    names = label_names(results)
    if ranking.per_label is None or ranking.label_names == names:
        return ranking
    position = {name: column for column, name in enumerate(ranking.label_names)}
    per_label = sparse.csc_array(ranking.per_label)
    if set(position) == set(names):
        per_label = per_label[:, [position[name] for name in names]]
    elif len(names) != per_label.shape[1]:
        raise ValueError(
            f"A ranking has scores of {per_label.shape[1]} labels and the report {len(names)}; "
            "a report needs rankings of the same data."
        )
    return FeatureRanking(
        ranking.names,
        ranking.scores,
        per_label=sparse.csr_array(per_label),
        label_names=names,
        hierarchy=label_hierarchy(results),
        origin=ranking.origin,
    )


def labels_part(results: Results) -> dict[str, Any]:
    """Names, parents, examples and quality of the labels."""
    names = label_names(results)
    parents: list[list[int]] = [[] for _ in names]
    hierarchy = label_hierarchy(results)
    if hierarchy is not None:
        matrix = hierarchy.parent_matrix
        parents = [sorted(matrix.indices[matrix.indptr[j] : matrix.indptr[j + 1]].tolist()) for j in range(len(names))]
    return {
        "noun": target_noun(results)[0],
        "nouns": target_noun(results)[1],
        "pairs": _taken_apart(results) is not None,
        "names": titled(names, results),
        "parents": parents,
        "examples": _examples(results),
        "untested": [untested(results).get(name) for name in names],
        "quality": None if results.label_quality is None else rounded(results.label_quality),
        "baseline": None if results.label_baseline is None else rounded(results.label_baseline),
        "quality_name": results.quality_name.removeprefix("pooled "),
    }


def _taken_apart(results: Results) -> FeatureRanking | None:
    """The first ranking that has other labels than the data, as one of rankings has their pairs."""
    data = results.dataset
    names = results.per_label()
    if data is None or not data.target_type.ranks_labels or not names:
        return None
    return results.rankings[names[0]]


def _examples(results: Results) -> list[int] | None:
    """How many examples have each label, where that means something."""
    data = results.dataset
    if data is None or data.y is None or not data.target_type.has_labels:
        return None
    if data.target_type.has_one_label:
        return np.bincount(np.asarray(data.y).astype(int), minlength=len(data.label_names)).tolist()
    return [int(n) for n in data.label_counts]
