"""Lazy selection with naive Bayes: CPU seconds for ten-fold cross-validation on CE-BP, and for the whole Gene Ontology.

    python benchmarks/bench_selection.py [--data FOLDER] [--rows 20000] [--terms 45000] [--no-large]

First the published CE-BP set (657 genes, 991 terms), or generated rows of that shape where the data folder is absent.
Then generated annotations of the size of the whole ontology, with the peak memory of the process: what is kept grows
with the non-zeros, where a matrix of terms by terms alone would take 2 GB as bytes. The large part is run once, on one
core. scihfs needs about 4 ms per row for HIP and 47 ms per row for MR on CE-BP and has no RPV.
"""

import argparse
import os
import resource
import time
from pathlib import Path

import numpy as np
from scipy import sparse

from ramify.datasets import Dataset, make_feature_hierarchy
from ramify.datasets.readers.arff import read_arff
from ramify.datasets.readers.edges import read_edges
from ramify.selection import LazyNaiveBayes, LazySelector, cross_validated_selection
from ramify.selection.binary_features import column_hierarchy, presence

METHODS = {"rpv": "lazy_r", "hip": "lazy_r", "mr": "r"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("RAMIFY_DATA", "../shared/data"))
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--terms", type=int, default=45_000)
    parser.add_argument("--no-large", action="store_true")
    arguments = parser.parse_args()
    ten_fold(published(Path(arguments.data)))
    if not arguments.no_large:
        whole_ontology(arguments.rows, arguments.terms)


def published(folder: Path) -> Dataset:
    files = sorted(folder.glob("hierfeat/rpv_go/CE-BP-*"))
    if not files:
        print(f"There is no CE-BP in {folder}; generated rows of its shape are taken.")
        return make_feature_hierarchy(657, n_features=991, n_annotations=6, random_state=0)
    data = read_arff(files[0])
    edges = read_edges(folder / "hierfeat" / "go_edges_derived" / "CE-BP.edges.csv")
    hierarchy = column_hierarchy(edges, data.feature_names)
    return Dataset(
        presence(data), y=data.y, target="classes", feature_names=data.feature_names, feature_hierarchy=hierarchy
    )


def ten_fold(data: Dataset) -> None:
    print(f"ten-fold cross-validation with naive Bayes, {data.n_samples} rows, {data.n_features} terms")
    for method, relevance in METHODS.items():
        classifier = LazyNaiveBayes(LazySelector(data.feature_hierarchy, method=method, relevance=relevance))
        seconds, result = np.inf, None
        for _ in range(3):
            result = cross_validated_selection(classifier, data.X, data.y)
            seconds = min(seconds, result.fit_seconds + result.predict_seconds)
        per_row = 1000 * result.predict_seconds / data.n_samples
        print(
            f"  {method:4} {seconds:6.2f} s  (selecting and predicting {per_row:.2f} ms per row)  "
            f"AUROC {result.measures()['auroc']:.3f}  selected {100 * result.share:.1f} %"
        )


def whole_ontology(n_rows: int, n_terms: int) -> None:
    data = make_feature_hierarchy(n_rows, n_features=n_terms, n_annotations=10, random_state=0)
    X = sparse.csr_array(data.X)
    print(
        f"generated: {n_rows} rows, {n_terms} terms, {X.nnz / n_rows:.0f} present per row, "
        f"{data.feature_hierarchy.ancestor_matrix.nnz / n_terms:.1f} ancestors per term"
    )
    for method, relevance in METHODS.items():
        started = time.process_time()
        model = LazyNaiveBayes(LazySelector(data.feature_hierarchy, method=method, relevance=relevance)).fit(X, data.y)
        fitted = time.process_time()
        model.predict_proba(X)
        done = time.process_time()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
        print(f"  {method:4} fit {fitted - started:6.1f} s  predict {done - fitted:6.1f} s  peak {peak:.2f} GiB")


if __name__ == "__main__":
    main()
