"""A prepared table is the table: the same trees, bit for bit, whatever the batches and however often it was killed."""

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner

import ramify
from ramify.cli.main import ramify as command
from ramify.datasets import FileError, prepare, read
from ramify.datasets.prepared import prepare as module
from ramify.datasets.prepared import sources
from ramify.ensemble import BoostedClassifier, ForestClassifier
from ramify.ranking import ReliefRanker, forest_ranking


def table(n_rows=900, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "size": rng.normal(size=n_rows),
        "grade": rng.integers(0, 7, n_rows),
        "colour": rng.choice(["red", "green", "blue"], n_rows),
        "gap": np.where(rng.random(n_rows) < 0.2, np.nan, rng.normal(size=n_rows)),
        "shop": [f"s{k}" for k in rng.integers(0, 12, n_rows)],
    })  # fmt: skip
    frame.loc[::11, "colour"] = None
    frame["kind"] = np.where(frame["size"] + (frame.colour == "red") + frame.gap.fillna(0) > 0.3, "yes", "no")
    frame.loc[5::301, "kind"] = None
    return frame


def models():
    return [
        BoostedClassifier(8, random_state=0),
        ForestClassifier(6, max_bins=255, random_state=0),
    ]


def assert_same_trees(one, other):
    ours, others = one.trees_.arrays(), other.trees_.arrays()
    assert ours.keys() == others.keys()
    for name in ours:
        np.testing.assert_array_equal(ours[name], others[name], err_msg=name)


@pytest.fixture(scope="module")
def csv(tmp_path_factory):
    path = tmp_path_factory.mktemp("prepared") / "shop.csv"
    table().to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def prepared(csv):
    return prepare(csv, csv.with_suffix(".ramify"), target="kind")


def test_trees_on_a_prepared_file_are_those_of_the_table(csv, prepared):
    plain = read(csv, target="kind")
    X = plain.to_frame()
    assert prepared.feature_names == plain.feature_names
    assert prepared.label_names == plain.label_names
    np.testing.assert_array_equal(prepared.classes, plain.classes)
    for model in models():
        usual = model.fit(X, plain.classes)
        coded = type(model)(**model.get_params()).fit(prepared.X, prepared.classes)
        assert_same_trees(usual, coded)
        probabilities = usual.predict_proba(X)
        np.testing.assert_array_equal(probabilities, coded.predict_proba(prepared.X))
        np.testing.assert_array_equal(probabilities, coded.predict_proba(X))
        np.testing.assert_array_equal(usual.feature_importances_, coded.feature_importances_)
        rows = np.arange(3, 700, 7)
        np.testing.assert_array_equal(probabilities[rows], coded.predict_proba(prepared.X[rows]))


def test_scores_measured_on_rows_are_those_of_the_table(csv, prepared):
    plain = read(csv, target="kind")
    X, y = plain.to_frame(), plain.classes
    for score in ("genie3_oob", "permutation"):
        found = [
            forest_ranking(ForestClassifier(6, max_bins=255, random_state=0).fit(given, y), score, given, y)
            for given in (X, prepared.X)
        ]
        np.testing.assert_array_equal(found[0].scores, found[1].scores)


@pytest.mark.parametrize("n_rows", [7, 100, 899])
def test_batches_of_any_size_give_the_same_file(csv, prepared, tmp_path, monkeypatch, n_rows):
    monkeypatch.setattr(module._Work, "n_batch", n_rows)
    again = prepare(csv, tmp_path / "again.ramify", target="kind")
    for one, other in zip(prepared.X.codes, again.X.codes, strict=True):
        np.testing.assert_array_equal(one, other)
    assert (tmp_path / "again.ramify").read_bytes() == csv.with_suffix(".ramify").read_bytes()


def test_the_sample_is_of_the_same_rows_whatever_the_batches(csv, tmp_path, monkeypatch):
    monkeypatch.setattr(module._Work, "n_sampled", 50)
    files = []
    for n_rows in (33, 400):
        monkeypatch.setattr(module._Work, "n_batch", n_rows)
        prepare(csv, tmp_path / f"{n_rows}.ramify", target="kind")
        files.append((tmp_path / f"{n_rows}.ramify").read_bytes())
    assert files[0] == files[1]


