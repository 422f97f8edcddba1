"""Rows R14 and R15: a tampered or malicious model file is refused by name, fast, without running code or crashing."""

import base64
import hashlib
import json
import os
import pickle
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ramify
from ramify.chains import LClassifierChains
from ramify.datasets import make_feature_hierarchy, make_label_ranking, make_multilabel
from ramify.models import ModelFileError
from ramify.models.container import ALIGNMENT, MAGIC
from ramify.ranking import ForestRanker
from ramify.selection import LazyNaiveBayes, LazySelector

HEADER = struct.Struct("<8sQ32s")


def written(model, arrays=(), entries=None, pad=True):
    """A file with right hashes and offsets around any manifest, so that only its content can be wrong."""
    arrays = [np.ascontiguousarray(array) for array in arrays]
    text, length = b"", 0
    while True:
        end = HEADER.size + length
        listed = []
        for array in arrays:
            offset = end + -end % ALIGNMENT
            digest = hashlib.sha256(array.tobytes()).hexdigest()
            listed.append({"dtype": array.dtype.str, "shape": list(array.shape), "offset": offset, "sha256": digest})
            end = offset + array.nbytes
        content = {"ramify": "1", "model": model, "arrays": listed if entries is None else entries(listed)}
        text = json.dumps(content).encode()
        if len(text) <= length:
            break
        length = len(text)
    return assembled(text.ljust(length), arrays)


def assembled(manifest, arrays=()):
    content = HEADER.pack(MAGIC, len(manifest), hashlib.sha256(manifest).digest()) + manifest
    for array in arrays:
        content += bytes(-len(content) % ALIGNMENT) + array.tobytes()
    return content


def taken_apart(content):
    """Manifest and arrays of a file."""
    _, length, _ = HEADER.unpack(content[: HEADER.size])
    manifest = json.loads(content[HEADER.size : HEADER.size + length])
    arrays = [
        np.frombuffer(content, entry["dtype"], int(np.prod(entry["shape"])), entry["offset"]).reshape(entry["shape"])
        for entry in manifest["arrays"]
    ]
    return manifest["model"], [array.copy() for array in arrays]


@pytest.fixture(scope="module")
def model_bytes(tmp_path_factory):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"kind": pd.Categorical(rng.choice(list("abc"), 60)), "size": rng.normal(size=60)})
    hierarchy = ramify.Hierarchy.from_paths(["1", "1/2", "3"])
    Y = hierarchy.close((rng.random((60, 3)) < 0.4).astype(int))
    forest = ramify.ForestClassifier(3, hierarchy=hierarchy, random_state=0).fit(frame, Y)
    path = tmp_path_factory.mktemp("model") / "model.ramify"
    ramify.save(forest, path)
    return path.read_bytes()


TAMPERING = """
import hashlib, json, pickle, random, sys
from pathlib import Path
import numpy as np
import ramify
from ramify.models import ModelFileError
sys.path.insert(0, sys.argv[4])
from test_hostile_files import taken_apart, written

source, start, stop = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
content = source.read_bytes()
model, arrays = taken_apart(content)
X = pickle.loads(source.with_suffix(".X").read_bytes())
target = source.with_name(f"tampered-{start}.ramify")
refused = harmless = 0
for seed in range(start, stop):
    random.seed(seed)
    rng = np.random.default_rng(seed)
    kind = seed % 4
    if kind == 0:  # bytes of the file
        damaged = bytearray(content)
        for _ in range(random.randint(1, 8)):
            damaged[random.randrange(len(damaged))] = random.randrange(256)
        data = bytes(damaged)
    elif kind == 1:  # a piece cut out, doubled or the end missing
        a, b = sorted(random.randrange(len(content)) for _ in range(2))
        data = random.choice([content[:a], content[:a] + content[b:], content[:b] + content[a:]])
    elif kind == 2:  # array values, with right hashes
        changed = [array.copy() for array in arrays]
        for _ in range(random.randint(1, 3)):
            array = changed[random.randrange(len(changed))]
            if array.size:
                flat = array.reshape(-1)
                where = random.randrange(flat.size)
                if array.dtype.kind == "f":
                    flat[where] = random.choice([np.nan, np.inf, -1.0, 1e300, 0.0])
                elif array.dtype.kind == "b":
                    flat[where] = not flat[where]
                else:
                    info = np.iinfo(array.dtype)
                    flat[where] = random.choice([0, 1, info.max, info.min, int(flat[where]) // 2, info.max // 3])
        data = written(model, changed)
    else:  # nodes of the manifest, with right hashes
        tampered = json.loads(json.dumps(model))
        holders = []
        stack = [tampered]
        while stack:
            node = stack.pop()
            items = node.items() if isinstance(node, dict) else enumerate(node)
            for key, value in items:
                holders.append((node, key))
                if isinstance(value, (dict, list)):
                    stack.append(value)
        node, key = random.choice(holders)
        other, other_key = random.choice(holders)
        node[key] = random.choice([None, True, -1, 10**30, 0.5, "x" * 50, [], {}, {"kind": "array", "array": 0}, 3,
                                   json.loads(json.dumps(other[other_key]))])
        data = written(tampered, arrays)
    target.write_bytes(data)
    try:
        loaded = ramify.load(target)
    except ModelFileError:
        refused += 1
        continue
    harmless += 1
    # What passes must be usable without a crash: an answer or an exception.
    for use in ("predict_proba", "predict", "apply", "transform", "selection_mask", "predict_preferences"):
        try:
            getattr(loaded, use)(X)
        except Exception:
            pass
    try:
        loaded.feature_importances_
    except Exception:
        pass
target.unlink()
print(refused, harmless)
"""


