"""Features whose names are paths form a hierarchy, whose inner nodes can be features."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from ramify import Hierarchy
from ramify.cli.main import ramify
from ramify.datasets import read

TAXA = ["k__B;p__F;c__C", "k__B;p__F;c__D", "k__B;p__P;c__E", "k__B;p__P;c__G", "k__A;p__Q;c__H", "k__A;p__Q;c__I"]
INNER = {"k__B": TAXA[:4], "k__B;p__F": TAXA[:2], "k__B;p__P": TAXA[2:4], "k__A": TAXA[4:], "k__A;p__Q": TAXA[4:]}


@pytest.fixture
def frame():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.exponential(size=(40, 6)), columns=TAXA)
    frame.insert(0, "age", rng.integers(20, 80, 40) + 0.5)
    frame["kind"] = np.where(frame[TAXA[:2]].sum(axis=1) > 1.7, "yes", "no")
    return frame


@pytest.mark.parametrize("sign", [";", "|", " > ", "::"])
def test_names_tell_the_hierarchy(frame, sign):
    frame.columns = [name.replace(";", sign) for name in frame.columns]
    data = read(frame, target="kind")
    expected = Hierarchy.from_paths([name.replace(";", sign) for name in TAXA], separator=sign)
    assert data.feature_hierarchy.names == expected.names
    np.testing.assert_array_equal(data.feature_hierarchy.edges, expected.edges)
    assert sum("names of 6 features are paths" in note for note in data.notes) == 1
    assert data.n_features == 7


def test_ordinary_names_are_no_paths(frame):
    for names in (["mg/dl", "a.b", "a.c", "km/h", "x", "y"], ["a|b", "c|d", "e|f", "g|h", "i|j", "k|l"]):
        other = frame.rename(columns=dict(zip(TAXA, names, strict=True)))
        assert read(other, target="kind").feature_hierarchy is None


@pytest.mark.parametrize("how", ["sum", "mean", "max"])
def test_inner_nodes_are_added(frame, how):
    frame.loc[0, TAXA[0]] = np.nan
    frame.loc[1, TAXA[:2]] = np.nan
    data = read(frame, target="kind", add_branches=how)
    assert set(data.feature_names) == {"age", *TAXA, *INNER}
    for name, members in INNER.items():
        own = frame[members]
        expected = own.sum(axis=1, min_count=1) if how == "sum" else getattr(own, how)(axis=1)
        found = np.asarray(data.X)[:, data.feature_names.index(name)]
        np.testing.assert_allclose(found, expected)


def test_a_node_that_is_a_feature_counts_for_those_below_it(frame):
    frame["k__B;p__F"] = 7.0 + np.arange(40) / 9
    data = read(frame, target="kind", add_branches="sum")
    expected = frame["k__B;p__F"] + frame[TAXA[2:4]].sum(axis=1)
    np.testing.assert_allclose(np.asarray(data.X)[:, data.feature_names.index("k__B")], expected)


def test_a_hierarchy_in_a_file_gives_its_inner_nodes(frame, tmp_path):
    frame.columns = ["age", *"abcdef", "kind"]
    (tmp_path / "h.edges.csv").write_text("parent,child\ntop,low\nlow,a\nlow,b\ntop,c\n")
    data = read(frame, target="kind", feature_hierarchy=tmp_path / "h.edges.csv", add_branches="sum")
    assert data.feature_names[-2:] == ("top", "low")
    np.testing.assert_allclose(np.asarray(data.X)[:, -2], frame[["a", "b", "c"]].sum(axis=1))
    with pytest.raises(ValueError, match="needs a feature hierarchy"):
        read(frame, target="kind", add_branches="sum")


def test_the_commands_take_it(frame, tmp_path):
    data, model, out = (str(tmp_path / name) for name in ("d.csv", "m.ramify", "p.csv"))
    frame.to_csv(data, index=False)
    call = CliRunner().invoke
    ranked = call(ramify, ["rank", data, "--add-branches", "sum", "--trees", "20", "--jobs", "1"])
    assert ranked.exit_code == 0, ranked.output
    assert "k__B;p__F" in ranked.output
    fitted = call(ramify, ["fit", data, "--add-branches", "sum", "-o", model, "--trees", "10", "--folds", "0"])
    assert fitted.exit_code == 0, fitted.output
    predicted = call(ramify, ["predict", model, data, "--add-branches", "sum", "-o", out])
    assert predicted.exit_code == 0, predicted.output
    assert "not there" not in predicted.output


def test_nested_columns_are_a_hierarchy():
    rows = [("food", "bread", "rye"), ("food", "bread", "white"), ("food", "fruit", None), ("tools", None, None)]
    tree = Hierarchy.from_columns(pd.DataFrame(rows))
    same = Hierarchy.from_paths(["food/bread/rye", "food/bread/white", "food/fruit", "tools"])
    assert tree.names == same.names == Hierarchy.from_columns(rows).names
    np.testing.assert_array_equal(tree.edges, same.edges)
    with pytest.raises(ValueError, match=r"Row 1 has an empty cell above 'rye'"):
        Hierarchy.from_columns([("food", "", "rye")])
    with pytest.raises(ValueError, match="separator"):
        Hierarchy.from_columns([("food/drink", "rye")])
