"""Tampered model files and mutated ARFF files: what Ramify and its peers do with them.

Every mutant is loaded (and, for models, used for a prediction) in a child process of its own with a time and a memory
limit, so that a crash is counted and not suffered. Peers that are not installed are left out:
`pip install xgboost-cpu lightgbm skops liac-arff`.

    python benchmarks/bench_trust.py [--mutants 2000] [-o docs/benchmarks/trust.md]
"""

from __future__ import annotations

import argparse
import io
import os
import platform
import resource
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

SECONDS = 10
MEMORY = 4 * 2**30
REFUSED, ACCEPTED, FOREIGN = 0, 1, 2

Attempt = Callable[[Path], int]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=2000)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        models = {name: make(Path(folder)) for name, make in MODELS.items() if installed(name)}
        model_rows = [
            (name, *count(original, attempt, arguments.mutants)) for name, (original, attempt) in models.items()
        ]
        original = Path(folder) / "seed.arff"
        original.write_text(ARFF, encoding="utf-8")
        arff_rows = [
            (name, *count(original, attempt, arguments.mutants)) for name, attempt in READERS.items() if installed(name)
        ]
    text = report(model_rows, arff_rows, arguments.mutants)
    print(text)
    if arguments.output is not None:
        arguments.output.write_text(text, encoding="utf-8")


def report(model_rows: list[tuple], arff_rows: list[tuple], n_mutants: int) -> str:
    names = ["ramify", "xgboost-cpu", "lightgbm", "skops", "scikit-learn", "scipy", "liac-arff"]
    lines = [
        "# Tampered models and mutated files",
        "",
        f"{n_mutants} mutants of one file each, loaded in child processes ({SECONDS} s, {MEMORY // 2**30} GiB each);",
        "written by `benchmarks/bench_trust.py`. A crash is a signal; a foreign error is one that the documentation",
        "does not name; accepted means that the mutant was read and used without a word.",
        "",
        f"Versions: {', '.join(f'{name} {release(name)}' for name in names if release(name))}, "
        f"Python {platform.python_version()}.",
    ]
    for title, rows in (("Model files", model_rows), ("ARFF files", arff_rows)):
        lines += ["", f"## {title}", "", "| program | crashes | hangs | foreign errors | refused | accepted |"]
        lines += ["|---|---|---|---|---|---|"]
        lines += [f"| {name} | {' | '.join(str(value) for value in values)} |" for name, *values in rows]
    return "\n".join([*lines, ""])


def count(original: Path, attempt: Attempt, n_mutants: int) -> tuple[int, int, int, int, int]:
    """Crashes, hangs, foreign errors, refusals and acceptances over the mutants of one file."""
    seen: Counter[str] = Counter()
    data = original.read_bytes()
    for seed in range(n_mutants):
        path = original.with_name(f"mutant-{seed}{original.suffix}")
        path.write_bytes(mutated(data, seed))
        seen[outcome(attempt, path)] += 1
        path.unlink()
    return seen["crash"], seen["hang"], seen["foreign"], seen["refused"], seen["accepted"]


def mutated(data: bytes, seed: int) -> bytes:
    """One to eight edits: bytes changed, cut, repeated, digits replaced by extreme numbers."""
    rng = np.random.default_rng(seed)
    mutant = bytearray(data)
    for _ in range(rng.integers(1, 9)):
        if not mutant:
            break
        at = int(rng.integers(len(mutant)))
        kind = rng.integers(6)
        if kind == 0:
            mutant[at] = int(rng.integers(256))
        elif kind == 1:
            del mutant[at : at + int(rng.integers(1, 20))]
        elif kind == 2:
            mutant[at:at] = mutant[at : at + int(rng.integers(1, 40))]
        elif kind == 3:
            mutant[at : at + 4] = rng.integers(0, 256, 4, dtype=np.uint8).tobytes()
        elif kind == 4:
            mutant[at : at + 8] = rng.choice([b"\xff" * 8, b"\x00" * 8, b"\x7f" + b"\xff" * 7])
        else:
            digits = [i for i, byte in enumerate(mutant) if 48 <= byte <= 57]
            if digits:
                place = digits[int(rng.integers(len(digits)))]
                mutant[place : place + 1] = str(rng.choice(["-1", "99999999", "1e308", "4294967296"])).encode()
    return bytes(mutant)


def outcome(attempt: Attempt, path: Path) -> str:
    child = os.fork()
    if child == 0:
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            code = attempt(path)
        except BaseException:
            code = FOREIGN
        os._exit(code)
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            if os.WIFSIGNALED(status):
                return "crash"
            return {REFUSED: "refused", ACCEPTED: "accepted"}.get(os.WEXITSTATUS(status), "foreign")
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "hang"


def training_data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8)).astype(np.float32)
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def ramify_model(folder: Path) -> tuple[Path, Attempt]:
    import ramify
    from ramify.models import ModelFileError

    X, y = training_data()
    path = folder / "model.ramify"
    ramify.save(ramify.ForestClassifier(10, random_state=0).fit(X, y), path)

    def attempt(file: Path) -> int:
        try:
            ramify.load(file).predict(X)
        except ModelFileError:
            return REFUSED
        return ACCEPTED

    return path, attempt


