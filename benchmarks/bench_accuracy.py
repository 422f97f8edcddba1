"""Trees, neighbours, kernels, networks and their portfolio beside published methods: pooled average precision.

    python benchmarks/bench_accuracy.py [--data FOLDER] [--sets NAME ...] [--seeds 3] [--processes 16] [--jobs 1]
                                        [--device cuda] [--seconds S] [--results FOLDER] [--write FILE]
    python benchmarks/bench_accuracy.py --peers     # scikit-learn, LightGBM and XGBoost
    python benchmarks/bench_accuracy.py --rounds    # CPU seconds per round beside XGBoost's trees of vectors
    python benchmarks/bench_accuracy.py --devices   # networks trained on the CPU and on a GPU

`Portfolio(hierarchy=...)`, as it is without further settings, chooses its members, their rounds, epochs and weights on
the validation part, or on a fixed third of the training rows where there is none; then those chosen are fitted to both
parts and measured once on the test part. Labels that all rows have are left out for the Gene Ontology, as in the
published values. Each data set and seed has a process of its own, started in the order of --sets, seed after seed.
Finished runs are kept in the folder of results and not repeated, so a call that was stopped (by --seconds, say) goes on
where it was. Data lie in the folder that --data or RAMIFY_DATA names. Figures depend neither on --processes nor on
--jobs, the threads of a process; CPU seconds hardly.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.stats import rankdata
from sklearn.ensemble import RandomForestClassifier

import ramify
from ramify.datasets import Dataset, read
from ramify.ensemble import BoostedClassifier, NetworkClassifier, Portfolio
from ramify.ensemble.portfolio import members_by_default
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
PEERS = ("scikit-learn", "LightGBM", "XGBoost")
MANY_LABELS = 1000


def files_of(name: str, folder: Path) -> list[Path]:
    """The parts of a data set."""
    if name in LABEL_SETS:
        parts = [p for p in folder.glob(f"multilabel/{name}-*") if "train" in p.name or "test" in p.name]
        return [*sorted(parts), folder / "multilabel" / f"{name}.xml"]
    pattern = f"hmc/*/{name}.*" if name.endswith(("FUN", "GO")) else f"hmc/others/{name}_*"
    return sorted(folder.glob(pattern))


def split(data: Dataset) -> tuple[Any, Any, list[tuple[np.ndarray, np.ndarray]], Any, Any]:
    """Rows to learn from, the one fold to choose by, and the test part; features as columns that know what they are."""
    X = sparse.csr_array(data.X) if sparse.issparse(data.X) else data.to_frame()
    parts = data.parts or {}
    known = np.concatenate([parts[name] for name in ("train", "valid") if name in parts])
    order, n_train = np.arange(len(known)), len(parts["train"])
    if "valid" not in parts:
        order, n_train = np.random.default_rng(0).permutation(len(known)), 2 * len(known) // 3
    of_rows = (lambda rows: X[rows]) if sparse.issparse(X) else (lambda rows: X.iloc[rows])
    folds = [(np.sort(order[:n_train]), np.sort(order[n_train:]))]
    return of_rows(known), data.y[known], folds, of_rows(parts["test"]), data.y[parts["test"]]


def reached(name: str, data: Dataset, truth: Any, predicted: np.ndarray) -> float:
    """Pooled average precision on the test part."""
    closed = truth if data.hierarchy is None else data.hierarchy.close(truth)
    rootless = name.endswith("GO")
    return float(average_precision_score(closed, predicted, average="micro", exclude_universal=rootless))


def measured(name: str, folder: Path, seed: int, n_jobs: int, device: str) -> dict[str, Any]:
    """Test scores of the portfolio and of its members, each as it was best on the rows to choose by."""
    data = read(files_of(name, folder))
    X, Y, folds, X_test, truth = split(data)
    started, clock = time.process_time(), time.perf_counter()
    portfolio = Portfolio(hierarchy=data.hierarchy, cv=folds, n_jobs=n_jobs, device=device, random_state=seed)
    portfolio.fit(X, Y)
    cpu, wall = time.process_time() - started, time.perf_counter() - clock
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    found, chosen = {"portfolio": reached(name, data, truth, portfolio.predict_proba(X_test))}, {}
    for member in MEMBERS[:-1]:
        variants = [title for title in portfolio.scores_ if title.partition(",")[0] == member]
        if variants:
            best = chosen[member] = max(variants, key=portfolio.scores_.__getitem__)
            model = portfolio.members_.get(best) or alone(best, data, seed).set_params(n_jobs=n_jobs).fit(X, Y)
            found[member] = reached(name, data, truth, model.predict_proba(X_test))
    return {
        "name": name,
        "seed": seed,
        "labels": len(data.label_names),
        "rows": int(Y.shape[0]),
        "test": found,
        "chosen": chosen,
        "weights": portfolio.weights_,
        "added": portfolio.added_,
        "held_out": portfolio.scores_,
        "cpu": cpu,
        "wall": wall,
        "memory": memory,
        "jobs": n_jobs,
        "device": device,
    }


def alone(title: str, data: Dataset, seed: int) -> Any:
    """A member with the number of rounds or epochs that its title says."""
    members = members_by_default(data.hierarchy, is_regression=False, seed=seed)
    if title in members:
        return members[title]
    name, _, stage = title.rpartition(", ")
    count, unit = stage.split()
    return members[name].set_params(**{"n_epochs" if unit == "epochs" else "n_estimators": int(count)})


def peers(name: str, folder: Path, n_jobs: int) -> dict[str, float]:
    """Test scores of scikit-learn's forest, of LightGBM and of XGBoost, the last two with a model per label."""
    import lightgbm
    import xgboost

    data = read(files_of(name, folder))
    X, Y, _, X_test, truth = split(data)
    X, X_test = (part if sparse.issparse(part) else as_codes(part) for part in (X, X_test))
    closed = sparse.csc_array(Y if data.hierarchy is None else data.hierarchy.close(Y))
    forest = RandomForestClassifier(100, random_state=0, n_jobs=n_jobs).fit(X, closed.toarray().astype(np.int8))
    parts = zip(forest.predict_proba(X_test), forest.classes_, strict=True)
    found = {"scikit-learn": np.column_stack([one[:, 1] if len(c) == 2 else one[:, 0] * c[0] for one, c in parts])}
    kinds = {
        "LightGBM": lightgbm.LGBMClassifier(100, random_state=0, n_jobs=n_jobs, verbose=-1),
        "XGBoost": xgboost.XGBClassifier(n_estimators=100, random_state=0, n_jobs=n_jobs),
    }
    for title, kind in kinds.items():
        found[title] = np.zeros((X_test.shape[0], closed.shape[1]))
        for label in range(closed.shape[1]):
            having = closed[:, [label]].toarray().ravel().astype(np.int8)
            constant = having.min() == having.max()
            found[title][:, label] = having[0] if constant else kind.fit(X, having).predict_proba(X_test)[:, 1]
    return {title: reached(name, data, truth, predicted) for title, predicted in found.items()}


