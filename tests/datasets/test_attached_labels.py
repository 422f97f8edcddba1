"""Targets in a file of their own, joined to rows by name."""

import gzip

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import sparse

from ramify.cli.main import ramify
from ramify.datasets import read
from ramify.datasets.readers.raw_files import FileError

EDGES = {"T:2": "T:1", "T:3": "T:1", "T:4": "T:3", "T:5": "T:3"}
OBO = "format-version: 1.2\n\n[Term]\nid: T:1\nname: all\n" + "".join(
    f"\n[Term]\nid: {child}\nname: term {child[2:]}\nis_a: {parent}\n" for child, parent in EDGES.items()
)
N_ROWS = 60


def annotation(gene, term, *, qualifier="", evidence="IDA", aspect="P", synonyms=""):
    cells = ["DB", f"S{gene:04}", f"SYM{gene}", qualifier, term, "PMID:1", evidence, "", aspect, "", synonyms]
    return "\t".join([*cells, "protein", "taxon:1", "20200101", "DB", "", ""]) + "\n"


def planted():
    """Direct terms of each gene, from a seed; the first ten genes have none."""
    rng = np.random.default_rng(5)
    return {gene: {f"T:{rng.choice([2, 4, 5])}"} for gene in range(10, N_ROWS)}


def closed(terms):
    found = set()
    for term in terms:
        while term is not None:
            found.add(term)
            term = EDGES.get(term)
    return found


@pytest.fixture
def files(tmp_path):
    (tmp_path / "go.obo").write_text(OBO, encoding="utf-8")
    lines = [annotation(g, t, synonyms=f"Y{g:03}|other{g}") for g, terms in planted().items() for t in sorted(terms)]
    lines.append(annotation(3, "T:2", qualifier="NOT", synonyms="Y003"))
    lines.append(annotation(4, "T:1", evidence="ND", synonyms="Y004"))
    text = "!gaf-version: 2.2\n" + "".join(lines)
    with gzip.open(tmp_path / "genes.gaf.gz", "wt", encoding="utf-8") as file:
        file.write(text)
    return tmp_path


def table(folder, names):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(len(names), 3)), columns=["a", "b", "c"])
    frame["a"] += [3 * ("T:2" in planted().get(gene, ())) for gene in range(len(names))]
    frame.insert(0, "gene", names)
    frame.to_csv(folder / "expression.csv", index=False)
    return folder / "expression.csv"


def label_sets(data):
    rows = sparse.csr_array(data.y)
    names = np.array(data.label_names)
    return {name: set(names[rows[[k]].indices]) for k, name in enumerate(data.ids)}


@pytest.mark.parametrize("named", ["S{:04}", "SYM{}", "Y{:03}", "sym{}", "DB:S{:04}"])
def test_rows_are_joined_by_identifier_symbol_and_synonym(files, named):
    names = [named.format(gene) for gene in range(N_ROWS)]
    data = read(table(files, names), annotations=files / "genes.gaf.gz", hierarchy=files / "go.obo", min_rows=1)
    assert data.target == "hierarchy"
    assert label_sets(data) == {names[gene]: closed(terms) for gene, terms in planted().items()}
    assert data.feature_names == ("a", "b", "c")
    assert data.titles["T:2"] == "term 2"
    assert any(
        "52 of 60 rows are named in genes.gaf.gz, 50 of them with a label that is kept; the other 10 are left out" in n
        for n in data.notes
    )


def test_rows_are_joined_by_any_column(files):
    path = table(files, [f"S{gene:04}" for gene in range(N_ROWS)])
    frame = pd.read_csv(path)
    frame.insert(0, "sample", [f"sample {k}" for k in range(N_ROWS)])
    data = read(frame, annotations=files / "genes.gaf.gz", hierarchy=files / "go.obo")
    assert data.id_name == "gene"
    assert data.n_samples == 50


def test_without_a_hierarchy_labels_are_sets(files):
    data = read(table(files, [f"S{g:04}" for g in range(N_ROWS)]), annotations=files / "genes.gaf.gz", min_rows=1)
    assert data.target == "labels"
    assert set(data.label_names) == {"T:2", "T:4", "T:5"}


def test_terms_of_few_rows_are_left_out(files):
    path = table(files, [f"S{gene:04}" for gene in range(N_ROWS)])
    counts = pd.Series([t for terms in planted().values() for t in closed(terms)]).value_counts()
    limit = int(counts[["T:2", "T:4", "T:5"]].min()) + 1
    data = read(path, annotations=files / "genes.gaf.gz", hierarchy=files / "go.obo", min_rows=limit)
    assert set(data.label_names) == set(counts.index[counts >= limit])
    assert f"fewer than {limit} rows have them" in data.notes[-1]


def test_aspect_and_evidence_filter(files):
    lines = [annotation(g, "T:2") for g in range(20)]
    lines += [annotation(g, "T:4", evidence="IEA") for g in range(20)]
    lines += [annotation(g, "T:5", aspect="F") for g in range(20)]
    (files / "more.gaf").write_text("!gaf-version: 2.2\n" + "".join(lines), encoding="utf-8")
    path = table(files, [f"S{gene:04}" for gene in range(N_ROWS)])
    assert read(path, annotations=files / "more.gaf").label_names == ("T:2", "T:4", "T:5")
    assert read(path, annotations=files / "more.gaf", aspect="P").label_names == ("T:2", "T:4")
    assert read(path, annotations=files / "more.gaf", aspect="P", evidence="IDA").label_names == ("T:2",)
    with pytest.raises(FileError, match="no annotation is left"):
        read(path, annotations=files / "more.gaf", aspect="C")