@pytest.mark.parametrize("form", ["parquet", "frame", "frames", "arrow", "callable", "two files", "dask"])
def test_all_sources_give_the_same_codes(csv, prepared, tmp_path, form):
    frame = table()
    if form == "parquet":
        frame.to_parquet(tmp_path / "shop.parquet")
        source = tmp_path / "shop.parquet"
    elif form == "two files":
        frame.iloc[:500].to_csv(tmp_path / "a.csv", index=False)
        frame.iloc[500:].to_csv(tmp_path / "b.csv", index=False)
        source = [tmp_path / "a.csv", tmp_path / "b.csv"]
    elif form == "dask":
        source = pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=3)
    else:
        source = {
            "frame": frame,
            "frames": [frame.iloc[:100], frame.iloc[100:]],
            "arrow": pa.Table.from_pandas(frame),
            "callable": lambda: iter([frame.iloc[:10], frame.iloc[10:]]),
        }[form]
    found = prepare(source, tmp_path / "shop.ramify", target="kind")
    assert found.feature_names == prepared.feature_names
    for one, other in zip(prepared.X.codes, found.X.codes, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(found.classes, prepared.classes)


def test_targets_of_all_kinds_keep_weights_groups_and_hierarchy(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.normal(size=200), "b": rng.normal(size=200)})
    frame["weight"] = rng.integers(0, 3, 200)
    frame["patient"] = [f"p{k}" for k in rng.integers(0, 30, 200)]
    paths = np.array(["animal/cat", "animal/dog", "plant/oak"])[rng.integers(0, 3, 200)]
    for target, values in (
        ("y", rng.normal(size=200)),
        ("branch", paths),
        ("set", np.array(["x|y", "y", "x|z", "z"])[rng.integers(0, 4, 200)]),
    ):
        given = frame.assign(**{target: values})
        options = {"target": target, "weight": "weight", "groups": "patient"}
        plain, coded = read(given, **options), prepare(given, tmp_path / f"{target}.ramify", **options)
        again = read(tmp_path / f"{target}.ramify")
        for found in (coded, again):
            assert (found.target, found.label_names, found.hierarchy) == (
                plain.target, plain.label_names, plain.hierarchy,
            )  # fmt: skip
            np.testing.assert_array_equal(found.sample_weight, plain.sample_weight)
            np.testing.assert_array_equal(found.row_groups, plain.row_groups)
            dense = [y.toarray() if hasattr(y, "toarray") else np.asarray(y) for y in (found.y, plain.y)]
            np.testing.assert_array_equal(*dense)


KILLED = """
    import os, signal, sys
    from ramify.datasets import prepare
    from ramify.datasets.prepared import prepare as module
    module._BETWEEN_NOTES = 0.0
    module._Work.n_batch = 60
    noted = module._Partial.note

    def note(self, n_done, bounds):
        noted(self, n_done, bounds)
        if n_done >= int(sys.argv[3]):
            os.kill(os.getpid(), signal.SIGKILL)

    module._Partial.note = note
    prepare(sys.argv[1], sys.argv[2], target="kind")
"""


def test_killed_in_the_middle_it_goes_on(csv, prepared, tmp_path, monkeypatch):
    output = tmp_path / "killed.ramify"
    output.write_bytes(b"what was there before")
    for at in (200, 600):
        run = [sys.executable, "-c", textwrap.dedent(KILLED), str(csv), str(output), str(at)]
        assert subprocess.run(run, env=os.environ, timeout=120).returncode == -signal.SIGKILL
        assert output.read_bytes() == b"what was there before"
    learnt = []
    monkeypatch.setattr(module._Work, "learn", lambda self: learnt.append(1))
    written = []
    write = module._Partial.write

    def noting(self, layout, first, codes):
        written.append(first)
        write(self, layout, first, codes)

    monkeypatch.setattr(module._Partial, "write", noting)
    prepare(csv, output, target="kind")
    assert not learnt
    assert min(written) >= 600
    assert output.read_bytes() == csv.with_suffix(".ramify").read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["killed.ramify"]


