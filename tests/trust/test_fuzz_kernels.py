"""Row R9 at the kernels' boundary: hostile arrays are refused or answered, and never kill the process.

Every kernel is called as the library calls it, once for real and then with seeded changes of its arguments.
"""

import ast
import contextlib
import os
import sys
import traceback
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from scipy import sparse

import ramify
from ramify import _core, chains, ensemble, ranking
from ramify.datasets import make_hierarchical, make_label_ranking, prepare, read
from ramify.datasets.readers.arff import read_arff
from ramify.features import distances

N_CALLS = 2000
METHODS = ("FeatureTable.append", "FeatureTable.take", "Forest.first", "Forest.part", "Forest.arrays")
METHODS += ("Forest.concatenate", "Growth.part", "Differences.set_table", "Differences.between")
METHODS += ("FeatureTable.of_codes",)


def kernels():
    """Name and function of everything that the compiled module offers: functions, constructors and methods."""
    found = {name: getattr(_core, name) for name in dir(_core) if not name.startswith("_")}
    for name in METHODS:
        kind, method = name.split(".")
        found[name] = getattr(getattr(_core, kind), method)
    return found


def use_the_library(folder: Path) -> None:
    """A little of everything that reaches a kernel."""
    data = make_hierarchical(40, n_features=14, random_state=0)
    X = np.array(data.X)
    X[::9, 1] = np.nan
    X[:, 3] = np.arange(40) % 3
    stored = sparse.csr_array(np.where(np.abs(X) > 0.8, np.nan_to_num(X), 0.0))
    labels = ensemble.ForestClassifier(3, hierarchy=data.hierarchy, oob_score=True, random_state=0)
    labels.set_params(categorical_features=[3]).fit(X, data.y)
    labels.predict(X)
    labels.apply(X)
    labels.contributions(X, 1)
    labels.shap_values(X[:9], labels="1", background=X[:2])
    labels.shap_values(X[:9], labels="predicted", top=2)
    labels.first(2)
    ensemble.export_tree(labels, 0)
    ensemble.ForestClassifier(2, random_state=0).fit(stored, sparse.csr_array(data.y)).predict(stored)
    boosted = ensemble.BoostedClassifier(2, hierarchy=data.hierarchy, sketch=2, early_stopping=0.2, random_state=0)
    boosted.set_params(categorical_features=[3]).fit(X, data.y).predict(X)
    boosted.contributions(X, 1)
    ensemble.BoostedRegressor(2, random_state=0).fit(stored, X[:, [0, 2]]).predict(stored)
    numbers = ensemble.ForestRegressor(2, random_state=0).fit(X, X[:, [0, 2]])
    scores = ["genie3", "symbolic", "permutation", "genie3_oob"]
    ranking.forest_ranking(labels, scores, X, data.y)
    ranking.forest_ranking(numbers, scores, X, X[:, [0, 2]])
    partly = np.where(np.arange(40)[:, None] % 7 == np.arange(3), np.nan, X[:, [0, 2, 4]] > 0)
    for forest, y in ((ensemble.ForestClassifier, partly), (ensemble.ForestRegressor, partly + X[:, [5]])):
        ranking.forest_ranking(forest(2, random_state=0).fit(X, y), scores, X, y)
    ranks = make_label_ranking(40, n_features=6, random_state=0)
    ranked = ensemble.LabelRankingForest(2, aggregate="mallows", oob_score=True, random_state=0).fit(ranks.X, ranks.y)
    ensemble.LabelRankingForest(2, criterion="entropy", random_state=0).fit(ranks.X, ranks.y).predict(ranks.X)
    ranked.predict_preferences(ranks.X)
    ensemble.export_tree(ranked, 0)
    ranking.forest_ranking(ranked, ["permutation"], ranks.X, ranks.y)
    ranking.ReliefRanker(3, categorical_features=[3], random_state=0).fit(X, data.y)
    with mock.patch.object(distances, "_DENSE_CELLS", 0):
        ranking.ReliefRanker(3, random_state=0).fit(stored, data.y)
    many = make_hierarchical(120, n_features=6, depth=2, random_state=0)
    for forest, y in ((ensemble.ForestClassifier, many.y), (ensemble.ForestRegressor, many.X[:, [0]])):
        ranking.discoveries(forest(20), many.X, y, n_draws=2, random_state=0)
    chains.LClassifierChains(ensemble.ForestClassifier(2), random_state=0).fit(X, (X[:, :3] > 0).astype(int))
    (folder / "a.csv").write_text("a,b,c\n" + "1,2,x\n3,?,y\n" * 20, encoding="utf-8")
    read(folder / "a.csv", target="c")
    prepare(folder / "a.csv", folder / "a.ramify", target="c")
    header = "@relation r\n@attribute a numeric\n@attribute b {u,v}\n@attribute c {x,y}\n@data\n"
    (folder / "a.arff").write_text(header + "1,u,x\n2,?,y\n" * 20, encoding="utf-8")
    read_arff(folder / "a.arff")


