"""Trees, neighbours, kernels, networks and their portfolio beside published methods: pooled average precision.

    python benchmarks/bench_accuracy.py [--data FOLDER] [--sets NAME ...] [--members NAME ...] [--jobs 16] [--seeds 3]
                                        [--results FOLDER] [--write FILE]
    python benchmarks/bench_accuracy.py --rounds    # CPU seconds per round beside XGBoost's trees of vectors

Settings (learning rate, number of rounds, who is in the portfolio) are chosen on the validation part, or on a fixed
third of the training rows where there is none; then the models are fitted to both parts and measured once on the test
part. Labels that all rows have are left out for the Gene Ontology, as in the published values. Finished
runs are kept in the folder of results and not repeated, so a call that was stopped goes on where it was. Data lie in
the folder that --data or RAMIFY_DATA names. With --jobs, members run side by side; figures do not depend on it, CPU
seconds hardly.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier

import ramify
from ramify.compare import compare
from ramify.datasets import Dataset, read
from ramify.ensemble import (
    BoostedClassifier,
    ForestClassifier,
    KernelClassifier,
    NeighborsClassifier,
    NetworkClassifier,
    Portfolio,
)
from ramify.metrics import average_precision_score

PUBLISHED = {
    "cellcycle_FUN": (0.255, 0.252, 0.227),
    "derisi_FUN": (0.195, 0.193, 0.188),
    "eisen_FUN": (0.306, 0.298, 0.271),
    "expr_FUN": (0.302, 0.301, 0.271),
    "gasch1_FUN": (0.286, 0.284, 0.267),
    "seq_FUN": (0.292, 0.291, 0.284),
    "spo_FUN": (0.215, 0.211, 0.210),
    "Diatoms": (0.758, 0.530, 0.379),
    "Enron_corr": (0.756, 0.724, 0.681),
    "ImCLEF07A": (0.956, 0.950, 0.777),
    "ImCLEF07D": (0.927, 0.920, 0.863),
    "cellcycle_GO": (0.413, 0.400, 0.387),
    "eisen_GO": (0.455, 0.440, 0.433),
    "gasch2_GO": (0.414, 0.465, 0.395),
    "seq_GO": (0.446, 0.447, 0.435),
    "spo_GO": (0.382, 0.376, 0.372),
}
"""C-HMCNN, HMCN-F and CLUS-ENS as Giunchiglia and Lukasiewicz (2020) print them."""

LABEL_SETS = ("emotions", "scene", "yeast", "bibtex", "Corel5k")
MEMBERS = (
    "random forest",
    "extra trees",
    "oblique extra trees",
    "weighted neighbours",
    "boosted trees",
    "kernel",
    "networks",
    "portfolio",
)
FORESTS = {
    "default": {},
    "20 % of the features": {"max_features": 0.2},
    "3 rows per leaf": {"min_samples_leaf": 3},
    "both": {"max_features": 0.2, "min_samples_leaf": 3},
}
"""Settings of the default forest, with bootstrap, that are compared on held-out rows."""

PEERS = ("scikit-learn", "XGBoost")
MANY_LABELS = 1000
FEW_LABELS = 60
MANY_CELLS = 1_000_000
"""Values of features above which boosted trees look at 10 % of the features in a node, for their cost."""


def files_of(name: str, folder: Path) -> list[Path]:
    """The parts of a data set."""
    if name in LABEL_SETS:
        parts = [p for p in folder.glob(f"multilabel/{name}-*") if "train" in p.name or "test" in p.name]
        return [*sorted(parts), folder / "multilabel" / f"{name}.xml"]
    pattern = f"hmc/*/{name}.*" if name.endswith(("FUN", "GO")) else f"hmc/others/{name}_*"
    return sorted(folder.glob(pattern))


def stacked(parts: list[Any]) -> Any:
    """Rows of several parts, one part after the other."""
    return sparse.csr_array(sparse.vstack(parts)) if sparse.issparse(parts[0]) else np.vstack(parts)


def split(data: Dataset) -> tuple[Any, Any, list[tuple[np.ndarray, np.ndarray]], Dataset]:
    """Rows to learn from, the one fold to choose by, and the test part."""
    parts = {part: data.part(part) for part in ("train", "valid", "test") if part in (data.parts or {})}
    known = [parts[part] for part in ("train", "valid") if part in parts]
    X, Y = stacked([part.X for part in known]), stacked([part.y for part in known])
    order = np.arange(Y.shape[0])
    if "valid" not in parts:
        order = np.random.default_rng(0).permutation(Y.shape[0])
    n_train = known[0].y.shape[0] if "valid" in parts else 2 * Y.shape[0] // 3
    return X, Y, [(np.sort(order[:n_train]), np.sort(order[n_train:]))], parts["test"]


def members(data: Dataset, n_cells: int, seed: int) -> dict[str, Any]:
    """What the portfolio chooses from."""
    common: dict[str, Any] = {
        "hierarchy": data.hierarchy,
        "categorical_features": data.categorical_features,
        "random_state": seed,
    }
    extra = {"splitter": "random", "bootstrap": False, "max_features": 0.2, "min_samples_leaf": 3, **common}
    found: dict[str, Any] = {
        "random forest": ForestClassifier(100, **common),
        "extra trees": ForestClassifier(300, **extra),
        "oblique extra trees": ForestClassifier(300, oblique=2, **extra),
        "weighted neighbours": NeighborsClassifier(**common),
        "kernel": KernelClassifier(**common),
        "networks": NetworkClassifier(n_epochs=64, early_stopping=None, **common),
    }
    boosted = {"sketch": 30, "early_stopping": None, "max_features": 0.1 if n_cells > MANY_CELLS else 0.3, **common}
    if len(data.label_names) > MANY_LABELS:  # one setting, few rounds: the cost grows with the labels
        found["boosted trees"] = BoostedClassifier(240, learning_rate=0.1, **boosted)
    else:
        found["boosted trees"] = BoostedClassifier(400, **boosted)
        found["boosted trees, fast"] = BoostedClassifier(500, learning_rate=0.1, l2=0.2, max_samples=1.0, **boosted)
    return found


def reached(name: str, data: Dataset, test: Dataset, predicted: np.ndarray) -> float:
    """Pooled average precision on the test part."""
    truth = test.y if data.hierarchy is None else data.hierarchy.close(test.y)
    rootless = name.endswith("GO")
    return float(average_precision_score(truth, predicted, average="micro", exclude_universal=rootless))


def measured(name: str, folder: Path, seed: int, only: list[str] | None, n_jobs: int) -> dict[str, Any]:
    """Test scores of the members and the portfolio on one data set."""
    data = read(files_of(name, folder))
    X, Y, folds, test = split(data)

    def on_test(model: Any) -> float:
        return reached(name, data, test, model.set_params(n_jobs=n_jobs).predict_proba(test.X))

    started, clock = time.process_time(), time.perf_counter()
    candidates = members(data, X.shape[0] * X.shape[1], seed)
    candidates = {title: made for title, made in candidates.items() if not only or title.partition(",")[0] in only}
    portfolio = Portfolio(candidates, hierarchy=data.hierarchy, cv=folds, n_jobs=n_jobs).fit(X, Y)
    cpu, wall = time.process_time() - started, time.perf_counter() - clock
    found, chosen = {"portfolio": on_test(portfolio)}, {}
    for member in MEMBERS[:-1]:
        variants = [title for title in portfolio.scores_ if title.partition(",")[0] == member]
        if variants:
            chosen[member] = max(variants, key=portfolio.scores_.__getitem__)
            model = portfolio.members_.get(chosen[member])
            found[member] = on_test(model or alone(candidates, chosen[member]).set_params(n_jobs=n_jobs).fit(X, Y))
    return {
        "name": name,
        "seed": seed,
        "labels": len(data.label_names),
        "rows": int(Y.shape[0]),
        "members": described(candidates),
        "test": found,
        "chosen": chosen,
        "weights": portfolio.weights_,
        "added": portfolio.added_,
        "held_out": portfolio.scores_,
        "cpu": cpu,
        "wall": wall,
        "jobs": n_jobs,
    }


def alone(candidates: dict[str, Any], title: str) -> Any:
    """A member with the number of rounds or epochs that its title says."""
    if title in candidates:
        return clone(candidates[title])
    name, _, stage = title.rpartition(", ")
    count, unit = stage.split()
    return clone(candidates[name]).set_params(**{"n_epochs" if unit == "epochs" else "n_estimators": int(count)})


def completed(run: dict[str, Any], folder: Path) -> dict[str, Any]:
    """A run with the test score of the oblique extra trees, which its portfolio did not have to choose from."""
    name, member = run["name"], "oblique extra trees"
    data = read(files_of(name, folder))
    X, Y, _, test = split(data)
    made = members(data, X.shape[0] * X.shape[1], run["seed"])[member].set_params(n_jobs=1)
    run["test"][member] = reached(name, data, test, made.fit(X, Y).predict_proba(test.X))
    return run


def peers(name: str, folder: Path) -> dict[str, float]:
    """Test scores of scikit-learn's forest and of XGBoost's trees of vectors, where their cost allows it."""
    data = read(files_of(name, folder))
    X, Y, _, test = split(data)
    n_labels = len(data.label_names)
    closed = Y if data.hierarchy is None else data.hierarchy.close(Y)
    truth = np.asarray(closed.todense() if sparse.issparse(closed) else closed, dtype=np.int8)
    found = {}
    if n_labels <= MANY_LABELS:
        forest = RandomForestClassifier(100, random_state=0).fit(X, truth)
        parts = zip(forest.predict_proba(test.X), forest.classes_, strict=True)
        columns = [part[:, list(values).index(1)] if 1 in values else np.zeros(len(part)) for part, values in parts]
        found["scikit-learn"] = reached(name, data, test, np.column_stack(columns))
    if n_labels <= FEW_LABELS:
        import xgboost

        model = xgboost.XGBClassifier(
            n_estimators=100, multi_strategy="multi_output_tree", tree_method="hist", max_depth=6, n_jobs=1
        ).fit(X, truth)
        found["XGBoost"] = reached(name, data, test, model.predict_proba(test.X))
    return found


def forests(name: str, folder: Path) -> dict[str, float]:
    """Pooled average precision of settings of the forest on the rows to choose by; the test part is not looked at."""
    data = read(files_of(name, folder))
    X, Y, [(train, held_out)], _ = split(data)
    truth = Y[held_out] if data.hierarchy is None else data.hierarchy.close(Y[held_out])
    found = {}
    for title, given in FORESTS.items():
        forest = ForestClassifier(
            hierarchy=data.hierarchy, categorical_features=data.categorical_features, random_state=0, **given
        ).fit(X[train], Y[train])
        predicted = forest.predict_proba(X[held_out])
        rootless = name.endswith("GO")
        found[title] = float(average_precision_score(truth, predicted, average="micro", exclude_universal=rootless))
    return found


def forest_lines(found: dict[str, dict[str, float]]) -> list[str]:
    """Settings of the forest over the data sets, by the package's own statistics."""
    if len(found) < 3:
        return []
    frame = pd.DataFrame.from_dict(found, orient="index")[list(FORESTS)]
    result = compare(frame)
    ranks = ", ".join(f"{name} {rank:.2f}" for name, rank in result.ranks.items())
    return [
        "## Settings of the forest",
        "",
        "Bootstrap forests of 100 trees on the rows to choose by (the test parts are not looked at), one seed.",
        "",
        "| data | " + " | ".join(FORESTS) + " |",
        "|---|" + "---|" * len(FORESTS),
        *(
            f"| {name} | " + " | ".join(f"{value:.3f}" for value in row) + " |"
            for name, row in zip(frame.index, frame.to_numpy(), strict=True)
        ),
        "",
        f"{result.sentence} Average ranks: {ranks}.",
        "",
    ]


