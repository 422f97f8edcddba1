"""How often does `ramify rank` claim anything where the target is in a random order? The command line, at its defaults.

A set is written with its targets in another order, `ramify rank FILE --json` runs on it, and its claims are counted,
of features that predict beyond the others (given="others") and of associations (given="nothing").

    python benchmarks/bench_shuffles.py runs.jsonl [--runs 20] [--first-seed 0]
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

DATA = Path(os.environ.get("RAMIFY_DATA", "../shared/data"))
SETS = {
    "emotions": (DATA / "multilabel/emotions.arff.gz", 6),
    "eisen_FUN": (DATA / "hmc/fun/eisen_FUN.train.arff.gz", 1),
    "vehicle": (DATA / "labelranking/kebi/vehicle.csv", 4),
}
"""The file, and how many of the last fields of a row are its target."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    arguments = parser.parse_args()
    for name in SETS:
        for seed in range(arguments.first_seed, arguments.first_seed + arguments.runs):
            with arguments.file.open("a") as file:
                file.write(json.dumps(claims_on_shuffle(name, seed)) + "\n")
    records = [json.loads(line) for line in arguments.file.read_text().splitlines()]
    for name in SETS:
        own = [record for record in records if record["set"] == name]
        counts = {kind: sum(record[kind] > 0 for record in own) for kind in ("discoveries", "associations")}
        either = sum(record["discoveries"] + record["associations"] > 0 for record in own)
        refused = sum(bool(record["no_claims"]) for record in own)
        print(f"{name}: {len(own)} shuffles, with a claim {either} {counts}; refused {refused}")


def claims_on_shuffle(name: str, seed: int) -> dict[str, object]:
    """Numbers of claims of both kinds."""
    path, n_last = SETS[name]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / path.name.removesuffix(".gz")
        file.write_text(shuffled(path, n_last, np.random.default_rng(seed)), encoding="utf-8")
        labels = path.parent / f"{name}.xml"
        if labels.exists():
            shutil.copy(labels, folder)
        command = [sys.executable, "-m", "ramify", "rank", str(file), "--json"]
        output = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    ranked = json.loads(output)
    counts = {kind: len(ranked.get(kind, {}).get("claims", [])) for kind in ("discoveries", "associations")}
    return {"set": name, "seed": seed, **counts, "no_claims": ranked.get("no_claims", "")}


def shuffled(path: Path, n_last: int, random: np.random.Generator) -> str:
    """The text of a table with the last fields of its rows in another order of the rows."""
    content = path.read_bytes()
    lines = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8").splitlines()
    is_csv = ".csv" in path.name
    start = 1 if is_csv else 1 + next(k for k, line in enumerate(lines) if line.lower().startswith("@data"))
    rows = [line.rsplit(",", n_last) for line in lines[start:] if line.strip()]
    order = random.permutation(len(rows)).tolist()
    moved = [",".join([row[0], *rows[k][1:]]) for row, k in zip(rows, order, strict=True)]
    return "\n".join([*lines[:start], *moved]) + "\n"


if __name__ == "__main__":
    main()
