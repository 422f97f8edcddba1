"""A model of a bank's file as it is predicts next month's as well as one of data prepared by hand."""

import json

import numpy as np
import pandas as pd
import pytest

import ramify
from ramify.analysis import fit_model
from ramify.analysis.model_data import model_features
from ramify.cli.main import main
from ramify.datasets import read
from ramify.ensemble import ForestClassifier
from ramify.metrics import auprc

LABELS = ["Product: Mortgage", "Product: Savings", "Product: Card"]
FEATURES = ["Income", "Age", "Branch", "Opened.days"]


def customers(rng: np.random.Generator, first: int, n_rows: int = 400) -> pd.DataFrame:
    """Customers as the bank knows them; those of a later month joined later."""
    frame = pd.DataFrame(
        {
            "Customer ID": 700_000 + first + np.arange(n_rows),
            "Opened": pd.Timestamp("2020-01-01") + pd.to_timedelta(first + rng.integers(0, 700, n_rows), unit="D"),
            "Income": rng.normal(40_000, 12_000, n_rows).round(2).clip(5_000),
            "Age": rng.integers(18, 80, n_rows),
            "Branch": pd.Categorical(rng.choice(["Köln", "Bonn", "Trier"], n_rows)),
            "Currency": "EUR",
        }
    )
    noise = rng.normal(size=(3, n_rows))
    frame[LABELS[0]] = (frame["Income"] / 12_000 + noise[0] > 4.2).astype(int)
    frame[LABELS[1]] = (frame["Age"] / 15 + (frame["Branch"] == "Bonn") + 0.7 * noise[1] > 4).astype(int)
    frame[LABELS[2]] = (-frame["Age"] / 15 + 0.7 * noise[2] > -2.5).astype(int)
    return frame


def as_the_bank_writes_it(frame: pd.DataFrame) -> bytes:
    """Semicolons, decimal commas, dates of Germany, Latin-1."""
    written = frame.assign(
        Income=[f"{value:,.2f}".translate(str.maketrans(",.", ".,")) for value in frame["Income"]],
        Opened=frame["Opened"].dt.strftime("%d.%m.%Y"),
    )
    return written.to_csv(index=False, sep=";").encode("latin-1")


@pytest.fixture(scope="module")
def months():
    rng = np.random.default_rng(5)
    return customers(rng, 0), customers(rng, 400)


def test_next_month_is_predicted_as_well_as_with_data_prepared_by_hand(months, tmp_path):
    this, following = months
    by_hand = [
        month.assign(**{"Opened.days": (month["Opened"] - pd.Timestamp(0)).dt.days})[FEATURES] for month in months
    ]
    forest = ForestClassifier(40, max_features=1 / 3, random_state=0, n_jobs=1).fit(by_hand[0], this[LABELS])
    expected = auprc(following[LABELS].to_numpy(), forest.predict_proba(by_hand[1]), average="macro")

    (tmp_path / "march.csv").write_bytes(as_the_bank_writes_it(this))
    shuffled = following.assign(Region="West", Closed="")[["Age", "Region", *LABELS[::-1], "Closed", "Opened", "Branch",
                                                           "Currency", "Customer ID", "Income"]]  # fmt: skip
    (tmp_path / "april.csv").write_bytes(as_the_bank_writes_it(shuffled))
    data = read(tmp_path / "march.csv", "Product*", dates="days")
    assert sorted(data.feature_names) == sorted(FEATURES)
    fitted = fit_model(data, method="random-forest", n_estimators=40, n_jobs=1)
    ramify.save(fitted.model, tmp_path / "march.ramify")
    model = ramify.load(tmp_path / "march.ramify")
    later = read(tmp_path / "april.csv", roles=model.inspection_)
    assert later.ids.tolist() == following["Customer ID"].astype(str).tolist()
    assert later.label_names == tuple(LABELS)
    scores = model.predict_proba(later.to_frame()[list(model.feature_names_in_)])
    found = auprc(later.y.toarray(), scores, average="macro")
    assert expected > auprc(following[LABELS].to_numpy(), np.tile(this[LABELS].mean(), (400, 1)), average="macro") + 0.2
    assert abs(found - expected) <= 0.01

    naive = read(tmp_path / "march.csv", "Product*", roles=None)
    assert "Customer ID" in naive.feature_names


def test_one_row_is_read_as_the_model_was_told(months, tmp_path):
    """In a single row every column is constant, 01.02.2024 and 1.234 say nothing of themselves."""
    (tmp_path / "march.csv").write_bytes(as_the_bank_writes_it(months[0]))
    data = read(tmp_path / "march.csv", "Product*", dates="days")
    row = "Customer ID;Opened;Income;Age;Branch\n1;01.02.2021;1.234;33;Bonn\n"
    (tmp_path / "one.csv").write_text(row)
    one = read(tmp_path / "one.csv", roles=data.inspection)
    assert one.to_frame().iloc[0].to_dict() == {"Opened.days": 18659.0, "Income": 1234.0, "Age": 33.0, "Branch": "Bonn"}
    assert (one.target, one.ids.tolist()) == (None, ["1"])
    assert read(tmp_path / "one.csv", roles=data.inspection.to_dict()).feature_names == one.feature_names


def test_outcomes_that_are_not_known_yet_are_no_target(months, tmp_path):
    this, following = months
    (tmp_path / "march.csv").write_bytes(as_the_bank_writes_it(this))
    data = read(tmp_path / "march.csv", "Product*")
    (tmp_path / "april.csv").write_bytes(as_the_bank_writes_it(following.assign(**dict.fromkeys(LABELS, ""))))
    later = read(tmp_path / "april.csv", roles=data.inspection)
    assert later.target is None
    assert "The target is empty in 400 of 400 rows, so that nothing is measured." in later.notes
    assert model_features(later).shape == (400, 7)


def test_one_outcome_that_is_not_known_yet_is_left_out_of_the_measures(months, tmp_path, capsys):
    this, following = months
    (tmp_path / "march.csv").write_bytes(as_the_bank_writes_it(this))
    (tmp_path / "april.csv").write_bytes(as_the_bank_writes_it(following.assign(**{LABELS[0]: ""})))
    later = read(tmp_path / "april.csv", roles=read(tmp_path / "march.csv", "Product*").inspection)
    cells = np.asarray(later.y)
    assert np.isnan(cells[:, 0]).all()
    np.testing.assert_array_equal(cells[:, 1:], following[list(LABELS[1:])].to_numpy())
    model = tmp_path / "m.ramify"
    with pytest.raises(SystemExit, match="^0$"):
        main(["fit", str(tmp_path / "march.csv"), "-t", "Product*", "-o", str(model), "--trees", "10", "-q"])
    capsys.readouterr()
    with pytest.raises(SystemExit, match="^0$"):
        main(["predict", str(model), str(tmp_path / "april.csv"), "-o", str(tmp_path / "p.csv"), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["measured_on"]
    assert np.isfinite([one["model"] for one in told["measures"].values() if one["model"] is not None]).all()
