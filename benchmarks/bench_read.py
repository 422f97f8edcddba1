"""Reading a very wide ARFF file and a CSV of a gigabyte: CPU seconds and peak memory beside pandas.read_csv.

    python benchmarks/bench_read.py [--data FOLDER] [--repeats 3] [--megabytes 1000] > docs/benchmarks/bench_read.txt

The file is struc_FUN.train (67 MB, 19,629 columns, 1,665 rows), or a generated one of that shape where the data folder
is absent. Every reading is a process of its own; shown is the least CPU time (user + system, imports not counted) and
the largest resident set of the process, imports counted. pandas gets the data rows alone, without header, so it has
less to do: no declarations, no labels, no hash. The aim is a ratio of at most 1 and a peak under 1 GiB.

The CSV is a bank's table with 12 measured columns, 4 counts, 2 of text, an identifier and a class. `ramify.read` finds
the separator and the columns' roles, keeps the identifiers as text, hashes the file and gives a matrix and a target.
pandas' default takes a neighbour of the nearest double at times; "exact" is `float_precision="round_trip"`, which, like
Ramify, does not. The aim is 1.5 times pandas' default.

Below that, what a hierarchy of 45,000 nodes and 75,000 edges (the size of the Gene Ontology, generated) costs in one
process: building it, depths, weights and all ancestors, and closing 2,000 label sets of ten labels and taking the most
specific ones and the violations of them. The aim is under 2 seconds.
"""

import argparse
import gzip
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from ramify import Hierarchy

CHILD = """
import json, resource, sys, time
from functools import partial
how, file = sys.argv[1:]
if how != "ramify":
    import pandas
if how == "ramify" and file.endswith(".csv"):
    import ramify
    read = partial(ramify.read, target="product")
elif how == "ramify":
    from ramify.datasets.readers.arff import read_arff as read
elif how == "pandas, exact":
    read = partial(pandas.read_csv, float_precision="round_trip")
else:
    header = None if how == "pandas, one pass" or "struc" in file else "infer"
    read = partial(pandas.read_csv, header=header, low_memory=how != "pandas, one pass")
start = time.process_time()
data = read(file)
seconds = time.process_time() - start
print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("RAMIFY_DATA", "../shared/data"))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--megabytes", type=int, default=1000, help="size of the CSV file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        arff, rows, compressed = files(Path(arguments.data), Path(folder))
        measured = {
            ("ramify", "plain"): least("ramify", arff, arguments.repeats),
            ("ramify", "gzip"): least("ramify", compressed, arguments.repeats),
            ("pandas", "plain"): least("pandas", rows, arguments.repeats),
            ("pandas, one pass", "plain"): least("pandas, one pass", rows, arguments.repeats),
        }
        write_table(measured)
        bank = Path(folder) / "bank.csv"
        write_bank(bank, arguments.megabytes)
        print(f"\na CSV file of {bank.stat().st_size / 1e6:.0f} MB")
        readers = ("ramify", "pandas", "pandas, exact")
        write_table({(how, "plain"): least(how, bank, arguments.repeats) for how in readers})
    measure_hierarchy()


def write_table(measured: dict[tuple[str, str], tuple[float, float]]) -> None:
    """Lines of CPU seconds, their ratio to pandas' fastest, and peak memory."""
    fastest = min(seconds for (how, _), (seconds, _) in measured.items() if how != "ramify")
    print(f"{'reader':<18} {'file':<6} {'CPU s':>7} {'ratio':>7} {'peak MiB':>9}")
    for (how, form), (seconds, peak) in measured.items():
        print(f"{how:<18} {form:<6} {seconds:7.2f} {seconds / fastest:7.2f} {peak:9.0f}")