def described(candidates: dict[str, Any]) -> dict[str, str]:
    """Settings of the members that are not their defaults, aside from the data's own and the seed."""
    found = {}
    for name, member in candidates.items():
        standard = type(member)().get_params()
        given = {key: value for key, value in member.get_params(deep=False).items() if value is not standard[key]}
        given = {
            key: value
            for key, value in given.items()
            if key not in ("hierarchy", "categorical_features", "random_state") and value != standard[key]
        }
        settings = ", ".join(f"{key}={value!r}" for key, value in given.items())
        found[name] = f"{type(member).__name__}({settings})"
    return found


def finished(results: Path) -> dict[str, list[dict[str, Any]]]:
    """Runs of the folder of results, by data set."""
    runs: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(results.glob("*.json")):
        run = json.loads(path.read_text(encoding="utf-8"))
        runs.setdefault(run["name"], []).append(run)
    return runs


def table(
    runs: dict[str, list[dict[str, Any]]],
    others: dict[str, dict[str, float]],
    of_forests: dict[str, dict[str, float]],
    rounds: dict[str, float] | None,
) -> str:
    """The results as a page."""
    lines = [
        "# Accuracy",
        "",
        "Pooled average precision on the test part, larger is better (`benchmarks/bench_accuracy.py`). Settings are",
        "chosen on the validation part, or on a fixed third of the training rows where there is none; then the models",
        "are fitted to both. Labels that all rows have are left out for the Gene Ontology (GO). C-HMCNN, HMCN-F and",
        "CLUS-ENS as Giunchiglia and Lukasiewicz (2020) print them. Means over the seeds; CPU seconds are of one seed,",
        "choosing and fitting all members. Once, with one seed: scikit-learn is its `RandomForestClassifier(100)` (up",
        f"to {MANY_LABELS} labels), XGBoost 100 rounds of trees of vectors, depth 6 (up to {FEW_LABELS} labels, as its",
        "cost grows with them). Oblique extra trees, the extra trees with `oblique=2`, were added to finished runs of",
        "some sets (`--oblique`), where the portfolio had no such choice. A line is of the sets where its method ran.",
        "",
        "| data | labels | seeds | C-HMCNN | HMCN-F | CLUS-ENS | "
        + " | ".join((*PEERS, *MEMBERS))
        + " | portfolio is | CPU s |",
        "|---|---|---|---|---|---|" + "---|" * (len(PEERS) + len(MEMBERS) + 2),
    ]
    for name in (*PUBLISHED, *LABEL_SETS):
        if name not in runs:
            continue
        of_set = runs[name]
        published = [f"{value:.3f}" for value in PUBLISHED.get(name, ())] or ["-"] * 3
        own = [f"{mean_of(of_set, member):.3f}" if mean_of(of_set, member) else "-" for member in MEMBERS]
        theirs = [f"{others[name][peer]:.3f}" if peer in others.get(name, {}) else "-" for peer in PEERS]
        weights = "; ".join(f"{share:.2f} {member}" for member, share in of_set[0]["weights"].items())
        cells = [name, str(of_set[0]["labels"]), str(len(of_set)), *published, *theirs, *own, weights]
        cells.append(f"{of_set[0]['cpu']:.0f}")
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", *summary(runs), "", *settings(runs), "", *forest_lines(of_forests)]
    if rounds is not None:
        lines += [
            f"One round on cellcycle_FUN (499 labels, one thread): {1000 * rounds['ramify']:.0f} ms of CPU, XGBoost",
            f'{rounds["version"]} with `multi_strategy="multi_output_tree"` (depth 6) {rounds["xgboost"]:.1f} s:',
            f"{rounds['xgboost'] / rounds['ramify']:.0f} times as much ({rounds['n_xgboost']:.0f} rounds measured).",
            "",
        ]
    lines.append(f"Ramify {ramify.__version__}, Python {platform.python_version()}, {platform.machine()}.")
    return "\n".join(lines) + "\n"


