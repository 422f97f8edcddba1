"""Rows R11 and R26 to R28: many cells, rows, labels and sparse features cost what they hold, not what they could."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from ramify import _core
from ramify.ensemble import ForestClassifier, ForestRegressor


def memory_of(imports: str, work: str) -> float:
    """GiB that work adds at its peak to a process that has imported what it needs."""
    status = Path("/proc/self/status")
    if not status.exists():
        pytest.skip("peak memory is read from /proc")
    peak = f"int(Path({str(status)!r}).read_text().split('VmHWM:')[1].split()[0])"
    code = f"from pathlib import Path\n{imports}\nbefore = {peak}\n{work}\nprint({peak} - before)"
    done = subprocess.run([sys.executable, "-c", code], check=True, timeout=1200, capture_output=True, text=True)
    return int(done.stdout) / 2**20


def sparse_columns(n_rows: int, n_features: int, per_row: int) -> sparse.csc_array:
    rng = np.random.default_rng(0)
    rows = np.repeat(np.arange(n_rows), per_row)
    cells = sparse.csc_array((np.ones(n_rows * per_row), (rows, rng.integers(0, n_features, n_rows * per_row))))
    cells.resize((n_rows, n_features))
    return cells


def test_sparse_features_cost_by_their_entries(scorecard):
    X = sparse_columns(20_000, 75_000, 40)
    table = _core.FeatureTable(
        X.data, X.indices, X.indptr, n_rows=20_000, n_categories=np.zeros(75_000, np.int32), max_bins=0, n_threads=1
    )
    assert table.n_bytes < 40 * X.nnz  # dense codes would be 1.5 GB
    y = np.asarray(X[:, :1000].sum(axis=1) > 0).ravel()
    forest = ForestClassifier(2, max_depth=12, random_state=0, n_jobs=1).fit(X, y)
    assert forest.n_features_in_ == 75_000
    scorecard("R28", f"75,000 sparse features x 20,000 rows held in {table.n_bytes / 2**20:.0f} MiB")


def test_labels_cost_by_those_that_rows_have(scorecard):
    n_rows, n_labels = 2_000, 100_000
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 10))
    cells = (np.ones(10 * n_rows), (np.repeat(np.arange(n_rows), 10), rng.integers(0, n_labels, 10 * n_rows)))
    Y = sparse.csr_array(cells, shape=(n_rows, n_labels))
    Y.data[:] = 1
    forest = ForestClassifier(1, max_depth=4, random_state=0, n_jobs=1).fit(X, Y)
    assert forest.trees_.n_bytes < 2**21  # a dense leaf alone would be 800 kB
    shown = forest.predict_proba(X[:10], at_least=0.001)
    assert sparse.issparse(shown)
    scorecard("R27", f"100,000 labels: a tree of {forest.trees_.n_bytes / 2**10:.0f} KiB")


@pytest.mark.slow
def test_more_than_two_to_the_31_cells_equal_the_small_run(scorecard):
    rng = np.random.default_rng(0)
    small = rng.normal(size=(50_000, 3)).astype(np.float32)
    y = small[:, 0] + small[:, 1] * small[:, 2]
    parameters = {"max_depth": 5, "max_features": None, "bootstrap": False, "random_state": 0, "n_jobs": 2}
    expected = ForestRegressor(1, **parameters).fit(small, y).predict(small)
    wide = np.zeros((50_000, 43_000), np.float32)  # constant but for the last columns, behind cell 2^31
    assert wide.size > 2**31
    wide[:, -3:] = small
    table = _core.FeatureTable(wide, n_categories=np.zeros(43_000, np.int32), max_bins=0, n_threads=2)
    assert table.n_bytes < 2**26
    forest = ForestRegressor(1, **parameters).fit(wide, y)
    np.testing.assert_array_equal(forest.predict(wide), expected)
    scorecard("R11", f"{wide.size} cells: equal to the small run")


@pytest.mark.slow
def test_a_million_rows_need_little_more_than_themselves(scorecard):
    peak = memory_of(
        "import numpy as np\nfrom ramify.ensemble import ForestClassifier",
        "X = np.random.default_rng(0).random((1_000_000, 1_000), dtype=np.float32)\n"
        "y = (X[:, 0] + X[:, 1] > 1).astype(int)\n"
        "ForestClassifier(2, max_bins=255, max_depth=8, random_state=0, n_jobs=1).fit(X, y)",
    )
    assert peak < 4e9 / 2**30 + 1.25
    scorecard("R26", f"1,000,000 x 1,000: {peak:.2f} GiB at peak, {peak - 4e9 / 2**30:.2f} beyond the data")


@pytest.mark.slow
def test_many_sparse_labels_stay_sparse(scorecard):
    peak = memory_of(
        "import numpy as np\nfrom scipy import sparse\nfrom ramify.ensemble import ForestClassifier",
        "rng = np.random.default_rng(0)\n"
        "X = rng.normal(size=(20_000, 20))\n"
        "at = np.arange(200_000) // 10, rng.integers(0, 100_000, 200_000)\n"
        "Y = sparse.csr_array((np.ones(200_000), at), shape=(20_000, 100_000))\n"
        "Y.data[:] = 1\n"
        "ForestClassifier(1, max_depth=4, random_state=0, n_jobs=1).fit(X, Y)",
    )
    assert peak < 4
    scorecard("R27", f"20,000 rows x 100,000 labels: {peak:.2f} GiB at peak")
