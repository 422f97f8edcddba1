"""The scorecard keeps figures of tests that a run leaves out, and none that is stale."""

from tests.scorecard import counted_figure, figure, markdown, merged, summary

KERNELS = "tests/trust/test_fuzz_kernels.py::test_hostile_arrays_never_kill_the_process"
READERS = "tests/datasets/test_fuzz.py::test_mutants_are_read_or_refused"


def texts(figures, row):
    return next(measured for number, _, measured, _ in summary(figures) if number == row)


def test_figures_of_tests_that_did_not_run_are_kept(tmp_path):
    memory = tmp_path / "figures.json"
    merged([figure("R9", f"{KERNELS}[20000]", "passed", "20,000 calls")], memory)
    kept = merged([figure("R9", f"{KERNELS}[2000]", "passed", "2,000 calls")], memory)
    assert sorted(texts(kept, "R9").split("; ")) == ["2,000 calls", "20,000 calls"]


def test_a_test_that_was_given_cases_replaces_its_figure_without_them(tmp_path):
    memory = tmp_path / "figures.json"
    merged([figure("R9", KERNELS, "passed", "2,000 calls of the kernels")], memory)
    kept = merged([figure("R9", f"{KERNELS}[2000]", "passed", "2,000 calls of 40 kernels")], memory)
    assert texts(kept, "R9") == "2,000 calls of 40 kernels"
    kept = merged([figure("R9", KERNELS, "passed", "3,000 calls")], memory)
    assert texts(kept, "R9") == "3,000 calls"


def test_figures_of_tests_that_are_gone_or_measure_nothing_now_are_dropped(tmp_path):
    memory = tmp_path / "figures.json"
    gone = [
        figure("R9", "tests/trust/test_fuzz_kernels.py::test_that_never_was", "passed", "gone"),
        figure("R9", "tests/trust/test_no_such_file.py::test_one", "passed", "gone"),
        figure("R1", "tests/ranking/test_checks.py::test_scikit_learn_checks[a]", "passed", "measures nothing now"),
    ]
    merged(gone, memory)
    assert merged([], memory) == []


def test_counts_of_files_that_did_not_run_are_kept_and_added(tmp_path):
    memory = tmp_path / "figures.json"
    noun, first, second = "cases of hostile arrays", "tests/ensemble/test_hostile_arrays.py", "tests/conftest.py"
    merged([counted_figure("R10", noun, f, {"passed": n}) for f, n in ((first, 5), (second, 7))], memory)
    kept = merged([counted_figure("R10", noun, first, {"passed": 6, "skipped": 1})], memory)
    assert texts(kept, "R10") == "13 cases of hostile arrays (1 skipped)"
    kept = merged([counted_figure("R10", noun, second, {"passed": 6, "failed": 1})], memory)
    assert texts(kept, "R10") == "12 cases of hostile arrays (1 failed, 1 skipped)"
    assert "| FAILS |" in markdown(kept)
    old_form = figure("R10", noun, "passed", "12 cases of hostile arrays")
    assert merged([old_form], tmp_path / "other.json") == [old_form]
    assert merged([], tmp_path / "other.json") == []


def test_the_table_gathers_mutants_of_several_kinds():
    figures = [figure("R9", f"{READERS}[{kind}]", "passed", f"{kind} 2,000 mutants") for kind in ("arff", "csv")]
    assert "| holds | 2,000 mutants each of arff, csv |" in markdown(figures)