def mean_of(of_set: list[dict[str, Any]], member: str) -> float | None:
    """Mean over the seeds, or None where a member was not run with each."""
    if not all(member in run["test"] for run in of_set):
        return None
    return float(np.mean([run["test"][member] for run in of_set]))


def settings(runs: dict[str, list[dict[str, Any]]]) -> list[str]:
    """What the members were, and for which data sets where that differs."""
    by_members: dict[str, list[str]] = {}
    for name, of_set in runs.items():
        for run in of_set:
            key = "; ".join(f"{member} is `{made}`" for member, made in run["members"].items())
            by_members.setdefault(key, []).append(name)
    return [f"- {', '.join(dict.fromkeys(names))}: {key}." for key, names in by_members.items()]


def summary(runs: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Mean ranks among the published methods on the sets that ran, and wins over the best of them."""
    lines = []
    for member in MEMBERS:
        names = [name for name in PUBLISHED if name in runs and mean_of(runs[name], member) is not None]
        if not names:
            continue
        own = [round(mean_of(runs[name], member) or 0.0, 3) for name in names]
        ranks = np.mean([rankdata([-own[i], *(-v for v in PUBLISHED[name])]) for i, name in enumerate(names)], axis=0)
        wins = sum(own[i] > PUBLISHED[name][0] for i, name in enumerate(names))
        ties = sum(own[i] == PUBLISHED[name][0] for i, name in enumerate(names))
        lines.append(
            f"- {member}: mean rank {ranks[0]:.2f} among itself, C-HMCNN ({ranks[1]:.2f}), HMCN-F ({ranks[2]:.2f}) and "
            f"CLUS-ENS ({ranks[3]:.2f}); above C-HMCNN on {wins} of {len(names)} sets, equal on {ties}."
        )
    absent = [name for name in (*PUBLISHED, *LABEL_SETS) if name not in runs]
    if absent:
        lines.append(f"- Not run: {', '.join(absent)}.")
    return lines


def cpu_per_round(folder: Path, n_rounds: int = 2) -> dict[str, float]:
    """CPU seconds per round of Ramify and of XGBoost on cellcycle_FUN."""
    import xgboost

    data = read(files_of("cellcycle_FUN", folder))
    X, Y, _, _ = split(data)
    Y = np.asarray(data.hierarchy.close(Y).todense())
    started = time.process_time()
    BoostedClassifier(100, hierarchy=data.hierarchy, early_stopping=None, random_state=0).fit(X, Y)
    own = (time.process_time() - started) / 100
    model = xgboost.XGBClassifier(
        n_estimators=n_rounds, multi_strategy="multi_output_tree", tree_method="hist", max_depth=6, n_jobs=1
    )
    started = time.process_time()
    model.fit(X, Y)
    theirs = (time.process_time() - started) / n_rounds
    return {"ramify": own, "xgboost": theirs, "version": xgboost.__version__, "n_xgboost": n_rounds}


def main() -> None:
    """Run what is asked for and print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("RAMIFY_DATA", str(Path(__file__).parents[2] / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=Path(default))
    parser.add_argument("--sets", nargs="*", default=[*PUBLISHED, *LABEL_SETS])
    parser.add_argument("--members", nargs="*", choices=MEMBERS[:-1], help="what the portfolio chooses from; all")
    parser.add_argument("--jobs", type=int, default=1, help="threads")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--results", type=Path, default=Path("bench_accuracy_results"))
    parser.add_argument("--peers", action="store_true", help="measure scikit-learn's forest and XGBoost instead")
    parser.add_argument(
        "--forests", action="store_true", help="compare settings of the forest on held-out rows instead"
    )
    parser.add_argument(
        "--oblique", action="store_true", help="add oblique extra trees to finished runs that were without them"
    )
    parser.add_argument("--rounds", action="store_true", help="measure CPU per round beside XGBoost, nothing else")
    parser.add_argument("--write", type=Path, help="write the page of all finished runs here")
    options = parser.parse_args()
    options.results.mkdir(parents=True, exist_ok=True)
    side = options.results / "rounds.txt"
    if options.rounds:
        side.write_text(json.dumps(cpu_per_round(options.data)), encoding="utf-8")
    elif options.oblique:
        for path in (options.results / f"{name}_{seed}.json" for seed in range(options.seeds) for name in options.sets):
            run = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
            if run and "oblique extra trees" not in run["test"]:
                path.write_text(json.dumps(completed(run, options.data)), encoding="utf-8")
                print(path.stem, {k: round(v, 4) for k, v in run["test"].items()}, flush=True)
    elif options.peers or options.forests:
        kind, measure = ("peers", peers) if options.peers else ("forests", forests)
        for name in options.sets:
            path = options.results / f"{name}.{kind}"
            if not path.exists():
                path.write_text(json.dumps(measure(name, options.data)), encoding="utf-8")
    else:
        for seed in range(options.seeds):
            for name in options.sets:
                path = options.results / f"{name}_{seed}.json"
                if not path.exists():
                    run = measured(name, options.data, seed, options.members, options.jobs)
                    path.write_text(json.dumps(run), encoding="utf-8")
                    scores = {title: round(value, 4) for title, value in run["test"].items()}
                    weights = {title: round(value, 2) for title, value in run["weights"].items()}
                    print(name, seed, scores, weights, f"{run['cpu']:.0f} s of CPU, {run['wall']:.0f} s", flush=True)
    others, of_forests = (
        {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(options.results.glob(f"*.{kind}"))}
        for kind in ("peers", "forests")
    )
    rounds = json.loads(side.read_text(encoding="utf-8")) if side.exists() else None
    page = table(finished(options.results), others, of_forests, rounds)
    print(page)
    if options.write:
        options.write.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
