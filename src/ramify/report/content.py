"""Results as one plain dictionary: the content of a report, from which every form of it is made."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import version
from itertools import combinations
from pathlib import PurePath
from typing import Any

import numpy as np
from scipy import sparse

import ramify
from ramify.analysis import Results
from ramify.analysis.methods import method_meaning, papers
from ramify.hierarchy import Hierarchy
from ramify.ranking import FeatureRanking, method_map, overlap, spearman
from ramify.report.branches import branch_tops, heat_map, most_driven
from ramify.report.summary import (
    agreement_sentences,
    lead_sentence,
    mean_of_known,
    quality_sentences,
    summary_sentences,
)

OWN_FACTOR = 2
"""A feature is a branch's own where its share is at least this many times its overall share."""

CHIPS = 5
"""Features shown beside each label."""

_DEMSAR = (
    "J. Demšar. Statistical comparisons of classifiers over multiple data sets. Journal of Machine Learning Research "
    "7, 1-30, 2006."
)

_NOUNS = {
    "classes": ("class", "classes"),
    "labels": ("label", "labels"),
    "hierarchy": ("label", "labels"),
    "numbers": ("target", "targets"),
    "rankings": ("item", "ranked items"),
}


def report_content(results: Results) -> dict[str, Any]:
    """Everything the report says, as a dictionary of strings, numbers and lists (it is valid JSON).

    Parameters
    ----------
    results : Results
        What was computed.
    """
    _check_sizes(results)
    content = {
        "format": "ramify-report",
        "format_version": 1,
        "title": _title(results),
        "own_factor": OWN_FACTOR,
        "chips": CHIPS,
        "data": _data(results),
        "features": _features(results),
        "labels": _labels(results),
        "methods": _methods(results),
        "heatmaps": _heat_maps(results),
        "measures": _measures(results),
        "quality": _quality(results),
        "agreement": _agreement(results),
        "comparisons": _comparisons(results),
        "predictions": _predictions(results),
        "explained_on": results.explained_on,
        "made": _made(results),
        "citations": _citations(results),
    }
    content["summary"] = summary_sentences(content)
    content["lead"] = lead_sentence(content)
    return content


def _check_sizes(results: Results) -> None:
    """Refuse numbers that belong to other features or labels."""
    data = results.dataset
    if data is None:
        return
    for name, size, of in (
        ("p_values", data.n_features, "feature"),
        ("label_quality", data.n_labels, "label"),
        ("label_baseline", data.n_labels, "label"),
    ):
        given = getattr(results, name)
        if given is not None and np.shape(given) != (size,):
            raise ValueError(
                f"The {name} of a report must hold one number per {of} ({size}). Got the shape {np.shape(given)}; "
                "give those of the same data."
            )


def _title(results: Results) -> str:
    if results.title:
        return results.title
    names = [] if results.dataset is None else _source_names(results.dataset.source)
    return names[0] if names else "Ramify report"


def _source_names(source: str) -> list[str]:
    """Names of the files, without the folders that are nobody else's business."""
    return [PurePath(part).name for part in source.split(", ") if part]