def as_codes(frame: pd.DataFrame) -> np.ndarray:
    """Columns as numbers; nominal ones as the positions of their values, for methods that have no more."""
    coded = {
        name: column.cat.codes.where(column.notna()) if isinstance(column.dtype, pd.CategoricalDtype) else column
        for name, column in frame.items()
    }
    return np.column_stack([np.asarray(column, dtype=float) for column in coded.values()])


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
    rounds: dict[str, float] | None,
    of_devices: dict[str, dict[str, dict[str, float]]],
) -> str:
    """The results as a page."""
    lines = [
        "# Accuracy",
        "",
        "Pooled average precision on the test part, larger is better (`benchmarks/bench_accuracy.py`). The portfolio",
        "is `Portfolio(hierarchy=...)` without further settings: it chooses its members, their rounds, epochs and",
        "weights on the validation part, or on a fixed third of the training rows where there is none; then those",
        "chosen are fitted to both parts and measured once on the test part. Members are shown as they were best on",
        "the rows to choose by. Labels that all rows have are left out for the Gene Ontology (GO). C-HMCNN, HMCN-F and",
        "CLUS-ENS as Giunchiglia and Lukasiewicz (2020) print them. Means over the seeds, with the standard",
        "deviation of the portfolio; CPU seconds and memory, the process at its peak, are of one seed and of all fits.",
        "Once, with one seed: scikit-learn is its `RandomForestClassifier(100)`, LightGBM and XGBoost have a model of",
        f"100 rounds per label (up to {MANY_LABELS} labels, as their cost grows with them).",
        "",
        "| data | labels | seeds | C-HMCNN | HMCN-F | CLUS-ENS | " + " | ".join((*PEERS, *MEMBERS)) + " | CPU s | GB |",
        "|---|---|---|---|---|---|" + "---|" * (len(PEERS) + len(MEMBERS) + 2),
    ]
    names = [name for name in (*PUBLISHED, *LABEL_SETS) if name in runs]
    for name in names:
        of_set = runs[name]
        published = [f"{value:.3f}" for value in PUBLISHED.get(name, ())] or ["-"] * 3
        own = [f"{mean:.3f}" if (mean := mean_of(of_set, member)) is not None else "-" for member in MEMBERS]
        if len(of_set) > 1:
            own[-1] += f" ± {np.std([run['test']['portfolio'] for run in of_set], ddof=1):.3f}"
        theirs = [f"{others[name][peer]:.3f}" if peer in others.get(name, {}) else "-" for peer in PEERS]
        cells = [name, str(of_set[0]["labels"]), str(len(of_set)), *published, *theirs, *own]
        cells += [f"{of_set[0]['cpu']:.0f}", f"{of_set[0]['memory'] / 1e3:.1f}"]
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", *summary(runs), "", "## What the portfolio is", ""]
    lines += ["Weights of the first seed, and what each member added on the rows to choose by.", ""]
    for name in names:
        run = runs[name][0]
        shares = sorted(run["weights"].items(), key=lambda item: -item[1])
        told = "; ".join(f"{share:.2f} {member} ({run['added'][member]:+.4f})" for member, share in shares)
        lines.append(f"- {name}: {told}.")
    lines.append("")
    if rounds is not None:
        lines += [
            f"One round on cellcycle_FUN (499 labels, one thread): {1000 * rounds['ramify']:.0f} ms of CPU, XGBoost",
            f'{rounds["version"]} with `multi_strategy="multi_output_tree"` (depth 6) {rounds["xgboost"]:.1f} s:',
            f"{rounds['xgboost'] / rounds['ramify']:.0f} times as much ({rounds['n_xgboost']:.0f} rounds measured).",
            "",
        ]
    if any(run["device"] != "cpu" for of_set in runs.values() for run in of_set):
        lines += ['Networks of these runs were trained on a GPU (`device="cuda"`), all else on the CPU.', ""]
    for name, found in of_devices.items():
        told = [f"{one['wall']:.0f} s on {title} ({one['reached']:.4f})" for title, one in found.items()]
        lines.append(f"- Three networks on {name}, 64 epochs, {found['cpu']['jobs']:.0f} threads: {', '.join(told)}.")
    lines += [""] * bool(of_devices)
    lines.append(f"Ramify {ramify.__version__}, Python {platform.python_version()}, {platform.machine()}.")
    return "\n".join(lines) + "\n"


