"""Do claims hold? Realised false shares, power and null p-values of `discoveries` on data with known drivers.

Each run is a line of a file, so a stopped run goes on where it was. Peers that are not installed are left out:
`pip install boruta hidimstat`.

    python benchmarks/bench_discoveries.py run runs.jsonl [--runs 20] [--near 100] [--shuffles] [--jobs 16]
        [--designs independent flat] [--seconds 540]
    python benchmarks/bench_discoveries.py peers runs.jsonl [--runs 3]
    python benchmarks/bench_discoveries.py real runs.jsonl [-o docs/guide]
    python benchmarks/bench_discoveries.py audit runs.jsonl [--runs 2]
    python benchmarks/bench_discoveries.py wide runs.jsonl
    python benchmarks/bench_discoveries.py table runs.jsonl... [-o docs/benchmarks/discoveries.md]
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from discovery_designs import AUDITED, CLASSES, DATA, DESIGNS, REAL, SHUFFLED, Design, real_set
from joblib import Parallel, delayed
from scipy.stats import false_discovery_control
from sklearn.base import clone

from ramify.datasets import read
from ramify.ensemble import ForestClassifier, ForestRegressor, LabelRankingForest, forest_choice
from ramify.features import Features, columns_of, learn_features
from ramify.features.frames import take_rows
from ramify.ranking import Discoveries, ForestRanker, audit, discoveries, forest_ranking, significance
from ramify.ranking.discovery import discover
from ramify.ranking.discovery.control import CONTROLS, Graph, claimed_at, simes
from ramify.ranking.discovery.outcome import Untestable
from ramify.ranking.discovery.predictors import Predictors
from ramify.ranking.discovery.redraw import column_model
from ramify.ranking.discovery.survey import Question, Survey, survey
from ramify.shown import shown_number, shown_p

LONG = ("wide", "size, 600", "rare and wide", "time 0.95, no driver")
NEAR_THE_RATE = (
    "visits, no driver",
    "visits",
    "families",
    "twins",
    "copied rows",
    "scale",
    "ordinal",
    "exclusive or",
    "40 levels",
    "heavy tails",
    "size",
    "squares",
    "sines",
    "binary",
    "numbers",
    "diatoms",
    "cellcycle",
    "weights, no driver",
    "time 0.8",
    "no signal",
)
LEVELS = (0.05, 0.1, 0.2)
MOST_REDRAWN = 1000
FEWEST_RUNS = 5
SHUFFLES = {"shuffled, others": "others", "shuffled, nothing": "nothing"}
SHADOWS = {"gains in the bag, shadows (the default before)": "genie3", "permutation, shadows": "permutation"}
OTHERS = ("boruta", "hidimstat")
PEER_DESIGNS = ("independent", "correlated 0.7", "blocks", "flat")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("run", "peers", "real", "audit", "wide", "table"))
    parser.add_argument("file", type=Path, nargs="+", help="runs; more than one for a table of all")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0, help="runs take the seeds from here on")
    parser.add_argument("--near", type=int, help="runs of designs near the rate; by default as many as of the others")
    parser.add_argument("--shuffles", action="store_true", help="also real sets whose targets are in another order")
    parser.add_argument("--seconds", type=float, default=np.inf, help="no run begins after so long")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, one core each")
    parser.add_argument("--designs", nargs="*", default=list(DESIGNS))
    parser.add_argument("--methods", nargs="*", help="only these peers")
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    files, arguments.file = arguments.file, arguments.file[0]
    records = [json.loads(line) for file in files if file.exists() for line in file.read_text().splitlines()]
    if arguments.action == "table":
        text = report(records)
        print(text)
        if arguments.output is not None:
            arguments.output.write_text(text, encoding="utf-8")
        return
    if arguments.action == "real":
        for name in REAL:
            with arguments.file.open("a") as file:
                file.write(json.dumps(real(name, arguments.output)) + "\n")
        return
    if arguments.action == "audit":
        for name in AUDITED:
            with arguments.file.open("a") as file:
                file.write(json.dumps(audited(name, arguments.runs)) + "\n")
        return
    if arguments.action == "wide":
        with arguments.file.open("a") as file:
            file.write(json.dumps(wide()) + "\n")
        return
    done = {(record["method"], record["design"], record["seed"]) for record in records}
    waiting = [run for run in planned(arguments) if run not in done]
    end = time.monotonic() + arguments.seconds
    runs = (delayed(one_run)(*run) for run in waiting if time.monotonic() < end)
    for record in Parallel(arguments.jobs, return_as="generator_unordered", pre_dispatch="n_jobs")(runs):
        with arguments.file.open("a") as file:
            file.write(json.dumps(record) + "\n")


def planned(arguments: argparse.Namespace) -> list[tuple[str, str, int]]:
    """Method, design and seed of each run: long ones first, then all designs side by side."""
    if arguments.action == "peers":
        numbers = {(method, name): arguments.runs for name in PEER_DESIGNS for method in installed_peers()}
        numbers = {key: n for key, n in numbers.items() if not arguments.methods or key[0] in arguments.methods}
    else:
        near = arguments.near or arguments.runs
        numbers = {
            ("discoveries", name): near if name in NEAR_THE_RATE else arguments.runs for name in arguments.designs
        }
        numbers |= {(method, name): near for name in SHUFFLED for method in SHUFFLES if arguments.shuffles}
    first = arguments.first_seed
    runs = [(method, name, first + k, (k + 0.5) / n) for (method, name), n in numbers.items() for k in range(n)]
    runs.sort(key=lambda run: (run[1] not in LONG, run[3]))
    return [(method, name, seed) for method, name, seed, _ in runs]


def one_run(method: str, name: str, seed: int) -> dict[str, Any]:
    """One method on one generated table."""
    start = time.process_time()
    if method in SHUFFLES:
        record = shuffled_claims(name, seed, SHUFFLES[method])
    else:
        claims_of = our_claims if method == "discoveries" else installed_peers()[method]
        record = claims_of(DESIGNS[name][1](np.random.default_rng([seed, list(DESIGNS).index(name)])), seed)
    return record | {"method": method, "design": name, "seed": seed, "seconds": time.process_time() - start}


def forest_for(design: Design) -> Any:
    if design.kind == "numbers":
        return ForestRegressor(200, min_samples_leaf=3)
    if design.kind == "rankings":
        return LabelRankingForest(200, min_samples_leaf=3)
    categorical = list(design.categorical) or None
    return ForestClassifier(200, hierarchy=design.hierarchy, min_samples_leaf=3, categorical_features=categorical)


def our_claims(design: Design, seed: int) -> dict[str, Any]:
    """One run of `discoveries` as a user calls it: claims at each level and control, p-values where nothing is.

    So that p-values of all units and claims at all levels are known, features are redrawn that could not be claimed,
    too; not where there are very many.
    """
    surveys: list[Survey] = []

    def kept(question: Question, features: Features, *rest: Any) -> Survey:
        whole = features.values.shape[1] <= MOST_REDRAWN
        surveys.append(survey(replace(question, level=None) if whole else question, features, *rest))
        return surveys[-1]

    told = {name: getattr(design, name) for name in ("row_groups", "sample_weight", "feature_hierarchy")}
    try:
        with patch.object(discover, "survey", kept):
            found = discoveries(forest_for(design), design.X, design.y, random_state=seed, n_jobs=1, **told)
    except Untestable as refusal:
        return {"refused": str(refusal)}
    outcome, units = surveys[0].outcome, [list(unit.features) for unit in surveys[0].units]
    record: dict[str, Any] = {"n_doubtful": len(found.doubtful), "notes": list(found.notes)}
    truth = branch_truth(design, outcome.branches)
    true = np.array([truth[unit].any(axis=0) for unit in units]).reshape(len(units), len(outcome.branches))
    record["n_true"] = int(truth_by_unit(truth, units).sum())
    if design.feature_hierarchy is not None:
        record |= nested_claims(found, truth)
    else:
        p_values = simes(surveys[0].p_values, outcome.members)
        graph = Graph.of(outcome.parents, len(units), surveys[0].n_unused)
        for control in CONTROLS:
            for level in LEVELS:
                claimed = claimed_at(p_values, graph, level, control)
                counts = ((claimed & ~true).sum(), claimed.sum(), (claimed & true).sum())
                record[f"{control} {level}"] = [int(count) for count in counts]
                if control == "per_feature" and claimed[:, 0].any():
                    own = claimed[claimed[:, 0]]
                    wrong = (own & ~true[claimed[:, 0]]).sum(axis=1) / own.sum(axis=1)
                    record[f"per_feature {level}"].append(float(wrong.mean()))
    own_truth = output_truth(design, outcome)
    null = np.array([not own_truth[unit].any() for unit in units], dtype=bool)
    partner = np.array([bool(set(unit) & set(design.partners)) for unit in units], dtype=bool) & null
    no_effect = ~np.array([own_truth[unit].any(axis=0) for unit in units]).reshape(surveys[0].p_values.shape)
    small = surveys[0].p_values < 0.05
    if design.X.shape[1] <= MOST_REDRAWN:
        record["null"] = [int(small[no_effect].sum()), int(no_effect.sum())]
        record["partner"] = [int(small[partner].sum()), int(small[partner].size)]
    return record


def nested_claims(found: Discoveries, truth: np.ndarray) -> dict[str, Any]:
    """Claims of features and of branches of features at the default level; power over drivers, alone or in a branch."""
    position = {name: k for k, name in enumerate(found.branches)}
    reached = np.zeros(truth.shape, dtype=bool)
    n_false = 0
    for claim in found.claims:
        members = [int(name[1:]) for name in found.feature_branches.get(claim.feature, (claim.feature,))]
        own = truth[members, position[claim.branch]]
        n_false += not own.any()
        reached[members, position[claim.branch]] |= own
    n_claims = len(found.claims)
    return {"joint 0.1": [n_false, n_claims, int(reached.sum())], "n_true": int(truth.sum())}


def shuffled_claims(name: str, seed: int, given: str) -> dict[str, Any]:
    """Claims on a real set whose target is in another order."""
    data = real_set(name)
    order = np.random.default_rng([seed, 7]).permutation(data.n_samples)
    forest = forest_choice.forest_for(data.target, hierarchy=data.hierarchy, n_estimators=200, min_samples_leaf=3)
    forest.set_params(categorical_features=list(data.categorical_features) or None)
    found = discoveries(forest, data.X, take_rows(data.y, order), given=given, random_state=seed, n_jobs=1)
    return {"n_claims": len(found.claims)}


def branch_truth(design: Design, branches: tuple[str, ...]) -> np.ndarray:
    """Features x branches: whether the feature drives a label of the branch."""
    columns = []
    names = list(design.hierarchy.names) if design.hierarchy is not None else None
    for branch in branches:
        if branch == "":
            columns.append(design.truth.any(axis=1))
        elif design.kind == "rankings":
            labels = [int(label[1:]) - 1 for label in branch.split(">")]
            # Utilities of the other labels also decide where a label stands.
            columns.append(design.truth[:, labels if len(labels) == 2 else slice(None)].any(axis=1))
        elif names is None:
            columns.append(design.truth[:, int("".join(filter(str.isdigit, branch)))])
        else:
            below = [branch, *design.hierarchy.descendants(branch)]
            columns.append(design.truth[:, [names.index(label) for label in below]].any(axis=1))
    return np.column_stack(columns)


def output_truth(design: Design, outcome: Any) -> np.ndarray:
    """Features x tested outputs."""
    if design.kind != "rankings":
        return design.truth[:, outcome.outputs]
    first, second = np.triu_indices(design.truth.shape[1], k=1)
    return (design.truth[:, first] | design.truth[:, second])[:, outcome.outputs]


def truth_by_unit(truth: np.ndarray, units: list[list[int]]) -> np.ndarray:
    """True claims that could be made: of units that are tested and of drivers that no unit holds."""
    held = {feature for unit in units for feature in unit}
    alone = [[feature] for feature in range(len(truth)) if feature not in held]
    return np.array([truth[unit].any(axis=0) for unit in [*units, *alone]])


def installed_peers() -> dict[str, Callable[[Design, int], dict[str, Any]]]:
    peers: dict[str, Callable[[Design, int], dict[str, Any]]] = {
        name: partial(shadows, score=score) for name, score in SHADOWS.items()
    }
    for module, claims_of in zip(OTHERS, (boruta, hidimstat), strict=True):
        try:
            __import__(module)
        except ImportError:
            continue
        peers[module] = claims_of
    return peers


def scored(design: Design, q_values: np.ndarray) -> dict[str, Any]:
    """False share and power of claims feature x label by q-values, branches by their own label."""
    names = design.hierarchy.names if design.hierarchy is not None else tuple(f"l{k}" for k in range(q_values.shape[1]))
    truth = branch_truth(design, names)
    return {
        f"joint {level}": [
            int(((q_values <= level) & ~truth).sum()),
            int((q_values <= level).sum()),
            int(((q_values <= level) & truth).sum()),
        ]
        for level in LEVELS
    } | {"n_true": int(truth.sum())}


def shadows(design: Design, seed: int, score: str) -> dict[str, Any]:
    forest = ForestClassifier(100, hierarchy=design.hierarchy, random_state=seed)
    ranker = (Unmarked if score == "genie3" else ForestRanker)(forest, scores=score)
    found = significance(ranker, design.X, design.y, per_label="branch", random_state=seed, n_repeats=10)
    return scored(design, found.q_values_per_label)


class Unmarked(ForestRanker):
    """A ranker that does not say what its scores are: `significance` refuses gains in the bag per label."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Unmarked:
        """Rank, and forget how."""
        super().fit(X, y, sample_weight)
        self.ranking_ = replace(self.ranking_, origin={})
        return self