def write_bank(file: Path, megabytes: int, n_rows: int = 100_000) -> None:
    """A table of customers, as many blocks of rows as it takes."""
    random = np.random.default_rng(0)
    with file.open("w", encoding="utf-8") as out:
        for block in itertools.count():
            columns = {"customer": np.arange(block * n_rows, (block + 1) * n_rows)}
            columns |= {f"amount_{k}": random.normal(100, 30, n_rows).round(4) for k in range(12)}
            columns |= {f"count_{k}": random.integers(50, size=n_rows) for k in range(4)}
            columns["region"] = random.choice(["north", "south", "east", "west"], n_rows)
            columns["branch"] = random.choice([f"branch {k}" for k in range(40)], n_rows)
            columns["product"] = random.choice(["account", "card", "loan"], n_rows)
            pd.DataFrame(columns).to_csv(out, index=False, header=block == 0)
            if out.tell() > megabytes * 1e6:
                return


def measure_hierarchy(n_nodes: int = 45_000, n_edges: int = 75_000) -> None:
    random = np.random.default_rng(0)
    children = np.concatenate([np.arange(1, n_nodes), random.integers(1, n_nodes, n_edges - n_nodes + 1)])
    # Parents lie among the first third, as inner terms do; most terms are leaves.
    parents = (random.random(n_edges) ** 2 * np.minimum(children, n_nodes // 3)).astype(int)
    edges = [(f"t{parent}", f"t{child}") for parent, child in zip(parents, children, strict=True)]
    rows = np.repeat(np.arange(2000), 10)
    cells = (np.ones(len(rows)), (rows, random.integers(n_nodes, size=len(rows))))
    Y = sparse.csr_array(sparse.csr_array(cells, shape=(2000, n_nodes)) > 0)
    started = time.process_time()
    hierarchy = Hierarchy.from_edges(edges)
    properties = hierarchy.depth.max(), hierarchy.weights.min(), hierarchy.ancestor_matrix.nnz
    built = time.process_time()
    closed = hierarchy.close(Y)
    hierarchy.most_specific(closed)
    n_broken = len(hierarchy.violations(Y))
    used = time.process_time()
    n_ancestors = properties[2] / n_nodes
    print(f"\nhierarchy of {n_nodes} nodes, {len(hierarchy.edges)} edges, {n_ancestors:.1f} ancestors per node")
    print(f"  built with depths, weights and ancestors   {built - started:.2f} CPU s")
    print(f"  2,000 label sets closed, reduced, checked  {used - built:.2f} CPU s ({n_broken} cells break it)")


def files(data: Path, folder: Path) -> tuple[Path, Path, Path]:
    """The ARFF file, its data rows alone, and the compressed ARFF file."""
    arff, rows, compressed = folder / "struc.arff", folder / "struc.csv", folder / "struc.arff.gz"
    original = data / "hmc" / "fun" / "struc_FUN.train.arff.gz"
    if original.exists():
        compressed = original
        arff.write_bytes(gzip.decompress(original.read_bytes()))
    else:
        print(f"There is no struc_FUN.train in {data}; a generated file of its shape is taken.")
        arff.write_bytes(generated())
        compressed.write_bytes(gzip.compress(arff.read_bytes(), 6))
    content = arff.read_bytes()
    start = content.upper().index(b"\n@DATA") + len("\n@DATA\n")
    rows.write_bytes(content[start:])
    return arff, rows, compressed


def generated() -> bytes:
    random = np.random.default_rng(0)
    n_rows, n_columns = 1665, 19628
    header = "@RELATION struc\n" + "".join(f"@ATTRIBUTE struc{k} {{0,1}}\n" for k in range(n_columns))
    header += "@ATTRIBUTE class hierarchical 1,1/1,1/2,2\n@DATA\n"
    lines = [header.encode()]
    for _ in range(n_rows):
        line = np.full(2 * n_columns, ord(","), dtype=np.uint8)
        line[::2] = ord("0") + (random.random(n_columns) < 0.127)
        lines.append(line.tobytes() + b"1/2@2\n")
    return b"".join(lines)


def least(how: str, file: Path, repeats: int) -> tuple[float, float]:
    """Least CPU seconds and largest peak of several processes."""
    results = []
    for _ in range(repeats):
        command = [sys.executable, "-c", CHILD, how, str(file)]
        results.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    return min(seconds for seconds, _ in results), max(peak for _, peak in results)


if __name__ == "__main__":
    main()
