"""Rows that belong together, by a column of the table: out of bag, in folds and in claims."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from ramify.cli.main import ramify
from ramify.datasets import read


@pytest.fixture
def visits(tmp_path):
    """60 patients with five visits each, whose features name the patient and say nothing of the diagnosis."""
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(60), 5)
    own = rng.normal(size=(60, 6))[patient] + 0.05 * rng.normal(size=(300, 6))
    frame = pd.DataFrame(own, columns=list("abcdef")).round(4)
    frame.insert(0, "patient", [f"p{k}" for k in patient])
    frame["diagnosis"] = np.array(["ill", "well"])[rng.integers(0, 2, 60)[patient]]
    frame.to_csv(tmp_path / "visits.csv", index=False)
    return tmp_path / "visits.csv"


def run(*arguments):
    result = CliRunner().invoke(ramify, [str(a) for a in arguments])
    assert result.exit_code == 0, result.output
    return result


def accuracy(visits, *options):
    model = visits.parent / "m.ramify"
    arguments = ("fit", visits, "-t", "diagnosis", "-o", model, "--method", "random-forest", "--jobs", 1, "--json")
    return json.loads(run(*arguments, *options).stdout)["measures"]["accuracy"]["model"]


def test_groups_are_read_and_no_feature(visits):
    data = read(visits, target="diagnosis", groups="patient")
    assert "patient" not in " ".join(data.feature_names)
    assert len(np.unique(data.row_groups)) == 60
    assert data.rows(np.arange(7)).row_groups.tolist() == [0, 0, 0, 0, 0, 1, 1]
    assert data.inspection["patient"].role == "groups"


def test_out_of_bag_results_do_not_know_the_patient(visits):
    assert accuracy(visits, "--ignore", "patient") > 0.95  # another visit of the same patient was learnt from
    assert accuracy(visits, "--groups", "patient") < 0.7


def test_claims_do_not_know_the_patient(visits):
    arguments = ("rank", visits, "-t", "diagnosis", "--groups", "patient", "--trees", 50, "--jobs", 1, "--json")
    found = json.loads(run(*arguments).stdout)
    assert len(found.get("claims") or []) == 0


def test_a_column_that_repeats_and_is_called_an_identifier_is_pointed_out(visits):
    frame = pd.read_csv(visits).rename(columns={"patient": "patient_id"})
    notes = " ".join(read(frame, target="diagnosis").notes)
    assert "--groups" in notes


def test_methods_that_take_no_groups_say_so(visits):
    arguments = ["fit", str(visits), "-t", "diagnosis", "--groups", "patient", "-o", str(visits.parent / "m.ramify")]
    result = CliRunner().invoke(ramify, [*arguments, "--method", "br"])
    assert result.exit_code != 0
    assert "takes no groups of rows" in str(result.exception)