def boruta(design: Design, seed: int) -> dict[str, Any]:
    from boruta import BorutaPy

    q_values = np.ones(design.truth.shape)
    for label in range(design.y.shape[1]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = BorutaPy(ForestClassifier(max_depth=5), n_estimators=100, max_iter=50, random_state=seed)
            found.fit(design.X, design.y[:, label])
        q_values[found.support_, label] = 0.0
    return scored(design, q_values)


def log_loss(y: np.ndarray, chances: np.ndarray) -> float:
    return float(-np.log(np.clip(chances[np.arange(len(y)), y], 1e-15, 1)).mean())


def hidimstat(design: Design, seed: int) -> dict[str, Any]:
    from hidimstat import CFI
    from sklearn.linear_model import RidgeCV
    from sklearn.model_selection import train_test_split

    p_values = np.ones(design.truth.shape)
    for label in range(design.y.shape[1]):
        y = design.y[:, label]
        if y.sum() < 10:
            continue
        train, test = train_test_split(np.arange(len(y)), test_size=0.3, random_state=seed, stratify=y)
        forest = ForestClassifier(100, min_samples_leaf=3, random_state=seed, n_jobs=1).fit(design.X[train], y[train])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            importance = CFI(
                estimator=forest,
                method="predict_proba",
                loss=log_loss,
                imputation_model_continuous=RidgeCV(),
                n_permutations=20,
                random_state=seed,
            )
            importance.fit(design.X[train], y[train])
            importance.importance(design.X[test], y[test])
        p_values[:, label] = np.nan_to_num(np.asarray(importance.pvalues_), nan=1.0)
    return scored(design, false_discovery_control(p_values, axis=0))


def real(name: str, folder: Path | None) -> dict[str, Any]:
    """What claims on a real set cost beside growing its forest, in one process; the table of claims as CSV."""
    data = real_set(name)
    options: dict[str, Any] = {"n_estimators": 200, "min_samples_leaf": 3, "random_state": 0, "n_jobs": 1}
    forest = forest_choice.forest_for(data.target, hierarchy=data.hierarchy, **options)
    growing = [cpu_seconds(lambda: clone(forest).fit(data.X, data.y))[0]]
    surveys: list[Survey] = []

    def kept(*arguments: Any) -> Survey:
        surveys.append(survey(*arguments))
        return surveys[-1]

    with patch.object(discover, "survey", kept):
        total, found = cpu_seconds(lambda: discoveries(forest, data.X, data.y, random_state=0, n_jobs=1))
    first = replace(surveys[0], question=replace(surveys[0].question, n_draws=1))
    residuals = np.ascontiguousarray([unit.residual(first.predictors.n_rows) for unit in first.units])
    testing = cpu_seconds(lambda: first.sums(first.units, residuals))[0]
    growing.append(cpu_seconds(lambda: clone(forest).fit(data.X, data.y))[0])
    if folder is not None:
        write_claims(found.with_names(data.feature_names, {}), folder / f"claims_{name}.csv")
    return {
        "method": "real",
        "design": name,
        "seed": 0,
        "shape": [*data.X.shape, len(first.outcome.outputs)],
        "growing": growing,
        "testing": testing,
        "total": total,
        "n_claims": len(found.claims),
        "n_doubtful": len(found.doubtful),
        "n_untested": len(found.untested),
        "load": os.getloadavg()[0],
    }


def audited(name: str, n_rounds: int) -> dict[str, Any]:
    """What `audit` says of a real set."""
    data = real_set(name)
    forest = forest_choice.forest_for(data.target, hierarchy=data.hierarchy, n_estimators=200, min_samples_leaf=3)
    forest.set_params(categorical_features=list(data.categorical_features) or None)
    work = partial(audit, forest, data.X, data.y, n_rounds=n_rounds, random_state=0, n_jobs=1)
    total, found = cpu_seconds(work)
    shape = [*data.X.shape, len(data.label_names)]
    return {"method": "audit", "design": name, "seed": 0, "shape": shape, "total": total, **vars(found)}


def cpu_seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def write_claims(found: Discoveries, path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["feature", "branch", "effect", "90 % interval", "q", "rows", "beyond its parent"])
        for claim in found.claims:
            known = claim.effect is not None
            effect, low, high = (
                shown_number(value) if known else "" for value in (claim.effect, claim.low, claim.high)
            )
            interval = f"{low} to {high}" if known else "not bounded"
            cells = [claim.feature, claim.branch_name, effect, interval, shown_p(claim.q)]
            writer.writerow([*cells, f"{claim.rows:,}", claim.beyond])


def wide(n_models: int = 25) -> dict[str, Any]:
    """What claims cost on the 19,628 features of struc_FUN: the forest, features that it uses, models of some."""
    data = read([DATA / f"hmc/fun/struc_FUN.{part}.arff.gz" for part in ("train", "valid")])
    nominal = np.asarray(data.categorical_features) if len(data.categorical_features) else None
    features = learn_features(columns_of("bench"), data.X, nominal)
    start = time.process_time()
    forest = ForestClassifier(
        200, hierarchy=data.hierarchy, min_samples_leaf=3, categorical_features=nominal, random_state=0
    ).fit(data.X, data.y)
    grown = time.process_time() - start
    used = np.flatnonzero(forest_ranking(forest, "symbolic").scores > 0)
    values = np.asarray(features.values.toarray() if features.is_sparse else features.values, dtype=np.float64)
    predictors = Predictors(values, features.n_categories, 0)
    predictors.prepare()
    start = time.process_time()
    for feature in used[1 : n_models + 1].tolist():
        column_model(predictors, feature, {feature}, seed=0)
    return {
        "method": "wide",
        "design": "struc_FUN",
        "seed": 0,
        "shape": list(values.shape),
        "n_used": len(used),
        "growing": grown,
        "n_models": n_models,
        "model": (time.process_time() - start) / n_models,
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }


def wide_lines(records: list[dict[str, Any]]) -> list[str]:
    lines = []
    for record in (record for record in records if record["method"] == "wide"):
        n_rows, n_features = record["shape"]
        minutes = record["n_used"] * record["model"] / 60
        lines += [
            "",
            "## Very many features",
            "",
            f"{record['design']}: {n_rows:,} rows, {n_features:,} features. 200 trees grow in "
            f"{record['growing']:.0f} CPU seconds and use {record['n_used']:,} features; the others are never claimed "
            f"and cost nothing. A redraw model takes {record['model']:.2f} CPU seconds (measured on "
            f"{record['n_models']}), so all of them about {minutes:.0f} CPU minutes (extrapolated, not run in full), "
            f"and the tests come on top; memory {record['gigabytes']:.1f} GB.",
        ]
    return lines


def report(records: list[dict[str, Any]]) -> str:
    ours = [record for record in records if record["method"] == "discoveries"]
    lines = [
        "# Discoveries: do claims hold?",
        "",
        "Realised share of false claims (its standard error over runs) and power of `discoveries`, joint control, at "
        "nominal 5, 10 and 20 %, on data with known drivers; null: how often a p-value of a feature and a label that "
        "it does not drive is below 0.05, of all and of features made from a driver (partners). 800 rows, 60 features "
        "and 12 labels in a tree unless said otherwise. A claim on a group counts as true if a member drives the "
        "branch; a run that is refused makes no claim. Bold: above the nominal share by more than two standard "
        f"errors, in {FEWEST_RUNS} runs or more. `benchmarks/bench_discoveries.py`.",
    ]
    failed, n_cells = [], 0
    for title, names in CLASSES.items():
        rows_of = {name: [record for record in ours if record["design"] == name] for name in names}
        if not any(rows_of.values()):
            continue
        lines += ["", f"## {title}", ""]
        lines += ["| design | runs | refused | false share 5 % | 10 % | 20 % | power at 10 % | null | partners |"]
        lines += ["|---" * 9 + "|"]
        for name, rows in rows_of.items():
            if not rows:
                continue
            n_refused = sum("refused" in record for record in rows)
            cells = []
            for level in LEVELS:
                key = f"joint {level}"
                if any(key not in record for record in rows if "refused" not in record):
                    cells.append("")
                    continue
                mean, error = false_share(rows, key)
                over = len(rows) >= FEWEST_RUNS and mean > level + 2 * error
                n_cells += len(rows) >= FEWEST_RUNS
                failed += [f"{name} at {level:g}"] if over else []
                cells.append(f"{'**' if over else ''}{mean:.3f}{'**' if over else ''} ({error:.3f})")
            null, partner = (small_share(rows, key) for key in ("null", "partner"))
            text = DESIGNS[name][0].replace("|", "\\|")
            lines.append(
                f"| {name}: {text} | {len(rows)} | {n_refused or ''} | {' | '.join(cells)} | "
                f"{power(rows, 'joint 0.1')} | {null} | {partner} |"
            )
        rows = [record for own in rows_of.values() for record in own]
        small = {"all": small_share(rows, "null"), "partners": small_share(rows, "partner")}
        said = "; ".join(f"{what} {share}" for what, share in small.items() if share)
        lines += ["", f"Null p-values below 0.05 in this class: {said}."] if said else []
    verdict = "none" if not failed else ", ".join(failed)
    lines += [
        "",
        "## All of them",
        "",
        f"Cells of at least {FEWEST_RUNS} runs above the nominal share by more than two standard errors: {len(failed)} "
        f"of {n_cells} ({verdict}), in {len(ours):,} runs.",
    ]
    lines += shuffled_lines(records)
    lines += audited_lines(records)
    lines += ["", "## Other controls, at 10 %", "", *controls_table(ours), "", other_failures(ours)]
    if any(record["method"] in (*SHADOWS, *OTHERS) for record in records):
        lines += ["", "## Beside others, at 10 %", "", *peers_table(records)]
    lines += ["", "## What it costs", "", *cost_lines(records)]
    lines += wide_lines(records)
    return "\n".join(lines) + "\n"


def shuffled_lines(records: list[dict[str, Any]]) -> list[str]:
    """How often anything is claimed on real sets whose targets are in another order."""
    found = [record for record in records if record["method"] in SHUFFLES]
    if not found:
        return []
    head = "| set | " + " | ".join(f'runs with a claim, given="{given}"' for given in SHUFFLES.values()) + " |"
    lines = ["", "## Real sets, targets in another order", "", head, "|---" * (1 + len(SHUFFLES)) + "|"]
    for name in SHUFFLED:
        cells = []
        for method in SHUFFLES:
            own = [record["n_claims"] > 0 for record in found if (record["method"], record["design"]) == (method, name)]
            cells.append(f"{sum(own)} of {len(own)}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def audited_lines(records: list[dict[str, Any]]) -> list[str]:
    """What `audit` says of real sets."""
    found = [record for record in records if record["method"] == "audit"]
    if not found:
        return []
    lines = [
        "",
        "## Audits of real sets",
        "",
        "Labels planted on their own features, decoys beside the drivers, then rows of y in another order; 10 % asked "
        "for, one thread.",
        "",
        "| set | rows x features | rounds | claims | false share | drivers claimed | falsely claimed | shuffled rounds "
        "with a claim | CPU s |",
        "|---" * 9 + "|",
    ]
    for record in found:
        n_rows, n_features = record["shape"][:2]
        wrong = ", ".join(f"{kind} {number}" for kind, number in record["false_claims"].items() if number) or "none"
        lines.append(
            f"| {record['design']} | {n_rows:,} x {n_features:,} | {record['n_planted']} | {record['n_claims']} | "
            f"{record['false_share']:.2f} | {record['power']:.2f} | {wrong} | {record['n_with_claims']} of "
            f"{record['n_shuffled']} | {record['total']:.0f} |"
        )
    return lines


def controls_table(ours: list[dict[str, Any]]) -> list[str]:
    lines = ["| design | joint: false share, power | per feature: mean share per selected feature, power | flat |"]
    lines.append("|---|---|---|---|")
    for name in DESIGNS:
        rows = [record for record in ours if record["design"] == name]
        if not rows:
            continue
        if any("flat 0.1" not in record for record in rows if "refused" not in record):
            continue
        cells = [f"{false_share(rows, f'{c} 0.1')[0]:.3f}, {power(rows, f'{c} 0.1')}" for c in CONTROLS]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def other_failures(ours: list[dict[str, Any]]) -> str:
    """Where controls other than the default exceed their rate."""
    failed, n_cells = [], 0
    for name in DESIGNS:
        rows = [record for record in ours if record["design"] == name]
        asked = rows and all("refused" in record or "flat 0.1" in record for record in rows)
        for key in (f"{control} {level}" for control in CONTROLS[1:] for level in LEVELS) if asked else ():
            mean, error = false_share(rows, key)
            if len(rows) < FEWEST_RUNS:
                continue
            n_cells += 1
            if mean > float(key.split()[1]) + 2 * error:
                failed.append(f"{name}, {key}: {mean:.3f} ({error:.3f})")
    return (
        "Cells of these two above the nominal share by more than two standard errors, at 5, 10 and 20 %: "
        f"{len(failed)} of {n_cells} ({'; '.join(failed) or 'none'})."
    )


def peers_table(records: list[dict[str, Any]]) -> list[str]:
    lines = ["| method | " + " | ".join(f"{name}: false share / power" for name in PEER_DESIGNS) + " | CPU s |"]
    lines.append("|---|" + "---|" * (len(PEER_DESIGNS) + 1))
    for method in ("discoveries", *SHADOWS, *OTHERS):
        cells = []
        for name in PEER_DESIGNS:
            found = [r for r in records if (r["method"], r["design"]) == (method, name)]
            share = f"{false_share(found, 'joint 0.1')[0]:.2f} / {power(found, 'joint 0.1')}" if found else ""
            cells.append(f"{share} ({len(found)} {'run' if len(found) == 1 else 'runs'})" if found else "not run")
        seconds = [r["seconds"] for r in records if r["method"] == method and r["design"] in PEER_DESIGNS]
        lines.append(f"| {method} | {' | '.join(cells)} | {f'{np.mean(seconds):.1f}' if seconds else ''} |")
    return [
        *lines,
        "",
        "Boruta and hidimstat take one label at a time, with Ramify's forest as their estimator. Boruta: 100 trees of "
        "depth 5 and 50 rounds (by default 1,000 and 100); what it confirms counts as claimed, whatever the rate. "
        "hidimstat: conditional feature importance (its t-test is over redraws), 100 trees grown on 70 % of the rows, "
        "redrawn by ridge regression 20 times (by default 50), Benjamini-Hochberg within each label.",
    ]


def cost_lines(records: list[dict[str, Any]]) -> list[str]:
    """Cost on real sets, and of the runs above."""
    lines = [
        "CPU seconds on one thread, in one process: growing the forest (before and after), testing one draw of every "
        "feature, and all of it (growing, redraw models, five draws, control, effects, beyond the parent).",
        "",
        "| set | rows x features, outputs | growing | one draw | ratio | all | claims | doubtful | untested | load |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for record in (record for record in records if record["method"] == "real"):
        n_rows, n_features, n_outputs = record["shape"]
        growing = " and ".join(f"{seconds:.2f}" for seconds in record["growing"])
        ratio = record["testing"] / np.mean(record["growing"])
        lines.append(
            f"| {record['design']} | {n_rows:,} x {n_features:,}, {n_outputs:,} | {growing} | "
            f"{record['testing']:.2f} | {ratio:.1f} | {record['total']:.1f} | {record['n_claims']:,} | "
            f"{record['n_doubtful']} | {record['n_untested']:,} | {record['load']:.0f} |"
        )
    runs = [record for record in records if record["method"] != "wide"]
    minutes = sum(record.get("seconds", record.get("total", 0.0)) for record in runs) / 60
    return [*lines, "", f"All runs of this page together: {minutes:.0f} CPU minutes on one thread."]


def small_share(rows: list[dict[str, Any]], key: str) -> str:
    """Share of small p-values over runs, with its standard error; runs without any such pair are left out."""
    shares = np.array([record[key][0] / record[key][1] for record in rows if record.get(key, [0, 0])[1]])
    if not len(shares):
        return ""
    error = f" ({shares.std(ddof=1) / np.sqrt(len(shares)):.3f})" if len(shares) > 1 else ""
    return f"{shares.mean():.3f}{error}"


def false_share(rows: list[dict[str, Any]], key: str) -> tuple[float, float]:
    """Mean over runs and its standard error; per feature it is the mean over the features that are selected."""
    made = [record.get(key, [0, 0]) for record in rows]  # a refused run makes no claim
    if key.startswith("per_feature"):
        shares = np.array([own[3] if len(own) > 3 else 0.0 for own in made])
    else:
        shares = np.array([own[0] / max(1, own[1]) for own in made])
    return float(shares.mean()), float(shares.std(ddof=1) / np.sqrt(len(shares))) if len(shares) > 1 else 0.0


def power(rows: list[dict[str, Any]], key: str) -> str:
    tested = [record for record in rows if "refused" not in record]
    n_true = sum(record["n_true"] for record in tested)
    return f"{sum(record[key][2] for record in tested) / n_true:.2f}" if n_true else ""


if __name__ == "__main__":
    main()