def _data(results: Results) -> dict[str, Any] | None:
    data = results.dataset
    if data is None:
        return None
    noun = _noun(results)[0 if data.n_labels == 1 else 1]
    figures = [(f"{data.n_samples:,}", "examples"), (f"{data.n_features:,}", "features")]
    facts = [
        ("Source", ", ".join(_source_names(data.source)) or "given as arrays"),
        ("Examples", f"{data.n_samples:,}"),
    ]
    n_nominal = int(data.categorical_features.sum())
    storage = "sparse" if sparse.issparse(data.X) else "dense"
    facts.append(("Features", f"{data.n_features:,} ({data.n_features - n_nominal:,} numeric, {n_nominal:,} nominal)"))
    facts.append(("Storage", f"{storage}, {_missing_share(data.X):.1%} of the cells missing"))
    if data.target:
        figures.append((f"{data.n_labels:,}", noun))
        facts.append(("Target", f"{data.n_labels:,} {noun}"))
    if data.target in {"labels", "hierarchy"}:
        per_row = np.asarray(data.y.sum(axis=1)).ravel()
        facts.append(("Labels per example", f"{per_row.mean():.1f} on average, {int(per_row.max(initial=0))} at most"))
    if data.hierarchy is not None:
        shape = "tree" if data.hierarchy.is_tree else "DAG"
        deepest = _levels(data.hierarchy)
        figures.append((f"{deepest}", "levels"))
        facts.append(("Hierarchy", f"{shape} of {len(data.hierarchy):,} labels, {deepest} levels"))
    if data.feature_hierarchy is not None:
        facts.append(("Feature hierarchy", f"{len(data.feature_hierarchy):,} terms"))
    if results.rankings:
        figures.append((str(len(results.rankings)), "ranking" if len(results.rankings) == 1 else "rankings"))
    if data.sha256:
        facts.append(("SHA-256 of the data", data.sha256))
    return {
        "n_samples": data.n_samples,
        "n_features": data.n_features,
        "n_labels": data.n_labels,
        "target": data.target,
        "levels": None
        if data.hierarchy is None or not len(data.hierarchy)
        else int(np.ceil(data.hierarchy.depth.max())),
        "key_figures": figures,
        "facts": facts,
    }


def _levels(hierarchy: Hierarchy | None) -> int | None:
    return None if hierarchy is None or not len(hierarchy) else int(np.ceil(hierarchy.depth.max()))


def _missing_share(X: Any) -> float:
    values = X.data if sparse.issparse(X) else np.asarray(X)
    n_cells = X.shape[0] * X.shape[1]
    return float(np.isnan(values).sum()) / n_cells if n_cells and values.dtype.kind == "f" else 0.0


def _noun(results: Results) -> tuple[str, str]:
    return _NOUNS[(results.dataset.target if results.dataset is not None else None) or "labels"]


def _features(results: Results) -> dict[str, Any]:
    data = results.dataset
    features: dict[str, Any] = {"names": [], "p_values": None, "planted": None, "selected": None}
    if data is None:
        return features
    features["names"] = _titled(data.feature_names, results)
    if results.p_values is not None:
        features["p_values"] = rounded(results.p_values)
    if data.truth is not None:
        features["planted"] = (np.asarray(abs(data.truth).sum(axis=1)).ravel() > 0).astype(int).tolist()
    if results.selected:
        kept = set(results.selected)
        features["selected"] = [int(name in kept) for name in data.feature_names]
    return features


def _titled(names: Sequence[str], results: Results) -> list[str]:
    """Names; what they are called comes first where that is known."""
    return [f"{results.titles[name]} ({name})" if name in results.titles else str(name) for name in names]


def _labels(results: Results) -> dict[str, Any]:
    data = results.dataset
    names = [] if data is None else _titled(data.label_names, results) or ["target"]
    parents: list[list[int]] = [[] for _ in names]
    if data is not None and data.hierarchy is not None:
        matrix = data.hierarchy.parent_matrix
        parents = [sorted(matrix.indices[matrix.indptr[j] : matrix.indptr[j + 1]].tolist()) for j in range(len(names))]
    return {
        "noun": _noun(results)[0],
        "names": names,
        "parents": parents,
        "examples": _examples(results),
        "quality": None if results.label_quality is None else rounded(results.label_quality),
        "baseline": None if results.label_baseline is None else rounded(results.label_baseline),
        "quality_name": results.quality_name.removeprefix("pooled "),
    }


def _examples(results: Results) -> list[int] | None:
    """How many examples have each label, where that means something."""
    data = results.dataset
    if data is None or data.y is None or data.target not in {"classes", "labels", "hierarchy"}:
        return None
    if data.target == "classes":
        return np.bincount(np.asarray(data.y).astype(int), minlength=len(data.label_names)).tolist()
    return [int(n) for n in np.asarray(data.y.sum(axis=0)).ravel()]