def run_tampering(content, X, folder, start, stop):
    source = folder / "model.ramify"
    source.write_bytes(content)
    source.with_suffix(".X").write_bytes(pickle.dumps(X))
    here = str(Path(__file__).parent)
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", TAMPERING, str(source), str(start), str(stop), here],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    refused, harmless = map(int, result.stdout.split())
    assert refused + harmless == stop - start
    return refused, harmless


FRAME = pd.DataFrame({"kind": pd.Categorical(["a", "b", "c", "z"] * 5), "size": np.linspace(-2, 2, 20)})


def other_models():
    """One estimator of each sort, and rows to use it on."""
    labels, ranked = make_multilabel(40, random_state=0), make_label_ranking(40, random_state=0)
    terms = make_feature_hierarchy(40, random_state=0)
    forest = ramify.ForestClassifier(2, random_state=0)
    selector = LazySelector(terms.feature_hierarchy)
    return {
        "label ranking": (ramify.LabelRankingForest(3, random_state=0).fit(ranked.X, ranked.y), ranked.X),
        "chains": (LClassifierChains(forest, random_state=0).fit(labels.X, labels.y), labels.X),
        "numbers": (ramify.ForestRegressor(3, random_state=0).fit(labels.X, labels.X[:, :2]), labels.X),
        "mixed": (ramify.MixedForest(3, random_state=0).fit(labels.X[:20], FRAME), labels.X),
        "lazy selection": (LazyNaiveBayes(selector).fit(terms.X, terms.y), terms.X),
        "ranker": (ForestRanker(forest).fit(labels.X, labels.y), labels.X),
    }


def test_1200_tampered_forests_neither_crash_nor_hang(model_bytes, tmp_path):
    refused, _ = run_tampering(model_bytes, FRAME, tmp_path, 0, 1200)
    assert refused > 700


def test_800_tampered_models_of_other_sorts_neither_crash_nor_hang(tmp_path):
    for number, (estimator, X) in enumerate(other_models().values()):
        ramify.save(estimator, tmp_path / "other.ramify")
        run_tampering((tmp_path / "other.ramify").read_bytes(), X, tmp_path, 160 * number, 160 * (number + 1))


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("start", range(2000, 20000, 3000))
def test_20000_tampered_files_neither_crash_nor_hang(model_bytes, tmp_path, start):
    run_tampering(model_bytes, FRAME, tmp_path, start, start + 1500)
    for number, (estimator, X) in enumerate(other_models().values()):
        ramify.save(estimator, tmp_path / "other.ramify")
        first = start + 1500 + 300 * number
        run_tampering((tmp_path / "other.ramify").read_bytes(), X, tmp_path, first, first + 300)


class Exploit:
    def __reduce__(self):
        return os.system, ("touch pwned",)


def estimator(**changes):
    node = {"kind": "estimator", "class": "ramify.ensemble.ForestClassifier", "parameters": {}, "fitted": {}}
    return {**node, **changes}


def fitted(**attributes):
    parameters = dict.fromkeys(ramify.ForestClassifier().get_params())
    return estimator(parameters=parameters, fitted=attributes)


def claimed(**changes):
    """A file with one small array whose entry claims something else."""
    return written(fitted(), [np.zeros(4)], entries=lambda listed: [{**listed[0], **changes}])


def zip_bomb():
    import io

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", bytes(1 << 24))
    return buffer.getvalue()


def nested(depth):
    node = None
    for _ in range(depth):
        node = {"kind": "list", "items": [node]}
    return node


