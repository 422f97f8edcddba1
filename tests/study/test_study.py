import errno
import gzip
import hashlib
import multiprocessing
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score
from sklearn.model_selection import ShuffleSplit
from sklearn.tree import DecisionTreeClassifier

from ramify.chains import BinaryRelevance, ClassifierChain
from ramify.datasets import Dataset
from ramify.ensemble import ForestClassifier
from ramify.hierarchy import Hierarchy
from ramify.study import Study, StudyError
from ramify.study.store import Store
from ramify.study.study_files import DataSet, available, data_folder, data_sets, load_study_file, study_names
from tests.study import toy_study

HERE = Path(__file__).parent
RUN = "from tests.study import toy_study; import sys; toy_study.study(folder=sys.argv[1]).run()"


def environment(**more) -> dict[str, str]:
    path = os.pathsep.join([str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, **more}


def start(folder, **more) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", RUN, str(folder)], env=environment(**more), cwd=HERE.parents[1])


def numbers(study: Study) -> pd.DataFrame:
    columns = ["dataset", "method", "split", "seed", "mean", "spread"]
    return study.results()[columns].sort_values(columns, ignore_index=True)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return numbers(toy_study.study(folder=tmp_path_factory.mktemp("whole")).run())


def test_a_finished_study_has_every_cell_once(undisturbed):
    assert len(undisturbed) == 4 * 5 * 5
    assert not undisturbed.duplicated(["dataset", "method", "split"]).any()


@pytest.mark.parametrize("n_jobs", [2])
@pytest.mark.hostile
def test_processes_change_no_bit(tmp_path, undisturbed, n_jobs):
    study = toy_study.study(folder=tmp_path).run(n_jobs=n_jobs)
    pd.testing.assert_frame_equal(numbers(study), undisturbed, check_exact=True)


def kill_and_resume(folder, n_kills, seed, begin, whole):
    """Kill the run again and again, each time a few cells further, in the middle of whatever it is doing.

    A run that gets to its end before it is killed must have given the whole table; then the study starts anew.
    """
    rng = np.random.default_rng(seed)
    store = Store(folder)
    kills = 0
    while kills < n_kills:
        process = begin(folder)
        until = len(store.statuses()) + rng.integers(0, 6)
        while process.poll() is None and len(store.statuses()) < until:
            time.sleep(0.002)
        time.sleep(float(rng.uniform(0, 0.03)))
        if process.poll() is None:
            process.kill()
            process.wait()
            kills += 1
        else:
            assert process.poll() == 0
            check_whole(folder, whole)
            shutil.rmtree(folder)
    assert len(store.statuses()) > 0
    check_whole(folder, whole, run=True)


def check_whole(folder, whole, run=False):
    """Every cell once, done, and to the bit what an undisturbed run gives."""
    study = toy_study.study(folder=folder, quick=len(whole) == 100)
    if run:
        study.run()
    pd.testing.assert_frame_equal(numbers(study), whole, check_exact=True)
    assert set(study.results()["status"]) == {"done"}


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")
def test_ten_kills_lose_double_and_change_nothing(tmp_path, undisturbed, scorecard):
    kill_and_resume(tmp_path / "killed", 10, 1, partial(start, TOY_SLEEP="0.01"), undisturbed)
    scorecard("R20", "10 kills: 0 lost, 0 doubled, 0 stale, bit-identical")


class Forked:
    """A run in a process of its own, forked from one that has imported everything: no second is spent on imports."""

    context = multiprocessing.get_context(None if sys.platform == "win32" else "forkserver")

    def __init__(self, folder):
        self.process = self.context.Process(target=toy_study.run, args=(str(folder), 0.01))
        self.process.start()

    def poll(self):
        return self.process.exitcode

    def kill(self):
        self.process.kill()

    def wait(self):
        self.process.join()


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")
def test_five_hundred_kills_lose_double_and_change_nothing(tmp_path, monkeypatch, scorecard):
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    Forked.context.set_forkserver_preload(["tests.study.toy_study"])
    whole = numbers(toy_study.study(folder=tmp_path / "whole", quick=False).run())
    assert len(whole) == 200
    kill_and_resume(tmp_path / "killed", 500, 2, Forked, whole)
    scorecard("R20", "200 experiments, 500 kills: 0 lost, 0 doubled, 0 stale, bit-identical")


def test_runs_on_one_folder_share_the_work_and_run_nothing_twice(tmp_path, undisturbed, scorecard):
    log = tmp_path / "log"
    folder = tmp_path / "shared"
    processes = [start(folder, TOY_SLEEP="0.01", TOY_LOG=str(log)) for _ in range(8)]
    assert [process.wait() for process in processes] == [0] * 8
    lines = log.read_text().splitlines()
    assert len(lines) == len(set(lines)) == len(undisturbed)
    scorecard("R22", f"8 writers, {len(lines)} cells: 0 run twice")


def test_threads_of_one_process_share_the_work_too(tmp_path, monkeypatch, undisturbed):
    monkeypatch.setenv("TOY_LOG", str(tmp_path / "log"))
    monkeypatch.setenv("TOY_SLEEP", "0.005")
    threads = [threading.Thread(target=toy_study.study(folder=tmp_path / "shared").run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = (tmp_path / "log").read_text().splitlines()
    assert len(lines) == len(set(lines)) == len(undisturbed)


def failing(train, test, seed):
    raise RuntimeError("no luck")


def lucky(train, test, seed):
    return {"value": 1.0}


def test_a_failing_cell_is_recorded_and_the_rest_goes_on(tmp_path):
    data = toy_study.make_data(0)
    study = Study({"toy": data}, {"bad": failing, "good": lucky}, splits=2, folder=tmp_path).run()
    assert study.status().to_numpy().tolist() == [[0, 2, 0], [2, 0, 0]]
    assert "RuntimeError: no luck" in study.errors()["error"].iloc[0]
    assert study.table("value").to_dict() == {"good": {"toy": 1.0}}
    Study({"toy": data}, {"bad": failing, "good": lucky}, splits=2, folder=tmp_path).run(retry=True)
    assert study.status()["failed"].sum() == 2


def test_an_extended_study_runs_only_what_is_new(tmp_path, monkeypatch):
    monkeypatch.setenv("TOY_LOG", str(tmp_path / "log"))
    first = toy_study.study(folder=tmp_path / "study")
    first.run()
    extended = toy_study.study(folder=tmp_path / "study")
    extended.methods["power6"] = partial(toy_study.noisy_mean, power=6, log=str(tmp_path / "log"))
    extended.run()
    assert len((tmp_path / "log").read_text().splitlines()) == 120


def test_changed_settings_are_other_cells(tmp_path):
    data = toy_study.make_data(0)
    accuracy = {"accuracy": accuracy_score}
    Study({"toy": data}, {"tree": DecisionTreeClassifier(max_depth=1)}, accuracy, 2, tmp_path).run()
    changed = Study({"toy": data}, {"tree": DecisionTreeClassifier(max_depth=2)}, accuracy, 2, tmp_path)
    assert changed.status()["waiting"].sum() == 2


def test_estimators_are_fitted_on_the_training_rows_and_measured_on_the_others(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    data = Dataset(X, y=(X[:, 0] > 0).astype(int), target="classes")
    methods = {"tree": DecisionTreeClassifier(), "prior": DummyClassifier()}
    study = Study({"toy": data}, methods, {"accuracy": accuracy_score}, ShuffleSplit(3, random_state=0), tmp_path).run()
    table = study.table("accuracy")
    assert table.loc["toy", "tree"] > 0.8 > table.loc["toy", "prior"]
    assert study.results()["seconds"].gt(0).all()
    assert study.results()["versions"].str.contains("numpy").all()


def test_parts_split_train_and_valid_from_test(tmp_path):
    parts = {"train": np.arange(0, 20), "valid": np.arange(20, 30), "test": np.arange(30, 40)}
    plain = toy_study.make_data(0)
    data = Dataset(plain.X, y=plain.y, target="classes", parts=parts)

    def sizes(train, test, seed):
        return {"train": train.n_samples, "test": test.n_samples}

    results = Study({"toy": data}, {"sizes": sizes}, splits="parts", folder=tmp_path).run().results()
    assert results[["train", "test"]].to_numpy().tolist() == [[30, 10]]


def test_a_comparison_needs_enough_data_sets(tmp_path):
    study = toy_study.study(folder=tmp_path).run()
    assert "too few" in study.compare("spread").sentence


def test_a_read_only_folder_is_a_clean_error_and_the_study_resumes(tmp_path, undisturbed, monkeypatch, scorecard):
    folder = tmp_path / "study"
    toy_study.study(folder=folder).run()
    path = folder / "results.sqlite"
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("DELETE FROM cells WHERE dataset = 'set1'")
    connection.close()
    read_only = f"file:{path}?mode=ro"
    study = toy_study.study(folder=folder)
    monkeypatch.setattr(study._store, "_connect", lambda: sqlite3.connect(read_only, uri=True))
    with pytest.raises(StudyError, match=r"readonly database.*safe"):
        study.run()
    monkeypatch.undo()
    pd.testing.assert_frame_equal(numbers(study.run()), undisturbed, check_exact=True)
    scorecard("R21", "read-only file: clean error, 0 lost, resumed")


def test_a_folder_that_cannot_be_made_is_a_clean_error(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("a file where a folder is wanted")
    with pytest.raises(StudyError, match="cannot be made"):
        toy_study.study(folder=blocked / "study").run()


def test_a_full_disk_is_a_clean_error_and_nothing_is_lost(tmp_path, undisturbed, monkeypatch, scorecard):
    folder = tmp_path / "study"
    study = toy_study.study(folder=folder)
    write = study._store._connect

    def small_disk():
        connection = write()
        connection.execute("PRAGMA max_page_count = 12")
        return connection

    monkeypatch.setattr(study._store, "_connect", small_disk)
    with pytest.raises(StudyError, match=r"database or disk is full.*safe.*goes on where it was"):
        study.run()
    n_written = len(toy_study.study(folder=folder).results())
    assert 0 < n_written < len(undisturbed)
    resumed = toy_study.study(folder=folder).run()
    pd.testing.assert_frame_equal(numbers(resumed), undisturbed, check_exact=True)
    scorecard("R21", f"full after {n_written} cells: clean error, 0 lost, resumed")


SMALL_DISK = """
mount -t tmpfs -o size=48k none "$1" || exit 77
"$2" -c "$3" "$1/study" && exit 1
"$2" -c "$3" "$1/study" && exit 2
mount -o remount,ro,size=8m "$1" || exit 77
"$2" -c "$3" "$1/study" && exit 3
mount -o remount,rw,size=8m "$1" || exit 77
cp -r "$1/study" "$4/before"
"$2" -c "$3" "$1/study" || exit 4
cp -r "$1/study" "$4/after"
"""
"""A disk of 48 KiB runs full, twice; then it is read-only; then there is room."""


@pytest.mark.skipif(sys.platform != "linux", reason="a small disk of one's own is mounted with Linux's namespaces")
def test_a_disk_that_is_full_and_then_read_only_loses_nothing(tmp_path, undisturbed, scorecard):
    disk = tmp_path / "disk"
    disk.mkdir()
    unshare = ["unshare", "--user", "--map-root-user", "--mount"]
    if shutil.which("unshare") is None or subprocess.run([*unshare, "true"], capture_output=True).returncode:
        pytest.skip("mounting a small disk needs user namespaces, which this system does not allow")
    command = [*unshare, "sh", "-c", SMALL_DISK, "sh", str(disk), sys.executable, RUN, str(tmp_path)]
    done = subprocess.run(command, env=environment(), cwd=HERE.parents[1], capture_output=True, text=True)
    if done.returncode == 77:
        pytest.skip(f"this system does not let a user mount a small disk: {done.stderr}")
    assert done.returncode == 0, done.stderr
    errors = [line for line in done.stderr.splitlines() if "Error" in line]
    assert len(errors) == 3
    assert all(line.startswith("ramify.study.store.StudyError: ") and "goes on where it was" in line for line in errors)
    assert "disk is full" in errors[0]
    assert "ead-only" in errors[2]
    n_written = len(toy_study.study(folder=tmp_path / "before").results())
    assert 0 < n_written < len(undisturbed)
    check_whole(tmp_path / "after", undisturbed)
    scorecard("R21", f"a disk full after {n_written} cells, then read-only: clean errors, 0 lost, resumed")


@pytest.mark.skipif(sys.platform == "win32", reason="limits on the size of files are POSIX")
@pytest.mark.hostile
def test_a_file_that_may_not_grow_is_a_clean_error_and_nothing_is_lost(tmp_path, undisturbed):
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (40960, 40960)); {RUN}"
    command = [sys.executable, "-c", limited, str(tmp_path)]
    done = subprocess.run(command, env=environment(), cwd=HERE.parents[1], capture_output=True, text=True)
    assert done.returncode == 1
    assert "StudyError" in done.stderr
    assert "goes on where it was" in done.stderr
    assert 0 < len(toy_study.study(folder=tmp_path).results()) < len(undisturbed)
    check_whole(tmp_path, undisturbed, run=True)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="permissions do not stop an administrator")
def test_a_folder_without_the_right_to_write_is_a_clean_error(tmp_path, undisturbed):
    folder = tmp_path / "study"
    folder.mkdir(mode=0o555)
    with pytest.raises(StudyError, match="goes on where it was"):
        toy_study.study(folder=folder).run()
    folder.chmod(0o755)
    check_whole(folder, undisturbed, run=True)


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "results.sqlite").write_bytes(b"this is not a database, and long enough to be read as one" * 40)
    with pytest.raises(StudyError, match="cannot be used"):
        toy_study.study(folder=tmp_path).run()


def test_a_run_killed_before_its_table_was_made_counts_as_not_begun(tmp_path):
    (tmp_path / "results.sqlite").touch()
    assert toy_study.study(folder=tmp_path).status()["waiting"].sum() == 100
    assert len(toy_study.study(folder=tmp_path).run().results()) == 100


def test_interrupting_gives_the_claims_back(tmp_path, undisturbed):
    study = toy_study.study(folder=tmp_path)

    def stop(n_done, n_cells):
        if n_done == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.run(progress=stop)
    pd.testing.assert_frame_equal(numbers(study.run()), undisturbed, check_exact=True)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Study({}, {}, ["nonsense"]), "no measure 'nonsense'"),
        (lambda: Study({}, {}, random_state=-1), "'random_state' parameter of Study must be an int >= 0"),
        (lambda: Study({}, {"a": lucky}, folder="nowhere").table("x"), "no finished cell yet"),
        (lambda: Study({}, {}).run(n_jobs=0), "'n_jobs' parameter of Study.run must be an int other than 0.*Got 0"),
        (
            lambda: Study({}, {}).run(n_jobs="two"),
            "'n_jobs' parameter of Study.run must be an int other than 0.*Got 'two'",
        ),
        (lambda: load_study_file("nonsense"), "no study file"),
        (lambda: data_folder("nowhere"), "no folder nowhere"),
    ],
)
def test_bad_input_is_refused_in_clear_words(build, words):
    with pytest.raises(ValueError, match=words):
        build()


