"""The surface of the compiled module: these names, and a stub that declares them."""

import ast
import pickle
from pathlib import Path

import numpy as np

import ramify
from ramify import _core
from ramify.ensemble import growing

NAMES = {
    "text": {"arff_rows"},
    "features": {"FeatureTable", "FeatureRows", "edges_of_bins", "code_rows"},
    "targets": {"LabelRows", "NumberRows", "RankingRows"},
    "forests": {"Growth", "Forest", "grow", "predict", "predict_oob", "apply", "contributions"},
    "boosting": {"Boosting", "boost"},
    "rankings": {"sum_rankings", "leaf_rankings"},
    "scores": {"symbolic", "genie3", "genie3_oob", "genie3_known", "permutation", "redraw_sums", "redraw_rows"},
    "explanations": {"shapley", "shapley_base"},
    "neighbours": {"Differences", "SparseMatrix", "nearest", "difference_sums", "furthest_sets"},
}


def test_the_module_exports_exactly_these_names():
    assert {name for name in dir(_core) if not name.startswith("_")} == set().union(*NAMES.values())


def test_its_stub_declares_them():
    stub = ast.parse(Path(ramify.__file__).with_name("_core.pyi").read_text(encoding="utf-8"))
    declared = {node.name for node in stub.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert declared == set().union(*NAMES.values())


def test_what_workers_are_sent_pickles():
    """Blocks of trees grow elsewhere from what arrives there: the same bits."""
    table = _core.FeatureTable(
        np.arange(12.0)[:, None] % 5, n_categories=np.zeros(1, np.int32), max_bins=0, n_threads=1
    )
    growth = _core.Growth(
        seed=3,
        first_tree=0,
        n_trees=4,
        max_features=1,
        bootstrap=True,
        random_splits=False,
        max_depth=-1,
        min_samples_split=2,
        min_samples_leaf=1,
        min_impurity_decrease=0.0,
        min_weight_fraction_leaf=0.0,
        min_category_rows=1,
        oblique=0,
        backing=0,
    )
    signs = np.where(np.arange(12) % 2, 1, -1).astype(np.int8)[:, None]
    targets = [
        _core.LabelRows(np.arange(13, dtype=np.int64), (np.arange(12) % 2).astype(np.int32), np.ones(2)),
        _core.NumberRows(np.arange(12.0)[:, None], np.ones(1)),
        _core.RankingRows(
            signs,
            None,
            signs.astype(np.float64),
            (signs[:, 0] > 0).astype(np.int32),
            n_labels=2,
            square=1.0,
            criterion="correlation",
            gamma=1.0,
        ),
    ]
    work = {"sample_weight": None, "row_groups": None, "n_threads": 1, "progress": None}
    for target in targets:
        whole = _core.grow(table, target, growth, **work).arrays()
        sent = pickle.loads(pickle.dumps((target, growing._blocks(growth, 3))))
        blocks = _core.Forest.concatenate([_core.grow(table, sent[0], block, **work) for block in sent[1]]).arrays()
        for name, values in whole.items():
            np.testing.assert_array_equal(values, blocks[name])
