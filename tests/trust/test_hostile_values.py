"""Values that no estimator can take are refused in words, by every estimator there is."""

import os

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.metamorphic import cases
from tests.metamorphic.test_names import planted

import ramify
from ramify.cli.main import ramify as command
from ramify.datasets import read
from ramify.ensemble import ForestClassifier

KNOWN = {name: case for name, case in cases.CASES.items() if case.features != "terms" and "unknown" not in case.target}
OF_NUMBERS = [name for name, case in KNOWN.items() if case.target == "numbers"]
OF_CLASSES = [name for name, case in KNOWN.items() if case.target == "classes"]


def data(case):
    X, targets = planted()
    return X.drop(columns="town").to_numpy(), targets[case.target]


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.filterwarnings("ignore")
def test_masked_cells_are_refused(name):
    case = KNOWN[name]
    X, y = data(case)
    masked = np.ma.masked_array(X, mask=X > 1)
    with pytest.raises(ValueError, match="X is a masked array with masked cells"):
        case.make().fit(masked, y)
    target = np.ma.masked_array(y, mask=np.zeros(y.shape, dtype=bool))
    target.mask[3] = True
    with pytest.raises(ValueError, match="y is a masked array with masked cells"):
        case.make().fit(X, target)
    fitted = case.make().fit(np.ma.masked_array(X), y)  # nothing is masked
    if hasattr(fitted, "predict"):
        with pytest.raises(ValueError, match="X is a masked array with masked cells"):
            fitted.predict(masked)


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_numbers_whose_sums_overflow_are_refused(name):
    X, y = data(KNOWN[name])
    with pytest.raises(ValueError, match="are too large"):
        KNOWN[name].make().fit(X, np.where(y > 0, 1e308, -1e308))


@pytest.mark.parametrize("name", OF_CLASSES)
def test_classes_of_several_types_are_refused(name):
    X, _ = data(KNOWN[name])
    with pytest.raises(TypeError, match=r"Classes must be of one type, but y holds 1 \(number\) and 'a' \(str\)"):
        KNOWN[name].make().fit(X, np.array([1, "a"] * (len(X) // 2), dtype=object))


@pytest.mark.parametrize("name", [name for name, case in KNOWN.items() if hasattr(case.make(), "n_jobs")])
@pytest.mark.filterwarnings("ignore")
def test_any_number_of_workers_works(name):
    case = KNOWN[name]
    X, y = data(case)
    expected = cases.results(case.make().fit(X, y), X)
    many = case.make().set_params(n_jobs=2**40).fit(X, y)
    cases.assert_same(cases.results(many, X), expected, "many workers")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
@pytest.mark.parametrize("opens", [ramify.load, read])
def test_pipes_and_broken_links_are_refused(opens, tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(ValueError, match="is no regular file"):
        opens(tmp_path / "pipe.csv")
    for name, leads_to in (("loop.csv", "loop.csv"), ("lost.csv", "gone.csv")):
        (tmp_path / name).symlink_to(tmp_path / leads_to)
        with pytest.raises((ValueError, FileNotFoundError), match="this link leads to no file"):
            opens(tmp_path / name)


def test_an_identifier_that_could_be_a_row_number_is_told(tmp_path):
    table = pd.DataFrame({"id": [str(3 * row) for row in range(1, 31)], "size": np.arange(30.0)})
    table["kind"] = np.where(table["size"] > 14, "large", "small")
    table.to_csv(tmp_path / "rows.csv", index=False)
    ramify.save(ForestClassifier(3, random_state=0).fit(table[["size"]], table["kind"]), tmp_path / "m.ramify")
    shared = ["explain", str(tmp_path / "m.ramify"), str(tmp_path / "rows.csv"), "--id", "id", "--row"]
    told = CliRunner().invoke(command, [*shared, "3"])
    assert told.exit_code == 0, told.output
    assert "the row whose identifier is 3, row 1; not row 3" in told.stderr
    assert "Note: --row" not in CliRunner().invoke(command, [*shared, "90"]).stderr
