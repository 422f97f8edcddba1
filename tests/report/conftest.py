"""Made-up results of any size, so that the report is tested without growing a forest."""

from functools import cache

import numpy as np
import pytest
from scipy import sparse

from ramify import Hierarchy
from ramify.analysis import Results, analyse
from ramify.analysis.results import Curve, ExplainedRow, Outcome, Reason
from ramify.datasets import Dataset
from ramify.metrics import reliability_bins
from ramify.ranking import Claim, Discoveries, FeatureRanking

BRANCHES = ("metabolism", "energy", "cell cycle", "transcription", "protein fate", "transport", "cell rescue")
PARTS = ("amino acid", "nitrogen", "phosphate", "lipid", "vitamin", "respiration", "mitosis", "splicing", "folding")


def label_tree(n_labels: int) -> Hierarchy:
    paths: list[str] = list(BRANCHES[: max(2, min(len(BRANCHES), n_labels // 4))])
    at = 0
    while len(paths) < n_labels:
        paths.append(f"{paths[at // 4]}/{PARTS[len(paths) % len(PARTS)]} {len(paths)}")
        at += 1
    return Hierarchy.from_paths(paths[:n_labels])


def example_results(
    n_features: int = 60, n_labels: int = 24, *, seed: int = 0, names: list[str] | None = None, density: float = 0.3
) -> Results:
    """Results whose branches are driven by features of their own."""
    rng = np.random.default_rng(seed)
    if names is None:
        hierarchy = label_tree(n_labels)
        features = [f"gene{j:04d}" if j % 3 else f"expression_at_{j}min" for j in range(n_features)]
    else:
        hierarchy = Hierarchy(names[:n_labels], [(0, j) for j in range(1, n_labels)])
        features = [names[j % len(names)] for j in range(n_features)]
    n_samples = 300
    leaves = rng.integers(0, n_labels, size=(n_samples, 2))
    rows = np.repeat(np.arange(n_samples), 2)
    Y = sparse.csr_array((np.ones(2 * n_samples), (rows, leaves.ravel())), shape=(n_samples, n_labels))
    Y = hierarchy.close(sparse.csr_array((Y > 0).astype(np.int8)))
    top = np.array([_top(hierarchy, j) for j in range(n_labels)])
    truth = (rng.integers(0, top.max() + 1, n_features)[:, None] == top) & (np.arange(n_features) < n_features // 4)[
        :, None
    ]
    data = Dataset(
        rng.normal(size=(n_samples, n_features)),
        y=Y,
        target="hierarchy",
        feature_names=tuple(features),
        label_names=hierarchy.names,
        hierarchy=hierarchy,
        truth=sparse.csr_array(truth.astype(np.int8)),
        source="yeast_example.arff" if names is None else names[0],
        sha256="0f" * 32,
        notes=("gene_id names the rows.",) if names is None else tuple(f"{name} is left out." for name in names),
    )
    rankings = {}
    for number, name in enumerate(("genie3", "symbolic", "permutation", "relief")):
        noise = rng.random((n_features, n_labels)) * (rng.random((n_features, n_labels)) < density)
        strength = rng.exponential(size=(n_features, 1)) * rng.uniform(0.3, 1, size=(1, n_labels))
        per_label = sparse.csr_array(truth * strength + 0.05 * noise)
        rankings[name] = ranking(features, per_label, hierarchy, with_labels=number < 3, noise=0.02 * number, rng=rng)
    sizes = np.array([1, 2, 5, 10, 20, 50])
    curves = {name: Curve(sizes, 0.6 - (0.4 + 0.02 * i) / np.sqrt(sizes)) for i, name in enumerate(rankings)}
    random = Curve(sizes, 0.55 - 0.45 / sizes**0.3, 0.5 - 0.45 / sizes**0.3, 0.6 - 0.45 / sizes**0.3)
    reasons = [Reason(features[j % n_features], "1.25", e) for j, e in enumerate((0.21, 0.1, -0.06, 0.03))]
    outcomes = [Outcome(hierarchy.names[j], 0.71 - 0.2 * j, 0.25, j == 0, reasons) for j in range(2)]
    said = rng.random((n_samples, n_labels)) ** 3
    reliability = {"before": reliability_bins(Y, said), "after": reliability_bins(Y, said**1.3)}
    return Results(
        data,
        rankings,
        measured_on="Measured on 300 test rows",
        reliability=reliability,
        discoveries=claimed(features, truth, hierarchy),
        label_quality=np.where(rng.uniform(size=n_labels) < 0.05, np.nan, rng.uniform(0.2, 0.9, n_labels)),
        label_baseline=np.asarray(Y.mean(axis=0)).ravel(),
        knn_quality={name: 0.5 - 0.01 * i for i, name in enumerate(rankings)},
        knn_baseline=0.41,
        curves=curves,
        random_curve=random,
        explained=[ExplainedRow(f"example {i}", hierarchy.names[:3], outcomes) for i in range(3)],
        command="ramify rank " + data.source + " --report report.html",
        seed=0,
        seconds=12.3,
        facts={"Forest": "100 trees"},
    )


def claimed(features, truth, hierarchy):
    """Every planted driver, claimed for its labels and for all of y."""
    rows = [(features[j], hierarchy.names[k]) for j, k in np.argwhere(truth).tolist()]
    rows += [(features[j], "") for j in np.flatnonzero(truth.any(axis=1)).tolist()]
    claims = [Claim(feature, branch, 0.2, 0.1, 0.3, 1e-4, 1e-3, 50, None) for feature, branch in rows]
    return Discoveries(tuple(claims), branches=("", *hierarchy.names), n_rows=100, n_units=len(features))


def ranking(names, per_label, hierarchy, *, with_labels, noise, rng):
    scores = np.asarray(per_label.sum(axis=1)).ravel() + noise * rng.uniform(size=per_label.shape[0])
    if not with_labels:
        return FeatureRanking(names, scores)
    return FeatureRanking(names, scores, per_label=per_label, label_names=hierarchy.names, hierarchy=hierarchy)


def _top(hierarchy: Hierarchy, label: int) -> int:
    above = hierarchy.ancestor_matrix
    ancestors = above.indices[above.indptr[label] : above.indptr[label + 1]]
    return int(min([label, *ancestors]))


def kind_of_data(kind: str) -> Dataset:
    """Small data with a target of a kind; the first two features matter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6))
    hierarchy = None
    names = {
        "classes": ("zebra", "lion", "ape"),  # not in alphabetical order
        "labels": ("round", "red"),
        "hierarchy": ("a", "a/b", "c"),
        "numbers": ("weight", "height"),
        "rankings": ("tea", "milk", "beer"),
    }[kind]
    if kind == "classes":
        y = np.where(X[:, 0] > 0, 0, np.where(X[:, 1] > 0, 1, 2))
    elif kind == "numbers":
        y = X[:, :2] * [1, 5]
    elif kind == "rankings":
        y = np.column_stack([np.where(X[:, 0] > 0, 1, 3), np.full(120, 2), np.where(X[:, 0] > 0, 3, 1)]).astype(float)
    else:
        columns = [X[:, 0] > 0, X[:, 1] > 0] if kind == "labels" else [X[:, 0] > 0, X[:, 0] > 1, X[:, 1] > 0]
        y = sparse.csr_array(np.column_stack(columns).astype(np.int8))
        hierarchy = Hierarchy.from_paths(names) if kind == "hierarchy" else None
    features = tuple(f"feature{j}" for j in range(6))
    return Dataset(X, y=y, target=kind, feature_names=features, label_names=names, hierarchy=hierarchy, source="a.csv")


@pytest.fixture(scope="session")
def results_of_kind():
    """Analysed data with a target of a kind, each once."""
    return cache(
        lambda kind: analyse(
            kind_of_data(kind),
            methods=["genie3", "relief"],
            n_estimators=10,
            explain=True,
            quality={"cv": 2, "n_random": 2},
        )
    )


@pytest.fixture(scope="session")
def make_results():
    return example_results