def _methods(results: Results) -> list[dict[str, Any]]:
    n_with = max(1, len(results.per_label()))
    methods = []
    for name, ranking in results.rankings.items():
        _check_ranking(name, ranking, results)
        per_label = ranking.per_label
        methods.append(
            {
                "name": name,
                "meaning": method_meaning(name),
                "scores": rounded(ranking.scores),
                "ranks": [int(rank) for rank in ranking.ranks],
                "branches": None if per_label is None else branch_tops(ranking, n_methods=n_with),
                "drives": None if per_label is None else most_driven(per_label),
            }
        )
    return methods


def _check_ranking(name: str, ranking: FeatureRanking, results: Results) -> None:
    n_features = 0 if results.dataset is None else results.dataset.n_features
    if len(ranking) != n_features:
        raise ValueError(
            f"The ranking {name!r} has {len(ranking)} features and the data set {n_features}; "
            "a report needs the data set that its rankings are of."
        )


def _heat_maps(results: Results) -> list[dict[str, Any]]:
    if results.dataset is None or results.dataset.n_labels < 2:
        return []
    names = results.per_label()
    return [{"method": name, **heat_map(results.rankings[name], n_methods=len(names))} for name in names]


def _measures(results: Results) -> dict[str, Any] | None:
    """The model's measures with the prior's beside them."""
    if results.measures is None:
        return None
    rows = [
        [str(name), _measured(row["model"]), _measured(row["prior"]), str(row["better"])]
        for name, row in results.measures.iterrows()
    ]
    sentence = f"{results.measured_on}. The prior knows only how frequent each label is, or the mean of each number."
    columns = ["Measure", "Model", "Prior alone", "Better is"]
    return {"sentences": [sentence], "table": {"columns": columns, "rows": rows}}


def _quality(results: Results) -> dict[str, Any] | None:
    if not (results.knn_quality or results.curves or results.p_values is not None):
        return None
    quality: dict[str, Any] = {
        "measure": results.quality_name,
        "knn": {name: rounded(value) for name, value in results.knn_quality.items()},
        "knn_baseline": rounded(results.knn_baseline),
        "curves": {name: _curve(curve) for name, curve in results.curves.items()},
        "random": None if results.random_curve is None else _curve(results.random_curve),
    }
    quality["table"] = _quality_table(quality)
    quality["sentences"] = quality_sentences(quality, results.p_values)
    return quality


def _quality_table(quality: dict[str, Any]) -> dict[str, Any] | None:
    """Methods by the checks that were made, with what chance gives in the last row."""
    if not (quality["knn"] or quality["curves"]):
        return None
    columns = ["Ranking"]
    if quality["knn"]:
        columns.append(f"Weighted neighbours, {quality['measure']}")
    if quality["curves"]:
        columns.append(f"Mean over the curve, {quality['measure']}")
    rows = []
    for name in dict.fromkeys([*quality["knn"], *quality["curves"]]):
        row = [name]
        if quality["knn"]:
            row.append(_three(quality["knn"].get(name)))
        if quality["curves"]:
            row.append(_three(mean_of_known(quality["curves"].get(name))))
        rows.append(row)
    last = ["Without a ranking"]
    if quality["knn"]:
        last.append(_three(quality["knn_baseline"]))
    if quality["curves"]:
        last.append(_three(mean_of_known(quality["random"])))
    return {"columns": columns, "rows": [*rows, last]}


def _three(value: float | None) -> str:
    return "–" if value is None or np.isnan(value) else f"{value:.3f}"


def _measured(value: float) -> str:
    """Three decimals, or three digits where decimals would show two small losses as the same."""
    return f"{value:.3g}" if 0 < abs(value) < 0.1 else _three(value)


def _curve(curve: Any) -> dict[str, Any]:
    return {
        "sizes": [int(size) for size in curve.sizes],
        "values": rounded(curve.values),
        "low": None if curve.low is None else rounded(curve.low),
        "high": None if curve.high is None else rounded(curve.high),
    }