MALICIOUS = {
    "empty": b"",
    "one byte": b"R",
    "text": b"hello, world" * 10,
    "magic only": MAGIC,
    "pickle": pickle.dumps(Exploit()),
    "pickle behind the magic": MAGIC + pickle.dumps(Exploit()),
    "pickle as manifest": assembled(pickle.dumps(Exploit())),
    "pickle in text": written({"kind": "pickle", "data": base64.b64encode(pickle.dumps(Exploit())).decode()}),
    "zip": zip_bomb(),
    "zlib manifest": assembled(zlib.compress(bytes(1 << 24))),
    "numpy file": b"\x93NUMPY\x01\x00" + bytes(120),
    "128 bytes that claim 32 GiB": HEADER.pack(MAGIC, 32 << 30, bytes(32)).ljust(128, b"\0"),
    "largest length": HEADER.pack(MAGIC, 2**64 - 1, bytes(32)).ljust(128, b"\0"),
    "newer format": HEADER.pack(MAGIC[:6] + b"\x07\x00", 2, bytes(32)) + b"{}",
    "wrong hash": HEADER.pack(MAGIC, 2, bytes(32)) + b"{}",
    "not JSON": assembled(b"{" * 100),
    "not UTF-8": assembled(b'{"\xff\xfe": 1}'),
    "deep JSON": assembled(b"[" * 200_000),
    "huge number": assembled(b'{"ramify": ' + b"9" * 100_000 + b"}"),
    "NaN in JSON": assembled(b'{"ramify": NaN, "model": 1, "arrays": []}'),
    "key twice": assembled(b'{"ramify": 1, "model": 1, "model": 2, "arrays": []}'),
    "list manifest": assembled(b"[]"),
    "missing key": assembled(b'{"ramify": 1, "arrays": []}'),
    "arrays not a list": assembled(b'{"ramify": 1, "model": 1, "arrays": {"a": 1}}'),
    "array of 32 GiB": claimed(shape=[1 << 32]),
    "array size overflows": claimed(shape=[1 << 40, 1 << 40]),
    "negative shape": claimed(shape=[-4]),
    "float shape": claimed(shape=[4.0]),
    "truth value as shape": claimed(shape=[True]),
    "many dimensions": claimed(shape=[1] * 60 + [4]),
    "object dtype": claimed(dtype="|O"),
    "record dtype": claimed(dtype="<f8,<f8"),
    "void dtype": claimed(dtype="|V32"),
    "negative offset": claimed(offset=-64),
    "array over the header": claimed(offset=0),
    "bytes after the end": written(fitted()) + b"\0",
    "foreign class": written(estimator(**{"class": "os.system"})),
    "path traversal": written(estimator(**{"class": "../../../etc/passwd"})),
    "private class": written(estimator(**{"class": "ramify.ensemble.base.BaseForest"})),
    "function as class": written(estimator(**{"class": "ramify.ensemble.export_tree"})),
    "dunder class": written(estimator(**{"class": "ramify.ensemble.__builtins__"})),
    "class not text": written(estimator(**{"class": ["ramify.ensemble.ForestClassifier"]})),
    "unknown parameters": written(estimator(parameters={"command": "rm"})),
    "replaced method": written(fitted(predict="x")),
    "replaced class": written(fitted(__class__="x")),
    "unknown kind": written({"kind": "eval", "code": "1"}),
    "method as kind": written({"kind": "__init__"}),
    "array that is not there": written(fitted(prior_={"kind": "array", "array": 5})),
    "deep values": written(fitted(prior_=nested(150))),
    "not an estimator": written({"kind": "list", "items": []}),
    "texts out of order": written(
        fitted(label_names_={"kind": "tuple", "texts": {"letters": 0, "ends": 1}}),
        [np.zeros(3, dtype=np.uint8), np.array([2, 1, 3])],
    ),
    "wide text": written(
        fitted(x_={"kind": "text_array", "texts": {"letters": 0, "ends": 1}, "shape": [1], "width": 1 << 33}),
        [np.full(1, 65, dtype=np.uint8), np.array([1])],
    ),
    "sparse matrix that points outside": written(
        fitted(x_={"kind": "csr", "is_array": True, "shape": [1, 2], "data": 0, "indices": 1, "indptr": 2}),
        [np.ones(1), np.array([7], dtype=np.int32), np.array([0, 1], dtype=np.int32)],
    ),
    "hierarchy with a cycle": written(
        fitted(
            x_={"kind": "hierarchy", "names": {"letters": 0, "ends": 1}, "edges": 2, "w0": 0.5, "aggregate": "mean"}
        ),
        [np.array([97, 98], dtype=np.uint8), np.array([1, 2]), np.array([[0, 1], [1, 0]])],
    ),
    "forest without arrays": written(
        fitted(trees_={"kind": "forest", "outcome": "labels", "n_outputs": 3, "arrays": {}})
    ),
}

