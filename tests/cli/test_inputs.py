import json

import numpy as np
import pytest
from click.testing import CliRunner

from ramify.cli.inputs import read_data
from ramify.cli.main import ramify
from ramify.datasets import read, read_hierarchy

OBO = """format-version: 1.2

[Term]
id: T:1
name: all

[Term]
id: T:2
name: left
is_a: T:1

[Term]
id: T:3
name: right
is_a: T:1

[Term]
id: T:4
name: far right
is_a: T:3
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "terms.obo").write_text(OBO, encoding="utf-8")
    (tmp_path / "data.csv").write_text("x,z,terms\n1,2,T:2\n3,4,T:4|T:2\n5,6,T:4\n", encoding="utf-8")
    return tmp_path


def test_labels_get_the_ancestors_of_an_ontology(files):
    data = read_data([files / "data.csv"], ["terms"], files / "terms.obo")
    assert data.target == "hierarchy"
    assert data.label_names == ("T:1", "T:2", "T:3", "T:4")
    np.testing.assert_array_equal(data.y.toarray(), [[1, 1, 0, 0], [1, 1, 1, 1], [1, 0, 1, 1]])


def test_the_library_reads_what_the_command_reads(files):
    data = read(files / "data.csv", target="terms", hierarchy=files / "terms.obo")
    same = read_data([files / "data.csv"], ["terms"], files / "terms.obo")
    assert data.label_names == same.label_names
    assert (data.y != same.y).nnz == 0
    given = read(files / "data.csv", target="terms", hierarchy=read_hierarchy(files / "terms.obo"))
    assert given.hierarchy == data.hierarchy


def test_a_star_takes_all_columns_that_start_so(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("x,mood_a,mood_b\n1,0,1\n2,1,1\n3,0,0\n", encoding="utf-8")
    assert read_data([file], ["mood_*"]).label_names == ("mood_a", "mood_b")
    assert read_data([file], ["mood_a", "mood_b"]).n_features == 1


def test_terms_have_titles(files):
    assert read_data([files / "data.csv"], ["terms"], files / "terms.obo").titles["T:4"] == "far right"


def test_labels_outside_the_hierarchy_are_refused(files):
    (files / "other.csv").write_text("x,terms\n1,T:2|T:9\n2,T:2|T:4\n", encoding="utf-8")
    with pytest.raises(ValueError, match="1 of 3 labels of the data are not in terms.obo, the first is 'T:9'"):
        read_data([files / "other.csv"], ["terms"], files / "terms.obo")


def test_a_feature_hierarchy_needs_features(files):
    with pytest.raises(ValueError, match="No feature is named"):
        read_data([files / "data.csv"], ["terms"], None, files / "terms.obo")


def test_columns_by_their_start_in_arff_and_with_others(tmp_path):
    file = tmp_path / "x.arff"
    attributes = "".join(f"@attribute {name} {{0,1}}\n" for name in ("a", "m_x", "m_y", "other"))
    file.write_text(f"@relation r\n{attributes}@data\n1,0,1,0\n0,1,1,1\n", encoding="utf-8")
    assert read_data([file], ["m_*"]).label_names == ("m_x", "m_y")
    assert read_data([file], ["m_*", "other"]).label_names == ("m_x", "m_y", "other")
    with pytest.raises(ValueError, match="target='z\\*' fits no attribute of .* It has .*'other'."):
        read_data([file], ["z*"])


@pytest.mark.parametrize("command", ["info", "rank", "fit", "predict", "explain", "compare", "select"])
def test_every_command_reads_standard_input_as_it_reads_the_file(command, tmp_path):
    rng = np.random.default_rng(0)
    terms = rng.integers(0, 2, (40, 4))
    terms[:, 3] = 1  # a term that all rows have: `select` reads again to keep it
    lines = ["t0,t1,t2,t3,kind", *(f"{','.join(map(str, row))},{'ab'[row[0]]}" for row in terms)]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "terms.edges.csv").write_text("parent,child\nt3,t0\nt3,t1\nt3,t2\n", encoding="utf-8")
    model = str(tmp_path / "m.ramify")

    def said(*arguments, given=None):
        result = CliRunner().invoke(ramify, [*map(str, arguments), "--json"], input=given)
        assert result.exit_code == 0, (result.output, result.exception)
        own = {"source", "seconds", "sha256"}
        return json.loads(result.stdout, object_pairs_hook=lambda pairs: {k: v for k, v in pairs if k not in own})

    said("fit", tmp_path / "data.csv", "-t", "kind", "-o", model, "--trees", 3)
    options = {
        "rank": ["--fdr", "none", "--trees", 3],
        "fit": ["-o", tmp_path / "again.ramify", "--trees", 3],
        "explain": ["--row", 2],
        "compare": ["--method", "random-forest", "--method", "extra-trees", "--folds", 3, "--trees", 3],
        "select": ["--feature-hierarchy", tmp_path / "terms.edges.csv", "--cv", 0],
    }.get(command, [])
    before = [model] if command in {"predict", "explain"} else []
    options = [*options, "-t", "kind"]
    expected = said(command, *before, tmp_path / "data.csv", *options)
    assert said(command, *before, "-", *options, given=(tmp_path / "data.csv").read_text(encoding="utf-8")) == expected
