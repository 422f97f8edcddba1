"""Very many labels: what Debian packages depend on, from the words of their descriptions.

    python benchmarks/bench_extreme.py [--packages 15000] [--peers PYTHON] [--only NAME ...] [-o FILE]

The data are on every Debian machine: the package lists that `apt-get -o Acquire::Languages=en update` leaves (their
hash is below). A row is a package, its features are the words of its description that at least two training packages
have, its labels the packages that it depends on, if at least two packages of the set do. Packages are taken and split
by a hash of their name, 80 % for training. Linear methods get tf-idf of unit length, trees get 0 and 1. In a second set
the labels are debtags, as a hierarchy of facets and tags.

Backed is `backing=20`, rare labels `label_weight="propensity"`; both were chosen on held-out training packages. Each
method runs in a process of its own on one thread, one after the other: CPU seconds and the memory that training
adds at its peak are that process's, the model's size is that of its files. Peers (omikuji, napkinXC, PECOS) run with
their defaults in the Python that --peers names. Precision at k is `ramify.metrics.precision_at`; PS is weighted by
propensities (Jain et al. 2016), relative to the best that can be reached.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pickle
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

LISTS = Path("/var/lib/apt/lists")
WORD = re.compile(r"[a-z][a-z0-9+-]+")
NAME = re.compile(r"\s*([a-z0-9][a-z0-9.+-]+)")
TOP = (1, 3, 5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=int, default=15_000, help="so many, 0 for all")
    parser.add_argument("--peers", default=None, help="a Python that has omikuji, napkinxc or pecos")
    parser.add_argument("--only", nargs="*", default=None, help="names of methods")
    parser.add_argument("--run", nargs=3, default=None, help=argparse.SUPPRESS)
    parser.add_argument("-o", "--output", type=Path, default=None, help="Markdown page")
    arguments = parser.parse_args()
    if arguments.run is not None:
        run(arguments.run[0], arguments.run[1], Path(arguments.run[2]))
        return
    load, packages, digest = os.getloadavg()[0], read_packages(), lists_hash()
    title = "# Very many labels" + ("" if arguments.packages else ": all packages")
    lines = [f"{title}\n", *__doc__.split("\n\n", 2)[2].rstrip().split("\n"), ""]
    lines += [f"Python {platform.python_version()}, load before the run {load:.1f}, lists {digest[:16]}.\n"]
    for name, make in (("dependencies", dependencies), ("debtags", debtags)):
        data = make(packages, arguments.packages or len(packages))
        lines += compared(name, data, arguments.peers, arguments.only)
    text = "\n".join(lines) + "\n"
    print(text)
    if arguments.output is not None:
        arguments.output.write_text(text, encoding="utf-8")


def list_files() -> list[Path]:
    files = sorted(path for kind in ("_Packages", "_Translation-en") for path in LISTS.glob(f"*{kind}*"))
    if not any("_Translation-en" in path.name for path in files):
        raise SystemExit("There are no lists of descriptions: apt-get -o Acquire::Languages=en update gets them.")
    return files


def content(path: Path) -> bytes:
    """A list, whatever it is compressed by."""
    return subprocess.run(["/usr/lib/apt/apt-helper", "cat-file", path], check=True, capture_output=True).stdout


def lists_hash() -> str:
    digest = hashlib.sha256()
    for path in list_files():
        digest.update(content(path))
    return digest.hexdigest()


def stanzas(path: Path) -> Iterator[dict[str, str]]:
    for block in content(path).decode().split("\n\n"):
        fields: dict[str, str] = {}
        field = ""
        for line in block.splitlines():
            if line[:1].isspace():
                fields[field] += " " + line.strip()
            else:
                field, _, value = line.partition(":")
                fields[field] = value.strip()
        if "Package" in fields:
            yield fields


def read_packages() -> list[dict[str, str]]:
    """Packages by a hash of their name, each with its description; the first of a name is taken."""
    packages: dict[str, dict[str, str]] = {}
    described: dict[tuple[str, str], str] = {}
    for path in list_files():
        for fields in stanzas(path):
            if "Description-en" in fields:
                described[fields["Package"], fields["Description-md5"]] = fields["Description-en"]
            elif "Version" in fields:
                packages.setdefault(fields["Package"], fields)
    for name, fields in packages.items():
        fields["Description"] = described.get((name, fields.get("Description-md5", "")), fields.get("Description", ""))
    return sorted(packages.values(), key=lambda fields: share(fields["Package"], "order"))


def share(name: str, purpose: str) -> float:
    """A number in [0, 1) that only depends on the name."""
    return int(hashlib.sha256(f"{purpose} {name}".encode()).hexdigest()[:12], 16) / 2**48


def dependencies(packages: list[dict[str, str]], n_packages: int) -> dict[str, Any]:
    def labels(fields: dict[str, str]) -> set[str]:
        parts = ",".join(fields.get(field, "") for field in ("Depends", "Pre-Depends")).split(",")
        return {found.group(1) for found in map(NAME.match, parts) if found}

    return data_of(packages, n_packages, labels)


def debtags(packages: list[dict[str, str]], n_packages: int) -> dict[str, Any]:
    def labels(fields: dict[str, str]) -> set[str]:
        tags = {tag.strip() for tag in fields.get("Tag", "").split(",") if "::" in tag and "{" not in tag}
        return tags | {tag.split("::")[0] for tag in tags}

    data = data_of(packages, n_packages, labels)
    data["edges"] = [(name.split("::")[0], name) for name in data["names"] if "::" in name]
    return data


def data_of(packages: list[dict[str, str]], n_packages: int, labels: Callable[..., set[str]]) -> dict[str, Any]:
    """Words and labels as sparse matrices of training and test rows."""
    rows = [(fields["Package"], WORD.findall(fields["Description"].lower()), labels(fields)) for fields in packages]
    rows = [row for row in rows if row[1] and row[2]][:n_packages]
    test = np.array([share(name, "split") >= 0.8 for name, _, _ in rows])
    counts = Counter(
        word for (_, words, _), is_test in zip(rows, test, strict=True) if not is_test for word in set(words)
    )
    known = sorted(word for word, count in counts.items() if count >= 2)
    having = Counter(label for _, _, found in rows for label in found)
    names = sorted(label for label, count in having.items() if count >= 2)
    X = counted([words for _, words, _ in rows], known)
    Y = counted([found for _, _, found in rows], names)
    inverse = np.log((1 + (~test).sum()) / (1 + np.array([counts[word] for word in known]))) + 1
    tf_idf = X.copy()
    tf_idf.data = (np.log(tf_idf.data) + 1) * inverse[tf_idf.indices]
    length = np.sqrt(tf_idf.multiply(tf_idf).sum(axis=1))
    tf_idf.data /= np.repeat(np.where(length > 0, length, 1.0), np.diff(tf_idf.indptr))
    X.data[:] = 1.0
    parts = {"X": X, "tf_idf": sparse.csr_array(tf_idf), "Y": Y}
    train = {f"{name}_train": sparse.csr_array(matrix[~test]) for name, matrix in parts.items()}
    return {
        **train,
        **{f"{name}_test": sparse.csr_array(matrix[test]) for name, matrix in parts.items()},
        "names": names,
    }


def counted(bags: list[Any], names: list[str]) -> sparse.csr_array:
    position = {name: column for column, name in enumerate(names)}
    cells = [
        (row, position[name], n) for row, bag in enumerate(bags) for name, n in Counter(bag).items() if name in position
    ]
    rows, columns, values = (np.array(part) for part in zip(*cells, strict=True))
    matrix = sparse.csr_array((values.astype(float), (rows, columns)), shape=(len(bags), len(names)))
    matrix.sort_indices()
    return matrix


def compared(title: str, data: dict[str, Any], peers: str | None, only: list[str] | None) -> list[str]:
    """A table of all methods on one set."""
    from ramify.metrics import label_propensities, precision_at

    truth, propensity = data["Y_test"], label_propensities(data["Y_train"])
    if "edges" in data:  # facets come with their tags: only tags are counted
        truth = truth @ sparse.diags_array([float("::" in name) for name in data["names"]])
        truth.eliminate_zeros()
    (n_train, n_words), n_labels = data["X_train"].shape, truth.shape[1]
    lines = [
        f"## {title.capitalize()}\n",
        f"{n_train:,} training and {truth.shape[0]:,} test packages, {n_words:,} words, {n_labels:,} labels, "
        f"{data['Y_train'].nnz / n_train:.1f} a package.\n",
        "| method | train, CPU s | predict, CPU s | memory, MB | model, MB | P@1 | P@3 | P@5 | PS@1 | PS@3 | PS@5 |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    left_out = []
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "data.pickle").write_bytes(pickle.dumps(data))
        for name in METHODS:
            if only is not None and name not in only:
                continue
            python = peers if name in PEERS else sys.executable
            command = [str(python), __file__, "--run", name, title, folder]
            done = subprocess.run(command, capture_output=True, text=True) if python is not None else None
            if done is None or done.returncode:
                print(name, "" if done is None else done.stderr[-500:], file=sys.stderr)
                left_out.append(name)
                continue
            told = json.loads((Path(folder) / "told.json").read_text())
            found = np.load(Path(folder) / "found.npz")
            scores = sparse.csr_array((found["scores"], (found["rows"], found["labels"])), shape=truth.shape)
            values = [precision_at(truth, scores, k=k) for k in TOP]
            values += [precision_at(truth, scores, k=k, propensity=propensity) for k in TOP]
            lines.append(
                f"| {name} | {told['train']:.1f} | {told['predict']:.1f} | {told['memory']:.0f} | {told['size']:.1f} | "
                + " | ".join(f"{value:.3f}" for value in values)
                + " |"
            )
    return [*lines, "", *([f"Not run here: {', '.join(left_out)}.\n"] if left_out else [])]


def run(name: str, title: str, folder: Path) -> None:
    """Train and predict in this process, and tell what it took."""
    data = pickle.loads((folder / "data.pickle").read_bytes())
    method = METHODS[name](data, folder)  # imports what it needs
    before, start = peak_memory(), time.process_time()
    method.train()
    trained, memory = time.process_time() - start, peak_memory() - before
    start = time.process_time()
    rows, labels, scores = method.predict()
    predicted = time.process_time() - start
    if title == "debtags":
        kept = np.array(["::" in label for label in data["names"]])[labels]
        rows, labels, scores = rows[kept], labels[kept], scores[kept]
    target = folder / f"model-{name.replace(' ', '-')}"
    method.save(target)
    files = [path for path in target.rglob("*") if path.is_file()] if target.is_dir() else [target]
    np.savez(folder / "found.npz", rows=rows, labels=labels, scores=scores)
    size = sum(path.stat().st_size for path in files) / 1e6
    (folder / "told.json").write_text(
        json.dumps({"train": trained, "predict": predicted, "memory": memory, "size": size})
    )


def peak_memory() -> float:
    """MB of this process at its peak, the one that started it aside."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1e3