def forged_ramify_model(folder: Path) -> tuple[Path, Attempt]:
    """A forger who repairs every size and hash after changing the arrays: only the checks of the trees are left."""
    import ramify
    from ramify.models import ModelFileError
    from ramify.models.container import read_container, write_container

    original, _ = ramify_model(folder)
    X, _ = training_data()
    model, arrays = read_container(original)
    path = folder / "model.arrays"
    path.write_bytes(b"".join(array.tobytes() for array in arrays))
    ends = np.cumsum([array.nbytes for array in arrays])

    def attempt(file: Path) -> int:
        raw = file.read_bytes()[: ends[-1]].ljust(int(ends[-1]), b"\0")
        forged = [
            np.frombuffer(raw[end - array.nbytes : end], array.dtype).reshape(array.shape)
            for end, array in zip(ends.tolist(), arrays, strict=True)
        ]
        write_container(file, "forged", model, forged)
        try:
            ramify.load(file).predict(X)
        except ModelFileError:
            return REFUSED
        return ACCEPTED

    return path, attempt


def xgboost_model(folder: Path) -> tuple[Path, Attempt]:
    import xgboost

    X, y = training_data()
    path = folder / "model.ubj"
    xgboost.XGBClassifier(n_estimators=10, n_jobs=1).fit(X, y).save_model(path)

    def attempt(file: Path) -> int:
        model = xgboost.Booster(params={"nthread": 1})
        try:
            model.load_model(file)
            model.predict(xgboost.DMatrix(X, nthread=1))
        except (xgboost.core.XGBoostError, ValueError):
            return REFUSED
        return ACCEPTED

    return path, attempt


def lightgbm_model(folder: Path) -> tuple[Path, Attempt]:
    import lightgbm

    X, y = training_data()
    path = folder / "model.txt"
    lightgbm.LGBMClassifier(n_estimators=10, n_jobs=1, verbose=-1).fit(X, y).booster_.save_model(path)

    def attempt(file: Path) -> int:
        try:
            lightgbm.Booster(model_file=file).predict(X, num_threads=1)
        except (lightgbm.basic.LightGBMError, ValueError):
            return REFUSED
        return ACCEPTED

    return path, attempt


def skops_model(folder: Path) -> tuple[Path, Attempt]:
    """Arrays inside the archive are changed, since a byte changed in a zip file is caught by its checksums."""
    import zipfile

    import skops.io
    from sklearn.ensemble import RandomForestClassifier

    X, y = training_data()
    archive = folder / "model.skops"
    skops.io.dump(RandomForestClassifier(10, random_state=0).fit(X, y), archive)
    with zipfile.ZipFile(archive) as packed:
        entries = {name: packed.read(name) for name in packed.namelist()}
    largest = sorted((name for name in entries if name.endswith(".npy")), key=lambda name: -len(entries[name]))[0]
    path = folder / "model.npy"
    path.write_bytes(entries[largest])

    def attempt(file: Path) -> int:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as packed:
            for name, content in entries.items():
                packed.writestr(name, file.read_bytes() if name == largest else content)
        try:
            trusted = skops.io.get_untrusted_types(data=buffer.getvalue())
            skops.io.loads(buffer.getvalue(), trusted=trusted).predict(X)
        except (ValueError, TypeError):
            return REFUSED
        return ACCEPTED

    return path, attempt


MODELS = {
    "ramify": ramify_model,
    "ramify, hashes repaired": forged_ramify_model,
    "xgboost-cpu": xgboost_model,
    "lightgbm": lightgbm_model,
    "skops": skops_model,
}


def ramify_reader(file: Path) -> int:
    from ramify.datasets import FileError
    from ramify.datasets.readers.arff import read_arff

    try:
        read_arff(file)
    except FileError:
        return REFUSED
    return ACCEPTED


def scipy_reader(file: Path) -> int:
    from scipy.io.arff import ArffError, loadarff

    try:
        loadarff(file)
    except (ArffError, NotImplementedError):
        return REFUSED
    return ACCEPTED


def liac_reader(file: Path) -> int:
    import arff

    try:
        with file.open(encoding="utf-8") as lines:
            arff.load(lines)
    except arff.ArffException:
        return REFUSED
    return ACCEPTED


READERS = {"ramify": ramify_reader, "scipy": scipy_reader, "liac-arff": liac_reader}

ARFF = """% small, with every kind of attribute that all readers know
@relation 'a file'
@attribute size numeric
@attribute 'the colour' {red, green, 'dark blue'}
@attribute count integer
@attribute weight real
@attribute class {yes,no}
@data
1.5,red,3,0.25,yes
?,'dark blue',4,1e-3,no
-2.25,green,?,17,yes
0,red,0,-1.5E+2,no
"""


def installed(name: str) -> bool:
    return bool(release(name))


def release(name: str) -> str:
    try:
        return version(name.split(",")[0])
    except PackageNotFoundError:
        return "checkout" if name.startswith("ramify") else ""


if __name__ == "__main__":
    main()