def recorded_calls(folder: Path) -> dict[str, list]:
    """Calls of each kernel by the library, as positional and keyword arguments."""
    calls: dict[str, list] = {}

    def recorder(name, function):
        def call(*arguments, **options):
            calls.setdefault(name, []).append((function, arguments, options))
            return function(*arguments, **options)

        call.of_codes = getattr(function, "of_codes", None)  # of FeatureTable, which is a type
        return call

    with contextlib.ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings(action="ignore"))
        for name, function in kernels().items():
            if "." not in name and name != "Forest":  # which the library asks for as a type
                stack.enter_context(mock.patch.object(_core, name, recorder(name, function)))
        use_the_library(folder)
    (table, _, growth), forest = calls["grow"][0][1], calls["predict"][0][1][0]
    differences = _core.Differences(**calls["Differences"][0][2])
    of_methods = {
        "FeatureTable.append": (table, table, True),
        "FeatureTable.take": (table, np.array([0, 2], dtype=np.int64)),
        "Forest.first": (forest, 1),
        "Forest.part": (forest, 0, 1),
        "Forest.arrays": (forest,),
        "Forest.concatenate": ([forest, forest],),
        "Growth.part": (growth, 0, 1),
        "Differences.set_table": (differences, 3, np.zeros((3, 3))),
        "Differences.between": (differences, 0, 0.0, 1.0),
    }
    for name, arguments in of_methods.items():
        calls[name] = [(kernels()[name], arguments, {})]
    none, two = np.zeros(0), np.array([0.0, 1.0])
    bins = {"edges": [np.array([0.5]), none], "lower": [two, none], "upper": [two, none]}  # the last code is missing
    coded = [np.array([0, 1, 2, 1], dtype=np.uint8), np.array([1, 2, 0, 1], dtype=np.uint16)]
    bins |= {"n_rows": 4, "n_categories": np.array([0, 2], dtype=np.int32), "n_threads": 1}
    calls["FeatureTable.of_codes"] = [(_core.FeatureTable.of_codes, (coded,), bins)]
    saved = {"outcome": "labels", "n_outputs": forest.n_outputs, "arrays": forest.arrays()}
    calls["Forest"] = [(_core.Forest, (), saved)]
    return {name: _of_each_kind(made) for name, made in calls.items()}


def _of_each_kind(made: list) -> list:
    """Of the calls of a kernel, the last with each kind of arguments, so that every overload is among them."""
    kinds = {
        (*map(type, positional), *options): (function, positional, options) for function, positional, options in made
    }
    return list(kinds.values())


def test_every_kernel_is_among_them(tmp_path):
    stub = ast.parse(Path(ramify.__file__).with_name("_core.pyi").read_text(encoding="utf-8"))
    methods = {
        f"{node.name}.{part.name}"
        for node in stub.body
        if isinstance(node, ast.ClassDef)
        for part in node.body
        if isinstance(part, ast.FunctionDef) and part.name != "__init__"
        if not any(isinstance(how, ast.Name) and how.id == "property" for how in part.decorator_list)
    }
    assert methods == set(METHODS)
    assert set(recorded_calls(tmp_path)) == set(kernels())