def test_nominal_features_reach_forests_within_other_estimators_as_nominal(tmp_path):
    # One cut tells odd from even values only if the values are a set and not a scale.
    value = np.tile(np.arange(6), 20)
    labels = sparse.csr_array(np.column_stack([value % 2, 1 - value % 2]))
    data = Dataset(
        value[:, None].astype(float),
        y=labels,
        target="labels",
        feature_names=("kind",),
        categories=(tuple("abcdef"),),
        label_names=("odd", "even"),
    )
    stump = ForestClassifier(5, max_depth=1)
    methods = {"forest": stump, "chain": ClassifierChain(stump), "relevance": BinaryRelevance(stump)}
    study = Study({"parity": data}, methods, measures=["hamming_loss"], splits=2, folder=tmp_path / "study").run()
    assert study.table("hamming_loss").loc["parity"].to_dict() == {"forest": 0.0, "chain": 0.0, "relevance": 0.0}


def test_a_method_must_be_an_estimator_or_a_function(tmp_path):
    with pytest.raises(TypeError, match="must be an estimator or a function"):
        Study({"a": toy_study.make_data(0)}, {"bad": 3}, folder=tmp_path).run()


def test_available_tells_found_from_missing(tmp_path):
    (tmp_path / "a.csv.gz").write_text("")
    found, missing = available(tmp_path, {"a": ["a.csv"], "b": ["b.csv"]})
    assert list(found) == ["a"]
    assert missing == ["b"]


