"""Row R12: a tree of a million levels is predicted, saved, loaded and exported on a stack of 256 KiB."""

import threading

import numpy as np

import ramify
from ramify import _core
from ramify.ensemble import ForestClassifier, export_tree

N_LEVELS = 1_000_000


def deep_forest():
    """Level d sends values <= d to a leaf and the others one level down; the label is the parity of the leaf."""
    n_nodes = 2 * N_LEVELS + 1
    inner = np.concatenate(([0], np.arange(2, n_nodes - 1, 2)))
    feature = np.full(n_nodes, -1, dtype=np.int32)
    feature[inner] = 0
    child = np.zeros(n_nodes, dtype=np.int32)
    child[inner] = 2 * np.arange(N_LEVELS) + 1
    leaves = np.flatnonzero(feature < 0)
    child[leaves] = np.arange(len(leaves))
    threshold = np.zeros(n_nodes)
    threshold[inner] = np.arange(N_LEVELS)
    weight = np.ones(n_nodes)
    weight[inner] = N_LEVELS + 1 - np.arange(N_LEVELS)
    has_label = np.arange(len(leaves)) % 2
    forest = ForestClassifier(1, random_state=0).fit([[0.0], [1.0]], [[1], [0]])
    arrays = {
        **forest.trees_.arrays(),
        "tree_nodes": np.array([0, n_nodes]),
        "feature": feature,
        "threshold": threshold,
        "child": child,
        "subset": np.full(n_nodes, -1, dtype=np.int32),
        "missing_left": np.zeros(n_nodes, dtype=np.uint8),
        "weight": weight,
        "decrease": np.zeros(n_nodes),
        "tree_leaves": np.array([0, len(leaves)]),
        "leaf_offsets": np.concatenate(([0], np.cumsum(has_label))),
        "leaf_labels": np.zeros(has_label.sum(), dtype=np.int32),
        "leaf_partial": np.zeros(len(leaves) + 1, dtype=np.int64),
        "leaf_counts": np.zeros(0),
    }
    forest.trees_ = _core.Forest(outcome="labels", n_outputs=1, arrays=arrays)
    return forest


def use_forest(folder, results):
    forest = deep_forest()
    rows = np.array([[0.0], [1.0], [N_LEVELS - 1.0], [2.0 * N_LEVELS]])
    results["predicted"] = forest.predict(rows).ravel().tolist()
    ramify.save(forest, folder / "deep.ramify")
    loaded = ramify.load(folder / "deep.ramify")
    results["loaded"] = loaded.predict(rows).ravel().tolist()
    results["nodes"] = export_tree(loaded, format="json").count('"depth": ')
    results["lines"] = len(export_tree(loaded, max_depth=20).splitlines())
    results["leaf"] = int(loaded.apply(rows[-1:])[0, 0])
    results["base"] = loaded.contributions(rows, 0)[0].shape


def test_tree_of_a_million_levels_on_a_small_stack(tmp_path):
    results = {}
    previous = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=use_forest, args=(tmp_path, results))
        thread.start()
    finally:
        threading.stack_size(previous)
    thread.join()
    assert results == {
        "predicted": [0, 1, 1, 0],
        "loaded": [0, 1, 1, 0],
        "nodes": 2 * N_LEVELS + 1,
        "lines": 41,
        "leaf": 2 * N_LEVELS,
        "base": (4, 1),
    }
