"""The kernels under sanitizers: the C++ tests as `.ci/run` ran them, and a part of the Python tests in a long check."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("sanitizer", ["address", "thread"])
def test_the_cpp_tests_ran_clean(sanitizer, scorecard):
    log = ROOT / "build" / f"sanitize-{sanitizer}" / "Testing" / "Temporary" / "LastTest.log"
    if not log.is_file():
        pytest.skip(f"the C++ tests were not run under the {sanitizer} sanitizer here; .ci/run does it")
    text = log.read_text(encoding="utf-8", errors="replace")
    n_passed = len(re.findall(r"^Test Passed\.", text, flags=re.M))
    assert n_passed > 0
    assert "Test Failed" not in text
    for report in ("ERROR: AddressSanitizer", "runtime error:", "WARNING: ThreadSanitizer"):
        assert report not in text
    scorecard("R6", f"{n_passed} C++ test programs under the {sanitizer} sanitizer: 0 reports")


SMOKE = ["tests/ensemble", "tests/ranking", "tests/models", "tests/datasets/test_arff.py"]


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.skipif(sys.platform != "linux", reason="preloads the sanitizer of gcc")
def test_python_tests_run_clean_over_sanitized_kernels(tmp_path, scorecard):
    build = tmp_path / "build"
    options = ["-DRAMIFY_SANITIZE=address,undefined", f"-DPython_EXECUTABLE={sys.executable}"]
    subprocess.run(["cmake", "-S", str(ROOT), "-B", str(build), *options], check=True, capture_output=True)
    subprocess.run(["cmake", "--build", str(build), "-j", "2"], check=True, capture_output=True)
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    (module,) = build.glob("_core*.so")
    shutil.copy(module, tmp_path / "src" / "ramify")
    libraries = [
        subprocess.run(["gcc", f"-print-file-name={name}"], check=True, capture_output=True, text=True).stdout.strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    environment = {
        **os.environ,
        "PYTHONPATH": str(tmp_path / "src"),
        "LD_PRELOAD": " ".join(libraries),
        "ASAN_OPTIONS": f"detect_leaks=0:allocator_may_return_null=1:log_path={tmp_path / 'report'}",
        "UBSAN_OPTIONS": f"halt_on_error=1:print_stacktrace=1:log_path={tmp_path / 'report'}",
    }
    smoke = [folder for folder in SMOKE if (ROOT / folder).exists()]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-k", "not memory", *smoke]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    text = done.stdout + done.stderr
    assert [report.read_text(encoding="utf-8")[:5000] for report in tmp_path.glob("report*")] == []
    assert done.returncode == 0, text[-5000:]
    n_passed = re.search(r"(\d+) passed", text)
    assert n_passed
    scorecard("R6", f"{n_passed[1]} Python tests over sanitized kernels: 0 reports")