def mean_of(of_set: list[dict[str, Any]], member: str) -> float | None:
    """Mean over the seeds, or None where a member was not run with each."""
    if not all(member in run["test"] for run in of_set):
        return None
    return float(np.mean([run["test"][member] for run in of_set]))


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
    """CPU seconds per round of Ramify and of XGBoost's trees of vectors on cellcycle_FUN."""
    import xgboost

    data = read(files_of("cellcycle_FUN", folder))
    X, Y, *_ = split(data)
    Y = np.asarray(data.hierarchy.close(Y).todense())
    started = time.process_time()
    BoostedClassifier(100, hierarchy=data.hierarchy, early_stopping=None, random_state=0).fit(X, Y)
    own = (time.process_time() - started) / 100
    model = xgboost.XGBClassifier(
        n_estimators=n_rounds, multi_strategy="multi_output_tree", tree_method="hist", max_depth=6, n_jobs=1
    )
    started = time.process_time()
    model.fit(as_codes(X), Y)
    theirs = (time.process_time() - started) / n_rounds
    return {"ramify": own, "xgboost": theirs, "version": xgboost.__version__, "n_xgboost": n_rounds}


def devices(name: str, folder: Path, n_jobs: int) -> dict[str, dict[str, float]]:
    """Seconds to train three networks for 64 epochs, and what they reach on the rows to choose by."""
    data = read(files_of(name, folder))
    X, Y, ((train, held_out),), *_ = split(data)
    of_rows = (lambda rows: X[rows]) if sparse.issparse(X) else (lambda rows: X.iloc[rows])
    found = {}
    for device in ("cpu", "cuda"):
        given = {"hierarchy": data.hierarchy, "device": device, "random_state": 0, "n_jobs": n_jobs}
        # A first one starts the device.
        NetworkClassifier(1, n_epochs=1, early_stopping=None, **given).fit(of_rows(train), Y[train])
        clock = time.perf_counter()
        model = NetworkClassifier(n_epochs=64, early_stopping=None, **given).fit(of_rows(train), Y[train])
        wall = time.perf_counter() - clock
        reach = reached(name, data, Y[held_out], model.predict_proba(of_rows(held_out)))
        found[device] = {"wall": wall, "jobs": n_jobs, "reached": reach}
    return found


