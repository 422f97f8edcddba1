"""The data: rows, features, target, hierarchy, fingerprint."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ramify.analysis import Results
from ramify.hierarchy import Hierarchy
from ramify.report.markdown import bullets, facts_list, heading
from ramify.report.notation import file_names
from ramify.report.page_labels import target_noun
from ramify.report.section import Content, Section

_MOST_NOTES = 50


def _part(results: Results) -> dict[str, Any] | None:
    data = results.dataset
    if data is None:
        return None
    noun = target_noun(results)[0 if data.n_labels == 1 else 1]
    figures = [(f"{data.n_samples:,}", "examples"), (f"{data.n_features:,}", "features")]
    facts = [
        ("Source", ", ".join(file_names(data.source)) or "given as arrays"),
        ("Examples", f"{data.n_samples:,}"),
    ]
    n_nominal = int(data.categorical_features.sum())
    storage = "sparse" if sparse.issparse(data.X) else "dense"
    facts.append(("Features", f"{data.n_features:,} ({data.n_features - n_nominal:,} numeric, {n_nominal:,} nominal)"))
    facts.append(("Storage", f"{storage}, {_missing_share(data.X):.1%} of the cells missing"))
    if data.target:
        figures.append((f"{data.n_labels:,}", noun))
        facts.append(("Target", f"{data.n_labels:,} {noun}"))
    if data.target_type.has_sets:
        labels = sparse.csr_array(data.y, copy=True)
        labels.data = np.nan_to_num(labels.data)
        per_row = np.asarray(labels.sum(axis=1)).ravel()
        facts.append(("Labels per example", f"{per_row.mean():.1f} on average, {int(per_row.max(initial=0))} at most"))
    if data.known_share is not None:
        least = int(data.known_share.argmin())
        of_least = f"{data.label_names[least]} least, {data.known_share[least]:.0%}"
        facts.append((f"Known {noun}", f"{data.known_share.mean():.0%} of the cells ({of_least})"))
    if data.hierarchy is not None:
        shape = "tree" if data.hierarchy.is_tree else "DAG"
        deepest = _levels(data.hierarchy)
        figures.append((f"{deepest}", "levels"))
        facts.append(("Hierarchy", f"{shape} of {len(data.hierarchy):,} labels, {deepest} levels"))
    if data.feature_hierarchy is not None:
        facts.append(("Feature hierarchy", f"{len(data.feature_hierarchy):,} terms"))
    if results.rankings:
        figures.append((str(len(results.rankings)), "ranking" if len(results.rankings) == 1 else "rankings"))
    n_more = len(data.notes) - _MOST_NOTES
    if data.sha256:
        facts.append(("SHA-256 of the data", data.sha256))
    return {
        "n_samples": data.n_samples,
        "n_features": data.n_features,
        "n_labels": data.n_labels,
        "target": data.target,
        "levels": _levels(data.hierarchy),
        "key_figures": figures,
        "facts": facts,
        "notes": [*data.notes[:_MOST_NOTES], *([f"And {n_more:,} more."] if n_more > 0 else [])],
    }


def _levels(hierarchy: Hierarchy | None) -> int | None:
    return None if hierarchy is None or not len(hierarchy) else int(np.ceil(hierarchy.depth.max()))


def _missing_share(X: Any) -> float:
    values = X.data if sparse.issparse(X) else np.asarray(X)
    n_cells = X.shape[0] * X.shape[1]
    return float(np.isnan(values).sum()) / n_cells if n_cells and values.dtype.kind == "f" else 0.0


def _markdown(content: Content) -> list[str]:
    data = content["data"]
    if not data:
        return []
    blocks = [heading(SECTION.title) + "\n\n" + facts_list(data["facts"])]
    return [*blocks, "Found when the data were read:\n\n" + bullets(data["notes"])] if data["notes"] else blocks


SECTION = Section("data-card", 120, "Data", "The data", key="data", part=_part, markdown=_markdown)
