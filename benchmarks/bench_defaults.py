"""Defaults of `ramify fit`: settings of forests and boosted trees on held-out rows of many data sets, with tests.

    python benchmarks/bench_defaults.py [--data FOLDER] [--tables FILE] [--sets NAME ...] [--seeds 3] [--processes 2]
                                        [--settings NAME ...] [--seconds S] [--results FOLDER] [--write FILE]

Test parts are not looked at: models learn from the training part and are measured on the validation part, or on a third
of the rows, another one for each seed, where there is none. Pooled average precision of label sets (labels that all
rows have left out), accuracy of classes, R2 of numbers; means over the seeds. --tables names a CSV file with a line for
each table: folder, file, target (several with | between) and separator of labels. The first is the papers' forest.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from bench_accuracy import LABEL_SETS, PUBLISHED, files_of, side_by_side
from sklearn.metrics import accuracy_score, r2_score

import ramify
from ramify.analysis.methods import MODEL_METHODS, default_method
from ramify.analysis.model_data import model_features
from ramify.compare import compare
from ramify.datasets import Dataset, read
from ramify.features import unseen_values_allowed
from ramify.metrics import average_precision_score

FOREST: dict[str, Any] = {"method": "random-forest", "max_features": "sqrt"}
SETTINGS = {
    "forest": FOREST,
    "3 rows per leaf": FOREST | {"min_samples_leaf": 3},
    "a third of the features": FOREST | {"max_features": 1 / 3},
    "backing 10": FOREST | {"backing": 10},
    "boosted": {"method": "boosted", "n_estimators": 300, "max_features": 0.3},
}
"""Parameters of `ramify fit`, by the name of the setting."""

OTHERS = ("church_FUN", "pheno_FUN", "struc_FUN", "pheno_GO")
MOST_ROWS = 20_000


def table_lines(manifest: Path | None) -> dict[str, Any]:
    """Lines of the list of tables, by the name of the table."""
    if manifest is None:
        return {}
    lines = pd.read_csv(manifest, keep_default_na=False).itertuples()
    return {line.file.split(".")[0]: line for line in lines}


def loaded(name: str, folder: Path, manifest: Path | None) -> tuple[Dataset, np.ndarray, np.ndarray | None]:
    """A data set, the rows that may be looked at, and those to measure on where they are a part of their own."""
    line = table_lines(manifest).get(name)
    if line is not None and manifest is not None:
        told = {"label_separator": line.separator} if line.separator else {}
        data = read(manifest.parent / line.folder / line.file, target=line.target.split("|"), **told)
        return data, np.arange(data.n_samples)[:MOST_ROWS], None
    data = read(files_of(name, folder))
    parts = data.parts or {"train": np.arange(data.n_samples)}
    return data, parts["train"], parts.get("valid")


def measured(name: str, folder: Path, manifest: Path | None, seed: int, settings: list[str]) -> dict[str, Any]:
    """What each setting reaches, and its CPU seconds to fit and predict."""
    warnings.simplefilter("ignore")
    data, train, held_out = loaded(name, folder, manifest)
    if held_out is None:
        order = np.random.default_rng(seed).permutation(train)
        train, held_out = np.sort(order[len(order) // 3 :]), np.sort(order[: len(order) // 3])
    learnt, unseen = data.rows(train), data.rows(held_out)
    scores, seconds = {}, {}
    for title in settings:
        setting = SETTINGS[title]
        given = {key: value for key, value in setting.items() if key != "method"}
        if "backing" in given and not data.target_type.has_labels:
            continue
        clock = time.process_time()
        record = MODEL_METHODS[setting["method"]]
        model = record.build(learnt, random_state=seed, n_jobs=1, **given)
        record.fit(model, model_features(learnt), learnt)
        with unseen_values_allowed():
            scores[title] = score(model, unseen)
        seconds[title] = time.process_time() - clock
        print(name, seed, title, round(scores[title], 4), round(seconds[title], 1), flush=True)
    kind = data.target if data.hierarchy is None else "hierarchy"
    return {"name": name, "kind": kind, "now": default_method(learnt), "test": scores, "seconds": seconds}


def score(model: Any, data: Dataset) -> float:
    """What a model reaches on rows."""
    X = model_features(data)
    if data.target_type.has_sets:
        truth = data.y if data.hierarchy is None else data.hierarchy.close(data.y)
        found = model.predict_proba(X)
        return float(average_precision_score(truth, found, average="micro", exclude_universal=True))
    if data.target_type.has_labels:
        return float(accuracy_score(data.classes, np.asarray(model.predict(X)).astype(str)))
    return float(r2_score(data.y, model.predict(X)))


def page(results: Path) -> str:
    """The results with their tests."""
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(results.glob("*.json"))]
    lines = ["# Defaults", "", *__doc__.split("\n\n")[2].split("\n"), ""]
    groups = {
        "Label sets and hierarchies": [run for run in runs if run["kind"] in ("labels", "hierarchy")],
        "Classes and numbers": [run for run in runs if run["kind"] not in ("labels", "hierarchy")],
    }
    for title, of_group in groups.items():
        if len({run["name"] for run in of_group}) < 2:
            continue
        scores = pd.DataFrame([{"data": run["name"], **run["test"]} for run in of_group]).groupby("data").mean()
        seconds = pd.DataFrame([{"data": run["name"], **run["seconds"]} for run in of_group]).groupby("data").mean()
        scores = scores.dropna(axis="columns")
        lines += [
            f"## {title}",
            "",
            "| data | seeds | " + " | ".join(scores) + " |",
            "|---|---|" + "---|" * scores.shape[1],
        ]
        n_seeds = pd.Series([run["name"] for run in of_group]).value_counts()
        for name, values in scores.iterrows():
            lines.append(f"| {name} | {n_seeds[name]} | " + " | ".join(f"{value:.3f}" for value in values) + " |")
        gains = scores.sub(scores["forest"], axis="index")
        lines.append("| mean gain over the first | | " + " | ".join(f"{value:+.4f}" for value in gains.mean()) + " |")
        lines.append("| largest loss | | " + " | ".join(f"{min(value, 0):+.4f}" for value in gains.min()) + " |")
        whole = seconds[list(scores)].sum()
        lines.append("| CPU seconds of all | | " + " | ".join(f"{value:.0f}" for value in whole) + " |")
        lines += ["", compare(scores, test="wilcoxon").verdict, ""]
    lines.append(f"Ramify {ramify.__version__}, Python {platform.python_version()}, {platform.machine()}.")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run what is missing, and print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("RAMIFY_DATA", str(Path(__file__).parents[2] / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=Path(default))
    parser.add_argument("--tables", type=Path, help="list of tables")
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--settings", nargs="*", default=list(SETTINGS), choices=list(SETTINGS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--processes", type=int, default=1, help="runs at a time")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so many")
    parser.add_argument("--results", type=Path, default=Path("bench_defaults_results"))
    parser.add_argument("--write", type=Path, help="write the page of all finished runs here")
    options = parser.parse_args()
    options.results.mkdir(parents=True, exist_ok=True)
    every = [*table_lines(options.tables), *LABEL_SETS, *PUBLISHED, *OTHERS]
    runs = [(name, seed) for seed in range(options.seeds) for name in (every if options.sets is None else options.sets)]
    given = (options.data, options.tables)
    tasks = [(options.results / f"{n}_{k}.json", measured, n, *given, k, options.settings) for n, k in runs]
    side_by_side([task for task in tasks if not task[0].exists()], options.processes, options.seconds)
    text = page(options.results)
    print(text)
    if options.write:
        options.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