def test_missing_target_says_what_becomes_of_other_rows(files):
    path = table(files, [f"S{gene:04}" for gene in range(N_ROWS)])
    data = read(path, annotations=files / "genes.gaf.gz", missing_target="empty")
    assert data.n_samples == N_ROWS
    assert not data.y[:10].nnz
    with pytest.raises(FileError, match="10 rows of the data have no label"):
        read(path, annotations=files / "genes.gaf.gz", missing_target="error")


def test_pairs_gene_sets_and_annotations_agree(files):
    names = [f"S{gene:04}" for gene in range(N_ROWS)]
    path = table(files, names)
    pairs = [(names[gene], term) for gene, terms in planted().items() for term in sorted(closed(terms))]
    pd.DataFrame(pairs, columns=["id", "term"]).to_csv(files / "pairs.tsv", sep="\t", index=False)
    pd.DataFrame(pairs).to_csv(files / "headless.csv", header=False, index=False)
    sets = pd.DataFrame(pairs).groupby(1)[0].apply(list)
    (files / "sets.gmt").write_text("".join(f"{s}\tna\t" + "\t".join(m) + "\n" for s, m in sets.items()))
    expected = label_sets(read(path, annotations=files / "genes.gaf.gz", hierarchy=files / "go.obo"))
    for name in ("pairs.tsv", "headless.csv", "sets.gmt"):
        assert label_sets(read(path, annotations=files / name)) == expected, name
        assert label_sets(read(path, annotations=files / name, hierarchy=files / "go.obo")) == expected, name


def test_a_table_of_labels(files):
    names = [f"S{gene:04}" for gene in range(N_ROWS)]
    path = table(files, names)
    labels = pd.DataFrame({"id": names, "kind": ["x", "y"] * (N_ROWS // 2), "size": np.arange(N_ROWS) / 7})
    labels = labels.iloc[5:].sample(frac=1, random_state=0)
    labels.to_csv(files / "labels.csv", index=False)
    data = read(path, target="kind", annotations=files / "labels.csv")
    assert data.target == "classes"
    assert data.ids.tolist() == names[5:]
    assert [data.label_names[k] for k in data.y] == ["y", *["x", "y"] * 27]
    numbers = read(path, target="size", annotations=files / "labels.csv")
    np.testing.assert_allclose(numbers.y, np.arange(5, N_ROWS) / 7)
    assert read(path, annotations=files / "labels.csv").target == "mixed"


def test_parts_keep_their_rows(files):
    names = [f"S{gene:04}" for gene in range(N_ROWS)]
    frame = pd.read_csv(table(files, names))
    frame[:30].to_csv(files / "e.train.csv", index=False)
    frame[30:].to_csv(files / "e.test.csv", index=False)
    paths = [files / "e.train.csv", files / "e.test.csv"]
    data = read(paths, annotations=files / "genes.gaf.gz")
    assert data.ids[data.parts["train"]].tolist() == names[10:30]
    assert data.ids[data.parts["test"]].tolist() == names[30:]


def test_wrong_files_are_refused_in_words(files):
    path = table(files, [f"row {gene}" for gene in range(N_ROWS)])
    with pytest.raises(FileError, match=r"no row of the data is named here.*row 0.*S0010.*--id"):
        read(path, annotations=files / "genes.gaf.gz")
    (files / "empty.gmt").write_text("\n")
    with pytest.raises(FileError, match="no gene set"):
        read(path, annotations=files / "empty.gmt")
    (files / "one.csv").write_text("a\nb\n")
    with pytest.raises(FileError, match="one column"):
        read(path, annotations=files / "one.csv")
    with pytest.raises(FileError, match="no target column"):
        read(path, target="a", annotations=files / "genes.gaf.gz")


def test_the_commands(files):
    path = str(table(files, [f"S{gene:04}" for gene in range(N_ROWS)]))
    joined = ["--annotations", str(files / "genes.gaf.gz"), "--hierarchy", str(files / "go.obo")]
    call = CliRunner().invoke
    ranked = call(ramify, ["rank", path, *joined, "--trees", "20", "--jobs", "1"])
    assert ranked.exit_code == 0, ranked.output
    assert "50 of them with a label" in ranked.output
    info = call(ramify, ["info", path, *joined, "--json"])
    assert info.exit_code == 0, info.output
    model = str(files / "m.ramify")
    fitted = call(ramify, ["fit", path, *joined, "-o", model, "--method", "random-forest", "--trees", "20"])
    assert fitted.exit_code == 0, fitted.output
    out = str(files / "p.csv")
    predicted = call(ramify, ["predict", model, path, *joined, "-o", out])
    assert predicted.exit_code == 0, predicted.output
    assert len(pd.read_csv(out)) == N_ROWS
    compared = call(ramify, ["compare", path, *joined, "--folds", "3", "--trees", "5", "--jobs", "1"])
    assert compared.exit_code == 0, compared.output
