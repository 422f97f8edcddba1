"""A study after any change of content is a fresh study: nothing stale, nothing mixed up."""

import ast
import functools
import importlib
import os
import subprocess
import sys
import textwrap
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, fbeta_score
from sklearn.model_selection import KFold, PredefinedSplit, ShuffleSplit
from sklearn.tree import DecisionTreeClassifier

from ramify import Hierarchy
from ramify.datasets import Dataset, make_multilabel, read
from ramify.study import Study
from ramify.study.fingerprint import FingerprintError, fingerprint
from ramify.study.study_files import load_study_file

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
Y = (X[:, 0] + 0.5 * rng.normal(size=40) > 0).astype(int)


def data(**changes) -> Dataset:
    return Dataset(**{"X": X, "y": Y, "target": "classes", "label_names": ("0", "1"), **changes})


def mean_of_rows(train, test, seed):
    return {"value": float(train.X.mean())}


class Scaled:
    """A method that is an object."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, train, test, seed):
        return {"value": self.factor * float(test.X.sum())}


def closure(factor):
    def method(train, test, seed):
        return {"value": factor * float(test.X.sum())}

    return method


def helper(factor):
    def inner(x):
        return factor * x

    def method(train, test, seed):
        return {"value": inner(float(test.X.sum()))}

    return method


def with_default(factor):
    def method(train, test, seed, factor=factor):
        return {"value": factor * float(test.X.sum())}

    return method


def of_text(body: str):
    """A method of that text, as if its file had been edited."""
    space: dict = {"np": np}
    exec(textwrap.dedent(body), space)
    return space["method"]


def seeded_draw(state):
    return partial(drawn, state=state)


def drawn(train, test, seed, *, state):
    return {"value": float(state.uniform())}


def tree(**parameters):
    return DecisionTreeClassifier(**parameters)


def loaded(array, shift=0.0):
    return data(X=array + shift)


def study(folder, datasets=None, methods=None, measures=None, splits=3, seed=0) -> Study:
    return Study(
        datasets or {"a": data()},
        methods or {"m": mean_of_rows},
        measures or {},
        splits,
        folder,
        random_state=seed,
    )


def halves(first: int) -> np.ndarray:
    folds = np.zeros(len(Y), dtype=int)
    folds[first::2] = 1
    return folds


def long_split(change: int) -> PredefinedSplit:
    """Differs in one row in the middle, where the repr of a long array has dots."""
    folds = np.tile([0, 1], 1000)
    folds[change] = 2
    return PredefinedSplit(folds)


LONG = np.random.default_rng(1).normal(size=(2000, 2))
accuracy = {"value": accuracy_score}
CHANGES = {
    "array": [{"datasets": {"a": data()}}, {"datasets": {"a": data(X=X + 1)}}],
    "one cell": [{"datasets": {"a": data(X=x)}} for x in (X, np.where(np.arange(120).reshape(40, 3) == 61, 9.0, X))],
    "classes": [
        {"datasets": {"a": data(y=y)}, "methods": {"m": tree()}, "measures": accuracy} for y in (Y, np.roll(Y, 7))
    ],
    "weights": [
        {"datasets": {"a": data(sample_weight=w)}, "methods": {"m": tree(max_depth=1)}, "measures": accuracy}
        for w in (np.ones(40), 1.0 + 9 * (np.arange(40) % 2))
    ],
    "arguments of a loader": [{"datasets": {"a": partial(loaded, X, shift=s)}} for s in (0.0, 1.0)],
    "array of a loader": [{"datasets": {"a": partial(loaded, x)}} for x in (X, X + 2)],
    "lambda loader": [{"datasets": {"a": lambda: data(X=X)}}, {"datasets": {"a": lambda: data(X=X * 3)}}],
    "lambda": [
        {"methods": {"m": lambda train, test, seed: {"value": 1.0}}},
        {"methods": {"m": lambda train, test, seed: {"value": 2.0}}},
    ],
    "text of a function": [
        {"methods": {"m": of_text("def method(train, test, seed):\n  return {'value': float(test.X.max())}")}},
        {"methods": {"m": of_text("def method(train, test, seed):\n  return {'value': float(test.X.min())}")}},
    ],
    "global of a function": [
        {"methods": {"m": of_text(f"LIMIT = {v}\ndef method(train, test, seed):\n  return {{'value': LIMIT}}")}}
        for v in (1, 2)
    ],
    "function that a function calls": [
        {
            "methods": {
                "m": of_text(f"def f():\n  return {v}\ndef method(train, test, seed):\n  return {{'value': f()}}")
            }
        }
        for v in (1, 2)
    ],
    "state of a callable": [{"methods": {"m": Scaled(factor)}} for factor in (1.0, 2.0)],
    "variable of a closure": [{"methods": {"m": closure(factor)}} for factor in (1.0, 2.0)],
    "closure within a closure": [{"methods": {"m": helper(factor)}} for factor in (1.0, 2.0)],
    "default argument": [{"methods": {"m": with_default(factor)}} for factor in (1.0, 2.0)],
    "random state": [{"methods": {"m": seeded_draw(np.random.RandomState(seed))}} for seed in (0, 1)],
    "generator": [{"methods": {"m": seeded_draw(np.random.default_rng(seed))}} for seed in (0, 1)],
    "parameter of an estimator": [
        {"methods": {"m": tree(max_depth=depth)}, "measures": accuracy} for depth in (1, None)
    ],
    "estimator within an estimator": [
        {"methods": {"m": DummyClassifier(strategy="constant", constant=c)}, "measures": accuracy} for c in (0, 1)
    ],
    "measure": [
        {"methods": {"m": tree()}, "measures": {"value": function}}
        for function in (accuracy_score, lambda y_true, y_pred: float(np.mean(y_true != y_pred)))
    ],
    "argument of a measure": [
        {"methods": {"m": tree()}, "measures": {"value": partial(fbeta_score, beta=beta)}} for beta in (0.1, 5.0)
    ],
    "folds": [{"splits": n} for n in (2, 3)],
    "shuffled folds": [{"splits": KFold(2, shuffle=True, random_state=seed)} for seed in (0, 1)],
    "long predefined split": [
        {"datasets": {"a": data(X=LONG, y=np.tile(Y, 50))}, "splits": long_split(change)} for change in (900, 901)
    ],
    "seed of the study": [{"seed": seed} for seed in (0, 1)],
}


def values(made: Study) -> list[float]:
    results = made.results()
    assert set(results["status"]) == {"done"}, results["error"].tolist()
    return results.sort_values(["dataset", "method", "split"])["value"].tolist()


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_study_is_a_fresh_one_and_an_unchanged_one_runs_nothing(change, tmp_path, scorecard):
    before, after = CHANGES[change]
    old = values(study(tmp_path / "kept", **before).run())
    fresh = values(study(tmp_path / "fresh", **after).run())
    assert old != fresh
    changed = study(tmp_path / "kept", **after)
    assert changed.status()["waiting"].sum() > 0
    assert values(changed.run()) == fresh
    back = study(tmp_path / "kept", **before)
    in_memory = isinstance(back.datasets["a"], Dataset)
    if in_memory or change != "lambda loader":
        assert back.status()["waiting"].sum() == 0
    assert values(back.run()) == old
    assert len(back._store.records()) == len(old) + len(fresh)
    scorecard("R34", f"{len(CHANGES)} kinds of change: a resumed study equals a fresh one")


def test_a_changed_file_is_read_again(tmp_path):
    file = tmp_path / "rows.csv"

    def write(shift):
        frame = pd.DataFrame(X + shift, columns=["p", "q", "r"]).assign(kind=np.where(Y, "yes", "no"))
        frame.to_csv(file, index=False)

    datasets = {"a": partial(read, str(file), target="kind")}
    write(0)
    made = study(tmp_path / "kept", datasets).run()
    old = values(made)
    write(1)
    assert values(made) == old  # `results` reads no data, and tells what the last run found
    assert values(made.run()) == pytest.approx([value + 1 for value in old])
    assert values(study(tmp_path / "kept", datasets)) == values(made)
    write(0)
    assert values(study(tmp_path / "kept", datasets).run()) == old


def test_loaders_of_equal_shapes_are_not_mixed_up(tmp_path):
    datasets = {"a": partial(loaded, LONG[:40]), "b": partial(loaded, LONG[40:80])}
    both = study(tmp_path / "both", datasets).run().table("value")["m"]
    for name in datasets:
        alone = study(tmp_path / name, {name: datasets[name]}).run().table("value")["m"]
        assert both[name] == alone[name]
    assert both["a"] != both["b"]


def test_a_data_set_changed_in_place_is_another_one(tmp_path):
    held = data(X=X.copy())
    made = study(tmp_path, {"a": held}).run()
    old = values(made)
    held.X[:] += 1
    assert made.status()["waiting"].sum() == 3
    assert values(made.run()) == pytest.approx([value + 1 for value in old])


def test_the_state_of_an_object_changed_in_place_is_another_one(tmp_path):
    method = Scaled(1.0)
    made = study(tmp_path, methods={"m": method}).run()
    old = values(made)
    method.factor = 2.0
    assert values(made.run()) == pytest.approx([2 * value for value in old])


def test_a_random_state_resumes_and_does_not_depend_on_the_order(tmp_path):
    first = values(study(tmp_path, methods={"m": seeded_draw(np.random.RandomState(0))}).run())
    assert len(set(first)) == 1  # each cell starts with the state that was given
    again = study(tmp_path, methods={"m": seeded_draw(np.random.RandomState(0))})
    assert again.status()["waiting"].sum() == 0


def test_a_hierarchy_is_content(tmp_path):
    made = make_multilabel(60, n_labels=3, random_state=0)

    def depth(train, test, seed):
        return {"value": float(train.hierarchy.depth.sum())}

    def of(edges):
        tree = Hierarchy.from_edges(edges, nodes=("a", "b", "c"))
        held = Dataset(made.X, y=tree.close(made.y), target="hierarchy", label_names=tree.names, hierarchy=tree)
        return study(tmp_path, {"a": held}, {"m": depth}).run()

    assert values(of([("a", "b"), ("a", "c")])) != values(of([("a", "b"), ("b", "c")]))


def test_what_has_no_content_is_refused_by_name(tmp_path):
    file = Path(__file__).open()  # noqa: SIM115

    def method(train, test, seed):
        return {"value": float(len(file.name))}

    with pytest.raises(FingerprintError, match=r"The variable 'file' of the method 'm'.*cannot be told from another's"):
        study(tmp_path, methods={"m": method}).run()
    file.close()


def test_a_method_that_keeps_state_between_cells_fails_by_name(tmp_path):
    calls: list[int] = []

    def counting(train, test, seed):
        calls.append(seed)
        return {"value": float(len(calls))}

    made = study(tmp_path, methods={"m": counting}).run()
    assert made._store.records()[0]["error"].count("The method 'm' changed while it ran") == 1


def test_a_cache_of_functools_is_no_state(tmp_path):
    @functools.cache
    def slow(seed):
        return float(seed % 7)

    def method(train, test, seed):
        return {"value": slow(seed)}

    assert len(values(study(tmp_path, methods={"m": method}).run())) == 3


def test_a_loader_that_draws_anew_is_told(tmp_path):
    generator = np.random.default_rng(5)

    def load():
        return data(X=generator.normal(size=X.shape))

    made = study(tmp_path, {"a": load, "b": partial(loaded, X)}, {"m": mean_of_rows}, splits=2)
    order = made.cells
    made.cells = lambda: sorted(order(), key=lambda cell: cell.split)  # a, b, a, b: each is loaded again
    made.run()
    assert "is not what it was when the run began" in made.errors()["error"].iloc[0]


def test_a_loader_that_fails_is_told_and_runs_when_it_works(tmp_path):
    file = tmp_path / "rows.csv"
    made = study(tmp_path / "kept", {"a": partial(read, str(file), target="kind")}).run()
    assert made.status()["failed"].sum() == 3
    assert "rows.csv" in made.errors()["error"].iloc[0]
    pd.DataFrame(X).assign(kind=np.where(Y, "yes", "no")).to_csv(file, index=False)
    assert len(values(made.run())) == 3


HELPING = "from helping import factor\n\ndef method(train, test, seed):\n    return {'value': float(factor())}\n"
LOCALLY = "def method(train, test, seed):\n    import helping\n    return {'value': float(helping.factor())}\n"
STUDY = """
import numpy as np
from ramify.datasets import Dataset
from ramify.study import Study

