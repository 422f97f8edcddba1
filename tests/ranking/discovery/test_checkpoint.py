"""A run that was stopped goes on where it was, with the bits of one that was not."""

import json
import shutil
import signal

import numpy as np
import pytest
from click.testing import CliRunner

from ramify.cli.rank import rank
from ramify.datasets import make_hierarchical, write_arff
from ramify.ensemble import ForestClassifier
from ramify.ranking import discoveries
from ramify.ranking.discovery import units

DATA = make_hierarchical(150, depth=2, n_features=10, random_state=0)


def found(*, X=DATA.X, y=DATA.y, checkpoint=None, **options):
    forest = ForestClassifier(20, hierarchy=DATA.hierarchy, min_samples_leaf=3)
    return discoveries(forest, X, y, **{"random_state": 0, "n_jobs": 1, **options}, checkpoint=checkpoint)


@pytest.fixture(scope="module")
def plain():
    return found()


@pytest.fixture(scope="module")
def folder(tmp_path_factory, plain):
    path = tmp_path_factory.mktemp("whole")
    assert found(checkpoint=path) == plain
    return path


@pytest.fixture
def learnt(monkeypatch):
    """The columns that were learnt, in order; at number `learnt.stop` somebody presses Ctrl-C."""

    class Learnt(list):
        stop = None

    columns, whole = Learnt(), units.column_model

    def counted(predictors, feature, *arguments, **options):
        if columns.stop == len(columns):
            signal.raise_signal(signal.SIGINT)
        columns.append(feature)
        return whole(predictors, feature, *arguments, **options)

    monkeypatch.setattr(units, "column_model", counted)
    return columns


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_ctrl_c_stopped_goes_on_with_the_same_bits(plain, tmp_path, learnt, n_jobs):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background ignores it
    try:
        learnt.stop = 5
        with pytest.raises(KeyboardInterrupt):
            found(checkpoint=tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(list(tmp_path.iterdir())) == 5
    first, learnt.stop = learnt.copy(), None
    learnt.clear()
    assert found(checkpoint=tmp_path, n_jobs=n_jobs) == plain
    assert not set(first) & set(learnt[: DATA.n_features - 5])
    learnt.clear()
    assert found(checkpoint=tmp_path, n_jobs=n_jobs) == plain
    assert not learnt


def changed_cell():
    X = DATA.X.copy()
    X[3, 2] += 1e-9
    return X


def changed_labels():
    return DATA.y[[*range(40)][::-1] + [*range(40, 150)]]


@pytest.mark.parametrize(
    "options",
    [
        {"X": changed_cell()},
        {"y": changed_labels()},
        {"n_draws": 2},
        {"random_state": 1},
        {"sample_weight": np.linspace(0.5, 1.5, 150)},
    ],
    ids=["X", "y", "n_draws", "random_state", "sample_weight"],
)
def test_work_on_anything_else_is_never_taken(folder, tmp_path, options):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    assert found(**options, checkpoint=tmp_path) == found(**options)
    assert len(list(tmp_path.iterdir())) > len(list(folder.iterdir()))


def test_another_rate_takes_all_that_was_done(folder, tmp_path, learnt):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    found(fdr=0.05, checkpoint=tmp_path)
    assert not learnt


def test_damaged_pieces_are_done_again(plain, folder, tmp_path):
    names = sorted(path.name for path in folder.iterdir())
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    for number, name in enumerate(names):
        path = tmp_path / name
        content = bytearray(path.read_bytes())
        if number % 4 == 0:
            path.write_bytes(content[: len(content) // 2])
        elif number % 4 == 1:
            content[len(content) // 2] ^= 1
            path.write_bytes(content)
        elif number % 4 == 2:  # a whole piece under another's name
            shutil.copy(folder / names[number - 1], path)
        else:
            path.write_bytes(b"")
    assert found(checkpoint=tmp_path) == plain
    assert found(checkpoint=tmp_path) == plain


def test_a_checkpoint_is_a_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"A checkpoint is a folder, and .* is a file\. Name another folder\."):
        found(checkpoint=tmp_path / "file")


def test_the_command_line_goes_on_too(tmp_path, learnt):
    write_arff(DATA, tmp_path / "data.arff")
    arguments = [str(tmp_path / "data.arff"), "--trees", "5", "--json", "--jobs", "1"]
    arguments += ["--checkpoint", str(tmp_path / "work")]
    first = json.loads(CliRunner().invoke(rank, arguments, catch_exceptions=False).output)
    assert learnt
    learnt.clear()
    assert json.loads(CliRunner().invoke(rank, arguments, catch_exceptions=False).output) == first
    assert not learnt