def test_changed_files_and_other_options_begin_anew(csv, tmp_path):
    source, output = tmp_path / "shop.csv", tmp_path / "shop.ramify"
    source.write_bytes(csv.read_bytes())
    run = [sys.executable, "-c", textwrap.dedent(KILLED), str(source), str(output), "200"]
    assert subprocess.run(run, env=os.environ, timeout=120).returncode == -signal.SIGKILL
    table(seed=7).to_csv(source, index=False)
    found = prepare(source, output, target="kind")
    fresh = prepare(source, tmp_path / "fresh.ramify", target="kind")
    for one, other in zip(found.X.codes, fresh.X.codes, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_byte_that_is_changed_is_refused(csv, prepared, tmp_path):
    content = csv.with_suffix(".ramify").read_bytes()
    path = tmp_path / "changed.ramify"
    for at in (4096, 4096 + 500, len(content) - 500, len(content) - 40):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        with pytest.raises(FileError, match="damaged|no prepared table"):
            read(path)
    for size in (20, 5000, len(content) - 1):
        path.write_bytes(content[:size])
        with pytest.raises(FileError):
            read(path)


def test_a_full_disk_leaves_what_was_there(csv, tmp_path, monkeypatch):
    output = tmp_path / "shop.ramify"
    output.write_bytes(b"before")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, "posix_fallocate", full)
    with pytest.raises(OSError, match="No space left"):
        prepare(csv, output, target="kind")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"shop.ramify": b"before"}


def test_other_data_are_refused_with_the_next_step(csv, prepared, tmp_path):
    other = prepare(table(seed=3), tmp_path / "other.ramify", target="kind")
    model = BoostedClassifier(8, random_state=0).fit(prepared.X, prepared.classes)
    with pytest.raises(ValueError, match="Predict the file that the table was made of"):
        model.predict(other.X)
    with pytest.raises(TypeError, match="read the file that it was made of"):
        ReliefRanker().fit(prepared.X, prepared.classes)
    with pytest.raises(ValueError, match="max_bins=16, but the prepared table"):
        BoostedClassifier(max_bins=16).fit(prepared.X, prepared.classes)
    with pytest.raises(FileError, match="its target was chosen when it was prepared: kind"):
        read(csv.with_suffix(".ramify"), target="size")
    with pytest.raises(ValueError, match="memory must be"):
        prepare(csv, tmp_path / "x.ramify", memory="much")
    with pytest.raises(TypeError, match="function that returns an iterator of frames"):
        prepare(3, tmp_path / "x.ramify")


def test_text_in_a_column_of_numbers_further_down_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "_HEAD_BYTES", 2000)
    frame = table()
    frame["size"] = frame["size"].astype(object)
    frame.loc[600, "size"] = "big"
    frame.to_csv(tmp_path / "odd.csv", index=False)
    found = prepare(tmp_path / "odd.csv", tmp_path / "odd.ramify", target="kind")
    column = found.X.codes[found.feature_names.index("size")]
    assert (column == found.X.cuts.n_codes[found.feature_names.index("size")]).sum() == 1
    assert any("What columns are was decided by the first" in note for note in found.notes)


def test_commands_take_the_file(csv, tmp_path):
    run = CliRunner()
    output, model = str(tmp_path / "shop.ramify"), str(tmp_path / "model.ramify")
    done = run.invoke(command, ["prepare", str(csv), "--target", "kind", "-o", output, "--memory", "100M"])
    assert done.exit_code == 0, done.output
    assert "897 rows, 5 features" in done.output
    shown = run.invoke(command, ["info", output])
    assert shown.exit_code == 0, shown.output
    assert "coded" in shown.output
    done = run.invoke(command, ["fit", output, "-o", model, "--trees", "5", "--folds", "2"])
    assert done.exit_code == 0, done.output
    done = run.invoke(command, ["rank", output, "--trees", "5", "-o", str(tmp_path / "r.csv")])
    assert done.exit_code == 0, done.output
    for data in (output, str(csv)):
        done = run.invoke(command, ["predict", model, data, "-o", str(tmp_path / "p.csv")])
        assert done.exit_code == 0, done.output
    assert ramify.load(model).n_features_in_ == 5
