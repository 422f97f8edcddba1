"""Write the small files of the quick starts: customers, genes and songs; made up, with a known truth."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent

TERMS = {
    "GO:0008150": ("biological_process", ()),
    "GO:0008152": ("metabolic process", ("GO:0008150",)),
    "GO:0006629": ("lipid metabolic process", ("GO:0008152",)),
    "GO:0006520": ("amino acid metabolic process", ("GO:0008152",)),
    "GO:0006259": ("DNA metabolic process", ("GO:0008152",)),
    "GO:0051179": ("localization", ("GO:0008150",)),
    "GO:0006810": ("transport", ("GO:0051179",)),
    "GO:0006811": ("ion transport", ("GO:0006810",)),
    "GO:0015031": ("protein transport", ("GO:0006810",)),
    "GO:0007049": ("cell cycle", ("GO:0008150",)),
    "GO:0000278": ("mitotic cell cycle", ("GO:0007049",)),
    "GO:0051321": ("meiotic cell cycle", ("GO:0007049",)),
    "GO:0050896": ("response to stimulus", ("GO:0008150",)),
    "GO:0006950": ("response to stress", ("GO:0050896",)),
    "GO:0006974": ("DNA damage response", ("GO:0006950",)),
    "GO:0006281": ("DNA repair", ("GO:0006259", "GO:0006974")),
}
DRIVERS = {
    "GO:0008152": ("glucose_30min",),
    "GO:0006629": ("oleate_60min", "inositol_starved"),
    "GO:0006520": ("nitrogen_starved",),
    "GO:0006259": ("hydroxyurea",),
    "GO:0051179": ("secretory_block",),
    "GO:0006811": ("salt_shock",),
    "GO:0015031": ("tunicamycin",),
    "GO:0007049": ("alpha_factor_21min",),
    "GO:0000278": ("cdc15_70min",),
    "GO:0051321": ("sporulation_5h",),
    "GO:0050896": ("heat_shock_15min",),
    "GO:0006974": ("mms_60min",),
}
PRODUCTS = {
    "Mortgage": lambda c: 0.9 * c["Income"] + 0.5 * (c["Branch"] == "Ulm") - 0.6 * np.abs(c["Age"] + 0.2),
    "Savings": lambda c: 1.1 * c["Age"] - 0.4 * c["Web logins"],
    "Depot": lambda c: 0.9 * c["Balance"] + 0.7 * c["Web logins"],
    "Insurance": lambda c: 0.8 * c["Cards"] + 0.5 * c["Age"],
}
MOODS = {
    "calm": (("tempo", -1), ("loudness", -1)),
    "happy": (("major_key", 1), ("brightness", 1)),
    "sad": (("major_key", -1), ("tempo", -1)),
    "angry": (("loudness", 1), ("roughness", 1)),
    "danceable": (("beat_strength", 1), ("tempo", 1)),
}


def write_genes(rng: np.random.Generator, n_genes: int = 400) -> None:
    """`genes.csv`, measurements and GO terms of genes, and `terms.obo`, the terms."""
    drivers = list(dict.fromkeys(name for names in DRIVERS.values() for name in names))
    names = [*drivers, *(f"control_{i + 1}" for i in range(12))]
    X = rng.normal(size=(n_genes, len(names)))
    column = {name: X[:, j] for j, name in enumerate(names)}
    has = {"GO:0008150": np.ones(n_genes, dtype=bool)}
    for term, (_, parents) in TERMS.items():
        if parents:
            push = sum((column[name] for name in DRIVERS.get(term, ())), np.zeros(n_genes))
            above = np.logical_and.reduce([has[parent] for parent in parents])
            has[term] = above & (push + 0.35 * rng.normal(size=n_genes) > (0.1 if term in DRIVERS else -0.2))
    parents_of = {parent for _, parents in TERMS.values() for parent in parents}
    with (HERE / "genes.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["gene", *names, "go"])
        for row in range(n_genes):
            held = [t for t in TERMS if has[t][row]]
            implied = {p for t in held for p in TERMS[t][1]} & parents_of
            terms = "|".join(t.replace(":", "") for t in held if t not in implied)
            writer.writerow([gene_name(row), *(f"{v:.2f}" for v in X[row]), terms])
    with (HERE / "terms.obo").open("w", encoding="utf-8") as file:
        file.write("format-version: 1.2\n")
        for term, (title, parents) in TERMS.items():
            lines = [f"id: {term}", f"name: {title}", "namespace: biological_process"]
            lines += [f"is_a: {parent} ! {TERMS[parent][0]}" for parent in parents]
            file.write("\n[Term]\n" + "\n".join(lines) + "\n")


def gene_name(row: int) -> str:
    """A name as those of yeast: chromosome, arm, place and strand."""
    return f"Y{'ABCDEFGHIJKLMNOP'[row % 16]}{'LR'[row // 16 % 2]}{row // 32 + 1:03}{'WC'[row % 2]}"


def write_customers(rng: np.random.Generator, n_customers: int = 600, n_next: int = 150) -> None:
    """`customers.csv`, a bank's table as a spreadsheet saves it in Germany, and `customers_june.csv`, the next month.

    Separated by semicolons, with decimal commas, an identifier, a date and products as yes and no. June has no products
    yet, lacks a column, has one branch more, and its customers are older.
    """
    names = ["Age", "Income", "Balance", "Cards", "Web logins", "Complaints", "Distance"]
    n_all = n_customers + n_next
    c = {name: rng.normal(size=n_all) for name in names}
    c["Branch"] = rng.choice(["Ulm", "Bonn", "Kiel"], n_all)
    c["Age"][n_customers:] += 1.0
    opened = np.datetime64("2024-05-31") - rng.integers(10, 4000, n_all)
    missing = rng.uniform(size=n_all) < 0.06
    has = {product: push(c) + 0.5 * rng.normal(size=n_all) > 0.7 for product, push in PRODUCTS.items()}
    c["Branch"][n_customers::9] = "Jena"
    comma = {
        "Age": [f"{max(18, 45 + 12 * v):.0f}" for v in c["Age"]],
        "Income": [f"{1000 * np.exp(1 + 0.4 * v):.2f}" for v in c["Income"]],
        "Balance": [f"{4000 + 3000 * v:.2f}" for v in c["Balance"]],
        "Cards": [f"{max(0, 2 + v):.0f}" for v in c["Cards"]],
        "Web logins": [f"{max(0, 9 + 5 * v):.0f}" for v in c["Web logins"]],
        "Complaints": [f"{max(0, v):.0f}" for v in c["Complaints"]],
        "Distance": [f"{abs(7 + 4 * v):.1f}" for v in c["Distance"]],
    }
    for file, rows, lacking, products in (
        ("customers.csv", range(n_customers), (), has),
        ("customers_june.csv", range(n_customers, n_all), ("Complaints",), {}),
    ):
        columns = [name for name in names if name not in lacking]
        with (HERE / file).open("w", encoding="utf-8", newline="") as output:
            writer = csv.writer(output, delimiter=";", lineterminator="\n")
            writer.writerow(["Customer ID", "Branch", "Opened", *columns, *(f"Product: {name}" for name in products)])
            for row in rows:
                cells = ["" if name == "Income" and missing[row] else comma[name][row] for name in columns]
                writer.writerow(
                    [
                        104000 + 7 * row,
                        c["Branch"][row],
                        opened[row],
                        *(cell.replace(".", ",") for cell in cells),
                        *("yes" if held[row] else "no" for held in products.values()),
                    ]
                )


def write_songs(rng: np.random.Generator, n_songs: int = 400) -> None:
    """`songs.csv`, sound and moods of songs, one of the features nominal and some cells missing."""
    names = list(dict.fromkeys(name for pairs in MOODS.values() for name, _ in pairs))
    names += [f"mfcc_{i + 1}" for i in range(8)]
    X = rng.normal(size=(n_songs, len(names)))
    column = {name: X[:, j] for j, name in enumerate(names)}
    genres = np.array(["classical", "folk", "metal", "pop"])
    genre = rng.integers(0, 4, n_songs)
    column["roughness"] += 1.2 * (genre == 2)
    moods = {
        mood: sum(sign * column[name] for name, sign in pairs) + 0.5 * rng.normal(size=n_songs) > 0.8
        for mood, pairs in MOODS.items()
    }
    missing = rng.uniform(size=X.shape) < 0.02
    with (HERE / "songs.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*names, "genre", *(f"mood_{mood}" for mood in moods)])
        for row in range(n_songs):
            cells = ["" if missing[row, j] else f"{X[row, j]:.2f}" for j in range(len(names))]
            writer.writerow([*cells, genres[genre[row]], *(int(values[row]) for values in moods.values())])


if __name__ == "__main__":
    generator = np.random.default_rng(7)
    write_genes(generator)
    write_songs(generator)
    write_customers(generator)