def test_a_hierarchy_a_sparse_matrix_and_names_are_part_of_what_a_cell_is(tmp_path):
    edges = [("a", "b"), ("a", "c")]

    def keys(value):
        method = partial(toy_study.noisy_mean, power=value)
        study = Study({"toy": partial(toy_study.make_data, 0)}, {"it": method}, splits=2, folder=tmp_path)
        return [cell.identity for cell in study.cells()]

    values = [
        Hierarchy.from_edges(edges, w0=0.5),
        Hierarchy.from_edges(edges, w0=0.75),
        Hierarchy.from_edges([("a", "b"), ("b", "c")], w0=0.5),
        sparse.csr_matrix([[0, 1]]),
        sparse.csr_matrix([[1, 0]]),
        np.array(["a", "b"], dtype=object),
        np.array(["a", "c"], dtype=object),
    ]
    assert len({key for value in values for key in keys(value)}) == 2 * len(values)
    assert keys(Hierarchy.from_edges(edges, w0=0.5)) == keys(values[0])


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files as Linux shows them")
def test_a_run_leaves_no_file_open(tmp_path):
    study = toy_study.study(folder=tmp_path).run()
    files = Path("/proc/self/fd")
    before = len(list(files.iterdir()))
    study.run()
    assert len(list(files.iterdir())) == before