OPENING = """
import json, resource, sys, time
import ramify
from ramify.models import ModelFileError
import ramify.ensemble, ramify.ranking, ramify.selection, ramify.chains

FORBIDDEN = ("os.", "subprocess.", "pickle.", "marshal.", "socket.", "ctypes.", "shutil.", "code.", "http.", "urllib.")
HARMLESS = ("os.scandir", "os.listdir")
run = []
def watch(event, args):
    if event.startswith(FORBIDDEN) and event not in HARMLESS:
        run.append(event)
sys.addaudithook(watch)
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
if sys.platform == "linux":
    with open("/proc/self/statm") as statm:
        now = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + (64 << 20), now + (64 << 20)))
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
slowest = 0.0
for path in sys.argv[1:]:
    start = time.process_time()
    try:
        ramify.load(path)
        print("loaded", path)
    except ModelFileError as error:
        assert path in str(error) and len(str(error)) < 400
    slowest = max(slowest, time.process_time() - start)
grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base) / 1024
print(json.dumps({"slowest": slowest, "grown": grown, "run": run}))
"""


def test_malicious_files_are_refused_cheaply_and_run_nothing(tmp_path, scorecard):
    assert len(MALICIOUS) >= 40
    paths = []
    for number, (name, content) in enumerate(MALICIOUS.items()):
        paths.append(tmp_path / f"{number:02} {name}.ramify")
        paths[-1].write_bytes(content)
    result = subprocess.run(
        [sys.executable, "-c", OPENING, *map(str, paths)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    report = json.loads(result.stdout)
    assert report["run"] == []
    assert report["grown"] < 64
    assert not (tmp_path / "pwned").exists()
    scorecard(
        "R15",
        f"{len(MALICIOUS)} malicious files refused, the slowest in {report['slowest']:.2f} s, "
        f"with {report['grown']:.0f} MiB under a limit of 64 MiB, no code run",
    )


def forest_arrays(model_bytes):
    model, arrays = taken_apart(model_bytes)
    return model, arrays, model["fitted"]["trees_"]["arrays"]


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("child", lambda a: a.__setitem__(0, 0), "child"),
        ("child", lambda a: a.__setitem__(0, 2**31 - 1), "child"),
        ("child", lambda a: a.__setitem__(0, -5), "child"),
        ("feature", lambda a: a.__setitem__(0, 99), "feature"),
        ("feature", lambda a: a.__setitem__(0, -7), "feature"),
        ("tree_nodes", lambda a: a.__setitem__(1, 10**12), "tree_nodes"),
        ("leaf_offsets", lambda a: a.__setitem__(1, -1), "offsets"),
        ("leaf_offsets", lambda a: a.__setitem__(0, -(2**63)), "offsets"),
        ("tree_leaves", lambda a: a.__setitem__(-1, 2**63 - 1), "tree_leaves"),
        ("leaf_labels", lambda a: a.__setitem__(0, 50), "leaf_labels|label"),
        ("weight", lambda a: a.__setitem__(0, np.nan), "weight"),
        ("subset_offsets", lambda a: a.__setitem__(-1, 10**9), "subset"),
    ],
)
def test_broken_invariant_of_a_tree_is_refused_by_name(model_bytes, tmp_path, name, change, words):
    model, arrays, numbers = forest_arrays(model_bytes)
    change(arrays[numbers[name]])
    path = tmp_path / "model.ramify"
    path.write_bytes(written(model, arrays))
    with pytest.raises(ModelFileError, match=rf"broken forest: .*({words})"):
        ramify.load(path)


@pytest.mark.parametrize(
    ("name", "node", "words"),
    [
        ("n_features_in_", 7, "feature_names_in_ must be a row of n_features values"),
        (
            "label_names_",
            {"kind": "tuple", "items": ["a"]},
            "label_names_ must name each output|prior_ must be numbers",
        ),
        ("target_kind_", "numbers", "target_kind_ must be one of"),
        ("prior_", None, r"prior_ must be numbers of shape \(n_labels,\)"),
        ("categories_", {"kind": "list", "items": [None, None]}, "categories_ does not fit the trees"),
        ("trees_", None, "trees_ must be of type Forest"),
    ],
)
def test_broken_attribute_is_refused_by_name(model_bytes, tmp_path, name, node, words):
    model, arrays = taken_apart(model_bytes)
    model["fitted"][name] = node
    path = tmp_path / "model.ramify"
    path.write_bytes(written(model, arrays))
    with pytest.raises(ModelFileError, match=words):
        ramify.load(path)


def test_rewritten_file_without_a_change_still_loads(model_bytes, tmp_path):
    path = tmp_path / "model.ramify"
    path.write_bytes(written(*taken_apart(model_bytes)))
    assert ramify.load(path).n_estimators == 3