def study(folder, quick):
    data = Dataset(np.eye(6), y=np.arange(6) % 2, target="classes")
    return Study({"a": data}, {"m": method}, splits=2, folder=folder)
"""


@pytest.mark.parametrize("text", [HELPING, LOCALLY], ids=["from the top", "where it runs"])
def test_a_changed_module_beside_the_study_is_content(tmp_path, monkeypatch, text):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "small_study.py").write_text(text + STUDY)
    found = []
    for number in (1, 2):
        (tmp_path / "helping.py").write_text(f"VALUE = {number}.0\n\ndef factor():\n    return VALUE\n")
        monkeypatch.delitem(sys.modules, "helping", raising=False)
        importlib.invalidate_caches()
        for cached in tmp_path.glob("__pycache__/*"):
            cached.unlink()
        found.append(values(load_study_file(str(tmp_path / "small_study.py")).study(tmp_path / "kept", False).run()))
    assert found == [[1.0, 1.0], [2.0, 2.0]]


content = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3) | st.tuples(inner)
    ),
    max_leaves=8,
)


def same(a, b) -> bool:
    """Equal, of the same kinds all the way down, and dictionaries in the same order."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return repr(a) == repr(b)


@settings(max_examples=200, deadline=None)
@given(content, content)
def test_fingerprints_are_equal_exactly_where_contents_are(first, second):
    assert (fingerprint(first) == fingerprint(second)) is same(first, second)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=12), st.integers(0, 11), st.sampled_from(["f", "d", "O"]))
