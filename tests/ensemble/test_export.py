import json

import numpy as np
import pandas as pd
import pytest

from ramify.ensemble import ForestClassifier, ForestRegressor, export_tree


@pytest.fixture(scope="module")
def forest():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"letter": pd.Categorical(rng.choice(list("abc"), 90)), "size": rng.normal(size=90)})
    Y = np.column_stack([frame["letter"] == "b", frame["size"] > 0.3]).astype(int)
    return frame, ForestClassifier(3, random_state=0, max_depth=4).fit(frame, pd.DataFrame(Y, columns=["is b", "big"]))


def test_flat_json_predicts_what_the_forest_predicts(forest):
    frame, forest = forest
    mean = np.zeros((len(frame), 2))
    for index in range(3):
        tree = json.loads(export_tree(forest, index, format="json"))
        nodes = {node["id"]: node for node in tree["nodes"]}
        for row, values in enumerate(frame.itertuples(index=False)):
            node = nodes[0]
            while "prediction" not in node:
                value = values[node["feature"]]
                left = value in node["left_values"] if "left_values" in node else value <= node["threshold"]
                node = nodes[node["left"] if left else node["right"]]
            mean[row] += [node["prediction"].get(name, 0.0) / 3 for name in ("is b", "big")]
    np.testing.assert_allclose(mean, forest.predict_proba(frame))
    assert tree["features"] == ["letter", "size"]


def test_text_names_features_values_and_labels(forest):
    text = export_tree(forest[1], 0)
    assert "letter in {" in text
    assert "size <= " in text
    assert "is b 1" in text
    assert len(text.splitlines()) == len(json.loads(export_tree(forest[1], 0, format="json"))["nodes"])


def test_text_stops_at_max_depth(forest):
    assert len(export_tree(forest[1], 0, max_depth=1).splitlines()) == 3
    assert export_tree(forest[1], 0, max_depth=0).count("...") == 1


def test_graphviz_escapes_names():
    frame = pd.DataFrame({'bad "name"\\ \n': [0.0, 1.0]})
    forest = ForestClassifier(1, bootstrap=False).fit(frame, ['"x"', "y"])
    drawing = export_tree(forest, format="dot")
    assert drawing.startswith("digraph tree {")
    assert 'bad \\"name\\"\\\\   <= 0.5' in drawing
    assert drawing.count("->") == 2


def test_numbers_are_exported_in_their_units():
    forest = ForestRegressor(1, bootstrap=False, random_state=0).fit([[0.0], [1.0]], [[10.0, -1.0], [30.0, 1.0]])
    nodes = json.loads(export_tree(forest, format="json"))["nodes"]
    leaves = [list(node["prediction"].values()) for node in nodes if "prediction" in node]
    np.testing.assert_allclose(sorted(leaves), [[10.0, -1.0], [30.0, 1.0]])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"index": 3}, r"'index' parameter of export_tree must be an int in \[0, 2\]"),
        ({"format": "svg"}, "'format' parameter of export_tree must be one of 'text', 'json', 'dot'"),
        ({"max_depth": -1}, "'max_depth' parameter of export_tree must be an int >= 0"),
    ],
)
def test_bad_options_are_refused_by_name(forest, options, words):
    with pytest.raises(ValueError, match=words):
        export_tree(forest[1], **options)