def test_a_folder_without_file_locks_is_a_clean_error_and_no_endless_wait(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")

    def no_locks(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "lockf", no_locks)
    with pytest.raises(StudyError, match=r"cannot be locked \(No locks available\).*local disk"):
        toy_study.study(folder=tmp_path).run()


def test_a_result_file_removed_while_running_is_not_called_safe(tmp_path):
    study = toy_study.study(folder=tmp_path)

    def remove(n_done, n_cells):
        if n_done == 5:
            (tmp_path / "results.sqlite").unlink()

    with pytest.raises(StudyError, match="was removed while the study was in use, and what was finished went with it"):
        study.run(progress=remove)
    with pytest.raises(StudyError, match="was removed"):
        study.status()
    assert len(study.run().results()) == 100


ORPHANS = """
import sys, time
from pathlib import Path
import numpy as np
from ramify.datasets import Dataset
from ramify.study import Study

def endless(train, test, seed, folder):
    import os
    (Path(folder) / f"{os.getpid()}.worker").touch()
    time.sleep(600)
    return {"value": 1.0}

from functools import partial
data = Dataset(np.eye(8), y=np.arange(8) % 2, target="classes")
Study({"a": data}, {"m": partial(endless, folder=sys.argv[1])}, splits=2, folder=sys.argv[1]).run(n_jobs=2)
"""


def is_running(pid: int) -> bool:
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="looks processes up as Linux shows them")
def test_workers_of_a_killed_study_end_with_it(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", ORPHANS, str(tmp_path)], env=environment(), cwd=HERE.parents[1])
    workers: list[int] = []
    while len(workers) < 2:
        assert process.poll() is None
        time.sleep(0.1)
        workers = [int(path.stem) for path in tmp_path.glob("*.worker")]
    process.kill()
    process.wait()
    while any(map(is_running, workers)):  # the test's own time limit is far below the ten minutes of a cell
        time.sleep(0.2)


def test_a_study_over_kept_results_reads_no_data_and_tells_what_they_hold(tmp_path):
    def absent():
        raise AssertionError("no data is read")

    study = Study({"here": absent, "gone": absent}, {"a": print, "b": print}, splits=2, folder=tmp_path)
    kept = pd.DataFrame(
        {"dataset": ["here"] * 3, "method": ["a", "a", "b"], "split": [0, 1, None], "tau": [0.2, 0.4, 0.9]}
    )
    over = study.with_results(kept)
    assert over.table("tau").to_dict() == {"a": {"here": pytest.approx(0.3)}, "b": {"here": 0.9}}
    assert over.missing == ["gone"]
    assert list(over.datasets) == ["here"]
    assert set(over.results()["status"]) == {"done"}
    assert study.results().empty
    assert list(study.datasets) == ["here", "gone"]


def test_a_data_folder_is_needed_only_by_published_data(monkeypatch):
    monkeypatch.delenv("RAMIFY_DATA", raising=False)
    assert data_folder() is None
    assert available(None, {"a": ["a.csv"]}) == ({}, ["a"])


def test_studies_come_with_ramify_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAMIFY_DATA", raising=False)
    for name in study_names():
        module = load_study_file(name)
        assert module.study(None, tmp_path / name, quick=True).missing
        assert list(module.study(None, tmp_path / name).missing) == [data.name for data in data_sets(name)]


def test_data_is_verified_by_its_unpacked_content(tmp_path):
    known = DataSet("a", "", "", "", {"sub/a.csv": hashlib.sha256(b"x,y\n1,2\n").hexdigest()})
    assert known.state(None) == known.state(tmp_path) == "missing"
    (tmp_path / "sub").mkdir()
    packed = tmp_path / "sub" / "a.csv.gz"
    packed.write_bytes(gzip.compress(b"x,y\n1,2\n"))
    assert known.state(tmp_path) == "there"
    packed.write_bytes(gzip.compress(b"x,y\n1,3\n"))
    assert known.state(tmp_path) == "differs"


def test_every_published_set_says_where_it_comes_from_and_on_which_terms():
    for name in study_names():
        for data in data_sets(name):
            assert data.source
            assert data.licence
            assert data.layout
            assert all(len(sha256) in (0, 64) for sha256 in data.files.values())