def mutate(value, rng):
    """Something else in the place of an argument: another shape, type, layout or extreme values."""
    if isinstance(value, dict):
        name = sorted(value)[rng.integers(len(value))]
        return {**value, name: mutate(value[name], rng)}
    if isinstance(value, list):
        return [value, [], value + value, [None]][rng.integers(4)]
    if isinstance(value, str):
        return str(rng.choice(["", "x", value.upper(), "labels", "numbers", "auprc", "misclassification", "entropy"]))
    if isinstance(value, bool):
        return not value
    if value is None:
        return [None, np.zeros(3), np.arange(40, dtype=np.int64), 1][rng.integers(4)]
    if isinstance(value, int):
        return int(rng.choice([-(2**31), -1, 0, 1, 2, 3, 41, 255]))
    if isinstance(value, float):
        return float(rng.choice([-1.0, np.nan, np.inf, 1e308, 5e-324]))
    if not isinstance(value, np.ndarray):
        return value
    with np.errstate(all="ignore"):
        return _mutated_array(value.copy(), rng)


def _mutated_array(changed, rng):
    kind = rng.integers(9)
    if kind == 0:
        return changed[: rng.integers(len(changed) + 1)]
    if kind == 1:
        return changed.astype(rng.choice(["f4", "f8", "i4", "i8", "u1", "O", ">f8", "f2", "U3"]))
    if kind == 2:
        return np.concatenate([changed, changed])
    if kind == 3:
        return changed[::-1]
    if kind == 4:
        return changed.reshape(-1) if changed.ndim > 1 else changed[:, None]
    if kind == 5:
        return np.asfortranarray(changed)[..., ::2] if changed.ndim > 1 else changed[::2]
    if changed.size:
        at = rng.integers(changed.size, size=rng.integers(1, 4))
        extreme = [np.nan, np.inf, -1e308, 1e308, -1, 7] if changed.dtype.kind == "f" else [-(2**31), -1, 2**31 - 1, 99]
        if changed.dtype.kind == "u":
            extreme = [0, 2, np.iinfo(changed.dtype).max]
        if changed.dtype == np.int8:
            extreme = [-128, -1, 0, 1, 127]
        if changed.dtype == np.int64:
            extreme += [2**62, -(2**62), 2**32]
        flat = changed.reshape(-1)
        flat[at] = rng.choice(np.array(extreme, dtype=changed.dtype), size=len(at))
        changed = flat.reshape(changed.shape)
    return changed


def call_mutants(calls, first: int, last: int) -> list[str]:
    """Call kernels with mutated arguments; the foreign errors that came back."""
    names = sorted(calls)
    foreign = []
    for seed in range(first, last):
        rng = np.random.default_rng(seed)
        name = names[seed % len(names)]
        function, positional, keywords = calls[name][rng.integers(len(calls[name]))]
        arguments = list(positional)
        options = dict(keywords)
        for _ in range(rng.integers(1, 4)):
            place = rng.integers(len(arguments) + len(options))
            if place < len(arguments):
                arguments[place] = mutate(arguments[place], rng)
            else:
                key = sorted(options)[place - len(arguments)]
                options[key] = mutate(options[key], rng)
        try:
            function(*arguments, **options)
        except (ValueError, TypeError, OverflowError, MemoryError):
            pass
        except BaseException:
            foreign.append(f"{name}, seed {seed}: {traceback.format_exc(limit=1)}")
    return foreign


def survives(calls, folder: Path, n_calls: int) -> None:
    step = 250
    for first in range(0, n_calls, step):
        log = folder / f"{first}.txt"
        child = os.fork()
        if child == 0:
            try:
                log.write_text("\n".join(call_mutants(calls, first, first + step)), encoding="utf-8")
            finally:
                sys.stdout.flush()
                os._exit(0 if log.exists() else 1)
        _, status = os.waitpid(child, 0)
        assert not os.WIFSIGNALED(status), f"signal {os.WTERMSIG(status)} among the seeds {first} to {first + step}"
        assert os.WEXITSTATUS(status) == 0
        assert log.read_text(encoding="utf-8") == ""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the calls run in a forked process")
@pytest.mark.parametrize("n_calls", [N_CALLS, pytest.param(10 * N_CALLS, marks=pytest.mark.slow)])
def test_hostile_arrays_never_kill_the_process(n_calls, tmp_path, scorecard):
    calls = recorded_calls(tmp_path)
    survives(calls, tmp_path, n_calls)
    text = f"{n_calls:,} calls of {len(calls)} kernels with hostile arrays: 0 crashes, 0 foreign errors"
    scorecard("R9", text)