def test_one_cell_changes_the_fingerprint_of_an_array_in_every_form(cells, place, kind):
    array = np.array(cells).astype(kind)
    changed = array.copy()
    changed[place % len(cells)] = changed[place % len(cells)] + 1
    for form in (
        np.asarray,
        pd.Series,
        lambda a: pd.DataFrame({"x": a}),
        lambda a: sparse.csr_array(a[None].astype(float)),
    ):
        assert fingerprint(form(array)) == fingerprint(form(array.copy()))
        assert fingerprint(form(array)) != fingerprint(form(changed))


@pytest.mark.parametrize("splits", [ShuffleSplit(4, test_size=0.5), KFold(4, shuffle=True)], ids=["shuffle", "folds"])
def test_unseeded_splitters_give_all_methods_the_same_rows(tmp_path, splits):
    held = data(X=np.arange(40.0)[:, None])

    def rows(train, test, seed):
        return {"value": float((2.0 ** test.X[:, 0]).sum())}

    methods = {"m": rows, "n": lambda train, test, seed: {"value": float((2.0 ** test.X[:, 0]).sum())}}
    results = study(tmp_path, {"a": held}, methods, splits=splits).run().results()
    by_split = results.pivot(index="split", columns="method", values="value")
    assert (by_split["m"] == by_split["n"]).all()
    assert by_split["m"].nunique() == 4
    if isinstance(splits, KFold):
        assert by_split["m"].sum() == (2.0 ** np.arange(40)).sum()  # every row is tested once