class _Forest:
    """`ForestClassifier` on words as 0 and 1."""

    def __init__(self, data: dict[str, Any], _: Path, n_trees: int = 20, **parameters: Any) -> None:
        import ramify
        from ramify import Hierarchy
        from ramify.ensemble import ForestClassifier

        self.data, self.ramify = data, ramify
        hierarchy = Hierarchy.from_edges(data["edges"]) if "edges" in data else None
        self.order = np.array([data["names"].index(name) for name in hierarchy.names]) if hierarchy else None
        self.forest = ForestClassifier(n_trees, hierarchy=hierarchy, random_state=0, n_jobs=1, **parameters)

    def train(self) -> None:
        labels = self.data["Y_train"] if self.order is None else self.data["Y_train"][:, self.order]
        self.forest.fit(self.data["X_train"], labels)

    def predict(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n_top = 5 if self.order is None else 15  # facets are among them
        labels, scores = self.forest.predict_top(self.data["X_test"], n_top)
        labels = labels if self.order is None else self.order[labels]
        return np.repeat(np.arange(len(labels)), n_top), labels.ravel(), scores.ravel()

    def save(self, target: Path) -> None:
        self.ramify.save(self.forest, target)


class _Omikuji:
    """Parabel by omikuji."""

    def __init__(self, data: dict[str, Any], folder: Path) -> None:
        import omikuji

        self.data, self.model_type, self.file = data, omikuji.Model, folder / "train.txt"
        X, Y = data["tf_idf_train"], data["Y_train"]
        with self.file.open("w") as file:
            file.write(f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}\n")
            for row in range(X.shape[0]):
                labels = ",".join(map(str, Y.indices[Y.indptr[row] : Y.indptr[row + 1]]))
                file.write(labels + "".join(f" {word}:{value:.6f}" for word, value in cells(X, row)) + "\n")

    def train(self) -> None:
        self.model = self.model_type.train_on_data(str(self.file), n_threads=1)

    def predict(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        X = self.data["tf_idf_test"]
        return listed([self.model.predict(cells(X, row), top_k=15) for row in range(X.shape[0])])

    def save(self, target: Path) -> None:
        self.model.save(str(target))


class _NapkinXC:
    """Probabilistic label trees of napkinXC."""

    def __init__(self, data: dict[str, Any], folder: Path) -> None:
        from napkinxc.models import PLT

        self.data, self.folder = data, folder / "model-napkinXC"
        self.model = PLT(str(self.folder), threads=1)

    def train(self) -> None:
        X, Y = self.data["tf_idf_train"], self.data["Y_train"]
        labels = [Y.indices[Y.indptr[row] : Y.indptr[row + 1]].tolist() for row in range(Y.shape[0])]
        self.model.fit(sparse.csr_matrix(X), labels)

    def predict(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return listed(self.model.predict_proba(sparse.csr_matrix(self.data["tf_idf_test"]), top_k=15))

    def save(self, target: Path) -> None:
        """It was written while it was trained."""


class _Pecos:
    """XLinearModel of PECOS with a tree of labels."""

    def __init__(self, data: dict[str, Any], _: Path) -> None:
        from pecos.xmc import Indexer, LabelEmbeddingFactory
        from pecos.xmc.xlinear.model import XLinearModel

        self.data, self.parts = data, (LabelEmbeddingFactory, Indexer, XLinearModel)

    def train(self) -> None:
        embedding, indexer, model = self.parts
        X, Y = (sparse.csr_matrix(self.data[name], dtype=np.float32) for name in ("tf_idf_train", "Y_train"))
        clusters = indexer.gen(embedding.create(Y, X, method="pifa"))
        self.model = model.train(X, Y, C=clusters, threads=1)

    def predict(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        X = sparse.csr_matrix(self.data["tf_idf_test"], dtype=np.float32)
        found = sparse.coo_matrix(self.model.predict(X, only_topk=15, threads=1))
        return found.row, found.col, found.data

    def save(self, target: Path) -> None:
        self.model.save(str(target))


def cells(matrix: sparse.csr_array, row: int) -> list[tuple[int, float]]:
    span = slice(matrix.indptr[row], matrix.indptr[row + 1])
    return list(zip(matrix.indices[span].tolist(), matrix.data[span].tolist(), strict=True))


def listed(found: list[list[tuple[int, float]]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lists of (label, score) as rows, labels and scores."""
    rows = np.repeat(np.arange(len(found)), [len(pairs) for pairs in found])
    labels, scores = np.array([pair for pairs in found for pair in pairs], dtype=float).T
    return rows, labels.astype(int), scores


METHODS: dict[str, Callable[[dict[str, Any], Path], Any]] = {
    "Ramify, 20 trees": _Forest,
    "Ramify, 20 trees, backed": partial(_Forest, backing=20),
    "Ramify, 60 trees, rare labels": partial(_Forest, n_trees=60, label_weight="propensity"),
    "omikuji": _Omikuji,
    "napkinXC": _NapkinXC,
    "PECOS": _Pecos,
}
PEERS = ("omikuji", "napkinXC", "PECOS")


if __name__ == "__main__":
    main()