def _agreement(results: Results) -> dict[str, Any] | None:
    """Rank correlation of every pair of methods, a map of them, and how many of the best features they share."""
    if len(results.rankings) < 2:
        return None
    names = list(results.rankings)
    rankings = list(results.rankings.values())
    correlation = [[1.0 if a is b else spearman(a, b) for b in rankings] for a in rankings]
    n_features = len(rankings[0])
    sizes = sorted({int(k) for k in np.geomspace(1, max(1, n_features // 2), 12)})
    shared = [np.mean([overlap(a, b, k) for a, b in combinations(rankings, 2)]) for k in sizes]
    nearness = method_map(results.rankings, distance="spearman")
    agreement = {
        "methods": names,
        "distances": [rounded(row) for row in nearness.distances.to_numpy()],
        "places": [rounded(place) for place in nearness.coordinates.to_numpy()],
        "correlation": [rounded(row) for row in correlation],
        "sizes": sizes,
        "shared": rounded(shared),
        "by_chance": rounded([k / n_features for k in sizes]),
    }
    agreement["sentences"] = agreement_sentences(agreement)
    return agreement


def _comparisons(results: Results) -> list[dict[str, Any]]:
    """Per measure: the verdict, mean ranks, what the diagram shows and the values behind it."""
    return [
        {
            "measure": measure,
            "sentence": comparison.sentence,
            "ranks": {str(name): rounded(rank) for name, rank in comparison.ranks.items()},
            "groups": [[str(name) for name in group] for group in comparison.groups],
            "critical_distance": rounded(comparison.critical_distance),
            "table": {
                "columns": ["Data set", *(str(name) for name in comparison.ranks.index)],
                "rows": [
                    [str(name), *(_three(float(value)) for value in row)]
                    for name, row in comparison.table[comparison.ranks.index].iterrows()
                ]
                + [["Mean rank", *(f"{rank:.2f}" for rank in comparison.ranks)]],
            },
        }
        for measure, comparison in results.comparisons.items()
    ]


def _predictions(results: Results) -> list[dict[str, Any]]:
    cases = []
    for row in results.explained:
        outcomes = []
        for outcome in row.outcomes:
            widest = max((abs(reason.effect) for reason in outcome.reasons), default=0.0) or 1.0
            reasons = [
                {
                    "feature": _titled([reason.feature], results)[0],
                    "value": reason.value,
                    "effect": f"{reason.effect:+.3f}",
                    "sign": "plus" if reason.effect >= 0 else "minus",
                    "x": round(50 + min(0.0, 50 * reason.effect / widest), 1),
                    "width": round(abs(50 * reason.effect / widest), 1),
                }
                for reason in outcome.reasons
            ]
            outcomes.append(
                {
                    "label": _titled([outcome.label], results)[0],
                    "predicted": f"{outcome.predicted:.2f}",
                    "base": f"{outcome.base:.2f}",
                    "correct": outcome.correct,
                    "reasons": reasons,
                }
            )
        has = _titled(row.has[:6], results) + ([f"{len(row.has) - 6} more"] if len(row.has) > 6 else [])
        cases.append({"id": row.id, "has": has, "outcomes": outcomes})
    return cases


def _made(results: Results) -> dict[str, Any]:
    packages = ("numpy", "scipy", "scikit-learn")
    facts = [
        ("Ramify", ramify.__version__),
        ("With", ", ".join(f"{name} {version(name)}" for name in packages)),
        ("Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
    ]
    if results.seed is not None:
        facts.append(("Seed", str(results.seed)))
    if results.seconds is not None:
        facts.append(("Time", f"{results.seconds:.1f} s"))
    facts.extend((str(name), str(value)) for name, value in results.facts.items())
    return {"version": ramify.__version__, "facts": facts, "command": results.command}


def _citations(results: Results) -> list[str]:
    """Ramify itself and the papers of the methods used."""
    listed = ["Ramify developers. Ramify: feature ranking, selection and prediction for structured targets."]
    listed += papers(results.rankings)
    if results.comparisons:
        listed.append(_DEMSAR)
    return listed


def rounded(values: Any) -> Any:
    """Numbers to four significant digits, NaN as None: short in the page and valid JSON."""
    if values is None:
        return None
    array = np.asarray(values, dtype=float)
    if array.ndim == 0:
        return float(f"{array:.4g}") if np.isfinite(array) else None
    return [float(f"{x:.4g}") if np.isfinite(x) else None for x in array.tolist()]
