"""Small ordinary files, invented: bank, hospital, survey, shop and biology, each with a trap; and the same next month.

`FILES` says how each is called, what its trap is, and what a user would type. `write(name, folder, month)` makes one.
"""

import gzip
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

N_ROWS = 60


@dataclass(frozen=True)
class Ordinary:
    """A file: what makes it, how it is written, the trap in it, and the options of the commands that read it."""

    frame: Callable[[np.random.Generator, int], pd.DataFrame]
    trap: str
    options: tuple[str, ...] = ()
    write: Callable[[pd.DataFrame], bytes] = field(default=lambda frame: frame.to_csv(index=False).encode())


def write(name: str, folder: Path, month: int) -> Path:
    """The file of a month: 0 is learnt from; 1 comes later, with its columns in another order and one more."""
    made = FILES[name]
    rng = np.random.default_rng([month, *name.encode()])
    frame = made.frame(rng, N_ROWS * month)
    if month and not name.startswith("shop_sparse"):
        frame = frame[[*sorted(frame.columns)]].assign(**{"added later": "x"})
    path = folder / f"month{month}" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(made.write(frame))
    return path


def delimited(separator: str, encoding: str = "utf-8", **options) -> Callable[[pd.DataFrame], bytes]:
    return lambda frame: frame.to_csv(index=False, sep=separator, **options).encode(encoding)


