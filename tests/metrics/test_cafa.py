"""CAFA's measures per namespace, beside the package that the challenges use."""

import numpy as np
import pandas as pd
import pytest

from ramify import Hierarchy
from ramify.analysis.cafa_file import write_cafa
from ramify.metrics import cafa_measures, fmax, smin
from ramify.metrics.hierarchical import label_information

EDGES = [
    *[("GO0000001", f"GO000001{k}") for k in range(5)],
    *[(f"GO000001{k}", f"GO00001{k}{j}") for k in range(5) for j in range(3)],
    ("GO0000010", "GO0000112"),
    *[("GO0000002", f"GO000002{k}") for k in range(4)],
    ("GO0000020", "GO0000200"),
    ("GO0000021", "GO0000200"),
]
TERMS = Hierarchy.from_edges(EDGES)
SPACES = {root: [root, *TERMS.descendants(root)] for root in TERMS.roots}


def drawn(n_rows, seed, decimals=3):
    random = np.random.default_rng(seed)
    truth = np.asarray(TERMS.close((random.random((n_rows, len(TERMS))) < 0.08).astype(int)))
    scores = np.clip(0.4 * truth + 0.7 * random.random(truth.shape) ** 2, 0, 1).round(decimals)
    scores[scores < 0.01] = 0
    return truth, scores


def of_cafaeval(folder, truth, scores, bits):
    """The best values of each namespace that `cafaeval` finds in files."""
    evaluation = pytest.importorskip("cafaeval.evaluation", reason="cafaeval is not installed")
    named = [name.replace("GO", "GO:") for name in TERMS.names]
    stanzas = ["format-version: 1.2"]
    for j, name in enumerate(TERMS.names):
        space = next(root for root, names in SPACES.items() if name in names)
        above = [f"is_a: {parent.replace('GO', 'GO:')}" for parent in TERMS.parents[name]]
        stanzas.append("\n".join(["[Term]", f"id: {named[j]}", f"name: {name}", f"namespace: {space}", *above]))
    (folder / "terms.obo").write_text("\n\n".join(stanzas) + "\n")
    rows, labels = np.nonzero(truth)
    lines = [f"P{row}\t{named[label]}" for row, label in zip(rows, labels, strict=True)]
    (folder / "truth.tsv").write_text("\n".join(lines) + "\n")
    (folder / "bits.tsv").write_text("\n".join(f"{n}\t{b:.17g}" for n, b in zip(named, bits, strict=True)) + "\n")
    (folder / "predictions").mkdir()
    write_cafa(folder / "predictions" / "mine.tsv", [f"P{row}" for row in range(len(truth))], TERMS.names, scores)
    every, _ = evaluation.cafa_eval(
        str(folder / "terms.obo"), str(folder / "predictions"), str(folder / "truth.tsv"), ia=str(folder / "bits.tsv")
    )
    by_space = every.groupby(level="ns")
    return pd.DataFrame(
        {"fmax": by_space["f"].max(), "weighted_fmax": by_space["f_w"].max(), "smin": by_space["s_w"].min()}
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.filterwarnings("ignore")
def test_measures_equal_those_of_cafaeval(seed, tmp_path):
    truth, scores = drawn(60, seed)
    bits = label_information(drawn(200, 99)[0], hierarchy=TERMS)
    found = cafa_measures(truth, scores, hierarchy=TERMS, information=bits, thresholds=np.arange(0.01, 1, 0.01))
    expected = of_cafaeval(tmp_path, truth, scores, bits)
    pd.testing.assert_frame_equal(found.loc[expected.index, expected.columns], expected, check_names=False)


def test_measures_are_those_of_the_rows_and_labels_of_a_namespace():
    truth, scores = drawn(60, 0)
    found = cafa_measures(truth, scores, hierarchy=TERMS)
    bits = label_information(truth, hierarchy=TERMS)
    for name, labels in SPACES.items():
        columns = sorted(TERMS.index(label) for label in labels)
        rows = truth[:, columns].any(axis=1)
        part = TERMS.subset(TERMS.names[j] for j in columns)
        pair = truth[rows][:, columns], scores[rows][:, columns]
        assert found.loc[name, "n_rows"] == rows.sum()
        assert found.loc[name, "fmax"] == fmax(*pair, hierarchy=part)
        assert found.loc[name, "weighted_fmax"] == fmax(*pair, hierarchy=part, information=bits[columns])
        assert found.loc[name, "smin"] == smin(*pair, hierarchy=part, information=bits[columns])
        assert found.loc[name, "fmax_threshold"] == fmax(*pair, hierarchy=part).threshold


def test_a_root_above_all_is_no_namespace():
    above = Hierarchy.from_edges([*EDGES, ("root", "GO0000001"), ("root", "GO0000002")])
    truth, scores = drawn(40, 1)
    columns = [above.index(name) for name in TERMS.names]
    wide = [np.ones((40, len(above))) for _ in range(2)]
    for whole, part in zip(wide, (truth, scores), strict=True):
        whole[:, columns] = part
    bits = label_information(truth, hierarchy=TERMS)
    all_bits = np.zeros(len(above))
    all_bits[columns] = bits
    found = cafa_measures(*wide, hierarchy=above, information=all_bits)
    expected = cafa_measures(truth, scores, hierarchy=TERMS, information=bits)
    pd.testing.assert_frame_equal(found.sort_index(), expected.sort_index())


def test_equal_information_weighs_nothing():
    truth, scores = drawn(60, 2)
    assert fmax(truth, scores, information=np.full(len(TERMS), 3.0)) == pytest.approx(fmax(truth, scores), abs=1e-12)


def test_other_information_is_refused():
    truth, scores = drawn(10, 0)
    with pytest.raises(ValueError, match="one finite number >= 0 per label"):
        cafa_measures(truth, scores, hierarchy=TERMS, information=[1.0])
    with pytest.raises(ValueError, match="one finite number >= 0 per label"):
        fmax(truth, scores, information=[1.0])


def test_names_with_spaces_are_refused_in_files_of_cafa(tmp_path):
    with pytest.raises(ValueError, match="names without spaces. The row 'P 1'"):
        write_cafa(tmp_path / "p.tsv", ["P 1"], ["a"], np.ones((1, 1)))
    assert not list(tmp_path.iterdir())
