"""The report's sentences: what the numbers say, in plain words."""

from __future__ import annotations

from typing import Any

import numpy as np


def summary_sentences(content: dict[str, Any]) -> list[str]:
    """What a reader should know after ten seconds, most important first."""
    sentences = [_data_sentence(content["data"])] if content["data"] else []
    if content["methods"]:
        sentences.append(_concentration_sentence(content))
        sentences.extend(_branch_sentence(content))
    sentences.extend(_planted_sentence(content))
    if content["features"]["selected"]:
        chosen = content["features"]["selected"]
        sentences.append(f"{sum(chosen):,} of the {len(chosen):,} features are selected.")
    if content["quality"]:
        sentences.extend(content["quality"]["sentences"][:1])
    if content["agreement"]:
        sentences.extend(content["agreement"]["sentences"][:1])
    sentences.extend(f"{comparison['measure']}: {comparison['sentence']}" for comparison in content["comparisons"])
    return sentences


def lead_sentence(content: dict[str, Any]) -> str:
    """The one thing to take away: whose drivers differ, else where the importance lies, else what the data are."""
    if content["methods"]:
        return (_branch_sentence(content) or [_concentration_sentence(content)])[0]
    if content["comparisons"]:
        table = content["comparisons"][0]["table"]
        return f"{len(table['columns']) - 1} methods compared over {len(table['rows']) - 1} data sets."
    return content["summary"][0] if content["summary"] else ""


def _data_sentence(data: dict[str, Any]) -> str:
    start = f"{data['n_samples']:,} examples are described by {data['n_features']:,} features"
    n_labels = f"{data['n_labels']:,}"
    ends = {
        "classes": f" and have one of {n_labels} classes.",
        "labels": f" and have any of {n_labels} labels.",
        "hierarchy": f" and have labels from a hierarchy of {n_labels} on {data['levels']} levels.",
        "numbers": f" and have {n_labels} numeric target{'' if data['n_labels'] == 1 else 's'}.",
        "rankings": f" and each ranks {n_labels} items.",
    }
    return start + ends.get(data["target"], ".")


def _concentration_sentence(content: dict[str, Any]) -> str:
    method = content["methods"][0]
    scores = np.maximum([score or 0.0 for score in method["scores"]], 0)
    total = scores.sum()
    if total == 0:
        return f"{method['name']} finds no feature that matters."
    ordered = np.sort(scores)[::-1]
    n_half = int(np.searchsorted(np.cumsum(ordered), total / 2)) + 1
    best = int(np.argmax(scores))
    name = content["features"]["names"][best]
    return (
        f"By {method['name']}, {n_half:,} of the {len(scores):,} features carry{'' if n_half > 1 else 's'} half of all "
        f"importance; {name} leads with {_percent(scores[best] / total)}."
    )


def _branch_sentence(content: dict[str, Any]) -> list[str]:
    """The two largest branches whose leading feature is not the other's."""
    method = next((m for m in content["methods"] if m["branches"]), None)
    labels = content["labels"]
    if method is None or len(labels["names"]) < 2:
        return []
    roots = [j for j, parents in enumerate(labels["parents"]) if not parents]
    if len(roots) == 1:
        roots = [j for j, parents in enumerate(labels["parents"]) if parents == roots]
    examples = labels["examples"] or [0] * len(labels["names"])
    roots.sort(key=lambda j: -examples[j])
    leads: dict[int, int] = {}
    for label in roots:
        features = method["branches"]["features"][label]
        if features and features[0] not in leads:
            leads[features[0]] = label
    if len(leads) < 2:
        return []
    parts = [
        f"{labels['names'][label]} by {content['features']['names'][feature]}"
        for feature, label in list(leads.items())[:3]
    ]
    return ["Branches have their own drivers: " + ", ".join(parts[:-1]) + " and " + parts[-1] + "."]


def _planted_sentence(content: dict[str, Any]) -> list[str]:
    planted = content["features"]["planted"]
    if not planted or not content["methods"]:
        return []
    n_planted = sum(planted)
    method = content["methods"][0]
    best = np.argsort(method["ranks"], kind="stable")[:n_planted]
    n_found = sum(planted[j] for j in best)
    return [
        f"The truth is known here: {n_found} of the {n_planted} planted features are among the {n_planted} that "
        f"{method['name']} ranks highest."
    ]


def quality_sentences(quality: dict[str, Any], p_values: np.ndarray | None) -> list[str]:
    """Whether the rankings beat chance."""
    sentences = []
    chance = mean_of_known(quality["random"])
    of_curves = {name: mean_of_known(curve) for name, curve in quality["curves"].items()}
    means = {name: mean for name, mean in of_curves.items() if mean is not None}
    if means and chance is not None:
        best = max(means, key=lambda name: means[name])
        worst = min(means, key=lambda name: means[name])
        if means[worst] > chance:
            word = "The ranking beats" if len(means) == 1 else "All rankings beat"
        else:
            beaten = [name for name, mean in means.items() if mean > chance]
            word = f"{len(beaten)} of {len(means)} rankings beat"
        sentences.append(
            f"{word} random order: adding features by {best} gives a mean {quality['measure']} of {means[best]:.3f}, "
            f"random order {chance:.3f}."
        )
    weighted = {name: value for name, value in quality["knn"].items() if value is not None}
    if weighted and quality["knn_baseline"] is not None:
        best = max(weighted, key=lambda name: weighted[name])
        change = weighted[best] - quality["knn_baseline"]
        sentences.append(
            f"Neighbours weighted by {best} predict with {quality['measure']} {weighted[best]:.3f}, "
            f"{abs(change):.3f} {'more' if change >= 0 else 'less'} than with all features alike."
        )
    if p_values is not None:
        known = np.asarray(p_values)[np.isfinite(p_values)]
        sentences.append(
            f"{int((known <= 0.05).sum()):,} of {len(known):,} features score higher than chance explains "
            "(p at most 0.05)."
        )
    return sentences


def mean_of_known(curve: dict[str, Any] | None) -> float | None:
    """Mean of a curve over the sizes at which it was measured; None where that is nowhere."""
    known = [] if curve is None else [value for value in curve["values"] if value is not None]
    return float(np.sum(np.array(known) / len(known))) if known else None


def agreement_sentences(agreement: dict[str, Any]) -> list[str]:
    """How alike the methods' rankings are."""
    correlation = np.array(agreement["correlation"], dtype=float)
    upper = np.triu_indices(len(correlation), 1)
    values = correlation[upper]
    low = int(np.argmin(values))
    a, b = (agreement["methods"][upper[side][low]] for side in (0, 1))
    mean = values.mean()
    word = "agree closely" if mean >= 0.7 else "agree in part" if mean >= 0.3 else "disagree"
    sentence = f"The methods {word}: their mean rank correlation is {mean:.2f}"
    if len(values) > 1:
        sentence += f", the lowest {values[low]:.2f} between {a} and {b}"
    return [sentence + "."]


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else "100 %"
