"""What the inspection makes of columns: roles, kinds, notations; the same from a file and from a frame."""

import io

import numpy as np
import pandas as pd
import pytest

import ramify
from ramify import ForestClassifier
from ramify.datasets import read, write_arff
from ramify.datasets.tables.inspection import Inspection, names_rows

N = 60
RNG = np.random.default_rng(0)
CLASSES = RNG.permutation(["a", "b"] * (N // 2)).tolist()


def inspected(cells, name="c", **options):
    """The record of one column beside a number and a target."""
    frame = pd.DataFrame({"x": RNG.normal(size=len(cells)), name: cells, "t": CLASSES[: len(cells)]})
    return ramify.inspect(frame, target="t", **options)[name]


def features(cells, name="c", **options):
    """What one column becomes, as text of a CSV file."""
    frame = pd.DataFrame({name: cells, "t": (CLASSES * 9)[: len(cells)]})
    data = read(frame, target="t", **options)
    return dict(zip(data.feature_names, data.X.T, strict=True))


def numbers(low, high, seed=1):
    return np.random.default_rng(seed).choice(np.arange(low, high), N, replace=False).tolist()


@pytest.mark.parametrize(
    ("name", "cells", "role"),
    [
        ("code", [f"c{k}" for k in range(N)], "identifier"),
        ("code", [f"c{k % 20}" for k in range(N)], "feature"),
        ("code", [f"c{max(k, 3)}" for k in range(N)], "identifier"),  # 57 of 60 rows differ: 95 %
        ("code", [f"c{max(k, 5)}" for k in range(N)], "feature"),
        ("Customer ID", numbers(1e6, 9e6), "identifier"),
        ("Kundennummer", numbers(1e6, 9e6), "identifier"),
        ("income", numbers(1e4, 9e4), "feature"),  # whole, nearly all different, and measured
        ("number of visits", numbers(0, 1000), "feature"),
        ("row", list(range(5, 5 + N)), "identifier"),  # counts on
        ("wealth", numbers(1, N + 1), "feature"),  # ranks
        ("Unnamed: 3", numbers(1, 9e6), "identifier"),
        ("id", [k + 0.5 for k in range(N)], "feature"),  # fractions are measured
        ("c", [f"row {k + 1}" for k in range(N)], "identifier"),  # a word and a count
        ("c", [f"{k + 0.5} kg" for k in range(N)], "feature"),
        ("unit", ["kg"] * N, "left out"),
        ("empty", [None] * N, "left out"),
        ("half", ["kg", None] * (N // 2), "feature"),
        ("tick", ["x", *[None] * (N - 1)], "feature"),
        ("strand", ["+", "-"] * (N // 2), "feature"),
        ("copy", ["1" if c == "a" else "0" for c in CLASSES], "left out"),
    ],
)
def test_roles(name, cells, role):
    assert inspected(cells, name).role == role


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1/1", "1/2", "2/2"] * (N // 3), "nominal"),  # genotypes: no date without a year
        (["1/86", "2/86", "3/87"] * (N // 3), "date"),
        (["1st class", "2nd class", "3rd class"] * (N // 3), "nominal"),  # no more numbers than units
        (["<65", ">=65"] * (N // 2), "nominal"),
        ([f"{'<' * (k == 4)}{k}{'+' * (k == 10)}" for k in range(4, 11)] * 9, "number"),
        ([f"{k / 10}/10" for k in range(N)], "number"),
        ([f"{7 * k % 61} out of 100" for k in range(N)], "number"),
        ([f"2023/03/{k % 28 + 1} 3:0{k % 9}:00 PM AEST" for k in range(N)], "date"),
        ([f"2023/03/{k % 28 + 1} 3:0{k % 9}:00 PM" for k in range(N)], "date"),
        ([f"{k % 28 + 1} May 2020" for k in range(N)], "date"),
    ],
)
def test_kinds(cells, kind):
    assert inspected(cells[:N]).kind == kind


def test_what_ends_every_cell_is_no_part_of_its_number():
    found = features([f"{7 * k % 61}/10" for k in range(N)], keep="c")
    assert found["c"][:3].tolist() == [0, 7, 14]


def test_hours_behind_a_time_zone_are_read():
    found = features([f"2023/03/01 {k % 12}:00:00 PM GMT+1" for k in range(1, N + 1)])
    assert found["c.hour"][:3].tolist() == [13, 14, 15]


def test_times_are_a_target_in_hours():
    data = read(pd.DataFrame({"x": range(30), "net time": [f"2:{k:02d}:30" for k in range(30)]}), target="net time")
    assert data.target == "numbers"
    assert data.y[:2].tolist() == pytest.approx([2 + 30 / 3600, 2 + 1 / 60 + 30 / 3600])


def test_sets_with_free_text_beside_the_usual_answers_are_label_sets():
    usual = ["Excel", "Excel; Python", "R; Python", "Excel; R", "R"] * (N // 5)
    cells = [f"{answer}; Other: tool {k}" if k % 4 == 0 else answer for k, answer in enumerate(usual)]
    assert read(pd.DataFrame({"x": range(N), "tools": cells}), target="tools").target == "labels"


def test_a_return_within_a_cell_ends_no_line(tmp_path):
    frame = pd.DataFrame({"text": ["one\rtwo", "three", "four"] * 10, "x": range(30), "t": CLASSES[:30]})
    frame.to_csv(tmp_path / "returns.csv", index=False)
    data = read(tmp_path / "returns.csv", target="t", roles=None)
    assert data.n_samples == 30
    assert data.categories[0] == ("four", "one two", "three")


def test_few_rows_say_nothing_of_roles():
    assert inspected(["kg"] * 5, "unit").role == "feature"


def test_of_several_identifiers_the_one_called_so_names_the_rows():
    frame = pd.DataFrame(
        {"name": [f"n{k}" for k in range(N)], "id": [f"i{k}" for k in range(N)], "x": RNG.normal(size=N)}
    )
    data = read(frame.assign(t=CLASSES), target="t")
    assert data.id_name == "id"
    assert data.left_out == {"name": "every value is unique"}
    assert read(frame.assign(t=CLASSES), target="t", identifier="name").ids.tolist() == frame["name"].tolist()
    assert read(frame.assign(t=CLASSES), target="t", identifier=None).ids is None
    assert set(read(frame.assign(t=CLASSES), target="t", keep="*").feature_names) == {"name", "id", "x"}


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1,234.50", "12.25", "7"], [1234.5, 12.25, 7]),
        (["1.234,50", "12,25", "7"], [1234.5, 12.25, 7]),
        (["1,5", "2,25", "0,5"], [1.5, 2.25, 0.5]),
        (["$1,200", "$80", "$1,000,000"], [1200, 80, 1e6]),
        (["₹ 4,50,000", "₹ 50,000", "₹ 1,23,45,000"], [450_000, 50_000, 12_345_000]),
        (["12", "-", "7.5"], [12, np.nan, 7.5]),
        (["120/80", ".", "125/85"], None),
        (["10 %", "7.5 %", "0 %"], [10, 7.5, 0]),
        (["3 kg", "4.5 kg", "12 kg"], [3, 4.5, 12]),
        (["1 234", "12 345", "7"], [1234, 12345, 7]),
        (["-3", "\u22124", "5 €"], None),
        (["14:30", "2:05", "23:59"], [14.5, 2 + 5 / 60, 23 + 59 / 60]),
        (["2:30 pm", "12:05 am", "9:00 am"], [14.5, 5 / 60, 9]),
        (["3:19.8", "2:00.0", "1:30.3"], [199.8 / 3600, 120 / 3600, 90.3 / 3600]),
        (["0:03:19.5", "10:00:00", "1:30:00"], [199.5 / 3600, 10, 1.5]),
        (["True", "FALSE", "true"], [1, 0, 1]),
    ],
)
def test_numbers_as_people_write_them(cells, expected):
    made = features(cells * 10)
    if expected is None:
        assert set(made) & {"c", "c.1"}
    else:
        np.testing.assert_allclose(made["c"][:3], expected)


def test_a_stray_word_among_numbers_is_told_and_costs_its_cell_alone():
    cells = [str(k) for k in range(1, 60)] + ["n.d."]
    found = inspected(cells)
    assert (found.role, found.kind) == ("feature", "number")
    assert "1 cells such as 'n.d.' are no numbers and count as missing" in found.why
    assert np.isnan(features(cells)["c"]).sum() == 1


def test_frequent_words_beside_numbers_are_features_of_their_own():
    cells = [str(k % 25) for k in range(50)] + ["Less than 1"] * 5 + ["FALSE?"] * 5
    made = features(cells)
    assert any("FALSE?" in name for name in made)


def test_several_units_are_a_feature_beside_the_number():
    made = features([f"{k} min" for k in range(30)] + [f"{k} seasons" for k in range(1, 31)])
    assert set(made) == {"c", "c (unit)"}


DATES = {
    "2021-03-0%d": "%Y-%m-%d",
    "%d.03.2021": "%d.%m.%Y",
    "0%d/25/2021": "%m/%d/%Y",
    "25/0%d/21": "%d/%m/%y",
    "5/1%d/18 4:01": "%m/%d/%y %H:%M",
    "March %d, 2021": "%B %d, %Y",
    "%d-Jan-16": "%d-%b-%y",
    "2021-03-0%dT10:00:00Z": None,
    "2021030%d": "%Y%m%d",
    "Sep-0%d": "%b-%y",
}


@pytest.mark.parametrize("form", DATES)
def test_dates_of_every_common_notation(form):
    cells = [form % (1 + k % 9) for k in range(N)]
    found = inspected(cells)
    assert found.kind == "date"
    made = features(cells)
    assert "c.days" in made
    if DATES[form] is not None:
        days = pd.to_datetime(pd.Series(cells), format=DATES[form])
        expected = (days.dt.normalize() - pd.Timestamp("1970-01-01")).dt.days
        np.testing.assert_array_equal(made["c.days"], expected)


@pytest.mark.parametrize("form", ["1:{k}", "{k}:1", "3:{k}.5"])
def test_ratios_and_times_alone_are_no_dates(form):
    assert inspected([form.format(k=2 + k % 40) for k in range(N)]).kind in {"several numbers", "time"}


def test_dates_become_what_varies_or_what_is_asked_for():
    cells = [f"2021-{1 + k % 12:02d}-05" for k in range(N)]
    assert set(features(cells)) == {"c.days", "c.month", "c.weekday"}
    assert set(features(cells, dates="days")) == {"c.days"}
    unclear = [f"0{1 + k % 9}/02/2021" for k in range(N)]
    assert "read as month and day" in inspected(unclear).why
    assert features(unclear, dates="dmy")["c.month"][0] == 2 if "c.month" in features(unclear, dates="dmy") else True


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([f"({k}.50)" if k % 3 else f"{k}.50" for k in range(N)], [-(k + 0.5) if k % 3 else k + 0.5 for k in range(N)]),
        ([f"({1960 + k})" for k in range(N)], [1960 + k for k in range(N)]),
        ([f"-${k}" if k % 2 else f"${k}" for k in range(N)], [-k if k % 2 else k for k in range(N)]),
        ([f"€ {k + 1}.000" for k in range(N)], [1000 * (k + 1) for k in range(N)]),
        (
            [f"{k + 1}K" if k % 2 else f"{k + 1}M" for k in range(N)],
            [(k + 1) * (1e3 if k % 2 else 1e6) for k in range(N)],
        ),
        ([f"{k} kg" if k % 2 else f"{k} g" for k in range(N)], [k * (1e3 if k % 2 else 1) for k in range(N)]),
        ([f"{k} kg" if k % 2 else f"{k} lbs" for k in range(N)], [k * (1e3 if k % 2 else 453.59237) for k in range(N)]),
        (
            [f"{k} {('day', 'days', 'week', 'weeks')[k % 4]}" for k in range(N)],
            [k * (86_400, 86_400, 604_800, 604_800)[k % 4] for k in range(N)],
        ),
    ],
)
def test_signs_thousands_and_multiples_of_units(cells, expected):
    made = features(cells, "c", roles=None)
    assert list(made) == ["c"]
    np.testing.assert_allclose(made["c"], expected)


@pytest.mark.parametrize(
    ("form", "n_parts"),
    [
        ("{a}/{b}", 2),
        ("{a}k - {b}k", 2),
        ("{a}.5, -{b}.25", 2),
        ("{a}x{b}x3", 3),
        ("{a} of {b}", 2),
        ("[{a}, {b}, 3, 4, 5, 6, 7]", 7),
    ],
)
def test_several_numbers_in_a_cell_are_a_feature_each(form, n_parts):
    cells = [form.format(a=100 + k, b=40 + k * 7 % 30) for k in range(N)]
    made = features(cells)
    assert list(made) == [f"c.{k + 1}" for k in range(n_parts)]
    np.testing.assert_allclose(made["c.1"] // 1, [100 + k for k in range(N)])
    assert np.sign(made["c.2"][0]) == (-1 if "-{" in form else 1)


@pytest.mark.parametrize("form", ["0{k}-{k}", "10.{k}.1.1", "A{k}", "INV-{k}", "0{k}B"])
def test_codes_are_no_several_numbers(form):
    assert inspected([form.format(k=100 + k // 2) for k in range(N)]).kind == "nominal"


def test_durations_are_hours():
    made = features([f"{k % 3}h {k % 60}m" if k % 3 else f"{k % 60}m" for k in range(N)])
    np.testing.assert_allclose(made["c"], [k % 3 + k % 60 / 60 for k in range(N)])


def test_times_of_logs_are_dates():
    assert inspected([f"{k % 28 + 1:02d}/Mar/2024:10:{k % 60:02d}:01 +0000" for k in range(N)]).kind == "date"


SURVEY = """Respondent,How old?,Income?,Which films?,,Happy?
,Open-Ended Response,Open-Ended Response,Alien,Heat,Response
"""


def test_a_second_line_of_names_is_no_row(tmp_path):
    rows = [
        f"{9000 + k},{20 + k * 7 % 40},{1000.5 * k},{'Alien' * (k % 2)},{'Heat' * (k % 3 == 0)},{CLASSES[k]}"
        for k in range(N)
    ]
    (tmp_path / "t.csv").write_text(SURVEY + "\n".join(rows))
    data = read(tmp_path / "t.csv")
    assert data.n_samples == N
    assert data.feature_names == ("How old?", "Income?", "Which films?: Alien", "Which films?: Heat")
    assert list(data.ids[:2]) == ["9000", "9001"]
    np.testing.assert_array_equal(data.X[:3, 0], [20, 27, 34])
    assert any("second line of names" in note for note in data.notes)
    later = read(tmp_path / "t.csv", roles=data.inspection)
    np.testing.assert_array_equal(later.X, data.X)


def test_text_of_many_values_is_nominal_and_words():
    animals, places = ["cat", "dog", "owl"], ["roof", "tree", "canal", "car"]
    cells = [f"{animals[k % 3]} stuck on {places[k % 4]} number {k}" for k in range(N)]
    found = inspected(cells)
    assert found.kind == "text"
    made = features(cells)
    assert made["c: cat"].sum() == N // 3
    assert not any(name == "c" for name in made)  # every value differs: they say nothing


def test_what_the_caller_says_goes_before():
    codes = [str(k % 7) for k in range(N)]
    assert inspected(codes, categorical="c").kind == "nominal"
    assert inspected(["kg"] * N, keep="c").role == "feature"
    assert inspected(codes, ignore="c").decision == "left out, as asked"
    with pytest.raises(ValueError, match="ignore='d' is no column of the frame"):
        inspected(codes, ignore="d")


def test_strict_refuses_what_would_be_noted():
    with pytest.raises(ValueError, match="takes nothing that is not said"):
        inspected(["kg"] * N, strict=True)


def test_wildcards_stand_for_anything_but_a_name():
    frame = pd.DataFrame([[1, 2, 3, "x"], [4, 5, 6, "y"]], columns=["a*", "ab", "a[1]", "t"])
    assert read(frame, target="t", ignore="a*").feature_names == ("ab", "a[1]")
    assert read(frame, target="t", ignore="a[*").feature_names == ("a*", "ab")


def test_near_copies_and_rescalings_of_a_number_are_left_out():
    y = RNG.normal(size=N)
    frame = pd.DataFrame({"x": RNG.normal(size=N), "euro": 1.1 * y + 3, "near": y + 1e-4 * RNG.normal(size=N), "y": y})
    assert set(read(frame, target="y").left_out) == {"euro", "near"}


@pytest.mark.parametrize("name", ["id", "ID", "Customer ID", "customerId", "patient_id", "Order No", "row number"])
def test_names_of_identifiers(name):
    assert names_rows(name)


@pytest.mark.parametrize("name", ["paid", "width", "number of rooms", "no of visits", "nation", "income", "", "42"])
def test_names_of_no_identifiers(name):
    assert not names_rows(name)


def messy():
    rng = np.random.default_rng(3)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, N), unit="D")
    return pd.DataFrame(
        {
            "id": [f"i{k}" for k in range(N)],
            "when": days,
            "size": rng.normal(size=N).round(3),
            "count": rng.integers(0, 9, N),
            "half": np.where(rng.random(N) < 0.2, np.nan, rng.normal(size=N).round(2)),
            "flag": rng.random(N) < 0.5,
            "colour": rng.choice(["red", "blue", "green"], N),
            "unit": "kg",
            "t": CLASSES,
        }
    )


def test_the_same_table_says_the_same_in_every_form(tmp_path):
    polars = pytest.importorskip("polars")
    frame = messy()
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_csv(tmp_path / "t.tsv", index=False, sep="\t")
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    forms = [frame, polars.from_pandas(frame), *(tmp_path / f"t.{end}" for end in ("csv", "tsv", "parquet", "xlsx"))]
    one, *others = (read(form, target="t") for form in forms)
    assert one.left_out.keys() == {"unit"}
    write_arff(one, tmp_path / "t.arff")
    arff = read(tmp_path / "t.arff")
    assert (arff.feature_names, arff.categories, arff.label_names) == (
        one.feature_names,
        one.categories,
        one.label_names,
    )
    np.testing.assert_array_equal(arff.X, one.X)
    np.testing.assert_array_equal(arff.y, one.y)
    assert list(arff.ids) == list(one.ids)
    forest = ForestClassifier(10, random_state=0).fit(one.to_frame(), one.y)
    for other in (*others, arff):
        np.testing.assert_array_equal(forest.predict_proba(other.to_frame()), forest.predict_proba(one.to_frame()))
        np.testing.assert_array_equal(
            ForestClassifier(10, random_state=0).fit(other.to_frame(), other.y).predict_proba(one.to_frame()),
            forest.predict_proba(one.to_frame()),
        )
    for other in others:
        assert (other.feature_names, other.categories) == (one.feature_names, one.categories)
        np.testing.assert_array_equal(other.X, one.X)
        np.testing.assert_array_equal(other.y, one.y)
        assert (other.label_names, other.left_out) == (one.label_names, one.left_out)
        assert list(other.ids) == list(one.ids)


def test_an_array_a_frame_and_a_file_of_numbers_predict_the_same(tmp_path):
    polars = pytest.importorskip("polars")
    array = np.random.default_rng(5).normal(size=(N, 3)).round(3)
    array[3, 1] = np.nan
    frame = pd.DataFrame(array, columns=["a", "b", "c"])
    frame.assign(t=CLASSES).to_csv(tmp_path / "t.csv", index=False)
    data = read(tmp_path / "t.csv", target="t")
    np.testing.assert_array_equal(data.X, array)
    forms = [array, frame, polars.from_pandas(frame), data.X, data.to_frame()]
    one, *others = (
        ForestClassifier(10, random_state=0).fit(form, np.array(CLASSES)).predict_proba(form) for form in forms
    )
    for other in others:
        np.testing.assert_array_equal(other, one)


def test_another_table_is_read_as_the_first_whatever_it_holds():
    frame = messy()
    first = read(frame, target="t")
    other = frame.sample(12, random_state=0).reset_index(drop=True).drop(columns=["t", "half"])
    other = other.assign(size=other["size"].astype(object), colour="violet", more=1)
    other.loc[0, "size"] = "unknown"
    again = read(other, roles=first.inspection.to_dict())
    assert again.n_samples == 12
    assert again.target is None
    assert again.feature_names == tuple(name for name in first.feature_names if name != "half")
    assert any("1 cells such as 'unknown' are no numbers" in note for note in again.notes)


def test_an_inspection_is_kept_and_refused_in_words():
    found = ramify.inspect(messy(), target="t")
    plain = found.to_dict()
    assert Inspection.from_dict(plain).to_dict() == plain
    assert list(found.to_frame()["name"]) == list(messy())
    for wrong in ({}, {**plain, "columns": [{"name": 1}]}, {**plain, "n_rows": "9"}, {**plain, "target": 3}):
        with pytest.raises(ValueError, match="Give (that|the inspection) of a data set or a model"):
            Inspection.from_dict(wrong)


def test_a_file_is_inspected_as_its_frame(tmp_path):
    frame = messy()
    text = io.StringIO()
    frame.to_csv(text, index=False)
    (tmp_path / "t.csv").write_text(text.getvalue())
    left, right = ramify.inspect(tmp_path / "t.csv", "t").to_frame(), ramify.inspect(frame, "t").to_frame()
    pd.testing.assert_frame_equal(left, right)