def test_a_random_state_shared_by_a_splitter_is_not_used_up(tmp_path):
    splits = ShuffleSplit(3, test_size=0.5, random_state=np.random.RandomState(0))
    made = study(tmp_path / "one", splits=splits).run()
    again = study(tmp_path / "one", splits=ShuffleSplit(3, test_size=0.5, random_state=np.random.RandomState(0)))
    assert again.status()["waiting"].sum() == 0
    fixed = study(tmp_path / "two", splits=ShuffleSplit(3, test_size=0.5, random_state=0)).run()
    assert values(made) == values(fixed)


class Drawn:
    """A splitter of one's own without a seed."""

    def get_n_splits(self):
        return 2

    def split(self, X, y=None):
        for _ in range(2):
            order = np.random.default_rng().permutation(len(X))
            yield order[:20], order[20:]


def test_a_splitter_that_draws_anew_is_refused(tmp_path):
    made = study(tmp_path, splits=Drawn()).run()
    assert "Drawn gives other rows each time it is asked" in made.errors()["error"].iloc[0]


def test_a_predefined_split_of_another_length_is_refused(tmp_path):
    made = study(tmp_path, splits=PredefinedSplit(np.arange(30) % 2)).run()
    assert "The PredefinedSplit has 30 rows and the data set 40." in made.errors()["error"].iloc[0]


FINGERPRINTS = """
import numpy as np
from functools import lru_cache, partial
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier
from ramify.datasets import make_hierarchical
from ramify.ensemble import ForestClassifier
from ramify.study.fingerprint import fingerprint

NAMES = {"a", "b", "c", "d"}

class Own(ClassifierMixin, BaseEstimator):
    known = {"x", "y", "z"}

    def __init__(self, depth=1, kinds=frozenset({"p", "q", "r"})):
        self.depth = depth
        self.kinds = kinds

    def fit(self, X, y, sample_weight=None):
        return self

@lru_cache
def slow(x):
    return x in NAMES

def method(train, test, seed, *, limit=np.float32(0.5)):
    return {"value": float(slow(seed) or seed in {"u", "v", "w"})}

data = make_hierarchical(30, random_state=0)
forest = ForestClassifier(3, random_state=0).fit(data.X, data.y)
before = fingerprint(data.hierarchy)
data.hierarchy.depth, data.hierarchy.weights  # computed when first asked for
assert fingerprint(data.hierarchy) == before
values = [Own(), method, partial(method, limit=2), data, forest, make_pipeline(FunctionTransformer(np.log1p), Own(3))]
values += [DecisionTreeClassifier(random_state=np.random.RandomState(3)), np.random.default_rng(0), NAMES, Own]
print([fingerprint(value) for value in values])
"""


def test_fingerprints_are_the_same_in_every_process(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(FINGERPRINTS, encoding="utf-8")
    found = {
        subprocess.run(
            [sys.executable, str(program)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1
    assert len(set(ast.literal_eval(found.pop()))) == 10
