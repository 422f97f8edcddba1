import csv
import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import ramify
from ramify.cli.main import main
from ramify.datasets import make_hierarchical, make_multilabel, write_arff
from ramify.ensemble import BoostedClassifier, ForestClassifier


def run(*arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    return stop.value.code


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A hierarchical data set in train and test files, and tables of classes and numbers."""
    folder = tmp_path_factory.mktemp("data")
    data = make_hierarchical(120, random_state=0)
    write_arff(data.rows(np.arange(80)), folder / "toy.train.arff")
    write_arff(data.rows(np.arange(80, 120)), folder / "toy.test.arff")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"colour": rng.choice(["red", "green", "blue"], 90), "size": rng.normal(size=90)})
    table.assign(kind=np.where(table["colour"] == "red", "warm", "cold")).to_csv(folder / "classes.csv", index=False)
    table.assign(price=table["size"] * 3 + rng.normal(scale=0.3, size=90)).to_csv(folder / "numbers.csv", index=False)
    return folder


def test_fit_measures_on_the_test_part_beside_the_prior(files, tmp_path, capsys):
    model = tmp_path / "model.ramify"
    assert run("fit", files / "toy.train.arff", files / "toy.test.arff", "--model", model, "--trees", 20) == 0
    shown = capsys.readouterr().out
    assert "Measured on 40 test rows" in shown
    assert "prior: the baseline" in shown
    assert "AUPRC, pooled" in shown
    forest = ramify.load(model)
    assert (forest.target_kind_, forest.n_estimators) == ("hierarchy", 20)


def test_fit_measures_out_of_bag_without_a_test_part(files, tmp_path, capsys):
    words = ("fit", files / "toy.train.arff", "-o", tmp_path / "m.ramify", "--trees", 20, "--json")
    assert run(*words, "--method", "random-forest") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["measured_on"].startswith("Measured out of bag")
    measures = shown["measures"]["AUPRC, pooled"]
    assert measures["model"] > measures["prior"]
    assert not hasattr(ramify.load(tmp_path / "m.ramify"), "oob_prediction_")


def test_a_hierarchy_of_many_rows_is_boosted_and_cross_validated_by_default(tmp_path, capsys):
    write_arff(make_hierarchical(300, random_state=0), tmp_path / "many.arff")
    assert run("fit", tmp_path / "many.arff", "-o", tmp_path / "m.ramify", "--trees", 20, "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["measured_on"].startswith("Measured by cross-validation with 3 folds")
    assert shown["measures"]["AUPRC, pooled"]["model"] > shown["measures"]["AUPRC, pooled"]["prior"]
    model = ramify.load(tmp_path / "m.ramify")
    assert isinstance(model, BoostedClassifier)
    assert model.hierarchy is not None


def test_a_hierarchy_of_few_rows_gets_a_forest_by_default(files, tmp_path, capsys):
    assert run("fit", files / "toy.train.arff", "-o", tmp_path / "m.ramify", "--trees", 20, "--json") == 0
    assert json.loads(capsys.readouterr().out)["measured_on"] == "Measured out of bag on 80 rows"
    assert isinstance(ramify.load(tmp_path / "m.ramify"), ForestClassifier)


def test_predict_writes_label_sets_and_measures(files, tmp_path, capsys):
    model, output = tmp_path / "m.ramify", tmp_path / "out.csv"
    run("fit", files / "toy.train.arff", "--model", model, "--trees", 20, "-q")
    assert capsys.readouterr().out == ""
    assert run("predict", model, files / "toy.test.arff", "-o", output) == 0
    assert "Measured on 40 rows" in capsys.readouterr().out
    with output.open() as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["id", "prediction"]
    assert len(rows) == 41
    forest = ramify.load(model)
    assert set("|".join(row[1].lstrip("'") for row in rows[1:] if row[1]).split("|")) <= set(forest.label_names_)


def test_predicted_probabilities_have_a_column_per_label(files, tmp_path):
    model, output = tmp_path / "m.ramify", tmp_path / "out.csv"
    run("fit", files / "toy.train.arff", "--model", model, "--trees", 5, "-q")
    assert run("predict", model, files / "toy.test.arff", "-o", output, "--probabilities", "-q") == 0
    table = pd.read_csv(output)
    forest = ramify.load(model)
    data = ramify.read(files / "toy.test.arff")
    np.testing.assert_array_equal(table.to_numpy()[:, 1:].astype(float), forest.predict_proba(data.to_frame()))


def test_the_most_probable_labels_stand_first(files, tmp_path, capsys):
    model, output = tmp_path / "m.ramify", tmp_path / "out.csv"
    write_arff(make_multilabel(60, random_state=0), tmp_path / "sets.arff")
    rows = tmp_path / "sets.arff"
    run("fit", rows, "--model", model, "--trees", 5, "--method", "random-forest", "-q")
    assert run("predict", model, rows, "-o", output, "--top", 2, "-q") == 0
    table = pd.read_csv(output, dtype={"label_1": str, "label_2": str})
    assert list(table.columns) == ["id", "label_1", "probability_1", "label_2", "probability_2"]
    forest = ramify.load(model)
    labels, probabilities = forest.predict_top(ramify.read(rows).to_frame(), 2)
    names = np.array(forest.label_names_)
    for place in (0, 1):
        assert table[f"label_{place + 1}"].tolist() == names[labels[:, place]].tolist()
        np.testing.assert_array_equal(table[f"probability_{place + 1}"], probabilities[:, place])
    assert run("predict", model, rows, "--top", 2, "--probabilities") == 2
    assert "exclude each other" in capsys.readouterr().err


def test_numbers_have_no_most_probable_labels(files, tmp_path, capsys):
    model = tmp_path / "m.ramify"
    run("fit", files / "numbers.csv", "--target", "price", "--model", model, "--trees", 5, "-q")
    assert run("predict", model, files / "numbers.csv", "--target", "price", "--top", 2) == 2
    assert "--top is for forests and boosted trees of labels" in capsys.readouterr().err


@pytest.mark.parametrize("method", ["random-forest", "bagging", "extra-trees"])
@pytest.mark.parametrize(("table", "target", "kind"), [("classes", "kind", "classes"), ("numbers", "price", "numbers")])
def test_tables_of_classes_and_numbers(files, tmp_path, capsys, method, table, target, kind):
    model, output = tmp_path / "m.ramify", tmp_path / "out.csv"
    source = files / f"{table}.csv"
    assert run("fit", source, "--target", target, "--model", model, "--trees", 10, "--method", method) == 0
    assert run("predict", model, source, "--target", target, "-o", output, "--json") == 0
    assert ramify.load(model).target_kind_ == kind
    predicted, truth = pd.read_csv(output), pd.read_csv(source)[target]
    if kind == "classes":
        assert (predicted["kind"] == truth).mean() > 0.9
    else:
        assert np.corrcoef(predicted[target], truth)[0, 1] > 0.9


def test_predictions_go_to_standard_output_by_default(files, tmp_path, capsys):
    model = tmp_path / "m.ramify"
    run("fit", files / "classes.csv", "--target", "kind", "--model", model, "--trees", 5, "-q")
    run("predict", model, files / "classes.csv", "--target", "kind")
    lines = capsys.readouterr().out.splitlines()
    assert (lines[0], len(lines)) == ("id,kind", 91)


def test_same_seed_gives_the_same_file(files, tmp_path):
    for name in ("a", "b"):
        run(
            "fit",
            files / "toy.train.arff",
            "-o",
            tmp_path / name,
            "--trees",
            5,
            "--seed",
            3,
            "--jobs",
            1 + (name == "b"),
        )
    first, second = ((tmp_path / name).read_bytes() for name in ("a", "b"))
    forests = [ramify.load(tmp_path / name) for name in ("a", "b")]
    assert len(first) == len(second)
    left, right = (forest.trees_.arrays() for forest in forests)
    assert all(left[name].tobytes() == right[name].tobytes() for name in left)


def test_what_is_not_a_model_is_one_line_of_error(files, capsys):
    assert run("predict", files / "classes.csv", files / "classes.csv") == 1
    shown = capsys.readouterr().err
    assert "This is not a Ramify model file" in shown
    assert len(shown.splitlines()) == 1


def test_label_matrix_of_another_file_is_matched_by_name():
    from ramify.analysis.model_data import matched_target
    from ramify.datasets import Dataset

    X = np.arange(4.0)[:, None]
    Y = sparse.csr_array([[1, 0], [0, 1], [1, 1], [0, 0]])
    forest = ramify.ForestClassifier(3).fit(X, pd.DataFrame(Y.toarray(), columns=["a", "b"]))
    data = Dataset(X, y=sparse.csr_array([[1, 0, 1]] * 4), target="labels", label_names=("b", "new", "a"))
    assert matched_target(data, forest).truth.toarray().tolist() == [[1, 1]] * 4


@pytest.fixture(scope="module")
def songs(tmp_path_factory):
    """A model of two moods, and its table."""
    folder = tmp_path_factory.mktemp("songs")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"tempo": rng.normal(size=60), "genre": rng.choice(["pop", "jazz"], 60)})
    table = table.assign(mood_happy=(table["tempo"] > 0).astype(int), mood_sad=(table["genre"] == "jazz").astype(int))
    table.loc[0, "mood_sad"] = 1 - table.loc[0, "mood_sad"]  # or genre would be a copy of it
    table.to_csv(folder / "songs.csv", index=False)
    run("fit", folder / "songs.csv", "--target", "mood_*", "-o", folder / "songs.ramify", "--trees", 10, "-q")
    return folder


def test_label_sets_keep_their_names(songs, tmp_path, capsys):
    assert ramify.load(songs / "songs.ramify").label_names_ == ("mood_happy", "mood_sad")
    output = tmp_path / "out.csv"
    assert run("predict", songs / "songs.ramify", songs / "songs.csv", "--target", "mood_*", "-o", output) == 0
    assert "Measured on 60 rows" in capsys.readouterr().out
    assert set(pd.read_csv(output).columns) == {"id", "mood_happy", "mood_sad"}


def test_rows_without_a_target_and_with_other_columns_are_predicted(songs, tmp_path, capsys):
    table = pd.read_csv(songs / "songs.csv")
    expected = (
        run("predict", songs / "songs.ramify", songs / "songs.csv", "--target", "mood_*"),
        capsys.readouterr().out,
    )
    for name, new in {
        "bare": table[["tempo", "genre"]],
        "reordered": table[["genre", "tempo"]],
        "more": table.assign(year=1999, title="x")[["title", "genre", "year", "tempo"]],
        "targets unnamed": table,
    }.items():
        new.to_csv(tmp_path / f"{name}.csv", index=False)
        assert (run("predict", songs / "songs.ramify", tmp_path / f"{name}.csv"), capsys.readouterr().out) == expected


def test_an_unknown_class_in_an_arff_file_is_what_is_predicted(tmp_path, capsys):
    header = "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute c {x,y}\n@data\n"
    (tmp_path / "known.arff").write_text(header + "1,2,x\n9,3,y\n2,2,x\n8,1,y\n" * 5, encoding="utf-8")
    (tmp_path / "new.arff").write_text(header + "1,2,?\n9,3,?\n", encoding="utf-8")
    run("fit", tmp_path / "known.arff", "-o", tmp_path / "m.ramify", "--trees", 5, "-q")
    assert run("predict", tmp_path / "m.ramify", tmp_path / "new.arff") == 0
    assert capsys.readouterr().out == "id,prediction\n1,x\n2,y\n"


def test_lacking_features_are_named(songs, tmp_path, capsys):
    (tmp_path / "other.csv").write_text("genre,size\npop,1\n", encoding="utf-8")
    assert run("predict", songs / "songs.ramify", tmp_path / "other.csv") == 0
    assert "Note: Columns not there, filled with missing values: tempo.\n" in capsys.readouterr().err
    (tmp_path / "none.csv").write_text("size\n1\n", encoding="utf-8")
    assert run("predict", songs / "songs.ramify", tmp_path / "none.csv") == 1
    assert "The data has none of the model's 2 features" in capsys.readouterr().err


def test_json_is_printed_whatever_was_measured(songs, tmp_path, capsys):
    arguments = [songs / "songs.csv", "--target", "mood_*", "-o", tmp_path / "m.ramify", "--trees", 3, "--json"]
    nothing = {"measured_on": None, "measures": {}}
    assert run("fit", *arguments, "--method", "extra-trees") == 0
    assert json.loads(capsys.readouterr().out) == nothing
    assert run("fit", *arguments, "--method", "br") == 0
    assert json.loads(capsys.readouterr().out)["measured_on"] == "Measured by cross-validation with 3 folds on 60 rows"
    pd.read_csv(songs / "songs.csv")[["tempo", "genre"]].to_csv(tmp_path / "new.csv", index=False)
    run("predict", songs / "songs.ramify", tmp_path / "new.csv", "--json", "-o", tmp_path / "out.csv")
    assert json.loads(capsys.readouterr().out) == nothing
    run("predict", songs / "songs.ramify", tmp_path / "new.csv", "--json")
    predicted = json.loads(capsys.readouterr().out)
    assert (len(predicted), set(predicted[0])) == (60, {"id", "mood_happy", "mood_sad"})


def test_columns_of_sparse_files_are_matched_by_name(tmp_path, capsys):
    def written(path, names, cells):
        attributes = "".join(f"@attribute {name} numeric\n" for name in names)
        rows = ""
        for row, kind in cells:
            values = [f"{place} {row[name]}" for place, name in enumerate(names) if name in row]
            rows += "{" + ", ".join([*values, f"{len(names)} {kind}"]) + "}\n"
        path.write_text(f"@relation r\n{attributes}@attribute kind {{x,y}}\n@data\n{rows}", encoding="utf-8")

    cells = [({"a": 1}, "x"), ({"b": 2, "c": 1}, "y"), ({"a": 3, "c": 1}, "x"), ({"b": 1}, "y")] * 6
    written(tmp_path / "known.arff", ["a", "b", "c"], cells)
    written(tmp_path / "other.arff", ["c", "more", "b", "a"], [(row | {"more": 7}, kind) for row, kind in cells])
    written(tmp_path / "less.arff", ["a", "c"], [({"a": 1}, "x")])
    for method in ("random-forest", "br"):
        run("fit", tmp_path / "known.arff", "-o", tmp_path / "m.ramify", "--trees", 5, "--method", method, "-q")
        assert ramify.load(tmp_path / "m.ramify").feature_names_in_.tolist() == ["a", "b", "c"]
        shown = []
        for name in ("known", "other"):
            assert run("predict", tmp_path / "m.ramify", tmp_path / f"{name}.arff") == 0
            captured = capsys.readouterr()
            assert captured.err == ""
            shown.append(captured.out)
        assert shown[0] == shown[1]
        assert shown[0].count(",x") == 12
        assert run("predict", tmp_path / "m.ramify", tmp_path / "less.arff") == 0
        assert "Columns not there, filled with missing values: b." in capsys.readouterr().err


def test_quiet_prints_nothing_but_the_json_that_is_asked_for(songs, tmp_path, capsys):
    rows = [songs / "songs.ramify", songs / "songs.csv", "--target", "mood_*", "-q"]
    assert run("predict", *rows) == 0
    assert capsys.readouterr().out == ""
    assert run("predict", *rows, "--json") == 0
    assert len(json.loads(capsys.readouterr().out)) > 0
    assert run("predict", *rows, "--json", "-o", tmp_path / "out.csv") == 0
    assert "measures" in json.loads(capsys.readouterr().out)


def test_a_model_that_is_not_there_is_named_with_those_that_are(songs, capsys):
    assert run("predict", songs / "nothing.ramify", songs / "songs.csv") == 1
    shown = capsys.readouterr().err
    assert f"{songs / 'nothing.ramify'}: there is no such model file. In {songs} there is songs.ramify." in shown


@pytest.fixture
def labelled(tmp_path):
    """Three labels that two features decide, and a model of them."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"u": rng.normal(size=120), "v": rng.normal(size=120)})
    labels = pd.DataFrame({"y_a": table["u"] > 0, "y_b": table["v"] > 0, "y_c": table["u"] > 0.5}).astype(int)
    table.join(labels).to_csv(tmp_path / "all.csv", index=False)
    table.join(labels[["y_c", "y_a"]]).to_csv(tmp_path / "fewer.csv", index=False)
    table.assign(p=np.exp(table["u"]), q=table["v"] ** 3).to_csv(tmp_path / "numbers.csv", index=False)
    table.assign(q=table["v"] ** 3, p=np.exp(table["u"])).to_csv(tmp_path / "swapped.csv", index=False)
    table.assign(r=np.exp(table["u"]), s=table["v"] ** 3).to_csv(tmp_path / "renamed.csv", index=False)
    return tmp_path


def measures_of(capsys, model, file, *options):
    capsys.readouterr()
    assert run("predict", model, file, "-o", model.with_suffix(".csv"), "--json", *options) == 0
    return json.loads(capsys.readouterr().out)


def test_labels_that_a_file_lacks_are_not_measured(labelled, capsys):
    model = labelled / "m.ramify"
    assert run("fit", labelled / "all.csv", "--target", "y_*", "-o", model, "--trees", 30, "-q") == 0
    whole = measures_of(capsys, model, labelled / "all.csv", "--target", "y_*")
    assert whole["measures"]["Hamming loss"]["model"] == 0
    fewer = measures_of(capsys, model, labelled / "fewer.csv", "--target", "y_*")
    assert fewer["measured_on"] == "Measured on 120 rows, over 2 of 3 labels: the data lacks 'y_b'"
    assert fewer["measures"]["Hamming loss"]["model"] == 0
    assert fewer["measures"]["Hamming loss"]["prior"] < whole["measures"]["Hamming loss"]["prior"]


def test_numbers_are_measured_by_their_names(labelled, capsys):
    model = labelled / "m.ramify"
    targets = ("--target", "p", "--target", "q")
    assert run("fit", labelled / "numbers.csv", *targets, "-o", model, "--trees", 30, "-q") == 0
    expected = measures_of(capsys, model, labelled / "numbers.csv", *targets)
    swapped = measures_of(capsys, model, labelled / "swapped.csv", "--target", "q", "--target", "p")
    assert swapped["measures"]["RMSE"] == pytest.approx(expected["measures"]["RMSE"])
    renamed = measures_of(capsys, model, labelled / "renamed.csv", "--target", "r", "--target", "s")
    assert renamed == {"measured_on": None, "measures": {}}
    assert run("predict", model, labelled / "renamed.csv", "-t", "r", "-t", "s", "-o", labelled / "o.csv") == 0
    assert "Not measured: the data has other targets than the model predicts." in capsys.readouterr().err


def test_top_of_a_hierarchy_gives_the_most_specific_labels_by_enrichment(tmp_path, capsys):
    data = make_hierarchical(150, depth=3, width=2, random_state=0)
    write_arff(data, tmp_path / "tree.arff")
    model, top, only = tmp_path / "tree.ramify", tmp_path / "top.csv", tmp_path / "only.csv"
    assert run("fit", tmp_path / "tree.arff", "-o", model, "--trees", 10, "-q", "--figure", tmp_path / "fit.svg") == 0
    assert (tmp_path / "fit.svg").read_text().startswith("<?xml")
    assert run("predict", model, tmp_path / "tree.arff", "--top", 2, "-o", top, "-q") == 0
    assert run("predict", model, tmp_path / "tree.arff", "--specific", "-o", only, "-q") == 0
    forest = ramify.load(model)
    table, sets = pd.read_csv(top, dtype=str).fillna(""), forest.predict(data.to_frame())
    order = forest.hierarchy
    deepest = [set(of) for of in order.decode(order.most_specific(sets))]
    shares = dict(zip(forest.label_names_, forest.prior_, strict=True))
    for line, allowed in zip(table.itertuples(index=False), deepest, strict=True):
        labels = [name for name in (line.label_1, line.label_2) if name]
        assert set(labels) <= allowed
        assert len(labels) == min(2, len(allowed))
        gains = [float(gain) for gain in (line.enrichment_1, line.enrichment_2) if gain]
        assert gains == sorted(gains, reverse=True)
        if labels:
            assert abs(float(line.probability_1) / shares[labels[0]] - gains[0]) < 0.01
    cells = pd.read_csv(only, dtype=str).fillna("").iloc[:, -1]
    assert [set(filter(None, cell.split("|"))) for cell in cells] == deepest
    assert run("predict", model, tmp_path / "tree.arff", "--specific", "--probabilities") == 2
    assert "--specific and --probabilities exclude each other" in capsys.readouterr().err


def test_probabilities_are_written_as_cafa_reads_them(tmp_path, capsys):
    data = make_hierarchical(60, depth=2, width=2, random_state=0)
    write_arff(data, tmp_path / "tree.arff")
    model, terms = tmp_path / "tree.ramify", tmp_path / "terms.tsv"
    assert run("fit", tmp_path / "tree.arff", "-o", model, "--method", "random-forest", "--trees", 5, "-q") == 0
    assert run("predict", model, tmp_path / "tree.arff", "--cafa", terms, "-q") == 0
    forest = ramify.load(model)
    expected = forest.predict_proba(data.to_frame())
    found = np.zeros_like(expected)
    columns = {name.rsplit("/", 1)[-1]: j for j, name in enumerate(forest.label_names_)}
    for line in terms.read_text().splitlines():
        row, term, score = line.split("\t")
        found[int(row) - 1, columns[term]] = float(score)
    np.testing.assert_allclose(found, np.where(expected >= 0.01, expected, 0), atol=5e-4)
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["x", "size"])
    frame.to_csv(tmp_path / "numbers.csv", index=False)
    assert run("fit", tmp_path / "numbers.csv", "-t", "size", "-o", model, "--trees", 5, "-q") == 0
    assert run("predict", model, tmp_path / "numbers.csv", "--cafa", terms) == 2
    assert "--cafa is for models of labels" in capsys.readouterr().err


def test_identifiers_without_names_are_told_where_names_come_from(tmp_path, capsys):
    rows = [f"{x},{'GO:0000001' if x % 2 else 'GO:0000002|GO:0000001'}" for x in range(40)]
    (tmp_path / "ids.csv").write_text("\n".join(["x,go", *rows]))
    assert run("info", tmp_path / "ids.csv", "--target", "go") == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "Labels are identifiers, such as GO:0000001. Give their ontology" in said