def kept(path: Path, measure: Callable[..., dict[str, Any]], *given: Any) -> None:
    """Measure, and write what was found all at once."""
    run = measure(*given)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(run), encoding="utf-8")
    part.replace(path)
    print(path.name, {title: round(value, 4) for title, value in run.get("test", {}).items()}, flush=True)


def side_by_side(tasks: list[tuple[Any, ...]], n_processes: int, seconds: float) -> None:
    """Each task in a process of its own, so many at a time; those that run when time is up are stopped."""
    until = time.monotonic() + seconds
    waiting, running = list(tasks), []
    while (waiting or running) and time.monotonic() < until:
        running = [process for process in running if process.is_alive()]
        while waiting and len(running) < n_processes:
            running.append(multiprocessing.get_context("spawn").Process(target=kept, args=waiting.pop(0)))
            running[-1].start()
        time.sleep(0.2)
    for process in running:
        process.terminate()
        process.join()
    if waiting or running:
        print(f"Stopped after {seconds:.0f} s: {len(waiting) + len(running)} of {len(tasks)} runs are missing.")


def main() -> None:
    """Run what is asked for and print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("RAMIFY_DATA", str(Path(__file__).parents[2] / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=Path(default))
    parser.add_argument("--sets", nargs="*", default=[*PUBLISHED, *LABEL_SETS])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--processes", type=int, default=1, help="runs at a time")
    parser.add_argument("--jobs", type=int, default=1, help="threads of a run")
    parser.add_argument("--device", default="cpu", help="where networks are trained: cpu or cuda")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so many")
    parser.add_argument("--results", type=Path, default=Path("bench_accuracy_results"))
    parser.add_argument("--peers", action="store_true", help="measure scikit-learn, LightGBM and XGBoost instead")
    parser.add_argument("--rounds", action="store_true", help="measure CPU per round beside XGBoost, nothing else")
    parser.add_argument("--devices", action="store_true", help="measure networks on the CPU and on a GPU")
    parser.add_argument("--write", type=Path, help="write the page of all finished runs here")
    options = parser.parse_args()
    options.results.mkdir(parents=True, exist_ok=True)
    side = options.results / "rounds.txt"
    if options.rounds:
        side.write_text(json.dumps(cpu_per_round(options.data)), encoding="utf-8")
    tasks: list[tuple[Any, ...]] = []
    if options.peers:
        small = [name for name in options.sets if not name.endswith("GO")]
        tasks = [(options.results / f"{name}.peers", peers, name, options.data, options.jobs) for name in small]
    elif options.devices:
        tasks = [(options.results / f"{n}.devices", devices, n, options.data, options.jobs) for n in options.sets]
    elif not options.rounds:
        runs = [(name, seed) for seed in range(options.seeds) for name in options.sets]
        rest = (options.jobs, options.device)
        tasks = [(options.results / f"{n}_{k}.json", measured, n, options.data, k, *rest) for n, k in runs]
    side_by_side([task for task in tasks if not task[0].exists()], options.processes, options.seconds)
    others = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in options.results.glob("*.peers")}
    rounds = json.loads(side.read_text(encoding="utf-8")) if side.exists() else None
    of_devices = {path.stem: json.loads(path.read_text("utf-8")) for path in options.results.glob("*.devices")}
    page = table(finished(options.results), others, rounds, of_devices)
    print(page)
    if options.write:
        options.write.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