def people(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Income and age, which most targets below depend on."""
    return rng.normal(40_000, 12_000, N_ROWS).round(2).clip(5_000), rng.integers(18, 80, N_ROWS)


def yes(rng: np.random.Generator, score: np.ndarray, noise: float = 0.3) -> np.ndarray:
    """Whether a score is above its median, with noise."""
    score = (score - score.mean()) / score.std()
    return (score + noise * rng.normal(size=len(score)) > 0).astype(int)


def days(rng: np.random.Generator, form: str, start: str = "2021-01-01") -> list[str]:
    return [f"{day:{form}}" for day in pd.Timestamp(start) + pd.to_timedelta(rng.integers(0, 900, N_ROWS), unit="D")]


def continental(values: np.ndarray) -> list[str]:
    """1234.5 as 1.234,50."""
    return [f"{value:,.2f}".translate(str.maketrans(",.", ".,")) for value in values]


def bank(rng: np.random.Generator, first: int) -> pd.DataFrame:
    income, age = people(rng)
    return pd.DataFrame(
        {
            "Customer ID": 100_234 + 7 * (first + np.arange(N_ROWS)),
            "Opened": days(rng, "%Y-%m-%d"),
            "Currency": "EUR",
            "Income": income,
            "Age": age,
            "Branch": rng.choice(["North", "South", "West"], N_ROWS),
            "Product: Mortgage": yes(rng, income),
            "Product: Savings": yes(rng, age),
            "Product: Card": yes(rng, -age),
        }
    )


def bank_german(rng: np.random.Generator, first: int) -> pd.DataFrame:
    income, age = people(rng)
    return pd.DataFrame(
        {
            "Kontonummer": [f"DE{first + k:06d}" for k in range(N_ROWS)],
            "Geburtstag": days(rng, "%d.%m.%Y", "1970-01-01"),
            "Einkommen": continental(income),
            "Stadt": rng.choice(["Köln", "München", "Bonn"], N_ROWS),
            "Alter": age,
            "Kredit": np.where(yes(rng, income), "ja", "nein"),
        }
    )


def bank_leak(rng: np.random.Generator, first: int) -> pd.DataFrame:
    income, age = people(rng)
    churned = yes(rng, age)
    return pd.DataFrame(
        {
            "income": income,
            "age": age,
            "closing code": np.where(churned, 9, 0),
            "churned": np.where(churned, "yes", "no"),
        }
    )


def bank_amounts(rng: np.random.Generator, first: int) -> pd.DataFrame:
    income, _ = people(rng)
    return pd.DataFrame(
        {
            "AccountNo": 5_000_000 + rng.permutation(900_000)[:N_ROWS],
            "Balance": [f"{value:,.2f}" for value in income],
            "Limit": [f"${1000 * int(value // 900):,}" for value in income],
            "Rate": [f"{value:.1f}%" for value in rng.normal(3, 1, N_ROWS)],
            "Risk": np.where(yes(rng, -income), "high", "low"),
        }
    )


def bank_unclear(rng: np.random.Generator, first: int) -> pd.DataFrame:
    _, age = people(rng)
    return pd.DataFrame(
        {
            "Balance": [f"{rng.integers(1, 99)},{rng.integers(100, 999)}" for _ in range(N_ROWS)],
            "Age": age,
            "Risk": np.where(yes(rng, age), "high", "low"),
        }
    )


def bank_codes(rng: np.random.Generator, first: int) -> pd.DataFrame:
    income, _ = people(rng)
    postcode = rng.choice([1010, 1020, 1030, 8010], N_ROWS)
    return pd.DataFrame(
        {
            "Branch code": [f"{code:03d}" for code in rng.choice([7, 12, 30], N_ROWS)],
            "Postcode": postcode,
            "Income": income,
            "Card": np.where(yes(rng, np.isin(postcode, (1010, 8010)).astype(float)), "gold", "plain"),
        }
    )


def hospital_visits(rng: np.random.Generator, first: int) -> pd.DataFrame:
    _, age = people(rng)
    month = rng.integers(1, 13, N_ROWS)
    hour = rng.integers(0, 24, N_ROWS)
    return pd.DataFrame(
        {
            "patient_id": [f"P-{first + k:05d}" for k in range(N_ROWS)],
            "admitted": [f"2023-{m:02d}-{d:02d} {h:02d}:15" for m, d, h in zip(month, 1 + hour, hour, strict=True)],
            "age": age,
            "pulse": rng.normal(75, 10, N_ROWS).round(),
            "diagnosis": np.where(yes(rng, np.abs(month - 6.5)), "influenza", "injury"),
        }
    )


def hospital_us(rng: np.random.Generator, first: int) -> pd.DataFrame:
    _, age = people(rng)
    stay = rng.integers(0, 300, N_ROWS)
    return pd.DataFrame(
        {
            "discharged": [f"{1 + s // 30:02d}/{1 + s % 12:02d}/2023" for s in stay],
            "age": age,
            "readmitted": np.where(yes(rng, stay.astype(float)), "yes", "no"),
        }
    )


def hospital_labels(rng: np.random.Generator, first: int) -> pd.DataFrame:
    income, age = people(rng)
    words = np.array(["no", "yes"])
    return pd.DataFrame(
        {
            "mrn": first + np.arange(N_ROWS),
            "age": age,
            "bmi": rng.normal(26, 4, N_ROWS).round(1),
            "has diabetes": words[yes(rng, age)],
            "has asthma": words[yes(rng, -age)],
            "has gout": words[yes(rng, income)],
        }
    )


def hospital_empty_label(rng: np.random.Generator, first: int) -> pd.DataFrame:
    frame = bank(rng, first).astype({"Product: Card": object})
    frame.loc[7, "Product: Card"] = None
    return frame


def hospital_lab(rng: np.random.Generator, first: int) -> pd.DataFrame:
    income, _ = people(rng)
    return pd.DataFrame(
        {
            "Sample ID": 700 + first + np.arange(N_ROWS),
            "Taken": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, N_ROWS), unit="D"),
            "Sodium": rng.normal(140, 3, N_ROWS).round(1),
            "Glucose": income / 8000,
            "Ward": rng.choice(["A", "B"], N_ROWS),
            "Result": np.where(yes(rng, income), "abnormal", "normal"),
        }
    )


def as_excel(frame: pd.DataFrame) -> bytes:
    content = io.BytesIO()
    with pd.ExcelWriter(content) as book:
        frame.to_excel(book, index=False, sheet_name="Results", startrow=2)
        pd.DataFrame().to_excel(book, index=False, sheet_name="Empty")
    return content.getvalue()


def as_excel_of_two(frame: pd.DataFrame) -> bytes:
    content = io.BytesIO()
    with pd.ExcelWriter(content) as book:
        frame.to_excel(book, index=False, sheet_name="2023")
        frame.to_excel(book, index=False, sheet_name="2024")
    return content.getvalue()


def hospital_units(rng: np.random.Generator, first: int) -> pd.DataFrame:
    _, age = people(rng)
    crp = [f"{value:.1f}" if value > 0.5 else "<0.5" for value in rng.exponential(4, N_ROWS)]
    return pd.DataFrame({"age": age, "crp": crp, "outcome": np.where(yes(rng, age), "stayed", "home")})


def hospital_precise(rng: np.random.Generator, first: int) -> pd.DataFrame:
    """Whole doubles: 17 digits and exponents."""
    crp, dose = rng.exponential(4, N_ROWS), rng.exponential(1e-6, N_ROWS)
    return pd.DataFrame({"crp": crp, "dose": dose, "outcome": np.where(yes(rng, crp), "stayed", "home")})


def hospital_slip(rng: np.random.Generator, first: int) -> pd.DataFrame:
    frame = hospital_precise(rng, first)
    frame["crp"] = [f"{value:.6f}".replace(".", ",") for value in frame["crp"]]
    frame.loc[8, "crp"] = "k. A."
    return frame


def hospital_nines(rng: np.random.Generator, first: int) -> pd.DataFrame:
    frame = hospital_precise(rng, first).drop(columns="dose").assign(age=people(rng)[1]).round(2)
    frame.loc[[4, 9, 33], "crp"] = -999
    return frame[["age", "crp", "outcome"]]


def survey(rng: np.random.Generator, first: int) -> pd.DataFrame:
    income, age = people(rng)
    mood = np.clip(np.round(3 + (age - 49) / 15 + 0.5 * rng.normal(size=N_ROWS)), 1, 5).astype(int)
    return pd.DataFrame(
        {"respondent": [f"r{first + k}" for k in range(N_ROWS)], "age": age, "income": income, "satisfaction": mood}
    )


def survey_channels(rng: np.random.Generator, first: int) -> pd.DataFrame:
    income, age = people(rng)
    chosen = zip(yes(rng, -age), yes(rng, age), yes(rng, income), strict=True)
    names = ("web", "paper", "phone")
    used = ["|".join(name for name, is_used in zip(names, row, strict=True) if is_used) for row in chosen]
    return pd.DataFrame({"age": age, "income": income, "channels": used})


def survey_order(rng: np.random.Generator, first: int) -> pd.DataFrame:
    _, age = people(rng)
    orders = ["tea>coffee>water" if older else "water>coffee>tea" for older in yes(rng, age)]
    return pd.DataFrame({"No": first + 1 + np.arange(N_ROWS), "age": age, "favourite": orders})


def survey_comment(rng: np.random.Generator, first: int) -> pd.DataFrame:
    words = np.array(["good", "slow", "friendly", "late", "cheap", "far", "clean", "loud"])
    said = [" ".join(rng.choice(words, 6)) + f" {first + k}" for k in range(N_ROWS)]
    return survey(rng, first).assign(comment=said)


def survey_missing(rng: np.random.Generator, first: int) -> pd.DataFrame:
    frame = survey(rng, first).astype({"income": object})
    frame.loc[3, "income"], frame.loc[11, "income"], frame.loc[20, "income"] = "n/a", "N/A", ""
    return frame.drop(columns="respondent").assign(satisfied=lambda f: np.where(f.pop("satisfaction") > 3, "y", "n"))


def shop_orders(rng: np.random.Generator, first: int) -> pd.DataFrame:
    income, age = people(rng)
    return pd.DataFrame(
        {
            "Order No": 88_000 + first + np.arange(N_ROWS),
            "Number of items": rng.permutation(10 * N_ROWS)[:N_ROWS],
            "Total": income / 100,
            "returned": yes(rng, income).astype(bool),
            "reviewed": yes(rng, age).astype(bool),
        }
    )


def shop_articles(rng: np.random.Generator, first: int) -> pd.DataFrame:
    weight = rng.exponential(2, N_ROWS).round(3)
    price = rng.exponential(20, N_ROWS).round(2)
    heavy = weight > 1.4
    shelf = np.where(heavy, "food/drinks", np.where(price > 14, "home/kitchen|home/gifts", "food/sweets"))
    return pd.DataFrame({"ean": [f"0{4_000_000 + first + k}" for k in range(N_ROWS)], "weight": weight, "price": price,
                         "shelf": shelf})  # fmt: skip


def shop_sparse(rng: np.random.Generator, first: int) -> pd.DataFrame:
    rows = []
    for _ in range(N_ROWS):
        words = np.sort(rng.choice(30, 6, replace=False))
        labels = ",".join(str(label) for label in range(3) if label in words)
        rows.append(f"{labels} " + " ".join(f"{word}:{rng.random():.3f}" for word in words))
    return pd.DataFrame({f"{N_ROWS} 30 3": rows})


def shop_clicks(rng: np.random.Generator, first: int) -> pd.DataFrame:
    income, _ = people(rng)
    return pd.DataFrame(
        {
            "session": [f"{first + k:08x}" for k in range(N_ROWS)],
            "at": pd.Timestamp("2024-03-01 08:00") + pd.to_timedelta(rng.integers(0, 90_000, N_ROWS), unit="s"),
            "seconds": income / 1000,
            "device": pd.Categorical(rng.choice(["phone", "laptop"], N_ROWS)),
            "bought": yes(rng, income).astype(bool),
        }
    )


def as_parquet(frame: pd.DataFrame) -> bytes:
    content = io.BytesIO()
    frame.to_parquet(content)
    return content.getvalue()


def shop_deliveries(rng: np.random.Generator, first: int) -> pd.DataFrame:
    income, _ = people(rng)
    return pd.DataFrame(
        {"shipped": days(rng, "%Y%m%d"), "km": income / 500, "late": np.where(yes(rng, income), "late", "in time")}
    )


def shop_prices(rng: np.random.Generator, first: int) -> pd.DataFrame:
    size = rng.integers(20, 200, N_ROWS)
    price = [f"{rng.integers(1, 9)}.{rng.integers(100, 999)}" for _ in range(N_ROWS)]
    return pd.DataFrame({"size": size, "rooms": rng.integers(1, 6, N_ROWS), "price": price})


def biology_genes(rng: np.random.Generator, first: int) -> pd.DataFrame:
    heat, cold = rng.normal(size=(2, N_ROWS)).round(3)
    terms = np.where(yes(rng, heat), np.where(yes(rng, cold), "stress/heat|stress/cold", "stress/heat"), "growth")
    return pd.DataFrame({"orf": [f"YAL{first + k:03d}C" for k in range(N_ROWS)], "heat": heat, "cold": cold,
                         "function": terms})  # fmt: skip


def biology_counts(rng: np.random.Generator, first: int) -> pd.DataFrame:
    reads = rng.integers(1_000, 900_000, (N_ROWS, 3))
    return pd.DataFrame(
        {
            "sample": [f"S{first + k}" for k in range(N_ROWS)],
            "batch": 3,
            "geneA": reads[:, 0],
            "geneB": reads[:, 1],
            "geneC": reads[:, 2],
            "tissue": np.where(yes(rng, reads[:, 0].astype(float)), "leaf", "root"),
        }
    )


def biology_plots(rng: np.random.Generator, first: int) -> pd.DataFrame:
    rain = rng.normal(600, 90, N_ROWS).round(1)
    return pd.DataFrame(
        {
            "plot": first + 1 + np.arange(N_ROWS),
            "rain": continental(rain),
            "soil": rng.choice(["clay", "sand"], N_ROWS),
            "yield": continental(rain / 100 + 0.2 * rng.normal(size=N_ROWS)),
        }
    )


def messy(change: Callable[[pd.DataFrame, np.random.Generator], None]) -> Callable:
    """A shop's customers, with one thing wrong."""

    def frame(rng: np.random.Generator, first: int) -> pd.DataFrame:
        income, age = people(rng)
        churn = np.where(yes(rng, age.astype(float)), "yes", "no")
        made = {
            "customer": [f"{first + k:05d}" for k in range(N_ROWS)],
            "age": age,
            "income": income.round().astype(int),
        }
        table = pd.DataFrame({**made, "town": rng.choice(["Ulm", "Bonn", "Kiel"], N_ROWS), "churn": churn})
        change(table, rng)
        return table

    return frame


def with_unknown(table: pd.DataFrame, _: np.random.Generator) -> None:
    table["income"] = ["unknown" if k == 7 else str(value) for k, value in enumerate(table["income"])]


def with_two_dates(table: pd.DataFrame, rng: np.random.Generator) -> None:
    pairs = zip(days(rng, "%Y-%m-%d"), days(rng, "%d/%m/%Y"), strict=True)
    table.insert(3, "since", [pair[k % 2] for k, pair in enumerate(pairs)])


def with_cases(table: pd.DataFrame, _: np.random.Generator) -> None:
    table["churn"] = [value.upper() if k % 4 == 0 else f"{value} " for k, value in enumerate(table["churn"])]


def with_total(table: pd.DataFrame, _: np.random.Generator) -> None:
    table.loc[N_ROWS - 1, ["customer", "churn"]] = ["Total", "30"]
    table.loc[N_ROWS - 1, ["age", "income"]] = [int(table[name][:-1].sum()) for name in ("age", "income")]


def with_tags(table: pd.DataFrame, rng: np.random.Generator) -> None:
    table["churn"] = ["; ".join(rng.permutation(["red", "green", "blue"])[: rng.integers(0, 3)]) for _ in range(N_ROWS)]


def with_units(table: pd.DataFrame, rng: np.random.Generator) -> None:
    table["income"] = [f"{value / 1000:.2f}k" for value in table["income"]]
    table.insert(3, "weight", [f"{value} kg" for value in rng.integers(50, 90, N_ROWS)])


def with_one_class(table: pd.DataFrame, _: np.random.Generator) -> None:
    table["churn"] = "no"


def with_repeated_ids(table: pd.DataFrame, _: np.random.Generator) -> None:
    table["customer"] = [f"{int(value) // 2:05d}" for value in table["customer"]]
    table.columns = ["customer id", *table.columns[1:]]


def twice_named(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False).replace("income", "age", 1).encode()


def below_a_title(frame: pd.DataFrame) -> bytes:
    return b"Customers of March\n\n" + frame.to_csv(index=False).encode()


def below_merged_cells(frame: pd.DataFrame) -> bytes:
    return b"Customer,,Money,,Result" + b"," * (frame.shape[1] - 5) + b"\n" + frame.to_csv(index=False).encode()


def as_excel_named_csv(frame: pd.DataFrame) -> bytes:
    content = io.BytesIO()
    frame.to_excel(content, index=False)
    return content.getvalue()


PRODUCTS = ("--target", "Product*")
CHURN = ("--target", "churn")
FILES = {
    "bank_customers.csv": Ordinary(bank, "an identifier, dates and a constant would be features", PRODUCTS),
    "bank_dates.csv": Ordinary(bank, "dates are wanted as numbers", (*PRODUCTS, "--dates", "days")),
    "bank_one_product.csv": Ordinary(
        bank, "one column of 0 and 1 looks like a number", ("--target", "Product: Mortgage", "--ignore", "Product*")
    ),
    "bank_german.csv": Ordinary(
        bank_german, "semicolons, decimal commas, Latin-1 and dates of Germany", (), delimited(";", "latin-1")
    ),
    "bank_leak.csv": Ordinary(bank_leak, "a code says the same as the target"),
    "bank_leak_kept.csv": Ordinary(bank_leak, "the copy is wanted all the same", ("--keep", "closing code")),
    "bank_amounts.csv": Ordinary(bank_amounts, "thousands, dollars and per cent look like text"),
    "bank_unclear.csv": Ordinary(bank_unclear, "1,234 may be either"),
    "bank_unclear_said.csv": Ordinary(bank_unclear, "1,234 is said to be a fraction", ("--decimal", ",")),
    "bank_codes.csv": Ordinary(bank_codes, "codes are no amounts", ("--nominal", "Postcode")),
    "hospital_visits.csv": Ordinary(hospital_visits, "times matter, by their month", ("--dates", "parts")),
    "hospital_us.csv": Ordinary(hospital_us, "03/04/2023 may be either", ("--dates", "days")),
    "hospital_us_said.csv": Ordinary(hospital_us, "the month is first", ("--dates", "days", "--dates", "mdy")),
    "hospital_labels.csv": Ordinary(hospital_labels, "labels are yes and no", ("--target", "has *")),
    "hospital_empty_label.csv": Ordinary(hospital_empty_label, "one label cell is empty", PRODUCTS),
    "hospital_lab.xlsx": Ordinary(hospital_lab, "an Excel sheet below two empty rows", (), as_excel),
    "hospital_two_sheets.xlsx": Ordinary(hospital_lab, "two sheets hold tables", (), as_excel_of_two),
    "hospital_units.csv": Ordinary(hospital_units, "'<0.5' stands among numbers"),
    "hospital_precise.csv": Ordinary(
        hospital_precise,
        "all digits of doubles, with decimal commas and exponents",
        (),
        delimited(";", decimal=","),
    ),
    "hospital_slip.csv": Ordinary(hospital_slip, "'k. A.' stands among decimal commas", (), delimited(";")),
    "hospital_nines.csv": Ordinary(hospital_nines, "-999 stands where nothing is known"),
    "survey_scale.csv": Ordinary(survey, "a scale of 1 to 5 is taken as a number, which is told"),
    "survey_classes.csv": Ordinary(survey, "a scale of 1 to 5 is wanted as classes", ("--kind", "classes")),
    "survey_channels.tsv": Ordinary(survey_channels, "several answers in a cell, or none", (), delimited("\t")),
    "survey_utf16.csv": Ordinary(survey, "UTF-16, as spreadsheets save it", (), delimited(";", "utf-16")),
    "survey_order.csv": Ordinary(survey_order, "answers are orders, rows are numbered"),
    "survey_comment.csv": Ordinary(survey_comment, "the last column is free text"),
    "survey_missing.csv": Ordinary(survey_missing, "n/a and N/A in numbers"),
    "shop_orders.csv.gz": Ordinary(
        shop_orders,
        "'Number of items' measures, 'Order No' does not; true and false",
        ("--target", "re*"),
        lambda frame: gzip.compress(frame.to_csv(index=False).encode(), mtime=0),
    ),
    "shop_articles.txt": Ordinary(
        shop_articles, "bars separate cells and labels, paths are a hierarchy", (), delimited("|", quoting=1)
    ),
    "shop_sparse.txt": Ordinary(shop_sparse, "sparse rows behind a line of sizes", (), delimited(";", quoting=3)),
    "shop_clicks.parquet": Ordinary(shop_clicks, "timestamps and a boolean target", ("--dates", "parts"), as_parquet),
    "shop_deliveries.csv": Ordinary(shop_deliveries, "20240131 is a date, not a number"),
    "shop_prices.csv": Ordinary(shop_prices, "1.234 in a file with semicolons may be either", (), delimited(";")),
    "biology_genes.csv": Ordinary(
        biology_genes, "a byte-order mark before the first name", (), delimited(",", "utf-8-sig")
    ),
    "biology_counts.csv": Ordinary(biology_counts, "counts differ in every row and are measured"),
    "biology_plots.csv": Ordinary(
        biology_plots, "the target has decimal commas", ("--target", "yield"), delimited(";")
    ),
    "messy_unknown.csv": Ordinary(messy(with_unknown), "'unknown' among numbers that differ in every row", CHURN),
    "messy_dates.csv": Ordinary(messy(with_two_dates), "dates in two notations", CHURN),
    "messy_dates_wanted.csv": Ordinary(
        messy(with_two_dates), "and numbers wanted of them", (*CHURN, "--dates", "days")
    ),
    "messy_cases.csv": Ordinary(messy(with_cases), "YES and 'yes ' are one answer", CHURN),
    "messy_total.csv": Ordinary(messy(with_total), "the last row sums up the others", CHURN),
    "messy_tags.csv": Ordinary(messy(with_tags), "semicolons between labels, and none at all", CHURN),
    "messy_units.csv": Ordinary(messy(with_units), "k and kg behind numbers", CHURN),
    "messy_one_class.csv": Ordinary(messy(with_one_class), "all rows have one class", CHURN),
    "messy_ids.csv": Ordinary(messy(with_repeated_ids), "every identifier occurs twice", CHURN),
    "messy_names.csv": Ordinary(messy(lambda *_: None), "two columns have one name", CHURN, twice_named),
    "messy_title.csv": Ordinary(messy(lambda *_: None), "a title above the table", CHURN, below_a_title),
    "messy_merged.csv": Ordinary(messy(lambda *_: None), "merged cells above the names", (), below_merged_cells),
    "messy_excel.csv": Ordinary(messy(lambda *_: None), "an Excel file called .csv", CHURN, as_excel_named_csv),
}
